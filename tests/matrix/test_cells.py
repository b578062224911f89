"""Every cell of the matrix gives what it gave before; see the package's own words."""

import pytest
from tests.matrix.assumptions import assumptions
from tests.matrix.cells import answer, moved_answers, read_golden
from tests.matrix.features import FEATURES
from tests.matrix.table import PAGE, as_markdown

KEPT = read_golden()


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("assumption", assumptions())
def test_a_cell_gives_what_was_kept(assumption, feature):
    assert moved_answers(KEPT[f"{assumption} | {feature}"], answer(assumption, feature)) == {}


def test_the_kept_cells_are_those_of_the_matrix():
    cells = {f"{assumption} | {feature}" for assumption in assumptions() for feature in FEATURES}
    assert cells == {cell for cell in KEPT if not cell.startswith("law: ")}


def test_every_cell_gives_numbers_or_is_refused():
    for cell, kept in KEPT.items():
        numbers = [value for value in kept.values() if isinstance(value, list)]
        assert ("refused" in kept) != any(map(len, numbers)) or cell.startswith("law: "), cell


def test_the_documentation_prints_the_matrix():
    assert PAGE.read_text(encoding="utf-8") == as_markdown()  # python -m tests.matrix.table


def test_a_question_is_refused_for_two_reasons_alone():
    codes = {
        (cell, value)
        for cell, kept in KEPT.items()
        for value in kept.values()
        if isinstance(value, str) and not cell.startswith("law: ")
    }
    others = {each for each in codes if each[1] not in ("not-identified", "missing-data")}
    # A scorer asks for the share: it estimates none on each fold, though that could be done.
    assert others == {
        ("estimated | scorers", "prevalence"),
        ("estimated by bootstrap | scorers", "prevalence"),
    }
