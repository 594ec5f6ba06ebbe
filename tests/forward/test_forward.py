"""The one forward pass against the slow twin, exactly, and against torch, within a bound on its rounding.

The suite takes a hundred random circuits, `make nightly` ten thousand. The number is a variable:

    CIRCUITPROOF_CASES=10000 pytest tests/forward/test_forward.py -k random
"""

import os
import random
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

import hand_models
from circuitproof.arithmetic.exact import Exact
from circuitproof.circuits.circuit import circuit_of, empty, whole
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Graph, Head, Mlp
from circuitproof.errors import DeclarationError, InputError, NotExactError
from circuitproof.forward.binding import PrefixBinding
from circuitproof.forward.cells import Cells, Stage
from circuitproof.forward.forward import Forward
from circuitproof.forward.frozen import Frozen, open_weights
from circuitproof.models.architecture import Architecture, inverse_root
from circuitproof.models.declaration import Declaration
from circuitproof.models.operators import (
    Attention,
    BandNorm,
    Gelu,
    GeluForm,
    LayerNorm,
    LeakyRelu,
    Lift,
    NoNorm,
    Relu,
)
from circuitproof.nn.checkpoint import build_model
from circuitproof.programs.text import parse
from circuitproof.proof.fold import fold
from program_strategies import programs_over
from strategies import circuits_in
from twin import Twin, centred, exact_tensors

CASES = int(os.environ.get("CIRCUITPROOF_CASES", "100"))
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
    is_crowded: bool = False
    """Whether every short prompt is folded along, so that rows are shared and sums split."""

    def crowd(self):
        """Return the prompts to fold, those to compare first."""
        short = range(1, min(self.architecture.context, 2) + 1) if self.is_crowded else ()
        others = (
            prompt for size in short for prompt in product(range(self.architecture.vocabulary), repeat=size)
        )
        return tuple(dict.fromkeys((*self.prompts, *others)))

    def tensors(self):
        """Return random weights."""
        draw = random.Random(self.seed)  # noqa: S311  # a test's own dice
        shapes = Declaration(self.architecture, self.programs, None).shapes()
        return {
            name: np.array([_weight(draw, self.grain) for _ in range(int(np.prod(shape)))], "<f4").reshape(
                shape
            )
            for name, shape in shapes.items()
        }


def _weight(draw, grain):
    match grain:
        case "full":
            return draw.gauss(0, 0.7)
        case "coarse":
            return draw.randint(-3, 3) / 2
        case _:
            return draw.gauss(0, 1) * 2.0 ** draw.randint(-8, 1)


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
    norm, head_width = draw(norms), draw(st.integers(1, 5))
    rotations = [None, *range(2, head_width + 1, 2)]
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
        rotary=draw(st.sampled_from(rotations)),
        parallel=draw(st.booleans()),
    )


@cache
def programs_naming(tokens):
    """Draw a program that names tokens below `tokens`."""
    return programs_over(st.integers(0, tokens - 1), st.integers(0, 4))


@st.composite
def cases(draw):
    """Draw a tiny model, one or two of its circuits, and prompts of several lengths."""
    architecture = draw(architectures())
    graph = architecture.graph
    heads = [head for layer in range(graph.layers) for head in graph.heads_of(layer)]
    programs = draw(st.dictionaries(st.sampled_from(heads), programs_naming(architecture.vocabulary)))
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
        draw(st.booleans()),
    )


def freeze(case, tensors, path: Path) -> Frozen:
    """Write weights and open them as exact numbers."""
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
    """The twin with a bound on torch's rounding: between jumps every operator stretches errors boundedly."""

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
        """Centring stretches an error twofold, a side and their difference too, and centring once more."""
        numbers = as_rounded(vector)
        values = [number.value for number in numbers]
        size = max(abs(float(value)) for value in values) + float(self.architecture.norm.high)
        error = max(number.error for number in numbers) + UNIT * size
        if any(number.error for number in numbers):
            self.refuse_jump(centred(values), 2 * error)
        return [Rounded(value, 16 * error) for value in super().band_norm(values)]

    def refuse_jump(self, middle, error):
        """Refuse a side below the band with a coordinate so near to zero that its sign is not certain."""
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
        found = torch_logits(model, case, case.circuits[0], prompt)
        for number, bound in zip(found, map(as_rounded, wanted), strict=True):
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
        folded = fold(frozen, case.candidates, case.circuits, case.crowd())
        for circuit in case.circuits:
            wanted = [twin.logits(circuit, prompt, case.candidates) for prompt in case.prompts]
            assert [found.logits for found in folded.of(circuit)[: len(wanted)]] == wanted
        compare_with_torch(case, tensors, tally)
        tally["cases"] += 1

    agree()
    print(dict(tally))  # noqa: T201  # `pytest -s` shows what a long run has counted
    assert tally["cases"] >= CASES
    assert tally["compared"] > 5 * tally["at a jump"]
    assert tally["tight"] > tally["loose"]


