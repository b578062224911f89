"""Rows in files, for the commands to read."""

import gzip
import json

import duckdb
import numpy as np
import pytest


@pytest.fixture(scope="session")
def rows():
    rng = np.random.default_rng(12)
    truth = rng.random(3000) < 0.3
    score = np.round(rng.normal(1.5 * truth), 4)
    other = np.round(rng.normal(0.7 * truth), 4)
    found = truth & (rng.random(3000) < 0.5)
    return found.astype(int), score, other, truth


@pytest.fixture(scope="session")
def folder(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    found, score, other, _ = rows
    lines = [f"{y},{s},{o}" for y, s, o in zip(found, score, other, strict=True)]
    text = "\n".join(["fraud,good,poor", *lines]) + "\n"
    (folder / "rows.csv").write_text(text)
    (folder / "rows.tsv").write_text(text.replace(",", "\t"))
    with gzip.open(folder / "rows.csv.gz", "wt") as file:
        file.write(text)
    records = [
        json.dumps({"fraud": int(y), "good": float(s), "poor": float(o)})
        for y, s, o in zip(found, score, other, strict=True)
    ]
    (folder / "rows.jsonl").write_text("\n".join(records) + "\n")
    duckdb.sql(f"COPY (FROM '{folder}/rows.csv') TO '{folder}/rows.parquet'")
    positives = "\n".join(["good", *map(str, score[found == 1])]) + "\n"
    (folder / "positives.csv").write_text(positives)
    (folder / "unlabeled.csv").write_text("\n".join(["good", *map(str, score[found == 0])]) + "\n")
    return folder


@pytest.fixture
def drawn():
    rng = np.random.default_rng(3)
    truth = rng.random(400) < 0.3
    score = np.round(rng.normal(1.5 * truth), 4)
    return (truth & (rng.random(400) < 0.5)).astype(int), score


@pytest.fixture
def small(drawn, tmp_path):
    path = tmp_path / "rows.csv"
    lines = [f"{y},{s},0.0025" for y, s in zip(*drawn, strict=True)]
    path.write_text("\n".join(["y,s,w", *lines]) + "\n")
    return str(path)


@pytest.fixture
def few(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("y,s,t\n1,5,1\n0,2,2\n0,3,3\n0,7,4\n1,9,5\n")
    return str(path)


@pytest.fixture
def scores_apart():
    rng = np.random.default_rng(8)
    truth = np.append(np.ones(150), rng.random(600) < 0.3)
    return np.round(rng.normal(1.5 * truth), 4), np.round(rng.normal(0.7 * truth), 4)


@pytest.fixture
def apart(tmp_path, monkeypatch, scores_apart):
    monkeypatch.chdir(tmp_path)
    lines = [f"{s},{t}" for s, t in zip(*scores_apart, strict=True)]
    for name, part in (("positives", lines[:150]), ("unlabeled", lines[150:])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["s,t", *part]) + "\n")
    labelled = [f"{int(row < 150)},{line}" for row, line in enumerate(lines)]
    (tmp_path / "rows.csv").write_text("\n".join(["y,s,t", *labelled]) + "\n")
    (tmp_path / "words.csv").write_text("s,t\nhigh,1\nlow,2\n")
    return tmp_path
