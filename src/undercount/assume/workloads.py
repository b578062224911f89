"""What models find among as many flagged rows, read from the recovery of each."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from undercount.assume.base import Recovery, estimate_top
from undercount.infer.difference import TARGET_OF, Difference, Question, holm_adjusted
from undercount.infer.mixture import design_of
from undercount.infer.workload import WORKLOAD_METRICS, Workload, cut_models

# Metric and number of rows → differences of every pair.
TopDifferences: TypeAlias = Callable[[str, float], list[Difference]]


def top_workload(
    recoveries: Mapping[str, Recovery],
    thresholds: Mapping[str, float],
    question: Question,
    top: Any,
    differences: TopDifferences,
) -> Workload:
    """Estimate what each model finds among as many rows, as evaluations do, and compare it."""
    first = next(iter(recoveries.values()))
    shares, target = first.shares, TARGET_OF[question]
    design = design_of(first.counts, shares, shares.sampling, target)
    used = {name: recovery.used for name, recovery in recoveries.items()}
    cut = cut_models(used, design, thresholds, top)
    estimates = {
        name: {metric: estimate_top(recovery, metric, cut.size) for metric in WORKLOAD_METRICS}
        for name, recovery in recoveries.items()
    }
    values = {
        name: {metric: estimate.value for metric, estimate in found.items()}
        for name, found in estimates.items()
    }
    tested = [
        difference
        for metric in WORKLOAD_METRICS
        for difference in holm_adjusted(differences(metric, cut.size))
    ]
    about = cut.last, cut.tied, tuple(tested)
    return Workload(cut.size, cut.chosen, values, *about, estimates)
