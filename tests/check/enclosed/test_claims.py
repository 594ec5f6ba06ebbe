"""Claims of enclosed arithmetic: what is known is accepted, and nothing else."""

from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import bundle_maker as maker
from bundle_maker import architecture, every_edge, random_bundle
from circuitproof_check.main import Beside, Outcome, check, inspect
from enclosed_claims import (
    GPT,
    NEOX,
    PLAIN,
    UNBIASED,
    answered,
    copied,
    largest,
    prompts,
    prover_of,
    remarked,
    robust,
    settled,
    true_verdicts,
)
from enclosed_twin import EnclosedNaive, EnclosedProver, leader

SIZES = {"like GPT-2": GPT, "like GPT-NeoX": NEOX, "without norms": PLAIN, "without biases": UNBIASED}


def written(prover: EnclosedProver, path: Path) -> tuple[Outcome, str]:
    """Return the checker's answer."""
    return check(remarked(prover).write(path))


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("seed", range(6))
def test_what_the_twin_knows_is_accepted_and_the_rest_refused(name, seed, tmp_path):
    """Each property with the same evidence, true or not; the checker tells which."""
    prover = prover_of(SIZES[name], seed)
    for kind, is_true in true_verdicts(prover).items():
        claimed = EnclosedProver(copied(prover.bundle), prover.p)
        claimed.found = prover.found
        answered(claimed, kind)
        outcome, reason = written(claimed, tmp_path / kind.replace(" ", "_"))
        assert outcome is (Outcome.VALID if is_true else Outcome.INVALID), (kind, reason)
        if is_true:
            assert "enclosed arithmetic of 64 bits: " in reason


ABLATIONS = ["mean by position", "mean over all", "counterfactual"]


def carrying(kind: str, prover: EnclosedProver) -> Any:
    """Return an ablation that carries something."""
    listed = [[token] * count for token in (1, 2) for count in range(1, 5)]
    return {
        "mean by position": {"kind": "mean", "over": "position", "prompts": listed},
        "mean over all": {"kind": "mean", "over": "all", "prompts": listed[:3]},
        "counterfactual": {
            "kind": "counterfactual",
            "pairs": [[one, [(token + 1) % 6 for token in one]] for one in prover.prompts],
        },
    }[kind]


@pytest.mark.parametrize("kind", ABLATIONS)
@pytest.mark.parametrize("name", ["like GPT-2", "like GPT-NeoX"])
def test_cut_edges_carry_enclosed_rows(kind, name, tmp_path):
    """Means and partners of the whole model stand at them."""
    prover = prover_of(SIZES[name], 5)
    prover.claim["circuit"]["ablation"] = carrying(kind, prover)
    prover.found = {}
    settled(prover)
    answered(prover, *(kind for kind, is_true in true_verdicts(prover).items() if is_true))
    assert prover.claim["properties"]
    outcome, reason = written(prover, tmp_path / "bundle")
    assert outcome is Outcome.VALID, reason


def test_a_precision_that_is_too_small_proves_nothing(tmp_path):
    """With few bits the radius exceeds every lead, and the evidence is refused."""
    prover = prover_of(GPT, 0, p=16)
    assert not true_verdicts(prover)["equivalence"]
    answered(prover, "equivalence")
    outcome, reason = written(prover, tmp_path / "bundle")
    assert outcome is Outcome.INVALID
    assert "decided is what is known" in reason


def test_refutations_are_of_known_decisions(tmp_path):
    """A known decision that is not the answer refutes; one that is not known does not."""
    prover = prover_of(GPT, 0)
    answers = prover.claim["task"]["answer"]["answers"]
    other = next(one for one in prover.claim["task"]["candidates"] if one != answers[0])
    answers[0] = other
    prover.answer({"kind": "equivalence"}, "refuted", {"replay": [{"prompt": 0, "fold": prover.fold(0)}]})
    assert written(prover, tmp_path / "known")[0] is Outcome.REFUTED
    prover.bundle.certificate["precision"] = 16
    assert written(prover, tmp_path / "unknown")[0] is Outcome.INVALID


def test_open_answers_are_incomplete_whatever_the_precision(tmp_path):
    """Nothing is evaluated for them."""
    prover = prover_of(GPT, 0)
    prover.answer({"kind": "equivalence"}, "undecided", {"open": "1 prompt: the margin 2, radius 3"})
    assert written(prover, tmp_path / "bundle")[0] is Outcome.INCOMPLETE


def test_robustness_is_proved_below_its_radius_and_not_at_it(tmp_path):
    """The lead must exceed what ε moves, strictly."""
    prover = prover_of(PLAIN, 1)
    bound = largest(prover)
    leaves = prover.by_prompt(lambda p: {"decided": prover.fold(p)})
    for epsilon, outcome in ((bound * Fraction(999, 1000), Outcome.VALID), (bound, Outcome.INVALID)):
        claimed = EnclosedProver(copied(prover.bundle), prover.p)
        claimed.found = prover.found
        found, reason = written(robust(claimed, epsilon, "proved", leaves), tmp_path / outcome.name)
        assert found is outcome, reason
    assert "leads exceed what epsilon moves" in reason


