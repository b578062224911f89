"""The program as a process of its own, and the results that it must not break."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

SAVED = "an earlier result that nobody may lose"
ROWS = ["evaluate", "--label", "y", "--score", "s", "--prevalence", ".1", "--threshold", "1"]


def write_rows(folder: Path, n: int) -> Path:
    """Write rows that take a moment to read."""
    rng = np.random.default_rng(0)
    truth = rng.random(n) < 0.1
    y = truth & (rng.random(n) < 0.3)
    path = folder / "rows.csv"
    np.savetxt(
        path, np.column_stack([y, rng.normal(2.0 * truth)]), "%.6g", ",", header="y,s", comments=""
    )
    return path


def start(arguments: list[str], **options: object) -> subprocess.Popen[bytes]:
    """Start the program as a process of its own."""
    command = [sys.executable, "-m", "undercount", *arguments]
    # In the background of a shell Ctrl-C is ignored, which children inherit.
    options.setdefault("preexec_fn", lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen(command, **options)  # type: ignore[call-overload,no-any-return]  # noqa: S603 - ours


def targets(folder: Path) -> dict[str, Path]:
    """Make earlier results that a run would replace."""
    made = {name: folder / f"result.{name}" for name in ("json", "html", "parquet")}
    for path in made.values():
        path.write_text(SAVED)
    return made


def whole(path: Path) -> bool:
    """Tell whether a result is the earlier one or a complete new one."""
    text = path.read_bytes()
    if text == SAVED.encode():
        return True
    if path.suffix == ".json":
        return "models" in json.loads(text)
    if path.suffix == ".parquet":
        return bool(pq.read_table(path).num_rows)  # not DuckDB, whose threads no copy has
    return text.rstrip().endswith(b"</html>")


def leftovers(folder: Path) -> list[str]:
    """Name the temporary files in a folder."""
    return [path.name for path in folder.iterdir() if path.name.endswith(".tmp")]
