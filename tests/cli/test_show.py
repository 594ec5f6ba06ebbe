import pytest
from rich.console import Console

from circuitproof.cli.show import fitting_table

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
