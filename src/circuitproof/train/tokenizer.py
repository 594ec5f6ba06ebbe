"""Texts through a Hugging Face `tokenizer.json`."""

from pathlib import Path
from typing import Any

from circuitproof.errors import InputError
from circuitproof.reading import read_bytes
from circuitproof.tasks.alphabet import Alphabet, sparse_alphabet
from circuitproof.tasks.domain import Prompt


class FileTokenizer:
    """The tokenizer of a file. The file's bytes are read once, when it is made."""

    def __init__(self, path: Path) -> None:
        self._tokenizer = _load(path)
        self._alphabet: Alphabet | None = None

    def encode(self, text: str) -> Prompt:
        """Return the tokens of a text, without any that a model adds around it."""
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)

    @property
    def alphabet(self) -> Alphabet:
        """Return the tokens by name; a number that no name has is called by itself."""
        if self._alphabet is None:
            names = {token: name for name, token in self._tokenizer.get_vocab().items()}
            self._alphabet = sparse_alphabet(max(names) + 1, names)
        return self._alphabet


def _load(path: Path) -> Any:  # noqa: ANN401  # the package is optional, so its type is not at hand
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise InputError(
            "reading text through a tokenizer needs the package tokenizers; install the gpt2 extra"
        ) from error
    content = read_bytes(path)
    try:
        return Tokenizer.from_buffer(content)
    except Exception as error:  # tokenizers raises nothing narrower
        raise InputError(f"{path} is not a usable tokenizer: {error}") from error
