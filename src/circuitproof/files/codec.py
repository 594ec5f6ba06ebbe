"""One typed codec: a dataclass's annotations say how it is read from a file and written as JSON."""

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cache
from math import inf
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints
from typing import cast as trust

from circuitproof.errors import InputError
from circuitproof.files.canonical import Digest, Json
from circuitproof.files.reading import Fields, about, alone, reading_part, write_rational

Made = TypeVar("Made")
ReadAt: TypeAlias = Callable[[Fields, str], object]
"""What reads the value at a key of a table."""

TAG = "kind"
"""The key that says which member of a closed union is meant: the one with this class attribute `tag`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Which numbers are meant; a whole number is not negative unless `least` says otherwise."""

    least: float | None = None
    most: float | None = None
    above: float = -inf
    below: float = inf
    what: str = ""
    """What such a number is, for the sentence that refuses another: "a share of "."""

    def refuse_outside(self, number: float, where: str) -> None:
        for is_outside, wanted in (
            (self.least is not None and number < self.least, f"at least {self.least}"),
            (self.most is not None and number > self.most, f"at most {self.most}"),
            (number >= self.below, f"below {self.below}"),
        ):
            if is_outside:
                raise InputError(f"{where} is {number}, want {self.what}{wanted}")


@dataclass(frozen=True, slots=True)
class Key:
    """The key under which a field stands in a file, where that is not its name."""

    name: str


class FolderName(str):
    """A name that can be that of a folder, and of none elsewhere."""

    __slots__ = ()


_FOLDER = re.compile(r"(?![. ])[^/\\\x00-\x1f]{1,100}(?<! )")
PositiveInt: TypeAlias = Annotated[int, Range(least=1)]
Size: TypeAlias = Annotated[int, Range(least=0)]
Whole: TypeAlias = Annotated[int, Range(least=-inf)]
PositiveRational: TypeAlias = Annotated[Fraction, Range(above=0)]
Positive: TypeAlias = Annotated[float, Range(above=0)]


class Codec:
    """Reads values by their types; `readers` know the types that depend on more than the file.

    The reader of a union's member is given the member's own table.
    """

    def __init__(self, readers: Mapping[object, ReadAt] | None = None) -> None:
        self._readers: Mapping[object, ReadAt] = {**_READERS, **(readers or {})}

    def knowing(self, readers: Mapping[object, ReadAt]) -> "Codec":
        """Return a codec that reads some types so, and the others as this one does."""
        return Codec({**self._readers, **readers})

    def record(self, kind: type[Made], table: Fields, **given: object) -> Made:
        """Read a dataclass from keys of a table; the fields that are `given` do not stand there.

        A key may be left out only where its field has a default.
        """
        found = dict(given)
        for field, key, hint in _layout(kind):
            if field.name not in given and (table.has(key) or not _has_default(field)):
                found[field.name] = self._value(hint, table, key)
        with about(table.where):
            return kind(**found)

    def whole(self, kind: type[Made], table: Fields, **given: object) -> Made:
        """Read a dataclass of which nothing may be left out, defaults or not."""
        for field, key, _ in _layout(kind):
            if field.name not in given:
                table.value(key)
        return self.record(kind, table, **given)

    def part(self, kind: type[Made], parent: Fields, key: str, **given: object) -> Made:
        """Read a dataclass from the table at `key`, to its last key."""
        with reading_part(parent, key) as table:
            return self.record(kind, table, **given)

    def value(self, kind: type[Made], table: Fields, key: str) -> Made:
        """Read the value at `key`, which may be of any annotation."""
        return trust("Made", self._value(kind, table, key))

    def _value(self, hint: object, table: Fields, key: str) -> object:
        if hint in self._readers:
            return self._readers[hint](table, key)
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Annotated:
            return self._bounded(arguments[0], arguments[1:], table, key)
        if origin in (Union, UnionType):
            return self._member(arguments, table, key)
        if origin is tuple:
            return self._tuple(arguments, table, key)
        if origin is Mapping:
            with reading_part(table, key) as part:
                return {name: self._value(arguments[1], part, name) for name in part.keys()}  # noqa: SIM118  # Fields is not a mapping
        return self._plain(trust("type[object]", hint), table, key)

    def _plain(self, kind: type[object], table: Fields, key: str) -> object:
        if issubclass(kind, StrEnum):
            return table.choice(key, kind)
        if is_dataclass(kind):
            return self.part(kind, table, key)
        raise TypeError(f"{table.path(key)} is to be a {kind}, which the codec does not read")

    def _bounded(self, hint: object, notes: tuple[object, ...], table: Fields, key: str) -> object:
        bounds = next((note for note in notes if isinstance(note, Range)), None)
        if bounds is None:
            return self._value(hint, table, key)
        if hint is Fraction:
            return self.positive(table, key)
        if hint is int:
            number = table.integer(key, least=0 if bounds.least is None else bounds.least)
        else:
            number = table.number(key, above=bounds.above)
        bounds.refuse_outside(number, table.path(key))
        return number

    @staticmethod
    def positive(table: Fields, key: str) -> Fraction:
        """Read a rational; of those only a positive one is ever bounded."""
        found = table.rational(key)
        if found <= 0:
            raise InputError(f"{table.path(key)} is {found}, want a positive rational such as 1/100")
        return found

    def _member(self, members: tuple[object, ...], table: Fields, key: str) -> object:
        """Read a value that may be null, or the member of a closed union that its tag names."""
        chosen = [member for member in members if member is not NoneType]
        if len(chosen) < len(members) and table.value(key) is None:
            return None
        if len(chosen) == 1:
            return self._value(chosen[0], table, key)
        tagged = {str(getattr(member, "tag")): trust("type[object]", member) for member in chosen}  # noqa: B009  # of an unknown type
        with reading_part(table, key) as part:
            member = tagged[part.one_of(TAG, tagged)]
            return self._readers[member](part, TAG) if member in self._readers else self.record(member, part)

    def _tuple(self, hints: tuple[object, ...], table: Fields, key: str) -> tuple[object, ...]:
        count = len(table.items(key))
        if Ellipsis not in hints and count != len(hints):
            raise InputError(f"{table.path(key)} has {count} entries, want {len(hints)} entries")
        if hints[0] == Whole or (hints[0] is int and min(table.integers(key), default=0) >= 0):
            return table.integers(key)  # what is usual and may be long
        return tuple(self._value(hints[0], alone(entry, where), "") for entry, where in table.entries(key))


