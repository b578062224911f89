"""The estimated rates, and the rates with one source of chance at its limits."""

from dataclasses import dataclass
from typing import TypeAlias

from undercount.uncertainty.thresholds import RatePoint

Pair: TypeAlias = tuple[RatePoint, RatePoint]


@dataclass(frozen=True)
class Components:
    """Hold the estimated rates, and the rates with one source of chance at its two limits."""

    base: RatePoint
    pairs: list[Pair]
