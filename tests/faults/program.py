"""The program as a process of its own, and the results that it must not break."""

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import numpy as np
import pyarrow.parquet as pq

import undercount
from undercount.cli.main import main

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


def start_whole(arguments: list[str]) -> int:
    """Start the program as a new process that writes to nobody; return its number."""
    silence = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    command = [sys.executable, "-m", "undercount", *arguments]
    return os.posix_spawn(
        command[0], command, os.environ, file_actions=silence, setsigdef=[signal.SIGINT]
    )


def load() -> None:
    """Load what the program needs, and start no thread, which no copy would have."""
    ours = {found.name for found in walk_packages(undercount.__path__, "undercount.")}
    for name in ("duckdb", "narwhals._duckdb.dataframe", "rich.console", *sorted(ours)):
        if not name.endswith("__main__"):
            import_module(name)


def start_copy(arguments: list[str]) -> int:
    """Start the program as a copy of this process, which has loaded it; return its number.

    It works from its first moment on, where a new process spends most of its time on loading.
    """
    process = os.fork()
    if process:
        return process
    code = 70
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        sys.argv = ["undercount", *arguments]
        code = main()
    finally:
        os._exit(code)


def wait(process: int) -> int:
    """Wait for the end of a process; return its exit code."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


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
