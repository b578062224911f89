"""A small neural network that answers with quantiles; its numbers stand in a JSON file."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, ndtri

if TYPE_CHECKING:
    from undercount.prevalence.ranks import Array


EDGE = 0.002


@dataclass(frozen=True)
class QuantileNet:
    """Networks of one shape whose quantiles are averaged.

    Attributes
    ----------
    levels : ndarray
        Levels of the quantiles, ascending, ½ among them.
    centre, spread : ndarray
        Standardise the inputs.
    networks : tuple
        Each a tuple of layers (weights, biases); tanh between layers, logistic at the end.
    """

    levels: Array
    centre: Array
    spread: Array
    networks: tuple[tuple[tuple[Array, Array], ...], ...]

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> QuantileNet:
        """Read what the training script wrote."""
        networks = tuple(
            tuple((np.array(weight), np.array(bias)) for weight, bias in network)
            for network in values["networks"]
        )
        return cls(
            np.array(values["levels"]),
            np.array(values["centre"]),
            np.array(values["spread"]),
            networks,
        )

    def quantiles(self, inputs: Array) -> Array:
        """Return ascending quantiles for one vector of inputs or for each row of a matrix."""
        scaled = np.clip((inputs - self.centre) / self.spread, -5, 5)
        found = np.mean([_forward(scaled, network) for network in self.networks], axis=0)
        return np.asarray(np.sort(found, axis=-1))

    def answer(self, place: int) -> QuantileNet:
        """Return the network of one of several answers: each has an output for every level."""
        outputs = slice(place * len(self.levels), (place + 1) * len(self.levels))
        networks = tuple(
            (*layers[:-1], (layers[-1][0][:, outputs], layers[-1][1][outputs]))
            for layers in self.networks
        )
        return replace(self, networks=networks)

    def at(self, quantiles: Array, level: float) -> float:
        """Return a vector's quantile at any level; beyond the ends the tail is taken as normal."""
        inside = min(max(level, self.levels[0]), self.levels[-1])
        normal = ndtri(self.levels)
        found = float(np.interp(ndtri(inside), normal, quantiles))
        if inside != level:
            middle = float(np.interp(0.0, normal, quantiles))
            found = middle + (found - middle) * float(ndtri(level) / ndtri(inside))
        # The logistic end never reaches 0 or 1; shares so close are not told from them.
        return 0.0 if found < EDGE else 1.0 if found > 1 - EDGE else found


def _forward(inputs: Array, layers: tuple[tuple[Array, Array], ...]) -> Array:
    values = inputs
    for weight, bias in layers[:-1]:
        values = np.tanh(values @ weight + bias)
    weight, bias = layers[-1]
    return np.asarray(expit(values @ weight + bias))


@cache
def trained_net(file: str = "consensus.json", place: int = 0) -> QuantileNet:
    """Return a network that a script under ``benchmarks/`` trained on simulated problems.

    Parameters
    ----------
    file : str
        Where its numbers stand.
    place : int
        Which of its answers, if it gives several.
    """
    text = files("undercount.prevalence.consensus").joinpath(file).read_text(encoding="utf-8")
    return QuantileNet.from_dict(json.loads(text)).answer(place)
