"""Plan which rows of a file to look at, and say what that buys."""

from typing import TYPE_CHECKING, Any

import click

from undercount.cli.arguments import Options, with_options
from undercount.cli.command import ALL_FINE, Command, print_notes, prints, progress
from undercount.cli.options import (
    CLUSTER,
    CONFIDENCE_LEVEL,
    DATA,
    DEBUG,
    JSON,
    LABEL,
    POSITIVE_LABEL,
    QUIET,
    SEED_OPTION,
    ShareType,
    ThresholdType,
    TopType,
    check_named_once,
    database_options,
)
from undercount.cli.streams import print_text
from undercount.errors import InputError

if TYPE_CHECKING:
    from undercount.read.plan.review_plan import ReviewPlan


def _join_columns(_ctx: Any, _option: Any, given: tuple[str, ...]) -> str | None:
    """Return the columns of all --keep; nothing if there is none, which means those of before."""
    return ",".join(given) if given else None


@click.command(cls=Command, short_help="Choose the rows whose review says most.")
@DATA
@LABEL
@click.option(
    "--score",
    "scores",
    multiple=True,
    callback=check_named_once,
    help="Column of scores; the first makes strata.",
)
@click.option("--unlabeled", help="Label value that means unlabeled.")
@click.option("--negative", type=float, help="Label value that means verified negative (0).")
@POSITIVE_LABEL
@database_options
@click.option(
    "--threshold",
    "thresholds",
    type=ThresholdType(),
    multiple=True,
    help="Rows with score >= threshold are flagged; one for all models, or one a --score.",
)
@click.option(
    "--top",
    type=TopType(),
    help="Instead of a threshold: the rows of the highest scores, 500 or 1%.",
)
@click.option("--budget", type=int, help="Rows that somebody can look at.")
@click.option(
    "--goal",
    "goals",
    multiple=True,
    help="Metric to make sharp, prevalence, or difference of two scores; repeat for several. F1 at "
    "a threshold, precision of the top rows, or else AUC; in a further round that of the last one.",
)
@click.option("--half-width", type=float, help="Say which budget makes each goal that sharp (±).")
@click.option(
    "--reviews",
    multiple=True,
    metavar="FILE",
    help="Answered file of an earlier round: its strata stay, and its verdicts are kept.",
)
@click.option(
    "--keep",
    multiple=True,
    callback=_join_columns,
    help="Columns that reviewers shall see: id,amount; repeat. In a further round those of the "
    "last one, unless named.",
)
@CLUSTER
@click.option(
    "--prevalence",
    type=ShareType(),
    help="Share of positives among all rows to plan with, or a range: 0.02-0.05; estimated if not "
    "given.",
)
@click.option("--unlabeled-prevalence", type=ShareType(), help="The same among the unlabeled rows.")
@click.option(
    "-o",
    "--output",
    "--out",
    "out",
    type=click.Path(dir_okay=False),
    help="Write the CSV to answer in.",
)
@click.option("--html", type=click.Path(dir_okay=False), help="Write a page to answer in.")
@JSON
@CONFIDENCE_LEVEL
@SEED_OPTION
@QUIET
@DEBUG
@with_options
def plan(options: Options) -> int:
    """Choose unlabeled rows of DATA to look at, best first, and say what each budget buys.

    Answer in the file (a spreadsheet will do) or in the page, then fold the verdicts in with
    undercount evaluate DATA … --reviews FILE.
    """
    from undercount.cli.reviews import plan_files  # noqa: PLC0415 - DuckDB, only when needed
    from undercount.count.atomic_file import write_text  # noqa: PLC0415
    from undercount.show.layout import terminal_width  # noqa: PLC0415
    from undercount.show.plan import as_json, as_text  # noqa: PLC0415

    given, options["goals"] = bool(options["goals"]), _goals(options)
    options["new_goals"] = options["goals"] if given else None  # else those of the last round
    if options["budget"] is None and options["half_width"] is None:
        raise InputError("say how many rows somebody can look at: --budget 100")
    with progress("planning", options):
        row_plan, notes = plan_files(options["data"], options)
    written = _write(row_plan, options)
    if options["json_file"]:
        write_text(options["json_file"], as_json(row_plan, options["half_width"]))
    if prints({**options, "markdown": None}):
        print_notes(notes)
        print_text(f"\n{as_text(row_plan, options['half_width'], terminal_width())}")
        print_notes(written)
    return ALL_FINE


def _goals(options: Options) -> tuple[str, ...]:
    """Return the goals by name; by default what a threshold, the top rows or neither suggest."""
    given = options["goals"]
    names = tuple(name.strip().lower().replace(" ", "_").replace("-", "_") for name in given)
    usual = "f1" if options["thresholds"] else "roc_auc" if options["top"] is None else "precision"
    return names or (usual,)


def _write(made: "ReviewPlan", options: Options) -> list[str]:
    """Write the files that the options name, and say what to do with them."""
    lines = []
    if options["out"]:
        made.to_csv(options["out"])
        lines.append(f"wrote {options['out']}: answer in the column verdict (1 or yes, 0 or no)")
    if options["html"]:
        from undercount.show.review_page.review_page import write_review_page  # noqa: PLC0415 - only when needed

        write_review_page(made, options["html"])
        lines.append(f"wrote {options['html']}: answer in a browser, and save the CSV there")
    return lines
