"""Logits, exact or enclosed, for whoever wants to compare them with a forward of their own."""

from fractions import Fraction

import mpmath
import pytest
import torch

from circuitproof.circuits.circuit import whole
from circuitproof.errors import InputError, NotExactError
from circuitproof.models.operators import Attention
from circuitproof.proof.effort import Effort
from circuitproof.reports.results import logits_said
from circuitproof.reports.said import text_of
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.verbs.logits import find_logits
from hand_models import ADDED, ADDER, DIRECT, build, circuit_of, freeze
from models import ACTIVATIONS, NORMS, PROGRAMS, random_model, tiny_architecture
from real_twin import RealTwin
from twin import Twin, exact_tensors

NAMES = Alphabet(tuple("abcde"))


def test_logits_are_those_worked_out_by_hand_whole_and_in_a_circuit():
    """As the table beside the model says, for several prompts, by name and by number."""
    frozen = freeze(build(ADDER), NAMES)
    found = find_logits(frozen, ["a", [1], "<2>", "b a"], circuit_of(ADDED), [0, "b"])
    assert found.values == ((2, 3), (1, 0), (1, 3), (2, 3))
    assert found.floats()[0] == (2.0, 3.0)
    assert find_logits(frozen, ["0"], circuit_of(DIRECT), ["1"]).values == ((1,),)


@pytest.mark.parametrize("programs", [{}, PROGRAMS], ids=["neural", "programs"])
def test_logits_of_a_random_model_are_those_of_the_slow_twin(programs):
    """Sentence by sentence of the specification, for every token, with norms and biases."""
    model = random_model(tiny_architecture(norm=NORMS[2]), programs=programs)
    frozen = freeze(model)
    prompts = ([3], [1, 5, 2], [6, 0, 3, 3, 1])
    found = find_logits(frozen, prompts)
    assert found.candidates == tuple(range(7))
    tensors = exact_tensors({name: view.detach() for name, view in model.named_slices().items()})
    twin = Twin(frozen.architecture, programs, tensors)
    everything = circuit_of(
        [str(edge) for edge in frozen.graph.edges()], layers=frozen.graph.layers, heads=frozen.graph.heads
    )
    for prompt, row in zip(prompts, found.values, strict=True):
        assert row == tuple(twin.logits(everything, prompt, range(7)))


def test_without_candidates_all_are_computed_and_the_largest_are_shown():
    """A table of a whole vocabulary is not read by anybody; JSON has all of it."""
    frozen = freeze(build(ADDER))
    found = find_logits(frozen, [[0]])
    assert len(found.to_json()["prompts"][0]["logits"]) == 5
    assert "prompt 0: <0>" in text_of(logits_said(found))
    wide = find_logits(freeze(random_model(tiny_architecture())), [[0]])
    shown = [
        line.split()[0] for line in text_of(logits_said(wide)).splitlines() if line.split()[0].isdecimal()
    ]
    assert shown == [str(y) for y in sorted(range(7), key=lambda y: -wide.values[0][y])]


def test_json_has_each_logit_exactly_and_as_the_nearest_double():
    """The rational is what a proof is about, the double what a forward can be compared with."""
    found = find_logits(freeze(random_model(tiny_architecture(norm=NORMS[2]))), [[1, 2, 3]], None, [4, 2])
    (one,) = found.to_json()["prompts"]
    assert tuple(map(Fraction, one["logits"])) == found.values[0]
    assert one["floats"] == [float(value) for value in found.values[0]]
    assert one["largest"] == [max(zip(found.values[0], (4, 2), strict=True))[1]]


@pytest.mark.parametrize(
    "sizes",
    [
        {"attention": Attention.SOFTMAX},
        {"norm": NORMS[1]},
        {"activation": ACTIVATIONS[3]},
    ],
    ids=["softmax", "LayerNorm", "GELU"],
)
def test_logits_without_an_exact_value_are_enclosed_as_finely_as_a_double(sizes):
    """The real ones, by many digits, are within the radius; the table and JSON say so."""
    model = random_model(tiny_architecture(**sizes))
    frozen, prompt = freeze(model), (1, 5, 2)
    found = find_logits(frozen, [list(prompt)])
    tensors = exact_tensors({name: view.detach() for name, view in model.named_slices().items()})
    with mpmath.workdps(60):
        real = RealTwin(frozen.architecture, {}, tensors).logits(whole(frozen.graph), prompt, range(7))
        gaps = [abs(mpmath.mpmathify(one) - other) for one, other in zip(found.values[0], real, strict=True)]
        assert max(gaps) <= mpmath.mpmathify(found.radii[0])
    assert found.radii[0] <= Fraction(1, 1 << 46)
    (one,) = found.to_json()["prompts"]
    assert Fraction(one["radius"]) == found.radii[0]
    assert one["largest"] == [max(range(7), key=lambda token: found.values[0][token])]
    assert f"enclosed with {found.to_json()['precision']} bits" in text_of(logits_said(found))


def test_a_precision_bounds_the_bits_and_what_is_then_not_known_is_said():
    """Two equal logits are never told apart, however many bits there are."""
    model = random_model(tiny_architecture(attention=Attention.SOFTMAX))
    with torch.no_grad():
        model.unembed[:] = 1
        model.unembed_bias[:] = 0
    found = find_logits(freeze(model), [[1, 2]], None, [3, 4], Effort(precision=80))
    assert found.precision == 80
    assert found.to_json()["prompts"][0]["largest"] is None
    assert "after 1 prompt it is not known which is largest: raise --precision" in text_of(logits_said(found))


def test_a_model_that_is_neither_exact_nor_enclosed_is_refused_by_the_operator():
    """Beside softmax, the band norm has no enclosure."""
    model = random_model(tiny_architecture(attention=Attention.SOFTMAX, norm=NORMS[2]))
    with pytest.raises(NotExactError, match="BandNorm"):
        find_logits(freeze(model), [[1, 2]])


def test_a_circuit_without_the_inexact_operator_has_exact_logits():
    """Only what is computed counts: embed -> logits passes no head."""
    frozen = freeze(random_model(tiny_architecture(attention=Attention.SOFTMAX)))
    kept = circuit_of(["embed -> logits"], layers=2, heads=2)
    assert len(find_logits(frozen, [[1]], kept).values[0]) == 7


@pytest.mark.parametrize(
    ("prompts", "candidates", "says"),
    [
        ([], None, "give at least one prompt"),
        ([[0]], [], "and one candidate"),
        ([""], None, "the prompt has 0 tokens, want 1 to 3"),
        (["a a a a"], None, "the prompt has 4 tokens, want 1 to 3"),
        (["f"], None, "'f' is no token of the model; its tokens are 0 to 4, or one of 5 names"),
        ([[5]], None, "'5' is no token"),
        ([[-1]], None, "'-1' is no token"),
        ([[0]], ["9" * 5000], "is no token"),
    ],
    ids=str,
)
def test_what_is_no_prompt_and_no_token_is_refused(prompts, candidates, says):
    """With the tokens that there are."""
    with pytest.raises(InputError, match=says):
        find_logits(freeze(build(ADDER), NAMES), prompts, None, candidates)


def test_a_circuit_of_another_model_is_refused():
    """It says nothing about this one."""
    with pytest.raises(InputError, match="the circuit is of 2 layers of 1 heads, the model has 1 of 1"):
        find_logits(freeze(build(ADDER)), [[0]], circuit_of(DIRECT, layers=2))
