import hashlib
import json
import os
import struct
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from safetensors.numpy import save, save_file

from circuitproof.circuits.graph import Graph, Head
from circuitproof.errors import InputError, NumericError
from circuitproof.files.sealed import MANIFEST, write_sealed
from circuitproof.forward.frozen import open_model, open_weights
from circuitproof.models.operators import Attention
from circuitproof.nn.checkpoint import WEIGHTS, StoredModel, model_files, save_model
from circuitproof.tasks.alphabet import Alphabet
from models import NORMS, PROGRAMS, random_model, tiny_architecture
from twin import exact_tensors

LETTERS = Alphabet(tuple("ABCDEFG"))
NUMBERS = np.array([[1.5, -0.0], [1e-45, -3.4e38], [0.1, 7.0]], dtype="<f4")

tensors = st.dictionaries(
    st.text(min_size=1, max_size=3).filter(lambda name: name != "__metadata__"),
    arrays(
        "<f4",
        array_shapes(min_dims=1, max_dims=2, max_side=3),
        elements=st.floats(width=32, allow_nan=False, allow_infinity=False),
    ),
    max_size=3,
)


def raw_file(path: Path, header: object, content: bytes = b"") -> Path:
    """Write a file of safetensors' shape with any header."""
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + content)
    return path


def place(*shape, offsets, dtype="F32"):
    """Return one tensor of a header."""
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


@pytest.fixture
def numbers(tmp_path):
    """Return an open file of two tensors."""
    save_file({"table": NUMBERS, "bias": NUMBERS[:, 0].copy()}, tmp_path / "numbers", {"format": "pt"})
    return open_weights(tmp_path / "numbers")


@given(written=tensors)
def test_what_safetensors_wrote_is_read_back_exactly(tmp_path_factory, written):
    """Another program writes, to the last bit; a vector is a single row."""
    path = tmp_path_factory.mktemp("weights") / "file"
    save_file(written, path)
    file = open_weights(path)
    assert file.shapes() == {name: array.shape for name, array in written.items()}
    for name, array in written.items():
        exact = exact_tensors({name: array})[name]
        assert [list(row) for row in file.grid(name).fractions()] == (exact if array.ndim > 1 else [exact])
        assert file.raw(name) == array.tobytes()
        assert str(file.digest(name)) == hashlib.sha256(array.tobytes()).hexdigest()


@pytest.mark.parametrize("rows", [(), (0,), (2, 0), (1, 1)])
def test_rows_are_read_in_the_order_asked(numbers, rows):
    """Of a large embedding only what a prompt needs."""
    wanted = [[Fraction(float(number)) for number in NUMBERS[row]] for row in rows]
    assert [list(row) for row in numbers.grid("table", rows).fractions()] == wanted
    assert numbers.grid("table", rows).shape == (len(rows), 2)
    assert numbers.raw("table", rows) == b"".join(NUMBERS[row].tobytes() for row in rows)


def test_rows_of_a_vector_are_its_numbers(numbers):
    """As a bundle keeps the biases of the candidates."""
    assert numbers.raw("bias", (2, 0)) == NUMBERS[[2, 0], 0].tobytes()
    assert numbers.grid("bias", (2, 0)).fractions() == ((Fraction(float(NUMBERS[2, 0])), Fraction(3, 2)),)


@pytest.mark.parametrize("row", [-1, 3])
def test_a_row_that_is_not_there_is_refused(numbers, row):
    """The bytes there belong to another tensor."""
    with pytest.raises(InputError, match=rf"numbers: tensor table has 3 rows, asked for row {row}$"):
        numbers.grid("table", (0, row))


@pytest.mark.parametrize("ask", ["grid", "raw", "digest"])
def test_a_missing_tensor_is_named(numbers, ask):
    """Whatever is asked of it."""
    with pytest.raises(InputError, match="numbers lacks tensor absent, which the circuit reads"):
        getattr(numbers, ask)("absent")


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_weight_that_is_no_number_is_refused_by_name_when_it_is_read(tmp_path, number):
    """A proof must not begin with it; where nothing reads it, it does not matter."""
    save_file({"good": NUMBERS, "bad": np.array([[0], [number]], dtype="<f4")}, tmp_path / "file")
    file = open_weights(tmp_path / "file")
    assert file.grid("bad", (0,)).fractions() == ((0,),)
    with pytest.raises(NumericError, match="file: tensor bad: a weight is NaN or infinite"):
        file.grid("bad")


