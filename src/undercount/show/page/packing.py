"""Script and style of the page made small: spaces that only readers need, and a denser text."""

import re
import zlib

# What a space beside does not separate; words and numbers stay apart.
_TIGHT = re.compile(r" ?([=<>+*/?:&|,;{}()\[\]]+) ?")
# What a new line beside does not end.
_INSIDE = re.compile(r"(?<=[;{,])\n+|\n+(?=})")
# Strings, templates without values, and regular expressions, in which spaces mean something.
_LITERAL = re.compile(
    r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'"""
    r"|(?:(?<=[(,=:?>])|(?<=[(,=:?>] ))/(?![/*])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\]|\\.)*\])+/"
)
# 85 letters that mean nothing to HTML: those from "(" to "~" but for "<" and the backslash.
_LETTERS = [chr(code) for code in range(40, 127) if chr(code) not in "<\\"]
BASE = len(_LETTERS)


def tighten_style(text: str) -> str:
    """Return a style sheet without the spaces that it does not need."""
    tight = re.sub(r"\s*([{};,])\s*|(?<=[\w-])(:) (?=[^{}]*[;}])", r"\1\2", text)
    return tight.replace(";}", "}")


def tighten_script(text: str) -> str:
    """Return a script without comments, indents, and spaces and new lines that it does not need."""
    text = re.sub(r"(?m)(^|\s)//.*$|^ +", "", text)  # an address has no space before its //
    return "".join(_tighten(part, code=code) for part, code in _parts(text))


def _tighten(part: str, *, code: bool) -> str:
    return _INSIDE.sub("", _TIGHT.sub(r"\1", part)) if code else part


def _parts(text: str) -> list[tuple[str, bool]]:
    """Split a script into code and what must stay as it is: strings, templates, expressions."""
    parts: list[tuple[str, bool]] = []
    start = place = 0
    while place < len(text):
        literal = _LITERAL.match(text, place)
        end = _template_end(text, place) if text[place] == "`" else literal.end() if literal else 0
        if end:
            parts += [(text[start:place], True), (text[place:end], False)]
            start = place = end
        else:
            place += 1
    return [*parts, (text[start:], True)]


def _template_end(text: str, place: int) -> int:
    """Return where a template ends whose values may hold templates themselves."""
    place += 1
    while text[place] != "`":
        if text[place] == "\\":
            place += 1
        elif text.startswith("${", place):
            depth, place = 1, place + 2
            while depth:
                literal = _LITERAL.match(text, place)
                if text[place] == "`":
                    place = _template_end(text, place)
                    continue
                if literal:
                    place = literal.end()
                    continue
                depth += {"{": 1, "}": -1}.get(text[place], 0)
                place += 1
            continue
        place += 1
    return place + 1


def pack(text: str) -> str:
    """Compress a text and write four bytes in five letters; the first says how many are too many.

    Examples
    --------
    >>> from undercount.show.page.packing import pack
    >>> len(pack("const one = 1;" * 1000)) < 100
    True
    """
    packed = zlib.compress(text.encode(), 9)
    spare = -len(packed) % 4
    packed += bytes(spare)
    letters = [str(spare)]
    for at in range(0, len(packed), 4):
        value = int.from_bytes(packed[at : at + 4])
        digits = [value // BASE**power % BASE for power in (4, 3, 2, 1, 0)]
        letters += [_LETTERS[digit] for digit in digits]
    return "".join(letters)


def unpack(text: str) -> str:
    """Return the text that was packed."""
    digits = [_LETTERS.index(letter) for letter in text[1:]]
    values = (
        sum(digit * BASE ** (4 - k) for k, digit in enumerate(digits[at : at + 5]))
        for at in range(0, len(digits), 5)
    )
    packed = b"".join(value.to_bytes(4) for value in values)
    return zlib.decompress(packed[: len(packed) - int(text[0])]).decode()
