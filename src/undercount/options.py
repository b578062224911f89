"""Options that several commands share."""

from collections.abc import Callable
from typing import Any

import click

DATA = click.argument("data", nargs=-1, required=False)


def _options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


_share = click.FloatRange(0, 1)
reading_options = _options(
    click.option("--label", help="Column of labels: 1 positive, 0 negative or unlabeled."),
    click.option("--score", "scores", multiple=True, help="Column of scores; repeat for models."),
    click.option("--weight", help="Column of row weights."),
    click.option("--unlabeled", help="Label value that means unlabeled; with --positives, a file."),
    click.option("--negative", type=float, help="Label value that means verified negative (0)."),
    click.option("--positives", help="File of positive rows, for case-control samples."),
    click.option("--debug", is_flag=True, help="Show tracebacks."),
)
share_options = _options(
    click.option("--prevalence", type=_share, help="Share of positives among all rows."),
    click.option("--unlabeled-prevalence", type=_share, help="Share among the unlabeled rows."),
    click.option("--label-frequency", type=_share, help="Share of all positives with a label."),
    click.option(
        "--label-purity",
        type=_share,
        default=1.0,
        show_default=True,
        help="Share of rows labelled positive that really are.",
    ),
    click.option("--sampling", type=click.Choice(["single-sample", "case-control"])),
    click.option("--target", type=click.Choice(["dataset", "population"])),
    click.option("--confidence-level", type=float, default=0.95, show_default=True),
    click.option("--seed", type=int, default=0, show_default=True, help="Seed of resampling."),
)
output_options = _options(
    click.option("--html", type=click.Path(dir_okay=False), help="Write the live report."),
    click.option(
        "--json",
        "json_file",
        type=click.Path(dir_okay=False, allow_dash=True),
        help="Write every fact as JSON; - for stdout.",
    ),
    click.option(
        "--markdown",
        type=click.Path(dir_okay=False, allow_dash=True),
        help="Write the table as Markdown; - for stdout.",
    ),
    click.option("--quiet", is_flag=True, help="Print nothing but errors."),
)
