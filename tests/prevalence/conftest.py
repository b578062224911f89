import json
import pathlib
from types import SimpleNamespace

import numpy as np
import pytest

import undercount as uc

DATA = pathlib.Path(__file__).parents[1] / "data" / "prevalence"
EXPECTED = json.loads((DATA / "expected_scores.json").read_text())


def make_counts(labelled, unlabeled):
    y = np.repeat([1, -1], [len(labelled), len(unlabeled)])
    return uc.ScoreCounts.from_rows(y, np.concatenate([labelled, unlabeled]), unlabeled=-1)


@pytest.fixture(params=sorted(EXPECTED))
def published(request):
    """One fixed data set and what the published implementations return on it."""
    with np.load(DATA / f"scores_{request.param}.npz") as arrays:
        return SimpleNamespace(
            name=request.param,
            ties="ties" in request.param,
            counts=make_counts(arrays["sp"], arrays["su"]),
            balanced=make_counts(arrays["sp_bal"], arrays["su_bal"]),
            likelihood=arrays["alphamax_ll"],
            values=EXPECTED[request.param],
        )


@pytest.fixture
def separated():
    """Classes that do not overlap: 3,000 of 10,000 unlabeled rows are positive."""
    # Evenly spread, so that only a method's bias is left and no sampling noise.
    hidden = 1 + (np.arange(3000) + 0.5) / 3000
    negative = (np.arange(7000) + 0.5) / 7000
    return make_counts(1 + (np.arange(2000) + 0.5) / 2000, np.concatenate([hidden, negative]))


@pytest.fixture
def normals():
    """Normals four standard deviations apart: 300 of 1,000 unlabeled rows are positive."""
    rng = np.random.default_rng(2)
    positive = rng.normal(4, 1, 700)
    return make_counts(positive[:400], np.concatenate([positive[400:], rng.normal(0, 1, 700)]))
