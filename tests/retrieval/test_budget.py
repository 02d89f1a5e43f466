"""The planner of a prompt."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone import Budget, Library, SettingsError
from merestone.cli.main import run
from merestone.text.tokenizers import CharacterTokenizer, WordTokenizer


def test_what_is_left_is_the_limit_less_all_parts() -> None:
    budget = Budget(8192, system_prompt=500, history=1200, answer_reserve=1000)
    assert budget.available == 8192 - 500 - 1200 - 1000 - 820
    assert budget.plan.safety == 820
    assert "safety, 10 % of the model limit" in budget.explain()
    assert budget.to_json()["safety_share"] == 0.10
    assert Budget(1000, safety=0).available == 1000
    assert Budget(1001, safety=0.125).plan.safety == 126
    assert "12.5 %" in Budget(1000, safety=0.125).explain()


def test_texts_are_counted_by_the_tokenizer_that_is_given() -> None:
    parts: dict[str, Any] = {"system_prompt": "You are a clerk.", "history": ["Hello", "two words"]}
    words = Budget(100, **parts, tokenizer=WordTokenizer()).plan
    assert (words.system_prompt, words.history, words.tokenizer) == (4, 3, "words")
    letters = Budget(100, **parts, tokenizer="characters").plan
    assert (letters.system_prompt, letters.history) == (16, 14)
    assert Budget(100, **parts).plan.tokenizer == "minilm"
    assert Budget(100, **parts).counted_by(CharacterTokenizer()).plan == letters


def test_beyond_eight_passages_it_warns() -> None:
    budget = Budget(2000, safety=0.1)
    assert budget.passages(225) == 8
    assert budget.warning(225) is None
    assert budget.passages(200) == 9
    assert "9 passages are many: beyond 8" in str(budget.warning(200))
    assert "overlook" in budget.explain(200)
    assert budget.passages(1801) == 0


@given(
    st.integers(0, 10_000),
    st.integers(0, 2000),
    st.integers(0, 2000),
    st.integers(0, 2000),
    st.floats(0, 0.99),
    st.integers(1, 500),
)
def test_it_is_never_negative(
    limit: int, system: int, history: int, reserve: int, safety: float, size: int
) -> None:
    left = limit - system - history - reserve - math.ceil(safety * limit)
    budget = Budget(limit, system, history, reserve, safety)
    if left >= 0:
        assert budget.available == left
        assert budget.passages(size) * size <= left < (budget.passages(size) + 1) * size
        return
    with pytest.raises(SettingsError) as caught:
        _ = budget.available
    assert caught.value.code == "invalid-budget"
    assert f"{-left:,} tokens over" in caught.value.message


@pytest.mark.parametrize(
    "parts",
    [
        {"model_limit": -1},
        {"model_limit": 10.5},
        {"model_limit": True},
        {"model_limit": "8k"},
        {"model_limit": 10, "answer_reserve": -1},
        {"model_limit": 10, "system_prompt": None},
        {"model_limit": 10, "history": [1, 2]},
        {"model_limit": 10, "history": {"a": "b"}},
        {"model_limit": 10, "safety": 1},
        {"model_limit": 10, "safety": 10},
        {"model_limit": 10, "safety": float("nan")},
        {"model_limit": 10, "safety": -0.1},
    ],
)
def test_parts_that_are_none_are_refused(parts: dict[str, Any]) -> None:
    with pytest.raises(SettingsError) as caught:
        Budget(**parts)
    assert caught.value.code == "invalid-budget"


@pytest.fixture
def library(tmp_path: Path) -> Any:
    for number in range(12):
        # No two are near-duplicates.
        words = " ".join(f"word{number}x{place}" for place in range(20))
        (tmp_path / f"{number}.txt").write_text(f"Pump {number} has a valve. {words}.\n")
    (tmp_path / "merestone.toml").write_text('[embedding]\nmodel = "hashing"\n')
    with Library.open(tmp_path) as opened:
        opened.sync()
        yield opened


def test_a_context_takes_a_budget_and_tells_its_sum(library: Library) -> None:
    budget = Budget(200, system_prompt="Answer from the passages.", answer_reserve=50)
    result = library.context("pump valve", budget=budget, tokenizer=WordTokenizer())
    assert result.budget == 200 - 4 - 50 - 20
    assert WordTokenizer().counts([result.text])[0] == result.tokens <= result.budget
    told = result.to_json()["plan"]
    assert told["available"] == result.budget
    assert told["tokenizer"] == "words"
    assert not result.notes


def test_a_context_counts_by_the_budgets_tokenizer(library: Library) -> None:
    result = library.context("pump valve", budget=Budget(300, tokenizer=CharacterTokenizer()))
    assert len(result.text) == result.tokens <= 270
    with pytest.raises(SettingsError, match="one tokenizer"):
        library.context(
            "pump",
            budget=Budget(300, tokenizer=CharacterTokenizer()),
            tokenizer=WordTokenizer(),
        )
    assert any("embedder's tokenizer" in n for n in library.context("x", budget=Budget(9)).notes)


def test_many_passages_are_warned_of(library: Library) -> None:
    result = library.context("pump valve", budget=Budget(5000, tokenizer=WordTokenizer()))
    assert len(result.passages) > 8
    assert any("overlook" in note for note in result.notes)


def test_on_the_command_line(library: Library, capsys: pytest.CaptureFixture[str]) -> None:
    root = Path(library.settings.root)
    talk = [{"role": "user", "content": "two words"}, {"content": [{"text": "and three more"}]}]
    (root / "talk.json").write_text(json.dumps(talk))
    (root / "system.md").write_text("You are a clerk.")
    prompt = ["--system-prompt", str(root / "system.md"), "--history", str(root / "talk.json")]
    asked = ["-C", str(root), "context", "pump valve", "--tokenizer", "words"]
    assert run([*asked, "--model-limit", "200", *prompt, "--reserve", "30", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["budget"] == answer["plan"]["available"] == 200 - 4 - 5 - 30 - 20
    assert answer["tokens"] <= answer["budget"]
    assert run([*asked, "--model-limit", "200", "--safety", "0.5", "--explain"]) == 0
    out, err = capsys.readouterr()
    assert "safety, 50 % of the model limit" in err
    assert "[1]" in out
    for stage in ("filter", "candidates", "focus", "pack", "in all"):
        assert stage in err
    assert "in, all of it" in err or "shortened" in err
    for wrong in (
        [],
        ["--budget", "9", "--model-limit", "9"],
        ["--budget", "9", "--reserve", "1"],
        ["--model-limit", "9", "--reserve", "10"],
        ["--model-limit", "99", "--history", str(root / "merestone.json")],
    ):
        assert run([*asked, *wrong]) == 2
