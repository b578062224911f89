"""The review file survives spreadsheets: what comes back is what was answered, or is refused."""

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undercount.count.review_file import (
    ReviewSheet,
    as_review_csv,
    escape_formula,
    read_review_files,
    read_verdict,
    unescape_formula,
    write_review_file,
)
from undercount.errors import InputError

SCORES = [0.875, 1e-300, -3.5, 12.1, float("inf")]


def sheet(verdict=(np.nan,) * 5, kept=None, **design):
    n = len(verdict)
    return ReviewSheet(
        {"format": 1, "scores": ["p"], "seed": 7, **design},
        np.arange(1, n + 1),
        np.arange(n) % 3,
        {"p": np.array(SCORES[:n])},
        np.array(verdict, float),
        np.arange(n) * 10 + 3,
        np.full(n, 0.25),
        kept,
    )


def cells(made):
    return list(csv.reader(io.StringIO(as_review_csv(made).removeprefix("\ufeff"), newline="")))


def save(path, rows, separator=",", ending="\r\n", encoding="utf-8-sig"):
    """Write rows as a spreadsheet does that knows the separator of the country."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=separator, lineterminator=ending).writerows(rows)
    path.write_bytes(text.getvalue().encode(encoding))
    return path


def test_columns_are_for_people_and_the_file_opens_in_a_spreadsheet(tmp_path):
    path = tmp_path / "review.csv"
    made = sheet(kept={"id": list("abcde"), "verdict": ["old"] * 5})
    write_review_file(made, path)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")  # else Excel takes UTF-8 for Latin
    header, first, *_ = cells(made)
    names = ["case", "row", "id", "verdict (data)", "p", "verdict", "stratum", "chance"]
    assert header == [*names, "key", "design"]
    assert first[:8] == ["1", "3", "a", "old", "0.875", "", "0", "0.25"]


def test_what_comes_back_is_what_was_answered(tmp_path):
    made = sheet([1, 0, np.nan, 1, 0], kept={"id": list("abcde")})
    write_review_file(made, tmp_path / "review.csv")
    found = read_review_files([tmp_path / "review.csv"])
    assert found.design == made.design
    assert found.plan == made.plan
    assert found.n_answered == 4
    for name in ("case", "stratum", "verdict", "row"):
        np.testing.assert_array_equal(getattr(found, name), getattr(made, name))
    np.testing.assert_array_equal(found.scores["p"], made.scores["p"])  # to the last bit


YES_WORDS = ("1", "yes", "TRUE", "Ja", "wahr", "1,0", "1.0", " y ", "oui")
NO_WORDS = ("0", "No", "FALSE", "nein", "0,0", "falsch", "0.00")
words = st.sampled_from([(w, 1.0) for w in YES_WORDS] + [(w, 0.0) for w in NO_WORDS] + [("", None)])


@settings(max_examples=60, deadline=None)
@given(
    answers=st.lists(words, min_size=5, max_size=5),
    separator=st.sampled_from(",;\t"),
    ending=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    order=st.permutations(range(5)),
    empty=st.integers(0, 3),
)
def test_spreadsheets_of_every_country_are_read(
    tmp_path_factory, answers, separator, ending, encoding, order, empty
):
    made = sheet(kept={"note": ["plain", "a;b,c", 'say "no"', "two\nlines", "Müller"]})
    header, *rows = cells(made)
    place = header.index("verdict")
    for row, (word, _) in zip(rows, answers, strict=True):
        row[place] = word
        row[0] += ",0"  # numbers are written as the country writes them, or become dates
        row[header.index("p")] = "03. Mai"
        row[header.index("chance")] = "2,50E-01"
    rows = [rows[place] for place in order]
    rows[2:2] = [[""] * len(header)] * empty
    path = tmp_path_factory.mktemp("saved") / "review.csv"
    found = read_review_files([save(path, [header, *rows], separator, ending, encoding)])
    expected = [np.nan if value is None else value for _, value in answers]
    np.testing.assert_array_equal(found.verdict, expected)
    np.testing.assert_array_equal(found.scores["p"], SCORES)
    assert found.design == made.design


FORMULA = st.text(st.sampled_from("=+-@'\" ;,|\t\r\nab1\uff1d"), max_size=12)


@settings(max_examples=300, deadline=None)
@given(FORMULA | st.text(max_size=20))
def test_a_formula_stays_text_and_comes_back(text):
    safe = escape_formula(text)
    assert unescape_formula(safe) == text
    try:
        float(text.replace(",", "."))
    except ValueError:
        # Wherever a spreadsheet cuts, no piece begins with a sign of a formula.
        for piece in re.split(r'[;,|"\t\r\n]', safe):
            assert not piece.lstrip(" ").startswith(tuple("=+-@\uff1d"))


def test_cells_that_would_run_are_written_as_text():
    made = sheet([np.nan], kept={"=evil()": ["=cmd|'/C calc'!A0"], "n": ["-5.20"]}, label="a;=b")
    header, row = cells(made)
    assert header[2:4] == ["'=evil()", "n"]
    assert row[2:4] == ["'=cmd|'/C calc'!A0", "-5.20"]
    assert ";" not in row[-1]


@pytest.mark.parametrize(
    ("word", "value"),
    [("maybe", None), ("2", None), ("0.5", None), ("?", np.nan), ("n/a", np.nan), ("✓", 1.0)],
)
def test_words(word, value):
    np.testing.assert_equal(read_verdict(word), value)


def changed(tmp_path, change, name="review.csv"):
    """Save a file of which somebody changed the rows."""
    header, *lines = cells(sheet((1, 0, np.nan, np.nan, 0)))
    rows = [dict(zip(header, line, strict=True)) for line in lines]
    change(rows)
    return save(tmp_path / name, [header, *([row[name] for name in header] for row in rows)])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows[2].update(verdict="maybe"), "line 4: a verdict is 1 or"),
        (lambda rows: rows.append({**rows[0], "verdict": "no"}), "case 1 has two verdicts"),
        (lambda rows: rows[1].update(key=""), "only for a case of the plan"),
        (lambda rows: rows[0].update(key=rows[0]["key"][:-1] + "g"), "key names; got"),
        (lambda rows: rows[1].update(key=rows[1]["key"].replace("-2-", "-9-")), "key names; got"),
        (lambda rows: rows[0].update(design=""), "the design is missing"),
        (lambda rows: rows[0].update(design=rows[0]["design"][:-4]), "design was changed"),
        (lambda rows: rows[0].update(design='{"format":9}'), "newer version"),
        (lambda rows: rows.clear(), "holds no case"),
    ],
)
def test_one_clear_message(tmp_path, change, words):
    with pytest.raises(InputError, match=words) as error:
        read_review_files([changed(tmp_path, change)])
    assert str(error.value).count("\n") == 0


@pytest.mark.parametrize("name", ["verdict", "Verdict ", "key", "DESIGN"])
def test_two_columns_of_one_name_are_refused(tmp_path, name):
    header, *rows = cells(sheet(verdict=(1, 0, 1, 0, 1)))
    path = save(tmp_path / "r.csv", [[*header, name], *([*row, "0"] for row in rows)])
    with pytest.raises(InputError, match=f"2 columns '{name.strip().lower()}'"):
        read_review_files([path])


def test_a_file_of_something_else_is_refused(tmp_path):
    (tmp_path / "other.csv").write_text("id,answer\n1,yes\n")
    with pytest.raises(InputError, match=r"must have the columns verdict and key.*'id', 'answer'"):
        read_review_files([tmp_path / "other.csv"])


def test_a_case_answered_twice_alike_or_once_is_used(tmp_path):
    path = changed(tmp_path, lambda rows: rows.extend([rows[0], {**rows[1], "verdict": ""}]))
    np.testing.assert_array_equal(read_review_files([path]).verdict, [1, 0, np.nan, np.nan, 0])


def test_parts_answered_by_two_people_are_one_sample(tmp_path):
    first = changed(tmp_path, lambda rows: rows.__delitem__(slice(2, None)), name="ann.csv")
    second = changed(tmp_path, lambda rows: rows.__delitem__(slice(2)), name="bob.csv")
    with pytest.raises(InputError, match="Name the file with that row too"):
        read_review_files([second])
    np.testing.assert_array_equal(read_review_files([first, second]).case, [1, 2, 3, 4, 5])
    write_review_file(sheet(seed=8), tmp_path / "other.csv")
    with pytest.raises(InputError, match="two plans"):
        read_review_files([first, tmp_path / "other.csv"])


def test_two_further_rounds_may_give_one_number_to_two_rows(tmp_path):
    """The first file was answered on, while another round was planned from its first three."""
    first, second = sheet([1, 0, 1, 0, 1]), sheet([1, 0, 1, 1, 0])
    again = replace(second, row=np.array([3, 13, 23, 103, 43]))
    write_review_file(first, tmp_path / "first.csv")
    write_review_file(replace(again, verdict=np.array([1, 0, 1, 1, 1.0])), tmp_path / "again.csv")
    found = read_review_files([tmp_path / "first.csv", tmp_path / "again.csv"])
    known = dict(zip(found.row.tolist(), found.verdict.tolist(), strict=True))
    assert known == {3: 1, 13: 0, 23: 1, 33: 0, 43: 1, 103: 1}
    write_review_file(again, tmp_path / "other.csv")
    with pytest.raises(InputError, match="case 5 has two verdicts"):
        read_review_files([tmp_path / "first.csv", tmp_path / "other.csv"])


def test_plans_by_two_models_are_no_sample_and_each_goes_on(tmp_path):
    write_review_file(sheet(), tmp_path / "a.csv")
    write_review_file(replace(sheet(scores=["q"]), scores=sheet().scores), tmp_path / "b.csv")
    words = r"by the scores 'p' and 'q'.* plan … --score p --score q --goal difference --reviews"
    with pytest.raises(InputError, match=words):
        read_review_files([tmp_path / "a.csv", tmp_path / "b.csv"])


def test_ticks_beside_nothing_are_refused(tmp_path):
    def tick(rows, last="x"):
        for row, word in zip(rows, ("x", "", "x", "", last), strict=True):
            row["verdict"] = word

    with pytest.raises(InputError, match="does empty mean no"):
        read_review_files([changed(tmp_path, tick)])
    path = changed(tmp_path, lambda rows: tick(rows, "no"))
    assert read_review_files([path]).n_answered == 3


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (["1", "", "", "yes", "1", "", "", "1", "", "1"], None),
        (["1", "?", "?", "1", "1", "?", "?", "1", "?", "1"], 5),  # said to be open
        (["1", "", "", "1", "1", "", "", "0", "", "1"], 5),  # there is a no
        (["1", "1", "1", "1", "1", "", "", "", "", ""], 5),  # one after the other
        (["", "1", "", "1", "", "", "", "", "", ""], 2),  # too few to tell
    ],
)
def test_nothing_but_yes_between_empty_cells_is_refused(tmp_path, words, read):
    n = len(words)
    made = replace(sheet((np.nan,)), scores={"p": np.linspace(1, 0, n)}, verdict=np.full(n, np.nan))
    made = replace(made, case=np.arange(1, n + 1), stratum=np.zeros(n, int), row=np.arange(n) + 1)
    header, *rows = cells(replace(made, chance=np.full(n, 0.5)))
    for row, word in zip(rows, words, strict=True):
        row[header.index("verdict")] = word
    path = save(tmp_path / "r.csv", [header, *rows[::-1]])
    if read is not None:
        assert read_review_files([path]).n_answered == read
        return
    with pytest.raises(InputError, match="marked 1 and yes or empty: does empty mean no"):
        read_review_files([path])


def test_files_that_are_no_text(tmp_path):
    (tmp_path / "book.csv").write_bytes(b"PK\x03\x04")
    with pytest.raises(InputError, match="is a workbook; save it as CSV"):
        read_review_files([tmp_path / "book.csv"])
    with pytest.raises(InputError, match="cannot read"):
        read_review_files([tmp_path / "absent.csv"])
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(InputError, match="no rows"):
        read_review_files([tmp_path / "empty.csv"])


def test_verdicts_are_never_written_over(tmp_path):
    path = tmp_path / "review.csv"
    write_review_file(sheet(verdict=(1, 0, np.nan, np.nan, 1)), path)
    before = path.read_bytes()
    for other in (sheet(), sheet(verdict=(0, 0, np.nan, np.nan, 1)), sheet(seed=8)):
        with pytest.raises(InputError, match=r"holds . verdicts? that the plan would overwrite"):
            write_review_file(other, path)
        assert path.read_bytes() == before
    write_review_file(sheet(verdict=(1, 0, 1, np.nan, 1)), path)  # holds them all
    assert read_review_files([path]).n_answered == 4
    header, *rows = cells(sheet(verdict=(1, 0, np.nan, np.nan, 1)))
    rows[2][header.index("verdict")] = "maybe"  # nobody knows what it means: it is not lost
    before = save(path, [header, *rows]).read_bytes()
    with pytest.raises(InputError, match="whose verdicts cannot be read, and would be overwritten"):
        write_review_file(sheet(), path)
    assert path.read_bytes() == before
    path.write_text("notes of somebody")  # as every other output is
    write_review_file(sheet(), path)
    assert read_review_files([path]).n_answered == 0


def test_half_a_sorted_table_is_refused(tmp_path):
    """Who sorts the columns up to the score leaves verdicts beside other cases."""
    header, *rows = cells(sheet(verdict=(1, 0, 1, 0, 1), kept={"id": list("edcba")}))
    split = header.index("verdict")
    left = sorted((row[:split] for row in rows), key=lambda row: row[2])
    torn = [[*half, *row[split:]] for half, row in zip(left, rows, strict=True)]
    with pytest.raises(InputError, match="column case says 5, the key 1: some columns were sorted"):
        read_review_files([save(tmp_path / "torn.csv", [header, *torn])])
    sort = sorted(rows, key=lambda row: row[2])
    assert read_review_files([save(tmp_path / "whole.csv", [header, *sort])]).n_answered == 5


@pytest.mark.parametrize(
    "shown", ["1000", "1,000", "1.000", "1000.0", "1000,00", "1\u202f000", "1E+03", "", "n/a"]
)
def test_numbers_as_spreadsheets_show_them_are_no_tear(tmp_path, shown):
    made = replace(sheet(verdict=(1,)), case=np.array([1000]), row=np.array([1000]))
    header, row = cells(made)
    row[:2] = [shown, shown]
    assert read_review_files([save(tmp_path / "r.csv", [header, row], ";")]).n_answered == 1
