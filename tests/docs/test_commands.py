"""The commands in the docs are commands that work."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import merestone
from merestone.cli.main import merestone as command_line
from merestone.cli.main import run
from merestone.config import load_settings

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_SAMPLE = re.compile(
    r"^```sh\n(merestone -C examples/handbook [^\n]*)\n```$.*?^```text\n(.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_SCORE = re.compile(r"(?<=score \d\.\d\d)\d|(?<=relevance \d\.\d)\d")
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")


def blocks(language: str) -> Iterator[tuple[Path, str]]:
    for page in PAGES:
        for match in _FENCE.finditer(page.read_text("utf-8")):
            if match[1] == language:
                yield page, match[2]


def documented_commands() -> list[list[str]]:
    """Every use of ``merestone`` in the docs' shell blocks, as its arguments."""
    found = []
    for _, text in blocks("sh"):
        for line in text.splitlines():
            for part in line.split("&&"):
                words = shlex.split(part, comments=True)
                if words and words[0].rsplit("/", 1)[-1] == "merestone":
                    found.append(words[1:])
    return found


@pytest.mark.parametrize("arguments", documented_commands(), ids=" ".join)
def test_every_documented_command_can_be_read(arguments: list[str]) -> None:
    """Each is parsed by the command line itself, up to where it would begin to work."""
    context = command_line.make_context("merestone", list(arguments), resilient_parsing=False)
    name, command, rest = command_line.resolve_command(
        context, [*context._protected_args, *context.args]
    )
    assert command is not None
    command.make_context(name, rest, parent=context)


def test_the_documented_main_job_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(
        ROOT / "examples" / "handbook",
        tmp_path / "examples" / "handbook",
        ignore=shutil.ignore_patterns(".merestone"),
    )
    monkeypatch.chdir(tmp_path)
    for arguments in documented_commands()[:2]:
        capsys.readouterr()
        assert run(arguments) == 0
    shown = capsys.readouterr().out.strip()
    readme = (ROOT / "README.md").read_text("utf-8")
    (printed,) = [m[2].strip() for m in _FENCE.finditer(readme) if m[1] == "text"][:1]
    # The last digit of a score is arithmetic of one processor.
    assert _SCORE.sub("", shown) == _SCORE.sub("", printed.split("\n\n", 1)[1].strip())


@pytest.mark.ci
def test_the_documented_figures_are_what_the_commands_print(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the shipped handbook, wherever the output of a command stands behind it."""
    shutil.copytree(
        ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns(".merestone")
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    samples = [
        (shlex.split(match[1])[1:], match[2])
        for page in PAGES
        for match in _SAMPLE.finditer(page.read_text("utf-8"))
    ]
    assert [arguments[2] for arguments, _ in samples] == ["eval", "compare"]
    assert run(["-C", "examples/handbook", "sync"]) == 0
    for arguments, sample in samples:
        capsys.readouterr()
        assert run(arguments) == 0
        printed = {line.strip() for line in capsys.readouterr().out.splitlines()}
        wanted = {line.strip() for line in sample.splitlines()} - {"…", ""}
        assert wanted <= printed


def test_the_documented_python_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my-documents").mkdir()
    text = "# Pump\n\nClose the valve before the pump is opened.\n"
    (tmp_path / "my-documents" / "pump.md").write_text(text)
    (tmp_path / "guide.md").write_text(text)
    monkeypatch.chdir(tmp_path)
    for page, code in blocks("python"):
        script = tmp_path / f"{page.stem}.py"
        script.write_text(code)
        runpy.run_path(str(script))
    assert "Close the valve" in capsys.readouterr().out


def test_the_documented_configuration_is_the_defaults(tmp_path: Path) -> None:
    ((_, text),) = [block for block in blocks("toml") if block[0].name == "configuration.md"]
    table = tomllib.loads(text)
    del table["sources"]
    (tmp_path / "merestone.toml").write_text(text[text.index("[extraction]") :])
    documented, default = load_settings(tmp_path), load_settings(tmp_path / "..")
    for part in ("extraction", "chunking", "embedding", "retrieval"):
        assert getattr(documented, part) == getattr(default, part)
        assert table[part].keys() <= set(getattr(default, part).__dataclass_fields__)


def test_every_link_leads_somewhere() -> None:
    for page in [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CHANGELOG.md"]:
        for target in _LINK.findall(page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == merestone.__version__
