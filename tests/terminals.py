"""A terminal of 80 columns: a command runs on it, and what a person sees there at the end is returned."""

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from dataclasses import dataclass

WIDTH = 80
_PIECE = re.compile(r"\x1b\[[0-9;?]*(?P<control>[A-Za-z])|(?P<plain>[^\x1b])")


@dataclass(frozen=True)
class Ended:
    """How a command ended, all that it drew, and what is left of it on the screen."""

    code: int
    drawn: str
    screen: str


def on_terminal(*arguments: object, interrupt_at: str | None = None) -> Ended:
    """Run a command with a terminal for all its streams; type Ctrl-C once it has drawn some text."""
    child, ours = pty.fork()
    if not child:
        os.environ.pop("COLUMNS", None)
        os.execv(sys.executable, [sys.executable, "-m", "circuitproof", *map(str, arguments)])  # noqa: S606  # ours
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, WIDTH, 0, 0))
    drawn = ""
    while part := _read(ours):
        drawn += part
        if interrupt_at is not None and interrupt_at in drawn:
            os.write(ours, b"\x03")
            interrupt_at = None
    os.close(ours)
    return Ended(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), drawn, screen(drawn))


def _read(terminal: int) -> str:
    try:
        return os.read(terminal, 1 << 16).decode(errors="replace")
    except OSError:  # the other end is closed
        return ""


def screen(drawn: str) -> str:
    """Return the lines that a terminal shows after some text with its commands to erase and to go up."""
    lines, row, column = [""], 0, 0
    for piece in _PIECE.finditer(drawn):
        if piece["control"] == "A":
            row = max(0, row - 1)
        elif piece["control"] == "K":
            lines[row] = ""
        elif piece["plain"] == "\r":
            column = 0
        elif piece["plain"] == "\n" or (piece["plain"] and column == WIDTH):
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        if piece["plain"] and piece["plain"] not in "\r\n":
            lines[row] = lines[row].ljust(column)[:column] + piece["plain"] + lines[row][column + 1 :]
            column += 1
    return "\n".join(line.rstrip() for line in lines)
