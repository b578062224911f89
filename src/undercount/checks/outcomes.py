"""Checks by the name of what they ask: passed, told, doubted, failed."""

from undercount.errors import CODES, Check


def passes(name: str, message: str) -> Check:
    """Say that nothing speaks against it."""
    return Check(CODES[name], "ok", message)


def informs(name: str, message: str, advice: str = "") -> Check:
    """Say what no test can decide."""
    return Check(CODES[name], "info", message, advice)


def warns(name: str, message: str, advice: str = "") -> Check:
    """Say what is in doubt."""
    return Check(CODES[name], "warn", message, advice)


def fails(name: str, message: str, advice: str = "") -> Check:
    """Say what forbids to report."""
    return Check(CODES[name], "fail", message, advice)
