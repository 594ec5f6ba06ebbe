import pytest

from circuitproof.circuits.spelling import load_circuit
from circuitproof.errors import InputError
from circuitproof.files.reading import scientific
from circuitproof.importers.release import load_release
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.verdict import Verdict
from circuitproof.tasks.alphabet import TOY
from circuitproof.verbs.verification import Request, verify
from circuitproof_check.main import Outcome, check
from hand_models import quote_model
from releases import stored

TASK = """
name = "quotes"
vocabulary = 32
candidates = [9, 10]
answers = [[9, 9], [10, 10]]
pattern = "1 2 any quotes any{2} with exactly 1 of quotes"
sets = {quotes = [9, 10]}
"""


def request_of(folder, model, circuit, **changes):
    """Return what asks about the toy's quotes."""
    (folder / "task.toml").write_text(TASK)
    options = {
        "model": model,
        "circuit": circuit,
        "task": str(folder / "task.toml"),
        "pattern": None,
        "properties": (Equivalence(),),
        "find_limits": True,
    }
    return Request(**options | changes)


def test_the_released_quote_circuit_fails_at_three_fillers_and_is_right_without_them(tmp_path, reference):
    """With four letters it is always right; of all 32 tokens three between task and quote mislead it."""
    release = load_release(reference / "program_healed")
    save_model(tmp_path / "model", stored(release))
    circuit = reference / "program_healed" / "quote_close" / "circuit.json"
    assert len(load_circuit(circuit)) == 5
    found = verify(request_of(tmp_path, tmp_path / "model", circuit), tmp_path / "bundle")
    assert found.verdict is Verdict.REFUTED
    outcome, sentence = check(tmp_path / "bundle")
    assert (outcome, "5 edges, zero ablation, all 54000 prompts" in sentence) == (Outcome.REFUTED, True)
    assert (found.limits.cells, [dict(one.tokens)[2] for one in found.limits.failing]) == (60, [1, 3, 11])
    (part,) = found.limits.parts
    assert part.size == 39366
    content = found.to_json()
    assert content["frontier"]["failing"] == 3
    text = "1 2 [5, 6, 7, 8] quotes [5, 6, 7, 8]{2}"
    letters = request_of(tmp_path, tmp_path / "model", circuit, pattern=text)
    found = verify(letters, tmp_path / "letters")
    assert (found.verdict, found.limits) == (Verdict.PROVED, None)
    assert check(tmp_path / "letters")[0] is Outcome.VALID


def test_a_property_that_patterns_do_not_have_is_refused(tmp_path):
    """Faithfulness is about single prompts."""
    with pytest.raises(InputError, match="faithfulness is not known over patterns"):
        verify(request_of(tmp_path, *_model(tmp_path), properties=(Faithfulness(),)), None)


def test_a_bundle_is_not_written_over_another(tmp_path):
    """Before anything is computed."""
    with pytest.raises(InputError, match="already exists"):
        verify(request_of(tmp_path, tmp_path / "model", None), tmp_path)


def test_large_numbers_are_shown_with_their_power_of_ten():
    """And small ones exactly."""
    assert scientific(123456789012) == "123456789012"
    assert scientific(1234567890123) == "1.234e12"
    assert scientific(10**5000) == "1.000e5000"


def _model(folder):
    save_model(folder / "model", StoredModel(quote_model(), TOY))
    return folder / "model", None
