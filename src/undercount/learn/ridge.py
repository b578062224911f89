"""Ridge solutions of one quadratic loss for many penalties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh

if TYPE_CHECKING:
    from undercount.curve import FloatArray
    from undercount.learn.moments import PairLoss


@dataclass(frozen=True)
class RidgePath:
    """Minimise loss(w) + penalty · unit · |v|², w = root · v, for any penalty by one factorisation.

    ``unit`` is the mean eigenvalue of the loss's curvature in v, so that a penalty means the same
    for any basis and scale. The curvature of a loss over pairs has no eigenvalue below zero; where
    an estimate of it has some (PU-AUC subtracts two estimates), they are set to zero, which gives
    the nearest matrix without.
    """

    values: FloatArray
    vectors: FloatArray
    target: FloatArray
    unit: float

    @classmethod
    def of(cls, loss: PairLoss, root: FloatArray | None = None) -> RidgePath:
        """Factorise the curvature once.

        Examples
        --------
        >>> import numpy as np
        >>> from undercount.learn.moments import PairLoss
        >>> from undercount.learn.ridge import RidgePath
        >>> loss = PairLoss(1.0, np.array([1.0, 0.0]), np.eye(2))
        >>> RidgePath.of(loss).solve([0.0, 1.0]).tolist()  # one column a penalty
        [[1.0, 0.5], [0.0, 0.0]]
        """
        curvature, target = loss.curvature, loss.target
        if root is not None:
            curvature, target = root.T @ curvature @ root, root.T @ target
        values, vectors = eigh(curvature)
        values = np.maximum(values, 0)
        unit = float(values.mean())
        back = vectors if root is None else root @ vectors
        return cls(values, back, vectors.T @ target, unit if unit > 0 else 1.0)

    def solve(self, penalties: FloatArray | list[float]) -> FloatArray:
        """Return the coefficients, a column for each penalty."""
        ridge = np.asarray(penalties, float) * self.unit
        # A penalty of zero leaves directions without curvature out, as a pseudo-inverse does.
        floor = self.values.max(initial=0.0) * self.values.size * np.finfo(float).eps
        bottom = self.values[:, None] + ridge
        shares = np.divide(
            self.target[:, None], bottom, out=np.zeros_like(bottom), where=bottom > floor
        )
        return np.asarray(self.vectors @ shares, float)
