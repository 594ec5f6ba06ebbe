import json
import struct
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.circuits.graph import Head
from circuitproof.errors import InputError
from circuitproof.files.canonical import digest_bytes
from circuitproof.models.operators import Attention
from circuitproof.nn.checkpoint import (
    DECLARATION,
    WEIGHTS,
    StoredModel,
    load_model,
    load_tensors,
    model_files,
    save_model,
    save_tensors,
)
from circuitproof.tasks.alphabet import Alphabet
from models import ACTIVATIONS, NORMS, PROGRAMS, random_model, random_tokens, tiny_architecture

LETTERS = Alphabet(tuple("ABCDEFG"))
SELF = ["default 0", "otherwise self"]


def bits(tensor: torch.Tensor) -> list[int]:
    """Return a tensor as integers, so that minus zero and zero differ."""
    return tensor.detach().contiguous().view(torch.int32).flatten().tolist()


def reseal(path: Path, name: str, content: bytes) -> None:
    """Replace a file and put its digest into the manifest: a forger's work."""
    (path / name).write_bytes(content)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["files"][name] = str(digest_bytes(content))
    (path / "manifest.json").write_text(json.dumps(manifest))


@pytest.fixture
def saved(tmp_path) -> Path:
    """Return a model directory."""
    save_model(tmp_path / "model", StoredModel(random_model(tiny_architecture()), LETTERS))
    return tmp_path / "model"


@pytest.mark.parametrize("norm", NORMS, ids=lambda norm: type(norm).__name__)
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("biases", [True, False])
def test_a_model_comes_back_bit_for_bit(tmp_path, norm, tied, biases):
    """What a proof will speak about is the file, so the file must be the model."""
    model = random_model(tiny_architecture(norm=norm, tied=tied, biases=biases))
    with torch.no_grad():
        model.token[0, :3] = torch.tensor([-0.0, 1e-45, 3.4e38])
    save_model(tmp_path / "model", StoredModel(model, LETTERS))
    loaded = load_model(tmp_path / "model")
    assert loaded.alphabet == LETTERS
    assert loaded.model.architecture == model.architecture
    wanted = {name: bits(parameter) for name, parameter in model.named_parameters()}
    assert {name: bits(parameter) for name, parameter in loaded.model.named_parameters()} == wanted


@pytest.mark.parametrize("attention", Attention)
@pytest.mark.parametrize("activation", ACTIVATIONS, ids=str)
def test_a_loaded_model_computes_what_the_saved_one_did(tmp_path, attention, activation):
    """Operators are part of the declaration, not of the program that reads it."""
    architecture = tiny_architecture(attention=attention, activation=activation)
    model, tokens = random_model(architecture), random_tokens(architecture)
    save_model(tmp_path / "model", StoredModel(model, None))
    loaded = load_model(tmp_path / "model")
    assert loaded.alphabet is None
    assert bits(loaded.model(tokens)) == bits(model(tokens))


@pytest.mark.parametrize("count", range(len(PROGRAMS) + 1))
def test_programs_come_back_with_the_weights_around_them(tmp_path, count):
    """A head without its program would be another head."""
    model = random_model(tiny_architecture(), programs=dict(list(PROGRAMS.items())[:count]))
    tokens = random_tokens(model.architecture)
    save_model(tmp_path / "model", StoredModel(model, LETTERS))
    loaded = load_model(tmp_path / "model").model
    assert loaded.programs == model.programs
    assert len(loaded.programs) == count
    assert bits(loaded(tokens)) == bits(model(tokens))


def test_programs_are_kept_as_text_for_people():
    """One line per rule under the name of the head."""
    stored = StoredModel(random_model(tiny_architecture(), programs={Head(0, 1): PROGRAMS[Head(0, 1)]}), None)
    declaration = json.loads(model_files(stored)[DECLARATION])
    lines = ["default 1/3", "add 2 when relative_distance == 1", "otherwise self"]
    assert declaration["programs"] == {"0.1": lines}


@pytest.mark.parametrize("programs", [{}, PROGRAMS], ids=["neural", "programs"])
def test_the_same_model_is_always_the_same_bytes(tmp_path, programs):
    """Then a digest of the file names the model."""
    model = random_model(tiny_architecture(), programs=dict(reversed(programs.items())))
    save_model(tmp_path / "one", StoredModel(model, LETTERS))
    save_model(tmp_path / "two", load_model(tmp_path / "one"))
    assert _content(tmp_path / "one") == _content(tmp_path / "two")
    again = random_model(tiny_architecture(), programs=programs)
    assert model_files(StoredModel(again, LETTERS)) == model_files(StoredModel(model, LETTERS))


