"""Short walks of every machine; `make fuzz` takes long ones."""

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.fuzz.machines import MACHINES, CountsMachine, count

WALKS = {"CountsMachine": 8, "ReviewsMachine": 5, "FilesMachine": 3}


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.__name__)
def test_every_step_leaves_what_the_rows_say(machine):
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=WALKS[machine.__name__],
            stateful_step_count=10,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],  # walks are short as they are
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_a_table_that_loses_a_row_would_be_found():
    machine = CountsMachine()
    rows = [(1, 2, "a"), (-1, 2, "a"), (-1, 0, "b")]
    machine.compare((count(rows), rows))
    with pytest.raises(AssertionError):
        machine.compare((count(rows[:2]), rows))
    machine.teardown()
