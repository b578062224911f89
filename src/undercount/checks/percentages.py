"""Shares as percentages, rounded so that what is said of them stays true."""

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

ROUNDING = 1e-9
# How an end is rounded: "least" and "above" up, "most" down, "" to the nearest.
End: TypeAlias = Literal["", "least", "most", "above"]
# Digits of a share that somebody gave, if it has so many; of others two.
GIVEN_DIGITS = 3
# No share needs more digits behind the point to be told from another.
PERCENT_DIGITS = 12


def percent(share: float, end: End = "") -> str:
    """Write a share as a percentage with two significant digits, and never 100 % of a smaller one.

    The least share at which something holds is rounded up, the largest one down.

    Examples
    --------
    >>> from undercount.checks.percentages import percent
    >>> percent(0.242), percent(0.242, "least"), percent(0.9972)
    ('24 %', '25 %', '99.7 %')
    """
    digits = _usual_digits(share)
    return _write(_rounded(share, end, digits), digits)


def goal_percent(share: float) -> str:
    """Write a share that somebody asks for as a percentage, with all of its digits.

    Examples
    --------
    >>> from undercount.checks.percentages import goal_percent, percent
    >>> goal_percent(0.955), percent(0.955)
    ('95.5 %', '96 %')
    """
    return f"{100 * share:.12g} %"


def percents_beside(
    shares: Sequence[float], ends: Sequence[tuple[float, End]], *, given: bool = False
) -> tuple[list[str], list[str]]:
    """Write shares and ends of what holds with so many digits that each stays on its side.

    What holds from 24.1 % on holds at 24.2 %, and must not be said to hold at 24 % from 25 % on.

    Parameters
    ----------
    shares : sequence of float
        Those that are taken.
    ends : sequence of (float, {"least", "most", "above", ""})
        "least" is where something starts to hold, "most" where it ceases, "above" what is ruled out
        beyond, "" a place where it turns.
    given : bool
        Whether somebody gave the shares, who should find their digits again.

    Examples
    --------
    >>> from undercount.checks.percentages import percents_beside
    >>> percents_beside([0.242], [(0.2406, "least")], given=True)
    (['24.2 %'], ['24.1 %'])
    """
    for more in range(PERCENT_DIGITS):
        widths = [
            max(_usual_digits(share) + more, _given_digits(share) if given else 0)
            for share in shares
        ]
        places = [_usual_digits(end) + more for end, _ in ends]
        taken = [_rounded(s, "", d) for s, d in zip(shares, widths, strict=True)]
        words = [_rounded(end, kind, d) for (end, kind), d in zip(ends, places, strict=True)]
        if all(
            _side(share, end, kind) == _side(shown, said, kind)
            for share, shown in zip(shares, taken, strict=True)
            for (end, kind), said in zip(ends, words, strict=True)
        ):
            break
    return list(map(_write, taken, widths)), list(map(_write, words, places))


def _side(share: float, end: float, kind: End) -> tuple[bool, ...]:
    """Say on which side of an end a share lies; an end belongs to what it bounds."""
    reaches, leaves = share >= end - ROUNDING, share <= end + ROUNDING
    return {"least": (reaches,), "most": (leaves,), "above": (leaves,)}.get(kind, (reaches, leaves))


def _usual_digits(share: float) -> int:
    """Return the digits behind the point of a percentage, more where it would round to 100."""
    if share < 0.1:  # noqa: PLR2004 - readability
        return 1 if share >= 0.01 else 2  # noqa: PLR2004
    places = range(PERCENT_DIGITS if share < 1 else 0)
    return next((d for d in places if float(f"{100 * share:.{d}f}") < 100), 0)  # noqa: PLR2004


def _given_digits(share: float) -> int:
    """Return the digits behind the point that a share needs to be read as it was given, up to 3."""
    rounded_percent = float(f"{100 * share:.{GIVEN_DIGITS}g}")
    return next(
        (d for d in range(PERCENT_DIGITS) if round(rounded_percent, d) == rounded_percent),
        PERCENT_DIGITS,
    )


def _rounded(share: float, end: End, digits: int) -> float:
    """Round a share, as a percentage, to the nearest or to the side on which it is still true."""
    shown, ten = 100 * share, 10.0**digits
    if end in ("least", "above"):
        shown = math.ceil(shown * ten - ROUNDING) / ten
    elif end == "most":
        shown = math.floor(shown * ten + ROUNDING) / ten
    return float(f"{shown:.{digits}f}") / 100


def _write(share: float, digits: int) -> str:
    return f"{100 * share:.{digits}f} %"
