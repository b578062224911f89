"""Several scores on the same rows: standard errors of differences that use the pairing.

What a row adds to a difference is what it adds to the one estimate minus what it adds to the
other, so the variance of a difference follows from its influence like that of a single estimate,
for every way of drawing rows. What a row adds is a sum of a few functions of its place in a
model's table (`ModelRows.tables`), whatever the metric. So rows are gone through once for all
models, products of these functions are added up, and the variance of each metric's difference of
each pair is read from the products: work grows with the models, not with the pairs.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from undercount.count.kernel.rows import CellFinder
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.infer import area_gradients as areas
from undercount.infer.deployed import carried_precision, carried_rates, lift_scale
from undercount.infer.difference import PAIRED_POINTS
from undercount.infer.flagged_rows import (
    FLAGGED_ROWS_PER_BLOCK,
    Cut,
    FlagSums,
    KindScores,
    count_flags,
    weigh_flags,
)
from undercount.infer.heads import FlaggedCounts, head_spread
from undercount.infer.mixture import LABELLED, ROW_KINDS, MixtureDesign
from undercount.infer.paired_precision import (
    MIN_JACKKNIFE_LABELS,
    Jackknife,
    jackknife_error,
    jackknife_skewness,
)
from undercount.infer.skewness import SYMMETRIC, Skewness
from undercount.infer.variance import CellRows, Influence, Spread, row_weights, score_link

# Rows are looked up block by block, model after model, so that a model's tables stay in the cache.
# Products are added up for so many rows at once that these stay there themselves, and are below
# the size at which matrices are multiplied in threads.
PAIRED_ROWS_PER_CHUNK = 1 << 11
# Rows added to each of the four ways in which two models may flag a row (Agresti and Min 2005):
# with few labels none may tell the models apart, which is no proof that none would.
HALF_ROW = 0.5
# Models that differ by less than this part of their variances are looked at row by row: sums of
# products know no more digits.
LEAST_RELATIVE_VARIANCE = 1e-9
# A difference that varies less than this, over the models' own variances, is read in all cells.
SIMILAR = 0.05


@dataclass(frozen=True, eq=False)
class ModelRows:
    """Hold the rows of one model: its table, and the scores and weights of the rows of each kind.

    Parameters
    ----------
    counts : ScoreCounts
        The table; cells without a label may be merged.
    scores : KindScores
        Scores of the labelled positive, unlabeled and labelled negative rows, each in an order
        that all models share.
    design : MixtureDesign
        How the rows were drawn, what is known of the positives, what the metric is a metric of.
    cuts : sequence of Cut
        The rows that are predicted positive, in one way or several.
    weights : sequence of three arrays, optional
        Importance of the rows.
    prevalence : float, optional
        Share of positives where metrics are meant, if it is another than here.
    """

    counts: ScoreCounts
    scores: KindScores
    design: MixtureDesign
    cuts: Sequence[Cut] = ()
    weights: Sequence[FloatArray] | None = None
    prevalence: float | None = None

    @cached_property
    def kinds(self) -> list[int]:
        """The kinds of which there are rows."""
        return [kind for kind in ROW_KINDS if self.design.sizes[kind] > 0]

    @cached_property
    def cells(self) -> CellRows:
        """Each kind's distribution over the cells."""
        return areas.cell_rows(self.counts)

    @cached_property
    def heads(self) -> FloatArray:
        """How many rows of each kind are predicted positive; shape (cuts, kinds)."""
        return np.array([self._heads_of(cut) for cut in self.cuts]).reshape(-1, len(ROW_KINDS))

    def _heads_of(self, cut: Cut) -> FloatArray:
        if self.weights is not None:
            parts = zip(ROW_KINDS, self.weights, strict=True)
            return np.array([weight @ cut.flag(self.scores.part(kind)) for kind, weight in parts])
        flagged = [count_flags([cut], [self.scores], kind).flagged[0] for kind in ROW_KINDS]
        return np.array(flagged)

    @property
    def thinned(self) -> "ModelRows":
        """The same rows in the thinned table, if it is long and tells all that is asked of it."""
        cells = self.counts.thinned
        if cells is self.counts or not self.by_jackknife:
            return self
        return replace(self, counts=cells)

    @cached_property
    def by_jackknife(self) -> bool:
        """Whether the error of average precision is found by leaving rows out."""
        return self.design.pure and self.weights is None and self.prevalence is None

    @cached_property
    def left_out(self) -> Jackknife:
        """The unbiased average precision without a row of each cell."""
        return Jackknife.of(self.counts, self.design)

    @cached_property
    def precision(self) -> Influence:
        """The average precision by its influence, where rows cannot simply be left out.

        At another prevalence what a row adds as a negative stands in the place of any row's.
        """
        if self.prevalence is not None:
            carried = carried_precision(self.cells, self.design, self.prevalence)
            return Influence(0.0, carried.positive, everyone=carried.negative)
        mass = areas.recovered(self.cells, self.design.mixing)
        own = row_weights(self.counts.positive, self.counts.squared_weight[0])
        own = np.where(own > 0, own, float(self.design.units[LABELLED]))
        precisions = _average_precision(mass, self.design, own)
        design = self.design
        if design.pure or design.target != "population" or design.sampling != "case-control":
            return precisions
        # Labels drawn apart may stand above nearly every row of the target, where one row more
        # would seem to move everything; counted by pairs each is a row beside them. Half-way
        # standard errors are 1.2 times the spread (1.4 without pairs).
        value = areas.unbiased_average_precision(self.counts, design)
        pairs = areas.pairwise_precision(self.counts, design, value)
        return replace(
            precisions,
            positive=(precisions.positive + pairs.positive) / 2,
            everyone=(precisions.everyone + pairs.everyone) / 2,
            prevalence=(precisions.prevalence + pairs.prevalence) / 2,
        )

    @cached_property
    def middle_rates(self) -> list[FloatArray]:
        """Each kind's share above the middle of each cell."""
        return [np.cumsum(mass) - mass / 2 for mass in self.cells.masses[self.kinds]]

    def tables(self, kind: int) -> FloatArray:
        """Return the functions of a row of a kind, shape (functions, cells).

        The rates of each kind in the middle of the cell; then for average precision its value
        without the row, or what the row adds as a positive and as any row.
        """
        rates = self.middle_rates
        if self.by_jackknife:
            known = self.counts.n_positive >= MIN_JACKKNIFE_LABELS
            without = self.left_out.without if known else []
            found = [without[kind] if kind < len(without) else np.zeros(len(rates[0]))]
        else:
            found = [self.precision.positive, self.precision.everyone]
        return np.stack([*rates, *found])


