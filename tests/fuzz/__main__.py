"""Many random cases at every door: `python -m tests.fuzz --cases 1000000 --seconds 3600`."""

import argparse
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from tests.fuzz.doors import DOORS
from tests.fuzz.report import report
from tests.fuzz.run import roll


def main() -> int:
    """Share the cases out to processes, each with a seed of its own; print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--seed", type=int, default=0, help="Of the first process")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="Processes")
    parser.add_argument("--door", choices=list(DOORS), action="append")
    parser.add_argument("--walks", type=int, default=200, help="Of each machine; 0 for none")
    parser.add_argument("--json", type=Path, help="Lines of figures, to which a run adds its own")
    options = parser.parse_args()
    jobs = options.jobs
    each = -(-options.cases // jobs), options.seconds, options.door, -(-options.walks // jobs)
    kept = [options.json and Path(f"{options.json}.{options.seed + job}") for job in range(jobs)]
    if jobs == 1:
        runs = [roll(options.seed, *each, kept[0])]
    else:
        with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
            pending = [
                pool.submit(roll, options.seed + job, *each, kept[job]) for job in range(jobs)
            ]
            runs = [job.result() for job in pending]
    if options.json:
        with options.json.open("a") as lines:
            lines.writelines(json.dumps(run) + "\n" for run in runs)
    sys.stdout.write(report(runs))
    return int(any(run["findings"] for run in runs))


if __name__ == "__main__":
    raise SystemExit(main())
