"""Cases that failed once, with the door they came through."""

import math

CORPUS = [
    (
        "rows",
        {"y": [1, 0, None], "score": [1.0, 0.5, 0.2], "threshold": math.inf, "prevalence": 0.5},
    ),
    ("rows", {"y": [1, 0, 0], "score": [1.0, 2.0, 3.0], "unlabeled": "0", "prevalence": 0.5}),
    ("rows", {"y": [1, 0, 0], "score": [3.0, 2.0, 1.0], "unlabeled": 0, "prevalence": 10**400}),
    (
        "rows",
        {"y": [1, 0, 0], "score": [3.0, 2.0, 1.0], "unlabeled": 0, "sample_weight": [1e200] * 3},
    ),
    ("files", "y,s\n1,0.5\n#0,0.3\n"),
    ("files", 'y,s\n1,"0.5\n0,0.3\n'),
    ("options", ["evaluate", "rows.csv", "--label", "y", "--score", "s", "--threshold", "inf"]),
    ("options", ["evaluate", "rows.csv", "--label", "y", "--score", "s", "--json", ""]),
    ("options", ["evaluate", "rows.csv", "--label", "y", "--score", "s", "--seed", "-1"]),
    ("requirements", "precision >= "),
    ("requirements", "recall@NAN<=0"),
    ("counts files", ([(0.5, 1.0, 0.0, 2.0)], {"version": "1"})),
    ("counts files", ([(0.5, 1.0, 0.0, 2.0)], {"version": 1, "squared_weight": [1, -2, 3]})),
]
