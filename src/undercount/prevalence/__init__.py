"""Estimate the share of positives among the unlabeled rows: one file a method."""

import importlib
from typing import Any

# Public name → the file that defines it; imported when first used.
_HOME = {
    "AlphaMax": "alpha_max",
    "AlphaMaxN": "noisy",
    "BestBin": "best_bin",
    "Consensus": "consensus.consensus",
    "Dedpul": "dedpul",
    "DistCurve": "distance_curve",
    "ElkanNoto": "elkan_noto",
    "FeatureEstimator": "base",
    "Fitted": "base",
    "KernelMean": "kernel_mean.kernel_mean",
    "NoisyComposition": "noisy",
    "NoisyConsensus": "consensus.noisy",
    "PatraSen": "patra_sen",
    "PenL1": "pen_l1",
    "PrevalenceEstimator": "base",
    "RocSlope": "roc_slope",
    "ScoreEstimator": "base",
    "SharpestScorer": "sharpest",
    "TIcE": "tice",
    "TwoLabels": "two_labels",
    "VerifiedSample": "verified",
    "leave_one_out_positives": "elkan_noto",
    "out_of_fold_scores": "out_of_fold",
}

__all__ = sorted(_HOME)  # noqa: PLE0605 - the table above is the one list of names


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
