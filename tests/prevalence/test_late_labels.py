"""Late labels: the delay distribution, its error, and what is hidden because it is late."""

import sys
from datetime import datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.stats import gamma

import undercount as uc
from undercount.count.files import read_dated
from undercount.errors import collect_warnings
from undercount.prevalence import LateLabels
from undercount.prevalence.delay_tail import DelayTail
from undercount.prevalence.delays import DelayDistribution, read_days
from undercount.read.monitor.delays import metrics_of_late

UNTIL = 360
# Each with a median of 45 days.
DELAYS = {
    "exponential": lambda rng, n: 45 / np.log(2) * rng.exponential(size=n),
    "Weibull": lambda rng, n: 45 / np.log(2) ** (1 / 1.6) * rng.weibull(1.6, n),
    "log-normal": lambda rng, n: 45 * rng.lognormal(sigma=0.7, size=n),
}
LEVELS = (0.8, 0.9, 0.95)


def draw(rng, n=12_000, drift=0.0, delays="exponential"):
    """Rows over twelve months, a median delay of 45 days; drift moves share and scores."""
    seen = rng.integers(0, UNTIL, n)
    truth = rng.random(n) < 0.1 * (1 + drift * (seen / UNTIL - 0.5))
    score = rng.normal((2 + drift * seen / UNTIL) * truth)
    delay = DELAYS[delays](rng, n)
    found = np.where(truth & (seen + delay <= UNTIL), seen + delay, np.nan)
    return seen, truth, score, found


def test_the_product_limit_by_hand():
    # Three cohorts of windows 3, 2, 1; labels by day: 4 2 1 / 5 3 / 6. Chain ladder:
    # F(2)/F(3) = 6/7; F(1)/F(2) = (4 + 5)/(6 + 8); of windows and delays in days.
    labels = [(3, 1, 4), (3, 2, 2), (3, 3, 1), (2, 1, 5), (2, 2, 3), (1, 1, 6)]
    window = np.repeat([float(w) for w, _, n in labels], [n for *_, n in labels])
    delay = np.repeat([float(d) for _, d, n in labels], [n for *_, n in labels])
    found = DelayDistribution.of(delay, window)
    np.testing.assert_allclose(found.chance(np.array([1.0, 2.0, 3.0])), [9 / 14 * 6 / 7, 6 / 7, 1])
    # Greenwood: n/(R (R - n)) at days 2 and 3.
    expected = 5 / (14 * 9) + 1 / (7 * 6)
    assert found.log_variance(np.array([1.0]))[0] == pytest.approx(expected)


def test_without_truncation_it_is_the_empirical_distribution():
    delay = np.random.default_rng(0).exponential(10, 500)
    found = DelayDistribution.of(delay, np.full(500, 1e6))
    at = np.array([2.0, 5.0, 20.0])
    np.testing.assert_allclose(found.chance(at), [(delay <= each).mean() for each in at])


def test_the_variance_of_a_total_is_that_of_all_pairs():
    rng = np.random.default_rng(1)
    window = rng.uniform(10, 100, 200)
    delay = window * rng.random(200)
    found = DelayDistribution.of(delay, window)
    amount = rng.random(200)
    share = amount / found.chance(window)
    pairs = found.log_variance(np.maximum.outer(window, window).ravel()).reshape(200, 200)
    assert found.total_variance(amount, window) == pytest.approx(share @ pairs @ share)


def test_dates_of_any_kind_are_read():
    expected = [19_723.0, np.nan]
    for values in (
        ["2024-01-01", None],
        np.array(["2024-01-01", "NaT"], "datetime64[ns]"),
        [19_723.0, np.nan],
    ):
        np.testing.assert_array_equal(read_days(values, "found"), expected)
    with pytest.raises(uc.InputError, match="dates"):
        read_days(["soon"], "found")


def test_times_with_a_zone_are_read_in_utc_everywhere(tmp_path, monkeypatch):
    # A quarter past midnight in Berlin is still yesterday in UTC: 2023-12-31, day 19,722.
    when = datetime(2024, 1, 1, 0, 15, tzinfo=timezone(timedelta(hours=1)))
    expected = 19_722 + 23.25 / 24
    for value in (when, when.isoformat(), pd.Timestamp(when)):
        assert read_days([value, None], "found")[0] == pytest.approx(expected)
    frame = pd.DataFrame({"seen": pd.to_datetime([when]), "text": [when.isoformat()]})
    frame.to_parquet(tmp_path / "rows.parquet")
    (tmp_path / "rows.csv").write_text(f"seen,text\n{when.isoformat()},{when.isoformat()} \n")
    for zone in ("UTC", "America/New_York"):
        monkeypatch.setenv("TZ", zone)
        for name in ("rows.parquet", "rows.csv"):
            found = read_dated(tmp_path / name, [], ["seen", "text"])
            assert found["seen"][0] == pytest.approx(expected), (name, zone)
            assert found["text"][0] == pytest.approx(expected), (name, zone)


