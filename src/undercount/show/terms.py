"""Metrics, assumptions and checks explained offline: formula, what it needs, reference."""

import difflib
import textwrap

from undercount.errors import InputError
from undercount.metric_facts import FACTS

JAIN = "Jain, White and Radivojac 2017, Recovering true classifier performance"
CLAESEN = "Claesen et al. 2015, Assessing binary classifiers using only positive and unlabeled data"
TABATABAEI = (
    "Tabatabaei et al. 2020, Estimating the F1 score for learning from positive and unlabeled"
)
AUL = "AUL is a better optimization metric in PU learning, 2021"
COOK = "Cook 2016, ROC curves and nonrandom data"

# metric → (what it is, formula, reference); what it needs is a fact of the metric
METRICS: dict[str, tuple[str, str, str]] = {
    "recall": (
        "The share of the positives that is flagged. Labelled rows alone give it.",
        "recall = flagged labelled / labelled",
        TABATABAEI,
    ),
    "precision": (
        "The share of the flagged rows that are positive.",
        "precision = prevalence · recall / flagged share",
        f"{TABATABAEI}; {JAIN} (eq. 3)",
    ),
    "f1": (
        "The harmonic mean of precision and recall.",
        "F1 = 2 · prevalence · recall / (prevalence + flagged share)",
        TABATABAEI,
    ),
    "average precision": (
        "Precision averaged over the positives, each at its own score.",
        "mean over labelled rows of [1 + (S - 1)(P - 1)/(L - 1)] / M at their scores",
        "unbiased form derived in this project's documentation",
    ),
    "lift auc": (
        "The area under recall against the flagged share. Needs no prevalence.",
        "AUL = prevalence/2 + (1 - prevalence) · AUC",
        AUL,
    ),
    "mcc": (
        "Matthews correlation of prediction and class.",
        "√(π(1-π)) (TPR - FPR) / √(flagged (1 - flagged))",
        "Matthews 1975",
    ),
    "lee liu": (
        "A score that ranks classifiers without a prevalence.",
        "recall² / flagged share = precision · recall / prevalence",
        f"Lee and Liu 2003; {TABATABAEI}",
    ),
    "specificity": (
        "The share of the negatives that is not flagged.",
        "1 - FPR, FPR = (flagged unlabeled - a · recall) / (1 - a) for pure labels",
        f"{JAIN} (eq. 2)",
    ),
    "accuracy": (
        "The share of all rows predicted right.",
        "prevalence · recall + (1 - prevalence) · specificity",
        JAIN,
    ),
    "fnr": (
        "The share of the positives that is not flagged. Labelled rows alone give it.",
        "fnr = 1 - recall",
        TABATABAEI,
    ),
    "npv": (
        "Negative predictive value: the share of the rows not flagged that are negative.",
        "npv = (1 - prevalence) · specificity / (1 - flagged share)",
        JAIN,
    ),
    "balanced accuracy": (
        "The mean of recall and specificity: accuracy if both classes were equally frequent.",
        "(recall + specificity) / 2",
        JAIN,
    ),
    "informedness": ("Youden's J.", "recall + specificity - 1 = TPR - FPR", "Youden 1950"),
    "kappa": (
        "Cohen's kappa: agreement of prediction and class beyond that of chance.",
        "(accuracy - e) / (1 - e), e = π · flagged + (1 - π)(1 - flagged)",
        "Cohen 1960",
    ),
    "lift": (
        "How many times more positives the flagged rows hold than all rows. Needs no prevalence.",
        "lift = precision / prevalence = recall / flagged share",
        TABATABAEI,
    ),
    "geometric mean": ("As named.", "√(recall · specificity)", JAIN),
    "positive likelihood ratio": (
        "By what factor a flag raises the odds of being positive.",
        "recall / FPR",
        JAIN,
    ),
    "negative likelihood ratio": (
        "By what factor no flag lowers the odds of being positive.",
        "(1 - recall) / specificity",
        JAIN,
    ),
}
# term → (what it is, formula, what it needs, reference)
TERMS: dict[str, tuple[str, str, str, str]] = {
    "unlabeled prevalence": (
        "The share of positives among the unlabeled rows: the hidden positives.",
        "a = (prevalence - labelled share) / (1 - labelled share) in a single sample",
        "is given, or estimated from the scores",
        f"{JAIN} (their α); {CLAESEN} (their β)",
    ),
    "prevalence": (
        "The share of positives among all rows of the target.",
        "prevalence = (purity · labelled + a · unlabeled) / rows; in case-control it is a",
        "is given, or follows from the unlabeled prevalence",
        f"{AUL} (their α)",
    ),
    "label frequency": (
        "The share of all positives that carry a label. Undefined in case-control samples.",
        "c = labelled positives / all positives",
        "is given, or follows from the prevalence",
        f"{TABATABAEI} (their ρ); Elkan and Noto 2008 (their c)",
    ),
    "label purity": (
        "The share of the rows labelled positive that really are.",
        "κ; 1 for clean labels",
        "is given, or estimated by the two-run composition",
        f"{JAIN} (their β)",
    ),
    "roc auc": (
        "The probability that a random positive scores above a random negative; ties count ½.",
        "AUC = ½ + (A - ½) / (purity - a), A that of labelled against unlabeled rows",
        "random labels, prevalence; at least A whatever it is",
        f"{JAIN} (eq. 4)",
    ),
    "random labels": (
        "Every positive is equally likely to carry a label (selected completely at random).",
        "P(labelled | positive, row) is the same for all rows",
        "cannot be tested from labels and scores alone",
        "Elkan and Noto 2008",
    ),
    "single-sample": (
        "One sample was drawn, then some of its positives were labelled: they are part of it.",
        "a = (π - λ) / (1 - λ), λ the labelled share",
        "know how your rows were collected",
        CLAESEN,
    ),
    "case-control": (
        "Positives and unlabeled rows were drawn apart; how many positives is a choice.",
        "π = a; the label frequency is undefined",
        "know how your rows were collected",
        JAIN,
    ),
    "gamma": (
        "The largest factor by which two positives' odds of being labelled differ; 1 is random.",
        "recall of the hidden positives between T/(T + Γ(1-T)) and ΓT/(ΓT + 1 - T)",
        "a judgement about how rows were labelled",
        "Rosenbaum 2002, Observational studies",
    ),
    "clusters": (
        "Rows that belong together, several to a customer, and were labelled together.",
        "variance = Σ over clusters of (Σ over rows of what the row adds)²",
        "independent clusters, labelled as a whole",
        "Liang and Zeger 1986; Kish 1965 (design effect)",
    ),
    "design effect": (
        "How many times larger a variance is because rows come in clusters or weights differ.",
        "variance by clusters / variance of independent rows",
        "clusters of which at least 20 carry a label",
        "Kish 1965, Survey sampling",
    ),
    "labelling chances": (
        "Each positive's chance of a label, where it differs from row to row and is known.",
        "a labelled row of chance e stands for 1/e positives",
        "chances that are right and above 0",
        "Horvitz and Thompson 1952; Hájek 1971",
    ),
    "deploy prevalence": (
        "The share of positives where the classifier will work, if it is another one.",
        "precision there = π TPR / (π TPR + (1-π) FPR) with the rates measured here",
        "same rates there: positives and negatives score there as they do here",
        "prior shift; Saerens, Latinne and Decaestecker 2002",
    ),
    "bounds": (
        "The worst and the best curve of this data set that the labels leave possible.",
        "tables at each score from a band around the labelled rows' rank distribution",
        "random labels, prevalence",
        f"{CLAESEN} (Theorem 1)",
    ),
    "selection": (
        "Labels of both classes, but only where somebody looked.",
        "probit models of outcome and selection; imputation; inverse probability weights",
        "how rows were chosen for a look",
        f"{COOK}; Begg and Greenes 1983",
    ),
    "predicted positive rate": (
        "The share of all rows that is flagged. It is counted, not estimated.",
        "flagged share = prevalence · recall + (1 - prevalence) · FPR",
        "the prevalence, if labelled and unlabeled rows were drawn apart",
        JAIN,
    ),
}
# check → (what it looks at, how it is decided, what follows)
CHECKS: dict[str, tuple[str, str, str]] = {
    "uc001": (
        "The prevalence must fit the scores at every threshold.",
        "no recovered rate leaves [0, 1] by more than 4 standard errors",
        "lower a given prevalence, replace an estimated one, or doubt that labels are random",
    ),
    "uc002": (
        "The estimators of the prevalence should agree.",
        "they lie within .05, or half their median, of each other",
        "verify a random sample of unlabeled rows",
    ),
    "uc003": ("There should be enough labels.", "at least 30 labelled rows", "label more"),
    "uc004": ("Few rows should share a score.", "at most 20 % do", "use the raw score"),
    "uc005": ("Scores must vary.", "more than one distinct score", "pass scores"),
    "uc006": (
        "Labelled rows should score higher than the others.",
        "their AUC is not below ½ by more than 2 standard errors",
        "if a low score means positive, pass its negative; nothing is ever turned round",
    ),
    "uc007": (
        "Hidden positives make a useful classifier look worse, not better.",
        "no naive value is above its estimate",
        "check direction, purity and how rows were labelled",
    ),
    "uc008": (
        "The labelled positives should be a fair sample of all positives.",
        "cannot be decided from labels and scores",
        "ask how rows were labelled; see which Γ the conclusion survives",
    ),
    "uc009": ("Scores should not be saturated.", "at most 5 % at the top", "use the raw score"),
    "uc010": (
        "The score must not contain the label.",
        "AUC of labelled against unlabeled rows below .999 (estimators warn above .99: UC012)",
        "score rows that the model was not trained on; until then no requirement is met",
    ),
    "uc011": (
        "The scores should identify the prevalence.",
        "the Consensus estimator's interval is narrow enough",
        "verify a random sample of unlabeled rows",
    ),
    "uc013": (
        "A threshold should flag some rows, and not all.",
        "at least one row scores as high, at least one lower",
        "move the threshold into the range of the scores",
    ),
    "uc020": (
        "If rows come in clusters, enough clusters should carry a label.",
        "the variance rests on at least 20 clusters of equal weight (Satterthwaite)",
        "label more clusters",
    ),
    "uc021": (
        "If chances of a label are known, no label should stand for too many positives.",
        "labels are worth at least 30 of equal chance, none stands for over 10 % of the positives",
        "label more rows where chances are small",
    ),
    "uc022": (
        "Covariates or chances may contradict that labels are a fair sample.",
        "no group's labels need more hidden positives than its scores allow; weighted ranks",
        "pass the chances of a label",
    ),
    "uc012": ("What estimators warned of.", "their own rules", "as the message says"),
}
for _metric, (_what, _formula, _source) in METRICS.items():
    _needs = FACTS[_metric.replace(" ", "_")].needs
    TERMS[_metric] = (_what, _formula, ", ".join(_needs), _source)
