"""Strict reading of JSON: unique keys, no key without a name in the format, values of the wanted type."""

import json
import re
from fractions import Fraction
from typing import cast

_RATIONAL = re.compile(r"-?[0-9]+(/[0-9]+)?")
_SHOWN = 60


class UnreadableError(Exception):
    """The directory cannot be read at all, so there is nothing to judge."""


class ForgedError(Exception):
    """A rule of the format is broken."""


def parse_json(content: bytes, where: str) -> object:
    """Return the JSON value in the bytes of a file."""
    try:
        return json.loads(
            content.decode(), object_pairs_hook=_unique_keys, parse_constant=rule_constants_are_absent
        )
    except (ValueError, RecursionError) as error:
        raise ForgedError(f"{where} is not JSON: {error}") from error


def rule_keys_are_unique(keys: list[str]) -> None:
    """JSON keys are unique."""
    if repeated := [key for key in keys if keys.count(key) > 1]:
        raise ForgedError(f"the key {repeated[0]!r} is repeated, want unique keys")


def rule_constants_are_absent(name: str) -> None:
    """NaN and Infinity do not occur."""
    raise ForgedError(f"the constant {name} occurs, want integers and strings only")


def rule_keys_are_named(content: dict[str, object], names: tuple[str, ...], where: str) -> None:
    """No key occurs that the format does not name."""
    if unknown := [key for key in content if key not in names]:
        raise ForgedError(f"{where} has the key {unknown[0]!r}, want only {', '.join(names)}")


def fields(value: object, where: str, *names: str) -> tuple[object, ...]:
    """Return the values of an object that has just the keys `names`, in their order."""
    content = mapping(value, where)
    if missing := [name for name in names if name not in content]:
        raise ForgedError(f"{where} lacks the key {missing[0]!r}")
    rule_keys_are_named(content, names, where)
    return tuple(content[name] for name in names)


def mapping(value: object, where: str) -> dict[str, object]:
    """Return an object with any keys."""
    if not isinstance(value, dict):
        raise ForgedError(f"{where} is {show(value)}, want an object")
    return cast("dict[str, object]", value)


def kind(value: object, where: str) -> object:
    """Return the kind of an object whose other keys depend on it."""
    return mapping(value, where).get("kind")


def items(value: object, where: str) -> list[object]:
    """Return the entries of a list."""
    if not isinstance(value, list):
        raise ForgedError(f"{where} is {show(value)}, want a list")
    return cast("list[object]", value)


def text(value: object, where: str) -> str:
    """Return a string."""
    if not isinstance(value, str):
        raise ForgedError(f"{where} is {show(value)}, want a string")
    return value


def boolean(value: object, where: str) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise ForgedError(f"{where} is {show(value)}, want true or false")
    return value


def integer(value: object, where: str, least: int | None = None, most: int | None = None) -> int:
    """Return an integer between bounds that may be left open."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ForgedError(f"{where} is {show(value)}, want an integer")
    if (least is not None and value < least) or (most is not None and value > most):
        raise ForgedError(f"{where} is {show(value)}, want {least} to {'any' if most is None else most}")
    return value


def integers(value: object, where: str, least: int | None = None, most: int | None = None) -> tuple[int, ...]:
    """Return a list of integers between bounds."""
    return tuple(integer(entry, f"{where}[{i}]", least, most) for i, entry in enumerate(items(value, where)))


def rational(value: object, where: str) -> Fraction:
    """Return the number of a string "p" or "p/q".

    >>> rational("-22/5", "here")
    Fraction(-22, 5)
    """
    spelled = text(value, where)
    if not _RATIONAL.fullmatch(spelled):
        raise ForgedError(f"{where} is {show(spelled)}, want a rational such as 22/5")
    numerator, _, denominator = spelled.partition("/")
    if denominator and not int(denominator):
        raise ForgedError(f"{where} is {show(spelled)}, want a positive denominator")
    return Fraction(int(numerator), int(denominator or 1))


def rationals(value: object, where: str) -> tuple[Fraction, ...]:
    """Return a list of rationals."""
    return tuple(rational(entry, f"{where}[{i}]") for i, entry in enumerate(items(value, where)))


def show(value: object) -> str:
    """Return enough of a value to recognise it in a sentence."""
    shown = str(value) if isinstance(value, Fraction) else repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    content = dict(pairs)
    if len(content) != len(pairs):
        rule_keys_are_unique([key for key, _ in pairs])
    return content
