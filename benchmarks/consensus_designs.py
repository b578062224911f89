"""Error, relative error, coverage and width of `Consensus` on designs it was not trained on.

    python benchmarks/consensus_designs.py [--draws D] [--part PART]

Parts: `found` (the designs on which an earlier Consensus was found wanting, and others of their
kind: some positives score like negatives, rare shares), `visible` (the share of positives that
do not score like negatives, .5 to 1), `rare` (shares .0005 to .5, log-uniform). Beside Consensus
stand `Dedpul`, and the smallest, the median and the geometric mean of the six methods' answers.
No training problem comes from these designs, though the training problems hold invisible
positives and rare shares too. Everything is seeded; about three minutes on one core at 12 draws.
"""

import argparse
import warnings

import numpy as np

from undercount.prevalence import Consensus

SEED = 170
LABEL_FREQUENCY = 0.3
SMALLEST = 1e-4  # shares below are not told from 0


def normals(distance, visible=1.0, spread=1.0):
    """Positives N(distance, 1), but one share of them like the negatives N(0, spread)."""

    def drawn(rng, n_pos, n_neg):
        seen = rng.random(n_pos) < visible
        positive = np.where(seen, rng.normal(distance, 1, n_pos), rng.normal(0, spread, n_pos))
        return positive, rng.normal(0, spread, n_neg)

    return drawn


def uniforms(rng, n_pos, n_neg):
    """Overlap for half of the positives' range."""
    return rng.uniform(0, 1, n_pos), rng.uniform(-0.5, 0.5, n_neg)


def skewed(rng, n_pos, n_neg):
    """Negatives with a long upper tail below the positives."""
    return 4 + rng.gamma(3, 1, n_pos), rng.gamma(1.2, 1, n_neg)


def skewed_down(rng, n_pos, n_neg):
    """Positives with a long lower tail into the negatives."""
    return 5 - rng.gamma(1.5, 1.2, n_pos), rng.normal(0, 1, n_neg)


def heavy_tails(rng, n_pos, n_neg):
    """Student's t with four degrees of freedom, five apart."""
    return 5 + rng.standard_t(4, n_pos), rng.standard_t(4, n_neg)


def betas(rng, n_pos, n_neg):
    """Probabilities that lean to opposite ends."""
    return rng.beta(4, 1.3, n_pos), rng.beta(1, 6, n_neg)


def boosted(rng, n_pos, n_neg):
    """Probabilities of few leaves: steps, both ends crowded, one positive in six missed."""
    seen = rng.random(n_pos) < 5 / 6
    raw = np.where(seen, rng.normal(3, 1.6, n_pos), rng.normal(-3, 1.2, n_pos))
    steps = 60
    return tuple(
        np.round(steps / (1 + np.exp(-each))) + 0.2 * rng.normal(size=each.size)
        for each in (raw, rng.normal(-3, 1.2, n_neg))
    )


def two_kinds(rng, n_pos, n_neg):
    """Half of the positives easy, half of them hard."""
    easy = rng.random(n_pos) < 0.5
    return rng.normal(np.where(easy, 5, 1.5), 1, n_pos), rng.normal(0, 1, n_neg)


def tied(rng, n_pos, n_neg):
    """Twenty risk classes."""
    return tuple(np.round(3 * each) for each in normals(3)(rng, n_pos, n_neg))


def single_sample(n_positive, n_rows=4000):
    """Return labelled and unlabeled rows and the hidden share, at the label frequency."""
    n_labelled = round(LABEL_FREQUENCY * n_positive)
    return n_labelled, n_rows - n_labelled, (n_positive - n_labelled) / (n_rows - n_labelled)


