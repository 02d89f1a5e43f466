from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

import merestone.embedding
from merestone.text import tokenizers
from merestone.text.tokenizers import (
    CharacterTokenizer,
    FileTokenizer,
    PieceCounts,
    WordTokenizer,
    without_surrogates,
)
from merestone.types import SettingsError

MINILM = Path(merestone.embedding.__file__).parent / "models" / "minilm" / "tokenizer.json"
BUNDLED = FileTokenizer.from_file(MINILM)

SPACES = " \t\n\r\u00a0\u2003\u3000"
texts = st.text(
    st.sampled_from("abcé'.,-_1 漢字ก\u0301\u302e\u1112\u1161👩\u200d🇩🇪ﬁ\0\x0c\ufffd\ud800")
    | st.sampled_from(SPACES)
    | st.characters(exclude_categories=()),
    max_size=40,
) | st.lists(
    st.sampled_from(
        ["unbelievable", "[SEP]", "tokenizers", "C++", " ", "\r\n", "x" * 101, "Σίσυφος"]
    )
).map("".join)


def small_tokenizer(folder: Path, *, truncation: bool = True, padding: bool = True) -> Path:
    """A tokenizer of six words that adds two special tokens."""
    vocabulary = {name: id for id, name in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])}
    vocabulary |= {"one": 4, "two": 5}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    if truncation:
        tokenizer.enable_truncation(4)
    if padding:
        tokenizer.enable_padding(length=16)
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def rewritten(path: Path, **changes: Any) -> FileTokenizer:
    described = json.loads(path.read_text(encoding="utf-8")) | changes
    target = path.with_name("rewritten.json")
    target.write_text(json.dumps(described), encoding="utf-8")
    return FileTokenizer.from_file(target)


# Truncation and padding


def test_truncation_and_padding_of_the_file_are_switched_off(tmp_path: Path) -> None:
    path = small_tokenizer(tmp_path)
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written["truncation"]["max_length"] == 4
    assert written["padding"]["strategy"] == {"Fixed": 16}
    tokenizer = FileTokenizer.from_file(path)
    assert tokenizer.counts(["one two " * 50, "one", ""]) == [100, 1, 0]
    assert len(tokenizer.starts("one two " * 50)) == 100
    assert tokenizer.encode_batch(["one two one two one two", "one", ""]) == [
        [2, 4, 5, 4, 5, 4, 5, 3],
        [2, 4, 3],
        [2, 3],
    ]


def test_truncation_and_padding_leave_the_fingerprint_alone_and_words_do_not(
    tmp_path: Path,
) -> None:
    path = small_tokenizer(tmp_path)
    print_ = FileTokenizer.from_file(path).fingerprint
    assert rewritten(path, truncation=None, padding=None).fingerprint == print_
    model = json.loads(path.read_text(encoding="utf-8"))["model"]
    model["vocab"]["three"] = 6
    assert rewritten(path, model=model).fingerprint != print_


def test_special_tokens_are_counted_apart(tmp_path: Path) -> None:
    assert FileTokenizer.from_file(small_tokenizer(tmp_path)).special_tokens == 2
    assert BUNDLED.special_tokens == 2
    (ids,) = BUNDLED.encode_batch(["hello"])
    assert len(ids) == BUNDLED.counts(["hello"])[0] + 2


def test_a_tokenizer_is_named_by_its_file_or_else_its_folder(tmp_path: Path) -> None:
    assert BUNDLED.name == "minilm"
    path = small_tokenizer(tmp_path)
    assert rewritten(path).name == "rewritten"


# Sums


@given(texts, st.data())
def test_counts_of_parts_cut_at_white_space_add_up(text: str, data: st.DataObject) -> None:
    assert BUNDLED.adds_up
    places = [
        offset
        for offset in range(1, len(text))
        if text[offset - 1] in SPACES or text[offset] in SPACES
    ]
    cuts = sorted(data.draw(st.sets(st.sampled_from(places)))) if places else []
    bounds = [0, *cuts, len(text)]
    parts = [text[start:end] for start, end in pairwise(bounds)]
    whole, *counted = BUNDLED.counts([text, *parts])
    assert sum(counted) == whole


@given(st.text("ab \n\u3000", max_size=20), st.integers(0, 20))
def test_counts_of_words_and_characters_add_up_at_white_space(text: str, cut: int) -> None:
    assert WordTokenizer().adds_up
    assert not CharacterTokenizer().adds_up, "white space counts"
    for tokenizer in (WordTokenizer(), CharacterTokenizer()):
        if (isinstance(tokenizer, CharacterTokenizer) or text[:cut][-1:].isspace()) and text:
            first, second, whole = tokenizer.counts([text[:cut], text[cut:], text])
            assert first + second == whole


@pytest.mark.parametrize(
    "part",
    [None, {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}],
)
def test_a_tokenizer_that_may_glue_spaces_to_words_does_not_add_up(
    tmp_path: Path, part: Any
) -> None:
    path = small_tokenizer(tmp_path)
    assert FileTokenizer.from_file(path).adds_up
    assert not rewritten(path, pre_tokenizer=part).adds_up


