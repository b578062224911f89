"""What can be reproduced: the list, and that a test of values stands behind each item."""

import pathlib
import re
import subprocess
import sys

import pytest

import undercount as uc
from undercount_reproductions.catalogue import ITEMS, find_item, run_item


def test_unknown_items_are_refused():
    with pytest.raises(
        uc.InputError, match="no paper 'cook' is reproduced here; there are aul2021"
    ):
        find_item("cook", "table2")
    with pytest.raises(uc.InputError, match="cook2016 has no item 'table9' here"):
        run_item("cook2016", "table9")
    with pytest.raises(uc.InputError, match="runs must be at least 1"):
        run_item("cook2016", "table2", runs=0)


def test_the_list_of_items_is_light():
    code = (
        "import sys, undercount_reproductions.catalogue\n"
        "heavy = {'sklearn', 'matplotlib', 'joblib', 'scipy.stats', 'pandas'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(  # noqa: S603 - our own words
        command, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("paper", sorted({item.paper for item in ITEMS}))
def test_values_of_every_item_are_checked(paper):
    """Each paper has its file of tests, and each item stands there by name."""
    text = (pathlib.Path(__file__).parent / f"test_{paper}.py").read_text(encoding="utf-8")
    named = set(re.findall(r'"((?:table|figure)\d|known|signtests|timing)"', text))
    assert named >= {item.item for item in ITEMS if item.paper == paper}
