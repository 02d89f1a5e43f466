"""Documents on the web: one by one, from lists, from sitemaps."""

from __future__ import annotations

import base64
import gc
import gzip
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from indexing.conftest import open_library
from indexing.web import Reply, Site, serve

from merestone import Library, MerestoneError, SettingsError
from merestone.indexing.sources import (
    open_source,
    page_identifier,
    robot_files,
    transfer,
    transfer_options,
    web_client,
)
from merestone.indexing.sources.addresses import is_private
from merestone.indexing.sources.redirects import check_redirect
from merestone.indexing.sources.robots import RobotRules
from merestone.retrying import Timing
from merestone.types import LibraryStatus, Look, SourceSettings, SyncReport

ALPHA = "# Alpha\n\nThe alpha pump runs at 40 bar.\n"
BETA = "# Beta\n\nThe beta pump runs at 55 bar.\n"
GAMMA = "# Gamma\n\nThe gamma valve closes at noon.\n"


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serve() as made:
        yield made


class Time:
    """A clock that goes on only where someone sleeps, and how long each did."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def clock(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    """No test waits between one try and the next."""
    made = Time()
    monkeypatch.setattr(transfer, "Timing", lambda: Timing(made.clock, made.sleep, made.clock))
    return made


def library_of(folder: Path, source: str, **tables: dict[str, object]) -> Library:
    (folder / "merestone.toml").write_text(f"[[sources]]\n{source}\n")
    return open_library(folder, **tables)


def urls(site: Site, *paths: str, options: str = "timeout = 5") -> str:
    named = ", ".join(f'"{site.url}{path}"' for path in paths)
    return f"urls = [{named}]\noptions = {{ {options} }}"


def documents(library: Library) -> set[str]:
    with library.snapshot(as_owner=True) as snapshot:
        return {record.id for record in snapshot.records() if record.version}


def codes(report: SyncReport | LibraryStatus) -> list[tuple[str, str]]:
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
        # The first page three times, two more once.
        assert len(site.asked()) == 5
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
        assert (again.documents["unchanged"], again.failed_before) == (0, 1)
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


def test_an_address_without_a_page_is_told_of_once_and_stays_in_the_status(
    tmp_path: Path, site: Site
) -> None:
    site.put("/a.md", ALPHA)
    site.put("/list.txt", f"{site.url}/a.md\n{site.url}/typo.md\n")
    with library_of(tmp_path, f'list = "{site.url}/list.txt"') as library:
        missing = (f"{site.host}/typo.md", "page-missing")
        for report in (library.plan(), library.sync()):
            assert codes(report) == [missing]
            assert report.retry
        again = library.sync()
        assert not again.retry
        assert (again.documents["unchanged"], again.failed_before) == (1, 1)
        assert codes(library.status()) == [missing]
        site.put("/typo.md", BETA)
        assert library.sync().documents["added"] == 1
        # A page that was there and went is gone.
        site.put("/typo.md", status=404)
        assert library.sync().documents["removed"] == 1


def test_what_the_last_sync_could_not_reach_is_in_the_status_until_it_can(
    tmp_path: Path, site: Site
) -> None:
    site.put("/a.md", ALPHA)
    with library_of(tmp_path, urls(site, "/a.md")) as library:
        library.sync()
        site.put("/a.md", status=403)
        library.sync()
        (problem,) = library.status(as_owner=True).problems
        assert (problem.document, problem.code) == (f"{site.host}/a.md", "source-unreachable")
        assert problem.message.startswith("At the last sync (")
        assert re.search(r"Its version of \d{4}-\d\d-\d\d is still served\.$", problem.message)
        site.put("/a.md", ALPHA)
        library.sync()
        assert not library.status(as_owner=True).problems


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
        assert site.asked() == ["/a", "/robots.txt", "/sitemap.xml"]


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
        b'<?xml version="1.0" encoding="no-such"?><urlset></urlset>',
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
    for target in (
        "http://127.0.0.1/admin",
        "http://10.0.0.1/",
        "http://[::1]/",
        "http://localhost",
        "http://localhost./",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0/",
        "http://①②⑦.0.0.1/",
        "http://127。0。0。1/",
        "http://%31%32%37.0.0.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::10.0.0.1]/",
        "http://[64:ff9b::a00:1]/",
        "http://[64:ff9b:1::808:808]/",
        "http://[2002:a00:1::1]/",
        "http://[::127.0.0.1]/",
        "http://[::ffff:0:10.0.0.1]/",
        "http://[fec0::1]/",
        "http://127.0.0.1.2/",
        "http://example.org:99999/",
    ):
        with pytest.raises(MerestoneError) as caught:
            check_redirect("http://example.org/a", "http://example.org/a", target)
        assert caught.value.code == "redirect-refused"
    with pytest.raises(MerestoneError):
        check_redirect("https://example.org", "https://example.org", "http://example.org")
    check_redirect("http://example.org/a", "http://example.org/a", "https://example.org/b")
    check_redirect("http://example.org/a", "http://example.org/a", "http://cafe.de/0x1")


def test_what_carries_a_public_address_is_public() -> None:
    for host in ("8.8.8.8", "2606:4700::1", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8", "2002:808:808::"):
        assert not is_private(host)
    check_redirect("http://a.example/", "http://a.example/", "http://[64:ff9b::8.8.8.8]/")


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch, site: Site) -> Iterator[Site]:
    """A server that only its own network sees, as ``inside.example``. That of ``site`` is for
    everyone, as ``public.example``."""
    look_up, peer_of = socket.getaddrinfo, web_client._peer_of

    def looked_up(host: str | bytes, *rest: object, **more: object) -> object:
        is_ours = host in (b"public.example", b"inside.example")
        return look_up("127.0.0.1" if is_ours else host, *rest, **more)  # type: ignore[arg-type]

    def seen(stream: object) -> tuple[str, int] | None:
        found = peer_of(stream)
        is_public = found is not None and site.host.endswith(f":{found[1]}")
        return ("8.8.8.8", found[1]) if found and is_public else found

    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    monkeypatch.setattr(web_client, "_peer_of", seen)
    with serve() as other:
        other.url = other.url.replace("127.0.0.1", "inside.example")
        site.url = site.url.replace("127.0.0.1", "public.example")
        yield other


def test_a_public_page_leads_to_no_name_of_a_private_address(
    tmp_path: Path, site: Site, inside: Site
) -> None:
    site.put("/a.md", status=302, headers={"Location": f"{inside.url}/secret.md"})
    site.put("/b.md", status=302, headers={"Location": f"{site.url}/c.md"})
    site.put("/c.md", GAMMA)
    inside.put("/secret.md", ALPHA)
    site.put("/list.txt", f"{site.url}/a.md\n{site.url}/b.md\n")
    with library_of(tmp_path, f'list = "{site.url}/list.txt"') as library:
        report = library.sync()
        assert [code for _, code in codes(report)] == ["redirect-refused"]
        assert "a private network" in report.problems[0].message
        assert report.documents["added"] == 1
    # Not even its robots.txt.
    assert inside.asked() == []


def test_a_page_inside_is_fetched_where_it_is_named_and_leads_on_inside(
    tmp_path: Path, site: Site, inside: Site
) -> None:
    site.put("/a.md", status=302, headers={"Location": f"{inside.url}/secret.md"})
    inside.put("/b.md", status=302, headers={"Location": "/c.md"})
    inside.put("/c.md", BETA)
    inside.put("/secret.md", ALPHA)
    site.put("/list.txt", f"{inside.url}/b.md\n{site.url}/a.md\n")
    source = f'list = "{site.url}/list.txt"\noptions = {{ concurrency = 1 }}'
    with library_of(tmp_path, source) as library:
        report = library.sync()
        assert [code for _, code in codes(report)] == ["redirect-refused"]
        assert report.documents["added"] == 1
    # An open connection is there, and serves nobody from outside.
    assert inside.asked() == ["/b.md", "/c.md", "/robots.txt"]


def test_a_proxy_may_be_at_a_private_address_and_judges_names_itself(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("HTTP_PROXY", site.url)
    moved = {"Location": "http://b.example/b.md"}
    site.put("http://a.example/a.md", status=302, headers=moved)
    site.put("http://b.example/b.md", BETA)
    site.put("http://a.example/c.md", status=302, headers={"Location": "http://10.0.0.1/"})
    with library_of(
        tmp_path, 'urls = ["http://a.example/a.md", "http://a.example/c.md"]'
    ) as library:
        report = library.sync()
        assert documents(library) == {"a.example/a.md"}
        assert codes(report) == [("a.example/c.md", "redirect-refused")]


def test_a_source_that_is_let_go_leaves_no_thread(site: Site) -> None:
    site.put("/a.md", ALPHA)
    before = set(threading.enumerate())
    source = open_source(SourceSettings(kind="urls", urls=(f"{site.url}/a.md",)))
    assert len(source.scan(Look()).documents) == 1
    (thread,) = [
        each for each in set(threading.enumerate()) - before if each.name == "merestone-http"
    ]
    del source
    gc.collect()
    thread.join(60)
    assert not thread.is_alive()


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(status=302, headers={"Location": "http://" + 300 * "a"}), "source-unreachable"),
        (Reply(status=302, headers={"Location": "http://["}), "source-unreachable"),
        (Reply(status=302, headers={"Location": "http://127.0.0.1:99999/"}), "redirect-refused"),
        (Reply(status=302, headers={"Location": "http://xn--a/"}), "source-unreachable"),
        (Reply(b"x", headers={"Content-Encoding": "gzip, \xe9"}), "source-unreachable"),
        (Reply(b"x", status=429, headers={"Retry-After": "9" * 5000}), "source-unreachable"),
    ],
)
def test_an_odd_answer_is_the_failure_of_its_page_alone(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch, reply: Reply, code: str
) -> None:
    monkeypatch.setenv("WIKI_TOKEN", "s3cret")
    site.put("/a.md", ALPHA)
    site.replies["/odd"] = reply
    source = urls(site, "/odd", "/a.md", options="retries = 0")
    with library_of(tmp_path, f'{source}\ntoken_env = "WIKI_TOKEN"') as library:
        report = library.sync()
        assert codes(report) == [(f"{site.host}/odd", code)]
        assert documents(library) == {f"{site.host}/a.md"}
    if reply.status == 429:
        assert "too long" in report.problems[0].message


@pytest.mark.parametrize(
    "headers",
    [
        {"ETag": '"caf\xe9"'},
        {"Last-Modified": "Mon, 02 Feb 2026 10:00:00 +" + "9" * 30},
        {"Set-Cookie": "name=caf\xe9"},
    ],
)
def test_a_header_that_cannot_be_sent_back_is_not_kept(
    tmp_path: Path, site: Site, headers: dict[str, str]
) -> None:
    site.put("/a.md", ALPHA, headers=headers)
    with library_of(tmp_path, urls(site, "/a.md")) as library:
        assert library.sync().documents["added"] == 1
        assert library.sync().documents["unchanged"] == 1
        with library.snapshot(as_owner=True) as snapshot:
            assert [record.stamp for record in snapshot.records()] == [""]


def test_a_stored_tag_that_cannot_be_sent_is_not(site: Site) -> None:
    site.put("/a.md", ALPHA, tag='"1"')
    source = open_source(SourceSettings(kind="urls", urls=(f"{site.url}/a.md",)))
    look = Look(stamps={f"{site.host}/a.md": 'etag="caf\xe9"'})
    assert [listed.stamp for listed in source.scan(look).documents] == ['etag="1"']


@pytest.mark.parametrize(
    ("lines", "key"),
    [
        ('url = "http://["', "url"),
        ('sql = "postgresql://me:s3cret@[bad"\nquery = "q"\nkey = "k"', "sql"),
        ('sitemap = "x.xml"', "sitemap"),
        ('list = "list.txt"\nhosts = ["[bad"]', "hosts"),
        ('list = "list.txt"\nhosts = ["a:bad"]', "hosts"),
        ('list = "list.txt"\nhosts = ["a/b"]', "hosts"),
        ("urls = []\noptions = { concurrency = inf }", "concurrency"),
        ("urls = []\noptions = { concurrency = 0.5 }", "concurrency"),
        ("urls = []\noptions = { timeout = inf }", "timeout"),
        ("urls = []\noptions = { timeout = nan }", "timeout"),
        ("urls = []\noptions = { timeout = 1e300 }", "timeout"),
        ("urls = []\noptions = { timeout = true }", "timeout"),
    ],
)
def test_settings_that_cannot_be_are_refused_when_they_are_read(
    tmp_path: Path, lines: str, key: str
) -> None:
    with pytest.raises(SettingsError, match=key) as caught:
        library_of(tmp_path, lines)
    assert caught.value.code == "invalid-setting"
    assert "s3cret" not in str(caught.value)
    assert str(tmp_path / "merestone.toml") in caught.value.message


# Patience


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page has half of its timeout, by the clock of the world."""
    monkeypatch.setattr(transfer_options, "_WHOLE", 0.5)
    monkeypatch.setattr(transfer, "Timing", Timing)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("kind", ["headers", "body", "redirects", "tries", "name"])
