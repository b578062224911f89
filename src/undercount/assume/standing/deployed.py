"""Metrics at another prevalence, by labels that stand for positives."""

from dataclasses import dataclass, replace

from undercount.assume.standing.labels import StandingLabels
from undercount.estimate import Estimate
from undercount.infer.deployed import CellValues, Deployment, cell_values, lift_scale
from undercount.infer.difference import Contributions
from undercount.infer.metric_at import MetricAt
from undercount.infer.mixture import MixtureDesign
from undercount.infer.variance import Spread
from undercount.shares import Shares


@dataclass(frozen=True, eq=False, kw_only=True)
class StandingDeployment(Deployment):
    """Read metrics at another prevalence; what labels stand for tells how many are positive here.

    Parameters
    ----------
    standing : StandingLabels
        What the rows say of the population; counts and shares are theirs.

    Notes
    -----
    Assumes: labels stand for as many positives as is said, and rates at a threshold carry over
    (`Deployment`).
    Wrong when: positives there are others than here.
    """

    standing: StandingLabels

    @classmethod
    def of(
        cls, standing: StandingLabels, prevalence: float, threshold: float | None = None
    ) -> "StandingDeployment":
        """Take rows whose labels stand for positives."""
        counts, shares = (
            standing.counts_at(threshold),
            Shares(standing.prevalence, 1, "case-control"),
        )
        drawn = replace(standing, target="population")
        return cls(counts, shares, prevalence, standing.confidence_level, standing=drawn)

    @property
    def independent(self) -> bool:
        """Whether labels are alike: never, since each has a weight of its own."""
        return False

    def needs(self, metric: str) -> tuple[str, ...]:  # noqa: ARG002 - all rest on the labels
        """Name what a metric there rests on here."""
        return self.standing.needs

    def contributions(self, at: MetricAt) -> Contributions:
        """Return what each independent unit of the rows adds to a metric there."""
        of_cells = cell_values(self.counts, at.threshold)
        moves = self.moves(self.standing.design(self.counts), at.metric, at.threshold)
        adds = (
            self.standing.influence_of(self.counts, moves, of_cells),
            self.standing.label_adds_of(self.counts, moves, of_cells),
        )
        scale = lift_scale(at.metric, self.prevalence)[1]
        return self.standing.contributions(*adds).scaled(scale)

    def ranked(self, shares: Shares) -> Estimate:  # noqa: ARG002 - labels tell the share
        """Return the ROC AUC, which is the same there."""
        return self.standing.estimate("roc_auc")

    def design(self, shares: Shares) -> MixtureDesign:  # noqa: ARG002 - likewise
        """Return labelled rows as a sample separate from all rows."""
        return self.standing.design(self.counts)

    def with_effect(self, moves: Spread, of_cells: CellValues) -> MixtureDesign:
        """Return the design with the effect of the labels' weights on what moves an estimate."""
        return self.standing.with_effect(self.counts, moves, of_cells)

    def error_here(self, shares: Shares) -> float:  # noqa: ARG002 - labels tell the share
        """Return the standard error of average precision among rows like these."""
        return self.standing.estimate("average_precision").standard_error

    def mean_precision(self, design: MixtureDesign) -> float:  # noqa: ARG002 - of the rows
        """Return the average precision there, to which each label counts once."""
        return min(self.standing.average_precision(self.prevalence), 1.0)
