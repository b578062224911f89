"""Write the generated parts of the reference when the site is built: commands and JSON schema."""

import json
import sys
from importlib import resources
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

# Whoever searches wants to do something first, and to see what was measured last.
BOOSTS = {"how-to": 4, "explanation": 2, "evidence": 0.3, "papers": 0.3, "reproductions": 0.2}


def on_page_markdown(markdown, page, **_):
    """Put the generated text where a page asks for it, and rank the page for searches."""
    boost = BOOSTS.get(page.file.src_uri.partition("/")[0], 1)
    page.meta.setdefault("search", {"boost": boost})
    makers = {
        "<!-- commands -->": describe_commands,
        "<!-- schema -->": describe_schema,
        "<!-- plan schema -->": lambda: describe_schema("plan_schema.json"),
    }
    for mark, describe in makers.items():
        if mark in markdown:
            markdown = markdown.replace(mark, describe())
    return markdown


def describe_commands():
    """Return a section for each command, with a table of its options."""
    from undercount.cli.commands import commands  # noqa: PLC0415 - the path is set above

    parent = click.Context(commands, info_name="undercount")
    sections = []
    for name in commands.list_commands(parent):
        command = commands.get_command(parent, name)
        context = click.Context(command, info_name=name, parent=parent)
        usage = " ".join(command.collect_usage_pieces(context))
        lines = [f"## undercount {name}", "", command.help or "", ""]
        lines += ["```text", f"undercount {name} {usage}", "```", ""]
        rows = [describe_option(option) for option in command.params]
        rows = [row for row in rows if row]
        if rows:
            lines += ["| option | meaning |", "|---|---|", *rows]
        sections.append("\n".join(lines))
    return "\n\n".join(sections)


def describe_option(option):
    """Return a line of the table, or nothing for an argument."""
    if not isinstance(option, click.Option) or option.hidden:
        return ""
    kind = "" if option.is_flag else f" {option.make_metavar(click.Context(click.Command('x')))}"
    default = option.default
    shown = (
        ""
        if option.is_flag or default in (None, (), "") or callable(default)
        else f" Default: `{default}`."
    )
    if type(default).__name__ == "Sentinel":
        shown = ""
    words = (option.help or "").replace("|", "\\|")
    again = " May be repeated." if option.multiple and "repeat" not in words else ""
    name = f"{', '.join(option.opts)}{kind}".replace("|", "\\|")
    return f"| `{name}` | {words}{again}{shown} |"


def describe_schema(file="schema.json"):
    """Return a table for each part of a JSON document."""
    text = resources.files("undercount.show").joinpath(file).read_text("utf-8")
    schema = json.loads(text)
    parts = {"The document": schema} | {f"{k}": v for k, v in schema["$defs"].items()}
    sections = []
    for name, part in parts.items():
        if "properties" not in part:
            sections.append(f"## {name}\n\n{part.get('description', describe_type(part))}\n")
            continue
        required = set(part.get("required", ()))
        rows = [
            f"| `{key}` | {describe_type(value)} | {'yes' if key in required else ''} | "
            f"{value.get('description', '')} |"
            for key, value in part["properties"].items()
        ]
        table = ["| field | type | always | meaning |", "|---|---|---|---|", *rows]
        sections.append(f"## {name}\n\n{part.get('description', '')}\n\n" + "\n".join(table))
    return "\n\n".join(sections) + f"\n\n## The schema itself\n\n```json\n{text}\n```\n"


def describe_type(value):
    """Say what a field holds, with a link to the part that describes it."""
    if "$ref" in value:
        name = value["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name})"
    if "const" in value:
        return f"`{json.dumps(value['const'])}`"
    if "enum" in value:
        return ", ".join(f"`{json.dumps(item)}`" for item in value["enum"])
    for key in ("anyOf", "oneOf"):
        if key in value:
            return " or ".join(describe_type(item) for item in value[key])
    kind = value.get("type", "anything")
    if kind == "array" and "items" in value:
        return f"list of {describe_type(value['items'])}"
    return " or ".join(kind) if isinstance(kind, list) else kind
