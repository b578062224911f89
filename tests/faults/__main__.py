"""Kill, interrupt and starve the program: nothing may be lost. `python -m tests.faults`."""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults.engines import kill_dask_worker, kill_spark_executor
from tests.faults.limits import refuse_writing, starve
from tests.faults.program import write_rows
from tests.faults.signals import interrupt, kill, kill_writers

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable


def main() -> int:
    """Run all faults and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--interrupts", type=int, default=50)
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--only", action="append", help="Name of a fault, to run it alone")
    options = parser.parse_args()
    rng = random.Random(0)  # noqa: S311 - moments, not secrets
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = write_rows(folder, options.rows)
        half = options.kills // 2
        faults: dict[str, Callable[[], Counter[str]]] = {
            "kills while writing": lambda: kill_writers(options.kills - half, folder, rng),
            "kills": lambda: kill(half, rows, folder, rng),
            "interrupts": lambda: interrupt(options.interrupts, rows, folder, rng),
            "writing refused": lambda: refuse_writing(rows, folder),
            "little memory": lambda: starve(rows, folder),
            "Dask worker": lambda: kill_dask_worker(rng),
            "Spark executor": lambda: kill_spark_executor(rng),
        }
        for fault, run in faults.items():
            if options.only and fault not in options.only:
                continue
            begin = time.monotonic()
            ends = dict(run())
            sys.stdout.write(f"{fault}: {ends} in {time.monotonic() - begin:.0f} s\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
