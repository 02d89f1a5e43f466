"""What is said of files of other tools that can't be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from merestone.text.strict_json import strict_json
from merestone.types import JSON, SettingsError


def text_of(path: Path) -> str:
    """The file as text; ``SettingsError`` if it can't be read."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise SettingsError(
            "questions-not-found", f"There is no file {path}.", "Check the path."
        ) from error
    except (OSError, ValueError) as error:
        raise not_read(path, str(error)) from error


def json_lines_of(path: Path) -> Iterator[tuple[int, dict[str, JSON]]]:
    """Line numbers and objects of a file with one JSON object a line."""
    for number, line in enumerate(text_of(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = strict_json(line)
        except (ValueError, RecursionError) as error:
            raise not_read(path, f"line {number} is no JSON that can be read: {error}") from error
        if not isinstance(value, dict):
            raise not_read(path, f"line {number} is no object")
        yield number, value


def not_read(path: Path, problem: str) -> SettingsError:
    return SettingsError(
        "invalid-questions",
        f"{path} cannot be read: {problem}.",
        "Check that the file is whole and of the format that --format names.",
    )
