"""Options travel by name: each that a command declares has its type in one place."""

import inspect

import pytest

from undercount.cli.arguments import Options
from undercount.cli.commands import commands


def takes_options(command):
    return "options" in inspect.signature(inspect.unwrap(command.callback)).parameters


@pytest.mark.parametrize("name", [n for n, c in commands.commands.items() if takes_options(c)])
def test_every_option_of_a_command_has_a_type(name):
    declared = {option.name for option in commands.commands[name].params if option.expose_value}
    assert declared
    assert declared <= set(Options.__annotations__)


def test_most_commands_take_their_options_as_one_object():
    assert sum(map(takes_options, commands.commands.values())) >= 7
