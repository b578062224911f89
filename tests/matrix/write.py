"""Write what every cell gives, and print what moved: `python -m tests.matrix.write`.

It prints too which laws hold that stand in `failing.py`, and which are broken that do not: that
table is changed by hand.
"""

import sys

from tests.matrix.assumptions import assumptions
from tests.matrix.cells import answer_all, moved_answers, read_golden, write_golden
from tests.matrix.failing import broken
from tests.matrix.laws import LAWS, outcome, refused_laws


def moved_cells(before, after):
    for cell in sorted(before.keys() | after.keys()):
        for name, (was, now) in moved_answers(before.get(cell, {}), after.get(cell, {})).items():
            yield f"{cell} | {name}: {was} -> {now}"


def moved_laws():
    for law, about in LAWS.items():
        for assumption in filter(about.applies, assumptions()):
            reasons = broken(law, assumption, about.metrics)
            for metric in about.metrics:
                found = outcome(law, assumption, metric)
                if found.startswith("broken") != (metric in reasons):
                    yield f"law: {law} | {assumption} | {metric}: {found}"


if __name__ == "__main__":
    before, after = read_golden(), answer_all() | refused_laws()
    write_golden(after)
    for line in (*moved_cells(before, after), *moved_laws()):
        sys.stdout.write(f"{line}\n")
