"""One run: cases of one seed, knocked at the doors in turn."""

import faulthandler
import json
import random
import re
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.fuzz.doors import DOORS, PATIENCE, knock
from tests.fuzz.doors.options import write_rows
from tests.fuzz.machines import MACHINES
from tests.fuzz.report import FOUND, Figures

KEPT = ("ends", "spent", "longest", "findings")
SHOWN = 3  # findings of the same place that are printed
WAIT = 3600.0  # seconds of the clock after which a case has stopped for good
SAVE_EVERY = 60.0  # seconds between two figures of a run that goes on


def roll(
    seed: int,
    cases: int,
    seconds: float,
    doors: list[str] | None,
    walks: int,
    kept: Path | None = None,
) -> Figures:
    """Knock at all doors in turn until the cases or the time are used up; return the figures.

    Figures of a run that goes on are kept in a file: one that is ended has not been for nothing.
    """
    run, saved = Run(seed), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder))
        while run.cases < cases and run.seconds < seconds:
            run.turn(doors or list(DOORS), Path(folder))
            if kept and time.monotonic() - saved > SAVE_EVERY:
                kept.write_text(json.dumps(run.figures()))
                saved = time.monotonic()
    if not doors:
        run.walk(walks)
    return run.figures()


@contextmanager
def end_if_it_hangs() -> Iterator[None]:
    """Show what hangs for good, and end the process.

    What works without end is known by the processor's time: of the clock a busy machine takes any
    number of minutes, which has ended whole runs. What waits without end is known by an hour.
    """
    faulthandler.dump_traceback_later(WAIT, exit=True)
    if hasattr(signal, "setitimer"):
        faulthandler.register(signal.SIGPROF, chain=True)  # and then what a signal does by itself
        signal.setitimer(signal.ITIMER_PROF, 6 * PATIENCE)
    try:
        yield
    finally:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, 0)
            faulthandler.unregister(signal.SIGPROF)
        faulthandler.cancel_dump_traceback_later()


class Run:
    """How the cases of one seed ended, how long they took, and what was found."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.begin = time.monotonic()
        self.dice = random.Random(seed)  # noqa: S311 - cases, not secrets
        self.ends: Counter[str] = Counter()
        self.spent: Counter[str] = Counter()
        self.findings: Counter[str] = Counter()
        self.longest: Counter[str] = Counter()

    @property
    def cases(self) -> int:
        """Cases so far."""
        return self.ends.total()

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return time.monotonic() - self.begin

    def turn(self, doors: list[str], folder: Path) -> None:
        """Knock at each door as often as its part says."""
        for door in doors:
            begin = time.process_time()
            for _ in range(DOORS[door].part if len(doors) > 1 else 10):
                with end_if_it_hangs():
                    self._knock(door, folder)
            self.spent[door] += time.process_time() - begin

    def _knock(self, door: str, folder: Path) -> None:
        begin, case = time.process_time(), None
        try:
            case = DOORS[door].draw(self.dice)
            end = knock(door, case, folder)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            end = FOUND
            place = _place(error)
            self.findings[place] += 1
            if self.findings[place] <= SHOWN:
                traceback.print_exc(limit=-3)
                sys.stderr.write(f"door {door!r}, case {_short(case)}\n\n")
        self.ends[f"{door}: {end}"] += 1
        self.longest[door] = max(self.longest[door], time.process_time() - begin)

    def walk(self, walks: int) -> None:
        """Let every machine take so many walks; the first step that fails is a finding."""
        for machine in MACHINES if walks else ():
            begin, name = time.process_time(), machine.__name__
            steps = settings(
                max_examples=walks,
                stateful_step_count=25,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            seed(self.seed)(machine)
            try:
                run_state_machine_as_test(machine, settings=steps)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
                self.findings[_place(error)] += 1
                traceback.print_exc(limit=-3)
            self.ends[f"{name}: walks of 25 steps"] += walks
            self.spent[name] += time.process_time() - begin

    def figures(self) -> Figures:
        """What is kept of this run; seconds of doors are those of the processor."""
        kept = {name: dict(getattr(self, name)) for name in KEPT}
        return {"seed": self.seed, "seconds": self.seconds, **kept}


def _short(case: object) -> str:
    """Write a case such that it can be read again, without the spaces of arrays."""
    return re.sub(r"\s+", " ", repr(case))


def _place(error: BaseException) -> str:
    """Name the kind of a finding and the line of the library where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "undercount" in frame.filename] or frames
    return f"{type(error).__name__} in {Path(ours[-1].filename).name}:{ours[-1].lineno}"
