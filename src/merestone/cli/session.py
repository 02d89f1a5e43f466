"""What the verbs share: the library they work on, and how they answer."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from merestone import config
from merestone.library import Library
from merestone.types import (
    CONFIG_FILE,
    JSON,
    NotFoundError,
    Problem,
    SettingsError,
    Status,
    StoreError,
)

_Answer = TypeVar("_Answer")

json_option = click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
where_option = click.option(
    "--where",
    metavar="EXPR",
    help="Only documents that match, such as \"version >= 3 and document like 'guide/*'\".",
)
mode_option = click.option(
    "--mode",
    type=click.Choice(["hybrid", "dense", "lexical"]),
    default="hybrid",
    show_default=True,
    help="By meaning and words, meaning alone, or words alone.",
)
_as_option = click.option(
    "--as",
    "principals",
    metavar="PRINCIPAL",
    multiple=True,
    help="Who asks, such as user:bob; may be repeated. By default no one: only what is public.",
)
owner_option = click.option(
    "--as-owner", is_flag=True, help="Ask as the owner, who may read everything."
)


def asker_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--as`` and ``--as-owner``, which :func:`asker` takes."""
    return _as_option(owner_option(command))


def asker(principals: tuple[str, ...], as_owner: bool) -> dict[str, Any]:
    """Who asks, as the library's methods take it."""
    return {"principals": principals or None, "as_owner": as_owner}


def open_library(directory: Path) -> Library:
    """The library of ``directory`` or of the nearest folder above it."""
    if not directory.is_dir():
        raise SettingsError(
            "path-not-found", f"{directory} is not a folder.", "Check the path given to -C."
        )
    root = config.find_root(directory.absolute())
    if root is None:
        raise SettingsError(
            "no-configuration",
            f"There is no {CONFIG_FILE} in {directory.absolute()} or above it.",
            "Run `merestone init` in the folder of your documents.",
        )
    return Library.open(root)


def enter(library: Library, directory: Path, paths: Sequence[str]) -> list[str]:
    """``paths`` as they are meant from ``directory``."""
    base = directory.absolute()
    known = [os.path.abspath(base / path) for path in paths]
    # A path that is gone may still be one of the library's documents, and so may an id.
    return [
        full if os.path.lexists(full) or _is_inside(full, library) else path
        for full, path in zip(known, paths, strict=True)
    ]


def _is_inside(full: str, library: Library) -> bool:
    """True if the library holds a document of that path."""
    uri = Path(full).as_uri()
    try:
        with library.snapshot(as_owner=True) as snapshot:
            return any(
                record.uri == uri or record.uri.startswith(f"{uri}/")
                for record in snapshot.records()
            )
    except StoreError:
        return False


def asked(reference: str, ask: Callable[[Any], _Answer]) -> _Answer:
    """What ``ask`` says of a reference; where nothing of that name is known and it is the JSON
    file of a citation, of that."""
    try:
        return ask(reference)
    except NotFoundError:
        path = Path(reference)
        if path.suffix != ".json" or not path.is_file():
            raise
        return ask(_citation_in(path))


def _citation_in(path: Path) -> dict[str, JSON]:
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _no_citation(path, error) from error
    return _single(value, path)


def _single(value: Any, path: Path) -> dict[str, JSON]:
    """The one object that ``value`` is or lists, as the whole answer of ``search`` or ``context``
    does."""
    if isinstance(value, dict):
        listed = value.get("hits", value.get("passages"))
        if not isinstance(listed, list):
            return value
        value = listed
    if not isinstance(value, list):
        raise _no_citation(path, "it is no object")
    if len(value) != 1:
        raise SettingsError(
            "invalid-citation",
            f"{path} holds {len(value)} hits, and one is wanted.",
            "Put one entry of `hits` into a file of its own, or give its `id` or "
            "document#start-end in the place of a file.",
        )
    if not isinstance(value[0], dict):
        raise _no_citation(path, "it is no object")
    return value[0]


def _no_citation(path: Path, reason: object) -> SettingsError:
    return SettingsError(
        "invalid-citation",
        f"{path} does not hold a citation: {reason}.",
        "Give the JSON of a hit or of its citation, with document, version, start and end.",
    )


def answer(value: Any, as_json: bool, as_text: Callable[[], str]) -> None:
    """Print the result: a value with ``to_json`` as JSON, or what ``as_text`` makes of it."""
    if as_json:
        shape: JSON = value if isinstance(value, dict | list) else value.to_json()
        click.echo(json.dumps(shape, ensure_ascii=False, indent=2))
        return
    text = as_text()
    if text:
        click.echo(printable(text))


def printable(text: str) -> str:
    """``text`` without lone surrogates and without control characters that would steer the
    terminal; line ends and tabs stay."""
    return "".join(
        character
        if character in "\n\t" or (character.isprintable() or ord(character) > 0x9F)
        else "\ufffd"
        for character in text.replace("\r\n", "\n")
        .replace("\r", "\n")
        .encode("utf-8", "replace")
        .decode()
    )


def indented(text: str, by: str = "    ") -> str:
    """``text`` with each line set in."""
    return "\n".join(by + line if line.strip() else "" for line in text.splitlines())


def told_problem(problem: Problem) -> str:
    """A problem on one line. One that the document was read with is no failure."""
    kind = "note" if problem.status is Status.OK else problem.status
    return f"  {kind}: {problem.message} {problem.remedy} [{problem.code}]"


def amount(number: int, noun: str) -> str:
    """``3 documents``, ``1 document``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
