"""True classifier performance when the labels undercount the positives."""

import importlib
from typing import Any

__version__ = "0.1.0"

# Public name → the module that defines it; a module is imported when a name is first used,
# so that `import undercount` and `undercount --help` stay light.
_HOME = {
    "bound_curve": "assume.bounds",
    "bound_tables": "assume.bounds",
    "LabelledMoments": "assume.f_scores",
    "Moments": "assume.f_scores",
    "labelled_moments": "assume.f_scores",
    "bound_roc_auc": "assume.greedy",
    "Inversions": "assume.inversions",
    "PairedTest": "assume.inversions",
    "inversions": "assume.inversions",
    "paired_wilcoxon": "assume.inversions",
    "labelled_curve": "assume.labelled",
    "naive_curve": "assume.labelled",
    "LiftCurve": "assume.lift",
    "auc_from_lift": "assume.lift",
    "expected_labelled_auc": "assume.lift",
    "lift_curve": "assume.lift",
    "lift_from_auc": "assume.lift",
    "lift_tail_bound": "assume.lift_error",
    "lift_variance": "assume.lift_error",
    "required_labels": "assume.lift_error",
    "delong_auc": "uncertainty.delong",
    "direct_auc": "assume.mixture",
    "mixture_curve": "assume.mixture",
    "unlabeled_precision": "assume.mixture",
    "biased_auc": "assume.propensity",
    "biased_recall": "assume.propensity",
    "propensity_curve": "assume.propensity",
    "precision_from_naive": "assume.recovery",
    "precision_recall_auc": "assume.recovery",
    "recovery_error": "assume.recovery",
    "sign_test": "assume.recovery",
    "SelectionModel": "assume.selection",
    "PrevalenceSlopes": "assume.slopes",
    "identified_prevalence": "assume.slopes",
    "prevalence_slopes": "assume.slopes",
    "ContingencyTables": "assume.tables",
    "TableBounds": "assume.tables",
    "Check": "check",
    "Comparison": "comparison",
    "compare": "comparison",
    "read_counts_file": "count_files",
    "write_counts": "count_files",
    "ScoreCounts": "counts",
    "CurveBounds": "curve",
    "Estimate": "curve",
    "Interval": "curve",
    "OperatingCurve": "curve",
    "OperatingPoint": "curve",
    "Difference": "differences",
    "CalibrationDisplay": "displays",
    "HistogramDisplay": "displays",
    "LiftDisplay": "displays",
    "PrecisionRecallDisplay": "displays",
    "RocDisplay": "displays",
    "SensitivityDisplay": "displays",
    "InputError": "errors",
    "MisfitWarning": "errors",
    "SmallSampleWarning": "errors",
    "UndefinedMetricWarning": "errors",
    "Evaluation": "evaluation",
    "evaluate": "evaluation",
    "read_counts": "files",
    "count_scores": "frames",
    "PUAUCClassifier": "learn",
    "PUAULClassifier": "learn",
    "merge_counts": "merging",
    "MetricOptions": "metrics",
    "accuracy": "metrics",
    "average_precision": "metrics",
    "balanced_accuracy": "metrics",
    "brier_score": "metrics",
    "f1": "metrics",
    "f_beta": "metrics",
    "geometric_mean": "metrics",
    "informedness": "metrics",
    "kappa": "metrics",
    "lee_liu": "metrics",
    "lift": "metrics",
    "lift_auc": "metrics",
    "log_loss": "metrics",
    "mcc": "metrics",
    "negative_likelihood_ratio": "metrics",
    "npv": "metrics",
    "partial_roc_auc": "metrics",
    "positive_likelihood_ratio": "metrics",
    "precision": "metrics",
    "predicted_positive_rate": "metrics",
    "recall": "metrics",
    "roc_auc": "metrics",
    "specificity": "metrics",
    "make_scorer": "scorers",
    "BreakEven": "sensitivity",
    "break_even": "sensitivity",
    "Shares": "shares",
    "CdfBand": "uncertainty.bands",
    "cdf_band": "uncertainty.bands",
}

# Public modules, reached as attributes: uc.prevalence.Dedpul, uc.scorers.lift_auc.
_MODULES = ("learn", "metrics", "prevalence", "scorers")

__all__ = sorted(_HOME)  # noqa: PLE0605 - the table above is the one list of names


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME, *_MODULES])