def test_robustness_is_refuted_by_what_brings_another_known_decision(tmp_path):
    """One that only makes the decision unknown refutes nothing."""
    prover = prover_of(PLAIN, 1)
    naive = EnclosedNaive(prover.bundle, [], [0], prover.p)
    rows = [naive.matrix("logits.weight")[token] for token in naive.candidates]
    best = prover.fold(0)
    other = next(t for t in range(len(rows)) if t != best)
    turn = [Fraction((a < b) - (a > b)) for a, b in zip(rows[best], rows[other], strict=True)]
    for size, outcome in ((Fraction(1000), Outcome.REFUTED), (Fraction(1, 10**9), Outcome.INVALID)):
        claimed = EnclosedProver(copied(prover.bundle), prover.p)
        eta = [str(size * one) for one in turn]
        evidence = {"replay": [{"prompt": 0, "decided": best, "eta": eta}]}
        found, reason = written(robust(claimed, size, "refuted", evidence), tmp_path / outcome.name)
        assert found is outcome, reason
    assert "eta brings another known decision" in reason


def test_the_precision_stands_in_the_line_and_among_assumptions(tmp_path):
    """Whoever reads a verdict reads that numbers were enclosed, and how finely."""
    prover = answered(prover_of(GPT, 0), "equivalence")
    report = inspect(remarked(prover).write(tmp_path / "bundle"), Beside())
    assert "3 candidates, enclosed arithmetic of 64 bits: equivalence" in report.reason
    assert {"about": "arithmetic", "is": "enclosed", "precision": "64"} in report.assumptions
    assert (report.claim["arithmetic"], report.claim["precision"]) == ("enclosed", 64)


@pytest.mark.parametrize("stated", [None, 15, 4097, "64", 64.0, True])
def test_a_precision_is_an_integer_from_16_to_4096(stated, tmp_path):
    """Without one nothing can be computed, and an exact certificate has none."""
    bundle = remarked(answered(prover_of(GPT, 0), "equivalence"))
    del bundle.certificate["precision"]
    bundle.certificate |= {} if stated is None else {"precision": stated}
    assert check(bundle.write(tmp_path / "bundle"))[0] is Outcome.INVALID


def test_an_exact_certificate_has_no_precision(tmp_path):
    """It would say that something was rounded."""
    bundle = maker.proving(maker.fitting(), "equivalence")
    bundle.certificate["precision"] = 64
    outcome, reason = check(bundle.write(tmp_path / "bundle"))
    assert (outcome, "keys are the named" in reason) == (Outcome.INVALID, True)


def test_folds_are_no_evidence_in_enclosed_arithmetic(tmp_path):
    """Neither referred to by a leaf nor lying about."""
    bundle = remarked(answered(prover_of(GPT, 0), "equivalence"))
    bundle.certificate["folds"] = [["1", "2", "3"]]
    outcome, reason = check(bundle.write(tmp_path / "idle"))
    assert (outcome, "every fold is referred to" in reason) == (Outcome.INVALID, True)
    bundle.certificate["answers"][0]["evidence"]["children"][0] = {"fold": 0}
    outcome, reason = check(bundle.write(tmp_path / "leaf"))
    assert (outcome, "leaves allow the arithmetic" in reason) == (Outcome.INVALID, True)


def test_softmax_is_refused_in_exact_arithmetic_as_before(tmp_path):
    """What has no exact meaning is judged under enclosed arithmetic alone."""
    bundle = remarked(answered(prover_of(GPT, 0), "equivalence"))
    bundle.claim["arithmetic"] = "exact"
    del bundle.certificate["precision"]
    answer = bundle.certificate["answers"][0]
    answer["evidence"]["children"] = [{"fold": 0} for _ in answer["evidence"]["children"]]
    bundle.certificate["folds"] = [["1", "0", "0"]]
    outcome, reason = check(bundle.write(tmp_path / "bundle"))
    assert (outcome, "is exact" in reason) == (Outcome.INVALID, True)


def test_smaller_circuits_are_known_to_fail(tmp_path):
    """The circuit decides the answers, every smaller one a known other candidate on some prompt."""
    prover = next(found for seed in range(60) if (found := two_edges(seed)) is not None)
    own, children = prover.edges, []
    for edges in smaller(prover):
        wrong = next((p for p in prompts(prover) if is_wrong(prover, p, edges)), 0)
        replay = {"replay": [{"prompt": wrong, "decided": prover.fold(wrong, edges)}]}
        is_own = edges == own
        children.append(prover.by_prompt(lambda p: {"decided": prover.fold(p)}) if is_own else replay)
    entry = {"kind": "minimum", "circuits": [own]}
    prover.answer(entry, "proved", {"split": "circuit", "children": children})
    outcome, reason = check(prover.bundle.write(tmp_path / "bundle"))
    assert outcome is Outcome.VALID, reason
    leaf = prover.bundle.certificate["answers"][0]["evidence"]["children"][0]["replay"][0]
    leaf["decided"] = (leaf["decided"] + 1) % 3
    assert check(prover.bundle.write(tmp_path / "forged"))[0] is Outcome.INVALID


