"""Evaluate segment by segment, and write what was found."""

from typing import TYPE_CHECKING, Any

import click

from undercount.cli.command import print_notes, prints, progress
from undercount.cli.gate import report_verdict
from undercount.cli.options import share_arguments
from undercount.errors import InputError

if TYPE_CHECKING:
    from undercount.cli.inputs import Reading
    from undercount.read.segments import Evaluations

BESIDE_SEGMENTS = {
    "cluster": "--cluster: a segment's counts do not say which rows belong together",
    "chance": "--chance: a segment's counts do not say which chance a row had",
    "deploy_prevalence": "--deploy-prevalence, which speaks of all rows together",
}


def evaluate_by(reading: "Reading", requirements: list[Any], options: dict[str, Any]) -> int:
    """Evaluate the segments of one score column."""
    from undercount.read.requirement import Verdict  # noqa: PLC0415 - only when needed

    if len(reading.segments) > 1:
        raise InputError(
            f"--by takes one --score; got {', '.join(reading.segments)}. Run it once for each"
        )
    found = _evaluate(reading, options)
    _write(found, options)
    if prints(options):
        print_notes(reading.notes)
        click.echo(f"\n{found}")
    verdict = sum((found.judge(each) for each in requirements), Verdict(()))
    return report_verdict(verdict, options)


def refuse_beside_segments(options: dict[str, Any]) -> None:
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
            "verdicts fall into any one segment. Plan the rows of each segment by themselves"
        )


def _evaluate(reading: "Reading", options: dict[str, Any]) -> "Evaluations":
    from undercount.read.counted_model import CountedModel  # noqa: PLC0415 - only when needed
    from undercount.read.evaluate import evaluate_segments  # noqa: PLC0415
    from undercount.read.segment_rows import SegmentModels  # noqa: PLC0415
    from undercount.read.segments import sort_segments  # noqa: PLC0415

    ((name, counted),) = reading.segments.items()
    threshold = options.get("threshold")
    parts = {key: CountedModel(counted[key], threshold) for key in sort_segments(list(counted))}
    whole = CountedModel(reading.counts[name], threshold)
    with progress("estimating segments", options):
        return evaluate_segments(
            name,
            SegmentModels(whole, parts, ", ".join(options["by"])),
            prevalence_interval=options["prevalence_interval"],
            n_resamples=options["n_resamples"],
            top=options.get("top"),
            metrics=list(options.get("metrics") or ()) or None,
            **share_arguments(options, reading.sampling),
        )


def _write(found: "Evaluations", options: dict[str, Any]) -> None:
    """Write the files that the options name."""
    from undercount.count.atomic_file import write_text  # noqa: PLC0415 - only when needed

    if options["json_file"]:
        write_text(options["json_file"], found.to_json())
    if options["markdown"]:
        write_text(options["markdown"], found.to_markdown())
    if options.get("csv_file"):
        from undercount.show.tables import write_csv  # noqa: PLC0415

        write_text(options["csv_file"], write_csv(found.table()))
    if options["html"]:
        found.to_html(options["html"])
        if options["html"] != "-" and not options["quiet"]:
            click.echo(f"wrote {options['html']}", err=True)
