"""Strict reading: the one function that states rules, JSON values of the wanted type, sealed directories."""

import hashlib
import heapq
import json
import os
import re
import stat
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO, cast

from .work import MOST_BYTES, MOST_DIGITS, MOST_JSON, MOST_LISTED, NUMBER, STEP, bound, paid, spend

MANIFEST = "manifest.json"
_RATIONAL = re.compile(r"-?[0-9]+(/0*[1-9][0-9]*)?")
_PLAIN = re.compile(r"[\w./:@%+~-]{1,120}", re.ASCII)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SHOWN = 60
_SHOWN_BITS = 96
_SHOWN_NAME = 40
_SHOWN_PLACE = 200
_LISTED = 8
_FOUND = 4
_WHOLE_DIGITS = 18
"""Such integers are less than 2^61 - 1: no two have the same hash."""
CHUNK = 1 << 20
DIGESTED = 5
"""A digest of 2 to this power bytes is an operation."""
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class UnreadableError(Exception):
    """The directory cannot be read at all, so there is nothing to judge."""


class ForgedError(Exception):
    """A rule of the format is broken."""


def require(rule: str, condition: object, where: str, *found: object) -> None:
    """Refuse what is judged unless the condition holds.

    Every rule is one call of this function, under a name of its own that says the rule: the tests take away
    each in turn and show a forgery that then passes.
    """
    if not condition:
        shown = f": found {', '.join(map(show, found[:_FOUND]))}" if found else ""
        place = cut(where, _SHOWN_PLACE)
        raise ForgedError(f"{place} breaks the rule that {rule.replace('_', ' ')}{shown}")


def cut(words: str, most: int) -> str:
    """Return so many characters at most, and dots where some are left out; no string in quotes is torn."""
    if len(words) <= most:
        return words
    kept = words[: most - 3]
    torn = _STRING.sub(lambda whole: "x" * len(whole[0]), kept).find('"')
    return f"{kept if torn < 0 else kept[:torn]}..."


def quoted(name: str, most: int = _SHOWN_NAME) -> str:
    """Return an untrusted string as JSON spells it, in ASCII; dots behind the quote say that it was cut."""
    letters = _spelled(name[:most], most)
    return f'"{"".join(letters)}"' + ("" if len(letters) == len(name) else "...")


def quoted_path(path: Path, most: int) -> str:
    """Return a path in the same way; a long one is cut at its beginning: its end tells it from others."""
    spelled = str(path)
    letters = _spelled(spelled[-most:][::-1], most)
    return ("" if len(letters) == len(spelled) else "...") + f'"{"".join(reversed(letters))}"'


def _spelled(letters: str, most: int) -> list[str]:
    """Return the first letters as JSON spells each, as many as are so long together."""
    found = [json.dumps(letter)[1:-1].replace("\x7f", "\\u007f") for letter in letters]
    while sum(map(len, found)) > most:
        found.pop()
    return found


def named(name: object) -> str:
    """Return a path or a name as it is if it cannot be taken for words of a sentence, otherwise in quotes."""
    spelled = str(name)
    return spelled if _PLAIN.fullmatch(spelled) else quoted(spelled, 120)


def show(value: object) -> str:
    """Return enough of a value to recognise it in a sentence."""
    match value:
        case str():
            return quoted(value)
        case int() | Fraction():
            bits = max(value.numerator.bit_length(), value.denominator.bit_length())
            return str(value) if bits <= _SHOWN_BITS else f"a number of {bits} bits"
        case dict():
            return f"{{{_listed(cast('dict[str, object]', value))}}}"
        case set() | frozenset():
            first = heapq.nsmallest(_LISTED + 1, cast("Iterable[object]", value), key=str)
            return f"({_listed(first)})"
        case tuple() | list():
            return f"({_listed(cast('Iterable[object]', value))})"
        case None | float():
            return repr(value)
        case _:
            return named(value)


def _listed(entries: Iterable[object]) -> str:
    """Return the first entries, as many as are short together."""
    shown: list[str] = []
    for entry in entries:
        if len(shown) == _LISTED or sum(map(len, shown)) > _SHOWN:
            return f"{', '.join(shown)}, ..."
        shown.append(show(entry))
    return ", ".join(shown)


def parse_json(content: bytes, where: str) -> object:
    """Return the JSON value in the bytes of a file."""

    def unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
        keys = [key for key, _ in pairs]
        require("keys_are_unique", len(set(keys)) == len(keys), where, keys)
        return dict(pairs)

    def no_constant(name: str) -> None:
        require("constants_are_absent", name not in ("NaN", "Infinity", "-Infinity"), where, name)

    def whole(digits: str) -> int:
        bound(len(digits), _WHOLE_DIGITS, f"the number of digits of an integer in {where}")
        return int(digits)

    spend(STEP * len(content))
    if b"\0" in content:
        raise ForgedError(f"{where} is not JSON: it has a byte that is zero")
    try:
        return json.loads(
            content.decode(), object_pairs_hook=unique_keys, parse_constant=no_constant, parse_int=whole
        )
    except ValueError as error:
        raise ForgedError(f"{where} is not JSON: {error}") from error


def fields(value: object, where: str, *names: str) -> tuple[object, ...]:
    content = mapping(value, where)
    strange = content.keys() ^ set(names)
    require("keys_are_the_named", not strange, where, strange, names)
    return tuple(content[name] for name in names)


def mapping(value: object, where: str) -> dict[str, object]:
    """Return an object with any keys, paid for."""
    require("objects_are_objects", isinstance(value, dict), where, value)
    return paid(cast("dict[str, object]", value), NUMBER)


