"""Monitoring: missing labels are no drift, and alarms keep their risk over many looks."""

import dataclasses
import json
import re

import numpy as np
import pytest
from scipy.stats import norm

import undercount as uc
from undercount.cli.main import main
from undercount.errors import collect_warnings
from undercount.prevalence import LateLabels
from undercount.read.monitor.alarm import ALARM_CHANGES, FlaggedDays, find_evidence, start_weights

SPAN, CUT = 460, 1.3


def draw(rng, change=1.0, n=16_000, start=130):
    """Rows of 15 months; from a day on the share of positives is multiplied."""
    seen = rng.integers(0, SPAN, n)
    share = np.where(seen > start, 0.1 * change, 0.1)
    truth = rng.random(n) < share
    delay = rng.exponential(45 / np.log(2), n)
    found = np.where(truth & (seen + delay <= SPAN), seen + delay, np.nan)
    return rng.normal(2.0 * truth), seen, found, share


def run(rng, change=1.0, start=130):
    score, seen, found, share = draw(rng, change, start=start)
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


def test_a_wide_interval_stands_beside_its_value(tmp_path):
    # Of 1,200 rows in 15 months a dozen a month are flagged.
    score, seen, labels, _ = draw(np.random.default_rng(2), n=1200)
    with collect_warnings():
        found = uc.monitor(score, observed=seen, found=labels, threshold=CUT, until=SPAN)
    page = tmp_path / "page.html"
    found.to_html(page)
    known = [row.precision for row in found.rows if row.precision]
    wide = [each for each in known if each.high - each.low >= 0.3]
    assert wide
    for each in wide:
        said = f"{each.value:.3f} ({each.low:.3f} – {each.high:.3f})"
        assert said in str(found)
        assert said in page.read_text()


def test_columns_of_the_table_never_meet():
    found, *_ = run(np.random.default_rng(0))
    wide = dataclasses.replace(
        found.rows[0], n_rows=123_456_789, n_found=12_345_678, chance=0.999998
    )
    lines = str(dataclasses.replace(found, rows=(wide, *found.rows[1:]))).splitlines()
    row = next(line for line in lines if "123,456,789" in line)
    cells = re.split(r" {2,}", row.strip())
    counts = ["123,456,789", f"{wide.n_flagged:,}", "12,345,678"]
    assert cells[:5] == [wide.period, *counts, "> 99.9 %"]
    heads = next(line for line in lines if line.startswith(" period"))
    assert heads.index("arrived") + len("arrived") == row.index("99.9 %") + len("99.9 %")


def test_every_number_of_the_page_has_its_name_where_columns_have_none(tmp_path):
    """Below 720 px rows stand as lists, and a cell shows its label."""
    found, *_ = run(np.random.default_rng(0))
    found.to_html(tmp_path / "page.html")
    body = (tmp_path / "page.html").read_text().split("<tbody>")[1].split("</tbody>")[0]
    names = ["rows", "flagged", "found", "arrived", "naive", "precision"]
    assert re.findall(r'data-label="(.*?)"', body) == names * len(found.rows)
    assert body.count("<td") == 7 * len(found.rows)


def test_positives_that_are_never_found_make_no_period_immature():
    score, seen, labels, _ = draw(np.random.default_rng(0))
    given = {"observed": seen, "found": labels, "threshold": CUT, "until": SPAN}
    with collect_warnings():
        all_found, some = (
            uc.monitor(score, **given, found_eventually=share).alarm for share in (1.0, 0.7)
        )
    assert all_found is not None
    assert some is not None
    assert [look[0] for look in some.looks] == [look[0] for look in all_found.looks]


def test_a_period_without_flagged_rows_has_a_reason():
    score, seen, found, _ = draw(np.random.default_rng(1))
    score[seen < 31] = -10
    result = uc.monitor(score, observed=seen, found=found, threshold=CUT, until=SPAN)
    assert result.rows[0].note == "no row is flagged"
    assert json.loads(result.to_json())["periods"][0]["precision"] is None


def test_a_small_share_ever_found_makes_no_month_too_young():
    # One positive in ten is ever found, most of them within two months.
    score, seen, found, _ = draw(np.random.default_rng(1))
    kept = np.where(np.random.default_rng(2).random(len(found)) < 0.1, found, np.nan)
    with collect_warnings():
        result = uc.monitor(
            score, observed=seen, found=kept, threshold=CUT, until=SPAN, found_eventually=0.1
        )
    assert [row.precision is not None for row in result.rows[:12]] == [True] * 12


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
        ({"label": [1, 0]}, "label and found must be of the same rows"),
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


