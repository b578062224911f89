"""True classifier performance when the labels undercount the positives."""

import importlib
from typing import Any

__version__ = "0.1.0"

# Public name → the module that defines it; a module is imported when a name is first used,
# so that `import undercount` and `undercount --help` stay light.
_HOME = {
    "bound_curve": "assume.bounds.bound_curve",
    "bound_tables": "assume.bounds.bound_curve",
    "LabelledMoments": "theory.f_scores",
    "Moments": "theory.f_scores",
    "labelled_moments": "theory.f_scores",
    "bound_roc_auc": "assume.bounds.attainable",
    "Inversions": "theory.inversions",
    "PairedTest": "theory.inversions",
    "inversions": "theory.inversions",
    "paired_wilcoxon": "theory.inversions",
    "labelled_curve": "assume.labelled",
    "naive_curve": "assume.labelled",
    "LiftCurve": "theory.lift",
    "auc_from_lift": "theory.lift",
    "expected_labelled_auc": "theory.lift",
    "lift_curve": "theory.lift",
    "lift_from_auc": "theory.lift",
    "lift_tail_bound": "theory.lift",
    "lift_variance": "theory.lift",
    "required_labels": "theory.lift",
    "delong_auc": "read.intervals.delong",
    "direct_auc": "assume.mixture",
    "mixture_curve": "assume.mixture",
    "unlabeled_precision": "assume.mixture",
    "biased_auc": "assume.propensity",
    "biased_recall": "assume.propensity",
    "propensity_curve": "assume.propensity",
    "precision_from_naive": "theory.recovery",
    "precision_recall_auc": "theory.recovery",
    "recovery_error": "theory.recovery",
    "sign_test": "theory.recovery",
    "SelectionModel": "assume.selection.model",
    "PrevalenceSlopes": "theory.prevalence_slopes",
    "identified_prevalence": "theory.prevalence_slopes",
    "prevalence_slopes": "theory.prevalence_slopes",
    "ContingencyTables": "assume.bounds.tables",
    "TableBounds": "assume.bounds.tables",
    "Check": "errors",
    "Comparison": "read.compare",
    "compare": "read.compare",
    "read_counts_file": "count.counts_file",
    "write_counts": "count.counts_file",
    "ScoreCounts": "counts",
    "CurveBounds": "curve",
    "Estimate": "estimate",
    "Interval": "estimate",
    "OperatingCurve": "curve",
    "OperatingPoint": "curve",
    "Difference": "read.differences",
    "CalibrationDisplay": "show.displays",
    "HistogramDisplay": "show.displays",
    "LiftDisplay": "show.displays",
    "PrecisionRecallDisplay": "show.displays",
    "RocDisplay": "show.displays",
    "SensitivityDisplay": "show.displays",
    "InputError": "errors",
    "MisfitWarning": "errors",
    "SmallSampleWarning": "errors",
    "UndefinedMetricWarning": "errors",
    "Evaluation": "read.evaluate",
    "evaluate": "read.evaluate",
    "read_counts": "count.files",
    "count_scores": "count.frames",
    "PUAUCClassifier": "learn",
    "PUAULClassifier": "learn",
    "merge_counts": "count.counts_file",
    "MetricOptions": "read.metrics",
    "accuracy": "read.metrics",
    "average_precision": "read.metrics",
    "balanced_accuracy": "read.metrics",
    "brier_score": "read.metrics",
    "f1": "read.metrics",
    "f_beta": "read.metrics",
    "geometric_mean": "read.metrics",
    "informedness": "read.metrics",
    "kappa": "read.metrics",
    "lee_liu": "read.metrics",
    "lift": "read.metrics",
    "lift_auc": "read.metrics",
    "log_loss": "read.metrics",
    "mcc": "read.metrics",
    "negative_likelihood_ratio": "read.metrics",
    "npv": "read.metrics",
    "partial_roc_auc": "read.metrics",
    "positive_likelihood_ratio": "read.metrics",
    "precision": "read.metrics",
    "predicted_positive_rate": "read.metrics",
    "recall": "read.metrics",
    "roc_auc": "read.metrics",
    "specificity": "read.metrics",
    "make_scorer": "read.scorers",
    "BreakEven": "read.sensitivity",
    "break_even": "read.sensitivity",
    "Shares": "shares",
    "CdfBand": "assume.bounds.bands",
    "cdf_band": "assume.bounds.bands",
}

# Public modules, reached as attributes: uc.prevalence.Dedpul, uc.scorers.lift_auc.
_MODULES = {
    "learn": "learn",
    "metrics": "read.metrics",
    "prevalence": "prevalence",
    "scorers": "read.scorers",
}

__all__ = sorted(_HOME)  # noqa: PLE0605 - the table above is the one list of names


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{_MODULES[name]}")
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME, *_MODULES])
