"""The columns of the terminal's table stay apart, however long their content is."""

import numpy as np
import pytest

import undercount as uc


def table(turned, threshold):
    rng = np.random.default_rng(2)
    truth = rng.random(800) < 0.3
    y = np.where(truth & (rng.random(800) < 0.5), 1.0, np.nan)
    score = rng.normal(1.5 * truth) * (-1 if turned else 1)
    printed = str(uc.evaluate(y, score, prevalence=0.3, threshold=threshold)).splitlines()
    start = next(i for i, line in enumerate(printed) if "unlabeled = negative" in line)
    return printed[start : start + 10]


@pytest.mark.filterwarnings("ignore::undercount.errors.UndefinedMetricWarning")
@pytest.mark.parametrize(
    ("turned", "threshold", "longest"),
    [
        (False, 0.8, "(0."),
        (True, 0.5, "(-0."),  # MCC and both its ends are negative
        (False, 99.0, "– (does not exist here)"),  # nothing is flagged
    ],
)
def test_columns_of_the_terminal_table_stay_apart(turned, threshold, longest):
    head, *rows = table(turned, threshold)
    needs = head.index("needs")
    assert any(longest in row for row in rows)
    for row in rows:
        assert row[needs - 2 : needs] == "  "
        assert row[needs:].startswith(("random labels", "nothing"))
        assert row[:needs].rstrip()[-1] in ")0123456789"


def test_a_number_that_scores_leave_open_is_a_range():
    rng = np.random.default_rng(4)
    truth = rng.random(2000) < 0.4
    y = np.where(truth & (rng.random(2000) < 0.4), 1.0, np.nan)
    score = rng.normal(1.0 * truth)
    evaluation = uc.evaluate(y, score, threshold=0.8)
    low, high = (f"{v:.3f}" for v in (evaluation["precision"].low, evaluation["precision"].high))
    for form in (str(evaluation), evaluation.to_markdown()):
        assert f" {low} – {high} " in form
        assert f"{evaluation['recall'].value:.3f} (" in form  # needs no share
        assert "labels and scores cannot tell" in " ".join(form.split())
        assert "nan" not in form
    given = str(uc.evaluate(y, score, threshold=0.8, prevalence=0.4))
    assert "cannot tell" not in given
