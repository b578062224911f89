"""As many flagged rows of every model: values by counting, errors by enumeration of labels."""

import itertools

import numpy as np
import pytest

import undercount as uc


def rows(n_rows=400, seed=0, digits=8):
    rng = np.random.default_rng(seed)
    truth = rng.random(n_rows) < 0.25
    signal = rng.normal(1.5 * truth)
    scores = {
        name: np.round(signal + rng.normal(0, noise, n_rows), digits)
        for name, noise in (("a", 0.3), ("b", 1.0))
    }
    return rng, truth, scores


def flags(score, size):
    """The highest rows; of those tied at the last place a share each."""
    last = np.sort(score)[-size]
    above, tied = score > last, score == last
    return above + tied * (size - above.sum()) / tied.sum()


@pytest.mark.parametrize("digits", [8, 0])
def test_values_are_those_of_the_highest_rows(digits):
    rng, truth, scores = rows(digits=digits)
    y = np.where(truth & (rng.random(len(truth)) < 0.5), 1, -1)
    found = uc.compare(y, scores, unlabeled=-1, prevalence=0.25, top=60)
    assert found.workload.size == pytest.approx(60)
    for name, score in scores.items():
        flagged = flags(score, 60)
        recall = flagged[y == 1].mean()
        values = found.workload.values[name]
        assert values["recall"] == pytest.approx(recall)
        assert values["precision"] == pytest.approx(0.25 * recall / (60 / len(y)))
        tied = (score == np.sort(score)[-60]).sum()
        assert found.workload.tied[name] == tied
    gap = found.workload.differences[0].difference
    values = [found.workload.values[name]["precision"] for name in scores]
    assert gap.value == pytest.approx(values[0] - values[1])
    assert ("Ties at the last row" in str(found)) == (digits == 0)


def test_by_default_as_many_as_are_labelled():
    rng, truth, scores = rows()
    y = np.where(truth & (rng.random(len(truth)) < 0.5), 1, -1)
    found = uc.compare(y, scores, unlabeled=-1, prevalence=0.25)
    assert found.workload.size == (y == 1).sum()
    assert "as many as are labelled positive" in str(found)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("digits", [8, 1])
def test_an_audit_tells_of_the_highest_rows_what_evaluate_does(seed, digits):
    rng, truth, scores = rows(3000, seed, digits)
    y = np.where(rng.random(len(truth)) < 0.1, truth, np.nan)
    found = uc.compare(y, scores, assume=uc.RandomAudit(), top=60)
    for name, score in scores.items():
        alone = uc.evaluate(y, score, assume=uc.RandomAudit(), top=60)
        for metric in ("precision", "recall"):
            given, expected = found.workload.estimates[name][metric], alone.estimate(metric, top=60)
            ends = (given.value, given.low, given.high)
            assert ends == pytest.approx((expected.value, expected.low, expected.high), nan_ok=True)
            assert 0 <= given.low < given.high <= 1
            assert given.open or given.low <= given.value <= given.high
            value = found.workload.values[name][metric]
            assert value == pytest.approx(given.value, nan_ok=True)
    assert found.workload.differences == ()
    board = found.leaderboard(same_workload=True)
    assert [(s.best_rank, s.worst_rank) for s in board] == [(1, 2)] * 2


def test_reviews_tell_of_the_highest_rows_if_asked():
    rng, truth, scores = rows(2000)
    y = np.where(truth & (rng.random(len(truth)) < 0.4), 1, 0)
    plan = uc.plan_reviews(y, scores["a"], unlabeled=0, budget=200, threshold=1.5)
    options = {"unlabeled": 0, "reviews": plan.answered(truth[plan.rows])}
    found = uc.compare(y, scores, top=60, **options)
    alone = uc.evaluate(y, scores["a"], top=60, **options)
    given, expected = (
        found.workload.estimates["a"]["precision"],
        alone.estimate("precision", top=60),
    )
    assert 0 <= given.low <= given.value <= given.high <= 1
    ends = (given.value, given.low, given.high)
    assert ends == pytest.approx((expected.value, expected.low, expected.high))
    assert "If each model flags its 60 highest rows, by verdicts" in str(found)
    assert uc.compare(y, scores, **options).workload is None
    with pytest.raises(uc.InputError, match="top"):
        uc.compare(y, scores, top=60, target="population", **options)


def test_an_audit_of_a_population_has_no_highest_rows_unless_asked():
    rng, truth, scores = rows(2000)
    y = np.where(rng.random(len(truth)) < 0.2, truth, np.nan)
    assert uc.compare(y, scores, assume=uc.RandomAudit(), target="population").workload is None


