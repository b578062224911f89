import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from undercount.learn.basis import GaussianBasis, LinearBasis, choose_centres, median_distance


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(30, 4))


def test_gaussian_values_are_those_of_scikit_learn(rows):
    basis = GaussianBasis(rows[:5], 1.7)
    assert basis.values(rows) == pytest.approx(rbf_kernel(rows, rows[:5], gamma=0.5 / 1.7**2))


def test_sparse_rows_give_the_same_values(rows):
    thin = np.where(np.abs(rows) > 1, rows, 0)
    dense = GaussianBasis(thin[:5], 1.0).values(thin)
    packed = sparse.csr_matrix(thin)
    assert GaussianBasis(packed[:5], 1.0).values(packed) == pytest.approx(dense)
    assert LinearBasis(4).values(packed) == pytest.approx(thin)


def test_root_makes_the_kernel_the_identity(rows):
    basis = GaussianBasis(rows[:6], 1.0)
    root = basis.root()
    assert root.T @ basis.values(basis.centres) @ root == pytest.approx(np.eye(6), abs=1e-8)


def test_root_survives_equal_centres(rows):
    assert np.isfinite(GaussianBasis(rows[[0, 0, 1]], 1.0).root()).all()


@pytest.mark.parametrize(
    ("n_labelled", "n_centres", "labelled_centres", "size"),
    [(50, 20, 10, 20), (4, 20, 4, 20), (97, 20, 17, 20), (50, 500, 50, 100), (50, 1, 0, 1)],
)
def test_half_of_the_centres_are_labelled_if_possible(
    n_labelled, n_centres, labelled_centres, size
):
    labelled = np.arange(100) < n_labelled
    chosen = choose_centres(labelled, n_centres, np.random.default_rng(0))
    assert np.unique(chosen).size == chosen.size == size
    assert labelled[chosen].sum() == labelled_centres


def test_median_distance():
    assert median_distance(np.array([[0.0], [3.0]]), np.array([[0.0], [4.0]])) == 3.0  # of 4, 3, 1
    assert median_distance(np.zeros((2, 1)), np.zeros((1, 1))) == 1.0
