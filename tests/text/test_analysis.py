from __future__ import annotations

import json
import math
import threading
import unicodedata
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merestone.text import analysis
from merestone.text.analysis import detect_script, is_identifier, query_terms, terms

AWKWARD = st.lists(
    st.sampled_from(
        [*"aBcé1 \n.,-_/:#+'[]()ß漢カ한กำहि🇩👍", "::", "--", "\u0301", "\u3099", "\u200d", "\ufe0f"]
        + ["\x00", "\u200b", "\u00a0", "\ud800", "\ufdfa", "½", "´", "…", "™", "İ", "++", "Foo"]
    ),
    max_size=30,
).map("".join)
texts = AWKWARD | st.text(max_size=40)
languages = st.sampled_from([None, "de", "ru", "hi", "ar", "tr", "xx"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Running, (dogs) "houses"; end.', ["run", "dog", "hous", "end"]),
        ("the and of", ["the", "and", "of"]),
        ("dog's we're don't", ["dog", "we", "dont"]),
        ("URLs", ["url"]),
        # letters
        ("Straße STRASSE", ["strass", "strass"]),
        ("Café CAFE\u0301 cafe", ["cafe", "cafe", "cafe"]),
        ("Łódź Ærø", ["lodz", "aero"]),
        ("Ἀθῆναι ΑΘΗΝΑΙ", ["αθηνα", "αθηνα"]),
        ("новый ещё", ["нов", "ещ"]),
        ("ＡＢＣ ﬁne", ["abc", "fine"]),
        ("soft\u00adhyphen zero\u200bwidth", ["softhyphen", "zero", "width"]),
        ("が ガ", ["が", "ガ"]),
        ("हिन्दी है।", ["हिन्दी", "है"]),
        ("مُحَمَّد", ["محمد"]),
        # scripts without spaces
        ("日本語ガイド", ["日本", "本語", "語ガ", "ガイ", "イド"]),
        ("水 한국어", ["水", "한국", "국어"]),
        ("Python入門3", ["python", "入門", "3"]),
        ("กำไร", ["กำไ", "ไร"]),
        # emoji
        ("👍🏽 👨\u200d👩 🇩🇪🇫🇷 ❤\ufe0f", ["👍", "👨", "👩", "🇩🇪", "🇫🇷", "❤"]),
        # numbers
        ("1,000", ["1000", "1", "000"]),
        ("1,2 12,34", ["1", "2", "12", "34"]),
        ("3.5%", ["3.5", "3", "5"]),
        # nothing to find
        ("... -- ____ () \u0301 \x00 \ud800", []),
    ],
)
def test_words_become_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("ERR_CONN_42", ["err_conn_42", "err", "conn", "42"]),
        ("foo.bar_baz", ["foo.bar_baz", "foo", "bar_baz", "bar", "baz"]),
        ("getUserById", ["getuserbyid", "get", "user", "by", "id"]),
        ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
        ("iPhone15Pro", ["iphone15pro", "i", "phone", "15", "pro"]),
        ("--max-old", ["--max-old", "max-old", "max", "old"]),
        ("CVE-2024-1234", ["cve-2024-1234", "cve", "2024", "1234"]),
        ("DEC-0054", ["dec-0054", "dec", "0054"]),
        ("error[E0277]", ["error[e0277]", "error", "e0277"]),
        ("v2.10.3", ["v2.10.3", "v2", "10", "3", "2.10.3"]),
        ("C++", ["c++", "c"]),
        ("C#", ["c#", "c"]),
        (".NET", [".net", "net"]),
        ("std::vec::Vec", ["std::vec::vec", "std", "vec", "vec"]),
        ("src/.gitignore", ["src/.gitignore", "src", ".gitignore", "gitignor"]),
        ("__init__", ["__init__", "init"]),
        ("x86_64", ["x86_64", "x86", "64"]),
        ("AT&T", ["at&t", "at", "t"]),
        ("l'homme", ["l'homme", "l", "homm"]),
        (
            "/etc/app/config.d/10-net.conf",
            ["/etc/app/config.d/10-net.conf", "etc", "app", "config.d", "config", "d"]
            + ["10-net.conf", "10-net", "10", "net", "conf"],
        ),
    ],
)
@pytest.mark.parametrize("frame", ["{}", "({})", '"{}",', "{}.", "{}:", "`{}`", "{}!", "see {}?"])
def test_identifiers_give_themselves_and_their_parts(
    identifier: str, expected: list[str], frame: str
) -> None:
    assert [term for term in terms(frame.format(identifier)) if term != "see"] == expected


