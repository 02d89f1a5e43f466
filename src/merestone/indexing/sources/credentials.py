"""Secrets that a source is opened with. They stand in the environment and nowhere else."""

from __future__ import annotations

import base64
import os
import re
from urllib.parse import urlsplit

from merestone.types import SettingsError, SourceSettings

_Origin = tuple[str, str, int | None]
"""Scheme, host, port."""
_PORTS = {"http": 80, "https": 443}
_TOKEN = re.compile(r"[!-~]+")
"""What a header can hold (RFC 6750 allows less)."""


def read_secret(variable: str) -> str:
    """What the environment variable holds, ``""`` if none is named; ``SettingsError`` if it was
    named and holds nothing."""
    if not variable:
        return ""
    secret = os.environ.get(variable, "")
    if not secret:
        raise SettingsError(
            "invalid-setting",
            f"The environment variable {variable}, which should hold a secret of a source, is not "
            "set.",
            "Set it, or do not name it in [[sources]].",
        )
    return secret


class Credentials:
    """The ``Authorization`` of a source of pages: a token, or a user with a password.

    Only the servers that the settings name are given it. A page can lead, and a list can point,
    anywhere.
    """

    def __init__(self, settings: SourceSettings) -> None:
        self._secrets: list[str] = []
        self._header = self._of(settings)
        self._origins = _origins(settings) if self._header else frozenset()

    def headers(self, url: str) -> dict[str, str]:
        """What a request to ``url`` is to be sent with."""
        if self._header and _origin(url) in self._origins:
            return {"Authorization": self._header}
        return {}

    def hide(self, text: str) -> str:
        """``text`` without the secrets, should a server repeat them."""
        for secret in self._secrets:
            text = text.replace(secret, "…")
        return text

    def _of(self, settings: SourceSettings) -> str:
        token = read_secret(settings.token_env).strip()
        if token:
            if not _TOKEN.fullmatch(token):
                raise SettingsError(
                    "invalid-setting",
                    f"What the environment variable {settings.token_env} holds is no token.",
                    "Set it to the token alone, without spaces or line breaks.",
                )
            self._secrets = [token]
            return f"Bearer {token}"
        if not settings.user:
            return ""
        password = read_secret(settings.password_env)
        packed = base64.b64encode(_bytes_of(f"{settings.user}:{password}")).decode()
        self._secrets = [packed, *([password] if password else [])]
        return f"Basic {packed}"


def _bytes_of(login: str) -> bytes:
    """A login in UTF-8. What the environment holds that is no text is sent as the bytes it is."""
    try:
        return login.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise SettingsError(
            "invalid-setting",
            "The user or the password of a source of pages is no text.",
            "Mend it.",
        ) from error


def _origins(settings: SourceSettings) -> frozenset[_Origin]:
    """The servers of the pages that were named, and ``hosts`` in encryption, or as the source
    itself. Raises ``SettingsError`` for what can't be one, which only settings hold that no
    configuration was read for."""
    location = [settings.location] if "://" in settings.location else []
    named = [*settings.urls, *location]
    origins = [_checked(url, url) for url in named]
    schemes = {"https", *(origin[0] for origin in origins)}
    hosts = [_checked(f"{each}://{host}", host) for host in settings.hosts for each in schemes]
    return frozenset((*origins, *hosts))


def _checked(url: str, given: str) -> _Origin:
    try:
        return _origin(url)
    except ValueError as error:
        raise SettingsError(
            "invalid-setting",
            # What stands before an @ may be a password.
            f"{given.rpartition('@')[2]!r} in a source of pages is no address of a server.",
            "Mend it: its credentials are for the servers that it names.",
        ) from error


def _origin(url: str) -> _Origin:
    parts = urlsplit(url.strip())
    return parts.scheme, (parts.hostname or "").lower(), parts.port or _PORTS.get(parts.scheme)
