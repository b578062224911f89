"""`undercount plan`: which rows, what they buy, and what is refused."""

import csv
import importlib.resources
import io
import json
import sys

import jsonschema
import numpy as np
import pytest

from undercount.cli.main import main
from undercount.count.review_file import read_review_files

COLUMNS = ["--label", "fraud", "--score", "good"]
FILES = ["rows.csv", "rows.tsv", "rows.csv.gz", "rows.jsonl", "rows.parquet", "rows.cs*"]


def planned(path):
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline="")))


@pytest.mark.parametrize("name", FILES[:5])
def test_rows_of_every_format_are_drawn_where_they_lie(name, folder, rows, tmp_path, capsys):
    out = tmp_path / "review.csv"
    arguments = ["plan", str(folder / name), *COLUMNS, "--threshold", "1.2", "--budget", "40"]
    assert main([*arguments, "--keep", "poor,fraud", "--out", str(out)]) == 0
    found, score, other, _ = rows
    cases = planned(out)
    place = np.array([int(case["row"]) - 1 for case in cases])
    assert len(set(place)) == 40
    assert (found[place] == 0).all()
    np.testing.assert_array_equal([float(case["good"]) for case in cases], score[place])
    np.testing.assert_array_equal([float(case["poor"]) for case in cases], other[place])
    assert {case["verdict"] for case in cases} == {""}
    printed = capsys.readouterr().out
    assert f"40 of {(found == 0).sum():,} rows without a label" in printed
    assert "F1@1.2" in printed


def test_the_same_seed_draws_the_same_rows(folder, tmp_path):
    drawn = []
    for seed in ("1", "1", "2"):
        out = tmp_path / "review.csv"
        arguments = ["plan", str(folder / "rows.csv"), *COLUMNS, "--budget", "20"]
        arguments += ["--goal", "prevalence", "--seed", seed, "--out", str(out), "--quiet"]
        assert main(arguments) == 0
        drawn.append(out.read_bytes())
    assert drawn[0] == drawn[1] != drawn[2]


def test_prices_and_the_budget_of_a_half_width(folder, tmp_path, capsys):
    out = tmp_path / "plan.json"
    arguments = ["plan", str(folder / "rows.csv"), *COLUMNS, "--threshold", "1.2"]
    arguments += ["--goal", "precision", "--goal", "f1", "--half-width", "0.04", "--json", str(out)]
    assert main(arguments) == 0
    document = json.loads(out.read_text())
    schema = importlib.resources.files("undercount.show") / "plan_schema.json"
    jsonschema.validate(document, json.loads(schema.read_text()))
    precision, f1 = document["goals"]
    needed = max(precision["needed"]["budget"], f1["needed"]["budget"])
    assert needed <= document["budget"] <= 1.05 * needed  # what was planned is what is promised
    width = {int(budget): value for budget, value in f1["half_width"].items()}
    assert width[50] > width[200] > width[1000]
    assert f1["half_width"][str(document["budget"])] == pytest.approx(0.04, abs=0.01)
    assert "needs about" in capsys.readouterr().out
    assert sum(stratum["reviews"] for stratum in document["strata"]) == document["budget"]


def test_a_difference_of_two_scores_is_planned_and_compared(folder, tmp_path, capsys):
    out, path = tmp_path / "review.csv", str(folder / "rows.csv")
    both = [*COLUMNS, "--score", "poor", "--threshold", "1.2"]
    arguments = ["plan", path, *both, "--goal", "difference", "--budget", "40"]
    assert main([*arguments, "--out", str(out), "--html", str(tmp_path / "review.html")]) == 0
    assert "difference of F1@1.2" in capsys.readouterr().out
    assert read_review_files([out]).design["goal"] == ["f1_difference"]


