"""Remarks on enclosed answers: `perhaps` stands where decisions, or differences of logits, are not known."""

from collections.abc import Callable

import pytest

from bundle_maker import Bundle, architecture, every_edge, random_bundle
from circuitproof_check.main import Outcome, check
from enclosed_claims import GPT, PLAIN, answered, prover_of, remarked, settled
from enclosed_twin import EnclosedProver


def _zeroed(bundle: Bundle, *names: str) -> None:
    for name in names:
        shape, numbers = bundle.tensors[name]
        bundle.tensors[name] = shape, [0.0] * len(numbers)


def without_bias() -> EnclosedProver:
    """Return a proof about a model whose logits without any edge are all the same, so far as is known."""
    prover = prover_of(PLAIN, 1)
    _zeroed(prover.bundle, "logits.bias")
    prover.found = {}
    return answered(settled(prover), "equivalence")


def agreeing() -> EnclosedProver:
    """Return the agreement of a circuit with one that differs in an edge from a silent head."""
    prover = prover_of(GPT, 0)
    _zeroed(prover.bundle, "head.0.1.output.weight", "attention.0.output.bias")
    prover.found = {}
    edges = prover.edges
    other = [
        edge for edge in every_edge(prover.claim["architecture"]) if edge in {*edges, "head 0.1 -> logits"}
    ]
    other = other if other != edges else [edge for edge in edges if edge != "head 0.1 -> logits"]
    settled(prover)
    entry = {"kind": "agreement", "granularity": "head", "edges": other}
    leaf = prover.by_prompt(lambda p: {"fold": prover.fold(p), "other": prover.fold(p, other)})
    prover.answer(entry, "proved", leaf)
    return prover


def whole() -> EnclosedProver:
    """Return a proof about the whole model under an ablation that carries something."""
    size = architecture(layers=1, heads=2, **GPT)
    bundle = random_bundle(size, every_edge(size), 4, prompts=3)
    bundle.claim["circuit"]["ablation"] = {"kind": "mean", "over": "all", "prompts": [[1, 2], [3, 4, 5]]}
    bundle.pins.discard("remarks")
    return answered(settled(EnclosedProver(bundle)), "equivalence")


def biased(third: float) -> EnclosedProver:
    """Return the necessity of two edges, of which that of a silent head only brings the shared bias.

    The logits read a token's number less 2, and decide by its sign.
    """
    size = architecture(heads=1, width=2, mlp_width=0, logit_bias=False, attention="softmax")
    bundle = random_bundle(size, ["embed -> logits", "head 0.0 -> logits"], 1, prompts=3)
    _zeroed(bundle, *bundle.tensors)
    bundle.tensors["embed.token"] = (6, 2), [0, 1, 0, 5, 0, third, *[0] * 6]
    bundle.tensors["attention.0.output.bias"] = (2,), [0, -2]
    bundle.tensors["logits.weight"] = (6, 2), [0, 0, 0, 1, 0, 0, 0, -1, 0, 0, 0, 0]
    bundle.domain["prompts"] = [[0], [1], [2]]
    bundle.pins.discard("remarks")
    return answered(settled(EnclosedProver(bundle)), "necessity")


CASES: dict[str, tuple[Callable[[], EnclosedProver], str]] = {
    "decided without edges": (without_bias, "perhaps decided without edges"),
    "same logits": (agreeing, "perhaps same logits"),
    "logits of the whole model": (whole, "perhaps logits of the whole model"),
    "shared bias: head 0.0 -> logits": (lambda: biased(2), "perhaps shared bias: head 0.0 -> logits"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_remark_that_may_apply_stands_with_perhaps(case, tmp_path):
    """Left out, or said as if it were known, it makes a bundle invalid."""
    make, remark = CASES[case]
    bundle = remarked(make())
    (answer,) = bundle.certificate["answers"]
    said = answer["remarks"]
    assert remark in said
    outcome, reason = check(bundle.write(tmp_path / "said"))
    assert outcome is Outcome.VALID, reason
    assert remark in reason
    forgeries = [one for one in said if one != remark], [case if one == remark else one for one in said]
    for place, wrong in enumerate(forgeries):
        answer["remarks"] = wrong
        outcome, reason = check(bundle.write(tmp_path / str(place)))
        assert (outcome, "remarks are those that apply" in reason) == (Outcome.INVALID, True)


def test_a_shared_bias_is_remarked_on_without_perhaps_where_all_is_known(tmp_path):
    """Each decision, with the edge and with the bias alone, is known and the same."""
    bundle = remarked(biased(-3))
    said = ["shared bias: head 0.0 -> logits", "constant source: head 0.0 -> logits"]
    assert bundle.certificate["answers"][0]["remarks"] == said
    outcome, reason = check(bundle.write(tmp_path / "bundle"))
    assert outcome is Outcome.VALID, reason


def test_a_decision_without_edges_is_remarked_on_without_perhaps_where_it_is_known(tmp_path):
    """A bias of one candidate that nothing outweighs."""
    prover = prover_of(PLAIN, 1)
    shape, numbers = prover.bundle.tensors["logits.bias"]
    numbers = [1000.0 if token == 3 else 0.0 for token in range(len(numbers))]
    prover.bundle.tensors["logits.bias"] = shape, numbers
    prover.found = {}
    bundle = remarked(answered(settled(prover), "equivalence"))
    assert bundle.certificate["answers"][0]["remarks"] == ["constant answer", "decided without edges"]
    outcome, reason = check(bundle.write(tmp_path / "bundle"))
    assert outcome is Outcome.VALID, reason
