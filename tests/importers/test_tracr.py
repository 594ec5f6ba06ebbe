"""Programs that Tracr compiled as models of ours."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import circuitproof as cp
from circuitproof.errors import InputError
from circuitproof.files.reading import read_json
from circuitproof.importers.tracr import COMPILED as BESIDE
from circuitproof.importers.tracr import REPORT, TASK, import_tracr
from circuitproof.importers.tracr_format import Compiled, load_compiled
from places import COMPILED


def sorted_last(tokens: list[str]) -> str:
    """Return what causal sorting leaves at the end: the last token, if it is above all others."""
    return tokens[-1] if all(one < tokens[-1] for one in tokens[:-1]) else "none"


RULES = {
    "length": lambda tokens: str(len(tokens)),
    "pair-balance": lambda tokens: str(Fraction(tokens.count("(") - tokens.count(")"), len(tokens))),
    "sort-unique": sorted_last,
}
"""What the programs compute, said once more."""


@pytest.mark.parametrize("name", RULES)
def test_an_import_is_proved_to_decide_every_input_as_the_program_says(name, tmp_path):
    """All inputs up to the length are there, and the checker agrees."""
    model = tmp_path / "model"
    found = import_tracr(str(COMPILED / f"{name}.safetensors"), model)
    task = cp.load_task(model / TASK)
    tokens = load_compiled(model / BESIDE).interface.tokens[: 2 if name == "pair-balance" else 3]
    longest = task.longest - 1
    assert task.size == found.prompts == sum(len(tokens) ** length for length in range(1, longest + 1))
    for prompt, answer in zip(task.prompts, task.answers(), strict=True):
        bos, *names = (task.tokens.names[token] for token in prompt)
        assert bos == "compiler_bos"
        assert task.tokens.names[answer] == RULES[name](names)
    proved = cp.verify(model, task, properties=["equivalence"], out=tmp_path / "bundle")
    assert proved.verdict is cp.Verdict.PROVED
    assert cp.check(tmp_path / "bundle", against=model, task=task).outcome is cp.Outcome.VALID


def test_the_replacement_is_named_with_what_it_changes(tmp_path):
    """In the report that is sealed with the model."""
    found = import_tracr(str(COMPILED / "sort-unique.safetensors"), tmp_path / "model")
    report = read_json(tmp_path / "model" / REPORT)
    assert report["replaced"] == "softmax by sparsemax"
    assert report["right"] == report["prompts"] == 120
    assert 0 < found.largest_difference < 1e-6
    again = import_tracr(str(tmp_path / "model" / BESIDE), tmp_path / "again")
    assert again == found


def test_the_minimum_circuit_is_unique_and_extraction_finds_it(tmp_path):
    """The selector is counted by the head and read by the MLP, which needs the constant that embed writes."""
    import_tracr(str(COMPILED / "length.safetensors"), tmp_path / "model")
    task = tmp_path / "model" / TASK
    found = cp.minimal(tmp_path / "model", task, out=tmp_path / "bundle")
    (circuit,) = found.search.minimum
    edges = ["embed -> head 0.0", "embed -> mlp 0", "head 0.0 -> mlp 0", "mlp 0 -> logits"]
    assert [str(edge) for edge in circuit] == edges
    assert cp.check(tmp_path / "bundle", against=tmp_path / "model").outcome is cp.Outcome.VALID
    assert cp.extract(tmp_path / "model", task).circuit == circuit


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ("recorded", "Tracr's own model decides 120 of 120 inputs otherwise"),
        ("transformer/layer_0/mlp/linear_2/w", "the import with sparsemax decides 120 of 120"),
    ],
)
def test_a_model_that_does_not_do_its_program_is_not_imported(changed, sentence, tmp_path):
    """Whether the original or the replacement is wrong; nothing is left behind."""
    good = load_compiled(COMPILED / "length.safetensors")
    bad = Compiled(good.interface, {**good.tensors, changed: np.zeros_like(good.tensors[changed])})
    (tmp_path / "bad.safetensors").write_bytes(bad.to_bytes())
    with pytest.raises(InputError, match=sentence):
        import_tracr(str(tmp_path / "bad.safetensors"), tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_prompts_longer_than_the_positions_are_refused(tmp_path):
    """Tracr has a row for each position, and so have we."""
    good = load_compiled(COMPILED / "length.safetensors")
    spoken = good.interface
    prompts = ((3, 0, 0, 0, 0, 0), *spoken.prompts[1:])
    (tmp_path / "bad.safetensors").write_bytes(
        Compiled(replace(spoken, prompts=prompts), good.tensors).to_bytes()
    )
    with pytest.raises(InputError, match="the model's context is 5"):
        import_tracr(str(tmp_path / "bad.safetensors"), tmp_path / "model")
