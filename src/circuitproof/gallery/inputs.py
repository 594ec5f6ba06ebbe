"""The inputs of models of others, each by a rule: whole input spaces, and one list of repeating sequences."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import product

from circuitproof.files.canonical import Json

_TOKENS, _BLOCK, _SEQUENCES, _KNOWN = 128, 16, 128, 10
_LAYERS, _HEADS = 2, 4


def larger() -> Mapping[str, Mapping[str, object]]:
    """Return every pair of 64 tokens, with the larger of them as the answer."""
    pairs = [list(pair) for pair in product(range(64), repeat=2)]
    answers = [max(pair) for pair in pairs]
    return {"larger": _among_all(pairs, answers, answers)}


def addition(modulus: int, *last: int) -> Mapping[str, Mapping[str, object]]:
    """Return every pair of numbers with their sum by a modulus; the order of the two must not matter.

    Answers are chosen among the numbers: a `last` token that says "equals" is none.
    """
    pairs = list(product(range(modulus), repeat=2))
    declared = {
        "prompts": [[*pair, *last] for pair in pairs],
        "answers": [sum(pair) % modulus for pair in pairs],
        "classes": [min(pair) * modulus + max(pair) for pair in pairs],
        "candidates": list(range(modulus)),
    }
    return {"addition": declared}


def sorting() -> Mapping[str, Mapping[str, object]]:
    """Return six tokens of three and what is sorted of them already, with the next one as the answer."""
    found = [(six, sorted(six), k) for six in product(range(3), repeat=6) for k in range(6)]
    answers = [done[k] for _, done, k in found]
    return {"sorting": _among_all([[*six, *done[:k]] for six, done, k in found], answers, answers)}


def _among_all(
    prompts: Sequence[Sequence[int]], answers: Sequence[int], classes: Sequence[int]
) -> Mapping[str, object]:
    return {"prompts": prompts, "answers": list(answers), "classes": classes, "candidates": "all"}


@dataclass(frozen=True, slots=True)
class RepeatedBlocks:
    """Sequences in which a block of tokens stands twice and begins once more; its next token is the answer.

    Blocks are bytes of SHA-256, so that they are the same everywhere. A sequence's partner ends alike, after
    twice another block: nothing in it says what comes next.
    """

    prompts: tuple[tuple[int, ...], ...]
    partners: tuple[tuple[int, ...], ...]
    answers: tuple[int, ...]

    def task(self) -> Mapping[str, object]:
        prompts = [list(prompt) for prompt in self.prompts]
        return _among_all(prompts, self.answers, list(range(len(prompts))))

    def circuits(self) -> Mapping[str, Mapping[str, Json]]:
        """Return circuits of some of the heads, with all edges among these, the embedding and the logits."""
        pairs: list[Json] = [
            [list[Json](one), list[Json](other)]
            for one, other in zip(self.prompts, self.partners, strict=True)
        ]
        partners: Json = {"kind": "counterfactual", "pairs": pairs}
        every = [f"{layer}.{head}" for layer in range(_LAYERS) for head in range(_HEADS)]
        return {
            "two-by-zero": _circuit(["0.2", "1.2"], "zero"),
            "two-by-partners": _circuit(["0.2", "1.3"], partners),
            "four-by-partners": _circuit(["0.2", "1.1", "1.2", "1.3"], partners),
            "seven-by-zero": _circuit([head for head in every if head != "1.0"], "zero"),
        }


def induction() -> RepeatedBlocks:
    """Return the sequences on which the induction heads are tried."""
    blocks = [_block(index) for index in range(2 * _SEQUENCES)]
    known, others = blocks[:_SEQUENCES], blocks[_SEQUENCES:]
    return RepeatedBlocks(
        tuple((*block, *block, *block[:_KNOWN]) for block in known),
        tuple((*other, *other, *block[:_KNOWN]) for block, other in zip(known, others, strict=True)),
        tuple(block[_KNOWN] for block in known),
    )


def _block(index: int) -> tuple[int, ...]:
    return tuple(byte % _TOKENS for byte in sha256(f"block {index}".encode()).digest()[:_BLOCK])


def _circuit(heads: Collection[str], ablation: Json) -> Mapping[str, Json]:
    edges: list[Json] = [f"embed -> head {head}" for head in heads]
    edges += [
        f"head {one} -> head {other}" for one in heads for other in heads if one[0] == "0" and other[0] == "1"
    ]
    edges += ["embed -> logits", *(f"head {head} -> logits" for head in heads)]
    return {"layers": _LAYERS, "heads": _HEADS, "mlps": False, "ablation": ablation, "edges": edges}
