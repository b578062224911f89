"""Messages that are put into other words must still be there, letter for letter."""

import ast
import pathlib
import re

import undercount
from undercount.cli.wording import ADVICE

PACKAGE = pathlib.Path(undercount.__file__).parent


def spoken(tree):
    """Texts of a module but for docstrings; what is filled in is a 7."""
    texts, silent = [], set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            silent.add(node.value)
        if isinstance(node, ast.JoinedStr):
            parts = [p.value if isinstance(p, ast.Constant) else "7" for p in node.values]
            texts.append("".join(parts))
            silent.update(node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in silent:
            texts.append(node.value)
    return texts


def sources(*, besides):
    home = PACKAGE / besides
    assert home.exists()
    paths = [path for path in PACKAGE.rglob("*.py") if path != home]
    return [text for path in paths for text in spoken(ast.parse(path.read_text("utf-8")))]


def test_every_phrase_that_is_replaced_stands_in_a_message():
    texts = sources(besides="cli/wording.py")
    gone = [phrase for phrase in ADVICE if not any(re.search(phrase, text) for text in texts)]
    assert gone == []


def test_a_phrase_that_nobody_says_is_noticed():
    texts = spoken(ast.parse('"""Use the old words."""\nsay(f"use the " f"{n} new words")\n'))
    assert texts == ["use the 7 new words"]
