"""Claims of enclosed arithmetic: what is known is accepted, and nothing else."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import bundle_maker as maker
from bundle_maker import every_edge
from circuitproof_check.main import Beside, Outcome, check, inspect
from enclosed_claims import (
    GPT,
    NEOX,
    PLAIN,
    UNBIASED,
    answered,
    copied,
    prompts,
    prover_of,
    remarked,
    settled,
)
from enclosed_twin import EnclosedNaive, EnclosedProver, leader

SIZES = {"like GPT-2": GPT, "like GPT-NeoX": NEOX, "without norms": PLAIN, "without biases": UNBIASED}


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


def robust(prover: EnclosedProver, epsilon: Fraction, verdict: str, evidence: Any) -> EnclosedProver:
    """Claim robustness of the final residual."""
    entry = {"kind": "robustness", "epsilon": str(epsilon), **maker.FINAL_RESIDUAL}
    prover.answer(entry, verdict, evidence)
    return prover


def distance(prover: EnclosedProver, one: int, other: int) -> Fraction:
    """Return how fast a lead is closed."""
    naive = EnclosedNaive(prover.bundle, [], [0], prover.p)
    table = naive.matrix("logits.weight")
    rows = [table[token] for token in naive.candidates]
    return sum((abs(a - b) for a, b in zip(rows[one], rows[other], strict=True)), Fraction(0))


def largest(prover: EnclosedProver) -> Fraction:
    """Return the ε below which robustness is known."""
    found = []
    for p in prompts(prover):
        numbers, radius = prover.row(p)
        best = leader(prover.row(p))
        assert best is not None
        leads = [(numbers[best] - one - 2 * radius, t) for t, one in enumerate(numbers) if t != best]
        found += [Fraction(lead, 2**prover.p) / distance(prover, best, t) for lead, t in leads]
    return min(found)


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
