"""Evaluate files of scores and labels, and judge what is required of them."""

import os
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from undercount.cli.arguments import Options, with_options
from undercount.cli.command import Command, print_notes, prints, progress, tell_page
from undercount.cli.dates import date_options
from undercount.cli.gate import check_models_named, read_requirements, report_verdict
from undercount.cli.options import (
    CHANCE_OPTION,
    CLUSTER,
    DATA,
    DATABASE_VARIABLE,
    DEPLOY,
    CostType,
    OddsType,
    ThresholdType,
    TopType,
    check_named_once,
    data_name,
    database_options,
    gate_options,
    interval_options,
    output_options,
    reading_options,
    review_options,
    share_options,
    wanted_and_assumed,
)
from undercount.cli.segments import check_segment_options, check_share_options, evaluate_by
from undercount.cli.streams import print_styled, print_text, tell
from undercount.count.databases import redact
from undercount.errors import InputError, collect_warnings

if TYPE_CHECKING:
    from undercount.cli.inputs import Reading
    from undercount.read.evaluation import Evaluation
    from undercount.read.require.requirement import Requirement, Verdict


@click.command(cls=Command, short_help="Judge one or more score columns.")
@DATA
@reading_options
@CLUSTER
@CHANCE_OPTION
@date_options
@database_options
@share_options
@interval_options
@DEPLOY
@review_options
@click.option(
    "--threshold",
    "thresholds",
    type=ThresholdType(),
    multiple=True,
    help="Rows with score >= threshold are flagged.",
)
@click.option(
    "--top",
    "tops",
    type=TopType(),
    multiple=True,
    help="Judge the rows of the highest scores: 500, 1% or 200/50000; repeat.",
)
@click.option(
    "--cost",
    "costs",
    type=CostType(),
    metavar="FP:FN",
    help="What a false positive and a false negative cost, 5:100 say: costs along the thresholds.",
)
@click.option(
    "--gamma",
    "odds_ratio",
    type=click.FloatRange(min=1, max=1000),
    help="Bounds if labels prefer some positives: largest factor (Γ) between their odds of a "
    "label, 2 say.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="Metric of the table, 'precision' or 'fpr@0.9'; repeat. The usual ones if none is named.",
)
@click.option(
    "--dependence",
    type=OddsType(),
    help="Odds ratio of two --label sources, or a range: 0.5-2; above 1 they find the same rows.",
)
@click.option(
    "--by",
    multiple=True,
    callback=check_named_once,
    help="Column of segments (country, month): a row for each; repeat. A --prevalence then is that "
    "of all rows, shared out by one label frequency, or of each: DE=3%,FR=5%.",
)
@gate_options
@output_options
@with_options
def evaluate(options: Options) -> int:
    """Evaluate the scores of DATA (CSV, TSV, Parquet, JSON lines, globs, - or a counts file)."""
    from undercount.cli.inputs import read, read_kept  # noqa: PLC0415 - DuckDB, only when needed
    from undercount.cli.reviews import read_verdicts  # noqa: PLC0415
    from undercount.count.knots import knots_at  # noqa: PLC0415
    from undercount.infer.metric_name import asks_top, parse_metric  # noqa: PLC0415

    data = options["data"]
    if options["by"]:
        check_segment_options(options)
    else:
        check_share_options(options)
    several = options.pop("thresholds")
    options["threshold"], options["further"] = several[0] if several else None, several[1:]
    tops = options.pop("tops")
    options["top"], options["further_tops"] = tops[0] if tops else None, tops[1:]
    requirements = read_requirements(options, options["threshold"])
    chosen = [parse_metric(text).threshold for text in options["metrics"]]
    places = [*several, *(each.threshold for each in requirements), *chosen]
    knots = [knot for place in places for knot in knots_at(place)]
    verdicts = read_verdicts(options["reviews"])
    if verdicts is not None:
        knots += verdicts.knots
    # With impure labels average precision and intervals need every score.
    # Those of the highest rows of unequal weights do too.
    asked = [*options["metrics"], *(str(requirement.name) for requirement in requirements)]
    compact = options["label_purity"] == 1 and not (
        options["weight"] and asks_top(options["top"], asked)
    )
    if any(options[name] for name in ("cluster", "chance", "observed", "found")):
        reading = read_kept(data, options, knots, compact=compact)
    else:
        reading = read(data, options, knots, compact=compact)
    by_sources = share_of_sources(reading.sources, options)
    if not (options["reviews"] or options["audited"]):  # which tell the share themselves
        options |= by_sources
    if options["by"]:
        return evaluate_by(reading, requirements, options)
    if verdicts is not None:
        verdicts.check(reading.counts)
        before = _evaluate_alone(reading, options | by_sources) if prints(options) else []
        rows_kept = bool(reading.models)
        options["verdicts"] = verdicts.at_places(reading.place) if rows_kept else verdicts.reviews
    evaluations = [
        replace(evaluation, origin=_origin(data, evaluation.name, options))
        for evaluation in _evaluate(reading, options)
    ]
    if verdicts is not None:
        reading.notes.extend(verdicts.notes(before, evaluations))
    verdict = judge_models(evaluations, requirements)
    evaluations = [take_verdict(verdict, evaluation) for evaluation in evaluations]
    options["data_name"] = data_name(data or (options["positives"], options["unlabeled"]))
    write_evaluations(evaluations, reading.notes, options)
    return report_verdict(verdict, options)