def test_another_number_format_is_refused(tmp_path):
    """Halves are not FP32, and reading them so would be nonsense."""
    save_file({"half": np.ones((2, 2), "<f2")}, tmp_path / "file")
    with pytest.raises(InputError, match=r"file\.half is F16, want F32"):
        open_weights(tmp_path / "file")


@pytest.mark.parametrize(
    ("shape", "offsets"),
    [((2,), (0, 4)), ((2,), (8, 0)), ((1,), (0,)), ((1,), (0, 2, 4)), ((-1, -1), (0, 4)), ((), (0, 8))],
)
def test_bytes_that_are_not_those_of_the_shape_are_refused(tmp_path, shape, offsets):
    """Every number has four bytes, and sizes have no sign."""
    path = raw_file(tmp_path / "file", {"one": place(*shape, offsets=offsets)}, bytes(8))
    with pytest.raises(InputError) as caught:
        open_weights(path)
    assert str(caught.value) == f"{path}.one has shape {shape} but bytes {offsets}"


@pytest.mark.parametrize(
    ("first", "second"),
    [((0, 8), (4, 12)), ((0, 8), (0, 8)), ((0, 8), (12, 20)), ((4, 12), (12, 20)), ((-8, 0), (0, 8))],
    ids=["overlap", "twice", "gap", "gap before", "inside the header"],
)
def test_tensors_lie_one_behind_the_other(tmp_path, first, second):
    """Bytes that belong to two tensors, to none, or to the header would be a place to hide something."""
    header = {"one": place(2, offsets=first), "two": place(2, offsets=second)}
    path = raw_file(tmp_path / "file", header, bytes(20))
    with pytest.raises(InputError, match=r"file: a tensor begins at byte \d+, want \d+: overlap or gap"):
        open_weights(path)


@pytest.mark.parametrize("count", [0, 4, 12])
def test_a_file_ends_where_its_tensors_end(tmp_path, count):
    """Truncated or longer: it is not the file that was written."""
    path = raw_file(tmp_path / "file", {"one": place(2, offsets=(0, 8))}, bytes(count))
    size = path.stat().st_size
    with pytest.raises(InputError, match=rf"file has {size} bytes, its tensors end at {size - count + 8}$"):
        open_weights(path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "cannot read .*file: "),
        (b"\x01\x00", "file is not a safetensors file: it ends in its length"),
        (struct.pack("<Q", 3) + b"{}", "file is not a safetensors file: its header ends after the file"),
        (
            struct.pack("<Q", 2**64 - 1) + b"{}",
            "file is not a safetensors file: its header ends after the file",
        ),
        (struct.pack("<Q", 2) + b"{]", "file is not usable JSON"),
        (struct.pack("<Q", 2) + b"[]", "file is a list, want an object with keys"),
        (struct.pack("<Q", 8) + b'{"a": 1}', r"file\.a is the number 1, want an object with keys"),
        (struct.pack("<Q", 16) + b'{"a":{},"a":{}} ', "file is not usable JSON: the key 'a' is repeated"),
    ],
)
def test_a_file_that_is_not_safetensors_is_refused(tmp_path, content, sentence):
    """Each byte of it comes from outside."""
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        open_weights(tmp_path / "file")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    """With its name."""
    with pytest.raises(InputError, match=r"cannot read .*absent"):
        open_weights(tmp_path / "absent")


@pytest.mark.parametrize("norm", NORMS, ids=lambda norm: type(norm).__name__)
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("biases", [True, False])
def test_a_stored_model_is_opened_as_it_was_declared(tmp_path, norm, tied, biases):
    """Architecture, programs, names and every weight, without torch in between."""
    model = random_model(tiny_architecture(norm=norm, tied=tied, biases=biases), programs=PROGRAMS)
    save_model(tmp_path / "model", StoredModel(model, LETTERS))
    frozen = open_model(tmp_path / "model")
    assert frozen.architecture == model.architecture
    assert frozen.programs == PROGRAMS
    assert frozen.declaration.alphabet == LETTERS
    assert frozen.graph == Graph(2, 2)
    exact = exact_tensors({name: view.detach() for name, view in model.named_slices().items()})
    for name, values in exact.items():
        rows = values if isinstance(values[0], list) else [values]
        assert [list(row) for row in frozen.tensor(name).fractions()] == rows
    unembedding = exact["embed.token" if tied else "logits.weight"]
    assert [list(row) for row in frozen.unembedding((5, 2)).fractions()] == [unembedding[5], unembedding[2]]
    found = frozen.logit_bias((5, 2))
    assert (found is not None) == biases
    if found is not None:
        assert found.fractions() == ((exact["logits.bias"][5], exact["logits.bias"][2]),)
    assert (frozen.bias("mlp.0.up.bias") is not None) == biases


