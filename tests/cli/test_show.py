import sys

import pytest
from rich.console import Console

from circuitproof.cli.show import fitting_table, show_note

COST = ("circuit", "edges#", "per edge#", "paper#", "norm#", "attention#", "mlp#", "embedding#", "decision#")


@pytest.mark.parametrize(("width", "is_listed"), [(80, True), (300, False)])
def test_a_table_that_is_too_wide_becomes_lists(width, is_listed):
    """A broken word or number is worse than a long page."""
    console = Console(width=width, record=True)
    rows = [("no norm (model)", *(f"{10**place}" for place in range(8)))] * 2
    console.print(fitting_table(console, "what it costs", COST, rows))
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= width
    assert any("attention" in line and "10000" in line for line in lines) == is_listed
    assert sum("10000000" in line for line in lines) == 2


def test_a_table_in_which_every_word_fits_breaks_none():
    """Columns share what is left when each is as wide as its longest word."""
    console = Console(width=80, record=True)
    columns = ("teacher", "data agreement#", "surrogate-teacher agreement#", "program equivalence", "outcome")
    row = ("alternate", "3/3", "6/6", "refuted for last", "counterexample returned; repaired and proved")
    console.print(fitting_table(console, "explanations", columns, [row]))
    shown = console.export_text()
    assert max(map(len, shown.splitlines())) <= 80
    assert {"surrogate-teacher", "equivalence", "counterexample"} <= set(shown.split())


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_sentence_breaks_between_words_on_a_terminal_and_nowhere_else(is_terminal, capsys, monkeypatch):
    """A program reads lines as they are; a path or a number is never broken, and an indent is kept."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    monkeypatch.setenv("COLUMNS", "20")
    text = "  a sentence of many words\n  " + "x" * 30
    show_note(text)
    broken = "  a sentence of many\n  words\n  " + "x" * 30
    assert capsys.readouterr().err == f"{broken if is_terminal else text}\n"