TERMS |= {code: (*rule, "the checks of an evaluation") for code, rule in CHECKS.items()}
ALIASES = {
    "auc": "roc auc",
    "ap": "average precision",
    "aul": "lift auc",
    "scar": "random labels",
    "purity": "label purity",
    "ll": "lee liu",
    "Γ": "gamma",
    "cluster": "clusters",
    "propensity": "labelling chances",
    "chance": "labelling chances",
    "transport": "deploy prevalence",
    "same rates there": "deploy prevalence",
    "hidden positives": "unlabeled prevalence",
    "tpr": "recall",
    "false negative rate": "fnr",
    "negative predictive value": "npv",
    "youden": "informedness",
}


def explanation(term: str | None) -> str:
    """Explain a term, or list the terms."""
    if term is None:
        return "Terms: " + ", ".join(sorted(TERMS))
    key = term.strip().lower().replace("_", " ")
    key = ALIASES.get(key, ALIASES.get(term.strip(), key))
    if key not in TERMS:
        near = difflib.get_close_matches(key, [*TERMS, *ALIASES], n=3)
        hint = (
            f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(sorted(TERMS))}"
        )
        raise InputError(f"no explanation of {term!r}; {hint}")
    what, formula, needs, reference = TERMS[key]
    lines = [key, textwrap.fill(what, 100, initial_indent="  ", subsequent_indent="  ")]
    for name, text in (("Formula", formula), ("Needs", needs), ("Reference", reference)):
        head = f"  {name:<10} "
        lines.append(textwrap.fill(text, 100, initial_indent=head, subsequent_indent=" " * 13))
    return "\n".join(lines)
