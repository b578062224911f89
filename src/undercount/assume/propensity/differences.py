"""Differences of models whose labels were given with chances of their own, row by row."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace

from undercount.assume.propensity.chances import Chances
from undercount.assume.propensity.deployed import ChancesDeployment
from undercount.curve import FloatArray
from undercount.estimate import Estimate
from undercount.infer.deployed import cell_values, lift_scale
from undercount.infer.difference import (
    POINTS,
    TARGET_OF,
    Chance,
    Difference,
    Question,
    better_chance,
    possible_ends,
)


def chance_differences(
    models: Mapping[str, Chances],
    metric: str,
    thresholds: Mapping[str, float],
    question: Question,
) -> list[Difference]:
    """Return the difference of each pair of models in one metric.

    What a row adds to the one model less what it adds to the other, squared and added up, is the
    variance of the difference. No prevalence is supposed, so that none turns the order.

    Parameters
    ----------
    models : mapping
        Name of each model → its rows with their chances of a label.
    metric : str
    thresholds : mapping
        Name of each model → its threshold, for metrics at one.
    question : {"population", "rows"}

    Notes
    -----
    Assumes: the chances are right, for every model alike.
    Wrong when: one of the models decided who was looked at, beyond what the chances say.
    """
    asked = {name: replace(each, target=TARGET_OF[question]) for name, each in models.items()}
    places = {name: thresholds[name] if metric in POINTS else None for name in models}
    values = {name: each.estimate(metric, places[name]).value for name, each in asked.items()}
    moves = {
        name: (each.influence(metric, places[name]), each.label_adds(metric, places[name]))
        for name, each in asked.items()
    }
    return paired_by_row(metric, values, moves, asked, question)


def deployed_chance_differences(
    models: Mapping[str, Chances],
    metric: str,
    thresholds: Mapping[str, float],
    prevalence: float,
) -> list[Difference]:
    """Return the same where another share of rows is positive."""
    values, moves, drawn = {}, {}, {}
    for name, chances in models.items():
        at = thresholds[name] if metric in POINTS else None
        there = ChancesDeployment.of(chances, prevalence, at)
        counts, of_cells = there.counts, cell_values(there.counts, at)
        found = there.moves(there.chances.design(counts), metric, at)
        scale, about = lift_scale(metric, prevalence)[1], (counts, found, of_cells)
        rows, adds = there.chances.influence_of(*about), there.chances.label_adds_of(*about)
        values[name] = there.estimate(metric, at).value
        moves[name] = scale * rows, scale * adds
        drawn[name] = there.chances
    return paired_by_row(metric, values, moves, drawn, "population")


def top_differences(
    models: Mapping[str, Chances], metric: str, size: float, question: Question
) -> list[Difference]:
    """Return the same of so many rows of each model's highest scores."""
    asked = {name: replace(each, target=TARGET_OF[question]) for name, each in models.items()}
    values = {name: each.estimate(metric, top=size).value for name, each in asked.items()}
    moves = {
        name: (each.top_influence(metric, size), each.top_adds(metric, size))
        for name, each in asked.items()
    }
    return paired_by_row(metric, values, moves, asked, question)


def paired_by_row(
    metric: str,
    values: Mapping[str, float],
    moves: Mapping[str, tuple[FloatArray, FloatArray]],
    models: Mapping[str, Chances],
    question: Question,
) -> list[Difference]:
    """Return the difference of each pair from the models' values and what rows and labels add.

    What independent units add to the one less what they add to the other is what a difference
    varies by; through what labels add the error of estimated delays reaches it.
    """
    found = []
    for one, other in itertools.combinations(models, 2):
        gap, adds = (mine - its for mine, its in zip(moves[one], moves[other], strict=True))
        value, variance = values[one] - values[other], float(gap @ gap)
        variance += models[one].delay_variance(adds)
        chance = Chance(math.sqrt(variance), models[one].freedom)
        level, needs = models[one].confidence_level, models[one].needs
        half = chance.quantile(level) * chance.error
        ends = possible_ends(metric, value, value - half, value + half)
        estimate = Estimate(value, *ends, chance.error, level, needs, "paired, chances")
        p_value = chance.p_value(chance.score(value))
        better = better_chance(value, p_value)
        names = metric, one, other
        found.append(
            Difference(*names, estimate, better, p_value, p_value, False, math.nan, question)  # noqa: FBT003 - fields of a dataclass
        )
    return found
