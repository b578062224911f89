"""Count labels around borders where the scores live, by sorting and searching alone.

The scores of labelled rows are the borders. All rows are sorted part by part, which bounds the
work space; each border is searched for in each part, and the positions found say how many rows
lie at it and between it and the next one, and which is the lowest of those.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from undercount.count.kernel.array_library import ArrayLibrary

# Rows are sorted in so many parts, unless that makes the parts smaller than this.
SORTED_PARTS = 4
MIN_ROWS_PER_PART = 1 << 24


class DeviceTable(NamedTuple):
    """Columns of a table, descending, on the device; the two kinds of labels may be absent."""

    score: Any
    positive: Any
    negative: Any | None
    unlabeled: Any
    merged: Any


class LabelledScores(NamedTuple):
    """Sorted scores of the rows that are labelled positive, and negative if there are any."""

    positive: Any
    negative: Any | None

    def present(self) -> list[Any]:
        """Return those that there are."""
        return [self.positive] if self.negative is None else [self.positive, self.negative]


def count_compactly(
    library: ArrayLibrary, score: Any, labelled: LabelledScores, knots: Sequence[float]
) -> DeviceTable:
    """Count with neighbouring scores merged where no row is labelled and no knot lies between."""
    extra = [library.make(list(knots), labelled.positive)] if len(knots) else []
    borders = _distinct(library, _join(library, [*labelled.present(), *extra]))
    counted = [_count_at(library, ordered, borders) for ordered in labelled.present()]
    at_border = counted[0] if len(counted) == 1 else counted[0] + counted[1]
    gaps = _Gaps(library, borders)
    for part in _parts(score):
        gaps.add(library.sort(library.widen(part)))
    tied, between = gaps.tied - at_border, gaps.between
    lowest, merged = gaps.lowest, (between > 0) & (gaps.lowest < gaps.highest)
    if extra:
        tied, between, lowest, merged = _open_knots(
            library, borders, at_border == 0, (tied, between, lowest, merged)
        )
    filled = library.places(library.interleave(between > 0, (at_border + tied) > 0))
    kept = library.flip(filled)
    none, never = between * 0, merged[:-1] & ~merged[:-1]

    def column(beside: Any, here: Any) -> Any:
        return library.take(library.interleave(beside, here), kept)

    return DeviceTable(
        column(lowest, borders),
        column(none, counted[0]),
        column(none, counted[1]) if len(counted) > 1 else None,
        column(between, tied),
        column(merged, never),
    )


def count_every_score(library: ArrayLibrary, score: Any, labelled: LabelledScores) -> DeviceTable:
    """Count at every distinct score."""
    ordered = library.sort(library.widen(score))
    distinct = library.flip(_distinct(library, ordered))
    counted = [_count_at(library, kind, distinct) for kind in labelled.present()]
    unlabeled = _count_at(library, ordered, distinct)
    for number in counted:
        unlabeled = unlabeled - number
    never = unlabeled < 0
    return DeviceTable(
        distinct, counted[0], counted[1] if len(counted) > 1 else None, unlabeled, never
    )


def _parts(score: Any) -> Iterator[Any]:
    n_rows = score.shape[0]
    size = max(MIN_ROWS_PER_PART, -(-n_rows // SORTED_PARTS))
    for start in range(0, n_rows, size):
        yield score[start : min(start + size, n_rows)]


def _join(library: ArrayLibrary, parts: list[Any]) -> Any:
    """Merge sorted arrays into one."""
    return parts[0] if len(parts) == 1 else library.sort(library.concat(parts))


def _distinct(library: ArrayLibrary, ascending: Any) -> Any:
    """Return each value of a sorted array once."""
    if ascending.shape[0] == 0:
        return ascending
    new = library.places(ascending[1:] != ascending[:-1])
    return library.concat([ascending[:1], library.take(ascending[1:], new)])


def _count_at(library: ArrayLibrary, ascending: Any, values: Any) -> Any:
    """Return how often each value occurs in a sorted array."""
    below = library.search(ascending, values, "left")
    return library.search(ascending, values, "right") - below


class _Gaps:
    """Rows at borders and in the gaps below, between and above them, summed over parts."""

    def __init__(self, library: ArrayLibrary, borders: Any) -> None:
        self._library, self._borders = library, borders
        self.tied: Any = None
        self.between: Any = None
        self.lowest: Any = None
        self.highest: Any = None

    def add(self, ascending: Any) -> None:
        """Add the sorted scores of a part."""
        library, size = self._library, ascending.shape[0]
        below = library.search(ascending, self._borders, "left")
        up_to = library.search(ascending, self._borders, "right")
        start = library.concat([library.make([0], below), up_to])
        end = library.concat([below, library.make([size], below)])
        empty = start == end
        last = library.make([size - 1], below)
        low = library.take(ascending, library.minimum(start, last))
        high = library.take(ascending, library.maximum(end - 1, end * 0))
        infinite = library.make([float("inf")], ascending)
        low = library.where(empty, infinite, low)
        high = library.where(empty, -infinite, high)
        if self.tied is None:
            self.tied, self.between = up_to - below, end - start
            self.lowest, self.highest = low, high
            return
        self.tied = self.tied + (up_to - below)
        self.between = self.between + (end - start)
        self.lowest = library.minimum(self.lowest, low)
        self.highest = library.maximum(self.highest, high)


def _open_knots(
    library: ArrayLibrary, borders: Any, bare: Any, counts: tuple[Any, Any, Any, Any]
) -> tuple[Any, Any, Any, Any]:
    """Let a knot begin the cell above it rather than be a cell of its own."""
    tied, between, lowest, merged = counts
    opened = bare & (tied > 0)
    moved = library.where(opened, tied, tied * 0)
    merged = library.concat([merged[:1], merged[1:] | (opened & (between[1:] > 0))])
    between = library.concat([between[:1], between[1:] + moved])
    lowest = library.concat([lowest[:1], library.where(opened, borders, lowest[1:])])
    return tied - moved, between, lowest, merged
