"""Write docs/commands.md from the command line's own help: python tools/write_commands.py"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from merestone.cli.main import merestone

TARGET = Path(__file__).parent.parent / "docs" / "commands.md"
_SETTINGS: Any = {"help_option_names": ["-h", "--help"]}
_HEAD = """\
# Commands

This page is made from the commands' own help by `python tools/write_commands.py`; a test holds the
two together.

"""


def reference() -> str:
    """The page."""
    context = click.Context(merestone, info_name="merestone", terminal_width=96, **_SETTINGS)
    parts = [_HEAD, _block(merestone.get_help(context))]
    for verb in merestone.list_commands(context):
        command = merestone.get_command(context, verb)
        assert command is not None
        inner = click.Context(
            command, info_name=verb, parent=context, terminal_width=96, **_SETTINGS
        )
        parts.append(f"\n## {verb}\n\n{_block(command.get_help(inner))}")
        for name, part in getattr(command, "commands", {}).items():
            within = click.Context(
                part, info_name=name, parent=inner, terminal_width=96, **_SETTINGS
            )
            parts.append(f"\n### {verb} {name}\n\n{_block(part.get_help(within))}")
    return "".join(parts)


def _block(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```\n"


if __name__ == "__main__":
    TARGET.write_text(reference(), "utf-8")
