"""Learn from positive and unlabeled rows by what can be measured on them."""

import importlib
from typing import Any

# Public name → the file that defines it; imported when first used.
_HOME = {
    "PUAUCClassifier": "pu_auc",
    "PUAULClassifier": "pu_aul",
}

__all__ = sorted(_HOME)  # noqa: PLE0605 - the table above is the one list of names


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