def _content(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir()}


@given(st.permutations(["b", "a", "long name", "c"]))
def test_the_order_of_tensors_does_not_reach_the_bytes(order):
    """A dictionary's history is no part of the model."""
    tensors = {name: torch.full((2, 3), float(len(name))) for name in ("a", "b", "c", "long name")}
    assert save_tensors({name: tensors[name] for name in order}) == save_tensors(tensors)


def test_extra_files_stand_beside_and_under_the_seal(tmp_path):
    """A circuit found in a model belongs with it."""
    stored = StoredModel(random_model(tiny_architecture()), None)
    save_model(tmp_path / "model", stored, {"history.json": b"{}"})
    assert sorted(_content(tmp_path / "model")) == ["history.json", "manifest.json", DECLARATION, WEIGHTS]
    (tmp_path / "model" / "history.json").write_bytes(b"[]")
    with pytest.raises(InputError, match=r"history.json has digest .* the file was changed"):
        load_model(tmp_path / "model")


def test_a_model_is_never_written_over_another(saved):
    """Results are not lost to a repeated command."""
    with pytest.raises(InputError, match="already exists; remove it or choose another place"):
        save_model(saved, StoredModel(random_model(tiny_architecture()), None))


def test_the_declaration_and_the_weights_match_what_is_promised(saved):
    """Other programs read these files: names, FP32, and constants as exact rationals."""
    declaration = json.loads((saved / DECLARATION).read_text())
    assert declaration["alphabet"] == list("ABCDEFG")
    assert declaration["architecture"]["attention_scale"] == "4843165/8388608"
    header = (saved / WEIGHTS).read_bytes()
    tensors = json.loads(header[8 : 8 + struct.unpack("<Q", header[:8])[0]])
    assert tensors["head.1.0.output.weight"]["shape"] == [4, 3]
    assert {entry["dtype"] for entry in tensors.values()} == {"F32"}


def _weights(path: Path) -> dict[str, torch.Tensor]:
    model = load_model(path).model
    return {name: view.detach().clone() for name, view in model.named_slices().items()}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"mlp.0.up.bias": None}, "lacks tensor mlp.0.up.bias, which the architecture needs"),
        ({"mlp.7.up.bias": torch.zeros(6)}, "holds tensor mlp.7.up.bias, which the architecture does not"),
        (
            {"mlp.0.up.bias": torch.zeros(5)},
            r"tensor mlp.0.up.bias has shape \(5,\), want \(6,\)",
        ),
        (
            {"mlp.0.up.weight": torch.zeros(4, 6)},
            r"tensor mlp.0.up.weight has shape \(4, 6\), want \(6, 4\)",
        ),
        (
            {"mlp.0.up.bias": torch.zeros(6, dtype=torch.float64)},
            "tensor mlp.0.up.bias is torch.float64, want torch.float32",
        ),
        ({"mlp.0.up.bias": torch.tensor([0, 0, 0, 0, 0, torch.nan])}, "holds a NaN or an infinite number"),
        ({"mlp.0.up.bias": torch.tensor([0, 0, 0, 0, 0, torch.inf])}, "holds a NaN or an infinite number"),
    ],
    ids=["missing", "extra", "size", "transposed", "double", "nan", "infinite"],
)
def test_weights_that_are_not_those_of_the_architecture_are_refused(saved, change, sentence):
    """Each is a file that some program would have read as another model."""
    tensors = {**_weights(saved), **change}
    kept = {name: tensor for name, tensor in tensors.items() if tensor is not None}
    reseal(saved, WEIGHTS, save_tensors(kept))
    with pytest.raises(InputError, match=sentence):
        load_model(saved)


@pytest.mark.parametrize("length", [0, 4, 100, -1])
def test_a_truncated_weight_file_is_refused(saved, length):
    """With a seal that fits it, so that the file's own reader has to notice."""
    reseal(saved, WEIGHTS, (saved / WEIGHTS).read_bytes()[:length])
    with pytest.raises(InputError, match=r"weights\.safetensors is not a usable safetensors file: "):
        load_model(saved)


