"""The inputs of ordinary models, by their rules, and models that are not those of a row."""

import pytest

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.spelling import parse_circuit
from circuitproof.errors import InputError
from circuitproof.gallery.inputs import addition, induction, larger, sorting
from circuitproof.gallery.listed import ROWS, GalleryModel, find_row
from circuitproof.gallery.rebuilding import rebuild
from circuitproof.tasks.alphabet import sparse_alphabet
from circuitproof.tasks.loading import read_declared
from lens_files import CONFIG, lens_state, write_lens

SPACES = (
    ("larger", larger(), 64, 4096, max),
    ("addition", addition(113, 113), 114, 12769, lambda prompt: (prompt[0] + prompt[1]) % 113),
    ("sorting", sorting(), 3, 4374, lambda prompt: sorted(prompt[:6])[len(prompt) - 6]),
)


@pytest.mark.parametrize(
    ("name", "inputs", "tokens", "count", "right"), SPACES, ids=[one[0] for one in SPACES]
)
def test_a_whole_input_space_has_every_input_once_with_its_answer(name, inputs, tokens, count, right):
    """A count over it is then a theorem about the model."""
    task = read_declared({"name": name, **inputs[name]}, name, sparse_alphabet(tokens, {}))
    assert task.size == len(set(task.prompts)) == count
    assert list(task.answer.answers) == [right(prompt) for prompt in task.prompts]


def test_sequences_repeat_and_their_partners_say_nothing_of_the_answer():
    """A partner ends with the same tokens, after another block; no sequence is there twice."""
    found = induction()
    assert len(set(found.prompts)) == 128
    for prompt, partner, answer in zip(found.prompts, found.partners, found.answers, strict=True):
        assert prompt[:16] == prompt[16:32]
        assert (prompt[32:], answer) == (prompt[:10], prompt[10])
        assert partner[32:] == prompt[32:]
        assert partner[:16] == partner[16:32] != prompt[:16]


def test_circuits_of_heads_keep_all_edges_among_them():
    """Two heads have six edges; the claims name every file that is made."""
    circuits = {name: parse_circuit(dict(one), name) for name, one in induction().circuits().items()}
    assert all(isinstance(one, Circuit) for one in circuits.values())
    assert [len(one) for one in circuits.values()] == [6, 6, 12, 27]
    row = find_row("induction_head")
    assert isinstance(row, GalleryModel)
    assert all(f"{name}.json".encode() in row.claims()["claims.toml"] for name in circuits)


@pytest.mark.parametrize(
    "row", [one for one in ROWS if one.name in {"grokking", "max_of_two"}], ids=lambda one: one.name
)
def test_another_model_is_refused_and_nothing_is_left(row, tmp_path):
    """What its inputs do not fit, or whose numbers are others, is not the row's."""
    write_lens(tmp_path / "weights", CONFIG, lens_state())
    with pytest.raises(InputError):
        rebuild(row, tmp_path / "weights", tmp_path / "row")
    assert not (tmp_path / "row").exists()
