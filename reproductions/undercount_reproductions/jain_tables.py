"""Jain et al. (2017), Tables 1 and 2 and Figure 2: recovery on twelve data sets."""

from typing import Any

import numpy as np

import undercount as uc
from undercount_reproductions.drawing import Box, Panel
from undercount_reproductions.jain_draws import (
    ABSOLUTE,
    BAGS,
    PAPER,
    all_draws,
    bags_of,
    missing,
)
from undercount_reproductions.published import published
from undercount_reproductions.result import Result
from undercount_reproductions.running import Draw, Request, column

ESTIMATES = {
    "auc": ("PU", "IR", "DR", "IE", "DE", "IK", "DK", "IC", "DC"),
    "pr": ("PU", "IR", "IE", "IK", "IC"),
}
OURS = "KC"
TITLES = {"auc": "AUC", "pr": "area under precision and recall"}
BINS = {"< .1": (0.0, 0.1), ".1 to .2": (0.1, 0.2), "> .2": (0.2, np.inf)}
TRUTH = (
    "'publ.' errors are against the AUC of another model, trained on all classes; ours are against "
    "the truth of the same scores, which is what a recovery can hope to find, so ours may be "
    "smaller for that reason alone."
)
LETTERS = (
    "I is Algorithm 1, D is eq. 4, both set to 1 where eq. 4 gives more, as in the paper; R with "
    "the real shares, E with those by AlphaMax-N as in the paper, K by NoisyComposition (the same "
    "two runs with KM1), C by NoisyConsensus, which was trained on simulated problems and on no "
    "real data. e is the mean absolute error of κ - α."
)
DATA = (
    "Gas has 3,095 of 5,574 rows here, and Bank other columns than the paper's 13, which it does "
    "not name."
)


def table1(request: Request) -> Result:
    """Reproduce Table 1: errors of the recovered AUC."""
    return _table(request, "columns1", "auc", "mean absolute errors of the AUC")


def table2(request: Request) -> Result:
    """Reproduce Table 2: errors of the recovered area under precision and recall."""
    title = "mean absolute errors of the area under precision and recall"
    return _table(request, "columns2", "pr", title)


def _table(request: Request, key: str, kind: str, title: str) -> Result:
    printed, names = published(PAPER), ESTIMATES[kind]
    theirs = [name for name in names if name[-1] not in OURS]
    gaps = ("gap E", "gap K", "gap C")
    rows: list[Any] = []
    for line, draws in zip(printed[f"table{key[-1]}"], all_draws(request), strict=True):
        cell = dict(zip(printed[key], line, strict=True))
        values = [cell[name] for name in theirs]
        head = (cell["data"], cell["label_purity"])
        if draws is None:
            rows.append((*head, None, cell["auc"], *[None] * (len(names) + len(gaps)), *values))
            continue
        errors = [np.abs(column(draws, f"{kind} {name}")).mean() for name in names]
        errors += [np.abs(column(draws, name)).mean() for name in gaps]
        truth = column(draws, f"{kind} truth").mean()
        rows.append((*head, *(float(value) for value in (truth, cell["auc"], *errors)), *values))
    with_data = [row for row in rows if row[2] is not None]
    if with_data:
        means = [float(np.mean(values)) for values in list(zip(*with_data, strict=True))[2:]]
        rows.append(("mean", None, *means))
    columns = ("data", "purity", "our truth", "publ. truth", *names, "e of E", "e of K", "e of C")
    columns += tuple(f"publ. {name}" for name in theirs)
    return _result(request, title, columns, rows)


def known(request: Request) -> Result:
    """Compare errors with known shares with what their standard errors predict."""
    rows: list[Any] = []
    for line, draws in zip(published(PAPER)["table1"], all_draws(request), strict=True):
        head = (line[0], line[2])
        if draws is None:
            rows.append((*head, *[None] * 8))
            continue
        predicted = ABSOLUTE * column(draws, "standard error")
        bagged = _calibration(column(draws, "known"), None, predicted)
        fresh = column(draws, "fresh miss"), column(draws, "fresh predicted")
        rows.append((*head, *bagged, *_calibration(column(draws, "fresh error"), *fresh)))
    with_data = [row for row in rows if row[2] is not None]
    if with_data:
        rows.append(("mean", None, *_over_settings(with_data)))
    bar = ("bias", "t", "mean error", "predicted")
    columns = ("data", "purity", *bar, *(f"fresh {name}" for name in bar))
    notes = (
        (
            "Eq. 4 with the real shares, not clipped, against the AUC of all rows by the same "
            "scores. 'mean error' is absolute, 'predicted' is √(2/π) times the mean standard error."
        ),
        (
            "The standard error takes scores as fixed. Out-of-bag scores are not: the labels that "
            "judge them have trained the other networks. Where chance put many labels into one "
            "corner, they raise each other's scores, so that errors spread more than the standard "
            "error says. 'fresh' judges single networks on the rows out of their own bag, whose "
            "labels had no part in training."
        ),
        *_tests(with_data),
    )
    return _result(request, "errors with known shares", columns, rows, notes)


def _calibration(errors: Any, misses: Any, predicted: Any) -> tuple[float, float, float, float]:
    misses = np.abs(errors) if misses is None else misses
    spread = errors.std(ddof=1) / np.sqrt(len(errors)) if len(errors) > 1 else np.nan
    found = (errors.mean(), errors.mean() / spread, misses.mean(), np.nanmean(predicted))
    bias, t, mean, expected = (float(value) for value in found)
    return bias, t, mean, expected


