"""Average precision where a random sample of all rows was verified."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

import undercount as uc

pytestmark = pytest.mark.slow
N_ROWS, DRAWS = 4000, 120


def draw(seed, known, prevalence, distance):
    """Return truth, score and the labels of an audit that found a positive."""
    rng = np.random.default_rng([53, seed])
    while True:
        truth = rng.random(N_ROWS) < prevalence
        score = rng.normal(distance * truth)
        y = np.full(N_ROWS, np.nan)
        rows = rng.choice(N_ROWS, known, replace=False)
        y[rows] = truth[rows]
        if truth[rows].any():
            return truth, score, y


@pytest.mark.parametrize(("known", "prevalence", "distance"), [
    (300, 0.02, 2.5), (40, 0.08, 1.8), (200, 0.08, 1.8), (300, 0.3, 1.0),
])  # fmt: skip
def test_average_precision_of_an_audit_holds(known, prevalence, distance):
    """Before, .76 of 300 rows with rare positives, and .86 of 40: truth above the upper end."""
    held = []
    for seed in range(DRAWS):
        truth, score, y = draw(seed, known, prevalence, distance)
        found = uc.evaluate(y, score, assume=uc.RandomAudit(), metrics=["average_precision"])
        end = found["average_precision"]
        held.append(end.low <= average_precision_score(truth, score) <= end.high)
    assert np.mean(held) >= 0.95 - 2 * (0.95 * 0.05 / DRAWS) ** 0.5
