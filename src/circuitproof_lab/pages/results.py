"""A page of results filled from records, so that no number in it is older than its record.

A field of the template such as `{{toy/localisation.json: tasks[name=quotes].edges; count; d}}` names a record
below the folder of evidence, a path in it, and how it is shown. After `{{pending ` the record may be missing
yet, which is said in its place.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import exp
from pathlib import Path
from statistics import median
from typing import cast

from circuitproof.errors import InputError
from circuitproof.files.canonical import Json
from circuitproof.files.reading import read_bytes, read_json

TEMPLATE = "results.in.md"
NO_RECORD = "(no record yet)"
_FIELD = re.compile(r"\{\{(?P<pending>pending )?(?P<file>[^:{}]+):(?P<rest>[^{}]*)\}\}")
_STEP = re.compile(r"\.?(?P<key>[^.\[\]]+)|\[(?P<within>[^\]]*)\]")
_WRITTEN_OUT = re.compile(r"[{}]{2}")

_EXPONENT = re.compile(r"e([-+])0*(\d)")
_RATIONAL = re.compile(r"-?\d+(/[1-9]\d*)?")
_MINUS = "\N{MINUS SIGN}"
_COUNT, _LIST = "count", "list"
_WORDS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "least": min,
    "most": max,
    "median": median,
    "sum": sum,
}
"""What becomes of several numbers."""
_KNOWN = ", ".join((*_WORDS, _COUNT, _LIST))


@dataclass(frozen=True, slots=True)
class ResultsPage:
    """A page of results, how many fields it has, and of how many the record is missing yet."""

    text: str
    fields: int
    pending: int


def results_page(evidence: Path) -> ResultsPage:
    """Return the page of a folder of records, which holds its template."""
    template = read_bytes(evidence / TEMPLATE).decode()
    text = filled(template, evidence)
    return ResultsPage(text, len(_FIELD.findall(template)), text.count(NO_RECORD))


def filled(template: str, evidence: Path) -> str:
    """Return a page whose fields are what the records in a folder say; whatever does not fit is refused."""
    made = _FIELD.sub(lambda field: _value(field, evidence), template)
    if (left := _WRITTEN_OUT.search(made)) is not None:
        line = made[: left.start()].count("\n") + 1
        raise InputError(
            f"line {line} has {left[0]!r} that belongs to no field; write {{{{FILE: PATH; FORMAT}}}}"
        )
    return made


def _value(field: re.Match[str], evidence: Path) -> str:
    file = evidence / field["file"].strip()
    if field["pending"] and not file.is_file():
        return NO_RECORD
    path, *words = (part.strip() for part in field["rest"].split(";"))
    try:
        return _shown(_followed(cast("Json", read_json(file)), path), words)
    except InputError as error:
        line = field.string[: field.start()].count("\n") + 1
        raise InputError(f"line {line}, {field[0]}: {error}") from error


def _followed(value: Json, path: str) -> Sequence[Json]:
    """Return what stands at a path: one value, or all of them where the path has a star."""
    found: Sequence[Json] = (value,)
    place = 0
    while place < len(path):
        step = _STEP.match(path, place)
        if step is None:
            raise InputError(f"the path {path!r} cannot be read from {path[place:]!r} on")
        found = tuple(one for each in found for one in _step(each, step))
        if not found:
            raise InputError(f"there is no {step[0]!r}; look into the record and mend the path")
        place = step.end()
    return found


def _step(value: Json, step: re.Match[str]) -> Sequence[Json]:
    """Return what a step of a path leads to: a key, a place, all entries, or those whose key has a value."""
    key, within = step["key"], step["within"]
    entries = tuple(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ()
    if key is not None and isinstance(value, dict) and key in value:
        return [value[key]]
    if within == "*" and entries:
        return entries
    if within is not None and within.isdecimal() and int(within) < len(entries):
        return [entries[int(within)]]
    name, sign, wanted = (within or "").partition("=")
    asked = [value] if isinstance(value, dict) and name in value else entries
    return [one for one in asked if sign and isinstance(one, dict) and str(one.get(name)) == wanted]


def _shown(found: Sequence[Json], words: Sequence[str]) -> str:
    """Return values as they are shown: taken together by a word, changed by `exp`, written by a format."""
    values = found[0] if len(found) == 1 and isinstance(found[0], list) else found
    for place, word in enumerate(words):
        if word in _WORDS:
            values = (_WORDS[word]([*map(_number, values)]),)
        elif word == _COUNT:
            values = (len(values),)
        elif word == _LIST or word.startswith(f"{_LIST} "):
            return ", ".join(_written(one, word.removeprefix(_LIST).strip()) for one in values)
        elif word == "exp":
            values = tuple(exp(_number(one)) for one in values)
        elif place == len(words) - 1:
            return _written(_single(values), word)
        else:
            raise InputError(f"{word!r} is not known before a format; known are {_KNOWN}, exp")
    return _written(_single(values), "")


def _single(values: Sequence[Json]) -> Json:
    if len(values) != 1:
        raise InputError(f"there are {len(values)} values, want one; take them together: {_KNOWN}")
    return values[0]


def _number(value: object) -> float:
    """Return a number that was read from a file, maybe a rational in a string, or computed here."""
    if isinstance(value, str) and _RATIONAL.fullmatch(value):
        return float(Fraction(value))
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise InputError(f"{value!r} is no number")
    return float(value) if isinstance(value, Decimal) else value


def _written(value: Json, form: str) -> str:
    if isinstance(value, str) and not form:
        return value
    number = _number(value)
    try:
        written = format(number, form or ",")
    except ValueError as error:
        raise InputError(f"{form!r} is no format of {number!r}; write such as .4f, .1e, + or ','") from error
    short = _EXPONENT.sub(r"e\1\2", "0" if form.endswith("e") and not number else written)
    return short.replace("-", _MINUS, 1) if short.startswith("-") else short