def dated_file(path, n=6000):
    """Write a file of scores, days, days of labels, and labels."""
    score, seen, found, _ = draw(np.random.default_rng(4), n=n)
    lines = ["score,observed,found,label"]
    for one, day, label in zip(score, seen, found, strict=True):
        late = "" if np.isnan(label) else f"{np.ceil(label):.0f}"
        lines.append(f"{one:.4f},{day},{late},{int(late != '')}")
    path.write_text("\n".join(lines), encoding="utf-8")
    names = ("score", "observed", "found")
    return [str(path), *(word for name in names for word in (f"--{name}", name))]


@pytest.mark.parametrize(
    ("requirement", "code", "words"),
    [
        ("precision >= 0.3 and recall@1.3 > 50%", 0, "met: rows old enough: precision@1.3 >= 0.3"),
        ("precision >= 0.9", 1, "failed"),
        ("precision >= 0.47", 3, "inconclusive"),
        ("precision@0.7 >= 0.5", 2, "at the threshold 1.3"),
        ("roc_auc >= 0.5", 2, "precision, recall, f1"),
    ],
)
def test_requirements_are_judged_by_the_rows_that_are_old_enough(
    requirement, code, words, tmp_path, capsys
):
    asked = dated_file(tmp_path / "rows.csv")
    assert main(["monitor", *asked, "--threshold", "1.3", "--require", requirement]) == code
    said = capsys.readouterr()
    assert words in said.out + said.err


def test_no_requirement_is_met_while_labels_are_still_arriving():
    with collect_warnings():
        result = uc.monitor(**slow_rows(), threshold=1.0)
    for condition in ("recall >= 0.1", "recall >= 0.999"):
        verdict = result.require(condition)
        assert verdict.outcome == "inconclusive"
        assert "not mature" in str(verdict)


def test_rows_after_the_last_day_are_left_out(tmp_path, capsys):
    score, seen, found, _ = draw(np.random.default_rng(4))
    then = 400
    early = seen <= then
    known = np.where(found <= then, found, np.nan)[early]
    expected = uc.monitor(
        score[early], observed=seen[early], found=known, threshold=CUT, until=then
    )
    result = uc.monitor(score, observed=seen, found=found, threshold=CUT, until=then)
    assert result.to_json() == expected.to_json()
    asked = dated_file(tmp_path / "rows.csv")
    assert main(["monitor", *asked, "--threshold", "1.3", "--until", str(then)]) == 0
    assert "rows after --until 400 left out" in capsys.readouterr().err


def test_dates_count_where_the_label_is_positive():
    score, seen, found, _ = draw(np.random.default_rng(4))
    # Every row has a date: negatives that of their verdict.
    label = ~np.isnan(found)
    dates = np.where(label, found, np.minimum(seen + 10.0, SPAN))
    given = {"observed": seen, "threshold": CUT, "until": SPAN}
    expected = uc.monitor(score, found=found, **given)
    assert uc.monitor(score, found=dates, label=label, **given).to_json() == expected.to_json()
    some = np.flatnonzero(label)[::10]
    dates[some] = np.nan
    share = 1 - len(some) / label.sum()
    with pytest.raises(uc.InputError, match=f"found_eventually={share:.3f}"):
        uc.monitor(score, found=dates, label=label, **given)


def slow_rows(ever=1.0, delay=90.0, span=60, n=6000):
    """Rows of some days; of the positives a share is ever found."""
    rng = np.random.default_rng(6)
    seen, truth = rng.integers(0, span, n), rng.random(n) < 0.4
    late = seen + rng.exponential(delay, n)
    found = np.where(truth & (rng.random(n) < ever) & (late <= span), late, np.nan)
    return {"score": rng.normal(2.0 * truth), "observed": seen, "found": found, "until": span}


