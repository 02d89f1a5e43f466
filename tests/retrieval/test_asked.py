"""What of a question each side is asked, whatever is put in its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from merestone import Library
from merestone.embedding.hashing import HashingEmbedder
from merestone.retrieval.asked import MOST_TERMS, asked_text, quoted_phrases
from merestone.types import EmbeddingSettings, Vectors

FILES = {
    "leave.md": "Leave may be carried over. The phone call is over; carry your own bag.\n",
    "apart.md": "Over the years they carry on, and on, and the game is over.\n",
    "errors.md": "ERR_CONN_42 is a lost connection. foo.bar_baz, getUserById, C++ and .NET.\n\n"
    "Grow the heap by --max-old-space-size.\n",
    "ja.txt": "有給休暇は翌年に繰り越すことができます。\n",
    "ko.txt": "사용하지 않은 휴가는 이월할 수 있습니다.\n",
    "th.txt": "วันลาที่ไม่ได้ใช้สามารถยกยอดไปปีหน้าได้\n",
    "pump.txt": "The pump runs at 40 bar.\n",
}


class Noting(HashingEmbedder):
    """Remembers what it was asked to embed as a question."""

    def __init__(self) -> None:
        super().__init__(EmbeddingSettings(model="hashing"))
        self.asked: list[str] = []

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return super().embed_queries(texts)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("asked")
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    with Library.open(folder, embedding={"model": "hashing"}) as opened:
        opened.sync()
        yield opened


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("ERR_CONN_42", "errors.md"),
        ("(ERR_CONN_42)?", "errors.md"),
        ("foo.bar_baz", "errors.md"),
        ("bar_baz", "errors.md"),
        ("--max-old-space-size", "errors.md"),
        ("getUserById", "errors.md"),
        ("user by id", "errors.md"),
        ("C++", "errors.md"),
        (".NET", "errors.md"),
        ("有給休暇", "ja.txt"),
        ("休暇は繰り越せますか？", "ja.txt"),
        ("휴가 이월", "ko.txt"),
        ("วันลา", "th.txt"),
        ("«40 bar»", "pump.txt"),
        ("pump\x00bar", "pump.txt"),
        ("^pump* AND NOT NEAR(", "pump.txt"),
        ('terms:"pump" OR', "pump.txt"),
    ],
)
def test_the_document_is_found(library: Library, query: str, document: str, mode: str) -> None:
    assert library.search(query, mode=mode, k=1).hits[0].citation.document == document


@pytest.mark.parametrize("mode", ["hybrid", "lexical", "dense"])
@pytest.mark.parametrize(
    "query", ["???", '"', '""', "*", "\x00", "\ud800", "🦊", "\u0301" * 4000, "''' -- ;", "((("]
)
def test_a_question_without_words_is_answered_by_nothing(
    library: Library, query: str, mode: str
) -> None:
    result = library.search(query, mode=mode)
    assert result.verdict == "nothing"
    assert any("Nothing here seems to answer" in note for note in result.notes)
    assert library.context(query, budget=100, mode=mode).verdict == "nothing"


def test_words_side_by_side_come_before_the_same_words_apart(library: Library) -> None:
    plain = library.search("carried over", mode="lexical").hits
    quoted = library.search('"carried over"', mode="lexical").hits
    assert quoted[0].citation.document == "leave.md"
    scores = [{hit.citation.document: hit.score for hit in hits} for hits in (plain, quoted)]
    apart = [found.get("apart.md", 0.0) / found["leave.md"] for found in scores]
    assert apart[1] <= apart[0]


@pytest.mark.parametrize(
    ("query", "phrases"),
    [
        ('"carried over" days', ["carri over"]),
        ("“carried over” and «40 bar»", ["carri over", "40 bar"]),
        ('a "word" alone', []),
        ('an open " quote', []),
        ('""', []),
        ("it's a 'single' one", []),
    ],
)
def test_what_stands_in_quotes_is_a_phrase(query: str, phrases: list[str]) -> None:
    assert list(quoted_phrases(query)) == phrases


def test_a_text_in_place_of_a_question_is_not_searched_whole(library: Library) -> None:
    text = " ".join(f"filler{number % 9000} pump" for number in range(16_000))
    result = library.search(text, k=1, mode="lexical", explain=True)
    assert result.hits[0].citation.document == "pump.txt"
    terms = {str(entry["stage"]): entry for entry in result.trace}["candidates"]["terms"]
    assert isinstance(terms, list)
    assert len(terms) == MOST_TERMS
    assert "pump" in terms
    assert any("9,001 different words" in note for note in result.notes)


@pytest.mark.parametrize("text", ["pump " * 32_000, "中" * 32_000, "x" * 100_000, "word, " * 300])
def test_of_a_long_question_only_as_much_is_embedded_as_is_read_at_once(text: str) -> None:
    embedder = Noting()
    beginning, notes = asked_text(embedder, text)
    assert text.startswith(beginning)
    assert embedder.tokenizer.counts([beginning])[0] <= embedder.max_tokens
    assert any("longer than the 256 tokens" in note for note in notes)


def test_a_question_within_the_limit_is_embedded_whole() -> None:
    text = "word " * 255
    assert asked_text(Noting(), text) == (text, ())
