"""Write the report of evaluations: the live page, or that of labelling chances."""

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from undercount.count.atomic_file import write_text
from undercount.read.evaluation import Evaluation
from undercount.show.page.chances import as_chances_page
from undercount.show.page.identity import Identity, report_date
from undercount.show.page.page import as_page

# Of a frame in a notebook, in pixels: verdict, sliders and the first table.
FRAME_HEIGHT = 760


def write_page(
    evaluations: Sequence[Evaluation],
    path: str | Path,
    *,
    title: str = "",
    data: str = "",
    date: str | None = None,
    story: Sequence[tuple[str, str]] = (),
) -> None:
    """Write the report, whole or not at all; dated today unless a date is given."""
    identity = Identity(title, data, report_date() if date is None else date)
    write_text(path, as_report(evaluations, identity, story))


def as_frame(evaluations: Sequence[Evaluation]) -> str:
    """Return the report inside a frame of its own, which shares no style with its notebook."""
    return str(
        Markup(
            '<iframe srcdoc="{}" title="undercount report" width="100%" height="{}" '
            'sandbox="allow-scripts allow-downloads" frameborder="0"></iframe>'
        ).format(as_report(evaluations), FRAME_HEIGHT)
    )


def as_report(
    evaluations: Sequence[Evaluation],
    identity: Identity | None = None,
    story: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the live report, or that of labelling chances, which fix what sliders would move."""
    if not all(evaluation.basis.sliders for evaluation in evaluations):
        return as_chances_page(evaluations, identity or Identity())
    return as_page(evaluations, identity, story)
