"""`undercount select`: labels only where somebody looked."""

import json

import numpy as np
import pytest

from undercount.cli.main import main

COLUMNS = ["--label", "y", "--score", "s"]


def test_select_recovers_what_the_chosen_rows_hide(tmp_path, capsys):
    rng = np.random.default_rng(5)
    score = rng.normal(size=6000)
    truth = 0.8 * score + 0.6 * rng.normal(size=6000) > 0.5
    path = tmp_path / "audit.csv"
    lines = [f"{int(t)},{s}" if s > 0 else f",{s}" for t, s in zip(truth, score, strict=True)]
    path.write_text("late,risk\n" + "\n".join(lines) + "\n")
    out = tmp_path / "out.json"
    arguments = ["select", str(path), "--label", "late", "--score", "risk", "--threshold", "0.5"]
    assert main([*arguments, "--json", str(out)]) == 0
    assert "rows looked at" in capsys.readouterr().out
    (model,) = json.loads(out.read_text())["models"]
    hidden = model["hidden_share"]
    assert hidden["low"] < truth[score <= 0].mean() < hidden["high"]
    assert model["prevalence"] == pytest.approx(truth.mean(), abs=0.03)
    rows = {row["metric"]: row for row in model["metrics"]}
    true_recall = (score[truth] >= 0.5).mean()
    assert rows["recall"]["low"] < true_recall < rows["recall"]["high"]
    seen = truth & (score > 0)
    assert rows["recall"]["naive"] == pytest.approx((score[seen] >= 0.5).mean(), abs=1e-9)
    assert model["fitted"]["method"] == "own-score"


