"""Options that several commands share."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from undercount.cli.arguments import DEBUGGING, Options
from undercount.errors import InputError

if TYPE_CHECKING:
    from undercount.assume.base import Assumption, ReportOptions
    from undercount.cli.inputs import Reading

NUMBER_PATTERN = r"([0-9]*\.?[0-9]+(?:e[-+]?[0-9]+)?)\s*(%?)"
# One segment's share: its name up to the last "=" before a number.
EACH = re.compile(r"\s*([^=]*)=\s*([0-9.]+\s*%?)\s*(?:[,;]|$)")
RANGE = re.compile(rf"\s*{NUMBER_PATTERN}\s*(?:[-:–]\s*{NUMBER_PATTERN}\s*)?", re.IGNORECASE)


class ShareType(click.ParamType):  # type: ignore[type-arg]  # generic in newer click only
    """A share in [0, 1], or a range of it: 0.03, 3%, 0.02-0.05, 0.02:0.05.

    Where there are segments, also one of each: DE=3%,FR=5%.
    """

    name = "share"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return a number, the two ends of a range, or a mapping of segment → number."""
        if not isinstance(value, str):
            return value
        if "=" in value and any(parameter.name == "by" for parameter in ctx.command.params):
            return self._each(value, param, ctx)
        match = RANGE.fullmatch(value)
        if match is None:
            self.fail(f"{value!r} is no share like 0.03 and no range like 0.02-0.05", param, ctx)
        percent = "%" if "%" in (match[2], match[4]) else ""
        ends = [
            self._number(number, percent, param, ctx) for number in (match[1], match[3]) if number
        ]
        if len(ends) == 1:
            return ends[0]
        if ends[0] >= ends[1]:
            self.fail(f"a range starts with its lower end; got {value!r}", param, ctx)
        return ends[0], ends[1]

    def _each(self, value: str, param: Any, ctx: Any) -> dict[str, Any]:
        """Return the share of each segment; names may hold commas, the last = ends them."""
        shares: dict[str, Any] = {}
        for name, share in EACH.findall(value):
            if name.strip() in shares:
                self.fail(f"{value!r} gives {name.strip()!r} two shares", param, ctx)
            shares[name.strip()] = self.convert(share, param, ctx)
        if not shares or EACH.sub("", value).strip():
            self.fail(f"{value!r} is no list like DE=3%,FR=5%", param, ctx)
        return shares

    def _number(self, text: str, percent: str, param: Any, ctx: Any) -> float:
        share = float(text) / 100 if percent else float(text)
        if share > 1:
            hint = f"; {text} % is {share / 100:g}" if share <= 100 else ""  # noqa: PLR2004
            self.fail(f"a share is in [0, 1]; got {text}{percent}{hint}", param, ctx)
        return share


class OneShareType(ShareType):
    """One share in [0, 1], without a range: 0.03 or 3%."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the share as a number."""
        share = value if "=" in str(value) else super().convert(value, param, ctx)
        if not isinstance(share, float):
            self.fail(f"{value!r} is no single share like 0.03 or 3%", param, ctx)
        return share


class ThresholdType(click.ParamType):  # type: ignore[type-arg]  # generic in newer click only
    """A score, on whatever scale the scores have."""

    name = "score"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return a number; a percentage, which could mean two things, is refused."""
        text = str(value).strip()
        try:
            return float(text)
        except ValueError:
            share, words = RANGE.fullmatch(text), "is no number; a threshold is a score, 0.7 say"
            if share is not None and share[2] and not share[3]:
                score = f"{float(share[1]) / 100:g}"
                words = (
                    f"could mean two things: --threshold {score} flags the rows with a score of at "
                    f"least {score}, --top {share[1]}% the highest {share[1]} % of the rows"
                )
            self.fail(f"{value!r} {words}", param, ctx)


class CostType(click.ParamType):  # type: ignore[type-arg]  # generic in newer click only
    """What a false positive and a false negative cost: 5:100."""

    name = "costs"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return both costs by name."""
        if not isinstance(value, str):
            return value
        try:
            wrong, missed = (float(part) for part in value.split(":"))
        except ValueError:
            wrong = missed = -1.0
        if min(wrong, missed) < 0 or not 0 < wrong + missed < float("inf"):
            self.fail(
                f"{value!r} is no pair of costs, of a false positive and a false negative: "
                "5:100, say",
                param,
                ctx,
            )
        return {"false_positive": wrong, "false_negative": missed}


