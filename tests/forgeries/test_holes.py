"""Holes that were once found in the checker, which must stay closed.

Of the first four there is a forgery each, false or empty, with all its digests right, that was `valid` before
format 2. The fifth needed no forgery: prover and checker shared a false premise.
"""

from fractions import Fraction
from pathlib import Path

import pytest

from bundle_maker import Bundle
from bundle_twin import falsehoods
from circuitproof.bundle.files import write_bundle
from circuitproof.circuits import readers
from circuitproof.circuits.graph import EMBED
from circuitproof.circuits.spelling import load_circuit
from circuitproof.forward.frozen import open_model
from circuitproof.importers.release import import_release
from circuitproof.proof import claim
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties import minimum, robustness
from circuitproof.proof.properties.robustness import Robust, Robustness
from circuitproof.proof.verdict import Verdict
from circuitproof.tasks.alphabet import Vocabulary
from circuitproof.tasks.catalogue import find_task
from circuitproof.tasks.pattern_text import parse_pattern
from circuitproof.tasks.rules import OnlyOpener, SameOpener
from circuitproof.tasks.task import Task
from circuitproof_check import architecture, properties
from circuitproof_check import remarks as checked_remarks
from circuitproof_check.main import Outcome, check
from pattern_forgeries import EQUIVALENCE, Patterned, robust_before_a_norm, suiting
from random_claims import CYCLE, known_ask, told
from rule_removal import without

FAR = Fraction(1, 20)


def refused(bundle: Bundle, folder: Path, rule: str) -> None:
    """Demand that a forgery is invalid by a rule."""
    outcome, sentence = check(bundle.write(folder / "forgery"))
    assert outcome is Outcome.INVALID
    assert f"breaks the rule that {rule}" in sentence


def test_a_pattern_is_not_robust_before_a_norm(tmp_path):
    """Margins divided by distances say nothing where a norm stands between perturbation and logits."""
    refused(robust_before_a_norm(), tmp_path, "leaves allow the norm")


def test_what_is_refuted_on_a_list_is_not_proved_on_the_pattern_of_its_prompts(
    reference, tmp_path, monkeypatch
):
    """On the paper's BandNorm model, every quote prompt can be broken at 1/20."""
    import_release(reference / "band_norm_matched", tmp_path / "model")
    frozen = open_model(tmp_path / "model")
    circuit, quotes = load_circuit(tmp_path / "model" / "quotes.circuit.json"), find_task("quotes")
    (answer,) = prove(Claim(frozen, circuit, quotes, (Robustness(FAR),))).answers
    assert (answer.verdict, answer.met, answer.obligations) == (Verdict.REFUTED, 0, 128)
    monkeypatch.setattr(
        robustness, "robust_goal", lambda claim, prop: Robust(prop.epsilon, claim.directions())
    )
    letters = "[5, 6, 7, 8]"
    task = Task(
        name="quotes",
        alphabet=Vocabulary(32),
        candidates=quotes.candidates,
        domain=parse_pattern(f"1 2 {letters} [9, 10] {letters} {letters}", {}, "pattern"),
        answer=OnlyOpener(((9, 9), (10, 10))),
        relation=SameOpener((9, 10)),
    )
    lie = prove(Claim(frozen, circuit, task, (Robustness(FAR),)))
    assert lie.verdict is Verdict.PROVED
    assert task.size == 128
    write_bundle(tmp_path / "bundle", lie)
    outcome, sentence = check(tmp_path / "bundle", tmp_path / "model")
    assert outcome is Outcome.INVALID
    assert "leaves allow the norm" in sentence


ORDERED = {"0.0": ["default 0", "add 1000 when key_token > 3", "add 1 when key_token == 0", "otherwise self"]}


def test_tokens_are_not_ordered(tmp_path):
    """Numbers of tokens are names; a class of them has no least member."""
    made = Patterned(0, programs=ORDERED)
    refused(made.sealed(EQUIVALENCE, made.settled()), tmp_path, "tokens have no order")


def test_an_atom_is_uniform_even_if_tokens_were_ordered(tmp_path, monkeypatch):
    """Every member is asked: with the grammar's rule taken away, what is accepted is still true."""
    without("tokens_have_no_order", monkeypatch)
    accepted = 0
    for seed in range(15):
        made = Patterned(seed, programs=ORDERED)
        outcome, _ = check(made.sealed(EQUIVALENCE, made.settled()).write(tmp_path / str(seed)))
        accepted += outcome is Outcome.VALID
        assert outcome is not Outcome.VALID or made.is_uniform()
    assert accepted


@pytest.mark.parametrize("opener", [6, 99, 10**6, -1])
def test_an_opener_is_a_token(opener, tmp_path):
    """One outside the vocabulary would be a member of every class of all but some."""
    made = suiting(Patterned.is_uniform)
    evidence = made.settled()
    made.pairs.append([opener, made.pairs[0][1]])
    refused(made.sealed(EQUIVALENCE, evidence), tmp_path, "openers are in the vocabulary")
    other = suiting(Patterned.is_uniform)
    other.classes.append(opener)
    refused(other.sealed(EQUIVALENCE, other.settled()), tmp_path, "openers are in the vocabulary")


def believing_only_the_embedding_reads(monkeypatch):
    """Put the premise back into prover and checker: a circuit that `embed` does not feed is blind."""
    for module in (readers, claim, minimum):
        monkeypatch.setattr(module, "readers", lambda _: frozenset({EMBED}))
    for module in (architecture, properties, checked_remarks):
        monkeypatch.setattr(module, "readers", lambda _: frozenset({architecture.EMBED}))


def accepted_falsehoods(seeds, folder: Path) -> list[str]:
    """Return what is false in bundles of the honest prover that the checker accepts."""
    lies: list[str] = []
    for seed in seeds:
        made = told(known_ask(seed), folder / str(seed))
        if made.bundle is not None and check(made.bundle, made.model)[0] in (Outcome.VALID, Outcome.REFUTED):
            lies += [lie for lie in falsehoods(made.bundle, made.model) if lie.startswith("false")]
    return lies


SMALL = [seed for seed in range(40 * len(CYCLE)) if CYCLE[seed % len(CYCLE)] in ("subsets", "minimum")]


def test_what_prover_and_checker_both_believe_is_found_by_the_oracle(tmp_path, monkeypatch):
    """It tries every set of edges: with the old premise back in both, it calls valid bundles false."""
    assert not accepted_falsehoods(SMALL, tmp_path / "now")
    believing_only_the_embedding_reads(monkeypatch)
    assert accepted_falsehoods(SMALL, tmp_path / "then")
