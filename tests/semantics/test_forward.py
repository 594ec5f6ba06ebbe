"""The one forward pass against the slow twin, exactly, and against torch, within a bound on its rounding.

The suite takes a few hundred random circuits. The number is a variable, so a long run is one command:

    CIRCUITPROOF_CASES=10000 pytest tests/semantics/test_forward.py -k random
"""

import os
import random
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from circuitproof.architecture import (
    Architecture,
    Attention,
    BandNorm,
    Gelu,
    GeluForm,
    LayerNorm,
    LeakyRelu,
    Lift,
    NoNorm,
    Relu,
    inverse_root,
)
from circuitproof.arithmetic.exact import Exact
from circuitproof.circuits.circuit import circuit_of, empty, whole
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Graph, Head, Mlp
from circuitproof.errors import DeclarationError, InputError, NotExactError
from circuitproof.model.checkpoint import build_model
from circuitproof.programs.syntax import Comparison, Condition, Feature, Otherwise, Program, Rule
from circuitproof.programs.text import parse
from circuitproof.semantics.cells import Cells, Stage
from circuitproof.semantics.declaration import Declaration
from circuitproof.semantics.forward import Forward
from circuitproof.semantics.frozen import Frozen, open_weights
from circuitproof.verify.fold import Fold, fold
from strategies import circuits_in
from twin import Twin, centred, exact_tensors

CASES = int(os.environ.get("CIRCUITPROOF_CASES", "300"))
UNIT = 2.0**-22
"""Four roundings of FP32: what each term may lose in a sum of as many, in whatever order."""


@dataclass(frozen=True)
class Case:
    """A model without its weights, circuits of it, and prompts."""

    architecture: Architecture
    programs: dict
    circuits: tuple
    prompts: tuple
    candidates: tuple
    seed: int
    grain: str
    """Whether weights are full FP32 numbers, multiples of 1/2 (ties and zeros), or of very different size."""

    def tensors(self):
        """Return random weights."""
        draw = random.Random(self.seed)  # noqa: S311  # a test's own dice
        shapes = Declaration(self.architecture, self.programs, None).shapes()
        return {
            name: np.array([_weight(draw, self.grain) for _ in range(int(np.prod(shape)))], "<f4").reshape(shape)
            for name, shape in shapes.items()
        }


def _weight(draw, grain):
    match grain:
        case "full":
            return draw.gauss(0, 0.7)
        case "coarse":
            return draw.randint(-3, 3) / 2
        case _:
            return draw.gauss(0, 1) * 2.0 ** draw.randint(-6, 2)


norms = st.one_of(
    st.just(NoNorm()),
    st.builds(
        lambda low, more, lift: BandNorm(low, low + more, lift),
        st.sampled_from([Fraction(1, 2), Fraction(11, 10), Fraction(2)]),
        st.sampled_from([Fraction(0), Fraction(1), Fraction(1, 3)]),
        st.sampled_from(Lift),
    ),
)


@st.composite
def architectures(draw):
    """Draw an architecture all of whose operators are exact."""
    norm, head_width = draw(norms), draw(st.integers(1, 3))
    return Architecture(
        vocabulary=draw(st.integers(2, 5)),
        context=draw(st.integers(1, 4)),
        layers=draw(st.integers(1, 2)),
        heads=draw(st.integers(1, 2)),
        width=draw(st.integers(1 if isinstance(norm, NoNorm) else 2, 4)),
        head_width=head_width,
        mlp_width=draw(st.integers(1, 4)),
        norm=norm,
        attention=Attention.SPARSEMAX,
        attention_scale=draw(st.sampled_from([inverse_root(head_width), Fraction(1), Fraction(3, 8)])),
        activation=draw(st.sampled_from([Relu(), LeakyRelu(Fraction(1, 100)), LeakyRelu(Fraction(1, 3))])),
        tied=draw(st.booleans()),
        biases=draw(st.booleans()),
        logit_bias=draw(st.booleans()),
    )


