import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch

from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Head
from circuitproof.circuits.spelling import load_circuit
from circuitproof.errors import CircuitproofError, InputError
from circuitproof.importers.release import import_release, load_release
from circuitproof.models.architecture import inverse_root
from circuitproof.models.operators import BandNorm, LeakyRelu, Lift, NoNorm
from circuitproof.nn.checkpoint import load_model
from circuitproof.nn.decisions import score_circuits
from circuitproof.programs.text import parse
from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.quotes import toy_quotes
from floats import agree
from releases import changed, read_release, release_files, stored, without, write_release

WEIGHTS = "smt_weights.json"
BAND = "signed_l1_band_norm"


def sparsemax(scores: np.ndarray) -> np.ndarray:
    """Return the simplex projection, by trying every size of support."""
    ordered = np.sort(scores)[::-1]
    sizes = np.arange(1, len(scores) + 1)
    return np.maximum(scores - max((np.cumsum(ordered) - 1) / sizes), 0)


def program_row(weight: Callable[[int, int], float], query: int) -> np.ndarray:
    """Return the weights of the causal keys over their sum, or the query itself where all are zero.

    What a program gives is rounded to FP32 once.
    """
    weights = np.array([float(weight(query, key)) for key in range(query + 1)])
    return (weights / weights.sum()).astype(np.float32) if weights.any() else np.eye(query + 1)[query]


def logits_by_hand(
    weights: dict[str, np.ndarray],
    tokens: list[int],
    heads: int,
    programs: Mapping[tuple[int, int], Callable[[int, int], float]] | None = None,
) -> np.ndarray:
    """Return the logits of a norm-free release, computed from its own names in double precision.

    `programs` gives the weight of query and key, before normalising, in heads that do not use scores.
    """
    rows = weights["wte"][tokens] + weights["wpe"][: len(tokens)]
    for layer in range(2):
        query, key, value = (
            np.split(rows @ weights[f"attn_{layer}_W_{role}"].T + weights[f"attn_{layer}_b_{role}"], heads, 1)
            for role in "qkv"
        )
        mixed = np.zeros((len(tokens), 0))
        for head in range(heads):
            scores = query[head] @ key[head].T * float(inverse_root(query[head].shape[1]))
            program = (programs or {}).get((layer, head))
            rows_of = [
                program_row(program, i) if program else sparsemax(scores[i, : i + 1])
                for i in range(len(tokens))
            ]
            weighed = [row @ value[head][: len(row)] for row in rows_of]
            mixed = np.concatenate([mixed, np.array(weighed)], 1)
        rows = rows + mixed @ weights[f"attn_{layer}_W_o"].T + weights[f"attn_{layer}_b_o"]
        hidden = rows @ weights[f"mlp_{layer}_W_up"].T + weights[f"mlp_{layer}_b_up"]
        hidden = np.where(hidden > 0, hidden, 0.01 * hidden)
        rows = rows + hidden @ weights[f"mlp_{layer}_W_down"].T + weights[f"mlp_{layer}_b_down"]
    return rows @ weights["lm_head"].T + weights["lm_head_bias"]


def arrays(files: dict[str, dict[str, object]]) -> dict[str, np.ndarray]:
    """Return the tensors of a release as arrays."""
    return {name: np.array(value) for name, value in files[WEIGHTS].items() if isinstance(value, list)}


@pytest.mark.parametrize("tokens", [[0], [1, 2], [3, 4, 0]])
def test_an_imported_model_computes_what_the_release_means(tmp_path, tokens):
    """The slow twin reads the release's own names, so that a head cut at the wrong row shows."""
    files = release_files()
    model = stored(load_release(write_release(tmp_path / "release", files))).model.double()
    found = model(torch.tensor([tokens]))[0]
    assert agree(found, torch.from_numpy(logits_by_hand(arrays(files), tokens, 2)))


