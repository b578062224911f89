"""What every command keeps to: exit codes, one message for bad input, and where results go.

Results are never written onto what they are made from, and each goes to a place of its own.
"""

import os
import stat
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import click

from undercount.cli.arguments import DEBUGGING, Options
from undercount.cli.help_page import Context
from undercount.cli.streams import fit, print_text, tell
from undercount.cli.wording import say
from undercount.count.atomic_file import STANDARD_OUTPUT
from undercount.count.paths import STANDARD_INPUT, find_files
from undercount.count.progress import Tell, open_progress
from undercount.errors import InputError

ALL_FINE, REQUIREMENT_FAILS, BAD_INPUT, INCONCLUSIVE = 0, 1, 2, 3
# As by convention: an error in the program itself, and a pipe whose reader has gone.
UNEXPECTED, READER_GONE = 70, 141
READ_COUNTS = ("evaluate", "prevalence")  # the commands that take counts files for rows
# A file that exists is known by device and number, which its links share; others by their path.
Place = tuple[int, int] | str


def check_output_paths(inputs: Iterable[str], outputs: Mapping[str, str]) -> None:
    """Refuse results that would replace their own data or each other, or have no folder.

    Parameters
    ----------
    inputs : iterable of str
        Files, patterns and folders to be read, and "-" for standard input.
    outputs : mapping of str
        Option → file to be written, or "-" for standard output.
    """
    read = {_place(file) for path in inputs for file in files_of(path)}
    written: dict[Place, str] = {}
    for option, path in outputs.items():
        place = _place(path) if path not in STANDARD_OUTPUT else "-"
        if place is None:  # pipes and devices take anything
            continue
        if place in written and place == "-":
            raise InputError(
                f"{written[place]} and {option} cannot both go to standard output; name a file "
                "for one of them"
            )
        if place in written:
            raise InputError(
                f"{written[place]} and {option} would write to the same file, {path}; name two"
            )
        if place in read:
            raise InputError(
                f"{option} {path} would overwrite the data it is made from; name another file"
            )
        folder = Path(os.path.realpath(path)).parent
        if place != "-" and not folder.is_dir():
            raise InputError(f"cannot write {path}: there is no folder {folder}")
        written[place] = option


def files_of(path: str) -> list[str]:
    """Return the files that a name, a pattern or a folder stands for."""
    if path == STANDARD_INPUT:
        return ["/dev/stdin"]  # the file itself, if one was redirected
    return find_files(path) or [path]


def _place(path: str) -> Place | None:
    try:
        state = os.stat(path)  # noqa: PTH116 - links of open pipes lead to no name to look up
    except OSError:
        return os.path.realpath(path)
    return (state.st_dev, state.st_ino) if stat.S_ISREG(state.st_mode) else None


@contextmanager
def progress(what: str, options: Mapping[str, object]) -> Iterator[Tell | None]:
    """Show a bar on stderr if work takes long, unless quiet or not a terminal."""
    with open_progress(not options.get("quiet") and sys.stderr.isatty(), what) as steps:
        yield steps.tell


def prints(options: Options) -> bool:
    """Tell whether text may be printed: a document on standard output must have it for itself."""
    documents = (options.get(name) for name in ("json_file", "markdown", "csv_file", "html"))
    return not options["quiet"] and "-" not in documents


def tell_page(options: Options) -> None:
    """Say where the page is, unless it went to standard output or all is to be quiet."""
    if options["html"] not in (None, "-") and not options["quiet"]:
        tell(f"wrote {options['html']}")


def print_notes(notes: Iterable[str]) -> None:
    """Print what was read and inferred."""
    for note in notes:
        print_text(fit(f" {note}"))


def leave_reader() -> int:
    """Return the code of a pipe whose reader has gone; what is still to be flushed has none."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # not a stream of the system
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return READER_GONE


class Command(click.Command):
    """A command that refuses to write onto its data, and has a code for each kind of failure."""

    context_class = Context

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; an option of one value that is given twice is refused.

        click would take the last without a word.
        """
        if not ctx.resilient_parsing:
            given = self.make_parser(ctx).parse_args(list(args))[2]
            for option in dict.fromkeys(given):
                single = isinstance(option, click.Option) and not (
                    option.multiple or option.is_flag
                )
                if single and given.count(option) > 1:
                    raise click.UsageError(
                        f"{option.opts[-1]} takes one value; it is given {given.count(option)} "
                        "times. Leave all but one out",
                        ctx,
                    )
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Check the files, run, and return the exit code."""
        try:
            code = self._invoke(ctx)
            sys.stdout.flush()  # else a reader that has gone would be noticed after the code
        except BrokenPipeError:
            return leave_reader()
        except OSError as error:  # a full disk
            tell(f"undercount: cannot write standard output: {error.strerror}")
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return BAD_INPUT
        return code

    def _invoke(self, ctx: click.Context) -> Any:
        try:
            self._check_option_values(ctx)
            check_output_paths(_inputs(cast("Options", ctx.params)), self._outputs(ctx))
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except InputError as error:
            if ctx.meta.get(DEBUGGING, False):
                traceback.print_exc()
            else:
                tell(f"undercount: {say(error.message, self)}")
            return BAD_INPUT
        except (OSError, MemoryError, ImportError) as error:
            if ctx.meta.get(DEBUGGING, False):
                traceback.print_exc()
            tell(f"undercount: {_describe_system(error, self.name)}")
            return BAD_INPUT
        except Exception as error:  # noqa: BLE001 - whatever it is, its code must not be a verdict's
            if type(error).__name__ == "OutOfMemoryException":  # DuckDB's, which is not loaded here
                tell(f"undercount: {_describe_system(MemoryError(), self.name)}")
                return BAD_INPUT
            return _report_unexpected(error, debug=ctx.meta.get(DEBUGGING, False))

    def _check_option_values(self, ctx: click.Context) -> None:
        """Refuse options without a value, as a script's unset variable gives them."""
        for option in self.params:
            value = ctx.params.get(str(option.name))
            if "" in (value if isinstance(value, tuple) else (value,)):
                name = option.opts[-1] if isinstance(option, click.Option) else option.name
                raise InputError(f"{name} must not be empty; got ''")

    def _outputs(self, ctx: click.Context) -> dict[str, str]:
        """Return the files to be written: options of files are outputs, data are arguments."""
        files = {}
        for option in self.params:
            kind, path = option.type, ctx.params.get(str(option.name))
            if isinstance(kind, click.Path) and not kind.dir_okay and path:
                if path in STANDARD_OUTPUT:
                    path = ctx.params[str(option.name)] = "-"
                files[option.opts[-1]] = path
        return files


def _describe_system(error: OSError | MemoryError | ImportError, command: str | None) -> str:
    """Say what the system refused."""
    if isinstance(error, ImportError):
        return f"a library cannot be loaded: {error}"
    if isinstance(error, MemoryError):
        if command not in READ_COUNTS:
            return "there is not enough memory; use fewer of the rows, drawn at random"
        return (
            "there is not enough memory; count the rows to a file with undercount count, which "
            "needs little, and use that"
        )
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or error}"


def _inputs(options: Options) -> list[str]:
    paths = [*options.get("data", ()), *options.get("parts", ()), *options.get("reviews", ())]
    two_samples = [options["positives"], options["unlabeled"]] if options.get("positives") else []
    return [path for path in [*paths, *two_samples] if path]


def _report_unexpected(error: Exception, *, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    what = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    hint = "" if debug else "; --debug shows where"
    tell(
        f"undercount: something went wrong inside the program ({what}). Please report it with the "
        f"command you ran{hint}"
    )
    return UNEXPECTED
