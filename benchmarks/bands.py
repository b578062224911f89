"""Closed forms against resampling: bands, tables and the AUC's interval.

CPU time, best of several, everything in one run. The paper's procedure is a plain transcription of
Claesen et al. (2015), sections 2.1 and 4: one row and one rank at a time. It gets from labels to
tables in two steps, the band by 2,000 resamples (`paper_band`) and from it the tables
(`paper_tables`); both are timed, and printed together and apart. Where a comparison would run for
minutes, a few of its resamples are timed and the time is extrapolated; the table says so.
"""

import math
import random
import sys
import time
import warnings
from collections import Counter

import numpy as np
from sklearn.metrics import roc_auc_score

from undercount.assume.bounds.bound_curve import bound_curve
from undercount.assume.bounds.tables import bound_tables
from undercount.counts import ScoreCounts
from undercount.errors import MisfitWarning
from undercount.infer.estimate_metric import estimate_metric
from undercount.shares import Shares
from undercount.theory.bands import cdf_band
from undercount.theory.hidden_heads import hidden_heads, local_level, path_probability

RESAMPLES = 2000
FAILED = []


def cpu(function, repeats=1):
    """Return the least CPU time of several calls and the last result."""
    best = math.inf
    for _ in range(repeats):
        start = time.process_time()
        result = function()
        best = min(best, time.process_time() - start)
    return best, result


def report(what, ours, theirs, bar=None, note=""):
    ratio = theirs / ours
    verdict = "" if bar is None else f"  bar {bar:,} x: {'ok' if ratio >= bar else 'MISSED'}"
    if bar is not None and ratio < bar:
        FAILED.append(what)
    print(
        f"{what:62s} {1e3 * ours:9.2f} ms {1e3 * theirs:13.1f} ms {ratio:9,.0f} x{verdict}  {note}"
    )


def check(what, *, holds):
    if not holds:
        FAILED.append(what)
    print(f"{what:62s} {'ok' if holds else 'FAILED'}")


def paper_band(known, n_rows, n_resamples, level=0.95):
    """Section 4.2: resample the known positives' ranks; the rank CDF at each rank (eq. 6)."""
    values = [[] for _ in range(n_rows)]
    for _ in range(n_resamples):
        drawn = Counter(random.choices(known, k=len(known)))  # noqa: S311 - no secret here
        head = 0
        for rank in range(n_rows):
            head += drawn[rank]
            values[rank].append(head / len(known))
    first = int(n_resamples * (1 - level) / 2)
    lower, upper = [], []
    for column in values:
        column.sort()
        lower.append(column[first])
        upper.append(column[-1 - first])
    return lower, upper


def paper_tables(labels, lower, upper, share):
    """Section 4.1: the two contingency tables at each rank, by the sizes of heads and tails."""
    n_known, n_negative = labels.count(1), labels.count(0)
    n_unlabeled = len(labels) - n_known - n_negative
    hidden = int(share * n_unlabeled)
    head_known = head_negative = head = 0
    pessimistic, optimistic = [], []
    for rank, label in enumerate(labels):
        head_known += label == 1
        head_negative += label == 0
        head += label is None
        tail = n_unlabeled - head
        low, high = math.floor(lower[rank] * hidden), math.ceil(upper[rank] * hidden)
        for wanted, tables in ((low, pessimistic), (high, optimistic)):
            surrogate = min(head, wanted) if hidden - wanted <= tail else hidden - tail
            tp, fp = head_known + surrogate, head_negative + head - surrogate
            fn = n_known + hidden - tp
            tn = n_negative + n_unlabeled - hidden - fp
            tables.append((tp, fp, fn, tn))
    return pessimistic, optimistic


def bands():
    n_rows = 10_000
    labelled = np.zeros(n_rows)
    known = sorted(random.Random(0).sample(range(n_rows), 1000))  # noqa: S311 - no secret here
    labelled[known] = 1
    ours, closed = cpu(lambda: cdf_band(labelled, band="binomial", simultaneous=False), 20)
    vectorised, drawn = cpu(
        lambda: cdf_band(labelled, band="bootstrap", simultaneous=False, random_state=0), 3
    )
    report("band, 1,000 labels in 10,000 rows: bootstrap as one matrix", ours, vectorised, 50)
    few = 40
    plain, _ = cpu(lambda: paper_band(known, n_rows, few))
    report(
        "band, 1,000 labels in 10,000 rows: the paper's, row by row",
        ours,
        plain * RESAMPLES / few,
        1000,
        f"extrapolated from {few} of 2,000 resamples",
    )
    step = 1 / 1000
    off = np.abs(np.concatenate([closed.lower - drawn.lower, closed.upper - drawn.upper]))
    check("  on average within one grid step of the 2,000 resamples", holds=off.mean() <= step)
    # Only more resamples show the limit: at 50 of the ranks, 200,000 of them.
    coarse = np.full(50, 20)
    options = {"simultaneous": False, "n_resamples": 200_000, "random_state": 0}
    many = cdf_band(coarse, band="bootstrap", **options)
    exact = cdf_band(coarse, band="binomial", simultaneous=False)
    off = np.abs(np.concatenate([exact.lower - many.lower, exact.upper - many.upper]))
    check("  within one grid step of 200,000 everywhere", holds=off.max() <= step * (1 + 1e-9))


