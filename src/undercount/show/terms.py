"""Metrics, assumptions and checks explained offline: formula, what it needs, reference."""

from undercount.errors import InputError, suggest
from undercount.metric_facts import FACTS
from undercount.show.layout import terminal_width, too_wide, wrap

JAIN = "Jain, White and Radivojac 2017, Recovering true classifier performance"
CLAESEN = "Claesen et al. 2015, Assessing binary classifiers using only positive and unlabeled data"
TABATABAEI = (
    "Tabatabaei et al. 2020, Estimating the F1 score for learning from positive and unlabeled"
)
AUL = "AUL is a better optimization metric in PU learning, 2021"
KERNEL = "Ramaswamy, Scott and Tewari 2016, Mixture proportion estimation"
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
    "fpr": (
        "The share of the negatives that is flagged.",
        "(purity · flagged unlabeled - a · flagged labelled) / (purity - a)",
        f"{JAIN} (eq. 2)",
    ),
    "tpr": (
        "Another name of recall.",
        "flagged labelled / labelled",
        TABATABAEI,
    ),
    "partial roc auc": (
        "The area under the ROC curve up to a false-positive rate, scaled to [0.5, 1].",
        "½ (1 + (area - m²/2) / (m - m²/2)) for the rate m",
        "McClish 1989",
    ),
    "log loss": (
        "The mean of -log of the probability given to the true class.",
        "π E[ℓ₁ - ℓ₀ | labelled] + E[ℓ₀]",
        "this project's documentation",
    ),
    "brier score": (
        "The mean squared distance between probability and class.",
        "π E[ℓ₁ - ℓ₀ | labelled] + E[ℓ₀]",
        "Brier 1950",
    ),
    "f beta": (
        "The F score, recall counting β times as much as precision.",
        "(1 + β²) π recall / (β² π + flagged share)",
        TABATABAEI,
    ),
    "expected cost": (
        "What errors cost a row on average.",
        "c · (flagged - π recall) + d · π (1 - recall), c a false positive's cost, d a negative's",
        "this project's documentation, How to",
    ),
    "net benefit": (
        "True positives a row, less the false ones at the rate at which one is worth the other.",
        "π recall - p/(1 - p) · (flagged - π recall), p the chance at which flagging just pays",
        "Vickers and Elkin 2006",
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
        (
            "chances that are right and above 0; of a ratio that multiple at which the sum of 1/e "
            "over the labels is the known number of positives"
        ),
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
    "own-score": (
        "A method of select: the classifier under test chose, by its own score, who was looked at.",
        "a probit (or logit) of the class in the score, drawn out over all rows",
        "chosen by the score alone; that shape, also where nobody looked",
        f"{COOK} (eq. 14)",
    ),
    "observed-score": (
        "A method of select: another score, which is known, chose who was looked at.",
        "a probit (or logit) of the class in both scores, drawn out over all rows",
        "chosen by the two scores alone; that shape, also where nobody looked",
        f"{COOK} (appendix B)",
    ),
    "unobserved": (
        (
            "A method of select: whoever chose knew more than the columns tell. No requirement is "
            "met or failed by its shape alone, nor where most rows were never looked at."
        ),
        "two probits, of the choice and of the class, whose unseen parts are correlated",
        (
            "jointly normal unseen parts, and nothing else unless columns moved the choice alone: "
            "then that these did not move the class"
        ),
        f"{COOK} (eq. 15); Van de Ven and Van Praag 1981",
    ),
    "begg-greenes": (
        "A method of select: known columns and chance chose; the others' labels are filled in.",
        "labels where somebody looked, else a probit of the class in the columns",
        "chosen by the columns alone; a probit shape of the class",
        "Begg and Greenes 1983",
    ),
    "ipw": (
        "A method of select: known columns and chance chose; each label stands for many rows.",
        "weights 1 / chance of a look, by a probit of the choice in the columns",
        "chosen by the columns alone; every row had a chance; a probit shape of the choice",
        "Alonzo and Pepe 2005",
    ),
    "doubly-robust": (
        "A method of select: begg-greenes, put right by the weights of ipw.",
        "expected label + (label - expected label) / chance of a look",
        "chosen by the columns alone; every row had a chance; one of two probit shapes",
        "Alonzo and Pepe 2005",
    ),
    "claim": (
        "What the verdict judges: one metric and a goal, such as precision ≥ 60 %.",
        "the first --require, the field on the page, or a round number below the interval",
        "a threshold, for metrics that have one",
        "documentation, The live report",
    ),
    "robust": (
        "A verdict: the claim holds for every share of hidden positives that the scores allow.",
        "the interval at each share from 0 to the ruled-out limit lies on the right side",
        "right labels: no negative is labelled positive; random ones, within the Γ that is said",
        "documentation, The live report",
    ),
    "supported by reviews": (
        "A verdict: reviewed rows say that the claim holds, whatever the share of hidden ones.",
        "the interval that reviews give lies on the right side",
        "right verdicts on rows that a plan drew",
        "documentation, The live report",
    ),
    "random audit": (
        "The rows that were looked at are a random sample of all rows: nobody chose them.",
        "each row had the same chance of a look; each verdict stands for the rows of its scores",
        "how rows were chosen; scores can contradict it (UC022), nothing can show it",
        "documentation, Review a few rows",
    ),
    "if the audit was random": (
        "A verdict: the claim holds by audited rows if nobody chose which rows were looked at.",
        "the interval that audited rows give lies on the right side",
        "right verdicts; a random audit, which nothing in the rows can show",
        "documentation, The live report",
    ),
    "reviews leave it open": (
        "A verdict: the interval that reviews give holds values on both sides of the goal.",
        "low < goal < high",
        "more reviews: undercount plan --reviews FILE --budget N",
        "documentation, The live report",
    ),
    "if": (
        "A verdict: a share was given, and the claim holds there; nothing says it is right.",
        "the interval at the share given lies on the right side; beside it how far it may move",
        "random labels, the share given",
        "documentation, The live report",
    ),
    "depends on the prevalence": (
        "A verdict: the claim holds in part of the share's interval, or not at every share below.",
        "the interval at some share of the interval lies on the right side",
        "a better known share: verify unlabeled rows",
        "documentation, The live report",
    ),
    "depends on out-of-fold scores": (
        "A verdict: the claim holds at every share, but the scores leave hardly a positive hidden.",
        "the estimated share of labelled positives is at least .85 (UC016)",
        "scores of rows that the model was not trained on, or a share from elsewhere",
        "documentation, The live report",
    ),
    "not supported": (
        "A verdict: the claim holds nowhere in the share's interval, or a check forbids any.",
        "no interval lies on the right side; or a check fails, or the score knows the label",
        "another claim or threshold, or what the check asks for",
        "documentation, The live report",
    ),
    "no target set": (
        "No target was set, and scores alone suggest none: their low end is an assumption.",
        "the share is estimated from scores, and neither --require nor claiming() names a target",
        "a target of your own",
        "documentation, The live report",
    ),
    "ruled out": (
        "The one limit of the share of hidden positives: the scores allow no more.",
        "the smaller of two confidence bounds: of heads, and of the ROC AUC, which is at most 1",
        "random labels",
        f"{JAIN}; the bound of prevalence's ROC slope",
    ),
    "threshold": (
        "Rows with at least this score are flagged.",
        "score ≥ threshold",
        "a choice; best_threshold finds one",
        "documentation, Evaluate",
    ),
    "calibration": (
        "The share of positives among rows of about the same score.",
        "labelled share of the group / label frequency (single-sample)",
        "random labels, prevalence",
        JAIN,
    ),
    "reviews": (
        "Unlabeled rows that somebody looked at because a plan drew them, with the verdicts.",
        "hidden positives = Σ m + Σ over reviewed rows (verdict - m) / chance, m a guess",
        "right verdicts; nothing of the labels",
        "model-assisted survey estimation: Särndal, Swensson and Wretman 1992",
    ),
    "plan": (
        "Which unlabeled rows to look at, best first; any beginning of it is a valid sample.",
        "strata of the score; reviews in each as spread of a verdict × what it moves the goal",
        "scores; a guess of the hidden share, which only makes it sharper",
        "Neyman 1934 (optimum allocation)",
    ),
    "stratum": (
        "A range of scores from which rows to review are drawn at random.",
        "strata are narrow where a verdict says much, and cut at the threshold",
        "scores",
        "Neyman 1934",
    ),
    "chance": (
        "How likely a row was to be chosen for review; a verdict stands for 1/chance rows.",
        "reviews in the stratum / unlabeled rows in the stratum",
        "the plan",
        "Horvitz and Thompson 1952",
    ),
    "half-width": (
        "Half the width of an interval: the ± behind a value.",
        "(high - low) / 2",
        "nothing",
        "this project's documentation",
    ),
    "any labels": (
        "Reviews alone carry the answer: a labelled row is positive, whoever labelled it and why.",
        "no chance of being labelled enters",
        "reviews drawn by a plan, right verdicts",
        "this project's documentation",
    ),
    "naive": (
        "The value if every unlabeled row is called negative, as most tools do.",
        "labelled rows against all others",
        "nothing; it is wrong, mostly too low",
        CLAESEN,
    ),
    "true value": (
        "The metric with the hidden positives counted as positives, and its interval.",
        "in so many of 100 such intervals, 95 say, the true value lies inside",
        "what the last column says",
        "this project's documentation, Validity",
    ),
    "needs": (
        "What a number rests on: right and random labels, the prevalence, the purity of labels.",
        "nothing < right labels < random labels < prevalence < purity",
        "read it before the number",
        "this project's documentation, Ideas",
    ),
    "at least": (
        (
            "The value if no positive were hidden and every label is right; more hidden ones only "
            "raise it. After ~ it has the chance of the labels itself; without, the metric of "
            "these rows cannot be lower."
        ),
        "the naive value, for metrics that grow with the hidden share",
        "random labels, pure; for the precision of these rows pure labels alone",
        "Claesen et al. 2015; this project's documentation, Evaluate",
    ),
    "segments": (
        "Rows of one country, month or customer group, each evaluated by itself.",
        "one evaluation a value of the column; a row that cannot be evaluated says why",
        "random labels within each segment",
        "this project's documentation, Segments",
    ),
    "pooled": (
        (
            "A segment's hidden share, drawn towards the others as far as the chance of its "
            "labels says; the interval stays its own."
        ),
        "log odds: centre + τ²/(τ² + 4/labels) · (own - centre)",
        "segments that differ as draws from one distribution do",
        "Paule and Mandel 1982; Morris 1983",
    ),
    "heterogeneity": (
        "Whether segments differ more than their errors let them.",
        (
            "twice the smaller p of Cochran's Q = Σ (value - mean)² / error², on the metric's "
            "scale, and of the largest difference from the others (Šidák)"
        ),
        "errors that are independent; those in common make it cautious",
        "Cochran 1954; Šidák 1967",
    ),
    "two sources": (
        "Positives found by two sources of labels tell how many neither found.",
        "all = (n1 + 1)(n2 + 1)/(both + 1) - 1; dependent sources: hidden times their odds ratio",
        "independent sources: neither finds more of what the other found",
        "Chapman 1951; Chao 1987",
    ),
    "late labels": (
        "Labels that arrive after the row; recent rows lack them without being negative.",
        "chance = Π over longer delays of (1 - n/R), R with delay ≤ u ≤ window",
        "delays alike, a mature oldest cohort",
        "Lagakos, Barraj and De Gruttola 1988",
    ),
    "mature": (
        "A cohort nearly all of whose labels have arrived.",
        "the last 30 days of its window bring hardly any labels",
        "know how long labels may take",
        "Kalbfleisch and Lawless 1989",
    ),
    "alarm": (
        "Evidence that the precision changed, which may be looked at every week.",
        "mean over days s of ∫ chance of all seen, rate θr since s / ∫ one rate r; on at 2/risk",
        "delays alike, a baseline",
        "Ville 1939; Robbins 1970",
    ),
    "calibrated": (
        (
            "How the interval of an estimated share is made: quantiles of the truth among "
            "simulated problems that look like this one. It holds chance and the estimator's bias."
        ),
        "metric at both ends of the share's interval, added in squares to the chance of labels",
        "scores like some that were simulated",
        "this project's documentation, Evaluate",
    ),
    "bootstrap": (
        (
            "Rows are resampled, the share estimated anew and every metric computed each time. It "
            "holds chance alone, not the estimator's bias."
        ),
        "quantiles over the resamples",
        "an estimator without bias",
        "Efron 1979",
    ),
    "combined": (
        "The resamples of the bootstrap, their shares spread as widely as the calibrated interval.",
        "the wider of both",
        "scores like some that were simulated",
        "this project's documentation, Evaluate",
    ),
    "target": (
        (
            "What intervals speak of: these very rows (data set), where only the choice of the "
            "labelled ones is random, or the population they were drawn from."
        ),
        "data set: labels drawn among these positives; population: rows drawn as well",
        "know which question you ask",
        "this project's documentation, Validity",
    ),
    "flagged": (
        "Rows predicted positive: with a score at the threshold or above, or among the top.",
        "score >= threshold",
        "nothing",
        JAIN,
    ),
    "weakest link": (
        "The assumption or check to worry about first.",
        "the worst finding; else how the share is known and whether labels are random",
        "do what it says",
        "this project's documentation, Report",
    ),
    "requirement": (
        (
            "A condition on a metric: met if its whole interval lies on the right side, failed if "
            "on the wrong one, else inconclusive."
        ),
        "precision@0.7 >= 0.8 and fpr < 2%",
        "exit codes 0, 1 and 3; inconclusive too if a check fails or the share was only estimated",
        "this project's documentation, How to",
    ),
    "top": (
        (
            "So many rows of the highest scores, as a team can look at. Where the last one is tied "
            "with others, each of them counts by its chance of being taken."
        ),
        "recall = (labelled above + f · labelled tied) / labelled; precision = π n recall / k",
        "as precision, recall and lift need",
        "this project's documentation, How to",
    ),
    "gain": (
        (
            "What the best threshold is better by than another. Choosing it on the same rows "
            "flatters it, which drawing labels anew shows and takes off."
        ),
        "value of the best - value of the other - mean of the same among draws",
        "random labels, prevalence",
        "this project's documentation, How to",
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
        "no rate leaves [0, 1] by 4 standard errors, no metric what is possible by its interval",
        "lower a given prevalence, replace an estimated one, or doubt that labels are random",
    ),
    "uc002": (
        (
            "The estimators of the prevalence should agree. Their answers are raw; the estimate "
            "allows for how far each errs on simulated scores of this shape, and so may lie "
            "outside them."
        ),
        "they lie within .05, or half their median, of each other",
        "review the rows that say most: undercount plan",
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
        "review the rows that say most: undercount plan",
    ),
    "uc013": (
        "A threshold should flag some rows, and not all.",
        "at least one row scores as high, at least one lower",
        "move the threshold into the range of the scores",
    ),
    "uc014": (
        "A model trained on found labels predicts the chance of being labelled.",
        "at .5, scores average nearer to the labelled share than to the prevalence",
        "one half of being positive is the label frequency times one half",
    ),
    "uc015": (
        "Labelled positives should score like the positives that reviews found.",
        "a trend over the strata of the plan; warns below p = .05",
        "reviews alone lead whether they do or not; if not, random labels must not be supposed",
    ),
    "uc016": (
        "Scores that leave hardly a positive hidden may be those of rows trained on.",
        "the estimated share of positives that carry a label is below .85; not asked if given",
        "score rows that the model was not trained on; until then no light is green",
    ),
    "uc017": (
        "Few labels cannot tell that each of them stands for hundreds of hidden positives.",
        "50 labels or more, or at most 100 estimated positives for each; not asked if given",
        "give a prevalence, or have unlabeled rows reviewed; until then no gate rests on it",
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
        "Scores, dates, covariates, chances, sources or segments may say that labels are unfair.",
        "labels need no more positives than scores allow; rows looked at stand for all rows",
        "pass the chances of a label, or those that tell who was looked at",
    ),
    "uc012": ("What estimators warned of.", "their own rules", "as the message says"),
    "uc023": (
        "If labels come late, nearly all of the oldest rows' labels should have arrived.",
        "at most 2 % of the labels in the last 30 days of the oldest window, 20 for each 100 after",
        "dates of rows and of labels; delays alike",
    ),
    "uc024": (
        "Rows may score just what the threshold is in single precision, and lie below it.",
        "no row scores the threshold, some score it rounded to single or half precision",
        "scores are compared as exact numbers; NumPy rounds the threshold to the scores' precision",
    ),
    "uc025": (
        "Whether every row is there several times: copies make intervals too narrow.",
        "the rows of each label at every score, 20 or more, are multiples of one number above 1",
        "leave each row once, or name what belongs together by cluster",
    ),
}
# method → (how it answers, reference)
METHODS: dict[str, tuple[str, str]] = {
    "consensus": ("The default: small networks weigh the answers of the others.", "documentation"),
    "dedpul": ("The ratio of two densities of the ranks of the scores.", "Ivanov 2020, DEDPUL"),
    "bbe": ("The top of the scores with the least share of unlabeled rows.", "Garg et al. 2021"),
    "km1": ("The kernel mean of the unlabeled rows, less that of the labelled.", KERNEL),
    "km2": ("As KM1, with another rule for the gradient.", KERNEL),
    "roc slope": ("The slope at the right end of the ROC, an upper bound.", "Scott 2015"),
    "patra-sen": ("The distance of distribution functions, its bend.", "Patra and Sen 2016"),
    "alphamax": ("The bend of a likelihood along the share.", "Jain, White, Radivojac 2016"),
    "distcurve": ("A network on the curve of distances.", "Zeiberg, Jain, Radivojac 2020"),
    "two labels": ("The quotient of two areas, by known negatives.", CLAESEN),
}
for _method, (_how, _source) in METHODS.items():
    TERMS[_method] = (
        f"An estimator of the share of hidden positives. {_how}",
        "see the page Prevalence of the documentation",
        "random labels; scores that only positives reach, or known negatives",
        _source,
    )
