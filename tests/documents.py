"""The blocks of commands in README.md and docs, and the notes that stand before them for the tests.

A note is an HTML comment in the line before a block: `not run: REASON`, which names the test that runs the
same at smoke size if there is one, or `run with NAME=VALUE …`, which says what words of the block stand for.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from places import DOCS, ROOT

DOCUMENTS = (ROOT / "README.md", *sorted(DOCS.glob("*.md")))
PROGRAMS = ("circuitproof", "circuitproof-check", "python", "make")
_COMMAND = re.compile(rf"(?:\$ )?(?:\w+=\S+|for .*; do .*|cat > .*|(?:{'|'.join(PROGRAMS)}) .*)")
_NOTE = re.compile(r"<!-- (not run: .*|run with .*) -->")


@dataclass(frozen=True)
class Block:
    """Lines of a document that belong together, and the note before them."""

    document: Path
    line: int
    lines: tuple[str, ...]
    note: str

    @property
    def name(self) -> str:
        """Return where it is."""
        return f"{self.document.relative_to(ROOT)}:{self.line}"

    @property
    def reason(self) -> str | None:
        """Return why it is not run, if it is not."""
        return self.note.removeprefix("not run: ") if self.note.startswith("not run: ") else None

    def commands(self) -> Iterator[tuple[list[str], str]]:
        """Yield the words of each command, with the text that is given to it."""
        values = dict(
            word.split("=", 1) for word in shlex.split(self.note.removeprefix("run with ")) if "=" in word
        )
        lines = iter("\n".join(self.lines).replace("\\\n", " ").splitlines())
        for line in filter(_COMMAND.fullmatch, lines):
            given, _, end = line.partition(" <<")
            text = "".join(f"{one}\n" for one in iter(lambda: next(lines), end.strip("'"))) if end else ""
            if assigned := re.fullmatch(r"(\w+)=(\S+)", given):
                values[f"${assigned[1]}"] = assigned[2]
            else:
                yield _filled(shlex.split(given.removeprefix("$ "), comments=True), values), text


def _filled(words: list[str], values: dict[str, str]) -> list[str]:
    """Return words with what they stand for: whole words by name, variables wherever they stand."""
    for name, value in values.items():
        if name.startswith("$"):
            words = [word.replace(name, value) for word in words]
    return [part for word in words for part in (shlex.split(values[word]) if word in values else [word])]


def blocks(document: Path) -> Iterator[Block]:
    """Yield the blocks of a document that hold a command."""
    lines = document.read_text().splitlines()
    start = 0
    while start < len(lines):
        end = _end(lines, start)
        is_fenced = lines[start].startswith("```")
        inner = lines[start + 1 : end - 1] if is_fenced else [line[4:] for line in lines[start:end]]
        if end > start and any(map(_COMMAND.fullmatch, inner)):
            note = _NOTE.fullmatch(lines[start - 1]) or _NOTE.fullmatch(lines[start - 2])
            yield Block(document, start + 1, tuple(inner), note[1] if note else "")
        start = max(end, start + 1)


def _end(lines: list[str], start: int) -> int:
    """Return the line after the block that begins at a line; the same line where there is none."""
    if lines[start].startswith("```"):
        return next(place for place in range(start + 1, len(lines)) if lines[place].startswith("```")) + 1
    end = start
    while end < len(lines) and lines[end].startswith("    "):
        end += 1
    return end