def share_of_sources(sources: tuple[int, int, int, int] | None, options: Options) -> Options:
    """Return the option of the share that two sources of labels tell, unless one was given."""
    if sources is None:
        return {}
    from undercount.prevalence import TwoSources  # noqa: PLC0415 - scikit-learn

    given = ("prevalence", "unlabeled_prevalence", "label_frequency")
    if any(options.get(name) is not None for name in given):
        return {}
    ratio = options["dependence"] or 1.0
    estimator = TwoSources(odds_ratio=ratio, confidence_level=options["confidence_level"])
    with collect_warnings() as warnings:
        share = estimator.fit_counts(*sources)
    for warning in warnings:
        tell(f"undercount: {warning}")
    return {"unlabeled_prevalence": share}


def _origin(data: tuple[str, ...], name: str, options: Options) -> str:
    """Write the data and columns of a model as the command line names them."""
    from undercount.infer.metric_name import short_number  # noqa: PLC0415 - only when needed

    if options["label"] is None:  # counts or two files, of which no row can be chosen
        return "ROWS --label COLUMN --score COLUMN"
    labels = [options["label"], options.get("second_label")]
    words = [*(data or _database_words(options))]
    words += [word for label in labels if label for word in ("--label", label)]
    words += ["--score", name]
    if options["unlabeled"] is not None:
        words += ["--unlabeled", options["unlabeled"]]
    if options["positive_label"] is not None:
        words += ["--positive-label", options["positive_label"]]
    if options["negative"] is not None:
        words += ["--negative", f"{options['negative']:g}"]
    for share in ("prevalence", "unlabeled_prevalence"):
        given = options[share]
        if isinstance(given, float | tuple):
            ends = given if isinstance(given, tuple) else (given,)
            words += [f"--{share.replace('_', '-')}", "-".join(map(short_number, ends))]
    return shlex.join(words)


def _database_words(options: Options) -> list[str]:
    """Write where the table is, without a password; what the environment says needs no word."""
    database, table = str(options["database"]), options["table"]
    words = []
    if database != os.environ.get(DATABASE_VARIABLE):
        words += ["--from", redact(database, database)]
    return [*words, *(("--table", table) if table else ("--query", str(options["query"])))]


def _evaluate(reading: "Reading", options: Options) -> "list[Evaluation]":
    from undercount.infer.scored_rows import ScoredRows  # noqa: PLC0415 - only when needed
    from undercount.read.evaluate_models import evaluate_models  # noqa: PLC0415 - only when needed

    resampling = options["prevalence_interval"] not in (None, "calibrated")
    threshold = options.get("threshold")
    models = reading.models or {
        name: ScoredRows.of_counts(counts, threshold) for name, counts in reading.counts.items()
    }
    with progress(f"estimating {', '.join(models)}", options) as tell:
        question = wanted_and_assumed(options, reading, tell if resampling else None)
        evaluations = evaluate_models(models, *question)
    deployed = options.get("deploy_prevalence")
    if deployed is not None:
        deployed = next(iter(evaluations.values())).recovery.read_prevalence(deployed)
    more: dict[str, Any] = {name: options.get(name) for name in ("costs", "odds_ratio")}
    return [
        replace(_with_source_test(evaluation, reading), deploy_prevalence=deployed, **more)
        for evaluation in evaluations.values()
    ]


