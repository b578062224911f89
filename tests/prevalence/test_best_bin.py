import numpy as np
import pytest

import undercount as uc
from undercount.prevalence import BestBin


def test_published_value(published):
    found = BestBin(n_resamples=0).fit(published.counts).unlabeled_prevalence_
    # The published code leaves the unlabeled row at the threshold out: one of 800 where tied.
    expected = published.values["BBE_acmi"]
    assert found == pytest.approx(expected, abs=2e-3 if published.ties else 1e-12)


def test_small_table_by_hand():
    # Heads: (labelled, unlabeled) = (10/20, 10/100), (20/20, 40/100). The penalty is
    # 1.01 √(ln 40 / 2) (1/10 + 1/√20) / head = .444 / head, so .1 + .444 over .5 loses
    # against .4 + .444 over 1.
    counts = uc.ScoreCounts.from_counts([3, 2, 1], [10, 10, 0], [0, 0, 0], [10, 30, 60])
    found = BestBin(n_resamples=0).fit(counts)
    penalty = 1.01 * np.sqrt(np.log(40) / 2) * (100**-0.5 + 20**-0.5)
    assert found.unlabeled_prevalence_ == pytest.approx(0.4)
    assert found.upper_bound_ == pytest.approx(0.4 + penalty)
    assert found.diagnostics_["threshold"] == 2


@pytest.mark.parametrize("wrong", [{"risk": 1.0}, {"slack": -0.1}])
def test_bad_parameters_are_refused(wrong, normals):
    with pytest.raises(uc.InputError, match="risk must lie in"):
        BestBin(**wrong).fit(normals)
