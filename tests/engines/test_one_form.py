"""The same rows give the same numbers to the last bit, whichever way they come."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import undercount as uc
from undercount import prevalence
from undercount.cli.main import main
from undercount.count.kernel.table import FEW_CELLS

COLUMNS: dict[str, Any] = {"label": "y", "score": "s"}
SMALL: dict[str, Any] = {"random_state": 0, "n_resamples": 0}
THRESHOLD = 0.5
Doors = dict[str, Callable[..., uc.Evaluation]]


def make_rows(
    n: int, digits: int | None, *, negatives: bool, seed: int = 0
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Draw labels and chances, rounded to so many digits; some unlabeled scores are tied."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.2
    score = 1 / (1 + np.exp(-rng.normal(3.0 * truth - 2)))
    score = score if digits is None else np.round(score, digits)
    y = np.where(truth & (rng.random(n) < 0.3), 1.0, np.nan)
    if negatives:
        y[~truth & (rng.random(n) < 0.08)] = 0.0
    return y, score


def open_doors(y: NDArray[Any], score: NDArray[Any], folder: Path) -> Doors:
    """Return ways to evaluate the same rows, which take what `evaluate` takes beside them."""
    frame = pd.DataFrame({"y": y, "s": score})
    frame.to_csv(folder / "rows.csv", index=False)
    frame.to_parquet(folder / "rows.parquet")
    with duckdb.connect(str(folder / "rows.duckdb")) as connection:
        connection.execute("CREATE TABLE scored AS FROM frame")
    whole, third = uc.ScoreCounts.from_rows(y, score), len(y) // 3
    uc.write_counts(whole, folder / "counts.parquet")
    parts = []
    for place, rows in enumerate(np.split(np.arange(len(y)), [third, 2 * third])):
        parts.append(folder / f"part{place}.parquet")
        uc.write_counts(uc.ScoreCounts.from_rows(y[rows], score[rows]), parts[-1])
    database = duckdb.connect(str(folder / "rows.duckdb"), read_only=True)
    order = np.random.default_rng(1).permutation(len(y))
    compact = uc.ScoreCounts.from_rows(y, score, compact=True, knots=[0.2, THRESHOLD])
    frames = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "polars, lazy": pl.from_pandas(frame).lazy(),
        "pyarrow": pa.Table.from_pandas(frame),
        "database": database.sql("FROM scored"),
    }
    tables = {
        "CSV": uc.read_counts(folder / "rows.csv", **COLUMNS),
        "Parquet": uc.read_counts(folder / "rows.parquet", **COLUMNS),
        "counted frame": uc.count_scores(frame, **COLUMNS),
        "counted database": uc.count_scores(database.sql("FROM scored"), **COLUMNS),
        "counts file": uc.load_counts(folder / "counts.parquet"),
        "merged parts": uc.merge_counts(parts),
        "counts": whole,
        "compact counts": compact,
    }
    doors: Doors = {"arrays": lambda **given: uc.evaluate(y, score, **given)}
    doors["shuffled"] = lambda **given: uc.evaluate(y[order], score[order], **given)
    for name, rows in frames.items():
        doors[name] = lambda rows=rows, **given: uc.evaluate(rows, "s", label="y", **given)
    for name, counts in tables.items():
        doors[name] = lambda counts=counts, **given: uc.evaluate(counts, **given)
    return doors


def read_numbers(evaluation: uc.Evaluation) -> dict[str, str]:
    """Return the share and every metric with value, ends and error, to the last bit."""
    shares = evaluation.shares
    numbers: dict[str, Any] = {
        row.label: (
            row.naive,
            row.estimate.value,
            row.estimate.low,
            row.estimate.high,
            row.estimate.standard_error,
        )
        for row in (*evaluation.rows, *evaluation.top_rows)
    }
    numbers["share"] = (
        shares.unlabeled_prevalence,
        shares.unlabeled_prevalence_interval,
        shares.unlabeled_prevalence_error,
    )
    numbers["limits"] = (
        evaluation.unknowns.largest_share,
        evaluation.unknowns.upper_bound,
        evaluation.unknowns.area_bound,
    )
    return {name: repr(values) for name, values in numbers.items()}


def check_doors(doors: Doors, **given: Any) -> None:
    """Ask every door the same, an estimator being fitted anew each time."""
    answers = {}
    for name, evaluate in doors.items():
        fresh = {key: value() if callable(value) else value for key, value in given.items()}
        answers[name] = read_numbers(evaluate(threshold=THRESHOLD, **fresh))
    assert answers == dict.fromkeys(doors, answers["arrays"])


@pytest.fixture(scope="module")
def doors_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int | None, bool], Doors]:
    """Return ways to evaluate rows with so many digits, with known negatives or without."""

    @cache
    def find(digits: int | None, negatives: bool) -> Doors:
        rows = make_rows(500, digits, negatives=negatives)
        return open_doors(*rows, tmp_path_factory.mktemp("doors"))

    return find


Finder = Callable[[int | None, bool], Doors]


@pytest.mark.parametrize(
    ("digits", "negatives", "given"),
    [
        (1, False, {"top": 50}),
        (1, True, {"top": 50}),
        (2, False, {"top": 50}),
        (None, False, {"top": 50}),
        (None, True, {}),
        (1, True, {"prevalence": 0.2, "top": 0.1}),
        (None, False, {"prevalence": (0.15, 0.25)}),
    ],
)
@pytest.mark.filterwarnings("ignore::undercount.MisfitWarning")
def test_every_door_gives_the_same_numbers(
    doors_of: Finder, digits: int | None, given: dict[str, Any], *, negatives: bool
) -> None:
    check_doors(doors_of(digits, negatives), **given)


def take_tables(doors: Doors) -> Doors:
    """Choose the doors whose tables differ before they are brought into one form."""
    names = "arrays", "polars, lazy", "counted database", "merged parts", "compact counts"
    return {name: doors[name] for name in names}


@pytest.mark.parametrize("negatives", [False, True])
def test_resamples_are_the_same_at_every_door(doors_of: Finder, *, negatives: bool) -> None:
    doors = take_tables(doors_of(1, negatives))
    check_doors(doors, assume=uc.RandomLabels(interval="bootstrap", n_resamples=20))


ESTIMATORS: dict[str, Callable[[], Any]] = {
    name: lambda kind=name: getattr(prevalence, kind)(**SMALL)
    for name in (
        "AlphaMax",
        "BestBin",
        "Consensus",
        "Dedpul",
        "DistCurve",
        "ElkanNoto",
        "KernelMean",
        "PatraSen",
        "RocSlope",
        "TwoLabels",
    )
}


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::undercount.MisfitWarning")
def test_every_estimator_answers_the_same_at_every_door(doors_of: Finder, name: str) -> None:
    check_doors(take_tables(doors_of(1, True)), unlabeled_prevalence=ESTIMATORS[name])


@pytest.mark.parametrize(
    "make",
    [
        lambda: prevalence.Dedpul(scale="score", **SMALL),
        lambda: prevalence.AlphaMax(scale="score", **SMALL),
        lambda: prevalence.ElkanNoto(calibration="none", **SMALL),
    ],
    ids=["DEDPUL", "AlphaMax", "Elkan-Noto"],
)
def test_estimators_that_read_scores_get_every_score(
    doors_of: Finder, make: Callable[[], Any]
) -> None:
    doors = take_tables(doors_of(1, False))
    doors.pop("compact counts")  # which do not have them
    check_doors(doors, unlabeled_prevalence=make)


@pytest.mark.parametrize("digits", [1, None])
def test_wrong_labels_are_estimated_the_same_from_every_score(
    doors_of: Finder, digits: int | None
) -> None:
    doors = take_tables(doors_of(digits, False))
    doors.pop("compact counts")  # impure labels need every score
    check_doors(doors, assume=uc.RandomLabels(purity=0.9))


@pytest.mark.parametrize("kind", ["AlphaMaxN", "NoisyComposition", "NoisyConsensus"])
def test_shares_of_wrong_labels_are_fitted_the_same_from_rows_and_counts(kind: str) -> None:
    y, score = make_rows(800, 1, negatives=False)
    estimator = getattr(prevalence, kind)
    answers = [
        estimator(**SMALL).fit(*rows)
        for rows in (
            (y, score),
            (uc.ScoreCounts.from_rows(y, score),),
            (uc.ScoreCounts.from_rows(y, score, compact=True, knots=[0.3]),),
        )
    ]
    assert len({(each.unlabeled_prevalence_, each.label_purity_) for each in answers}) == 1


def test_single_precision_zero_weights_and_both_zeros_change_nothing() -> None:
    y, score = make_rows(1200, 1, negatives=True)
    score = (score - 0.3).astype(np.float32)
    score[np.abs(score) < 0.05] = 0.0
    signed = np.where((score == 0) & (np.arange(1200) % 2 == 0), np.float32(-0.0), score)
    plain = read_numbers(uc.evaluate(y, score, threshold=0.25))
    double = score.astype(np.float64)
    weights = np.append(np.ones(1200), np.zeros(600))
    more = np.append(y, y[:600]), np.append(double, np.linspace(-3, 3, 600))
    assert read_numbers(uc.evaluate(y, double, threshold=0.25)) == plain
    assert read_numbers(uc.evaluate(y, signed, threshold=0.25)) == plain
    assert read_numbers(uc.evaluate(*more, sample_weight=weights, threshold=0.25)) == plain
    counted = uc.ScoreCounts.from_rows(*more, sample_weight=weights)
    assert read_numbers(uc.evaluate(counted, threshold=0.25)) == plain


def test_weights_that_a_float_holds_exactly_add_up_alike(tmp_path: Path) -> None:
    y, score = make_rows(900, 2, negatives=True)
    weight = np.random.default_rng(2).choice([0.0, 0.25, 0.5, 1.0, 3.0], len(y))
    frame = pd.DataFrame({"y": y, "s": score, "w": weight})
    frame.to_parquet(tmp_path / "rows.parquet")
    answers = [
        uc.evaluate(y, score, sample_weight=weight, threshold=THRESHOLD),
        uc.evaluate(uc.ScoreCounts.from_rows(y, score, sample_weight=weight), threshold=THRESHOLD),
        uc.evaluate(
            uc.read_counts(tmp_path / "rows.parquet", **COLUMNS, weight="w"), threshold=THRESHOLD
        ),
    ]
    first, *others = map(read_numbers, answers)
    assert others == [first, first]


def test_the_threshold_that_is_asked_for_does_not_move_the_share() -> None:
    y, score = make_rows(2000, 2, negatives=False)
    shares = {
        uc.evaluate(y, score, threshold=threshold).shares.unlabeled_prevalence
        for threshold in (None, 0.11, 0.333, 0.5, 0.905)
    }
    assert len(shares) == 1


@pytest.mark.parametrize("seed", range(40))
def test_every_way_of_counting_leads_to_one_table(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.choice([30, 700, 9_000, 25_000, 70_000]))
    score = np.round(rng.normal(size=n), int(rng.choice([0, 1, 2, 9])))
    score[rng.random(n) < 0.1 * (seed % 2)] = rng.choice([np.inf, -np.inf, -0.0])
    score = score.astype(rng.choice(["f4", "f8"]))
    y = np.where(rng.random(n) < rng.choice([0.01, 0.2]), 1.0, np.nan)
    y[rng.random(n) < 0.05 * (seed % 3)] = 0.0
    y[0] = 1.0
    knots = rng.normal(size=int(rng.choice([0, 3, FEW_CELLS + 10])))
    full = uc.ScoreCounts.from_rows(y, score).canonical
    for compact in (
        uc.ScoreCounts.from_rows(y, score, compact=True),
        uc.ScoreCounts.from_rows(y, score, compact=True, knots=knots),
    ):
        for mine, other in zip(full.table, compact.canonical.table, strict=True):
            np.testing.assert_array_equal(mine, other)


def test_the_one_form_is_what_a_hand_makes() -> None:
    counts = uc.ScoreCounts.from_counts(
        [9, 8, 7, 6, 5, 4, 3, 2],
        [0, 0, 1, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 1, 0],
        [1, 2, 1, 0, 4, 3, 0, 5],
    )
    form = counts.canonical  # 9 and 8, 5 and 4 hold unlabeled rows alone, and nobody scores 6
    assert form.score.tolist() == [8, 7, 4, 3, 2]
    assert form.unlabeled.tolist() == [3, 1, 7, 0, 5]
    assert form.merged.tolist() == [True, False, True, False, False]
    assert form.canonical is form


def test_commands_say_of_a_counts_file_what_they_say_of_rows(tmp_path: Path) -> None:
    y, score = make_rows(900, 2, negatives=False)
    rows, counts = tmp_path / "rows.parquet", tmp_path / "counts.parquet"
    pd.DataFrame({"y": y, "s": score}).to_parquet(rows)
    columns = ["--label", "y", "--score", "s"]
    assert main(["count", str(rows), *columns, "-o", str(counts), "--quiet"]) == 0
    models = []
    for place, data in enumerate(([str(rows), *columns], [str(counts)])):
        out = tmp_path / f"{place}.json"
        asked = ["evaluate", *data, "--threshold", "0.5", "--json", str(out), "--quiet"]
        assert main(asked) == 0
        models.append(json.loads(out.read_text())["models"][0])
    for name in ("hidden_share", "prevalence", "metrics"):
        assert models[0][name] == models[1][name]
