"""GPT-2 in and out of Hugging Face's directories."""

import json
import struct
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from circuitproof.errors import InputError
from circuitproof.files.canonical import refuse_existing
from circuitproof.importers import foreign
from circuitproof.importers.hugging_face import export_hf, import_hf, locate
from circuitproof.nn.checkpoint import load_model
from floats import agree
from gpt2_files import CONFIG, TOKENIZER, gpt2_tensors, logits_by_hand, write_gpt2
from places import REFERENCE

SHAKESPEARE = REFERENCE / "shakespeare_gpt2"
with_reference = pytest.mark.skipif(
    not SHAKESPEARE.is_dir(), reason="the public GPT-2 is not beside the project (../shared/reference)"
)


def our_logits(model: Path, tokens: list[int]) -> torch.Tensor:
    """Return the logits of an imported model in FP64."""
    with torch.no_grad():
        return load_model(model).model.double()(torch.tensor([tokens]))[0]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"activation_function": "gelu"},
        {"activation_function": "relu", "n_inner": 5},
        {"tie_word_embeddings": False},
        {"scale_attn_weights": False, "n_layer": 3, "n_head": 3},
    ],
)
def test_an_imported_model_computes_what_gpt2_computes(tmp_path, changes):
    """Against a forward that reads the stored names and shapes itself."""
    config = {**CONFIG, **changes}
    source = write_gpt2(tmp_path / "source", config)
    import_hf(source, tmp_path / "model")
    tokens = [3, 1, 4, 1, 5, 9, 2]
    wanted = logits_by_hand(gpt2_tensors(config), config, tokens)
    assert agree(our_logits(tmp_path / "model", tokens), torch.from_numpy(wanted))


def test_exporting_what_was_imported_gives_the_same_tensors(tmp_path):
    """Bit for bit, whatever the numbers are: negative zeros and subnormal ones too."""
    tensors = gpt2_tensors()
    tensors["wte.weight"][0, :3] = [-0.0, 1e-45, 3e38]
    import_hf(write_gpt2(tmp_path / "source", tensors=tensors), tmp_path / "model")
    export_hf(tmp_path / "model", tmp_path / "back")
    back = load_file(tmp_path / "back" / "model.safetensors")
    assert {name: one.tobytes() for name, one in back.items()} == {
        f"transformer.{name}": one.tobytes() for name, one in tensors.items()
    }
    import_hf(tmp_path / "back", tmp_path / "again")
    for file in (tmp_path / "model").iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()


def test_untied_embeddings_are_exported_under_their_own_name(tmp_path):
    """The output embedding stands outside the transformer."""
    config = {**CONFIG, "tie_word_embeddings": False}
    import_hf(write_gpt2(tmp_path / "source", config), tmp_path / "model")
    export_hf(tmp_path / "model", tmp_path / "back")
    back = load_file(tmp_path / "back" / "model.safetensors")
    assert np.array_equal(back["lm_head.weight"], gpt2_tensors(config)["lm_head.weight"])


