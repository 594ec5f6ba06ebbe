"""Models of TransformerLens, in its three layouts, against forwards that read the stored names themselves."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from circuitproof.errors import InputError
from circuitproof.importers.transformer_lens import from_live, import_tl
from circuitproof.nn.checkpoint import load_model
from floats import agree
from lens_files import CONFIG, lens_logits, lens_state, to_grokking, to_native, write_lens
from places import REFERENCE

TOKENS = [3, 1, 4, 1, 5]
with_reference = pytest.mark.skipif(
    not (REFERENCE / "grokking").is_dir(),
    reason="the public models are not beside the project (../shared/reference)",
)
LAST_OF_ONE = "at the last position of one layer it makes no difference; decide nowhere else"
ROTARY = {"positional_embedding_type": "rotary", "rotary_dim": 4, "rotary_base": 100, "d_head": 6}


def our_logits(model, tokens=TOKENS):
    """Return the logits of an imported model at every position in FP64."""
    with torch.no_grad():
        return load_model(model).model.double()(torch.tensor([tokens]))[0]


def imported(tmp_path, config, state):
    """Import a model and return what was done to it."""
    return import_tl(write_lens(tmp_path / "source", config, state), tmp_path / "model")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"act_fn": "relu", "normalization_type": None},
        {"act_fn": "gelu", "normalization_type": "LNPre"},
        {"attn_only": True, "d_mlp": None, "act_fn": None, "normalization_type": None},
        {"attn_only": True, "normalization_type": "LN"},
        {"use_attn_scale": False},
        {"attn_scale": 8.0},
        {"attn_scale": 2.0000000001},
        {"parallel_attn_mlp": True},
        {"attention_dir": "bidirectional"},
        {**ROTARY, "attention_dir": "bidirectional"},
        {**ROTARY},
        {**ROTARY, "rotary_adjacent_pairs": True, "parallel_attn_mlp": True},
    ],
    ids=str,
)
def test_an_imported_hooked_transformer_computes_what_it_computed(tmp_path, changes):
    """Every norm, activation, position and scale that is there."""
    config = {**CONFIG, **changes}
    state = lens_state(config)
    imported(tmp_path, config, state)
    assert agree(our_logits(tmp_path / "model"), torch.from_numpy(lens_logits(state, config, TOKENS)))


@pytest.mark.parametrize(
    "changes", [{}, {"act_fn": "relu", "normalization_type": None}, {"attn_only": True}, ROTARY], ids=str
)
def test_the_native_layout_is_the_same_model(tmp_path, changes):
    """Heads stacked, no bias at the logits, and rotations of adjacent coordinates."""
    config = {**CONFIG, **changes, "architecture": "TransformerLensNative"}
    state = lens_state(config)
    state["unembed.b_U"] *= 0
    found = imported(tmp_path, config, to_native(state))
    wanted = lens_logits(state, {**config, "rotary_adjacent_pairs": True}, TOKENS)
    assert agree(our_logits(tmp_path / "model"), torch.from_numpy(wanted))
    assert any("adjacent" in note for note in found.notes) == ("rotary_dim" in changes)


def test_the_layout_before_it_is_known_by_its_shapes(tmp_path):
    """Embeddings [d_model, vocabulary], no biases in attention, settings of a training script."""
    config = {**CONFIG, "n_layers": 1, "act_fn": "ReLU", "normalization_type": None}
    state = lens_state(config)
    for name in state:
        state[name] *= not (".attn.b_" in name or name == "unembed.b_U")
    settings = {"n_heads": 2, "act_fn": "ReLU", "attention_dir": "casual", "attn_coeff": 1, "lr": 0.001}
    found = imported(tmp_path, {"original": settings, "layout": "W_E [d_model, vocab]"}, to_grokking(state))
    assert agree(our_logits(tmp_path / "model"), torch.from_numpy(lens_logits(state, config, TOKENS)))
    assert found.notes == (
        f"whether attention has a mask is not said: {LAST_OF_ONE}",
        "biases that it does not have are zeros",
        "not read of its configuration: lr",
    )


def test_two_layers_of_it_must_say_that_attention_is_causal(tmp_path):
    """Code that was built on it has left the mask out."""
    state = to_grokking(lens_state({**CONFIG, "normalization_type": None}))
    with pytest.raises(InputError, match="'not said', want 'causal' or 'bidirectional': in 2 layers"):
        imported(tmp_path, {"act_fn": "ReLU"}, state)


def test_stored_tables_of_positions_are_taken_as_they_are(tmp_path):
    """Whatever made them: here they are those of another base than the configuration says."""
    config = {**CONFIG, **ROTARY}
    state = lens_state(config)
    angles = np.outer(np.arange(5), [1, 7.0 ** (-1 / 2)])
    for layer in range(2):
        state[f"blocks.{layer}.attn.rotary_cos"] = np.tile(np.cos(angles), 2).astype(np.float32)
        state[f"blocks.{layer}.attn.rotary_sin"] = np.tile(np.sin(angles), 2).astype(np.float32)
        state[f"blocks.{layer}.attn.mask"] = np.tril(np.ones((5, 5), bool))
        state[f"blocks.{layer}.attn.IGNORE"] = np.array(-np.inf, np.float32)
    found = imported(tmp_path, config, state)
    wanted = lens_logits(state, {**config, "rotary_base": 7}, TOKENS)
    assert agree(our_logits(tmp_path / "model"), torch.from_numpy(wanted))
    assert "the tables of rotary positions are those that are stored" in found.notes


@pytest.mark.parametrize("predicted", [6, 12])
def test_a_model_of_other_outputs_than_tokens_keeps_both(tmp_path, predicted):
    """A classifier has fewer logits than tokens, another one more; no row is made up."""
    config = {**CONFIG, "d_vocab_out": predicted}
    state = lens_state(config)
    found = imported(tmp_path, config, state)
    ours, wanted = our_logits(tmp_path / "model"), torch.from_numpy(lens_logits(state, config, TOKENS))
    assert agree(ours, wanted)
    assert found.declaration.architecture.outputs == predicted
    assert f"it has {predicted} outputs and 9 tokens: no output is taken for a token" in found.notes


def test_folded_norms_lacking_biases_and_unread_keys_are_named(tmp_path):
    """Everything that was done, a sentence each."""
    config = {**CONFIG, "normalization_type": "LNPre", "task": "sorting", "attn_scale": 3.0}
    state = {name: one for name, one in lens_state(config).items() if ".attn.b_" not in name}
    assert imported(tmp_path, config, state).notes == (
        "scores are multiplied by 11184811/33554432, the FP32 number nearest to 1/3.0",
        "the norms' scales and shifts, which were folded into what reads them, are 1 and 0",
        "biases that it does not have are zeros",
        "not read of its configuration: task",
    )


def test_the_first_public_models_call_the_norm_otherwise(tmp_path):
    """Their files say `normalization`, and nothing of epsilon, which is the usual one."""
    config = {key: one for key, one in CONFIG.items() if key not in ("normalization_type", "eps")}
    state = {name: one for name, one in lens_state().items() if ".ln" not in name and "ln_" not in name}
    found = imported(tmp_path, {**config, "normalization": "LNPre"}, state)
    wanted = lens_logits(state, {**CONFIG, "normalization_type": "LNPre"}, TOKENS)
    assert agree(our_logits(tmp_path / "model"), torch.from_numpy(wanted))
    assert len(found.notes) == 1


def test_shards_and_halves_are_the_same_model(tmp_path):
    """An index names the files; FP16 numbers are numbers of FP32."""
    state = {name: one.astype(np.float16) for name, one in lens_state().items()}
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    files = {name: f"{place % 2}.safetensors" for place, name in enumerate(state)}
    for file in dict.fromkeys(files.values()):
        save_file({name: one for name, one in state.items() if files[name] == file}, folder / file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}))
    found = import_tl(folder, tmp_path / "model")
    assert agree(our_logits(tmp_path / "model"), torch.from_numpy(lens_logits(state, CONFIG, TOKENS)))
    assert found.notes == ("F16 numbers are stored as the FP32 numbers that they are",)


def test_doubles_that_fp32_does_not_have_are_refused(tmp_path):
    """Rounding makes another model, so it is nobody's but the author's to do."""
    state = {name: one.astype(np.float64) + 1e-12 for name, one in lens_state().items()}
    with pytest.raises(InputError, match="holds a number that FP32 does not have; round it to float32"):
        imported(tmp_path, CONFIG, state)


def test_a_live_model_is_the_same_as_its_file(tmp_path):
    """Its state and its cfg, whose dtypes and devices no file holds; BF16 is read as what it is."""
    config = {**CONFIG, "dtype": torch.bfloat16, "device": torch.device("cpu"), "seed": np.float64("nan")}
    config |= {"eps": np.float64(1e-5), "init_mode": "gpt2", "tokenizer_prepends_bos": True}
    state = {name: torch.from_numpy(one).bfloat16() for name, one in lens_state().items()}
    live = SimpleNamespace(cfg=SimpleNamespace(to_dict=lambda: config), state_dict=lambda: state)
    found = from_live(live, tmp_path / "live")
    assert found.notes == ("BF16 numbers are stored as the FP32 numbers that they are",)
    from_live(state, tmp_path / "state", config)
    plain = {name: one.float().numpy() for name, one in state.items()}
    imported(tmp_path, CONFIG, plain)
    files = [(tmp_path / name / "weights.safetensors").read_bytes() for name in ("live", "state", "model")]
    assert files[0] == files[1] == files[2]
    with pytest.raises(InputError, match=r"config.rope_scaling is .*linear.*, want it off"):
        from_live(state, tmp_path / "other", {**config, "rope_scaling": {"rope_type": "linear"}})
    with pytest.raises(InputError, match=r"a state does not say .* give config=model.cfg.to_dict\(\)"):
        from_live(state, tmp_path / "alone")


DUMPED = {
    "model_name": "custom",
    "seed": 42,
    "device": "cuda",
    "n_devices": 1,
    "dtype": "torch.float32",
    "use_attn_result": False,
    "use_split_qkv_input": True,
    "use_hook_mlp_in": True,
    "use_attn_in": False,
    "use_qk_norm": False,
    "use_local_attn": False,
    "window_size": None,
    "attn_types": None,
    "ungroup_grouped_query_attention": False,
    "original_architecture": None,
    "from_checkpoint": False,
    "checkpoint_index": None,
    "checkpoint_label_type": None,
    "checkpoint_value": None,
    "tokenizer_name": None,
    "init_mode": "gpt2",
    "initializer_range": 0.3,
    "init_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "final_rms": False,
    "parallel_attn_mlp": False,
    "rotary_dim": None,
    "n_params": 288,
    "use_hook_tokens": True,
    "gated_mlp": False,
    "default_prepend_bos": True,
    "tokenizer_prepends_bos": None,
    "n_key_value_heads": None,
    "post_embedding_ln": False,
    "rotary_base": 10000,
    "rotary_base_local": None,
    "rotary_scaling_factor": 1.0,
    "trust_remote_code": False,
    "rotary_adjacent_pairs": False,
    "load_in_4bit": False,
    "num_experts": None,
    "experts_per_token": None,
    "norm_topk_prob": False,
    "relative_attention_max_distance": None,
    "relative_attention_num_buckets": None,
    "decoder_start_token_id": None,
    "tie_word_embeddings": False,
    "attn_scores_soft_cap": -1.0,
    "use_normalization_before_and_after": False,
    "output_logits_soft_cap": -1.0,
    "use_NTK_by_parts_rope": False,
    "NTK_by_parts_low_freq_factor": 1.0,
    "NTK_original_ctx_len": 8192,
    "NTK_by_parts_high_freq_factor": 4.0,
    "NTK_by_parts_factor": 8.0,
    "use_yarn_rope": False,
    "yarn_factor": 1.0,
    "yarn_attention_factor": 1.0,
    "yarn_beta_fast": 32.0,
    "yarn_beta_slow": 1.0,
    "yarn_original_max_position_embeddings": 4096,
    "layer_norm_folding": False,
    "uses_rms_norm": False,
}
"""What `cfg.to_dict()` writes beside what decides, in versions 1 to 3."""
ATTENTION = {"attn_only": True, "d_mlp": None, "act_fn": None}
KINDS = {
    "sorted list": {**ATTENTION, "n_layers": 1, "normalization_type": "LN", "attn_scale": 2.0},
    "first unique character": {**ATTENTION, "normalization_type": None, "d_vocab_out": 7},
    "sum": {**ATTENTION, "n_layers": 3, "normalization_type": "LNPre"},
    "caesar cipher": {**ATTENTION, "n_layers": 1, "attention_dir": "bidirectional", "d_vocab_out": 5},
    "palindromes": {"act_fn": "relu", "attention_dir": "bidirectional", "d_vocab_out": 2, "n_layers": 2},
    "trigrams": {"act_fn": "relu", "normalization_type": None, "n_layers": 1, "d_vocab_out": 9},
    "four layers": {**ATTENTION, "n_layers": 4, "normalization_type": "LNPre", **ROTARY},
}


@pytest.mark.parametrize("kind", KINDS)
def test_models_of_algorithmic_challenges_come_in_with_all_that_people_dump(tmp_path, kind):
    """Of the kinds that are published: nothing is left unread, and logits are theirs at every position."""
    config = {**CONFIG, **DUMPED, **KINDS[kind]}
    state = lens_state(config)
    found = imported(tmp_path, config, {f"_orig_mod.{name}": one for name, one in state.items()})
    wanted = torch.from_numpy(lens_logits(state, config, TOKENS))
    assert agree(our_logits(tmp_path / "model"), wanted)
    assert not [note for note in found.notes if "not read" in note]


def test_one_layer_without_a_mask_has_none(tmp_path):
    """What is decided elsewhere than at the end shows the difference."""
    config = {**CONFIG, "n_layers": 1, "attention_dir": "bidirectional"}
    state = lens_state(config)
    imported(tmp_path, config, state)
    wanted = torch.from_numpy(lens_logits(state, config, TOKENS))
    assert agree(our_logits(tmp_path / "model")[0], wanted[0])


def test_a_shorter_constant_of_gelu_is_named(tmp_path):
    """In the tenth digit it is another function."""
    found = imported(tmp_path, {**CONFIG, "act_fn": "gelu_fast"}, lens_state())
    assert any(note.startswith("gelu_fast is taken for gelu_new") for note in found.notes)


def test_a_file_may_have_its_configuration_elsewhere(tmp_path):
    """One safetensors file, one JSON file."""
    save_file(lens_state(), tmp_path / "mine.safetensors")
    (tmp_path / "cfg.json").write_text(json.dumps(CONFIG))
    import_tl(tmp_path / "mine.safetensors", tmp_path / "model", tmp_path / "cfg.json")
    wanted = lens_logits(lens_state(), CONFIG, TOKENS)
    assert agree(our_logits(tmp_path / "model"), torch.from_numpy(wanted))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"normalization_type": "RMS"}, "normalization_type is 'RMS', want one of 'LN', 'LNPre'"),
        ({"positional_embedding_type": "shortformer"}, "is 'shortformer', want one of 'standard', 'rotary'"),
        ({"positional_embedding_type": "alibi"}, "is 'alibi', want one of 'standard', 'rotary'"),
        ({"act_fn": "solu_ln"}, "act_fn is 'solu_ln', want one of relu, gelu"),
        ({"attention_dir": "both"}, "attention_dir is 'both', want 'causal' or 'bidirectional': in 2 layers"),
        (
            {"normalization_type": "LNPre"},
            "normalization_type is LNPre, but there are scales of norms; say LN",
        ),
        ({"gated_mlp": True}, "gated_mlp is True, want it off"),
        ({"attn_scores_soft_cap": 30.0}, "attn_scores_soft_cap is 30.0, want it off"),
        ({"n_key_value_heads": 1}, "n_key_value_heads is 1, want 2: grouped queries"),
        ({"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx is true, want false"),
        ({"attn_coeff": 0.5}, "attn_coeff is 1/2, want 1"),
        ({"rotary_scaling_factor": 8.0}, "rotary_scaling_factor is 8, want 1: stretched positions"),
        ({"use_yarn_rope": True}, "use_yarn_rope is True, want it off"),
        ({"use_another_attention": True}, "use_another_attention is True, and what it changes is not"),
        ({"final_rms": True}, "final_rms is True, want it off"),
        ({"post_embedding_ln": True}, "post_embedding_ln is True, want it off"),
        ({"use_local_attn": True, "attn_types": ["local"] * 2}, "use_local_attn is True, want it off"),
        ({"d_mlp": 8}, "d_mlp is 8, the tensors have 7"),
        ({"n_layers": 3}, "n_layers is 3, the tensors have 2"),
        ({"attn_only": True}, "attn_only is true, but there are MLPs among the tensors"),
        ({"eps": 0}, "norm.epsilon is 0"),
        ({"n_ctx": "5"}, "n_ctx is the string '5'"),
    ],
)
def test_an_option_that_is_not_there_is_refused_by_its_name(tmp_path, changes, sentence):
    """A model that computes something else must not pass for one that is there."""
    with pytest.raises(InputError, match=f"config.json.*{re.escape(sentence)}"):
        imported(tmp_path, {**CONFIG, **changes}, lens_state())
    assert not (tmp_path / "model").exists()


def without(*names):
    """Return a change that takes tensors away."""
    return lambda state: [state.pop(name) for name in names]


def turned(state):
    """Turn a matrix round."""
    state["blocks.0.mlp.W_in"] = np.ascontiguousarray(state["blocks.0.mlp.W_in"].T)


def poisoned(state):
    """Make a number no number."""
    state["blocks.1.attn.W_K"][0, 0, 0] = np.inf


def widened(state):
    """Add a tensor that no such model has."""
    state["blocks.0.mlp.W_gate"] = np.zeros((6, 7), np.float32)


def counted(state):
    """Store whole numbers."""
    state["embed.W_E"] = state["embed.W_E"].astype(np.int64)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (without("unembed.W_U"), "lacks tensor unembed.W_U, which HookedTransformer needs"),
        (without("embed.W_E"), "has neither embed.W_E with blocks.0.attn.W_O nor embed.weight"),
        (without("blocks.1.mlp.b_in"), "lacks tensor blocks.1.mlp.b_in, which HookedTransformer needs"),
        (
            lambda state: [state.pop(n) for n in list(state) if "ln" in n.split(".")[-2]],
            "lacks tensor blocks.0.ln1",
        ),
        (without("blocks.1.ln2.w"), "lacks tensor blocks.1.ln2.w, which HookedTransformer needs"),
        (turned, "tensor blocks.0.mlp.W_in has shape (7, 6), HookedTransformer wants (6, 6)"),
        (poisoned, "tensor blocks.1.attn.W_K holds a NaN or an infinite number"),
        (widened, "holds tensor blocks.0.mlp.W_gate, which HookedTransformer does not read"),
        (counted, "tensor embed.W_E is I64, want F32"),
    ],
)
def test_tensors_that_are_not_those_of_the_layout_are_refused(tmp_path, spoil, sentence):
    """A bias that is missing where others are there was lost: this would be another model."""
    state, config = lens_state(), {key: value for key, value in CONFIG.items() if key != "d_mlp"}
    spoil(state)
    with pytest.raises(InputError, match=re.escape(sentence)):
        imported(tmp_path, config, state)
    assert not (tmp_path / "model").exists()


def test_a_native_bridge_around_a_model_of_hugging_faces_is_refused(tmp_path):
    """Its matrices may be turned; the model itself comes by import-hf."""
    config = {**CONFIG, "architecture": "GPT2LMHeadModel"}
    with pytest.raises(InputError, match="architecture is 'GPT2LMHeadModel'"):
        imported(tmp_path, config, to_native(lens_state()))


@with_reference
@pytest.mark.parametrize(
    ("name", "modulus", "sign"),
    [("grokking", 113, (113,)), ("modular_addition", 113, (113,)), ("pizza_softmax_attention", 59, ())],
)
def test_public_models_add_right(tmp_path, name, modulus, sign):
    """Trained by others, in three layouts: every sum of these pairs is right."""
    import_tl(REFERENCE / name, tmp_path / "model")
    pairs = [(a, (7 * a + b) % modulus) for a in range(0, modulus, 5) for b in range(0, modulus, 7)]
    model = load_model(tmp_path / "model").model.double()
    with torch.no_grad():
        logits = model(torch.tensor([(*pair, *sign) for pair in pairs]))[:, -1, :modulus]
    assert logits.argmax(1).tolist() == [sum(pair) % modulus for pair in pairs]


@with_reference
@pytest.mark.parametrize(("name", "right"), [("max_of_two", 4096), ("max_of_two_undertrained", 4046)])
def test_the_models_of_the_coq_theorems_are_right_as_often_as_these_say(tmp_path, name, right):
    """On every pair of tokens."""
    import_tl(REFERENCE / name, tmp_path / "model")
    pairs = torch.cartesian_prod(torch.arange(64), torch.arange(64))
    with torch.no_grad():
        logits = load_model(tmp_path / "model").model.double()(pairs)[:, -1]
    assert int((logits.argmax(1) == pairs.amax(1)).sum()) == right
