"""Turn what reads a metric off its input into a public function with named parameters."""

import inspect
import re
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from undercount.estimate import Estimate
from undercount.metric_facts import FACTS
from undercount.read.metrics.metric_input import MetricInput

Parameters = ParamSpec("Parameters")
Input = TypeVar("Input", bound=MetricInput)
# The parameters that not every metric has, by the first name of each.
_PARAMETERS = {
    "threshold": "threshold : float\n    Rows with at least this score are predicted positive.",
    "beta": "beta : float\n    Weight of recall.",
    "false_positive": "false_positive, false_negative : float\n    What such an error costs.",
    "chance": "chance : float\n    At this chance of being positive a row is just worth flagging.",
    "max_fpr": "max_fpr : float\n    End of the range, above 0 and at most 1.",
    "method": 'method : {"direct", "indirect"}\n'
    "    By the formula, with DeLong's variance on the logit scale; or as the area under the\n"
    "    recovered and cleaned curve (Algorithm 1), with an interval by resampling.",
}
_ROWS = "y, score : array-like\n    Labels (1 positive, 0 negative, missing unlabeled) and scores."
_SHARED = (
    "assume, prevalence, unlabeled_prevalence, label_frequency, unlabeled, sample_weight, cluster, "
    "target, confidence_level, interval, share_error\n"
    "    As in `MetricInput`."
)
# What a metric rests on, by whether it needs a prevalence.
_ASSUMED = {
    True: "Assumes: labels are random among the positives, and the prevalence is right.\n"
    "Wrong when: positives with high scores are labelled more often, or the prevalence is wrong.",
    False: "Assumes: labels are random among the positives; no prevalence is needed if they are "
    "pure.\nWrong when: positives with high scores are labelled more often than others.",
}
# The rows that show most metrics, and what they are shown with.
_EXAMPLE_ROWS = """>>> import undercount as uc
>>> y, score = [1, 0, 1, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]"""
_SHOWN = {
    "threshold": "threshold=6",
    "beta": "beta=2",
    "false_positive": "false_positive=1, false_negative=9",
    "chance": "chance=0.2",
}


def metric_function(
    kind: Callable[Parameters, Input], example: float | None = None
) -> Callable[[Callable[[Input], Estimate]], Callable[Parameters, Estimate]]:
    """Make a metric a function of the parameters of its input, and complete its docstring.

    Parameters
    ----------
    kind : type
        What the metric is asked with.
    example : float, optional
        The value of an example of eight rows, unless the docstring has its own.

    Examples
    --------
    >>> import inspect
    >>> import undercount as uc
    >>> list(inspect.signature(uc.metrics.f1).parameters)[:4]
    ['y', 'score', 'threshold', 'assume']
    >>> "Assumes: labels are random among the positives" in uc.metrics.f1.__doc__
    True
    """

    def decorate(measure: Callable[[Input], Estimate]) -> Callable[Parameters, Estimate]:
        signature = _signature(kind)

        @wraps(measure)
        def metric(*given: Parameters.args, **options: Parameters.kwargs) -> Estimate:
            try:
                signature.bind(*given, **options)
            except TypeError as error:
                raise TypeError(f"{measure.__name__}() {error}") from None
            return measure(kind(*given, **options))

        vars(metric)["__signature__"] = signature
        if measure.__doc__ is not None:  # python -OO
            metric.__doc__ = _document(measure.__name__, measure.__doc__, signature, example)
        return metric

    return decorate


def _signature(kind: Callable[Parameters, Input]) -> inspect.Signature:
    """Return the parameters of an input, those that must be given first."""
    parameters = inspect.signature(kind).parameters.values()
    needed = [p for p in parameters if p.default is inspect.Parameter.empty]
    others = [p for p in parameters if p.default is not inspect.Parameter.empty]
    return inspect.Signature([*needed, *others], return_annotation=Estimate)


def _document(name: str, text: str, signature: inspect.Signature, example: float | None) -> str:
    """Write into a docstring what metrics share.

    That is: the parameters, what the metric assumes if the docstring is silent, and an example.
    """
    summary, *rest = re.split(r"(?m)^(?=(?:Notes|Examples)\n-+$)", inspect.cleandoc(text))
    own = [parameter for parameter in _PARAMETERS if parameter in signature.parameters]
    described = (_ROWS, *(_PARAMETERS[parameter] for parameter in own), _SHARED)
    sections = [summary.strip(), _section("Parameters", *described)]
    sections.append(_section("Returns", "Estimate"))
    needs_prevalence = FACTS[name].needs_prevalence
    if not any(section.startswith("Notes") for section in rest):
        sections.append(_section("Notes", _ASSUMED[needs_prevalence]))
    sections += [section.strip() for section in rest]
    if example is not None:
        given = [_SHOWN[parameter] for parameter in own if parameter in _SHOWN]
        given += ["unlabeled=0", *["prevalence=0.5"] * needs_prevalence]
        call = f"uc.metrics.{name}(y, score, {', '.join(given)})"
        lines = f">>> estimate = {call}\n>>> round(estimate.value, 4)\n{example}"
        sections.append(_section("Examples", _EXAMPLE_ROWS, lines))
    return "\n\n".join(sections) + "\n"


def _section(title: str, *lines: str) -> str:
    return "\n".join([title, "-" * len(title), *lines])
