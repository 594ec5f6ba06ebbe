from dataclasses import replace
from fractions import Fraction

import pytest

from circuitproof.circuits.circuit import whole
from circuitproof.circuits.graph import Head
from circuitproof.errors import InputError
from circuitproof.files.run import Run
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.verdict import Verdict
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_check.main import Outcome
from circuitproof_lab.distill.lesion import Behaviour
from circuitproof_lab.pipeline.distillation_report import check_final
from circuitproof_lab.pipeline.stages.prove import CircuitClaim, prove_once
from hand_models import QUOTE_EDGES, QUOTE_SIZES, circuit_of, quote_model

TWO_HEADS = replace(QUOTE_SIZES, heads=2)
DECLARED = circuit_of(QUOTE_EDGES, heads=2)


def proof_of(folder, model, circuit, epsilon=Fraction(1, 100)):
    """Return the proof of a quote circuit of a model, and which stages it went through."""
    if not (folder / "model").exists():
        save_model(folder / "model", StoredModel(model, toy_quotes().alphabet))
    told: list[str] = []
    asked = CircuitClaim(model=folder / "model", behaviour=Behaviour(toy_quotes(), circuit), epsilon=epsilon)
    run = Run(folder / "proof", told.append)
    return check_final(run, prove_once(run, asked)), told


def test_a_circuit_is_trimmed_to_what_decisions_depend_on_and_proved(tmp_path):
    """All edges of the model are handed in; two of them do the work."""
    model = quote_model(None, TWO_HEADS)
    proof, told = proof_of(tmp_path, model, whole(model.graph))
    assert (proof.circuit, proof.neural, proof.checker) == (DECLARED, (), Outcome.VALID)
    assert set(proof.verdicts.values()) == {Verdict.PROVED}
    assert proof.is_good
    assert told == ["trimming quotes", "proving quotes"]
    again, told = proof_of(tmp_path, model, whole(model.graph))
    assert (again, told) == (proof, [])


def test_neural_attention_that_is_left_is_named(tmp_path):
    """Everything is proved, and yet it is not what distillation is for."""
    neural = {"head.0.1.value.weight": [[1, 0], [0, 1]], "head.0.1.output.weight": [[6, 0], [0, 6]]}
    circuit = circuit_of(("embed -> head 0.1", "head 0.1 -> logits"), heads=2)
    proof, _ = proof_of(tmp_path, quote_model(neural, TWO_HEADS), circuit)
    assert proof.neural == (Head(0, 1),)
    assert proof.checker is Outcome.VALID
    assert not proof.is_good


def test_a_refuted_property_is_no_good(tmp_path):
    """The margin is one, so a perturbation of one can undo it; the checker confirms the refutation."""
    proof, _ = proof_of(tmp_path, quote_model(None, TWO_HEADS), DECLARED, Fraction(1))
    assert proof.verdicts[Kind.ROBUSTNESS] is Verdict.REFUTED
    assert proof.checker is Outcome.REFUTED
    assert not proof.is_good


def test_no_verdicts_are_no_proof(tmp_path):
    """All of nothing is true; it must not pass."""
    proof, _ = proof_of(tmp_path, quote_model(None, TWO_HEADS), DECLARED)
    assert not replace(proof, verdicts={}).is_good


def test_a_report_that_was_tampered_with_is_refused(tmp_path):
    """A verdict that nobody can have given is not read as one."""
    model = quote_model(None, TWO_HEADS)
    proof_of(tmp_path, model, DECLARED)
    report = tmp_path / "proof" / "proof.json"
    report.write_text(report.read_text().replace('"proved"', '"surely"', 1))
    with pytest.raises(InputError, match="is 'surely', want one of 'proved', 'refuted', 'undecided'"):
        proof_of(tmp_path, model, DECLARED)
