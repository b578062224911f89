"""A last date alone, mistyped perhaps, must not count as the day to which labels are complete."""

from typing import NoReturn

import numpy as np

from undercount.curve import FloatArray
from undercount.errors import InputError, named

# Of the rows that may lie apart from all others: one in so many, and at least one.
ROWS_PER_LONE_DATE = 1000
# Sparse rows, batches and labels that trickle in after the last row leave gaps too. A date stands
# alone only after a gap longer than a month, than this part of the time of all other dates, than
# the last dates of its own column took, than three times what the last of both columns took,
# than three times any gap in its column, and than ten times what labels went on after the rows.
MONTH, LONE_PART = 31.0, 0.1
LAST = 20
LONE_TIMES, AFTER_ROWS = 3, 10
# A column with dates of fewer days tells no pace; then only a slip of many years is sure.
NO_PACE = 5 * 365.25


def check_lone_date(rows: FloatArray, labels: FloatArray) -> None:
    """Raise if very few rows have a date, their own or their label's, long after all others.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence.lone_date import check_lone_date
    >>> days, labels = np.arange(365.0), np.full(365, np.nan)
    >>> check_lone_date(days, labels)
    >>> days[7] = 700.0
    >>> check_lone_date(days, labels)
    Traceback (most recent call last):
    ...
    undercount.errors.InputError: observed must not hold a date long after all others ...
    """
    few = max(1, len(rows) // ROWS_PER_LONE_DATE)
    if len(rows) < LAST + few:
        return
    latest = np.sort(np.fmax(rows, labels))[-few - 1 :]
    end = latest[np.argmax(np.diff(latest))]
    every = np.sort(np.append(rows, labels[~np.isnan(labels)]))
    late, both = every[every > end], every[every <= end]
    if not len(late):
        return  # all last dates are of one day
    name, column = ("observed", rows) if rows.max() == late[-1] else ("found", labels)
    own, time = np.sort(column[column <= end]), end - both[0]
    paced = len(np.unique(own)) >= LAST
    took = max(end - own[-LAST], LONE_TIMES * (end - both[-LAST])) if paced else NO_PACE
    least = max(
        MONTH,
        LONE_PART * time,
        took,
        LONE_TIMES * np.diff(own).max(initial=0),
        AFTER_ROWS * (end - rows[rows <= end].max()),
    )
    if late[0] - end > least:
        _refuse(name, late, end)


def _refuse(name: str, late: FloatArray, end: float) -> NoReturn:
    last, before = (str(np.datetime64(int(np.floor(day)), "D")) for day in (late[-1], end))
    more = f" and {len(late) - 1:,} more" if len(late) > 1 else ""
    raise InputError(
        f"{named(name)} must not hold a date long after all others unless you say that labels are "
        f"complete to that day; got {last}{more}, {late[-1] - end:.0f} days after {before}, the "
        f"last of the other dates. Correct it if it is mistyped, else pass "
        f"{named('until', repr(last))}",
        argument=name,
    )
