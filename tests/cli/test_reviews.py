"""From a plan to verdicts to `evaluate` and `compare`, and what is refused on the way."""

import csv
import importlib.resources
import io
import json
import shlex
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import undercount as uc
from undercount.cli.main import main

COLUMNS = ["--label", "fraud", "--score", "good"]
CUT = ["--threshold", "1.2"]


def fill(path, truth, out, n=None, separator=";", words=("no", "yes")):
    """Answer the first rows as a reviewer who is right does."""
    rows = list(csv.reader(io.StringIO(path.read_text("utf-8-sig"), newline="")))
    place = rows[0].index("verdict")
    for row in rows[1:][:n]:
        row[place] = words[int(truth[int(row[1]) - 1])]
    with out.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=separator).writerows(rows)
    return str(out)


@pytest.fixture(scope="module")
def planned(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("plan") / "review.csv"
    arguments = ["plan", str(folder / "rows.csv"), *COLUMNS, *CUT, "--budget", "80", "--quiet"]
    assert main([*arguments, "--keep", "poor", "--out", str(path)]) == 0
    return path


@pytest.fixture
def answered(planned, rows, tmp_path):
    return fill(planned, rows[3], tmp_path / "answered.csv")


def test_verdicts_reach_every_form(folder, rows, planned, answered, tmp_path, capsys):
    out, text = tmp_path / "out.json", tmp_path / "out.md"
    arguments = ["evaluate", str(folder / "rows.csv"), *COLUMNS, *CUT, "--reviews", answered]
    assert main([*arguments, "--json", str(out), "--markdown", str(text)]) == 0
    printed = capsys.readouterr().out
    assert "80 of 80 cases reviewed" in printed
    assert "reviews: precision@1.2" in printed  # before → after
    assert "reviews alone" in printed
    assert "with random labels" in text.read_text()
    model = json.loads(out.read_text())
    schema = json.loads((importlib.resources.files("undercount.show") / "schema.json").read_text())
    jsonschema.validate(model, schema)
    found = model["models"][0]["reviews"]
    assert (found["answered"], found["planned"]) == (80, 80)
    # The library, from the same rows in memory.
    reviews = uc.read_reviews(answered)
    expected = uc.evaluate(rows[0], rows[1], unlabeled=0, threshold=1.2, reviews=reviews)
    metrics = model["models"][0]["metrics"]
    assert [m["estimate"] for m in metrics] == pytest.approx(
        [row.estimate.value for row in expected.rows], abs=1e-12
    )
    alone = expected.recovery.reviewed.estimate("precision", 1.2, labels="any")
    (precision,) = (a for a in found["answers"]["any"] if a["metric"] == "precision")
    assert [precision["low"], precision["high"]] == pytest.approx([alone.low, alone.high])
    assert metrics[1]["low"] < rows[3][rows[1] >= 1.2].mean() < metrics[1]["high"]
    assert planned.read_text("utf-8-sig").count("yes") == 0


@pytest.mark.parametrize("labels", ["any", "random"])
def test_what_is_supposed_of_the_labels_can_be_said(folder, answered, labels, tmp_path):
    out = tmp_path / "out.json"
    arguments = ["evaluate", str(folder / "rows.csv"), *COLUMNS, *CUT, "--reviews", answered]
    assert main([*arguments, "--labels", labels, "--json", str(out), "--quiet"]) == 0
    model = json.loads(out.read_text())["models"][0]
    assert model["reviews"]["labels"] == labels
    assert ("random labels" in model["metrics"][1]["needs"]) == (labels == "random")
    headline = model["metrics"][1]["estimate"]
    assert headline in [answer["estimate"] for answer in model["reviews"]["answers"][labels]]


def test_a_partly_filled_file_is_a_valid_answer(folder, rows, planned, tmp_path, capsys):
    part = fill(planned, rows[3], tmp_path / "part.csv", n=30)
    arguments = ["evaluate", str(folder / "rows.csv"), *COLUMNS, *CUT, "--reviews", part]
    assert main([*arguments, "--sequential"]) == 0
    assert "30 of 80 cases reviewed" in capsys.readouterr().out


@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_first_verdicts_say_little_and_nothing_impossible(folder, rows, planned, tmp_path, n):
    part, out = fill(planned, rows[3], tmp_path / "part.csv", n=n), tmp_path / "out.json"
    arguments = ["evaluate", str(folder / "rows.csv"), *COLUMNS, *CUT, "--reviews", part]
    assert main([*arguments, "--labels", "any", "--json", str(out), "--quiet"]) == 0
    for metric in json.loads(out.read_text())["models"][0]["metrics"]:
        least, value = -1 if metric["metric"] == "mcc" else 0, metric["estimate"]
        assert least <= metric["low"] <= metric["high"] <= 1
        assert value is None or metric["low"] <= value <= metric["high"]
        if value is None:  # nothing can be said yet
            assert metric["low"] in (least, metric["lower_bound"])
            assert metric["high"] == 1
        if metric["metric"] == "precision":
            assert metric["high"] - metric["low"] > 0.2


def test_few_labels_are_a_reason_to_look(tmp_path, capsys):
    data = tmp_path / "rows.csv"
    data.write_text("y,s\n" + "".join(f"{'1' if s == 90 else ''},{s}\n" for s in range(100)))
    arguments = ["plan", str(data), "--label", "y", "--score", "s", "--threshold", "80"]
    assert main([*arguments, "--budget", "20", "--out", str(tmp_path / "review.csv")]) == 0
    assert "2.0 % of them are positive" in capsys.readouterr().out
    filled = fill(tmp_path / "review.csv", np.arange(100) > 75, tmp_path / "answered.csv")
    assert main(["evaluate", *arguments[1:], "--reviews", filled]) == 0
    assert "20 of 20 cases reviewed" in capsys.readouterr().out


def test_a_further_round_keeps_the_verdicts(folder, rows, answered, tmp_path, capsys):
    more = tmp_path / "more.csv"
    arguments = [str(folder / "rows.csv"), *COLUMNS]
    assert main(["plan", *arguments, "--reviews", answered, "--budget", "40", "--out", str(more),
                 "--keep", "poor", "--quiet"]) == 0  # fmt: skip
    cases = list(csv.DictReader(io.StringIO(more.read_text("utf-8-sig"), newline="")))
    assert [case["verdict"] for case in cases[80:]] == [""] * 40
    assert {case["verdict"] for case in cases[:80]} == {"0", "1"}
    assert len({case["row"] for case in cases}) == 120
    assert all(case["poor"] for case in cases)
    both = fill(more, rows[3], tmp_path / "both.csv", words=("0", "1"))
    assert main(["evaluate", *arguments, *CUT, "--reviews", both]) == 0
    assert "120 of 120 cases reviewed" in capsys.readouterr().out


def test_a_further_round_shows_the_columns_of_the_last_one(folder, rows, planned, tmp_path):
    noted, more = tmp_path / "noted.csv", tmp_path / "more.csv"
    filled = Path(fill(planned, rows[3], tmp_path / "filled.csv", separator=","))
    lines = list(csv.reader(io.StringIO(filled.read_text("utf-8-sig"), newline="")))
    with noted.open("w", newline="", encoding="utf-8") as file:  # a reviewer's own column
        csv.writer(file).writerows(
            [*line, "note" if place == 0 else f"seen {place}"] for place, line in enumerate(lines)
        )
    arguments = ["plan", str(folder / "rows.csv"), *COLUMNS, "--reviews", str(noted)]
    arguments += ["--budget", "40", "--out", str(more), "--quiet"]

    def cases():
        return list(csv.DictReader(io.StringIO(more.read_text("utf-8-sig"), newline="")))

    assert main(arguments) == 0
    assert all(case["poor"] for case in cases())
    assert [case["note"] for case in cases()][79:81] == ["seen 80", ""]
    assert main([*arguments, "--keep", "fraud"]) == 0
    assert "poor" not in cases()[0]
    assert cases()[0]["note"] == "seen 1"


def test_models_are_compared_by_reviews(folder, answered, tmp_path, capsys):
    arguments = ["compare", str(folder / "rows.csv"), *COLUMNS, "--score", "poor", *CUT]
    page = tmp_path / "page.html"
    assert main([*arguments, "--reviews", answered, "--html", str(page)]) == 0
    printed = capsys.readouterr().out
    assert "good minus poor" in printed
    # F1 and accuracy of other rows, with more or fewer positives, may stand in another order.
    assert "whatever the prevalence" not in " ".join(printed.split())
    assert "no prevalence was supposed" in " ".join(printed.split())
    assert "is the same whatever the share" not in page.read_text()
    assert "Where a line crosses 0" not in page.read_text()


def edited(folder, tmp_path, change):
    lines = (folder / "rows.csv").read_text().splitlines()
    change(lines)
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda lines: lines.pop(), "and now there are"),
        (lambda lines: lines.append(lines[7]), "and now there are"),
        (lambda lines: lines.__setitem__(5, lines[5].replace("0,", "1,", 1)), "labelled positive"),
    ],
)
def test_changed_data_are_refused(folder, rows, answered, tmp_path, capsys, change, words):
    assert rows[0][4] == 0  # the row whose label one of them changes
    path = edited(folder, tmp_path, change)
    assert main(["evaluate", path, *COLUMNS, *CUT, "--reviews", answered]) == 2
    said = capsys.readouterr().err
    assert "the plan was made for other data" in said
    assert words in said
    assert said.count("\n") == 1