def kind(value: object, where: str) -> object:
    """Return the kind of an object whose other keys depend on it."""
    return mapping(value, where).get("kind")


def items(value: object, where: str) -> list[object]:
    """Return the entries of a list, paid for."""
    require("lists_are_lists", isinstance(value, list), where, value)
    return paid(cast("list[object]", value), NUMBER)


def text(value: object, where: str) -> str:
    require("strings_are_strings", isinstance(value, str), where, value)
    return cast("str", value)


def boolean(value: object, where: str) -> bool:
    require("booleans_are_booleans", isinstance(value, bool), where, value)
    return cast("bool", value)


def integer(value: object, where: str, least: int | None = None, most: int | None = None) -> int:
    """Return an integer between bounds that may be left open."""
    require("integers_are_integers", isinstance(value, int) and not isinstance(value, bool), where, value)
    number = cast("int", value)
    is_within = (least is None or number >= least) and (most is None or number <= most)
    require("integers_are_in_range", is_within, where, number, least, most)
    return number


def integers(value: object, where: str, least: int | None = None) -> tuple[int, ...]:
    """Return a list of integers that are at least `least`."""
    return tuple(integer(entry, where, least) for entry in items(value, where))


def rational(value: object, where: str) -> Fraction:
    """Return the number of a string "p" or "p/q"."""
    spelled = text(value, where)
    require("rationals_are_rationals", _RATIONAL.fullmatch(spelled), where, spelled)
    bound(len(spelled), MOST_DIGITS, f"{where}: the number of digits")
    spend(NUMBER + (len(spelled) ** 2 >> 13))
    numerator, _, denominator = spelled.partition("/")
    return Fraction(int(numerator), int(denominator or 1))


def rationals(value: object, where: str) -> tuple[Fraction, ...]:
    return tuple(rational(entry, where) for entry in items(value, where))


def canonical(value: object) -> str:
    """Return a value as its digest is made of, in which `true` and 1.0 are not 1."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Streamed:
    """A file that is read from its start to its end, a part at a time, and digested on the way."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._digest = file, hashlib.sha256()
        self.size = size

    def read(self, count: int) -> bytes:
        """Return so many further bytes, which must be there."""
        spend(count >> DIGESTED)
        content = self._file.read(count)
        if len(content) != count:
            raise UnreadableError("a file became shorter while it was read")
        self._digest.update(content)
        return content

    def digest(self) -> str:
        """Read what is left, and return the digest of the whole."""
        while chunk := self._file.read(CHUNK):
            spend(len(chunk) >> DIGESTED)
            self._digest.update(chunk)
        return self._digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Sealed:
    """A directory whose files have the digests that its manifest lists."""

    directory: Path
    digests: dict[str, str]

    def size(self, name: str) -> int:
        """Return how many bytes a file has."""
        return (self.directory / name).lstat().st_size

    def read(self, name: str, most: int = MOST_JSON) -> bytes:
        """Return the bytes of a file, of which there may be so many."""
        content = read_file(self.directory / name, most)
        self._compare(name, sha256(content))
        return content

    def check(self, name: str) -> None:
        """Demand that a file that is not read further has its digest."""
        with self.streamed(name, MOST_BYTES):
            pass

    @contextmanager
    def streamed(self, name: str, most: int) -> Generator[Streamed, None, None]:
        """Open a file of at most so many bytes, to be read in parts; at the end its digest is compared."""
        with _opened(self.directory / name, most) as (file, size):
            content = Streamed(file, size)
            yield content
            self._compare(name, content.digest())

    def _compare(self, name: str, found: str) -> None:
        is_listed = found == self.digests[name]
        require("files_have_their_digests", is_listed, named(self.directory / MANIFEST), name)


def open_sealed(directory: Path) -> Sealed:
    """Return a directory all of whose listed files are there."""
    digests, where = _read_manifest(directory), named(directory / MANIFEST)
    for name in digests:
        is_here = Path(name).name == name not in ("", "..") and os.path.lexists(directory / name)
        require("listed_files_are_here", is_here, where, name)
    require("manifests_list_files", digests, where)
    return Sealed(directory, digests)


def read_file(path: Path, most: int = MOST_JSON) -> bytes:
    """Return the bytes of a regular file, of which there may be so many."""
    with _opened(path, most) as (file, size):
        return file.read(size)


@contextmanager
def _opened(path: Path, most: int) -> Generator[tuple[BinaryIO, int], None, None]:
    """Open a regular file, which is not reached through a link, of at most so many bytes."""
    handle = os.open(path, os.O_RDONLY | _NO_LINK)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError(f"{named(path)} is not a regular file")
        bound(status.st_size, most, f"the size of {named(path)}")
        yield file, status.st_size


def _read_manifest(directory: Path) -> dict[str, str]:
    path = directory / MANIFEST
    if not directory.is_dir():
        raise UnreadableError(f"{named(directory)} is not a directory, want one with a {MANIFEST}")
    if not os.path.lexists(path):
        raise UnreadableError(f"{named(directory)} has no {MANIFEST}, want a sealed directory")
    try:
        (files,) = fields(parse_json(read_file(path, MOST_LISTED), path.name), path.name, "files")
        return {name: text(digest, named(name)) for name, digest in mapping(files, path.name).items()}
    except OSError as error:
        raise UnreadableError(f"{named(path)} cannot be read: {error.strerror}") from error
    except ForgedError as error:
        raise UnreadableError(f"{named(path)} is not a manifest: {error}") from error