def test_a_date_as_the_last_means_the_whole_day():
    # A label of the last day at nine has arrived, if days is all that until says.
    seen = np.array(["2024-01-01T14:00", "2024-01-02T08:00", "2024-01-03T10:00"], "datetime64[s]")
    found = np.array(["2024-01-05T09:00", "2024-01-03T09:00", "NaT"], "datetime64[s]")
    with collect_warnings():
        late = LateLabels().fit(seen, found, until="2024-01-05")
        moment = LateLabels().fit(seen, found, until="2024-01-05T10:00")
    assert late.rows_.labelled.tolist() == [True, True, False]
    assert late.rows_.until - moment.rows_.until == pytest.approx(14 / 24)


def test_an_immature_oldest_cohort_is_said():
    rng = np.random.default_rng(2)
    seen, _, _, found = draw(rng)
    late = LateLabels()
    with pytest.warns(uc.SmallSampleWarning, match="not mature"):
        late.fit(seen[seen > 300], found[seen > 300], until=UNTIL)


@pytest.mark.parametrize("size", [4000, 200_000])
def test_labels_of_one_import_tell_no_delay(size):
    seen = np.random.default_rng(0).integers(0, 600, size).astype(float)
    found = np.where(np.arange(size) % 7 == 0, 620.0, np.nan)
    late = LateLabels()
    with pytest.warns(uc.SmallSampleWarning, match="as by one import"):
        late.fit(seen, found, until=620.0)
    assert not late.mature_


def test_a_cohort_whose_labels_all_came_late_is_said_in_plain_numbers():
    seen, found = np.zeros(200), np.where(np.arange(200) % 4 == 0, 230.0, np.nan)
    with pytest.warns(uc.SmallSampleWarning, match=" 100 % of their labels took longer than 200"):
        LateLabels().fit(seen, found, until=230.0)


@pytest.mark.parametrize(
    ("observed", "found", "words"),
    [
        ([5, 1, 1], [4, 2, np.nan], "before its row"),
        ([1, 2], [np.nan, np.nan], "date of their label"),
        ([np.nan, 2], [3, np.nan], "must not be missing"),
        ([1, 2, 3], [3, np.nan], "same rows"),
    ],
)
def test_impossible_dates_are_refused(observed, found, words):
    with pytest.raises(uc.InputError, match=words):
        LateLabels().fit(np.array(observed, float), np.array(found, float))


def test_found_eventually_scales_the_positives():
    seen, _, _, found = draw(np.random.default_rng(3))
    all_of_them = LateLabels().fit(seen, found, until=UNTIL).prevalence_
    half = LateLabels(found_eventually=0.5).fit(seen, found, until=UNTIL).prevalence_
    assert half == pytest.approx(2 * all_of_them)


def late_rows(rng, median, n=12_000):
    """Rows of twelve months with exponential delays of a longer median."""
    seen, truth = rng.integers(0, UNTIL, n), rng.random(n) < 0.1
    delay = rng.exponential(median / np.log(2), n)
    return seen, truth, np.where(truth & (seen + delay <= UNTIL), seen + delay, np.nan)


def test_the_tail_is_the_part_that_comes_after_the_oldest_window():
    rng = np.random.default_rng(0)
    for form in (rng.exponential(size=60_000), rng.lognormal(sigma=0.9, size=60_000)):
        delay, window = 80 * form, rng.uniform(0, UNTIL, 60_000)
        seen = delay <= window
        rows = delay[seen], window[seen]
        tail = DelayTail.of(*rows, DelayDistribution.of(*rows, 30))
        later = (delay > UNTIL).sum() / (delay <= UNTIL).sum()
        assert tail.unseen == pytest.approx(later, rel=0.35)
        assert later < tail.high < 2 * later


def test_no_label_beyond_the_tail_begins_no_tail():
    rows = np.full(50, 3.0), np.linspace(100, 200, 50)
    assert DelayTail.of(*rows, DelayDistribution.of(*rows)) == DelayTail(0.0, 0.0)


def test_slow_labels_are_not_reported_or_held_by_the_interval():
    # A mean delay of 120 days: 5 % come after the oldest row's year, and used to be forgotten.
    for seed in range(6):
        seen, truth, found = late_rows(np.random.default_rng([7, seed]), 83)
        with collect_warnings():
            late = LateLabels().fit(seen, found, until=UNTIL)
        flagged = np.ones(len(seen), bool)
        precision = metrics_of_late(late, flagged)["precision"]
        assert truth[late.usable_].mean() in precision.interval
        assert late.tail_.high > 0.053  # exp(-3) / (1 - exp(-3)): the truth


def tally(repeats, seed=4, **design):
    """Coverage of each metric at three levels, mean width of precision, error of the naive one."""
    rng = np.random.default_rng(seed)
    held, widths, naive = [], [], []
    for _ in range(repeats):
        seen, truth, score, found = draw(rng, **design)
        with collect_warnings():  # by chance a last label makes the oldest month look immature
            late = LateLabels().fit(seen, found, until=UNTIL)
        flagged = score >= 1.3
        hits, some, old = (
            truth & flagged & late.usable_,
            truth & late.usable_,
            flagged & late.usable_,
        )
        values = {
            "precision": hits.sum() / old.sum(),
            "recall": hits.sum() / some.sum(),
            "f1": 2 * hits.sum() / (some.sum() + old.sum()),
        }
        metrics = [
            metrics_of_late(late.set_params(confidence_level=level), flagged) for level in LEVELS
        ]
        held.append([[values[name] in at[name].interval for name in values] for at in metrics])
        widths.append(metrics[-1]["precision"].interval.width)
        naive.append((~np.isnan(found))[flagged].mean() - truth[flagged].mean())
    levels = dict(zip(values, np.mean(held, axis=0).T.round(3).tolist(), strict=True))
    return levels, round(float(np.mean(widths)), 3), round(float(np.mean(naive)), 3)


