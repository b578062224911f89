"""Machines that take random steps, each of which must leave what a plain list of rows says.

Single cases at the doors never ask what a third step does to the result of two others. A machine
keeps the rows themselves beside the tables, reviews and files that were made of them, and compares
after every step.
"""

import contextlib
import io
import json
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)
from tests.fuzz.doors.rows import check_estimate

import undercount as uc
from undercount.cli.main import main
from undercount.count import counts_file
from undercount.errors import InputError

COLUMNS = ("score", "positive", "negative", "unlabeled")
KINDS = {1: 1.0, 0: 0.0, -1: np.nan}
# Row by row: label, score, segment.
ROWS = st.lists(
    st.tuples(st.sampled_from([1, -1, -1, 0]), st.integers(-4, 4), st.sampled_from("ab")),
    min_size=1,
    max_size=12,
)
Rows = list[tuple[int, int, str]]


def count(rows: Rows, **options: Any) -> uc.ScoreCounts:
    """Count rows at once, which is what every way of counting must come to."""
    labels = [KINDS[label] for label, _, _ in rows]
    return uc.ScoreCounts.from_rows(labels, [score / 2 for _, score, _ in rows], **options)


def assert_same(found: uc.ScoreCounts, rows: Rows) -> None:
    """Assert that a table is that of the rows, none lost and none twice."""
    expected = count(rows)
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    assert found.squared_weight == expected.squared_weight


class CountsMachine(RuleBasedStateMachine):
    """Count, add, keep, merge and compact tables in any order."""

    tables = Bundle("tables")
    compact = Bundle("compact")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.number = 0

    def teardown(self) -> None:
        """Remove the files."""
        shutil.rmtree(self.folder)

    def _new_file(self) -> Path:
        self.number += 1
        return self.folder / f"{self.number}.parquet"

    @rule(target=tables, rows=ROWS)
    def count_rows(self, rows: Rows) -> Any:
        """Count some rows."""
        return count(rows), rows

    @rule(target=tables, rows=ROWS)
    def count_segments(self, rows: Rows) -> Any:
        """Count some rows by segment, and add the segments."""
        import polars as pl  # noqa: PLC0415 - of this rule

        labels = [None if label == -1 else label for label, _, _ in rows]
        scores, segments = [score / 2 for _, score, _ in rows], [each for _, _, each in rows]
        frame = pl.DataFrame({"y": labels, "s": scores, "g": segments}, schema_overrides={"y": int})
        parts = uc.count_scores(frame, label="y", score="s", by="g", compact=False)
        return sum(parts.values()), rows

    @rule(target=tables, one=tables, other=tables)
    def add(self, one: Any, other: Any) -> Any:
        """Add two tables, perhaps the same one."""
        return one[0] + other[0], [*one[1], *other[1]]

    @rule(target=tables, table=tables)
    def keep(self, table: Any) -> Any:
        """Write a table to a file and load it."""
        path = self._new_file()
        uc.write_counts(table[0], path)
        return uc.load_counts(path), table[1]

    @rule(target=tables, one=tables, other=tables)
    def merge(self, one: Any, other: Any) -> Any:
        """Add two tables by their files."""
        paths = [self._new_file(), self._new_file()]
        for path, table in zip(paths, (one, other), strict=True):
            uc.write_counts(table[0], path)
        return uc.merge_counts(paths), [*one[1], *other[1]]

    @rule(target=compact, rows=ROWS)
    def count_compactly(self, rows: Rows) -> Any:
        """Count some rows, merging scores without a label, but keeping the threshold 0."""
        return count(rows, compact=True, knots=[0.0]), rows

    @rule(target=compact, one=consumes(compact), other=compact)
    def add_compact(self, one: Any, other: Any) -> Any:
        """Add two compact tables, unless a label of one lies in a merged cell of the other."""
        try:
            return one[0] + other[0], [*one[1], *other[1]]
        except InputError:
            return multiple()

    @rule(table=tables)
    def compare(self, table: Any) -> None:
        """A table is that of its rows."""
        assert_same(*table)

    @rule(table=tables, n_bins=st.integers(1, 5))
    def coarsen(self, table: Any, n_bins: int) -> None:
        """A coarser table has the same rows, and an AUC as near as it says."""
        coarse, fine = table[0].coarsened(n_bins), table[0]
        assert coarse.n_rows == fine.n_rows
        assert len(coarse.score) <= n_bins
        if fine.n_positive and fine.n_unlabeled:
            gap = coarse.auc("positive", "unlabeled") - fine.auc("positive", "unlabeled")
            assert abs(gap) <= coarse.auc_error + 1e-12

    @rule(table=compact)
    def compare_compact(self, table: Any) -> None:
        """A compact table has the same heads and the same area."""
        found, rows = table
        expected = count(rows)
        assert found.n_rows == expected.n_rows
        assert found.heads_at(0.0) == expected.heads_at(0.0)
        if expected.n_positive and expected.n_unlabeled:
            gap = found.auc("positive", "unlabeled") - expected.auc("positive", "unlabeled")
            assert abs(gap) <= found.auc_error + 1e-12

    @rule(table=tables, share=st.sampled_from([0.0, 0.2, 0.6]))
    def evaluate(self, table: Any, share: float) -> None:
        """A table is evaluated as its rows are."""
        counts, rows = table
        ends = []
        for given in ((counts,), ([KINDS[y] for y, _, _ in rows], [s / 2 for _, s, _ in rows])):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    asked = {"unlabeled_prevalence": share, "metrics": ["recall@0", "roc_auc"]}
                    ends.append(uc.evaluate(*given, **asked).metrics())
            except InputError as error:
                ends.append({type(error).__name__: 0.0})
        found, expected = ends
        assert found.keys() == expected.keys()
        np.testing.assert_allclose(list(found.values()), list(expected.values()), atol=1e-9)


