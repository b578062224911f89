"""An evaluation as plain text for the terminal."""

import textwrap

from undercount.count.arrays import amount, row_words
from undercount.read.evaluation import Evaluation
from undercount.show import words

WIDTH = 100


def as_text(evaluation: Evaluation) -> str:
    """Write what was read and inferred, the table, and what it means."""
    parts = [_facts(evaluation), _table(evaluation), _meaning(evaluation), _checks(evaluation)]
    return "\n\n".join(part for part in parts if part)


def line(name: str, text: str, indent: int = 19) -> str:
    """Write a name and a text, wrapped beside it."""
    first = f" {name:<{indent - 2}} "
    return textwrap.fill(
        text, WIDTH, initial_indent=first, subsequent_indent=" " * indent, break_long_words=False
    )


def _facts(evaluation: Evaluation) -> str:
    counts = evaluation.counts
    read = (
        f"{row_words(counts.n_rows, weighted=counts.weighted)} · labelled positive "
        f"{amount(counts.n_positive)} · unlabeled {amount(counts.n_unlabeled)}"
    )
    if counts.n_negative:
        read += f" · labelled negative {amount(counts.n_negative)}"
    taken = f"{evaluation.shares.sampling} · higher score = more positive · intervals for the "
    taken += "data set" if evaluation.target == "dataset" else "population"
    if evaluation.shares.label_purity < 1:
        taken += f" · label purity {words.percent(evaluation.shares.label_purity)}"
    return "\n".join(
        [
            line("Read", read),
            line("Taken", taken),
            line("Hidden positives", words.hidden_words(evaluation)),
        ]
    )


def _table(evaluation: Evaluation) -> str:
    level = f"{100 * evaluation.confidence_level:g} %"
    width = max(18, *(len(words.title(row)) for row in evaluation.rows))
    # Negative values are longer; two spaces keep the columns apart.
    span = max(24, *(len(words.value_words(row.estimate)) + 2 for row in evaluation.rows))
    bounded = any(row.lower_bound is not None for row in evaluation.rows)
    least = f"{'at least':<10}" if bounded else ""
    lines = [
        f" {'':<{width}}{'unlabeled = negative':>22}  {f'true value ({level})':<{span}}{least}needs"
    ]
    for row in evaluation.rows:
        value, bound = words.value_words(row.estimate), words.bound_words(row)
        needs = ", ".join(row.estimate.needs) or "nothing"
        least = f"{bound:<10}" if bounded else ""
        naive = words.number(row.naive)
        lines.append(f" {words.title(row):<{width}}{naive:>22}  {value:<{span}}{least}{needs}")
    return "\n".join(lines + _flagged(evaluation, width) + _bound_note(evaluation))


def _bound_note(evaluation: Evaluation) -> list[str]:
    """Explain the column of bounds."""
    if all(row.lower_bound is None for row in evaluation.rows):
        return []
    text = "at least: the value if no positive were hidden; more hidden ones only raise it"
    if any(row.lower_bound is not None and not row.certain for row in evaluation.rows):
        text += " (~ apart from the chance of the labels)"
    return [textwrap.fill(text, WIDTH, initial_indent=" ", subsequent_indent=" ")]


def _flagged(evaluation: Evaluation, width: int) -> list[str]:
    precision = words.find(evaluation, "precision")
    if precision is None or precision.threshold is None:
        return []
    counts = evaluation.counts
    head = counts.score >= precision.threshold
    known = counts.positive[head].sum()
    flagged = known + counts.negative[head].sum() + counts.unlabeled[head].sum()
    if flagged == 0:
        return [f" {'flagged':<{width}}  no rows: nothing scores that high"]
    found = precision.estimate
    real, low, high = (
        amount(part) if counts.weighted else f"{part:,.0f}"
        for part in (flagged * found.value, flagged * found.low, flagged * found.high)
    )
    text = (
        f"{row_words(flagged, weighted=counts.weighted)} "
        f"({words.percent(flagged / counts.n_rows)}) · about {real} real ({low} – {high}), "
        f"{amount(known)} of them already known"
    )
    return (
        [f" {'flagged':<{width}}  {text}"] if evaluation.shares.sampling == "single-sample" else []
    )


def _meaning(evaluation: Evaluation) -> str:
    return "\n".join(
        [
            line("In plain words", words.plain_words(evaluation)),
            line("What would change", words.change_words(evaluation)),
            line("Weakest link", words.weakest_link(evaluation)),
        ]
    )


def _checks(evaluation: Evaluation) -> str:
    """List what was found, but for the first, which is the weakest link."""
    bad = [check for check in evaluation.checks if check.level in ("fail", "warn")]
    bad.sort(key=lambda check: check.level != "fail")
    return "\n".join(
        line(f"{check.code} {check.level}", words.check_words(check)) for check in bad[1:]
    )
