"""The laws that are broken today: mending one takes its line out.

Law → assumption → why, and the metrics for which it is broken ("all" of the law's own).
"""

# Cells that end in an error which is no answer.
CRASHES = {}

ONE_LESS = "clusters, even of one row, get no exact form, and one of them is spent on the mean"
AVERAGE_PRECISION = "the plug-in average precision, where the table has the unbiased one"
WEIGHTS = "the exact forms of whole rows are not used where rows have weights, though equal ones"
JACKKNIFE = (
    "the jackknife of average precision leaves out whole rows, and weighted ones have a gradient"
)
WEIGHTS_SHARE = "the estimated share moves where sums of weights are rounded"
POOLED = "the one segment's interval is not the interval of all rows: its share is pooled again"
LEFT_OUT = "average precision leaves out one of two equal rows"
ONE_LESS_LEFT_OUT = f"{ONE_LESS}; {LEFT_OUT}"
DRAWN = "the display draws the floor, where the table has a range without a value"
TWICE_ESTIMATED = "estimators count two rows of half weight as more than one"
TWICE_SMOOTHED = "rates are smoothed by the rows there are, of which there are twice as many"
TWICE_CHANCES = f"{LEFT_OUT}; {TWICE_SMOOTHED}"
OTHER_FOLDS = "a classifier is fitted on other folds where rows are twice as many"
POINTS = "recall precision f1 specificity accuracy mcc"
AREAS = "roc_auc average_precision lift_auc"

