"""Evaluate segment by segment, and write what was found."""

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, cast

from undercount.cli.arguments import Options
from undercount.cli.command import print_notes, prints, progress
from undercount.cli.gate import check_models_named, report_verdict
from undercount.cli.options import wanted_and_assumed
from undercount.cli.streams import print_text, tell
from undercount.errors import InputError, suggest

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from undercount.cli.inputs import ModelColumns, Reading
    from undercount.infer.scored_rows import ScoredRows
    from undercount.infer.segmented_rows import Segmentation
    from undercount.read.compare.comparisons import Comparisons
    from undercount.read.segments.evaluations import Evaluations

FILES = {"json_file": "--json", "markdown": "--markdown", "csv_file": "--csv", "html": "--html"}
WRITTEN_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
SHARE_OPTIONS = ("prevalence", "unlabeled_prevalence", "label_frequency")
BESIDE_SEGMENTS = {"odds_ratio": "--gamma, whose bounds are those of all rows together"}


def evaluate_by(reading: "Reading", requirements: list[Any], options: Options) -> int:
    """Evaluate the segments of each score column: a table a score."""
    from undercount.read.require.requirement import Verdict  # noqa: PLC0415 - only when needed

    names = list(reading.counts)
    check_models_named(requirements, names)
    written = [words for name, words in FILES.items() if options.get(name)]
    if len(names) > 1 and written:
        raise InputError(
            f"--by writes {written[0]} of one --score; got {', '.join(names)}. Run it once for each"
        )
    tables = {name: _evaluate(name, reading, options) for name in names}
    for table in tables.values():
        _write(table, options)
    if prints(options):
        print_notes(reading.notes)
        for name, table in tables.items():
            print_text(f"\n{name}\n{table}" if len(tables) > 1 else f"\n{table}")
    verdict = sum(
        (
            table.judge(requirement)
            for name, table in tables.items()
            for requirement in requirements
            if requirement.name.model in (None, name)
        ),
        Verdict(()),
    )
    return report_verdict(verdict, options)


def check_segment_options(options: Options) -> None:
    """Refuse what segments do not answer, before anything is read."""
    for name, words in BESIDE_SEGMENTS.items():
        if options.get(name) is not None:
            raise InputError(
                f"--by does not go with {words}. Write the rows of each segment to a file, and "
                "run it once for each"
            )
    if options["reviews"]:
        raise InputError(
            "--by does not go with --reviews: a plan shares its budget over all rows, and few "
            "verdicts fall into any one segment. Plan the rows of each segment by themselves, or "
            "call uc.evaluate(…, assume=uc.Reviewed(…), by=…) in Python"
        )


def check_share_options(options: Options) -> None:
    """Refuse a share of each segment where there are none."""
    for name in SHARE_OPTIONS:
        given = options.get(name)
        if isinstance(given, dict):
            shown = ",".join(f"{segment}={share:g}" for segment, share in given.items())
            raise InputError(
                f"--{name.replace('_', '-')} {shown} gives a share of each segment: name their "
                "column by --by"
            )


def name_shares_of_rows(options: Options, by: Any, n_rows: int) -> Options:
    """Return the options with shares of segments by the values that rows have."""
    from undercount.infer.segmented_rows import split_rows  # noqa: PLC0415 - only when needed

    if by is None:
        return options
    return _name_shares(options, list(split_rows(by, n_rows)), ", ".join(options["by"]))


def _name_shares(options: Options, segments: "list[Hashable]", column: str) -> Options:
    """Return the options with shares of segments by the segments' own values, not by their text."""
    from undercount.show.segments import segment_name  # noqa: PLC0415 - only when needed

    names = {segment_name(segment): segment for segment in segments}
    shown = Counter(map(segment_name, segments))
    renamed: dict[str, Any] = {**options}
    for name in SHARE_OPTIONS:
        given = options.get(name)
        if not isinstance(given, dict):
            continue
        for own_name in given:
            if own_name not in names:
                hint = suggest(own_name, names)
                raise InputError(
                    f"--{name.replace('_', '-')} {own_name}=…: no segment of {column} is "
                    f"called so; there are {', '.join(list(names)[:10])}"
                    + (f"; {hint}" * bool(hint))
                )
            if shown[own_name] > 1:
                raise InputError(
                    f"--{name.replace('_', '-')} {own_name}=…: {shown[own_name]} segments of "
                    f"{column} are written so; give them names that differ"
                )
        renamed[name] = {names[own_name]: share for own_name, share in given.items()}
    return cast("Options", renamed)


