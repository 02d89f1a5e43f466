from __future__ import annotations

import pytest

from merestone.embedding.embedder import BertEmbedder
from merestone.embedding.hashing import HashingEmbedder
from merestone.embedding.scripts import ScriptTally, foreign_share, knows_query, trained_scripts
from merestone.text.scripts import detect_script, script_shares
from merestone.types import EmbeddingSettings

ENGLISH = "The quick brown fox jumps over the lazy dog. "
JAPANESE = "会社の方針では、有給休暇は翌年に繰り越すことができます。"
RUSSIAN = "Неиспользованный отпуск переносится на следующий год. "
ANY = HashingEmbedder(EmbeddingSettings())


def test_the_bundled_model_knows_latin_and_others_are_not_judged(minilm: BertEmbedder) -> None:
    assert trained_scripts(minilm) == {"latin"}
    assert trained_scripts(ANY) is None


def test_shares_sum_to_one_and_agree_with_the_script_of_most_letters() -> None:
    for text in (ENGLISH, JAPANESE, RUSSIAN + ENGLISH, ENGLISH * 3 + JAPANESE):
        shares = script_shares(text)
        assert sum(shares.values()) == pytest.approx(1)
        assert detect_script(text) == max(shares, key=lambda script: shares[script])
    assert script_shares("12 + 3 = 15!") == {}
    assert detect_script("12 + 3 = 15!") == "none"


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ([JAPANESE] * 3, "Chinese or Japanese"),
        ([ENGLISH * 3, RUSSIAN], "Cyrillic"),
        ([JAPANESE, RUSSIAN], "Cyrillic and Chinese or Japanese"),
    ],
)
def test_a_sync_says_which_letters_the_model_does_not_know(
    minilm: BertEmbedder, texts: list[str], words: str
) -> None:
    tally = ScriptTally()
    for text in texts:
        tally.add(text)
    note = tally.note(minilm)
    assert note is not None
    assert words in note
    assert "multilingual" in note
    assert "lexical" in note
    assert tally.note(ANY) is None
    assert ScriptTally(tally.to_json()).note(minilm) == note


@pytest.mark.parametrize("text", [ENGLISH, "12345", "", ENGLISH * 20 + RUSSIAN, "Zürich œuvre ăâ"])
def test_a_sync_of_known_letters_says_nothing(minilm: BertEmbedder, text: str) -> None:
    tally = ScriptTally()
    tally.add(text)
    assert tally.note(minilm) is None


@pytest.mark.parametrize("query", [JAPANESE, RUSSIAN, "有給休暇 FAQ"])
def test_a_question_in_another_script_is_searched_by_words(
    minilm: BertEmbedder, query: str
) -> None:
    assert "only words" in (knows_query(minilm, query) or "")
    assert knows_query(ANY, query) is None


def test_a_library_in_another_script_is_searched_by_words_too(minilm: BertEmbedder) -> None:
    mostly = {"cjk": 0.8, "latin": 0.2}
    assert "The library" in (knows_query(minilm, "ERR_CONN_42 timeout", mostly) or "")
    assert knows_query(minilm, "timeout", {"cjk": 0.2, "latin": 0.8}) is None
    assert knows_query(minilm, "timeout") is None
    assert knows_query(minilm, "42?", {}) is None


def test_nothing_is_foreign_to_a_model_of_which_nothing_is_known() -> None:
    assert foreign_share({"cjk": 1.0}, None) == 0
    assert foreign_share({"cjk": 0.25, "latin": 0.75}, frozenset({"latin"})) == 0.25
