"""Speed and memory of counting, against one call of scikit-learn's roc_auc_score.

Ratios are of CPU time (time.process_time, the best of several), measured in turn in one run, so
that they hold on other machines as well as the processor's sort allows. "All" means: compact
counts, the recovered ROC, precision-recall and lift curves, ROC AUC with its variance, average
precision and the best F1, from arrays of scores and labels. "And interval" adds the interval of
the AUC that `evaluate` shows, found by a function that treats every metric and sampling alike and
takes some .3 ms whatever the size.

    python benchmarks/counts.py [--quick] [--plot]
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time
import tracemalloc
from typing import NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

import undercount as uc
from undercount.infer.estimate_metric import estimate_metric

SHARES = uc.Shares(unlabeled_prevalence=0.1)
PLOT = pathlib.Path(__file__).parents[1] / "docs" / "images" / "counts_growth.svg"
FULL_TABLE_BAR = 2
MAX_BYTES_A_ROW = 30
MAX_IMPORT_SECONDS = 0.15
HEAVY = ("sklearn", "pandas", "matplotlib", "scipy.stats")


class Case(NamedTuple):
    """Rows to count, and how many times faster than scikit-learn it shall be (0: no bar)."""

    n: int
    labelled: float
    bar: float
    distinct: int = 0
    dtype: type = np.float32
    interval_bar: float = 0

    def arrays(self):
        """Return labels (1 labelled, 0 unlabeled) and scores that know something about them."""
        rng = np.random.default_rng(self.n)
        if self.distinct:
            score = (rng.integers(0, self.distinct, self.n) / self.distinct).astype(self.dtype)
        else:
            score = rng.random(self.n, dtype=self.dtype)
        y = (rng.random(self.n, dtype=np.float32) < 2 * self.labelled * score).astype(np.int8)
        y[:2] = 0, 1
        return y, score

    def __str__(self) -> str:
        ties = f", {self.distinct} distinct" if self.distinct else ""
        kind = np.dtype(self.dtype).name
        return f"{self.n:.0e} rows, {self.labelled:.0%} labelled, {kind}{ties}".replace("e+0", "e")


CASES = [
    Case(10**3, 0.01, 5),
    Case(10**3, 0.3, 2.5),
    Case(10**4, 0.01, 5),
    Case(10**4, 0.3, 2.5),
    Case(10**5, 0.01, 5),
    Case(10**5, 0.3, 4, interval_bar=2.5),
    Case(10**6, 0.01, 0),
    Case(10**6, 0.3, 4, interval_bar=2.5),
    Case(10**6, 0.01, 0, dtype=np.float64),
    Case(10**6, 0.3, 0, dtype=np.float64),
    Case(10**7, 0.01, 10),
    Case(10**7, 0.3, 4, interval_bar=2.5),
    Case(10**7, 0.01, 20, distinct=1000),
    Case(10**7, 0.3, 20, distinct=1000),
]
QUICK_ROWS = 10**6


def count(y, score):
    return uc.ScoreCounts.from_rows(y, score, unlabeled=0, compact=True)


def everything(y, score):
    counts = count(y, score)
    curve = uc.mixture_curve(counts, SHARES)
    recall_precision = curve.recall, curve.precision
    lift = curve.predicted_positive_rate, curve.lift
    best_f1 = curve.f1[1:].max()
    auc = uc.metrics.delong_auc(counts, SHARES)
    return counts, (auc, curve.average_precision, best_f1, recall_precision, lift)


def with_interval(y, score):
    counts, found = everything(y, score)
    return found, estimate_metric(counts, SHARES, "roc_auc", target="population")


def full_table(y, score):
    return uc.ScoreCounts.from_rows(y, score, unlabeled=0)


def best_times(functions, y, score):
    """Return the least CPU seconds of each function, called in turn, a few calls at a time."""
    rounds = int(np.clip(5 * 10**5 // len(y), 3, 40))
    calls = 5 if len(y) <= QUICK_ROWS else 1
    least = np.full(len(functions), np.inf)
    for _ in range(rounds):
        for index, function in enumerate(functions):
            for _ in range(calls):
                start = time.process_time()
                function(y, score)
                least[index] = min(least[index], time.process_time() - start)
    return least


def keep_memory():
    """Make the C library keep freed memory, as it does once a process has freed a large array.

    Otherwise it returns memory after each call and the kernel clears it again for the next, which
    at 100,000 rows costs both sides up to 30 ns a row.
    """
    np.ones(30 * 2**17)


def verdict(value, bar, *, at_least):
    if not bar:
        return ""
    kept = value >= bar if at_least else value <= bar
    return f"{'≥' if at_least else '≤'} {bar:g} {'ok' if kept else 'MISSED'}"


def speed(*, quick):
    print("CPU time against one roc_auc_score: ns a row, and how many times faster")
    print(f"{'':51}ns a row    times faster")
    print(f"{'':46}all  sklearn   all  {'bar':14}and interval {'bar':14}full table  counts alone")
    functions = [roc_auc_score, everything, with_interval, full_table, count]
    for case in CASES:
        if quick and case.n > QUICK_ROWS:
            continue
        sklearn, *ours = best_times(functions, *case.arrays())
        faster = [sklearn / seconds for seconds in ours]
        bar = verdict(faster[0], case.bar, at_least=True)
        full = verdict(faster[2], FULL_TABLE_BAR, at_least=True)
        interval = verdict(faster[1], case.interval_bar, at_least=True)
        print(
            f"{case!s:46}{ours[0] / case.n * 1e9:3.0f}{sklearn / case.n * 1e9:9.0f}"
            f"{faster[0]:6.1f}  {bar:14}{faster[1]:12.1f} {interval:14}{faster[2]:6.1f} {full}"
            f"{faster[3]:8.1f}",
            flush=True,
        )


def memory(*, quick):
    print("\nPeak memory beyond the input (tracemalloc), bytes a row; temporaries: without results")
    n = QUICK_ROWS if quick else 10**7
    for case in (Case(n, 0.01, 0), Case(n, 0.3, 0), Case(n, 0.01, 0, distinct=1000)):
        y, score = case.arrays()
        peaks, kept = [], []
        for function in (count, everything, full_table, roc_auc_score):
            tracemalloc.start()
            result = function(y, score)
            left, peak = tracemalloc.get_traced_memory()
            peaks.append(peak / n)
            kept.append(left / n)
            tracemalloc.stop()
            del result
        bar = verdict(peaks[0], MAX_BYTES_A_ROW, at_least=False)
        spare = verdict(peaks[1] - kept[1], MAX_BYTES_A_ROW, at_least=False)
        print(
            f"{case!s:46}compact counts {peaks[0]:5.1f} {bar}, all {peaks[1]:5.1f}, of which "
            f"temporaries {peaks[1] - kept[1]:5.1f} {spare}, full table {peaks[2]:5.1f}, "
            f"roc_auc_score {peaks[3]:5.1f}",
            flush=True,
        )


def child_seconds(code):
    """Return the CPU seconds of a fresh interpreter that runs the code, the best of five.

    The first of them writes the bytecode, even where the environment forbids it, as an
    installation does; compiling would count for as much as all else.
    """
    least = float("inf")
    allowed = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(5):
        before = os.times()
        subprocess.run([sys.executable, "-c", code], check=True, env=allowed)  # noqa: S603 - ours
        after = os.times()
        used = after.children_user + after.children_system
        least = min(least, used - before.children_user - before.children_system)
    return least


def imports():
    print("\nImport, CPU seconds over bare Python")
    bare = child_seconds("pass")
    refuse = f"import sys; assert not set({HEAVY}) & set(sys.modules)"
    for code in ("import undercount", "import undercount; undercount.ScoreCounts"):
        seconds = child_seconds(f"{code}; {refuse}") - bare
        bar = verdict(seconds, MAX_IMPORT_SECONDS, at_least=False)
        print(f"{code:45}{seconds:6.3f} {bar}, without {', '.join(HEAVY)}", flush=True)
    print(f"{'import numpy':45}{child_seconds('import numpy') - bare:6.3f}")


def growth(*, quick, plot):
    print("\nGrowth: CPU seconds of all, 1 % labelled, and of one roc_auc_score")
    sizes = [10**4, 10**5, 10**6] if quick else [10**4, 10**5, 10**6, 10**7, 5 * 10**7]
    rows = []
    for n in sizes:
        y, score = Case(n, 0.01, 0).arrays()
        functions = [everything, roc_auc_score] if n <= 10**7 else [everything]
        rows.append((n, *best_times(functions, y, score)))
        seconds = "".join(f"{value:12.5f}" for value in rows[-1][1:])
        print(f"{n:12,}{seconds}   {rows[-1][1] / n * 1e9:6.1f} ns a row", flush=True)
    if plot:
        draw(rows)


def draw(rows):
    """Draw seconds against rows, both on logarithmic scales, where slope 1 is linear growth."""
    import matplotlib as mpl  # noqa: PLC0415 - only needed here

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "undercount"  # the same picture makes the same file
    import matplotlib.pyplot as plt  # noqa: PLC0415 - after the choice of backend

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    ours = [(row[0], row[1]) for row in rows]
    theirs = [(row[0], row[2]) for row in rows if len(row) > 2]
    axes.loglog(
        *zip(*ours, strict=True), marker="o", color="#0072B2", label="undercount, all of it"
    )
    axes.loglog(*zip(*theirs, strict=True), marker="s", color="#D55E00", label="one roc_auc_score")
    n, seconds = ours[-1]
    line = [(size, seconds * size / n) for size, _ in ours]
    axes.loglog(*zip(*line, strict=True), color="0.5", linestyle=":", label="linear growth")
    axes.set(xlabel="rows (1 % labelled)", ylabel="CPU seconds")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    PLOT.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PLOT, metadata={"Date": None})
    print(f"drawn: {PLOT}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="no more than a million rows")
    parser.add_argument("--plot", action="store_true", help=f"draw {PLOT.name}")
    options = parser.parse_args()
    keep_memory()
    speed(quick=options.quick)
    memory(quick=options.quick)
    imports()
    growth(quick=options.quick, plot=options.plot)


if __name__ == "__main__":
    main()
