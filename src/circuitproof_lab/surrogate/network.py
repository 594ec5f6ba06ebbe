"""The surrogate: a small ReLU network over whole words, read from its file and computed exactly."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from circuitproof.arithmetic.exact import Exact
from circuitproof.arithmetic.grid import Grid
from circuitproof.arithmetic.protocol import Arithmetic, V, W
from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.canonical import Json, readable_json
from circuitproof.files.reading import read_json, reading, reading_part
from circuitproof.files.sealed import check_seal, write_sealed
from circuitproof.forward.frozen import open_weights
from circuitproof.models.operators import Relu
from circuitproof.tasks.alphabet import Alphabet
from circuitproof_lab.surrogate.relation import Relation
from circuitproof_lab.surrogate.words import Word, Words, read_words

DECLARATION = "surrogate.json"
WEIGHTS = "weights.safetensors"
_AT_ONCE = 4096
"""How many words are computed together."""


@dataclass(frozen=True, slots=True)
class NetworkShape:
    """What a surrogate reads (`one_hot`), what it answers, and how wide its hidden layers are."""

    words: Words
    answers: Alphabet
    hidden: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.hidden or min(self.hidden) < 1:
            raise DeclarationError(
                f"surrogate: hidden widths are {self.hidden}, want one or more, all positive"
            )

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.words.longest * len(self.words.tokens), *self.hidden, len(self.answers))

    def tensors(self) -> dict[str, tuple[int, ...]]:
        """Return the name and shape of every tensor; matrices are [out, in]."""
        named: dict[str, tuple[int, ...]] = {}
        for place, (into, out) in enumerate(pairwise(self.sizes)):
            named |= {f"layer.{place}.weight": (out, into), f"layer.{place}.bias": (out,)}
        return named

    def to_json(self) -> Json:
        return {**self.words.to_json(), "answers": list(self.answers.names), "hidden": list(self.hidden)}


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """An affine map with exact numbers; the bias is a single row."""

    weight: Grid
    bias: Grid


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A surrogate with exact weights. Between its layers negative numbers become zero."""

    shape: NetworkShape
    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        found = tuple((layer.weight.shape, layer.bias.shape) for layer in self.layers)
        if found != (wanted := tuple(((o, i), (1, o)) for i, o in pairwise(self.shape.sizes))):
            raise DeclarationError(f"surrogate: layers have shapes {found}, want {wanted}")

    def decide(self, words: Sequence[Word]) -> tuple[frozenset[int], ...]:
        """Return for each word the set of its maximal answers; more than one is a tie."""
        logits = self.logits(Exact(), Grid(one_hot(words, self.shape.words), 0, (1,) * len(words)))
        return tuple(_maximal(row.numbers) for row in logits.rows())

    def logits(self, arithmetic: Arithmetic[V, W], values: V) -> V:
        """Return the logits of words, given as rows of 1 where a token stands and 0 elsewhere."""
        for layer in self.layers[:-1]:
            values = arithmetic.activate(arithmetic.affine(values, layer.weight, layer.bias), Relu())
        return arithmetic.affine(values, self.layers[-1].weight, self.layers[-1].bias)


def one_hot(words: Sequence[Word], domain: Words) -> npt.NDArray[np.int64]:
    """Return a row per word: for each position and token, 1 where the word has that token there."""
    numbers = np.zeros((len(words), domain.longest, len(domain.tokens)), dtype=np.int64)
    for row, word in enumerate(words):
        if word not in domain:
            raise DeclarationError(f"word {word} is not in the surrogate's domain")
        numbers[row, range(len(word)), word] = 1
    return numbers.reshape(len(words), -1)


def measure_fidelity(network: Network, relation: Relation) -> int:
    """Return on how many words of the whole domain a surrogate decides as its teacher, and not by a tie."""
    if (network.shape.words, network.shape.answers) != (relation.words, relation.answers):
        raise InputError("the surrogate and the teacher have different alphabets, answers or lengths")
    decisions = (found for words in _portions(relation.words) for found in network.decide(words))
    pairs = zip(decisions, relation.decided, strict=True)
    return sum(found == frozenset({answer}) for found, answer in pairs)


def write_network(path: Path, shape: NetworkShape, weights: bytes, relation: Relation) -> None:
    """Write a new sealed directory with a surrogate and the digest of the teacher it was fitted to."""
    declared: Json = {"shape": shape.to_json(), "teacher_digest": str(relation.digest)}
    write_sealed(path, {DECLARATION: readable_json(declared), WEIGHTS: weights})


def open_network(path: Path, relation: Relation) -> Network:
    """Open a surrogate as it was sealed, FP32 bits as the dyadic rationals that they are.

    One that was fitted to another teacher is refused.
    """
    check_seal(path, frozenset({DECLARATION, WEIGHTS}))
    file = path / DECLARATION
    with reading(read_json(file), str(file)) as fields:
        with reading_part(fields, "shape") as part:
            shape = NetworkShape(read_words(part), Alphabet(part.texts("answers")), part.integers("hidden"))
        if fields.text("teacher_digest") != str(relation.digest):
            raise InputError(f"{path} was fitted to another teacher; remove it or choose another place")
    weights = open_weights(path / WEIGHTS)
    if weights.shapes() != shape.tensors():
        raise InputError(f"{path / WEIGHTS} holds tensors {dict(weights.shapes())}, want {shape.tensors()}")
    return build_network(shape, weights.grid)


def build_network(shape: NetworkShape, grid: Callable[[str], Grid]) -> Network:
    places = range(len(shape.hidden) + 1)
    layers = (Layer(grid(f"layer.{k}.weight"), grid(f"layer.{k}.bias")) for k in places)
    return Network(shape, tuple(layers))


def _portions(words: Words) -> Iterator[list[Word]]:
    walk = iter(words)
    while portion := list(islice(walk, _AT_ONCE)):
        yield portion


def _maximal(numbers: Sequence[int]) -> frozenset[int]:
    best = max(numbers)
    return frozenset(place for place, number in enumerate(numbers) if number == best)
