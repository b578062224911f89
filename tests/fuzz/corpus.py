"""Cases that failed once, with the door they came through."""

import decimal
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

import undercount as uc

ROWS = {"y": [1, 0, 0], "score": [3.0, 2.0, 1.0], "unlabeled": 0}
MORE = {"y": np.array([1, 0, 1, 0, 1, 0, 0, 0]), "score": np.arange(8.0, 0, -1), "unlabeled": 0}
TIED = {"y": np.array([1, 0, 0, 1, 0]), "score": np.zeros(5), "unlabeled": 0}
SPLIT = {
    "y": np.array([1.0, math.nan, math.nan, 1.0, *[math.nan] * 4]),
    "score": np.array([0.0] * 6 + [1.0] * 2),
    "unlabeled": None,
}
COUNTS = {"score": [0.5], "positive": [1.0], "negative": [0.0], "unlabeled": [2.0]}
COLUMNS = ("--label", "y", "--score", "s")


def _function(kind: str, rows: dict[str, Any] = MORE, share: Any = 0.2, **arguments: Any) -> Any:
    return "functions", {"kind": kind, **rows, "share": share, "seed": 0, "arguments": arguments}


def _theory(name: str, **arguments: Any) -> Any:
    return "functions", {**_function("theory", **arguments)[1], "name": name}


def _question(question: str, kind: str = "plain", **arguments: Any) -> Any:
    asked = {"kind": kind, "seed": 1, "rows": 30, "share": 0.3, "threshold": 1.0, "labels": None}
    return "questions", {**asked, "weighted": False, "question": question, "arguments": arguments}


def _weighing(question: str, seed: int, kind: str = "plain", **arguments: Any) -> Any:
    return "questions", {
        **_question(question, kind, **arguments)[1],
        "seed": seed,
        "weighted": True,
    }