def test_rows_of_standard_input(folder, tmp_path, monkeypatch):
    class Input:
        buffer = (folder / "rows.csv").open("rb")

    monkeypatch.setattr(sys, "stdin", Input())
    out = tmp_path / "review.csv"
    arguments = ["plan", "-", *COLUMNS, "--threshold", "1.2", "--budget", "10", "--quiet"]
    assert main([*arguments, "--out", str(out)]) == 0
    Input.buffer.close()
    assert len(read_review_files([out]).case) == 10


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ([], "say how many rows somebody can look at: --budget 100"),
        (["--budget", "0"], "--budget must be a whole number of rows"),
        (["--budget", "9", "--goal", "f2"], "metric must be one of"),
        (["--budget", "9", "--goal", "f1"], "needs a --threshold"),
        (["--budget", "9", "--goal", "difference"], "needs the scores of two models"),
        (["--budget", "9", "--keep", "god"], "did you mean 'good'"),
        (["--budget", "9", "--out", "{data}"], "would overwrite the data"),
    ],
)
def test_one_clear_message(folder, capsys, more, words):
    path = str(folder / "rows.csv")
    more = [each.format(data=path) for each in more]
    assert main(["plan", path, *COLUMNS, *more]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_counts_have_no_rows_to_look_at(folder, tmp_path, capsys):
    counts = str(tmp_path / "counts.parquet")
    assert main(["count", str(folder / "rows.csv"), *COLUMNS, "-o", counts, "--quiet"]) == 0
    assert main(["plan", counts, "--budget", "9"]) == 2
    assert "has no rows to look at" in capsys.readouterr().err


def test_a_further_round_supposes_what_the_verdicts_showed(folder, rows, tmp_path, capsys):
    """The first plan was told a share ten times too small."""
    review, again = tmp_path / "review.csv", tmp_path / "plan.json"
    arguments = ["plan", str(folder / "rows.csv"), *COLUMNS]
    first = ["--threshold", "1.2", "--budget", "80", "--unlabeled-prevalence", "0.005"]
    assert main([*arguments, *first, "--out", str(review), "--quiet"]) == 0
    truth, cases = rows[3], planned(review)
    with review.open("w", newline="") as file:
        writer = csv.DictWriter(file, cases[0])
        writer.writeheader()
        writer.writerows({**case, "verdict": int(truth[int(case["row"]) - 1])} for case in cases)
    more = ["--reviews", str(review), "--budget", "20", "--json", str(again)]
    assert main([*arguments, *more]) == 0
    hidden = truth[rows[0] == 0].mean()
    share = json.loads(again.read_text())["unlabeled_prevalence"]
    assert 0.5 * hidden < share < 2 * hidden
    words = " ".join(capsys.readouterr().out.split())
    assert "of them are positive, by the verdicts so far" in words
    assert "± 0.000" not in words


def _answered_plan(folder, rows, path):
    arguments = ["plan", str(folder / "rows.csv"), *COLUMNS]
    first = ["--threshold", "1.2", "--budget", "40"]
    assert main([*arguments, *first, "--out", str(path), "--quiet"]) == 0
    truth, cases = rows[3], planned(path)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, cases[0])
        writer.writeheader()
        writer.writerows({**case, "verdict": int(truth[int(case["row"]) - 1])} for case in cases)
    return [*arguments, "--reviews", str(path)]


def test_what_a_further_budget_buys_does_not_depend_on_the_one_asked_for(folder, rows, tmp_path):
    again, out = _answered_plan(folder, rows, tmp_path / "review.csv"), tmp_path / "plan.json"
    bought = []
    for budget in ("20", "60", "200"):
        assert main([*again, "--budget", budget, "--json", str(out), "--quiet"]) == 0
        (goal,) = json.loads(out.read_text())["goals"]
        bought.append(goal["half_width"])
    for budget in ("50", "100", "200"):
        assert bought[0][budget] == pytest.approx(bought[1][budget])
        assert bought[0][budget] == pytest.approx(bought[2][budget])


def test_a_further_round_refuses_rows_in_another_order(folder, rows, tmp_path, capsys):
    """Verdicts are told apart by the place of their row: others would be left out, and some twice.

    An evaluation asks for no order.
    """
    again = _answered_plan(folder, rows, tmp_path / "review.csv")
    head, *lines = (folder / "rows.csv").read_text().splitlines()
    moved = tmp_path / "moved.csv"
    moved.write_text("\n".join([head, *lines[::-1]]) + "\n")
    again[1] = str(moved)
    assert main([*again, "--budget", "20", "--out", str(tmp_path / "more.csv")]) == 2
    assert "rows must stand in the order of the plan" in capsys.readouterr().err
    assert not (tmp_path / "more.csv").exists()
    reviews = ["--reviews", str(tmp_path / "review.csv"), "--quiet"]
    assert main(["evaluate", str(moved), *COLUMNS, "--threshold", "1.2", *reviews]) == 0


def test_a_further_round_takes_a_half_width_alone(folder, rows, tmp_path):
    again, out = _answered_plan(folder, rows, tmp_path / "review.csv"), tmp_path / "plan.json"
    assert main([*again, "--budget", "100", "--json", str(out), "--quiet"]) == 0
    (goal,) = json.loads(out.read_text())["goals"]
    wanted = goal["half_width"]["100"]
    arguments = ["--half-width", str(wanted), "--json", str(out), "--quiet"]
    assert main([*again, *arguments]) == 0
    assert json.loads(out.read_text())["budget"] == pytest.approx(100, abs=2)


