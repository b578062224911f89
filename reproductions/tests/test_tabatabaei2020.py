"""Tabatabaei et al.: errors of F1 and LL beside the notebooks', moments beside exact ones."""

import numpy as np
import pytest

import undercount as uc
from undercount_reproductions import tabatabaei_draws, tabatabaei_figures
from undercount_reproductions.catalogue import run_item


def item(name, **options):
    return run_item("tabatabaei2020", name, **options)


def test_estimates_agree_with_the_recovered_curve():
    rng = np.random.default_rng(0)
    points, truth = tabatabaei_draws.generated(rng)
    predicted = tabatabaei_draws.random_lines(points, rng)[:5]
    labelled = truth & (rng.random(len(truth)) < 0.4)
    sample = tabatabaei_draws.Predictions(truth, predicted)
    found = tabatabaei_draws.estimates(sample, labelled, 0.4)
    for i in range(5):
        y = np.where(labelled, 1.0, np.nan)
        counts = uc.ScoreCounts.from_rows(y, predicted[i].astype(float))
        shares = uc.Shares.from_label_frequency(counts, 0.4)
        point = uc.mixture_curve(counts, shares, clean=False).at(1.0)
        assert found.f1[i] == pytest.approx(point.f1)
        assert found.lee_liu[i] == pytest.approx(point.lee_liu)
        complete = uc.labelled_curve(uc.ScoreCounts.from_rows(truth, predicted[i].astype(float)))
        assert found.true_f1[i] == pytest.approx(complete.at(1.0).f1)


def test_figure_1_has_the_shares_of_its_design(cells):
    result = item("figure1")
    positive, labelled, flagged = cells(result, "ours, this draw")
    # The triangle above x + .2 = y has the area .8²/2; four standard errors of 200 and 64 rows.
    assert positive == pytest.approx(0.8**2 / 2, abs=4 * np.sqrt(0.32 * 0.68 / 200))
    assert labelled == pytest.approx(0.3, abs=4 * np.sqrt(0.3 * 0.7 / 64))
    assert flagged == pytest.approx(0.5, abs=0.1)  # a line and its mirror image are as likely


def test_figure_2_finds_the_label_frequency(cells, monkeypatch):
    """The rule is biased down where the classifier is unsure; far off it would be a mistake."""
    monkeypatch.setattr("undercount_reproductions.tabatabaei2020.FREQUENCIES", (0.3, 0.7))
    result = item("figure2", runs=3)
    for truth, found in zip(
        cells(result, "label frequency"), cells(result, "mean estimate"), strict=True
    ):
        assert found == pytest.approx(truth, abs=0.13)


def test_figure_3_has_exact_moments(cells):
    result = item("figure3", runs=60)
    for mean, exact, spread in zip(
        cells(result, "mean"), cells(result, "exact mean"), cells(result, "exact sd"), strict=True
    ):
        assert mean == pytest.approx(exact, abs=4 * spread / np.sqrt(60) + 1e-9)
    # By hand, from the hypergeometric variance: P 50, P1 15, M1 18, and 1 labelled row.
    assert cells(result, "exact mean", "iris")[0] == pytest.approx(2 * 15 / 68)
    spread = 2 * 50 / 68 * np.sqrt(15 / 50 * 35 / 50)
    assert cells(result, "exact sd", "iris")[0] == pytest.approx(spread)
    assert cells(result, "exact mean", "generated")[0] == pytest.approx(0.44, abs=0.01)  # printed


def test_figure_4_pairs_are_counted_one_by_one():
    """The draws behind a row, their pairs counted by looking at each of them."""
    setting = {"data": "generated", "label_frequency": 0.3}
    found = tabatabaei_figures._pairs(setting, np.random.default_rng(1), ())
    sample, labelled = tabatabaei_draws.draw_sample(setting, np.random.default_rng(1), ())
    estimate, true = [], []
    for predicted in sample.predicted:
        recall = (predicted & labelled).sum() / labelled.sum()
        positives = sample.truth.sum()
        estimate.append(2 * recall * positives / (predicted.sum() + positives))
        true.append(2 * (predicted & sample.truth).sum() / (predicted.sum() + positives))
    estimate, true = np.round(estimate, 12), np.round(true, 12)  # what is equal is no pair
    first, second = np.triu_indices(len(true), 1)
    difference = true[first] - true[second]
    wrong = difference * (estimate[first] - estimate[second]) < 0
    n_pairs = (difference != 0).sum()
    assert found["f1"] == pytest.approx(wrong.sum() / n_pairs, abs=1.5 / n_pairs)  # one by rounding


def test_figure_4_follows_the_text(cells):
    result = item("figure4", runs=20)
    for data in ("generated", "iris"):
        by_f1, by_lee_liu = cells(result, "inverted by F1", data), cells(result, "by LL", data)
        assert np.all(np.diff(by_f1) < 0.01)  # more labels, fewer pairs in the wrong order
        assert by_f1[-1] < 0.03
        # "F1 inverts fewer pairs", and significantly so above the printed label frequencies.
        for p, rho, edge, f1, lee_liu in zip(
            *(cells(result, name, data) for name in ("p", "label frequency")),
            cells(result, "published: p < .05 above", data),
            by_f1,
            by_lee_liu,
            strict=True,
        ):
            if rho > max(edge, 0.1):  # 20 draws instead of the published 1,000
                assert p < 0.05
                assert f1 < lee_liu
    assert cells(result, "inverted by F1", "heart") == [None]


def test_figure_5_follows_the_text(cells):
    result = item("figure5", runs=20)
    for data, c, f1, lee_liu, _, printed in result.rows:
        if (data, c) in {("iris", 0.5), ("iris", 2.0)}:
            continue  # half the frequency is otherwise than published, twice it is a tie
        assert (f1 < lee_liu) == (printed == "F1 better"), (data, c)
    # At c = 1 the same draws as in Figure 4: the wrong frequency costs least there.
    for data in ("generated", "iris"):
        assert (
            min(cells(result, "inverted by F1", data)[1:4])
            < cells(result, "inverted by F1", data)[0]
        )


def test_table_2(cells):
    result = item("table2", runs=60)
    # Means and spreads of many independent repetitions of the published notebooks.
    expected = {
        ("generated", "F1"): (0.0762, 0.0356),
        ("generated", "LL"): (0.7717, 0.1319),
        ("iris", "F1"): (0.0541, 0.0153),
        ("iris", "LL"): (0.5604, 0.0616),
        ("iris", "LL without M"): (0.4338, 0.0158),
    }
    for key, (mean, spread) in expected.items():
        assert cells(result, "our RMSE", *key)[0] == pytest.approx(
            mean, abs=4 * spread / np.sqrt(60)
        )
    assert cells(result, "our RMSE", "health", "F1") == [None]


@pytest.mark.slow
def test_table_2_heart(cells, real_data):
    result = item("table2", runs=200, data_dir=real_data("heart_cleveland"))
    # Published from one draw of labels; LL differs for reasons unknown.
    ours, spread = (cells(result, n, "heart", "F1")[0] for n in ("our RMSE", "sd over draws"))
    assert ours == pytest.approx(0.089, abs=spread)
