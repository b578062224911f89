"""Evaluate files of scores and labels, and judge what is required of them."""

import os
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from undercount.cli.command import (
    Command,
    print_notes,
    prints,
    progress,
    tell_page,
)
from undercount.cli.dates import date_options
from undercount.cli.gate import read_requirements, refuse_other_models, report_verdict
from undercount.cli.options import (
    CHANCE,
    CLUSTER,
    DATA,
    DATABASE_VARIABLE,
    DEPLOY,
    CostType,
    OddsType,
    ThresholdType,
    TopType,
    data_name,
    database_options,
    gate_options,
    interval_options,
    output_options,
    reading_options,
    refuse_repeated,
    review_options,
    share_options,
    wanted_and_assumed,
)
from undercount.cli.segments import (
    evaluate_by,
    refuse_beside_segments,
    refuse_shares_of_segments,
)
from undercount.cli.streams import print_styled, print_text, tell
from undercount.count.databases import redact
from undercount.errors import InputError, collect_warnings

if TYPE_CHECKING:
    from undercount.cli.inputs import Reading
    from undercount.read.evaluation import Evaluation
    from undercount.read.requirement import Requirement, Verdict


@click.command(cls=Command, short_help="Judge one or more score columns.")
@DATA
@reading_options
@CLUSTER
@CHANCE
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
    "--top", type=TopType(), help="Judge the rows of the highest scores: 500, 1% or 200/50000."
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
    callback=refuse_repeated,
    help="Column of segments (country, month): a row for each; repeat. A --prevalence then is that "
    "of all rows, shared out by one label frequency, or of each: DE=3%,FR=5%.",
)
@gate_options
@output_options
def evaluate(data: tuple[str, ...], **options: Any) -> int:
    """Evaluate the scores of DATA (CSV, TSV, Parquet, JSON lines, globs, - or a counts file)."""
    from undercount.cli.inputs import read, read_kept  # noqa: PLC0415 - DuckDB, only when needed
    from undercount.cli.reviews import read_verdicts  # noqa: PLC0415
    from undercount.count.knots import knots_at  # noqa: PLC0415
    from undercount.infer.metric_name import asks_top, parse_metric  # noqa: PLC0415

    if options["by"]:
        refuse_beside_segments(options)
    else:
        refuse_shares_of_segments(options)
    options["threshold"] = _one_threshold(options.pop("thresholds"))
    requirements = read_requirements(options, options["threshold"])
    chosen = [parse_metric(text).threshold for text in options["metrics"]]
    places = [options["threshold"], *(each.threshold for each in requirements), *chosen]
    knots = [knot for place in places for knot in knots_at(place)]
    verdicts = read_verdicts(options["reviews"])
    if verdicts is not None:
        knots += verdicts.knots
    # With impure labels average precision and intervals need every score.
    # Those of the highest rows of unequal weights do too.
    asked = [*options["metrics"], *(str(each.name) for each in requirements)]
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
        replace(each, origin=_origin(data, each.name, options))
        for each in _evaluate(reading, options)
    ]
    if verdicts is not None:
        reading.notes.extend(verdicts.notes(before, evaluations))
    verdict = _judge(evaluations, requirements)
    evaluations = [_carry(verdict, each) for each in evaluations]
    options["data_name"] = data_name(data or (options["positives"], options["unlabeled"]))
    write_evaluations(evaluations, reading.notes, options)
    return report_verdict(verdict, options)


def share_of_sources(
    sources: tuple[int, int, int, int] | None, options: dict[str, Any]
) -> dict[str, Any]:
    """Return the option of the share that two sources of labels tell, unless one was given."""
    if sources is None:
        return {}
    from undercount.prevalence import TwoSources  # noqa: PLC0415 - scikit-learn

    given = ("prevalence", "unlabeled_prevalence", "label_frequency")
    if any(options[name] is not None for name in given):
        return {}
    ratio = options["dependence"] or 1.0
    estimator = TwoSources(odds_ratio=ratio, confidence_level=options["confidence_level"])
    with collect_warnings() as found:
        share = estimator.fit_counts(*sources)
    for warning in found:
        tell(f"undercount: {warning}")
    return {"unlabeled_prevalence": share}


def _origin(data: tuple[str, ...], name: str, options: dict[str, Any]) -> str:
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