def test_labels_still_arriving_forbid_to_report(tmp_path, capsys):
    # Two months of labels that take three on average: most positives are still to be found.
    made = slow_rows()
    with collect_warnings():
        result = uc.monitor(**made, threshold=1.0)
    truth = 0.4 * norm.sf(-1) / (0.4 * norm.sf(-1) + 0.6 * norm.sf(1))
    # Nobody can say how many come later: the interval holds the truth and says next to nothing.
    assert truth in result.metrics["precision"].interval
    assert result.metrics["precision"].interval.width > 0.5
    assert not result.reportable
    words = str(result)
    assert words.startswith(" DO NOT REPORT these numbers: the oldest rows are 60 days old")
    assert "true value (" not in words
    page = tmp_path / "page.html"
    result.to_html(page)
    text = page.read_text(encoding="utf-8")
    assert text.index("DO NOT REPORT") < text.index("No alarm is possible")
    assert "True value (" not in text
    facts = json.loads(result.to_json())
    assert facts["reportable"] is False
    assert "is not mature" in facts["unreportable_because"]
    rows = tmp_path / "rows.csv"
    names = ("score", "observed", "found")
    dates = [np.datetime64("2024-01-01") + np.nan_to_num(made[n]).astype(int) for n in names[1:]]
    dates[1][np.isnan(made["found"])] = np.datetime64("NaT")
    lines = zip(made["score"], *dates, strict=True)
    told = "\n".join(f"{s:.4f},{o},{'' if np.isnat(f) else f}" for s, o, f in lines)
    rows.write_text(f"{','.join(names)}\n{told}\n", encoding="utf-8")
    options = [word for name in names for word in (f"--{name}", name)]
    assert main(["monitor", str(rows), *options, "--threshold", "1"]) == 3
    assert capsys.readouterr().out.strip().startswith("DO NOT REPORT")


def unlike_rows(rng, median_high=55.0, median_low=135.0, n=12_000, span=360):
    """Rows of a year, 30 % positive; labels of scores from 1.5 on have a median of their own."""
    seen, truth = rng.integers(0, span, n), rng.random(n) < 0.3
    score = rng.normal(2.0 * truth)
    scale = np.where(score >= 1.5, median_high, median_low) / np.log(2) ** (1 / 3)
    late = seen + rng.weibull(3, n) * scale
    found = np.where(truth & (late <= span), late, np.nan)
    return {"score": score, "observed": seen, "found": found, "until": span}


def test_numbers_that_a_check_contradicts_are_not_reported(tmp_path, capsys):
    # Labels of high scores come sooner, so that too many hidden ones are made up for there.
    made = unlike_rows(np.random.default_rng(1))
    result = uc.monitor(**made, threshold=1.5)
    truth = 0.3 * norm.sf(-0.5) / (0.3 * norm.sf(-0.5) + 0.7 * norm.sf(1.5))
    assert result.late.mature_
    assert result.metrics["precision"].low > truth + 0.05
    assert result.fair.level == "fail"
    assert not result.reportable
    reason = "labels are no fair sample: labels of high scores come sooner"
    words = " ".join(str(result).split())
    assert words.startswith(f"DO NOT REPORT these numbers: {reason}")
    assert "true value (" not in words
    facts = json.loads(result.to_json())
    assert facts["reportable"] is False
    assert facts["unreportable_because"].startswith(reason)
    assert result.require("precision >= 0.1").outcome == "inconclusive"
    page = tmp_path / "page.html"
    result.to_html(page)
    text = page.read_text(encoding="utf-8")
    assert text.index("DO NOT REPORT") < text.index(reason[1:]) < text.index("<table>")
    assert "True value (" not in text
    rows = tmp_path / "rows.csv"
    lines = zip(made["score"], made["observed"], np.ceil(made["found"]), strict=True)
    cells = "\n".join(f"{s:.4f},{o},{'' if np.isnan(f) else int(f)}" for s, o, f in lines)
    rows.write_text(f"score,observed,found\n{cells}\n", encoding="utf-8")
    names = ("score", "observed", "found")
    options = [word for name in names for word in (f"--{name}", name)]
    options += ["--threshold", "1.5", "--baseline", "1970-11"]  # too late for an alarm
    assert main(["monitor", str(rows), *options]) == 3
    assert capsys.readouterr().out.strip().startswith("DO NOT REPORT")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("medians", "least", "most"), [((90.0, 90.0), 0.97, 1.0), ((55.0, 135.0), 0.0, 0.0)]
)
def test_numbers_are_reported_if_delays_are_alike_and_only_then(medians, least, most):
    # Each of the two checks fails by chance once in a thousand.
    reported = []
    for seed in range(150):
        made = unlike_rows(np.random.default_rng([55, seed]), *medians)
        with collect_warnings():
            reported.append(uc.monitor(**made, threshold=1.5).reportable)
    assert least <= np.mean(reported) <= most


