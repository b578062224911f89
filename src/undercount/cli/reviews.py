"""Plans of the rows of files, and the verdicts that come back.

This imports DuckDB, so that commands import it only when they run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from undercount.assume.builder import assumption_of
from undercount.cli.arguments import Options
from undercount.cli.inputs import (
    EITHER,
    RECODE,
    ModelColumns,
    RowsRead,
    check_sources_alone,
    find_rows,
    infer_coding,
    join_sources,
    names_database,
    open_rows,
    require_data,
    require_rows_not_counts,
    source_words,
    unlabeled_value,
    word_of,
)
from undercount.cli.options import thresholds_of
from undercount.count.arrays import row_words
from undercount.count.draw import with_position
from undercount.count.files import raise_text_column, relation_of
from undercount.count.frames import count_scores
from undercount.count.knots import knots_at
from undercount.count.review_file import ReviewSheet, read_review_files
from undercount.count.sources import Source, open_source
from undercount.counts import ScoreCounts
from undercount.errors import InputError
from undercount.infer.heads import threshold_of_top
from undercount.infer.metric_name import short_number, top_words
from undercount.infer.reviews.sheet import check_same_rows, sheet_reviews
from undercount.infer.reviews.verdicts import Reviews
from undercount.read.evaluation import Evaluation
from undercount.read.plan.plan_reviews import PlanRequest, make_plan
from undercount.read.plan.review_plan import ReviewPlan
from undercount.read.plan.row_source import RowsInEngine
from undercount.show.text import before_words


def plan_files(data: Sequence[str], options: Options) -> tuple[ReviewPlan, list[str]]:
    """Plan reviews of the rows of files or a table, and tell what was read."""
    in_database = names_database(tuple(data), options)
    if not in_database:
        require_data(tuple(data))
    label, scores = options["label"], list(dict.fromkeys(options["scores"]))
    require_rows_not_counts(data, ", which has no rows to look at; name the file of rows")
    if label is None or not scores:
        raise InputError("name the columns: --label COLUMN --score COLUMN")
    if in_database and options["reviews"]:
        raise InputError(
            "a further round needs the rows in a file: those of a database are in no order by "
            "which the reviewed ones could be left out"
        )
    keep = _kept_columns(options)
    # Whose each row is stands beside it; rows are drawn one by one all the same.
    keep += [name for name in (options["cluster"],) if name and name not in keep]
    check_sources_alone({**options, "cluster": None}, in_database=in_database)
    if in_database:
        return _plan_table(label, scores, keep, options)
    word = word_of(label, options.get("positive_label"))
    labels = [name for name in (label, options.get("second_label")) if name]
    with open_source(data, [*dict.fromkeys([*labels, *scores, *keep])], word) as source:
        try:
            return _plan_source(source, labels, scores, keep, options)
        except duckdb.ConversionException as error:
            raise_text_column(source, [*labels, *scores], error, {label: RECODE})


def _kept_columns(options: Options) -> list[str]:
    """Return the columns that reviewers shall see: those named, or else those of the last round."""
    if options["keep"] is not None:
        return [name.strip() for name in options["keep"].split(",") if name.strip()]
    verdicts = read_verdicts(options["reviews"])
    return [] if verdicts is None else list(verdicts.sheet.design.get("keep", ()))


def _plan_source(
    source: Source, labels: list[str], scores: list[str], keep: list[str], options: Options
) -> tuple[ReviewPlan, list[str]]:
    numbers = list(dict.fromkeys([*labels, *scores]))
    relation, everything = (relation_of(source, numbers, others) for others in ([], keep))
    label, note = labels[0], ""
    if len(labels) > 1:  # labelled by either, as `evaluate` reads them
        relation, counts = join_sources(relation, scores, *labels)
        everything, _ = join_sources(everything, scores, *labels)
        label, note = EITHER, source_words(counts)
    rows = find_rows(source, relation, label, scores)
    plan, notes = _plan(
        rows, with_position(everything, options["seed"]), label, scores, keep, options
    )
    return plan, [notes[0], note, *notes[2:]] if note else notes


def _plan_table(
    label: str, scores: list[str], keep: list[str], options: Options
) -> tuple[ReviewPlan, list[str]]:
    """Plan reviews of the rows of a database; the rows to look at alone come here."""
    with open_rows(options, label, scores, keep) as rows:
        return _plan(rows, rows.scored, label, scores, keep, options)


def _plan(
    rows: RowsRead,
    everything: Any,
    label: str,
    scores: list[str],
    keep: list[str],
    options: Options,
) -> tuple[ReviewPlan, list[str]]:
    """Count the rows that have a score, choose strata, and draw among all."""
    coding, note = infer_coding(
        rows.labels, unlabeled_value(options), options["negative"], options.get("positive_label")
    )
    columns: dict[str, Any] = {"label": label, "unlabeled": coding}
    verdicts, notes = read_verdicts(options["reviews"]), [rows.words, note]
    thresholds = _thresholds(rows, scores, columns, options, notes)
    source = RowsInEngine(rows.scored, label, scores, thresholds, coding, keep, everything)
    if verdicts is None:
        goal: tuple[str, ...] | None = options["goals"]
        prevalence, hidden = options["prevalence"], options["unlabeled_prevalence"]
        assumption = assumption_of(prevalence=prevalence, unlabeled_prevalence=hidden)
    else:
        counts = source.count(0, verdicts.reviews, coarse=False).counts
        verdicts.check_further({scores[0]: counts}, thresholds[0])
        goal, assumption = options["new_goals"], assumption_of(reviews=verdicts.reviews)
    half_width, seed = options["half_width"] or 0.0, options["seed"]
    level = options["confidence_level"]
    request = PlanRequest(options["budget"], goal, half_width, seed, level)
    made = make_plan(source, assumption, request)
    sheet = None if verdicts is None else verdicts.sheet
    return replace(made, earlier_sheet=sheet, columns={**columns, "keep": list(keep)}), notes


def _thresholds(
    rows: RowsRead, scores: list[str], columns: dict[str, Any], options: Options, notes: list[str]
) -> tuple[float | None, float | None]:
    """Return the first and the second model's threshold; those of the highest rows are told."""
    top = options["top"]
    if top is None:
        given = thresholds_of(options["thresholds"], scores)
        places = given if isinstance(given, dict) else dict.fromkeys(scores, given)
    elif options["thresholds"]:
        raise InputError("give either a --threshold or --top")
    else:
        places = {}
        for score in scores[:2]:
            counts = count_scores(rows.scored, score=score, **columns)
            places[score], number = threshold_of_top(counts, top)
            notes.append(
                f"{row_words(number)} of {score} have a score of at least "
                f"{short_number(places[score])}, the threshold of --top {top_words(top)}"
            )
    return places[scores[0]], places[scores[:2][-1]]