@dataclass(frozen=True)
class Products:
    """Hold covariances of the functions of all models among the rows of one kind.

    Functions come one after the other, each of all models. `flags` are of each cut, on a scale on
    which there are `size` rows in all: Kish's effective number, if they have weights.
    """

    covariances: FloatArray
    flags: Sequence[FlagSums]
    size: float


class SharedRows:
    """Rows in the tables of several models at once."""

    def __init__(self, models: Sequence[ModelRows], *, thin: bool = True) -> None:
        self.models, self.design = models, models[0].design
        self._whole = models
        if thin:
            self.models = [model.thinned for model in models]
        self.cuts = len(models[0].cuts)
        self._products: dict[int, Products] = {}
        self._powers: dict[tuple[int, bytes], FloatArray] = {}

    @cached_property
    def functions(self) -> int:
        """The number of functions of each model."""
        return len(self.kinds) + (1 if self.models[0].by_jackknife else 2)

    @cached_property
    def kinds(self) -> list[int]:
        """The kinds of which there are rows."""
        return self.models[0].kinds

    def products(self, kind: int) -> Products:
        """Return what is added up among the rows of a kind, once."""
        if kind not in self._products:
            self._products[kind] = self._add_up(kind)
        return self._products[kind]

    @cached_property
    def means(self) -> FloatArray:
        """Means of the functions among the rows of each kind; shape (kinds, models, functions)."""
        means = np.zeros((len(ROW_KINDS), len(self.models), self.functions))
        for kind in self.kinds:
            means[kind] = [model.tables(kind) @ model.cells.masses[kind] for model in self.models]
        return means

    def _add_up(self, kind: int) -> Products:
        """Go through the rows: sums and products of functions by weight and by its square.

        Products are those of one group, rates or average precision; no metric needs others.
        """
        number, size = len(self.models), len(self.models) * self.functions
        groups = [slice(0, len(self.kinds) * number), slice(len(self.kinds) * number, size)]
        sums, products = np.zeros((2, size)), np.zeros((2, size, size))
        for chunk, weight in self._chunks(kind):
            for power in range(1 if weight is None else 2):
                heavy = chunk if weight is None else chunk * weight ** (1 + power)
                sums[power] += heavy.sum(axis=1)
                for group in groups:
                    # With all: the product of a matrix and itself is left to a slower routine.
                    products[power, group] += heavy[group] @ chunk.T
        return self._products_of(kind, sums, products)

    def _products_of(self, kind: int, sums: FloatArray, products: FloatArray) -> Products:
        """Make covariances of sums by weight and by its square, and count flagged rows."""
        scores = [model.scores for model in self.models]
        every = [[model.cuts[cut] for model in self.models] for cut in range(self.cuts)]
        weights = self.models[0].weights
        if weights is None:
            total = float(max(scores[0].size(kind), 1))
            means = sums[0] / total  # functions are centred: what rounding left
            flags = [count_flags(cuts, scores, kind) for cuts in every]
            return Products(products[0] / total - np.outer(means, means), flags, total)
        weight = weights[kind]
        totals = np.maximum([weight.sum(), weight @ weight], 1e-300)
        means = sums[0] / totals[0]
        spread = [products[p] / totals[p] - np.outer(means, means) for p in (0, 1)]
        link, size = self._link(kind), float(totals[0] ** 2 / totals[1])
        # The same of flags: how many of Kish's rows they are.
        rows = size * weight * ((1 - link) / totals[0] + link / totals[1] * weight)
        flags = [weigh_flags(cuts, scores, kind, rows) for cuts in every]
        return Products((1 - link) * spread[0] + link * spread[1], flags, size)

    def _chunks(self, kind: int) -> Iterator[tuple[FloatArray, FloatArray | None]]:
        """Yield the functions of some rows, each of all models, and the weights of the rows.

        Functions are less their means, so that squares lose nothing by rounding. The array is used
        again for the next rows.
        """
        weights = self.models[0].weights
        number, size = len(self.models), self.models[0].scores.size(kind)
        finders = [CellFinder(m.counts.score, m.scores.score, size) for m in self.models]
        tables = [
            model.tables(kind) - self.means[kind, place][:, np.newaxis]
            for place, model in enumerate(self.models)
        ]
        found = np.empty((self.functions * number, min(size, FLAGGED_ROWS_PER_BLOCK)))
        for first in range(0, size, FLAGGED_ROWS_PER_BLOCK):
            last = min(first + FLAGGED_ROWS_PER_BLOCK, size)
            for place, model in enumerate(self.models):
                cells = finders[place](model.scores.part(kind, first, last))
                for values, row in zip(tables[place], found[place::number], strict=True):
                    values.take(cells, out=row[: last - first], mode="clip")
            for start in range(0, last - first, PAIRED_ROWS_PER_CHUNK):
                part = slice(start, min(start + PAIRED_ROWS_PER_CHUNK, last - first))
                weight = None if weights is None else weights[kind][first:last][part]
                yield found[:, part], weight

    def _link(self, kind: int) -> float:
        """Return how far squares of the rows' own weights are taken in place of Kish's mean.

        Of many rows wholly; of labelled ones as far as they show that weights go with a score
        (`variance.RowWeights`), since a few heavy ones make squares uncertain.
        """
        if kind != LABELLED or self.models[0].weights is None:
            return 1.0
        weights = self.models[0].weights[kind]
        orders = (np.argsort(-model.scores.part(kind), kind="stable") for model in self.models)
        return max(score_link(weights[order]) for order in orders)

    def gap_variance(self, value: FloatArray, kind: int, one: int, other: int) -> float:
        """Return the variance of a sum of functions of a model less that of another."""
        if self.design.sizes[kind] == 0:
            return 0.0
        covariances, number = self.products(kind).covariances, len(self.models)
        spots = [slice(model, None, number) for model in (one, other)]
        own = [float(value @ covariances[spot, spot] @ value) for spot in spots]
        variance = sum(own) - 2 * float(value @ covariances[spots[0], spots[1]] @ value)
        thinned = self.models[one] is not self._whole[one]
        if thinned and variance < SIMILAR * sum(own):
            return self._in_all_cells.gap_variance(value, kind, one, other)
        if variance > LEAST_RELATIVE_VARIANCE * sum(own):
            return variance
        return self._directly(value, kind, one, other)

    @cached_property
    def _in_all_cells(self) -> "SharedRows":
        """The same in whole tables: models may be more alike than cells of thinned ones are."""
        return SharedRows(self._whole, thin=False)

    def _directly(self, value: FloatArray, kind: int, one: int, other: int) -> float:
        """Return the same row by row: exactly 0 of models that are alike."""
        mean, square, _ = self._gap_powers(value, kind)[:, one, other].tolist()
        return max(float(square - mean * mean), 0.0)

    def gap_third(self, value: FloatArray, kind: int, one: int, other: int) -> float:
        """Return the third central moment of a sum of functions of a model less that of another."""
        mean, square, cube = self._gap_powers(value, kind)[:, one, other].tolist()
        return float(cube - 3 * mean * square + 2 * mean**3)

    def _gap_powers(self, value: FloatArray, kind: int) -> FloatArray:
        """Return the means of the first three powers of the same, row by row, of every pair.

        Rows are gone through once for all pairs; shape (powers, models, models).
        """
        key = kind, value.tobytes()
        if key not in self._powers:
            self._powers[key] = self._add_powers(value, kind)
        return self._powers[key]

    def _add_powers(self, value: FloatArray, kind: int) -> FloatArray:
        number, total = len(self.models), 0.0
        powers = np.zeros((3, number, number))
        used = np.flatnonzero(value).tolist()
        for chunk, weight in self._chunks(kind):
            sums = sum(value[k] * chunk[k * number : (k + 1) * number] for k in used)
            total += chunk.shape[1] if weight is None else float(weight.sum())
            for one in range(number - 1):
                gap = sums[one] - sums[one + 1 :]
                heavy = gap if weight is None else gap * weight
                for power in range(3):
                    powers[power, one, one + 1 :] += heavy.sum(axis=1)
                    heavy = heavy * gap
        signs = np.array([-1.0, 1.0, -1.0])[:, np.newaxis, np.newaxis]
        return (powers + signs * powers.transpose(0, 2, 1)) / total


