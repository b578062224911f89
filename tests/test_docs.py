"""The examples of README and documentation run."""

import doctest
import inspect
import pathlib
import re

import numpy as np
import pytest

import undercount as uc

ROOT = pathlib.Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = ("metrics", "prevalence", "learn", "theory")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def page(path):
    """The longest pages are slow: they search and compare models."""
    marks = [pytest.mark.slow] if path.name in ("compare.md", "learners.md") else []
    return pytest.param(path, marks=marks, id=str(path.relative_to(ROOT)))


@pytest.mark.parametrize("page", [page(path) for path in PAGES])
def test_examples_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    if ">>> " in text:
        flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
        failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=flags)
        assert tried > 0
        assert failed == 0, capsys.readouterr().out
        return  # its other blocks take a cluster or a warehouse for granted
    space = simulated()
    for block in BLOCK.findall(text):
        exec(compile(block, str(page), "exec"), space)  # noqa: S102 - our own pages


def simulated():
    """Names that a page may take for granted: the reader's own labels and scores."""
    rng = np.random.default_rng(0)
    truth = rng.random(5000) < 0.04
    y, score = (truth & (rng.random(5000) < 0.35)).astype(int), rng.normal(2.0 * truth) / 4
    evaluation = uc.evaluate(y, score, unlabeled=0, prevalence=0.04, threshold=0.5)
    return {"y": y, "score": score, "evaluation": evaluation, "uc": uc, "np": np}


def public_names():
    """Every public name, by the path that a user writes."""
    folders = {"": uc} | {f"{name}.": getattr(uc, name) for name in FOLDERS}
    for prefix, module in folders.items():
        for name in module.__all__:
            if not inspect.ismodule(getattr(module, name)):
                yield f"undercount.{prefix}{name}"
    for name, thing in vars(uc.displays).items():
        if name.endswith("Display") and not thing.__subclasses__():
            yield f"undercount.displays.{name}"


def test_reference_has_every_public_name_once():
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^::: (\S+)$", text, re.MULTILINE)) == sorted(public_names())


def test_pages_stand_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        assert str(page.relative_to(ROOT / "docs")) in navigation, page.name