@dataclass(frozen=True)
class Verdicts:
    """Hold what people answered, and which rows that was about."""

    sheet: ReviewSheet
    reviews: Reviews

    @property
    def knots(self) -> list[float]:
        """Return the borders of strata, and what keeps reviewed rows apart from others."""
        threshold = self.reviews.design.threshold
        return [*map(float, self.reviews.knots), *knots_at(threshold)]

    def check(self, counts: Mapping[str, ScoreCounts]) -> None:
        """Refuse verdicts on other rows than those that were counted, or on another score."""
        planned, *others = self.sheet.scores
        if list(counts) != [planned]:
            both = len(counts) > 1 and planned in counts
            instead = "compare them" if both else f"plan reviews of {', '.join(map(repr, counts))}"
            raise InputError(
                f"the reviews were planned by the score {planned!r}; pass --score {planned}, or "
                f"{instead}"
            )
        try:
            check_same_rows(self.sheet.design, counts[planned])
        except InputError as error:
            if not others:
                raise
            names = " and ".join(map(repr, self.sheet.scores))
            raise InputError(
                f"{error.template}. The plan took the rows that have {names}: if some have but "
                "one, compare both with the reviews",
                argument="reviews",
            ) from None

    def check_further(self, counts: Mapping[str, ScoreCounts], threshold: float | None) -> None:
        """Refuse a further round of other rows, or at another threshold."""
        self.check(counts)
        planned = self.reviews.design
        if threshold is not None and threshold != planned.threshold:
            at = planned.threshold
            own = (
                "its lack of a --threshold" if at is None else f"its --threshold {short_number(at)}"
            )
            raise InputError(
                f"the strata of a plan stay, and with them {own}; got "
                f"{short_number(threshold)}. Plan anew for another one"
            )
        if not (self.sheet.row > 0).all():
            raise InputError("the reviews do not say which rows were reviewed; plan from a file")

    def check_models(self, scores: Sequence[str], *, in_table: bool, cluster: str | None) -> None:
        """Refuse, before any row is read, models whose rows the reviews could not be found in."""
        planned = next(iter(self.sheet.scores))
        if planned not in scores:
            raise InputError(
                f"the reviews were planned by the score {planned!r}; compare it too: --score "
                f"{planned}"
            )
        if not in_table:
            return
        lacking = [name for name in scores if name not in self.sheet.scores]
        if lacking:
            every = " ".join(f"--score {name}" for name in dict.fromkeys([planned, *scores]))
            raise InputError(
                "reviewed rows of a table are found by their scores, and the reviews lack "
                f"{', '.join(map(repr, lacking))}; plan with {every}, or compare a file"
            )
        if cluster:
            raise InputError(
                "--cluster with reviews needs the rows in a file: those of a table are in no order"
            )

    def in_memory(self, rows: ModelColumns) -> Reviews:
        """Return the verdicts on rows in memory, of which those without a score were dropped."""
        planned = next(iter(self.sheet.scores))
        counts = ScoreCounts.from_rows(rows.labels, rows.scores[planned])
        check_same_rows(self.sheet.design, counts)
        if rows.place is None:
            return replace(self.reviews, rows=self._find(rows))
        return self.at_places(rows.place)

    def _find(self, rows: ModelColumns) -> NDArray[np.intp]:
        """Return an unlabeled row with the scores of each case: any of equal ones will do."""
        names = list(rows.scores)
        cases = np.stack([self.sheet.scores[name] for name in names], axis=1)
        likely = np.isnan(rows.labels) & np.isin(rows.scores[names[0]], cases[:, 0])
        alike: dict[tuple[float, ...], list[int]] = {}
        for place in np.flatnonzero(likely).tolist():
            own = tuple(float(rows.scores[name][place]) for name in names)
            alike.setdefault(own, []).append(place)
        try:
            rows_of_cases = [alike[tuple(case)].pop() for case in cases.tolist()]
        except (KeyError, IndexError):
            raise InputError(
                "a reviewed row has scores that no unlabeled row of the table has: the plan was "
                "made for other data or another model",
                argument="reviews",
            ) from None
        return np.array(rows_of_cases, dtype=np.intp)

    def at_places(self, place: NDArray[np.intp] | None) -> Reviews:
        """Return the verdicts on rows in memory, which stood at these places of their file."""
        if place is None or not (self.sheet.row > 0).all():
            raise InputError(
                "comparing models and --cluster need to know which rows were reviewed; plan from "
                "a file"
            )
        places = np.searchsorted(place, self.sheet.row - 1)
        return replace(self.reviews, rows=places.astype(np.intp))

    def notes(self, before: Sequence[Evaluation], after: Sequence[Evaluation]) -> list[str]:
        """Say how many cases were answered, and what that has changed."""
        n_positive = int(np.nansum(self.sheet.verdict))
        answered = f"{self.sheet.n_answered} of {len(self.sheet.case)} cases reviewed"
        changed = [before_words(*pair) for pair in zip(before, after, strict=False)]
        return [
            f"{answered}, {n_positive} positive",
            *(f"reviews: {words}" for words in changed if words),
        ]


def read_verdicts(paths: Sequence[str]) -> Verdicts | None:
    """Read the review files that an option names; none if it names none."""
    if not paths:
        return None
    sheet = read_review_files(list(paths))
    if not sheet.n_answered:
        raise InputError(f"no case of {', '.join(paths)} has a verdict yet")
    return Verdicts(sheet, sheet_reviews(sheet))
