"""A full disk, a folder that may not be written to, and little memory."""

import os
import resource
import signal
from collections import Counter
from pathlib import Path

from tests.faults.program import ROWS, SAVED, start, targets, whole


def refuse_writing(rows: Path, folder: Path) -> Counter[str]:
    """No room and a read-only folder: exit 2, one message, the earlier result kept."""
    ends: Counter[str] = Counter()

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    files = targets(folder)
    process = start([*ROWS, str(rows), "--html", str(files["html"])], preexec_fn=small_files)
    _, error = process.communicate()
    assert process.returncode == 2, (process.returncode, error)
    assert whole(files["html"])
    ends["no room"] += 1
    with Path("/dev/full").open("w") as full:
        process = start([*ROWS, str(rows)], stdout=full)
        _, error = process.communicate()
    assert process.returncode == 2, (process.returncode, error)
    ends["full output"] += 1
    locked = folder / "locked"
    locked.mkdir(exist_ok=True)
    (locked / "result.json").write_text(SAVED)
    locked.chmod(0o555)
    # Root may write into any folder but those of the system's own.
    place = Path("/sys") if os.geteuid() == 0 else locked
    process = start([*ROWS, str(rows), "--json", str(place / "result.json")])
    _, error = process.communicate()
    assert process.returncode == 2, error
    assert b"cannot write" in error, error
    ends["read-only"] += 1
    assert whole(locked / "result.json")
    locked.chmod(0o700)
    return ends


# What the system's loader says and does where a thread's own variables find no room.
LOADER, LOADER_CODE = b"cannot allocate memory for thread-local data", 127


def starve(rows: Path, folder: Path) -> Counter[str]:
    """Little memory: an answer, or exit 2 with a message; never a verdict's code, nothing lost."""
    ends: Counter[str] = Counter()
    result = targets(folder)["json"]
    for megabytes in (300, 500, 700, 900, 1000, 1100, 1200, 1400):
        limit = megabytes * 2**20

        def little(limit: int = limit) -> None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

        process = start([*ROWS, str(rows), "--json", str(result)], preexec_fn=little)
        _, error = process.communicate()
        code = process.returncode
        ends[f"{megabytes} MB: exit {code}"] += 1
        # Below what the libraries need to be loaded they end by a signal of their own, and the
        # system's loader ends the process itself: neither can be caught from inside.
        assert code in (0, 2) or code < 0 or (code == LOADER_CODE and LOADER in error), error
        assert whole(result), f"{result} is broken under {megabytes} MB"
    return ends