def _over_settings(rows: list[Any]) -> list[float]:
    values = np.array([row[2:] for row in rows], dtype=float)
    means = values.mean(axis=0)
    for first in (0, 4):  # t of the mean over settings, which are the independent experiments here
        spread = values[:, first].std(ddof=1) / np.sqrt(len(rows)) if len(rows) > 1 else np.nan
        means[first + 1] = means[first] / spread
    return [float(value) for value in means]


def _tests(rows: list[Any]) -> list[str]:
    if not rows:
        return []
    values = np.array([row[2:] for row in rows], dtype=float)
    notes = []
    for first, name in ((0, "Out-of-bag scores"), (4, "Fresh rows")):
        bias, t, mean, predicted = values[:, first : first + 4].T
        high = int((bias > 0).sum())
        p = min(
            1.0, 2 * uc.theory.sign_test(max(high, len(bias) - high), min(high, len(bias) - high))
        )
        notes.append(
            f"{name}: errors {mean.mean():.4f}, predicted {predicted.mean():.4f}, ratio "
            f"{mean.mean() / predicted.mean():.3f} (median over settings "
            f"{np.median(mean / predicted):.3f}); mean bias {bias.mean():+.4f}, positive in {high} "
            f"of {len(bias)} settings (two-sided sign test p = {p:.2g}), |t| > 2 in "
            f"{int((np.abs(t) > 2).sum())}."  # noqa: PLR2004 - about the 95 % level
        )
    return notes


def figure2(request: Request) -> Result:
    """Reproduce Figure 2: distribution of errors by purity, and by the error of κ - α."""
    lines = published(PAPER)["table1"]
    found = [
        (line[2], draw)
        for line, draws in zip(lines, all_draws(request), strict=True)
        for draw in draws or []
    ]
    groups: dict[str, dict[str, Any]] = {"purity": {}, "error of κ - α": {}}
    for purity, draw in found:
        groups["purity"].setdefault(f"{purity:g}", {}).setdefault("", []).append(draw)
        for kind in ("E", "K", "C"):
            size = next(name for name, (_, end) in BINS.items() if abs(draw[f"gap {kind}"]) < end)
            groups["error of κ - α"].setdefault(size, {}).setdefault(kind, []).append(draw)
    rows, panels = [], []
    for area, names in ESTIMATES.items():
        for by, members in groups.items():
            for value in sorted(members, key=lambda v: list(BINS).index(v) if v in BINS else 0):
                chosen = members[value]
                boxes = [b for name in names if (b := _box(area, name, chosen))]
                rows += [(area, by, value, box.label, box.mean, *box.five) for box in boxes]
                panels.append(Panel(f"{area}: {by} {value}", "", "error", boxes=tuple(boxes)))
    columns = ("area", "by", "value", "estimate", "mean", "least", "25 %", "median", "75 %", "most")
    notes = (
        (
            "The figure prints no numbers. Errors by the error of κ - α show E, K and C where "
            "their own estimate of it falls; PU and R, which need none, by that of AlphaMax-N."
        ),
    )
    title = "distribution of errors by purity and by the error of κ - α"
    return _result(request, title, columns, rows, notes, tuple(panels))


def _box(area: str, name: str, groups: dict[str, list[Draw]]) -> Box | None:
    draws = groups.get("", groups.get(name[-1] if name[-1] in OURS else "E", []))
    return Box.of(name, column(draws, f"{area} {name}")) if draws else None


def our_tests(request: Request) -> list[tuple[Any, ...]]:
    """Count in how many settings of our draws indirect recovery is nearer than direct."""
    settings = [draws for draws in all_draws(request) if draws]
    rows: list[tuple[Any, ...]] = []
    for kind in "REKC" if settings else "":
        errors = {
            way: np.array([np.abs(column(d, f"auc {way}{kind}")).mean() for d in settings])
            for way in "ID"
        }
        better = errors["I"] - errors["D"]
        wins, losses = int((better < 0).sum()), int((better > 0).sum())
        ties = len(settings) - wins - losses
        name = f"ours: I{kind} against D{kind}"
        p = uc.theory.sign_test(wins, losses, ties=ties)
        rows.append((name, wins, losses, ties, None, None, None, p, None))
    return rows


def _result(
    request: Request,
    title: str,
    columns: tuple[str, ...],
    rows: list[Any],
    notes: tuple[str, ...] = (),
    panels: tuple[Panel, ...] = (),
) -> Result:
    absent, bags = missing(request), bags_of(request)
    networks = (
        f"Networks of 5 hidden units (20 steps of L-BFGS, not resilient propagation until a "
        f"validation set stops it), {bags} bags a draw (published {BAGS}), which draw labelled and "
        "unlabeled rows apart; mean ranks out of bag."
    )
    notes = (*notes, TRUTH, LETTERS, networks, DATA)
    if absent:
        rest = "means are over the others."
        notes += (f"Not run, since no data were given: {', '.join(absent)}; {rest}",)
    item, runs, seed = request.item, request.runs, request.seed
    return Result(PAPER, item, title, columns, tuple(rows), notes, runs, seed, panels)
