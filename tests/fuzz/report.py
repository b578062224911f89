"""The figures of runs, as a table for the evidence."""

from collections import Counter
from typing import Any

Figures = dict[str, Any]  # of one run
REFUSED = ("refused", "exit 2")
FOUND = "FOUND"
HEAD = """| door | cases | answered | refused | findings | CPU s | longest, CPU s |
|---|---|---|---|---|---|---|
"""


def report(runs: list[Figures]) -> str:
    """Write how the cases of all runs ended, at each door, and what was found."""
    ends, spent, found = (
        sum((Counter(run[name]) for run in runs), Counter[str]())
        for name in ("ends", "spent", "findings")
    )
    longest: Counter[str] = Counter()
    for run in runs:
        longest |= Counter(run["longest"])  # the larger of two
    by_door = {door: _sort_ends(ends, door) for door in spent}
    rows = [
        _row(door, of, spent[door], f"{longest[door]:.2f}" if longest[door] else "")
        for door, of in by_door.items()
    ]
    together = sum(by_door.values(), Counter[str]())
    seeds = ", ".join(str(run["seed"]) for run in runs)
    seconds = sum(run["seconds"] for run in runs)
    head = f"seeds {seeds}: {seconds:.0f} s of the clock, all processes together\n\n"
    below = [f"found {number} times: {place}\n" for place, number in found.most_common()]
    table = [*rows, _row("together", together, spent.total(), "")]
    return "".join([head, HEAD, *table, *(["\n", *below] if below else [])])


def _sort_ends(ends: Counter[str], door: str) -> Counter[str]:
    """Add up the cases of a door that were answered, refused, and findings."""
    of: Counter[str] = Counter()
    for name, number in ends.items():
        if name.startswith(f"{door}: "):
            kind = FOUND if name.endswith(FOUND) else "answered"
            of["refused" if name.endswith(REFUSED) else kind] += number
    return of


def _row(door: str, of: Counter[str], seconds: float, longest: str) -> str:
    numbers = (of.total(), of["answered"], of["refused"], of[FOUND])
    cells = " | ".join(f"{number:,}" for number in numbers)
    return f"| {door} | {cells} | {seconds:.0f} | {longest} |\n"