CORPUS = [
    ("files", "y,s\n1,900719925474099300.0\n0,900719925474099301.0\n"),
    ("options", ["evaluate", "@part.parquet", "@more/part.parquet", "--prevalence", "0.4"]),
    ("options", ["evaluate", "@rows.csv", *COLUMNS, "--weight", "w", "--weight", "p"]),
    ("options", ["evaluate", "@rows.csv", *COLUMNS, "--by", "g", "--by", "g"]),
    ("options", ["evaluate", "@rows.csv", *COLUMNS, "--label", "y", "--prevalence", "0.4"]),
    (
        "rows",
        {"y": [1, 0, None], "score": [1.0, 0.5, 0.2], "threshold": math.inf, "prevalence": 0.5},
    ),
    ("rows", {"y": [1, 0, 0], "score": [1.0, 2.0, 3.0], "unlabeled": "0", "prevalence": 0.5}),
    ("rows", {**ROWS, "prevalence": 10**400}),
    ("rows", {**ROWS, "sample_weight": [1e200] * 3}),
    ("rows", {**ROWS, "unlabeled": 10**400, "prevalence": 0.5}),
    ("rows", {**MORE, "prevalence": 0.5, "top": {0.5}}),
    ("rows", {**MORE, "prevalence": (0.5, 0.8), "sampling": "case-control"}),
    ("rows", {**MORE, "prevalence": (0.5, 0.8), "confidence_level": 1e-6, "threshold": 4.0}),
    (
        "metrics",
        {
            "metric": "informedness",
            **MORE,
            "unlabeled_prevalence": (0.2, 0.3),
            "confidence_level": 1e-320,
            "threshold": 6.0,
        },
    ),
    ("metrics", {"metric": "f1", **MORE, "prevalence": 0.5, "threshold": "6"}),
    (
        "metrics",
        {
            "metric": "average_precision",
            "y": [1, 0],
            "score": [0.0, 0.0],
            "unlabeled": 0,
            "purity": 0.99,
            "unlabeled_prevalence": 0.5,
        },
    ),
    ("metrics", {"metric": "f1", **MORE, "prevalence": 0.5, "threshold": decimal.Decimal("sNaN")}),
    ("metrics", {"metric": "f1", **MORE, "prevalence": 0.5, "threshold": 6.0, "interval": {0.5}}),
    ("metrics", {"metric": "f1", **MORE, "prevalence": 0.5, "threshold": 6.0, "interval": "x"}),
    (
        "metrics",
        {"metric": "f1", **MORE, "prevalence": 0.5, "threshold": 6.0, "interval": np.array([])},
    ),
    ("metrics", {"metric": "kappa", **ROWS, "prevalence": 0.5, "purity": [], "threshold": 1}),
    ("metrics", {"metric": "lift_auc", **MORE, "label_frequency": 3 / 8, "purity": 0.99}),
    (
        "metrics",
        {
            "metric": "brier_score",
            "y": [1, 0],
            "score": [0.0, 0.0],
            "unlabeled": 0,
            "unlabeled_prevalence": uc.Estimate(0.0, 0.0, 2e-9, 1e-9),
            "target": "population",
            "share_error": "guaranteed",
        },
    ),
    (
        "metrics",
        {
            "metric": "positive_likelihood_ratio",
            **MORE,
            "unlabeled_prevalence": (0.0, 0.789),
            "confidence_level": 0.999999,
            "threshold": 8.0,
        },
    ),
    (
        "metrics",
        {
            "metric": "kappa",
            **ROWS,
            "label_frequency": 0.6,
            "sample_weight": [7e89, 8e89, 2e89],
            "cluster": [0, 0, 1],
            "threshold": 2.0,
        },
    ),
    (
        "metrics",
        {
            "metric": "informedness",
            "y": [1.0, 0.0, math.nan],
            "score": [0.0, 1.0, 2.0],
            "label_frequency": 1.0,
            "target": "population",
            "threshold": -9.0,
        },
    ),
    (
        "metrics",
        {
            "metric": "expected_cost",
            "y": [1, 1, 0],
            "score": [1.0, 0.0, 1.0],
            "unlabeled": 0,
            "label_frequency": 0.94,
            "cluster": [2, 2, 2],
            "threshold": 0.0,
            "false_positive": 1,
            "false_negative": 0.5,
        },
    ),
    (
        "metrics",
        {
            "metric": "positive_likelihood_ratio",
            "y": [1, 0, 0],
            "score": [1.8e150, -9.9e149, 8.4e149],
            "unlabeled": 0,
            "unlabeled_prevalence": uc.Estimate(
                0.802264793960966, 0.8022647919609659, 0.802264795960966, 1e-9
            ),
            "confidence_level": 0.9,
            "sample_weight": [1.86989114e90, 3.12314199e90, 2.17247952e90],
            "threshold": 1.0,
        },
    ),
    _function("biased_auc", odds_ratio=10**400),
    _function("biased_recall", odds_ratio=1e300, threshold=6.0),
    _function("biased_recall", odds_ratio="0.5", threshold=6.0),
    _function("biased_recall", odds_ratio=9, threshold=6.0, confidence_level=Fraction(1, 3)),
    _function("biased_recall", odds_ratio=1.5, threshold=np.array([])),
    _function("break_even", metric="net_benefit", value=pd.NaT, threshold=6.0),
    _function("break_even", metric=np.array([]), value=0.1, threshold=1),
    _function("break_even", {"y": [1.0], "score": [0.2], "unlabeled": None}, metric="f1", value=0),
    _function("bounds", rounding=np.array([])),
    _function("bounds", basis=pd.NA),
    _function("curves", monotone=pd.NA),
    _function("compare", threshold=1j, prevalence=0.5),
    _function("plan", budget=5, threshold=pd.NA),
    _function("design", budget=10**400, threshold=6.0),
    _function("design", budget=5, threshold=[0]),
    _function("design", {"y": [None], "score": [0.0], "unlabeled": 0}, budget=5, threshold=0.0),
    _function("propensity", propensity="x"),
    _function("monitor", {"y": [], "score": np.array([]), "unlabeled": 0}, threshold=1.0),
    _function("select", method=pd.NA, distribution="normal"),
    _function("select", method="unobserved", distribution="normal"),
    _theory("required_labels", error=[]),
    _theory("required_labels", error=1e160),
    _theory("sign_test", wins=1, losses=10**400),
    _question("claiming", text=-math.inf),
    _question("require", condition=None),
    _question("require", "models", condition={}),
    _question("estimate", metric=1j, threshold=None),
    _question("estimate", metric=[0], threshold=1.0),
    _question("break_even", "chances", metric="roc_auc", value=0.6, threshold=None),
    _question("break_even", "chances", metric="average_precision", value=0.6, threshold=0.0),
    (
        "rows",
        {
            "y": [1, 0],
            "score": [1.0, 0.5],
            "unlabeled": 0,
            "label_frequency": 0.87,
            "target": "population",
            "confidence_level": 1e-320,
            "threshold": 0.5,
        },
    ),
    _question("costing", false_positive=Fraction(1, 3), false_negative=np.float16(0.1)),
    _question("costing", false_positive=0, false_negative=1e300),
    (
        "questions",
        {
            **_question("at", "reviews", threshold=None, top=3)[1],
            "seed": 695644442,
            "rows": 12,
            "threshold": 0.0,
            "labels": "random",
        },
    ),
    _question("calibrated_threshold", chance="0.5"),
    _question("sweep", metric="log_loss", over="threshold"),
    _question("sweep", metric=object, over="threshold"),
    _question("best_threshold", metric="informedness", at_least=10**400),
    _question("best_threshold", metric="f1", at_least={"precision": None}),
    _question("best_threshold", "reviews", metric="positive_likelihood_ratio", at_least=None),
    _question("estimate", "reviews", metric="positive_likelihood_ratio", threshold=9.0),
    *(_weighing("best_threshold", seed, cost={"false_positive": 1}) for seed in range(4)),
    (
        "questions",
        {**_weighing("claiming", 1772881304, "reviews", text="precision >= 0.1")[1], "rows": 12},
    ),
    *(_weighing("at", seed, "reviews", threshold=1.0) for seed in range(4)),
    (
        "questions",
        {
            **_weighing("deployed", 114237286, prevalence=0.5, threshold=9.0)[1],
            "rows": 12,
            "share": 0.1,
        },
    ),
    (
        "questions",
        {
            **_question("cost", "reviews", false_positive=7, false_negative=7, top=0.1)[1],
            "seed": 4140453461,
            "rows": 12,
            "share": (0.1, 0.4),
            "threshold": None,
        },
    ),
    ("files", "y,s\n1,0.5\n#0,0.3\n"),
    ("files", 'y,s\n1,"0.5\n0,0.3\n'),
    ("files", "\ny,s\n0,0\n"),
    ("options", ["evaluate", "rows.csv", "--label", "y", "--score", "s", "--threshold", "inf"]),
    ("options", ["evaluate", "rows.csv", "--label", "y", "--score", "s", "--json", ""]),
    ("options", ["evaluate", "rows.csv", "--label", "y", "--score", "s", "--seed", "-1"]),
    (
        "options",
        ["evaluate", "rows.csv", "--label", "y", "--score", "s", "--positive-label", "nan"],
    ),
    ("requirements", "precision >= "),
    ("requirements", "recall@NAN<=0"),
    ("requirements", "npv@top 5 ≤ .45%"),
    ("counts files", (COUNTS, {"version": "1"})),
    ("counts files", (COUNTS, {"version": 1, "squared_weight": [1, -2, 3]})),
    (
        "questions",
        {
            **_question("costing", "reviews", false_positive=1e9, false_negative=1e9)[1],
            "seed": 1452984588,
            "rows": 12,
            "labels": "any",
        },
    ),
    # Nothing is flagged, or no metric of a segment exists: a table without columns.
    (
        "functions",
        {**_function("monitor", TIED, threshold=1.0, period="week")[1], "seed": 4026223965},
    ),
    (
        "rows",
        {
            "y": [1.0, math.nan, math.nan],
            "score": [0.2, 0.4, 0.5],
            "unlabeled_prevalence": 0.2,
            "by": ["a", "b", "b"],
        },
    ),
    # A curvature that leaves a direction open.
    (
        "functions",
        {
            **_function("select", SPLIT, method="unobserved", distribution="empirical")[1],
            "seed": 4000115741,
        },
    ),
    # Numbers of other types must not set the precision of what is worked out.
    (
        "metrics",
        {
            "metric": "partial_roc_auc",
            "y": [1, 1, 0],
            "score": [3.0, 1.0, 2.0],
            "unlabeled": 0,
            "label_frequency": 0.69,
            "max_fpr": np.float16(0.1),
        },
    ),
    ("rows", {**TIED, "unlabeled_prevalence": 0.2, "confidence_level": Fraction(1, 3)}),
    # An end that the plain scale puts out of the range, and a slope that no float holds.
    (
        "questions",
        {
            **_question("net_benefit", "reviews", chance=0.2, threshold=-9.0, top=None)[1],
            "seed": 3518620697,
            "rows": 12,
            "labels": "random",
        },
    ),
    (
        "rows",
        {
            **TIED,
            "unlabeled_prevalence": (0.0, 0.8),
            "threshold": 0.0,
            "deploy_prevalence": 1e-320,
        },
    ),
    ("rows", {**MORE, "prevalence": 0.5, "target": pd.NA, "by": ["a", "b"] * 4}),
    ("rows", {**MORE, "prevalence": 0.5, "target": pd.NA, "cluster": [1, 2] * 4}),
    ("rows", {**MORE, "prevalence": 0.5, "target": pd.NA}),
    # Shares of labels above a score, one too large by rounding where weights are.
    (
        "questions",
        {
            **_weighing("require", 3721312374, "segments")[1],
            "rows": 80,
            "share": (0.1, 0.4),
            "threshold": None,
            "labels": "any",
            "arguments": {"condition": "a.roc_auc >= b.roc_auc - 0.02"},
        },
    ),
    # Verdicts that tell less than what the labels make certain.
    (
        "questions",
        {
            **_question("at", "reviews", threshold=None, top=0.1)[1],
            "seed": 1628373272,
            "threshold": None,
            "labels": "any",
        },
    ),
    # What is swept, and over what, is no name; a goal that verdicts do not move.
    _question("sweep", "clusters", metric=np.ma.masked),
    (
        "questions",
        {
            **_question("sweep", "chances", metric="average_precision", over=np.array([]))[1],
            "seed": 2797884397,
        },
    ),
    (
        "questions",
        {
            **_question(
                "best_threshold",
                "reviews",
                metric="predicted_positive_rate",
                at_least={"precision": 0.46},
            )[1],
            "seed": 2180372774,
            "rows": 200,
            "labels": None,
        },
    ),
    # Sums of weights that make a mean of shares a little more than one; a value that is no number.
    (
        "questions",
        {
            **_weighing("deployed", 2661524106, prevalence=0.5, threshold=None)[1],
            "share": (0.1, 0.4),
            "threshold": 0.0,
        },
    ),
    _question(
        "break_even",
        "chances",
        metric="positive_likelihood_ratio",
        value=decimal.Decimal("sNaN"),
        threshold=1.0,
    ),
    # A code that is a fraction, in the advised call; labels of clusters that are worth too little.
    (
        "rows",
        {
            "y": np.array([1, np.nan, 1] + [np.nan] * 7 + [1, np.nan, np.nan]),
            "score": np.arange(13.0),
            "unlabeled": Fraction(1, 3),
            "label_frequency": (0.3, 0.9),
            "confidence_level": 0.5,
        },
    ),
    (
        "questions",
        {
            **_weighing("best_threshold", 2616877861, "clusters", cost=decimal.Decimal("0.5"))[1],
            "rows": 12,
            "share": (0.1, 0.4),
            "labels": "random",
        },
    ),
    # A share that is lost in its own products; a row that outweighs all others; None for a text.
    (
        "rows",
        {
            "y": np.array([1.0, np.nan, 1.0, np.nan, np.nan, 1.0]),
            "score": np.array([-2.0, 0.1, -3.0, 0.2, 1.5, -1.0]),
            "unlabeled_prevalence": 1e-320,
            "sampling": "case-control",
            "threshold": 1.0,
        },
    ),
    (
        "metrics",
        {
            "metric": "average_precision",
            "y": np.array([1.0, np.nan, np.nan, np.nan, 1.0, np.nan, np.nan, np.nan]),
            "score": np.array([1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0]),
            "unlabeled": None,
            "label_frequency": 1.0,
            "confidence_level": 1e-6,
            "sample_weight": [1e-9, 0.0, 1.0, 1e-9, 2.5, 1e-9, 2.5, 2.5],
        },
    ),
    _question("require", "models", condition=None),
    # An end of labels that is no date.
    (
        "options",
        [
            *("monitor", "@rows.csv", "--score", "s", "--observed", "d", "--found", "e"),
            *("--threshold", "1", "--until", "inf"),
        ],
    ),
    # Thresholds that are fractions, which Python 3.11 cannot write with so many digits.
    _question("deployed", prevalence=0.001, threshold=Fraction(1, 3)),
    _function("plan", threshold=Fraction(1, 3), budget=2),
    # All rows flagged: their share is one, and by rounding of weights a little more.
    (
        "metrics",
        {
            "metric": "predicted_positive_rate",
            "y": np.array([1.0, 1.0, 1.0, np.nan, np.nan, np.nan]),
            "score": np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0]),
            "threshold": 0.0,
            "unlabeled_prevalence": 0.0,
            "target": "population",
            "sample_weight": [2.0, 0.76, 1.31, 0.54, 0.04, 0.44],
        },
    ),
    # A share of rows as a fraction; no name of a metric; verdicts that leave no negative in a draw.
    ("rows", {**MORE, "prevalence": 0.5, "top": Fraction(1, 3)}),
    _question("leaderboard", "models", metric=np.array([])),
    (
        "questions",
        {
            **_question("costing", "reviews", false_positive=0, false_negative=1)[1],
            "seed": 942653453,
            "rows": 12,
            "share": (0.1, 0.4),
        },
    ),
    # A goal of half precision, beside which NumPy rounds; names of metrics that are none.
    (
        "functions",
        {
            "kind": "break_even",
            "y": np.array([1.0, np.nan, np.nan, 1.0, np.nan, 1.0, np.nan]),
            "score": np.array([0.0, 1.0, -2.0, 1.0, 2.0, 1.0, -1.0]),
            "unlabeled": None,
            "share": 0.0,
            "seed": 1,
            "arguments": {
                "metric": "positive_likelihood_ratio",
                "value": np.float16(0.1),
                "threshold": 1e200,
            },
        },
    ),
    _question("sweep", metric=pd.NA, over="gamma"),
    _question("sweep", metric=pd.NA, over="prevalence"),
    # Verdicts after which no row is negative; pointwise bounds that fall with the score.
    (
        "questions",
        {**_weighing("claiming", 4256392120, "reviews", text="precision >= 0.1")[1], "rows": 12},
    ),
    (
        "functions",
        {
            "kind": "bounds",
            "y": np.array([1, 1, 1, *[np.nan] * 8, 0, np.nan]),
            "score": np.array(
                [-1.2, -0.6, -1.7, 0.2, 1.8, -2.1, -0.3, -1.86, -2.7, -0.9, -1.4, -1.8, -2.4]
            ),
            "unlabeled": None,
            "share": 0.4824,
            "seed": 1,
            "arguments": {
                "confidence_level": 0.5,
                "band": "binomial",
                "simultaneous": False,
                "rounding": "paper",
                "basis": "negative",
            },
        },
    ),
    # A cost of half precision beside a large one.
    _question("cost", false_positive=1e9, false_negative=np.float16(0.1), threshold=9.0, top=None),
    # All labels in one segment: its part of them is a rounding above 1.
    (
        "questions",
        {
            **_weighing("require", 3049897424, "segments", condition="recall > 50%")[1],
            "share": (0.1, 0.4),
            "threshold": 0.0,
        },
    ),
    # A level of confidence that is a fraction, by segment.
    (
        "rows",
        {
            "y": np.array([1.0, math.nan]),
            "score": np.array([-2.0, 2.0]),
            "unlabeled_prevalence": 0.975179007607125,
            "confidence_level": Fraction(1, 3),
            "threshold": -9.0,
            "by": ["b", "b"],
        },
    ),
]
