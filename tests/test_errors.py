"""Messages remember what a command line says otherwise, and never show it."""

import copy
import json
import pathlib
import pickle
import re
import threading
import warnings
from dataclasses import asdict, replace

import pytest

import undercount as uc
from undercount.errors import CHECKS, Message, collect_warnings, named, warn, wording

TEXT = f"{named('seed')} must be one of 1 and 2; {wording('use numpy', 'leave it empty')}"
SHOWN = "seed must be one of 1 and 2; use numpy"
SAID = "--seed must be one of 1 and 2; leave it empty"


def speak(argument, value):
    return f"--{argument} {value}".rstrip()


def test_an_error_shows_no_mark_and_can_be_said():
    error = uc.InputError(TEXT)
    assert str(error) == SHOWN
    assert error.args == (SHOWN,)
    assert repr(error) == f"InputError({SHOWN!r})"
    assert error.message.said(speak) == SAID
    with pytest.raises(ValueError, match=f"^{SHOWN}$"):
        raise error


@pytest.mark.parametrize(
    "made",
    [
        uc.InputError(TEXT),
        uc.MisfitWarning(TEXT),
        uc.SmallSampleWarning(TEXT),
        uc.UndefinedMetricWarning(TEXT),
        uc.Check("UC001", "warn", TEXT),
    ],
    ids=lambda made: type(made).__name__,
)
def test_copies_remember(made):
    for other in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):  # noqa: S301 - ours
        assert type(other) is type(made)
        assert str(other.message) == SHOWN
        assert other.message.said(speak) == SAID


def test_a_check_is_plain_text_for_everyone_else():
    check = uc.Check("UC001", "warn", "few rows", TEXT)
    assert str(check) == f"UC001 warn: few rows. What to do: {SHOWN}"
    assert check == uc.Check("UC001", "warn", "few rows", SHOWN)
    assert json.loads(json.dumps(asdict(check)))["advice"] == SHOWN
    assert replace(check, level="fail").advice.said(speak) == SAID


def test_a_warning_shows_no_mark():
    with pytest.warns(uc.MisfitWarning, match=f"^{SHOWN}$") as caught:
        warnings.warn(uc.MisfitWarning(TEXT), stacklevel=1)
    assert caught[0].message.message.said(speak) == SAID


def test_what_has_no_other_word_stays():
    message = Message(f"pass {named('method', repr('own'))} or {named('seed', '0')}")
    assert message == "pass method='own' or seed=0"
    assert message.said(lambda name, _: "--seed" if name == "seed" else None) == (
        "pass method='own' or --seed"
    )
    assert Message(f"{message.marked}!").said(speak) == "pass --method 'own' or --seed 0!"


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
    guide = pathlib.Path(__file__).parents[1] / "docs" / "reference" / "checks.md"
    written = re.findall(r"^\| (UC\d{3}) \| (.*?) \|$", guide.read_text("utf-8"), re.MULTILINE)
    assert written == list(CHECKS.values())
