"""Evaluate files of scores and labels, and judge what is required of them."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from undercount.cli.command import (
    FINE,
    INCONCLUSIVE,
    REQUIREMENT_FAILS,
    Command,
    print_notes,
    prints,
    progress,
)
from undercount.cli.options import (
    CHANCE,
    CLUSTER,
    DATA,
    DEPLOY,
    database_options,
    interval_options,
    output_options,
    reading_options,
    share_arguments,
    share_options,
)
from undercount.cli.wording import say
from undercount.errors import InputError, collect_warnings

if TYPE_CHECKING:
    from undercount.cli.inputs import Reading
    from undercount.read.evaluation import Evaluation
    from undercount.read.requirement import Requirement


@click.command(cls=Command, short_help="Judge one or more score columns.")
@DATA
@reading_options
@CLUSTER
@CHANCE
@database_options
@share_options
@interval_options
@DEPLOY
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
    from undercount.cli.inputs import read, read_kept  # noqa: PLC0415 - DuckDB, only when needed
    from undercount.read.requirement import parse_requirement  # noqa: PLC0415

    options["threshold"] = _one_threshold(options.pop("thresholds"))
    requirements = [parse_requirement(text) for text in options["requirements"]]
    knots = [r.threshold for r in requirements if r.threshold is not None]
    knots += [options["threshold"]] if options["threshold"] is not None else []
    # With impure labels average precision and intervals need every score.
    pure = options["label_purity"] == 1
    if options["cluster"] or options["chance"]:
        reading = read_kept(data, options, compact=pure)
    else:
        reading = read(data, options, knots, compact=pure)
    evaluations = _evaluate(reading, options)
    write_evaluations(evaluations, reading.notes, options)
    return _judge(evaluations, requirements, options)


def _one_threshold(given: tuple[float, ...]) -> float | None:
    if len(given) > 1:
        shown = " and ".join(f"{threshold:g}" for threshold in given)
        raise InputError(
            f"evaluate takes one --threshold; got {shown}. Run it once for each; "
            "--require takes thresholds of its own"
        )
    return given[0] if given else None


def _evaluate(reading: "Reading", options: dict[str, Any]) -> "list[Evaluation]":
    from undercount.read.deployed import read_deploy_prevalence  # noqa: PLC0415
    from undercount.read.evaluate import CountedModel, evaluate_models  # noqa: PLC0415 - only when needed

    there = options["deploy_prevalence"]
    if there is not None:
        there = read_deploy_prevalence(there)
    resampling = options["prevalence_interval"] not in (None, "calibrated")
    threshold = options.get("threshold")
    models = reading.models or {
        name: CountedModel(counts, threshold) for name, counts in reading.counts.items()
    }
    with progress(f"estimating {', '.join(models)}", options) as tell:
        made = evaluate_models(
            models,
            prevalence_interval=options["prevalence_interval"],
            n_resamples=options["n_resamples"],
            progress=tell if resampling else None,
            **share_arguments(options, reading.sampling),
        )
    return [replace(each, deploy_prevalence=there) for each in made.values()]


def write_evaluations(
    evaluations: "list[Evaluation]", notes: list[str], options: dict[str, Any]
) -> None:
    """Write the files that the options name, and print evaluations."""
    from undercount.count.atomic_file import write_text  # noqa: PLC0415
    from undercount.show.document import as_json  # noqa: PLC0415 - only when needed
    from undercount.show.tables import as_markdown  # noqa: PLC0415
    from undercount.show.text import print_evaluation  # noqa: PLC0415

    # Files first: whoever reads the terminal may go away in the middle.
    if options["json_file"]:
        write_text(options["json_file"], as_json(evaluations))
    if options["markdown"]:
        write_text(options["markdown"], "\n".join(as_markdown(e) for e in evaluations))
    if options["html"]:
        from undercount.show.page.page import write_page  # noqa: PLC0415

        write_page(evaluations, options["html"])
        if options["html"] != "-":
            click.echo(f"wrote {options['html']}", err=True)
    if prints(options):
        print_notes(notes)
        for evaluation in evaluations:
            print_evaluation(evaluation, heading=len(evaluations) > 1)


def _judge(
    evaluations: "list[Evaluation]", requirements: "list[Requirement]", options: dict[str, Any]
) -> int:
    """Print each verdict; failing outweighs being inconclusive."""
    verdicts = []
    for evaluation in evaluations:
        for requirement in requirements:
            verdict, words = _verdict(evaluation, requirement)
            verdicts.append(verdict)
            if not options["quiet"]:
                click.echo(f" {verdict}: {words}", err=not prints(options))
    if "failed" in verdicts:
        return REQUIREMENT_FAILS
    return INCONCLUSIVE if "inconclusive" in verdicts else FINE


def _verdict(evaluation: "Evaluation", requirement: "Requirement") -> tuple[str, str]:
    """Return the verdict on one requirement, and what it rests on; warnings go to stderr."""
    from undercount.read.checks import flagged_check  # noqa: PLC0415 - only when needed
    from undercount.read.requirement import judge_requirement  # noqa: PLC0415

    with collect_warnings() as found:
        estimate = evaluation.estimate(requirement.metric, requirement.threshold)
    for warning in found:
        click.echo(f"undercount: {say(warning.message, evaluate)}", err=True)
    checks = [check for check in evaluation.checks if check.code != "UC013"]
    if requirement.threshold is not None:
        checks.append(flagged_check(evaluation.counts, requirement.threshold))
    verdict, why = judge_requirement(requirement, estimate, checks, found)
    span = f"estimated {estimate.value:.3f} ({estimate.low:.3f} – {estimate.high:.3f})"
    if math.isnan(estimate.value):
        span = "no estimate"
    return verdict, f"{evaluation.name}: {requirement.words}; {span}" + (
        f"; because {why}" if why else ""
    )
