"""A comparison as one self-contained page without scripts; drawings are made here."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from markupsafe import Markup

from undercount import __version__
from undercount.count.arrays import amount, row_words
from undercount.count.atomic_file import write_text
from undercount.curve import FloatArray
from undercount.read.compare.compare import Comparison
from undercount.read.evaluation import Evaluation
from undercount.show.comparison import (
    TARGET_WORDS,
    gap_words,
    level_words,
    needs_words,
    threshold_notes,
    told_words,
    verdict_words,
    workload_notes,
)
from undercount.show.comparison_tables import html_table, named_tables
from undercount.show.displays import CurveDisplay, PrecisionRecallDisplay, RocDisplay
from undercount.show.page.axes import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    Scale,
    draw_axes,
    write_place,
)
from undercount.show.page.page import load_template, policy_hash, read_asset
from undercount.show.spoken import metric_title
from undercount.show.text import hidden_words

# Points of a curve at most, and the height of a bar of the differences.
PAGE_POINTS, ROW_HEIGHT = 160, 34
ROOM = 0.05
COLOURS = 6
RANGE_WORDS = "{} intervals: labels and scores leave the share of hidden positives open"


def write_comparison(comparison: Comparison, path: str | Path) -> None:
    """Write the page, whole or not at all."""
    write_text(path, as_comparison_page(comparison))


def as_comparison_page(comparison: Comparison) -> str:
    """Return the page; everything a user named is escaped."""
    style = read_asset("style.css") + read_asset("comparison.css")
    first = next(iter(comparison.evaluations.values()))
    counts, names = first.counts, list(comparison.evaluations)
    metrics = dict.fromkeys([comparison.rank_by, *(d.metric for d in comparison.differences)])
    turning = [m for m in metrics if comparison.difference(m).depends_on_prevalence]
    told = told_words(comparison.difference(comparison.rank_by), first.basis)
    # What the order would be at another share matters only where the share is free to move.
    swept = [] if told or first.basis.determined_by else [comparison.rank_by, *turning]
    return load_template("comparison.html.jinja").render(
        names=names,
        verdict=verdict_words(comparison),
        needs=needs_words(comparison),
        read=f"{row_words(counts.n_rows, weighted=counts.weighted)}, "
        f"{amount(counts.n_positive)} labelled positive",
        question=TARGET_WORDS[comparison.question],
        hidden=hidden_words(first, claiming=False),
        level=level_words(comparison),
        tables=[html_table(title, table) for title, table in named_tables(comparison)],
        notes=[*threshold_notes(comparison), *workload_notes(comparison)],
        bars=[
            (f"By {metric_title(comparison.rank_by)}", draw_bars(comparison, same_workload=False)),
            *_same_work(comparison),
        ],
        swept=[
            (
                metric_title(metric),
                comparison.leaderboard(metric)[0].name,
                draw_across_shares(comparison, metric),
            )
            for metric in dict.fromkeys(swept)
        ],
        open=first.unknowns.range_only,
        curves=RANGE_WORDS.format(level_words(comparison))
        if first.unknowns.range_only
        else "recovered",
        ranged=first.shares.unlabeled_prevalence_interval is not None,
        fixed=[] if told else [metric_title(m) for m in metrics if m not in turning],
        told=told,
        **draw_both_curves(comparison.evaluations),
        colours=COLOURS,
        version=__version__,
        style=Markup(style),  # noqa: S704 - ours, not a user's
        hash=policy_hash(style),
    )


def _drawing(parts: list[Markup], height: int, words: str) -> Markup:
    return Markup('<svg viewBox="0 0 480 {}" role="img" aria-label="{}">{}</svg>').format(
        height, words, Markup("").join(parts)
    )


def _path(across: Scale, up: Scale, x: FloatArray, y: FloatArray) -> str:
    """Draw a line; a value that does not exist leaves a gap."""
    kept = np.unique(np.linspace(0, len(x) - 1, min(PAGE_POINTS, len(x))).astype(int))
    words, pen = [], "M"
    for u, v in zip(across(x[kept]), up(y[kept]), strict=True):
        if np.isnan(u) or np.isnan(v):
            pen = "M"
            continue
        words.append(f"{pen}{u:.1f} {v:.1f}")
        pen = "L"
    return "".join(words)


def _same_work(comparison: Comparison) -> list[tuple[str, Markup]]:
    """Draw the bars of equal work, unless nothing tells how models differ there."""
    if comparison.workload is None or comparison.workload.by_verdicts:
        return []
    size = amount(comparison.workload.size)
    title = f"By the precision of the {size} highest rows"
    return [(title, draw_bars(comparison, same_workload=True))]


def draw_bars(comparison: Comparison, *, same_workload: bool) -> Markup:
    """Draw how much each model lacks to the best, with its interval, and 0."""
    standings = comparison.leaderboard(same_workload=same_workload)
    gaps = [s.behind.difference for s in standings if s.behind is not None]
    ends = [v for g in gaps for v in (g.low, g.high, 0.0) if np.isfinite(v)] or [0.0]
    room = ROOM * (max(ends) - min(ends)) or ROOM
    bottom = TOP + ROW_HEIGHT * len(standings)
    across = Scale(min(ends) - room, max(ends) + room, LEFT, RIGHT)
    parts = draw_axes(
        across, Scale(0, 1, bottom, TOP), "the best minus this model", "", bottom + 44
    )
    zero = write_place(across(0.0))
    parts.append(
        Markup('<line x1="{}" x2="{}" y1="{}" y2="{}" class="zero"/>').format(
            zero, zero, TOP, bottom
        )
    )
    names = list(comparison.evaluations)
    for place, standing in enumerate(standings):
        y, k = TOP + ROW_HEIGHT * (place + 0.5), names.index(standing.name)
        parts.append(
            Markup('<text x="{}" y="{}" class="end">{}</text>').format(LEFT - 18, y + 4, k + 1)
        )
        words = f"{standing.name}: the best"
        spot = across(0.0)
        if standing.behind is not None:
            gap = standing.behind.difference
            words = f"{standing.name}: {gap_words(standing.behind)}"
            spot = np.nan if gap.range_only else across(gap.value)
            if np.isfinite([gap.low, gap.high]).all():
                parts.append(
                    Markup('<line x1="{}" x2="{}" y1="{}" y2="{}" class="bar-line m{}"/>').format(
                        write_place(across(gap.low)),
                        write_place(across(gap.high)),
                        y,
                        y,
                        k % COLOURS,
                    )
                )
        if np.isfinite(spot):
            parts.append(
                Markup(
                    '<circle cx="{}" cy="{}" r="6" class="dot m{}"><title>{}</title></circle>'
                ).format(write_place(spot), y, k % COLOURS, words)
            )
    return _drawing(parts, bottom + 44, "How much each model lacks to the best, with intervals")


def draw_across_shares(comparison: Comparison, metric: str) -> Markup:
    """Draw the difference of every model to the best along the share of hidden positives."""
    values = comparison.across_shares(metric)
    shares = 100 * values.pop("unlabeled_prevalence")
    best = comparison.leaderboard(metric)[0].name
    gaps = {name: values[best] - curve for name, curve in values.items() if name != best}
    every = np.concatenate([*gaps.values(), [0.0]])
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    room = ROOM * (high - low) or ROOM
    across = Scale(0.0, float(shares[-1]) or 1.0, LEFT, RIGHT)
    up = Scale(low - room, high + room, BOTTOM, TOP)
    x_name = "% of the unlabeled rows that are positive"
    first = next(iter(comparison.evaluations.values()))
    held, y_name = first.shares, "the best here minus each"
    if first.unknowns.range_only:  # then no share is in use
        y_name = "the first minus each"
    parts = draw_axes(across, up, x_name, y_name, HEIGHT)
    span = held.unlabeled_prevalence_interval
    if span is not None:
        left, right = (float(across(100 * v)) for v in (span.low, min(span.high, shares[-1] / 100)))
        parts.append(
            Markup('<rect x="{}" y="{}" width="{}" height="{}" class="given"/>').format(
                write_place(left), TOP, write_place(max(right - left, 0.0)), BOTTOM - TOP
            )
        )
    now, zero = write_place(across(100 * held.unlabeled_prevalence)), write_place(up(0.0))
    if not first.unknowns.range_only:
        parts.append(Markup('<path d="M{} {}V{}" class="cut"/>').format(now, BOTTOM, TOP))
    parts.append(Markup('<path d="M{} {}H{}" class="zero"/>').format(LEFT, zero, RIGHT))
    names = list(comparison.evaluations)
    parts += [
        _curve(_path(across, up, shares, gap), names.index(name), f"{best} minus {name}")
        for name, gap in gaps.items()
    ]
    return _drawing(parts, HEIGHT, f"Difference in {metric_title(metric)} against the hidden share")


def draw_both_curves(evaluations: Mapping[str, Evaluation]) -> dict[str, Markup]:
    """Draw ROC and precision against recall of all models."""
    return {
        "roc": draw_curves(evaluations, "fpr", "tpr", "false-positive rate", "recall"),
        "precision": draw_curves(evaluations, "tpr", "precision", "recall", "precision"),
    }


def draw_curves(
    evaluations: Mapping[str, Evaluation], x: str, y: str, x_name: str, y_name: str
) -> Markup:
    """Draw a curve of all models over each other."""
    across, up = Scale(0.0, 1.0, LEFT, RIGHT), Scale(0.0, 1.0, BOTTOM, TOP)
    parts = draw_axes(across, up, x_name, y_name, HEIGHT)
    for place, (name, evaluation) in enumerate(evaluations.items()):
        if evaluation.unknowns.range_only:  # a curve would show one share as if it were known
            display = PrecisionRecallDisplay if y == "precision" else RocDisplay
            parts.append(_band(across, up, display.from_evaluation(evaluation), place))
            continue
        curve = evaluation.curve
        if x == "fpr" and len(evaluations) == 1 and evaluation.recovery.roc_band is not None:
            parts.append(_band(across, up, RocDisplay.from_evaluation(evaluation), place))
        points = np.clip([getattr(curve, x), getattr(curve, y)], 0.0, 1.0)
        if y == "precision":  # there is none where nothing is flagged
            points = points[:, np.argsort(points[0], kind="stable")]
            points = points[:, points[0] > 0]
        else:  # by chance recovered rates go up and down along the thresholds
            points[1] = np.maximum.accumulate(points[1])
        parts.append(_curve(_path(across, up, *points), place, name))
    return _drawing(parts, HEIGHT, f"{y_name} against {x_name} of every model")


def _band(across: Scale, up: Scale, display: CurveDisplay, place: int) -> Markup:
    """Draw what intervals leave possible."""
    x, low, high = display.band().values()
    path = f"{_path(across, up, x, high)}L{_path(across, up, x[::-1], low[::-1])[1:]}Z"
    return Markup('<path d="{}" class="band m{}"><title>{}</title></path>').format(
        path, place % COLOURS, display.name
    )


def _curve(path: str, place: int, name: str) -> Markup:
    dashed = " dashed" if place >= COLOURS else ""
    return Markup('<path d="{}" class="line m{}{}"><title>{}</title></path>').format(
        path, place % COLOURS, dashed, name
    )
