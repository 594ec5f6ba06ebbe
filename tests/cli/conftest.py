"""What the tests of commands share."""

import signal
import sys

import pytest

from circuitproof.cli.main import main


@pytest.fixture
def run(monkeypatch, capsys):
    """Return what runs a command as the entry point does."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # the test runner keeps its own Ctrl-C
    monkeypatch.setenv("COLUMNS", "300")

    def run_command(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["circuitproof", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code or 0, *capsys.readouterr()

    return run_command