class ReviewsMachine(RuleBasedStateMachine):
    """Plan, answer some, evaluate, plan the next round: after any of these steps."""

    @initialize(seed=st.integers(0, 5), weighted=st.booleans())
    def make_rows(self, seed: int, weighted: bool) -> None:
        """Make rows whose truth is known."""
        rng = np.random.default_rng(seed)
        self.truth = rng.random(60) < 0.4
        self.y = (self.truth & (rng.random(60) < 0.5)).astype(int)
        self.y[:2] = 1, 0
        self.truth[0] = True
        self.score = np.round(rng.normal(2.0 * self.truth), 1)
        weight = rng.exponential(size=60) if weighted else None
        self.options: dict[str, Any] = {"unlabeled": 0, "threshold": 1.0, "sample_weight": weight}
        self.plan: uc.ReviewPlan | None = None
        self.reviews: uc.Reviews | None = None
        self.verdicts: dict[int, bool] = {}

    @precondition(lambda self: self.plan is None)
    @rule(budget=st.integers(1, 30))
    def begin(self, budget: int) -> None:
        """Plan the first round."""
        self.plan = uc.plan_reviews(
            self.y, self.score, budget=budget, unlabeled_prevalence=0.3, **self.options
        )

    @precondition(lambda self: self.reviews is not None and self.verdicts)
    @rule(budget=st.integers(1, 30))
    def go_on(self, budget: int) -> None:
        """Plan another round, of rows that have no verdict yet."""
        earlier = self.reviews
        try:
            self.plan = uc.plan_reviews(
                self.y, self.score, budget=budget, reviews=earlier, **self.options
            )
        except InputError:  # nothing is left to look at
            assert len(self.verdicts) == np.count_nonzero(self.y == 0)
            return
        assert not set(self.plan.rows.tolist()) & set(self.verdicts)

    @precondition(lambda self: self.plan is not None)
    @rule(skip=st.integers(1, 4))
    def answer(self, skip: int) -> None:
        """Answer every so manieth row of the plan, beside those that have been."""
        assert self.plan is not None
        rows = self.plan.rows
        assert not self.y[rows].any(), "a labelled row is planned"
        assert len(set(rows.tolist())) == len(rows)
        self.verdicts |= {int(row): bool(self.truth[row]) for row in rows[::skip]}
        self.reviews = self.plan.answered([self.verdicts.get(int(row), np.nan) for row in rows])

    @invariant()
    def keep_every_verdict(self) -> None:
        """No verdict is lost, and none is there twice."""
        if getattr(self, "reviews", None) is None:
            return
        assert self.reviews is not None
        known = self.reviews.answered
        assert self.reviews.rows is not None
        found = zip(self.reviews.rows[known].tolist(), self.reviews.verdict[known], strict=True)
        assert {row: bool(each) for row, each in found} == self.verdicts
        assert self.reviews.n_answered == len(self.verdicts)

    @precondition(lambda self: getattr(self, "reviews", None) is not None)
    @rule(labels=st.sampled_from(["any", "any", "random"]), sequential=st.booleans())
    def evaluate(self, labels: str, sequential: bool) -> None:
        """Evaluate what is known so far; where all is known the truth is found."""
        assume = uc.Reviewed(self.reviews, labels=labels, sequential=sequential)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                found = uc.evaluate(self.y, self.score, assume=assume, **self.options)
        except InputError:
            return
        for row in found.rows:
            check_estimate(row.metric, row.estimate)
        if labels == "any" and len(self.verdicts) == np.count_nonzero(self.y == 0):
            weight = self.options["sample_weight"]
            weight = np.ones(60) if weight is None else weight
            flagged = self.score >= 1.0
            true = weight[flagged & self.truth].sum() / weight[flagged].sum()
            assert abs(found["precision"].value - true) < 1e-9


