"""The commands. stdout is the result, stderr the talk; nothing heavy is imported for --help."""

import sys
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from undercount import __version__
from undercount.errors import InputError, MisfitWarning
from undercount.options import DATA, output_options, reading_options, share_options

if TYPE_CHECKING:
    from undercount.evaluation import Evaluation
    from undercount.inputs import Reading

FINE, REQUIREMENT_FAILS, BAD_INPUT, INCONCLUSIVE = 0, 1, 2, 3


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; bad input is one message on stderr and exit code 2."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = commands.main(args=arguments, prog_name="undercount", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("stopped; nothing was written", err=True)
        return BAD_INPUT
    except click.ClickException as error:
        error.show()
        return BAD_INPUT
    except InputError as error:
        if "--debug" in arguments:
            raise
        click.echo(f"undercount: {error}", err=True)
        return BAD_INPUT
    return int(code or FINE)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "--version", message="%(prog)s %(version)s")
def commands() -> None:
    """Measure true classifier performance when the labels undercount the positives."""


@commands.command()
@DATA
@reading_options
@share_options
@click.option("--threshold", type=float, help="Rows with score >= threshold are flagged.")
@click.option(
    "--require",
    "requirements",
    multiple=True,
    metavar="'METRIC[@T] >= VALUE'",
    help="Exit 1 if it fails, 3 if the interval straddles it.",
)
@output_options
def evaluate(data: tuple[str, ...], **options: Any) -> int:
    """Evaluate the scores of DATA (CSV, TSV, Parquet, JSON lines, globs, - or a counts file)."""
    from undercount.requirement import parse_requirement  # noqa: PLC0415 - only when needed

    requirements = [parse_requirement(text) for text in options["requirements"]]
    knots = [r.threshold for r in requirements if r.threshold is not None]
    knots += [options["threshold"]] if options["threshold"] is not None else []
    reading = _read(data, options, knots)
    evaluations = _evaluated(reading, options)
    _write(evaluations, reading.notes, options)
    return _judged(evaluations, requirements, quiet=options["quiet"])


def _read(
    data: tuple[str, ...],
    options: dict[str, Any],
    knots: list[float],
    *,
    compact: bool | None = True,
) -> "Reading":
    from undercount.inputs import read_any  # noqa: PLC0415 - DuckDB, only when needed

    with _progress("reading", options) as progress:
        return read_any(data, options, knots, progress, compact=compact)


def _evaluated(reading: "Reading", options: dict[str, Any]) -> "list[Evaluation]":
    from undercount.evaluation import evaluate as evaluate_counts  # noqa: PLC0415 - only when needed

    with _working("estimating", options):
        return [
            evaluate_counts(
                counts,
                threshold=options.get("threshold"),
                name=name,
                **_known(options, reading.sampling),
            )
            for name, counts in reading.counts.items()
        ]


def _known(options: dict[str, Any], sampling: str) -> dict[str, Any]:
    """Return the keyword arguments of `evaluate` that share options give."""
    names = ("prevalence", "unlabeled_prevalence", "label_frequency", "label_purity", "target")
    return {
        **{name: options[name] for name in (*names, "confidence_level")},
        "sampling": options["sampling"] or sampling,
        "random_state": options["seed"],
    }


def _write(evaluations: "list[Evaluation]", notes: list[str], options: dict[str, Any]) -> None:
    from undercount.report.document import as_json  # noqa: PLC0415 - only when needed
    from undercount.report.files import write_text  # noqa: PLC0415
    from undercount.report.markdown import as_markdown  # noqa: PLC0415
    from undercount.report.terminal import print_evaluation  # noqa: PLC0415

    to_stdout = "-" in (options["json_file"], options["markdown"])
    if not options["quiet"] and not to_stdout:
        for note in notes:
            click.echo(f" {note}")
        for evaluation in evaluations:
            print_evaluation(evaluation, heading=len(evaluations) > 1)
    if options["json_file"]:
        write_text(options["json_file"], as_json(evaluations))
    if options["markdown"]:
        write_text(options["markdown"], "\n".join(as_markdown(e) for e in evaluations))
    if options["html"]:
        from undercount.report.page import write_page  # noqa: PLC0415

        write_page(evaluations, options["html"])
        click.echo(f"wrote {options['html']}", err=True)


