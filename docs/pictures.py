"""Draw the pictures of the documentation: python docs/pictures.py writes docs/images/*.svg."""

import pathlib
import re
import sys
import textwrap

import matplotlib as mpl
import numpy as np
from scipy.stats import norm

import undercount as uc
from undercount.cli.demo import evaluate_fraud, find_truth, review_fraud
from undercount.cli.guide import NO_QUESTION_FITS, QUESTIONS
from undercount.data.fraud import simulate_fraud
from undercount.theory.simulation import simulate_own_score

mpl.use("svg")
mpl.rcParams.update({
    "svg.hashsalt": "undercount",  # the same bytes each time
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#808080",  # legible on white and on black
    "axes.labelcolor": "#808080",
    "axes.titlecolor": "#808080",
    "text.color": "#808080",
    "xtick.color": "#808080",
    "ytick.color": "#808080",
    "savefig.transparent": True,
    "legend.frameon": False,
})
from matplotlib import pyplot as plt  # noqa: E402 - after its backend was chosen

IMAGES = pathlib.Path(__file__).parent / "images"
NAIVE, OURS, TRUTH, REVIEWED = "#e07b00", "#3b8bd6", "#808080", "#2e9e6b"


def save(figure, name):
    figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")
    plt.close(figure)


def sample(seed, n=4000, share=0.05, found=0.3, strength=2.6):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    y = (truth & (rng.random(n) < found)).astype(int)
    return truth, y, rng.normal(strength * truth)


def draw_problem():
    """The demo's precision: naive, from labels and scores alone, after reviews, and the truth."""
    evaluations, _ = evaluate_fraud()
    truth = find_truth(evaluations)[0][0][[r.metric for r in evaluations[0].rows].index("precision")]
    naive = float(evaluations[0].naive_curve.at(0.5).precision)
    alone, reviewed = evaluations[0]["precision"], review_fraud()["precision"]
    figure, ax = plt.subplots(figsize=(5.4, 2.7))
    ax.axvline(truth, color=TRUTH, ls="--", lw=1.5)
    ax.text(truth + 0.01, 3.75, f"the truth: {truth:.2f}", fontsize=11)
    ax.plot(naive, 3, "X", color=NAIVE, ms=11)
    ax.text(naive + 0.04, 3, f"{naive:.2f}", va="center", color=NAIVE, fontsize=13)
    for place, estimate, colour in ((2, alone, OURS), (1, reviewed, REVIEWED)):
        ax.plot([estimate.low, estimate.high], [place, place], color=colour, lw=6, alpha=0.5)
        words = f"{estimate.value:.2f}"
        if estimate.range_only:  # labels and scores point to no value
            words = f"{estimate.low:.2f} – {estimate.high:.2f}"
        ax.plot(estimate.value, place, "o", color=colour, ms=10)
        ax.text(
            estimate.low - 0.02, place, words,
            va="center", ha="right", color=colour, fontsize=13,
        )
    rows = ("unlabeled = negative", "from labels and scores alone", "after 60 reviews")
    for place, words in zip((3, 2, 1), rows, strict=True):
        ax.text(0, place + 0.33, words, fontsize=11)
    ax.set(xlim=(0, 1.02), ylim=(0.5, 4), yticks=[], xlabel="precision of a fraud model's alarms")
    ax.spines["left"].set_visible(False)
    save(figure, "problem")


def draw_reviews():
    columns = simulate_fraud()
    plan = uc.plan_reviews(
        columns["is_fraud"], columns["p_fraud"], unlabeled=0, budget=60, goal="precision", threshold=0.5
    )
    sizes = [n for n in plan.expected if n <= 500]
    half = [next(iter(plan.expected[n].values())) for n in sizes]
    figure, ax = plt.subplots(figsize=(6, 2.8))
    ax.plot(sizes, half, "o-", color=REVIEWED, label="reviews chosen by a plan")
    share = sum(columns["p_fraud"] >= 0.5) / len(columns["p_fraud"])
    random = 1.96 * np.sqrt(0.8 * 0.2 / (np.array(sizes) * share))
    ax.plot(sizes, np.minimum(random, 0.5), "o--", color=NAIVE, label="reviews of random rows")
    ax.set(xlabel="reviews", ylabel="precision ±", ylim=(0, 0.52))
    ax.legend(fontsize=9)
    save(figure, "reviews")


