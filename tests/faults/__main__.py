"""Kill, interrupt and starve the program: nothing may be lost. `python -m tests.faults`."""

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import undercount as uc

if TYPE_CHECKING:
    from collections.abc import Callable

SAVED = "an earlier result that nobody may lose"


def write_rows(folder: Path, n: int) -> Path:
    """Write rows that take a second or so to read."""
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
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)  # type: ignore[call-overload,no-any-return]  # noqa: S603 - ours


def whole(path: Path) -> bool:
    """Tell whether a result is the earlier one or a complete new one."""
    text = path.read_bytes()
    if text == SAVED.encode():
        return True
    if path.suffix == ".json":
        return "models" in json.loads(text)
    if path.suffix == ".parquet":
        return uc.load_counts(path).n_rows > 0
    return text.rstrip().endswith(b"</html>")


def targets(folder: Path) -> dict[str, Path]:
    """Make earlier results that a run would replace."""
    made = {name: folder / f"result.{name}" for name in ("json", "html")}
    for path in made.values():
        path.write_text(SAVED)
    return made


def run_until(seconds: float, sign: int, rows: Path, folder: Path) -> int:
    """Send a signal after a while; return the exit code."""
    files = targets(folder)
    arguments = ["evaluate", str(rows), "--label", "y", "--score", "s", "--threshold", "1"]
    process = start([*arguments, "--json", str(files["json"]), "--html", str(files["html"])])
    time.sleep(seconds)
    process.send_signal(sign)
    process.communicate()
    for path in files.values():
        assert whole(path), f"{path} is broken after signal {sign} at {seconds:.3f} s"
    return process.returncode


def kill(n: int, rows: Path, folder: Path, length: float, rng: random.Random) -> Counter[str]:
    """Kill at random moments, half of them near the end, where files are written."""
    ends: Counter[str] = Counter()
    for turn in range(n):
        moment = rng.uniform(0, length) if turn % 2 else rng.uniform(0.8 * length, 1.05 * length)
        code = run_until(moment, signal.SIGKILL, rows, folder)
        assert code in (0, -signal.SIGKILL), code
        ends["finished first" if code == 0 else "killed"] += 1
    return ends


def interrupt(n: int, rows: Path, folder: Path, length: float, rng: random.Random) -> Counter[str]:
    """Interrupt at random moments: exit 130, and nothing is left behind."""
    ends: Counter[str] = Counter()
    for _ in range(n):
        code = run_until(rng.uniform(0.3, length), signal.SIGINT, rows, folder)
        assert code in (0, 130), code
        ends["finished first" if code == 0 else "interrupted"] += 1
    left = [path.name for path in folder.iterdir() if path.name.endswith(".tmp")]
    assert not left, left
    return ends


def refuse_writing(rows: Path, folder: Path) -> Counter[str]:
    """A read-only folder and a full disk: exit 2, one message, the earlier result kept."""
    ends: Counter[str] = Counter()
    arguments = ["evaluate", str(rows), "--label", "y", "--score", "s", "--prevalence", ".1"]

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    files = targets(folder)
    process = start([*arguments, "--html", str(files["html"])], preexec_fn=small_files)
    _, error = process.communicate()
    assert process.returncode == 2, (process.returncode, error)
    assert whole(files["html"])
    ends["no room"] += 1
    locked = folder / "locked"
    locked.mkdir(exist_ok=True)
    (locked / "result.json").write_text(SAVED)
    locked.chmod(0o500)
    if os.geteuid() != 0:  # root may write anywhere
        process = start([*arguments, "--json", str(locked / "result.json")])
        _, error = process.communicate()
        assert process.returncode == 2, error
        ends["read-only"] += 1
    assert whole(locked / "result.json")
    locked.chmod(0o700)
    return ends


def starve(rows: Path, _folder: Path) -> Counter[str]:
    """Little memory: an answer, or exit 2 with a message; never a verdict's code."""
    ends: Counter[str] = Counter()
    for megabytes in (300, 500, 700, 900, 1200):
        limit = megabytes * 2**20

        def little(limit: int = limit) -> None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

        process = start(["evaluate", str(rows), "--label", "y", "--score", "s"], preexec_fn=little)
        _, error = process.communicate()
        ends[f"{megabytes} MB: exit {process.returncode}"] += 1
        # Below what the libraries need to be loaded they end by a signal of their own.
        assert process.returncode in (0, 2) or process.returncode < 0, error
    return ends


def main() -> int:
    """Run all faults and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--interrupts", type=int, default=50)
    parser.add_argument("--rows", type=int, default=300_000)
    options = parser.parse_args()
    rng = random.Random(0)  # noqa: S311 - moments, not secrets
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = write_rows(folder, options.rows)
        begin = time.monotonic()
        assert (
            start(
                [
                    "evaluate",
                    str(rows),
                    "--label",
                    "y",
                    "--score",
                    "s",
                    "--html",
                    str(folder / "x.html"),
                ]
            ).wait()
            == 0
        )
        length = time.monotonic() - begin
        faults: dict[str, Callable[[], Counter[str]]] = {
            "kills": lambda: kill(options.kills, rows, folder, length, rng),
            "interrupts": lambda: interrupt(options.interrupts, rows, folder, length, rng),
            "writing refused": lambda: refuse_writing(rows, folder),
            "little memory": lambda: starve(rows, folder),
        }
        for fault, run in faults.items():
            print(f"{fault}: {dict(run())}", flush=True)  # noqa: T201 - a script
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
