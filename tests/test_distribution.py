"""What is published: a wheel and an sdist that work by themselves."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*arguments: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(arguments, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.ci
def test_the_wheel_installs_and_works_in_an_empty_environment(tmp_path: Path) -> None:
    run(sys.executable, "-m", "build", "--outdir", tmp_path / "dist", ROOT)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    (sdist,) = (tmp_path / "dist").glob("*.tar.gz")
    names = set(zipfile.ZipFile(wheel).namelist())
    models = "merestone/embedding/models/minilm"
    assert {f"{models}/weights.safetensors", f"{models}/NOTICE", "merestone/py.typed"} <= names
    with tarfile.open(sdist) as archive:
        assert any(name.endswith("examples/questions.jsonl") for name in archive.getnames())
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    binaries = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    run(binaries / "python", "-m", "pip", "install", "--quiet", wheel)
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "a.md").write_text("# Pump\n\nClose the valve before you open the pump.\n")
    run(binaries / "merestone", "init", cwd=documents)
    run(binaries / "merestone", "sync", cwd=documents)
    found = run(binaries / "merestone", "search", "what comes before opening", cwd=documents)
    assert "Close the valve" in found
