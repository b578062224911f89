"""Many random cases at every door: `python -m tests.fuzz --cases 1000000 --seconds 3600`."""

import argparse
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import seed as with_seed
from tests.fuzz.doors import DOORS, knock, write_rows

BATCH = {
    "rows": 300,
    "files": 150,
    "options": 40,
    "requirements": 1000,
    "counts files": 100,
    "reviews": 40,
    "tensors": 300,
}


def main() -> int:
    """Knock at one door after the other until the cases or the time are used up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    ends: Counter[str] = Counter()
    failures, begin, turn = 0, time.monotonic(), options.seed
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder))
        while ends.total() < options.cases and time.monotonic() - begin < options.seconds:
            for door in DOORS:
                failures += not _run_batch(door, turn, Path(folder), ends)
            turn += 1
    print(f"{ends.total():,} cases in {time.monotonic() - begin:.0f} s, {failures} failures")  # noqa: T201 - a script
    for end, number in sorted(ends.items()):
        print(f"  {end}: {number:,}")  # noqa: T201
    return int(failures > 0)


def _run_batch(door: str, seed: int, folder: Path, ends: Counter[str]) -> bool:
    @with_seed(seed)
    @settings(
        max_examples=BATCH[door],
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=DOORS[door])
    def run(case: object) -> None:
        ends[f"{door}: {knock(door, case, folder)}"] += 1

    try:
        run()
    except Exception:  # noqa: BLE001 - whatever it is, it is a finding
        traceback.print_exc()
        return False
    return True


if __name__ == "__main__":
    raise SystemExit(main())
