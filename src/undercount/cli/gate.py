"""Requirements on the command line: how they are read, and how their verdict is told."""

import re
import sys
from typing import TYPE_CHECKING

import click

from undercount.cli.arguments import Options
from undercount.cli.command import ALL_FINE, INCONCLUSIVE, REQUIREMENT_FAILS, prints
from undercount.cli.streams import fit, print_text, tell
from undercount.cli.wording import say
from undercount.errors import InputError
from undercount.show.layout import neutralise

if TYPE_CHECKING:
    from undercount.read.require.requirement import Judgement, Requirement, Verdict

EXIT_CODE_BY_OUTCOME = {"met": ALL_FINE, "failed": REQUIREMENT_FAILS, "inconclusive": INCONCLUSIVE}
# What GitHub calls a line beside a job; one that is met needs none.
ANNOTATIONS = {"failed": "error", "inconclusive": "warning"}


def read_requirements(options: Options, threshold: float | None) -> "list[Requirement]":
    """Read every --require, at the threshold of the command where it names none."""
    from undercount.read.require.requirement import parse_requirements  # noqa: PLC0415 - only when needed

    return [
        requirement
        for text in options["requirements"]
        for requirement in parse_requirements(text, threshold, options.get("top"))
    ]


def check_models_named(requirements: "list[Requirement]", names: list[str]) -> None:
    """Refuse a requirement of a model that is not here."""
    for requirement in requirements:
        if requirement.name.model not in (None, *names):
            raise InputError(
                f"{requirement.words!r} names no model here; there are {', '.join(names)}"
            )


def report_verdict(verdict: "Verdict", options: Options) -> int:
    """Print every verdict, only those not met if quiet; write what was asked for; return the code.

    Warnings go to stderr, and so do verdicts where stdout belongs to a document.
    """
    command = click.get_current_context().command
    for judgement in verdict.judgements:
        for warning in judgement.warned if not options["quiet"] else ():
            tell(f"undercount: {say(warning.message, command)}")
        if not options["quiet"] or judgement.outcome != "met":
            if prints(options):
                print_text(fit(f" {judgement}"))
            else:
                tell(f" {judgement}")
        if options["github"] and judgement.outcome in ANNOTATIONS:
            click.echo(neutralise(annotation(judgement)), file=sys.stderr)
    if options["junit"]:
        from undercount.count.atomic_file import write_text  # noqa: PLC0415 - only when needed
        from undercount.show.junit import as_junit  # noqa: PLC0415

        write_text(options["junit"], as_junit(verdict))
    return EXIT_CODE_BY_OUTCOME[verdict.outcome]


def annotation(judgement: "Judgement") -> str:
    """Write a GitHub workflow command; what it would take for its own signs is escaped."""
    title = f"{judgement.subject}: {judgement.requirement.words}"
    title = re.sub("[:,]", lambda sign: f"%{ord(sign[0]):02X}", _escape(title))
    kind = ANNOTATIONS[judgement.outcome]
    return f"::{kind} title={title}::{_escape(str(judgement))}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
