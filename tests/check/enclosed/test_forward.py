"""What the checker computes in enclosed numbers is what the table says, to the last bit."""

import random

import pytest

import bundle_maker as maker
from bundle_maker import Bundle, architecture, every_edge, random_bundle
from checker_reading import checker_forward
from circuitproof_check.enclosed.forward import Enclosures
from circuitproof_check.reading import ForgedError
from enclosed_twin import EnclosedNaive

PROGRAM = ["default 0", "add 2/3 when key_position == 0", "add 1 when token_match", "otherwise nowhere"]
LAYER = {"kind": "layer", "epsilon": "1/100000"}
TANH, ERF = {"kind": "gelu", "form": "tanh"}, {"kind": "gelu", "form": "exact"}
LEAKY = {"kind": "leaky relu", "slope": "1/3"}
NORMS = [{"kind": "none"}, LAYER]
ACTIVATIONS = [{"kind": "relu"}, LEAKY, TANH, ERF]


def ablations(prompts: list[list[int]]) -> list:
    """Return one of each kind."""
    listed = [[token] * count for token in (1, 2) for count in range(1, 5)]
    return [
        "zero",
        {"kind": "mean", "over": "position", "prompts": listed},
        {"kind": "mean", "over": "all", "prompts": [[1, 2], [3], [4, 0, 5]]},
        {"kind": "counterfactual", "pairs": [[prompt, prompt[::-1]] for prompt in prompts]},
    ]


def random_model(seed: int) -> Bundle:
    """Return a bundle of a random architecture, circuit, ablation and granularity."""
    chance = random.Random(seed)  # noqa: S311  # models, not keys
    options = {"rotary": chance.choice([2, 4])} if chance.random() < 1 / 2 else {}
    options |= {"parallel": True} if chance.random() < 1 / 2 else {}
    size = architecture(
        layers=2,
        heads=2,
        head_width=5,
        norm=chance.choice(NORMS),
        activation=chance.choice(ACTIVATIONS),
        attention=chance.choice(["softmax", "sparsemax"]),
        attention_scale="5/16",
        biases=chance.random() < 1 / 2,
        tied=chance.random() < 1 / 2,
        logit_bias=chance.random() < 1 / 2,
        mlp_width=chance.choice([0, 3]),
        **options,
    )
    programs = {"0.1": PROGRAM} if chance.random() < 1 / 2 else {}
    is_split = chance.random() < 1 / 2
    every = every_edge(size, programs if is_split else None)
    edges = [edge for edge in every if chance.random() < 3 / 4 or edge == "embed -> logits"]
    bundle = random_bundle(size, edges, seed, programs, prompts=4)
    for name, (shape, numbers) in bundle.tensors.items():
        bundle.tensors[name] = shape, [number / 3 + chance.gauss(0, 1 / 8) for number in numbers]
    as_stored(bundle)
    circuit = bundle.claim["circuit"]
    circuit |= {"granularity": "port" if is_split else "head"}
    circuit |= {"ablation": chance.choice(ablations(bundle.domain["prompts"]))}
    return bundle


def as_stored(bundle: Bundle) -> None:
    """Round the numbers of a bundle to those that FP32 has."""
    for name, (shape, numbers) in bundle.tensors.items():
        content = maker.raw(numbers)
        stored = list(memoryview(content).cast("f")) if content else []
        bundle.tensors[name] = shape, stored


@pytest.mark.parametrize("seed", range(40))
def test_logits_are_those_of_the_slow_twin_to_the_last_bit(seed):
    """Midpoints and radius, of all prompts together and of one alone, for every operator and ablation."""
    bundle = random_model(seed)
    forward, precision = checker_forward(bundle), (16, 40, 64, 200)[seed % 4]
    together = Enclosures(forward, precision)
    together.prepare(forward.claim.edges, forward.claim.prompts)
    edges = bundle.claim["circuit"]["edges"]
    for prompt in bundle.domain["prompts"]:
        numbers, radius = EnclosedNaive(bundle, edges, prompt, precision).enclosed()
        row = together.logits(forward.claim.edges, tuple(prompt))
        assert (list(row.midpoints), row.radius) == (numbers, radius)
        assert Enclosures(forward, precision).logits(forward.claim.edges, tuple(prompt)) == row


@pytest.mark.parametrize("seed", range(40, 60))
def test_a_larger_precision_encloses_within_a_smaller_one(seed):
    """Both hold the true logits, so they meet; the larger one is the smaller ball."""
    forward = checker_forward(random_model(seed))
    small, large = Enclosures(forward, 48), Enclosures(forward, 300)
    for prompt in forward.claim.prompts:
        one, other = (few.logits(forward.claim.edges, prompt) for few in (small, large))
        assert other.radius < one.radius << 252
        pairs = zip(one.midpoints, other.midpoints, strict=True)
        square = sum((a * 2**252 - b) ** 2 for a, b in pairs)
        assert square <= (one.radius * 2**252 + other.radius) ** 2


def test_circuits_share_what_reads_the_same_and_nothing_else():
    """A circuit and its lesions, one after the other, are what each is alone."""
    bundle = random_model(8)
    forward = checker_forward(bundle)
    shared, own = Enclosures(forward, 64), forward.claim.edges
    lesions = [own[:place] + own[place + 1 :] for place in range(len(own))]
    for edges in [own, *lesions, ()]:
        for prompt in forward.claim.prompts:
            assert shared.logits(edges, prompt) == Enclosures(forward, 64).logits(edges, prompt)


@pytest.mark.parametrize("seed", [6, 8, 13, 20])
def test_what_is_forgotten_is_computed_again(seed, monkeypatch):
    """Rows are kept for other circuits and prompts as long as memory allows."""
    forward = checker_forward(random_model(seed))
    kept = Enclosures(forward, 64)
    kept.prepare(forward.claim.edges, forward.claim.prompts)
    monkeypatch.setattr("circuitproof_check.enclosed.forward._KEPT", 0)
    monkeypatch.setattr("circuitproof_check.enclosed.carried.TOGETHER", 0)
    forgotten = Enclosures(forward, 64)
    forgotten.prepare(forward.claim.edges, forward.claim.prompts)
    for prompt in forward.claim.prompts:
        assert forgotten.logits(forward.claim.edges, prompt) == kept.logits(forward.claim.edges, prompt)


def test_the_band_norm_is_refused_where_it_is_evaluated():
    """It has no enclosures; an exact claim has it."""
    band = {"kind": "band", "low": "1", "high": "2", "lift": "reference"}
    size = architecture(norm=band)
    bundle = random_bundle(size, ["embed -> logits"], 1, prompts=2)
    forward = checker_forward(bundle)
    with pytest.raises(ForgedError, match="norm has enclosures"):
        Enclosures(forward, 64).logits(forward.claim.edges, forward.claim.prompts[0])


def test_a_precision_that_a_norm_swallows_is_refused():
    """A deviation of zero units divides nothing."""
    size = architecture(norm={"kind": "layer", "epsilon": "1/1000000000000"})
    bundle = random_bundle(size, ["embed -> logits"], 1, prompts=2)
    bundle.tensors["embed.token"] = bundle.tensors["embed.token"][0], [0.0] * 24
    bundle.tensors["embed.position"] = bundle.tensors["embed.position"][0], [0.0] * 16
    forward = checker_forward(bundle)
    prompt = forward.claim.prompts[0]
    with pytest.raises(ForgedError, match="precision is enough for norms"):
        Enclosures(forward, 16).logits(forward.claim.edges, prompt)
    assert Enclosures(forward, 64).logits(forward.claim.edges, prompt)
