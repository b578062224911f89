"""Make docs/gallery/spam.parquet from UCI's Spambase: python docs/spam.py FOLDER/spambase.parquet.

Scores are out of fold, of a logistic regression on the frequencies of 48 words. The rows are
shuffled, since the original has all spam first.
"""

import pathlib
import sys

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

mails = pd.read_parquet(sys.argv[1])
words = np.log1p(mails.iloc[:, :48])
model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
folds = StratifiedKFold(5, shuffle=True, random_state=0)
score = cross_val_predict(model, words, mails["y"], cv=folds, method="predict_proba")[:, 1]
table = pd.DataFrame({
    "spam": mails["y"].astype("int8"),
    "exclamation_marks": mails["x52"].astype("float32"),  # per cent of the characters
    "score": score.round(4).astype("float32"),
})
order = np.random.default_rng(0).permutation(len(table))
path = pathlib.Path(__file__).parent / "gallery" / "spam.parquet"
table.iloc[order].reset_index(drop=True).to_parquet(path, compression="zstd")
