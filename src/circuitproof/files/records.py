"""Records on disk: a dataclass as a JSON file, read back by its annotations to its last key."""

from pathlib import Path
from typing import TypeVar

from circuitproof.files.canonical import readable_json, write_file
from circuitproof.files.codec import Codec, to_json
from circuitproof.files.reading import read_json, reading

Made = TypeVar("Made")


def write_record(path: Path, record: object) -> None:
    """Write a dataclass, or whatever has a JSON form of its own, as JSON for people and whoever reads it."""
    write_file(path, readable_json(to_json(record)))


def read_record(path: Path, kind: type[Made]) -> Made:
    """Read a dataclass that `write_record` wrote."""
    with reading(read_json(path), str(path)) as fields:
        return Codec().record(kind, fields)
