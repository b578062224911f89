"""One reproduced table or figure: our numbers beside the published ones, as files."""

import csv
import io
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from undercount.count.atomic_file import write_text
from undercount_reproductions.drawing import Panel, draw, thinned

NUMBER = "{:.4g}"


@dataclass(frozen=True, eq=False)
class Result:
    """Hold one reproduced table or figure.

    Attributes
    ----------
    paper, item : str
        Which one, for example ``"cook2016"`` and ``"table2"``.
    title : str
        What it shows.
    columns : tuple of str
        Names of the columns, ours beside the published.
    rows : tuple of tuple
        Numbers, texts, or None where the paper prints nothing.
    notes : tuple of str
        Why ours and the published differ, and what was not reproduced.
    runs, seed : int
        How many draws stand behind each number, and their seed.
    panels : tuple of Panel
        The figure, if there is one.

    Examples
    --------
    >>> from undercount_reproductions.result import Result
    >>> result = Result("cook2016", "table2", "AUCs", ("what", "ours", "published"),
    ...                 (("random", 0.5901, 0.59), ("standard", 0.55, None)), ("One note.",), 10, 0)
    >>> print(result.text())
    cook2016 table2: AUCs (runs 10, seed 0)
    what        ours  published
    random    0.5901       0.59
    standard    0.55          –
    <BLANKLINE>
    - One note.
    """

    paper: str
    item: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    notes: tuple[str, ...]
    runs: int
    seed: int
    panels: tuple[Panel, ...] = field(default=())

    @property
    def name(self) -> str:
        """Name of its files."""
        return f"{self.paper}-{self.item}"

    def text(self) -> str:
        """Lay the table out for a terminal."""
        cells = [list(self.columns), *([_word(cell) for cell in row] for row in self.rows)]
        width = [max(len(line[i]) for line in cells) for i in range(len(self.columns))]
        lines = [
            "  ".join(
                cell.rjust(size) if i else cell.ljust(size)
                for i, (cell, size) in enumerate(zip(line, width, strict=True))
            ).rstrip()
            for line in cells
        ]
        head = f"{self.paper} {self.item}: {self.title} (runs {self.runs:,}, seed {self.seed})"
        notes = [f"- {note}" for note in self.notes]
        return "\n".join([head, *lines, *(["", *notes] if notes else [])])

    def markdown(self, *, figure: bool = False) -> str:
        """Lay the table out as Markdown, under a heading of its own."""
        lines = [f"## {self.item}: {self.title}", ""]
        lines += [f"Runs {self.runs:,}, seed {self.seed}.", ""]
        lines += ["| " + " | ".join(self.columns) + " |", "|---" * len(self.columns) + "|"]
        lines += ["| " + " | ".join(_word(cell) for cell in row) + " |" for row in self.rows]
        lines += ["", *(f"- {note}" for note in self.notes)] if self.notes else []
        if figure and self.panels:
            lines += ["", f"![{self.title}]({self.name}.svg)"]
        return "\n".join(lines) + "\n"

    def write(self, out: str | Path) -> list[Path]:
        """Write the table as CSV and JSON, and the figure as CSV, SVG and PNG.

        Without matplotlib the figure's numbers are written and its pictures are not.
        """
        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        table, whole = folder / f"{self.name}.csv", folder / f"{self.name}.json"
        _write_rows(table, self.columns, self.rows)
        write_text(whole, json.dumps(asdict(self), indent=1))
        written = [table, whole]
        if self.panels:
            points = folder / f"{self.name}-figure.csv"
            _write_rows(points, ("panel", "line", "x", "y"), thinned(self.panels))
            written += [points, *draw(self.panels, folder / self.name)]
        return written

    @classmethod
    def read(cls, path: str | Path) -> "Result":
        """Read what `write` wrote as JSON."""
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        found["columns"], found["notes"] = tuple(found["columns"]), tuple(found["notes"])
        found["rows"] = tuple(tuple(row) for row in found["rows"])
        found["panels"] = tuple(Panel.from_dict(panel) for panel in found["panels"])
        return cls(**found)


def _word(cell: Any) -> str:
    if cell is None or cell != cell:  # noqa: PLR0124 - only NaN differs from itself
        return "–"
    return NUMBER.format(cell) if isinstance(cell, float) else str(cell)


def _write_rows(path: Path, columns: tuple[str, ...], rows: Any) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    write_text(path, text.getvalue())
