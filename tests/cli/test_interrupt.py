"""Ctrl-C: code 130 and one line at once, whoever is at work, and nothing half-written."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from undercount.cli.commands import commands
from undercount.cli.interrupt import STOPPED
from undercount.cli.main import main
from undercount.count.counts_file import load_counts

PAIR = ["--score", "s", "--score", "t", "--prevalence", "0.2"]
JOBS = {
    "evaluate": [
        "evaluate",
        "rows.parquet",
        "--score",
        "s",
        "--json",
        "o.json",
        "--html",
        "o.html",
    ],
    "count": ["count", "rows.parquet", "--score", "s", "-o", "o.parquet"],
    "compare": ["compare", "rows.parquet", *PAIR, "--json", "o.json"],
}
# Seconds after the first file is opened, and seconds that must be enough to notice a signal: of the
# clock, or, on a machine with other work, of the processor (0.02 to 0.07 there). What has not ended
# after so many of the clock hangs.
MOMENTS, NOTICED, PATIENCE = (0.0, 0.6, 1.5), 0.5, 120.0
# In the background of a shell Ctrl-C is ignored, which children inherit.
HEARS = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    columns = "CASE WHEN random() < 0.05 THEN 1 END AS y, random() AS s, random() AS t"
    duckdb.sql(
        f"COPY (SELECT {columns} FROM range(10_000_000)) TO '{folder}/rows.parquet'"  # noqa: S608
    )
    (folder / "temporary").mkdir()
    return folder


def seconds_used(pid=None):
    """Seconds of the processor that a process has used, or all children that have ended."""
    if pid is None:
        return sum(os.times()[2:4])
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():  # no Linux: the clock alone is asked
        return -math.inf
    user, system = stat.read_text().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def is_whole(path):
    """Whether an output can be read to its end."""
    if path.suffix == ".html":
        return path.read_text().rstrip().endswith("</html>")
    return bool(json.loads(path.read_text()) if path.suffix == ".json" else load_counts(path))


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("moment", MOMENTS)
def test_work_stops_at_once(folder, job, moment):
    before = {path.name for path in folder.iterdir()}
    others = seconds_used()
    with subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "undercount", *JOBS[job], "--label", "y"],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder / "temporary")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        **HEARS,
    ) as process:
        while not any((folder / "temporary").iterdir()) and process.poll() is None:
            time.sleep(0.01)
        time.sleep(moment)
        used, start = seconds_used(process.pid), time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
        seconds = time.monotonic() - start
    if process.returncode == 0:
        pytest.skip("done before the signal")
    *warned, last = said.splitlines()
    assert (process.returncode, last) == (130, STOPPED)
    # Counting may already have warned that it merged scores.
    assert len(warned) <= (job == "count")
    assert all("2,097,152 distinct scores, which were merged" in line for line in warned)
    assert min(seconds, seconds_used() - others - used) < NOTICED
    # What was written just before the signal is there, but whole.
    for name in {path.name for path in folder.iterdir()} - before:
        assert name in JOBS[job]
        assert is_whole(folder / name)
        (folder / name).unlink()
    assert list((folder / "temporary").iterdir()) == []


def test_inside_python_an_interrupt_has_the_same_code(monkeypatch, capsys):
    def interrupted(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands.commands["explain"], "callback", interrupted)
    assert main(["explain"]) == 130
    assert capsys.readouterr().err.strip() == STOPPED


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
def test_an_interrupt_while_python_ends_leaves_the_code_of_the_verdict():
    script = (
        "import atexit, os, signal, sys, time\n"
        "from undercount.cli.interrupt import stop_at_interrupts\n"
        # Called after what is registered later; a thread that waits has time to wake.
        "atexit.register(lambda: (os.kill(os.getpid(), signal.SIGINT), time.sleep(1)))\n"
        "stop_at_interrupts()\n"
        "sys.exit(3)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], check=False, **HEARS)  # noqa: S603 - ours
    assert ended.returncode == 3
