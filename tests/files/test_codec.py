from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.canonical import Digest, digest_bytes, readable_json
from circuitproof.files.codec import Codec, Key, Positive, PositiveInt, Range, to_json
from circuitproof.files.reading import Fields, parse_json, reading


class Colour(StrEnum):
    """A choice."""

    RED = "red"
    DARK_BLUE = "dark blue"


@dataclass(frozen=True, slots=True)
class Circle:
    """A member of a union."""

    tag: ClassVar[str] = "circle"
    radius: Fraction


@dataclass(frozen=True, slots=True)
class Box:
    """Another member, with an invariant of its own."""

    tag: ClassVar[str] = "box"
    sides: tuple[PositiveInt, ...]

    def __post_init__(self) -> None:
        if not self.sides:
            raise DeclarationError("a box has no sides, want some")


@dataclass(frozen=True, slots=True)
class Frame:
    """A record in no union."""

    sides: tuple[PositiveInt, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """One of everything that the codec reads."""

    name: str
    colour: Colour
    shape: Circle | Box
    shapes: tuple[Circle | Box, ...] = ()
    frame: Frame | None = None
    share: Annotated[float, Range(above=0, most=1, what="a share of "), Key("the_share")] = 0.5
    low: Annotated[float, Range(least=-2, below=2)] = 0.0
    seed: Annotated[int, Range(most=9)] = 0
    is_old: bool = False
    weights: Mapping[str, Positive]
    digest: Digest


def read(content: object, **given_fields: object) -> Picture:
    """Read a picture to its last key."""
    with reading(content, "art.toml") as fields:
        return Codec().record(Picture, fields, **given_fields)


circles = st.builds(Circle, st.fractions())
boxes = st.builds(Box, st.lists(st.integers(1, 9), min_size=1).map(tuple))
pictures = st.builds(
    Picture,
    name=st.text(st.characters(codec="utf-8")),
    colour=st.sampled_from(Colour),
    shape=circles | boxes,
    shapes=st.lists(circles | boxes, max_size=3).map(tuple),
    frame=st.none() | st.builds(Frame, st.lists(st.integers(1, 9)).map(tuple)),
    share=st.floats(0, 1, exclude_min=True),
    low=st.floats(-2, 2, exclude_max=True),
    seed=st.integers(0, 9),
    is_old=st.booleans(),
    weights=st.dictionaries(st.text(st.characters(codec="utf-8")), st.floats(0.1, 1e300)),
    digest=st.binary().map(digest_bytes),
)


@given(pictures)
def test_what_is_written_is_read_back(picture):
    """Through bytes, floats to the last bit."""
    assert read(parse_json(readable_json(to_json(picture)), "art")) == picture


GOOD = {
    "name": "a",
    "colour": "red",
    "shape": {"kind": "circle", "radius": "1/3"},
    "weights": {"x": 2},
    "digest": "0" * 64,
}


def test_a_key_may_be_left_out_where_its_field_has_a_default():
    """And only there; a reader that wants everything said wants those too."""
    assert read(GOOD).share == 0.5
    with pytest.raises(InputError, match=r"art\.toml\.shapes is missing"):
        Codec().whole(Picture, Fields(GOOD, "art.toml"))


def test_a_field_that_is_given_does_not_stand_in_the_file():
    """There it is an unknown key."""
    content = {key: value for key, value in GOOD.items() if key != "name"}
    assert read(content, name="b").name == "b"
    with pytest.raises(InputError, match=r"art\.toml\.name is not a known key"):
        read(GOOD, name="b")


def test_readers_know_what_the_file_does_not():
    """A path is relative to a folder that only the caller knows."""
    codec = Codec().knowing({Path: lambda fields, key: Path("/here") / fields.text(key)})
    with reading({"paths": ["a", "b"]}, "art.toml") as fields:
        assert codec.value(tuple[Path, ...], fields, "paths") == (Path("/here/a"), Path("/here/b"))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"nmae": "a"}, r"art\.toml\.nmae is not a known key"),
        ({"name": None}, r"art\.toml\.name is null, want a string"),
        ({"colour": "blue"}, r"art\.toml\.colour is 'blue', want one of 'red', 'dark blue'"),
        ({"shape": {"kind": "star"}}, r"art\.toml\.shape\.kind is 'star', want one of 'circle', 'box'"),
        ({"shape": {"radius": "1"}}, r"art\.toml\.shape\.kind is missing"),
        ({"shape": {"kind": "circle"}}, r"art\.toml\.shape\.radius is missing"),
        ({"shape": {"kind": "circle", "radius": 0.5}}, r"shape\.radius is the number 0\.5, want a rational"),
        ({"shape": {"kind": "circle", "radius": "1", "side": 1}}, r"shape\.side is not a known key"),
        ({"shapes": [{"kind": "box", "sides": [1, 0]}]}, r"shapes\[0\]\.sides\[1\] is 0, want at least 1"),
        (
            {"shapes": [{"kind": "box", "sides": []}]},
            r"art\.toml\.shapes\[0\]: a box has no sides, want some",
        ),
        ({"shapes": "box"}, r"art\.toml\.shapes is the string 'box', want a list"),
        ({"frame": {"sides": [True]}}, r"art\.toml\.frame\.sides\[0\] is true, want a whole number"),
        ({"the_share": 1.5}, r"art\.toml\.the_share is 1\.5, want a share of at most 1"),
        ({"the_share": 0}, r"art\.toml\.the_share is 0, want a finite number above 0"),
        ({"share": 1}, r"art\.toml\.share is not a known key"),
        ({"low": -3}, r"art\.toml\.low is -3\.0, want at least -2"),
        ({"low": 2}, r"art\.toml\.low is 2\.0, want below 2"),
        ({"low": float("nan")}, r"art\.toml\.low is nan, want a finite number"),
        ({"low": "1"}, r"art\.toml\.low is the string '1', want a number"),
        ({"seed": 10}, r"art\.toml\.seed is 10, want at most 9"),
        ({"seed": -1}, r"art\.toml\.seed is -1, want at least 0"),
        ({"seed": 1.0}, r"art\.toml\.seed is the number 1\.0, want a whole number"),
        ({"is_old": 1}, r"art\.toml\.is_old is the number 1, want true or false"),
        ({"weights": {"x": 0}}, r"art\.toml\.weights\.x is 0, want a finite number above 0"),
        ({"digest": "0"}, r"art\.toml\.digest: '0' is not a SHA-256 digest"),
    ],
)
def test_a_mistake_is_one_sentence_with_the_path_of_the_key(changes, sentence):
    """Whatever the dataclass."""
    with pytest.raises(InputError, match=sentence):
        read({**GOOD, **changes})


def test_a_type_that_nobody_reads_is_the_programmers_mistake():
    """Not the user's."""
    with pytest.raises(TypeError, match="does not read"):
        Codec().value(complex, Fields({"x": 1}, "art.toml"), "x")
