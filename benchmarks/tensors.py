"""Counting on a GPU: equal to the CPU's counts, how long, and with how much work space.

Scores and labels lie on the device before the clock runs; labelled rows are as many as asked for.
Each library that is installed (PyTorch, CuPy, JAX) counts the same rows. Printed are the best
times of several runs, after one that loads the library:

device     the compact table, complete, on the device
counts     `ScoreCounts.from_rows(..., compact=True)`: the same, and its journey to the host
evaluate   `evaluate(..., prevalence=...)`: every metric with its interval
AUC        PyTorch alone: torchmetrics' exact `binary_auroc`, or, where that is not installed, an
           AUC by one sort and two cumulative sums

    python benchmarks/tensors.py [--rows 1e6 1e7 1e8 1e9] [--labelled .01] [--library torch]

Without a GPU it says so, and counts small tensors on the CPU, for equality alone.
"""

# ruff: noqa: PLC0415, D102 - each library is imported only where it is installed

import argparse
import gc
import importlib
import importlib.util
import time
import traceback

import numpy as np

from undercount.count.kernel import array_library, device
from undercount.count.kernel.array_library import find_library, tensor_to_host
from undercount.count.tensors import DeviceRows, device_rows
from undercount.counts import ScoreCounts

ROWS = (1e6, 1e7, 1e8, 1e9)
# Rows up to which the CPU counts, too: compactly, and at every score.
EQUAL, EVERY_SCORE = 1e8, 2e7
BARS = {10**8: 0.015, 10**9: 0.150}
EVALUATE_BARS = {10**9: 1.0}
MAX_BYTES_A_ROW = 40
FIELDS = ("score", "positive", "negative", "unlabeled", "merged")


class Torch:
    """Make, wait for and weigh tensors of PyTorch."""

    def __init__(self):
        import torch

        self.torch = torch
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.name = torch.cuda.get_device_name() if self.device == "cuda" else "CPU"

    def rows(self, n, labelled):
        torch = self.torch
        torch.manual_seed(0)
        score = torch.rand(n, device=self.device)
        chance = torch.rand(n, device=self.device)
        y = (chance < 2 * labelled * score).to(torch.int8)
        return y, score

    def wait(self):
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def peak(self, work):
        if self.device == "cpu":
            work()
            return float("nan")
        self.torch.cuda.empty_cache()
        self.torch.cuda.reset_peak_memory_stats()
        before = self.torch.cuda.memory_allocated()
        work()
        self.wait()
        return self.torch.cuda.max_memory_allocated() - before

    def clear(self):
        if self.device == "cuda":
            self.torch.cuda.empty_cache()


class CuPy:
    """Make, wait for and weigh arrays of CuPy."""

    def __init__(self):
        import cupy

        self.cupy = cupy
        self.name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        self.device = "cuda"

    def rows(self, n, labelled):
        cupy = self.cupy
        random = cupy.random.default_rng(0)
        score = random.random(n, dtype=cupy.float32)
        chance = random.random(n, dtype=cupy.float32)
        return (chance < 2 * labelled * score).astype(cupy.int8), score

    def wait(self):
        self.cupy.cuda.runtime.deviceSynchronize()

    def peak(self, work):
        """Take what the pool had to get: nothing is free in it before."""
        pool = self.cupy.get_default_memory_pool()
        pool.free_all_blocks()
        before = pool.total_bytes()
        work()
        self.wait()
        return pool.total_bytes() - before

    def clear(self):
        self.cupy.get_default_memory_pool().free_all_blocks()


class Jax:
    """Make and wait for arrays of JAX; its memory is not weighed."""

    def __init__(self):
        import jax

        self.jax = jax
        found = jax.devices()[0]
        self.device = "cuda" if found.platform in ("gpu", "cuda") else "cpu"
        self.name = getattr(found, "device_kind", "CPU")

    def rows(self, n, labelled):
        jax = self.jax
        one, two = jax.random.split(jax.random.key(0))
        score = jax.random.uniform(one, (n,))
        y = (jax.random.uniform(two, (n,)) < 2 * labelled * score).astype("int8")
        return y, score

    def wait(self):
        pass  # what is measured ends on the host, which waits

    def peak(self, work):
        work()
        return float("nan")

    def clear(self):
        pass


