"""How often intervals of differences hold where a random sample of all rows was verified."""

import numpy as np
import pytest
from scipy.stats import binomtest, norm
from tests.assume.reviewed.test_audit_differences import METRICS, draw, metrics_of

import undercount as uc

pytestmark = pytest.mark.slow
DRAWS = 600
# Rows, known ones, prevalence, shared noise, cuts.
DESIGNS = {
    "rare positives": ({"n": 4000, "known": 300, "prevalence": 0.05}, (1.8, 1.6)),
    "models alike": ({"n": 3000, "known": 400, "shared": 0.95}, (1.5, 1.4)),
    "few known rows": (
        {"n": 1500, "known": 100, "prevalence": 0.3, "shared": 0.0}, (0.9, 0.8),
    ),
    "most rows known": ({"n": 1000, "known": 600, "prevalence": 0.15}, (1.2, 1.2)),
}  # fmt: skip
TOP = 150


def population_of(prevalence, cuts):
    """Return the differences among very many rows; shared noise leaves each model as it is."""
    share = (np.arange(400_000) + 0.5) / 400_000
    made = []
    for distance, cut in zip((1.8, 1.5), cuts, strict=True):
        many = round(prevalence * len(share))
        truth = np.arange(len(share)) < many
        quantiles = np.append(
            norm.ppf((np.arange(many) + 0.5) / many),
            norm.ppf((np.arange(len(share) - many) + 0.5) / (len(share) - many)),
        )
        made.append(metrics_of(truth, distance * truth + quantiles, cut))
    return {metric: made[0][metric] - made[1][metric] for metric in METRICS}


def count_held(design, question, *, top=None):
    """Return of how many draws each metric's interval holds the truth."""
    options, cuts = DESIGNS[design]
    far = population_of(options.get("prevalence", 0.1), cuts) if question == "population" else None
    held = dict.fromkeys(METRICS, 0)
    for seed in range(DRAWS):
        truth, scores, y = draw(seed, **options)
        places = dict(zip(scores, cuts, strict=True))
        asked = {"threshold": places}
        if top is not None:
            asked = {"top": top, "by": "precision"}
            places = {name: np.sort(score)[-top] for name, score in scores.items()}
        found = uc.compare(y, scores, assume=uc.RandomAudit(), question=question, **asked)
        here = [metrics_of(truth, scores[name], places[name]) for name in scores]
        for metric in METRICS:
            true = here[0][metric] - here[1][metric] if far is None else far[metric]
            gap = found.difference(metric).difference
            held[metric] += gap.low <= true <= gap.high or np.isnan(gap.value)
    return held


@pytest.mark.parametrize("question", ["population", "rows"])
@pytest.mark.parametrize("design", DESIGNS)
def test_intervals_of_audited_differences_hold(design, question):
    """By the mixture's errors precision held in .908 of one design."""
    for metric, held in count_held(design, question).items():
        assert binomtest(held, DRAWS, 0.93, alternative="less").pvalue > 0.001, metric


@pytest.mark.parametrize("design", ["rare positives", "few known rows"])
def test_intervals_at_the_highest_rows_hold(design):
    for metric, held in count_held(design, "rows", top=TOP).items():
        assert binomtest(held, DRAWS, 0.93, alternative="less").pvalue > 0.001, metric
