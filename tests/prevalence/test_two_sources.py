"""Capture and recapture: Chapman's total, its interval, and sources that depend."""

import itertools
import sys

import numpy as np
import pytest
from scipy.stats import hypergeom

import undercount as uc
from undercount.errors import collect_warnings
from undercount.prevalence import TwoSources


def test_chapman_is_unbiased_by_enumeration():
    # Exactly so if n1 + n2 >= P (Wittes 1972); the overlap is hypergeometric.
    positives, first, second = 40, 24, 26
    totals = [
        TwoSources().fit_counts(first, second, both, 1000).diagnostics_["positives"]
        for both in range(10, 25)
    ]
    chance = hypergeom(positives, first, second).pmf(range(10, 25))
    assert chance.sum() == pytest.approx(1)
    assert chance @ totals == pytest.approx(positives, rel=1e-9)


def test_rows_and_counts_agree():
    first, second = [1, 1, 0, None, 0, 1] * 10, [1, 0, 0, 1, None, 1] * 10
    by_rows = TwoSources().fit(first, second)
    by_counts = TwoSources().fit_counts(30, 30, 20, 60)
    assert by_rows.estimate() == by_counts.estimate()
    assert np.nansum(by_rows.labels_) == 40


def test_dependence_moves_hidden_positives_by_the_odds_ratio():
    # A table whose odds ratio is 3: 60 both, 40 and 40 alone, 80 by neither.
    found = TwoSources().fit_counts(100, 100, 60, 10_000)
    share = found.sensitivity([3.0])[3.0].value
    assert share * 9_860 == pytest.approx(3 * 40 * 40 / 61)
    wide = TwoSources(odds_ratio=(0.5, 3.0)).fit_counts(100, 100, 60, 10_000)
    assert wide.interval_.high == found.sensitivity([3.0])[3.0].high
    assert wide.interval_.low == found.sensitivity([0.5])[0.5].low


def test_evaluate_takes_it():
    rng = np.random.default_rng(0)
    truth = rng.random(8000) < 0.1
    sources = [truth & (rng.random(8000) < chance) for chance in (0.4, 0.3)]
    found = TwoSources().fit(*sources)
    evaluation = uc.evaluate(
        found.labels_, rng.normal(2 * truth), unlabeled_prevalence=found, threshold=1.0
    )
    assert evaluation.shares.unlabeled_prevalence == found.unlabeled_prevalence_


@pytest.mark.parametrize(
    ("sizes", "words"),
    [((5, 5, 6, 100), "n_both"), ((0, 5, 0, 100), "each source"), ((60, 60, 20, 100), "no source")],
)
def test_impossible_counts_are_refused(sizes, words):
    with pytest.raises(uc.InputError, match=words):
        TwoSources().fit_counts(*sizes)


def test_a_small_overlap_is_said():
    with pytest.warns(uc.SmallSampleWarning, match="found by both"):
        TwoSources().fit_counts(20, 20, 2, 1000)
    with pytest.raises(uc.InputError, match="odds_ratio"):
        TwoSources(odds_ratio=-1).fit_counts(20, 20, 9, 1000)


def tally(positives, chances, level, odds_ratio=1.0, dependence=1.0, *, repeats=2000, seed=1):
    """Coverage of the hidden share, and its mean relative error."""
    rng = np.random.default_rng(seed)
    held, errors = [], []
    table = two_by_two(*chances, dependence)
    for _ in range(repeats):
        both, first, second, neither = rng.multinomial(positives, table)
        rows = 20_000 - (both + first + second)
        fitted = TwoSources(odds_ratio=odds_ratio, confidence_level=level)
        with collect_warnings():  # of a small overlap, which some draws have
            found = fitted.fit_counts(first + both, second + both, both, 20_000).estimate()
        held.append(found.low <= neither / rows <= found.high)
        errors.append(abs(found.value - neither / rows) / (neither / rows))
    return float(np.mean(held)), float(np.mean(errors))


def two_by_two(first, second, odds_ratio):
    """Chances of both, first alone, second alone, neither, with these margins and odds ratio."""
    if odds_ratio == 1:
        both = first * second
    else:
        total = 1 + (first + second) * (odds_ratio - 1)
        root = np.sqrt(total**2 - 4 * odds_ratio * (odds_ratio - 1) * first * second)
        both = (total - root) / (2 * (odds_ratio - 1))
    return [both, first - both, second - both, 1 - first - second + both]


@pytest.mark.slow
@pytest.mark.parametrize("design", [(500, (0.3, 0.2)), (200, (0.3, 0.3)), (1000, (0.1, 0.4))])
@pytest.mark.parametrize("level", [0.8, 0.9, 0.95])
def test_independent_sources_are_covered(design, level):
    assert abs(tally(*design, level)[0] - level) < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("dependence", [0.5, 2.0, 3.0])
def test_the_range_holds_the_truth_where_sources_depend(dependence):
    positives, chances = 500, (0.3, 0.2)
    assert tally(positives, chances, 0.95, dependence=dependence)[0] < 0.9  # what is promised not
    assert tally(positives, chances, 0.95, (0.5, 3.0), dependence)[0] >= 0.95


def relative_errors(seed):
    """Mean relative error of the share by two sources, and by the scores of the same rows."""
    from undercount.prevalence import Consensus  # noqa: PLC0415

    rng = np.random.default_rng(seed)
    errors = {"two": [], "consensus": []}
    for share, apart in itertools.product((0.03, 0.1, 0.2), (1.5, 2.5)):
        for _ in range(12):
            truth = rng.random(10_000) < share
            sources = [truth & (rng.random(10_000) < chance) for chance in (0.4, 0.3)]
            two = TwoSources().fit(*sources)
            score = rng.normal(apart * truth)
            hidden = (truth & np.isnan(two.labels_)).sum() / np.isnan(two.labels_).sum()
            other = Consensus().fit(two.labels_, score)
            for name, found in (("two", two), ("consensus", other)):
                errors[name].append(abs(found.unlabeled_prevalence_ - hidden) / hidden)
    return tuple(float(np.mean(each)) for each in errors.values())


@pytest.mark.slow
def test_errs_at_most_half_as_much_as_the_scores_alone():
    two, consensus = relative_errors(4)
    assert two <= 0.5 * consensus


if __name__ == "__main__":
    start = int(sys.argv[1])
    for size, chance in [
        (500, (0.3, 0.2)),
        (200, (0.3, 0.3)),
        (1000, (0.1, 0.4)),
        (300, (0.6, 0.5)),
        (2000, (0.05, 0.05)),
    ]:
        print(size, chance, [tally(size, chance, at, seed=start) for at in (0.8, 0.9, 0.95)])  # noqa: T201
    for theta in (0.5, 1.0, 2.0, 3.0):
        found = [tally(500, (0.3, 0.2), 0.95, at, theta, seed=start) for at in (1.0, (0.5, 3.0))]
        print(theta, found)  # noqa: T201
    print(relative_errors(start))  # noqa: T201
