"""Which columns of files may hold whole numbers that floats do not keep apart, in SQL."""

import re

from undercount.count.arrays import LARGEST_EXACT_INTEGER

# Fewer digits than these any float tells apart.
MOST_DIGITS = 15
WHOLE = r"\s*[+-]?[0-9]+\s*"


def has_long_integers(kind: str) -> bool:
    """Whether a type of DuckDB is read as floats although it can hold longer whole numbers.

    Examples
    --------
    >>> from undercount.count.long_integers import has_long_integers
    >>> has_long_integers("DECIMAL(38,0)"), has_long_integers("DECIMAL(18,4)")
    (True, False)
    """
    decimal = re.fullmatch(r"DECIMAL\((\d+),\s*(\d+)\)", kind)
    if decimal is not None:
        return int(decimal[1]) - int(decimal[2]) > MOST_DIGITS
    return kind in ("HUGEINT", "UHUGEINT")


def long_text(column: str, *, digits: bool) -> str:
    """Write the condition that text is a whole number of which a float keeps only a neighbour.

    One with a point or an exponent is what some program wrote of a float, and fine, if it has the
    digits of that float; without `digits` this cannot be seen, because they were lost before.
    """
    whole = (
        f"(regexp_full_match({column}, '{WHOLE}') AND "
        f"coalesce(abs(TRY_CAST({column} AS HUGEINT)) > {LARGEST_EXACT_INTEGER}, true))"
    )
    number = f"TRY_CAST({column} AS DOUBLE)"
    # Larger ones than 128 bits hold are no identifiers, but the largest float, say.
    most = "'inf'" if digits else repr(2.0**128)
    beyond = f"(abs({number}) >= {LARGEST_EXACT_INTEGER} AND abs({number}) < {most}::DOUBLE)"
    beyond = f"coalesce({beyond}, false)"
    if digits:
        kept = _significant(f"CAST({number} AS VARCHAR)")
        beyond = f"({beyond} AND {_significant(column)} <> {kept})"
    # Cheap questions first: nearly every score has few digits, or a point after the first ones.
    return (
        f"strlen({column}) > {MOST_DIGITS} AND "
        f"(instr({column}, '.') NOT BETWEEN 1 AND {MOST_DIGITS + 1} OR contains({column}, 'e') "
        f"OR contains({column}, 'E')) AND ({whole} OR {beyond})"
    )


def _significant(text: str) -> str:
    """Write the digits of a number without zeros at either end, its sign, point and exponent."""
    mantissa = f"regexp_replace({text}, '[eE].*$', '')"
    return f"trim(regexp_replace({mantissa}, '[^0-9]', '', 'g'), '0')"
