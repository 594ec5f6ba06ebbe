"""Tokenizer files of a few words."""

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit


def write_tokenizer(path: Path, words: Sequence[str]) -> Path:
    """Write a tokenizer of whole words; what it does not know is the last one."""
    made = Tokenizer(WordLevel({word: token for token, word in enumerate(words)}, unk_token=words[-1]))
    made.pre_tokenizer = WhitespaceSplit()
    made.save(str(path))
    return path
