"""The look of figures: what cannot be drawn is refused, and a user's own settings change nothing."""

import sys

import matplotlib as mpl
import pytest

from circuitproof.errors import InputError
from circuitproof_lab.figures.style import Drawing, legible, refuse_undrawable, write_drawing

LINE = Drawing(2, 1, lambda figure: figure.subplots().plot([0, 1], [0, 1]))


def test_without_matplotlib_there_is_a_sentence(tmp_path, monkeypatch):
    """Figures are an extra; results do not depend on them."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match="figures need the package matplotlib; install the report extra"):
        refuse_undrawable(tmp_path / "one.png")


def test_a_figure_of_another_kind_is_refused_before_any_work(tmp_path):
    """A run of hours must not end in a file name."""
    refuse_undrawable(None)
    refuse_undrawable(tmp_path / "one.svg")
    with pytest.raises(
        InputError, match=r"one.jpg is no name of a figure: want one that ends in .png or .svg"
    ):
        refuse_undrawable(tmp_path / "one.jpg")


def test_a_users_own_settings_change_nothing_and_are_kept(tmp_path):
    """A figure can be compared with one that somebody else drew."""
    write_drawing(LINE, tmp_path / "one.png")
    with mpl.rc_context({"font.size": 30, "lines.linewidth": 9}):
        write_drawing(LINE, tmp_path / "other.png")
        assert mpl.rcParams["font.size"] == 30
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "other.png").read_bytes()


def test_signs_that_the_font_does_not_have_are_spelled_out():
    """A box in the place of a letter says nothing."""
    assert legible("plain $x$ \u4e2d\u202e") == "plain $x$ \\u4e2d\\u202e"
