"""`undercount count` and `merge`: counts files are data, and know what they were made of."""

import json

import numpy as np
import pandas as pd

import undercount as uc
from undercount.cli.main import main
from undercount.count.counts_file import open_counts

COLUMNS = ["--label", "fraud", "--score", "good"]


def test_counts_files_are_data(folder, tmp_path, capsys):
    counts = tmp_path / "counts.parquet"
    assert main(["count", str(folder / "rows.csv"), *COLUMNS, "-o", str(counts)]) == 0
    assert main(["evaluate", str(counts), "--prevalence", "0.3", "--json", "-"]) == 0
    printed = capsys.readouterr().out
    document = json.loads(printed[printed.index("{\n") :])
    assert document["models"][0]["counts"]["rows"] == 3000
    merged = tmp_path / "merged.parquet"
    again = tmp_path / "again.parquet"
    uc.write_counts(uc.load_counts(counts), again)
    assert main(["merge", str(counts), str(again), "-o", str(merged)]) == 0
    # Any threshold can be asked of the file, and the same rows are not counted twice.
    assert main(["evaluate", str(counts), "--prevalence", "0.3", "--threshold", "0.33"]) == 0
    twice = tmp_path / "twice.parquet"
    assert main(["count", str(folder / "rows.csv"), *COLUMNS, "-o", str(twice)]) == 0
    assert main(["merge", str(counts), str(twice), "-o", str(merged)]) == 2
    capsys.readouterr()
    assert main(["merge", str(counts), str(again), "-o", str(merged)]) == 0
    assert "6,000 rows" in capsys.readouterr().out


TWO = ["--positives", "positives.csv", "--unlabeled", "unlabeled.csv", "--score", "s"]


def test_counts_of_two_files_know_them(apart):
    assert main(["count", *TWO, "-o", "one.parquet", "--quiet"]) == 0
    for name, code in (("positives", 2), ("unlabeled", 0)):  # the other sample is still the same
        path = apart / f"{name}.csv"
        path.write_text(path.read_text() + "3,3\n")  # another day's rows under the same name
        assert main(["count", *TWO, "-o", "two.parquet", "--quiet"]) == 0
        assert main(["merge", "one.parquet", "two.parquet", "-o", "sum.parquet"]) == code
    assert uc.load_counts("sum.parquet").n_positive == 301


def test_counts_of_two_samples_stay_two_samples(tmp_path, capsys):
    rng = np.random.default_rng(2)
    for name, score in (("p", rng.normal(1.5, 1, 300)), ("u", rng.normal(0, 1, 900))):
        pd.DataFrame({"s": score}).to_csv(tmp_path / f"{name}.csv", index=False)
    pd.DataFrame({"s": [1.0, 2.0, 3.0], "y": [1, 0, 0]}).to_csv(tmp_path / "one.csv", index=False)
    apart = ["--positives", str(tmp_path / "p.csv"), "--unlabeled", str(tmp_path / "u.csv")]
    counts, one = str(tmp_path / "apart.parquet"), str(tmp_path / "one.parquet")
    assert main(["count", *apart, "--score", "s", "-o", counts]) == 0
    assert main(["evaluate", *apart, "--score", "s", "--prevalence", "0.2"]) == 0
    direct = capsys.readouterr().out
    assert main(["evaluate", counts, "--prevalence", "0.2"]) == 0
    table = capsys.readouterr().out
    assert "case-control" in table
    line = next(line for line in direct.splitlines() if "ROC AUC" in line)
    assert line in table
    merged = str(tmp_path / "sum.parquet")
    assert main(["merge", counts, "-o", merged]) == 0
    assert open_counts(merged).sampling == "case-control"
    rows = ["--label", "y", "--unlabeled", "0", "--score", "s"]
    assert main(["count", str(tmp_path / "one.csv"), *rows, "-o", one]) == 0
    assert main(["merge", counts, one, "-o", str(tmp_path / "both.parquet")]) == 2
    assert "drawn apart (case-control)" in capsys.readouterr().err
    assert main(["evaluate", counts, one, "--prevalence", "0.2"]) == 2
    assert "judge them one by one" in capsys.readouterr().err


def test_a_part_without_positives_is_counted_if_its_labels_are_told(tmp_path, capsys):
    """Days without a found case belong to the whole; plan, count and merge name files alike."""
    for name, rows in (("a", "0,.1\n0,.4\n"), ("b", "1,.8\n0,.4\n")):
        (tmp_path / f"{name}.csv").write_text(f"y,s\n{rows}")
    columns = ["--label", "y", "--score", "s"]
    files = [str(tmp_path / f"{name}.parquet") for name in "abc"]
    assert main(["count", str(tmp_path / "a.csv"), *columns, "--out", files[0]]) == 2
    assert "--unlabeled 0" in capsys.readouterr().err
    for name, file in zip("ab", files, strict=False):
        told = [*columns, "--unlabeled", "0", "--output", file]
        assert main(["count", str(tmp_path / f"{name}.csv"), *told]) == 0
    assert main(["merge", *files[:2], "--out", files[2]]) == 0
    assert uc.load_counts(files[2]).n_rows == 4
