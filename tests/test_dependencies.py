"""What is imported is declared: a package that comes along by chance may be gone tomorrow."""

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
# The name under which a package is imported, where it is another than that of the project.
IMPORTED_AS = {"scikit-learn": "sklearn", "lazy-loader": "lazy_loader", "ibis-framework": "ibis"}
# Asked for only where the user has handed over something of that library, or has chosen an extra.
OPTIONAL_USE = {"pandas", "polars", "pyarrow", "torch", "mlflow"}


def declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *extras["plot"], *extras["dask"], *extras["spark"]]
    names = {re.split(r"[\[<>=;~ ]", line, maxsplit=1)[0] for line in [*lines, *extras["sql"]]}
    return {IMPORTED_AS.get(name, name) for name in names}


def imported():
    for path in (ROOT / "src").rglob("*.py*"):
        if path.suffix not in (".py", ".pyi"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [name.name for name in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            yield from ((name.split(".")[0], path) for name in names)


def test_every_import_is_declared():
    known = declared() | set(sys.stdlib_module_names) | {"undercount"} | OPTIONAL_USE
    found = {(name, path.name) for name, path in imported() if name not in known}
    assert not found
