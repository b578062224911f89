"""What is thrown at each door, and what must hold of whatever comes out.

A door is one way in: rows, arguments, files, options, counts files, requirements. Each function
takes one case; bad input may be refused by `InputError` (Python) or exit code 2 (command line), and
nothing else may be raised. `tests/fuzz/test_doors.py` runs some cases of each in every test run,
`make fuzz` as many as time allows.
"""

import contextlib
import csv
import io
import json
import math
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

import undercount as uc
from undercount.cli.main import main
from undercount.errors import InputError
from undercount.metric_facts import FACTS
from undercount.read.requirement import parse_requirement

EXIT_CODES = {0, 1, 2, 3}
PATIENCE = 10.0  # seconds of one case
LABELS = st.sampled_from([1, 1, 0, 0, 0, None, math.nan, -1, True, 2, "1"])
SCORES = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-4, 4, allow_subnormal=False),
    st.floats(),
    st.sampled_from([0.0, -0.0, 1e300, -1e300, 5e-324, math.inf, -math.inf, 2.0**53 + 2]),
)
SHARES = st.one_of(
    st.none(),
    st.floats(0, 1),
    st.sampled_from([0, 1, 0.5, 1e-12, 1 - 1e-12, -0.1, 1.1, math.nan, math.inf, "0.3"]),
    st.tuples(st.floats(0, 1), st.floats(0, 1)),
    st.builds(
        lambda value, error: uc.Estimate(value, value, value, error),
        st.floats(0, 1),
        st.floats(0, 0.2),
    ),
)
WEIGHTS = st.sampled_from([0.0, 1.0, 1.0, 2.5, 1e-9, 1e9, 1e150, -1.0, math.nan])


@st.composite
def row_cases(draw: Any) -> dict[str, Any]:
    """Draw rows and arguments of `evaluate`; most are sound, so that most reach the end."""
    n = draw(st.integers(0, 40))
    sound = draw(st.integers(0, 3)) > 0
    labels = st.sampled_from([1, 1, 0, 0, 0, None]) if sound else LABELS
    scores = st.floats(-4, 4, allow_subnormal=False) | st.integers(-3, 3).map(float)
    case: dict[str, Any] = {
        "y": draw(st.lists(labels, min_size=n, max_size=n)),
        "score": draw(st.lists(scores if sound else SCORES, min_size=n, max_size=n)),
    }
    share = draw(st.sampled_from(["prevalence", "unlabeled_prevalence", "label_frequency"]))
    case[share] = draw(st.floats(0.01, 0.9) if sound else SHARES)
    optional: dict[str, Any] = {
        "threshold": scores if sound else SCORES,
        "label_purity": st.floats(0.5, 1)
        if sound
        else SHARES.filter(lambda value: value is not None),
        "sampling": st.sampled_from(["single-sample", "case-control"]),
        "target": st.sampled_from(["dataset", "population"]),
        "confidence_level": st.floats(0.01, 0.999) if sound else st.floats() | st.none(),
        "unlabeled": st.sampled_from([0, -1])
        if sound
        else st.sampled_from([0, -1, 1, "0", math.nan, 0.5]),
        "sample_weight": st.lists(st.floats(0.1, 5) if sound else WEIGHTS, min_size=n, max_size=n),
    }
    for name in draw(st.sets(st.sampled_from(sorted(optional)))):
        case[name] = draw(optional[name])
    return case


def knock_rows(case: dict[str, Any]) -> str:
    """Evaluate rows; every estimate must make sense and every form must be written."""
    y, score = case["y"], case["score"]
    options = {name: value for name, value in case.items() if name not in ("y", "score")}
    try:
        found = uc.evaluate(y, score, **options)
    except InputError:
        return "refused"
    for row in found.rows:
        check_estimate(row.metric, row.estimate)
    document = json.loads(found.to_json())
    assert document["models"]
    assert str(found)
    assert found.to_markdown()
    return "evaluated"


