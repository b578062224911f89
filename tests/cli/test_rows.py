"""Clusters, chances and another prevalence on the command line."""

import json
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest

import undercount as uc
from undercount.cli.main import main


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(150), 5)
    truth = rng.random(750) < 0.3
    score = 1.5 * truth + rng.normal(size=150)[cluster] + rng.normal(size=750)
    y = truth & (rng.random(150) < 0.5)[cluster]
    rows = pd.DataFrame({"y": y.astype(int), "p": score, "q": rng.normal(score)})
    rows["who"], rows["e"] = [f"customer {each}" for each in cluster], 0.5
    rows.to_csv(tmp_path / "rows.csv", index=False)
    return rows, tmp_path / "rows.csv"


@pytest.fixture
def run(capsys):
    """Run a command; return its code and all that it printed."""

    def invoke(*words):
        code = main([str(word) for word in words])
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return invoke


ASK = ("--label", "y", "--score", "p", "--threshold", "1")


def test_clusters(run, table, tmp_path):
    rows, path = table
    code, output = run(
        "evaluate", path, *ASK, "--prevalence", ".3", "--cluster", "who", "--json", tmp_path / "j"
    )
    assert code == 0, output
    (model,) = json.loads((tmp_path / "j").read_text())["models"]
    found = uc.evaluate(
        rows["y"], rows["p"], unlabeled=0, prevalence=0.3, threshold=1, cluster=rows["who"]
    )
    assert model["metrics"][0]["low"] == pytest.approx(found.rows[0].estimate.low)
    assert any(check["code"] == "UC020" for check in model["checks"])
    assert " Clusters          150 clusters, " in output


def test_clusters_in_a_comparison(run, table):
    _, path = table
    words = ("compare", path, "--label", "y", "--score", "p", "--score", "q", "--prevalence", ".3")
    (code, wide), (_, plain) = run(*words, "--cluster", "who"), run(*words)
    assert code == 0
    assert wide != plain


def test_chances_in_a_comparison(run, table):
    rows, path = table
    words = ("compare", path, "--label", "y", "--score", "p", "--score", "q", "--chance", "e")
    code, output = run(*words)
    assert code == 0
    assert "told by chances" in output
    rows["e"] = 50
    rows.to_csv(path, index=False)
    code, output = run(*words)
    assert code == 2
    assert "percentages are divided by 100: 50 % is 0.5" in output


def test_chances(run, table):
    rows, path = table
    code, output = run("evaluate", path, *ASK, "--chance", "e")
    assert code == 0
    assert "labelling chances" in output
    assert "no positive is hidden" not in output
    rows["e"] = np.where(rows["p"] > 1, 1.0, 0.5)  # "twice as often" is no chance
    rows.to_csv(path, index=False)
    code, ratio = run("evaluate", path, *ASK, "--chance", "e")
    assert code == 0
    assert "Where they are 1, no positive is hidden" in " ".join(ratio.split())
    code, output = run("evaluate", path, *ASK, "--chance", "e", "--prevalence", ".3")
    assert code == 2
    assert "leave out --prevalence" in output


def test_another_prevalence(run, table):
    _, path = table
    words = ("evaluate", path, *ASK, "--prevalence", ".3", "--deploy-prevalence")
    code, output = run(*words, ".01")
    assert code == 0
    assert "Where 1.0 % are positive" in output
    code, output = run(*words, "3")
    assert (code, "a share is in [0, 1]; got 3; 3 % is 0.03" in output) == (2, True)
    code, output = run(*words, "0")
    assert (code, "--deploy-prevalence must be a share" in output) == (2, True)


def test_refusals(run, table, tmp_path):
    _, path = table
    code, output = run("evaluate", path, *ASK, "--prevalence", ".3", "--cluster", "whom")
    assert (code, "did you mean 'who'" in output) == (2, True)
    run("count", path, "--label", "y", "--score", "p", "-o", tmp_path / "c.parquet")
    code, output = run("evaluate", tmp_path / "c.parquet", "--cluster", "who")
    assert code == 2
    assert "is a counts file" in output