def test_a_further_round_may_have_another_goal_and_a_second_model(folder, rows, tmp_path, capsys):
    """Planned for one model; then another is to be compared with it."""
    again, out = _answered_plan(folder, rows, tmp_path / "review.csv"), tmp_path / "more.csv"
    more = ["--score", "poor", "--budget", "30", "--out", str(out), "--quiet"]
    assert main([*again, *more, "--goal", "difference"]) == 0
    sheet = read_review_files([out])
    assert sheet.design["goal"] == ["f1_difference"]
    assert (sheet.n_answered, len(sheet.case)) == (40, 70)
    assert list(sheet.scores) == ["good"]  # rows of a file are found without the second one
    assert main([*again, *more]) == 0
    assert read_review_files([out]).design["goal"] == ["f1"]
    assert main([*again, "--budget", "30", "--goal", "difference"]) != 0
    assert "needs the scores of two models" in capsys.readouterr().err


def test_a_prevalence_is_planned_with_and_printed_as_the_file_has_it(folder, tmp_path, capsys):
    out, text = tmp_path / "plan.json", tmp_path / "review.csv"
    arguments = ["plan", str(folder / "rows.csv"), *COLUMNS, "--threshold", "1.2", "--budget", "60"]
    arguments += ["--json", str(out), "--out", str(text)]
    assert main([*arguments, "--prevalence", "0.3"]) == 0
    document, printed = json.loads(out.read_text()), capsys.readouterr().out
    unlabeled = sum(stratum["unlabeled"] for stratum in document["strata"])
    expected = (0.3 * 3000 - (3000 - unlabeled)) / unlabeled
    assert document["unlabeled_prevalence"] == pytest.approx(expected)
    design = read_review_files([str(text)]).design
    assert design["unlabeled_prevalence"] == document["unlabeled_prevalence"]
    assert f"{100 * expected:.0f} % of them are positive" in printed
    narrow = document["goals"][0]["half_width_range"]["60"]
    # Part of the range is below what is labelled, and is left out.
    assert main([*arguments, "--prevalence", "0.1-0.6"]) == 0
    wide = json.loads(out.read_text())["goals"][0]["half_width_range"]["60"]
    assert wide[1] - wide[0] > narrow[1] - narrow[0]
    given = ["--prevalence", "0.3", "--unlabeled-prevalence", "0.1"]
    assert main([*arguments, *given]) == 2


def test_each_model_of_a_plan_has_its_own_threshold(folder, tmp_path, capsys):
    both = [*COLUMNS, "--score", "poor", "--goal", "f1_difference", "--budget", "30"]
    words, widths = [], []
    for places in (["1.2"], ["1.2", "0.5"], ["0.5", "1.2"]):
        out = tmp_path / "plan.json"
        given = [word for place in places for word in ("--threshold", place)]
        assert main(["plan", str(folder / "rows.csv"), *both, *given, "--json", str(out)]) == 0
        words.append(capsys.readouterr().out)
        (goal,) = json.loads(out.read_text())["goals"]
        assert goal["threshold"] == float(places[0])
        widths.append(goal["half_width"]["30"])
    assert "difference of F1@1.2 " in words[0]
    assert "difference of F1@1.2 and F1@0.5 " in words[1]
    assert len(set(widths)) == 3
    arguments = [*COLUMNS, "--budget", "9", "--threshold", "1", "--threshold", "2"]
    assert main(["plan", str(folder / "rows.csv"), *arguments]) == 2
    assert "one a --score; got 2 for 1 scores" in capsys.readouterr().err


def test_the_highest_rows_are_planned_at_the_score_of_their_last(folder, rows, capsys):
    _, score, _, _ = rows
    place = np.sort(score)[::-1][99]
    arguments = ["plan", str(folder / "rows.csv"), *COLUMNS, "--budget", "30"]
    assert main([*arguments, "--top", "100"]) == 0
    printed = capsys.readouterr().out
    assert f"100 rows of good have a score of at least {place:.6g}"[:50] in printed
    assert "precision@" in printed
    assert main([*arguments, "--top", "100", "--threshold", "1"]) == 2
    assert "either a --threshold or --top" in capsys.readouterr().err


def test_no_promise_is_wider_than_the_metric(folder, tmp_path):
    out = tmp_path / "plan.json"
    goals = ["--goal", "precision", "--goal", "roc_auc_difference", "--threshold", "1.2"]
    arguments = ["plan", str(folder / "rows.csv"), *COLUMNS, "--score", "poor", *goals]
    assert main([*arguments, "--budget", "3", "--json", str(out), "--quiet"]) == 0
    for goal, widest in zip(json.loads(out.read_text())["goals"], (0.5, 1.0), strict=True):
        assert all(0 <= width <= widest for width in goal["half_width"].values())
        assert all(high <= widest for _, high in goal["half_width_range"].values())