def _judged(evaluations: "list[Evaluation]", requirements: Sequence[Any], *, quiet: bool) -> int:
    """Print each verdict; failing outweighs being inconclusive."""
    verdicts = []
    for evaluation in evaluations:
        for requirement in requirements:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                estimate = evaluation.estimate(requirement.metric, requirement.threshold)
            for warning in caught:
                click.echo(f"undercount: {warning.message}", err=True)
            verdict = requirement.verdict(estimate)
            misfit = any(issubclass(warning.category, MisfitWarning) for warning in caught)
            failed = misfit or any(check.level == "fail" for check in evaluation.checks)
            if verdict == "met" and failed:
                verdict = "inconclusive"  # numbers that do not fit the data prove nothing
            verdicts.append(verdict)
            if not quiet:
                sign = ">=" if requirement.at_least else "<="
                at = "" if requirement.threshold is None else f"@{requirement.threshold:g}"
                what = f"{requirement.metric}{at} {sign} {requirement.value:g}"
                span = f"{estimate.value:.3f} ({estimate.low:.3f} – {estimate.high:.3f})"
                click.echo(f" {verdict}: {evaluation.name}: {what}; estimated {span}")
    if "failed" in verdicts:
        return REQUIREMENT_FAILS
    return INCONCLUSIVE if "inconclusive" in verdicts else FINE


@commands.command()
@click.option("--open", "open_it", is_flag=True, help="Open the report in a browser.")
@click.option("--html", type=click.Path(dir_okay=False), default="report.html", show_default=True)
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def demo(open_it: bool, html: str, quiet: bool) -> int:
    """Evaluate a bundled, simulated fraud case and show how close the estimate came."""
    from undercount.report.demonstration import (  # noqa: PLC0415 - only when needed
        demonstrated,
        truth_words,
    )

    options = {"json_file": None, "markdown": None, "html": html, "quiet": quiet}
    evaluations, notes = demonstrated()
    _write(evaluations, notes, options)
    if not quiet:
        click.echo(truth_words(evaluations))
    if open_it:
        click.launch(Path(html).resolve().as_uri())
    return FINE


@commands.command()
@DATA
@reading_options
@click.option("--confidence-level", type=float, default=0.95, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--json", "json_file", type=click.Path(dir_okay=False, allow_dash=True))
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def prevalence(data: tuple[str, ...], **options: Any) -> int:
    """Estimate the share of positives among the unlabeled rows with every method."""
    from undercount.report.estimators import estimator_table, print_estimators  # noqa: PLC0415

    reading = _read(data, options, [])
    with _working("estimating", options):
        tables = {
            name: estimator_table(counts, options["confidence_level"], options["seed"])
            for name, counts in reading.counts.items()
        }
    print_estimators(tables, reading.notes, options)
    return FINE


@commands.command()
@DATA
@reading_options
@share_options
@click.option("--threshold", type=float, help="Rows with score >= threshold are flagged.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def compare(data: tuple[str, ...], **options: Any) -> int:
    """Compare the scores of two or more columns on the same rows."""
    from undercount.comparison import compare as compare_rows  # noqa: PLC0415 - only when needed
    from undercount.inputs import read_rows, unlabeled_value  # noqa: PLC0415

    if options["label"] is None or not options["scores"]:
        raise InputError("name the columns: --label COLUMN --score COLUMN --score COLUMN")
    rows = read_rows(
        data,
        options["label"],
        options["scores"],
        unlabeled=unlabeled_value(options["unlabeled"]),
        negative=options["negative"],
    )
    with _working("comparing", options):
        comparison = compare_rows(
            rows.labels,
            rows.scores,
            threshold=options["threshold"],
            **_known(options, "single-sample"),
        )
    if not options["quiet"]:
        for note in rows.notes:
            click.echo(f" {note}")
        click.echo(f"\n{comparison}")
    return FINE


@commands.command()
@DATA
@reading_options
@click.option(
    "-o", "--output", required=True, type=click.Path(dir_okay=False), help="Ends in .parquet."
)
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def count(data: tuple[str, ...], output: str, **options: Any) -> int:
    """Count DATA into a small file that every other command takes as DATA."""
    from undercount.count_files import fingerprint, write_counts  # noqa: PLC0415 - DuckDB

    if len(options["scores"]) != 1:
        raise InputError(f"count takes one --score column; got {len(options['scores'])}")
    # Every score is kept, so that parts add up and any threshold can be asked of the file.
    reading = _read(data, options, [], compact=None)
    counts = reading.counts[options["scores"][0]]
    asked = (options["label"], options["scores"][0], options["unlabeled"])
    source = () if "-" in data else (fingerprint(data, *asked),)
    write_counts(counts, output, source=source)
    if not options["quiet"]:
        for note in reading.notes:
            click.echo(f" {note}")
        click.echo(f" {counts!r}\n wrote {output}")
    return FINE


@commands.command()
@click.argument("parts", nargs=-1, required=True)
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False))
def merge(parts: tuple[str, ...], output: str) -> int:
    """Add up counts files; an interrupted merge goes on where it stopped."""
    from undercount.merging import merge_counts  # noqa: PLC0415 - DuckDB, only when needed

    counts = merge_counts(parts, output)
    click.echo(f" {counts!r}\n wrote {output}")
    return FINE