def test_reviews_of_clusters(run, table, tmp_path):
    rows, path = table
    rows.loc[3, "p"] = np.nan  # a row without a score is dropped, and verdicts keep their rows
    rows.to_csv(path, index=False)
    sheet = tmp_path / "review.csv"
    words = ("--budget", "60", "--unlabeled-prevalence", ".2")
    code, output = run("plan", path, *ASK, *words, "--cluster", "who", "--out", sheet)
    assert code == 0, output
    planned = pd.read_csv(sheet)
    assert planned["who"].str.startswith("customer").all()
    planned["verdict"] = (planned["p"] > 1).astype(int)
    planned.to_csv(sheet, index=False)
    ask = ("evaluate", path, *ASK, "--reviews", sheet, "--json", tmp_path / "j")
    found = []
    for more in ((), ("--cluster", "who")):
        code, output = run(*ask, *more, "--labels", "random")
        assert code == 0, output
        (model,) = json.loads((tmp_path / "j").read_text())["models"]
        found.append({each["metric"]: each for each in model["metrics"]})
    plain, wide = found
    assert wide["recall"]["estimate"] == pytest.approx(plain["recall"]["estimate"])
    assert wide["recall"]["low"] < plain["recall"]["low"]


@pytest.fixture
def countries(tmp_path):
    rng = np.random.default_rng(1)
    truth = rng.random(6000) < 0.2
    rows = pd.DataFrame({"p": rng.normal(3 * truth), "land": np.arange(6000) % 3})
    rows["y"] = (truth & (rng.random(6000) < 0.5)).astype(int)
    rows.loc[rows["land"] == 2, "p"] = rng.normal(size=2000)  # useless there
    rows.loc[:30, "land"], rows.loc[:30, "y"] = 9, 0
    rows.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


def test_requirements_are_judged_segment_by_segment(run, countries, tmp_path):
    words = ("evaluate", countries, *ASK, "--prevalence", ".2", "--by", "land")
    code, output = run(*words)
    assert (code, "land" in output) == (0, True)
    junit = tmp_path / "junit.xml"
    code, output = run(*words, "--require", "recall >= 0.6", "--junit", junit)
    assert code == 1
    assert "met: p, land 0: recall@1 >= 0.6" in output
    assert "failed: p, land 2: recall@1 >= 0.6" in output
    assert "inconclusive: p, land 9" in output  # no label there, and it says so
    suites = ET.parse(junit).getroot()  # noqa: S314 - our own file
    assert [suite.get("failures") for suite in suites] == ["0", "0", "1", "1"]
    code, _ = run(*words, "--require", "p.recall >= 0.1")
    assert code == 3  # all but the one without a label
    code, output = run(*words, "--require", "q.recall >= 0.1")
    assert (code, "names no model here; there are p" in output) == (2, True)


def test_each_segment_may_have_its_own_prevalence(run, countries):
    words = ("evaluate", countries, *ASK, "--by", "land")
    rows = pd.read_csv(countries)
    names = sorted(set(rows["land"].dropna()))
    shares = ",".join(f"{name}={20 + place}%" for place, name in enumerate(names))
    code, output = run(*words, "--prevalence", shares)
    assert code == 0
    assert "taken for each segment as it is" in output
    code, output = run(*words, "--prevalence", f"{names[0]}=20%,nowhere=0.3")
    assert (code, "no segment of land is called so" in output) == (2, True)
    code, output = run("evaluate", countries, *ASK, "--prevalence", shares)
    assert (code, "name their column by --by" in output) == (2, True)
    code, output = run(*words, "--prevalence", f"{names[0]}=")
    assert (code, "is no list like DE=3%,FR=5%" in output) == (2, True)


def test_segments_are_asked_whether_they_are_labelled_alike(run, tmp_path):
    """A file's rows are counted where they lie, and merged scores must not hide the answer."""
    rng = np.random.default_rng(25)
    truth, part = rng.random(6000) < 0.1, rng.integers(0, 3, 6000)
    for chances, told in (((0.4, 0.4, 0.4), 0), ((0.5, 0.5, 0.15), 1)):
        label = (truth & (rng.random(6000) < np.array(chances)[part])).astype(int)
        frame = pd.DataFrame({"y": label, "p": rng.normal(2.0 * truth), "part": part})
        frame.to_csv(tmp_path / "rows.csv", index=False)
        words = ("evaluate", tmp_path / "rows.csv", "--label", "y", "--score", "p")
        ask = ("--threshold", "1.5", "--by", "part", "--prevalence", ".1")
        code, output = run(*words, *ask)
        assert code == 0
        assert "cannot be tested" not in output
        assert output.count("not known (UC022)") == 3 * told


