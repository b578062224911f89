"""Messages of the library in the words of the command line: options rather than arguments."""

import re

import click

# Arguments whose options have other names.
ALIASES = {"random_state": "seed", "sample_weight": "weight", "X": "features"}
# Arguments that are English words too: options only where a message is clearly about them.
PLAIN = ("prevalence", "unlabeled", "sampling", "distribution", "method", "runs")
# Advice for Python that a terminal cannot follow, and what it can do instead.
KEEPING = "with undercount count, which keeps every score"
ADVICE = {
    r"use VerifiedSample": "give evaluate the share of positives among them by "
    "--unlabeled-prevalence",
    r"pass knots=\[.*?\] when counting, or compact=False": f"make the counts file {KEEPING}",
    r"count with compact=False": f"make the counts file {KEEPING}",
    r"count the parts with compact=False": f"make the parts {KEEPING}",
    r" \(align_counts\)": "",
    r"this is another problem: see mixture_curve": "use undercount evaluate",
    r"use labelled_curve, or add": "add",
    r"make it missing: numpy\.where\(.*?\)": "leave it empty",
    r"use method='bootstrap' or look at more rows": "look at more rows",
    r"0 or -1 in y means": "0 or -1 among the labels means",
}
QUOTED = r"(?<!\w)'[^']*'"
# A name that is neither part of a path or longer word nor followed by such.
ALONE = r"(?<![\w./\\-]){}(?![\w/\\-]|\.\w)"


def say(message: str, command: click.Command | None) -> str:
    """Name the options of a command where a message names arguments; others stay.

    What stands in quotes is the user's and stays too.
    """
    options = _options(command)
    if not options:
        return message
    for python, advice in ADVICE.items():
        message = re.sub(python, advice, message)
    names = "|".join(map(re.escape, options))
    parts = rf"`?\b(?P<given>{names})=(?P<value>'[^']*'|[-+\w.]*\w)?`?|(?P<quoted>{QUOTED})|"
    parts += ALONE.format(rf"(?P<alone>{names})")
    message = re.sub(parts, lambda found: _spoken(found, options), message)
    plain = "|".join(name for name in PLAIN if name in options)
    if not plain:
        return message
    # At the head of a rule, or beside another option in a list.
    about = rf"(?:^|(?<=; ))(?P<head>{plain})(?= must | was given)"
    about += rf"|(?<![\w-])(?P<before>{plain})(?=(?:,| and| or) --)"
    about += rf"|(?P<list>--[\w-]+(?:,| and| or) )(?P<after>{plain})\b"
    return re.sub(about, lambda found: _listed(found, options), message)


def _options(command: click.Command | None) -> dict[str, click.Option]:
    """Return the options of a command by the names of the library's arguments."""
    taken = command.params if command is not None else []
    found = {str(option.name): option for option in taken if isinstance(option, click.Option)}
    return found | {name: found[to] for name, to in ALIASES.items() if to in found}


def _spoken(found: re.Match[str], options: dict[str, click.Option]) -> str:
    name = found["given"] or found["alone"]
    if not name or (found["alone"] and "_" not in name and name not in ALIASES):
        return found[0]
    option, value = options[name], (found["value"] or "").strip("'")
    if value and isinstance(option.type, click.Choice) and value not in option.type.choices:
        return found[0]  # another argument of that name
    return f"{option.opts[-1]} {value}".rstrip()


def _listed(found: re.Match[str], options: dict[str, click.Option]) -> str:
    name = found["head"] or found["before"] or found["after"]
    return f"{found['list'] or ''}{options[name].opts[-1]}"
