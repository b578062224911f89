"""The commands. stdout is the result, stderr the talk; nothing heavy is imported for --help."""

import io
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from undercount import __version__
from undercount.cli.command import ALL_FINE, BAD_INPUT, Command, leave_reader
from undercount.cli.compare import compare
from undercount.cli.count import count, merge
from undercount.cli.demo import demo
from undercount.cli.evaluate import evaluate
from undercount.cli.explain import explain
from undercount.cli.guide import guide
from undercount.cli.help_page import Context
from undercount.cli.interrupt import INTERRUPTED, STOPPED
from undercount.cli.monitor import monitor
from undercount.cli.options import DEBUG
from undercount.cli.plan import plan
from undercount.cli.prevalence import prevalence
from undercount.cli.select import select
from undercount.cli.streams import tell
from undercount.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

# Entry points of other packages that add commands: name = "module:click command".
GROUP = "undercount.commands"


def run(argv: Sequence[str] | None) -> int:
    """Run a command and return its exit code."""
    output = sys.stdout
    try:
        code = commands.main(args=argv, prog_name="undercount", standalone_mode=False)
        sys.stdout.flush()  # of --help and --version, which no command prints
    except SystemExit:
        if sys.stdout is output:
            raise
        return leave_reader()  # click has put another in its place: the reader of its help has gone
    except OSError as error:  # a full disk
        tell(f"undercount: cannot write standard output: {error.strerror}")
        leave_reader()
        return BAD_INPUT
    except click.exceptions.Abort:
        tell(STOPPED)
        return INTERRUPTED
    except click.ClickException as error:
        said = io.StringIO()
        error.show(said)
        tell(said.getvalue().rstrip("\n"))
        return BAD_INPUT
    return int(code or ALL_FINE)


class Commands(click.Group):
    """The commands of this package, and those that others add."""

    context_class = Context

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*super().list_commands(ctx), *_find_added().names})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a command; one that is added takes the place of what stands in for it."""
        own = super().get_command(ctx, cmd_name)
        if own is not None and own is not reproduce:
            return own
        for point in _find_added().select(name=cmd_name):
            added: click.Command = point.load()
            return added
        return own


def _find_added() -> "EntryPoints":
    from importlib.metadata import entry_points  # noqa: PLC0415 - looks at all that is installed

    return entry_points(group=GROUP)


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, "--version", message="%(prog)s %(version)s")
def commands() -> None:
    """Measure true classifier performance when the labels undercount the positives."""


@click.command(
    cls=Command,
    short_help="Reproduce tables and figures of the papers.",
    context_settings={"ignore_unknown_options": True},
)
@click.argument("asked", nargs=-1, expose_value=False)
@DEBUG
def reproduce() -> int:
    """Reproduce tables and figures of the papers, once the package that does it is there."""
    raise InputError(
        "the papers' tables and figures are a package of their own: run pip install on the folder "
        "reproductions of undercount's repository, or make reproduce there"
    )


for command in (
    evaluate, plan, demo, prevalence, compare, count, merge, select, monitor,
    reproduce, explain, guide,
):  # fmt: skip
    commands.add_command(command)