def test_a_page_that_comes_too_slowly_ends_at_its_limit_whatever_is_slow(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    place, look_up, released = "/a.md", socket.getaddrinfo, threading.Event()
    if kind == "headers":
        site.put(place, ALPHA, drips=120)
    elif kind == "body":
        site.put(place, endless=True, pause=0.02)
    elif kind == "redirects":
        for number in range(4):
            to = {"Location": f"/{number + 1}.md"}
            site.put(f"/{number}.md", status=302, headers=to, drips=0.3)
        site.put("/4.md", ALPHA)
        place = "/0.md"
    elif kind == "tries":
        # Each try has time enough; all of them have not.
        site.put(place, status=503, drips=0.3)
    else:

        def slow(host: str | bytes, *rest: object, **more: object) -> object:
            released.wait(120)
            return look_up(host, *rest, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(socket, "getaddrinfo", slow)
        site.url = site.url.replace("127.0.0.1", "slow.example")
    source = urls(site, place, options="timeout = 1.0")
    try:
        with library_of(tmp_path, source) as library:
            report = library.sync()
    finally:
        released.set()
    assert [code for _, code in codes(report)] == ["source-unreachable"]
    assert "0.5 s" in report.problems[0].message
    # Four redirects would have come to an end.
    assert "/4.md" not in site.asked()


@pytest.mark.usefixtures("short")
def test_a_server_that_drips_is_given_up_and_its_robots_txt_too(tmp_path: Path, site: Site) -> None:
    paths = [f"/{number}.md" for number in range(6)]
    for path in paths:
        site.put(path, ALPHA, drips=120)
    source = urls(site, *paths, options="timeout = 1.0, concurrency = 1")
    with library_of(tmp_path, source) as library:
        assert "3 pages were not looked at" in str(library.sync().problems)
    source = site_with_rules(site, "", drips=120) + "options = { timeout = 1.0 }\n"
    with library_of(tmp_path, source) as library:
        assert codes(library.sync()) == [(site.host, "source-unreachable")]


def test_a_wait_that_is_longer_than_a_page_may_take_is_not_begun(
    tmp_path: Path, site: Site, time: Time
) -> None:
    site.put("/a.md", status=429, headers={"Retry-After": "30"})
    site.put("/b.md", BETA)
    source = urls(site, "/a.md", "/b.md", options="timeout = 2, concurrency = 1")
    with library_of(tmp_path, source) as library:
        report = library.sync()
        assert codes(report) == [(f"{site.host}/a.md", "source-unreachable")]
        assert "30 s; for another try the 20 s of a page are too short" in str(report.problems)
    assert time.slept == []


@pytest.mark.parametrize(
    "first",
    [
        Reply(status=503),
        Reply(status=429, headers={"Retry-After": "7"}),
        Reply(hangs=True),
        Reply(ALPHA[:10].encode(), length=len(ALPHA)),
    ],
)
def test_what_may_go_better_later_is_asked_for_again(
    tmp_path: Path, site: Site, time: Time, first: Reply
) -> None:
    site.put("/a.md", ALPHA)
    site.before["/a.md"] = [first, first]
    timeout = 0.3 if first.hangs else 5
    with library_of(tmp_path, urls(site, "/a.md", options=f"timeout = {timeout}")) as library:
        report = library.sync()
        assert report.documents["added"] == 1
        assert not report.problems
        assert library.show(f"{site.host}/a.md")["text"] == ALPHA
    assert site.asked() == ["/a.md"] * 3
    if "Retry-After" in first.headers:
        assert time.slept == [7.0, 7.0]
    else:
        assert [0.375 <= time.slept[0] <= 0.625, 0.75 <= time.slept[1] <= 1.25] == [True, True]


def test_patience_is_bounded_and_can_be_set(tmp_path: Path, site: Site, time: Time) -> None:
    for retries in (0, 1):
        site.put("/a.md", status=503)
        options = f"retries = {retries}"
        with library_of(tmp_path, urls(site, "/a.md", options=options)) as library:
            report = library.sync()
            assert codes(report) == [(f"{site.host}/a.md", "source-unreachable")]
            assert "503" in report.problems[0].message
        assert len(site.asked()) == 1 + retries
    for wrong in ("retries = -1", "retries = 1000", "retries = 1.5", "retries = true"):
        with pytest.raises(SettingsError), library_of(tmp_path, urls(site, options=wrong)) as made:
            made.sync()


def test_a_server_that_wants_to_be_left_alone_for_long_is(
    tmp_path: Path, site: Site, time: Time
) -> None:
    site.put("/a.md", status=429, headers={"Retry-After": "3600"})
    site.put("/b.md", status=500)
    with library_of(tmp_path, urls(site, "/a.md", "/b.md")) as library:
        report = library.sync()
        assert len(report.problems) == 2
        assert "3600 s" in str(report.problems)
    assert site.asked() == ["/a.md", "/b.md"]
    assert time.slept == []


def test_a_host_that_wants_to_be_left_alone_is_by_every_page(
    tmp_path: Path, site: Site, time: Time
) -> None:
    site.put("/a.md", status=429, headers={"Retry-After": "20"})
    site.put("/b.md", BETA)
    source = urls(site, "/a.md", "/b.md", options="retries = 1, concurrency = 1")
    with library_of(tmp_path, source) as library:
        assert library.sync().documents["added"] == 1
    assert site.asked() == ["/a.md", "/a.md", "/b.md"]
    assert time.slept == [20.0]


# What robots.txt says


def site_with_rules(site: Site, rules: str | bytes, **rest: object) -> str:
    site.put("/a.md", ALPHA)
    site.put("/private/b.md", BETA)
    site.put("/private/c.md", GAMMA)
    site.put("/robots.txt", rules, **rest)
    paths = ("/a.md", "/private/b.md", "/private/c.md")
    site.put("/sitemap.xml", sitemap(*((site.url + path, "") for path in paths)))
    return f'sitemap = "{site.url}/sitemap.xml"\n'


def test_pages_that_robots_txt_closes_are_not_fetched_and_told_of_once(
    tmp_path: Path, site: Site
) -> None:
    source = site_with_rules(site, "User-agent: *\nDisallow: /private/\n")
    with library_of(tmp_path, source) as library:
        report = library.sync()
        assert site.asked() == ["/a.md", "/robots.txt", "/sitemap.xml"]
        assert report.documents["added"] == 1
        assert codes(report) == [(f"{site.host}/%ROBOTS", "robots-disallow")]
        assert "closes 2 of the pages" in report.problems[0].message
        again = library.sync()
        assert not again.problems
        assert not again.retry
    with library_of(tmp_path, f"{source}robots = false") as library:
        site.asked()
        assert library.sync().documents["added"] == 2
        assert "/robots.txt" not in site.asked()
        # What is stored of a page stays when it is closed.
        assert len(documents(library)) == 3
    with library_of(tmp_path, source) as library:
        assert library.sync().documents["removed"] == 0
        assert len(documents(library)) == 3


def test_a_list_heeds_robots_txt_and_pages_that_are_named_one_by_one_do_not(
    tmp_path: Path, site: Site
) -> None:
    site_with_rules(site, "User-agent: merestone\nDisallow: /\nAllow: /a\n")
    site.put("/list.txt", f"{site.url}/a.md\n{site.url}/private/b.md\n")
    with library_of(tmp_path, f'list = "{site.url}/list.txt"') as library:
        library.sync()
        assert documents(library) == {f"{site.host}/a.md"}
    with library_of(tmp_path, urls(site, "/a.md", "/private/b.md")) as library:
        library.sync()
        assert documents(library) == {f"{site.host}/a.md", f"{site.host}/private/b.md"}


def test_a_page_that_is_known_to_be_unchanged_is_not_read_again_once_it_is_closed(
    tmp_path: Path, site: Site
) -> None:
    site_with_rules(site, "", status=404)
    site.put("/sitemap.xml", sitemap((f"{site.url}/a.md", "2020-01-01")))
    settings = SourceSettings(kind="sitemap", location=f"{site.url}/sitemap.xml")
    known = open_source(settings).scan(Look()).documents[0]
    site.put("/robots.txt", "User-agent: *\nDisallow: /\n")
    source = open_source(settings)
    (again,) = source.scan(Look(stamps={known.id: known.stamp})).documents
    site.asked()
    with pytest.raises(MerestoneError) as caught:
        source.read(again, 1000)
    assert caught.value.code == "source-unreachable"
    assert site.asked() == ["/robots.txt"]


def test_a_redirect_to_a_closed_page_is_not_followed(tmp_path: Path, site: Site) -> None:
    source = site_with_rules(site, "User-agent: *\nDisallow: /private/\n")
    site.put("/a.md", status=302, headers={"Location": "/private/b.md"})
    with library_of(tmp_path, source) as library:
        assert [code for _, code in codes(library.sync())] == ["robots-disallow"]
        assert "/private/b.md" not in site.asked()


@pytest.mark.parametrize(("status", "pages"), [(404, 3), (403, 3), (500, 0), (503, 0)])
def test_rules_that_are_not_there_close_nothing_and_rules_that_cannot_be_had_close_all(
    tmp_path: Path, site: Site, status: int, pages: int
) -> None:
    source = site_with_rules(site, "", status=status)
    with library_of(tmp_path, source) as library:
        report = library.sync()
        assert report.documents["added"] == pages
        if not pages:
            assert codes(report) == [(site.host, "source-unreachable")]
            assert "robots.txt" in report.problems[0].message
            assert site.asked().count("/robots.txt") == (3 if status == 503 else 1)


def test_of_a_robots_txt_that_is_too_long_the_beginning_counts(tmp_path: Path, site: Site) -> None:
    filler = "# nothing\n" * 600_000
    rules = f"User-agent: *\nDisallow: /private/\n{filler}Disallow: /a.md\n"
    with library_of(tmp_path, site_with_rules(site, rules)) as library:
        report = library.sync()
        assert codes(report) == [(f"{site.host}/%ROBOTS", "robots-disallow")]
        assert documents(library) == {f"{site.host}/a.md"}


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_half_a_line_of_a_robots_txt_is_no_rule(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    lines = ("User-agent: *", "Disallow: /private/", "Disallow: /a.md.old")
    text = end.join(lines)
    monkeypatch.setattr(robot_files, "_MOST_BYTES", len(text) - len(".old"))
    with library_of(tmp_path, site_with_rules(site, text)) as library:
        library.sync()
        assert documents(library) == {f"{site.host}/a.md"}


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("", "/x", True),
        ("User-agent: *\nDisallow:", "/x", True),
        ("user-agent: *\ndisallow: / # all", "/x", False),
        ("User-agent: *\nDisallow: /\n\nUser-agent: Merestone/1.0\nDisallow: /a", "/x", True),
        ("User-agent: other\nUser-agent: merestone\nDisallow: /a", "/ab", False),
        ("User-agent: other\nDisallow: /", "/x", True),
        ("Disallow: /", "/x", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nAllow: /a/b\nDisallow: /a", "/a/c", False),
        ("User-agent: *\nDisallow: /a\nAllow: /a", "/a", True),
        ("User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf?x", True),
        ("User-agent: *\nDisallow: /a$", "/a", False),
        ("User-agent: *\nDisallow: /a$", "/ab", True),
        ("User-agent: *\nDisallow: /a*b*c", "/axxbxxc", False),
        ("User-agent: *\nDisallow: /a*bc$", "/abbc", False),
        ("User-agent: *\nDisallow: /ab*bc$", "/abc", True),
        ("User-agent: *\nDisallow: /*?", "/a?b", False),
        ("User-agent: *\nDisallow: /ä", "/%C3%A4", False),
        ("User-agent: *\nDisallow: /%7ea", "/~a", False),
        ("User-agent: *\nDisallow: /a%2fb", "/a/b", True),
        ("\ufeffUser-agent: *\r\nDisallow: /a\r\n", "/a", False),
        (
            "User-agent: a\nDisallow: /\nUser-agent: merestone\nUser-agent: b\nDisallow: /c",
            "/d",
            True,
        ),
    ],
)
def test_rules_are_read_as_the_standard_says(rules: str, path: str, allowed: bool) -> None:
    assert RobotRules.of(rules).allow(f"http://example.org{path}") is allowed


def test_rules_made_to_take_long_do_not() -> None:
    rules = RobotRules.of("User-agent: *\nDisallow: /" + "*a" * 2000 + "b$")
    assert rules.allow("http://example.org/" + "a" * 20_000)


# Credentials


def test_a_token_goes_to_the_servers_that_were_named_and_nowhere_else(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIKI_TOKEN", "s3cret\n")
    with serve() as other:
        site.put("/a.md", ALPHA)
        site.put("/moved", status=302, headers={"Location": f"{other.url}/c.md"})
        for path in ("/b.md", "/c.md"):
            other.put(path, BETA)
        lines = (f"{site.url}/a.md", f"{site.url}/moved", f"{other.url}/b.md")
        site.put("/list.txt", "\n".join(lines))
        source = f'list = "{site.url}/list.txt"\ntoken_env = "WIKI_TOKEN"\n'
        with library_of(tmp_path, source) as library:
            assert library.sync().documents["added"] == 3
        assert set(site.credentials.values()) == {"Bearer s3cret"}
        assert set(other.credentials.values()) == {None}
        with library_of(tmp_path, f'{source}hosts = ["{other.host}"]') as library:
            library.sync()
        assert set(other.credentials.values()) == {"Bearer s3cret"}


def test_a_user_and_a_password_are_sent_and_never_shown(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIKI_PASSWORD", "hunter2")
    site.put("/a.md", ALPHA)
    site.put("/b.md", b"no, not hunter2 nor bWU6aHVudGVyMg==", status=401)
    source = f'{urls(site, "/a.md", "/b.md")}\nuser = "me"\npassword_env = "WIKI_PASSWORD"'
    with library_of(tmp_path, source) as library:
        report = library.sync()
        assert site.credentials["/a.md"] == "Basic bWU6aHVudGVyMg=="
        told = f"{report} {report.to_json()} {library.settings} {library.status(as_owner=True)}"
    assert codes(report) == [(f"{site.host}/b.md", "source-unreachable")]
    assert "hunter2" not in told
    assert "bWU6" not in told
    for file in (tmp_path / ".merestone").iterdir():
        assert b"hunter2" not in file.read_bytes()


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        (None, 'token_env = "WIKI_TOKEN"'),
        ("", 'token_env = "WIKI_TOKEN"'),
        ("two s3cret words", 'token_env = "WIKI_TOKEN"'),
        ("s3cret\nX-Other: 1", 'token_env = "WIKI_TOKEN"'),
        ("s3cret", 'token_env = "WIKI_TOKEN"\nuser = "me"'),
        ("s3cret", 'password_env = "WIKI_TOKEN"'),
        ("s3cret", 'user = "me:you"'),
        (None, 'user = "me"\npassword_env = "WIKI_TOKEN"'),
    ],
)
def test_credentials_that_cannot_be_are_refused_without_repeating_them(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch, value: str | None, lines: str
) -> None:
    monkeypatch.delenv("WIKI_TOKEN", raising=False)
    if value is not None:
        monkeypatch.setenv("WIKI_TOKEN", value)
    site.put("/a.md", ALPHA)
    with pytest.raises(SettingsError) as caught:
        library_of(tmp_path, f"{urls(site, '/a.md')}\n{lines}").sync()
    assert "s3cret" not in str(caught.value)
    assert site.asked() == []


@pytest.mark.parametrize(
    "rest",
    [
        {"token_env": "WIKI_TOKEN", "hosts": ("a:bad",)},
        {"token_env": "WIKI_TOKEN", "hosts": ("[bad",)},
        {"token_env": "WIKI_TOKEN", "urls": ("https://me:s3cret@a.example:bad/",)},
        {"token_env": "WIKI_TOKEN", "location": "http://me:s3cret@[bad"},
        {"user": "half \ud800 a character"},
    ],
)
def test_settings_made_in_code_that_cannot_be_are_an_error_of_ours(
    monkeypatch: pytest.MonkeyPatch, rest: dict[str, Any]
) -> None:
    monkeypatch.setenv("WIKI_TOKEN", "s3cret")
    with pytest.raises(SettingsError) as caught:
        open_source(SourceSettings(kind="urls", **rest))
    assert caught.value.code == "invalid-setting"
    assert "s3cret" not in str(caught.value)


def test_a_password_that_is_no_text_is_sent_as_it_is(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIKI_PASSWORD", "caf\udce9")
    site.put("/a.md", ALPHA)
    source = f'{urls(site, "/a.md")}\nuser = "me"\npassword_env = "WIKI_PASSWORD"'
    with library_of(tmp_path, source) as library:
        assert library.sync().documents["added"] == 1
    sent = (site.credentials["/a.md"] or "").removeprefix("Basic ")
    assert base64.b64decode(sent) == b"me:caf\xe9"


def test_a_list_in_a_file_says_whom_credentials_are_for(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIKI_TOKEN", "s3cret")
    site.put("/a.md", ALPHA)
    (tmp_path / "list.txt").write_text(f"{site.url}/a.md\n")
    source = 'list = "list.txt"\ntoken_env = "WIKI_TOKEN"\n'
    with pytest.raises(SettingsError, match="hosts"):
        library_of(tmp_path, source)
    with library_of(tmp_path, f'{source}hosts = ["example.org"]') as library:
        library.sync()
    assert site.credentials["/a.md"] is None