def _database_words(options: dict[str, Any]) -> list[str]:
    """Write where the table is, without a password; what the environment says needs no word."""
    words = []
    if options["database"] != os.environ.get(DATABASE_VARIABLE):
        words += ["--from", redact(options["database"], options["database"])]
    kind = "table" if options["table"] else "query"
    return [*words, f"--{kind}", options[kind]]


def _one_threshold(given: tuple[float, ...]) -> float | None:
    if len(given) > 1:
        from undercount.infer.metric_name import short_number  # noqa: PLC0415 - only when needed

        shown = " and ".join(short_number(threshold) for threshold in given)
        raise InputError(
            f"evaluate takes one --threshold; got {shown}. Run it once for each; "
            "--require takes thresholds of its own"
        )
    return given[0] if given else None


def _evaluate(reading: "Reading", options: dict[str, Any]) -> "list[Evaluation]":
    from undercount.infer.scored_rows import ScoredRows  # noqa: PLC0415 - only when needed
    from undercount.read.evaluate_models import evaluate_models  # noqa: PLC0415 - only when needed

    resampling = options["prevalence_interval"] not in (None, "calibrated")
    threshold = options.get("threshold")
    models = reading.models or {
        name: ScoredRows.of_counts(counts, threshold) for name, counts in reading.counts.items()
    }
    with progress(f"estimating {', '.join(models)}", options) as tell:
        asked = wanted_and_assumed(options, reading, tell if resampling else None)
        made = evaluate_models(models, *asked)
    there = options.get("deploy_prevalence")
    if there is not None:
        there = next(iter(made.values())).recovery.read_prevalence(there)
    more: dict[str, Any] = {name: options.get(name) for name in ("costs", "odds_ratio")}
    return [
        replace(_with_source_test(each, reading), deploy_prevalence=there, **more)
        for each in made.values()
    ]


def _with_source_test(evaluation: "Evaluation", reading: "Reading") -> "Evaluation":
    """Add whether two sources of labels contradict that labels are a fair sample (UC022)."""
    from undercount.checks.fair_sample import found_check  # noqa: PLC0415 - only when needed

    test = reading.source_tests.get(evaluation.name)
    if test is None or evaluation.basis.review is not None:  # which suppose nothing of labels
        return evaluation
    return replace(evaluation, checks=(*evaluation.checks, found_check(test)))


def _evaluate_alone(reading: "Reading", options: dict[str, Any]) -> "list[Evaluation]":
    """Evaluate without the reviews, to show what they changed; nothing if that cannot be done."""
    try:
        return _evaluate(reading, {**options, "labels": None, "sequential": False})
    except InputError:  # too few labels, say
        return []


def write_evaluations(
    evaluations: "list[Evaluation]", notes: list[str], options: dict[str, Any]
) -> None:
    """Write the files that the options name, and print evaluations."""
    from undercount.count.atomic_file import write_text  # noqa: PLC0415
    from undercount.show.document import as_json  # noqa: PLC0415 - only when needed
    from undercount.show.tables import as_markdown  # noqa: PLC0415

    # Files first: whoever reads the terminal may go away in the middle.
    if options["json_file"]:
        write_text(options["json_file"], as_json(evaluations))
    if options["markdown"]:
        write_text(options["markdown"], "\n".join(as_markdown(e) for e in evaluations))
    if options.get("csv_file"):
        from undercount.show.tables import as_csv  # noqa: PLC0415

        write_text(options["csv_file"], as_csv(evaluations))
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


def _carry(verdict: "Verdict", evaluation: "Evaluation") -> "Evaluation":
    """Return the evaluation with what was found of its requirements, claiming the worst one."""
    from undercount.read.requirement import Requirement  # noqa: PLC0415 - only when needed

    own = tuple(each for each in verdict.worst_first if each.subject == evaluation.name)
    if not own:
        return evaluation
    worst = own[0].requirement
    assert isinstance(worst, Requirement)  # noqa: S101 - of one model, not of two
    return replace(evaluation.claimed(worst), judgements=own)


def _judge(evaluations: "list[Evaluation]", requirements: "list[Requirement]") -> "Verdict":
    """Judge each model by what is required of it, or of every one."""
    from undercount.read.requirement import Verdict  # noqa: PLC0415 - only when needed

    refuse_other_models(requirements, [evaluation.name for evaluation in evaluations])
    return Verdict(
        tuple(
            evaluation.judge(requirement)
            for evaluation in evaluations
            for requirement in requirements
            if requirement.name.model in (None, evaluation.name)
        )
    )
