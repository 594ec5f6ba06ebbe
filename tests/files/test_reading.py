import json
import sys
from contextlib import suppress
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from circuitproof.errors import InputError
from circuitproof.files.canonical import canonical_json
from circuitproof.files.reading import (
    Fields,
    parse_json,
    read_bytes,
    read_json,
    read_toml,
    reading,
    reading_part,
    write_rational,
)
from strategies import json_values


class Colour(StrEnum):
    """A choice to read."""

    RED = "red"
    DARK_BLUE = "dark blue"


def box(**content: object) -> Fields:
    """Return the fields of an object called `box`."""
    return Fields(content, "box")


@given(json_values)
def test_what_canonical_json_writes_is_read_back(value):
    """A file we wrote never comes back as something else."""
    assert parse_json(canonical_json(value), "here") == value


@given(st.fractions())
def test_a_written_rational_reads_back_as_the_same_number(value):
    """Exact constants survive the file exactly."""
    assert box(x=write_rational(value)).rational("x") == value


@given(st.decimals(allow_nan=False, allow_infinity=False, places=12))
def test_a_decimal_in_json_is_the_exact_number_that_it_spells(value):
    """0.1 in a file means 1/10 and not the double next to it."""
    content = parse_json(f'{{"x": {value}}}'.encode(), "here")
    assert Fields(content, "here").rational("x") == Fraction(value)


@pytest.mark.parametrize(
    ("spelling", "value"),
    [(3, Fraction(3)), ("22/5", Fraction(22, 5)), ("0.55", Fraction(11, 20)), ("1e-5", Fraction(1, 10**5))],
)
def test_a_rational_has_several_exact_spellings(spelling, value):
    """People write 0.55 and 1e-5; each is exact as long as it is a string or an integer."""
    assert box(x=spelling).rational("x") == value


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (0.55, "the number 0.55, want a rational in a string"),
        (True, "true, want a rational in a string"),
        (None, "null, want a rational in a string"),
        ([], "a list, want a rational in a string"),
        ("1/0", "'1/0', want a rational such as 22/5"),
        ("nan", "'nan', want a rational such as 22/5"),
        ("inf", "'inf', want a rational such as 22/5"),
        ("two", "'two', want a rational such as 22/5"),
        ("9" * 5000, "want a rational such as 22/5"),
        (Decimal("NaN"), "want a rational such as 22/5"),
        (Decimal("1E+999999999"), "1E[+]999999999, want an exponent of at most three digits"),
        ("1e-999999999", "want an exponent of at most three digits"),
        ("1e9_999_999_999", "want an exponent of at most three digits"),
    ],
)
def test_what_is_not_an_exact_number_is_refused(value, found):
    """A float is only near a number, and a giant exponent would fill the memory."""
    with pytest.raises(InputError, match=rf"^box\.x is .*{found}"):
        box(x=value).rational("x")


@pytest.mark.parametrize(("value", "number"), [(1, 1.0), (0.25, 0.25), (Decimal("0.1"), 0.1)])
def test_a_setting_of_training_may_be_any_finite_number(value, number):
    """TOML gives floats and our JSON reader gives decimals; a learning rate may come from either."""
    read = box(x=value).number("x", above=0)
    assert isinstance(read, float)
    assert read == number


@pytest.mark.parametrize(
    "value", [0, -1.0, float("nan"), float("inf"), float("-inf"), 10**400, Decimal("1e400")]
)
def test_a_setting_outside_its_range_is_refused(value):
    """A learning rate of NaN, zero or infinity trains nothing."""
    with pytest.raises(InputError, match=r"^box\.x is .*, want a finite number above 0$"):
        box(x=value).number("x", above=0)


@pytest.mark.parametrize("value", [True, "1", None])
def test_a_setting_that_is_no_number_is_refused(value):
    """True is 1 only to Python."""
    with pytest.raises(InputError, match=r"^box\.x is .*, want a number$"):
        box(x=value).number("x", above=0)


WRONG_TYPES = [
    ("text", 3, "the number 3, want a string"),
    ("text", None, "null, want a string"),
    ("boolean", 1, "the number 1, want true or false"),
    ("boolean", "true", "the string 'true', want true or false"),
    ("integer", True, "true, want a whole number"),
    ("integer", False, "false, want a whole number"),
    ("integer", 1.0, "the number 1.0, want a whole number"),
    ("integer", Decimal("1.0"), "the number 1.0, want a whole number"),
    ("integer", "1", "the string '1', want a whole number"),
    ("items", {}, "an object, want a list"),
    ("items", "ab", "the string 'ab', want a list"),
    ("texts", "ab", "the string 'ab', want a list"),
    ("integers", 5, "the number 5, want a list"),
    ("integer_rows", {}, "an object, want a list"),
    ("fields", [], "a list, want an object with keys"),
    ("text", "", None),
    ("boolean", False, None),
    ("integer", 0, None),
    ("items", [], None),
    ("fields", {}, None),
]