@pytest.mark.parametrize(
    "text", ["foo()", "foo.", "(foo)", "[foo]", '"foo"', "*foo*", "foo…", "¿foo?"]
)
def test_punctuation_around_a_word_is_no_part_of_it(text: str) -> None:
    assert terms(text) == ["foo"]


def test_words_are_stemmed_by_their_language_and_script() -> None:
    assert terms("Häuser", "de") == terms("Haus", "de-AT") == terms("haus", "German") == ["haus"]
    assert terms("chevaux", "fr") == ["cheval"]
    assert terms("книгами running", "ru") == ["книг", "run"]
    assert terms("книгами", "uk") == ["книгами"]
    assert terms("running книгами", None) == ["run", "книг"]
    assert terms("running", "xx") == ["run"]
    assert terms("running", "de") == ["running"]


def test_a_long_term_is_cut() -> None:
    assert terms("x" * 100) == ["x" * 64]
    assert terms("a/" * 100 + "b")[0] == "a/" * 32


def test_query_terms_are_each_at_their_first_place() -> None:
    assert query_terms("to be or not to be getBe") == ["to", "be", "or", "not", "getb", "get"]


@given(texts, languages)
def test_terms_are_clean(text: str, language: str | None) -> None:
    found = terms(text, language)
    assert found == terms(text, language)
    for term in found:
        assert 0 < len(term) <= 64
        assert not any(character.isspace() for character in term)
        assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in term)


@given(texts, texts)
def test_text_beside_white_space_changes_no_term(left: str, right: str) -> None:
    assert terms(left + "\n" + right) == terms(left) + terms(right)


@given(st.from_regex(r"[A-Za-z0-9]{1,8}([._/:-]{1,2}[A-Za-z0-9]{1,8}){0,3}(\+\+)?", fullmatch=True))
def test_an_identifier_is_found_in_any_case(identifier: str) -> None:
    whole = terms(identifier)[0]
    assert terms(identifier.lower())[0] == terms(identifier.upper())[0] == whole


@given(st.text(st.characters(max_codepoint=0x24F), max_size=20))
def test_accents_typed_apart_are_the_same(text: str) -> None:
    assert terms(unicodedata.normalize("NFD", text)) == terms(unicodedata.normalize("NFC", text))


@given(AWKWARD)
def test_the_cache_changes_nothing(text: str) -> None:
    first = terms(text)
    analysis._memory.cache_clear()
    assert terms(text) == first