def test_the_error_of_these_rows_by_every_choice_of_labels():
    # Eight positives, four of them labelled: with the flagged rows fixed the recall is a mean.
    rng = np.random.default_rng(3)
    truth = np.arange(40) < 8
    one, other = (rng.normal(2.0 * truth) for _ in range(2))
    gap = flags(one, 10) - flags(other, 10)
    choices = [gap[list(chosen)].mean() for chosen in itertools.combinations(range(8), 4)]
    errors = []
    for chosen in itertools.combinations(range(8), 4):
        y = np.full(40, -1)
        y[list(chosen)] = 1
        found = uc.compare(
            y, {"a": one, "b": other}, unlabeled=-1, prevalence=0.2, top=10, question="rows"
        )
        recall = next(d for d in found.workload.differences if d.metric == "recall").difference
        assert recall.value == pytest.approx(gap[list(chosen)].mean())
        errors.append(recall.standard_error)
    # Half a row added to each of the four answers makes small samples a little careful.
    assert 0.9 < np.mean(errors) / np.std(choices) < 1.5


def test_weights_that_are_all_alike_change_nothing_and_whole_ones_add_rows():
    rng, truth, scores = rows()
    y = np.where(truth & (rng.random(len(truth)) < 0.5), 1, -1)
    told = {"unlabeled": -1, "prevalence": 0.25, "threshold": 1.0}
    plain = uc.compare(y, scores, **told)
    same = uc.compare(y, scores, sample_weight=np.full(len(y), 3.0), **told)
    for metric in ("roc_auc", "lift_auc", "recall", "precision", "f1"):
        found = [c.difference(metric).difference for c in (plain, same)]
        assert found[1].value == pytest.approx(found[0].value)
        assert found[1].standard_error == pytest.approx(found[0].standard_error, rel=0.02)
    assert same.workload.size == plain.workload.size  # rows, of whatever weight
    for name, values in plain.workload.values.items():
        assert same.workload.values[name] == pytest.approx(values)
    # A weight counts a row so often in every value.
    weights = rng.integers(1, 4, len(y)).astype(float)
    found = uc.compare(y, scores, sample_weight=weights, **told)
    often = np.repeat(np.arange(len(y)), weights.astype(int))
    repeated = uc.compare(y[often], {n: s[often] for n, s in scores.items()}, **told)
    for metric in ("roc_auc", "recall", "precision"):
        gaps = [c.difference(metric).difference for c in (found, repeated)]
        assert gaps[0].value == pytest.approx(gaps[1].value, abs=1e-9)
        assert gaps[0].standard_error > gaps[1].standard_error  # as many rows as before


def test_as_many_rows_are_flagged_whatever_they_weigh():
    rng, truth, scores = rows(2000, digits=1)
    y = np.where(truth & (rng.random(len(truth)) < 0.5), 1, -1)
    weights = rng.gamma(2.0, 1.0, len(y))
    given = {"unlabeled": -1, "sample_weight": weights, "prevalence": 0.25}
    found = uc.compare(y, scores, **given, top=300).workload
    share = uc.compare(y, scores, **given, top=0.15).workload
    assert found.size == share.size == 300
    for name, score in scores.items():
        flagged = weights * flags(score, 300)
        recall = flagged[y == 1].sum() / weights[y == 1].sum()
        assert found.values[name]["recall"] == pytest.approx(recall)
        assert found.estimates[name]["recall"].value == pytest.approx(recall)
        assert share.values[name] == pytest.approx(found.values[name])
    (gap,) = (each.difference for each in found.differences if each.metric == "recall")
    values = [found.values[name]["recall"] for name in scores]
    assert gap.value == pytest.approx(values[0] - values[1])


def top_precision(truth, score, size):
    return (flags(score, size) * truth).sum() / size


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.8, 0.9, 0.95])
@pytest.mark.parametrize("question", ["population", "rows"])
@pytest.mark.parametrize(
    ("n_rows", "share", "labels", "top"), [(1000, 0.2, 0.5, 100), (2000, 0.2, 0.1, 300)]
)
def test_intervals_at_the_same_work_cover(n_rows, share, labels, top, question, level):
    rng, runs, inside = np.random.default_rng(4), 300, 0
    large = rng.random(400_000) < share
    signal = rng.normal(1.5 * large)
    noisy = [signal + rng.normal(0, noise, len(large)) for noise in (0.6, 1.0)]
    size = round(top / n_rows * len(large))
    true = np.subtract(*(top_precision(large, s, size) for s in noisy))
    for _ in range(runs):
        truth = rng.random(n_rows) < share
        signal = rng.normal(1.5 * truth)
        scores = [signal + rng.normal(0, noise, n_rows) for noise in (0.6, 1.0)]
        y = np.where(truth & (rng.random(n_rows) < labels), 1, -1)
        told = share
        if question == "rows":
            chosen = rng.choice(np.flatnonzero(truth), round(labels * truth.sum()), replace=False)
            y, told = np.full(n_rows, -1), truth.mean()
            y[chosen] = 1
            true = np.subtract(*(top_precision(truth, s, top) for s in scores))
        found = uc.compare(
            y,
            dict(zip("ab", scores, strict=True)),
            unlabeled=-1,
            prevalence=told,
            top=top,
            question=question,
            confidence_level=level,
        )
        inside += true in found.workload.differences[0].difference.interval
    assert abs(inside / runs - level) <= 0.02 + 2.5 * np.sqrt(level * (1 - level) / runs)
