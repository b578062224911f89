"""What the options of a command hold, by name and type."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, cast

if TYPE_CHECKING:
    from undercount.infer.reviews.verdicts import Reviews
    from undercount.shares import Sampling, Target

# Where a context keeps whether tracebacks are shown.
DEBUGGING = "undercount.debug"
# A number, the two ends of a range, or the share of each segment; or what an estimator found.
Share: TypeAlias = Any
Odds: TypeAlias = float | tuple[float, float]


class Options(TypedDict, total=False):
    """Hold the options of a command: each has those that it declares.

    A file is None where none is to be written, and "-" where standard output is.
    """

    # What is read, and how labels are coded.
    data: tuple[str, ...]
    parts: tuple[str, ...]
    label: str | None
    second_label: str | None
    score: str
    scores: tuple[str, ...]
    weight: str | None
    unlabeled: str | None
    negative: float | None
    positive_label: str | None
    positives: str | None
    cluster: str | None
    chance: str | None
    observed: str | None
    found: str | None
    until: str | None
    found_eventually: float
    database: str | None
    table: str | None
    query: str | None
    by: tuple[str, ...]
    # What is assumed of the labels.
    prevalence: Share
    unlabeled_prevalence: Share
    label_frequency: Share
    label_purity: Share
    sampling: "Sampling | None"
    target: "Target | None"
    prevalence_interval: Literal["calibrated", "bootstrap", "combined"] | None
    n_resamples: int
    dependence: Odds | None
    reviews: tuple[str, ...]
    labels: Literal["any", "random"] | None
    sequential: bool
    audited: bool
    verdicts: "Reviews"
    # What is asked.
    confidence_level: float
    seed: int
    deploy_prevalence: float | None
    threshold: float | None
    thresholds: tuple[float, ...]
    further: tuple[float, ...]  # thresholds beside the first
    rank_by: str | None
    top: float | None
    tops: tuple[float, ...]
    further_tops: tuple[float, ...]  # numbers of highest rows beside the first
    metrics: tuple[str, ...]
    costs: Mapping[str, float] | None
    odds_ratio: float | None
    question: Literal["population", "rows"]
    requirements: tuple[str, ...]
    # Plans of reviews.
    budget: int | None
    goals: tuple[str, ...]
    new_goals: tuple[str, ...] | None
    half_width: float | None
    keep: str | None
    out: str | None
    # Labels where somebody looked.
    selection_score: str | None
    features: tuple[str, ...]
    method: (
        Literal["own-score", "observed-score", "unobserved", "begg-greenes", "ipw", "doubly-robust"]
        | None
    )
    distribution: Literal["empirical", "normal", "copula"]
    scale: Literal["auto", "score", "logit", "probit"]
    link: Literal["probit", "logit"]
    # A classifier over time.
    period: Literal["month", "week"]
    baseline: str | None
    risk: float
    # Counts files.
    exact: bool
    digits: int | None
    output: str
    # What is written.
    html: str | None
    title: str | None
    json_file: str | None
    markdown: str | None
    csv_file: str | None
    junit: str | None
    github: bool
    quiet: bool
    data_name: str
    story: Any


def with_options(command: Callable[[Options], int]) -> Callable[..., int]:
    """Hand a command its options as one object."""

    @wraps(command)
    def run(**options: Any) -> int:
        return command(cast("Options", options))

    return run
