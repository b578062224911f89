"""Jain et al. (2017), Tables 1 and 2 and Figure 2: recovery on twelve data sets."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

import undercount as uc
from undercount.papers.data import Data, have
from undercount.papers.published import published
from undercount.papers.result import Result
from undercount.papers.running import Draw, Request, Setting, column

PAPER = "jain2017"
FILES = {name: f"{name}_jain" for name in ("concrete", "landsat", "mushroom", "pageblock", "wine")}
FILES["gas"] = "gas_partial"
FEW = ("concrete", "housing", "pageblock", "pima")  # 100 labelled rows; the others have 1,000
MOST_UNLABELED = 10_000
BAGS, QUICK_BAGS, QUICK_RUNS = 100, 5, 5
NOTES = (
    (
        "'publ.' errors are against the AUC of another model, trained on all classes; ours are "
        "against the truth of the same scores on the unlabeled rows, which is what a recovery can "
        "hope to find, so ours may be smaller for that reason alone."
    ),
    (
        f"Bagged networks of 5 hidden units, out-of-bag scores; {BAGS} bags, or {QUICK_BAGS} when "
        f"fewer than {QUICK_RUNS} draws are asked for, which makes worse scores."
    ),
    (
        "Gas has 3,095 of 5,574 rows here, and Bank other columns than the paper's 13, which it "
        "does not name."
    ),
)


def table1(request: Request) -> Result:
    """Reproduce Table 1: errors of the recovered AUC."""
    names = ("PU", "IR", "DR", "IE", "DE")
    return _table(request, "columns1", "table1", names, "auc", "mean absolute errors of the AUC")


def table2(request: Request) -> Result:
    """Reproduce Table 2: errors of the recovered area under precision and recall."""
    names = ("PU", "IR", "IE")
    title = "mean absolute errors of the area under precision and recall"
    return _table(request, "columns2", "table2", names, "pr", title)


def _table(
    request: Request, key: str, item: str, names: tuple[str, ...], kind: str, title: str
) -> Result:
    printed = published(PAPER)
    rows: list[Any] = []
    for line, draws in zip(printed[item], _draws(request), strict=True):
        cell = dict(zip(printed[key], line, strict=True))
        values = [cell[name] for name in names]
        head = (cell["data"], cell["label_purity"])
        if draws is None:
            rows.append((*head, None, cell["auc"], *[None] * (len(names) + 2), *values))
            continue
        errors = [np.abs(column(draws, f"{kind} {name}")).mean() for name in names]
        bias = column(draws, f"{kind} IR").mean()
        gap = np.abs(column(draws, "gap")).mean()
        ours = (column(draws, f"{kind} truth").mean(), cell["auc"], *errors, bias, gap)
        rows.append((*head, *(float(value) for value in ours), *values))
    columns = ("data", "purity", "our truth", "publ. truth", *names, "bias of IR", "e")
    columns += tuple(f"publ. {name}" for name in names)
    with_data = [row for row in rows if row[2] is not None]
    if with_data:
        means = [float(np.mean(values)) for values in list(zip(*with_data, strict=True))[2:]]
        rows.append(("mean", None, *means))
    return _result(request, title, columns, rows)


def figure2(request: Request) -> Result:
    """Reproduce Figure 2: distribution of errors by purity of the labels."""
    purity = [line[2] for line in published(PAPER)["table1"]]
    pooled: dict[float, list[Draw]] = {value: [] for value in dict.fromkeys(purity)}
    for value, draws in zip(purity, _draws(request), strict=True):
        pooled[value] += draws or []
    rows = []
    for value, draws in pooled.items():
        for kind, names in (("auc", ("PU", "IR", "DR", "IE", "DE")), ("pr", ("PU", "IR", "IE"))):
            for name in names if draws else ():
                errors = column(draws, f"{kind} {name}")
                quartiles = [float(q) for q in np.quantile(errors, [0.05, 0.25, 0.5, 0.75, 0.95])]
                rows.append((value, kind, name, float(errors.mean()), *quartiles))
    columns = ("purity", "area", "estimate", "mean error", "5 %", "25 %", "median", "75 %", "95 %")
    return _result(request, "distribution of errors by purity", columns, rows)


def _result(
    request: Request,
    title: str,
    columns: tuple[str, ...],
    rows: list[Any],
) -> Result:
    names = dict.fromkeys(line[0] for line in published(PAPER)["table1"])
    missing = [name for name in names if not have(FILES.get(name, name), request.data_dir)]
    note = f"Not run, since no data were given: {', '.join(missing)}; means are over the others."
    notes = (*NOTES, note) if missing else NOTES
    return Result(
        PAPER, request.item, title, columns, tuple(rows), notes, request.runs, request.seed
    )


def _draws(request: Request) -> list[list[Draw] | None]:
    """Return the draws of each row of Table 1, or None where there is no data."""
    asked = replace(request, item="table1")  # Table 2 and Figure 2 come from the same draws
    bags = QUICK_BAGS if request.runs < QUICK_RUNS else BAGS
    found: list[list[Draw] | None] = []
    loaded: dict[str, Data] = {}
    for data, _, purity, *_ in published(PAPER)["table1"]:
        file = FILES.get(data, data)
        if not have(file, request.data_dir):
            found.append(None)
            continue
        given = loaded.setdefault(file, request.data(file))
        setting = {"data": data, "purity": purity, "bags": bags}
        found.append(asked.draws(_recover, [setting], given.features, given.y, block=1)[0])
    return found


def _recover(setting: Setting, rng: np.random.Generator, features: Any, truth: Any) -> Draw:
    kept, labelled = _split(setting, rng, truth)
    score = _out_of_bag(features[kept], labelled, setting["bags"], rng)
    y = np.where(labelled, 1.0, np.nan)
    counts = uc.ScoreCounts.from_rows(y, score)
    rest = truth[kept][~labelled]
    complete = uc.labelled_curve(uc.ScoreCounts.from_rows(rest, score[~labelled]))
    real = float(rest.mean()), float(truth[kept][labelled].mean())
    estimated = _estimated(counts)
    naive = uc.naive_curve(counts)
    pr_truth, pr_naive = _pr_area(complete), _pr_area(naive)
    draw: Draw = {"auc truth": complete.roc_auc, "pr truth": pr_truth}
    draw |= {"auc PU": naive.roc_auc - complete.roc_auc, "pr PU": pr_naive - pr_truth}
    for kind, (share, purity) in (("R", real), ("E", estimated)):
        direct = 0.5 + (naive.roc_auc - 0.5) / (purity - share)  # eq. 4, clipped as in the paper
        curve = _algorithm1(counts, share, purity)
        draw[f"auc D{kind}"] = min(max(direct, 0.0), 1.0) - complete.roc_auc
        draw[f"auc I{kind}"] = curve.roc_auc - complete.roc_auc
        draw[f"pr I{kind}"] = _pr_area(curve) - pr_truth
    draw["gap"] = (estimated[1] - estimated[0]) - (real[1] - real[0])
    return draw


def _pr_area(curve: uc.OperatingCurve) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uc.UndefinedMetricWarning)  # nothing flagged at first
        area: float = uc.precision_recall_auc(curve)
    return area


def _split(setting: Setting, rng: np.random.Generator, truth: Any) -> tuple[Any, Any]:
    """Return the rows used and which of them carry a label, some of them wrongly."""
    number = 100 if setting["data"] in FEW else 1000
    number = min(number, int(truth.sum()) // 2)
    right = round(setting["purity"] * number)
    rows = [
        rng.choice(np.flatnonzero(truth == value), size, replace=False)
        for value, size in ((1, right), (0, number - right))
    ]
    chosen = np.concatenate(rows)
    rest = rng.permutation(np.setdiff1d(np.arange(len(truth)), chosen))[:MOST_UNLABELED]
    return np.append(chosen, rest), np.arange(number + len(rest)) < number


def _out_of_bag(features: Any, labelled: Any, bags: int, rng: np.random.Generator) -> Any:
    from sklearn.neural_network import MLPClassifier  # noqa: PLC0415 - slow to import
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415 - likewise

    scaled = StandardScaler().fit_transform(features)
    total, times = np.zeros(len(scaled)), np.zeros(len(scaled))
    while bags > 0 or not times.all():  # a row that is in every bag has no score yet
        bags -= 1
        drawn = rng.integers(len(scaled), size=len(scaled))
        network = MLPClassifier(
            (5,),
            max_iter=100,
            early_stopping=True,
            validation_fraction=0.25,
            learning_rate_init=0.01,
            random_state=int(rng.integers(2**31)),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # not converged: early stopping is the design
            network.fit(scaled[drawn], labelled[drawn])
        out = np.ones(len(scaled), dtype=bool)
        out[drawn] = False
        total[out] += network.predict_proba(scaled[out])[:, 1]
        times[out] += 1
    return total / times


def _estimated(counts: uc.ScoreCounts) -> tuple[float, float]:
    """Estimate share and purity by AlphaMax-N; without a gap between them nothing is recovered."""
    from undercount.prevalence import AlphaMaxN  # noqa: PLC0415 - slow to import

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small samples and weak scores are the experiment
        found = AlphaMaxN(n_resamples=0, random_state=0).fit(counts)
    share = min(found.unlabeled_prevalence_, found.label_purity_ - 0.01)
    return float(share), float(found.label_purity_)


def _algorithm1(counts: uc.ScoreCounts, share: float, purity: float) -> uc.OperatingCurve:
    """Clean the recovered curve as Algorithm 1 does, even where the shares do not fit.

    `mixture_curve` refuses such shares, but the paper's tables count what they give.
    """
    shares = uc.Shares(share, purity, sampling="case-control")
    raw = uc.mixture_curve(counts, shares, clean=False)
    inside = (raw.tpr >= 0) & (raw.tpr <= 1) & (raw.fpr >= 0) & (raw.fpr <= 1)
    tpr, fpr = np.append(raw.tpr[inside], [0, 1]), np.append(raw.fpr[inside], [0, 1])
    order = np.lexsort((tpr, fpr))
    tpr, fpr = np.maximum.accumulate(tpr[order]), fpr[order]
    threshold = np.linspace(1, 0, len(tpr))
    threshold[0] = np.inf
    return uc.OperatingCurve(threshold, tpr, fpr, share)
