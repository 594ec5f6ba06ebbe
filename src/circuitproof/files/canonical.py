"""Bytes that mean one thing: canonical JSON, SHA-256 digests, and files that appear whole or not at all."""

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from circuitproof.errors import DeclarationError, InputError, OutputError

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

MANIFEST = "manifest.json"
"""The file of a sealed folder: it lists every other with its digest."""

_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, order=True)
class Digest:
    """A SHA-256 digest, known to be well formed."""

    hexadecimal: str

    def __post_init__(self) -> None:
        if not _SHA256.fullmatch(self.hexadecimal):
            raise DeclarationError(
                f"{self.hexadecimal!r} is not a SHA-256 digest: want 64 lower-case hex digits"
            )

    def __str__(self) -> str:
        return self.hexadecimal


def digest_bytes(content: bytes | memoryview) -> Digest:
    return Digest(hashlib.sha256(content).hexdigest())


def digest_json(value: Json) -> Digest:
    return digest_bytes(canonical_json(value))


def digest_together(*parts: Digest) -> Digest:
    """Return the digest of several digests in order."""
    return digest_json([str(part) for part in parts])


@contextmanager
def reading_file(path: Path) -> Generator[None, None, None]:
    """Say plainly that a file cannot be read; a pipe or a device, which may never end, is not even tried."""
    if "\0" in str(path):
        raise InputError(f"cannot read {str(path)!r}: no file has such a name")
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise InputError(f"cannot read {path}: it is not a regular file; give one")
        yield
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def digest_file(path: Path) -> Digest:
    """Return the digest of a file, read in pieces."""
    with reading_file(path), path.open("rb") as file:
        return Digest(hashlib.file_digest(file, "sha256").hexdigest())


def canonical_json(value: Json) -> bytes:
    """Return the only bytes that stand for `value`: sorted keys, no spaces, UTF-8, no floats.

    Floats are refused because their decimal spelling is a matter of taste; write a rational as "22/5".

    >>> canonical_json({"b": [1, True], "a": "é"}).decode()
    '{"a":"é","b":[1,true]}'
    """
    if _has_float(value):
        _refuse_floats(value, "value")
    return _encode(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False))


def readable_json(value: Json) -> bytes:
    """Return indented JSON for people, floats allowed if they are numbers, ending in a newline."""
    return _encode(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def write_file(path: Path, content: bytes) -> None:
    """Write a file so that a reader, or a kill at any moment, sees the old content or the new, no part."""
    write_parts(path, (content,))


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file part by part, as `write_file` does; what is written need not fit in memory at once."""
    refuse_sealed(path)
    with _telling_of(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(parts)
                file.flush()
                _flush(file.fileno())
            temporary.chmod(0o644)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        _flush_directory(path.parent)


def write_files(files: Mapping[Path, bytes]) -> None:
    """Write new files that belong together, in order; where one cannot be written, none is left."""
    try:
        for path, content in files.items():
            write_file(path, content)
    except OutputError:
        for path in files:
            path.unlink(missing_ok=True)
        raise


def write_directory(path: Path, fill: Callable[[Path], None]) -> None:
    """Let `fill` write a new directory and make it appear at `path` whole, or not at all.

    A directory that is already there is an error: nothing is overwritten.
    """
    refuse_existing(path)
    with _telling_of(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
        try:
            fill(temporary)
            temporary.chmod(0o755)
            _flush_directory(temporary)
            refuse_existing(path)
            temporary.rename(path)
        except OutputError as error:
            raise OutputError(str(error).replace(str(temporary), str(path))) from error
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        _flush_directory(path.parent)


def refuse_existing(*paths: Path | None) -> None:
    """Refuse, before any work, to write what is there or where nothing can be; no path is no matter."""
    for path in filter(None, paths):
        if os.path.lexists(path) or os.path.lexists(os.path.realpath(path)):
            raise InputError(f"{path} already exists; remove it or choose another place")
        refuse_unwritable(path)


def refuse_file(folder: Path) -> None:
    """Refuse a file where a folder is wanted."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file, want a folder; choose another place")


def refuse_unwritable(path: Path) -> None:
    """Try to write where a path is to be, in the nearest folder that is there, which must not be sealed."""
    refuse_sealed(path)
    nearest = nearest_folder(path)
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {nearest}: {error.strerror}; choose another place"
        ) from error


def refuse_sealed(path: Path) -> None:
    """Refuse to write into a sealed folder, at any depth: it holds what its manifest lists and no more."""
    inside = Path(os.path.realpath(path.parent))
    for folder in (inside, *inside.parents):
        if os.path.lexists(folder / MANIFEST):
            raise InputError(
                f"{path} cannot be written: {folder} is sealed by its {MANIFEST}; choose another place"
            )


@contextmanager
def _telling_of(path: Path) -> Generator[None, None, None]:
    """Say which file a disk that is full, or not there any more, does not take."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{path} cannot be written: {error.strerror or error}; choose another place"
        ) from error


def nearest_folder(path: Path) -> Path:
    """Return the nearest folder above a path that is there."""
    return next(folder for folder in path.absolute().parents if os.path.lexists(folder))


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        half = text[error.start]
        raise DeclarationError(
            f"{half!r} is half a character, which UTF-8 cannot hold; mend the text"
        ) from error


def _has_float(value: Json) -> bool:
    """Say whether there is something to refuse, without the words of where each part stands."""
    if isinstance(value, str):
        return False
    if isinstance(value, dict):
        return any(map(_has_float, value.values()))
    return any(map(_has_float, value)) if isinstance(value, list) else isinstance(value, float)


def _refuse_floats(value: Json, where: str) -> None:
    if isinstance(value, float):
        raise DeclarationError(
            f"{where} is the float {value!r}; write it as an integer or a rational in a string"
        )
    if isinstance(value, dict):
        for key, item in value.items():
            _refuse_floats(item, f"{where}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _refuse_floats(item, f"{where}[{index}]")


def _flush(descriptor: int) -> None:
    os.fsync(descriptor)


def _flush_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        _flush(descriptor)
    finally:
        os.close(descriptor)
