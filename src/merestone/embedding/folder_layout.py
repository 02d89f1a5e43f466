"""What the files of a model folder say: Hugging Face's ``config.json``, and what Sentence
Transformers writes beside it (``modules.json``, ``1_Pooling/config.json`` and their like)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from merestone.embedding.architectures import UnsuitableModelError
from merestone.embedding.templates import PLAIN

_POOLINGS = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "last",
}
_POOLING_NAMES = {"mean": "mean", "cls": "cls", "lasttoken": "last"}
_PASSAGE_PROMPTS = ("document", "passage", "corpus")
_QUERY_PROMPTS = ("query", "search_query")


@dataclass(frozen=True, slots=True)
class Layout:
    """A model folder, read as far as describes it."""

    transformer: Path
    """The folder with the weights, the tokenizer and ``config.json``."""
    config: Mapping[str, object]
    max_tokens: int | None
    pooling: str | None
    """``None``: the folder says nothing of it."""
    passage_template: str
    query_template: str


def read_layout(folder: Path) -> Layout:
    """Raises ``UnsuitableModelError`` for what this code cannot do; ``OSError`` or ``ValueError``
    for files that cannot be read."""
    modules = read_json(folder / "modules.json") if (folder / "modules.json").is_file() else []
    transformer, pooling = folder, None
    if not isinstance(modules, list):
        raise UnsuitableModelError("modules.json is not a list")
    for module in modules:
        kind = str(module["type"]).rpartition(".")[2]
        place = folder / str(module.get("path", ""))
        if kind == "Transformer":
            transformer = place
        elif kind == "Pooling":
            pooling = _pooling(_table(place / "config.json"))
        elif kind != "Normalize":
            raise UnsuitableModelError(f"it has a module {kind}, which does not run here")
    passage, query = prompt_templates(folder)
    return Layout(
        transformer,
        _table(transformer / "config.json"),
        _max_tokens(transformer),
        pooling,
        passage,
        query,
    )


def read_json(path: Path) -> object:
    """The value in the file."""
    value: object = json.loads(path.read_text("utf-8"))
    return value


def _table(path: Path) -> Mapping[str, object]:
    value = read_json(path)
    if not isinstance(value, dict):
        raise ValueError(f"{path.name} is not a table")
    return value


def _pooling(config: Mapping[str, object]) -> str:
    if config.get("include_prompt") is False:
        raise UnsuitableModelError("its pooling leaves out the tokens of its prompt")
    named = config.get("pooling_mode")
    modes = [named] if isinstance(named, str) else named if isinstance(named, list) else None
    if modes is None:
        modes = [
            key for key, value in config.items() if key.startswith("pooling_") and value is True
        ]
    known = _POOLINGS | _POOLING_NAMES
    if len(modes) != 1 or modes[0] not in known:
        raise UnsuitableModelError(
            f"it pools by {', '.join(map(str, modes)) or 'nothing'}; mean, cls and last run here"
        )
    return known[modes[0]]


def _max_tokens(transformer: Path) -> int | None:
    """The limit that the model's authors set, where they did."""
    for name, key in (
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
    ):
        if (transformer / name).is_file():
            value = _table(transformer / name).get(key)
            if isinstance(value, int) and 0 < value < 1_000_000:
                return value
    return None


def prompt_templates(folder: Path) -> tuple[str, str]:
    """Templates for passages and queries, by the prompts of Sentence Transformers."""
    path = folder / "config_sentence_transformers.json"
    described = _table(path) if path.is_file() else {}
    prompts = described.get("prompts")
    if not isinstance(prompts, dict):
        return PLAIN, PLAIN
    default = str(prompts.get(described.get("default_prompt_name")) or "")
    found = []
    for names in (_PASSAGE_PROMPTS, _QUERY_PROMPTS):
        prompt = next((str(prompts[name]) for name in names if prompts.get(name)), default)
        found.append(prompt + PLAIN)
    return found[0], found[1]