def programs_over(tokens):
    """Draw a program that names tokens below `tokens`."""
    tokens, places = st.integers(0, tokens - 1), st.integers(0, 4)
    equal = st.sampled_from([Comparison.EQUAL, Comparison.UNEQUAL])
    order = st.sampled_from([one for one in Comparison if one is not Comparison.AMONG])
    by_token = st.sampled_from([Feature.KEY_TOKEN, Feature.QUERY_TOKEN])
    by_place = st.sampled_from(
        [Feature.KEY_POSITION, Feature.QUERY_POSITION, Feature.RELATIVE_DISTANCE, Feature.ABSOLUTE_DISTANCE]
    )
    conditions = st.one_of(
        st.builds(Condition, st.just(Feature.TOKEN_MATCH), equal, st.booleans()),
        st.builds(Condition, by_token, equal, tokens),
        st.builds(Condition, by_place, order, places),
        st.builds(Condition, by_token, st.just(Comparison.AMONG), st.sets(tokens, min_size=1).map(_increasing)),
        st.builds(Condition, by_place, st.just(Comparison.AMONG), st.sets(places, min_size=1).map(_increasing)),
    )
    weights = st.sampled_from([Fraction(0), Fraction(0), Fraction(1), Fraction(1, 3), Fraction(5, 2)])
    rules = st.lists(st.builds(Rule, weights, st.lists(conditions, max_size=2).map(tuple)), max_size=3)
    return st.builds(Program, weights, rules.map(tuple), st.sampled_from(Otherwise))


def _increasing(members):
    return tuple(sorted(members))


@st.composite
def cases(draw):
    """Draw a tiny model, one or two of its circuits, and prompts of several lengths."""
    architecture = draw(architectures())
    graph = Graph(architecture.layers, architecture.heads)
    heads = [head for layer in range(graph.layers) for head in graph.heads_of(layer)]
    programs = draw(st.dictionaries(st.sampled_from(heads), programs_over(architecture.vocabulary)))
    circuit = draw(st.one_of(st.just(whole(graph)), circuits_in(graph), circuits_in(graph)))
    lesions = circuit.lesions()
    chosen = (circuit, draw(st.sampled_from(lesions))) if lesions else (circuit,)
    tokens = st.integers(0, architecture.vocabulary - 1)
    prompt = st.lists(tokens, min_size=1, max_size=architecture.context).map(tuple)
    return Case(
        architecture,
        programs,
        chosen,
        tuple(draw(st.lists(prompt, min_size=1, max_size=3, unique=True))),
        tuple(draw(st.lists(tokens, min_size=2, max_size=3, unique=True))),
        draw(st.integers(0, 2**32)),
        draw(st.sampled_from(["full", "coarse", "wild"])),
    )


def freeze(case, tensors, path: Path) -> Frozen:
    """Write weights and open them through the door."""
    path.unlink(missing_ok=True)
    save_file(tensors, path)
    return Frozen(Declaration(case.architecture, case.programs, None), open_weights(path))


class TooCloseError(Exception):
    """A coordinate is so near to a jump of the reference lift that rounding decides its side."""


@dataclass(frozen=True, slots=True)
class Rounded:
    """An exact number with a bound on how far FP32 may have strayed from it."""

    value: Fraction
    error: float = 0.0

    def __add__(self, other):
        other = as_rounded(other)
        lost = UNIT * (abs(float(self.value)) + abs(float(other.value)))
        return Rounded(self.value + other.value, self.error + other.error + lost)

    def __mul__(self, other):
        other = as_rounded(other)
        left, right = abs(float(self.value)), abs(float(other.value))
        error = left * other.error + right * self.error + self.error * other.error + UNIT * left * right
        return Rounded(self.value * other.value, error)

    __radd__, __rmul__ = __add__, __mul__


def as_rounded(number):
    """Return a weight or a constant, or a list of them, as numbers without an error."""
    if isinstance(number, list):
        return [as_rounded(one) for one in number]
    return number if isinstance(number, Rounded) else Rounded(number)


