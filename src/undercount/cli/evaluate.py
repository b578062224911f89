"""Evaluate files of scores and labels, or the bundled case."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from undercount.cli.command import FINE, INCONCLUSIVE, REQUIREMENT_FAILS, Command, progress, working
from undercount.cli.options import (
    DATA,
    DEBUG,
    interval_options,
    known,
    output_options,
    reading_options,
    share_options,
)
from undercount.cli.reading import read
from undercount.cli.wording import in_options
from undercount.errors import InputError, collect_warnings

if TYPE_CHECKING:
    from undercount.cli.inputs import Reading
    from undercount.read.evaluation import Evaluation


@click.command(cls=Command, short_help="Judge one or more score columns.")
@DATA
@reading_options
@share_options
@interval_options
@click.option(
    "--threshold",
    "thresholds",
    type=float,
    multiple=True,
    help="Rows with score >= threshold are flagged.",
)
@click.option(
    "--require",
    "requirements",
    multiple=True,
    metavar="'METRIC[@T] >= VALUE'",
    help="Exit 1 if it fails, 3 if the interval straddles it or a check forbids a verdict.",
)
@output_options
def evaluate(data: tuple[str, ...], **options: Any) -> int:
    """Evaluate the scores of DATA (CSV, TSV, Parquet, JSON lines, globs, - or a counts file)."""
    from undercount.read.requirement import parse_requirement  # noqa: PLC0415 - only when needed

    options["threshold"] = _one_threshold(options.pop("thresholds"))
    requirements = [parse_requirement(text) for text in options["requirements"]]
    knots = [r.threshold for r in requirements if r.threshold is not None]
    knots += [options["threshold"]] if options["threshold"] is not None else []
    # With impure labels average precision and intervals need every score.
    reading = read(data, options, knots, compact=options["label_purity"] == 1)
    evaluations = _evaluated(reading, options)
    _write(evaluations, reading.notes, options)
    return _judged(evaluations, requirements, options)


def _one_threshold(given: tuple[float, ...]) -> float | None:
    if len(given) > 1:
        shown = " and ".join(f"{threshold:g}" for threshold in given)
        raise InputError(
            f"evaluate takes one --threshold; got {shown}. Run it once for each; "
            "--require takes thresholds of its own"
        )
    return given[0] if given else None


def _evaluated(reading: "Reading", options: dict[str, Any]) -> "list[Evaluation]":
    from undercount.read.evaluate import evaluate as evaluate_counts  # noqa: PLC0415 - only when needed

    resampling = options["prevalence_interval"] not in (None, "calibrated")
    show = progress if resampling else working
    made = []
    for name, counts in reading.counts.items():
        with show(f"estimating {name}", options) as tell:
            made.append(
                evaluate_counts(
                    counts,
                    threshold=options.get("threshold"),
                    name=name,
                    prevalence_interval=options["prevalence_interval"],
                    n_resamples=options["n_resamples"],
                    progress=tell if resampling else None,
                    **known(options, reading.sampling),
                )
            )
    return made


def _write(evaluations: "list[Evaluation]", notes: list[str], options: dict[str, Any]) -> None:
    from undercount.count.atomic_file import write_text  # noqa: PLC0415
    from undercount.show.document import as_json  # noqa: PLC0415 - only when needed
    from undercount.show.tables import as_markdown  # noqa: PLC0415
    from undercount.show.terminal import print_evaluation  # noqa: PLC0415

    if not options["quiet"] and not _to_stdout(options):
        for note in notes:
            click.echo(f" {note}")
        for evaluation in evaluations:
            print_evaluation(evaluation, heading=len(evaluations) > 1)
    if options["json_file"]:
        write_text(options["json_file"], as_json(evaluations))
    if options["markdown"]:
        write_text(options["markdown"], "\n".join(as_markdown(e) for e in evaluations))
    if options["html"]:
        from undercount.show.page.page import write_page  # noqa: PLC0415

        write_page(evaluations, options["html"])
        if options["html"] != "-":
            click.echo(f"wrote {options['html']}", err=True)


def _to_stdout(options: dict[str, Any]) -> bool:
    """Tell whether a document takes standard output, which it must have for itself."""
    return "-" in (options["json_file"], options["markdown"], options["html"])


def _judged(
    evaluations: "list[Evaluation]", requirements: Sequence[Any], options: dict[str, Any]
) -> int:
    """Print each verdict; failing outweighs being inconclusive."""
    from undercount.read.checks import flagged_check  # noqa: PLC0415 - only when needed
    from undercount.read.requirement import judged  # noqa: PLC0415

    verdicts = []
    for evaluation in evaluations:
        for requirement in requirements:
            with collect_warnings() as warned:
                estimate = evaluation.estimate(requirement.metric, requirement.threshold)
            for warning in warned:
                told = in_options(str(warning), click.get_current_context().command)
                click.echo(f"undercount: {told}", err=True)
            checks = [check for check in evaluation.checks if check.code != "UC013"]
            if requirement.threshold is not None:
                checks.append(flagged_check(evaluation.counts, requirement.threshold))
            verdict, why = judged(requirement, estimate, checks, warned)
            verdicts.append(verdict)
            if not options["quiet"]:
                sign = ">=" if requirement.at_least else "<="
                at = "" if requirement.threshold is None else f"@{requirement.threshold:g}"
                what = f"{requirement.metric}{at} {sign} {requirement.value:g}"
                span = f"{estimate.value:.3f} ({estimate.low:.3f} – {estimate.high:.3f})"
                known = "no estimate" if math.isnan(estimate.value) else f"estimated {span}"
                because = f"; because {why}" if why else ""
                line = f" {verdict}: {evaluation.name}: {what}; {known}{because}"
                click.echo(line, err=_to_stdout(options))
    if "failed" in verdicts:
        return REQUIREMENT_FAILS
    return INCONCLUSIVE if "inconclusive" in verdicts else FINE


@click.command(cls=Command, short_help="Judge the bundled fraud case.")
@click.option("--open", "open_it", is_flag=True, help="Open the report in a browser.")
@click.option("--html", type=click.Path(dir_okay=False), default="report.html", show_default=True)
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@DEBUG
def demo(html: str, **flags: bool) -> int:
    """Evaluate a bundled, simulated fraud case and show how close the estimate came."""
    from undercount.cli.demo import (  # noqa: PLC0415 - only when needed
        demonstrated,
        truth_words,
    )

    options = {"json_file": None, "markdown": None, "html": html, "quiet": flags["quiet"]}
    evaluations, notes = demonstrated()
    _write(evaluations, notes, options)
    if not flags["quiet"]:
        click.echo(truth_words(evaluations))
    if flags["open_it"]:
        click.launch(Path(html).resolve().as_uri())
    return FINE