FAILING = {
    "table = curve display": {
        "estimated": (DRAWN, "precision roc_auc"),
    },
    "sweep over prevalence at its own share = table": {
        "prevalence given": (AVERAGE_PRECISION, "average_precision"),
        "range": (AVERAGE_PRECISION, "average_precision"),
        "Estimate": (AVERAGE_PRECISION, "average_precision"),
        "impure": (AVERAGE_PRECISION, "average_precision"),
        "case-control": (AVERAGE_PRECISION, "average_precision"),
        "estimated by bootstrap": (AVERAGE_PRECISION, "average_precision"),
        "two sources": (AVERAGE_PRECISION, "average_precision"),
    },
    "one segment = no segments": {
        "estimated by bootstrap": (
            POOLED,
            "precision f1 specificity accuracy mcc roc_auc average_precision",
        ),
        "two sources": (POOLED, "precision f1 specificity accuracy mcc roc_auc average_precision"),
    },
    "one segment's line = no segments": {
        "estimated by bootstrap": (POOLED, "precision"),
        "two sources": (POOLED, "precision"),
    },
    "clusters of one row = no clusters": {
        "prevalence given": (ONE_LESS, POINTS),
        "range": (ONE_LESS, POINTS),
        "Estimate": (ONE_LESS, POINTS),
        "impure": (ONE_LESS, POINTS),
        "case-control": (ONE_LESS, "all"),
        "two sources": (ONE_LESS, "recall f1 accuracy mcc"),
        "estimated": (ONE_LESS, "recall accuracy mcc lift_auc"),
    },
    "difference by clusters of one row = by rows": {
        "prevalence given": (ONE_LESS, "precision f1 accuracy mcc average_precision"),
        "range": (ONE_LESS, "precision accuracy mcc average_precision"),
        "Estimate": (ONE_LESS, "precision f1 accuracy mcc average_precision"),
        "impure": (ONE_LESS, "precision accuracy mcc average_precision"),
        "case-control": (ONE_LESS, "precision f1 accuracy mcc average_precision"),
        "estimated": (ONE_LESS, "precision f1 accuracy mcc roc_auc average_precision"),
        "two sources": (ONE_LESS, "precision f1 accuracy mcc roc_auc average_precision lift_auc"),
    },
    "equal weights = no weights": {
        "prevalence given": (WEIGHTS, POINTS),
        "range": (WEIGHTS, "recall f1 accuracy mcc"),
        "Estimate": (WEIGHTS, "recall f1 accuracy mcc"),
        "estimated": (WEIGHTS, "recall"),
        "estimated by bootstrap": (WEIGHTS, "recall"),
        "two sources": (WEIGHTS, "recall"),
    },
    "equal weights below 1 = no weights": {
        "prevalence given": (WEIGHTS, POINTS),
        "range": (WEIGHTS, "recall f1 accuracy mcc"),
        "Estimate": (WEIGHTS, "recall f1 accuracy mcc"),
        "estimated": (WEIGHTS, "recall"),
        "two sources": (WEIGHTS, "recall"),
        "estimated by bootstrap": (
            WEIGHTS_SHARE,
            "recall precision f1 specificity accuracy mcc roc_auc average_precision",
        ),
    },
    "difference by equal weights = by rows": {
        "prevalence given": (JACKKNIFE, "average_precision"),
        "range": (JACKKNIFE, "average_precision"),
        "Estimate": (JACKKNIFE, "average_precision"),
        "estimated": (JACKKNIFE, "average_precision"),
        "estimated by bootstrap": (JACKKNIFE, "average_precision"),
        "case-control": (JACKKNIFE, "average_precision"),
        "two sources": (JACKKNIFE, "average_precision"),
    },
    "deployed at its own known prevalence = here": {
        "prevalence given": (AVERAGE_PRECISION, "average_precision"),
        "impure": (AVERAGE_PRECISION, "average_precision"),
        "case-control": (AVERAGE_PRECISION, "average_precision"),
    },
    "deployed at its own prevalence = here": {
        "range": (AVERAGE_PRECISION, "average_precision"),
        "Estimate": (AVERAGE_PRECISION, "average_precision"),
        "estimated by bootstrap": (AVERAGE_PRECISION, "average_precision"),
        "propensity known": (AVERAGE_PRECISION, "average_precision"),
        "propensity by classifier": (AVERAGE_PRECISION, "average_precision"),
        "late labels": (AVERAGE_PRECISION, "average_precision"),
        "two sources": (AVERAGE_PRECISION, "average_precision"),
    },
    "every row twice at half weight = once": {
        "prevalence given": (LEFT_OUT, "average_precision"),
        "range": (LEFT_OUT, "average_precision"),
        "Estimate": (LEFT_OUT, "average_precision"),
        "impure": (LEFT_OUT, "average_precision"),
        "case-control": (LEFT_OUT, "average_precision"),
        "reviews, labels any": (LEFT_OUT, "average_precision"),
        "propensity known": (LEFT_OUT, "average_precision"),
        "propensity by classifier": (OTHER_FOLDS, "all"),
        "late labels": (LEFT_OUT, "average_precision"),
        "estimated by bootstrap": (
            TWICE_ESTIMATED,
            "precision f1 specificity accuracy mcc roc_auc average_precision",
        ),
    },
    "every row twice at half weight, by row = once": {
        "prevalence given": (
            ONE_LESS,
            "recall precision f1 specificity accuracy mcc average_precision",
        ),
        "range": (ONE_LESS, "recall precision f1 specificity accuracy mcc average_precision"),
        "Estimate": (ONE_LESS, "recall precision f1 specificity accuracy mcc average_precision"),
        "impure": (ONE_LESS, "all"),
        "case-control": (ONE_LESS, "all"),
        "estimated": (ONE_LESS_LEFT_OUT, "recall accuracy mcc average_precision"),
        "propensity known": (TWICE_CHANCES, f"{POINTS} roc_auc average_precision"),
        "propensity by classifier": (TWICE_CHANCES, "all"),
        "late labels": (TWICE_CHANCES, "all"),
    },
}


def broken(law, assumption, metrics):
    """Return the reason for each of these metrics for which a law is broken today."""
    reason, named = FAILING.get(law, {}).get(assumption, ("", ""))
    return dict.fromkeys(metrics if named == "all" else named.split(), reason)
