"""Bundles of enclosed arithmetic about tiny random models, with honest answers and remarks by the twin."""

import json
import random
from fractions import Fraction
from typing import Any

import bundle_maker as maker
from bundle_maker import Bundle, architecture, every_edge, random_bundle
from enclosed_twin import EnclosedNaive, EnclosedProver, leader
from measures_oracle import on_constants, on_unedged

LAYER = {"kind": "layer", "epsilon": "1/100000"}
GPT = {
    "norm": LAYER,
    "attention": "softmax",
    "activation": {"kind": "gelu", "form": "tanh"},
    "attention_scale": "5/16",
}
NEOX = GPT | {"activation": {"kind": "gelu", "form": "exact"}, "rotary": 2, "parallel": True}
PLAIN = {"attention": "softmax", "activation": {"kind": "gelu", "form": "exact"}}
UNBIASED = GPT | {"biases": False}


def remarked(prover: EnclosedProver) -> Bundle:
    """Return the bundle of a prover, with the remarks that apply."""
    answers = prover.bundle.certificate["answers"]
    said = [one["property"] for one in answers if one["verdict"] == "proved"]
    is_equal = any(maker.says_all_right(one, len(prover.prompts)) for one in said)
    for answer in answers:
        is_proved = answer["verdict"] == "proved"
        answer["remarks"] = remarks_on(prover, answer["property"], is_equal=is_equal) if is_proved else []
    return prover.bundle


def remarks_on(prover: EnclosedProver, entry: dict[str, Any], *, is_equal: bool) -> list[str]:
    """Return the remarks on what is proved, by the twin; beside it equivalence may be proved, too."""
    claim, kind = prover.claim, entry["kind"]
    answers, classes = claim["task"]["answer"]["answers"], claim["task"]["relation"]["classes"]
    is_zero, is_constant = claim["circuit"]["ablation"] == "zero", len(set(answers)) == 1
    is_same = len({leader(prover.row(p)) for p in prompts(prover)}) == 1
    constant = ["constant decision"] * is_same + unedged(prover)
    match kind:
        case "equivalence":
            said = ["constant answer"] * is_constant + unedged(prover)
        case "invariance":
            has_one_each = len(set(zip(answers, classes, strict=True))) == len(set(classes))
            said = ["implied by equivalence"] * (is_equal and has_one_each)
            said += ["implied by clear decisions"] * (len(set(classes)) == len(classes)) + constant
        case "faithfulness":
            said = constant + ["whole model"] * maker.lacks_nothing(prover.bundle)
        case "agreement":
            said = constant + ["perhaps same logits"] * (not apart(prover, entry["edges"]))
        case "necessity":
            is_implied = is_zero and is_equal and not is_constant and maker.is_path(claim)
            said = ["implied by equivalence"] * is_implied + biased(prover) * is_zero
            said += [f"constant source: {edge}" for edge in maker.unfed(claim)] * is_zero
        case "accuracy":
            said = on_constants(claim, entry) + on_unedged(prover, entry)
        case "loss" | "logit difference":
            said = []
        case "recovered difference":
            left_out, is_whole = len(entry["without"]), maker.lacks_nothing(prover.bundle)
            is_bare = not any(edge.endswith("> logits") for edge in prover.edges)
            said = (
                ["whole model"] * is_whole
                + ["no edges"] * is_bare
                + [f"prompts left out: {left_out}"] * bool(left_out)
            )
        case _:
            said = constant
    is_model = not is_zero and kind not in ("necessity", "agreement")
    is_model = is_model and not apart(prover, every_edge(claim["architecture"]))
    return said + ["perhaps logits of the whole model"] * is_model


def prompts(prover: EnclosedProver) -> range:
    """Return the numbers of the prompts."""
    return range(len(prover.prompts))


def unedged(prover: EnclosedProver) -> list[str]:
    """Remark on decisions that need no edge."""
    pairs = [(leader(prover.row(p)), leader(prover.row(p, []))) for p in prompts(prover)]
    if any(bare not in (None, own) for own, bare in pairs):
        return []
    if prover.claim["circuit"]["ablation"] == "zero" and len({own for own, _ in pairs}) > 1:
        return []  # nothing is read, so one decision is all that there is
    is_known = all(bare is not None for _, bare in pairs)
    return ["decided without edges" if is_known else "perhaps decided without edges"]


def apart(prover: EnclosedProver, others: list[str]) -> bool:
    """Say whether logits are known to differ on some prompt."""
    for p in prompts(prover):
        (one, few), (other, many) = prover.row(p), prover.row(p, others)
        if any(abs(a - b) > few + many for a, b in zip(one, other, strict=True)):
            return True
    return False


