"""An evaluation as plain text for the terminal."""

import textwrap

from undercount.evaluation import Evaluation
from undercount.report import words

WIDTH = 100


def as_text(evaluation: Evaluation) -> str:
    """Write what was read and inferred, the table, and what it means."""
    parts = [_facts(evaluation), _table(evaluation), _meaning(evaluation), _checks(evaluation)]
    return "\n\n".join(part for part in parts if part)


def _line(name: str, text: str, indent: int = 19) -> str:
    first = f" {name:<{indent - 2}} "
    return textwrap.fill(
        text, WIDTH, initial_indent=first, subsequent_indent=" " * indent, break_long_words=False
    )


def _facts(evaluation: Evaluation) -> str:
    counts = evaluation.counts
    read = (
        f"{words.whole(counts.n_rows)} rows · labelled positive {words.whole(counts.n_positive)} · "
        f"unlabeled {words.whole(counts.n_unlabeled)}"
    )
    if counts.n_negative:
        read += f" · labelled negative {words.whole(counts.n_negative)}"
    taken = f"{evaluation.shares.sampling} · higher score = more positive · intervals for the "
    taken += "data set" if evaluation.target == "dataset" else "population"
    if evaluation.shares.label_purity < 1:
        taken += f" · label purity {words.percent(evaluation.shares.label_purity)}"
    return "\n".join(
        [
            _line("Read", read),
            _line("Taken", taken),
            _line("Hidden positives", words.hidden_words(evaluation) + " (share of the unlabeled)"),
        ]
    )


def _table(evaluation: Evaluation) -> str:
    level = f"{100 * evaluation.confidence_level:g} %"
    lines = [f" {'':<24}{'unlabeled = negative':>21}   {f'true value ({level})':<26}  needs"]
    for row in evaluation.rows:
        estimate = row.estimate
        value = f"{estimate.value:.3f} ({estimate.low:.3f} – {estimate.high:.3f})"
        needs = ", ".join(estimate.needs) or "nothing"
        if row.lower_bound is not None:
            needs += f"; at least {row.lower_bound:.3f} whatever it is"
        lines.append(f" {words.title(row):<24}{row.naive:>21.3f}   {value:<26}  {needs}")
    return "\n".join(lines + _flagged(evaluation))


def _flagged(evaluation: Evaluation) -> list[str]:
    precision = words.find(evaluation, "precision")
    if precision is None or precision.threshold is None:
        return []
    counts = evaluation.counts
    head = counts.score >= precision.threshold
    known = counts.positive[head].sum()
    flagged = known + counts.negative[head].sum() + counts.unlabeled[head].sum()
    if flagged == 0:
        return [" flagged                 no rows: nothing scores that high"]
    real = precision.estimate
    text = (
        f"{words.whole(flagged)} rows ({words.percent(flagged / counts.n_rows)}) · about "
        f"{flagged * real.value:,.0f} real "
        f"({flagged * real.low:,.0f} – {flagged * real.high:,.0f}), "
        f"{words.whole(known)} of them already known"
    )
    return [f" {'flagged':<24}{text}"] if evaluation.shares.sampling == "single-sample" else []


def _meaning(evaluation: Evaluation) -> str:
    return "\n".join(
        [
            _line("In plain words", words.plain_words(evaluation)),
            _line("What would change", words.change_words(evaluation)),
            _line("Weakest link", words.weakest_link(evaluation)),
        ]
    )


def _checks(evaluation: Evaluation) -> str:
    bad = [check for check in evaluation.checks if check.level in ("warn", "fail")]
    return "\n".join(
        _line(f"{check.code} {check.level}", f"{check.message}. {check.advice}") for check in bad
    )