@commands.command()
@DATA
@click.option("--label", required=True, help="Column of labels; missing where nobody looked.")
@click.option("--score", required=True, help="Column of the score under test.")
@click.option("--selection-score", help="Column of the score that chose the rows.")
@click.option("--features", multiple=True, help="Column that the choice of rows rested on; repeat.")
@click.option(
    "--method",
    type=click.Choice(
        ["own-score", "observed-score", "unobserved", "begg-greenes", "ipw", "doubly-robust"]
    ),
    help="Who chose the rows; by default the score itself, or the selection score if named.",
)
@click.option(
    "--distribution",
    type=click.Choice(["empirical", "normal", "copula"]),
    default="empirical",
    show_default=True,
)
@click.option("--threshold", type=float, help="Rows with score >= threshold are flagged.")
@click.option("--confidence-level", type=float, default=0.95, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--json", "json_file", type=click.Path(dir_okay=False, allow_dash=True))
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def select(data: tuple[str, ...], **options: Any) -> int:
    """Evaluate when labels of both classes exist only where somebody looked."""
    import json  # noqa: PLC0415 - only when needed

    from undercount.report.files import write_text  # noqa: PLC0415
    from undercount.report.selected import (  # noqa: PLC0415
        fitted_selection,
        selection_facts,
        selection_text,
    )

    if not data:
        raise InputError("name a file of scores and labels, or - for standard input")
    with _working("fitting", options):
        model, notes = fitted_selection(list(data), options)
        facts = selection_facts(model, options["threshold"])
    if options["json_file"]:
        write_text(options["json_file"], json.dumps(facts, indent=1) + "\n")
    if not options["quiet"] and options["json_file"] != "-":
        for note in notes:
            click.echo(f" {note}")
        click.echo(selection_text(facts, options["confidence_level"]))
    return FINE


@commands.command()
@click.argument("paper", required=False)
@click.argument("item", required=False)
@click.option("--runs", type=int, help="Draws; by default the number of the paper.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--jobs", type=int, default=1, show_default=True, help="Processes.")
@click.option("--backend", help="A joblib backend by name, dask or ray for a cluster.")
@click.option("--out", type=click.Path(file_okay=False), help="Folder for tables and figures.")
@click.option("--data-dir", type=click.Path(file_okay=False), envvar="UNDERCOUNT_DATA")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def reproduce(paper: str | None, item: str | None, **options: Any) -> int:
    """Reproduce a table or figure of a paper, ours beside the published; or list them."""
    from undercount.papers.catalogue import ITEMS, run_item  # noqa: PLC0415 - only when needed

    chosen = [known for known in ITEMS if paper in (None, known.paper)]
    if item is None:
        if not chosen:
            papers = ", ".join(sorted({known.paper for known in ITEMS}))
            raise InputError(f"no paper {paper!r} is reproduced here; there are {papers}")
        for known in chosen:
            click.echo(f" {known.paper:<15}{known.item:<10} {known.runs:>5} runs  {known.what}")
        return FINE
    given = {name: options[name] for name in ("runs", "seed", "jobs", "backend", "out", "data_dir")}
    with _progress(f"{paper} {item}", options) as progress:
        tell = None if progress is None else lambda done, every: progress(done / every)
        result = run_item(str(paper), item, **given, progress=tell)
    if options["out"]:
        result.write(options["out"])
    if not options["quiet"]:
        click.echo(result.text())
    return FINE


@commands.command()
@click.argument("term", required=False)
def explain(term: str | None) -> int:
    """Explain a metric, assumption or check: formula, what it needs, reference."""
    from undercount.report.terms import explanation  # noqa: PLC0415 - only when needed

    click.echo(explanation(term))
    return FINE


def _progress(what: str, options: dict[str, Any]) -> AbstractContextManager[Any]:
    """Show a bar on stderr while files are read, unless quiet or not a terminal."""
    if options.get("quiet") or not sys.stderr.isatty():
        return nullcontext()
    from undercount.report.terminal import progress_bar  # noqa: PLC0415 - rich, only when needed

    return progress_bar(what)


def _working(what: str, options: dict[str, Any]) -> AbstractContextManager[Any]:
    """Show that something goes on."""
    if options.get("quiet") or not sys.stderr.isatty():
        return nullcontext()
    from undercount.report.terminal import spinner  # noqa: PLC0415 - rich, only when needed

    return spinner(what)


if __name__ == "__main__":
    sys.exit(main())
