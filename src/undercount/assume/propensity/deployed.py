"""Metrics at another prevalence where labels have chances of their own."""

from dataclasses import dataclass, replace

from undercount.assume.propensity.chances import Chances
from undercount.estimate import Estimate
from undercount.infer.deployed import CellValues, Deployment, cell_values, lift_scale
from undercount.infer.difference import Contributions
from undercount.infer.metric_at import MetricAt
from undercount.infer.mixture import MixtureDesign
from undercount.infer.variance import Spread
from undercount.shares import Shares


@dataclass(frozen=True, eq=False, kw_only=True)
class ChancesDeployment(Deployment):
    """Read metrics at another prevalence; what labels stand for tells how many are positive here.

    Parameters
    ----------
    chances : Chances
        What the rows say of the population; counts and shares are theirs.

    Notes
    -----
    Assumes: the chances are right, and rates at a threshold carry over (`Deployment`).
    Wrong when: chances were estimated from few rows, or positives there are others than here.
    """

    chances: Chances

    @classmethod
    def of(
        cls, chances: Chances, prevalence: float, threshold: float | None = None
    ) -> "ChancesDeployment":
        """Take rows whose labels have chances of their own."""
        counts, shares = chances.counts_at(threshold), Shares(chances.prevalence, 1, "case-control")
        drawn = replace(chances, target="population")
        return cls(counts, shares, prevalence, chances.confidence_level, chances=drawn)

    @property
    def independent(self) -> bool:
        """Whether labels are alike: never, since each has a chance of its own."""
        return False

    def needs(self, metric: str) -> tuple[str, ...]:  # noqa: ARG002 - all rest on the chances
        """Name what a metric there rests on here."""
        return self.chances.needs

    def contributions(self, at: MetricAt) -> Contributions:
        """Return what each independent unit of the rows adds to a metric there."""
        of_cells = cell_values(self.counts, at.threshold)
        moves = self.moves(self.chances.design(self.counts), at.metric, at.threshold)
        adds = (
            self.chances.influence_of(self.counts, moves, of_cells),
            self.chances.label_adds_of(self.counts, moves, of_cells),
        )
        scale = lift_scale(at.metric, self.prevalence)[1]
        return self.chances.contributions(*adds).scaled(scale)

    def ranked(self, shares: Shares) -> Estimate:  # noqa: ARG002 - chances tell the share
        """Return the ROC AUC, which is the same there."""
        return self.chances.estimate("roc_auc")

    def design(self, shares: Shares) -> MixtureDesign:  # noqa: ARG002 - likewise
        """Return labelled rows as a sample separate from all rows."""
        return self.chances.design(self.counts)

    def with_effect(self, moves: Spread, of_cells: CellValues) -> MixtureDesign:
        """Return the design with the effect of the chances on what moves an estimate."""
        return self.chances.with_effect(self.counts, moves, of_cells)

    def mean_precision(self, design: MixtureDesign) -> float:  # noqa: ARG002 - of the rows
        """Return the average precision there, to which each label counts once."""
        return min(self.chances.average_precision(self.prevalence), 1.0)