def test_prefixes_shards_and_old_masks_make_no_difference(tmp_path):
    """Versions of `transformers` store the same model in several ways."""
    tensors = gpt2_tensors()
    import_hf(write_gpt2(tmp_path / "plain"), tmp_path / "model")
    other = write_gpt2(tmp_path / "other")
    (other / "model.safetensors").unlink()
    full = {f"transformer.{name}": tensor for name, tensor in tensors.items()}
    full |= {"transformer.h.0.attn.masked_bias": np.array(-1e4, np.float32)}
    full |= {"transformer.h.1.attn.bias": np.tril(np.ones((1, 1, 7, 7), np.uint8))}
    full |= {"lm_head.weight": tensors["wte.weight"]}
    names = sorted(full)
    shards = {"one.safetensors": names[::2], "two.safetensors": names[1::2]}
    for file, part in shards.items():
        save_file({name: full[name] for name in part}, other / file)
    places = {name: file for file, part in shards.items() for name in part}
    (other / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    import_hf(other, tmp_path / "same")
    weights = [tmp_path / name / "weights.safetensors" for name in ("model", "same")]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_tokens_have_the_names_of_the_tokenizer(tmp_path):
    """A number that no name has is called by itself; without a tokenizer there are no names."""
    found = import_hf(write_gpt2(tmp_path / "named"), tmp_path / "model")
    assert found.declaration.alphabet.names[:4] == ("<|endoftext|>", "a", "Ġb", "<3>")
    assert json.loads((tmp_path / "model" / "tokenizer.json").read_text()) == TOKENIZER
    old = write_gpt2(tmp_path / "old", tokenizer=None)
    assert import_hf(old, tmp_path / "unnamed").declaration.alphabet is None
    (old / "vocab.json").write_text(json.dumps(TOKENIZER["model"]["vocab"]))
    (old / "merges.txt").write_text("#version: 0.2\n")
    assert import_hf(old, tmp_path / "renamed").declaration.alphabet.names[2] == "Ġb"
    assert (tmp_path / "renamed" / "merges.txt").exists()


def renamed(tensors):
    """Take a tensor away."""
    tensors["ln_f.wait"] = tensors.pop("ln_f.bias")


def reshaped(tensors):
    """Turn a matrix round."""
    tensors["h.0.mlp.c_fc.weight"] = np.ascontiguousarray(tensors["h.0.mlp.c_fc.weight"].T)


def counted(tensors):
    """Store whole numbers."""
    tensors["wpe.weight"] = tensors["wpe.weight"].astype(np.int32)


def widened(tensors):
    """Add a head that GPT-2 does not have."""
    tensors["score.weight"] = np.zeros((2, 6), np.float32)


def untied(tensors):
    """Give an output embedding of its own to a model that is declared to have none."""
    tensors["lm_head.weight"] = tensors["wte.weight"] + 1


def poisoned(tensors):
    """Make a number no number."""
    tensors["h.1.attn.c_attn.weight"][2, 3] = np.nan


def doubled(tensors):
    """Store a tensor under both of its names."""
    tensors["transformer.wpe.weight"] = tensors["wpe.weight"]


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (renamed, "lacks tensor ln_f.bias, which its config.json needs"),
        (reshaped, "tensor h.0.mlp.c_fc.weight has shape (24, 6), its config.json wants (6, 24)"),
        (counted, "tensor wpe.weight is I32, want F32"),
        (widened, "holds tensor score.weight, which GPT-2 does not have"),
        (untied, "lm_head.weight is not wte.weight"),
        (poisoned, "tensor h.1.attn.c_attn.weight holds a NaN"),
        (doubled, "holds tensor wpe.weight once more"),
    ],
)
def test_tensors_that_are_not_those_of_the_configuration_are_refused(tmp_path, spoil, sentence):
    """Before anything is written, or with nothing left of it."""
    tensors = gpt2_tensors()
    spoil(tensors)
    with pytest.raises(InputError) as told:
        import_hf(write_gpt2(tmp_path / "source", tensors=tensors), tmp_path / "model")
    assert sentence in str(told.value)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_a_size_that_the_file_does_not_have_is_refused_before_it_is_read(tmp_path):
    """A header may claim 300 GB in a file of a few bytes, and a configuration a model of that size."""
    size = 300 * 10**9
    header = json.dumps({"wte.weight": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}})
    source = write_gpt2(tmp_path / "source")
    (source / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header.encode())
    with pytest.raises(InputError, match=r"model\.safetensors is not a usable safetensors file"):
        import_hf(source, tmp_path / "model")
    sizes = {"n_embd": 12288, "n_head": 96, "n_layer": 96, "vocab_size": 50257}
    large = write_gpt2(tmp_path / "large", {**CONFIG, **sizes}, gpt2_tensors())
    with pytest.raises(InputError, match=r"wte.weight has shape \(11, 6\), .* wants \(50257, 12288\)"):
        import_hf(large, tmp_path / "model")


def test_a_model_for_which_there_is_no_room_is_refused(tmp_path, monkeypatch):
    """Before a byte of it is copied."""
    monkeypatch.setattr(foreign.shutil, "disk_usage", lambda _: SimpleNamespace(free=100))
    with pytest.raises(InputError, match=r"needs [\d,]+ bytes for the tensors, .* has 100 left; make room"):
        import_hf(write_gpt2(tmp_path / "source"), tmp_path / "model")


INDEX = "model.safetensors.index.json"


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("tokenizer.json", {**TOKENIZER, "added_tokens": [{"id": 99, "content": "x"}]}, "token 99 is named"),
        ("tokenizer.json", {**TOKENIZER, "model": {"vocab": [["a", 0.5]]}}, "json.model.vocab is a list"),
        (INDEX, {"weight_map": {"wte.weight": "../x.safetensors"}}, "'../x.safetensors'"),
        (INDEX, {"weight_map": {"wte.weight": "x.safetensors"}}, "x.safetensors"),
    ],
)
def test_files_that_do_not_fit_are_named(tmp_path, name, content, sentence):
    """Names outside the vocabulary, a tokenizer of another kind, shards elsewhere or missing."""
    source = write_gpt2(tmp_path / "source")
    (source / name).write_text(json.dumps(content))
    with pytest.raises(InputError) as told:
        import_hf(source, tmp_path / "model")
    assert sentence in str(told.value)


