"""What a report is called, what it was made from, and when."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime

EPOCH = "SOURCE_DATE_EPOCH"  # seconds since 1970, by which builds become reproducible


@dataclass(frozen=True)
class Identity:
    """Hold the title of a report, the name of its rows and its date."""

    title: str = ""
    data: str = ""
    date: str = ""


def report_date() -> str:
    """Return the date of SOURCE_DATE_EPOCH if it is set, else today's, in UTC."""
    seconds = os.environ.get(EPOCH, "")
    now = datetime.fromtimestamp(int(seconds), UTC) if seconds.isdigit() else datetime.now(UTC)
    return now.date().isoformat()
