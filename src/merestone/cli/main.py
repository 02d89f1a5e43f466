"""The command ``merestone``."""

from __future__ import annotations

import logging
import os
import sys
from importlib import import_module
from keyword import iskeyword
from pathlib import Path

import click

from merestone import __version__
from merestone.types import ExtractionError, MerestoneError, StoreBusyError

_VERBS = (
    "init",
    "plan",
    "sync",
    "status",
    "search",
    "context",
    "show",
    "resolve",
    "history",
    "access",
    "cut",
    "questions",
    "eval",
    "compare",
    "tune",
    "gate",
    "report",
    "verify",
    "doctor",
    "explain",
    "export",
    "import",
    "remove",
    "gc",
)

FINDINGS = 1
WRONG_USE = 2
DOCUMENTS_FAILED = 3
BUSY = 4
INTERRUPTED = 130


class _Verbs(click.Group):
    """Commands that are imported when they are used, so that each starts quickly."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        # A module cannot be called `import`.
        module = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        command: click.Command = import_module(f"merestone.cli.{module}").command
        return command


@click.command(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-C",
    "--directory",
    type=click.Path(path_type=Path),
    default=Path("."),
    help="Work as if started in this folder.",
)
@click.version_option(__version__, prog_name="merestone")
@click.pass_context
def merestone(context: click.Context, directory: Path) -> None:
    """Cut documents into passages that keep their meaning, index them, and serve them cited.

    Results go to stdout, talk goes to stderr; every command has --json. Exit codes: 0 fine,
    1 findings, 2 wrong use or configuration, 3 finished but documents failed, 4 another process
    is writing.
    """
    context.obj = directory


def main() -> None:
    """Run the command line and end the process with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command; its exit code. Errors are told on stderr, with what to do."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    try:
        result = merestone.main(arguments, prog_name="merestone", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return WRONG_USE
    except click.exceptions.Abort:
        return _interrupted()
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        # The reader of our output has left, as `head` does. Nothing more can be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        click.echo(f"error: The output cannot be written: {error.strerror or error}.", err=True)
        return WRONG_USE
    except MerestoneError as error:
        click.echo(f"error: {error.message}\n  {error.remedy}\n  [{error.code}]", err=True)
        return _exit_code(error)
    return result if isinstance(result, int) else 0


def _interrupted() -> int:
    click.echo("Interrupted. What was stored is whole; run the command again to go on.", err=True)
    return INTERRUPTED


def _exit_code(error: MerestoneError) -> int:
    if isinstance(error, StoreBusyError):
        return BUSY
    if isinstance(error, ExtractionError):
        return DOCUMENTS_FAILED
    return FINDINGS if error.code == "large-deletion" else WRONG_USE


if __name__ == "__main__":
    main()
