"""Draws of a reproduction: seeded one by one, run in parallel, kept when finished."""

import hashlib
import importlib
import json
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from undercount import __version__
from undercount.errors import InputError
from undercount_reproductions.data import Data, load

Setting: TypeAlias = Mapping[str, Any]
Draw: TypeAlias = dict[str, Any]
Task: TypeAlias = Callable[..., Draw]
Progress: TypeAlias = Callable[[int, int], None]

KEPT = "finished"  # folder of finished blocks of draws, inside the results'


@dataclass(frozen=True)
class Request:
    """Hold what was asked for: the item, its draws, and where things are.

    Attributes
    ----------
    paper, item : str
        Which table or figure.
    runs, seed : int
        Draws of each setting, and their seed.
    jobs : int
        Processes; -1 for all cores.
    out : Path or None
        Where finished draws are kept; None keeps none.
    data_dir : Path or None
        Folder of data files.
    progress : callable or None
        Called with the blocks of draws done and the number of all.
    backend : str or None
        A joblib backend by name. "dask" uses the client that is open, or opens one: that of
        ``DASK_SCHEDULER_ADDRESS``, or a cluster on this machine.
    bags : int or None
        Networks of one ensemble, where an item trains ensembles; None for its own number.
    """

    paper: str
    item: str
    runs: int
    seed: int = 0
    jobs: int = 1
    out: Path | None = None
    data_dir: Path | None = None
    progress: Progress | None = None
    backend: str | None = None
    bags: int | None = None

    def data(self, name: str) -> Data:
        """Load a data set by name."""
        return load(name, self.data_dir)

    def generator(self, setting: Setting, draw: int = 0) -> np.random.Generator:
        """Return the random numbers of one draw, whatever runs beside it."""
        return np.random.default_rng([self.seed, zlib.crc32(_words(setting).encode()), draw])

    def draws(
        self,
        task: Task,
        settings: Sequence[Setting],
        *shared: Any,
        block: int = 50,
        given: Callable[[Setting], tuple[Any, ...]] | None = None,
    ) -> list[list[Draw]]:
        """Run ``task(setting, generator, *shared)`` `runs` times a setting.

        What differs between settings and is too large to be part of one, such as its data, comes
        from ``given(setting)`` and is passed after `shared`; it is called only for settings that
        have draws to make.

        Blocks of draws are written when they are finished and read again by the next call with
        the same item, setting and seed, so an interrupted run loses at most the blocks under way.
        """
        from joblib import Parallel, delayed  # noqa: PLC0415 - slow to import
        from joblib.parallel import get_active_backend  # noqa: PLC0415

        starts = range(0, self.runs, block)
        blocks = [
            (setting, range(start, min(start + block, self.runs)))
            for setting in settings
            for start in starts
        ]
        found: list[list[Draw]] = []

        def arguments(setting: Setting, draws: range) -> tuple[Any, ...]:
            if given is None or _is_kept(self, setting, draws):
                return shared
            return *shared, *given(setting)

        with self._backend():
            # Ray's backend cannot hand out results one by one: its progress comes at the end.
            steady = getattr(get_active_backend()[0], "supports_return_generator", False)
            parallel = Parallel(n_jobs=self.jobs, return_as="generator" if steady else "list")
            todo = (delayed(_block)(self._bare(), task, *b, arguments(*b)) for b in blocks)
            for part in parallel(todo):
                found.append(part)
                if self.progress is not None:
                    self.progress(len(found), len(blocks))
        each = len(starts)
        return [
            list(chain.from_iterable(found[i * each : (i + 1) * each]))
            for i in range(len(settings))
        ]

    def _bare(self) -> "Request":
        """Return itself without what other processes cannot use."""
        return Request(self.paper, self.item, self.runs, self.seed, out=self.out)

    def _backend(self) -> AbstractContextManager[Any]:
        if self.backend is None:
            return nullcontext()
        from joblib import parallel_config  # noqa: PLC0415

        stack = ExitStack()
        _prepare_cluster(self.backend, stack)
        stack.enter_context(parallel_config(backend=self.backend))
        return stack


def _prepare_cluster(backend: str, stack: ExitStack) -> None:
    """Open what a joblib backend needs before it can be named."""
    if backend not in ("dask", "ray"):
        return
    package = {"dask": "distributed", "ray": "ray.util.joblib"}[backend]
    try:
        module = importlib.import_module(package)
    except ImportError:
        name = package.partition(".")[0]
        raise InputError(f"backend {backend!r} needs the package {name}; install it") from None
    if backend == "ray":
        module.register_ray()
        return
    try:
        module.get_client()
    except ValueError:  # none yet: that of DASK_SCHEDULER_ADDRESS, or one on this machine
        stack.enter_context(module.Client())


def _block(
    request: Request, task: Task, setting: Setting, draws: range, shared: tuple[Any, ...]
) -> list[Draw]:
    # It comes with scikit-learn.
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # noqa: PLC0415

    path = None if request.out is None else _path(request, setting, draws)
    if path is not None and path.exists():
        kept: list[Draw] = json.loads(path.read_text(encoding="utf-8"))["draws"]
        return kept
    with threadpool_limits(1):  # processes do the parallel work; threads of theirs would fight
        found = [task(setting, request.generator(setting, draw), *shared) for draw in draws]
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.name}.{os.getpid()}")
        content = {"setting": dict(setting), "seed": request.seed, "draws": found}
        unfinished.write_text(json.dumps(content), encoding="utf-8")
        unfinished.replace(path)  # a file of this name is always whole
    return json.loads(json.dumps(found)) if path is not None else found


def _is_kept(request: Request, setting: Setting, draws: range) -> bool:
    return request.out is not None and _path(request, setting, draws).exists()


def _path(request: Request, setting: Setting, draws: range) -> Path:
    key = [__version__, _words(setting), request.seed, draws.start, draws.stop]
    digest = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:16]
    folder = Path(request.out or ".") / KEPT
    return folder / f"{request.paper}-{request.item}-{digest}.json"


def _words(setting: Setting) -> str:
    return json.dumps(dict(setting), sort_keys=True)


def column(draws: Sequence[Draw], name: str) -> np.ndarray:
    """Return one number of each draw."""
    return np.array([draw[name] for draw in draws], dtype=float)


def mean_and_sd(draws: Sequence[Draw], name: str) -> tuple[float, float]:
    """Return mean and standard deviation of one number; the latter is NaN for a single draw."""
    values = column(draws, name)
    spread = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
    return float(values.mean()), spread
