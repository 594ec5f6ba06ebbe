"""A model that reads text: its directory has the tokenizer of byte pairs that names its tokens."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

from circuitproof.circuits.graph import Head
from circuitproof.models.tokenizer import FileTokenizer
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.programs.text import parse
from circuitproof_lab.train.tokenizer import train_byte_pairs
from hand_models import IDENTITY, QUOTE_SIZES, build, rows

SIZE = 290
PROMPTS = ("if x == 'a", 'if x == "a', "if x:\n    return 'b", 'if x:\n    return "b')
ANSWERS = ("'", '"', "'", '"')
OPENERS = {" '": "'", ' "': '"'}
TASK = f"""
name = "marks"
alphabet = "text"
prompts = {json.dumps(PROMPTS)}
answers = ["'", '"', "'", '"']
classes = ["single", "double", "single", "double"]
"""
PATTERN = f"""
name = "marks"
vocabulary = {SIZE}
candidates = ["'", '"']
answers = [[" '", "'"], ['␣"', '"']]
pattern = '''any{{1..5}} with exactly 1 of [" '", '␣"']'''
"""
RAW = "ĠĊĉč"
"""Signs of the spelling of bytes, which nobody wants to see."""


@cache
def byte_pairs() -> bytes:
    """Return the tokenizer, learned once."""
    return train_byte_pairs(PROMPTS * 20, SIZE)


def write_text_model(
    directory: Path, decides: float = 1, *, is_bare: bool = False, is_neural: bool = False, context: int = 16
) -> FileTokenizer:
    """Write a model that closes quotes after a blank, the double ones by `decides`; return its tokenizer.

    One that is bare has the names of its tokens and no tokenizer; the head of a neural one attends evenly.
    """
    (directory.parent / "tokenizer.json").write_bytes(byte_pairs())
    tokenizer = FileTokenizer(directory.parent / "tokenizer.json")
    (single,), (double,) = (tokenizer.encode(opener) for opener in OPENERS)
    (close_single,), (close_double,) = (tokenizer.encode(closer) for closer in OPENERS.values())
    program = parse(f"default 0\nadd 1 when key_token in {{{single}, {double}}}\notherwise self")
    weights = {
        "embed.token": rows(SIZE, {single: (1, 0), double: (0, 1)}),
        "head.0.0.value.weight": IDENTITY,
        "head.0.0.output.weight": IDENTITY,
        "logits.weight": rows(SIZE, {close_single: (1, 0), close_double: (0, decides)}),
    }
    sizes = replace(QUOTE_SIZES, vocabulary=SIZE, context=context)
    alphabet = replace(tokenizer.alphabet, encode=None) if is_bare else tokenizer.alphabet
    programs = {} if is_neural else {Head(0, 0): program}
    save_model(directory, StoredModel(build(weights, sizes, programs), alphabet))
    return tokenizer