class OddsType(click.ParamType):  # type: ignore[type-arg]  # generic in newer click only
    """An odds ratio above 0, or a range of it: 2, 0.5-2."""

    name = "odds"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return a number, or the two ends of a range."""
        if not isinstance(value, str):
            return value
        try:
            ends = [float(part) for part in re.split(r"[-:–]", value)]
        except ValueError:
            ends = []
        if not 1 <= len(ends) <= 2 or not 0 < ends[0] <= ends[-1]:  # noqa: PLR2004 - two ends
            self.fail(f"{value!r} is no odds ratio like 2 and no range like 0.5-2", param, ctx)
        return ends[0] if len(ends) == 1 else (ends[0], ends[1])


def _options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def file_option(*names: str, words: str, dash: bool = False) -> Callable[[Any], Any]:
    """Return the option of a file to be written, or of standard output too (`dash`)."""
    return click.option(*names, type=click.Path(dir_okay=False, allow_dash=dash), help=words)


DATABASE_VARIABLE = "UNDERCOUNT_FROM"
DATA = click.argument("data", nargs=-1, required=False)
SAMPLING_OPTION = click.option(
    "--sampling",
    type=click.Choice(["single-sample", "case-control"]),
    help="Whether the labelled rows are part of the sample or were drawn apart.",
)
CONFIDENCE_LEVEL = click.option(
    "--confidence-level",
    type=float,
    default=0.95,
    show_default=True,
    help="Share of intervals that hold the true value.",
)
SEED_OPTION = click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Seed of resampling.",
)
HTML = file_option("--html", words="Write the live report.")
TITLE = click.option("--title", help="What the report is called.")
JSON = file_option(
    "--json", "json_file", words="Write every fact as JSON; - for stdout.", dash=True
)
CSV = file_option("--csv", "csv_file", words="Write the table as CSV; - for stdout.", dash=True)
QUIET = click.option(
    "--quiet", is_flag=True, help="Print nothing but errors and what is required and not met."
)


def _remember_debugging(ctx: click.Context, _option: Any, given: bool) -> None:  # noqa: FBT001
    ctx.meta[DEBUGGING] = given


DEBUG = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=_remember_debugging,
    help="Show tracebacks.",
)


def check_named_once(_ctx: Any, _option: Any, given: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a column that an option names twice: one of them would be left out without a word."""
    for place, name in enumerate(given):
        if name in given[:place]:
            raise click.BadParameter(f"{name!r} is named twice; leave one out")
    return given


def _split_labels(ctx: click.Context, option: Any, given: tuple[str, ...]) -> str | None:
    """Return the first column of labels, and keep a second one, a source of its own, beside it."""
    check_named_once(ctx, option, given)
    if "" in given:
        raise click.BadParameter("--label must not be empty")
    if len(given) > 1 and ctx.command.name not in ("evaluate", "plan"):
        raise click.BadParameter(
            f"{ctx.command.name} takes one --label; evaluate and plan take two"
        )
    if len(given) > 2:  # noqa: PLR2004 - of two sources
        raise click.BadParameter(f"give one --label, or two sources of labels; got {len(given)}")
    if ctx.command.name in ("evaluate", "plan"):
        ctx.params["second_label"] = given[1] if len(given) > 1 else None
    return given[0] if given else None


POSITIVE_LABEL = click.option(
    "--positive-label",
    metavar="VALUE",
    help="Label that means positive, if it is not 1: fraud, say. Others are read as 0.",
)
_share = ShareType()
LABEL = click.option(
    "--label",
    multiple=True,
    callback=_split_labels,
    help="Column of labels: 1 positive, 0 negative or unlabeled; evaluate and plan take two "
    "sources.",
)
_columns = (
    LABEL,
    click.option(
        "--score",
        "scores",
        multiple=True,
        callback=check_named_once,
        help="Column of scores; repeat for models.",
    ),
)
_codings = (
    click.option("--unlabeled", help="Label value that means unlabeled; with --positives, a file."),
    click.option("--negative", type=float, help="Label value that means verified negative (0)."),
    POSITIVE_LABEL,
    click.option("--positives", help="File of positive rows, for case-control samples."),
    DEBUG,
)
CLUSTER = click.option(
    "--cluster", help="Column that says whose each row is, if labels were given by customer."
)
CHANCE_OPTION = click.option(
    "--chance", help="Column of the chance that a row would carry a label if it were positive."
)
DEPLOY = click.option(
    "--deploy-prevalence",
    type=OneShareType(),
    help="Share of positives where the classifier will work, if it is another one.",
)
reading_options = _options(
    *_columns, click.option("--weight", help="Column of row weights."), *_codings
)
database_options = _options(
    click.option(
        "--from",
        "database",
        envvar=DATABASE_VARIABLE,
        show_envvar=True,
        help="URL of a database, instead of DATA: postgres://user@host/name.",
    ),
    click.option("--table", help="Table of the database."),
    click.option("--query", help="One SELECT of the database, instead of a table."),
)
share_options = _options(
    click.option(
        "--prevalence",
        type=_share,
        help="Share of positives among all rows, or a range: 0.02-0.05; with --by of each segment: "
        "DE=3%,FR=5%.",
    ),
    click.option("--unlabeled-prevalence", type=_share, help="Share among the unlabeled rows."),
    click.option("--label-frequency", type=_share, help="Share of all positives with a label."),
    click.option(
        "--label-purity",
        type=_share,
        default=1.0,
        show_default=True,
        help="Share of rows labelled positive that really are.",
    ),
    SAMPLING_OPTION,
    click.option(
        "--target",
        type=click.Choice(["dataset", "population"]),
        help="Whether intervals speak of these rows or of where they come from.",
    ),
    CONFIDENCE_LEVEL,
    SEED_OPTION,
)
interval_options = _options(
    click.option(
        "--interval",
        "prevalence_interval",
        type=click.Choice(["calibrated", "bootstrap", "combined"]),
        help="How the error of an estimated share reaches the intervals (calibrated).",
    ),
    click.option(
        "--resamples",
        "n_resamples",
        type=int,
        default=200,
        show_default=True,
        help="Resamples of --interval bootstrap and combined.",
    ),
)
output_options = _options(
    HTML,
    TITLE,
    JSON,
    file_option("--markdown", words="Write the table as Markdown; - for stdout.", dash=True),
    CSV,
    QUIET,
)


