"""Time `compare` of two to eight models against one `evaluate`.

CPU time in one run; only the ratio is meant. Bars: 4 for two models, 15 for six.
"""

import argparse
import time

import numpy as np

import undercount as uc


def best(function, repeats):
    times = []
    for _ in range(repeats):
        started = time.process_time()
        function()
        times.append(time.process_time() - started)
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    truth = rng.random(options.rows) < 0.1
    y = (truth & (rng.random(options.rows) < 0.4)).astype(np.int8)
    signal = rng.normal(1.5 * truth)
    scores = {
        f"m{i}": (signal + rng.normal(0, 0.5 + 0.1 * i, options.rows)).astype(np.float32)
        for i in range(8)
    }
    told = {"unlabeled": 0, "prevalence": 0.1, "threshold": 1.0}
    one = best(lambda: uc.evaluate(y, scores["m0"], **told), options.repeats)
    print(f"{options.rows:,} rows: evaluate {one:.3f} s")
    for number, bar in ((2, 4), (4, None), (6, 15), (8, None)):
        some = dict(list(scores.items())[:number])
        found = best(lambda some=some: uc.compare(y, some, **told), options.repeats)
        words = f" (bar {bar})" if bar else ""
        each = found / one / number
        print(
            f"  {number} models {found:.3f} s, ratio {found / one:.1f}{words}, {each:.1f} a model"
        )


if __name__ == "__main__":
    main()
