"""Tell how far a count has come: by steps, and inside a step by what the engine knows."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

Tell = Callable[[float], None]

# Seconds between two looks at a running query, and before a bar is drawn.
LOOK_EVERY, PATIENCE = 0.1, 1.0
# The DuckDB connection that runs the queries, where it is known.
CONNECTION: ContextVar[Any] = ContextVar("undercount_connection", default=None)


@dataclass
class Progress:
    """Steps of one count; `tell` gets the share of all work that is done, never less than before.

    Examples
    --------
    >>> from undercount.count.progress import Progress
    >>> seen = []
    >>> progress = Progress(seen.append)
    >>> with progress.step(0.5):
    ...     progress.inside(0.5)
    >>> seen
    [0.25, 0.5]
    """

    tell: Tell | None = None
    done: float = 0.0
    until: float = 0.0
    last: float = 0.0
    seen: int = 0

    @contextmanager
    def step(self, until: float) -> Iterator[None]:
        """Do a part of the work, up to a share of all of it."""
        self.until, self.seen = max(until, self.done), 0
        with self._look():
            yield
        self.done = self.until
        self._say(self.done)

    def inside(self, share: float) -> None:
        """Say how much of the present step is done."""
        self._say(self.done + (self.until - self.done) * min(share, 1.0))

    def rows(self, number: int, total: int) -> None:
        """Say that more rows have been seen in the present step."""
        self.seen += number
        self.inside(self.seen / max(total, 1))

    def _say(self, share: float) -> None:
        if self.tell is not None and share > self.last:
            self.last = share
            self.tell(share)

    @contextmanager
    def _look(self) -> Iterator[None]:
        """Ask DuckDB from a thread of its own, because a query does not come back until its end."""
        connection = CONNECTION.get()
        if self.tell is None or not hasattr(connection, "query_progress"):
            yield
            return
        stop, largest = threading.Event(), [0.0]

        def look() -> None:
            while not stop.wait(LOOK_EVERY):
                # A query of several parts may start again from 0.
                largest[0] = max(largest[0], connection.query_progress() / 100)
                self.inside(largest[0])

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


@contextmanager
def watch_queries(connection: Any) -> Iterator[None]:
    """Let counts made inside ask this DuckDB connection how far its queries are."""
    token = CONNECTION.set(connection)
    try:
        yield
    finally:
        CONNECTION.reset(token)


@contextmanager
def open_progress(progress: Tell | bool | None, what: str) -> Iterator[Progress]:  # noqa: FBT001 - as asked
    """Call a function, draw a bar on stderr (True), or say nothing (None, False)."""
    if not progress:
        yield Progress()
    elif callable(progress):
        yield Progress(progress)
    else:
        with _draw_bar(what) as bar:
            yield bar


@contextmanager
def _draw_bar(what: str) -> Iterator[Progress]:
    """Draw a bar on stderr, which vanishes at the end and is not drawn for short work.

    Until a share is first told the bar moves to and fro.
    """
    from rich.console import Console  # noqa: PLC0415 - only when a bar is wanted
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415
    from rich.progress import Progress as Bar  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    bar = Bar(*columns, console=Console(file=sys.stderr), transient=True)
    task = bar.add_task(what, total=None)
    begin = threading.Timer(PATIENCE, bar.start)
    begin.daemon = True
    begin.start()
    try:
        yield Progress(lambda share: bar.update(task, completed=share, total=1.0))
    finally:
        begin.cancel()
        begin.join()
        if bar.live.is_started:  # else an empty line is left
            bar.stop()
