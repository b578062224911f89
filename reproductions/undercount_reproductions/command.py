"""The command `undercount reproduce`, which this package adds by an entry point."""

from pathlib import Path
from typing import Any

import click

from undercount.cli.command import ALL_FINE, Command, progress
from undercount.cli.options import DEBUG, QUIET
from undercount.cli.streams import fit
from undercount.errors import InputError


@click.command(cls=Command, short_help="Reproduce tables and figures of the papers.")
@click.argument("paper", required=False)
@click.argument("item", required=False)
@click.option("--runs", type=int, help="Draws; by default the number of the paper.")
@click.option("--bags", type=int, help="Networks in a bag (jain2017); by default the paper's.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the draws.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Processes.")
@click.option("--backend", help="A joblib backend by name, dask or ray for a cluster.")
@click.option("--out", type=click.Path(file_okay=False), help="Folder for tables and figures.")
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False),
    envvar="UNDERCOUNT_DATA",
    show_envvar=True,
    help="Folder of data files.",
)
@QUIET
@DEBUG
def reproduce(paper: str | None, item: str | None, **options: Any) -> int:
    """Reproduce a table or figure of a paper, ours beside the published; or list them."""
    from undercount_reproductions.catalogue import ITEMS, run_item  # noqa: PLC0415 - numpy

    folder = options["data_dir"]
    if folder and not Path(folder).is_dir():
        raise InputError(
            f"there is no folder {folder!r}; name that of the data files by --data-dir or "
            "UNDERCOUNT_DATA, or leave both out"
        )
    if item is None:
        chosen = [each for each in ITEMS if paper in (None, each.paper)]
        if not chosen:
            papers = ", ".join(sorted({each.paper for each in ITEMS}))
            raise InputError(f"no paper {paper!r} is reproduced here; there are {papers}")
        for each in chosen:
            click.echo(fit(f" {each.paper:<15}{each.item:<10} {each.runs:>5} runs  {each.what}"))
        return ALL_FINE
    given = {
        name: options[name]
        for name in ("runs", "bags", "seed", "jobs", "backend", "out", "data_dir")
    }
    with progress(f"{paper} {item}", options) as bar:
        tell = None if bar is None else lambda done, every: bar(done / every)
        result = run_item(str(paper), item, **given, progress=tell)
    if options["out"]:
        result.write(options["out"])
    if not options["quiet"]:
        click.echo(result.text())
    return ALL_FINE
