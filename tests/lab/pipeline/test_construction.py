import json
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest

from circuitproof.bundle.files import write_bundle
from circuitproof.errors import CircuitproofError, InputError, NumericError
from circuitproof.files.records import read_record
from circuitproof.forward.frozen import open_model
from circuitproof.nn.checkpoint import load_model, save_model
from circuitproof.proof.battery import prove
from circuitproof.proof.evidence import OneTensor
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.lesion_identity import LesionIdentity, identity_with
from circuitproof.proof.verdict import Verdict
from circuitproof_check.main import Outcome, check
from circuitproof_lab.distill.calibrate import calibrate
from circuitproof_lab.pipeline.construction import construct
from circuitproof_lab.pipeline.construction_recipe import RungChoice, SeededBase, load_construction
from circuitproof_lab.pipeline.stages import calibrate as stage
from circuitproof_lab.records.proof import NecessityWitnesses
from constructions import TEXT, write_construction


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return a finished construction and its folder."""
    folder = tmp_path_factory.mktemp("construction")
    loaded = load_construction(write_construction(folder))
    return folder, construct(loaded, folder / "run")


def test_an_artifact_is_built_calibrated_and_proved(built):
    """The readout rung is the first that passes; the circuit's three edges are necessary."""
    folder, (artifact,) = built
    assert artifact.proof.verdict is Verdict.PROVED
    assert artifact.record == "readout"
    assert [state.name for state in artifact.states] == ["base", "installed", "scalar", "readout"]
    assert [state.passes for state in artifact.states] == [False, False, False, True]
    record = artifact.states[-1].audit
    assert record.model == record.circuit == record.prompts == 64
    assert len(artifact.proof.battery.claim.circuit) == 3
    outcome, _ = check(artifact.proof.bundle, folder / "run" / "quotes" / "model")
    assert outcome is Outcome.VALID


ORDINARY = {
    'norm = { kind = "none" }': 'norm = { kind = "layer", epsilon = "1/100000" }',
    'attention = "sparsemax"': 'attention = "softmax"',
    '{ kind = "leaky relu", slope = "1/100" }': '{ kind = "gelu", form = "tanh" }',
}


def test_an_artifact_of_an_ordinary_base_is_proved_in_enclosed_numbers(tmp_path):
    """Softmax, GELU and LayerNorm stay; what is claimed is what can be, and the checker confirms it."""
    calibrated = {
        "deviation = 0.3": "deviation = 0.1",
        'rungs = ["scalar", "readout"]': 'rungs = ["readout"]',
        "steps = 120": "steps = 240",
        'aim = "radius"': 'aim = "margin"',
    }
    recipe = write_construction(tmp_path, ORDINARY | calibrated)
    (artifact,) = construct(load_construction(recipe), tmp_path / "run")
    assert artifact.proof.verdict is Verdict.PROVED
    assert artifact.measures.bits is not None
    outcome, sentence = check(artifact.proof.bundle, artifact.model, tmp_path / "run" / "base")
    assert (outcome, "lesion identity" in sentence) == (Outcome.VALID, True)


