"""What can be reproduced, and how to run it."""

import importlib
from pathlib import Path
from typing import NamedTuple

from undercount.errors import InputError, named
from undercount_reproductions.result import Result
from undercount_reproductions.running import Progress, Request


class Item(NamedTuple):
    """Describe one table or figure.

    Attributes
    ----------
    paper, item : str
        Its names on the command line.
    what : str
        What it shows.
    data : tuple of str
        Files it needs; none if it draws its own data.
    runs : int
        Draws of the published table, and of ours by default.
    """

    paper: str
    item: str
    what: str
    data: tuple[str, ...]
    runs: int


_AUL: tuple[str, ...] = (
    "abalone",
    "airfoil",
    "anuran",
    "concrete_aul",
    "landsat_aul",
    "mushroom_aul",
)
_AUL += ("pageblock_aul", "spambase", "waveform")
_JAIN: tuple[str, ...] = (
    "bank",
    "concrete_jain",
    "gas_partial",
    "housing",
    "landsat_jain",
    "mushroom_jain",
)
_JAIN += ("pageblock_jain", "pendigit", "pima", "shuttle", "spambase", "wine_jain")

ITEMS = (
    Item("claesen2015", "figure1", "rank distributions of two sets of positives", (), 1),
    Item("claesen2015", "figure2", "bounds against the number of known positives", (), 200),
    Item("claesen2015", "figure3", "ROC curves against the assumed share", (), 1),
    Item("claesen2015", "figure4", "two models and the assumed share", (), 1),
    Item("claesen2015", "figure5", "covtype: bounds", ("covtype_scores_claesen",), 200),
    Item("claesen2015", "table1", "bounds on the AUC from known positives", (), 100),
    Item("claesen2015", "table2", "bounds on the AUC, tightest basis", (), 100),
    Item("jain2017", "figure1", "toy example: PU and PN areas", (), 1),
    Item("jain2017", "figure2", "distribution of errors by purity", _JAIN, 50),
    Item("jain2017", "figure3", "error of the recovered AUC over assumed shares", (), 1),
    Item("jain2017", "figure4", "lines of the error surface", (), 1),
    Item("jain2017", "known", "errors with known shares against their standard errors", _JAIN, 50),
    Item("jain2017", "signtests", "indirect against direct recovery", (), 50),
    Item("jain2017", "table1", "errors of the recovered AUC", _JAIN, 50),
    Item("jain2017", "table2", "errors of the recovered AUC-PR", _JAIN, 50),
    Item("tabatabaei2020", "figure1", "a generated data set", (), 1),
    Item("tabatabaei2020", "figure2", "label frequency by a classifier", (), 50),
    Item("tabatabaei2020", "figure3", "spread of the estimated F1", (), 100),
    Item("tabatabaei2020", "figure4", "pairs in the wrong order", ("heart_cleveland",), 200),
    Item("tabatabaei2020", "figure5", "pairs in the wrong order, wrong frequency", (), 200),
    Item("tabatabaei2020", "table2", "RMSE of F1 and LL estimates", ("heart_cleveland",), 1000),
    Item("cook2016", "figure1", "ROC curves, rows chosen by the score", (), 1),
    Item("cook2016", "figure2", "ROC curves, rows chosen by another classifier", (), 1),
    Item("cook2016", "figure3", "scores of white wines", ("wine_white_cook",), 1000),
    Item("cook2016", "figure4", "ROC curves of white wines", ("wine_white_cook",), 1000),
    Item("cook2016", "table2", "areas, rows chosen by the score", (), 2000),
    Item("cook2016", "table3", "areas, rows chosen by something unseen", (), 2000),
    Item("cook2016", "table4", "areas, rows chosen by a known classifier", (), 2000),
    Item("aul2021", "figure1", "toy example: AUC and AUL", (), 1),
    Item("aul2021", "figure2", "distribution of errors by data set", _AUL, 50),
    Item("aul2021", "figure3", "classifiers trained for AUL and for AUC", _AUL, 50),
    Item("aul2021", "table1", "errors of recovered AUC and of AUL", _AUL, 50),
    Item("aul2021", "timing", "time of an estimate (section 4.2)", (), 5),
)


def find_item(paper: str, item: str) -> Item:
    """Return an item by its names.

    Examples
    --------
    >>> from undercount_reproductions.catalogue import find_item
    >>> find_item("cook2016", "table2").runs
    2000
    """
    papers = sorted({known.paper for known in ITEMS})
    if paper not in papers:
        raise InputError(f"no paper {paper!r} is reproduced here; there are {', '.join(papers)}")
    for known in ITEMS:
        if (known.paper, known.item) == (paper, item):
            return known
    items = ", ".join(known.item for known in ITEMS if known.paper == paper)
    raise InputError(f"{paper} has no item {item!r} here; there are {items}")


def run_item(
    paper: str,
    item: str,
    *,
    runs: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    out: str | Path | None = None,
    data_dir: str | Path | None = None,
    progress: Progress | None = None,
    backend: str | None = None,
    bags: int | None = None,
) -> Result:
    """Reproduce one table or figure.

    Parameters
    ----------
    paper, item : str
        One of `ITEMS`.
    runs : int, optional
        Draws; the item's own number by default.
    seed : int
        Of all random numbers; results do not depend on `jobs`.
    jobs : int
        Processes.
    out : path, optional
        Folder where finished draws are kept, so that a second call goes on where the first ended.
        The table itself is written by ``Result.write``.
    data_dir : path, optional
        Folder of data files.
    progress : callable, optional
        Called with the number of blocks of draws done and of all.
    backend : str, optional
        A joblib backend by name, for a cluster.
    bags : int, optional
        Networks of one ensemble in the tables of Jain et al.; the published 100 by default.

    Returns
    -------
    Result

    Examples
    --------
    >>> from undercount_reproductions.catalogue import run_item
    >>> result = run_item("aul2021", "figure1")
    >>> result.rows[0]
    ('AUC', 0.74, 0.74)
    """
    known = find_item(paper, item)
    number = known.runs if runs is None else runs
    if number < 1:
        raise InputError(f"{named('runs')} must be at least 1; got {number}")
    request = Request(
        paper,
        item,
        number,
        seed,
        jobs,
        None if out is None else Path(out),
        None if data_dir is None else Path(data_dir),
        progress,
        backend,
        bags,
    )
    result: Result = getattr(importlib.import_module(f"undercount_reproductions.{paper}"), item)(
        request
    )
    return result