def test_each_score_has_a_table_of_segments(run, countries, tmp_path):
    rows = pd.read_csv(countries)
    rows.assign(q=rows["p"] - 1).to_csv(countries, index=False)
    words = ("evaluate", countries, *ASK, "--score", "q", "--prevalence", ".2", "--by", "land")
    code, output = run(*words, "--require", "q.recall >= 0.99")
    assert (code, output.count("Segments ")) == (1, 2)
    assert "failed: q, land 0" in output
    assert "p, land 0: " not in output
    code, output = run(*words, "--json", tmp_path / "both.json")
    assert (code, "--json of one --score; got p, q" in output) == (2, True)


def test_segments_of_clusters(run, table):
    rows, path = table
    rows.assign(land=np.arange(len(rows)) % 2).to_csv(path, index=False)
    ask = ("evaluate", path, "--label", "y", "--score", "p", "--threshold", "1")
    code, output = run(*ask, "--label-frequency", ".4", "--by", "land", "--cluster", "who")
    assert code == 0, output
    some = rows[np.arange(len(rows)) % 2 == 0]
    exact = uc.evaluate(
        some["y"], some["p"], unlabeled=0, label_frequency=0.4, threshold=1, cluster=some["who"]
    )["recall"]
    assert f"({exact.low:.3f} – {exact.high:.3f})" in output


def test_segments_of_chances(run, table):
    rows, path = table
    rows.assign(land=np.arange(len(rows)) % 2).to_csv(path, index=False)
    ask = ("evaluate", path, "--label", "y", "--score", "p", "--threshold", "1")
    code, output = run(*ask, "--by", "land", "--chance", "e")
    assert code == 0, output
    some = rows[np.arange(len(rows)) % 2 == 0]
    exact = uc.evaluate(
        some["y"], some["p"], unlabeled=0, threshold=1, assume=uc.LabelPropensity(some["e"])
    )
    for name in ("recall", "precision"):
        assert f"({exact[name].low:.3f} – {exact[name].high:.3f})" in output


def test_what_segments_do_not_answer_is_refused(run, countries):
    code, output = run("evaluate", countries, *ASK, "--by", "land", "--gamma", "2")
    assert (code, "--by does not go with --gamma" in output) == (2, True)


def test_counts_by_cluster(run, table, tmp_path):
    rows, path = table
    counts = tmp_path / "c.parquet"
    ask = ("--label", "y", "--score", "p")
    code, output = run("count", path, *ask, "--cluster", "who", "-o", counts)
    assert code == 0, output
    code, output = run(
        "evaluate", counts, "--prevalence", ".3", "--threshold", "1", "--json", tmp_path / "j"
    )
    assert code == 0, output
    (model,) = json.loads((tmp_path / "j").read_text())["models"]
    exact = uc.evaluate(
        rows["y"], rows["p"], unlabeled=0, prevalence=0.3, threshold=1, cluster=rows["who"]
    )
    recall = model["metrics"][0]
    assert recall["high"] - recall["low"] == pytest.approx(exact["recall"].interval.width, rel=0.1)
    assert any(check["code"] == "UC020" for check in model["checks"])
    assert " Clusters          150 clusters, " in output


def test_numbers_of_a_csv_file_are_numbers(run, table):
    """2 stands before 10, and there is a trend; codes with a leading 0 stay as they are."""
    rows, path = table
    rows["shop"] = np.array([2, 10, 9])[np.arange(len(rows)) % 3]
    rows["code"] = np.array(["02", "10", "9"])[np.arange(len(rows)) % 3]
    rows.to_csv(path, index=False)
    ask = ("evaluate", path, *ASK, "--label-frequency", ".5")
    for more in ((), ("--cluster", "who")):
        code, output = run(*ask, "--by", "shop", *more)
        assert code == 0, output
        names = [words.split()[0] for words in output.splitlines() if words.startswith(" ")]
        assert [name for name in names if name in ("2", "9", "10")] == ["2", "9", "10"]
        assert "trend" in output
    code, output = run(*ask, "--by", "code")
    names = [words.split()[0] for words in output.splitlines() if words.startswith(" ")]
    assert [name for name in names if name in ("02", "9", "10")] == ["02", "10", "9"]
    assert "trend" not in output