GRAPH = Graph(1, 1)
HEAD, MLP = Head(0, 0), Mlp(0)
PLAIN = replace(
    hand_models.PLAIN, vocabulary=4, context=4, width=3, mlp_width=3, biases=True, logit_bias=True
)
OPENER = parse("default 0\nadd 1 when key_token in {1, 2}\notherwise nowhere")


def case_of(*edges, programs=None, prompts=((0, 1, 2),), **changes):
    """Return a case of one circuit of the plain architecture, with some of its fields changed."""
    circuit = circuit_of(GRAPH, edges)
    return Case(replace(PLAIN, **changes), programs or {}, (circuit,), prompts, (0, 3), seed=5, grain="full")


def folded(case, path):
    """Return the exact logits and those of the twin."""
    tensors = case.tensors()
    (circuit,) = case.circuits
    found = fold(freeze(case, tensors, path / "weights"), case.candidates, case.circuits, case.prompts)
    slow = Twin(case.architecture, case.programs, exact_tensors(tensors))
    wanted = [slow.logits(circuit, prompt, case.candidates) for prompt in case.prompts]
    return [one.logits for one in found.of(circuit)], wanted


MANY = tuple(prompt for length in (1, 2, 3) for prompt in product(range(4), repeat=length))
ALL = tuple(whole(GRAPH).edges)
CHAIN = (Edge(EMBED, MLP), Edge(MLP, LOGITS))


@pytest.mark.parametrize(
    "edges", [ALL, CHAIN, (Edge(EMBED, HEAD), Edge(HEAD, LOGITS)), (Edge(EMBED, LOGITS),)]
)
@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("programs", [{}, {HEAD: OPENER}], ids=["neural", "program"])
def test_mapping_the_parts_of_a_sum_equals_mapping_the_sum(tmp_path, monkeypatch, edges, biases, programs):
    """W(t + p) = Wt + Wp, and a bias is added once: many prompts split, one prompt alone does not."""
    split = []
    mapped = Forward._mapped
    monkeypatch.setattr(Forward, "_mapped", lambda *of: split.append(of) or mapped(*of))
    found, wanted = folded(case_of(*edges, programs=programs, prompts=MANY, biases=biases), tmp_path)
    assert split
    assert found == wanted
    split.clear()
    found, wanted = folded(case_of(*edges, programs=programs, prompts=((1,),), biases=biases), tmp_path)
    assert not split
    assert found == wanted


@pytest.mark.parametrize("lift", Lift)
def test_a_norm_is_applied_to_the_sum_and_never_to_its_parts(tmp_path, monkeypatch, lift):
    """Norms are not linear, so nothing splits."""
    monkeypatch.setattr(Forward, "_mapped", None)
    norm = BandNorm(Fraction(1), Fraction(2), lift)
    found, wanted = folded(case_of(*ALL, prompts=MANY, norm=norm), tmp_path)
    assert found == wanted


@pytest.mark.parametrize("norm", [NoNorm(), BandNorm(Fraction(1), Fraction(2), Lift.REFERENCE)], ids=str)
@pytest.mark.parametrize("source", [HEAD, MLP], ids=str)
def test_a_node_that_reads_nothing_still_outputs_its_constant(tmp_path, source, norm):
    """Such an edge carries biases, and may matter."""
    found, wanted = folded(case_of(Edge(source, LOGITS), prompts=((0,), (1, 2)), norm=norm), tmp_path)
    assert found == wanted
    assert found[0] == found[1]


@pytest.mark.parametrize("logit_bias", [True, False])
def test_a_circuit_without_edges_outputs_the_logit_bias(tmp_path, logit_bias):
    """Zero is read, so only the bias is left, and without one all logits are equal."""
    case = case_of(logit_bias=logit_bias)
    found, wanted = folded(case, tmp_path)
    assert found == wanted
    if not logit_bias:
        assert found == [(0, 0)]


def test_two_heads_bring_their_shared_bias_once(tmp_path):
    """And a node that reads none of them does not get it."""
    graph = Graph(1, 2)
    edges = [Edge(head, target) for head in graph.heads_of(0) for target in (MLP, LOGITS)]
    case = replace(case_of(heads=2), circuits=(circuit_of(graph, [*edges, Edge(MLP, LOGITS)]),))
    found, wanted = folded(case, tmp_path)
    assert found == wanted


