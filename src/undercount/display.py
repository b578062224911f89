"""What all displays share: three ways to make one, and how two rates are drawn."""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from undercount.assume.bounds import bound_curve
from undercount.assume.labelled import labelled_curve, naive_curve
from undercount.assume.mixture import mixture_curve
from undercount.counts import ScoreCounts
from undercount.curve import CurveBounds, OperatingCurve
from undercount.errors import InputError
from undercount.rates import FloatArray
from undercount.shares import Shares, read_shares

KEYWORDS = ("unlabeled", "name", "truth", *list(inspect.signature(read_shares).parameters)[1:])


def drawing_axes(ax: Any) -> Any:
    """Return the axes given, or new ones; matplotlib is imported only now."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - optional
    except ImportError:
        raise InputError(
            "plots need matplotlib, which is not installed; pip install 'undercount[plot]'"
        ) from None
    return plt.subplots()[1]


def _known_shares(counts: ScoreCounts, options: Mapping[str, Any]) -> Shares:
    shares = read_shares(counts, **options)
    if shares is None:
        raise InputError("give prevalence, unlabeled_prevalence or label_frequency")
    return shares


def _scores(estimator: Any, X: Any) -> Any:
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X)
    return positive_chance(estimator, X)


def positive_chance(estimator: Any, X: Any) -> Any:
    """Return the probabilities of class 1, whichever other classes there are."""
    classes = list(getattr(estimator, "classes_", (0, 1)))
    return estimator.predict_proba(X)[:, classes.index(1) if 1 in classes else -1]


def refuse_unknown(method: str, names: Iterable[str]) -> None:
    """Raise if a keyword is none of those that displays of rows take."""
    for name in sorted(set(names) - set(KEYWORDS)):
        hint = "plot() takes it; " if name == "ax" else ""
        hint += f"has {', '.join(KEYWORDS)}"
        raise TypeError(f"{method}() got an unexpected keyword argument {name!r}; {hint}")


class Display:
    """Base of the displays: three ways to make one."""

    @classmethod
    def from_counts(
        cls, counts: ScoreCounts, shares: Shares, *, name: str = "score", truth: Any = None
    ) -> Self:
        """Make the display from counts and shares."""
        raise NotImplementedError

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        score: Any,
        *,
        unlabeled: float | None = None,
        name: str = "score",
        truth: Any = None,
        **shares: Any,
    ) -> Self:
        """Make the display from labels and scores; shares as in `evaluate`, truth if known."""
        refuse_unknown(f"{cls.__name__}.from_predictions", shares)
        if truth is not None and len(truth) != len(score):
            raise InputError(
                f"truth must have one value for each score; got {len(truth)} for {len(score)}"
            )
        counts = ScoreCounts.from_rows(y, score, unlabeled=unlabeled)
        known = None if truth is None else labelled_curve(ScoreCounts.from_rows(truth, score))
        return cls.from_counts(counts, _known_shares(counts, shares), name=name, truth=known)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        unlabeled: float | None = -1,
        **options: Any,
    ) -> Self:
        """Make the display from a fitted classifier; -1 in y means unlabeled."""
        refuse_unknown(f"{cls.__name__}.from_estimator", options)
        name = options.pop("name", type(estimator).__name__)
        return cls.from_predictions(
            y, _scores(estimator, X), unlabeled=unlabeled, name=name, **options
        )


@dataclass(frozen=True)
class CurveDisplay(Display):
    """Base of the displays of two rates against each other."""

    curve: OperatingCurve
    naive: OperatingCurve
    bounds: CurveBounds | None = None
    truth: OperatingCurve | None = None
    name: str = "score"

    x: ClassVar[str] = ""
    y: ClassVar[str] = ""
    labels: ClassVar[tuple[str, str]] = ("", "")

    @classmethod
    def from_counts(
        cls, counts: ScoreCounts, shares: Shares, *, name: str = "score", truth: Any = None
    ) -> Self:
        """Make the display from counts and shares."""
        bounds = bound_curve(counts, shares) if cls.x == "fpr" else None
        # A ROC curve is cleaned; the others follow the threshold, so that recall only grows.
        curve = mixture_curve(counts, shares, clean=cls.x == "fpr")
        return cls(curve, naive_curve(counts), bounds, truth, name)

    def frame(self) -> dict[str, FloatArray]:
        """Return the columns that are drawn."""
        return {self.x: getattr(self.curve, self.x), self.y: getattr(self.curve, self.y)}

    def plot(self, ax: Any = None) -> Any:
        """Draw: recovered solid, naive dashed, bounds as a band, truth dotted if known."""
        axes = drawing_axes(ax)
        if self.bounds is not None:
            grid = np.linspace(0, 1, 201)
            ends = [
                _step(curve, grid) for curve in (self.bounds.pessimistic, self.bounds.optimistic)
            ]
            axes.fill_between(grid, *ends, alpha=0.2, label="95 % bounds")
        for curve, style, label in (
            (self.curve, "-", self.name),
            (self.naive, "--", "unlabeled = negative"),
            (self.truth, ":", "truth"),
        ):
            if curve is not None:
                axes.plot(getattr(curve, self.x), getattr(curve, self.y), style, label=label)
        axes.set(xlabel=self.labels[0], ylabel=self.labels[1], xlim=(0, 1), ylim=(0, 1.02))
        axes.legend()
        return axes


def _step(curve: OperatingCurve, grid: FloatArray) -> FloatArray:
    order = np.lexsort((curve.tpr, curve.fpr))
    return np.asarray(np.interp(grid, curve.fpr[order], curve.tpr[order]), dtype=np.float64)


@dataclass(frozen=True)
class ColumnsDisplay(Display):
    """Base of the displays that hold columns."""

    columns: dict[str, FloatArray]
    marks: dict[str, float] = field(default_factory=dict)
    name: str = "score"

    def frame(self) -> dict[str, FloatArray]:
        """Return the columns that are drawn."""
        return self.columns
