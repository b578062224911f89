"""Small trained networks; their numbers stand in a JSON file beside the method that reads them."""

import json
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Self

import numpy as np
from scipy.special import expit, ndtri

from undercount.curve import FloatArray

END_SHARE = 0.002
# Standardised inputs beyond this are as unlike the simulated ones as these.
FARTHEST_INPUT = 5


@dataclass(frozen=True)
class TrainedNetworks:
    """Networks of one shape, whose answers are averaged.

    Attributes
    ----------
    centre, spread : ndarray
        Standardise the inputs.
    networks : tuple
        Each a tuple of layers (weights, biases); tanh between layers.
    """

    centre: FloatArray
    spread: FloatArray
    networks: tuple[tuple[tuple[FloatArray, FloatArray], ...], ...]

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Read what the training script wrote."""
        networks = tuple(
            tuple((np.array(weight), np.array(bias)) for weight, bias in network)
            for network in values["networks"]
        )
        rest = {name: np.array(value) for name, value in values.items() if name != "networks"}
        return cls(networks=networks, **rest)

    @classmethod
    def from_file(cls, file: str) -> Self:
        """Read a file of this package, named relative to the folder of this module."""
        text = files("undercount.prevalence").joinpath(file).read_text(encoding="utf-8")
        return cls.from_dict(json.loads(text))

    def outputs(self, inputs: FloatArray, farthest: float = np.inf) -> list[FloatArray]:
        """Return what the last layer of each network adds up to."""
        scaled = np.clip((inputs - self.centre) / self.spread, -farthest, farthest)
        answers = []
        for layers in self.networks:
            values = scaled
            for weight, bias in layers[:-1]:
                values = np.tanh(values @ weight + bias)
            weight, bias = layers[-1]
            answers.append(values @ weight + bias)
        return answers


@dataclass(frozen=True)
class QuantileNet(TrainedNetworks):
    """Networks that answer with quantiles: a logistic curve of each output.

    Attributes
    ----------
    levels : ndarray
        Levels of the quantiles, ascending, ½ among them.
    """

    levels: FloatArray

    def quantiles(self, inputs: FloatArray) -> FloatArray:
        """Return ascending quantiles for one vector of inputs or for each row of a matrix."""
        means = np.mean([expit(output) for output in self.outputs(inputs, FARTHEST_INPUT)], axis=0)
        return np.asarray(np.sort(means, axis=-1))

    def answer(self, place: int) -> Self:
        """Return the network of one of several answers: each has an output for every level."""
        outputs = slice(place * len(self.levels), (place + 1) * len(self.levels))
        networks = tuple(
            (*layers[:-1], (layers[-1][0][:, outputs], layers[-1][1][outputs]))
            for layers in self.networks
        )
        return replace(self, networks=networks)

    def at(self, quantiles: FloatArray, level: float) -> float:
        """Return a vector's quantile at any level; beyond the ends the tail is taken as normal."""
        inside = min(max(level, self.levels[0]), self.levels[-1])
        normal = ndtri(self.levels)
        quantile = float(np.interp(ndtri(inside), normal, quantiles))
        if inside != level:
            middle = float(np.interp(0.0, normal, quantiles))
            quantile = middle + (quantile - middle) * float(ndtri(level) / ndtri(inside))
        # The logistic end never reaches 0 or 1; shares so close are not told from them.
        return 0.0 if quantile < END_SHARE else 1.0 if quantile > 1 - END_SHARE else quantile


@cache
def load_quantile_net(file: str, place: int = 0) -> QuantileNet:
    """Return a network that a script under ``benchmarks/`` trained on simulated problems.

    Parameters
    ----------
    file : str
        Where its numbers stand, relative to the folder of this module.
    place : int
        Which of its answers, if it gives several.
    """
    return QuantileNet.from_file(file).answer(place)
