"""Labels of a selection model: 1, 0, and missing where nobody looked."""

import re
from typing import Any

from undercount.assume.sample import Sample, read_sample
from undercount.errors import InputError

# What the counts, which read the labels, say of other codings; here no argument tells them.
OWN_WORDS = {
    r"missing \(unlabeled\)": "missing (not looked at)",
    r"If (\S+) means unlabeled pass unlabeled=\S+;": r"If \1 means that nobody looked make it "
    r"missing: numpy.where(y == \1, numpy.nan, y);",
    r"numpy\.where\(y == 'yes', 1, numpy\.nan\)": "numpy.where(y == 'yes', 1.0, 0.0), with NaN "
    "where nobody looked",
}


def read_looked(score: Any, y: Any, X: Any, selection_score: Any) -> Sample:
    """Read a sample; where its labels are refused, say how a selection model wants them."""
    try:
        return read_sample(score, y, X, selection_score)
    except InputError as error:
        told = str(error)
        for theirs, own in OWN_WORDS.items():
            told = re.sub(theirs, own, told)
        if told == str(error):
            raise
        raise InputError(told) from error
