"""How many tokens are left for evidence in what a model reads at once."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TypeAlias

from merestone.embedding import open_embedder
from merestone.text.tokenizer_names import tokenizer_given
from merestone.types import (
    JSON,
    BudgetPlan,
    ContextResult,
    EmbeddingSettings,
    SettingsError,
    Tokenizer,
)

Counted: TypeAlias = int | str | Sequence[str]
"""Tokens, or the text or texts whose tokens are counted."""

MANY_PASSAGES = 8
"""Beyond so many passages a model is likely to overlook some. Liu et al., "Lost in the Middle: How
Language Models Use Long Contexts", TACL 2024: what stands in the middle of many is used least."""


@dataclass(frozen=True)
class Budget:
    """The planner of a prompt: the model's limit, less what else the prompt holds, less the answer,
    less a share for safety.

    Parts are tokens, or texts that are counted by ``tokenizer``, which should be that of the model
    that will read them; without one, the embedder's of the library that it is given to, and by
    itself that of the bundled embedder. Raises ``SettingsError`` with code ``invalid-budget``.
    """

    model_limit: int
    """Tokens that the model takes, its answer included."""
    system_prompt: Counted = 0
    history: Counted = 0
    """The conversation so far and the question."""
    answer_reserve: int = 0
    safety: float = 0.10
    """Share of ``model_limit`` that stays free: for what a chat adds around each message, and for
    counts by another tokenizer than the model's."""
    tokenizer: Tokenizer | str | os.PathLike[str] | None = None
    """Also as the path of a ``tokenizer.json`` or a name such as ``cl100k_base``."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokenizer", tokenizer_given(self.tokenizer))
        for name in ("model_limit", "answer_reserve"):
            _check_tokens(name, getattr(self, name))
        for name in ("system_prompt", "history"):
            _check_part(name, getattr(self, name))
        share = self.safety
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share < 1:
            raise _invalid(
                f"safety = {share!r} is no share of the model's limit.",
                "Give one from 0 to below 1, such as 0.1 for 10 %.",
            )

    def counted_by(self, tokenizer: Tokenizer) -> Budget:
        """The same, counted by ``tokenizer`` unless it has one of its own."""
        return self if self.tokenizer is not None else replace(self, tokenizer=tokenizer)

    @property
    def counter(self) -> Tokenizer | None:
        """What counts its texts, if that is said."""
        assert not isinstance(self.tokenizer, str | os.PathLike)
        return self.tokenizer

    @property
    def available(self) -> int:
        """Tokens that are left for evidence; 0 or more."""
        return self.plan.available

    def passages(self, size: int) -> int:
        """How many passages of ``size`` tokens, citation and separator included, fit."""
        _check_tokens("size", size)
        if size == 0:
            raise _invalid("A passage of 0 tokens is none.", "Give the tokens of a passage.")
        return self.available // size

    def warning(self, size: int) -> str | None:
        """What speaks against so many passages; ``None``: nothing."""
        return many_passages(self.passages(size))

    @cached_property
    def plan(self) -> BudgetPlan:
        """What each part takes."""
        counter = self.counter or _bundled()
        system, history = _count(self.system_prompt, counter), _count(self.history, counter)
        safety = math.ceil(self.safety * self.model_limit)
        left = self.model_limit - system - history - self.answer_reserve - safety
        plan = BudgetPlan(
            model_limit=self.model_limit,
            system_prompt=system,
            history=history,
            answer_reserve=self.answer_reserve,
            safety=safety,
            safety_share=float(self.safety),
            available=left,
            tokenizer=counter.name,
        )
        if left < 0:
            raise _invalid(
                f"The budget is {-left:,} tokens over the model's limit. {plan.sum()}",
                "Shorten the system prompt or the history, reserve less, or take a model that "
                "reads more.",
            )
        return plan

    def explain(self, size: int | None = None) -> str:
        """The breakdown on several lines; with ``size`` also how many passages of it fit."""
        lines = [self.plan.explain()]
        if size is not None:
            lines.append(f"{self.passages(size):,} passages of {size:,} tokens fit.")
            lines += [warning for warning in [self.warning(size)] if warning]
        return "\n".join(lines)

    def to_json(self) -> dict[str, JSON]:
        """As :meth:`BudgetPlan.to_json`."""
        return self.plan.to_json()


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a context may have."""

    tokens: int
    tokenizer: Tokenizer
    plan: BudgetPlan | None = None
    notes: tuple[str, ...] = ()

    def told(self, result: ContextResult) -> ContextResult:
        """``result`` with how its budget came about, and what speaks against it."""
        if self.plan is None:
            return result
        warning = many_passages(len(result.passages))
        notes = (*result.notes, *self.notes, *([warning] if warning else []))
        return replace(result, plan=self.plan, notes=notes)


def allow(budget: int | Budget, tokenizer: Tokenizer | None, own: Tokenizer) -> Allowance:
    """What ``budget`` comes to, counted by ``tokenizer``, by the one that it brings, or by
    ``own``, the embedder's."""
    if not isinstance(budget, Budget):
        return Allowance(budget, tokenizer or own)
    brought = budget.counter
    if tokenizer and brought and tokenizer.fingerprint != brought.fingerprint:
        raise _invalid(
            f"The budget is counted by {brought.name}, and the context is to be counted by "
            f"{tokenizer.name}.",
            "Name one tokenizer, that of the model that reads both.",
        )
    counter = brought or tokenizer or own
    notes: tuple[str, ...] = ()
    if brought is None and tokenizer is None:
        notes = (
            f"Tokens are counted by the embedder's tokenizer, {own.name}: name that of the model "
            "that will read the context, or leave more for safety.",
        )
    plan = budget.counted_by(counter).plan
    return Allowance(plan.available, counter, plan, notes)


def many_passages(count: int) -> str | None:
    """The warning beyond :data:`MANY_PASSAGES`."""
    if count <= MANY_PASSAGES:
        return None
    return (
        f"{count:,} passages are many: beyond {MANY_PASSAGES}, models tend to overlook what stands "
        "in the middle. Fewer and better ones often answer better."
    )


def _count(part: Counted, tokenizer: Tokenizer) -> int:
    if isinstance(part, int):
        return part
    texts = [part] if isinstance(part, str) else list(part)
    return sum(tokenizer.counts(texts)) if texts else 0


def _check_tokens(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _invalid(
            f"{name} = {value!r} is no number of tokens.", "Give a whole number from 0 on."
        )


def _check_part(name: str, value: object) -> None:
    if isinstance(value, str):
        return
    if isinstance(value, Iterable):
        if not isinstance(value, Sequence) or not all(isinstance(each, str) for each in value):
            raise _invalid(
                f"{name} is no list of texts.", "Give tokens, a text or a list of texts."
            )
        return
    _check_tokens(name, value)


def _invalid(message: str, remedy: str) -> SettingsError:
    return SettingsError("invalid-budget", message, remedy)


@lru_cache(maxsize=1)
def _bundled() -> Tokenizer:
    return open_embedder(EmbeddingSettings()).tokenizer
