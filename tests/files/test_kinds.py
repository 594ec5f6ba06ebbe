import pytest

from circuitproof.errors import InputError
from circuitproof.files.kinds import FileKind, of_kind
from circuitproof.files.reading import read_toml
from places import RECIPES

SHIPPED = sorted(path.name for path in RECIPES.glob("*.toml"))


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_recipe_is_of_one_kind(name):
    """Otherwise a sentence about the wrong kind would name another than it is."""
    content, fitting = read_toml(RECIPES / name), []
    for kind in FileKind:
        try:
            assert of_kind(content, name, kind) is content
            fitting.append(kind)
        except InputError as error:
            assert f"want {kind}" in str(error)  # noqa: PT017  # all but one are refused
    assert len(fitting) == 1


@pytest.mark.parametrize("content", [{}, {"colour": 3}, [], "text"])
def test_what_is_of_no_kind_is_left_to_its_reader(content):
    """A misspelt key is told by name there."""
    assert of_kind(content, "x.json", FileKind.CIRCUIT) is content
