"""Numbers that a user gave are printed as given: a rounded one would be another one."""

import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from undercount.cli.main import main

COLUMNS = ["--label", "y", "--score", "s"]
NEARLY = "0.9999999999996"


@pytest.fixture(scope="module")
def near_one(tmp_path_factory):
    """Rows of which many score 1 or a little less, as those of a saturated model do."""
    rng = np.random.default_rng(8)
    truth = rng.random(1500) < 0.3
    score = 1 / (1 + np.exp(-rng.normal(np.where(truth, 1.5, -0.5), 1.2)))
    score[truth & (rng.random(1500) < 0.3)] = 1.0
    score[rng.random(1500) < 0.1] = float(NEARLY)
    labels = (truth & (rng.random(1500) < 0.5)).astype(int)
    path = tmp_path_factory.mktemp("digits") / "rows.csv"
    lines = [f"{y},{s!r},{p}" for y, s, p in zip(labels, score.tolist(), "ab" * 750, strict=True)]
    path.write_text("y,s,part\n" + "\n".join(lines) + "\n")
    return str(path)


def test_a_threshold_is_printed_with_the_digits_that_flag_the_same_rows(near_one, tmp_path, capsys):
    files = {kind: tmp_path / f"out.{kind}" for kind in ("html", "json", "md")}
    arguments = ["evaluate", near_one, *COLUMNS, "--threshold", NEARLY]
    written = ["--html", str(files["html"]), "--json", str(files["json"])]
    assert main([*arguments, *written]) == 0
    printed = capsys.readouterr().out
    assert f"recall@{NEARLY} " in printed
    command = " ".join(printed.split())  # that chooses rows to look at, and may be wrapped
    assert f"--threshold {NEARLY}" in command
    known = ["--prevalence", "0.3"]
    assert main([*arguments, *known, "--markdown", str(files["md"])]) == 0
    # Packed bytes may spell anything.
    page = re.sub(r'(id="(facts|packed)">).*?<', r"\1<", files["html"].read_text(), flags=re.DOTALL)
    others = (files[kind].read_text() for kind in ("json", "md"))
    for text in (printed, page, *others):
        assert NEARLY in text
        assert "@1 " not in text
        assert "@1<" not in text
        assert "@1|" not in text


def test_every_table_prints_a_threshold_in_full(near_one, capsys):
    plan = ["plan", near_one, *COLUMNS, "--threshold", NEARLY, "--budget", "50", "--goal", "recall"]
    by = ["evaluate", near_one, *COLUMNS, "--threshold", NEARLY, "--by", "part"]
    for arguments in (plan, [*by, "--prevalence", "0.3"]):
        assert main(arguments) == 0
        printed = capsys.readouterr().out
        assert f"recall@{NEARLY}" in printed
        assert "recall@1" not in printed


def test_a_requirement_is_printed_as_it_was_given(near_one, tmp_path, capsys):
    junit, page, out = tmp_path / "gate.xml", tmp_path / "page.html", tmp_path / "out.json"
    arguments = ["evaluate", near_one, *COLUMNS, "--threshold", "0.5", "--prevalence", "0.3"]
    written = ["--junit", str(junit), "--html", str(page), "--json", str(out), "--markdown", "-"]
    asked = ["--require", "accuracy >= 0.955"]
    assert main([*arguments, *asked]) == 1
    printed = capsys.readouterr().out
    assert "accuracy ≥ 95.5 % (as required)" in printed
    assert "accuracy@0.5 >= 0.955" in printed
    assert "96 %" not in printed
    assert main([*arguments, *asked, *written]) == 1
    assert "accuracy ≥ 95.5 %" in capsys.readouterr().out
    assert "accuracy ≥ 95.5 %" in page.read_text()
    assert "96 %" not in json.dumps(json.loads(out.read_text()), ensure_ascii=False)
    names = [case.get("name") for case in ET.parse(junit).iter("testcase")]  # noqa: S314 - ours
    assert any("0.955" in str(name) for name in names)


def test_a_requirement_of_many_digits_is_repeated_in_full(near_one, capsys):
    arguments = ["evaluate", near_one, *COLUMNS, "--threshold", "0.5", "--prevalence", "0.3"]
    assert main([*arguments, "--require", "roc_auc >= 0.99999999"]) == 1
    printed = capsys.readouterr().out
    assert "ROC AUC ≥ 0.99999999" in printed
    assert "roc_auc >= 0.99999999;" in printed
