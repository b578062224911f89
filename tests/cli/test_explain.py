"""`undercount explain`: words explained offline."""

from undercount.cli.main import main
from undercount.curve import metric_names
from undercount.read.sensitivity import AREAS


def test_explain_lists_and_explains(capsys):
    assert main(["explain"]) == 0
    assert main(["explain", "auc"]) == 0
    printed = capsys.readouterr().out
    assert "average precision" in printed
    assert "eq. 4" in printed


def test_every_metric_that_may_be_required_is_explained():
    for name in (*AREAS, *metric_names()):
        assert main(["explain", name]) == 0