class FilesMachine(RuleBasedStateMachine):
    """Count files, merge them, be stopped, and evaluate: by commands alone."""

    files = Bundle("files")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.number = 0

    def teardown(self) -> None:
        """Remove the files; nothing half-written may be among them."""
        left = [path.name for path in self.folder.iterdir() if path.suffix == ".tmp"]
        shutil.rmtree(self.folder)
        assert not left, left

    def _run(self, *arguments: object) -> tuple[int, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([str(each) for each in arguments])
        assert code in (0, 2), err.getvalue()
        return code, out.getvalue() + err.getvalue()

    def _new_file(self, kind: str) -> Path:
        self.number += 1
        return self.folder / f"{self.number}.{kind}"

    @rule(target=files, rows=ROWS)
    def count_file(self, rows: Rows) -> Any:
        """Write rows to a file, and count it."""
        path, counts = self._new_file("csv"), self._new_file("parquet")
        # Without a label, or without a missing one, the command would ask what is meant.
        rows = [*rows, (-1, 0, "a"), (1, 0, "b")]
        lines = [f"{'' if y == -1 else y},{s / 2},{g}" for y, s, g in rows]
        path.write_text("y,s,g\n" + "\n".join(lines) + "\n")
        code, said = self._run("count", path, "--label", "y", "--score", "s", "--output", counts)
        assert code == 0, said
        return counts, rows, [path]

    @rule(target=files, one=files, other=files, stopped=st.integers(0, 2), broken=st.booleans())
    def merge(self, one: Any, other: Any, stopped: int, broken: bool) -> Any:
        """Merge two files, perhaps stopped before one of them; rows twice are refused."""
        output = self._new_file("parquet")
        notes = Path(f"{output}.unfinished")
        if stopped:
            self._stop_merging(one[0], other[0], output, stopped)
        if broken and notes.exists():
            notes.write_bytes(notes.read_bytes()[:40])
        code, said = self._run("merge", one[0], other[0], "--output", output)
        if set(one[2]) & set(other[2]):
            assert code == 2, said
            assert not output.exists()
            return one
        assert code == 0, said
        assert not notes.exists()
        return output, [*one[1], *other[1]], [*one[2], *other[2]]

    def _stop_merging(self, one: Path, other: Path, output: Path, stopped: int) -> None:
        """Stop a merge before its first or second file, what is done being noted at once."""
        opened = 0
        really_open = counts_file.open_counts

        def open_some(*arguments: Any) -> Any:
            nonlocal opened
            opened += 1
            if opened == stopped:
                raise KeyboardInterrupt
            return really_open(*arguments)

        with (
            mock.patch.object(counts_file, "NOTE_EVERY", -1.0),
            mock.patch.object(counts_file, "open_counts", open_some),
            contextlib.suppress(KeyboardInterrupt),
        ):
            counts_file.merge_counts([one, other], output)
        assert not output.exists()

    @rule(file=files)
    def compare(self, file: Any) -> None:
        """A file holds the counts of its rows."""
        assert_same(uc.load_counts(file[0]), file[1])

    @rule(file=files)
    def evaluate(self, file: Any) -> None:
        """A counts file is evaluated as its rows are."""
        asked = ["--unlabeled-prevalence", "0.2", "--threshold", "0", "--json", "-"]
        code, said = self._run("evaluate", file[0], *asked)
        labels = [KINDS[label] for label, _, _ in file[1]]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                expected = uc.evaluate(
                    labels,
                    [score / 2 for _, score, _ in file[1]],
                    unlabeled_prevalence=0.2,
                    threshold=0.0,
                )
        except InputError:
            assert code == 2, said
            return
        assert code == 0, said
        document = json.loads(said[said.index("{") : said.rindex("}") + 1])
        found = {row["metric"]: row["estimate"] for row in document["models"][0]["metrics"]}
        for row in expected.rows:
            value = row.estimate.value
            if np.isnan(value):
                assert found[row.metric] is None
            else:
                assert abs(found[row.metric] - value) < 1e-9


MACHINES = (CountsMachine, ReviewsMachine, FilesMachine)
