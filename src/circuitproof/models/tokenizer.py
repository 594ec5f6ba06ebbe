"""Text through a tokenizer: that of a Hugging Face file, and the one that comes with a model's directory."""

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from circuitproof.errors import InputError
from circuitproof.files.canonical import Digest, digest_bytes
from circuitproof.files.reading import read_bytes
from circuitproof.tasks.alphabet import Alphabet, sparse_alphabet
from circuitproof.tasks.domain import Prompt

SEPARATOR = "<|endoftext|>"
"""The token that stands before every document, where a tokenizer has it."""
TOKENIZER = "tokenizer.json"
"""The file of a model's directory."""
_PAIRS = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))
"""GPT-2's two files, under either pair of names."""


class FileTokenizer:
    """The tokenizer of a `tokenizer.json`, or of a folder that has one or GPT-2's two files."""

    def __init__(self, path: Path) -> None:
        self._path = path
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
    def digest(self) -> Digest:
        return digest_bytes(self.content)

    @property
    def alphabet(self) -> Alphabet:
        """Return the tokens by name, with what reads text; a number that no name has is called by itself."""
        if self._alphabet is None:
            names = {token: name for name, token in self._tokenizer.get_vocab().items()}
            alphabet = sparse_alphabet(max(names) + 1, names)
            self._alphabet = replace(alphabet, encode=TextReader(self._path, alphabet))
        return self._alphabet

    def name(self, token: int) -> str | None:
        """Return what it calls a token."""
        return self._tokenizer.id_to_token(token)


class TextReader:
    """Reads text as a model does, by the tokenizer of a file or directory, opened when it is needed."""

    def __init__(self, path: Path, alphabet: Alphabet) -> None:
        self._path, self._names = path, alphabet.names

    @cached_property
    def _tokenizer(self) -> FileTokenizer:
        return FileTokenizer(self._path)

    @property
    def content(self) -> bytes:
        """Return the tokenizer as the bytes of a file that goes with a model."""
        return self._tokenizer.content

    def __call__(self, text: str) -> Prompt:
        """Return the tokens of a text; a tokenizer that calls one of them otherwise is another model's."""
        tokens = self._tokenizer.encode(text)
        for token in tokens:
            own = self._names[token] if token < len(self._names) else None
            if own != (theirs := self._tokenizer.name(token)):
                raise InputError(
                    f"{self._path}: its tokenizer calls token {token} {theirs!r}, its model {own!r}; "
                    "put the model's own tokenizer there"
                )
        return tokens


def text_reader(directory: Path, alphabet: Alphabet) -> TextReader | None:
    """Return what reads text for a model, if its directory has a tokenizer."""
    files = [(TOKENIZER,), *_PAIRS]
    has_one = any(all((directory / name).is_file() for name in names) for names in files)
    return TextReader(directory, alphabet) if has_one else None


def _load(path: Path) -> Any:  # noqa: ANN401  # the package is optional, so its type is not at hand
    tokenizers = tokenizers_package()
    whole = path / TOKENIZER if path.is_dir() else path
    if path.is_dir() and not whole.exists():
        return _byte_pairs(path)
    content = read_bytes(whole)
    try:
        return tokenizers.Tokenizer.from_buffer(content)
    except Exception as error:  # tokenizers raises nothing narrower
        raise InputError(f"{whole} is not a usable tokenizer: {error}") from error


def _byte_pairs(folder: Path) -> Any:  # noqa: ANN401  # the same
    """Return the byte-level tokenizer of a folder with GPT-2's files, under either pair of names."""
    for vocabulary, merges in _PAIRS:
        if (folder / vocabulary).exists() and (folder / merges).exists():
            files = str(folder / vocabulary), str(folder / merges)
            return byte_level(tokenizers_package().models.BPE.from_file(*files))
    raise InputError(f"{folder} has neither tokenizer.json nor GPT-2's vocab.json and merges.txt")


def byte_level(pairs: Any) -> Any:  # noqa: ANN401  # the same
    """Return the tokenizer of byte pairs that takes texts as they are."""
    tokenizers = tokenizers_package()
    tokenizer = tokenizers.Tokenizer(pairs)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    return tokenizer


def tokenizers_package() -> Any:  # noqa: ANN401  # the same
    """Return the package that reads tokenizers, which is optional."""
    try:
        import tokenizers
    except ImportError as error:
        raise InputError(
            "reading text through a tokenizer needs the package tokenizers; install the gpt2 extra"
        ) from error
    return tokenizers