def _with_source_test(evaluation: "Evaluation", reading: "Reading") -> "Evaluation":
    """Add whether two sources of labels contradict that labels are a fair sample (UC022)."""
    from undercount.checks.fair_sample import found_check  # noqa: PLC0415 - only when needed

    test = reading.source_tests.get(evaluation.name)
    if test is None or evaluation.basis.review is not None:  # which suppose nothing of labels
        return evaluation
    return replace(evaluation, checks=(*evaluation.checks, found_check(test)))


def _evaluate_alone(reading: "Reading", options: Options) -> "list[Evaluation]":
    """Evaluate without the reviews, to show what they changed; nothing if that cannot be done."""
    try:
        return _evaluate(reading, {**options, "labels": None, "sequential": False})
    except InputError:  # too few labels, say
        return []


def write_evaluations(evaluations: "list[Evaluation]", notes: list[str], options: Options) -> None:
    """Write the files that the options name, and print evaluations."""
    from undercount.count.atomic_file import write_text  # noqa: PLC0415
    from undercount.show.document import as_json  # noqa: PLC0415 - only when needed
    from undercount.show.tables import as_markdown  # noqa: PLC0415

    # Files first: whoever reads the terminal may go away in the middle.
    if options["json_file"]:
        write_text(options["json_file"], as_json(evaluations))
    if markdown := options.get("markdown"):
        write_text(markdown, "\n".join(as_markdown(e) for e in evaluations))
    if csv_file := options.get("csv_file"):
        from undercount.show.tables import as_csv  # noqa: PLC0415

        write_text(csv_file, as_csv(evaluations))
    if options["html"]:
        from undercount.show.page.report import write_page  # noqa: PLC0415

        about = {"title": options.get("title") or "", "data": options.get("data_name", "")}
        write_page(evaluations, options["html"], story=options.get("story", ()), **about)
        tell_page(options)
    if prints(options):
        print_notes(notes)
        for evaluation in evaluations:
            _print_evaluation(evaluation, heading=len(evaluations) > 1)


def _print_evaluation(evaluation: "Evaluation", *, heading: bool) -> None:
    """Print an evaluation as wide as the terminal, what leads in bold."""
    from undercount.show.layout import terminal_width  # noqa: PLC0415 - only when needed
    from undercount.show.text import styled_lines  # noqa: PLC0415

    print_text("")
    if heading:
        print_styled(f" {evaluation.name}", "heading")
    for text, style in styled_lines(evaluation, terminal_width()):
        print_styled(text, style)


def take_verdict(verdict: "Verdict", evaluation: "Evaluation") -> "Evaluation":
    """Return the evaluation with what was found of its requirements, claiming the worst one."""
    from undercount.read.require.requirement import Requirement  # noqa: PLC0415 - only when needed

    own = tuple(
        judgement for judgement in verdict.worst_first if judgement.subject == evaluation.name
    )
    if not own:
        return evaluation
    worst = own[0].requirement
    assert isinstance(worst, Requirement)  # noqa: S101 - of one model, not of two
    return replace(evaluation.claimed(worst), judgements=own)


def judge_models(evaluations: "list[Evaluation]", requirements: "list[Requirement]") -> "Verdict":
    """Judge each model by what is required of it, or of every one."""
    from undercount.read.require.requirement import Verdict  # noqa: PLC0415 - only when needed

    check_models_named(requirements, [evaluation.name for evaluation in evaluations])
    return Verdict(
        tuple(
            evaluation.judge(requirement)
            for evaluation in evaluations
            for requirement in requirements
            if requirement.name.model in (None, evaluation.name)
        )
    )