@pytest.mark.parametrize("norm", [NoNorm(), BandNorm(Fraction(1), Fraction(2), Lift.CONTINUOUS)], ids=str)
def test_a_program_that_attends_nowhere_on_every_prompt_needs_no_row_of_what_it_reads(tmp_path, norm):
    """The stages before it are computed for no row at all."""
    edges = (Edge(EMBED, HEAD), Edge(HEAD, MLP), Edge(MLP, LOGITS), Edge(HEAD, LOGITS))
    case = case_of(*edges, programs={HEAD: OPENER}, prompts=((0,), (3, 0, 3)), norm=norm)
    found, wanted = folded(case, tmp_path)
    assert found == wanted
    assert found[0] == found[1]


def test_an_operator_without_an_exact_value_is_no_matter_where_nothing_uses_it(tmp_path):
    """Softmax where every kept head is a program, GELU where no MLP is kept."""
    edges = (Edge(EMBED, HEAD), Edge(HEAD, LOGITS), Edge(EMBED, LOGITS))
    inexact = {"attention": Attention.SOFTMAX, "activation": Gelu(GeluForm.TANH)}
    found, wanted = folded(case_of(*edges, programs={HEAD: OPENER}, **inexact), tmp_path)
    assert found == wanted


@pytest.mark.parametrize(
    ("edges", "changes"),
    [
        ((Edge(EMBED, HEAD), Edge(HEAD, LOGITS)), {"attention": Attention.SOFTMAX}),
        (CHAIN, {"activation": Gelu(GeluForm.EXACT)}),
        ((Edge(EMBED, LOGITS),), {"norm": LayerNorm(Fraction(1, 100000))}),
    ],
    ids=["softmax", "gelu", "layer norm"],
)
def test_an_operator_without_an_exact_value_is_refused_where_it_is_used(tmp_path, edges, changes):
    """Never a rounded value in place of an exact one."""
    case = case_of(*edges, **changes)
    with pytest.raises(NotExactError, match="has no exact value"):
        fold(freeze(case, case.tensors(), tmp_path / "weights"), case.candidates, case.circuits, case.prompts)


@pytest.mark.parametrize(
    ("prompt", "candidates", "found"),
    [
        ((4,), (0, 1), r"tensor embed.token has 4 rows, asked for row 4"),
        ((-1,), (0, 1), r"tensor embed.token has 4 rows, asked for row -1"),
        ((0,) * 5, (0, 1), r"tensor embed.position has 4 rows, asked for row 4"),
        ((0,), (0, 9), r"tensor logits.weight has 4 rows, asked for row 9"),
    ],
    ids=["token", "negative token", "position", "candidate"],
)
def test_what_the_model_has_no_row_for_is_refused(tmp_path, prompt, candidates, found):
    """The bytes behind a tensor belong to the next one; reading on would prove something of another model."""
    case = replace(case_of(Edge(EMBED, LOGITS), prompts=(prompt,)), candidates=candidates)
    with pytest.raises(InputError, match=found):
        fold(freeze(case, case.tensors(), tmp_path / "weights"), case.candidates, case.circuits, case.prompts)


def test_embed_is_never_a_stage(tmp_path):
    """Its tokens and positions are read apart, so that linear maps can split."""
    case = case_of(*CHAIN)
    cells = Cells(PrefixBinding({}), biases=True)
    cells.stages.append(Stage(EMBED, ()))
    forward = Forward(freeze(case, case.tensors(), tmp_path / "weights"), cells, Exact(), (0, 1))
    with pytest.raises(DeclarationError, match="embed is a part of other stages, never a stage"):
        forward.read(0, {})


def test_a_circuit_and_its_lesions_are_folded_together_as_they_are_alone(tmp_path):
    """Sharing rows between circuits changes no value."""
    case = case_of(*ALL, prompts=tuple(product(range(3), repeat=2)))
    circuits = (*case.circuits, *case.circuits[0].lesions(), empty(GRAPH))
    frozen = freeze(case, case.tensors(), tmp_path / "weights")
    together = fold(frozen, case.candidates, circuits, case.prompts)
    for circuit in circuits:
        alone = fold(frozen, case.candidates, [circuit], case.prompts)
        assert together.of(circuit) == alone.of(circuit)
        assert together.cells[circuit] == alone.cells[circuit]
    assert len(set(together.folds)) == len(together.folds)
