"""Capture and recapture: Chapman's total, its interval, and sources that depend."""

import itertools
import sys

import numpy as np
import pytest
from scipy.stats import hypergeom

import undercount as uc
from undercount.errors import MISSING_DATA, collect_warnings
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


# Of two rows of a cluster: tenths of clusters in which a source finds both, the first alone, the
# second alone, none. Each source finds half of all rows, and rows of a cluster are alike.
PAIRS = {(1, 1): (3, 4), (1, 0): (2, 1), (0, 1): (2, 1), (0, 0): (3, 4)}


def every_pair(times=1):
    """Return what two independent sources find of 100 clusters, each history as often as it is."""
    first, second = [], []
    for (one, (often, _)), (other, (_, seldom)) in itertools.product(PAIRS.items(), repeat=2):
        first += [one] * often * seldom * times
        second += [other] * often * seldom * times
    first, second = np.ravel(first), np.ravel(second)
    nobody = np.zeros(1000, int)
    cluster = np.append(np.arange(len(first)) // 2, len(first) + np.arange(1000))
    return np.append(first, nobody), np.append(second, nobody), cluster


def spread_of_pairs():
    """Variance of n1 n2/m less the positives for one cluster, by all of its histories."""
    total = 0.0
    for (one, (often, _)), (other, (_, seldom)) in itertools.product(PAIRS.items(), repeat=2):
        moved = sum(-(1 - x / 0.5) * (1 - y / 0.5) for x, y in zip(one, other, strict=True))
        total += often * seldom / 100 * moved**2
    return total


def test_variance_of_clusters_and_weights_by_enumeration():
    first, second, cluster = every_pair()
    assert spread_of_pairs() == pytest.approx(2 + 2 * 0.2 * 0.6)
    own = TwoSources().fit(first, second, cluster=cluster)._sizes
    assert own.effect == pytest.approx(spread_of_pairs() / 2)
    assert TwoSources().fit(first, second)._sizes.effect == pytest.approx(1)
    # The same once more, each row weighing three.
    weight = np.repeat([1.0, 3.0], len(first))
    two, three = (np.tile(column, 2) for column in (first, second))
    both = np.append(cluster, cluster + 10_000)
    own = TwoSources().fit(two, three, sample_weight=weight, cluster=both)._sizes
    assert own.unit * own.effect * own.spread == pytest.approx(100 * (1 + 9) * spread_of_pairs())


@pytest.mark.parametrize("times", [2, 5])
def test_copies_in_a_cluster_are_one_row(times):
    """Parts of a row weigh as much as it does, and together say as much."""
    rng = np.random.default_rng(5)
    truth = rng.random(3000) < 0.2
    first, second = (truth & (rng.random(3000) < chance) for chance in (0.5, 0.3))
    once = TwoSources().fit(first, second)._sizes
    weight = np.full(3000 * times, 1 / times)
    copies = [np.repeat(column, times) for column in (first, second, np.arange(3000))]
    own = TwoSources().fit(*copies[:2], sample_weight=weight, cluster=copies[2])._sizes
    assert own.effect == pytest.approx(times)
    assert own.unit * own.effect * own.spread == pytest.approx(once.spread)


def test_equal_weights_and_clusters_of_one_row_are_none():
    first, second, _ = every_pair()
    plain = TwoSources().fit(first, second).estimate()
    heavy = TwoSources().fit(first, second, sample_weight=np.full(len(first), 7.0)).estimate()
    alone = TwoSources().fit(first, second, cluster=np.arange(len(first))).estimate()
    for one in (heavy, alone):
        expected = plain.value, plain.low, plain.high, plain.standard_error
        assert (one.value, one.low, one.high, one.standard_error) == pytest.approx(expected)


def test_evaluate_weighs_the_sources_as_its_rows():
    rng = np.random.default_rng(6)
    truth = rng.random(6000) < 0.2
    first, second = (truth & (rng.random(6000) < chance) for chance in (0.5, 0.4))
    weight, cluster = rng.choice([0.5, 1.0, 3.0], 6000), np.arange(6000) // 3
    score, found = rng.normal(2 * truth), TwoSources().fit(first, second)
    options = {"threshold": 1.0, "unlabeled": 0, "sample_weight": weight, "cluster": cluster}
    asked = uc.RandomLabels(estimator=found)
    evaluation = uc.evaluate(first | second, score, assume=asked, **options)
    alone, apart = weight @ (first & ~second), weight @ (second & ~first)
    either = weight[first | second]
    hidden = alone * apart / (weight @ (first & second) + either @ either / either.sum())
    share = hidden / weight[~(first | second)].sum()
    assert evaluation.shares.unlabeled_prevalence == pytest.approx(share)
    sources = uc.TwoSources(first, second, dependence=1)
    other = uc.evaluate(first | second, score, assume=sources, **options)
    assert other["precision"] == evaluation["precision"]
    again = TwoSources().fit(first, second, sample_weight=weight, cluster=cluster)
    assert evaluation.shares.unlabeled_prevalence_error == again.standard_error_


def test_what_is_missing_for_weights_is_said():
    rng = np.random.default_rng(7)
    truth = rng.random(2000) < 0.3
    first, second = (truth & (rng.random(2000) < 0.5) for _ in range(2))
    either, score = first | second, rng.normal(2 * truth)
    found, weight = TwoSources().fit(first, second), rng.choice([1.0, 2.0], 2000)
    counted = TwoSources().fit_counts(first.sum(), second.sum(), (first & second).sum(), 2000)
    counts = uc.ScoreCounts.from_rows(either, score, unlabeled=0, sample_weight=weight)
    by_counts, by_rows = uc.RandomLabels(estimator=counted), uc.RandomLabels(estimator=found)
    with pytest.raises(uc.InputError, match="fitted with counts") as refusal:
        uc.evaluate(either, score, unlabeled=0, sample_weight=weight, assume=by_counts)
    assert (refusal.value.code, refusal.value.argument) == (MISSING_DATA, "sample_weight")
    with pytest.raises(uc.InputError, match="do not say which rows") as refusal:
        uc.evaluate(counts, assume=by_rows)
    assert refusal.value.code == MISSING_DATA
    with pytest.raises(uc.InputError, match="either source found"):
        uc.evaluate(first, score, unlabeled=0, sample_weight=weight, assume=by_rows)


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