# Starts


@given(texts)
def test_starts_are_ascending_in_range_and_one_a_token(text: str) -> None:
    for tokenizer in (BUNDLED, WordTokenizer(), CharacterTokenizer()):
        starts = list(tokenizer.starts(text))
        assert starts == sorted(starts)
        assert all(0 <= start < len(text) for start in starts)
        assert [len(starts)] == tokenizer.counts([text])


def test_starts_count_code_points() -> None:
    assert list(BUNDLED.starts("👩 é tokenizers漢")) == [0, 2, 4, 9, 13, 14]
    assert list(WordTokenizer().starts(" 👩é  two\n")) == [1, 5]
    assert list(CharacterTokenizer().starts("👩é")) == [0, 1]


@pytest.mark.parametrize("separator", [" ", "\n", "\r", "\r\n"])
def test_starts_of_a_long_text_are_those_of_its_windows(separator: str) -> None:
    text = f"unbelievable.{separator}" * 5000
    starts = list(BUNDLED.starts(text))
    once = list(BUNDLED.starts(f"unbelievable.{separator}"))
    step = len("unbelievable.") + len(separator)
    assert starts == [step * number + start for number in range(5000) for start in once]


# Any text


def test_lone_surrogates_are_counted_as_replacement_characters() -> None:
    assert without_surrogates("a\ud800b\udfffc") == "a\ufffdb\ufffdc"
    assert without_surrogates("a👩") == "a👩"
    text = "one \ud83d\ude00 two\udc80"
    replaced = "one \ufffd\ufffd two\ufffd"
    assert BUNDLED.counts([text]) == BUNDLED.counts([replaced])
    assert BUNDLED.starts(text) == BUNDLED.starts(replaced)
    assert BUNDLED.encode_batch([text]) == BUNDLED.encode_batch([replaced])


def test_long_texts_are_counted_whole_and_without_a_word(
    capfd: pytest.CaptureFixture[str],
) -> None:
    texts = ["word " * 100_000, "", "word " * 70_000, "one"]
    assert BUNDLED.counts(texts) == [100_000, 0, 70_000, 1]
    assert len(BUNDLED.starts(texts[0])) == 100_000
    assert list(map(len, BUNDLED.encode_batch(texts[2:]))) == [70_002, 3]
    assert capfd.readouterr() == ("", "")


def test_no_texts_have_no_counts() -> None:
    assert BUNDLED.counts([]) == []
    assert BUNDLED.encode_batch([]) == []
    assert list(BUNDLED.starts("")) == []


def test_threads_share_a_tokenizer_that_is_not_read_yet() -> None:
    texts = [f"number {number} " * (number + 1) for number in range(40)]
    fresh = FileTokenizer.from_file(MINILM)
    with ThreadPoolExecutor(4) as pool:
        counted = list(pool.map(lambda text: fresh.counts([text])[0], texts))
    assert counted == BUNDLED.counts(texts)


# Files that are no tokenizers


@pytest.mark.parametrize(
    "data",
    [b"", b"not json", b"[1, 2]", b"\xff\xfe\x00", b"[" * 200_000, b'{"version": "1.0"}'],
    ids=["empty", "no JSON", "a list", "no UTF-8", "too deep", "no model"],
)
def test_a_broken_file_is_named(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(data)
    with pytest.raises(SettingsError) as caught:
        FileTokenizer.from_file(path).counts(["text"])
    assert caught.value.code == "tokenizer-unreadable"
    assert str(path) in caught.value.message


def test_a_missing_file_or_a_folder_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(SettingsError) as caught:
            FileTokenizer.from_file(str(path))
        assert caught.value.code == "tokenizer-unreadable"
        assert str(path) in caught.value.message


# The stand-ins


def test_the_stand_ins_have_names_and_fingerprints_of_their_own() -> None:
    words, characters = WordTokenizer(), CharacterTokenizer()
    assert words.counts(["a b\nc", " "]) == [3, 0]
    assert characters.counts(["a b", ""]) == [3, 0]
    assert words.fingerprint == WordTokenizer().fingerprint != characters.fingerprint
    assert words.special_tokens == characters.special_tokens == 0


def test_what_is_remembered_of_ever_new_words_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizers, "_REMEMBERED", 100_000)
    asked: list[int] = []

    def count(pieces: Sequence[str]) -> list[int]:
        asked.append(len(pieces))
        return [len(piece) for piece in pieces]

    counts = PieceCounts(lambda text: (text.split(), 0), count, ())
    kept = []
    for number in range(200):
        text = " ".join(f"w{number}x{each}" for each in range(100)) + " the of and"
        assert counts.counts([text]) == [sum(map(len, text.split()))]
        kept.append(len(counts._known))
    assert max(kept) < 100_000 / 100
    # Words that come again are counted again only when all was let go.
    assert sum(asked) < 200 * 100 + 3 * (1 + sum(size == 0 for size in kept))
