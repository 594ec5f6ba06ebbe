import sys

import pytest

from circuitproof.errors import InputError
from circuitproof.lab.reports.frontier import Mark, Series, draw_frontier

SERIES = Series(
    generation="A",
    task="quotes",
    candidates=(Mark(2, 1, 8), Mark(4, 0, 8)),
    nested=tuple(Mark(edges, 4, 8) for edges in range(1, 12)),
    selected=Mark(4, 0, 8),
)


def test_a_figure_is_the_same_bytes_for_the_same_data(tmp_path):
    """So that a figure can be checked in and compared."""
    for name in ("one.png", "other.png"):
        draw_frontier([SERIES], tmp_path / name)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "other.png").read_bytes()


def test_shares_are_percentages_of_the_gate():
    """One of eight is 12.5."""
    assert Mark(2, 1, 8).percent == 12.5


def test_without_matplotlib_there_is_a_sentence(tmp_path, monkeypatch):
    """Figures are an extra; results do not depend on them."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match="figures need the package matplotlib; install the report extra"):
        draw_frontier([SERIES], tmp_path / "one.png")
