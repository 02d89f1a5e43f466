"""The package as a whole: what importing costs, and that lists agree with the code."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import merestone
from merestone.types.codes import CODES

SOURCE = Path(merestone.__file__).parent
_RAISED = (
    "SettingsError",
    "SourceError",
    "ExtractionError",
    "EmbedderError",
    "RerankerError",
    "StoreError",
    "StoreBusyError",
    "NotFoundError",
    "Problem",
    "Finding",
    "DocumentWarning",
)
_CODE = re.compile(r"[a-z]+(-[a-z0-9]+)+")


def loaded_modules(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def test_importing_loads_neither_engine_nor_model() -> None:
    heavy = {
        "apsw",
        "numpy",
        "onnxruntime",
        "tokenizers",
        "simsimd",
        "pydantic",
        "pypdfium2",
        "turbohtml",
        "pyromark",
        "click",
        "rich",
        "merestone.library",
    }
    assert not heavy & loaded_modules("import merestone")


def test_opening_a_library_loads_no_model_and_no_parser() -> None:
    heavy = {"onnxruntime", "pypdfium2", "turbohtml", "pyromark"}
    assert not heavy & loaded_modules("import merestone; merestone.Library.open('.')")


def test_every_public_name_is_there() -> None:
    for name in merestone.__all__:
        assert getattr(merestone, name) is not None
    assert set(merestone.__all__) <= set(dir(merestone))


def used_codes() -> Iterator[str]:
    """Codes given to an error, problem, finding or warning: the first argument, or ``code=``.
    Codes that are handed on by a function stand in a call whose name has one of those words."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                for argument in (*node.args[:3], *(keyword.value for keyword in node.keywords)):
                    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                        yield argument.value


def test_every_code_is_explained_and_every_explained_code_is_used() -> None:
    used = set(used_codes())
    assert set(CODES) <= used
    raised = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in _RAISED:
                for argument in node.args[:3]:
                    if isinstance(argument, ast.Constant) and _CODE.fullmatch(str(argument.value)):
                        raised.add(argument.value)
    assert raised <= set(CODES)


def test_the_source_speaks_of_no_machine() -> None:
    for path in SOURCE.rglob("*.py"):
        assert "/home/" not in path.read_text("utf-8")
