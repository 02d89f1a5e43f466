"""Questions by a language model behind an endpoint that speaks as OpenAI's does."""

from __future__ import annotations

import re

from merestone.embedding.http import (
    Client,
    RefusedError,
    UnacceptedError,
    join_url,
)
from merestone.retrying import Timing
from merestone.types import JSON, SettingsError, SuggestSettings

_PATH = "/chat/completions"
_TASK = (
    "You write questions to test a search engine. You are given a passage of a document. Write "
    "the one question that a person who does not know the passage would ask, and that it answers "
    "fully. Use the person's own everyday words instead of the passage's where you can, in the "
    "language of the passage. Do not mention the passage, the document or the text. Answer with "
    "the question alone, on one line."
)
_LONGEST = 300
_LABEL = re.compile(r"^(?:question|q)\s*\d*\s*[:.)]\s*", re.I)


class QuestionWriter:
    """Asks a model for questions. The passages go to that endpoint."""

    def __init__(self, settings: SuggestSettings, timing: Timing | None = None) -> None:
        if not settings.url or not settings.model:
            lacking = "model" if settings.url else "url"
            raise SettingsError(
                "suggest-not-configured",
                f"evaluation.suggest.{lacking} does not say which model is to write questions.",
                "Set url and model of an OpenAI-compatible endpoint, or leave both out.",
            )
        self._model = settings.model
        self._client = Client(
            join_url(settings.url, _PATH),
            settings.api_key_env,
            settings.timeout_seconds,
            timing or Timing(),
        )

    @property
    def place(self) -> str:
        """The address as it may be shown."""
        return self._client.place

    @property
    def requests(self) -> int:
        return self._client.usage.requests

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()

    def write(self, passage: str, title: str | None) -> str | None:
        """A question that ``passage`` answers; ``None`` if the answer is none, or the service does
        not take this passage.

        Raises ``SettingsError`` if the service refuses to serve, and ``UnavailableError`` if it
        cannot be reached.
        """
        head = f"Document: {title}\n\n" if title else ""
        messages = [
            {"role": "system", "content": _TASK},
            {"role": "user", "content": f"{head}Passage:\n{passage}"},
        ]
        try:
            answer = self._client.ask({"model": self._model, "messages": messages}, 1)
        except RefusedError as error:
            raise SettingsError(
                "suggest-refused",
                f"{error}.",
                "Check url, model and api_key_env of [evaluation.suggest].",
            ) from error
        except UnacceptedError:
            return None
        return _question_in(answer)


def _question_in(answer: JSON) -> str | None:
    """The first line of what the model says, if it can be a question."""
    try:
        content = answer["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        return None
    if not isinstance(content, str):
        return None
    # Some models think aloud first.
    lines = content.rpartition("</think>")[2].strip().splitlines()
    first = next((line for line in lines if line.strip()), "")
    question = _LABEL.sub("", first.strip().strip("*")).strip().strip("\"'\u201c\u201d*").strip()
    return question if 3 <= len(question) <= _LONGEST and question.isprintable() else None