def is_wrong(prover: EnclosedProver, prompt: int, edges: list[str]) -> bool:
    """Say whether a circuit is known to decide another candidate."""
    found, task = leader(prover.row(prompt, edges)), prover.claim["task"]
    return found is not None and task["candidates"][found] != task["answer"]["answers"][prompt]


def smaller(prover: EnclosedProver) -> list[list[str]]:
    """Return the circuits of one edge or two that read their prompt, in order."""
    edges = every_edge(prover.claim["architecture"])
    pairs = [list(pair) for pair in combinations(edges, 2) if is_live(list(pair))]
    return [["embed -> logits"], *pairs]


def is_live(pair: list[str]) -> bool:
    """Say whether both edges lead to the logits and `embed` is read."""
    (one, first), (other, second) = (edge.split(" -> ") for edge in pair)
    reached = (
        {"logits"} | ({one} if first == "logits" else set()) | ({other} if second == "logits" else set())
    )
    is_joined = first in reached and second in reached
    return is_joined and "embed" in (one, other)


def two_edges(seed: int) -> EnclosedProver | None:
    """Return a prover about a path through the MLP that no smaller circuit can replace, if it is one."""
    size = architecture(layers=1, heads=1, **PLAIN)
    bundle = random_bundle(size, ["embed -> mlp 0", "mlp 0 -> logits"], seed, prompts=4)
    bundle.pins.discard("remarks")
    prover = settled(EnclosedProver(bundle))
    if len(set(prover.claim["task"]["answer"]["answers"])) == 1:
        return None
    others = [edges for edges in smaller(prover) if edges != prover.edges]
    are_wrong = all(any(is_wrong(prover, p, edges) for p in prompts(prover)) for edges in others)
    return prover if are_wrong and true_verdicts(prover)["equivalence"] else None


def test_a_lesion_identity_is_of_any_arithmetic(tmp_path):
    """Digests are compared; nothing is computed."""
    prover = prover_of(GPT, 0)
    table = {name: entry["digest"] for name, entry in maker.pinned(prover.bundle.tensors).items()}
    base = {"architecture": dict(prover.claim["architecture"]), "programs": {}, "tensors": table}
    entry = {"kind": "lesion identity", "base": base, "artifact": dict(table)}
    leaves = [{"same": table[name]} for name in sorted(table)]
    prover.answer(entry, "proved", {"split": "tensor", "children": leaves})
    prover.bundle.certificate["answers"][0]["remarks"] = ["no program head"]
    outcome, reason = check(prover.bundle.write(tmp_path / "bundle"))
    assert outcome is Outcome.VALID, reason


def test_evidence_that_is_missing_is_refused_and_no_fault_of_the_checker(tmp_path):
    """What it will cost is read from evidence, before that is judged."""
    prover = prover_of(GPT, 0)
    prover.answer({"kind": "subset minimality"}, "proved", {"split": "circuit", "children": []})
    for place, evidence in enumerate([None, 1, {"children": 1}]):
        prover.bundle.certificate["answers"][0]["evidence"] = evidence
        assert check(prover.bundle.write(tmp_path / str(place)))[0] is Outcome.INVALID
    del prover.bundle.certificate["answers"][0]["evidence"]
    assert check(prover.bundle.write(tmp_path / "none"))[0] is Outcome.INVALID


@pytest.mark.parametrize("is_known", [True, False])
def test_an_edge_that_is_not_needed_refutes_where_all_decisions_are_known(is_known, tmp_path):
    """Of a silent head; where all logits may be the same, no decision is known, and nothing is refuted."""
    prover = prover_of(GPT, 0)
    edge = next(place for place, one in enumerate(prover.edges) if one.startswith("head") and "logits" in one)
    head, tensors = prover.edges[edge].split()[1], prover.bundle.tensors
    zeros = [f"head.{head}.output.weight", "attention.0.output.bias"]
    for name in zeros + ([] if is_known else ["logits.weight", "logits.bias"]):
        tensors[name] = tensors[name][0], [0.0] * len(tensors[name][1])
    prover.found = {}
    rest = prover.lesion(edge)
    leaf = prover.by_prompt(lambda p: {"fold": prover.fold(p), "lesion": prover.fold(p, rest)})
    prover.answer({"kind": "necessity"}, "refuted", {"edge": edge, "evidence": leaf})
    outcome, reason = written(prover, tmp_path / "bundle")
    assert outcome is (Outcome.REFUTED if is_known else Outcome.INVALID), reason