class RoundedTwin(Twin):
    """The twin with a bound on the rounding of torch. Between jumps, every operator stretches errors boundedly."""

    def bend(self, number):
        """A slope of at most one."""
        number = as_rounded(number)
        return Rounded(super().bend(number.value), number.error + UNIT * abs(float(number.value)))

    def sparsemax(self, scores):
        """The threshold moves by at most the largest error, so a weight by at most twice that."""
        scores = as_rounded(scores)
        error = 2 * max(score.error for score in scores) + UNIT
        return [Rounded(weight, error) for weight in super().sparsemax([score.value for score in scores])]

    def program_row(self, program, prefix):
        """Rational weights are rounded to FP32."""
        return [Rounded(weight, UNIT * float(weight)) for weight in super().program_row(program, prefix)]

    def band_norm(self, vector):
        """Centring stretches an error twofold, a side twofold, both sides twofold, and centring twofold again."""
        numbers = as_rounded(vector)
        values = [number.value for number in numbers]
        size = max(abs(float(value)) for value in values) + float(self.architecture.norm.high)
        error = max(number.error for number in numbers) + UNIT * size
        if any(number.error for number in numbers):
            self.refuse_jump(centred(values), 2 * error)
        return [Rounded(value, 16 * error) for value in super().band_norm(values)]

    def refuse_jump(self, middle, error):
        """Refuse a side below the band with a coordinate whose sign is not certain; zeros that are exact are."""
        norm = self.architecture.norm
        mass = sum(abs(value) for value in middle) / 2
        is_below = float(mass) < float(norm.low) + error * len(middle)
        if norm.lift is Lift.REFERENCE and is_below and any(abs(float(value)) <= error for value in middle):
            raise TooCloseError


def torch_logits(model, case, circuit, prompt):
    """Return what FP32 says."""
    with torch.no_grad():
        found = model.candidate_logits(torch.tensor([prompt]), case.candidates, [circuit])
    return found[0, 0].tolist()


def compare_with_torch(case, tensors, tally):
    """Check that torch stays within the bound, and count what was compared and what lies at a jump."""
    exact = exact_tensors(tensors)
    bounded = RoundedTwin(case.architecture, case.programs, {name: as_rounded(exact[name]) for name in exact})
    weights = {name: torch.from_numpy(tensor) for name, tensor in tensors.items()}
    model = build_model(case.architecture, case.programs, weights)
    for prompt in case.prompts:
        try:
            wanted = bounded.logits(case.circuits[0], prompt, case.candidates)
        except TooCloseError:
            tally["at a jump"] += 1
            continue
        for number, bound in zip(torch_logits(model, case, case.circuits[0], prompt), wanted, strict=True):
            bound = as_rounded(bound)
            assert abs(float(Fraction(number) - bound.value)) <= bound.error
            tally["tight" if bound.error <= 1e-2 * max(1, abs(bound.value)) else "loose"] += 1
        tally["compared"] += 1


def test_random_circuits_agree_with_the_slow_twin_exactly_and_with_torch_within_rounding(tmp_path):
    """Every exact norm, activation and attention, programs, biases, ties, dead edges: the whole semantics."""
    tally = Counter()

    @settings(max_examples=CASES, suppress_health_check=[HealthCheck.too_slow])
    @given(cases())
    def agree(case):
        tensors = case.tensors()
        frozen = freeze(case, tensors, tmp_path / "weights.safetensors")
        twin = Twin(case.architecture, case.programs, exact_tensors(tensors))
        folded = fold(frozen, case.candidates, case.circuits, case.prompts)
        for circuit in case.circuits:
            wanted = [twin.logits(circuit, prompt, case.candidates) for prompt in case.prompts]
            assert [found.logits for found in folded.of(circuit)] == wanted
        compare_with_torch(case, tensors, tally)
        tally["cases"] += 1

    agree()
    print(dict(tally))  # noqa: T201  # `pytest -s` shows what a long run has counted
    assert tally["cases"] >= CASES
    assert tally["compared"] > 5 * tally["at a jump"]
    assert tally["tight"] > 5 * tally["loose"]
