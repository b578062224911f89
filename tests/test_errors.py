"""Messages remember what a command line says otherwise, and never show it."""

import copy
import json
import pickle
import warnings
from dataclasses import asdict, replace

import pytest

import undercount as uc
from undercount.errors import Message, named, wording

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