FOUND = {
    "N(3.5), 1 in 10 invisible, 200": (normals(3.5, 0.9), *single_sample(200)),
    "N(3.5), 2 in 10 invisible": (normals(3.5, 0.8), *single_sample(1000)),
    "N(3.5), 4 in 10 invisible": (normals(3.5, 0.6), *single_sample(1000)),
    "N(3.5), half invisible": (normals(3.5, 0.5), *single_sample(1000)),
    "N(3), rare": (normals(3), *single_sample(100)),
    "N(3), rarer": (normals(3), 10, 3990, 0.005),
    "N(3), one in a thousand": (normals(3), 30, 20_000, 0.001),
    "boosted, 6 % positive": (boosted, *single_sample(180)),
    "boosted": (boosted, *single_sample(1000)),
    "N(1)": (normals(1), *single_sample(1000)),
    "N(2)": (normals(2), *single_sample(1000)),
    "N(4)": (normals(4), *single_sample(1000)),
    "N(6)": (normals(6), *single_sample(400)),
    "N(2.5), negatives wider": (normals(2.5, 1, 1.5), *single_sample(600)),
    "N(2.5), negatives narrower": (normals(2.5, 1, 0.6), *single_sample(600)),
    "uniforms": (uniforms, *single_sample(1000)),
    "skewed negatives": (skewed, *single_sample(400)),
    "skewed positives": (skewed_down, *single_sample(1500)),
    "heavy tails": (heavy_tails, *single_sample(800)),
    "betas": (betas, *single_sample(1000)),
    "two kinds of positives": (two_kinds, *single_sample(1000)),
    "two kinds, rare": (two_kinds, *single_sample(200)),
    "tied": (tied, *single_sample(1000)),
}
VISIBLE = {
    f"visible {visible:.1f}, {name}": (make(visible), *single_sample(n_positive))
    for visible in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    for name, make, n_positive in (
        ("N(2.5)", lambda v: normals(2.5, v), 1000),
        ("N(3.5), few", lambda v: normals(3.5, v), 250),
        ("N(3.5)", lambda v: normals(3.5, v), 1000),
        ("N(5), many", lambda v: normals(5, v, 1.4), 2400),
    )
}
RARE_SHARES = (0.0005, 0.001, 0.002, 0.005, 0.008, 0.0125, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5)
RARE = {
    f"share {share:.4f}, {name}": (make, labels, rows, share)
    for share in RARE_SHARES
    for name, make, labels, rows in (
        ("N(2.5)", normals(2.5), 200, 6000),
        ("N(3)", normals(3), 50, 8000),
        ("N(4), 1 in 5 invisible", normals(4, 0.8), 100, 8000),
        ("boosted", boosted, 150, 5000),
    )
    if share * rows >= 4
}
PARTS = {"found": FOUND, "visible": VISIBLE, "rare": RARE}


def problem(design, seed):
    """Return (labels, scores, true share) of one draw of a design."""
    make, n_labelled, n_unlabeled, share = design
    rng = np.random.default_rng(seed)
    hidden = round(share * n_unlabeled)
    score = np.concatenate(make(rng, n_labelled + hidden, n_unlabeled - hidden))
    return np.repeat([1, 0], [n_labelled, n_unlabeled]), score, hidden / n_unlabeled


def problems(part, n_draws):
    """Yield (design's name, labels, scores, true share) of every draw."""
    for place, (name, design) in enumerate(PARTS[part].items()):
        for draw in range(n_draws):
            seed = [SEED, list(PARTS).index(part), place, draw]
            yield name, *problem(design, seed)


def answers(found):
    """Return what each way of combining the six answers says, Consensus first."""
    six = found.diagnostics_["estimates"]
    values = np.array(list(six.values()))
    return (
        found.unlabeled_prevalence_,
        six["Dedpul"],
        values.min(),
        np.exp(np.log(np.maximum(values, SMALLEST)).mean()),
        np.median(values),
    )


NAMES = ("Consensus", "Dedpul", "smallest", "geometric", "median")


def measure(part, n_draws):
    """Return by design the truth, all answers, whether the interval held, and its width."""
    results = {}
    for name, y, score, truth in problems(part, n_draws):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = Consensus().fit(y, score, unlabeled=0)
        row = [truth, *answers(found), truth in found.interval_, found.interval_.width]
        results.setdefault(name, []).append(row)
    return {name: np.array(rows) for name, rows in results.items()}


def show(part, results):
    print(f"\n{part}: mean answer; then coverage and width of the 95 % interval of Consensus")
    print(f"{'design':34} {'true':>7} " + " ".join(f"{n:>9}" for n in NAMES) + "   cover  width")
    for name, rows in results.items():
        truth, covered, width = rows[:, 0].mean(), rows[:, 6].mean(), rows[:, 7].mean()
        means = " ".join(f"{v:9.4f}" for v in rows[:, 1:6].mean(axis=0))
        print(f"{name:34} {truth:7.4f} {means}   {covered:.2f}  {width:.3f}")
    rows = np.concatenate(list(results.values()))
    summary("all", rows)
    for low, high in ((0.0, 0.005), (0.005, 0.0501), (0.0501, 1.0)):
        summary(f"true share {low:g}-{high:.2g}", rows[(rows[:, 0] >= low) & (rows[:, 0] < high)])
    if part == "visible":
        for visible in sorted({name[:11] for name in results}):
            alike = [rows for name, rows in results.items() if name.startswith(visible)]
            summary(visible, np.concatenate(alike))


def summary(name, rows):
    if not len(rows):
        return
    error = np.abs(rows[:, 1:6] - rows[:, :1])
    relative = error / np.maximum(rows[:, :1], SMALLEST)
    held, width = rows[:, 6].mean(), rows[:, 7].mean()
    print(f"{name}: {len(rows)} draws; coverage {held:.3f}, width {width:.3f}")
    for place, method in enumerate(NAMES):
        print(
            f"    {method:10} error {error[:, place].mean():.4f}"
            f"  relative {relative[:, place].mean():.2f}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=12)
    parser.add_argument("--part", choices=list(PARTS))
    args = parser.parse_args()
    for part in PARTS if args.part is None else (args.part,):
        show(part, measure(part, args.draws))


if __name__ == "__main__":
    main()