def _evaluate(name: str, reading: "Reading", options: Options) -> "Evaluations":
    from undercount.read.segments.evaluate_segments import evaluate_segments  # noqa: PLC0415 - when needed

    model, segmentation = _split(name, reading, options)
    segments = segmentation.split(name, model)
    options = _name_shares(options, list(segments), segmentation.column)
    with progress(f"estimating segments of {name}", options):
        wanted, assumption = wanted_and_assumed(options, reading)
        there = options.get("deploy_prevalence")
        return evaluate_segments(name, model, segmentation, assumption, wanted, there)


def _split(name: str, reading: "Reading", options: Options) -> "tuple[ScoredRows, Segmentation]":
    """Return the segments of one score: of rows that were kept, or of counts."""
    import numpy as np  # noqa: PLC0415 - only when needed

    from undercount.infer.scored_rows import ScoredRows  # noqa: PLC0415
    from undercount.infer.segmented_rows import CountedSegmentation, RowSegmentation  # noqa: PLC0415

    column = ", ".join(options["by"])
    if reading.models:
        return reading.models[name], RowSegmentation(segment_values(reading.by), column)
    counted = reading.segments[name]
    keys = np.empty(len(counted), object)
    keys[:] = list(counted)  # tuples, where there are several columns, stay whole
    names = _as_numbers(keys).tolist()
    parts = dict(zip(names, counted.values(), strict=True))
    model = ScoredRows(reading.counts[name], options.get("threshold"))
    return model, CountedSegmentation({name: parts}, column)


def segment_values(columns: "list[NDArray[Any]]") -> Any:
    """Return the segment of each row: one column of values, or several."""
    read = [_as_numbers(values) for values in columns]
    return read[0] if len(read) == 1 else read


def _as_numbers(values: "NDArray[Any]") -> "NDArray[Any]":
    """Return text that is numbers throughout, as a CSV file has them, as numbers.

    So 2 stands before 10, and there is a trend. Codes such as 007 and times such as 202403 stay,
    and so do all if two of them would become one.
    """
    import numpy as np  # noqa: PLC0415 - only when needed

    from undercount.read.segments.spread_tests import is_ordered  # noqa: PLC0415

    distinct = {value for value in values.tolist() if value is not None}
    numbers = distinct and all(
        isinstance(value, str) and WRITTEN_NUMBER.fullmatch(value) for value in distinct
    )
    if not numbers or is_ordered(list(distinct)):
        return values
    read = float if any("." in value for value in distinct) else int
    if len({read(value) for value in distinct}) < len(distinct):  # 1 and 1.0 are two names
        return values
    return np.array([None if value is None else read(value) for value in values.tolist()], object)


def write_comparisons(found: "Comparisons", rows: "ModelColumns", options: Options) -> int:
    """Write the files that the options name, print, and judge each segment."""
    verdict = found.require(*options["requirements"])
    _write(found, options)
    if prints(options):
        print_notes(rows.notes)
        print_text(f"\n{found}")
    return report_verdict(verdict, options)


def _write(found: "Evaluations | Comparisons", options: Options) -> None:
    """Write the files that the options name."""
    from undercount.count.atomic_file import write_text  # noqa: PLC0415 - only when needed

    if options["json_file"]:
        write_text(options["json_file"], found.to_json())
    if options["markdown"]:
        write_text(options["markdown"], found.to_markdown())
    if options["csv_file"]:
        from undercount.show.tables import write_csv  # noqa: PLC0415

        write_text(options["csv_file"], write_csv(found.table()))
    if options["html"]:
        found.to_html(options["html"])
        if options["html"] != "-" and not options["quiet"]:
            tell(f"wrote {options['html']}")
