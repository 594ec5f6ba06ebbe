"""Programs as they are stored, a list of lines in the grammar of docs/certificate.md and nothing beyond it.

Files written by hand may hold comments, blank lines, tabs and decimals, which `text.parse` reads. What is
stored in a model or a claim is read by others too, so there it has one form.
"""

import re
from collections.abc import Sequence

from circuitproof.errors import InputError
from circuitproof.programs.syntax import Program
from circuitproof.programs.text import Limits, parse, to_text

_STRAY = re.compile(r"[^a-z_0-9/=!<>{}(),: ]")


def to_lines(program: Program) -> list[str]:
    """Return the lines that `parse_lines` reads back as the same program."""
    return to_text(program).splitlines()


def parse_lines(lines: Sequence[str], where: str, vocabulary: int) -> Program:
    """Return the program that `lines` spell, which name only tokens of the vocabulary."""
    for number, line in enumerate(lines, start=1):
        at = f"{where}, line {number}"
        if not line.strip(" "):
            raise InputError(f"{at} is empty, want a rule; leave the line out")
        if stray := _STRAY.search(line):
            raise InputError(
                f"{at}, column {stray.start() + 1}: found {stray[0]!r}, want small letters, digits, blanks "
                "and the signs of the language; a stored program has no comments, tabs or decimals"
            )
    return parse("\n".join(lines), where, Limits(tokens=vocabulary))
