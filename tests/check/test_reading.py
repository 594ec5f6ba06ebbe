"""Strict reading of untrusted JSON."""

from fractions import Fraction

import pytest

from circuitproof_check import reading
from circuitproof_check.reading import ForgedError
from circuitproof_check.work import ExceededError


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"a": 1, "a": 2}', b'{"a": NaN}', b"[-Infinity]", b"\xff", b"{}\0"]
)
def test_what_is_not_strict_json_is_refused(content):
    """Two readers must not understand two things."""
    with pytest.raises(ForgedError):
        reading.parse_json(content, "file")


def test_integers_have_eighteen_digits_so_that_no_two_have_one_hash():
    """Python hashes an integer as its remainder by 2^61 - 1, which has nineteen."""
    assert reading.parse_json(b"[999999999999999999]", "file") == [10**18 - 1]
    with pytest.raises(ExceededError, match="the number of digits of an integer in file is 19"):
        reading.parse_json(b"[1000000000000000000]", "file")


@pytest.mark.parametrize(
    "spelled", ["", "1.5", "1/0", "1/-2", "+1", "1e3", " 1", "1/2/3", "½", "\u0661", 1, None, True]
)
def test_what_is_not_a_rational_is_refused(spelled):
    """A rational is a string of decimal integers."""
    with pytest.raises(ForgedError):
        reading.rational(spelled, "here")


def test_a_rational_is_read_in_any_terms():
    """The page does not ask for lowest terms."""
    assert reading.rational("-4/6", "here") == Fraction(-2, 3)


@pytest.mark.parametrize("value", [True, 1.0, "1", None, -1, 6])
def test_an_integer_is_an_integer_within_its_bounds(value):
    """True is not one, and an index from the end is not an index."""
    with pytest.raises(ForgedError):
        reading.integer(value, "here", 0, 5)


@pytest.mark.parametrize("read", [reading.items, reading.mapping, reading.boolean])
def test_other_types_are_refused(read):
    """The sentence says what was found and wanted."""
    with pytest.raises(ForgedError, match=r'here breaks the rule that .*: found "x"'):
        read("x", "here")


def test_a_string_is_a_string():
    """Nothing is converted."""
    with pytest.raises(ForgedError, match="strings are strings: found 3"):
        reading.text(3, "here")


def test_a_long_value_is_cut_in_a_sentence():
    """Exact logits may have thousands of digits."""
    assert len(reading.show("x" * 1000)) < 70
