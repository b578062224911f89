"""Imports go down only and without cycles, so that every file can be read on its own."""

import ast
import pathlib

import pytest

PACKAGE = pathlib.Path(__file__).parents[1] / "src" / "undercount"
# Lower layers first; a module may import from its own layer or a lower one, at its top or inside
# a function. The longest matching name decides: sorting (`count.kernel`) and reading arrays
# and tensors (`count.arrays`, `count.tensors`) stand below ScoreCounts, which is made by them.
LAYERS = [
    {"errors"},
    {"estimate", "metric_facts", "curve"},
    {"count.kernel"},
    {"count.arrays", "count.tensors"},
    {"counts"},
    {"shares"},
    {"count"},
    {"infer"},
    {"prevalence", "checks"},
    {"assume", "learn", "theory", "data"},
    {"read"},
    {"show"},
    {"cli", "__main__"},
]


def module_name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(tree, names):
    """Modules of the package that are imported anywhere in the file (types alone do not count)."""
    found = set()
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if (
            isinstance(node, ast.ImportFrom)
            and node.module
            and node.module.split(".")[0] == "undercount"
        ):
            for alias in node.names:
                deeper = f"{node.module}.{alias.name}"
                found.add(deeper if deeper in names else node.module)
        elif isinstance(node, ast.Import):
            found |= {a.name for a in node.names if a.name.split(".")[0] == "undercount"}
        todo += ast.iter_child_nodes(node)
    return found - {"undercount"}  # its names are loaded lazily, and only its version is used


PATHS = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
GRAPH = {name: imported(ast.parse(path.read_text()), set(PATHS)) for name, path in PATHS.items()}


def layer(name):
    """Return the rank of the layer whose entry matches most of the name."""
    parts = name.split(".")[1:]
    for length in range(len(parts), 0, -1):
        for rank, entries in enumerate(LAYERS):
            if ".".join(parts[:length]) in entries:
                return rank
    return None


@pytest.mark.parametrize("name", [name for name in PATHS if name != "undercount"])
def test_imports_go_down(name):
    assert layer(name) is not None, f"{name} has no layer"
    for target in GRAPH[name] - {name}:
        assert layer(target) <= layer(name), f"{name} imports {target}"


def test_no_cycles():
    done, path = set(), []

    def visit(name):
        if name in path:
            pytest.fail(" → ".join([*path[path.index(name) :], name]))
        if name in done:
            return
        path.append(name)
        for target in GRAPH.get(name, ()):
            if target != name:
                visit(target)
        path.pop()
        done.add(name)

    for name in GRAPH:
        visit(name)


def test_the_graph_is_not_empty():
    assert "undercount.errors" in GRAPH["undercount.curve"]


def test_nouns_alone_stand_at_the_root():
    modules = {name.split(".")[1] for name in PATHS if name.count(".") == 1}
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    nouns = {"counts", "shares", "curve", "estimate", "errors", "metric_facts", "__main__"}
    assert modules - folders <= nouns
    assert folders == {
        *(
            "count",
            "infer",
            "checks",
            "assume",
            "read",
            "show",
            "prevalence",
            "learn",
            "theory",
            "cli",
            "data",
        )
    }
