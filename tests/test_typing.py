"""`py.typed` is a promise: a user's mypy knows every public name and finds a misspelt one."""

import pathlib
import re
import subprocess
import sys
import sysconfig
import venv

import pytest

ROOT = pathlib.Path(__file__).parents[1]
MARK = re.compile(r"  # (?:error|type): (.*)$")
# What a line gives stands behind it: the type revealed, or a part of mypy's message.
USER = """\
import undercount as uc

y, score = [1, 1, -1, -1], [0.9, 0.4, 0.5, 0.1]
evaluation = uc.evaluate(y, score, prevalence=0.5, threshold=0.3, unlabeled=-1)
reveal_type(evaluation)  # type: undercount.read.evaluation.Evaluation
models = {"a": score, "b": score}
reveal_type(uc.compare(y, models))  # type: undercount.read.compare.compare.Comparison
reveal_type(uc.metrics.precision(y, score, threshold=0.3))  # type: undercount.estimate.Estimate
reveal_type(uc.metrics.roc_auc(y, score))  # type: undercount.estimate.Estimate
reveal_type(uc.prevalence.Consensus().fit(y, score))  # type: .Consensus
reveal_type(uc.learn.PUAULClassifier().fit(y, score))  # type: .PUAULClassifier
reveal_type(uc.displays.RocDisplay)  # type: -> undercount.show.displays.RocDisplay
reveal_type(uc.theory.lift_curve)  # type: (counts: undercount.counts.ScoreCounts)
reveal_type(uc.ScoreCounts.from_rows(y, score) + uc.ScoreCounts.from_rows(y, score))  # type: Counts
reveal_type(uc.SelectedLabels().fit(y, score))  # type: .SelectedModel
reveal_type(uc.__version__)  # type: "str"
uc.evaluate(y, score, prevalance=0.3)  # error: Unexpected keyword argument "prevalance"
uc.evaluate(y, score, threshold="high")  # error: No overload variant
uc.compare(y, {"a": score, "b": score}, prevalance=0.3)  # error: Unexpected keyword argument
uc.RandomLabels(0.3, sampling="case control")  # error: incompatible type
uc.RandomLabels(0.3, label_purity=0.9)  # error: Unexpected keyword argument "label_purity"
uc.displays.RocDisplay.from_predictions(y, score, prevalance=0.3)  # error: Unexpected keyword
uc.metrics.precision(y, score, threshold=0.3, prevalance=0.3)  # error: Unexpected keyword argument
uc.metrics.roc_auc(y, score, prevalance=0.3)  # error: Unexpected keyword argument "prevalance"
uc.metrics.precison(y, score)  # error: has no attribute "precison"
uc.theory.lift_curv  # error: has no attribute "lift_curv"
uc.displays.RocDisplays  # error: has no attribute "RocDisplays"
uc.prevalence.Consenus()  # error: has no attribute "Consenus"
uc.learn.PUAUL  # error: has no attribute "PUAUL"
uc.nothing  # error: has no attribute "nothing"
evaluation.tabel()  # error: has no attribute "tabel"
"""


def messages(folder):
    """What mypy says of each line, in an environment of its own where the package is installed."""
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    packages = next((folder / "venv").glob("lib/python*/site-packages"))
    others = sysconfig.get_paths()["purelib"]
    (packages / "undercount.pth").write_text(f"{ROOT / 'src'}\n{others}\n")
    (folder / "user.py").write_text(USER, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(python)]
    # The cache is kept: reading the types of numpy and scipy takes most of the time.
    command += ["--cache-dir", str(ROOT / ".mypy_cache" / "user"), "user.py"]
    done = subprocess.run(  # noqa: S603 - our own words
        command, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr  # 2: mypy itself failed
    lines = {}
    for message in done.stdout.splitlines():
        if found := re.match(r"user\.py:(\d+): (.*)", message):
            lines.setdefault(int(found[1]), []).append(found[2])
    return lines


def test_a_users_file(tmp_path):
    pytest.importorskip("mypy")
    found = messages(tmp_path)
    for number, line in enumerate(USER.splitlines(), 1):
        said = found.get(number, [])
        errors = [message for message in said if message.startswith("error: ")]
        assert bool(errors) == ("  # error: " in line), (line, said)
        if mark := MARK.search(line):
            kind = "error: " if errors else "note: Revealed type is "
            assert any(m.startswith(kind) and mark[1] in m for m in said), (line, said)
