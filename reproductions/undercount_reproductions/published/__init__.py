"""Numbers printed in the papers, one small JSON file a paper."""

import json
from importlib.resources import files
from typing import Any


def published(paper: str) -> Any:
    """Return the printed numbers of a paper.

    Examples
    --------
    >>> from undercount_reproductions.published import published
    >>> published("cook2016")["table2"]["random"]
    [[0.59, 0.026], [0.73, 0.022], [0.83, 0.018]]
    """
    return json.loads(files(__name__).joinpath(f"{paper}.json").read_text(encoding="utf-8"))
