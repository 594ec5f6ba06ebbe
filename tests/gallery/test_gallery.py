"""Rows of the gallery: what they say, and what is proved where the weights are at hand."""

import re
import tomllib

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from circuitproof.circuits.circuit import whole
from circuitproof.claims.file import load_claims
from circuitproof.errors import InputError
from circuitproof.forward.frozen import open_model
from circuitproof.gallery.listed import ROWS, GalleryModel, KeptModel, find_row
from circuitproof.gallery.modular_addition import addition, fill_row
from circuitproof.gallery.rebuilding import rebuild
from circuitproof.proof.anchors import unshared_logits
from places import DOCS, ROOT

DOCUMENT = DOCS / "gallery.md"


def small_layout(modulus=5, heads=2, head_width=3, mlp=7):
    """Return tensors in the layout of the pizza model, of a small size."""
    draw, width = np.random.default_rng(0), heads * head_width
    shapes = {
        "embed.W_E": (width, modulus),
        "pos_embed.W_pos": (2, width),
        "blocks.0.attn.W_K": (heads, head_width, width),
        "blocks.0.attn.W_Q": (heads, head_width, width),
        "blocks.0.attn.W_V": (heads, head_width, width),
        "blocks.0.attn.W_O": (width, width),
        "blocks.0.attn.mask": (2, 2),
        "blocks.0.mlp.W_in": (mlp, width),
        "blocks.0.mlp.b_in": (mlp,),
        "blocks.0.mlp.W_out": (width, mlp),
        "blocks.0.mlp.b_out": (width,),
        "unembed.W_U": (width, modulus),
    }
    return {name: draw.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def original_logits(tensors, first, second):
    """Return what the original computes at the last position, in FP64: attention is 1 on both tokens."""
    held = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    stream = held["embed.W_E"][:, [first, second]].T + held["pos_embed.W_pos"]
    values = np.einsum("ihd,pd->iph", held["blocks.0.attn.W_V"], stream)
    mixed = values.sum(axis=1).reshape(-1)
    middle = stream[1] + held["blocks.0.attn.W_O"] @ mixed
    hidden = np.maximum(held["blocks.0.mlp.W_in"] @ middle + held["blocks.0.mlp.b_in"], 0)
    return (middle + held["blocks.0.mlp.W_out"] @ hidden + held["blocks.0.mlp.b_out"]) @ held["unembed.W_U"]


def test_the_converted_model_computes_what_the_original_does(tmp_path):
    """On every input, between exact numbers and the definition in FP64."""
    tensors = small_layout()
    save_file(tensors, tmp_path / "w.safetensors")
    fill_row(tmp_path / "w.safetensors", tmp_path)
    frozen = open_model(tmp_path / "model")
    for prompt in addition(5).prompts:
        exact, _ = unshared_logits(frozen, whole(frozen.graph), tuple(range(5)), prompt)
        wanted = original_logits(tensors, *prompt)
        assert np.abs(np.array([*map(float, exact)]) - wanted).max() < 1e-9 * (1 + np.abs(wanted).max())


def test_addition_is_right_and_its_order_does_not_matter():
    """The rule on every pair, and one class for each unordered pair."""
    task = addition(7)
    assert list(task.answer.answers) == [(a + b) % 7 for a, b in task.prompts]
    classes = dict(zip(task.prompts, task.relation.classes, strict=True))
    assert all(classes[pair] == classes[pair[::-1]] for pair in task.prompts)
    assert len(set(classes.values())) == 28


def test_a_tensor_of_another_shape_is_refused(tmp_path):
    """In one sentence that names it."""
    tensors = small_layout()
    tensors["blocks.0.mlp.b_in"] = tensors["blocks.0.mlp.b_in"][:-1]
    save_file(tensors, tmp_path / "w.safetensors")
    with pytest.raises(InputError, match=r"mlp\.0\.up\.bias would have shape \(6,\), want \(7,\)"):
        fill_row(tmp_path / "w.safetensors", tmp_path)


def test_weights_of_another_model_are_refused_and_nothing_is_left(tmp_path):
    """The layout fits, the numbers are not those of the row."""
    save_file(small_layout(), tmp_path / "w.safetensors")
    with pytest.raises(InputError, match="does not give the weights that row 'pizza' is about"):
        rebuild(find_row("pizza"), tmp_path / "w.safetensors", tmp_path / "row")
    assert not (tmp_path / "row").exists()


def test_every_row_is_in_the_document_with_where_its_weights_are():
    """Address, commit, the original's path and SHA-256, and the command."""
    text = DOCUMENT.read_text()
    for row in (row for row in ROWS if isinstance(row, GalleryModel)):
        for said in (
            row.address,
            row.commit,
            row.original,
            row.sha256,
            f"circuitproof gallery {row.name} --weights",
        ):
            assert said in text, (row.name, said)
        claims = tomllib.loads(row.claims()["claims.toml"].decode())["claims"]
        assert all(f"| {claim['name']} |" in text for claim in claims), row.name


def test_a_row_that_keeps_its_proofs_has_them_in_the_repository():
    """Claims file and recipe are there; the document has the command and a line for each claim."""
    text = DOCUMENT.read_text()
    (row,) = (row for row in ROWS if isinstance(row, KeptModel))
    assert (ROOT / row.recipe).is_file()
    assert f"circuitproof claims table {row.file}" in text
    file = load_claims(ROOT / row.file)
    assert file.name == row.name
    for claim in file.claims:
        assert (file.proofs / claim.name / "bundle" / "claim.json").is_file()
        assert f"| {claim.name} |" in text


def test_the_lines_that_convert_the_original_do(tmp_path, monkeypatch):
    """As they stand in the document, on a file that torch saved as the original was."""
    monkeypatch.chdir(tmp_path)
    tensors = small_layout()
    torch.save({name: torch.from_numpy(one) for name, one in tensors.items()}, "model_p99zdpze5l.pt")
    lines = re.search(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)[1]
    exec(lines, {})  # noqa: S102  # what the document shows
    found = load_file("pizza.safetensors")
    assert all((found[name] == tensor).all() for name, tensor in tensors.items() if name in found)
    fill_row(tmp_path / "pizza.safetensors", tmp_path / "row")
    assert (tmp_path / "row" / "model" / "manifest.json").is_file()