for _metric, (_what, _formula, _source) in METRICS.items():
    _needs = FACTS[_metric.replace(" ", "_")].needs
    TERMS[_metric] = (_what, _formula, ", ".join(_needs), _source)
TERMS |= {code: (*rule, "the checks of an evaluation") for code, rule in CHECKS.items()}
TERMS |= {
    "rank": (
        (
            "Place of a model among those compared, 1 for the largest value. In brackets: those "
            "that chance leaves open; the true ranks of all models lie between with the "
            "confidence of the comparison."
        ),
        "1 + models above beyond doubt … models - models below beyond doubt",
        "what the metric needs",
        "Mogstad, Romano, Shaikh and Wilhelm 2024, decided by Holm's adjusted p-values",
    ),
    "same work": (
        (
            "Each model flags as many rows, those with its highest scores, so that no model is "
            "better for flagging fewer. Of rows tied at the last place a share is taken. Who finds "
            "more there is better in every metric, whatever the prevalence."
        ),
        "recall of the k highest; precision = prevalence · recall / (k/n)",
        "random labels; precision the prevalence too",
        "docs/how-to/compare.md",
    ),
    "p": (
        (
            "How often a difference at least as large would be seen if the models were equal. Of "
            "several pairs it is adjusted, so that with a chance of 1 less the level any pair at "
            "all is called different wrongly. The interval beside it is for its pair alone: it may "
            "leave 0 out where the adjusted p is too large to call the two different."
        ),
        "Holm: p-values in rising order times the pairs that are left",
        "what the metric needs",
        "Holm 1979",
    ),
}
ALIASES = {
    "chosen by the score alone": "own-score",
    "chosen by the two scores alone": "observed-score",
    "jointly normal unseen parts": "unobserved",
    "columns that moved the choice alone": "unobserved",
    "normal-shape": "unobserved",
    "weak-identification": "unobserved",
    "extrapolation": "selection",
    "Γ": "gamma",
    "p value": "p",
    "p-value": "p",
    "holm": "p",
    "ranks": "rank",
    "top": "same work",
    "workload": "same work",
    "auc": "roc auc",
    "ap": "average precision",
    "aul": "lift auc",
    "scar": "random labels",
    "purity": "label purity",
    "ll": "lee liu",
    "cluster": "clusters",
    "propensity": "labelling chances",
    "transport": "deploy prevalence",
    "elsewhere": "deploy prevalence",
    "same rates there": "deploy prevalence",
    "independent sources": "two sources",
    "the dependence of the sources": "two sources",
    "hidden positives": "unlabeled prevalence",
    "verdict": "claim",
    "positives": "prevalence",
    "supported": "supported by reviews",
    "audited": "random audit",
    "sequential": "reviews",
    "what would change": "claim",
    "in plain words": "claim",
    "chance of being better": "p",
    "less than the best": "rank",
    "bestbin": "bbe",
    "rocslope": "roc slope",
    "patrasen": "patra-sen",
    "twolabels": "two labels",
    "false negative rate": "fnr",
    "false positive rate": "fpr",
    "true positive rate": "tpr",
    "unlabeled = negative": "naive",
    "data set": "target",
    "dataset": "target",
    "population": "target",
    "interval": "true value",
    "confidence level": "true value",
    "labelling bias": "gamma",
    "biased labels": "gamma",
    "fair labels": "random labels",
    "right labels": "label purity",
    "robust if labels are fair and right": "robust",
    "met": "requirement",
    "failed": "requirement",
    "inconclusive": "requirement",
    "decision curve": "net benefit",
    "cost": "expected cost",
    "hidden": "unlabeled prevalence",
    "random sample": "random labels",
    "negative predictive value": "npv",
    "youden": "informedness",
    "review": "reviews",
    "strata": "stratum",
    "budget": "plan",
    "costs": "expected cost",
    "cost a row": "expected cost",
    "goal": "plan",
    "reviews alone": "any labels",
    "with random labels": "random labels",
}


def explanation(term: str | None) -> str:
    """Explain a term, or list the terms."""
    if term is None:
        words = f"Terms: {', '.join(sorted(TERMS))}"
        width = terminal_width()
        return wrap(words, width, "  ", "") if too_wide([words], width) else words
    key = term.strip().lower().replace("_", " ")
    key = ALIASES.get(key, ALIASES.get(term.strip(), key))
    if key not in TERMS:
        hint = suggest(key, [*TERMS, *ALIASES], quoted=False)
        hint = hint or f"known: {', '.join(sorted(TERMS))}"
        raise InputError(f"no explanation of {term!r}; {hint}")
    what, formula, needs, reference = TERMS[key]
    width = terminal_width()
    lines = [key, wrap(what, width, "  ")]
    for name, text in (("Formula", formula), ("Needs", needs), ("Reference", reference)):
        lines.append(wrap(text, width, " " * 13, f"  {name:<10} "))
    return "\n".join(lines)