def check_estimate(metric: str, estimate: uc.Estimate) -> None:
    """Assert that an interval holds its estimate and stays in the metric's range."""
    least, most = FACTS[metric].range
    assert not math.isnan(estimate.low), (metric, estimate)
    assert not math.isnan(estimate.high), (metric, estimate)
    assert least - 1e-9 <= estimate.low <= estimate.high <= most + 1e-9, (metric, estimate)
    if not math.isnan(estimate.value):
        assert estimate.low <= estimate.value <= estimate.high, (metric, estimate)


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=6)
NUMBERS = st.sampled_from(
    [
        "0",
        "1",
        "",
        "0.5",
        "-2e3",
        "1e999",
        " 1",
        "nan",
        "NaN",
        "inf",
        "9007199254740993",
        "true",
        "a",
    ]
)


@st.composite
def file_cases(draw: Any) -> str:
    """Draw a CSV file with quotes, comment signs, ragged lines and odd numbers."""
    n = draw(st.integers(0, 12))
    header = draw(
        st.sampled_from([["y", "s"], ["y", "s", "note"], ["s", "y", "y"], ["y", "s", ""]])
    )
    separator = draw(st.sampled_from([",", ";", "\t"]))
    out = io.StringIO()
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    writer = csv.writer(out, delimiter=separator, quoting=quoting, lineterminator=end)
    writer.writerow(header)
    good = st.sampled_from(["0", "1", "0.5", "2", "-1.25"])
    odd = draw(st.booleans())
    for _ in range(n):
        writer.writerow(
            [
                draw(
                    st.sampled_from(["0", "1"])
                    if name == "y" and not odd
                    else NUMBERS
                    if odd
                    else good
                    if name == "s"
                    else CELLS
                )
                for name in header
            ]
        )
    text = out.getvalue()
    broken = draw(st.integers(0, 5)) == 0
    if broken and text:
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(['"', ",", "#", "\n", "\x00", "'"])) + text[at:]
    return ("\ufeff" if draw(st.booleans()) else "") + text