def exact_bands():
    for n_labelled, n_hidden in ((1000, 10_000), (100_000, 1_000_000)):

        def cold(n_labelled=n_labelled, n_hidden=n_hidden):
            local_level.cache_clear()
            path_probability.cache_clear()
            return hidden_heads(n_labelled, n_hidden, local_level(n_labelled, n_hidden, 0.95))

        first, _ = cpu(cold)
        again, _ = cpu(
            lambda n=n_labelled, m=n_hidden: hidden_heads(n, m, local_level(n, m, 0.95)), 3
        )
        print(
            f"default band, {n_labelled:,} labels, {n_hidden:,} hidden".ljust(62)
            + f" {1e3 * first:9.2f} ms the first time, {1e3 * again:.2f} ms when its level is known"
        )


def all_tables():
    rng = np.random.default_rng(0)
    n_rows, n_known = 100_000, 1000
    positive = rng.random(n_rows) < 0.2
    score = rng.normal(positive, 1)
    y = np.full(n_rows, np.nan)
    y[rng.permutation(np.flatnonzero(positive))[:n_known]] = 1
    y[rng.permutation(np.flatnonzero(~positive))[:500]] = 0
    counts = ScoreCounts.from_rows(y, score)
    share = (positive.sum() - n_known) / counts.n_unlabeled
    labels = [None if math.isnan(label) else int(label) for label in y[np.argsort(-score)]]
    known = [rank for rank, label in enumerate(labels) if label == 1]

    def ours(lower=None, upper=None):
        if lower is None:
            band = cdf_band(counts.positive, band="binomial", simultaneous=False)
            lower, upper = band.lower, band.upper
        return bound_tables(
            counts, Shares(share), lower_cdf=lower, upper_cdf=upper, rounding="paper"
        )

    few = 5
    band_time, limits = cpu(lambda: paper_band(known, n_rows, few))
    band_time *= RESAMPLES / few
    table_time, expected = cpu(lambda: paper_tables(labels, *limits, share))
    note = f"band extrapolated from {few} of 2,000 resamples"
    both = cpu(ours, 20)[0]
    report(
        "band and all tables at every rank of 100,000 rows",
        both,
        band_time + table_time,
        1000,
        note,
    )
    only_band = cpu(lambda: cdf_band(counts.positive, band="binomial", simultaneous=False), 20)[0]
    report("  of which the band alone", only_band, band_time, None, note)
    given = [np.array(side) for side in limits]
    only_tables = cpu(lambda: ours(*given), 20)[0]
    writing = cpu(lambda: [np.full(n_rows, 1.0) for _ in range(8)], 20)[0]
    note = f"no bar: writing the 8 columns alone takes {1e3 * writing:.2f} ms"
    report("  of which the tables alone, the band being given", only_tables, table_time, None, note)
    found = ours(*given)
    same = all(
        np.array_equal(np.array(plain), np.column_stack([cells.tp, cells.fp, cells.fn, cells.tn]))
        for plain, cells in zip(expected, (found.pessimistic, found.optimistic), strict=True)
    )
    check("  tables equal the paper's, row for row", holds=same)


def areas():
    rng = np.random.default_rng(0)
    n_rows = 1_000_000
    for n_labelled in (1000, 100_000):
        positive = rng.random(n_rows) < 0.3
        score = rng.normal(positive, 1).astype(np.float32)
        y = np.full(n_rows, -1, dtype=np.int8)
        y[np.flatnonzero(positive)[:n_labelled]] = 1

        n_positive = int(positive.sum())

        def ours(y=y, score=score, n_positive=n_positive):
            counts = ScoreCounts.from_rows(y, score, unlabeled=-1, compact=True)
            return estimate_metric(counts, Shares.from_positives(counts, n_positive), "roc_auc")

        def bounds(y=y, score=score, n_positive=n_positive):
            counts = ScoreCounts.from_rows(y, score, unlabeled=-1, compact=True)
            return bound_curve(counts, Shares.from_positives(counts, n_positive)).roc_auc

        def resample(y=y, score=score):
            drawn = rng.integers(0, n_rows, n_rows)
            return roc_auc_score(y[drawn] == 1, score[drawn])

        slow, _ = cpu(resample, 3)
        note = "extrapolated from 3 of 2,000 resamples"
        label = f"{n_rows:,} rows, {n_labelled:,} labels: roc_auc_score"
        report(f"AUC with interval, {label}", cpu(ours, 3)[0], slow * RESAMPLES, 1000, note)
        report(f"AUC bounds, {label}", cpu(bounds, 3)[0], slow * RESAMPLES, None, note)


if __name__ == "__main__":
    warnings.simplefilter("ignore", MisfitWarning)  # the paper's band covers too little
    bands()
    exact_bands()
    all_tables()
    areas()
    sys.exit(f"missed: {', '.join(FAILED)}" if FAILED else 0)
