import json
import pathlib

import pytest
from scipy.stats import beta

import undercount as uc
from undercount.prevalence import VerifiedSample

CASES = json.loads(
    (pathlib.Path(__file__).parents[1] / "data/prevalence/beta_credible_interval.json").read_text()
)


@pytest.mark.parametrize("case", CASES)
def test_published_intervals(case):
    found = VerifiedSample(
        prior=tuple(case["prior"]),
        kind="highest-density" if case["HPD"] else "equal-tailed",
        confidence_level=case["L"],
    ).fit_counts(case["npos"], case["npos"] + case["nneg"])
    # The published highest-density search steps through tail probabilities by .001.
    tolerance = 1e-3 if case["HPD"] else 1e-12
    assert found.interval_.low == pytest.approx(case["lower"], abs=tolerance)
    assert found.interval_.high == pytest.approx(case["upper"], abs=tolerance)


def test_highest_density_interval_is_the_shortest_with_equal_ends():
    found = VerifiedSample(kind="highest-density").fit_counts(3, 10).interval_
    posterior = beta(4, 8)
    assert posterior.cdf(found.high) - posterior.cdf(found.low) == pytest.approx(0.95)
    assert posterior.pdf(found.low) == pytest.approx(posterior.pdf(found.high), rel=1e-4)


def test_labels_and_counts_agree():
    by_labels = VerifiedSample().fit([1, 0, 0, 1])
    assert by_labels.interval_ == VerifiedSample().fit_counts(2, 4).interval_
    assert by_labels.unlabeled_prevalence_ == pytest.approx(3 / 6)
    estimate = by_labels.estimate()
    assert estimate.needs == ("verified rows drawn at random",)
    assert estimate.standard_error == pytest.approx(beta(3, 3).std())


@pytest.mark.parametrize("labels", [[], [1, 2], [1, None]])
def test_bad_labels_are_refused(labels):
    with pytest.raises(uc.InputError, match="verified labels must be 0 or 1"):
        VerifiedSample().fit(labels)


@pytest.mark.parametrize(
    ("parameters", "counts", "message"),
    [
        ({}, (5, 4), "n_positive <= n_verified"),
        ({}, (0, 0), "n_positive <= n_verified"),
        ({"kind": "likely"}, (1, 4), "kind must be"),
        ({"prior": (0, 1)}, (1, 4), "must be positive"),
        ({"confidence_level": 0}, (1, 4), "confidence_level"),
    ],
)
def test_bad_input_is_refused(parameters, counts, message):
    with pytest.raises(uc.InputError, match=message):
        VerifiedSample(**parameters).fit_counts(*counts)
