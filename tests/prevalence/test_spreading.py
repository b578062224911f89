import numpy as np

import undercount as uc
from undercount.prevalence.ranks import ranked_shares
from undercount.prevalence.ranks import spread


def test_ranks_come_back_exactly():
    rng = np.random.default_rng(0)
    y, score = np.repeat([1, -1], [20, 500]), rng.normal(size=520)
    full = uc.ScoreCounts.from_rows(y, score, unlabeled=-1)
    compact = uc.ScoreCounts.from_rows(y, score, unlabeled=-1, compact=True)
    found, expected = ranked_shares(spread(compact)), ranked_shares(full)
    assert np.allclose(found.rank, expected.rank, atol=1e-12)
    assert np.allclose(found.unlabeled, expected.unlabeled, atol=1e-12)


def test_full_counts_come_back_themselves(normals):
    assert spread(normals) is normals


def test_infinite_scores_and_totals():
    y = [1, -1, -1, -1, 1, -1, -1]
    score = [5, np.inf, 7, 6, 3, -np.inf, 1]
    compact = uc.ScoreCounts.from_rows(y, score, unlabeled=-1, compact=True)
    found = spread(compact)
    assert (found.n_positive, found.n_unlabeled) == (2, 5)
    assert found.unlabeled[found.score > 5].sum() == 3