def test_a_tensor_is_read_once(tmp_path):
    """It may be large, and lesions read it again."""
    save_model(tmp_path / "model", StoredModel(random_model(tiny_architecture()), None))
    frozen = open_model(tmp_path / "model")
    assert frozen.declaration.alphabet is None
    assert frozen.tensor("embed.token") is frozen.tensor("embed.token")


@pytest.mark.parametrize("softmax", [True, False])
def test_a_model_that_is_not_exact_can_still_be_opened(tmp_path, softmax):
    """What has no exact value is refused where it is computed, not where it is declared."""
    attention = Attention.SOFTMAX if softmax else Attention.SPARSEMAX
    save_model(tmp_path / "model", StoredModel(random_model(tiny_architecture(attention=attention)), None))
    assert open_model(tmp_path / "model").architecture.attention is attention


def test_a_changed_file_is_refused(tmp_path):
    """A single bit of a weight: the seal is the first thing that is looked at."""
    save_model(tmp_path / "model", StoredModel(random_model(tiny_architecture()), None))
    path = tmp_path / "model" / WEIGHTS
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match=r"has digest .*, the manifest wants .*: the file was changed"):
        open_model(tmp_path / "model")


def test_a_tampered_manifest_is_refused(tmp_path):
    """It must list what a model consists of."""
    save_model(tmp_path / "model", StoredModel(random_model(tiny_architecture()), None))
    path = tmp_path / "model" / MANIFEST
    manifest = json.loads(path.read_text())
    del manifest["files"][WEIGHTS]
    path.write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=f"does not list {WEIGHTS}"):
        open_model(tmp_path / "model")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda tensors: tensors.pop("mlp.1.up.bias"), "lacks tensor mlp.1.up.bias, which the architecture"),
        (
            lambda tensors: tensors.update({"mlp.1.up.bias": np.zeros(5, "<f4")}),
            r"tensor mlp.1.up.bias has shape \(5,\), the architecture wants \(6,\)",
        ),
        (
            lambda tensors: tensors.update({"mlp.1.up.bias": np.zeros((1, 6), "<f4")}),
            r"tensor mlp.1.up.bias has shape \(1, 6\), the architecture wants \(6,\)",
        ),
    ],
    ids=["absent", "short", "a matrix"],
)
def test_a_tensor_of_another_shape_is_refused(tmp_path, change, sentence):
    """Sealed or not, the weights must be those of the architecture."""
    model = random_model(tiny_architecture())
    written = {name: view.detach().numpy() for name, view in model.named_slices().items()}
    change(written)
    write_sealed(tmp_path / "model", {**model_files(StoredModel(model, None)), WEIGHTS: save(written)})
    with pytest.raises(InputError, match=sentence):
        open_model(tmp_path / "model")


def test_a_tensor_that_the_architecture_does_not_have_is_refused(tmp_path):
    """Nothing would read it, so somebody expects something of it that does not happen."""
    model = random_model(tiny_architecture())
    written = {name: view.detach().numpy() for name, view in model.named_slices().items()}
    extra = save(written | {"head.0.2.value.weight": np.zeros((3, 4), "<f4")})
    write_sealed(tmp_path / "model", {**model_files(StoredModel(model, None)), WEIGHTS: extra})
    with pytest.raises(
        InputError, match=r"holds tensor head\.0\.2\.value\.weight, which the architecture does not have"
    ):
        open_model(tmp_path / "model")


def test_a_model_opens_where_neither_torch_nor_safetensors_can_be_imported(tmp_path):
    """Reading needs the bytes and nothing that wrote them."""
    model = random_model(tiny_architecture(), programs={Head(0, 0): PROGRAMS[Head(0, 0)]})
    with torch.no_grad():
        model.token[0, 0] = 0.1
    save_model(tmp_path / "model", StoredModel(model, LETTERS))
    script = """
import sys
from pathlib import Path

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "safetensors"):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Blocker())
from circuitproof.circuits.circuit import whole
from circuitproof.forward.frozen import open_model
from circuitproof.proof.fold import fold

frozen = open_model(Path(sys.argv[1]))
print(frozen.tensor("embed.token").fractions()[0][0])
print(len(fold(frozen, (0, 1), [whole(frozen.graph)], [(1, 2, 3)]).folds))
"""
    ran = subprocess.run(  # noqa: S603  # our own interpreter and script
        [sys.executable, "-c", script, str(tmp_path / "model")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""
    assert ran.stdout.split() == ["13421773/134217728", "1"]
