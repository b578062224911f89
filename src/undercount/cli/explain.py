"""Explain metrics, assumptions and checks."""

import click

from undercount.cli.command import ALL_FINE, Command
from undercount.cli.options import DEBUG
from undercount.cli.streams import print_text


@click.command(cls=Command, short_help="Explain a metric, assumption or check.")
@click.argument("term", required=False)
@DEBUG
def explain(term: str | None) -> int:
    """Explain a metric, assumption or check: formula, what it needs, reference."""
    from undercount.show.terms import explanation  # noqa: PLC0415 - only when needed

    print_text(explanation(term))
    return ALL_FINE
