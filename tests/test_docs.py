"""The examples of README and documentation run, each page pasted into a new session."""

import inspect
import re

import pytest
from docs.examples import BLOCK, PRINTED, ROOT, find_pages, run_page, shows_today

import undercount as uc

PAGES = find_pages()
FOLDERS = ("metrics", "prevalence", "learn", "theory")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
MANY_WORDS = 400
MANY_LINES = 60
# What makes pages of how-to short holds for the text; programs and tables are looked at, not read.
HOW_TO = sorted((ROOT / "docs" / "how-to").glob("*.md"))


def name(path):
    return str(path.relative_to(ROOT))


# DuckDB's word to Ibis, not to us.
@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
@pytest.mark.parametrize(
    "page", [path for path in PAGES if BLOCK.search(path.read_text("utf-8"))], ids=name
)
def test_examples_run_and_print_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pyplot = pytest.importorskip("matplotlib.pyplot")
    for shown, printed in run_page(page):
        if shown and not shows_today(shown[1], printed):
            pytest.fail(f"python docs/examples.py {name(page)} shows today's output:\n{printed}")
    pyplot.close("all")


def test_what_is_marked_as_printed_follows_an_example():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        followed = [PRINTED.match(text, block.end()) for block in BLOCK.finditer(text)]
        assert text.count("<!-- printed -->\n") == sum(map(bool, followed)), page.name


@pytest.mark.parametrize("page", HOW_TO, ids=name)
def test_a_how_to_page_is_short(page):
    assert len(page.read_text(encoding="utf-8").split()) < MANY_WORDS


def test_tests_that_evidence_names_exist():
    """Whoever doubts a figure finds what measures it."""
    found = set()
    for page in sorted((ROOT / "docs" / "evidence").glob("*.md")):
        for file, test in re.findall(r"`(test_\w+\.py)::(test_\w+)`", page.read_text("utf-8")):
            found.add((file, test))
            text = (ROOT / "tests" / "validity" / file).read_text(encoding="utf-8")
            assert f"def {test}(" in text, (page.name, test)
    assert len(found) > 15


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


@pytest.mark.parametrize("folder", ["how-to", "evidence"])
def test_an_index_leads_to_every_page_of_its_folder(folder):
    index = ROOT / "docs" / folder / "index.md"
    linked = set(re.findall(r"\]\((\S+?\.md)", index.read_text(encoding="utf-8")))
    assert {page.name for page in index.parent.glob("*.md")} - {"index.md"} - linked == set()


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
    return {name for name in names if not name.startswith("_")} - {"self"}


def test_glossary_has_every_public_argument():
    text = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    assert public_arguments() - set(re.findall(r"`(\w+)`", text)) == set()


def test_a_version_of_the_changelog_can_be_read_at_once():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for version in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        assert len(version.splitlines()) <= MANY_LINES, version.partition("\n")[0]