def draw_guide():
    """The questions of ``undercount guide``; what a yes leads to is its command without columns."""
    figure, ax = plt.subplots(figsize=(8.2, 6.4))
    asked = [
        (question.text, ", then ".join(_verb(command) for command in question.commands))
        for question in QUESTIONS
    ]
    asked[-1] = (asked[-1][0], f"{asked[-1][1]} (--prevalence, or estimated)")
    questions = [
        (len(asked) - place, _balanced(text), answer)
        for place, (text, answer) in enumerate(asked)
    ]
    for height, question, answer in questions:
        ax.text(0, height, question, ha="center", va="center", bbox={"boxstyle": "round,pad=.6", "fc": "none", "ec": "#808080"})
        ax.annotate("", (1.1, height), (0.92, height), arrowprops={"arrowstyle": "->", "color": REVIEWED})
        ax.text(1.01, height + 0.12, "yes", ha="center", fontsize=9, color=REVIEWED)
        ax.text(1.15, height, answer, va="center", color=OURS, family="monospace", fontsize=10)
        ax.annotate("", (0, height - 0.67), (0, height - 0.33), arrowprops={"arrowstyle": "->", "color": NAIVE})
        ax.text(0.04, height - 0.52, "no", fontsize=9, color=NAIVE)
    ax.text(0, 0, "Read what survives a bias", ha="center", va="center", bbox={"boxstyle": "round,pad=.6", "fc": "none", "ec": NAIVE})
    ax.text(1.15, 0, _verb(NO_QUESTION_FITS.commands[0]), va="center", color=OURS, family="monospace", fontsize=10)
    ax.set(xlim=(-0.9, 2.6), ylim=(-0.4, len(asked) + 0.5))
    ax.axis("off")
    save(figure, "guide")


def _balanced(text, most=38):
    """Break a question into as few lines as fit, all of much the same length."""
    n_lines = len(textwrap.wrap(text, most))
    fitting = (width for width in range(20, most + 1) if len(textwrap.wrap(text, width)) <= n_lines)
    return textwrap.fill(text, next(fitting))


def _verb(command):
    """Cut a command down to its verb and the options that answer: "evaluate --audited"."""
    words = re.sub(r" (DATA|--(label|score|threshold|budget|out) \S+)", "", command).split()[1:]
    return " ".join(word for word in words if not word.isupper() and not word.endswith(".csv"))


def draw_shares():
    figure, ax = plt.subplots(figsize=(7, 1.9))
    ax.barh(0, 12, color=OURS)
    ax.barh(0, 18, left=12, color=OURS, alpha=0.45)
    ax.barh(0, 70, left=30, color=TRUTH, alpha=0.25)
    for x, text in ((6, "labelled"), (21, "hidden\npositive"), (65, "negative")):
        ax.text(x, 0, text, ha="center", va="center", color="#202020" if x < 10 else None, fontsize=9)
    for y, start, part, whole, text in (
        (-0.75, 0, 30, 100, "prevalence = 30 of 100"),
        (-1.15, 12, 18, 88, "unlabeled_prevalence = 18 of 88"),
        (-1.55, 0, 12, 30, "label_frequency = 12 of 30"),
    ):
        ax.plot([start, start + whole], [y, y], color="#808080", lw=1)
        ax.plot([start, start + part], [y, y], color=OURS, lw=5, solid_capstyle="butt")
        ax.text(start + whole + 1, y, text, va="center", fontsize=9)
    ax.set(xlim=(-1, 150), ylim=(-1.8, 0.5))
    ax.axis("off")
    save(figure, "shares")


def draw_intervals():
    figure, ax = plt.subplots(figsize=(7, 3))
    held = 0
    for place in range(40):
        truth, y, score = sample(100 + place, n=2000, share=0.08, found=0.2)
        value = uc.metrics.precision(
            y, score, unlabeled=0, prevalence=float(truth.mean()), threshold=2.0
        )
        real = truth[score >= 2].mean()
        held += value.low <= real <= value.high
        ax.plot([place, place], [value.low, value.high], color=OURS, lw=2)
        ax.plot(place, y[score >= 2].mean(), "o", color=NAIVE, ms=3.5)
        ax.plot([place - 0.4, place + 0.4], [real, real], color=TRUTH, lw=2)
    ax.plot([], [], color=TRUTH, lw=2, label="truth")
    ax.plot([], [], color=OURS, lw=2, label=f"95 % interval: {held} of 40 hold it")
    ax.plot([], [], "o", color=NAIVE, ms=3.5, label="unlabeled = negative")
    ax.set(xlabel="sample", ylabel="precision", ylim=(0, 1.02))
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.18), ncols=3, fontsize=9)
    save(figure, "intervals")


def draw_mixture():
    figure, ax = plt.subplots(figsize=(7, 2.8))
    x = np.linspace(-3.5, 6, 400)
    unlabeled = 0.7 * norm.pdf(x) + 0.3 * norm.pdf(x, 2.5)
    ax.fill_between(x, unlabeled, color=TRUTH, alpha=0.25, label="unlabeled rows")
    ax.plot(x, norm.pdf(x, 2.5), "--", color=NAIVE, label="labelled rows")
    ax.plot(x, 0.3 * norm.pdf(x, 2.5), color=OURS, lw=2, label="labelled rows × 0.30: just fits")
    ax.plot(x, 0.45 * norm.pdf(x, 2.5), ":", color="#c0392b", label="× 0.45: does not fit")
    ax.set(xlabel="score", yticks=[])
    ax.legend(fontsize=9, loc="upper left")
    save(figure, "mixture")


