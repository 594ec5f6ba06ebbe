"""A corpus as tokens: read once, split by document, pinned by digests, mapped into memory from then on."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from circuitproof.errors import InputError
from circuitproof.files.canonical import (
    Digest,
    digest_file,
    digest_together,
    readable_json,
    write_directory,
    write_file,
)
from circuitproof.files.codec import PositiveInt, to_json
from circuitproof.files.reading import read_bytes
from circuitproof.files.records import read_record
from circuitproof.files.sealed import check_seal, seal
from circuitproof.models.tokenizer import FileTokenizer
from circuitproof_lab.train.corpus import (
    Dataset,
    Document,
    DocumentUse,
    PythonManual,
    StandardLibrary,
    Text,
    documents,
    python_of,
)
from circuitproof_lab.train.tokenizer import gpt2_tokenizer, train_byte_pairs

CORPUS = "corpus.json"
TOKENIZER = "tokenizer.json"
_TOKEN = np.dtype("<u2")
_MOST_TOKENS = 1 << 16

TokenArray: TypeAlias = NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class ByteTokens:
    """Every byte is a token."""

    tag: ClassVar[str] = "bytes"


@dataclass(frozen=True, slots=True)
class BytePairs:
    """Byte-level byte pairs that are learned from the part to train on."""

    tag: ClassVar[str] = "byte pairs"
    vocabulary: PositiveInt


@dataclass(frozen=True, slots=True)
class TokenizerFile:
    """A Hugging Face `tokenizer.json`."""

    tag: ClassVar[str] = "file"
    path: Path


@dataclass(frozen=True, slots=True)
class Gpt2Tokens:
    """GPT-2's own byte pairs."""

    tag: ClassVar[str] = "gpt2"


