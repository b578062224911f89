"""A table of errors, coverages and times by method, for `prevalence.py`."""

import time
import warnings

import numpy as np

# Mean errors of the published code on the same families: synthetic, boosting, logistic (features
# methods: synthetic, real). For Consensus: what we ask of it.
REFERENCE = {
    "Consensus": (0.060, 0.045, 0.055),
    "Dedpul": (0.070, 0.048, 0.062),
    "Dedpul, monotone": (0.094, 0.045, 0.059),
    "BestBin": (0.086, 0.050, 0.071),
    "PatraSen": (0.111, 0.050, 0.067),
    "RocSlope": (0.090, 0.063, 0.079),
    "KernelMean KM1": (0.072, 0.085, 0.082),
    "KernelMean KM2": (0.082, 0.105, 0.093),
    "AlphaMax": (0.091, 0.089, 0.083),
    "DistCurve": (0.103, 0.124, 0.116),
    "ElkanNoto": (0.194, 0.086, 0.145),
    "KM1, features": (0.122, 0.170),
    "KM2, features": (0.119, 0.176),
    "TIcE, features": (0.206, 0.166),
    "PenL1, features": (0.119, 0.143),
}
SYNTHETIC, BOOSTING, LOGISTIC = range(3)


class Results:
    """Errors, intervals and times, gathered by method."""

    def __init__(self):
        self.rows = {}

    def run(self, name, method, truth, *data, n_resamples):
        """Fit one method on one data set."""
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = method(n_resamples=n_resamples, random_state=0).fit(*data)
        spent = time.process_time() - start
        low, high = (np.nan, np.nan)
        if found.interval_ is not None:
            low, high = found.interval_.low, found.interval_.high
        value = found.unlabeled_prevalence_
        self.rows.setdefault(name, []).append((value - truth, low - truth, high - truth, spent))

    def show(self, title, column=None):
        """Print one table, beside a column of the reference where there is one."""
        print(f"\n{title} ({len(next(iter(self.rows.values())))} data sets)")
        print(
            f"{'method':20} {'|error|':>8} {'bias':>7} {'coverage':>9} {'width':>6} {'CPU s':>8}"
            f" {'reference':>9} {'ratio':>6}"
        )
        for name, rows in self.rows.items():
            error, low, high, spent = np.array(rows).T
            known = np.isfinite(low)
            covered = np.mean((low <= 0) & (high >= 0), where=known) if known.any() else np.nan
            width = np.mean(high - low, where=known) if known.any() else np.nan
            line = f"{name:20} {np.abs(error).mean():8.4f} {error.mean():+7.3f}"
            line += f" {covered:9.2f} {width:6.2f} {spent.mean():8.4f}"
            if column is not None and name in REFERENCE:
                reference = REFERENCE[name][column]
                line += f" {reference:9.3f} {np.abs(error).mean() / reference:6.2f}"
            print(line, flush=True)


def merge(one, *others):
    """Add the rows of one Results to others."""
    for results in others:
        for name, rows in one.rows.items():
            results.rows.setdefault(name, []).extend(rows)