def test_a_radius_is_not_aimed_at_through_a_norm(tmp_path):
    """Refused before anything is made."""
    with pytest.raises(InputError, match="small: calibration aims at the radius"):
        construct(load_construction(write_construction(tmp_path, ORDINARY)), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_every_frozen_tensor_is_the_base_s(built):
    """Only the program head's readout differs; its queries and keys are gone."""
    folder, (artifact,) = built
    base, model = open_model(folder / "run" / "base").file, open_model(artifact.model).file
    changed = {name for name in model.places if base.digest(name) != model.digest(name)}
    assert changed == {"head.1.1.value.weight", "head.1.1.value.bias", "head.1.1.output.weight"}
    assert base.places.keys() - model.places.keys() == {
        f"head.1.1.{kind}.{part}" for kind in ("query", "key") for part in ("weight", "bias")
    }


def test_the_lesioned_model_is_the_same_in_every_state(built):
    """Bit by bit since the programs were installed; the backup route is the base's own."""
    _, (artifact,) = built
    digests = {state.audit.lesion_digest for state in artifact.states[1:]}
    assert len(digests) == 1
    assert len({state.audit.backup for state in artifact.states}) == 1


def test_a_finished_construction_is_not_repeated(built, monkeypatch):
    """Nothing is trained or audited again."""
    folder, (before,) = built
    monkeypatch.setattr(stage, "calibrate", None)
    monkeypatch.setattr(stage, "audit", None)
    (after,) = construct(load_construction(write_construction(folder)), folder / "run")
    assert after.states == before.states


def test_a_rung_of_record_that_nobody_calibrated_is_refused(built, tmp_path):
    """The file is read back, so it may say anything."""
    folder, _ = built
    copytree(folder / "run", tmp_path / "run")
    (tmp_path / "run" / "quotes" / "chosen.json").write_text('{"record": "diagonal", "why": "it is"}')
    with pytest.raises(InputError, match=r"chosen\.json: record is 'diagonal', want one of scalar, readout"):
        construct(load_construction(write_construction(folder)), tmp_path / "run")


def test_a_claim_is_folded_once_and_the_identity_joins_it(built):
    """What the identity adds to the four properties is what one proof of all five says."""
    battery = built[1][0].proof.battery
    assert battery.answers == prove(battery.claim).answers


def test_the_bundle_proves_the_lesion_identity(built):
    """The checker confirms it against artifact and base, and refuses another base."""
    folder, (artifact,) = built
    base, bundle = folder / "run" / "base", artifact.proof.bundle
    outcome, sentence = check(bundle, artifact.model, base)
    assert (outcome, "lesion identity" in sentence) == (Outcome.VALID, True)
    assert check(bundle, artifact.model, artifact.model)[0] is Outcome.INVALID


def test_a_calibration_that_touches_a_frozen_parameter_is_refuted(built, tmp_path):
    """One changed number in one frozen tensor is enough, and the checker sees the refutation hold."""
    folder, (artifact,) = built
    stored = load_model(artifact.model)
    stored.model.mlps[1].down_bias.data[0] += 1
    save_model(tmp_path / "touched", stored)
    frozen, claim = open_model(tmp_path / "touched"), artifact.proof.battery.claim
    identity = identity_with(open_model(folder / "run" / "base"), frozen)
    battery = prove(replace(claim, frozen=frozen, properties=(identity,)))
    (answer,) = battery.answers
    assert (answer.verdict, answer.evidence) == (Verdict.REFUTED, OneTensor("mlp.1.down.bias"))
    write_bundle(tmp_path / "bundle", battery)
    outcome, sentence = check(tmp_path / "bundle", tmp_path / "touched", folder / "run" / "base")
    assert (outcome, "lesion identity refuted" in sentence) == (Outcome.REFUTED, True)


def test_digests_of_another_model_are_refused(built):
    """A claim about one model with the table of another says nothing."""
    folder, (artifact,) = built
    claim, base = artifact.proof.battery.claim, open_model(folder / "run" / "base")
    wrong = LesionIdentity(identity_with(base, claim.frozen).base, ())
    with pytest.raises(InputError, match="the digests of the artifact are not those of the model"):
        prove(replace(claim, properties=(wrong,)))
    with pytest.raises(InputError, match="is a program in the base but not in the artifact"):
        identity_with(claim.frozen, base)


def test_a_rung_that_changes_the_rest_of_the_model_is_refused(tmp_path, monkeypatch):
    """If calibration ever reached further, the lesioned forward would tell."""

    def reaching(site, installed, rung):
        after = calibrate(installed, site.behaviour, rung, site.construction.calibration)
        after.mlps[1].down_bias.data += 0.5
        return after

    monkeypatch.setattr(stage, "calibrated", reaching)
    loaded = load_construction(write_construction(tmp_path, {'"scalar", "readout"': '"scalar"'}))
    with pytest.raises(NumericError, match="scalar does not compute the bits it did before: something"):
        construct(loaded, tmp_path / "run")


def test_no_rung_that_passes_is_a_sentence(tmp_path):
    """With the best there was, and what to do."""
    loaded = load_construction(write_construction(tmp_path, {'"scalar", "readout"': '"scalar"'}))
    with pytest.raises(InputError, match=r"quotes: no rung passes its gates; the best, scalar, has .* of 64"):
        construct(loaded, tmp_path / "run")


def test_a_rung_whose_programs_are_not_needed_together_does_not_pass(tmp_path):
    """Joint necessity is declared: here more is asked for than any model of 64 prompts can need."""
    path = write_construction(tmp_path, {"joint_necessity = 1": "joint_necessity = 65"})
    with pytest.raises(InputError, match=r"needs its programs together on \d+ where 65 are asked for"):
        construct(load_construction(path), tmp_path / "run")


def test_what_is_left_without_the_circuit_is_the_same_in_every_state(built):
    """The whole-circuit lesion takes the program heads too, so no rung can change it."""
    _, (artifact,) = built
    assert len({state.audit.without_circuit for state in artifact.states}) == 1
    assert all(state.audit.needed >= 1 for state in artifact.states if state.passes)


def test_every_witness_of_necessity_is_recorded_beside_the_bundle(built):
    """The bundle keeps one prompt for each edge; the record has all, as the proof counted them."""
    folder, (artifact,) = built
    kept = read_record(folder / "run" / "quotes" / "proof" / "circuit.witnesses.json", NecessityWitnesses)
    (answer,) = [one for one in artifact.proof.battery.answers if one.prop.kind is Kind.NECESSITY]
    assert [(one.edge, one.flips, one.ties) for one in kept.edges] == [
        (str(one.edge), one.flips, one.ties) for one in answer.findings.edges
    ]
    assert len(kept.edges) == 3
    assert all(len(one.flips) + len(one.ties) > 1 for one in kept.edges)


def test_a_trained_model_can_be_the_base(built, tmp_path):
    """The same recipe on a model directory: another digest, and nothing is seeded."""
    folder, _ = built
    path = write_construction(tmp_path)
    seeded, given = load_construction(path), load_construction(path, folder / "run" / "base")
    assert isinstance(seeded.base, SeededBase)
    assert given.base == folder / "run" / "base"
    assert seeded.digest != given.digest
    (artifact,) = construct(given, tmp_path / "run")
    assert artifact.proof.verdict is Verdict.PROVED
    with pytest.raises(InputError, match="has programs already; want a base without any"):
        load_construction(path, artifact.model)


def test_a_text_can_guard_quality(tmp_path):
    """A loss above the budget fails the gate."""
    (tmp_path / "text").write_text("A B C D ' A \" B [ C ] D { A } " * 40)
    table = '\n[quality]\ntext = "text"\nwindow = 6\nbatch = 8\nbudget = {}\n\n[[artifacts]]'
    strict = load_construction(write_construction(tmp_path, {"\n[[artifacts]]": table.format("0.001")}))
    with pytest.raises(InputError, match="no rung passes its gates"):
        construct(strict, tmp_path / "strict")
    changes = {"\n[[artifacts]]": table.format("100.0"), 'choose = "first"': 'choose = "quality"'}
    lax = load_construction(write_construction(tmp_path, changes))
    assert lax.choice is RungChoice.QUALITY
    (artifact,) = construct(lax, tmp_path / "lax")
    losses = artifact.states[-1].losses
    assert losses is not None
    assert losses.without_heads > 0


def test_listed_prompts_come_from_a_file(tmp_path):
    """Rows of tokens under a key, as others publish them."""
    prompts = [[1, 2, 5, 9, 6, 7], [1, 2, 6, 10, 5, 5], [1, 2, 7, 9, 6, 5], [1, 2, 8, 10, 5, 6]]
    (tmp_path / "ids.json").write_text(json.dumps({"quote_close": prompts}))
    changes = {
        "count = 64": 'prompts = { file = "ids.json", key = "quote_close" }',
        'templates = { six = "<BOS> <TASK_QUOTE> {x} {opener} {y} {z}" }\n': "",
        'slots = { x = ["A", "B", "C", "D"], y = ["A", "B", "C", "D"], z = ["A", "B", "C", "D"] }\n': "",
    }
    (blueprint,) = load_construction(write_construction(tmp_path, changes)).blueprints
    assert blueprint.task.domain.prompts == tuple(map(tuple, prompts))


def test_a_task_file_can_be_what_an_artifact_does(tmp_path):
    """Its tokens are the recipe's; another content of the file is another construction."""
    text = TEXT[: TEXT.index("answers = {")] + 'task = "own.toml"\n'
    (tmp_path / "construction.toml").write_text(text.replace('name = "quotes"\n', ""))
    own = 'name = "mine"\nalphabet = "model"\nprompts = ["A \'", "\\" B"]\n'
    (tmp_path / "own.toml").write_text(own + 'openers = { "\'" = "\'", "\\"" = "\\"" }')
    loaded = load_construction(tmp_path / "construction.toml")
    (blueprint,) = loaded.blueprints
    assert (blueprint.task.name, blueprint.task.domain.prompts) == ("mine", ((5, 9), (10, 6)))
    (tmp_path / "own.toml").write_text(own.replace("A", "B") + 'openers = { "\'" = 9, "\\"" = 10 }')
    assert load_construction(tmp_path / "construction.toml").digest != loaded.digest


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {'"scalar", "readout"': '"readout", "scalar"'},
            "want some of scalar, diagonal, readout, in this",
        ),
        ({'"scalar", "readout"': '"scalr"'}, "is 'scalr', want one of"),
        ({'choose = "first"': 'choose = "quality"'}, "chooses by quality but names no text"),
        ({'name = "quotes"': 'name = "a/b"'}, "want some, with distinct plain names"),
        ({'"1.1" = [': '"0.0" = ['}, "program at head 0.0, which is not in its circuit"),
        ({"{9, 10}": "{9, 99}"}, "99"),
        ({"count = 64": "count = 256"}, "the templates give 128 distinct ones"),
        ({"heads = 2": "heads = 3"}, "construction.toml.base.architecture"),
        ({'answers = { "\'" = "\'"': 'answers = { "\' A" = "\'"'}, "is 2 tokens, want one"),
    ],
)
def test_a_construction_with_a_mistake_is_refused(tmp_path: Path, change, sentence):
    """One sentence each."""
    path = write_construction(tmp_path, change)
    with pytest.raises(CircuitproofError, match=sentence):
        load_construction(path)
