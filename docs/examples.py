"""Run the examples of README and documentation, and show what they print today.

A page's blocks run in order in one session: ```python and ```sh are run; ```py and ```text take a
cluster, a warehouse or a shell for granted. A block of text below the line ``<!-- printed -->`` shows
what the block above it printed; a line ``…`` in it stands for lines that are left out.

``python docs/examples.py [PAGE …]`` rewrites these blocks after numbers have changed: look at the
difference, and at the sentences beside it.
"""

import contextlib
import difflib
import doctest
import io
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[1]
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"\s*<!-- printed -->\n```(?:text)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
FILE = re.compile(r"\]\((\w+\.parquet)\)")
LEFT_OUT = "…"


def find_pages():
    """Return README and every page."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def run_page(page):
    """Run a page's blocks in order, in the present folder; yield what is shown and what was printed."""
    text = page.read_text(encoding="utf-8")
    for name in FILE.findall(text):  # what the page asks its reader to save
        shutil.copy(page.parent / name, name)
    space = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        line = text[: block.start()].count("\n") + 2
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            run_block(*block.groups(), space, page, line)
        yield PRINTED.match(text, block.end()), said.getvalue()


def run_block(kind, code, space, page, line):
    """Run a block of Python, of commands, or of Python that shows its answers."""
    if kind == "sh":
        run_commands(code, f"{page.name}, line {line}")
    elif ">>> " in code:
        run_doctest(code, space, page, line)
    else:  # empty lines above, so that a traceback names the line of the page
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), space)


def run_doctest(code, space, page, line):
    """Run an example that shows its answers, in the page's session."""
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    example = doctest.DocTestParser().get_doctest(code, {}, page.name, str(page), line - 1)
    example.globs = space
    said = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=flags)
    runner.run(example, out=said.write, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0, said.getvalue()


def run_commands(code, place):
    """Run each command; one that may fail is followed by || as in a shell."""
    from undercount.cli.main import main  # noqa: PLC0415 - not needed by pages of Python

    for command in code.replace("\\\n", " ").splitlines():
        words = shlex.split(command.partition(" ||")[0], comments=True)
        if not words or words[0] in ("make", "pip"):
            continue
        words = words[2:] if words[:3] == ["python", "-m", "undercount"] else words
        assert words[0] == "undercount", f"{place}: only our own commands are run, not {words[0]}"
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            exit_code = main(words[1:])
        assert exit_code == 0 or "||" in command, f"{place}: {command}\n{said.getvalue()}"


def shows_today(shown, printed):
    """Whether a block shows what was printed: each line, in order, but for those left out.

    Words must agree. The last digit of a number may not, between versions of NumPy or scikit-learn.
    """
    left = [line.rstrip() for line in printed.splitlines()]
    for line in shown.splitlines():
        if line.strip() == LEFT_OUT:
            continue
        while left and not is_alike(line.rstrip(), left[0]):
            left.pop(0)
        if not left:
            return False
        left.pop(0)
    return leaves_out(shown) or not any(left)


def leaves_out(shown):
    """Whether a block shows a part of what was printed."""
    return any(line.strip() == LEFT_OUT for line in shown.splitlines())


def is_alike(shown, printed):
    """Whether two lines have the same words and the same numbers, but for the last digit."""
    if " ".join(NUMBER.sub("0", shown).split()) != " ".join(NUMBER.sub("0", printed).split()):
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True)
    return all(abs(read(a) - read(b)) <= 1.01 * last_digit(a) for a, b in pairs)


def read(number):
    return float(number.replace(",", ""))


def last_digit(number):
    """What one step of the last digit is worth; whole numbers below a hundred must agree."""
    if "." in number:
        return 10.0 ** -len(number.partition(".")[2])
    return float(read(number) >= 100)


def show_today(shown, printed):
    """Return a block with what was printed, leaving out what it left out."""
    lines = [line.rstrip() for line in printed.splitlines()]
    if not leaves_out(shown):
        return "".join(f"{line}\n" for line in lines)
    new = [
        line if line.strip() == LEFT_OUT else difflib.get_close_matches(line, lines, 1, 0)[0]
        for line in shown.splitlines()
    ]
    return "".join(f"{line}\n" for line in new)


def rewrite(page):
    """Write what a page's examples print today onto the page."""
    pieces, place, text = [], 0, page.read_text(encoding="utf-8")
    for match, printed in run_page(page):
        if match and not shows_today(match[1], printed):
            pieces += [text[place : match.start(1)], show_today(match[1], printed)]
            place = match.end(1)
            print(f"{page.relative_to(ROOT)}: rewritten", file=sys.stderr)
    page.write_text("".join([*pieces, text[place:]]), encoding="utf-8")


if __name__ == "__main__":
    pages = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or find_pages()
    for page in pages:
        if "<!-- printed -->" in page.read_text(encoding="utf-8"):
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                rewrite(page)
                os.chdir(ROOT)