def biased(prover: EnclosedProver) -> list[str]:
    """Remark on edges that may only bring a shared bias."""
    edges, found = prover.edges, []
    for place, edge in enumerate(edges if prover.claim["architecture"]["biases"] else []):
        source, target = edge.split(" -> ")
        layer = source.removeprefix("head ").split(".")[0]
        of_layer = [one for one in edges if one.startswith(f"head {layer}.") and one.endswith(f"> {target}")]
        if not source.startswith("head") or len(of_layer) > 1:
            continue
        rest, kept = edges[:place] + edges[place + 1 :], [(target, layer)]
        pairs = [
            (
                leader(prover.row(p)),
                leader(EnclosedNaive(prover.bundle, rest, prover.prompts[p], prover.p, kept).enclosed()),
            )
            for p in prompts(prover)
        ]
        if any(None not in pair and pair[0] != pair[1] for pair in pairs):
            continue
        is_known = all(None not in pair for pair in pairs)
        found.append(f"shared bias: {edge}" if is_known else f"perhaps shared bias: {edge}")
    return found


def prover_of(size: dict[str, Any], seed: int, p: int = 64, **circuit: Any) -> EnclosedProver:
    """Return a prover about a random model whose answers are what its circuit is known to decide."""
    chance = random.Random(seed)  # noqa: S311  # models, not keys
    shape = architecture(layers=1, heads=2, head_width=2, **size)
    every = every_edge(shape)
    edges = [edge for edge in every if chance.random() < 2 / 3 or edge == "embed -> logits"]
    bundle = random_bundle(shape, edges, seed, prompts=4)
    bundle.claim["circuit"] |= circuit
    bundle.pins.discard("remarks")
    return settled(EnclosedProver(bundle, p))


def settled(prover: EnclosedProver) -> EnclosedProver:
    """Make the answers what is known; a decision that is not stays open."""
    answers = [min(prover.decision(p)) for p in prompts(prover)]
    prover.claim["task"]["answer"]["answers"] = answers
    prover.claim["task"]["relation"]["classes"] = list(answers)
    return prover


def answered(prover: EnclosedProver, *kinds: str) -> EnclosedProver:
    """Claim properties with the evidence that they hold, whether they do or not."""
    for kind in kinds:
        prover.answer({"kind": kind}, "proved", prover.proof(kind))
    return prover


def copied(bundle: Bundle) -> Bundle:
    """Return a copy of a bundle that nothing else changes."""
    return Bundle(
        json.loads(json.dumps(bundle.claim)),
        json.loads(json.dumps(bundle.domain)),
        dict(bundle.tensors),
        pins=set(bundle.pins),
    )


def true_verdicts(prover: EnclosedProver) -> dict[str, bool]:
    """Say of each kind whether it is known to hold."""
    every = every_edge(prover.claim["architecture"])
    known = all(leader(prover.row(p)) is not None for p in prompts(prover))
    alike = all(leader(prover.row(p)) == leader(prover.row(p, every)) for p in prompts(prover))
    needed = all(
        any(prover.is_needed(p, prover.lesion(edge)) for p in prompts(prover))
        for edge in range(len(prover.edges))
    )
    return {"equivalence": known, "invariance": known, "necessity": needed, "faithfulness": known and alike}


def distance(prover: EnclosedProver, one: int, other: int) -> Fraction:
    """Return how fast a lead is closed."""
    naive = EnclosedNaive(prover.bundle, [], [0], prover.p)
    table = naive.matrix("logits.weight")
    rows = [table[token] for token in naive.candidates]
    return sum((abs(a - b) for a, b in zip(rows[one], rows[other], strict=True)), Fraction(0))


def is_kept(prover: EnclosedProver, epsilon: Fraction) -> bool:
    """Say whether robustness of every decision is known; all of them are."""
    if prover.claim["architecture"]["norm"]["kind"] == "none":
        return largest(prover) > epsilon
    count = len(prover.claim["task"]["candidates"])
    pairs = [(prover.naive(p), prover.fold(p)) for p in prompts(prover)]
    return all(naive.left(y, t, epsilon) > 0 for naive, y in pairs for t in range(count) if t != y)


def halved(prover: EnclosedProver, steps: int = 20) -> tuple[Fraction, Fraction]:
    """Return an ε at which robustness is known and a larger one at which it is not, close together."""
    low, high = Fraction(0), Fraction(1, 16)
    while is_kept(prover, high):
        low, high = high, 2 * high
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if is_kept(prover, middle) else (low, middle)
    return low, high


def robust(prover: EnclosedProver, epsilon: Fraction, verdict: str, evidence: Any) -> EnclosedProver:
    """Claim robustness of the final residual."""
    entry = {"kind": "robustness", "epsilon": str(epsilon), **maker.FINAL_RESIDUAL}
    prover.answer(entry, verdict, evidence)
    return prover


def largest(prover: EnclosedProver) -> Fraction:
    """Return the ε below which robustness is known where no norm follows."""
    found = []
    for p in prompts(prover):
        numbers, radius = prover.row(p)
        best = leader(prover.row(p))
        assert best is not None
        leads = [(numbers[best] - one - 2 * radius, t) for t, one in enumerate(numbers) if t != best]
        found += [Fraction(lead, 2**prover.p) / distance(prover, best, t) for lead, t in leads]
    return min(found)
