"""True classifier performance when the labels undercount the positives."""

import importlib
from typing import Any

__version__ = "0.1.0"

# Public name → the module that defines it; a module is imported when a name is first used,
# so that `import undercount` and `undercount --help` stay light.
_HOME = {
    "InputError": "errors",
    "MisfitWarning": "errors",
    "SmallSampleWarning": "errors",
    "UndefinedMetricWarning": "errors",
    "ScoreCounts": "counts",
    "CurveBounds": "curve",
    "Estimate": "curve",
    "Interval": "curve",
    "OperatingCurve": "curve",
    "OperatingPoint": "curve",
    "Check": "check",
    "BreakEven": "sensitivity",
    "break_even": "sensitivity",
    "Shares": "shares",
    "make_scorer": "scorers",
    "CalibrationDisplay": "displays",
    "HistogramDisplay": "displays",
    "LiftDisplay": "displays",
    "PrecisionRecallDisplay": "displays",
    "RocDisplay": "displays",
    "SensitivityDisplay": "displays",
    "Comparison": "comparison",
    "Difference": "comparison",
    "compare": "comparison",
    "Evaluation": "evaluation",
    "evaluate": "evaluation",
    "labelled_curve": "assume.labelled",
    "naive_curve": "assume.labelled",
    "biased_auc": "assume.propensity",
    "biased_recall": "assume.propensity",
    "propensity_curve": "assume.propensity",
    "mixture_curve": "assume.mixture",
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