def test_another_model_is_refused(folder, answered, capsys):
    arguments = ["evaluate", str(folder / "rows.csv"), "--label", "fraud", "--score", "poor"]
    assert main([*arguments, "--reviews", answered]) == 2
    assert "planned by the score 'good'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--labels", "any"], "go with --reviews"),
        (["--reviews", "{planned}"], "has a verdict yet"),
        (["--reviews", "{answered}", "--prevalence", "0.0001"], "must be at least"),
        (["--reviews", "absent.csv"], "cannot read absent.csv"),
        (["--reviews", "{answered}", "--json", "{answered}"], "would overwrite the data"),
    ],
)
def test_one_clear_message(folder, planned, answered, capsys, more, words):
    more = [each.format(planned=planned, answered=answered) for each in more]
    assert main(["evaluate", str(folder / "rows.csv"), *COLUMNS, *CUT, *more]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_a_round_keeps_its_threshold(folder, answered, capsys):
    arguments = ["plan", str(folder / "rows.csv"), *COLUMNS, "--reviews", answered]
    assert main([*arguments, "--budget", "9", "--threshold", "0.3"]) == 2
    assert "--threshold 1.2; got 0.3" in capsys.readouterr().err


def test_a_round_keeps_its_lack_of_a_threshold(folder, rows, tmp_path, capsys):
    path = tmp_path / "review.csv"
    arguments = ["plan", str(folder / "rows.csv"), *COLUMNS, "--budget", "20"]
    assert main([*arguments, "--out", str(path), "--quiet"]) == 0
    answered = fill(path, rows[3], tmp_path / "answered.csv")
    assert main([*arguments, "--reviews", answered, "--threshold", "0.3"]) == 2
    assert "its lack of a --threshold; got 0.3" in capsys.readouterr().err


def test_the_weakest_link_is_a_command_that_runs(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["evaluate", str(folder / "rows.csv"), *COLUMNS, *CUT]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    command = printed.split("→ undercount ")[1].split(" precision ±")[0]
    assert command.startswith("plan ")
    assert "→ ±" in printed
    assert main([*shlex.split(command), "--quiet"]) == 0
    assert (tmp_path / "review.csv").exists()


def test_labels_that_are_no_random_sample_are_told(tmp_path, capsys):
    """Only the highest scores were labelled: reviews alone lead, and the words say why."""
    rng = np.random.default_rng(5)
    truth = rng.random(6000) < 0.2
    score = np.round(rng.normal(1.6 * truth), 4)
    found = truth & (rng.random(6000) < 1 / (1 + np.exp(3.5 - 2.5 * score)))
    data = tmp_path / "rows.csv"
    lines = [f"{int(y)},{s}" for y, s in zip(found, score, strict=True)]
    data.write_text("\n".join(["fraud,good", *lines]) + "\n")
    arguments = [str(data), *COLUMNS, "--threshold", "1"]
    review = tmp_path / "review.csv"
    assert main(["plan", *arguments, "--budget", "300", "--out", str(review), "--quiet"]) == 0
    filled = fill(review, truth, tmp_path / "answered.csv")
    assert main(["evaluate", *arguments, "--reviews", filled]) == 0
    printed = capsys.readouterr().out
    assert "do not look like a random sample" in " ".join(printed.split())
    assert "not to be used; the table rests on the reviews alone" in " ".join(printed.split())
