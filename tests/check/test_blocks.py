"""Rotary positions and parallel blocks, in exact arithmetic."""

import random
from fractions import Fraction

import pytest

from bundle_maker import Naive, architecture, every_edge, fitting, proving, random_bundle
from checker_reading import checker_forward
from circuitproof_check.architecture import all_edges, name_of, node_of
from circuitproof_check.exact import vector
from circuitproof_check.forward import Added, CircuitRun
from circuitproof_check.main import Outcome, check
from circuitproof_check.regions.affine import AffineVector, SampledRegion, constant
from circuitproof_check.regions.forms import Region
from pattern_forgeries import EQUIVALENCE, uniform

OPTIONS = {
    "rotary": {"rotary": 2},
    "partly rotary": {"rotary": 4, "head_width": 5},
    "parallel": {"parallel": True},
    "both": {"rotary": 4, "head_width": 5, "parallel": True},
}
PROGRAM = {"0.1": ["default 0", "add 1 when token_match", "otherwise nowhere"]}
MEAN = {"kind": "mean", "over": "all", "prompts": [[1, 2], [3, 4, 5]]}


@pytest.mark.parametrize("ablation", ["zero", MEAN], ids=["zero", "mean"])
@pytest.mark.parametrize("option", OPTIONS)
def test_random_circuits_compute_what_the_slow_twin_computes(option, ablation):
    """Queries and keys turn with their positions; the MLP of a parallel layer reads beside its heads."""
    size = architecture(layers=2, heads=2, **OPTIONS[option])
    chance = random.Random(option)  # noqa: S311  # circuits, not keys
    for seed in range(4):
        edges = [edge for edge in every_edge(size) if chance.random() < 3 / 4 or edge == "embed -> logits"]
        bundle = random_bundle(size, edges, seed, PROGRAM, prompts=3)
        bundle.claim["circuit"]["ablation"] = ablation
        forward = checker_forward(bundle)
        for prompt in bundle.domain["prompts"]:
            found = forward.logits(forward.claim.edges, tuple(prompt))
            assert found == tuple(Naive(bundle, edges, prompt).logits())


def test_the_edges_of_parallel_blocks_are_those_of_one_stage():
    """No head feeds the MLP beside it, but that of the next layer."""
    size = architecture(layers=2, heads=2, parallel=True)
    bundle = random_bundle(size, ["embed -> logits"], 1, prompts=1)
    read = checker_forward(bundle).claim.architecture
    assert [name_of(edge, read) for edge in all_edges(read)] == every_edge(size)
    assert "head 0.0 -> mlp 0" not in every_edge(size)
    assert {"head 0.0 -> mlp 1", "mlp 0 -> head 1.0"} <= set(every_edge(size))


def test_an_edge_beside_a_parallel_block_is_refused(tmp_path):
    """It would be read before it is computed."""
    bundle = proving(fitting(), "equivalence")
    bundle.claim["architecture"]["parallel"] = True
    outcome, reason = check(bundle.write(tmp_path / "bundle"))
    assert (outcome, "edges lead forward" in reason) == (Outcome.INVALID, True)


@pytest.mark.parametrize("rotary", [0, 1, 6, True, "2"])
def test_rotary_is_an_even_number_of_coordinates_that_there_are(rotary, tmp_path):
    """Anything else is no architecture."""
    bundle = proving(fitting(), "equivalence")
    bundle.claim["architecture"]["rotary"] = rotary
    assert check(bundle.write(tmp_path / "bundle"))[0] is Outcome.INVALID


@pytest.mark.parametrize("option", OPTIONS)
def test_proofs_about_such_models_are_valid(option, tmp_path):
    """From claim to verdict."""
    edges = [
        "embed -> head 0.0",
        "embed -> mlp 0",
        "embed -> logits",
        "head 0.0 -> logits",
        "mlp 0 -> logits",
    ]
    size = architecture(**OPTIONS[option])
    bundle = proving(fitting(size, edges=edges), "equivalence", "invariance", "robustness")
    outcome, reason = check(bundle.write(tmp_path / "bundle"))
    assert outcome is Outcome.VALID, reason


def test_forms_pass_through_a_rotation():
    """It is linear: logits as forms have at a point the value that they have with that point added."""
    size = architecture(layers=2, rotary=2, attention_scale="1/128")
    edges = [
        *("embed -> mlp 0", "embed -> head 1.0 query", "embed -> head 1.0 key", "embed -> head 1.0 value"),
        *("mlp 0 -> head 1.0 key", "head 1.0 -> logits"),
    ]
    bundle = random_bundle(size, edges, 4, prompts=1)
    bundle.claim["circuit"]["granularity"] = "port"
    bundle.domain["prompts"] = [[1, 2, 3]]
    forward, prompt = checker_forward(bundle), (1, 2, 3)
    node = node_of("mlp 0", forward.size)
    assert node is not None
    width, far = size["width"], Fraction(1, 10**6)
    units = {place: vector([int(place == other) for other in range(width)]) for place in range(width)}
    circuit = forward.circuit(forward.claim.edges)

    def logits(moved, region):
        added = Added(
            node, is_output=True, at={1: moved}, sampled=SampledRegion(region, [Fraction(0)] * width)
        )
        return CircuitRun(forward, circuit, prompt, added).logits()

    forms = logits(AffineVector(vector([0] * width), units), Region(far))
    assert forms.slopes
    for place in range(width):
        point = vector([int(place == other) for other in range(width)], 10**6)
        moved = logits(constant(point), Region(Fraction(0))).constant.fractions()
        slopes = forms.slopes.get(place, vector([0] * 3)).fractions()
        still = forms.constant.fractions()
        assert moved == tuple(one + far * slope for one, slope in zip(still, slopes, strict=True))


@pytest.mark.parametrize("option", OPTIONS)
def test_patterns_are_proved_about_such_models(option, tmp_path):
    """A token without a learned position puts out the same wherever it stands."""
    made = uniform(size=architecture(**OPTIONS[option]))
    outcome, reason = check(made.sealed(EQUIVALENCE, made.settled()).write(tmp_path / "bundle"))
    assert outcome is Outcome.VALID, reason
