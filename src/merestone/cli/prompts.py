"""The options that plan a prompt, and the files that its parts are in."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from merestone.retrieval import Budget
from merestone.types import SettingsError

_FILE = click.Path(path_type=Path)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the options say of a budget."""

    budget: int | None
    model_limit: int | None
    system_prompt: Path | None
    history: Path | None
    reserve: int | None
    safety: float | None


def prompt_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--budget``, or ``--model-limit`` and what else the prompt holds; see :func:`planned`."""
    for option in reversed(
        (
            click.option("--budget", type=int, help="Tokens that the text may have."),
            click.option(
                "--model-limit",
                type=int,
                metavar="N",
                help="In place of --budget: tokens that the model takes. What the prompt, the "
                "answer and safety leave is filled.",
            ),
            click.option(
                "--system-prompt", type=_FILE, metavar="FILE", help="A text that is counted."
            ),
            click.option(
                "--history",
                type=_FILE,
                metavar="FILE",
                help="The same: a text, or a JSON list of texts or of messages with `content`.",
            ),
            click.option("--reserve", type=int, metavar="N", help="Tokens for the answer."),
            click.option(
                "--safety",
                type=float,
                metavar="SHARE",
                help="Of the model limit, that stays free; 0.1 unless told.",
            ),
        )
    ):
        command = option(command)
    return command


def planned(prompt: Prompt) -> int | Budget:
    """The budget that the options ask for. Raises ``click.UsageError`` unless it is said in one
    of the two ways."""
    parts = (prompt.system_prompt, prompt.history, prompt.reserve, prompt.safety)
    if (prompt.budget is None) == (prompt.model_limit is None):
        raise click.UsageError("Give either --budget or --model-limit.")
    if prompt.model_limit is None:
        assert prompt.budget is not None
        if any(part is not None for part in parts):
            raise click.UsageError(
                "--system-prompt, --history, --reserve and --safety go with --model-limit."
            )
        return prompt.budget
    return Budget(
        prompt.model_limit,
        system_prompt=_text(prompt.system_prompt) if prompt.system_prompt else 0,
        history=_messages(prompt.history) if prompt.history else 0,
        answer_reserve=prompt.reserve or 0,
        safety=0.10 if prompt.safety is None else prompt.safety,
    )


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise SettingsError(
            "file-unreadable", f"{path} cannot be read as text: {error}.", "Name a text in UTF-8."
        ) from error


def _messages(path: Path) -> str | list[str]:
    text = _text(path)
    if path.suffix.lower() != ".json":
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _no_history(path, error) from error
    if not isinstance(value, list):
        raise _no_history(path, "it is no list")
    return [_content(path, each) for each in value]


def _content(path: Path, message: Any) -> str:
    content = message.get("content") if isinstance(message, dict) else message
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    if not isinstance(content, str):
        raise _no_history(path, f"a message is {str(message)[:40]!r}")
    return content


def _no_history(path: Path, reason: object) -> SettingsError:
    return SettingsError(
        "invalid-budget",
        f"{path} does not hold a conversation: {reason}.",
        "Give a JSON list of texts or of messages with `content`, or a plain text.",
    )
