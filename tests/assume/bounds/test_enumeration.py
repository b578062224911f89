"""Sharp tables and tight areas against plain enumeration of every labelling."""

import itertools
import warnings

import numpy as np
import pytest

from undercount.assume.bounds.attainable import bound_roc_auc
from undercount.assume.bounds.tables import bound_tables
from undercount.counts import ScoreCounts
from undercount.errors import MisfitWarning
from undercount.shares import Shares


def random_case(seed, *, ties):
    """A small data set with a band around the truth, in steps that no rounding hides."""
    rng = np.random.default_rng(seed)
    n = 11
    score = rng.integers(0, 6, n) if ties else rng.permutation(n)
    y = rng.choice([1.0, 0.0, np.nan], n, p=[0.25, 0.15, 0.6])
    y[:4] = [1, np.nan, np.nan, np.nan]
    counts = ScoreCounts.from_rows(y, score)
    n_unlabeled = int(counts.n_unlabeled)
    n_hidden = int(rng.integers(1, n_unlabeled))
    cells = len(counts.score)
    center = np.sort(rng.random(cells))
    lower = np.maximum.accumulate(np.clip(center - rng.random(cells) * 0.6, 0, 1))
    upper = np.maximum.accumulate(np.clip(center + rng.random(cells) * 0.6, 0, 1))
    upper[-1] = 1
    return counts, n_hidden, lower, upper


def labellings(counts, n_hidden):
    """Hidden positives above each score, one row a labelling of the unlabeled rows."""
    cell = np.repeat(np.arange(len(counts.score)), counts.unlabeled.astype(int))
    found = {
        tuple(np.cumsum(np.bincount(cell[list(chosen)], minlength=len(counts.score))))
        for chosen in itertools.combinations(range(len(cell)), n_hidden)
    }
    return np.array(sorted(found))


def area(counts, hidden):
    tp = np.append(0, np.cumsum(counts.positive) + hidden)
    fp = np.append(0, np.cumsum(counts.negative + counts.unlabeled) - hidden)
    return np.sum(np.diff(fp) * (tp[1:] + tp[:-1])) / (2 * tp[-1] * fp[-1])


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_sharp_tables_equal_enumeration(seed, ties):
    counts, n_hidden, lower, upper = random_case(seed, ties=ties)
    shares = Shares(n_hidden / counts.n_unlabeled)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MisfitWarning)
        bounds = bound_tables(counts, shares, lower_cdf=lower, upper_cdf=upper)
    every = labellings(counts, n_hidden)
    checked = 0
    for cell, column in enumerate(every.T):
        share = column / n_hidden
        possible = column[(share >= lower[cell] - 1e-12) & (share <= upper[cell] + 1e-12)]
        if len(possible):
            known = counts.positive[: cell + 1].sum()
            assert bounds.pessimistic.tp[cell] == possible.min() + known
            assert bounds.optimistic.tp[cell] == possible.max() + known
            checked += 1
    assert checked > 0


@pytest.mark.parametrize("ties", [False, True])
def test_tight_auc_equals_enumeration(ties):
    checked = 0
    for seed in range(60):
        counts, n_hidden, lower, upper = random_case(seed, ties=ties)
        every = labellings(counts, n_hidden)
        share = every / n_hidden
        kept = every[((share >= lower - 1e-12) & (share <= upper + 1e-12)).all(axis=1)]
        arguments = (counts, Shares(n_hidden / counts.n_unlabeled))
        whole = np.ceil(lower * n_hidden - 1e-9) <= np.floor(upper * n_hidden + 1e-9)
        if not whole.all():
            continue  # a band narrower than a row is widened to its neighbours: tested below
        if len(kept) == 0:
            with pytest.warns(MisfitWarning, match="hidden positives"):
                bound_roc_auc(*arguments, lower_cdf=lower, upper_cdf=upper)
            continue
        found = bound_roc_auc(*arguments, lower_cdf=lower, upper_cdf=upper)
        areas = [area(counts, hidden) for hidden in kept]
        assert found.low == pytest.approx(min(areas), abs=1e-12)
        assert found.high == pytest.approx(max(areas), abs=1e-12)
        checked += 1
    assert checked > 20
