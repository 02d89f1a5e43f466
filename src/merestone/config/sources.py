"""Settings of sources: what each kind may have, and what is never a document."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from merestone.config.files import STATE_FOLDER
from merestone.config.tables import ConfigurationTables, SourceTable
from merestone.config.written import written_files
from merestone.indexing.sources.identifiers import page_identifier
from merestone.indexing.sources.transfer_options import TransferOptions
from merestone.types import JSON, SettingsError, SourceSettings

_ROW_KEYS = frozenset({"key", "updated", "text", "media_type"})
_PAGE_KEYS = frozenset({"options", "user", "password_env", "token_env"})
_KINDS: dict[str, frozenset[str]] = {
    "path": frozenset({"gitignore"}),
    "url": frozenset({"options"}),
    "urls": _PAGE_KEYS,
    "list": _PAGE_KEYS | {"hosts", "robots"},
    "sitemap": _PAGE_KEYS | {"hosts", "robots"},
    "sqlite": _ROW_KEYS | {"query"},
    "sql": _ROW_KEYS | {"query", "password_env"},
    "jsonl": _ROW_KEYS,
    "plugin": _ROW_KEYS | {"options", "query", "password_env", "hosts"},
}
"""What each kind of source may have besides name, include and exclude."""
_NEEDED = {"sqlite": ("query", "key"), "sql": ("query", "key"), "jsonl": ("key",)}
_SPECIAL = re.compile(r"([\\*?\[\]])")
"""What stands for something else in a pattern with git's rules."""


def sources_of(
    config: ConfigurationTables, root: Path, origin: Mapping[str, JSON]
) -> tuple[SourceSettings, ...]:
    """The sources; paths are relative to the configuration. ``origin`` says by table where it
    stands.

    Raises ``SettingsError`` for what a kind of source can't have, and for several sources that
    can't be told apart.
    """
    try:
        _check_names([source.name for source in config.sources])
        sources = [_source_settings(source, root) for source in config.sources]
    except SettingsError as error:
        where = origin.get("sources", "the configuration")
        raise SettingsError(error.code, f"In {where}: {error.message}", error.remedy) from error
    evaluation = config.evaluation
    own = [os.path.abspath(root / evaluation.questions)]
    if evaluation.gate.baseline != "last":
        own.append(os.path.abspath(root / evaluation.gate.baseline))
    own += written_files(root / STATE_FOLDER)
    return tuple(_without_files(source, own) for source in sources)


def _check_names(names: list[str]) -> None:
    if len(names) > 1 and (len(set(names)) < len(names) or not all(names)):
        raise _source_error(
            f"The {len(names)} sources have the names {names}.",
            'Give each of several sources a name of its own: name = "handbook" in its [[sources]]. '
            "Ids of its documents begin with it.",
        )


def _without_files(source: SourceSettings, files: list[str]) -> SourceSettings:
    """A folder without ``files`` in it: questions, and what is written of them, hold the words of
    their answers, and would be found in the place of what they ask for."""
    inside = [
        Path(file) for file in files if source.path and Path(file).is_relative_to(source.path)
    ]
    patterns = (
        "/" + _SPECIAL.sub(r"\\\1", file.relative_to(source.path).as_posix()) for file in inside
    )
    return replace(source, exclude=(*source.exclude, *patterns))


def _source_settings(source: SourceTable, root: Path) -> SourceSettings:
    kind = _kind(source)
    texts = [source.text] if isinstance(source.text, str) else source.text
    place = {"path": source.path or "."}.get(kind) or getattr(source, kind)
    if kind in ("sqlite", "jsonl") or (kind == "list" and "://" not in place):
        place = os.path.abspath(root / place)
    if kind in ("url", "sql"):
        _check_url(source, kind, place)
    elif kind in ("urls", "list", "sitemap"):
        _check_pages(source, kind, place)
    return SourceSettings(
        path=os.path.abspath(root / place) if kind == "path" else "",
        name=source.name,
        include=tuple(source.include),
        exclude=tuple(source.exclude),
        gitignore=source.gitignore,
        kind=place if kind == "plugin" else kind,
        location="" if kind in ("path", "urls", "plugin") else place,
        urls=tuple(source.urls or ()),
        hosts=tuple(source.hosts),
        robots=source.robots,
        user=source.user,
        token_env=source.token_env,
        query=source.query,
        key=source.key,
        updated=source.updated,
        text=tuple(texts),
        media_type=source.media_type,
        password_env=source.password_env,
        options=source.options,
    )


def _kind(source: SourceTable) -> str:
    """Which key says what the source is; every other key has to be one of that kind."""
    given = source.model_fields_set
    kinds = [kind for kind in _KINDS if kind in given] or ["path"]
    if len(kinds) > 1:
        raise _source_error(
            f"One source has {' and '.join(kinds)}.", "Write a [[sources]] for each of them."
        )
    (kind,) = kinds
    for name in given - _KINDS[kind] - {kind, "name", "include", "exclude"}:
        takers = [each for each, names in _KINDS.items() if name in names]
        raise _source_error(
            f"A source with {kind} has the key {name}.", f"It belongs to {', '.join(takers)}."
        )
    missing = [name for name in _NEEDED.get(kind, ()) if not getattr(source, name)]
    if missing:
        raise _source_error(f"A source with {kind} lacks {' and '.join(missing)}.", "Give it.")
    if ":" in source.name or "/" in source.name:
        raise _source_error(
            f"The name {source.name!r} of a source holds a colon or a slash.", "Leave them out."
        )
    return kind


def _check_url(source: SourceTable, kind: str, url: str) -> None:
    try:
        has_password = urlsplit(url).password is not None
    except ValueError:
        # Without repeating it: it may hold a password.
        raise _source_error(
            f"The {kind} of the source {source.name or kind} is no URL.", "Mend its host."
        ) from None
    if has_password:
        raise _source_error(
            f"The source {source.name or kind} has a password in its URL.",
            "Put it into the environment; password_env names the variable for sql.",
        )


def _check_pages(source: SourceTable, kind: str, place: str) -> None:
    is_on_page = kind != "list" or "://" in place
    named = (source.urls or ()) if kind == "urls" else (place,) if is_on_page else ()
    for url in named:
        if page_identifier(url) is None:
            raise _source_error(
                f"{url.rpartition('@')[2]!r} in {kind} is no address of a page.",
                "Give a URL with http or https, without user and password.",
            )
    for host in source.hosts:
        if page_identifier(f"https://{host}") is None or urlsplit(f"//{host}").netloc != host:
            raise _source_error(
                f"{host.rpartition('@')[2]!r} in hosts is no host.",
                'Give names alone, with a port if need be: hosts = ["example.org:8080"].',
            )
    TransferOptions.of(source.options, 1)
    _check_credentials(source, is_on_page=is_on_page)


def _check_credentials(source: SourceTable, *, is_on_page: bool) -> None:
    """``is_on_page``: the settings name a server. Without one a list could send the secret
    anywhere."""
    if not (source.user or source.password_env or source.token_env):
        return
    if source.token_env and (source.user or source.password_env):
        raise _source_error("One source has a user and a token.", "Give one of them.")
    if source.password_env and not source.user:
        raise _source_error("A source of pages has a password and no user.", "Give user as well.")
    if ":" in source.user:
        raise _source_error("The user of a source holds a colon.", "Leave it out.")
    if not (is_on_page or source.hosts):
        raise _source_error(
            "A list of pages in a file has credentials, and no hosts that they are for.",
            'Name them: hosts = ["example.org"].',
        )


def _source_error(message: str, remedy: str) -> SettingsError:
    return SettingsError("invalid-setting", message, remedy)
