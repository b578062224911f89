"""What the noisy consensus looks at: the evidence of both directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from undercount.prevalence.evidence import Evidence, gather
from undercount.prevalence.noisy import check_both_ways, swapped

if TYPE_CHECKING:
    from undercount.counts import ScoreCounts


def gather_noisy(counts: ScoreCounts) -> Evidence:
    """Gather the evidence with labelled rows as the component, then with the roles swapped."""
    check_both_ways(counts)
    first, second = gather(counts), gather(swapped(counts))
    estimates = {f"a1 {name}": value for name, value in first.estimates.items()}
    estimates |= {f"a2 {name}": value for name, value in second.estimates.items()}
    return Evidence(estimates, np.concatenate([first.inputs, second.inputs]), first.upper_bound)
