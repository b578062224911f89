"""What commands read: codings, weights, samples in two files, broken lines."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

import undercount as uc
from undercount.cli.main import main

COLUMNS = ["--label", "y", "--score", "s"]


TWO = ["--positives", "positives.csv", "--unlabeled", "unlabeled.csv", "--score", "s"]


@pytest.mark.parametrize("command", ["evaluate", "prevalence", "compare", "count"])
@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["rows.csv"], "DATA do not go with --positives"),
        (["--label", "y"], "--label does not go with --positives"),
        (["--negative", "0"], "--negative does not go with --positives"),
        (["--weight", "t"], "--weight"),
    ],
)
def test_what_two_files_do_not_have_is_refused(command, more, said, apart, capsys):
    outputs = ["-o", "c.parquet"] if command == "count" else []
    second = ["--score", "t"] if command == "compare" else []
    assert main([command, *TWO, *second, *more, *outputs]) == 2
    assert said in capsys.readouterr().err
    assert not (apart / "c.parquet").exists()


@pytest.mark.parametrize("other", ["positives.csv", "./positives.csv", "pos*.csv"])
@pytest.mark.parametrize("command", ["evaluate", "prevalence", "compare"])
@pytest.mark.usefixtures("apart")
def test_one_file_is_not_both_samples(command, other, capsys):
    arguments = ["--positives", "positives.csv", "--unlabeled", other, "--score", "s"]
    arguments += ["--score", "t"] if command == "compare" else []
    assert main([command, *arguments]) == 2
    assert "each file may be named once" in capsys.readouterr().err


@pytest.mark.parametrize("names", [["parts", "parts/a.csv"], ["parts/*.csv", "parts/a.csv"]])
@pytest.mark.parametrize("command", ["evaluate", "prevalence", "compare", "select", "count"])
def test_a_file_inside_a_folder_or_pattern_is_not_read_twice(command, names, apart, capsys):
    (apart / "parts").mkdir()
    for name in ("a", "b"):
        (apart / "parts" / f"{name}.csv").write_bytes((apart / "rows.csv").read_bytes())
    more = ["-o", "c.parquet"] if command == "count" else []
    assert main([command, *names, *COLUMNS, *more]) == 2
    assert "each file may be named once" in (said := capsys.readouterr().err)
    assert said.endswith("got parts/a.csv again\n")


@pytest.mark.usefixtures("apart")
def test_text_among_the_scores_is_said(capsys):
    arguments = ["--positives", "words.csv", "--unlabeled", "unlabeled.csv", "--score", "s"]
    for command in (["evaluate"], ["compare", "--score", "t"]):
        assert main([*command, *arguments]) == 2
        assert "column 's' of words.csv must hold numbers" in capsys.readouterr().err


@pytest.mark.usefixtures("apart")
@pytest.mark.parametrize("more", [["--weight", "t"], ["--unlabeled", "0"], ["--negative", "0"]])
def test_counts_are_not_counted_again(more, capsys):
    assert main(["count", *TWO, "-o", "one.parquet", "--quiet"]) == 0
    given = ["evaluate", "one.parquet", "--unlabeled-prevalence", "0.3"]
    assert main([*given, *more]) == 2
    assert f"{more[0]} does not go with counts files" in capsys.readouterr().err
    assert main([*given, "--quiet"]) == 0


def test_dropped_rows_are_said(tmp_path, capsys):
    path = tmp_path / "holes.csv"
    path.write_text("y,s\n" + "1,5\n0,6\n1,3\n0,4\n1,\n0,2\n0,1\n" * 40)
    assert main(["evaluate", str(path), "--label", "y", "--score", "s", "--prevalence", "0.4"]) == 0
    assert "40 dropped (missing score)" in capsys.readouterr().out


def test_label_codings(tmp_path, capsys):
    for labels, said in (
        ("1,-1", "-1 = unlabeled"),
        ("1,", "missing = unlabeled"),
        ("1,0,-1", "0 = verified negative, -1 = unlabeled"),
    ):
        values = labels.split(",")
        lines = [
            f"{values[i % len(values)]},{(i * 7) % 50 + 20 * (i % len(values) == 0)}"
            for i in range(300)
        ]
        path = tmp_path / "coded.csv"
        path.write_text("y,s\n" + "\n".join(lines) + "\n")
        arguments = ["evaluate", str(path), "--label", "y", "--score", "s"]
        assert main([*arguments, "--unlabeled-prevalence", "0.05"]) == 0
        assert said in capsys.readouterr().out


def test_weights_are_no_number_of_rows(small, drawn, tmp_path, capsys):
    weight = np.where(np.arange(400) % 2, 0.002, 0.003)
    pd.read_csv(small).assign(w=weight).to_csv(small, index=False)
    labelled = float(weight @ drawn[0])
    arguments = [small, *COLUMNS, "--weight", "w"]
    told = ["--prevalence", "0.3", "--threshold", "1"]
    assert main(["evaluate", *arguments, *told]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "400 rows read" in printed
    parts = f"labelled positive {labelled:.4g} · unlabeled {1 - labelled:.4g}"
    assert f"Read rows of total weight 1 · {parts}" in printed
    flagged = float(weight @ (drawn[1] >= 1))
    assert f"flagged rows of total weight {flagged:.4g} (" in printed
    assert "about 0 real" not in printed
    counts = tmp_path / "counts.parquet"
    assert main(["count", *arguments, "-o", str(counts)]) == 0
    assert "ScoreCounts: rows of total weight 1: " in capsys.readouterr().out
    page = tmp_path / "report.html"
    assert main(["evaluate", str(counts), *told[:2], "--html", str(page)]) == 0
    assert "Read rows of total weight 1 · " in " ".join(capsys.readouterr().out.split())
    assert "rows of total weight 1, " in page.read_text()


def test_equal_weights_are_rows(small, capsys):
    arguments = [small, *COLUMNS, "--weight", "w", "--prevalence", "0.3"]
    assert main(["evaluate", *arguments]) == 0
    assert "total weight" not in capsys.readouterr().out


def test_one_row_is_no_rows(tmp_path, capsys):
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("s\n5\n")
    two.write_text("s\n4\n6\n")
    case_control = ["--positives", str(one), "--unlabeled", str(two), "--score", "s"]
    assert main(["evaluate", *case_control, "--prevalence", "0.5"]) == 0
    printed = capsys.readouterr().out
    assert "1 positive row read" in printed
    assert "2 unlabeled rows read" in printed
    assert "Only 1 labelled positive row:" in " ".join(printed.split())
    lines = uc.ScoreCounts.from_rows([1], [5])
    assert repr(lines).startswith("ScoreCounts: 1 row: 1 labelled positive")
    assert repr(uc.ScoreCounts.from_counts([1], [2_000_000], [0], [1])).startswith(
        "ScoreCounts: 2,000,001 rows: 2,000,000 labelled positive"
    )


GOOD, BROKEN = '{"y": 1, "s": 0.5}', '{"y": 1 "s": 0.5}'


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        ([BROKEN, GOOD, GOOD], 1),
        ([GOOD, BROKEN, GOOD], 2),
        ([GOOD, GOOD, BROKEN], 3),
        ([GOOD, "", "  ", GOOD, BROKEN, GOOD], 5),
        ([*[GOOD] * 30_000, BROKEN, GOOD], 30_001),
        ([GOOD, GOOD[:-1], GOOD], 2),
        ([GOOD, GOOD + " x", GOOD], 2),
    ],
)
@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
def test_a_broken_line_of_json_is_named_by_its_number(lines, number, ending, tmp_path, capsys):
    path = tmp_path / f"rows{ending}"
    text = "\n".join(lines) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    assert main(["evaluate", str(path), *COLUMNS]) == 2
    said = capsys.readouterr().err
    assert f"{path}, line {number}: every line must hold one JSON object; got " in said
    assert f" {lines[number - 1]!r}. Mend the line" in said


def test_a_broken_array_of_json_has_no_line(tmp_path, capsys):
    path = tmp_path / "rows.json"
    path.write_text(f"[\n{GOOD},\n{BROKEN},\n{GOOD}\n]\n")
    assert main(["evaluate", str(path), *COLUMNS]) == 2
    said = capsys.readouterr().err
    assert f"{path}: every line must hold one JSON object; got unexpected character. " in said


def test_text_labels_in_parquet_have_the_advice_of_csv(tmp_path, capsys):
    csv, parquet = tmp_path / "rows.csv", tmp_path / "rows.parquet"
    csv.write_text("y,s\nyes,3\nno,2\n,1\n")
    pd.DataFrame({"y": ["yes", "no", None], "s": [3, 2, 1]}).to_parquet(parquet)
    said = []
    for path in (csv, parquet):
        assert main(["evaluate", str(path), *COLUMNS]) == 2
        said.append(capsys.readouterr().err.replace(str(path), "FILE"))
    assert said[0] == said[1]
    assert "column 'y' of FILE must hold numbers, not text; got 'yes' in row 1. Say" in said[1]


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_a_word_may_mean_positive(tmp_path, kind, capsys):
    frame = pd.DataFrame({"y": ["fraud", "legit", "Fraud ", "legit"] * 5, "s": range(20)})
    path = tmp_path / f"rows.{kind}"
    write = {"csv": frame.to_csv, "parquet": frame.to_parquet}
    if kind == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        write[kind](path, index=False)
    told = [*COLUMNS, "--prevalence", "0.6", "--positive-label", "fraud"]
    assert main(["evaluate", str(path), *told]) == 0
    said = capsys.readouterr().out
    assert "fraud is read as 1, others as 0" in said
    assert "labelled positive 10 · unlabeled 10" in said
    assert main(["evaluate", str(path), *COLUMNS, "--positive-label", "frud"]) == 2
    said = capsys.readouterr().err
    assert "holds 'frud'; it holds 'legit', 'Fraud ', 'fraud'; did you mean 'fraud'" in said


def test_a_number_may_mean_positive(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    pd.DataFrame({"y": [2.0, 1.0, None, 1.0] * 5, "s": range(20)}).to_csv(path, index=False)
    told = [*COLUMNS, "--positive-label", "2", "--prevalence", "0.3"]
    assert main(["evaluate", str(path), *told]) == 0
    said = capsys.readouterr().out
    assert "0 = verified negative, missing = unlabeled" in said
    assert "labelled positive 5" in said


@pytest.mark.parametrize("word", ["inf", "nan"])
def test_words_that_python_takes_for_numbers_are_looked_for(tmp_path, capsys, word):
    path = tmp_path / "rows.csv"
    path.write_text("y,s\n" + "yes,0.5\nno,0.3\n" * 5)
    assert main(["evaluate", str(path), *COLUMNS, "--positive-label", word]) == 2
    assert f"holds {word!r}; it holds 'no', 'yes'" in capsys.readouterr().err


def test_columns_that_changed_places_are_recognised(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    scores = [place / 100 for place in range(1, 41)]
    pd.DataFrame({"y": scores, "s": [0, 1] * 20}).to_csv(path, index=False)
    for command in ("evaluate", "prevalence", "count"):
        more = ["-o", str(tmp_path / "c.parquet")] if command == "count" else []
        assert main([command, str(path), *COLUMNS, *more]) == 2
        assert "did --label and --score change places?" in capsys.readouterr().err


def test_labels_and_scores_may_be_text_in_parquet(small, tmp_path):
    path, found = tmp_path / "rows.parquet", []
    pd.read_csv(small)[["y", "s"]].astype(str).to_parquet(path)
    for name in (small, str(path)):
        out = tmp_path / "out.json"
        assert main(["evaluate", name, *COLUMNS, "--prevalence", "0.3", "--json", str(out)]) == 0
        found.append(json.loads(out.read_text())["models"][0]["metrics"])
    assert found[0] == found[1]


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(3)
    labelled = np.round(np.append(rng.normal(1.5, 1, 64), rng.normal(0, 1, 16)), 3)
    unlabeled = np.round(np.append(rng.normal(1.5, 1, 200), rng.normal(0, 1, 600)), 3)
    # The highest score is unlabeled, so that no positive is found where nothing is flagged.
    unlabeled[0] = 9.0
    for name, scores in (("positives", labelled), ("unlabeled", unlabeled)):
        lines = ["s", *map(str, scores)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    lines = ["y,s", *(f"1,{s}" for s in labelled), *(f"0,{s}" for s in unlabeled)]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    return tmp_path, labelled, unlabeled


@pytest.mark.parametrize("single_sample", [True, False])
def test_average_precision_of_impure_labels_sees_every_score(files, single_sample):
    folder, labelled, unlabeled = files
    data = [str(folder / "rows.csv"), "--label", "y"]
    if not single_sample:
        data = ["--positives", str(folder / "positives.csv")]
        data += ["--unlabeled", str(folder / "unlabeled.csv")]
    out = folder / "out.json"
    shares = ["--unlabeled-prevalence", "0.25", "--label-purity", "0.8"]
    assert main(["evaluate", *data, "--score", "s", *shares, "--json", str(out), "--quiet"]) == 0
    metrics = json.loads(out.read_text())["models"][0]["metrics"]
    found = next(m["estimate"] for m in metrics if m["metric"] == "average_precision")
    # Of every row; the definition itself is tested in tests/infer/test_area_intervals.py.
    y = np.repeat([1, 0], [labelled.size, unlabeled.size])
    expected = uc.metrics.average_precision(
        y,
        np.append(labelled, unlabeled),
        unlabeled=0,
        assume=uc.RandomLabels(
            unlabeled_prevalence=0.25,
            purity=0.8,
            sampling="single-sample" if single_sample else "case-control",
        ),
    )
    assert found == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.parametrize("coding", [["--negative", "0"], ["--unlabeled", "-1"]])
def test_where_no_row_is_unlabeled_it_is_said_what_to_use_instead(tmp_path, capsys, coding):
    path = tmp_path / "verified.csv"
    path.write_text("y,s\n" + "".join(f"{i % 2},{i}\n" for i in range(40)))
    assert main(["evaluate", str(path), "--label", "y", "--score", "s", *coding]) == 2
    said = capsys.readouterr().err
    assert "nothing is hidden and the plain metrics of the labels, those of scikit-learn" in said
    assert "pass --audited to undercount evaluate" in said
