"""The lines that hand an evaluation to MLflow, run against a store of files."""

import json
import pathlib
import re

import numpy as np
import pytest

import undercount as uc

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "how-to" / "results.md"


def test_the_documented_lines_log_numbers_ends_and_page(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # newer versions ask for it
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("GIT_PYTHON_REFRESH", "quiet")
    monkeypatch.chdir(tmp_path)
    mlflow = pytest.importorskip("mlflow")
    rng = np.random.default_rng(0)
    truth = rng.random(2000) < 0.2
    y = truth & (rng.random(2000) < 0.5)
    found = uc.evaluate(y, rng.normal(2.0 * truth), unlabeled=0, prevalence=0.2, threshold=1.0)
    mlflow.set_tracking_uri((tmp_path / "store").as_uri())
    block = re.search(
        r"^```py\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    exec(compile(block[1], str(PAGE), "exec"), {"evaluation": found})  # noqa: S102 - our own page
    client = mlflow.MlflowClient()
    run = client.search_runs([client.get_experiment_by_name("Default").experiment_id])[0]
    for name, value in found.metrics().items():
        assert run.data.metrics[name] == pytest.approx(value)
    assert run.data.metrics["precision_low"] < run.data.metrics["precision_high"]
    files = {artifact.path for artifact in client.list_artifacts(run.info.run_id)}
    assert files == {"evaluation.json", "report.html"}
    kept = pathlib.Path(client.download_artifacts(run.info.run_id, "evaluation.json"))
    assert json.loads(kept.read_text()) == found.to_dict()
