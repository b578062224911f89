"""What every command keeps to: its data stay whole, and no failure looks like a verdict."""

import os
import sys
import traceback
from typing import Any

import click

from undercount.commands.outputs import refuse_overwriting
from undercount.commands.talk import BAD_INPUT, READER_GONE, UNEXPECTED
from undercount.errors import InputError
from undercount.report.files import STANDARD_OUTPUT


class Command(click.Command):
    """A command that refuses to write onto its data, and has a code for its own failures."""

    def invoke(self, ctx: click.Context) -> Any:
        """Check the files, run, and return the exit code."""
        try:
            outputs = self._outputs(ctx)
            refuse_overwriting(_inputs(ctx.params), outputs)
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except InputError:
            if not ctx.params["debug"]:
                raise
            traceback.print_exc()
            return BAD_INPUT
        except BrokenPipeError:
            # What is still to be flushed when Python ends has no reader either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return READER_GONE
        except Exception as error:  # noqa: BLE001 - whatever it is, its code must not be a verdict's
            return _unexpected(error, debug=ctx.params["debug"])

    def _outputs(self, ctx: click.Context) -> dict[str, str]:
        """Return the files to be written: options of files are outputs, data are arguments."""
        found = {}
        for option in self.params:
            kind, path = option.type, ctx.params.get(str(option.name))
            if isinstance(kind, click.Path) and not kind.dir_okay and path:
                if path in STANDARD_OUTPUT:
                    path = ctx.params[str(option.name)] = "-"
                found[option.opts[-1]] = path
        return found


def _inputs(options: dict[str, Any]) -> list[str]:
    found = [*options.get("data", ()), *options.get("parts", ())]
    if options.get("positives"):
        found += [options["positives"], options["unlabeled"] or ""]
    return [path for path in found if path]


def _unexpected(error: Exception, *, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    what = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    hint = "" if debug else "; --debug shows where"
    told = f"undercount: something went wrong inside the program ({what}). Please report it with "
    click.echo(f"{told}the command you ran{hint}", err=True)
    return UNEXPECTED