def test_the_architecture_is_as_declared(tmp_path):
    """Sizes come from the files, constants are exact."""
    architecture = stored(
        load_release(write_release(tmp_path / "release", release_files()))
    ).model.architecture
    assert (architecture.vocabulary, architecture.context, architecture.width) == (5, 3, 4)
    assert (architecture.layers, architecture.heads, architecture.head_width) == (2, 2, 3)
    assert architecture.attention_scale == inverse_root(3)
    assert architecture.activation == LeakyRelu(Fraction(1, 100))
    assert architecture.norm == NoNorm()
    assert architecture.logit_bias


def test_half_masses_become_the_rationals_they_mean(tmp_path):
    """4.4 in the file is 22/5, not the double next to it."""
    model = stored(load_release(write_release(tmp_path / "release", release_files(norm=BAND)))).model
    assert model.architecture.norm == BandNorm(Fraction(11, 10), Fraction(21, 10), Lift.REFERENCE)


def test_the_norms_of_a_band_model_keep_their_scale_and_shift(tmp_path):
    """Each node has its own pair."""
    files = release_files(norm=BAND)
    model = stored(load_release(write_release(tmp_path / "release", files))).model
    names = {"attention.0": "attn_0", "mlp.0": "mlp_0", "attention.1": "attn_1", "mlp.1": "mlp_1"}
    slices = model.named_slices()
    for ours, theirs in (names | {"logits": "final"}).items():
        assert slices[f"{ours}.norm.scale"].tolist() == files[WEIGHTS][f"{theirs}_norm_gamma"]
        assert slices[f"{ours}.norm.shift"].tolist() == files[WEIGHTS][f"{theirs}_norm_beta"]


def test_a_model_without_biases_and_with_tied_embeddings_is_imported(tmp_path):
    """What the configuration leaves out must be left out of the weights too."""
    files = changed(release_files(), "config.json", use_bias=False, tie_embeddings=True)
    files[WEIGHTS] = {
        key: value
        for key, value in files[WEIGHTS].items()
        if "_b_" not in key and key not in {"lm_head", "lm_head_bias"}
    }
    architecture = stored(load_release(write_release(tmp_path / "release", files))).model.architecture
    assert (architecture.tied, architecture.biases, architecture.logit_bias) == (True, False, False)


def test_tokens_and_circuits_come_along(tmp_path):
    """Tokens without a name of their own are called by their number."""
    release = load_release(write_release(tmp_path / "release", release_files()))
    assert stored(release).alphabet.names == ("<PAD>", "<1>", "A", "<3>", "<4>")
    assert set(release.circuits) == {"quotes"}
    assert list(release.circuits["quotes"]) == [Edge(EMBED, Head(0, 1)), Edge(Head(0, 1), LOGITS)]


def test_an_import_writes_a_model_directory_with_the_circuits_beside(tmp_path):
    """Everything is under one seal, and both come back as they were read."""
    files = release_files()
    files["bracket_type/circuit.json"] = files["quote_close/circuit.json"]
    release = import_release(write_release(tmp_path / "release", files), tmp_path / "out")
    loaded = load_model(tmp_path / "out")
    assert loaded.alphabet == stored(release).alphabet
    for name, view in stored(release).model.named_slices().items():
        assert loaded.model.named_slices()[name].tolist() == view.tolist()
    for task in ("quotes", "brackets"):
        assert load_circuit(tmp_path / "out" / f"{task}.circuit.json") == release.circuits[task]


