"""Where texts come from: files, the running Python's own sources and manual, or a named dataset."""

import platform
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, assert_never

from circuitproof.errors import InputError
from circuitproof.files.canonical import Digest, digest_bytes
from circuitproof.files.reading import read_bytes

_SHARES = 20
"""One document in so many is for development, and one is held out."""
_NO_SOURCES = ("test", "tests", "idle_test", "site-packages", "__pycache__", "pydoc_data")
"""Folders of the standard library that are not trained on: tests, other packages, and the manual."""


class DocumentUse(StrEnum):
    """What a document is for."""

    TRAIN = "train"
    DEVELOPMENT = "development"
    HELD_OUT = "held-out"
    SECOND = "second"
    """Another corpus, on which nothing is ever trained."""


@dataclass(frozen=True, slots=True)
class Document:
    """One text; its name decides which part it belongs to, whatever else there is."""

    name: str
    text: str

    @property
    def digest(self) -> Digest:
        return digest_bytes(self.text.encode())

    @property
    def part(self) -> DocumentUse:
        """Return the part of its corpus to which it belongs."""
        share = int(str(digest_bytes(self.name.encode()))[:8], 16) % _SHARES
        return {0: DocumentUse.HELD_OUT, 1: DocumentUse.DEVELOPMENT}.get(share, DocumentUse.TRAIN)


@dataclass(frozen=True, slots=True)
class Files:
    """The files below a folder that match a pattern such as `**/*.md`."""

    tag: ClassVar[str] = "files"
    root: Path
    patterns: tuple[str, ...]
    without: tuple[str, ...] = ()
    """Names of folders whose files are left out."""


@dataclass(frozen=True, slots=True)
class StandardLibrary:
    """The sources of the running Python's standard library."""

    tag: ClassVar[str] = "standard library"


@dataclass(frozen=True, slots=True)
class PythonManual:
    """The chapters of the language's manual that the running Python prints as help."""

    tag: ClassVar[str] = "python manual"


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset of Hugging Face, by its name there."""

    tag: ClassVar[str] = "dataset"
    name: str
    config: str | None = None
    split: str = "train"
    column: str = "text"
    revision: str | None = None


Text: TypeAlias = Files | StandardLibrary | PythonManual | Dataset


def documents(text: Text) -> Iterator[Document]:
    """Return the documents that hold any text, always in the same order."""
    match text:
        case Files():
            found = _files(text)
        case StandardLibrary():
            root = Path(sysconfig.get_paths()["stdlib"])
            found = _files(Files(root, ("**/*.py",), _NO_SOURCES))
        case PythonManual():
            found = _chapters()
        case Dataset():
            found = _rows(text)
        case _:
            assert_never(text)
    return (document for document in found if document.text.strip())


def python_of(text: Text) -> str | None:
    """Return the version of Python that a text belongs to, where it is Python's own."""
    return platform.python_version() if isinstance(text, StandardLibrary | PythonManual) else None


def _files(files: Files) -> Iterator[Document]:
    paths = sorted({path for pattern in files.patterns for path in _matching(files.root, pattern)})
    names = {path: path.relative_to(files.root) for path in paths}
    kept = [path for path, name in names.items() if not set(name.parts[:-1]) & set(files.without)]
    if not kept:
        raise InputError(f"no file below {files.root} matches {', '.join(files.patterns)}")
    return (Document(names[path].as_posix(), read_bytes(path).decode(errors="replace")) for path in kept)


def _matching(root: Path, pattern: str) -> list[Path]:
    try:
        return [path for path in root.glob(pattern) if path.is_file()]
    except (ValueError, NotImplementedError) as error:
        raise InputError(f"{pattern!r} is not a usable pattern below {root}: {error}") from error


def _chapters() -> Iterator[Document]:
    try:
        from pydoc_data.topics import topics
    except ImportError as error:
        raise InputError("this Python comes without its manual (pydoc_data); name files instead") from error
    return (Document(name, text) for name, text in sorted(topics.items()))


def _rows(dataset: Dataset) -> Iterator[Document]:
    rows = _load_dataset(dataset)
    if dataset.column not in rows.column_names:
        columns = ", ".join(rows.column_names)
        raise InputError(f"dataset {dataset.name} has no column {dataset.column!r}, it has {columns}")
    return (Document(f"{dataset.name}/{row}", str(rows[row][dataset.column])) for row in range(len(rows)))


def _load_dataset(dataset: Dataset) -> Any:  # noqa: ANN401  # the package is optional, so its type is not at hand
    try:
        from datasets import load_dataset  # pyright: ignore[reportMissingImports, reportUnknownVariableType]  # optional
    except ImportError as error:
        raise InputError(
            f"dataset {dataset.name} needs the package datasets; install the gpt2 extra, or name files"
        ) from error
    try:
        return load_dataset(dataset.name, dataset.config, split=dataset.split, revision=dataset.revision)
    except (OSError, ValueError) as error:  # no network, no such dataset, no such split
        raise InputError(f"dataset {dataset.name} cannot be had: {error}") from error
