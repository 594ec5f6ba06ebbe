"""Strict reading of JSON and TOML from outside: each key is asked for once, and nothing else may be there."""

import json
import re
import sys
import tomllib
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from circuitproof.errors import DeclarationError, InputError, NumericError
from circuitproof.files.canonical import reading_file

Choice = TypeVar("Choice", bound=StrEnum)
Value = TypeVar("Value")

_RATIONAL = re.compile(r"[-+]?([0-9]+(/[0-9]+|\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
"""What `Fraction` reads, without underscores, blanks and the digits of other scripts."""
_LONG_EXPONENT = re.compile(r"[eE][+-]?[\d_]{4,}")
"""An exponent of four digits or more: written out as an exact number it can fill the memory."""
_SHOWN = 40
"""How much of a string is enough to recognise it."""
_WANTED: dict[type, str] = {str: "a string", bool: "true or false", int: "a whole number"}


class Fields:
    """The keys of one object, with the path that leads to it, for sentences that point at the spot."""

    def __init__(self, content: object, where: str) -> None:
        if not isinstance(content, dict):
            raise InputError(f"{where} is {_name(content)}, want an object with keys")
        self.where = where
        self._content: dict[str, object] = {str(key): value for key, value in content.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # keys of unread JSON
        self._asked: set[str] = set()

    def has(self, key: str) -> bool:
        """Say whether a key that may be left out is there."""
        self._asked.add(key)
        return key in self._content

    def keys(self) -> tuple[str, ...]:
        """Return every key, in the order of the file."""
        return tuple(self._content)

    def path(self, key: str) -> str:
        """Return where `key` stands, for a sentence about it."""
        return f"{self.where}.{key}"

    def value(self, key: str) -> object:
        """Return whatever stands at `key`, which must be there."""
        self._asked.add(key)
        if key not in self._content:
            raise InputError(f"{self.path(key)} is missing; add it")
        return self._content[key]

    def text(self, key: str) -> str:
        return _typed(self.value(key), str, self.path(key))

    def boolean(self, key: str) -> bool:
        return _typed(self.value(key), bool, self.path(key))

    def only_true(self, key: str) -> bool:
        """Say whether a key is there, which is written only where it is true."""
        if self.has(key) and not self.boolean(key):
            raise InputError(f"{self.path(key)} is false, want true, or the key left out")
        return self.has(key)

    def integer(self, key: str, *, least: float = 0) -> int:
        number = _typed(self.value(key), int, self.path(key))
        if number < least:
            raise InputError(f"{self.path(key)} is {number}, want at least {least}")
        return number

    def rational(self, key: str) -> Fraction:
        """Return an exact number: an integer, or a string such as "22/5" or "0.55"; never a float."""
        value = self.value(key)
        if isinstance(value, bool) or not isinstance(value, (int, Decimal, str)):
            wanted = 'a rational in a string such as "1/100"'
            raise InputError(f"{self.path(key)} is {_name(value)}, want {wanted}")
        if _LONG_EXPONENT.search(str(value)):
            raise InputError(f"{self.path(key)} is {value}, want an exponent of at most three digits")
        try:
            return Fraction(value if not isinstance(value, str) or _RATIONAL.fullmatch(value) else "")
        except (ValueError, ZeroDivisionError) as error:
            raise InputError(f"{self.path(key)} is {value!r}, want a rational such as 22/5") from error

    def number(self, key: str, *, above: float) -> float:
        """Return a float greater than `above`, for settings of training that no proof depends on."""
        value = self.value(key)
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
            raise InputError(f"{self.path(key)} is {_name(value)}, want a number")
        number = float(Decimal(value))  # infinite where it is too large
        if not above < number < float("inf"):
            raise InputError(f"{self.path(key)} is {value}, want a finite number above {above}")
        return number

    def choice(self, key: str, choices: type[Choice]) -> Choice:
        """Return the member of `choices` that the string at `key` names."""
        return choices(self.one_of(key, tuple(choices)))

    def one_of(self, key: str, known: Collection[str]) -> str:
        if (name := self.text(key)) not in known:
            wanted = ", ".join(repr(str(one)) for one in known)
            raise InputError(f"{self.path(key)} is {name!r}, want one of {wanted}")
        return name

    def entry(self, key: str, listed: Sequence[Value]) -> Value:
        """Return that of some values whose place stands at `key`."""
        if (place := self.integer(key)) >= len(listed):
            raise InputError(f"{self.path(key)} is {place}, want the place of one of {len(listed)}")
        return listed[place]

    def fields(self, key: str) -> "Fields":
        """Return the object at `key`, to be read further."""
        return Fields(self.value(key), self.path(key))

    def items(self, key: str) -> tuple[object, ...]:
        return _items(self.value(key), self.path(key))

    def entries(self, key: str) -> Iterator[tuple[object, str]]:
        """Return what is in a list, each entry with where it stands."""
        return ((entry, f"{self.path(key)}[{index}]") for index, entry in enumerate(self.items(key)))

    def tables(self, key: str) -> "tuple[Fields, ...]":
        """Return the tables of a list, of which not every key need be read."""
        return tuple(Fields(entry, where) for entry, where in self.entries(key))

    def texts(self, key: str) -> tuple[str, ...]:
        return _all_typed(self.value(key), str, self.path(key))

    def text_rows(self, key: str) -> tuple[tuple[str, ...], ...]:
        return tuple(_all_typed(row, str, where) for row, where in self.entries(key))

    def integers(self, key: str) -> tuple[int, ...]:
        return _all_typed(self.value(key), int, self.path(key))

    def integer_rows(self, key: str) -> tuple[tuple[int, ...], ...]:
        return tuple(_all_typed(row, int, where) for row, where in self.entries(key))

    def each(self, key: str, read: Callable[["Fields"], Value]) -> tuple[Value, ...]:
        """Read a list of objects, each to its last key."""
        values: list[Value] = []
        for entry, where in self.entries(key):
            with reading(entry, where) as fields:
                values.append(read(fields))
        return tuple(values)

    def finish(self) -> None:
        """Refuse keys that nobody asked for: a misspelt key must not be a silent default."""
        if unknown := [key for key in self._content if key not in self._asked]:
            known = ", ".join(sorted(self._asked))
            raise InputError(f"{self.path(unknown[0])} is not a known key; known here: {known}")


class _Alone(Fields):
    def path(self, key: str) -> str:  # noqa: ARG002  # there is no key
        return self.where


def alone(value: object, where: str) -> Fields:
    """Return a value that stands under no key, an entry of a list or a flag; its key is empty.

    >>> alone("1/100", "--epsilon").rational("")
    Fraction(1, 100)
    """
    return _Alone({"": value}, where)


@contextmanager
def reading(content: object, where: str) -> Generator[Fields, None, None]:
    """Open `content` for reading and check at the end that every key was read.

    >>> with reading({"size": 3, "sise": 4}, "box") as fields:
    ...     size = fields.integer("size")
    Traceback (most recent call last):
    circuitproof.errors.InputError: box.sise is not a known key; known here: size
    """
    fields = Fields(content, where)
    with about(where):
        yield fields
    fields.finish()


@contextmanager
def about(where: str) -> Generator[None, None, None]:
    """Let a sentence about a contradiction, or about a number that is none, begin with where it is."""
    try:
        yield
    except DeclarationError as error:
        raise InputError(f"{where}: {error}") from error
    except NumericError as error:
        raise NumericError(f"{where}: {error}") from error


@contextmanager
def reading_part(parent: Fields, key: str) -> Generator[Fields, None, None]:
    """Open the object at `key` of `parent` for reading to its last key."""
    with reading(parent.value(key), parent.path(key)) as fields:
        yield fields


def read_json(path: Path) -> object:
    """Return the JSON value in a file; numbers with a point come as exact decimals.

    Repeated keys and the constants NaN and Infinity are refused.
    """
    return parse_json(read_bytes(path), str(path))


def read_fields(path: Path) -> Fields:
    """Open a JSON file of which not every key need be read."""
    return Fields(read_json(path), str(path))


def parse_json(content: bytes, where: str) -> object:
    """Return the JSON value in `content`, read as `read_json` reads a file."""
    try:
        return json.loads(
            _decoded(content),
            parse_float=_decimal,
            parse_constant=_refuse_constant,
            object_pairs_hook=_unique_keys,
        )
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is not usable JSON: {_reason(error)}") from error


def read_toml(path: Path) -> object:
    """Return the TOML table in a file."""
    try:
        return tomllib.loads(_decoded(read_bytes(path)))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not usable TOML: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """Return what a parser found, without its advice to Python programmers about long numbers."""
    return str(error).partition("; use sys.")[0]


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes, or say plainly that it cannot be read."""
    with reading_file(path):
        return path.read_bytes()


def read_text(path: Path) -> str:
    """Return the text of a file, which must be UTF-8."""
    try:
        return _decoded(read_bytes(path))
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text: byte {error.start} cannot be read") from error
    except ValueError as error:
        raise InputError(f"{path} cannot be used: {error}") from error


def _decoded(content: bytes) -> str:
    """Return UTF-8 text; a byte order mark, which some editors write, is no part of any format here."""
    if content.startswith(BOM_UTF8):
        raise ValueError("it begins with a byte order mark (BOM); save it as UTF-8 without one")
    return content.decode()


def write_rational(value: Fraction) -> str:
    """Return the text that `Fields.rational` reads back.

    >>> write_rational(Fraction(22, 5)), write_rational(Fraction(3))
    ('22/5', '3')
    """
    with long_numbers():
        return str(value)


def shown(value: Fraction, digits: int = 6) -> str:
    """Return some digits of a number, which may lie outside the range of floats."""
    return f"{Decimal(value.numerator) / Decimal(value.denominator):.{digits}g}"


@contextmanager
def long_numbers() -> Generator[None, None, None]:
    """Let numbers have any number of digits: exact logits of deep circuits have more than Python allows."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(limit)


def scientific(number: int) -> str:
    """Return a number as people read it: exactly up to twelve digits, else four digits and a power of ten.

    >>> scientific(2048), scientific(32**100)
    ('2048', '3.273e150')
    """
    digits = write_rational(Fraction(number))
    return digits if len(digits) <= 12 else f"{digits[0]}.{digits[1:4]}e{len(digits) - 1}"  # noqa: PLR2004  # said above


def _typed(value: object, kind: type[Value], where: str) -> Value:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise InputError(f"{where} is {_name(value)}, want {_WANTED[kind]}")
    return value


def _items(value: object, where: str) -> tuple[object, ...]:
    if not isinstance(value, list):
        raise InputError(f"{where} is {_name(value)}, want a list")
    return tuple(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # entries of unread JSON


def _all_typed(value: object, kind: type[Value], where: str) -> tuple[Value, ...]:
    entries = enumerate(_items(value, where))
    return tuple(_typed(entry, kind, f"{where}[{index}]") for index, entry in entries)


def _name(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return f"the string {value!r}" if len(value) <= _SHOWN else f"the string {value[:_SHOWN]!r}..."
        case dict():
            return "an object"
        case list():
            return "a list"
        case _:
            kind = "number" if isinstance(value, (int, float, Decimal)) else type(value).__name__
            return f"the {kind} {value}"


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise ValueError(f"the number {text} is out of range") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number that can be used")


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    content = dict(pairs)
    if len(content) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} is repeated")
    return content
