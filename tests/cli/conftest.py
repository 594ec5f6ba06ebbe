"""What the tests of commands share."""

import signal
import sys
from io import StringIO

import pytest
from rich.console import Console

from circuitproof.cli import show
from circuitproof.cli.main import main


def legible_table(console, title, columns, rows, fit=show.fitting_table):
    """Return a table that was seen to be legible in 80 columns: no line is longer, no word is broken."""
    narrow = Console(width=80, file=StringIO(), markup=False, emoji=False, highlight=False)
    narrow.print(fit(narrow, title, columns, rows))
    shown = narrow.file.getvalue()
    assert max(map(len, shown.splitlines())) <= 80, shown
    words = {word for row in rows for cell in row for word in cell.split() if len(word) <= 30}
    assert not words - set(shown.split()), shown
    return fit(console, title, columns, rows)


@pytest.fixture
def run(monkeypatch, capsys):
    """Return what runs a command as the entry point does."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # the test runner keeps its own Ctrl-C
    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.setattr(show, "fitting_table", legible_table)

    def run_command(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["circuitproof", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code or 0, *capsys.readouterr()

    return run_command