def test_select_does_not_recommend_the_method_in_use(tmp_path, capsys):
    rng = np.random.default_rng(6)
    score, chooser = rng.normal(size=(2, 3000))
    truth = 0.8 * score + 0.6 * rng.normal(size=3000) > 0.5
    looked = chooser + rng.normal(size=3000) > 0.5
    triples = zip(truth, looked, score, chooser, strict=True)
    lines = [f"{int(t) if k else ''},{s},{c}" for t, k, s, c in triples]
    path = tmp_path / "audit.csv"
    path.write_text("late,risk,rule\n" + "\n".join(lines) + "\n")
    columns = ["--label", "late", "--score", "risk", "--selection-score", "rule"]
    assert main(["select", str(path), *columns]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "not chosen by a cutoff" in printed
    assert "use 'begg-greenes'" in printed
    assert "'observed-score'" not in printed


def test_checks_of_select_name_options(tmp_path, capsys):
    rng = np.random.default_rng(8)
    score = rng.exponential(size=400)
    truth = score + rng.normal(size=400) > 1
    looked = score + rng.normal(size=400) > 1
    path = tmp_path / "audit.csv"
    lines = [f"{int(t) if k else ''},{s}" for t, k, s in zip(truth, looked, score, strict=True)]
    path.write_text("y,s\n" + "\n".join(lines) + "\n")
    assert main(["select", str(path), *COLUMNS, "--distribution", "normal"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Verdict not supported · ROC AUC" in printed
    assert "Nothing can be claimed while normality stands" in printed
    assert "(normality fail)" in printed
    assert "Use --distribution empirical (the default) or 'copula'" in printed


@pytest.fixture
def audit(tmp_path):
    rng = np.random.default_rng(5)
    score, chooser = rng.normal(size=(2, 600)).round(4)
    truth = 0.8 * score + 0.6 * rng.normal(size=600) > 0.3
    lines = [
        f"{int(t) if s > 0 else ''},{s},{c}" for t, s, c in zip(truth, score, chooser, strict=True)
    ]
    return tmp_path, lines


def test_select_drops_rows_without_a_score_and_says_so(audit, capsys):
    folder, lines = audit
    whole, holes = folder / "whole.csv", folder / "holes.csv"
    whole.write_text("y,s,c\n" + "\n".join(lines) + "\n")
    holes.write_text("y,s,c\n" + "\n".join(["1,,0.1", *lines, ",nan,0.2", ",,0.3"]) + "\n")
    found = []
    for path in (whole, holes):
        out = folder / f"{path.stem}.json"
        assert main(["select", str(path), *COLUMNS, "--json", str(out)]) == 0
        found.append(json.loads(out.read_text()))
    assert found[0] == found[1]
    looked = sum(not line.startswith(",") for line in lines)
    said = capsys.readouterr().out
    assert f" 600 rows read, {looked} of them looked at" in said
    assert f" 603 rows read, 3 dropped (missing score), {looked} of the others looked at" in said


def test_select_drops_rows_without_a_selection_score(audit, capsys):
    folder, lines = audit
    path = folder / "holes.csv"
    path.write_text("y,s,c\n" + "\n".join([*lines, "1,0.5,", ",-0.5,nan"]) + "\n")
    assert main(["select", str(path), *COLUMNS, "--selection-score", "c"]) == 0
    assert "602 rows read, 2 dropped (missing score)" in capsys.readouterr().out


def test_select_takes_a_file_once(audit, capsys):
    folder, lines = audit
    path = folder / "rows.csv"
    path.write_text("y,s,c\n" + "\n".join(lines) + "\n")
    assert main(["select", str(path), str(path), *COLUMNS]) == 2
    assert "each file may be named once" in capsys.readouterr().err


def test_select_refuses_what_is_left_of_nothing(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    path.write_text("y,s,c\n1,,a\n0,,2\n,,3\n")
    assert main(["select", str(path), *COLUMNS]) == 2
    assert "no row has a score in column 's'" in capsys.readouterr().err
    path.write_text("y,s,c\n1,1,a\n0,2,2\n,3,3\n")
    assert main(["select", str(path), *COLUMNS, "--selection-score", "c"]) == 2
    assert f"column 'c' of {path} must hold numbers, not text; got 'a' in row 1. " in (
        capsys.readouterr().err
    )
    path.write_text("y,s,c\n1,1,\n0,2,2\n,3,3\n")
    arguments = ["select", str(path), *COLUMNS, "--method", "begg-greenes", "--features", "c"]
    assert main(arguments) == 2
    assert "column 'c' of --features must hold a finite number" in capsys.readouterr().err


def test_select_reads_minus_one_as_evaluate_does(audit, capsys):
    folder, lines = audit
    found = []
    for name, coded in (
        ("empty", lines),
        ("coded", [f"-1{x}" if x[0] == "," else x for x in lines]),
    ):
        path, out = folder / f"{name}.csv", folder / f"{name}.json"
        path.write_text("y,s,c\n" + "\n".join(coded) + "\n")
        assert main(["select", str(path), *COLUMNS, "--json", str(out)]) == 0
        found.append(json.loads(out.read_text()))
    assert found[0] == found[1]
    said = capsys.readouterr().out
    assert said.count(" 1 = positive, 0 = negative, -1 = not looked at\n") == 1


def test_select_says_what_to_write_where_nobody_looked(audit, capsys):
    folder, lines = audit
    path = folder / "rows.csv"
    coded = [f"9{line}" if line[0] == "," else line for line in lines]
    path.write_text("y,s,c\n" + "\n".join(coded) + "\n")
    assert main(["select", str(path), *COLUMNS]) == 2
    said = capsys.readouterr().err
    assert "If 9 means that nobody looked leave it empty; if it means verified negative" in said
    assert "unlabeled=" not in said
    first = 1 + next(i for i, line in enumerate(lines) if line.startswith("1,"))
    told = [f"yes{line[1:]}" if line.startswith("1,") else line for line in lines]
    path.write_text("y,s,c\n" + "\n".join(told) + "\n")
    assert main(["select", str(path), *COLUMNS]) == 2
    assert capsys.readouterr().err == (
        f"undercount: column 'y' of {path} must hold numbers, not text; got 'yes' in row {first}. "
        "Recode positives as 1 and negatives as 0 and leave the label empty where nobody looked, "
        "or name another column of labels with --label\n"
    )


def write_probabilities(tmp_path, cut):
    """Write calibrated probabilities, of which those above a cut were looked at."""
    rng = np.random.default_rng(1)
    chance = 1 / (1 + np.exp(-rng.normal(-1.5, 2.5, 6000)))
    truth = rng.random(6000) < chance
    path = tmp_path / "rows.csv"
    pairs = zip(truth, chance, strict=True)
    lines = [f"{int(t) if c > cut else ''},{c}" for t, c in pairs]
    path.write_text("y,s\n" + "\n".join(lines) + "\n")
    return path, float((chance[truth][:, None] > chance[~truth][None, :]).mean())


@pytest.fixture
def probabilities(tmp_path):
    """Calibrated probabilities, of which those above .3 were looked at."""
    return write_probabilities(tmp_path, 0.3)


def test_select_chooses_the_scale_of_probabilities_and_says_so(probabilities, capsys):
    path, area = probabilities
    out = path.with_suffix(".json")
    assert main(["select", str(path), *COLUMNS, "--link", "logit", "--json", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "on the logit of the score" in " ".join(printed.split())
    assert "not supported" not in printed
    facts = json.loads(out.read_text())
    assert facts["schema"] == "undercount/evaluation/1"
    (model,) = facts["models"]
    fitted = {"method": "own-score", "distribution": "empirical", "link": "logit"}
    assert model["fitted"] == fitted | {"scale": "logit", "selection_scale": "score"}
    found = next(row for row in model["metrics"] if row["metric"] == "roc_auc")
    assert found["low"] < area < found["high"]


@pytest.mark.parametrize("bound", [0.5, 0.999])
def test_a_failed_check_forbids_any_claim(probabilities, capsys, bound):
    """They neither meet a requirement nor fail it, as in evaluate and compare."""
    path, _ = probabilities
    out, page = path.with_suffix(".json"), path.with_suffix(".html")
    arguments = ["select", str(path), *COLUMNS, "--scale", "score"]
    arguments += ["--require", f"roc_auc >= {bound}"]
    assert main([*arguments, "--json", str(out), "--html", str(page)]) == 3
    printed = capsys.readouterr().out
    assert "(outcome-shape fail)" in printed
    assert f"inconclusive: s: roc_auc >= {bound}" in printed
    (model,) = json.loads(out.read_text())["models"]
    assert model["verdict"]["light"] == "unsupported"
    assert model["verdict"]["reason"] == "outcome-shape"
    text = page.read_text()
    assert text.index("outcome-shape") < text.index("<table>")
    assert "http" not in text.replace("http-equiv", "")
    assert "<script" not in text


@pytest.mark.parametrize(("requirement", "code"), [("0.6", 0), ("0.99", 1), ("VALUE", 3)])
def test_requirements_of_select_have_the_exit_codes_of_evaluate(tmp_path, requirement, code):
    path, area = write_probabilities(tmp_path, 0.1)
    bound = requirement.replace("VALUE", f"{area:.3f}")
    arguments = ["select", str(path), *COLUMNS, "--link", "logit", "--quiet"]
    assert main([*arguments, "--require", f"roc_auc >= {bound}"]) == code


@pytest.mark.parametrize("bound", [0.6, 0.99])
def test_an_extrapolation_over_most_rows_neither_meets_nor_fails(probabilities, capsys, bound):
    path, _ = probabilities
    page = path.with_suffix(".html")
    arguments = ["select", str(path), *COLUMNS, "--link", "logit", "--html", str(page)]
    assert main([*arguments, "--require", f"roc_auc >= {bound}"]) == 3
    printed = capsys.readouterr().out
    assert "because 61% of the rows lie beyond every score" in " ".join(printed.split())
    assert "the rows looked at leave it open" in printed
    text = page.read_text()
    assert text.index("lie beyond every score") < text.index("<table>")


@pytest.mark.parametrize("cut", [0.3, 0.8])
@pytest.mark.parametrize(
    ("requirement", "code"),
    [("precision@0.85 >= 0.8", 0), ("precision@0.85 >= 0.99", 1), ("precision@0.0001 >= 0.1", 3)],
)
def test_precision_rests_on_the_flagged_rows_alone(tmp_path, cut, requirement, code, capsys):
    """Of rows that were all looked at, what lies beyond them changes nothing."""
    path, _ = write_probabilities(tmp_path, cut)
    arguments = ["select", str(path), *COLUMNS, "--link", "logit"]
    assert main([*arguments, "--require", requirement]) == code
    printed = " ".join(capsys.readouterr().out.split())
    # The other numbers do rest on the model.
    assert f"extrapolation {'warn' if cut == 0.3 else 'fail'}" in printed
    if code == 3:
        assert "of the flagged rows lie beyond every score" in printed
    assert main([*arguments, "--require", f"{requirement} and roc_auc >= 0.6"]) == (code or 3)


def test_the_page_escapes_what_a_user_named(audit):
    folder, lines = audit
    path, page = folder / "rows.csv", folder / "page.html"
    path.write_text('y,"<q>s"\n' + "\n".join(line.rsplit(",", 1)[0] for line in lines) + "\n")
    arguments = ["select", str(path), "--label", "y", "--score", "<q>s", "--html", str(page)]
    assert main(arguments) == 0
    text = page.read_text()
    assert "&lt;q&gt;s" in text
    assert "<q>s" not in text
    assert text.count('class="band') == 1
    assert text.count('class="line') == 2


@pytest.mark.parametrize(("score", "features"), [("rf", ["rf"]), ("lr", ["x0", "lr"])])
def test_a_feature_that_follows_from_the_score_is_named_as_the_user_named_it(
    tmp_path, capsys, score, features
):
    # x0 and x1 are columns of the file, too: no other name may stand for the user's.
    rng = np.random.default_rng(3)
    rows = rng.random((400, 4))
    labels = np.where(rows[:, 0] > 0.4, (rng.random(400) < rows[:, 0]).astype(int), -1)
    lines = [
        ",".join(["" if y < 0 else str(y), *map(str, row)])
        for y, row in zip(labels, rows, strict=True)
    ]
    path = tmp_path / "audit.csv"
    path.write_text("y,rf,lr,x0,x1\n" + "\n".join(lines) + "\n")
    named = [word for name in features for word in ("--features", name)]
    arguments = ["select", str(path), "--label", "y", "--score", score, *named]
    assert main([*arguments, "--method", "ipw"]) == 2
    said = capsys.readouterr().err
    assert f"column {score!r} of --features repeats the score" in said
    assert "x0" not in said
    assert "x1" not in said


def write_hidden_choice(tmp_path, moved):
    """Write rows that somebody who knew more chose, and a column that moved the choice."""
    rng = np.random.default_rng(0)
    score, column, unseen, noise, other = rng.standard_normal((5, 4000)).round(5)
    truth = 0.8 * score + 0.6 * unseen + 0.5 * noise > 0.4
    looked = moved * column + 0.7 * unseen + 0.5 * other > -0.3
    rows = zip(truth, looked, score, column, strict=True)
    path = tmp_path / "audit.csv"
    lines = [f"{int(t) if k else ''},{s},{c}" for t, k, s, c in rows]
    path.write_text("y,s,c\n" + "\n".join(lines) + "\n")
    return path, float((score[truth] >= 0.5).mean())


@pytest.mark.parametrize(("sign", "factor"), [(">=", 0.5), ("<=", 0.5), (">=", 1.5), ("<=", 1.5)])
def test_a_hidden_choice_neither_meets_nor_fails_by_its_shape_alone(tmp_path, capsys, sign, factor):
    path, recall = write_hidden_choice(tmp_path, 0.0)
    arguments = ["select", str(path), *COLUMNS, "--method", "unobserved"]
    assert main([*arguments, "--require", f"recall@0.5 {sign} {factor * recall:.3f}"]) == 3
    assert "(normal-shape)" in " ".join(capsys.readouterr().out.split())


def test_a_hidden_choice_says_what_it_supposes_without_any_requirement(tmp_path, capsys):
    path, _ = write_hidden_choice(tmp_path, 0.0)
    out, page = path.with_suffix(".json"), path.with_suffix(".html")
    arguments = ["select", str(path), *COLUMNS, "--method", "unobserved"]
    assert main([*arguments, "--json", str(out), "--html", str(page)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "jointly normal unseen parts" in printed
    assert "the rows looked at leave it open" in printed
    assert "normal-shape warn" in printed
    assert "--features" in printed
    (facts,) = json.loads(out.read_text())["models"]
    needs = {need for row in facts["metrics"] for need in row["needs"]}
    assert needs == {"jointly normal unseen parts", "right labels"}
    assert "normal-shape" in {check["code"] for check in facts["checks"]}
    text = page.read_text()
    assert "jointly normal unseen parts" in text
    assert "rest on that shape alone" in text


@pytest.mark.parametrize(("sign", "code"), [(">=", 0), ("<=", 1)])
def test_a_column_that_moved_a_hidden_choice_lets_it_be_judged(tmp_path, capsys, sign, code):
    path, recall = write_hidden_choice(tmp_path, 1.0)
    arguments = ["select", str(path), *COLUMNS, "--method", "unobserved", "--features", "c"]
    assert main([*arguments, "--require", f"recall@0.5 {sign} {0.7 * recall:.3f}"]) == code
    assert "columns that moved the choice alone" in " ".join(capsys.readouterr().out.split())
