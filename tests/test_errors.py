"""Errors and warnings carry data, and warnings go to whoever collects them."""

import pathlib
import pickle
import re
import threading
import warnings

import pytest

import undercount as uc
from undercount.errors import CHECKS, collect_warnings, warn


def test_words_and_data_travel_together():
    error = uc.InputError("{metric} is 1.2; {metrics} wrong", metric="f1", argument="y", hint="0.3")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    for found in (error, again):
        assert str(found) == "f1 is 1.2; f1 is wrong"
        assert (found.metric, found.argument, found.hint, found.code) == ("f1", "y", "0.3", "")
        assert found.about(["F1", "MCC"]) == "F1 is 1.2; F1, MCC are wrong"
    assert isinstance(error, ValueError)
    assert str(uc.InputError("{metric} stays without one")) == "{metric} stays without one"


def test_a_warning_reaches_the_innermost_collector_that_wants_it():
    misfit, small = uc.MisfitWarning("a"), uc.SmallSampleWarning("b")
    with collect_warnings() as outer:
        with collect_warnings(uc.MisfitWarning) as inner:
            warn(misfit)
            warn(small)
        warn(misfit)
    assert inner == [misfit]
    assert outer == [small, misfit]
    with pytest.warns(uc.MisfitWarning, match="a") as shown:
        warn(misfit)
    assert shown[0].filename == __file__


def test_other_threads_and_foreign_warnings_are_left_alone():
    found = []

    def elsewhere():
        with collect_warnings() as mine:
            warn(uc.MisfitWarning("there"))
        found.extend(mine)

    filters = list(warnings.filters)
    with collect_warnings() as here:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        with pytest.warns(RuntimeWarning, match="foreign"):
            warnings.warn("foreign", RuntimeWarning, stacklevel=1)
    assert here == []
    assert [str(warning) for warning in found] == ["there"]
    assert warnings.filters == filters


def test_the_table_of_codes_is_the_one_in_the_guide():
    guide = pathlib.Path(__file__).parents[1] / "docs" / "ideas.md"
    written = re.findall(r"^\| (UC\d{3}) \| (.*?) \|$", guide.read_text("utf-8"), re.MULTILINE)
    assert written == list(CHECKS.values())
