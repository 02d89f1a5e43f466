"""Whether cutting takes linear time and bounded memory on inputs that trip chunkers up.

    python benchmarks/chunker_scaling.py [--sizes 1,2,4,8] [--only NAME] [--tool merestone]
        [--json FILE]

Sizes are megabytes of UTF-8. Each line gives CPU seconds at each size for one step: reading the
text, cutting it to 1000 characters, or to 256 tokens of BERT's tokenizer; then the largest growth
from one size to the next, put as growth per doubling, and the highest rise of resident memory in
sizes of the text. Times under 0.1 s say nothing about growth. A growth above 2.2 is measured
again before it is flagged with ``!``. ``prose`` is cut at 10 MB too: there, memory by characters
must stay below 6 times the text.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from peers.forks import ChildError, cpu_seconds, peak_bytes, run_in_fork
from peers.tools import Tool, tools
from peers.units import units

STEPS = ("read", "chars", "bert")
MOST_GROWTH = 2.2
LEAST_SECONDS = 0.1
AGAIN = 2
"""How often a growth above the limit is measured again."""

Make = Callable[[int], str]
"""A text of about so many bytes of UTF-8."""
Figures = dict[str, dict[str, float]]
"""By step: ``seconds`` and ``memory``."""


def main() -> None:
    options = _options()
    tool = tools()[options.tool]
    tool.load()
    sizes = [float(size) for size in options.sizes.split(",")]
    title = "".join(f"{f'{size:g} MB':>10}" for size in sizes)
    print(f"{'input':24}{'step':8}{title}{'growth':>9}{'mem':>8}")
    flagged: list[str] = []
    found: dict[str, Any] = {}
    for name, (suffix, make) in inputs().items():
        if options.only and not any(part in name for part in options.only):
            continue
        measured = _measured(tool, suffix, make, sizes, options.limit)
        flagged += _print_input(name, sizes, measured)
        found[name] = dict(zip(options.sizes.split(","), measured, strict=False))
        if name == "prose" and max(sizes) >= 8:
            flagged += _print_prose(tool, suffix, make, options.limit)
    print("\nflagged:", ", ".join(flagged) or "nothing")
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time and memory of cutting by size of the input")
    parser.add_argument("--sizes", default="1,2,4,8", help="megabytes, ascending")
    parser.add_argument("--only", action="append", help="an input, or a part of its name")
    parser.add_argument("--tool", default="merestone", choices=list(tools()))
    parser.add_argument(
        "--limit", type=float, default=120, help="CPU seconds for an input of a size"
    )
    parser.add_argument("--json", help="write every figure to this file")
    return parser.parse_args()


def _measured(
    tool: Tool, suffix: str, make: Make, sizes: Sequence[float], limit: float
) -> list[Figures | str]:
    """Figures at each size, up to the first size that fails, whose fault comes last."""
    found: list[Figures | str] = []
    for size in sizes:
        answer = _one_size(tool, suffix, make, size, limit)
        found.append(answer)
        if isinstance(answer, str):
            break
        for _ in range(AGAIN):
            # On a busy machine one run may be off, on either side.
            if not _grows(found[-2:], sizes[max(0, len(found) - 2) :]):
                break
            for at in (-2, -1):
                again = _one_size(tool, suffix, make, sizes[len(found) + at], limit)
                found[at] = _better(found[at], again)
    return found


def _one_size(tool: Tool, suffix: str, make: Make, size: float, limit: float) -> Figures | str:
    text = make(int(size * 1e6))
    try:
        answer: Figures = run_in_fork(lambda: _figures(tool, suffix, text), limit)
    except ChildError as error:
        return str(error)
    return answer


def _figures(tool: Tool, suffix: str, text: str) -> Figures:
    known, size = units(), len(text.encode())
    cutters = {name: tool.make(known[name], suffix) for name in ("chars", "bert")}
    for cutter in cutters.values():
        cutter.cut(cutter.prepare("Some words to begin with.\n"))
    kept: list[Any] = []
    found: Figures = {}

    def measure(step: str, function: Callable[[], Any]) -> None:
        seconds: list[float] = []
        peak = peak_bytes(lambda: seconds.append(cpu_seconds(function)))
        found[step] = {"seconds": seconds[0], "memory": peak / size}

    measure("read", lambda: kept.append(cutters["chars"].prepare(text)))
    for name, cutter in cutters.items():
        chunks: list[Any] = []
        measure(name, lambda cutter=cutter, chunks=chunks: chunks.append(cutter.cut(kept[0])))
    return found


def _better(first: Figures | str, second: Figures | str) -> Figures | str:
    """The lower time of each step."""
    if isinstance(first, str) or isinstance(second, str):
        return first
    return {
        step: min(first[step], second[step], key=lambda item: item["seconds"]) for step in first
    }


def _grows(pair: Sequence[Figures | str], sizes: Sequence[float]) -> bool:
    return any(_growth(pair, sizes, step) > MOST_GROWTH for step in STEPS)


def _growth(found: Sequence[Figures | str], sizes: Sequence[float], step: str) -> float:
    """The largest growth per doubling from one size to the next; 0 where nothing takes time."""
    most = 0.0
    for before, after, small, large in zip(found, found[1:], sizes, sizes[1:], strict=False):
        if isinstance(before, str) or isinstance(after, str):
            continue
        first, second = before[step]["seconds"], after[step]["seconds"]
        if first >= LEAST_SECONDS:
            most = max(most, (second / first) ** (1 / math.log2(large / small)))
    return most


def _print_input(name: str, sizes: Sequence[float], measured: Sequence[Figures | str]) -> list[str]:
    """Print the lines of an input; what is wrong with it."""
    flagged = []
    fault = next((item for item in measured if isinstance(item, str)), "")
    good = [item for item in measured if not isinstance(item, str)]
    for step in STEPS if good else ():
        growth = _growth(good, sizes, step)
        wrong = growth > MOST_GROWTH
        cells = "".join(f"{item[step]['seconds']:>10.2f}" for item in good).ljust(10 * len(sizes))
        memory = max(item[step]["memory"] for item in good)
        shown = f"{growth:.2f}" if growth else "-"
        print(f"{name:24}{step:8}{cells}{shown:>8}{'!' if wrong else ' '}{memory:>8.1f}")
        if wrong:
            flagged.append(f"{name} {step} {growth:.2f}")
    if fault:
        print(f"{name:24}at {sizes[len(good)]:g} MB: {fault}")
        flagged.append(f"{name} at {sizes[len(good)]:g} MB ({fault})")
    sys.stdout.flush()
    return flagged


def _print_prose(tool: Tool, suffix: str, make: Make, limit: float) -> list[str]:
    answer = _one_size(tool, suffix, make, 10, limit)
    if isinstance(answer, str):
        print(f"{'prose, 10 MB':24}{answer}")
        return [f"prose at 10 MB ({answer})"]
    memory = max(answer["read"]["memory"], answer["chars"]["memory"])
    times = ", ".join(f"{step} {answer[step]['seconds']:.2f} s" for step in STEPS)
    print(f"{'prose, 10 MB':24}{times}; memory by characters {memory:.1f}")
    return [f"prose at 10 MB takes {memory:.1f} times its size"] if memory > 6 else []


def inputs() -> dict[str, tuple[str, Make]]:
    """By name: the suffix that tells the format, and what makes a text of so many bytes."""
    plain: dict[str, Make] = {
        "no spaces": _repeat(_no_spaces),
        "spaces": _repeat(lambda: " "),
        "one word": _repeat(lambda: "a"),
        "base64": _repeat(_base64),
        "newlines": _repeat(lambda: "\n"),
        "CRLF mix": _repeat(lambda: "a line\r\nanother\rand one\n\r\n\n\r"),
        "tabs": _repeat(lambda: "\t"),
        "short lines": _repeat(lambda: "x\n"),
        "emoji families": _repeat(lambda: "\U0001f468\u200d\U0001f469\u200d\U0001f467"),
        "flags": _repeat(lambda: "\U0001f1e9\U0001f1ea"),
        "zalgo": _repeat(_zalgo),
        "marks only": _repeat(lambda: "\u0301"),
        "Chinese": _repeat(_chinese),
        "Thai": _repeat(lambda: "กำลังน้ำใส่ภาษาไทยไม่มีช่องว่าง"),
        "JSON line": _repeat(_json),
        "minified JS": _repeat(_script),
        "full stops": _repeat(lambda: "."),
        "abbreviations": _repeat(lambda: "e.g. Mr. A. B. "),
        "prose": _repeat(_prose),
    }
    markdown: dict[str, Make] = {
        "headings": _repeat(lambda: "# h\n"),
        "headings, deeper": _repeat(lambda: "".join(f"{'#' * n} h{n}\n" for n in range(1, 7))),
        "lists, deeper": _deeper("  ", "- x"),
        "one deep list": lambda size: "- " * (size // 2) + "x",
        "list items": _repeat(lambda: "- an item\n"),
        "loose items": _repeat(lambda: "- an item\n\n  more of it\n\n"),
        "quotes, deeper": _deeper(">", " x"),
        "one deep quote": lambda size: ">" * size,
        "open fences": _repeat(lambda: "```\ncode\n~~~\n"),
        "unclosed fence": lambda size: "```py\n" + "x = 1  # one\n" * (size // 13),
        "one table": lambda size: "| a | b |\n|---|---|\n" + "| one | two words |\n" * (size // 20),
        "many tables": _repeat(lambda: "| a | b |\n|---|---|\n| 1 | 2 |\n\n"),
        "table in one line": lambda size: "| a | b |\n|---|---|\n" + "| a | b " * (size // 8),
        "wide header": lambda size: _wide(size // 3),
        "[": _repeat(lambda: "["),
        "*": _repeat(lambda: "*"),
        "a*": _repeat(lambda: "a*"),
        "`, longer": _longer("`"),
        "![](": _repeat(lambda: "![](a "),
        "<": _repeat(lambda: "<"),
        "<div>": _repeat(lambda: "<div>"),
        "<div> lines": _repeat(lambda: "<div>\n"),
        "&": _repeat(lambda: "&"),
        "references": lambda size: "".join(f"[r{n}]: /u{n}\n" for n in range(size // 16)),
        "setext": _repeat(lambda: "a\n=\n"),
        "prose in Markdown": _repeat(_prose),
    }
    return {name: (".txt", make) for name, make in plain.items()} | {
        name: (".md", make) for name, make in markdown.items()
    }


def _repeat(block: Callable[[], str]) -> Make:
    """Texts that repeat a block."""

    def make(size: int) -> str:
        text = block()
        return text * max(1, size // len(text.encode()))

    return make


def _deeper(indent: str, line: str) -> Make:
    """Texts whose every line is one level deeper than the one before."""

    def lines(size: int) -> Iterator[str]:
        depth = spent = 0
        while spent < size:
            text = f"{indent * depth}{line}\n"
            spent += len(text)
            depth += 1
            yield text

    return lambda size: "".join(lines(size))


def _longer(mark: str) -> Make:
    """Runs of a mark, each one longer than the one before, so that none closes another."""
    return lambda size: " a ".join(mark * n for n in range(1, math.isqrt(2 * size)))


def _wide(cells: int) -> str:
    return "| a" * cells + "|\n" + "|--" * cells + "|\n" + "| b" * cells + "|\n"


def _letters(alphabet: str, size: int) -> str:
    return "".join(random.Random(1).choices(alphabet, k=size))


def _no_spaces() -> str:
    return _letters("abcdefghijklmnopqrstuvwxyz0123456789.,;:-_/", 50_000)


def _base64() -> str:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return _letters(alphabet, 50_000)


def _chinese() -> str:
    return _letters("".join(map(chr, range(0x4E00, 0x5E00))), 20_000)


def _zalgo() -> str:
    marks = "".join(map(chr, range(0x300, 0x36F)))
    return "".join(letter + _letters(marks, 20) for letter in "zalgo text ")


def _json() -> str:
    items = [{"id": n, "name": f"item {n}", "tags": ["a", "b"], "price": n / 7} for n in range(300)]
    return json.dumps(items, separators=(",", ":"))


def _script() -> str:
    return "".join(
        f"function f{n}(a,b){{return a+b*{n}?f{n}(b,a):[a,b].map(c=>c*{n})}};" for n in range(300)
    )


def _prose() -> str:
    """Sentences in paragraphs of one to nine."""
    chance = random.Random(2)
    words = [_word(chance) for _ in range(2000)]
    paragraphs = []
    for _ in range(150):
        sentences = []
        for _ in range(chance.randint(1, 9)):
            chosen = chance.choices(words, k=chance.randint(4, 25))
            sentences.append(" ".join(chosen).capitalize() + chance.choice(".?!."))
        paragraphs.append(" ".join(sentences))
    return "\n\n".join(paragraphs) + "\n\n"


def _word(chance: random.Random) -> str:
    return "".join(chance.choices("etaoinshrdlucmfwyp", k=chance.randint(1, 10)))


if __name__ == "__main__":
    main()
