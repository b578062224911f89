"""A simulated fraud case: 20,000 card payments, a third of the frauds found so far.

Frauds are 4 % of the payments. Investigators found a random 35 % of them; every other payment is
unlabeled. Two models score the payments: `p_fraud`, a good one, and `rule_points`, an old rule set
with whole-number points. Who is a fraud in truth stands in a second file, for the demo alone.
"""

from importlib import resources
from pathlib import Path

import numpy as np

N_ROWS, FRAUD_PREVALENCE, LABEL_FREQUENCY, FRAUD_SEED = 20_000, 0.04, 0.35, 20_260_101


def simulate_fraud(random_state: int = FRAUD_SEED) -> dict[str, np.ndarray]:
    """Make the data anew; the bundled files hold the draw of the default seed.

    Examples
    --------
    >>> from undercount.data.fraud import simulate_fraud
    >>> columns = simulate_fraud()
    >>> sorted(columns)
    ['amount', 'is_fraud', 'p_fraud', 'payment', 'rule_points', 'truth']
    """
    rng = np.random.default_rng(random_state)
    truth = rng.random(N_ROWS) < FRAUD_PREVALENCE
    labelled = truth & (rng.random(N_ROWS) < LABEL_FREQUENCY)
    evidence = rng.normal(np.where(truth, 2.4, 0.0), np.where(truth, 1.2, 1.0))
    amount = np.exp(rng.normal(np.where(truth, 4.6, 3.6), 1.0))
    log_odds = 2.2 * evidence + 0.3 * (np.log(amount) - 3.6) - 6.0
    points = np.clip(np.round(1.1 * evidence + rng.normal(0, 1.3, N_ROWS) + 3), 0, 12)
    return {
        "payment": np.arange(1, N_ROWS + 1, dtype=np.int32),
        "amount": np.round(amount, 2).astype(np.float32),
        "p_fraud": (1 / (1 + np.exp(-log_odds))).round(6).astype(np.float32),
        "rule_points": points.astype(np.int8),
        "is_fraud": labelled.astype(np.int8),
        "truth": truth.astype(np.int8),
    }


def fraud_path() -> Path:
    """Return the bundled payments: payment, amount, p_fraud, rule_points, is_fraud."""
    return Path(str(resources.files("undercount.data") / "fraud.parquet"))


def fraud_truth_path() -> Path:
    """Return the bundled truth: payment, truth."""
    return Path(str(resources.files("undercount.data") / "fraud_truth.parquet"))
