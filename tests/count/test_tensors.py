"""Tensors give the counts of the same rows as NumPy arrays, wherever they live."""

import numpy as np
import pytest

import undercount as uc
from undercount.count.kernel import array_library

strict = pytest.importorskip("array_api_strict")
tensor = strict.asarray


@pytest.fixture
def on_device(monkeypatch):
    """Take the memory of the host for that of a device, so that tensors count themselves."""
    monkeypatch.setattr(array_library, "HOST_KINDS", frozenset())


def assert_same(counts, expected):
    for field in ("score", "positive", "negative", "unlabeled", "merged"):
        np.testing.assert_array_equal(getattr(counts, field), getattr(expected, field))
    assert counts.squared_weight == expected.squared_weight


def shapes(rng, n):
    """Scores that are hard to sort: ties, signs, infinities, both zeros, crowded ends."""
    yield "uniform", rng.random(n)
    yield "tied", np.round(rng.random(n), 2)
    yield "signed", np.round(rng.normal(size=n), 2) * rng.choice([1.0, -0.0], n)
    yield "infinite", np.where(rng.random(n) < 0.1, rng.choice([np.inf, -np.inf], n), rng.random(n))
    yield "crowded", np.exp(-30 * rng.random(n))
    yield "constant", np.full(n, 0.25)


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("compact", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_counts_equal_those_of_numpy(dtype, compact, monkeypatch):
    monkeypatch.setattr("undercount.count.kernel.device.MIN_ROWS_PER_PART", 16)  # several parts
    rng = np.random.default_rng(0)
    for n in (1, 3, 300):
        for name, values in shapes(rng, n):
            score, y = values.astype(dtype), rng.choice([1, 0, -1], n, p=[0.2, 0.1, 0.7])
            knots = [0.25, 0.3, float(score[0]), np.inf] if compact else []
            for unlabeled in (-1, 0):
                labels = np.where(y < 0, 0, y) if unlabeled == 0 else y
                options = {"unlabeled": unlabeled, "compact": compact, "knots": knots}
                found = uc.ScoreCounts.from_rows(tensor(labels), tensor(score), **options)
                expected = uc.ScoreCounts.from_rows(labels, score, **options)
                assert_same(found, expected)
                assert found.n_rows == n, name


@pytest.mark.usefixtures("on_device")
def test_labels_may_be_booleans_or_floats_with_nan():
    score = np.array([0.1, 0.4, 0.4, 0.9], np.float32)
    y = np.array([np.nan, 1.0, 0.0, np.nan], np.float32)
    expected = uc.ScoreCounts.from_rows(y, score, compact=True)
    assert_same(uc.ScoreCounts.from_rows(tensor(y), tensor(score), compact=True), expected)
    true = np.array([False, True, False, True])
    found = uc.ScoreCounts.from_rows(tensor(true), tensor(score), unlabeled=0)
    assert_same(found, uc.ScoreCounts.from_rows(true, score, unlabeled=0))


@pytest.mark.usefixtures("on_device")
def test_jax_counts_its_arrays_itself():
    # Small, because JAX compiles each operation for each number of borders.
    jnp = pytest.importorskip("jax.numpy")
    score = np.array([0.5, 0.25, -0.0, 0.0, 0.5, 0.75, 0.3, 0.1], np.float32)
    y = np.array([1, 0, 1, 0, 0, 0, 0, 0])
    found = uc.ScoreCounts.from_rows(jnp.asarray(y), jnp.asarray(score), unlabeled=0, compact=True)
    assert_same(found, uc.ScoreCounts.from_rows(y, score, unlabeled=0, compact=True))


def test_narrow_floats_of_jax_count_as_what_they_are():
    jnp = pytest.importorskip("jax.numpy")
    values = np.random.default_rng(1).normal(size=200)
    y = np.arange(200) % 5 == 0
    for dtype in (jnp.float16, jnp.bfloat16, jnp.float32):
        score = jnp.asarray(values, dtype)
        expected = uc.ScoreCounts.from_rows(y, np.asarray(score).astype(np.float32), unlabeled=0)
        assert_same(uc.ScoreCounts.from_rows(jnp.asarray(y), score, unlabeled=0), expected)


def test_memory_of_the_host_is_counted_by_numpy():
    rng = np.random.default_rng(2)
    score, y = rng.random(50), rng.integers(-1, 2, 50)
    weight = rng.random(50)
    found = uc.ScoreCounts.from_rows(
        tensor(y), tensor(score), unlabeled=-1, sample_weight=tensor(weight)
    )
    assert_same(found, uc.ScoreCounts.from_rows(y, score, unlabeled=-1, sample_weight=weight))
    # Labels in another container than the scores are no trouble on the host.
    assert_same(
        uc.ScoreCounts.from_rows(y.tolist(), tensor(score), unlabeled=-1),
        uc.ScoreCounts.from_rows(y, score, unlabeled=-1),
    )


def test_an_array_that_speaks_dlpack_alone_is_read():
    class Alone:
        def __init__(self, array):
            self._array = array

        def __dlpack__(self, **options):
            return self._array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self._array.__dlpack_device__()

    score, y = np.array([0.5, 0.25, 0.75]), np.array([1, -1, -1])
    found = uc.ScoreCounts.from_rows(Alone(y), Alone(score), unlabeled=-1)
    assert_same(found, uc.ScoreCounts.from_rows(y, score, unlabeled=-1))


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("array", [np.asarray, tensor])
def test_batches_add_up_to_the_whole(array):
    rng = np.random.default_rng(3)
    score, y = np.round(rng.random(1000), 2), rng.integers(0, 2, 1000)
    counts = 0
    for start in range(0, 1000, 100):
        part = slice(start, start + 100)
        counts += uc.ScoreCounts.from_rows(array(y[part]), array(score[part]), unlabeled=0)
    assert_same(counts, uc.ScoreCounts.from_rows(y, score, unlabeled=0))


@pytest.mark.usefixtures("on_device")
def test_evaluate_says_the_same_of_tensors():
    rng = np.random.default_rng(4)
    truth = rng.random(4000) < 0.3
    y, score = truth & (rng.random(4000) < 0.4), rng.normal(2.0 * truth)
    options = {"unlabeled": 0, "prevalence": 0.3, "threshold": 1.0}
    found = uc.evaluate(tensor(y), tensor(score), **options)
    expected = uc.evaluate(y, score, **options)
    assert found.to_json() == expected.to_json()
    # Another threshold counts the rows once more, on their device.
    assert repr(found.at(0.5)) == repr(expected.at(0.5))


@pytest.mark.usefixtures("on_device")
def test_models_are_compared_and_reviews_planned_alike():
    rng = np.random.default_rng(6)
    truth = rng.random(3000) < 0.3
    y, scores = truth & (rng.random(3000) < 0.4), {"a": rng.normal(2.0 * truth)}
    scores["b"] = rng.normal(1.0 * truth)
    options = {"unlabeled": 0, "prevalence": 0.3, "threshold": 1.0}
    away = {name: tensor(score) for name, score in scores.items()}
    found = uc.compare(tensor(y), away, **options)
    assert found.to_json() == uc.compare(y, scores, **options).to_json()
    plan = uc.plan_reviews(tensor(y), away["a"], unlabeled=0, budget=30, threshold=1.0)
    expected = uc.plan_reviews(y, scores["a"], unlabeled=0, budget=30, threshold=1.0)
    np.testing.assert_array_equal(plan.rows, expected.rows)
    elsewhere = strict.asarray(scores["b"], device=strict.Device("device1"))
    with pytest.raises(uc.InputError, match=r"must be on one device .*device1"):
        uc.compare(tensor(y), {**away, "b": elsewhere}, **options)


@pytest.mark.usefixtures("on_device")
def test_what_cannot_be_counted_is_refused_as_on_the_host():
    good, y = np.array([0.5, 0.25]), np.array([1, 0])
    for labels, score in (
        (y, np.array([0.5, np.nan])),
        (np.array([1, 3]), good),
        (y, np.array([0.5, 0.25, 0.1])),
        (y[:0], good[:0]),
        (y, np.ones((2, 2))),
    ):
        with pytest.raises(uc.InputError) as expected:
            uc.ScoreCounts.from_rows(labels, score)
        with pytest.raises(uc.InputError) as found:
            uc.ScoreCounts.from_rows(tensor(labels), tensor(score))
        assert str(found.value) == str(expected.value)


@pytest.mark.usefixtures("on_device")
def test_arrays_of_two_devices_are_refused():
    score = strict.asarray([0.5, 0.25], device=strict.Device("device1"))
    for y in (np.array([1, 0]), strict.asarray([1, 0])):
        with pytest.raises(uc.InputError, match=r"must be on one device .*device1"):
            uc.ScoreCounts.from_rows(y, score)


def test_arrays_of_a_device_are_copied_or_refused(monkeypatch):
    y, score = (
        strict.asarray(each, device=strict.Device("device1")) for each in ([1, 0], [2.0, 1])
    )
    if array_library.DEVICES_COPY:
        assert uc.ScoreCounts.from_rows(y, score).n_positive == 1
    monkeypatch.setattr(array_library, "DEVICES_COPY", False)
    with pytest.raises(uc.InputError, match=r"array_api_strict.* need NumPy 2\.1 or newer"):
        uc.ScoreCounts.from_rows(y, score)
