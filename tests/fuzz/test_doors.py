"""Some random cases at each door in every run, and all that ever failed."""

import random

import click
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fuzz.corpus import CORPUS
from tests.fuzz.doors import DOORS, knock
from tests.fuzz.doors.options import LEFT_OUT, NEEDED, options_of, values_of, write_rows
from tests.fuzz.doors.rows import check_estimate
from tests.fuzz.report import report
from tests.fuzz.run import Run

from undercount import Interval
from undercount.cli.commands import commands
from undercount.errors import InputError

CASES = {
    "requirements": 100,
    "tensors": 40,
    "metrics": 100,
    "functions": 60,
    "questions": 30,
    "frames": 40,
    "rows": 40,
    "counts files": 15,
    "files": 15,
    "parts": 15,
    "options": 15,
    "reviews": 8,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("doors")
    write_rows(made)
    return made


@pytest.mark.parametrize("door", DOORS)
def test_random_cases_are_answered_or_refused(door, folder):
    @settings(
        max_examples=CASES[door],
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(dice=st.randoms(use_true_random=False))
    def run(dice):
        knock(door, DOORS[door].draw(dice), folder)

    run()


@pytest.mark.parametrize("door", DOORS)
def test_many_cases_reach_the_end_of_each_door(door, folder):
    run = Run(0)
    for _ in range(4 if DOORS[door].part < 10 else 60):
        run._knock(door, folder)
    assert not run.findings, run.findings
    answered = [end for end in run.ends if not end.endswith(("refused", "exit 2"))]
    assert answered, run.ends


@pytest.mark.parametrize(("door", "case"), CORPUS)
def test_what_failed_once_does_not_fail_again(door, case, folder):
    knock(door, case, folder)


@pytest.mark.parametrize("command", commands.list_commands(click.Context(commands)))
def test_every_option_of_a_command_is_rolled(command):
    if command in LEFT_OUT:
        assert command not in NEEDED
    else:
        for option in options_of(command):
            assert option.is_flag or values_of(command, option), option.opts


def test_a_wrong_interval_would_be_found():
    class Wrong:
        low, value, high, needs = 0.2, 0.9, 0.5, ()

    with pytest.raises(AssertionError):
        check_estimate("precision", Wrong())


def test_an_interval_of_ours_in_the_wrong_order_is_no_refusal():
    from tests.fuzz.doors.odd import refusal  # noqa: PLC0415 - of this test alone

    with pytest.raises(InputError) as error:
        Interval(0.7, 0.2)
    with pytest.raises(AssertionError, match="low <= high"):
        refusal(error.value)


def test_a_seed_rolls_the_same_cases_again():
    first, again = (
        [repr(door.draw(random.Random(3))) for door in DOORS.values()]  # noqa: S311 - cases
        for _ in range(2)
    )
    assert first == again


def test_figures_of_runs_add_up():
    figures = {"seed": 1, "seconds": 9.0, "spent": {"rows": 2.0, "options": 1.0}, "longest": {}}
    ends = {"rows: evaluated": 5, "rows: refused": 3, "options: plan exit 2": 1, "rows: FOUND": 1}
    first = {**figures, "ends": ends, "findings": {"ValueError in a.py:3": 1}}
    again = {**first, "longest": {"rows": 0.7}, "ends": {"options: plan exit 1": 4}, "findings": {}}
    written = report([first, again])
    assert "| rows | 9 | 5 | 3 | 1 | 4 | 0.70 |\n" in written
    assert "| options | 5 | 4 | 1 | 0 | 2 |  |\n" in written
    assert "| together | 14 | 9 | 4 | 1 | 6 |  |\n" in written
    assert "found 1 times: ValueError in a.py:3\n" in written
