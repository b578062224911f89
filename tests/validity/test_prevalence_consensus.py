"""`Consensus` where some positives score like negatives and where positives are rare.

Designs of this test alone: neither the training of the networks nor the bench of designs
(`benchmarks/consensus_designs.py`) has them.
"""

from functools import cache
from unittest import mock

import numpy as np
import pytest

import undercount as uc
from undercount.prevalence import Consensus
from undercount.prevalence.consensus import consensus
from undercount.prevalence.consensus.correction import gather_relative

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::undercount.errors.MisfitWarning"),
    pytest.mark.filterwarnings("ignore::undercount.errors.SmallSampleWarning"),
]

N_DRAWS = 10
VISIBLE = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
RARE = (0.005, 0.01, 0.02, 0.035, 0.05)
LEVELS = (0.8, 0.9, 0.95)


def lognormals(rng, is_seen):
    """Scores of positives; the negatives are log-normal about 1."""
    return np.exp(rng.normal(np.where(is_seen, 2.4, 0.0), 0.6))


def bumps(rng, is_seen):
    """Positives about 4 or about 6; the negatives about 0."""
    centre = np.where(rng.random(is_seen.size) < 0.5, 4.0, 6.0)
    return rng.normal(np.where(is_seen, centre, 0.0), 1.2)


def laplaces(rng, is_seen):
    """Double-exponential scores, six apart."""
    return rng.laplace(np.where(is_seen, 6.0, 0.0), 1)


def problem(rng, kind, visible, share, n_labelled, n_unlabeled):
    hidden = round(share * n_unlabeled)
    is_seen = np.arange(n_labelled + n_unlabeled) < n_labelled + hidden
    is_seen &= rng.random(is_seen.size) < visible
    return np.repeat([1, 0], [n_labelled, n_unlabeled]), kind(rng, is_seen), hidden / n_unlabeled


KINDS = (lognormals, bumps, laplaces)


def fits_at_levels(y, score):
    """Fit at each level; what the networks read is gathered once, since it knows no level."""
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0)
    with mock.patch.object(consensus, "gather_relative", return_value=gather_relative(counts)):
        return {level: Consensus(confidence_level=level).fit(counts) for level in LEVELS}


@cache
def runs():
    """Return (visible share or 0 for rare, truth, Consensus by level) of every problem."""
    rng, found = np.random.default_rng(88), []
    settings = [(v, v, 0.2, 300, 3000) for v in VISIBLE] + [(0, 1.0, a, 80, 6000) for a in RARE]
    for kind in KINDS:
        for name, visible, share, m, n in settings:
            for _ in range(N_DRAWS):
                y, score, truth = problem(rng, kind, visible, share, m, n)
                found.append((name, truth, fits_at_levels(y, score)))
    return found


def mean_errors(visible):
    """Return the mean errors of Consensus and of Dedpul."""
    alike = [(truth, fits[0.95]) for name, truth, fits in runs() if name == visible]
    ours = [abs(run.unlabeled_prevalence_ - truth) for truth, run in alike]
    theirs = [abs(run.diagnostics_["estimates"]["Dedpul"] - truth) for truth, run in alike]
    return np.mean(ours), np.mean(theirs)


@pytest.mark.parametrize("visible", VISIBLE)
def test_error_stays_near_dedpuls_whatever_share_is_visible(visible):
    ours, theirs = mean_errors(visible)
    assert ours <= 1.1 * theirs


def test_relative_error_of_rare_shares():
    errors = [
        abs(fits[0.95].unlabeled_prevalence_ / truth - 1)
        for name, truth, fits in runs()
        if name == 0
    ]
    assert np.mean(errors) <= 0.25


@pytest.mark.parametrize("level", LEVELS)
def test_coverage(level):
    inside = [truth in fits[level].interval_ for _, truth, fits in runs()]
    assert np.mean(inside) >= level - 0.02
