"""Every public name is documented, runs its example, and speaks English."""

import doctest
import inspect
import operator
import subprocess
import sys

import pytest

import undercount as uc

HEAVY = ("sklearn", "pandas", "matplotlib", "scipy.stats", "polars", "pyarrow", "duckdb", "rich")


def public_names():
    for module in (uc, uc.metrics, uc.prevalence, uc.learn, uc.theory):
        for name in module.__all__:
            yield name if module is uc else f"{module.__name__.split('.')[-1]}.{name}"


@pytest.mark.parametrize("name", list(public_names()))
def test_documented_with_an_example(name):
    thing = operator.attrgetter(name)(uc)
    doc = inspect.getdoc(thing)
    assert doc, f"{name} has no docstring"
    if not inspect.ismodule(thing):
        assert doctest.DocTestParser().get_examples(doc), f"{name} has no example"


def callables():
    for name in public_names():
        thing = operator.attrgetter(name)(uc)
        if not callable(thing):
            continue
        yield name, thing
        if inspect.isclass(thing):
            for member, function in inspect.getmembers(thing, callable):
                if not member.startswith("_"):
                    yield f"{name}.{member}", function


def test_no_greek_letter_in_a_signature():
    greek = {"alpha", "gamma", "kappa", "rho", "pi", "eta", "lam", "lambda_"}
    for name, thing in callables():
        try:
            parameters = inspect.signature(thing).parameters
        except ValueError:
            continue
        for parameter in parameters:
            assert parameter.isascii(), f"{name}({parameter})"
            assert parameter not in greek, f"{name}({parameter})"


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="undercount attribute nothing"):
        _ = uc.nothing


def test_names_are_listed():
    assert set(uc.__all__) <= set(dir(uc))


def loaded_after(code):
    script = f"{code}\nimport sys\nprint('\\n'.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)  # noqa: S603
    return set(run.stdout.split())


def test_import_is_light():
    loaded = loaded_after("import undercount")
    assert not loaded & set(HEAVY)


def test_the_core_is_light():
    code = (
        "import undercount as uc\n"
        "counts = uc.ScoreCounts.from_rows([1, None], [2, 1])\n"
        "uc.mixture_curve(counts, uc.Shares(0.1)).roc_auc"
    )
    assert not loaded_after(code) & set(HEAVY)
