"""The matrix: every assumption against every feature, and the laws that hold in all of them.

Tests of one module cannot see what falls between two. Here nothing is written cell by cell: a cell
is a feature (`features.py`: what is asked) applied to an assumption (`assumptions.py`: how the
labels came about), on one fixed set of rows whose truth is known (`rows.py`).

`test_cells.py`
    Each cell gives the numbers that `golden.json` keeps, or is refused by the same code
    (`refusals.py`). After a change that is meant, `python -m tests.matrix.write` writes the file
    anew and prints which cells moved and from what to what: look at each before you commit it.
`test_laws.py`
    What must hold whatever the assumption is (`laws.py`): one number whichever door one asks, a
    model compared with itself is 0, one segment is no segment … A law that is broken today stands
    in `failing.py` with its reason, as a strict xfail: mending it makes the test fail until the
    line is taken out. A law that cannot be asked (its feature is refused) is skipped, and the code
    of the refusal is kept in `golden.json` too.

`python -m tests.matrix.table` prints the matrix as Markdown: what works, what is refused and why.

A new assumption is one entry in `assumptions.py`, a new feature one function in `features.py`.
"""
