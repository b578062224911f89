"""What every estimator says of the share of hidden positives, side by side."""

import json
import textwrap
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import click

from undercount import prevalence
from undercount.count.atomic_file import write_text
from undercount.counts import ScoreCounts
from undercount.errors import InputError
from undercount.show.words import percent

# The default first, then by measured error; the rest as references of the papers.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "Consensus": ("Consensus", {}),
    "DEDPUL": ("Dedpul", {}),
    "BBE": ("BestBin", {}),
    "KM1": ("KernelMean", {"variant": "KM1"}),
    "KM2": ("KernelMean", {"variant": "KM2"}),
    "ROC slope": ("RocSlope", {}),
    "Patra-Sen": ("PatraSen", {}),
    "AlphaMax": ("AlphaMax", {}),
    "DistCurve": ("DistCurve", {}),
}
# Answers agree if they are this close, and within this factor of each other.
AGREEMENT, FACTOR = 0.05, 1.5


@dataclass(frozen=True)
class EstimatorRow:
    """Hold one method's answer, or why it has none."""

    method: str
    value: float | None
    low: float | None
    high: float | None
    upper_bound: float | None
    seconds: float
    note: str = ""


def estimator_table(
    counts: ScoreCounts,
    confidence_level: float,
    random_state: int,
    sampling: str = "single-sample",
) -> list[EstimatorRow]:
    """Fit every score method; one that cannot work says why."""
    counts.require("positive", "unlabeled")
    methods = dict(METHODS)
    if counts.n_negative > 0:
        methods["two labels"] = ("TwoLabels", {})
    options: dict[str, Any] = {"sampling": sampling, "random_state": random_state}
    options["confidence_level"] = confidence_level
    return [
        _fitted(name, getattr(prevalence, home)(**more, **options), counts)
        for name, (home, more) in methods.items()
    ]


def _fitted(name: str, method: Any, counts: ScoreCounts) -> EstimatorRow:
    started = time.process_time()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            method.fit(counts)
    except InputError as error:
        seconds = time.process_time() - started
        return EstimatorRow(name, None, None, None, None, seconds, str(error))
    seconds = time.process_time() - started
    interval, bound = method.interval_, getattr(method, "upper_bound_", None)
    low, high = (interval.low, interval.high) if interval is not None else (None, None)
    note = "; ".join(str(warning.message) for warning in caught[:1])
    return EstimatorRow(name, method.unlabeled_prevalence_, low, high, bound, seconds, note)


def refuse_unanswered(rows: Sequence[EstimatorRow], name: str = "") -> None:
    """Raise if no method has an answer: the one reason, or each with its methods."""
    if any(row.value is not None for row in rows):
        return
    reasons: dict[str, list[str]] = {}
    for row in rows:
        reasons.setdefault(row.note, []).append(row.method)
    told = "; ".join(f"{', '.join(methods)}: {note}" for note, methods in reasons.items())
    words = (
        next(iter(reasons)) if len(reasons) == 1 else f"no method could work on these rows; {told}"
    )
    raise InputError(f"{name}: {words}" if name else words)


def print_estimators(
    tables: Mapping[str, Sequence[EstimatorRow]], notes: Sequence[str], options: dict[str, Any]
) -> None:
    """Print the tables and the advice, or write them as JSON."""
    if options["json_file"]:
        facts = {name: [asdict(row) for row in rows] for name, rows in tables.items()}
        write_text(options["json_file"], json.dumps(facts, indent=1) + "\n")
    if options["quiet"] or options["json_file"] == "-":
        return
    for note in notes:
        click.echo(f" {note}")
    for name, rows in tables.items():
        click.echo(f"\n {name}: share of positives among the unlabeled rows")
        click.echo(f" {'method':<12}{'estimate':>9}   {'interval':<19}{'at most':>9}{'seconds':>9}")
        for row in rows:
            click.echo(_line(row))
        click.echo(" Consensus, which evaluate uses, weighs the others. At most: an upper bound.")
        click.echo(_wrapped(advice(rows)))
        for warning in dict.fromkeys(row.note for row in rows if row.value is not None):
            if warning:
                click.echo(_wrapped(f"Warning: {warning}."))


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 100, initial_indent=" ", subsequent_indent=" ")


def _line(row: EstimatorRow) -> str:
    if row.value is None:
        return f" {row.method:<12}{'–':>9}   {row.note}"
    span = (
        f"{percent(row.low)} – {percent(row.high)}"
        if row.low is not None and row.high is not None
        else ""
    )
    bound = percent(row.upper_bound) if row.upper_bound is not None else ""
    return f" {row.method:<12}{percent(row.value):>9}   {span:<19}{bound:>9}{row.seconds:>9.2f}"


def advice(rows: Sequence[EstimatorRow]) -> str:
    """Say whether the methods agree and what to do."""
    answered = [row for row in rows if row.value is not None]
    low, high = (pick(answered, key=lambda row: row.value or 0.0) for pick in (min, max))
    least, most = low.value or 0.0, high.value or 0.0
    words = f"Answers run from {percent(least)} ({low.method}) to {percent(most)} ({high.method})"
    spread = most - least
    if spread <= AGREEMENT and most <= FACTOR * least:
        words += ": the methods agree."
    elif spread <= AGREEMENT:
        words += (
            ": close on the whole scale, but precision and F1 move about as much as the share "
            "itself. Verify a random sample of unlabeled rows if they matter."
        )
    else:
        words += (
            ": the scores do not settle the question. Verify a random sample of unlabeled rows."
        )
    return words + (
        " None of them sees labels that are not random, or negatives that look just like positives."
    )
