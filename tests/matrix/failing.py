"""The laws that are broken today: mending one takes its line out.

Law → assumption → why, and the metrics for which it is broken ("all" of the law's own).
"""

# Cells that end in an error which is no answer.
CRASHES = {}

OTHER_CHOOSERS = "in a comparison any of the models may have chosen the rows, not one score alone"
AREAS = "roc_auc average_precision lift_auc"

FAILING = {
    "table in a comparison = table": {
        "selection by score": (OTHER_CHOOSERS, "all"),
        "selection by columns": (OTHER_CHOOSERS, "all"),
    },
    "top in a comparison = top": {
        "selection by score": (OTHER_CHOOSERS, "all"),
        "selection by columns": (OTHER_CHOOSERS, "all"),
    },
}


def broken(law, assumption, metrics):
    """Return the reason for each of these metrics for which a law is broken today."""
    reason, named = FAILING.get(law, {}).get(assumption, ("", ""))
    return dict.fromkeys(metrics if named == "all" else named.split(), reason)
