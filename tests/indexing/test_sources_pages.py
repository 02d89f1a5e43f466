"""Documents on the web: one by one, from lists, from sitemaps."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from indexing.conftest import open_library
from indexing.web import Site, serve

from merestone import Library, MerestoneError, SettingsError
from merestone.indexing.sources import page_identifier
from merestone.types import SyncReport

ALPHA = "# Alpha\n\nThe alpha pump runs at 40 bar.\n"
BETA = "# Beta\n\nThe beta pump runs at 55 bar.\n"
GAMMA = "# Gamma\n\nThe gamma valve closes at noon.\n"


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serve() as made:
        yield made


def library_of(folder: Path, source: str, **tables: dict[str, object]) -> Library:
    (folder / "merestone.toml").write_text(f"[[sources]]\n{source}\n")
    return open_library(folder, **tables)


def urls(site: Site, *paths: str, options: str = "timeout = 5") -> str:
    named = ", ".join(f'"{site.url}{path}"' for path in paths)
    return f"urls = [{named}]\noptions = {{ {options} }}"


def documents(library: Library) -> set[str]:
    with library.snapshot(as_owner=True) as snapshot:
        return {record.id for record in snapshot.records() if record.version}


def codes(report: SyncReport) -> list[tuple[str, str]]:
    return sorted((problem.document, problem.code) for problem in report.problems)


def test_pages_are_documents_and_unchanged_ones_are_not_sent_again(
    tmp_path: Path, site: Site
) -> None:
    site.put("/docs/a.md", ALPHA, tag='"a1"')
    site.put("/b", f"<html><body><h1>B</h1><p>{BETA}</p></body></html>", tag='W/"b1"')
    with library_of(tmp_path, urls(site, "/docs/a.md", "/b")) as library:
        report = library.sync()
        assert report.documents["added"] == 2
        assert documents(library) == {f"{site.host}/docs/a.md", f"{site.host}/b"}
        assert site.asked() == ["/b", "/docs/a.md"]
        with library.snapshot(as_owner=True) as snapshot:
            record = snapshot.record(f"{site.host}/docs/a.md")
            assert record is not None
            assert (record.uri, record.media_type) == (f"{site.url}/docs/a.md", "text/markdown")
        again = library.sync()
        assert again.documents["unchanged"] == 2
        assert again.library_version == report.library_version
        site.put("/docs/a.md", ALPHA.replace("40", "41"), tag='"a2"')
        site.asked()
        assert library.sync().documents["changed"] == 1
        assert site.asked() == ["/b", "/docs/a.md"]
        assert not library.verify(as_owner=True).findings


def test_a_full_look_trusts_no_tag(tmp_path: Path, site: Site) -> None:
    site.put("/a.md", ALPHA, tag='"same"')
    with library_of(tmp_path, urls(site, "/a.md")) as library:
        library.sync()
        site.put("/a.md", BETA, tag='"same"')
        assert library.sync().documents["unchanged"] == 1
        assert library.sync(full_hash=True).documents["changed"] == 1


def test_a_page_without_validators_is_compared_by_its_bytes(tmp_path: Path, site: Site) -> None:
    site.put("/a.md", ALPHA)
    with library_of(tmp_path, urls(site, "/a.md")) as library:
        library.sync()
        assert library.sync().documents["unchanged"] == 1
        site.put("/a.md", ALPHA.replace("40", "41"))
        assert library.sync().documents["changed"] == 1


def test_a_time_of_change_just_before_the_answer_proves_nothing(tmp_path: Path, site: Site) -> None:
    day = "Mon, 02 Feb 2026 10:00:"
    site.put("/old.md", ALPHA, headers={"Last-Modified": f"{day}00 GMT"})
    site.put("/new.md", BETA, headers={"Last-Modified": "Fri, 01 Jan 2100 00:00:00 GMT"})
    with library_of(tmp_path, urls(site, "/old.md", "/new.md")) as library:
        library.sync()
        with library.snapshot(as_owner=True) as snapshot:
            stamps = {record.id: record.stamp for record in snapshot.records()}
    assert stamps[f"{site.host}/old.md"] == f"modified={day}00 GMT"
    assert stamps[f"{site.host}/new.md"] == ""


def test_what_the_server_says_is_gone_is_and_what_fails_is_not(tmp_path: Path, site: Site) -> None:
    paths = ("/gone.md", "/late.md", "/broken.md", "/refused.md", "/fine.md")
    for number, path in enumerate(paths):
        site.put(path, f"# Part {number}\n\nWords about thing {number}.\n")
    source = urls(site, *paths, options="timeout = 0.3")
    with library_of(tmp_path, source) as library:
        library.sync()
        site.put("/gone.md", status=410)
        site.put("/late.md", hangs=True)
        site.put("/broken.md", status=500)
        site.put("/refused.md", status=403)
        report = library.sync()
        assert report.documents["removed"] == 1
        assert report.documents["unchanged"] == 1
        assert codes(report) == sorted(
            (site.host + path, "source-unreachable")
            for path in ("/late.md", "/broken.md", "/refused.md")
        )
        assert report.retry
        assert documents(library) == {site.host + path for path in paths[1:]}
        assert "500" in str(report.problems)


def test_an_answer_that_was_cut_short_is_no_document(tmp_path: Path, site: Site) -> None:
    site.put("/a.md", ALPHA)
    site.put_gzip("/b.md", BETA.encode() * 50)
    with library_of(tmp_path, urls(site, "/a.md", "/b.md")) as library:
        library.sync()
        site.put("/a.md", ALPHA[:20], length=len(ALPHA))
        site.put_gzip("/b.md", GAMMA.encode() * 50, cut=12)
        report = library.sync()
        assert [code for _, code in codes(report)] == ["source-unreachable"] * 2
        assert library.search("beta pump", mode="lexical").hits
        assert library.search("alpha pump", mode="lexical").hits


def test_a_packed_answer_is_unpacked(tmp_path: Path, site: Site) -> None:
    site.put_gzip("/a.md", ALPHA.encode())
    with library_of(tmp_path, urls(site, "/a.md")) as library:
        library.sync()
        assert "40 bar" in library.search("alpha", mode="lexical").hits[0].chunk.text


def test_no_more_is_fetched_than_a_document_may_have(tmp_path: Path, site: Site) -> None:
    site.put("/endless.txt", endless=True)
    site.put("/told.txt", "x" * 5000)
    site.put_gzip("/packed.txt", b"word " * 1_000_000)
    source = urls(site, "/endless.txt", "/told.txt", "/packed.txt")
    with library_of(tmp_path, source, extraction={"max_document_bytes": 4000}) as library:
        report = library.sync()
        assert {code for _, code in codes(report)} == {"document-too-large"}
        assert {problem.status for problem in report.problems} == {"too_large"}
        again = library.sync()
        assert not again.retry
        assert again.documents["failed"] == 0
    assert site.bytes_sent < 100_000_000


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("/loop", "redirect-refused"),
        ("file:///etc/passwd", "redirect-refused"),
        ("ftp://example.org/a", "redirect-refused"),
        ("http://me:secret@example.org/", "redirect-refused"),
    ],
)
def test_redirects_that_lead_nowhere_good_are_refused(
    tmp_path: Path, site: Site, target: str, code: str
) -> None:
    site.put("/loop", status=302, headers={"Location": target})
    site.put("/moved", status=301, headers={"Location": "/a.md"})
    site.put("/a.md", ALPHA)
    with library_of(tmp_path, urls(site, "/loop", "/moved")) as library:
        report = library.sync()
        assert codes(report) == [(f"{site.host}/loop", code)]
        assert documents(library) == {f"{site.host}/moved"}
        assert "secret" not in str(report.problems)


def test_a_host_that_does_not_answer_is_given_up_and_loses_nothing(
    tmp_path: Path, site: Site
) -> None:
    paths = [f"/{number}.md" for number in range(12)]
    for path in paths:
        site.put(path, f"# Page {path}\n\nWords of {path}.\n")
    source = urls(site, *paths, options="timeout = 0.2, concurrency = 1")
    with library_of(tmp_path, source) as library:
        library.sync()
        site.asked()
        for path in paths:
            site.put(path, hangs=True)
        report = library.sync()
        assert len(site.asked()) == 3
        assert (site.host, "source-unreachable") in codes(report)
        assert "9 pages" in str(report.problems)
        assert len(documents(library)) == 12


def test_a_known_failure_is_not_fetched_again_while_its_tag_stays(
    tmp_path: Path, site: Site
) -> None:
    site.put("/a.md", b"\x89PNG\r\n\x1a\n" + bytes(200), tag='"p1"')
    with library_of(tmp_path, urls(site, "/a.md")) as library:
        assert library.sync().retry
        again = library.sync()
        assert not again.retry
        assert again.documents["unchanged"] == 1
        site.put("/a.md", ALPHA, tag='"p2"')
        assert library.sync().documents["added"] == 1


def test_a_list_names_pages(tmp_path: Path, site: Site) -> None:
    site.put("/a.md", ALPHA)
    site.put("/b.md", BETA)
    site.put("/list.txt", f"# pages\n{site.url}/a.md\n\n{site.url}/b.md\n")
    with library_of(tmp_path, f'list = "{site.url}/list.txt"') as library:
        assert library.sync().documents["added"] == 2
        site.put("/list.txt", f"{site.url}/b.md\n")
        assert library.sync().documents["removed"] == 1
        for reply in ({"body": "<html>Log in</html>"}, {"status": 404}, {"status": 500}):
            site.put("/list.txt", **reply)
            with pytest.raises(MerestoneError) as caught:
                library.sync()
            assert caught.value.code in ("list-invalid", "document-gone", "source-unreachable")
        assert documents(library) == {f"{site.host}/b.md"}


def sitemap(*entries: tuple[str, str]) -> str:
    inside = "".join(
        f"<url><loc>{url}</loc>{f'<lastmod>{day}</lastmod>' if day else ''}</url>"
        for url, day in entries
    )
    return (
        '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"{inside}</urlset>"
    )


def test_a_sitemap_says_what_has_changed(tmp_path: Path, site: Site) -> None:
    site.put("/a", ALPHA, headers={"Content-Type": "text/markdown"})
    site.put("/b", BETA, headers={"Content-Type": "text/markdown"})
    entries = [(f"{site.url}/a", "2026-01-01T10:00:00Z"), (f"{site.url}/b", "2020-01-01")]
    site.put("/sitemap.xml", sitemap(*entries, ("http://elsewhere.example/x", "")))
    with library_of(tmp_path, f'sitemap = "{site.url}/sitemap.xml"') as library:
        assert library.sync().documents["added"] == 2
        site.asked()
        assert library.sync().documents["unchanged"] == 2
        assert site.asked() == ["/sitemap.xml"]
        site.put("/a", ALPHA.replace("40", "41"), headers={"Content-Type": "text/markdown"})
        site.put("/sitemap.xml", sitemap((f"{site.url}/a", "2026-01-01T11:00:00Z"), entries[1]))
        assert library.sync().documents["changed"] == 1
        assert site.asked() == ["/a", "/sitemap.xml"]


def test_a_day_of_change_that_is_not_over_proves_nothing(tmp_path: Path, site: Site) -> None:
    site.put("/a.md", ALPHA, tag='"1"')
    site.put("/sitemap.xml", sitemap((f"{site.url}/a.md", "2999-01-01")))
    with library_of(tmp_path, f'sitemap = "{site.url}/sitemap.xml"') as library:
        library.sync()
        site.put("/a.md", BETA, tag='"2"')
        assert library.sync().documents["changed"] == 1


def test_an_index_of_sitemaps_is_followed_packed_or_not(tmp_path: Path, site: Site) -> None:
    site.put("/a.md", ALPHA)
    site.put("/b.md", BETA)
    site.put("/one.xml", sitemap((f"{site.url}/a.md", "")))
    site.put("/two.xml.gz", gzip.compress(sitemap((f"{site.url}/b.md", "")).encode()))
    index = "".join(
        f"<sitemap><loc>{site.url}/{name}</loc></sitemap>"
        for name in ("one.xml", "two.xml.gz", "index.xml")
    )
    site.put("/index.xml", f"<sitemapindex>{index}</sitemapindex>")
    with library_of(tmp_path, f'sitemap = "{site.url}/index.xml"') as library:
        assert library.sync().documents["added"] == 2
        site.put("/two.xml.gz", status=500)
        site.put("/one.xml", sitemap((f"{site.url}/c.md", "")))
        site.put("/c.md", GAMMA)
        report = library.sync()
        assert report.documents["added"] == 1
        assert report.documents["removed"] == 0
        assert codes(report) == [(f"{site.host}/two.xml.gz", "source-unreachable")]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html><body>Log in</body></html>",
        b"<!DOCTYPE html><html></html>",
        b'<!DOCTYPE x [<!ENTITY a "aaaa">]><urlset><url><loc>&a;</loc></url></urlset>',
        sitemap(("http://127.0.0.1/x", "")).encode()[:-12],
        gzip.compress(sitemap(("http://127.0.0.1/x", "")).encode())[:-9],
    ],
)
def test_what_is_no_whole_sitemap_lists_nothing_and_removes_nothing(
    tmp_path: Path, site: Site, body: bytes
) -> None:
    site.put("/a.md", ALPHA)
    site.put("/sitemap.xml", sitemap((f"{site.url}/a.md", "")))
    with library_of(tmp_path, f'sitemap = "{site.url}/sitemap.xml"') as library:
        library.sync()
        site.put("/sitemap.xml", body)
        with pytest.raises(MerestoneError) as caught:
            library.sync()
        assert caught.value.code == "list-invalid"
        assert documents(library) == {f"{site.host}/a.md"}


def test_a_source_that_fails_leaves_the_others_to_go_on(tmp_path: Path, site: Site) -> None:
    site.put("/list.txt", f"{site.url}/a.md\n")
    site.put("/a.md", ALPHA)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "b.md").write_text(BETA)
    (tmp_path / "merestone.toml").write_text(
        f'[[sources]]\nname = "web"\nlist = "{site.url}/list.txt"\n'
        '[[sources]]\nname = "docs"\npath = "docs"\n'
    )
    with open_library(tmp_path) as library:
        library.sync()
        site.put("/list.txt", status=503)
        (tmp_path / "docs" / "c.md").write_text(GAMMA)
        report = library.sync()
        assert report.documents["added"] == 1
        assert codes(report) == [("web:", "source-unreachable")]
        assert documents(library) == {f"web:{site.host}/a.md", "docs:b.md", "docs:c.md"}
        (tmp_path / "docs").rename(tmp_path / "away")
        site.put("/list.txt", f"{site.url}/a.md\n")
        assert codes(library.sync()) == [("docs:", "path-not-found")]
        assert len(documents(library)) == 3


def test_a_run_over_a_part_asks_only_the_sources_of_that_part(tmp_path: Path, site: Site) -> None:
    site.put("/a.md", ALPHA, tag='"1"')
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "b.md").write_text(BETA)
    (tmp_path / "merestone.toml").write_text(
        f'[[sources]]\nname = "web"\n{urls(site, "/a.md")}\n'
        '[[sources]]\nname = "docs"\npath = "docs"\n'
    )
    with open_library(tmp_path) as library:
        library.sync()
        site.asked()
        (tmp_path / "docs" / "b.md").write_text(GAMMA)
        assert library.sync([tmp_path / "docs" / "b.md"]).documents["changed"] == 1
        assert site.asked() == []
        assert library.sync(["web:"]).documents["unchanged"] == 1
        assert site.asked() == ["/a.md"]


@pytest.mark.parametrize(
    ("url", "identifier"),
    [
        ("https://Example.org", "example.org"),
        ("https://example.org/", "example.org"),
        ("https://example.org:443/a/b.html#part", "example.org/a/b.html"),
        ("http://example.org:8080/a?x=1", "example.org:8080/a?x=1"),
        ("https://me:secret@example.org/a", None),
        ("ftp://example.org/a", None),
        ("https://example.org:port/", None),
        ("https:///a", None),
        ("docs/a.md", None),
    ],
)
def test_a_page_has_its_address_as_id(url: str, identifier: str | None) -> None:
    assert page_identifier(url) == identifier


def test_an_address_with_a_password_is_refused_without_repeating_it(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        library_of(tmp_path, 'urls = ["https://me:secret@example.org/a"]')
    assert "secret" not in str(caught.value)


def test_a_redirect_from_outside_into_this_machine_is_refused() -> None:
    from merestone.indexing.sources.transfer import _check_redirect

    for target in (
        "http://127.0.0.1/admin",
        "http://10.0.0.1/",
        "http://[::1]/",
        "http://localhost",
    ):
        with pytest.raises(MerestoneError) as caught:
            _check_redirect("http://example.org/a", "http://example.org/a", target)
        assert caught.value.code == "redirect-refused"
    with pytest.raises(MerestoneError):
        _check_redirect("https://example.org", "https://example.org", "http://example.org")
    _check_redirect("http://example.org/a", "http://example.org/a", "https://example.org/b")
