"""The commands. stdout is the result, stderr the talk; nothing heavy is imported for --help."""

import sys
from collections.abc import Sequence

import click

from undercount import __version__
from undercount.cli.command import BAD_INPUT, FINE
from undercount.cli.comparing import compare, prevalence, select
from undercount.cli.count import count, merge
from undercount.cli.evaluate import demo, evaluate
from undercount.cli.explain import explain, reproduce
from undercount.cli.wording import in_options
from undercount.errors import InputError


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; bad input is one message on stderr and exit code 2."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = commands.main(args=arguments, prog_name="undercount", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("stopped; nothing was written", err=True)
        return BAD_INPUT
    except click.ClickException as error:
        error.show()
        return BAD_INPUT
    except InputError as error:
        asked = commands.commands.get(arguments[0])
        click.echo(f"undercount: {in_options(str(error), asked)}", err=True)
        return BAD_INPUT
    return int(code or FINE)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "--version", message="%(prog)s %(version)s")
def commands() -> None:
    """Measure true classifier performance when the labels undercount the positives."""


for command in (evaluate, demo, prevalence, compare, count, merge, select, reproduce, explain):
    commands.add_command(command)


if __name__ == "__main__":
    sys.exit(main())
