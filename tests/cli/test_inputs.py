"""What a command reads keeps the scores that its numbers need."""

import json

import numpy as np
import pytest

from undercount.cli.main import main


def average_precision(labelled, unlabeled, share, purity, *, single_sample):
    """Sum precision over the steps of recall at every distinct score, from the definition."""
    value, recall_before = 0.0, 0.0
    positives = purity * labelled.size + share * unlabeled.size
    for score in np.unique(np.append(labelled, unlabeled))[::-1]:
        g, q = np.mean(labelled >= score), np.mean(unlabeled >= score)
        recall = ((1 - share) * g - (1 - purity) * q) / (purity - share)
        if single_sample:
            hits, flagged = positives * recall, g * labelled.size + q * unlabeled.size
        else:
            hits, flagged = share * recall, q
        if flagged > 0:
            value += (recall - recall_before) * hits / flagged
        recall_before = recall
    return value


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
    expected = average_precision(labelled, unlabeled, 0.25, 0.8, single_sample=single_sample)
    assert found == pytest.approx(expected, abs=1e-12)
