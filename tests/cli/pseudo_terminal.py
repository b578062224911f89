"""Run commands on real pseudo-terminals of a given size, and print as JSON what came out.

The program is imported once; each command then runs in a forked child whose standard streams are
the terminal. Run as a script: tests start it as a process of its own, since theirs has threads.
"""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROWS = 40


def run_all(commands: Sequence[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """Run commands in a folder; each has arguments, columns, and maybe answers and environment."""
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
    done = subprocess.run(  # noqa: S603 - ours
        [sys.executable, __file__],
        input=json.dumps(commands),
        env={**environment, "TERM": "xterm-256color"},
        cwd=folder,
        check=True,
        text=True,
        stdout=subprocess.PIPE,
        timeout=600,
    )
    results: list[dict[str, Any]] = json.loads(done.stdout)
    return results


def _run_child(command: dict[str, Any]) -> None:
    from undercount.cli.main import main  # noqa: PLC0415 - once in the parent

    size = struct.pack("HHHH", ROWS, command["columns"], 0, 0)
    fcntl.ioctl(0, termios.TIOCSWINSZ, size)
    os.environ.update(command.get("environment", {}))
    # The streams of the parent are pipes.
    sys.stdin, sys.stdout, sys.stderr = (
        open(place, mode, encoding="utf-8")  # noqa: PTH123, SIM115 - descriptors
        for place, mode in ((0, "r"), (1, "w"), (2, "w"))
    )
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
    sys.argv = ["undercount", *command["arguments"]]
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _run(command: dict[str, Any]) -> dict[str, Any]:
    child, terminal = pty.fork()
    if child == 0:
        try:
            _run_child(command)
        finally:
            os._exit(99)
    os.write(terminal, command.get("answers", "").encode())
    said = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the child has gone, and all it wrote was read
            break
        if not part:
            break
        said += part
    _, status = os.waitpid(child, 0)
    return {"code": os.waitstatus_to_exitcode(status), "said": said.decode()}


if __name__ == "__main__":
    import undercount.cli.commands
    import undercount.cli.inputs
    import undercount.count.progress
    import undercount.read.evaluate_models
    import undercount.show.text

    # A bar is drawn on a slow machine only; here the results are looked at.
    undercount.count.progress.PATIENCE = 1000.0
    json.dump([_run(command) for command in json.load(sys.stdin)], sys.stdout)
