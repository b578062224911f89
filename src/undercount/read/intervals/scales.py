"""Scales on which estimates are nearly normal, and the table of all metrics."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from undercount.curve import FloatArray, metric_names
from undercount.errors import InputError
from undercount.estimate import delta_interval as delta_interval  # noqa: PLC0414 - they stood here
from undercount.estimate import from_scale as from_scale  # noqa: PLC0414 - they stood here
from undercount.estimate import scale_slope as scale_slope  # noqa: PLC0414 - they stood here
from undercount.estimate import to_scale as to_scale  # noqa: PLC0414 - they stood here

Scale: TypeAlias = Literal["logit", "symmetric", "log"]
_RANGES: dict[Scale, tuple[float, float]] = {
    "logit": (0.0, 1.0),
    "symmetric": (-1.0, 1.0),
    "log": (0.0, np.inf),
}
_SYMMETRIC = {"mcc", "kappa", "informedness"}
_LOG = {"lift", "lee_liu", "positive_likelihood_ratio", "negative_likelihood_ratio", "log_loss"}
# Their errors grow with them and are skewed to the right even near 1: the log scale fits better
# (for the partial area counted from no area at all).
_LOG_SHARE = {"average_precision", "partial_roc_auc"}
# With pure labels these follow from labelled and all rows alone.
_NO_PREVALENCE = {"recall", "tpr", "fnr", "lift", "lee_liu", "lift_auc"}
_NOTHING = {"predicted_positive_rate"}

AREA_METRICS = ("roc_auc", "partial_roc_auc", "average_precision", "lift_auc")
LOSS_METRICS = ("log_loss", "brier_score")
THRESHOLD_METRICS = (*metric_names(), "tpr", "fpr", "f_beta")
ALL_METRICS = (*AREA_METRICS, *LOSS_METRICS, *THRESHOLD_METRICS)


@dataclass(frozen=True)
class MetricKind:
    """Say what a metric needs and on which scale its interval is made."""

    name: str
    scale: Scale
    needs_prevalence: bool
    needs_labels: bool

    @property
    def range(self) -> tuple[float, float]:
        """The values that the metric can have."""
        return (0.0, 1.0) if self.name in _LOG_SHARE else _RANGES[self.scale]

    def needs(self, *, pure: bool) -> tuple[str, ...]:
        """Return what the metric rests on."""
        if not self.needs_labels:
            return ()
        if pure:
            return ("random labels", "prevalence") if self.needs_prevalence else ("random labels",)
        return ("random labels", "prevalence", "purity")


def metric_kind(name: str) -> MetricKind:
    """Look a metric up by its name."""
    if name not in ALL_METRICS:
        raise InputError(f"metric must be one of {', '.join(ALL_METRICS)}; got {name!r}")
    scale: Scale = "log" if name in _LOG | _LOG_SHARE else "logit"
    if name in _SYMMETRIC:
        scale = "symmetric"
    return MetricKind(
        name, scale, name not in _NO_PREVALENCE | _NOTHING, needs_labels=name not in _NOTHING
    )


def widened(
    value: ArrayLike,
    interval: tuple[FloatArray, FloatArray],
    extra_half_width: ArrayLike,
    scale: Scale,
) -> tuple[FloatArray, FloatArray]:
    """Add an independent error to an interval: the distances add in squares, side by side.

    Zou and Donner's MOVER; `extra_half_width` is on the metric's own scale.
    """
    extra = np.abs(np.asarray(extra_half_width, dtype=float))
    low, high = _RANGES[scale]
    below = np.asarray(value) - np.hypot(np.asarray(value) - interval[0], extra)
    above = np.asarray(value) + np.hypot(interval[1] - np.asarray(value), extra)
    return np.maximum(below, low), np.minimum(above, high)