def test_an_import_does_not_overwrite(tmp_path):
    """What is at the place stays as it is."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    with pytest.raises(InputError, match="out already exists"):
        import_release(write_release(tmp_path / "release", release_files()), tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]


PREVIOUS = {
    "dsl_version": 1,
    "name": "previous",
    "default_weight": "0",
    "rules": [
        {"weight": "1", "conditions": [{"feature": "relative_distance", "operator": "==", "value": 1}]}
    ],
}
UNKNOWN_TOKEN = {"feature": "key_token", "operator": "==", "value": 5}


def _with_program(program=PREVIOUS, key="0.1"):
    """Return a release whose head 0.1 has no queries and keys, and a program under some key."""
    files = changed(release_files(), WEIGHTS, program_heads={key: program})
    weights = files[WEIGHTS]
    for role in "qk":
        weights[f"attn_0_W_{role}"][3:] = [[0.0] * 4] * 3
        weights[f"attn_0_b_{role}"][3:] = [0.0] * 3
    return files


def test_a_program_head_is_imported_with_its_program(tmp_path):
    """It attends to the previous token, and the first token to itself."""
    files = _with_program()
    model = stored(load_release(write_release(tmp_path / "release", files))).model
    assert model.programs == {
        Head(0, 1): parse("default 0\nadd 1 when relative_distance == 1\notherwise self")
    }
    found = model.double()(torch.tensor([[3, 4, 0]]))[0]
    wanted = logits_by_hand(arrays(files), [3, 4, 0], 2, {(0, 1): lambda query, key: query - key == 1})
    assert agree(found, torch.from_numpy(wanted))


def test_programs_told_twice_alike_are_imported(tmp_path):
    """The name of a program says nothing, so it may differ; no programs may be told as an empty object."""
    files = {**_with_program(), "programs.json": {"0.1": {**PREVIOUS, "name": "other"}}}
    assert stored(load_release(write_release(tmp_path / "one", files))).model.programs.keys() == {Head(0, 1)}
    none = {**changed(release_files(), WEIGHTS, program_heads={}), "programs.json": {}}
    assert stored(load_release(write_release(tmp_path / "none", none))).model.programs == {}


def _edited(edit, *, norm="none"):
    """Return a release with something in its weights changed in place."""
    files = release_files(norm=norm)
    edit(files[WEIGHTS])
    return files


def _put(key, value):
    """Return the edit that puts a value deep into the first list of a tensor."""

    def edit(weights):
        entry = weights[key]
        while isinstance(entry[0], list):
            entry = entry[0]
        entry[0] = value

    return edit


def _edited_program(key):
    """Return a release with one number in the last entry of a tensor that a program head must have zero."""
    files = _with_program()
    entry = files[WEIGHTS][key]
    entry[-1] = [0.0, 0.0, 0.0, 1.0] if isinstance(entry[-1], list) else 1.0
    return files


CIRCUIT = release_files()["quote_close/circuit.json"]
UNKNOWN_EDGE = {**CIRCUIT, "num_edges": 1, "edges": [{"source": "attn_2_h_0", "target": "logits"}]}
UNKNOWN_NODE = {**CIRCUIT, "num_edges": 1, "edges": [{"source": "attn_0_h", "target": "logits"}]}
BACKWARDS = {**CIRCUIT, "num_edges": 1, "edges": [{"source": "mlp_1", "target": "mlp_0"}]}
OTHER_GRAPH = {**CIRCUIT, "n_heads": 3}

MALFORMED = {
    "weights not JSON": ({**release_files(), WEIGHTS: "{"}, "smt_weights.json is not usable JSON"),
    "weights a list": ({**release_files(), WEIGHTS: []}, "smt_weights.json is a list"),
    "config not JSON": ({**release_files(), "config.json": "yes"}, "config.json is not usable JSON"),
    "vocabulary not JSON": ({**release_files(), "vocab.json": ""}, "vocab.json is not usable JSON"),
    "circuit not JSON": (
        {**release_files(), "quote_close/circuit.json": ""},
        "circuit.json is not usable JSON",
    ),
    "NaN": (_edited(_put("wte", float("nan"))), "NaN is not a number that can be used"),
    "infinite": (_edited(_put("wte", float("inf"))), "Infinity is not a number that can be used"),
    "word": (_edited(_put("wte", "one")), "wte holds 'one', want a number"),
    "truth": (_edited(_put("wte", True)), "wte holds True, want a number"),  # noqa: FBT003  # a value to refuse
    "null": (_edited(_put("attn_0_b_q", None)), "attn_0_b_q holds None, want a number"),
    "double": (_edited(_put("wte", 0.1)), "wte holds 0.1, which is not an FP32 value"),
    "too large for FP32": (_edited(_put("wpe", 1e39)), "wpe holds 1E[+]39, which is not an FP32 value"),
    "whole number beyond a double": (_edited(_put("wpe", 10**400)), "wpe holds 10+, which is not an FP32"),
    "row missing": (_edited(lambda w: w["wte"].pop()), "wte holds 4 entries, want a list of 5"),
    "row too long": (_edited(lambda w: w["wte"][2].append(0.0)), "wte holds 5 entries, want a list of 4"),
    "number for a row": (
        _edited(lambda w: w["wte"].__setitem__(0, 1.0)),
        "wte holds .*1.0.*, want a list of 4",
    ),
    "deeper": (_edited(_put("mlp_1_b_up", [1.0])), r"mlp_1_b_up holds \[.*\], want a number"),
    "output map of a head short": (
        _edited(lambda w: [row.pop() for row in w["attn_1_W_o"]]),
        "attn_1_W_o holds 5 entries, want a list of 6",
    ),
    "query of a head short": (_edited(lambda w: w["attn_0_W_q"].pop()), "attn_0_W_q holds 5 entries"),
    "tensor missing": (without(release_files(), WEIGHTS, "mlp_0_W_up"), "mlp_0_W_up is missing"),
    "tensor too many": (
        _edited(lambda w: w.update(attn_2_W_q=w["attn_1_W_q"])),
        "attn_2_W_q is not a known key",
    ),
    "biases in a model without": (
        changed(release_files(), "config.json", use_bias=False),
        "smt_weights.json.attn_0_b_q is not a known key",
    ),
    "output embedding in a tied model": (
        changed(release_files(), "config.json", tie_embeddings=True),
        "smt_weights.json.lm_head is not a known key",
    ),
    "scale in a norm-free model": (
        _edited(_put("mlp_0_norm_gamma", 2.0)),
        "mlp_0_norm_gamma is not all 1, but the model is declared to have no norm",
    ),
    "shift in a norm-free model": (
        _edited(_put("final_norm_beta", 1.0)),
        "final_norm_beta is not all 0, but the model is declared to have no norm",
    ),
    "lower half mass": (
        _edited(lambda w: w.update(half_low=1.2), norm=BAND),
        "half_low is 6/5, .* wants 11/10",
    ),
    "upper half mass": (
        _edited(lambda w: w.update(half_high=2), norm=BAND),
        "half_high is 2, .* wants 21/10",
    ),
    "heads disagree": (changed(release_files(), WEIGHTS, n_heads=1), "n_heads is 1, but .*n_heads is 2"),
    "layers disagree": (changed(release_files(), WEIGHTS, n_layers=1), "n_layers is 1, but .*n_layers is 2"),
    "width disagrees": (changed(release_files(), WEIGHTS, d_model=8), "d_model is 8, but .*d_model is 4"),
    "MLP disagrees": (changed(release_files(), WEIGHTS, d_ff=5), "d_ff is 5, but .*d_mlp is 6"),
    "vocabulary disagrees": (changed(release_files(), WEIGHTS, vocab_size=6), "vocab_size is 6, but .* is 5"),
    "norm disagrees": (
        changed(release_files(), WEIGHTS, norm_variant=BAND),
        "norm_variant is signed.* is none",
    ),
    "attention disagrees": (
        changed(release_files(), WEIGHTS, attn_variant="softmax"),
        "attn_variant is softmax",
    ),
    "activation disagrees": (
        changed(release_files(), WEIGHTS, activation_variant="gelu"),
        "_variant is gelu",
    ),
    "head width disagrees": (changed(release_files(), WEIGHTS, head_dim=2), "attn_0_W_q holds 6 entries"),
    "unknown norm": (
        changed(changed(release_files(), WEIGHTS, norm_variant="rms"), "config.json", norm_variant="rms"),
        "norm_variant is 'rms', want one of 'none', 'signed_l1_band_norm'",
    ),
    "sizes missing": (without(release_files(), "config.json", "d_model"), "config.json.d_model is missing"),
    "no layers": (
        changed(changed(release_files(), WEIGHTS, n_layers=0), "config.json", n_layers=0),
        "config.json.n_layers is 0, want at least 1",
    ),
    "slope": (
        changed(release_files(), "config.json", leaky_relu_negative_slope=1.5),
        "activation.slope is 3/2, want a rational between 0 and 1",
    ),
    "program that is none": (_with_program(3), "program_heads.0.1 is the number 3, want an object"),
    "program with an unknown key": (
        _with_program({**PREVIOUS, "x": 1}),
        "program_heads.0.1.x is not a known key",
    ),
    "program for no head": (
        _with_program(key="1"),
        "program_heads has a key '1', want layer and index of a head",
    ),
    "program for an unknown head": (_with_program(key="0.2"), "program_heads: head 0.2 cannot be a program"),
    "program about an unknown token": (
        _with_program({**PREVIOUS, "rules": [{"weight": "1", "conditions": [UNKNOWN_TOKEN]}]}),
        "program_heads: the program of head 0.1 names token 5, the model's tokens are 0 to 4",
    ),
    "program on a head with queries": (
        _with_program(key="0.0"),
        "smt_weights.json: head.0.0.query.weight is not all zero, but that head is a program",
    ),
    **{
        f"program on a head with {name}": (
            _edited_program(f"attn_0_{key}"),
            f"smt_weights.json: head.0.1.{name} is not all zero",
        )
        for key, name in {
            "W_q": "query.weight",
            "b_q": "query.bias",
            "W_k": "key.weight",
            "b_k": "key.bias",
        }.items()
    },
    "programs differ": (
        {**_with_program(), "programs.json": {"0.1": {**PREVIOUS, "default_weight": "1"}}},
        "programs.json and .*smt_weights.json.program_heads differ about head 0.1; they must give the same",
    ),
    "program told once in the weights": ({**_with_program(), "programs.json": {}}, "differ about head 0.1"),
    "program told once beside": (
        {**release_files(), "programs.json": {"0.1": PREVIOUS}},
        "differ about head 0.1",
    ),
    "programs not JSON": ({**_with_program(), "programs.json": "{"}, "programs.json is not usable JSON"),
    "edge to an unknown head": (
        {**release_files(), "quote_close/circuit.json": UNKNOWN_EDGE},
        "circuit.json: head 2.0 is outside 2 layers of 2 heads",
    ),
    "edge to no node": (
        {**release_files(), "quote_close/circuit.json": UNKNOWN_NODE},
        "circuit.json: 'attn_0_h' is not a node",
    ),
    "edge backwards": (
        {**release_files(), "quote_close/circuit.json": BACKWARDS},
        "circuit.json: there is no edge mlp 1 -> mlp 0",
    ),
    "circuit of another graph": (
        {**release_files(), "quote_close/circuit.json": OTHER_GRAPH},
        "circuit.json is not of the model's 2 layers of 2 heads",
    ),
    "names for another size": (
        changed(release_files(), "vocab.json", vocab_size=6),
        "vocab.json.vocab_size is 6, but the model has 5 tokens",
    ),
    "name outside": (changed(release_files(), "vocab.json", token_names={"5": "X"}), "token 5 is named but"),
    "name repeated": (
        changed(release_files(), "vocab.json", token_names={"0": "X", "1": "X"}),
        "the name 'X' stands for two tokens",
    ),
    "name of no token": (
        changed(release_files(), "vocab.json", token_names={"one": "X"}),
        "'one' is not a token",
    ),
    "token spelt twice": (
        changed(release_files(), "vocab.json", token_names={"01": "X"}),
        "'01' is not a token",
    ),
    "token too long to read": (
        changed(release_files(), "vocab.json", token_names={"9" * 5000: "X"}),
        "9' is not a token number",
    ),
}


@pytest.mark.parametrize(("files", "sentence"), MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_release_is_refused_and_nothing_is_written(tmp_path, files, sentence):
    """One sentence, and not even an empty folder where the model would have been."""
    source = write_release(tmp_path / "release", files)
    with pytest.raises(CircuitproofError, match=sentence):
        import_release(source, tmp_path / "deep" / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


@pytest.mark.parametrize("file", ["config.json", WEIGHTS, "vocab.json"])
def test_a_release_with_a_missing_file_is_refused(tmp_path, file):
    """The sentence names the file that was looked for."""
    source = write_release(tmp_path / "release", release_files())
    (source / file).unlink()
    with pytest.raises(InputError, match=f"cannot read .*{file}: No such file"):
        import_release(source, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


@pytest.mark.parametrize("name", ["norm_free", "band_norm_matched", "program_healed"])
def test_the_papers_models_decide_their_quote_prompts_right(reference, name):
    """The public weights must do here what they did for their authors: the whole model and its circuit."""
    release = load_release(reference / name)
    assert stored(release).alphabet == TOY
    circuit = release.circuits["quotes"]
    scores = (
        *score_circuits(stored(release).model, toy_quotes()),
        *score_circuits(stored(release).model, toy_quotes(), [circuit]),
    )
    assert [score.right for score in scores] == [128, 128]
    assert all(score.worst_margin > 0 for score in scores)
    assert len(circuit) < 26


def test_the_papers_norm_free_model_computes_what_its_file_means(reference):
    """The slow twin agrees on real weights too, at every position of some real prompts."""
    files = read_release(reference / "norm_free")
    model = stored(load_release(reference / "norm_free")).model.double()
    for prompt in toy_quotes().domain.prompts[::17]:
        found = model(torch.tensor([prompt]))[0]
        assert agree(found, torch.from_numpy(logits_by_hand(arrays(files), list(prompt), 2)))


def test_the_papers_model_with_programs_computes_what_its_files_mean(reference):
    """With its programs written out by hand: one back; up to three back and position 3; positions 2 and 3."""
    files = read_release(reference / "program_healed")
    model = stored(load_release(reference / "program_healed")).model.double()
    programs = {
        (0, 0): lambda query, key: query - key == 1,
        (0, 1): lambda query, key: (query - key <= 3) + (key == 3),
        (1, 1): lambda _, key: key in {2, 3},
    }
    assert model.programs.keys() == {Head(*head) for head in programs}
    for prompt in toy_quotes().domain.prompts[::17]:
        found = model(torch.tensor([prompt]))[0]
        assert agree(found, torch.from_numpy(logits_by_hand(arrays(files), list(prompt), 2, programs)))


def test_every_number_of_the_papers_file_is_kept(reference):
    """Bit for bit: the imported tensor printed as a double is the number in the file."""
    weights = json.loads((reference / "norm_free" / WEIGHTS).read_text())
    slices = stored(load_release(reference / "norm_free")).model.named_slices()
    assert slices["embed.token"].double().tolist() == weights["wte"]
    assert slices["head.1.1.key.weight"].double().tolist() == weights["attn_1_W_k"][8:]
    assert slices["head.0.1.output.weight"].double().tolist() == [row[8:] for row in weights["attn_0_W_o"]]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda files: files[WEIGHTS]["wpe"].pop(), "wpe holds 5 entries, want a list of 6"),
        (lambda files: files[WEIGHTS].update(half_low=4.5), "half_low is 9/2, the configuration wants 22/5"),
        (
            lambda files: files["config.json"].update(norm_variant="none"),
            "norm_variant is signed_l1_band_norm",
        ),
        (
            lambda files: files["quote_close/circuit.json"]["edges"][0].update(source="attn_0_h_7"),
            "head 0.7 is outside",
        ),
    ],
)
def test_a_damaged_copy_of_the_papers_model_is_refused(reference, tmp_path, damage, sentence):
    """The real files with one thing wrong, as a bad download would have it."""
    files = deepcopy(read_release(reference / "band_norm_matched"))
    del files["quote_close/verification_results.json"]
    damage(files)
    source = write_release(tmp_path / "copy", files)
    with pytest.raises(InputError, match=sentence):
        import_release(source, tmp_path / "out")
    assert not Path(tmp_path / "out").exists()
