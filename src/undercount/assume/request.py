"""What may be asked of a selection model: methods, distributions, and what each rests on."""

from undercount.errors import InputError

LATENT = ("own-score", "observed-score", "unobserved")
METHODS = (*LATENT, "begg-greenes", "ipw", "doubly-robust")
DISTRIBUTIONS = ("empirical", "normal", "copula")
INTERVALS = ("auto", "delta", "profile", "bootstrap")
NEEDS = {
    "own-score": ("chosen by the score alone", "probit shape"),
    "observed-score": ("chosen by the two scores alone", "probit shape"),
    "unobserved": ("jointly normal unseen parts",),
    "begg-greenes": ("chosen by the columns alone", "probit shape of the class"),
    "ipw": ("chosen by the columns alone", "every row had a chance", "probit shape of the choice"),
    "doubly-robust": (
        "chosen by the columns alone",
        "every row had a chance",
        "one of two probit shapes",
    ),
}


def refuse_parameters(method: str, distribution: str, confidence_level: float) -> None:
    """Raise if parameters are unknown or do not belong together."""
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    if distribution not in DISTRIBUTIONS:
        raise InputError(
            f"distribution must be one of {', '.join(DISTRIBUTIONS)}; got {distribution!r}"
        )
    if distribution != "empirical" and method not in LATENT:
        raise InputError(
            f"{method!r} averages over the rows; got distribution={distribution!r}. "
            "Leave it at 'empirical'"
        )
    if not 0 < confidence_level < 1:
        raise InputError(f"confidence_level must be between 0 and 1; got {confidence_level}")


def refuse_columns(method: str, *, covariates: bool, selection_score: bool) -> None:
    """Raise if a method lacks a column, or gets one that it would ignore."""
    if method == "observed-score" and not selection_score:
        raise InputError("'observed-score' needs selection_score, the score that chose the rows")
    if selection_score and method in ("own-score", "unobserved"):
        raise InputError(f"{method!r} does not use selection_score; method='observed-score' does")
    if covariates and method in ("own-score", "observed-score"):
        raise InputError(
            f"{method!r} does not use X; 'begg-greenes' (X explains the choice) and "
            "'unobserved' (X moves the choice, not the class) do"
        )


def refuse_interval(method: str, interval: str, metric: str) -> None:
    """Raise if a kind of interval does not exist for a method or metric."""
    if interval not in INTERVALS or (interval == "profile" and method != "unobserved"):
        raise InputError(
            "method must be auto, delta or bootstrap (or profile for 'unobserved'); got "
            f"{interval!r} for {method!r}"
        )
    if metric == "correlation" and method not in LATENT:
        raise InputError(f"{method!r} has no correlation; use one of {', '.join(LATENT)}")
    if metric == "average_precision" and interval != "bootstrap":
        raise InputError("average_precision has no delta method here; pass method='bootstrap'")