def test_a_number_format_that_torch_does_not_have_is_refused(tmp_path):
    """The safetensors reader knows formats that torch cannot hold; that must not end in a traceback."""
    header = json.dumps({"a": {"dtype": "F6_E2M3", "shape": [4], "data_offsets": [0, 3]}}).encode()
    path = tmp_path / WEIGHTS
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(3))
    with pytest.raises(InputError, match="is not a usable safetensors file: 'F6_E2M3'"):
        load_tensors(path, {"a": (4,)})


@pytest.mark.parametrize("name", [DECLARATION, WEIGHTS])
def test_a_changed_file_is_refused(saved, name):
    """The sentence shows both digests."""
    content = bytearray((saved / name).read_bytes())
    content[-3] ^= 1
    (saved / name).write_bytes(content)
    with pytest.raises(InputError, match=rf"{name} has digest [0-9a-f]+, the manifest wants [0-9a-f]+"):
        load_model(saved)


@pytest.mark.parametrize("name", [DECLARATION, WEIGHTS])
def test_a_file_that_is_not_listed_is_refused(saved, name):
    """Else a forger only has to shorten the manifest."""
    manifest = json.loads((saved / "manifest.json").read_text())
    del manifest["files"][name]
    (saved / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=f"manifest.json does not list {name}"):
        load_model(saved)


def _declaration(**changes: object) -> dict[str, object]:
    stored = StoredModel(random_model(tiny_architecture()), LETTERS)
    return json.loads(model_files(stored)[DECLARATION]) | changes


def _architecture(**changes: object) -> dict[str, object]:
    content = _declaration()["architecture"]
    assert isinstance(content, dict)
    return content | changes


@pytest.mark.parametrize(
    ("declaration", "sentence"),
    [
        ([], "model.json is a list, want an object"),
        (_declaration(extra=1), "model.json.extra is not a known key"),
        ({"architecture": _architecture()}, "model.json.alphabet is missing"),
        (_declaration(alphabet=["A", 3]), r"model.json.alphabet\[1\] is the number 3, want a string"),
        (_declaration(alphabet=["A", "A"]), "model.json: alphabet: the name 'A' stands for two tokens"),
        (
            _declaration(alphabet=list("ABCDEFGH")),
            "model.json: 8 tokens have names, but the vocabulary has 7",
        ),
        (_declaration(architecture=_architecture(width="4")), "architecture.width is the string '4', want"),
        (
            {"architecture": _architecture(), "alphabet": None},
            "model.json.programs is missing",
        ),
        (_declaration(programs=[]), "model.json.programs is a list, want an object"),
        (_declaration(programs={"0.1": "default 0"}), "programs.0.1 is the string 'default 0', want a list"),
        (
            _declaration(programs={"0.1": ["default 0", "otherwise nothing"]}),
            "model.json.programs.0.1, line 2, column 11: found 'nothing', want one of self, nowhere",
        ),
        (_declaration(programs={"0.01": SELF}), "model.json.programs has a key '0.01', want layer and index"),
        (
            _declaration(programs={"2.0": SELF}),
            "model.json: head 2.0 cannot be a program: there are 2 layers of 2 heads",
        ),
        (
            _declaration(programs={"0.1": ["default 0", "add 1 when key_token == 7", "otherwise self"]}),
            "model.json.programs.0.1, line 2, column 25: found token 7, but there are 7 tokens, 0 to 6",
        ),
        (
            _declaration(programs={"0.1": SELF}),
            r"holds tensor head.0.1.(query|key).\w+, which the architecture does not have",
        ),
        (
            _declaration(architecture=_architecture(attention_scale="1/3")),
            (
                "model.json.architecture: architecture.attention_scale is 1/3, want a positive FP32 value; "
                'the nearest is "11184811/33554432"'
            ),
        ),
        (
            _declaration(architecture=_architecture(mlp_width=5)),
            r"tensor mlp.\d.\w+.\w+ has shape \(.*6.*\), want \(.*5.*\)",
        ),
    ],
)
def test_a_declaration_that_cannot_be_is_refused(saved, declaration, sentence):
    """The sentence starts with the file, whoever noticed the mistake."""
    reseal(saved, DECLARATION, json.dumps(declaration).encode())
    with pytest.raises(InputError, match=sentence):
        load_model(saved)


def test_a_directory_that_is_no_model_is_refused(tmp_path):
    """A mistyped path gets a sentence."""
    with pytest.raises(InputError, match=r"cannot read .*manifest.json"):
        load_model(tmp_path / "nowhere")
