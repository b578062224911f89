"""Messages of the library in the words of the command line: options rather than arguments."""

import click

from undercount.errors import Message

# Arguments whose options have other names.
OPTION_OF = {
    "random_state": "seed",
    "sample_weight": "weight",
    "purity": "label_purity",
    "interval": "prevalence_interval",
    "RandomAudit": "audited",
}


def say(message: str, command: click.Command) -> str:
    """Name the options of a command where a message names arguments; others stay."""
    options = {
        str(parameter.name): parameter
        for parameter in command.params
        if isinstance(parameter, click.Option)
    }

    def speak(argument: str, value: str) -> str | None:
        # One that may be given several times is kept by its plural.
        option = options.get(OPTION_OF.get(argument, argument)) or options.get(f"{argument}s")
        bare = value.strip("'")
        if option is None:
            return None
        if bare and isinstance(option.type, click.Choice) and bare not in option.type.choices:
            return None  # another argument of that name
        return f"{option.opts[-1]} {bare}".rstrip()

    return Message(message).said(speak)
