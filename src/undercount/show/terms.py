"""Metrics, assumptions and checks explained offline: formula, what it needs, reference."""

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from undercount.errors import InputError, suggest
from undercount.metric_facts import FACTS
from undercount.show.layout import terminal_width, too_wide, wrap


@dataclass(frozen=True)
class Term:
    """Hold what `terms.md` says of a word."""

    name: str
    meaning: str
    fields: dict[str, str]

    @classmethod
    def from_section(cls, section: str) -> "Term":
        """Read a section: its title, a paragraph, and a list of named fields."""
        name, meaning, fields = section.split("\n\n", 2)
        items = re.findall(r"^- (\w+): (.+(?:\n .+)*)", fields, re.MULTILINE)
        return cls(name, _one_line(meaning), {title: _one_line(text) for title, text in items})

    @property
    def needs(self) -> str:
        """What it rests on; of a metric its facts say so, unless the file says more."""
        return self.fields.get("Needs") or ", ".join(FACTS[self.name.replace(" ", "_")].needs)

    @property
    def aliases(self) -> list[str]:
        """Other words for the same."""
        return self.fields["Also"].split(", ") if "Also" in self.fields else []


def _one_line(text: str) -> str:
    return " ".join(text.split())


@cache
def read_terms() -> dict[str, Term]:
    """Read all terms of `terms.md`, by name."""
    text = resources.files("undercount.show").joinpath("terms.md").read_text(encoding="utf-8")
    terms = map(Term.from_section, text.split("\n## ")[1:])
    return {term.name: term for term in terms}


def explanation(word: str | None) -> str:
    """Explain a word, or list the words."""
    terms = read_terms()
    width = terminal_width()
    if word is None:
        words = f"Terms: {', '.join(sorted(terms))}"
        return wrap(words, width, "  ", "") if too_wide([words], width) else words
    names = {alias: term.name for term in terms.values() for alias in term.aliases}
    key = word.strip().lower().replace("_", " ")
    key = names.get(key, names.get(word.strip(), key))
    if key not in terms:
        hint = suggest(key, [*terms, *names], quoted=False)
        hint = hint or f"known: {', '.join(sorted(terms))}"
        raise InputError(f"no explanation of {word!r}; {hint}")
    term = terms[key]
    fields = {**term.fields, "Needs": term.needs}
    lines = [
        wrap(fields[title], width, " " * 13, f"  {title:<10} ")
        for title in ("Formula", "Needs", "Reference")
    ]
    return "\n".join([key, wrap(term.meaning, width, "  "), *lines])