def _folder_name(table: Fields, key: str) -> FolderName:
    text = table.text(key)
    if not _FOLDER.fullmatch(text):
        raise InputError(
            f"{table.path(key)} is {text!r}, want at most 100 signs, no slash or first dot: it names a folder"
        )
    return FolderName(text)


def to_json(value: object) -> Json:
    """Return a value as the JSON that a codec reads back, a dataclass under the keys of its fields.

    What has a `to_json` of its own says itself how it is written.
    """
    match value:
        case None | bool() | int() | float():
            return value
        case Fraction():
            return write_rational(value)
        case str() | Path() | Digest():
            return str(value)
        case Mapping():
            entries = trust("Mapping[object, object]", value).items()
            return {str(key): to_json(entry) for key, entry in entries}
        case tuple() | list():
            return [to_json(entry) for entry in trust("tuple[object, ...]", value)]
        case _:
            own: Callable[[], Json] | None = getattr(value, "to_json", None)
            return record_to_json(value) if own is None else own()


def record_to_json(record: object) -> dict[str, Json]:
    """Return a dataclass as JSON, every field under its key."""
    tag = getattr(record, "tag", None)
    known: dict[str, Json] = {} if tag is None else {TAG: str(tag)}
    return known | {key: to_json(getattr(record, field.name)) for field, key, _ in _layout(type(record))}


@cache
def _layout(kind: type) -> tuple[tuple[Field[object], str, object], ...]:
    """Return every field of a dataclass with its key and its annotation."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple((field, _key(field.name, hints[field.name]), hints[field.name]) for field in fields(kind))


def _key(name: str, hint: object) -> str:
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((note.name for note in notes if isinstance(note, Key)), name)


def _has_default(field: Field[object]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _digest(table: Fields, key: str) -> Digest:
    with about(table.path(key)):
        return Digest(table.text(key))


_READERS: Mapping[object, ReadAt] = {
    str: Fields.text,
    bool: Fields.boolean,
    int: Fields.integer,
    float: lambda fields, key: fields.number(key, above=-inf),
    Fraction: Fields.rational,
    Digest: _digest,
    FolderName: _folder_name,
}
