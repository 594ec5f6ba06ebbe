"""Entry points, read from their files."""

import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from circuitproof.files.extensions import Extension, extensions


def package(folder: Path, name: str, text: str) -> None:
    """Install what a package says of itself into a folder of Python's path."""
    place = folder / name
    place.mkdir(parents=True)
    (place / "entry_points.txt").write_text(text)


@pytest.mark.parametrize("group", ["circuitproof.commands", "circuitproof.folders", "console_scripts"])
def test_entry_points_are_those_that_python_itself_finds(group):
    """Python's own reading is the slow twin."""
    found = {(one.name, f"{one.module}:{one.attribute}") for one in extensions(group)}
    assert found == {(one.name, one.value.partition(" [")[0]) for one in entry_points(group=group)}


def test_of_two_packages_of_one_name_the_first_on_the_path_is_read(tmp_path, monkeypatch):
    """As an import would: an old copy further back adds nothing, whatever its version."""
    package(tmp_path / "a", "mine-2.0.dist-info", "[group]\nnew = mine.new:TABLE\n")
    package(tmp_path / "b", "Mine.egg-info", "[group]\nold = mine.old:TABLE\n")
    package(tmp_path / "b", "other-1.dist-info", "[group]\nother = other:TABLE\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / part) for part in ("a", "b", "gone")])
    assert [one.name for one in extensions("group")] == ["new", "other"]


def test_only_the_lines_of_the_group_are_read(tmp_path, monkeypatch):
    """Comments, spaces and other groups are no entry points."""
    text = "[before]\na = b:c\n\n[group]\n# d = e:f\n; g = h:i\n  run.json=j.k : l  \n[after]\nm = n:o\n"
    package(tmp_path, "mine-1.dist-info", text)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert list(extensions("group")) == [Extension("run.json", "j.k", "l")]
