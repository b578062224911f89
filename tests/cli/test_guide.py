"""`undercount guide`: questions that end in a command which the commands understand."""

import html
import io
import pathlib
import re
import shlex

import click
import pytest

from undercount.cli.commands import commands
from undercount.cli.guide import NO_QUESTION_FITS, QUESTIONS
from undercount.cli.main import main

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "guide.md"
PICTURE = PAGE.parent / "images" / "guide.svg"


def answer(monkeypatch, text):
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    return main(["guide", "rows.csv", "--label", "y", "--score", "s"])


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ("y\n", "undercount evaluate rows.csv --label y --score s --audited"),
        ("n\nyes\n", "undercount select rows.csv --label y --score s"),
        ("n\nn\ny\n", "--budget 100 --out review.csv"),
        ("n\nn\nn\ny\n", "rows.csv --label y --score s --chance CHANCE"),
        ("n\nn\nn\nn\ny\n3%-5%\n", "--score s --prevalence 3%-5%"),
        ("n\nn\nn\nn\ny\nno\n", "undercount evaluate rows.csv --label y --score s\n"),
        ("n\nn\nn\nn\nn\n?\n", "--score s --threshold THRESHOLD --gamma 2\n"),
        ("perhaps\ny\n", "--audited"),  # asked once more
    ],
)
def test_answers_end_in_a_command(monkeypatch, capsys, answers, expected):
    assert answer(monkeypatch, answers) == 0
    assert expected in capsys.readouterr().out


def test_the_end_of_the_input_is_bad_input(monkeypatch, capsys):
    assert answer(monkeypatch, "n\n") == 2
    assert "standard input ended before the question" in capsys.readouterr().err


def test_no_threshold_is_invented(monkeypatch, capsys):
    assert answer(monkeypatch, "n\nn\ny\n") == 0
    said = capsys.readouterr().out
    assert "--threshold THRESHOLD" in said
    assert "0.5" not in said
    monkeypatch.setattr("sys.stdin", io.StringIO("n\nn\ny\n"))
    assert main(["guide", "rows.csv", "--threshold", "0.15"]) == 0
    assert capsys.readouterr().out.count("--threshold 0.15") == 2


@pytest.mark.parametrize("answers", ["y\n", "n\ny\n", "n\nn\nn\nn\ny\n3%\n"])
def test_a_threshold_that_was_given_is_in_every_command(monkeypatch, capsys, answers):
    monkeypatch.setattr("sys.stdin", io.StringIO(answers))
    assert main(["guide", "rows.csv", "--threshold", "1.5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    said = [line for line in lines if line.startswith("  undercount ")]
    assert [line.count("--threshold 1.5") for line in said] == [1]
    _, name, *arguments = shlex.split(said[0])
    command = commands.get_command(click.Context(commands), name)
    command.make_context(name, arguments, resilient_parsing=False)  # it takes a threshold


def test_every_command_of_the_guide_exists():
    for question in (*QUESTIONS, NO_QUESTION_FITS):
        for line in question.commands:
            _, name, *arguments = shlex.split(line.replace("THRESHOLD", "0.3"))
            command = commands.get_command(click.Context(commands), name)
            command.make_context(name, arguments, resilient_parsing=False)  # refuses bad options


def test_the_page_asks_the_same_questions():
    asked = re.findall(r"^\*\*\d\. (.*?)\*\*", PAGE.read_text("utf-8"), re.MULTILINE)
    assert asked == [question.text for question in QUESTIONS]


def test_the_picture_asks_the_same_questions():
    """``python docs/pictures.py guide`` draws it anew."""
    lines = re.findall(r"<text [^>]*>(.*?)</text>", PICTURE.read_text("utf-8"))
    drawn = html.unescape(" ".join(lines))
    for question in QUESTIONS:
        assert question.text in drawn
