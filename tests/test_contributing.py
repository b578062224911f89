"""The tree and the files that CONTRIBUTING names are the real ones."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "undercount"
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TREE = re.search(r"^```\n(src/undercount/\n.*?)^```", TEXT, re.MULTILINE | re.DOTALL)[1]
RECIPES = TEXT[TEXT.index("## Add a metric") : TEXT.index("## Rules")]


def listed():
    """Paths of the tree, by its indentation, and what is said of each."""
    above, found = [], {}
    for line in TREE.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        name, _, words = line.strip().partition(" ")
        above = [*above[:depth], name]
        found["".join(above)] = words.strip()
    return found


def real():
    folders = [path.parent for path in PACKAGE.rglob("__init__.py")]
    modules = [path for path in PACKAGE.glob("*.py") if not path.name.startswith("__")]
    names = {f"{path.relative_to(ROOT)}/" for path in folders}
    names |= {str(path.relative_to(ROOT)) for path in modules}
    return names | {f"{name}/" for name in ("reproductions", "tests", "benchmarks", "docs")}


def test_the_tree_is_the_real_one():
    assert set(listed()) == real()


def test_each_line_says_what_is_there():
    assert [path for path, words in listed().items() if not words] == ["src/undercount/"]


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`([\w./]+(?:/|\.\w+))`", RECIPES))))
def test_files_of_the_recipes_are_there(name):
    assert (PACKAGE / name).exists() or (ROOT / name).exists()


OTHER_FOLDERS = (
    "laws", "matrix", "papers", "engines", "browser", "validity", "fuzz", "faults", "golden",
)  # fmt: skip


@pytest.mark.parametrize("folder", OTHER_FOLDERS)
def test_tests_have_the_other_folders(folder):
    assert (ROOT / "tests" / folder).is_dir()
    assert folder in listed()["tests/"]


def test_tests_mirror_the_package():
    """A folder of tests is one of the package, or one of those that the tree names."""
    extra = {*OTHER_FOLDERS, "data"}
    for path in (ROOT / "tests").rglob("*"):
        parts = path.relative_to(ROOT / "tests").parts
        if path.is_dir() and parts[0] not in extra and "__pycache__" not in parts:
            assert (PACKAGE / path.relative_to(ROOT / "tests")).is_dir(), path
