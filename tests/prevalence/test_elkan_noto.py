import numpy as np
import pytest

import undercount as uc
from undercount.prevalence import ElkanNoto, leave_one_out_positives


@pytest.mark.parametrize("rule", ["e1", "e2", "e3"])
@pytest.mark.parametrize(("conversion", "name"), [("frequency", "alt"), ("posterior", "main")])
def test_published_value(published, rule, conversion, name):
    estimator = ElkanNoto(rule=rule, calibration="none", conversion=conversion, n_resamples=0)
    found = estimator.fit(published.counts).unlabeled_prevalence_
    assert found == pytest.approx(published.values[f"EN_{rule}_{name}"], abs=1e-12)


def test_calibration_makes_e1_and_e2_equal(normals):
    # Pooling adjacent violators keeps the sum of chances equal to the number of labels.
    first = ElkanNoto(rule="e1", n_resamples=0).fit(normals).unlabeled_prevalence_
    assert ElkanNoto(rule="e2", n_resamples=0).fit(normals).unlabeled_prevalence_ == pytest.approx(
        first
    )


def test_two_scores_by_hand():
    # At the high score 20 of 50 rows are labelled, at the low one none of 50: c = .4 by each rule.
    counts = uc.ScoreCounts.from_counts([2, 1], [20, 0], [0, 0], [30, 50])
    for rule in ("e1", "e2", "e3"):
        found = ElkanNoto(rule=rule, n_resamples=0).fit(counts)
        assert found.diagnostics_["label_frequency"] == pytest.approx(0.4)
        assert found.unlabeled_prevalence_ == pytest.approx(30 / 80)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rule": "e4"}, "rule must be"),
        ({"calibration": "platt"}, "calibration must be"),
        ({"calibration": "none"}, "chances of being labelled"),
        ({"conversion": "odds"}, "conversion must be"),
    ],
)
def test_bad_parameters_are_refused(parameters, message, normals):
    with pytest.raises(uc.InputError, match=message):
        ElkanNoto(**parameters).fit(normals)


def test_leave_one_out_positives():
    # Nine labels; each left-out row gets chance 8 / 40: 40 positives besides itself.
    assert leave_one_out_positives(np.full(9, 0.2)) == pytest.approx(41)
    with pytest.raises(uc.InputError, match="finds no labelled row again"):
        leave_one_out_positives([0.0, 0.0])
    with pytest.raises(uc.InputError, match=r"in \[0, 1\]"):
        leave_one_out_positives([])
