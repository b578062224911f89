"""Imports go down only and without cycles, so that every file can be read on its own."""

import ast
import pathlib

import pytest

PACKAGE = pathlib.Path(__file__).parents[1] / "src" / "undercount"
# Lower layers first; a module may import from its own layer or a lower one.
LAYERS = [
    {"errors", "check", "options", "progress", "label_purity"},
    {"rates", "tally", "buckets", "gaps", "packed", "radix"},
    {"rows", "cells"},
    {"counts", "curve"},
    {"shares", "ceiling"},
    {"uncertainty"},
    {"assume", "prevalence"},
    {
        "grid",
        "queries",
        "partitions",
        "read_errors",
        "bins",
        "groups",
        "batches",
        "binned",
        "engines",
        "frames",
        "sources",
        "files",
    },
    {"count_files", "merging"},
    {"metrics", "learn", "data"},
    {"checklist", "sensitivity", "scorers", "pipeline", "paired_precision"},
    {"carried"},
    {"scorecard", "hidden_share", "requirement"},
    {"evaluated"},
    {"evaluation", "differences", "comparison"},
    {"inputs", "display", "displays"},
    {"report", "papers"},
    {"commands"},
    {"cli"},
]


def module_name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(tree, names):
    """Modules of the package imported at module level (types alone do not count)."""
    found = set()
    todo = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if (
            isinstance(node, ast.ImportFrom)
            and node.module
            and node.module.startswith("undercount")
        ):
            for alias in node.names:
                deeper = f"{node.module}.{alias.name}"
                found.add(deeper if deeper in names else node.module)
        elif isinstance(node, ast.Import):
            found |= {a.name for a in node.names if a.name.startswith("undercount")}
        if isinstance(node, ast.If | ast.Try | ast.With):  # a function's imports come later
            todo += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
    return found


PATHS = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
GRAPH = {name: imported(ast.parse(path.read_text()), set(PATHS)) for name, path in PATHS.items()}


def layer(name):
    part = name.split(".")[1]
    return next((rank for rank, layer in enumerate(LAYERS) if part in layer), None)


@pytest.mark.parametrize("name", [name for name in PATHS if name != "undercount"])
def test_imports_go_down(name):
    assert layer(name) is not None, f"{name} has no layer"
    for target in GRAPH[name] - {name, "undercount"}:
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
    assert "undercount.curve" in GRAPH["undercount.curve"]
