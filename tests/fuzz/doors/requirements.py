"""The grammar of `--require`."""

import random
from pathlib import Path

from undercount.errors import InputError
from undercount.metric_facts import FACTS
from undercount.read.require.requirement import parse_requirement

NAMES = (*FACTS, "ROC AUC", "Precision", "x", "", "f1 ", "sensitivity", "auc", "f2", "recall@")
PLACES = (
    "",
    "",
    "@0.5",
    "@0.7",
    "@",
    "@x",
    "@nan",
    "@1e400",
    " @ .5",
    "@-3",
    "@top 5",
    "@10%",
    "@top 5%",
)
SIGNS = (">=", ">=", ">=", ">=", "<=", ">", "<", "=", "=>", "≥", "≤", "", "is")
VALUES = (
    "0.5",
    "0.5",
    "0.5",
    "45%",
    "45%",
    "1",
    "2",
    "-1",
    "x",
    "",
    "nan",
    "1e400",
    ".5",
    "5e-1",
    "50 %",
    "0,5",
    "½",
)
MARKS = "abc.01%@<>= \t\n\x00\x1b'\"[]{}é≥½١∞"


def draw(dice: random.Random) -> str:
    """Roll a requirement of parts, and at times change a letter or write anything."""
    if dice.random() < 0.1:
        return "".join(dice.choice(MARKS) for _ in range(dice.randrange(30)))
    space = dice.choice(["", " ", "  "])
    parts = [dice.choice(NAMES) + dice.choice(PLACES), dice.choice(SIGNS), dice.choice(VALUES)]
    text = space.join(parts)
    if dice.random() < 0.15:
        at = dice.randrange(len(text) + 1)
        text = text[:at] + dice.choice(MARKS) + text[at + dice.randrange(2) :]
    return text


def knock(text: str, _folder: Path) -> str:
    """Read a requirement; it must be read or refused, and be readable again as it is written."""
    try:
        found = parse_requirement(text)
    except InputError:
        return "refused"
    assert parse_requirement(found.words) == found
    return "read"
