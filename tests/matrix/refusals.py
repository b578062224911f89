"""Why something is refused, in a few letters that do not change with the words of a message."""

import re

from tests.matrix.assumptions import AbsentError

import undercount as uc
from undercount.errors import _MARK

REFUSALS = (uc.InputError, TypeError, AbsentError)
_UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")


def refusal_code(error):
    """Return a code: the error's own, or the arguments that it is about; None for a crash."""
    if isinstance(error, AbsentError):
        return f"absent: {error}"
    if isinstance(error, uc.InputError):
        arguments = [match[1] for match in _MARK.findall(error.message.marked) if match[0]]
        arguments = dict.fromkeys([error.argument, *arguments])
        return error.code or " + ".join(filter(None, arguments)) or "no code"
    unexpected = _UNEXPECTED.search(str(error))
    return f"absent: {unexpected[1]}" if unexpected else None