Tokenizer: TypeAlias = ByteTokens | BytePairs | TokenizerFile | Gpt2Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusSource:
    """Train on windows of a corpus; measure on parts of it that are kept apart, and on a second one."""

    tag: ClassVar[str] = "corpus"
    tokenizer: Tokenizer
    batch: PositiveInt
    text: Text = field(default_factory=StandardLibrary)
    second: Text = field(default_factory=PythonManual)

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the files that a recipe's digest covers; the texts are pinned in the run, one by one."""
        return (self.tokenizer.path,) if isinstance(self.tokenizer, TokenizerFile) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What a tokenised corpus was made from, and what came of it."""

    python: str | None
    """The version of the Python whose own texts these are."""
    text: Mapping[str, Digest]
    second: Mapping[str, Digest]
    tokenizer: Digest | None
    tokens: Mapping[str, int]
    """How many tokens each part has."""


@dataclass(frozen=True, slots=True)
class TokenisedCorpus:
    """A finished folder of tokens."""

    folder: Path
    corpus: Corpus

    def part(self, part: DocumentUse) -> TokenArray:
        """Return the tokens of a part, which stay on the disk until they are looked at."""
        return np.memmap(self.folder / _file(part), _TOKEN, mode="r")

    @property
    def tokenizer(self) -> FileTokenizer | None:
        """Return the tokenizer, unless tokens are bytes."""
        return None if self.corpus.tokenizer is None else FileTokenizer(self.folder / TOKENIZER)

    @property
    def files(self) -> Mapping[str, bytes]:
        """Return what is kept beside a model that was trained on it."""
        names = (CORPUS,) if self.corpus.tokenizer is None else (CORPUS, TOKENIZER)
        return {name: read_bytes(self.folder / name) for name in names}


def open_corpus(source: CorpusSource, folder: Path) -> TokenisedCorpus:
    """Return the corpus of a source from `folder`, where it is made first if it is not there.

    The texts are read again and compared with what was pinned, but for a named dataset: its tokens are here.
    """
    if not folder.exists():
        write_directory(folder, partial(_prepare, source))
    check_seal(folder, frozenset({CORPUS, *map(_file, DocumentUse)}))
    corpus = read_record(folder / CORPUS, Corpus)
    _refuse_changed(source.text, corpus.text, folder, corpus.python)
    _refuse_changed(source.second, corpus.second, folder, corpus.python)
    return TokenisedCorpus(folder, corpus)


def _prepare(source: CorpusSource, folder: Path) -> None:
    tokenizer = _write_tokenizer(source, folder / TOKENIZER)
    text, second = _pins(source.text), _pins(source.second)
    if common := set(text.values()) & set(second.values()):
        name = next(name for name, digest in second.items() if digest in common)
        raise InputError(f"{name} of the second corpus is also in the first; leave it out of one of them")
    corpus = Corpus(
        python=python_of(source.text) or python_of(source.second),
        text=text,
        second=second,
        tokenizer=None if tokenizer is None else digest_file(folder / TOKENIZER),
        tokens={part: _write_part(source, part, tokenizer, folder / _file(part)) for part in DocumentUse},
    )
    write_file(folder / CORPUS, readable_json(to_json(corpus)))
    seal(folder)


def _write_part(source: CorpusSource, part: DocumentUse, tokenizer: FileTokenizer | None, path: Path) -> int:
    """Write the tokens of a part one document after the other, and return how many there are."""
    total = 0
    with path.open("wb") as file:
        for document in _documents_of(source, part):
            tokens = document.text.encode() if tokenizer is None else tokenizer.encode_document(document.text)
            np.array(list(tokens), _TOKEN).tofile(file)
            total += len(tokens)
    if not total:
        raise InputError(f"the {part} part of the corpus has no tokens; give it more documents")
    return total


def _documents_of(source: CorpusSource, part: DocumentUse) -> Iterator[Document]:
    if part is DocumentUse.SECOND:
        return documents(source.second)
    return (document for document in documents(source.text) if document.part is part)


def _write_tokenizer(source: CorpusSource, path: Path) -> FileTokenizer | None:
    """Write the tokenizer to where it is kept, and return it from there; bytes need none."""
    match source.tokenizer:
        case ByteTokens():
            return None
        case BytePairs(vocabulary):
            texts = (document.text for document in _documents_of(source, DocumentUse.TRAIN))
            content = train_byte_pairs(texts, vocabulary)
        case TokenizerFile(given):
            content = FileTokenizer(given).content
        case Gpt2Tokens():
            content = gpt2_tokenizer().content
        case _:
            assert_never(source.tokenizer)
    write_file(path, content)
    found = FileTokenizer(path)
    if len(found.alphabet) > _MOST_TOKENS:
        raise InputError(f"the tokenizer has {len(found.alphabet)} tokens, want at most {_MOST_TOKENS}")
    return found


def _pins(text: Text) -> Mapping[str, Digest]:
    """Return the digest of every document by its name, and of a named dataset one of them all."""
    pins: dict[str, Digest] = {}
    for document in documents(text):
        name = text.name if isinstance(text, Dataset) else document.name
        pins[name] = digest_together(pins[name], document.digest) if name in pins else document.digest
    return pins


def _refuse_changed(text: Text, pinned: Mapping[str, Digest], folder: Path, python: str | None) -> None:
    """Refuse another text than was pinned; where another Python brings it, say which one is to be had."""
    if isinstance(text, Dataset):
        return
    found = _pins(text)
    if changed := sorted(name for name in {*found, *pinned} if found.get(name) != pinned.get(name)):
        states = {(True, False): "is new", (False, True): "is gone"}
        state = states.get((changed[0] in found, changed[0] in pinned), "has another content")
        differing = f"{changed[0]} {state} ({len(changed)} documents differ)"
        if (here := python_of(text)) is not None and here != python:
            raise InputError(
                f"{folder} holds the corpus that Python {python} brings, and Python {here} brings another: "
                f"{differing}; install Python {python} to go on with it, or begin another run"
            )
        raise InputError(
            f"the corpus has changed since {folder} was made: {differing}; restore it or begin another run"
        )


def _file(part: DocumentUse) -> str:
    return f"{part}.u16"