def test_an_evaluation_by_dates_is_judged_as_the_monitor_does():
    made = slow_rows()
    with collect_warnings():
        late = LateLabels().fit(made["observed"], made["found"], until=made["until"])
    for by in (None, np.arange(6000) % 2):
        found = uc.evaluate(
            late.labels_, made["score"], unlabeled_prevalence=late, threshold=1.0, by=by
        )
        assert "do not report these numbers" in str(found).replace("Do not", "do not")
        assert found.require("recall >= 0.1").outcome == "inconclusive"
    overall = found.overall
    assert [check.level for check in overall.checks if check.code == "UC023"] == ["fail"]


def test_a_late_fall_is_seen_after_a_long_good_history():
    alarms = []
    for seed in range(4):
        result, *_ = run(np.random.default_rng([9, seed]), 0.4, start=320)
        alarms.append(result.alarm.fell > "1970-11-17")  # day 320
    assert sum(alarms) >= 3


def test_a_precision_of_nearly_one_that_falls_to_half_is_seen_at_once():
    rng = np.random.default_rng(0)
    n = 6000
    seen = rng.integers(0, SPAN, n)
    truth = rng.random(n) < np.where(seen > 300, 0.5, 0.99)
    late = seen + rng.exponential(20, n)
    result = uc.monitor(
        np.ones(n),
        observed=seen,
        found=np.where(truth & (late <= SPAN), late, np.nan),
        threshold=1,
        until=SPAN,
    )
    # Day 300 is October 28; within four weeks a label of a row so old has come in 3 of 4 cases.
    assert "1970-10-28" < result.alarm.fell < "1970-12-10"


def test_evidence_is_the_chance_of_what_was_seen_over_that_without_a_change():
    # All labels come at once, so that each row is found or not: r integrated by quadrature.
    day = np.repeat(np.arange(20.0), 10)
    found = np.where(np.arange(200) % 10 < np.where(day < 10, 6, 2), day, np.nan)
    with collect_warnings():
        late = LateLabels().fit(day, found, until=400.0)
    start, end = 10.0, 17.0
    rates = (np.arange(20_000) + 0.5) / 20_000
    prior = rates**-0.5 * (1 - rates) ** -0.5
    base = rates**60 * (1 - rates) ** 40
    n = 80  # rows of days 10 to 17
    k = int(np.count_nonzero(~np.isnan(found[(day >= start) & (day <= end)])))

    def chance(after):
        return np.sum(prior * base * after**k * (1 - after) ** (n - k))

    same = chance(rates)
    falls = np.mean([chance(part * rates) / same for part in ALARM_CHANGES])
    odds = [rates / part / (1 - rates + rates / part) for part in ALARM_CHANGES]
    rises = np.mean([chance(rate) / same for rate in odds])
    made = find_evidence(FlaggedDays(late, np.ones(200, bool)), start, np.array([end]))
    weight = start_weights(1)[0]
    np.testing.assert_allclose(made[0] - 1, weight * (np.array([falls, rises]) - 1), rtol=2e-3)


def test_the_evidence_of_each_start_is_of_the_rows_since():
    # No label of the last half year comes: the alarm knows, and does not ask older rows.
    score, seen, found, _ = draw(np.random.default_rng(11))
    found[seen > 280] = np.nan
    result = uc.monitor(score, observed=seen, found=found, threshold=CUT, until=SPAN)
    assert result.alarm.fell > "1970-10-08"


def test_without_an_alarm_the_periods_that_look_otherwise_are_named():
    score, seen, found, _ = draw(np.random.default_rng(12))
    odd = (seen >= 334) & (seen < 365)  # December alone loses two labels in three
    found[odd & (np.random.default_rng(0).random(len(seen)) < 0.67)] = np.nan
    result = uc.monitor(score, observed=seen, found=found, threshold=CUT, until=SPAN)
    quiet = dataclasses.replace(result, alarm=dataclasses.replace(result.alarm, fell="", rose=""))
    said = " ".join(str(quiet).split())
    assert "no change seen" not in said
    assert "no alarm yet, though 1970-12 lies below the baseline by a whole interval" in said


