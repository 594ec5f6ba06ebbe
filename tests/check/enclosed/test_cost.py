"""The work of an enclosed claim is known before it is begun."""

import re
import time
from types import SimpleNamespace

import pytest

import bundle_maker as maker
from bundle_maker import Bundle, architecture, every_edge, random_bundle
from circuitproof_check import work
from circuitproof_check.architecture import Node
from circuitproof_check.enclosed import cost
from circuitproof_check.main import Beside, Outcome, inspect
from enclosed_claims import GPT, NEOX, PLAIN, answered, prover_of, remarked, settled
from enclosed_twin import EnclosedProver
from measures_oracle import MEASURES, evaluated, measured, replaying


@pytest.mark.parametrize("size", [GPT, NEOX, PLAIN], ids=["GPT", "NEOX", "PLAIN"])
@pytest.mark.parametrize("ablation", ["zero", "mean"])
def test_with_the_operations_that_the_sentence_names_the_claim_is_judged(size, ablation, tmp_path):
    """A number that were not enough would send its reader back again."""
    prover = prover_of(size, 3)
    if ablation == "mean":
        prover.claim["circuit"]["ablation"] = {"kind": "mean", "over": "all", "prompts": [[1, 2], [3, 4, 5]]}
        prover.found = {}
    kinds = ("equivalence", "invariance") if ablation == "zero" else ("equivalence",)
    bundle = remarked(answered(prover, *kinds)).write(tmp_path / "bundle")
    judged = inspect(bundle, Beside()).outcome
    few = inspect(bundle, Beside(operations=40_000))
    assert few.outcome is Outcome.INCOMPLETE
    named = re.search(r"--operations (\d+)$", few.reason)
    assert named is not None, few.reason
    assert inspect(bundle, Beside(operations=int(named[1]))).outcome is judged
    assert judged is Outcome.INVALID or int(named[1]) < 2 * work.spent()
    foreseen = inspect(bundle, Beside(only_foreseen=True))
    assert foreseen.outcome is Outcome.INCOMPLETE
    assert re.fullmatch(r"about \d+ operations are needed, and \d+ are left", foreseen.reason)


def test_places_that_prompts_share_are_foreseen_once():
    """All pairs of six tokens have six beginnings: 42 places and not 72."""
    pairs = [(a, b) for a in range(6) for b in range(6)]
    masked, unmasked = (
        SimpleNamespace(
            ablation=SimpleNamespace(is_uniform=True), architecture=SimpleNamespace(is_masked=is_masked)
        )
        for is_masked in (True, False)
    )
    assert cost._counts(masked, pairs) == cost.TokenCounts(42, 36, 6 + 2 * 36, 72)
    assert cost._counts(unmasked, pairs) == cost.TokenCounts(72, 36, 2 * 72, 72)  # nothing is shared
    masked.ablation.is_uniform = False
    assert cost._counts(masked, pairs) == cost.TokenCounts(72, 36, 36 + 2 * 36, 72)


def test_only_what_is_read_as_key_or_value_is_computed_everywhere():
    """Queries, and what leads to the logits alone, are computed at the last position."""
    head, mlp, end = Node(1), Node(2), Node(4)
    everything = ((Node(0), head), (head, mlp), (mlp, end))
    assert cost._read_everywhere(everything) == {Node(0)}
    later = ((Node(0), head), (head, Node(3, 0, 2)), (mlp, Node(3, 0, 1)), (Node(3), end))
    assert cost._read_everywhere(later) == {Node(0), head}


@pytest.mark.parametrize("without", [[], [1]])
@pytest.mark.parametrize(
    "ablation", ["zero", {"kind": "mean", "over": "all", "prompts": [[1, 2], [3, 4, 5]]}]
)
def test_measures_are_judged_with_the_operations_that_the_sentence_names(ablation, without, tmp_path):
    """Losses take an exp of each candidate's logit and two logarithms."""
    prover = prover_of(GPT, 3)
    prover.claim["circuit"]["ablation"], prover.found = ablation, {}
    settled(prover)
    for kind in MEASURES:
        evaluated(prover, measured(prover, kind, without if kind.startswith("recovered") else ()))
    bundle = remarked(replaying(prover, 2, [0, 1])).write(tmp_path / "bundle")
    judged = inspect(bundle, Beside())
    assert judged.outcome is Outcome.VALID, judged.reason
    few = inspect(bundle, Beside(operations=60_000))
    named = re.search(r"--operations (\d+)$", few.reason)
    assert (few.outcome, named is None) == (Outcome.INCOMPLETE, False), few.reason
    assert named is not None
    assert inspect(bundle, Beside(operations=int(named[1]))).outcome is Outcome.VALID


def wide(precision: int) -> Bundle:
    """Return a claim about a model of some size, whose evidence states anything."""
    size = architecture(width=64, head_width=16, heads=4, layers=4, mlp_width=64, context=64, **GPT)
    bundle = random_bundle(size, every_edge(size), 1, prompts=8)
    bundle.domain["prompts"] = [[step % 6, step // 6] * 32 for step in range(8)]
    bundle.pins.discard("remarks")
    prover = EnclosedProver(bundle, precision)
    prover.answer({"kind": "equivalence"}, "proved", prover.by_prompt(lambda _: {"decided": 0}))
    return bundle


def test_what_is_too_much_is_refused_before_it_is_begun(tmp_path):
    """A small file with a large precision is no reason to compute for an hour."""
    bundle = wide(4096).write(tmp_path / "bundle")
    begun = time.process_time()
    report = inspect(bundle, Beside())
    assert report.outcome is Outcome.INCOMPLETE
    assert re.search(r"about \d+ operations are needed, .* --operations \d+$", report.reason)
    assert time.process_time() - begun < 5


def test_numbers_that_grow_are_answered_in_time(tmp_path):
    """Weights of 2^127 in 400 layers make numbers of 100,000 bits, which no exp is taken of."""
    size = architecture(
        layers=400, heads=1, mlp_width=8, width=8, activation={"kind": "gelu", "form": "tanh"}
    )
    edges = ["embed -> mlp 0", *(f"mlp {one} -> mlp {one + 1}" for one in range(399)), "mlp 399 -> logits"]
    bundle = random_bundle(size, edges, 1, prompts=1)
    for name, (shape, numbers) in bundle.tensors.items():
        if name.startswith("mlp"):
            bundle.tensors[name] = shape, [2.0**127] * len(numbers)
    bundle.pins.discard("remarks")
    prover = EnclosedProver(bundle, 64)
    prover.answer({"kind": "equivalence"}, "proved", prover.by_prompt(lambda _: {"decided": 0}))
    begun = time.process_time()
    report = inspect(bundle.write(tmp_path / "bundle"), Beside())
    assert report.outcome is Outcome.INVALID
    assert "decided is what is known" in report.reason
    assert time.process_time() - begun < 10


def test_undecided_answers_cost_nothing(tmp_path):
    """Whatever the precision: nothing is evaluated for them."""
    bundle = wide(4096)
    left_open(bundle)
    report = inspect(bundle.write(tmp_path / "bundle"), Beside())
    assert report.outcome is Outcome.INCOMPLETE
    assert "equivalence undecided" in report.reason


def left_open(bundle: Bundle) -> None:
    """Leave the only answer of a bundle open."""
    answer = bundle.certificate["answers"][0]
    answer |= {"verdict": "undecided", "evidence": {"open": "8 prompts are open"}}
    bundle.claim["weights"] = maker.pinned(bundle.tensors)
