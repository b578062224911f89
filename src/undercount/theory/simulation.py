"""Data with labels only where somebody looked, drawn from Cook's three designs."""

from dataclasses import dataclass

import numpy as np

from undercount.curve import FloatArray
from undercount.errors import InputError


@dataclass(frozen=True, eq=False)
class SelectedData:
    """Hold simulated rows and the truth about them.

    Attributes
    ----------
    score : array
        Output a of the classifier under test.
    y : array
        1 or 0 where somebody looked, NaN elsewhere.
    truth : array
        1 or 0 everywhere.
    selection_score : array
        What chose the rows.
    """

    score: FloatArray
    y: FloatArray
    truth: FloatArray
    selection_score: FloatArray

    @property
    def looked(self) -> np.ndarray:
        """Whether somebody looked."""
        return ~np.isnan(self.y)


def simulate_own_score(
    n_rows: int = 1000,
    correlation: float = 0.5,
    *,
    latent_threshold: float = 0.0,
    looked_share: float = 0.5,
    random_state: int | np.random.Generator | None = None,
) -> SelectedData:
    """Draw rows of which the highest scores are looked at (Cook 2016, section 4.1).

    Parameters
    ----------
    n_rows : int
        Rows drawn.
    correlation : float
        ρ_ap, of score and propensity.
    latent_threshold : float
        p*; a row is positive if its propensity is at least that, so the prevalence is Φ(-p*).
    looked_share : float
        Share of rows looked at.
    random_state : int, generator or None
        Seed.

    Notes
    -----
    Assumes: score and propensity are jointly normal.
    Wrong when: used as evidence about other shapes; transform the score for that.

    Examples
    --------
    >>> from undercount.theory.simulation import simulate_own_score
    >>> data = simulate_own_score(1000, 0.7, random_state=0)
    >>> int(data.looked.sum()), bool(data.score[data.looked].min() > data.score[~data.looked].max())
    (500, True)
    """
    covariance = np.array([[1.0, correlation], [correlation, 1.0]])
    p, a = _draw(covariance, n_rows, random_state)
    return _select(a, p, a, latent_threshold, looked_share)


def simulate_observed_score(
    n_rows: int = 1000,
    correlation: float = 0.5,
    *,
    selector_correlation: float = 0.7,
    score_correlation: float = 0.5,
    latent_threshold: float = 0.0,
    looked_share: float = 0.5,
    random_state: int | np.random.Generator | None = None,
) -> SelectedData:
    """Draw rows of which another, known classifier chose the highest (Cook 2016, appendix B).

    Parameters
    ----------
    n_rows : int
        Rows drawn.
    correlation, selector_correlation, score_correlation : float
        ρ_ap, ρ_bp and ρ_ab.
    latent_threshold, looked_share, random_state
        As in `simulate_own_score`.

    Notes
    -----
    Assumes: both scores and the propensity are jointly normal.
    Wrong when: used as evidence about other shapes.

    Examples
    --------
    >>> from undercount.theory.simulation import simulate_observed_score
    >>> data = simulate_observed_score(1000, 0.7, random_state=0)
    >>> chosen, left = (data.selection_score[data.looked], data.selection_score[~data.looked])
    >>> bool(chosen.min() > left.max())
    True
    """
    covariance = np.array(
        [
            [1.0, correlation, selector_correlation],
            [correlation, 1.0, score_correlation],
            [selector_correlation, score_correlation, 1.0],
        ]
    )
    p, a, b = _draw(covariance, n_rows, random_state)
    return _select(a, p, b, latent_threshold, looked_share)


def simulate_unobserved(
    n_rows: int = 1000,
    correlation: float = 0.5,
    *,
    hidden_correlation: float = 0.7,
    score_weight: float = 1.0,
    latent_threshold: float = 0.0,
    looked_share: float = 0.5,
    random_state: int | np.random.Generator | None = None,
) -> SelectedData:
    """Draw rows chosen by γ·score plus something unseen (Cook 2016, section 4.2).

    Parameters
    ----------
    n_rows : int
        Rows drawn.
    correlation : float
        ρ_ap, of score and propensity.
    hidden_correlation : float
        ρ_εp, of the unseen part and the propensity. The correlation of eq. 15 is
        ρ_εp / √(1-ρ_ap²).
    score_weight : float
        γ; the two classifiers then correlate by γ/√(1+γ²).
    latent_threshold, looked_share, random_state
        As in `simulate_own_score`.

    Notes
    -----
    Assumes: score, unseen part and propensity are jointly normal.
    Wrong when: used as evidence about other shapes.

    Examples
    --------
    >>> from undercount.theory.simulation import simulate_unobserved
    >>> data = simulate_unobserved(1000, 0.5, random_state=0)
    >>> bool(data.truth[data.looked].mean() > data.truth.mean())
    True
    """
    covariance = np.array(
        [
            [1.0, correlation, hidden_correlation],
            [correlation, 1.0, 0.0],
            [hidden_correlation, 0.0, 1.0],
        ]
    )
    p, a, unseen = _draw(covariance, n_rows, random_state)
    return _select(a, p, score_weight * a + unseen, latent_threshold, looked_share)


def _draw(
    covariance: FloatArray, n_rows: int, random_state: int | np.random.Generator | None
) -> FloatArray:
    values, vectors = np.linalg.eigh(covariance)
    if values.min() < -1e-12:  # noqa: PLR2004 - rounding
        raise InputError(
            "the correlations contradict each other: no three variables can have them "
            f"(smallest eigenvalue {values.min():.3g})"
        )
    draws = np.random.default_rng(random_state).standard_normal((len(values), n_rows))
    result: FloatArray = (vectors * np.sqrt(np.maximum(values, 0.0))) @ draws
    return result


def _select(
    score: FloatArray,
    propensity: FloatArray,
    chooser: FloatArray,
    latent_threshold: float,
    looked_share: float,
) -> SelectedData:
    if not 0 < looked_share < 1:
        raise InputError(f"looked_share must be between 0 and 1; got {looked_share}")
    n_looked = max(round(looked_share * len(score)), 1)
    cutoff = np.partition(chooser, len(score) - n_looked)[len(score) - n_looked]
    truth = (propensity >= latent_threshold).astype(float)
    return SelectedData(score, np.where(chooser >= cutoff, truth, np.nan), truth, chooser)