@dataclass(frozen=True)
class PairRows:
    """Rows of two models: a function is one of the first model's less the same of the second.

    Values are what the functions are multiplied by. `Spread` reads these rows like those of a
    single model.
    """

    rows: SharedRows
    one: int
    other: int
    centred = True

    def means(self, value: FloatArray) -> FloatArray:
        """Return the mean among the rows of each kind."""
        return np.asarray((self.rows.means[:, self.one] - self.rows.means[:, self.other]) @ value)

    def moments(self, value: FloatArray, weights: Any) -> tuple[float, float]:
        """Return mean and variance under a mixture; `weights` has one entry a kind."""
        means, weights = self.means(value), np.asarray(weights)
        mean, kinds = float(weights @ means), np.flatnonzero(weights)
        # Around the mean of all: nothing is lost where rows of one kind hardly vary.
        squares = [self.variance(value, int(k)) + (means[k] - mean) ** 2 for k in kinds]
        return mean, max(float(weights[kinds] @ squares), 0.0)

    def variance(self, value: FloatArray, kind: int) -> float:
        """Return the variance among the rows of a kind; 0 if there are none."""
        return self.rows.gap_variance(value, kind, self.one, self.other)


@dataclass(frozen=True)
class PairFlags:
    """Rows by what two models say at a cut: a value has what is added for a yes of each model.

    Of several metrics at once it has one column a metric.
    """

    rows: SharedRows
    one: int
    other: int
    cut: int
    centred = True

    @property
    def members(self) -> tuple[ModelRows, ModelRows]:
        """The two models."""
        return self.rows.models[self.one], self.rows.models[self.other]

    @cached_property
    def _rates(self) -> list[FloatArray]:
        """Shares that each model flags of the rows of each kind."""
        sizes = np.maximum(self.rows.design.sizes, 1e-300)
        return [member.heads[self.cut] / sizes for member in self.members]

    def means(self, value: FloatArray) -> FloatArray:
        """Return the mean among the rows of each kind."""
        one, other = self._rates
        # Not as a product of matrices, which leaves a rounding where the two are alike.
        flagged = np.multiply.outer(one, value[0]) + np.multiply.outer(other, value[1])
        return np.asarray(flagged)

    def moments(self, value: FloatArray, weights: Any) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance under a mixture; `weights` has one entry a kind."""
        means, weights = self.means(value), np.asarray(weights)
        mean, kinds = weights @ means, np.flatnonzero(weights)
        squares = [self.variance(value, int(k)) + (means[k] - mean) ** 2 for k in kinds]
        return mean, np.maximum(weights[kinds] @ np.array(squares), 0.0)

    def variance(self, value: FloatArray, kind: int) -> FloatArray:
        """Return the variance among the rows of a kind; 0 if there are none.

        From sums over the rows and, if the models flag different ones, over half a row more of
        each of the four answers: neither, only the other, only the one, both.
        """
        first, second = value
        if self.rows.design.sizes[kind] == 0:
            return np.zeros_like(first)
        one, other, both, flagged, size = self._sums[kind]
        total = first * flagged[0] + second * flagged[1]
        squares = first**2 * one + second**2 * other + 2 * first * second * both
        if self._apart:
            answers = [second, first, first + second]  # and neither, which adds nothing
            size += HALF_ROW * (1 + len(answers))
            total = total + HALF_ROW * sum(answers)
            squares = squares + HALF_ROW * sum(answer * answer for answer in answers)
        return np.asarray(np.maximum(squares / size - (total / size) ** 2, 0.0))

    @cached_property
    def _sums(self) -> dict[int, tuple[float, float, float, list[float], float]]:
        """Sums of squares and of the product of the two flags, of flags, and of rows, by kind."""
        pair, sums = [self.one, self.other], {}
        for kind in ROW_KINDS:
            if self.rows.design.sizes[kind] > 0:
                products = self.rows.products(kind)
                flags = products.flags[self.cut]
                (one, both), (_, other) = flags.both[np.ix_(pair, pair)].tolist()
                sums[kind] = one, other, both, flags.flagged[pair].tolist(), products.size
        return sums

    @cached_property
    def _apart(self) -> bool:
        """Whether the models flag different rows."""
        one, other = (member.heads[self.cut] for member in self.members)
        if np.any(one != other):
            return True
        sums = self._sums.values()
        return any(
            a + b - 2 * both > LEAST_RELATIVE_VARIANCE * size for a, b, both, _, size in sums
        )


class ModelPairs:
    """Models on the same rows, and the standard errors of their differences.

    Notes
    -----
    Assumes: rows are independent, and labelled rows a random sample of the positives (and, at
    1 - purity, negatives).
    Wrong when: so few rows decide that the metric is not straight within its error.
    """

    def __init__(
        self,
        models: Sequence[ModelRows],
        rows: SharedRows | None = None,
        design: MixtureDesign | None = None,
    ) -> None:
        self.rows = SharedRows(models) if rows is None else rows
        self.models, self.design = self.rows.models, design or models[0].design
        self.prevalence = models[0].prevalence
        # Of each model and cut: every pair that the model is in asks for it.
        self._influences: dict[tuple[int, int], Influence] = {}
        self._errors: dict[tuple[int, int, int], dict[str, float]] = {}
        self.flags: dict[tuple[int, int, int], PairFlags] = {}

    def at(self, share: float) -> "ModelPairs":
        """Return the same rows at another share of positives among the unlabeled ones."""
        design = replace(self.design, given="unlabeled_prevalence", value=share)
        moved = ModelPairs(self.models, self.rows, design)
        moved.flags = self.flags
        return moved

    def area_error(self, metric: str, one: int, other: int) -> float:
        """Return the standard error of the difference in an area.

        Average precision of pure labels is compared by its unbiased estimate, whose error is that
        of the jackknife; the other areas by their influences.
        """
        pair = PairRows(self.rows, one, other)
        if metric == "average_precision":
            return self._precision_error(pair)
        if self.prevalence is not None:
            scale, metric = lift_scale(metric, self.prevalence)[1], "roc_auc"
            return scale * self._ranked_error(metric, pair)
        return self._ranked_error(metric, pair)

    def _ranked_error(self, metric: str, pair: PairRows) -> float:
        """Return the standard error of the difference in an area of ranks."""
        mixing, none = self.design.mixing, np.zeros(self.rows.functions)
        parts = {"positive": none, "negative": none, "everyone": none}
        against = {"roc_auc": "negative", "lift_auc": "everyone"}[metric]
        # P(positive above another row): one more positive adds the others below it, one more of
        # the others the positives above it.
        for part, rates, sign in (
            ("positive", getattr(mixing, against), -1),
            (against, mixing.positive, 1),
        ):
            kinds = self.rows.kinds
            parts[part] = np.append(sign * np.asarray(rates)[kinds], none[len(kinds) :])
        return math.sqrt(float(Spread(self.design, pair, Influence(0.0, **parts)).variance))

    def _precision_error(self, pair: PairRows) -> float:
        members, last = (
            [self.models[k] for k in (pair.one, pair.other)],
            np.zeros(self.rows.functions),
        )
        if not members[0].by_jackknife:
            positive, everyone = last.copy(), last.copy()
            positive[-2], everyone[-1] = 1.0, 1.0
            if self.prevalence is not None:
                gap = Influence(0.0, positive, everyone, last)
                return math.sqrt(float(Spread(self.design, pair, gap).variance))
            slope = members[0].precision.prevalence - members[1].precision.prevalence
            gap = Influence(0.0, positive, last, everyone, slope)
            return math.sqrt(float(Spread(self.design, pair, gap).variance))
        if self.design.sizes[LABELLED] < MIN_JACKKNIFE_LABELS:
            return math.nan
        return jackknife_error(self.design, *self._left_out(pair))

    def precision_skewness(self, one: int, other: int, error: float) -> Skewness:
        """Return how skewed the difference in average precision is, given its standard error."""
        if not self.models[one].by_jackknife or not error**3 > 0:
            return SYMMETRIC
        third = self.rows.gap_third(self._last, LABELLED, one, other)
        return Skewness(*(moment / error**3 for moment in jackknife_skewness(self.design, third)))

    @property
    def _last(self) -> FloatArray:
        """The last function alone: the average precision without a row."""
        return np.asarray(np.eye(self.rows.functions)[-1])

    def _left_out(self, pair: PairRows) -> tuple[FloatArray, FloatArray, float]:
        """Return mean and variance of the difference without a row of each kind; with all rows."""
        kinds = ROW_KINDS[:1] if self.design.target == "dataset" else ROW_KINDS
        variances = np.array([pair.variance(self._last, kind) for kind in kinds])
        one, other = (self.models[k].left_out.whole for k in (pair.one, pair.other))
        return pair.means(self._last), variances, one - other

    def flag_error(self, metric: str, one: int, other: int, cut: int = 0) -> float:
        """Return the standard error of the difference in a metric of the rows that are flagged."""
        if (one, other, cut) not in self._errors:
            self._errors[one, other, cut] = self._flag_errors(one, other, cut)
        return self._errors[one, other, cut][metric]

    def _flag_errors(self, one: int, other: int, cut: int) -> dict[str, float]:
        """Return the standard errors in every metric of the rows that are flagged, together."""
        if (one, other, cut) not in self.flags:
            self.flags[one, other, cut] = PairFlags(self.rows, one, other, cut)
        found = [self._known_influence(model, cut) for model in (one, other)]
        parts = {
            name: np.array(np.broadcast_arrays(*(getattr(each, name) for each in found)))
            * np.array([[1.0], [-1.0]])
            for name in ("positive", "negative", "everyone")
        }
        slope = found[0].prevalence - found[1].prevalence
        gap = Influence(0.0, **parts, prevalence=slope)
        variance = Spread(self.design, self.flags[one, other, cut], gap).variance
        return dict(zip(PAIRED_POINTS, np.sqrt(variance).tolist(), strict=True))

    def _known_influence(self, model: int, cut: int) -> Influence:
        if (model, cut) not in self._influences:
            heads = FlaggedCounts(self.models[model].heads[cut], self.design)
            self._influences[model, cut] = self._flag_influence(heads, self.models[model].cuts[cut])
        return self._influences[model, cut]

    def _flag_influence(self, heads: FlaggedCounts, cut: Cut) -> Influence:
        """Return what a flagged row adds; with as many rows flagged as there may be, others leave.

        If the flagged share r is fixed, one more row above the cut moves the cut up past others,
        of which a share of positives and negatives goes that is their density there over that of
        all rows.
        """
        if self.prevalence is not None:
            influence, none = (
                carried_rates(heads, PAIRED_POINTS, self.prevalence),
                np.zeros(len(PAIRED_POINTS)),
            )
            return replace(influence, everyone=none, prevalence=none)
        influence, densities = head_spread(heads, PAIRED_POINTS).influence, cut.densities
        if densities is None:
            return replace(influence, everyone=np.zeros(len(PAIRED_POINTS)))
        mixing = self.design.mixing
        lost = influence.positive * (mixing.positive @ densities)
        lost += influence.negative * (mixing.negative @ densities)
        return replace(influence, everyone=-lost)


def _average_precision(mass: areas.Recovered, design: MixtureDesign, own: FloatArray) -> Influence:
    """Return what one labelled row more adds, its own place above itself counting once.

    Average precision sums products of two rows, so its derivative counts that place twice: with
    200 labels standard errors would be a quarter too large. If the row is one more row of the
    target as well, it takes about as much off again. `own` is the weight of a labelled row.
    """
    mixing, flagged = design.mixing, np.cumsum(mass.everyone)
    precisions = areas.average_precision(mass)
    if design.target == "population" and design.sampling == "single-sample":
        return precisions
    own = own * mixing.prevalence * mixing.positive[LABELLED] / design.sizes[LABELLED]
    own = np.divide(own, flagged, out=np.zeros_like(flagged), where=flagged > 0)
    return replace(precisions, positive=precisions.positive - own)
