"""A last date that stands alone is asked for; sparse, batched and slow good data are not."""

import json

import numpy as np
import pandas as pd
import pytest

import undercount as uc
from undercount.cli.main import main
from undercount.errors import collect_warnings
from undercount.prevalence import LateLabels
from undercount.prevalence.delays import read_days
from undercount.prevalence.lone_date import check_lone_date

FIRST, LAST = np.datetime64("2024-01-01"), np.datetime64("2024-12-26")


def draw(rng, n=4000, span=360, share=0.15, mean=20.0):
    """Rows of a year and labels that came to its end, in days."""
    seen = rng.integers(0, span, n).astype(float)
    found = seen + np.floor(rng.exponential(mean, n))
    found[(rng.random(n) > share) | (found > span)] = np.nan
    seen[0], found[0] = span, np.nan  # the last day there is
    return seen, found


def mistype(seen, found, column, years=1):
    """Write another year into one date of the tenth month."""
    made = {"observed": seen.copy(), "found": found.copy()}
    dates = made[column]
    tenth = dates == 281  # 2024-10-08
    if column == "observed":
        tenth &= np.isnan(found)
    dates[np.argmax(tenth)] += {1: 365, 10: 3652}[years]
    return made


def as_file(path, made):
    truth = ~np.isnan(made["found"])
    score = np.random.default_rng(1).normal(2.0 * truth).round(4)
    frame = pd.DataFrame({"p": score, "y": truth.astype(int)})
    for name, days in made.items():
        dates = [None if np.isnan(day) else str(FIRST + int(day)) for day in days]
        frame[name] = dates
    frame.to_csv(path, index=False)
    return [str(path), "--score", "p", "--observed", "observed", "--found", "found"]


@pytest.mark.parametrize("column", ["observed", "found"])
@pytest.mark.parametrize(("years", "date"), [(1, "2025-10-08"), (10, "2034-10-08")])
def test_one_mistyped_year_is_refused(column, years, date):
    made = mistype(*draw(np.random.default_rng(0)), column, years)
    days = (np.datetime64(date) - LAST).astype(int)
    dated = {name: FIRST.astype(int) + each for name, each in made.items()}
    with pytest.raises(uc.InputError) as error:
        LateLabels().fit(**dated)
    words = str(error.value)
    assert words.startswith(f"{column} must not hold a date long after all others")
    assert f"{date}, {days} days after {LAST}" in words
    assert f"until='{date}'" in words
    with collect_warnings():
        assert LateLabels().fit(**dated, until=date).rows_.last_day == date


@pytest.mark.parametrize("command", [["monitor"], ["evaluate", "--label", "y"]])
def test_commands_name_the_options_and_the_day(command, tmp_path, capsys):
    made = mistype(*draw(np.random.default_rng(0)), "found")
    asked = [*command, *as_file(tmp_path / "rows.csv", made), "--threshold", "1.5"]
    assert main(asked) == 2
    words = capsys.readouterr().err
    assert "--found must not hold a date long after all others" in words
    assert words.rstrip().endswith("else pass --until 2025-10-08")
    # With the last day given the mistyped label has not arrived.
    assert main([*asked, "--until", "2024-12-26"]) == 0
    assert "labels are complete to 2024-12-26" in capsys.readouterr().out
    assert main([*asked, "--until", "2024-12"]) == 2
    assert "--until must be to the day" in capsys.readouterr().err


def test_the_day_is_in_the_document():
    seen, found = draw(np.random.default_rng(0))
    score = np.random.default_rng(1).normal(2.0 * ~np.isnan(found))
    for add, until in ((0.0, None), (0.5, None), (0.5, "2024-12-26")):  # midnight, then noon
        dates = FIRST.astype(int) + seen + add, FIRST.astype(int) + found + add
        result = uc.monitor(score, observed=dates[0], found=dates[1], threshold=1.5, until=until)
        assert json.loads(result.to_json())["until"] == "2024-12-26"


def good_designs(rng):
    """Rows and labels whose last date may follow a gap, and is right."""
    for n, span in ((30, 1100), (200, 365), (3000, 365)):
        seen, found = draw(rng, n, span, 0.1, 60)
        yield "steady", seen, found
        yield "weekly", 7 * np.floor(seen / 7), found
        yearly = 365 * np.floor(seen / 365)
        yield "yearly", yearly, np.where(np.isnan(found), np.nan, np.maximum(found, yearly))
        late = seen + np.floor(rng.exponential(40, n))
        late[rng.random(n) > 0.2] = np.nan
        yield "no rows any more, labels to the last", seen, late
        yield "labels by the quarter", seen, 91 * np.ceil((late + 1) / 91)
        fading = np.floor(rng.exponential(span / 5, n))
        yield "fewer and fewer rows", fading, np.where(np.isnan(late), np.nan, fading + 5)


def test_good_data_are_about_never_refused():
    refused, number = [], 0
    rng = np.random.default_rng(0)
    for _ in range(60):
        for name, seen, found in good_designs(rng):
            number += 1
            try:
                check_lone_date(seen, found)
            except uc.InputError:
                refused.append((name, len(seen)))
    assert len(refused) <= 0.003 * number, refused


@pytest.mark.parametrize(
    "months",
    [
        ["2024-11", "2024-12"],
        ["2023", "2024"],
        np.array(["2024-11", "2024-12"], "datetime64[M]"),
        np.array(["2024-11-04", "2024-12-05"], "datetime64[W]"),
        pd.Series(pd.PeriodIndex(["2024-11", "2024-12"], freq="M")),
        pd.Series(pd.PeriodIndex(["2024-11-04", "2024-12-05"], freq="W")),
    ],
)
def test_what_is_longer_than_a_day_is_refused(months):
    with pytest.raises(uc.InputError, match="found must be to the day, as 2024-03-09 is"):
        read_days(months, "found")
    with pytest.raises(uc.InputError, match="until must be to the day"):
        LateLabels().fit([1.0, 2.0, 3.0], [2.0, np.nan, 4.0], until=next(iter(months)))


def test_periods_no_longer_than_a_day_are_read():
    days = pd.Series(pd.PeriodIndex(["2024-01-01", None], freq="D"))
    np.testing.assert_array_equal(read_days(days, "found"), [19_723.0, np.nan])
    hours = pd.Series(pd.PeriodIndex(["2024-01-01 18:00"], freq="h"))
    assert read_days(hours, "found")[0] == 19_723.75
