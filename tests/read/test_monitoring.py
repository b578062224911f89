"""Monitoring: missing labels are no drift, and alarms keep their risk over many looks."""

import json

import numpy as np
import pytest
from scipy.stats import norm

import undercount as uc
from undercount.cli.main import main
from undercount.errors import collect_warnings

SPAN, CUT = 460, 1.3


def draw(rng, change=1.0, n=16_000):
    """Rows of 15 months; from day 130 on the share of positives is multiplied."""
    seen = rng.integers(0, SPAN, n)
    share = np.where(seen > 130, 0.1 * change, 0.1)
    truth = rng.random(n) < share
    delay = rng.exponential(45 / np.log(2), n)
    found = np.where(truth & (seen + delay <= SPAN), seen + delay, np.nan)
    return rng.normal(2.0 * truth), seen, found, share


def run(rng, change=1.0):
    score, seen, found, share = draw(rng, change)
    with collect_warnings():  # by chance a last label makes the oldest month look immature
        result = uc.monitor(
            score, observed=seen, found=found, threshold=CUT, until=SPAN, baseline="1970-03"
        )
    return result, seen, share


def test_recent_months_look_worse_naively_and_not_here():
    result, *_ = run(np.random.default_rng(0))
    table = result.table()
    old, young = table["period"].index("1970-02"), table["period"].index("1971-03")
    assert table["naive"][young] < 0.6 * table["naive"][old]
    hits, false = 0.1 * norm.sf(CUT - 2), 0.9 * norm.sf(CUT)
    for at in (old, young):
        assert table["low"][at] < hits / (hits + false) < table["high"][at]
    assert result.alarm.fell == ""
    assert "mature" in str(result)


def test_a_period_without_flagged_rows_has_a_reason():
    score, seen, found, _ = draw(np.random.default_rng(1))
    score[seen < 31] = -10
    result = uc.monitor(score, observed=seen, found=found, threshold=CUT, until=SPAN)
    assert result.rows[0].note == "no row is flagged"
    assert json.loads(result.to_json())["periods"][0]["precision"] is None


def test_weeks_begin_on_mondays():
    score, seen, found, _ = draw(np.random.default_rng(2))
    first = np.datetime64("2024-01-03")  # a Wednesday
    dates = first + seen
    labels = np.where(np.isnan(found), np.nan, found)
    late = np.datetime64("2024-01-03") + np.nan_to_num(labels).astype(int)
    late[np.isnan(found)] = np.datetime64("NaT")
    result = uc.monitor(score, observed=dates, found=late, threshold=CUT, period="week")
    assert result.rows[0].period == "2024-01-01"
    assert result.rows[1].period == "2024-01-08"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"baseline": "2030-01"}, "baseline must be one of the periods"),
        ({"risk": 2}, "risk must be in"),
        ({"period": "year"}, "period"),
    ],
)
def test_wrong_options_are_refused(options, words):
    score, seen, found, _ = draw(np.random.default_rng(3))
    with pytest.raises(uc.InputError, match=words):
        uc.monitor(score, observed=seen, found=found, threshold=CUT, until=SPAN, **options)


def test_the_command_reads_dates(tmp_path, capsys):
    score, seen, found, _ = draw(np.random.default_rng(4), n=6000)
    first = np.datetime64("2024-01-01")
    lines = ["p,seen,label_date"]
    for one, day, label in zip(score, seen, found, strict=True):
        late = "" if np.isnan(label) else str(first + int(np.ceil(label)))
        lines.append(f"{one:.4f},{first + int(day)},{late}")
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    columns = ["--score", "p", "--observed", "seen", "--found", "label_date", "--threshold", "1.3"]
    assert main(["monitor", str(path), *columns, "--json", str(tmp_path / "found.json")]) == 0
    assert "2024-02" in capsys.readouterr().out
    assert json.loads((tmp_path / "found.json").read_text())["schema"] == "undercount/monitoring/1"
    page = tmp_path / "page.html"
    assert main(["monitor", str(path), *columns, "--html", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert all(each in text for each in ("2024-02", "No change seen.", "is mature", "<svg"))
    assert "<script" not in text
    capsys.readouterr()
    path.write_text("p,seen,label_date\n0.5,soon,\n", encoding="utf-8")
    assert main(["monitor", str(path), *columns]) == 2
    assert "must hold dates" in capsys.readouterr().err


def tally(change, repeats, seed=5):
    """Rate of alarms over 52 weekly looks (fell, rose), and coverage of the months."""
    rng = np.random.default_rng(seed)
    alarms, held = [], []
    for _ in range(repeats):
        result, seen, share = run(rng, change)
        alarms.append((result.alarm.fell != "", result.alarm.rose != ""))
        months = np.floor(seen).astype("datetime64[D]").astype("datetime64[M]").astype(str)
        for row in result.rows:
            if row.precision is not None:
                hits = share[months == row.period].mean() * norm.sf(CUT - 2)
                false = (1 - share[months == row.period].mean()) * norm.sf(CUT)
                held.append(hits / (hits + false) in row.precision.interval)
    return np.mean(alarms, axis=0).round(3).tolist(), round(float(np.mean(held)), 3)


@pytest.mark.slow
def test_alarms_keep_their_risk_and_see_changes():
    (fell, rose), months = tally(1.0, 200)
    assert fell + rose <= 0.05
    assert 0.93 <= months <= 0.975
    (fell, rose), months = tally(0.5, 60)
    assert fell > 0.8  # .889 of 126 repeats; two standard errors of 60 are .08
    assert rose == 0
    assert months >= 0.93


if __name__ == "__main__":
    for size in (1.0, 0.5, 0.7, 1.5):
        print(size, tally(size, 300 if size == 1 else 100), flush=True)  # noqa: T201
