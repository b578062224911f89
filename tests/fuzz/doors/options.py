"""Commands with random options."""

import contextlib
import io
import random
from pathlib import Path

import numpy as np

from undercount.cli.main import main

EXIT_CODES = {0, 1, 2, 3}
OPTIONS = {
    "--prevalence": ["0.3", "30%", "0.1-0.5", "2", "", "x", "0"],
    "--unlabeled-prevalence": ["0.2", "0", "1", "-1"],
    "--label-frequency": ["0.5", "0", "1.5"],
    "--label-purity": ["1", "0.9", "0", "0.8-0.9"],
    "--threshold": ["0.5", "1", "inf", "nan", "-3", "x", "99"],
    "--sampling": ["single-sample", "case-control", "none"],
    "--target": ["dataset", "population", "x"],
    "--confidence-level": ["0.9", "0", "1", "nan"],
    "--seed": ["0", "-1", "7"],
    "--unlabeled": ["0", "-1", "1", "x"],
    "--negative": ["0", "2"],
    "--positive-label": ["1", "inf", "nan", "x", "", "'"],
    "--require": ["precision >= 0.1", "roc_auc >= 0.5", "precision@1 >= 2", "x", "f1@x >= 1"],
    "--weight": ["w", "y", "z"],
    "--label": ["y", "s", "z", ""],
    "--score": ["s", "w", "z"],
    "--json": ["-"],
    "--markdown": ["-"],
    "--csv": ["-"],
    "--top": ["5", "10%", "0", "-1", "x", "1e9"],
    "--metric": ["f1", "x", "recall@0.5", ""],
    "--by": ["g", "w", "z", "roc_auc"],
    "--deploy-prevalence": ["0.01", "0", "2"],
    "--cluster": ["g", "z"],
    "--labels": ["random", "x"],
    "--budget": ["5", "0", "-1", "1000000"],
    "--goal": ["precision", "prevalence", "x"],
    "--half-width": ["0.1", "0", "x"],
    "--observed": ["d", "s", "z"],
    "--found": ["e", "s", "z"],
    "--until": ["2024-06-01", "x", "2020-01-01"],
    "--period": ["week", "month", "x"],
    "--selection-score": ["w", "s", "z"],
    "--method": ["x", "empirical"],
    "--features": ["w", "z"],
    "--title": ["", "\x1b[31m", "a"],
}
FLAGS = ("--quiet", "--sequential", "--audited", "--github", "--debug", "--nothing")
# What each needs to come to its end; the method that resamples for seconds has no place here.
COMMANDS = {
    "evaluate": ["--label", "y", "--score", "s", "--prevalence", "0.4"],
    "compare": ["--label", "y", "--score", "s", "--score", "w", "--prevalence", "0.4"],
    "count": ["--label", "y", "--score", "s", "--output", "counts.parquet"],
    "plan": ["--label", "y", "--score", "s", "--budget", "9"],
    "monitor": ["--score", "s", "--observed", "d", "--found", "e"],
    "explain": [],
}


def draw(dice: random.Random) -> list[str]:
    """Roll a command with some options."""
    command = dice.choice([*COMMANDS, "evaluate", "evaluate"])
    arguments = [command, "rows.csv", *COMMANDS[command]]
    if dice.random() < 0.1:
        arguments = arguments[: dice.randrange(1, len(arguments) + 1)]
    for _ in range(dice.choice([0, 1, 1, 2, 3])):
        option = dice.choice(sorted(OPTIONS))
        arguments += [option, dice.choice(OPTIONS[option])]
    return arguments + ([dice.choice(FLAGS)] if dice.random() < 0.2 else [])


def write_rows(folder: Path) -> None:
    """Write the rows that commands read."""
    rng = np.random.default_rng(0)
    truth = rng.random(80) < 0.4
    labels, scores = truth & (rng.random(80) < 0.5), rng.normal(2.0 * truth)
    lines = []
    for i, (y, s) in enumerate(zip(labels, scores, strict=True)):
        found = f"2024-0{2 + i % 5}-15" if y else ""
        lines.append(f"{int(y)},{s:.3f},{1 + (i % 3)},{'ab'[i % 2]},2024-01-{1 + i % 28},{found}")
    (folder / "rows.csv").write_text("y,s,w,g,d,e\n" + "\n".join(lines) + "\n")


def knock(arguments: list[str], folder: Path) -> str:
    """Run a command; its code must be a documented one, and bad input one message."""
    out, err = io.StringIO(), io.StringIO()
    places = ("rows.csv", "counts.parquet")
    placed = [str(folder / each) if each in places else each for each in arguments]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(placed)
    assert code in EXIT_CODES, (code, err.getvalue())
    assert "Traceback" not in err.getvalue() or "--debug" in arguments, err.getvalue()
    if code == 2:
        assert err.getvalue().strip(), arguments
    return f"exit {code}"