@pytest.mark.parametrize(
    "unit",
    [
        "word",
        ".",
        "-",
        "+",
        "a.",
        "a/",
        "a[",
        "a[b.",
        "a'",
        "a-",
        "c++",
        "aA",
        "1,000",
        "_",
        "\u0301",
    ]
    + ["\u0301\u0327", "é", "漢", "ก", "👨\u200d", "\U0001f1e9", "\u200d", "कि"],
)
def test_a_quarter_megabyte_without_white_space_has_a_term_a_part(unit: str) -> None:
    text = unit * (250_000 // len(unit))
    assert len(terms(text)) <= 4 * len(unicodedata.normalize("NFKC", text[:100])) * len(text) / 100


def test_threads_give_the_same_terms() -> None:
    words = [f"running{chr(97 + i % 26)}{chr(97 + i // 26)}ations" for i in range(600)]
    expected = [terms(word) for word in words]
    analysis._memory.cache_clear()
    results: list[list[list[str]]] = []

    def analyse() -> None:
        results.append([list(analysis._piece_terms(word, "")) for word in words])

    threads = [threading.Thread(target=analyse) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


@pytest.mark.parametrize(
    "query",
    ["DEC-0054", '"DEC-0054"', "apply_secrets()", "getUserById", "foo::bar", "--no-cache", "iPhone"]
    + ["E0277", ".NET", "v2", "2024", "a.b", "foo(barBaz)", " spaced_out ", "HTTPServer"],
)
def test_identifiers_are_looked_up(query: str) -> None:
    assert is_identifier(query)


@pytest.mark.parametrize(
    "query",
    ["hello", "Hello", "hello.", "(hello)", "NASA", "URLs", "state-of-the-art", "don't", "", " "]
    + ["...", "___", "two words_here", "2024年的收入是多少？", "👍", "word?"],
)
def test_questions_are_understood(query: str) -> None:
    assert not is_identifier(query)


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Some words, 日本", "latin"),
        ("Это мой text", "cyrillic"),
        ("日本語です", "cjk"),
        ("한국어", "hangul"),
        ("سلام", "arabic"),
        ("नमस्ते", "devanagari"),
        ("สวัสดี", "thai"),
        ("123 … !", "none"),
        ("", "none"),
        ("é" * 9000 + "д" * 900, "latin"),
    ],
)
def test_the_script_of_most_letters_is_detected(text: str, script: str) -> None:
    assert detect_script(text) == script


def test_the_script_is_judged_over_the_whole_text() -> None:
    assert detect_script("a" * 3000 + "д" * 97_000) == "cyrillic"


def ranking(files: Mapping[str, str], query: str) -> list[str]:
    """Names of the files that share a term with ``query``, best first by BM25."""
    counts = {name: Counter(terms(text)) for name, text in files.items()}
    mean = sum(found.total() for found in counts.values()) / len(counts)
    scores: dict[str, float] = {}
    for term in query_terms(query):
        holders = [name for name, found in counts.items() if term in found]
        weight = math.log(1 + (len(files) - len(holders) + 0.5) / (len(holders) + 0.5))
        for name in holders:
            count = counts[name][term]
            length = 0.25 + 0.75 * counts[name].total() / mean
            scores[name] = scores.get(name, 0) + weight * count * 2.2 / (count + 1.2 * length)
    return sorted(scores, key=lambda name: (-scores[name], name))


def test_identifiers_of_the_field_case_are_found_first(bench_data: Path) -> None:
    lines = (bench_data / "field_cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    case = next(
        case for case in map(json.loads, lines) if case["id"].startswith("field-13-identifiers")
    )
    files = case["input"]["files"]
    queries = case["input"]["lexical_queries"] | {"DEC-0045": "dec.md"}
    assert {query: ranking(files, query)[:1] for query in queries} == {
        query: [name] for query, name in queries.items()
    }


@given(
    opening=st.text('("[', max_size=3),
    word=st.text("abyzKLZ", min_size=1, max_size=8),
    closing=st.text('.,;:!?)"]', max_size=4),
)
def test_punctuation_around_a_word_changes_no_term(opening: str, word: str, closing: str) -> None:
    assert terms(f"{opening}{word}{closing}") == terms(word)


@given(st.text("abCDz09_-.+#/\\:@&=%~?$[](){}<>'\"`*,;!|^", min_size=1, max_size=8))
def test_marks_around_a_plain_word_are_no_shortcut_to_other_terms(piece: str) -> None:
    # The soft hyphen counts for nothing, but keeps the piece from being taken for a plain word.
    assert terms(piece) == terms(piece + "\u00ad")