review_options = _options(
    click.option(
        "--reviews",
        multiple=True,
        metavar="FILE",
        help="Answered review file of undercount plan; repeat for parts of one plan.",
    ),
    click.option(
        "--labels",
        type=click.Choice(["any", "random"]),
        help="Reviews alone carry the answer (any, the default), or with labels taken for random.",
    ),
    click.option(
        "--sequential",
        is_flag=True,
        help="Intervals that hold at every look while verdicts come in; wider.",
    ),
    click.option(
        "--audited",
        is_flag=True,
        help="The rows labelled 1 or 0 are a random sample of all rows that somebody verified.",
    ),
)


def data_name(data: Sequence[str | None]) -> str:
    """Name what was read by its files, without their folders; nothing if there are none."""
    files = ["standard input" if path == "-" else Path(path).name for path in data if path]
    return ", ".join(dict.fromkeys(files))


def _gate_options(form: str, example: str) -> Callable[[Any], Any]:
    """Return the options of a gate, its requirements in the form of the command."""
    return _options(
        click.option(
            "--require",
            "requirements",
            multiple=True,
            metavar=form,
            help="Exit 1 if it fails, 3 if the interval straddles it or a check forbids a "
            f"verdict; {example}.",
        ),
        file_option("--junit", words="Write verdicts as JUnit XML."),
        click.option(
            "--github", is_flag=True, help="Annotate a GitHub job with open requirements."
        ),
    )


gate_options = _gate_options(
    "'METRIC[@T] >= VALUE'", "'recall > 50% and fpr < 0.1' reads at --threshold"
)
model_gate_options = _gate_options(
    "'A.METRIC > B.METRIC'", "also 'A.METRIC >= B.METRIC - 0.02' and 'A.METRIC >= 0.7'"
)


class TopType(click.ParamType):  # type: ignore[type-arg]  # generic in newer click only
    """So many rows of the highest scores: 500, 1%, or 200/50000 for 200 of every 50,000."""

    name = "rows"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return a number of rows, or a share below 1."""
        from undercount.infer.metric_name import read_top  # noqa: PLC0415 - only when needed

        if not isinstance(value, str):
            return value
        try:
            return read_top(value)
        except InputError as error:
            self.fail(str(error), param, ctx)


def wanted_and_assumed(
    options: Options, reading: "Reading", progress: Any = None
) -> "tuple[ReportOptions, Assumption]":
    """Return what options ask of every model, and what they and the rows say of the labels."""
    from undercount.assume.base import ReportOptions  # noqa: PLC0415 - only when needed
    from undercount.assume.options import assumption_by_options  # noqa: PLC0415

    wanted = ReportOptions(
        options["target"],
        options["confidence_level"],
        options.get("top"),
        list(options.get("metrics") or ()) or None,
        options["seed"],
        progress,
        options.get("further", ()),
        options.get("further_tops", ()),
    )
    return wanted, assumption_by_options(options, reading.sampling, reading.propensity)


def thresholds_of(given: Sequence[float], scores: Sequence[str]) -> Any:
    """Return nothing, one threshold for all, or one a model in the order of --score."""
    if len(given) <= 1:
        return given[0] if given else None
    if len(given) != len(scores):
        raise InputError(
            f"give one --threshold for all models or one a --score; got {len(given)} for "
            f"{len(scores)} scores"
        )
    return dict(zip(scores, given, strict=True))