def draw_gamma():
    truth, y, score = sample(3)
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0)
    shares = uc.Shares.from_prevalence(counts, float(truth.mean()))
    gammas = np.geomspace(1, 5, 25)
    bounds = [uc.biased_recall(counts, shares, g, threshold=1.8) for g in gammas]
    figure, ax = plt.subplots(figsize=(7, 2.8))
    ax.fill_between(
        gammas, [b.low for b in bounds], [b.high for b in bounds], color=OURS, alpha=0.35
    )
    ax.axhline(truth[score >= 1.8].sum() / truth.sum(), color=TRUTH, ls="--", lw=1)
    ax.set(xlabel="Γ: how much likelier some positives are labelled (odds)", ylabel="recall", ylim=(0, 1), xlim=(1, 5))
    ax.text(4.95, 0.04, "shaded: what recall may be; dashed: what it is", ha="right", fontsize=9)
    save(figure, "gamma")


def draw_selection():
    data = simulate_own_score(5000, 0.7, random_state=1)
    model = uc.SelectedLabels("own-score").fit(data.y, data.score)
    rows = uc.ScoreCounts.from_rows(data.truth, data.score)
    figure, ax = plt.subplots(figsize=(4.4, 4))
    for curve, colour, style, label in (
        (uc.labelled_curve(rows), TRUTH, ":", "all rows: the truth"),
        (model.curve, OURS, "-", "all rows: estimated"),
        (model.naive_curve, NAIVE, "--", "rows looked at"),
    ):
        ax.plot(curve.fpr[::10], curve.tpr[::10], style, color=colour, lw=2, label=label)
    ax.set(xlabel="false-positive rate", ylabel="true-positive rate")
    ax.legend(fontsize=9, loc="lower right")
    save(figure, "selection")


def draw_order():
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 2.8))
    truth, y, score = sample(5, n=20_000, share=0.2)
    other = score + np.random.default_rng(6).normal(0, 0.8, len(score))
    found = np.linspace(0.0, 0.15, 16)
    models = {"one": (score, OURS), "other": (other, NAIVE)}
    for name, (values, colour) in models.items():
        auc = [
            float(uc.metrics.roc_auc(y, values, unlabeled=0, unlabeled_prevalence=float(a)))
            for a in found
        ]
        left.plot(100 * found, auc, color=colour, label=name)
    for cut, colour in ((3.4, OURS), (1.4, NAIVE)):
        given = {"unlabeled": 0, "threshold": cut}
        f1 = [
            float(uc.metrics.f1(y, score, unlabeled_prevalence=float(a), **given)) for a in found
        ]
        right.plot(100 * found, f1, color=colour, label=f"cut at {cut}")
    left.set(ylabel="ROC AUC", xlabel="hidden positives, %", title="never crosses")
    right.set(ylabel="F1", xlabel="hidden positives, %", title="may cross")
    left.legend(fontsize=9)
    right.legend(fontsize=9)
    figure.tight_layout()
    save(figure, "order")


def draw_counts():
    figure, ax = plt.subplots(figsize=(9.5, 1.7))
    steps = ["rows\n(any engine)", "counts\nat each score", "curve\n+ prevalence", "numbers,\nintervals", "terminal,\npage, plot"]
    for place, text in enumerate(steps):
        ax.text(place, 0, text, ha="center", va="center", bbox={"boxstyle": "round,pad=.55", "fc": "none", "ec": OURS if place == 1 else "#808080", "lw": 2 if place == 1 else 1})
        if place:
            ax.annotate("", (place - 0.38, 0), (place - 0.6, 0), arrowprops={"arrowstyle": "->", "color": "#808080"})
    ax.text(0.5, -0.75, "stays where it is", ha="center", fontsize=9)
    ax.text(1, 0.62, "a few KB, adds up", ha="center", fontsize=9, color=OURS)
    ax.set(xlim=(-0.5, 4.5), ylim=(-1, 0.9))
    ax.axis("off")
    save(figure, "counts")


def draw_learners():
    rng = np.random.default_rng(2)
    truth = rng.random(500) < 0.3
    X = rng.normal(truth[:, None] * [1.8, 0.9], 1.0)
    y = np.where(truth & (rng.random(500) < 0.3), 1, -1)
    learner = uc.learn.PUAULClassifier(prevalence=0.3, random_state=0).fit(X, y)
    grid = np.stack(np.meshgrid(np.linspace(-3, 5, 60), np.linspace(-3, 4, 60)), -1)
    height = learner.decision_function(grid.reshape(-1, 2)).reshape(60, 60)
    figure, ax = plt.subplots(figsize=(5, 3.4))
    ax.contour(grid[..., 0], grid[..., 1], height, levels=7, cmap="Blues", linewidths=1)
    ax.plot(*X[y != 1].T, "o", color=TRUTH, alpha=0.35, ms=3, label="unlabeled")
    ax.plot(*X[y == 1].T, "o", color=OURS, ms=4, label="labelled")
    ax.set(xticks=[], yticks=[])
    ax.legend(fontsize=9)
    save(figure, "learners")


def main():
    """Draw all of them, or those that are named."""
    for name, draw in list(globals().items()):
        if name.startswith("draw_") and (name[5:] in sys.argv[1:] or len(sys.argv) == 1):
            draw()


if __name__ == "__main__":
    main()
