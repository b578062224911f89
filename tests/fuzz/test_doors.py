"""Some random cases at each door in every run, and all that ever failed."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fuzz.corpus import CORPUS
from tests.fuzz.doors import DOORS, knock, write_rows

CASES = {
    "rows": 60,
    "files": 30,
    "options": 15,
    "requirements": 100,
    "counts files": 20,
    "reviews": 15,
    "tensors": 40,
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
    @given(case=DOORS[door])
    def run(case):
        knock(door, case, folder)

    run()


@pytest.mark.parametrize(("door", "case"), CORPUS)
def test_what_failed_once_does_not_fail_again(door, case, folder):
    knock(door, case, folder)


def test_a_wrong_interval_would_be_found():
    class Wrong:
        low, value, high = 0.2, 0.9, 0.5

    from tests.fuzz.doors import check_estimate  # noqa: PLC0415 - of this test alone

    with pytest.raises(AssertionError):
        check_estimate("precision", Wrong())
    assert isinstance(DOORS["rows"], st.SearchStrategy)
