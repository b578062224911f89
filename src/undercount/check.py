"""One finding about the data or an assumption, in plain words."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Level: TypeAlias = Literal["ok", "info", "warn", "fail"]


@dataclass(frozen=True)
class Check:
    """Hold a numbered finding: how bad it is, what was seen, and what to do about it.

    Examples
    --------
    >>> from undercount import Check
    >>> print(Check("UC003", "warn", "only 12 labelled rows", "label more"))
    UC003 warn: only 12 labelled rows. What to do: label more
    """

    code: str
    level: Level
    message: str
    advice: str = ""

    def __str__(self) -> str:
        advice = f". What to do: {self.advice}" if self.advice else ""
        return f"{self.code} {self.level}: {self.message}{advice}"
