"""A share of its own, given for each segment, or one label frequency given for all."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from undercount.assume.base import Unknowns
from undercount.assume.random_labels.segments.one_label_frequency import known_frequency_check
from undercount.assume.random_labels.segments.shares import SegmentShares, first_of
from undercount.counts import ScoreCounts
from undercount.errors import Check, InputError, named
from undercount.infer.segmented_rows import why_not

if TYPE_CHECKING:
    from undercount.assume.random_labels.assumption import RandomLabels

# The rows that a share is a share of: what weighs a segment's share in that of all.
PARTS: dict[str, Callable[[ScoreCounts], float]] = {
    "prevalence": lambda counts: counts.n_rows,
    "unlabeled_prevalence": lambda counts: counts.n_unlabeled,
}


@dataclass(frozen=True, eq=False)
class GivenShares(SegmentShares):
    """Shares that were given for each segment by a mapping, or by one label frequency."""

    def find(self, segment: Hashable, *, limits: bool = True) -> dict[str, Unknowns]:  # noqa: ARG002
        """Read the share of one segment."""
        shares = {
            name: _value_of(name, given, segment) for name, given in self.labels.given.items()
        }
        return self.labels.with_shares(**shares).find_shares(self.parts[segment], self.wanted)

    @property
    def checks(self) -> tuple[Check, ...]:
        """Ask the shares of the segments whether all are labelled alike."""
        name = name_of_mapping(self.labels)
        if name is None or self.labels.sampling != "single-sample":
            return ()
        shares = self.labels.given[name]
        usable = {key: first_of(part) for key, part in self.parts.items()}
        usable = {key: part for key, part in usable.items() if not why_not(part)}
        known = {key: part for key, part in usable.items() if key in shares}
        labels = {key: part.n_positive for key, part in known.items()}
        positives = {key: _positives(name, shares[key], part) for key, part in known.items()}
        check = known_frequency_check(labels, positives, len(usable))
        return () if check is None else (check,)


def _value_of(name: str, given: Any, segment: Hashable) -> Any:
    if not isinstance(given, Mapping):
        return given
    if segment not in given:
        raise InputError(f"{named(name)} has no value for this segment, {segment!r}")
    return given[segment]


def _positives(name: str, share: float, part: ScoreCounts) -> float:
    """Return how many positives a segment has by its share."""
    if name == "label_frequency":
        return part.n_positive / share
    labelled = part.n_positive if name == "unlabeled_prevalence" else 0.0
    return labelled + share * PARTS[name](part)


def name_of_mapping(labels: "RandomLabels") -> str | None:
    """Return the argument that gives each segment a share of its own, if one does."""
    return next((name for name, given in labels.given.items() if isinstance(given, Mapping)), None)


def labels_of_all(labels: "RandomLabels", parts: Mapping[Hashable, ScoreCounts]) -> "RandomLabels":
    """Return what shares of segments say of all rows together."""
    name = name_of_mapping(labels)
    if name is None:
        return labels
    shares = labels.given[name]
    known = {key: part for key, part in parts.items() if key in shares and not why_not(part)}
    if not known or not all(isinstance(shares[key], int | float) for key in known):
        raise InputError(
            f"a mapping for {named(name)} must hold a number for each segment; got {shares!r}",
            argument=name,
        )
    if name == "label_frequency":
        labelled = {key: counts.n_positive for key, counts in known.items()}
        positives = sum(labelled[key] / shares[key] for key in known)
        share = sum(labelled.values()) / positives
    else:
        sizes = {key: PARTS[name](counts) for key, counts in known.items()}
        share = sum(sizes[key] * shares[key] for key in known) / sum(sizes.values())
    return labels.with_shares(**{name: share})
