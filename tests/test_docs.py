"""The examples of README and documentation run, each page pasted into a new session."""

import contextlib
import doctest
import inspect
import io
import pathlib
import re
import shlex

import pytest

import undercount as uc
from undercount.cli.main import main

ROOT = pathlib.Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = ("metrics", "prevalence", "learn", "theory")
# ```python and ```sh are run; ```py and ```text take a cluster, a warehouse or a shell for granted.
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
MANY_WORDS = 400
# What makes pages of how-to short holds for the text; programs and tables are looked at, not read.
HOW_TO = sorted((ROOT / "docs" / "how-to").glob("*.md"))


def name(path):
    return str(path.relative_to(ROOT))


# DuckDB's word to Ibis, not to us.
@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
@pytest.mark.parametrize(
    "page", [path for path in PAGES if BLOCK.search(path.read_text("utf-8"))], ids=name
)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pyplot = pytest.importorskip("matplotlib.pyplot")
    space = {"__name__": "__main__"}
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        line = text[: block.start()].count("\n") + 2
        kind, code = block.groups()
        if kind == "sh":
            run_commands(code, f"{page.name}, line {line}")
        elif ">>> " in code:
            run_doctest(code, space, page, line)
        else:  # empty lines above, so that a traceback names the line of the page
            exec(compile("\n" * (line - 1) + code, str(page), "exec"), space)  # noqa: S102 - our own pages
    pyplot.close("all")


def run_doctest(code, space, page, line):
    """Run an example that shows its answers, in the page's session."""
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    example = doctest.DocTestParser().get_doctest(code, {}, page.name, str(page), line - 1)
    example.globs = space
    said = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=flags)
    runner.run(example, out=said.write, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0, said.getvalue()


def run_commands(code, place):
    """Run each command; one that may fail is followed by || as in a shell."""
    for command in code.replace("\\\n", " ").splitlines():
        words = shlex.split(command.partition(" ||")[0], comments=True)
        if not words or words[0] in ("make", "pip"):
            continue
        words = words[2:] if words[:3] == ["python", "-m", "undercount"] else words
        assert words[0] == "undercount", f"{place}: only our own commands are run, not {words[0]}"
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            exit_code = main(words[1:])
        assert exit_code == 0 or "||" in command, f"{place}: {command}\n{said.getvalue()}"


@pytest.mark.parametrize("page", HOW_TO, ids=name)
def test_a_how_to_page_is_short(page):
    assert len(page.read_text(encoding="utf-8").split()) < MANY_WORDS


def test_no_page_shows_a_program_that_is_not_fenced():
    """Indented programs would not be run: only output is indented."""
    for page in PAGES:
        text = FENCE.sub("", page.read_text(encoding="utf-8"))
        assert not re.search(r"^    (import |from |undercount )", text, re.MULTILINE), page.name


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
    text = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^::: (\S+)$", text, re.MULTILINE)) == sorted(public_names())


def test_pages_stand_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        assert str(page.relative_to(ROOT / "docs")) in navigation, page.name


def public_arguments():
    """Every argument that a user writes: of functions, estimators, learners, and of results."""
    folders = [uc, *(getattr(uc, name) for name in FOLDERS)]
    things = [getattr(module, name) for module in folders for name in module.__all__]
    asked = [thing for thing in things if inspect.isfunction(thing)]
    made = [thing for thing in things if inspect.isclass(thing) and hasattr(thing, "fit")]
    asked += [*made, *(thing.fit for thing in made)]
    for kind in (uc.Evaluation, uc.Comparison, uc.ReviewPlan):
        methods = inspect.getmembers(kind, inspect.isfunction)
        asked += [method for name, method in methods if not name.startswith("_")]
    names = {name for thing in asked for name in inspect.signature(thing).parameters}
    names |= set(uc.metrics.MetricOptions.__annotations__)
    return {name for name in names if not name.startswith("_")} - {"self"}


def test_glossary_has_every_public_argument():
    text = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    assert public_arguments() - set(re.findall(r"`(\w+)`", text)) == set()
