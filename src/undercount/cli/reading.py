"""From options to rows: which files are read, and how; what reads them is loaded only then."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from undercount.cli.command import progress
from undercount.errors import InputError

if TYPE_CHECKING:
    from undercount.cli.inputs import Reading, ScoredRows


def read(
    data: tuple[str, ...],
    options: dict[str, Any],
    knots: Sequence[float],
    *,
    compact: bool | None = True,
) -> "Reading":
    """Count what the options name, with a bar if it takes long."""
    from undercount.cli import inputs  # noqa: PLC0415 - DuckDB, only when needed
    from undercount.count.counts_file import is_counts_file  # noqa: PLC0415
    from undercount.count.sources import open_source  # noqa: PLC0415

    scores = list(options["scores"])
    with progress("reading", options) as tell:
        if options["positives"]:
            files = _two_files(data, options)
            return inputs.count_two_samples(*files, scores, knots=knots, compact=compact)
        if not data:
            raise InputError("name a file of scores and labels, or - for standard input")
        inputs.refuse_repeats(data)
        if options["label"] is None and not scores and all(map(is_counts_file, data)):
            _refuse(
                options,
                ("weight", "unlabeled", "negative"),
                "counts files",
                "what a label means and weighs was settled when they were counted",
            )
            return inputs.read_counts_files(data)
        if options["label"] is None or not scores:
            with open_source(list(data), []) as source:
                names = ", ".join(map(repr, source.types))
            raise InputError(
                "name the columns: --label COLUMN --score COLUMN. "
                f"{data[0]} has the columns {names}"
            )
        return inputs.count_rows(
            data,
            options["label"],
            scores,
            unlabeled=inputs.unlabeled_value(options["unlabeled"]),
            negative=options["negative"],
            weight=options["weight"],
            knots=knots,
            progress=tell,
            compact=compact,
        )


def read_models(data: tuple[str, ...], options: dict[str, Any]) -> "tuple[ScoredRows, str]":
    """Read the rows that have a score of every model, and how they were sampled."""
    from undercount.cli import inputs  # noqa: PLC0415 - DuckDB, only when needed

    if options["positives"]:
        files = _two_files(data, options)
        return inputs.read_two_samples(*files, options["scores"]), "case-control"
    inputs.refuse_counts(data)
    if options["label"] is None or not options["scores"]:
        raise InputError("name the columns: --label COLUMN --score COLUMN --score COLUMN")
    rows = inputs.read_rows(
        data,
        options["label"],
        options["scores"],
        unlabeled=inputs.unlabeled_value(options["unlabeled"]),
        negative=options["negative"],
    )
    return rows, "single-sample"


def _two_files(data: tuple[str, ...], options: dict[str, Any]) -> tuple[str, str]:
    """Return the files of positive and of unlabeled rows; nothing else may be asked of them."""
    from undercount.cli.inputs import refuse_repeats  # noqa: PLC0415 - DuckDB, only when needed

    if not options["unlabeled"] or not options["scores"]:
        raise InputError("--positives FILE goes with --unlabeled FILE and --score COLUMN")
    if data:
        raise InputError(
            f"DATA do not go with --positives and --unlabeled, which name all the rows; got "
            f"{' '.join(data)}"
        )
    why = "each file holds rows of one kind, all of weight 1"
    _refuse(options, ("label", "negative", "weight"), "--positives and --unlabeled", why)
    refuse_repeats([options["positives"], options["unlabeled"]])
    return options["positives"], options["unlabeled"]


def _refuse(options: dict[str, Any], names: Sequence[str], beside: str, why: str) -> None:
    """Refuse options that would be left out without a word."""
    for name in names:
        if options[name] is not None:
            raise InputError(f"--{name} does not go with {beside}: {why}; got {options[name]}")
