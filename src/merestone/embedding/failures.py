"""What went wrong with a service, as the error of those who wanted its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from merestone.embedding.http import Client, RefusedError, ServiceError, UnavailableError
from merestone.types import JSON, MerestoneError


class Told(NamedTuple):
    """What one kind of failure is told with."""

    code: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Failures:
    """How the failures of a service are told, by kind."""

    error: Callable[[str, str, str], MerestoneError]
    """Makes an error of code, message and remedy."""
    unavailable: Told
    refused: Told
    unusable: Told
    """It answers with something that can't be used."""

    def told(self, problem: Exception | None) -> MerestoneError:
        """The error for a service that gives nothing at all, for this reason."""
        if isinstance(problem, UnavailableError):
            kind = self.unavailable
        elif isinstance(problem, ServiceError):
            kind = self.refused
        else:
            kind = self.unusable
        return self.error(kind.code, f"{problem}.", kind.remedy)

    def ask(self, client: Client, body: Mapping[str, JSON], texts: int, tries: int | None) -> JSON:
        """The answer to ``body``, as :meth:`Client.ask` gives it.

        Raises our own error where asking for a part of the texts would be of no use either, and
        lets ``UnacceptedError`` and ``UnavailableError`` pass where it might.
        """
        try:
            return client.ask(body, texts, tries)
        except RefusedError as error:
            raise self.told(error) from error
        except UnavailableError as error:
            if error.may_be_request:
                raise
            raise self.told(error) from error