@pytest.mark.slow
@pytest.mark.parametrize("drift", [0.0, 0.5])
@pytest.mark.parametrize("delays", DELAYS)
def test_late_labels_are_covered_and_sharp(drift, delays):
    found, width, naive = tally(1000, drift=drift, delays=delays)
    assert min(found["precision"][-1], found["recall"][-1]) >= 0.93, found
    assert found["f1"][-1] >= 0.92, found  # .932 in 1,200 repeats of the worst design
    assert width <= 0.08
    assert naive < -0.05


def slow_part(rng, n):
    """Draw delays of which 15 in 100 are four times as slow."""
    median = brentq(lambda at: 0.85 * np.exp(-at) + 0.15 * np.exp(-at / 4) - 0.5, 0.1, 5)
    return rng.exponential(size=n) * np.where(rng.random(n) < 0.15, 4.0, 1.0) / median


# Each with a median of 1.
FORMS = {
    "exponential": lambda rng, n: rng.exponential(1 / np.log(2), n),
    "log-normal": lambda rng, n: rng.lognormal(sigma=1.0, size=n),
    "Weibull": lambda rng, n: rng.weibull(0.7, n) / np.log(2) ** (1 / 0.7),
    "gamma": lambda rng, n: rng.gamma(2.0, size=n) / gamma(2.0).median(),
    "mixture": slow_part,
}


def report(form, median, repeats=150, seed=53):
    """Of each draw: may precision be reported, is it held, its error, and the interval's width."""
    lines = []
    for at in range(repeats):
        rng = np.random.default_rng([at, seed])
        n = 12_000
        truth, seen = rng.random(n) < 0.1, rng.integers(0, UNTIL, n)
        late_by = median * FORMS[form](rng, n)
        found = np.where(truth & (seen + late_by <= UNTIL), seen + late_by, np.nan)
        flagged = rng.normal(2.0 * truth) >= 1.5
        with collect_warnings():
            late = LateLabels().fit(seen, found, until=UNTIL)
        value = truth[flagged & late.usable_].mean()
        precision = metrics_of_late(late, flagged)["precision"]
        within = value in precision.interval
        lines.append((late.mature_, within, precision.value - value, precision.interval.width))
    return np.array(lines, float)


SLOW = [
    ("exponential", 45), ("exponential", 62), ("exponential", 83), ("exponential", 104),
    ("log-normal", 45), ("log-normal", 62), ("log-normal", 83), ("Weibull", 21),
    ("gamma", 83), ("mixture", 45),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("form", "median"), SLOW)
def test_what_may_be_reported_holds_the_truth(form, median):
    ripe, within = report(form, median)[:, :2].astype(bool).T
    # Two standard errors of the repeats below .93.
    assert within.mean() >= 0.93 - 2 * 0.02
    if ripe.sum() >= 15:
        assert within[ripe].mean() >= 0.93 - 2 * np.sqrt(0.07 / ripe.sum())


if __name__ == "__main__":
    for rows in (12_000, 3_000):
        for moved in (0.0, 0.5):
            for form in DELAYS:
                found = tally(int(sys.argv[1]), int(sys.argv[2]), n=rows, drift=moved, delays=form)
                print(rows, moved, form, *found, flush=True)  # noqa: T201
    for form, days in SLOW:
        ripe, *others = report(form, days).T
        means = [(x.mean().round(3), x[ripe > 0].mean().round(3)) for x in others]  # all, ripe
        print(form, days, ripe.mean().round(2), *means, flush=True)  # noqa: T201


@pytest.mark.parametrize("strange", [np.inf, -np.inf, 1_731_600_000])
@pytest.mark.parametrize("where", ["observed", "found", "until"])
def test_numbers_that_are_no_days_are_refused(strange, where):
    dates = {"observed": [1.0, 2.0, 3.0], "found": [2.0, np.nan, 4.0], "until": 9.0}
    dates[where] = strange if where == "until" else [strange, np.nan, 4.0]
    with pytest.raises(uc.InputError, match=where):
        LateLabels().fit(np.array(dates["observed"]), dates["found"], until=dates["until"])


def test_an_end_of_labels_long_after_all_dates_is_a_slip():
    rows, found = np.array([1.0, 2.0, 3.0]), np.array([2.0, np.nan, 4.0])
    LateLabels().fit(rows, found, until=4 + 3650)
    with pytest.raises(uc.InputError, match="20 years later"):
        LateLabels().fit(rows, found, until=4 + 20 * 365.25)