def knock_files(text: str) -> str:
    """Count a file; where Python's `csv` reads the same numbers, the counts must be equal."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        path.write_text(text, encoding="utf-8", newline="")
        try:
            found = uc.read_counts(path, label="y", score="s", unlabeled=0)
        except InputError:
            return "refused"
    head = text.lstrip("\ufeff").splitlines()[0]
    separator = max(",;\t", key=head.count)
    rows = list(csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""), delimiter=separator))
    names = rows[0]
    body = [row for row in rows[1:] if row]
    label, score = names.index("y"), names.index("s")
    values = [(row[label], row[score]) for row in body]
    expected = sum(1 for y, _ in values if number(y) == 1)
    assert found.n_rows == len(values), (found, values)
    assert found.n_positive == expected, (found, values)
    assert sorted(set(found.score)) == sorted({number(s) for _, s in values})
    return "counted"


def number(text: str) -> float:
    """Read a cell as the reader of files does."""
    words = {"true": 1.0, "false": 0.0, "": math.nan}
    return words[text.strip().lower()] if text.strip().lower() in words else float(text)


OPTIONS = {
    "--prevalence": ["0.3", "30%", "0.1-0.5", "2", "", "x", "0"],
    "--unlabeled-prevalence": ["0.2", "0", "1", "-1"],
    "--label-frequency": ["0.5", "0", "1.5"],
    "--label-purity": ["1", "0.9", "0", "0.8-0.9"],
    "--threshold": ["0.5", "1", "inf", "nan", "-3", "x", "99"],
    "--sampling": ["single-sample", "case-control", "none"],
    "--target": ["dataset", "population", "x"],
    "--confidence-level": ["0.9", "0", "1", "nan"],
    "--seed": ["0", "-1", "7"],
    "--unlabeled": ["0", "-1", "1", "x"],
    "--negative": ["0", "2"],
    "--require": ["precision >= 0.1", "roc_auc >= 0.5", "precision@1 >= 2", "x", "f1@x >= 1"],
    "--weight": ["w", "y", "z"],
    "--label": ["y", "s", "z", ""],
    "--score": ["s", "w", "z"],
    "--json": ["-"],
    "--markdown": ["-"],
}
FLAGS = ["--quiet"]
COMMANDS = ["evaluate", "compare", "count", "select"]  # prevalence resamples for seconds


@st.composite
def option_cases(draw: Any) -> list[str]:
    """Draw a command with some options."""
    chosen = draw(st.lists(st.sampled_from(sorted(OPTIONS)), max_size=5))
    arguments = [draw(st.sampled_from(COMMANDS)), "rows.csv"]
    if draw(st.integers(0, 4)) > 0:
        arguments += ["--label", "y", "--score", "s"]
    for option in chosen:
        arguments += [option, draw(st.sampled_from(OPTIONS[option]))]
    return arguments + draw(st.lists(st.sampled_from(FLAGS), max_size=1))


def write_rows(folder: Path) -> None:
    """Write the rows that commands read."""
    rng = np.random.default_rng(0)
    truth = rng.random(80) < 0.4
    labels, scores = truth & (rng.random(80) < 0.5), rng.normal(2.0 * truth)
    lines = [
        f"{int(y)},{s:.3f},{1 + (i % 3)}"
        for i, (y, s) in enumerate(zip(labels, scores, strict=True))
    ]
    (folder / "rows.csv").write_text("y,s,w\n" + "\n".join(lines) + "\n")


def knock_options(arguments: list[str], folder: Path) -> str:
    """Run a command; its code must be a documented one, and bad input one message."""
    out, err = io.StringIO(), io.StringIO()
    placed = [str(folder / "rows.csv") if each == "rows.csv" else each for each in arguments]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(placed)
    assert code in EXIT_CODES, (code, err.getvalue())
    if code == 2:
        assert err.getvalue().strip(), arguments
    return f"exit {code}"


SIGNS = st.sampled_from([">=", "<=", ">", "<", "=", "=>", "≥"])
METRIC_NAMES = st.sampled_from([*FACTS, "ROC AUC", "Precision", "x", "", "f1 "])
REQUIREMENTS = st.one_of(
    st.text(max_size=30),
    st.builds(
        lambda metric, at, sign, value: f"{metric}{at} {sign} {value}",
        METRIC_NAMES,
        st.sampled_from(["", "@0.5", "@", "@x", "@nan", "@1e400", " @ .5"]),
        SIGNS,
        st.sampled_from(["0.5", "45%", "1", "2", "-1", "x", "", "nan", "1e400"]),
    ),
)


def knock_requirements(text: str) -> str:
    """Read a requirement; it must be read or refused, and be readable again as it is written."""
    try:
        found = parse_requirement(text)
    except InputError:
        return "refused"
    assert parse_requirement(found.words) == found
    return "read"


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)
META = st.dictionaries(
    st.sampled_from(
        ["version", "squared_weight", "auc_error", "sampling", "source", "parts", "grid", "kind"]
    ),
    JSON,
)
COLUMNS = st.lists(
    st.tuples(st.floats() | st.integers(-3, 3).map(float), *[st.floats(-1, 9) | st.floats()] * 3),
    max_size=6,
)


@st.composite
def counts_cases(draw: Any) -> tuple[Any, Any]:
    """Draw the columns of a counts file and what it says of itself."""
    meta = draw(META)
    if draw(st.booleans()):
        meta["version"] = 1
    return draw(COLUMNS), meta


def knock_counts(case: tuple[Any, Any]) -> str:
    """Load a counts file and evaluate it."""
    import duckdb  # noqa: PLC0415 - heavy

    columns, meta = case
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "counts.parquet")
        words = json.dumps(meta).replace("'", "''")
        with duckdb.connect() as connection:
            connection.execute(
                "CREATE TABLE t(score DOUBLE, positive DOUBLE, negative DOUBLE, unlabeled DOUBLE)"
            )
            if columns:
                connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", columns)
            connection.execute(
                f"COPY t TO '{path}' (FORMAT parquet, KV_METADATA {{undercount: '{words}'}})"
            )
        try:
            counts = uc.load_counts(path)
            found = uc.evaluate(counts, unlabeled_prevalence=0.1)
        except InputError:
            return "refused"
    for row in found.rows:
        check_estimate(row.metric, row.estimate)
    return "evaluated"


VERDICTS = st.sampled_from(
    ["1", "0", "", "yes", "no", "x", "TRUE", "ja", "2", "maybe", " 1 ", "=1"]
)
EDITS = st.sampled_from(
    ["none", "shuffle", "drop", "double", "column", "semicolons", "noise", "bom"]
)


@st.composite
def review_cases(draw: Any) -> tuple[list[str], str, int]:
    """Draw verdicts, and what a spreadsheet or a hand does to the file."""
    return draw(st.lists(VERDICTS, min_size=12, max_size=12)), draw(EDITS), draw(st.integers(0, 11))


def plan_file(folder: Path) -> Path:
    """Return a review file of the rows, planned once."""
    path = folder / "plan.csv"
    if not path.exists():
        rows = [str(folder / "rows.csv"), "--label", "y", "--score", "s", "--threshold", "1"]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            assert main(["plan", *rows, "--budget", "12", "--out", str(path)]) == 0
    return path


def knock_reviews(case: tuple[list[str], str, int], folder: Path) -> str:
    """Evaluate with an answered review file that was edited; never a wrong kind of end."""
    verdicts, edit, place = case
    with plan_file(folder).open(encoding="utf-8-sig", newline="") as file:
        header, *body = csv.reader(file)
    at = header.index("verdict")
    for row, verdict in zip(body, verdicts, strict=False):
        row[at] = verdict
    place %= len(body)
    if edit == "shuffle":
        body = body[::-1]
    elif edit == "drop":
        del body[place]
    elif edit == "double":
        body.append([*body[place][:at], "0", *body[place][at + 1 :]])
    elif edit == "column":
        gone = place % len(header)
        header, body = (
            [*header[:gone], *header[gone + 1 :]],
            [[*r[:gone], *r[gone + 1 :]] for r in body],
        )
    elif edit == "noise":
        body[place] = [cell[: len(cell) // 2] for cell in body[place]]
    path = folder / "answered.csv"
    encoding = "utf-8-sig" if edit == "bom" else "utf-8"
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=";" if edit == "semicolons" else ",")
        writer.writerows([header, *body])
    rows = ["rows.csv", "--label", "y", "--score", "s", "--threshold", "1"]
    return knock_options(["evaluate", *rows, "--reviews", str(path), "--quiet"], folder)


TYPES = st.sampled_from(["float16", "float32", "float64", "int8", "bool", "complex64"])


@st.composite
def tensor_cases(draw: Any) -> tuple[list[int], list[float], str]:
    """Draw labels and scores for an array library."""
    n = draw(st.integers(0, 30))
    labels = draw(st.lists(st.sampled_from([1, 0, -1]), min_size=n, max_size=n))
    scores = (
        st.integers(-3, 3).map(float)
        | st.floats(-4, 4, width=16)
        | st.sampled_from([math.nan, math.inf])
    )
    return labels, draw(st.lists(scores, min_size=n, max_size=n)), draw(TYPES)


def knock_tensors(case: tuple[list[int], list[float], str]) -> str:
    """Count arrays of another library; the counts must be those of NumPy, or both be refused."""
    import array_api_strict as xp  # noqa: PLC0415 - of this door alone

    labels, scores, kind = case
    with np.errstate(all="ignore"):
        score = (
            np.nan_to_num(np.array(scores), posinf=9)
            if kind in ("int8", "bool")
            else np.array(scores)
        )
        score = score.astype(kind)
    y = np.array(labels, dtype=np.int8)
    ends = []
    strict = None if kind == "float16" else (xp.asarray(y), xp.asarray(score))
    for given in ((y, score), strict or (y, score)):
        try:
            ends.append(uc.ScoreCounts.from_rows(*given, unlabeled=0, compact=True))
        except InputError:
            ends.append(None)
    found, expected = ends[1], ends[0]
    assert (found is None) == (expected is None), ends
    if found is None or expected is None:
        return "refused"
    for name in ("score", "positive", "negative", "unlabeled"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    return "counted"


def knock(door: str, case: Any, folder: Path) -> str:
    """Take one case to its door; warnings of the library are no failures."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings(
            "ignore", module="undercount|hypothesis|tests", category=UserWarning
        )
        placed = {"options": knock_options, "reviews": knock_reviews}
        end = placed[door](case, folder) if door in placed else KNOCKS[door](case)
    assert time.process_time() - begin < PATIENCE, f"{door} took too long"
    return end


KNOCKS: dict[str, Any] = {
    "rows": knock_rows,
    "files": knock_files,
    "requirements": knock_requirements,
    "counts files": knock_counts,
    "tensors": knock_tensors,
}
DOORS: dict[str, st.SearchStrategy[Any]] = {
    "rows": row_cases(),
    "files": file_cases(),
    "options": option_cases(),
    "requirements": REQUIREMENTS,
    "counts files": counts_cases(),
    "reviews": review_cases(),
    "tensors": tensor_cases(),
}
