"""The wheel holds the package with its types, pages and tables, and nothing else."""

import pathlib
import re
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "undercount"


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    build = f"import hatchling.build; hatchling.build.build_wheel({str(folder)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=ROOT, capture_output=True, check=True)  # noqa: S603
    (wheel,) = folder.glob("undercount-*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def test_every_file_of_the_package(names):
    """Code, stubs, the mark of types, tables of networks, the page and its scripts."""
    files = {
        str(path.relative_to(PACKAGE.parent))
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files <= names
    assert "undercount/py.typed" in files
    endings = {pathlib.PurePath(name).suffix for name in files}
    assert {".py", ".pyi", ".json", ".md", ".parquet", ".jinja", ".js", ".css"} <= endings


def test_nothing_but_the_package(names):
    assert {name.split("/")[0] for name in names} - {"undercount"} == {
        name.split("/")[0] for name in names if ".dist-info/" in name
    }
    assert not [name for name in names if re.search(r"(^|/)tests?[/_.]|reproduc", name)]


def test_every_lazy_package_has_its_stub(names):
    for path in PACKAGE.rglob("__init__.py"):
        if "attach_stub" in path.read_text(encoding="utf-8"):
            assert str(path.relative_to(PACKAGE.parent)) + "i" in names