def test_two_models_at_another_prevalence(run, table, tmp_path):
    rows, path = table
    ask = ("compare", path, "--label", "y", "--score", "p", "--score", "q", "--threshold", "1")
    ask = (*ask, "--prevalence", ".3", "--deploy-prevalence")
    code, output = run(*ask, ".02", "--json", tmp_path / "j", "--html", tmp_path / "h")
    assert code == 0, output
    assert "Where 2.0 % are positive, if positives and negatives score there as here" in output
    told = json.loads((tmp_path / "j").read_text())["deployed"]
    both = {"p": rows["p"], "q": rows["q"]}
    exact = uc.compare(rows["y"], both, unlabeled=0, prevalence=0.3, threshold=1).deployed(0.02)
    assert [row["low"] for row in told["differences"]] == pytest.approx(
        [each.difference.low for each in exact]
    )
    assert "Where 2.0 % are positive" in (tmp_path / "h").read_text()
    code, output = run(*ask, "2")
    assert (code, "a share is in [0, 1]; got 2; 2 % is 0.02" in output) == (2, True)


def test_each_segment_where_another_share_is_positive(run, countries, tmp_path):
    options = ("--by", "land", "--prevalence", ".2", "--deploy-prevalence", ".1")
    code, output = run("evaluate", countries, *ASK, *options, "--json", tmp_path / "s.json")
    assert code == 0, output
    assert "Where 10 % of the rows are positive" in output
    facts = json.loads((tmp_path / "s.json").read_text())["deployed"]
    rows = pd.read_csv(countries)
    segments = uc.evaluate(
        rows, label="y", score="p", by="land", unlabeled=0, threshold=1, prevalence=0.2
    )
    for line in facts["segments"]:
        (row,) = (
            row for row in segments[line["segment"]].deployed(0.1) if row.label == line["metric"]
        )
        assert line["low"] == pytest.approx(row.estimate.low)
    assert {line["segment"] for line in facts["segments"]} == set(segments)


def test_models_by_segment(run, tmp_path):
    rng = np.random.default_rng(3)
    truth = rng.random(4000) < 0.2
    rows = pd.DataFrame({"y": (truth & (rng.random(4000) < 0.5)).astype(int)})
    rows["p"], rows["q"] = rng.normal(2 * truth), rng.normal(1.5 * truth)
    rows["land"] = np.arange(4000) % 2
    rows.to_csv(tmp_path / "rows.csv", index=False)
    ask = ("compare", tmp_path / "rows.csv", *ASK, "--score", "q", "--by", "land")
    code, output = run(*ask, "--prevalence", "0=20%,1=20%", "--rank-by", "recall")
    assert code == 0, output
    expected = uc.compare(
        rows, ["p", "q"], label="y", by="land", unlabeled=0, threshold=1,
        prevalence={0: 0.2, 1: 0.2},
    )  # fmt: skip
    for land in (0, 1):
        gap = expected.difference(land, "recall").difference
        assert f"{gap.value:+.3f} ({gap.low:+.3f} – {gap.high:+.3f})" in output
    files = [option for name in ("json", "markdown", "csv", "html") for option in
             (f"--{name}", tmp_path / f"c.{name}")]  # fmt: skip
    code, output = run(*ask, "--prevalence", ".2", *files, "--require", "p.recall >= 0.99")
    assert (code, "land 0, p" in output) == (1, True)
    assert json.loads((tmp_path / "c.json").read_text())["column"] == "land"
    code, output = run(
        "compare", tmp_path / "rows.csv", *ASK, "--score", "q", "--prevalence", "0=2%"
    )
    assert (code, "name their column by --by" in output) == (2, True)