LIBRARIES = {"torch": Torch, "cupy": CuPy, "jax": Jax}


def best(library, work, times=5):
    """Return the least seconds of some runs, after one that does not count."""
    least, spent = float("inf"), 0.0
    for number in range(times + 1):
        library.wait()
        start = time.perf_counter()
        result = work()
        library.wait()
        seconds = time.perf_counter() - start
        del result
        spent += seconds
        if number:
            least = min(least, seconds)
        if spent > 20 and number:
            break
    return least


def count_on_device(y, score):
    """Make the table and leave it on the device."""
    rows = device_rows(y, score, None)
    if rows is None:  # on the host: for equality alone
        library = find_library(score)
        rows = DeviceRows(library.detach(y), library.detach(score), library)
    return rows.table_on_device(0, compact=True, knots=())


def same(library, y, score):
    """Compare with the counts of NumPy, every column exactly."""
    host = tensor_to_host(y), tensor_to_host(score)
    for compact, knots in ((True, ()), (True, (0.3, 0.5)), (False, ())):
        if not compact and host[0].size > EVERY_SCORE:
            continue
        options = {"unlabeled": 0, "compact": compact, "knots": knots}
        found = ScoreCounts.from_rows(y, score, **options)
        expected = ScoreCounts.from_rows(*host, **options)
        for field in FIELDS:
            np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))
        assert found.squared_weight == expected.squared_weight
    library.clear()


def hard_shapes(make):
    """Compare on scores with ties, signs, infinities, both zeros, and in every type of float."""
    rng = np.random.default_rng(1)
    n = 200_000
    shapes = {
        "ties": np.round(rng.random(n), 2),
        "signs": rng.normal(size=n),
        "zeros": np.round(rng.normal(size=n), 1) * rng.choice([1.0, -0.0], n),
        "infinities": np.where(rng.random(n) < 0.1, rng.choice([np.inf, -np.inf], n), 0.5),
        "crowded": np.exp(-30 * rng.random(n)),
    }
    y = rng.choice([1, 0, -1], n, p=[0.1, 0.1, 0.8]).astype(np.int8)
    for values in shapes.values():
        for dtype in (np.float16, np.float32, np.float64):
            score = values.astype(dtype)
            given = make(y), make(score)
            host = tensor_to_host(given[0]), tensor_to_host(given[1])  # JAX may narrow float64
            for compact in (True, False):
                options = {"unlabeled": -1, "compact": compact}
                found = ScoreCounts.from_rows(*given, **options)
                expected = ScoreCounts.from_rows(*host, **options)
                for field in FIELDS:
                    np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))
    return ", ".join(shapes)


def makers(name, library):
    if name == "torch":
        return lambda values: library.torch.from_numpy(values).to(library.device)
    if name == "cupy":
        return library.cupy.asarray
    return library.jax.numpy.asarray


def exact_auc(library, y, score):
    """Return what computes one exact AUC by PyTorch, and what it is."""
    torch = library.torch
    if importlib.util.find_spec("torchmetrics"):
        from torchmetrics.functional.classification import binary_auroc

        return (lambda: binary_auroc(score, y.long(), thresholds=None)), "torchmetrics"

    def by_sort():
        order = torch.sort(score, descending=True)
        hits = y[order.indices]
        positive = torch.cumsum(hits, 0, dtype=torch.int64)
        ends = torch.nonzero(order.values[1:] != order.values[:-1]).flatten()
        tpr = torch.cat([positive[ends], positive[-1:]]).double()
        rank = torch.cat([ends + 1, torch.tensor([len(y)], device=y.device)]).double()
        return torch.trapezoid(tpr / tpr[-1], (rank - tpr) / (rank[-1] - tpr[-1]))

    return by_sort, "torch.sort, cumsum"


def evaluation(y, score, labelled):
    from undercount.read.evaluate import evaluate

    return evaluate(y, score, unlabeled=0, prevalence=2 * labelled)