def test_pickles_are_not_read(tmp_path):
    """A directory of older versions is told what to do."""
    source = write_gpt2(tmp_path / "source")
    (source / "model.safetensors").rename(source / "pytorch_model.bin")
    with pytest.raises(InputError, match="pickles are never read"):
        import_hf(source, tmp_path / "model")


def test_a_gate_that_refuses_leaves_nothing(tmp_path):
    """It sees the whole model directory, and what it does not pass is not there afterwards."""
    seen = []

    def gate(model):
        seen.append(load_model(model))
        raise InputError("not the same")

    with pytest.raises(InputError, match="not the same"):
        import_hf(write_gpt2(tmp_path / "source"), tmp_path / "model", gate)
    assert len(seen) == 1
    refuse_existing(tmp_path / "model")


def test_a_directory_is_taken_and_a_name_is_asked_of_the_hub(tmp_path, monkeypatch):
    """With the revision; without a network the answer is one sentence."""
    asked = []
    (tmp_path / "alone").mkdir()
    monkeypatch.chdir(tmp_path / "alone")

    def download(name, **given):
        asked.append((name, given["revision"]))
        if name == "nobody/nothing":
            raise FileNotFoundError("no connection\nand much more")
        return str(tmp_path)

    hub = pytest.importorskip("huggingface_hub", reason="the gpt2 extra is not installed")
    monkeypatch.setattr(hub, "snapshot_download", download)
    assert locate(str(tmp_path)) == tmp_path
    assert locate("openai-community/gpt2", "main") == tmp_path
    with pytest.raises(InputError) as told:
        locate("nobody/nothing")
    assert "the Hub did not give a model of that name (FileNotFoundError)" in str(told.value)
    assert "and much more" not in str(told.value)
    assert asked == [("openai-community/gpt2", "main"), ("nobody/nothing", None)]
    for wrong in ("/nowhere/at/all", "../gpt2", "a/b/c", str(write_gpt2(tmp_path / "x") / "config.json")):
        with pytest.raises(InputError, match="is not a directory"):
            locate(wrong)
    with pytest.raises(InputError, match="leave --revision out"):
        locate(str(tmp_path), "main")


@with_reference
def test_a_public_gpt2_computes_what_it_should_and_comes_back(tmp_path):
    """Four layers trained by others: logits by hand, and every tensor of its file."""
    import_hf(SHAKESPEARE, tmp_path / "model")
    config = json.loads((SHAKESPEARE / "config.json").read_text())
    stored = load_file(SHAKESPEARE / "model.safetensors")
    tokens = np.random.default_rng(0).integers(config["vocab_size"], size=64).tolist()
    plain = {name.removeprefix("transformer."): tensor for name, tensor in stored.items()}
    wanted = logits_by_hand(plain, config, tokens)
    assert agree(our_logits(tmp_path / "model", tokens), torch.from_numpy(wanted))
    export_hf(tmp_path / "model", tmp_path / "back")
    back = load_file(tmp_path / "back" / "model.safetensors")
    left = {name for name in stored if name not in back}
    assert left == {"lm_head.weight", *(f"transformer.h.{layer}.attn.masked_bias" for layer in range(4))}
    assert all(stored[name].tobytes() == tensor.tobytes() for name, tensor in back.items())


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json", "notes.txt"])
def test_no_link_is_followed(tmp_path, name):
    """A directory from elsewhere could have any file of this machine copied into a model."""
    folder, secret = write_gpt2(tmp_path / "gpt2"), tmp_path / "secret"
    secret.write_bytes((folder / name).read_bytes() if (folder / name).exists() else b"")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(secret)
    with pytest.raises(InputError, match=rf"{name} is a link, which is not followed"):
        import_hf(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_links_of_the_hubs_cache_lead_to_its_blobs(tmp_path):
    """That is how a model that was fetched by its name is stored; from there no link leads elsewhere."""
    folder, blobs = (
        write_gpt2(tmp_path / "models--a--b" / "snapshots" / "1"),
        tmp_path / "models--a--b" / "blobs",
    )
    blobs.mkdir()
    for file in list(folder.iterdir()):
        file.rename(blobs / file.name)
        file.symlink_to(f"../../blobs/{file.name}")
    import_hf(folder, tmp_path / "out")
    (blobs / "config.json").rename(tmp_path / "config.json")
    (blobs / "config.json").symlink_to(tmp_path / "config.json")
    with pytest.raises(InputError, match=r"config\.json is a link"):
        import_hf(folder, tmp_path / "again")
