"""scikit-learn's own checks of an estimator."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from undercount.learn import PUAUCClassifier, PUAULClassifier

WEIGHTS = (
    "a weight of zero leaves one row of a class, and none can then be held out; besides, folds and"
    " centres are drawn by row, so a row twice is not a row of weight two"
)
AUL = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}
AUC = AUL | {
    "check_classifiers_train": "with a known prevalence, predict calls as many rows positive as it"
    " says, and predict_proba is calibrated: near one half they may disagree, here on 1 row of 200"
}
LEARNERS = [
    (PUAULClassifier(n_centres=50), AUL),
    # The checks label every positive.
    (PUAUCClassifier(n_centres=50, unlabeled_prevalence=0.0), AUC),
]


@pytest.mark.parametrize(("learner", "expected"), LEARNERS, ids=["aul", "auc"])
def test_scikit_learn_accepts_it(learner, expected):
    failed = {}
    for estimator, check in estimator_checks_generator(learner):
        name = check.func.__name__
        try:
            check(estimator)
        except pytest.skip.Exception:
            continue
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a failure
            if "SkipTest" not in type(error).__name__:
                failed[name] = error
    unexpected = {name: error for name, error in failed.items() if name not in expected}
    assert not unexpected
    assert set(failed) == set(expected)