def test_labels_that_became_slower_are_said_beside_the_alarm(tmp_path):
    # From day 230 on labels take three times as long: that looks like a precision that fell.
    rng = np.random.default_rng(0)
    n = 16_000
    seen, truth = rng.integers(0, SPAN, n), rng.random(n) < 0.1
    late = seen + rng.exponential(np.where(seen > 230, 195, 65))
    found = np.where(truth & (late <= SPAN), late, np.nan)
    score = rng.normal(2.0 * truth)
    with collect_warnings():
        result = uc.monitor(score, observed=seen, found=found, threshold=CUT, until=SPAN)
        score, seen, found, _ = draw(np.random.default_rng(1))
        steady = uc.monitor(score, observed=seen, found=found, threshold=CUT, until=SPAN)
    assert result.steady.level == "fail"
    assert not result.reportable
    assert " ".join(str(result).split()).startswith(
        "DO NOT REPORT these numbers: delays are not alike: labels of recent rows come later"
    )
    for bound in (0.01, 0.99):  # which the interval alone would meet, and fail
        (asked,) = result.require(f"precision >= {bound}").judgements
        assert (asked.outcome, "UC022" in asked.why) == ("inconclusive", True)
    assert "labels of recent rows come later" in result.steady.message
    assert "unless labelling changed, which looks the same" in " ".join(str(result).split())
    page = tmp_path / "page.html"
    result.to_html(page)
    assert "labels of recent rows come later" in page.read_text(encoding="utf-8")
    assert json.loads(result.to_json())["steady_delays"]["level"] == "fail"
    assert steady.steady.level == "ok"
    assert steady.reportable
    assert steady.unreportable_because == ""


@pytest.mark.parametrize(
    ("share", "words"),
    [(1.0, "every positive is found in the end"), (0.6, "just 60 % of the positives are found")],
)
def test_what_is_ever_found_stands_beside_the_other_assumptions(share, words, tmp_path):
    made = slow_rows(ever=0.6, delay=20.0, span=200, n=20_000)
    result = uc.monitor(**made, threshold=1.0, found_eventually=share)
    assert result.reportable
    truth = 0.4 * norm.sf(-1) / (0.4 * norm.sf(-1) + 0.6 * norm.sf(1))
    assert (truth in result.metrics["precision"].interval) == (share == 0.6)
    page = tmp_path / "page.html"
    result.to_html(page)
    facts = json.loads(result.to_json())
    plain = " ".join(str(result).split())
    for text in (plain, page.read_text(encoding="utf-8"), "; ".join(facts["rests_on"])):
        assert words in text.replace("Every", "every").replace("Just", "just")
        assert "--found-eventually" in text
    assert facts["found_eventually"] == share
    assert "the share ever found" in result.metrics["precision"].needs


def tally(change, repeats, seed=5, start=130):
    """Rate of alarms over 52 weekly looks (fell, rose), and coverage of the months."""
    rng = np.random.default_rng(seed)
    alarms, held = [], []
    for _ in range(repeats):
        result, seen, share = run(rng, change, start)
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
    (fell, rose), months = tally(1.0, 400)
    assert fell + rose <= 0.05
    assert 0.93 <= months <= 0.975
    # Precision .47 to .29; a long good history must not hide what comes after it. 130 days before
    # the end half of the labels have not arrived.
    for start, least in ((130, 0.9), (230, 0.9), (330, 0.6)):
        (fell, rose), months = tally(0.5, 60, start=start)
        assert fell > least, start
        assert rose == 0
        assert months >= 0.93


def unchanged(rng, design, n=16_000):
    """Rows of 15 months whose flagged ones are real as often at any time."""
    grows = design == "volume"
    seen = np.floor(SPAN * rng.random(n) ** (0.4 if grows else 1.0))
    truth = rng.random(n) < 0.1
    score = rng.normal(2.0 * truth)
    if design == "prevalence":  # more and more rows are flagged, and with them more positives
        kept = (score < CUT) | (rng.random(n) > 0.6 * (1 - seen / SPAN))
        seen, truth, score = seen[kept], truth[kept], score[kept]
    median = 40 + 10 * seen / SPAN if design == "delays" else 45.0
    late = seen + median * rng.exponential(1 / np.log(2), len(seen))
    return score, seen, np.where(truth & (late <= SPAN), late, np.nan)


@pytest.mark.slow
@pytest.mark.parametrize("design", ["delays", "prevalence", "volume"])
def test_what_is_no_change_of_precision_raises_no_alarm(design):
    alarms = []
    for seed in range(334):
        score, seen, found = unchanged(np.random.default_rng([8, seed]), design)
        with collect_warnings():
            late = LateLabels().fit(seen, found, until=SPAN)
        looks = np.arange(97.0, SPAN + 1, 7.0)
        alarms.append(find_evidence(FlaggedDays(late, score >= CUT), 90.0, looks).max() >= 2 / 0.05)
    assert np.mean(alarms) <= 0.05


if __name__ == "__main__":
    for size, day in ((1.0, 130), *((size, day) for size in (0.5, 0.7) for day in (130, 230, 330))):
        print(size, day, tally(size, 400 if size == 1 else 100, start=day), flush=True)  # noqa: T201
