"""One run of a simulation in Cook 2016: random, standard and inferred AUC (Tables 2 to 4)."""

from dataclasses import dataclass

import numpy as np

from undercount.assume.selection.model import SelectionModel
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.theory.simulation import (
    SelectedData,
    simulate_observed_score,
    simulate_own_score,
    simulate_unobserved,
)

N_ROWS = 1000


@dataclass(frozen=True)
class Design:
    """Name a column and panel of Tables 2 to 4; numbers that a method does not use stay 0.

    Attributes
    ----------
    method : str
        "own-score" (Table 2), "unobserved" (Table 3) or "observed-score" (Table 4).
    correlation : float
        ρ_ap.
    score_weight, hidden_correlation : float
        γ and ρ_εp of Table 3.
    score_correlation, selector_correlation : float
        ρ_ab and ρ_bp of Table 4.

    Examples
    --------
    >>> from undercount.assume.trial import Design, run_trial
    >>> run_trial(Design("own-score", 0.7), random_state=0).standard < 0.8
    True
    """

    method: str
    correlation: float
    score_weight: float = 0.0
    hidden_correlation: float = 0.0
    score_correlation: float = 0.0
    selector_correlation: float = 0.0


@dataclass(frozen=True)
class Trial:
    """Hold the areas of one run, and the share of positives among the rows looked at."""

    random: float
    standard: float
    inferred: float
    portion: float


def run_trial(
    design: Design,
    random_state: int | np.random.Generator | None = None,
    *,
    distribution: str = "normal",
) -> Trial:
    """Draw 1,000 rows, look at 500, and compare three areas under the ROC curve.

    Parameters
    ----------
    design : Design
        Which cell of which table.
    random_state : int, generator or None
        Seed; pass one generator to successive runs.
    distribution : str
        Third step; the paper's is "normal".

    Notes
    -----
    Assumes: the designs of the paper. An area below ½ stays below ½, where the paper flips it
    (.578 in Table 3 and .533 in Table 4 are .421 and .469).
    Wrong when: read as evidence about data that are not normal.
    """
    generator = np.random.default_rng(random_state)
    fresh = simulate_own_score(N_ROWS // 2, design.correlation, random_state=generator)
    data = simulate_design(design, generator)
    selection_score = data.selection_score if design.method == "observed-score" else None
    model = SelectionModel(design.method, distribution=distribution)
    model.fit(data.score, data.y, selection_score=selection_score)
    return Trial(
        _auc(fresh.truth, fresh.score),
        model.naive_curve_.roc_auc,
        model.curve_.roc_auc,
        float(data.truth[data.looked].mean()),
    )


def simulate_design(design: Design, generator: np.random.Generator) -> SelectedData:
    """Draw the rows of a design."""
    if design.method == "own-score":
        return simulate_own_score(N_ROWS, design.correlation, random_state=generator)
    if design.method == "observed-score":
        return simulate_observed_score(
            N_ROWS,
            design.correlation,
            selector_correlation=design.selector_correlation,
            score_correlation=design.score_correlation,
            random_state=generator,
        )
    return simulate_unobserved(
        N_ROWS,
        design.correlation,
        hidden_correlation=design.hidden_correlation,
        score_weight=design.score_weight,
        random_state=generator,
    )


def _auc(truth: FloatArray, score: FloatArray) -> float:
    """Area of a fully labelled sample: mean share of negatives below a positive."""
    positive, negative, _ = ScoreCounts.from_rows(truth, score).cumulative()
    heights, steps = positive[1:] + positive[:-1], np.diff(negative)
    return float(heights @ steps / (2 * positive[-1] * negative[-1]))