@pytest.mark.parametrize(("method", "value", "found"), WRONG_TYPES)
def test_a_value_of_the_wrong_type_is_named_with_what_was_wanted(method, value, found):
    """Nothing is converted in silence; empty values of the right type are fine."""
    read = getattr(box(x=value), method)
    if found is None:
        read("x")
        return
    with pytest.raises(InputError, match=rf"^box\.x is {found}$"):
        read("x")


@pytest.mark.parametrize(
    ("method", "value", "found"),
    [
        ("texts", ["a", 1], r"box\.x\[1\] is the number 1, want a string"),
        ("integers", [1, 2, True], r"box\.x\[2\] is true, want a whole number"),
        ("integer_rows", [[1], 2], r"box\.x\[1\] is the number 2, want a list"),
        ("integer_rows", [[1], [2, "3"]], r"box\.x\[1\]\[1\] is the string '3', want a whole number"),
    ],
)
def test_a_wrong_entry_of_a_list_is_found_by_its_index(method, value, found):
    """In a domain of 1,280 prompts "a list is wrong" would help nobody."""
    with pytest.raises(InputError, match=rf"^{found}$"):
        getattr(box(x=value), method)("x")


def test_a_long_string_is_cut_in_the_sentence():
    """A sentence stays a sentence when somebody passes a whole file."""
    with pytest.raises(InputError, match=r"the string 'a{40}'\.\.\., want a whole number"):
        box(x="a" * 41).integer("x")


@given(st.integers(), st.integers())
@example(0, 0)
def test_a_whole_number_is_at_least_the_least(value, least):
    """Sizes are positive; the bound itself is allowed."""
    if value >= least:
        assert box(x=value).integer("x", least=least) == value
        return
    with pytest.raises(InputError, match=rf"^box\.x is {value}, want at least {least}$"):
        box(x=value).integer("x", least=least)


def test_a_whole_number_is_not_negative_unless_said():
    """The default bound is zero."""
    with pytest.raises(InputError, match="is -1, want at least 0"):
        box(x=-1).integer("x")


@pytest.mark.parametrize("colour", Colour)
def test_a_choice_is_read_by_its_name(colour):
    """The file holds the word, the program holds the member."""
    assert box(x=str(colour)).choice("x", Colour) is colour


@pytest.mark.parametrize("name", ["RED", "green", ""])
def test_an_unknown_choice_is_told_what_there_is(name):
    """The names in the file are the values, not Python's identifiers."""
    with pytest.raises(InputError, match=rf"^box\.x is '{name}', want one of 'red', 'dark blue'$"):
        box(x=name).choice("x", Colour)


def test_an_entry_is_named_by_its_place():
    """A place beyond the end is a sentence and not Python's."""
    assert box(x=1).entry("x", "ab") == "b"
    with pytest.raises(InputError, match=r"^box\.x is 2, want the place of one of 2$"):
        box(x=2).entry("x", "ab")
    with pytest.raises(InputError, match=r"^box\.x is 0, want the place of one of 0$"):
        box(x=0).entry("x", "")


@pytest.mark.parametrize(
    ("content", "found"),
    [(None, "null"), ([1], "a list"), ("text", "the string 'text'"), (2.5, "the number 2.5"), (True, "true")],
)
def test_only_an_object_has_keys(content, found):
    """A file that holds a list at its top is refused before anybody asks for a key."""
    with pytest.raises(InputError, match=f"^file is {found}, want an object with keys$"):
        Fields(content, "file")


def test_a_missing_key_is_named_with_its_path():
    """The reader is sent to the spot, however deep."""
    inner = box(lid={"hinges": {}}).fields("lid").fields("hinges")
    with pytest.raises(InputError, match=r"^box\.lid\.hinges\.count is missing; add it$"):
        inner.integer("count")


def test_the_keys_come_in_the_order_of_the_file():
    """Who walks over the keys reports the first fault of the file first."""
    assert box(b=1, a=2).keys() == ("b", "a")


def test_a_key_that_nobody_asked_for_is_refused():
    """A misspelt key must not be a silent default; keys that may be left out are told as known."""
    fields = box(size=3, hed_width=4)
    assert fields.integer("size") == 3
    assert not fields.has("head_width")
    with pytest.raises(
        InputError, match=r"^box\.hed_width is not a known key; known here: head_width, size$"
    ):
        fields.finish()


