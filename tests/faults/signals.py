"""Kills and interrupts, of the whole program and of one that is writing."""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.faults.program import (
    ROWS,
    SAVED,
    leftovers,
    load,
    start_copy,
    start_whole,
    targets,
    wait,
    whole,
)

import undercount as uc
from undercount.count.atomic_file import write_text


class Program:
    """A way to start the program, and how long it runs if nobody stops it."""

    def __init__(self, begin: Callable[[list[str]], int], rows: Path, folder: Path) -> None:
        self.begin = begin
        self.files = targets(folder)
        told = ["--json", str(self.files["json"]), "--html", str(self.files["html"])]
        self.arguments = [*ROWS, str(rows), *told]
        self.length = self.run()

    def run(self) -> float:
        """Run it to its end; return the seconds it took."""
        begin = time.monotonic()
        assert wait(self.begin(self.arguments)) == 0
        return time.monotonic() - begin

    def send(self, sign: int, moment: float) -> int:
        """Send a signal after that part of its length; return the exit code."""
        for path in self.files.values():
            path.write_text(SAVED)
        process = self.begin(self.arguments)
        time.sleep(moment * self.length)
        os.kill(process, sign)
        code = wait(process)
        for path in self.files.values():
            assert whole(path), f"{path} is broken after signal {sign} at {moment:.0%}"
        return code


def kill(n: int, rows: Path, folder: Path, rng: random.Random) -> Counter[str]:
    """Kill at random moments, half of them near the end, where files are written."""
    ends: Counter[str] = Counter()
    for program, turns in make_programs(n, rows, folder):
        for turn in range(turns):
            moment = rng.uniform(0, 1) if turn % 2 else rng.uniform(0.8, 1.05)
            code = program.send(signal.SIGKILL, moment)
            assert code in (0, -signal.SIGKILL), code
            ends["finished first" if code == 0 else "killed"] += 1
        program.run()
        assert not leftovers(folder), leftovers(folder)  # the next run removes what was left
    return ends


def make_programs(n: int, rows: Path, folder: Path) -> list[tuple[Program, int]]:
    """Split turns: one in five for new processes, the others for copies that work at once."""
    load()
    new = max(n // 5, 1)
    return [
        (Program(start_whole, rows, folder), new),
        (Program(start_copy, rows, folder), n - new),
    ]


def kill_writers(n: int, folder: Path, rng: random.Random) -> Counter[str]:
    """Kill a process that does nothing but write, while it writes.

    It is a copy of this one, so that a kill costs milliseconds and nearly all hit a write.
    """
    ends: Counter[str] = Counter()
    files = targets(folder)
    write = make_writer(files)
    for _ in range(n):
        writer = os.fork()
        if writer == 0:
            while True:
                write()
        time.sleep(rng.uniform(0.01, 0.3))
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
        broken = [path.name for path in files.values() if not whole(path)]
        assert not broken, broken
        ends["a file half-written beside it" if leftovers(folder) else "between two files"] += 1
    write()
    assert not leftovers(folder), leftovers(folder)  # the next run removes what was left
    return ends


def make_writer(files: dict[str, Path]) -> Callable[[], None]:
    """Return a function that writes a document, a page and counts."""
    rng = np.random.default_rng(0)
    truth = rng.random(5000) < 0.3
    y, score = (truth & (rng.random(5000) < 0.4)).astype(int), rng.normal(2.0 * truth)
    found = uc.evaluate(y, score, unlabeled=0, prevalence=0.3, threshold=1.0)
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0)
    found.to_html(files["html"])
    # Blanks, so that most of the time goes into writing, where the kills shall hit.
    document, page = (
        f"{' ' * 2**23}{text}" for text in (found.to_json(), files["html"].read_text())
    )
    files["html"].write_text(SAVED)

    def write() -> None:
        for _ in range(5):
            write_text(files["json"], document)
            write_text(files["html"], page)
        uc.write_counts(counts, files["parquet"])

    return write


def interrupt(n: int, rows: Path, folder: Path, rng: random.Random) -> Counter[str]:
    """Interrupt at random moments: exit 130, and nothing is left behind."""
    ends: Counter[str] = Counter()
    for program, turns in make_programs(n, rows, folder):
        for _ in range(turns):
            code = program.send(signal.SIGINT, rng.uniform(0.1, 1))
            # Before the program's first line and after its last Python itself ends by the signal,
            # which a shell calls 130 too.
            assert code in (0, 130, -signal.SIGINT), code
            ends[{0: "finished first", 130: "exit 130"}.get(code, "before or after it")] += 1
            assert not leftovers(folder), leftovers(folder)
    return ends
