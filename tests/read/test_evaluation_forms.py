"""The door from results to what draws them."""

import pkgutil

import pytest

from undercount.read.evaluation import FORMS


@pytest.mark.parametrize("form", FORMS)
def test_every_form_exists(form):
    assert FORMS[form].startswith("undercount.show.")
    assert callable(pkgutil.resolve_name(FORMS[form]))