def test_a_fault_inside_a_reading_is_told_before_unknown_keys():
    """The first fault is the one the user can act on; it is not hidden by the check at the end."""
    with (
        pytest.raises(InputError, match=r"^box\.size is missing; add it$"),
        reading({"x": 1}, "box") as fields,
    ):
        fields.integer("size")


def test_a_part_is_read_to_its_last_key():
    """Strictness reaches into nested objects."""
    parent = box(lid={"size": 1, "x": 2})
    with (
        pytest.raises(InputError, match=r"^box\.lid\.x is not a known key"),
        reading_part(parent, "lid") as lid,
    ):
        assert lid.integer("size") == 1


def test_each_entry_of_a_list_is_read_to_its_last_key():
    """A list of objects gets the same strictness, with the index in the sentence."""
    assert box(x=[{"n": 1}, {"n": 2}]).each("x", lambda entry: entry.integer("n")) == (1, 2)
    with pytest.raises(InputError, match=r"^box\.x\[1\]\.m is not a known key; known here: n$"):
        box(x=[{"n": 1}, {"n": 2, "m": 3}]).each("x", lambda entry: entry.integer("n"))


NOT_JSON = [
    (b"", "Expecting value"),
    (b"{", "Expecting property name"),
    (b"[NaN]", "NaN is not a number that can be used"),
    (b"[Infinity]", "Infinity is not a number that can be used"),
    (b"[-Infinity]", "-Infinity is not a number that can be used"),
    (b'{"a": 1, "b": 2, "a": 3}', "the key 'a' is repeated"),
    (b'[{"x": {"a": 1, "\\u0061": 3}}]', "the key 'a' is repeated"),
    (b"\xff", "invalid start byte"),
    (b'"\xed\xa0\x80"', "invalid continuation byte"),
    (b"[" * 100_000, "recursion"),
    (b"1" * 5000, "limit"),
    (b"1e99999999999999999999", "the number 1e99999999999999999999 is out of range"),
]


@pytest.mark.parametrize(("content", "reason"), NOT_JSON, ids=[reason for _, reason in NOT_JSON])
def test_json_that_does_not_mean_one_thing_is_refused(content, reason):
    """Python's reader takes NaN, the last of repeated keys and half characters; a proof must not."""
    with pytest.raises(InputError, match=f"^claim is not usable JSON: .*{reason}"):
        parse_json(content, "claim")


@given(st.binary())
def test_any_bytes_are_a_value_or_a_sentence(content):
    """Whatever a file holds, reading ends in a value or in an InputError."""
    with suppress(InputError):
        json.dumps(parse_json(content, "here"), default=str)


def test_a_json_file_is_read_with_its_path_in_the_sentence(tmp_path):
    """Which of many files is broken is the first thing a user wants to know."""
    path = tmp_path / "claim.json"
    path.write_text(json.dumps({"a": [1, 0.5]}))
    assert read_json(path) == {"a": [1, Decimal("0.5")]}
    path.write_text("{")
    with pytest.raises(InputError, match=r"claim\.json is not usable JSON"):
        read_json(path)


def test_a_toml_file_is_read(tmp_path):
    """Recipes are TOML."""
    path = tmp_path / "toy.toml"
    path.write_bytes(b'[model]\nwidth = 16\nslope = "1/100"\n')
    assert read_toml(path) == {"model": {"width": 16, "slope": "1/100"}}


@pytest.mark.parametrize("content", [b"a = ", b"a = 1\na = 2", b"\xff", b"a = " + b"[" * 5000])
def test_bad_toml_is_refused_with_its_path(tmp_path, content):
    """A fault in a recipe is the user's to mend, so it is a sentence."""
    path = tmp_path / "toy.toml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"toy\.toml is not usable TOML: "):
        read_toml(path)


def test_a_date_in_toml_is_called_a_date(tmp_path):
    """TOML has types that JSON has not; the sentence must not call a date a number."""
    path = tmp_path / "toy.toml"
    path.write_bytes(b"width = 1979-05-27\n")
    with pytest.raises(InputError, match="is the date 1979-05-27, want a whole number"):
        Fields(read_toml(path), "recipe").integer("width")


def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path):
    """Missing files and folders in place of files are bad input."""
    with pytest.raises(InputError, match=r"^cannot read .*absent: No such file or directory$"):
        read_bytes(tmp_path / "absent")
    with pytest.raises(InputError, match=r"^cannot read .*: Is a directory$"):
        read_json(tmp_path)


def test_a_rational_of_more_digits_than_python_likes_is_written():
    """Exact logits of deep circuits are long; the limit on other conversions stays as it was."""
    limit = sys.get_int_max_str_digits()
    assert len(write_rational(Fraction(10**5000, 3))) == 5003
    assert sys.get_int_max_str_digits() == limit