def primitives(library, score):
    """Print what the parts cost, for those who tune."""
    torch = library.torch
    n = score.shape[0]
    quarter = score[: n // 4]
    ordered = torch.sort(quarter).values
    borders = ordered[::25].contiguous()
    parts = {
        "max": lambda: float(score.max()),
        "mask": lambda: score > 0.99,
        "places": lambda: torch.nonzero(score > 0.99),
        "sort a quarter": lambda: torch.sort(quarter),
        "unique a quarter": lambda: torch.unique(quarter, return_counts=True),
        "search n/100 borders in it": lambda: torch.searchsorted(ordered, borders),
        "bucketize all by them": lambda: torch.bucketize(score, borders, out_int32=True),
    }
    if importlib.util.find_spec("cupy"):
        import cupy

        keys = cupy.from_dlpack(quarter.view(torch.int32))
        parts["sort a quarter as integers (CuPy)"] = lambda: cupy.sort(keys)
    times = {name: best(library, work, 3) for name, work in parts.items()}
    shown = "; ".join(f"{name} {seconds * 1e3:.2f}" for name, seconds in times.items())
    print(f"    parts, ms: {shown}", flush=True)


def measure(name, library, n, labelled, *, detail):
    y, score = library.rows(n, labelled)
    if n <= EQUAL:
        same(library, y, score)
    times = [
        best(library, lambda: count_on_device(y, score)),
        best(library, lambda: ScoreCounts.from_rows(y, score, unlabeled=0, compact=True)),
        best(library, lambda: evaluation(y, score, labelled), 2),
    ]
    space = library.peak(lambda: count_on_device(y, score)) / n
    words = "equal to the CPU's" if n <= EQUAL else "too many for the CPU"
    bar = whole = ""
    if labelled == 0.01 and n in BARS and library.device == "cuda":
        kept = times[0] <= BARS[n]
        bar = f"  {'ok' if kept else 'MISS'} (bar {BARS[n] * 1e3:g} ms)"
        if n in EVALUATE_BARS:
            kept = times[2] <= EVALUATE_BARS[n]
            whole = f"  {'ok' if kept else 'MISS'} (bar {EVALUATE_BARS[n]:g} s)"
    too_much = " MISS" if space > MAX_BYTES_A_ROW else ""
    print(
        f"{name:6} {n:14,} rows, {100 * labelled:g} % labelled: device {times[0] * 1e3:.2f} ms"
        f"{bar}, counts {times[1] * 1e3:.2f} ms, evaluate {times[2]:.3f} s{whole}, "
        f"work space {space:.1f} bytes a row{too_much}; {words}",
        flush=True,
    )
    if name == "torch" and library.device == "cuda":
        work, kind = exact_auc(library, y, score)
        try:
            print(f"    one exact AUC by {kind}: {best(library, work, 3) * 1e3:.2f} ms", flush=True)
        except RuntimeError as error:  # out of memory
            print(f"    one exact AUC by {kind}: {str(error).splitlines()[0]}", flush=True)
        if detail:
            primitives(library, score)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", type=float, default=ROWS)
    parser.add_argument("--labelled", nargs="+", type=float, default=[0.01])
    parser.add_argument("--library", nargs="+", choices=LIBRARIES, default=list(LIBRARIES))
    parser.add_argument("--detail", action="store_true", help="what the parts cost (PyTorch)")
    options = parser.parse_args()
    for name in options.library:
        if importlib.util.find_spec(name) is None:
            print(f"{name} is not installed")
            continue
        try:
            library = LIBRARIES[name]()
            run(name, library, options)
        except Exception:  # noqa: BLE001 - the next library is measured all the same
            traceback.print_exc()
        gc.collect()


def run(name, library, options):
    version = importlib.import_module(name).__version__
    print(f"\n{name} {version} on {library.name}")
    sizes = options.rows
    if library.device == "cpu":
        print("no GPU here: small tensors are counted on the CPU, for equality alone")
        array_library.HOST_KINDS = frozenset()
        device.MIN_ROWS_PER_PART = 1 << 14
        sizes = [1e5]
    shapes = hard_shapes(makers(name, library))
    print(f"equal to the CPU's counts on 200,000 rows of {shapes}, float16 to float64", flush=True)
    for n in sizes:
        for labelled in options.labelled:
            gc.collect()
            library.clear()
            try:
                measure(name, library, int(n), labelled, detail=options.detail)
            except Exception:  # noqa: BLE001 - too large perhaps; the rest is measured
                traceback.print_exc()


if __name__ == "__main__":
    main()
