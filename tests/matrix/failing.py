"""The laws that are broken today: mending one takes its line out.

Law → assumption → why, and the metrics for which it is broken ("all" of the law's own).
"""

# Cells that end in an error which is no answer.
CRASHES = {}

BY_STRATA = "verdicts are spread over cells, which depend on how rows were counted"
CROSSED = "the second model's areas are read on cells crossed with those of the first"
FIRST_MODEL = "reviews are read by one model's scores first"
OTHER_CHOOSERS = "in a comparison any of the models may have chosen the rows, not one score alone"
TWO_ROWS = "Student's quantile of half as many units as there are rows"
TWICE_REVIEWED = "two verdicts on copies of a row count as two"
AREAS = "roc_auc average_precision lift_auc"

FAILING = {
    "table = uc.metrics": {
        "reviews, labels any": (BY_STRATA, AREAS),
        "reviews, labels random": (BY_STRATA, AREAS),
        "audited": (BY_STRATA, AREAS),
    },
    "table = scorer": {
        "audited": (BY_STRATA, "average_precision"),
    },
    "a model less itself = 0": {
        "reviews, labels any": (CROSSED, AREAS),
    },
    "two models swapped turn the sign": {
        "reviews, labels any": (FIRST_MODEL, "all"),
    },
    "difference = table less table": {
        "reviews, labels any": (CROSSED, AREAS),
    },
    "table in a comparison = table": {
        "selection by score": (OTHER_CHOOSERS, "all"),
        "selection by columns": (OTHER_CHOOSERS, "all"),
    },
    "top in a comparison = top": {
        "selection by score": (OTHER_CHOOSERS, "all"),
        "selection by columns": (OTHER_CHOOSERS, "all"),
    },
    "rows = counts": {
        "reviews, labels any": (BY_STRATA, "all"),
        "reviews, labels random": (BY_STRATA, "all"),
        "audited": (BY_STRATA, AREAS),
    },
    "rows = file": {
        "reviews, labels any": (BY_STRATA, "all"),
        "reviews, labels random": (BY_STRATA, "all"),
        "audited": (BY_STRATA, AREAS),
    },
    "rows = database": {
        "reviews, labels any": (BY_STRATA, "all"),
        "reviews, labels random": (BY_STRATA, "all"),
        "audited": (BY_STRATA, AREAS),
    },
    "every row twice at half weight, by row = once": {
        "selection by score": (TWO_ROWS, "all"),
        "reviews, labels any": (TWICE_REVIEWED, "all"),
    },
}


def broken(law, assumption, metrics):
    """Return the reason for each of these metrics for which a law is broken today."""
    reason, named = FAILING.get(law, {}).get(assumption, ("", ""))
    return dict.fromkeys(metrics if named == "all" else named.split(), reason)
