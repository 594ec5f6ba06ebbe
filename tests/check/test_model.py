"""A bundle beside the models and the declaration that it is said to be about."""

import json
from pathlib import Path
from typing import Any

import pytest

import bundle_maker as maker
from bundle_maker import Bundle, fitting, proving
from circuitproof_check import identity, model, task
from circuitproof_check.main import Beside, Outcome, check, inspect


def without(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a rule about the model or the task away."""
    honest = model.require
    for module in (model, identity, task):
        monkeypatch.setattr(
            module, "require", lambda name, condition, *words: honest(name, condition or name == rule, *words)
        )


PROGRAM = {"0.0": ["default 1", "otherwise self"]}


def write_model(bundle: Bundle, folder: Path, **changes: Any) -> Path:
    """Write the model of a bundle."""
    declared = {"architecture": bundle.claim["architecture"], "alphabet": None, "programs": PROGRAM} | changes
    files = {"model.json": maker.as_bytes(declared), "weights.safetensors": maker.safetensors(bundle.tensors)}
    maker.seal(folder, files)
    return folder


def sliced(row: int = 1) -> tuple[Bundle, Bundle]:
    """Return a bundle with a few rows of a tensor, and one with the full tensor.

    The first kept row is taken from `row` of the full tensor; it is said to be row 1.
    """
    full, part = (proving(fitting(programs=PROGRAM), "equivalence") for _ in range(2))
    shape, numbers = part.tensors["logits.bias"]
    part.tensors["logits.bias"] = ((3,), [numbers[row], numbers[3], numbers[4]])
    part.claim["weights"]["logits.bias"]["rows"] = [1, 3, 4]
    part.pins.remove("tensors")
    assert shape == (6,)
    return full, part


def test_a_bundle_of_the_model_is_valid(tmp_path):
    """Full tensors by digest, kept rows by comparison."""
    full, part = sliced()
    assert check(part.write(tmp_path / "b"), write_model(full, tmp_path / "m"))[0] is Outcome.VALID


def test_every_file_of_the_model_has_its_digest(tmp_path):
    """Also one that the checker has no use for."""
    full, part = sliced()
    folder = write_model(full, tmp_path / "m")
    files = {file.name: file.read_bytes() for file in folder.iterdir() if file.name != "manifest.json"}
    maker.seal(folder, files | {"notes.txt": b"of mine"})
    assert check(part.write(tmp_path / "b"), folder)[0] is Outcome.VALID
    (folder / "notes.txt").write_bytes(b"of another")
    outcome, reason = check(tmp_path / "b", folder)
    assert outcome is Outcome.INVALID
    assert 'files have their digests: found "notes.txt"' in reason


def _shape() -> tuple[Bundle, Bundle]:
    full, part = sliced()
    full.tensors["logits.bias"] = ((6, 1), full.tensors["logits.bias"][1])
    return full, part


def _digest() -> tuple[Bundle, Bundle]:
    full, part = sliced()
    full.tensors["logits.bias"][1][0] += 1.0
    return full, part


FORGERIES = {
    "shapes_are_of_the_model": (_shape, {}),
    "digests_are_of_the_model": (_digest, {}),
    "programs_are_of_the_model": (sliced, {"programs": {}}),
    "architecture_is_of_the_model": (sliced, {"architecture": maker.architecture(attention_scale="1/4")}),
    "names_are_of_the_model": (sliced, {"alphabet": ["one", "zero", "2", "3", "4", "5"]}),
}


@pytest.mark.parametrize("rule", FORGERIES)
def test_a_bundle_of_another_model_is_invalid(rule, tmp_path, monkeypatch):
    """Each breaks one rule; without the rule it passes."""
    make, changes = FORGERIES[rule]
    full, part = make()
    bundle, directory = part.write(tmp_path / "b"), write_model(full, tmp_path / "m", **changes)
    assert check(bundle, directory)[0] is Outcome.INVALID
    without(rule, monkeypatch)
    assert check(bundle, directory)[0] is Outcome.VALID


def test_rows_must_be_those_of_the_model(tmp_path, monkeypatch):
    """The row is put in the place of one that nothing reads, so only the comparison can tell."""
    full, part = sliced()
    shape, numbers = part.tensors["logits.bias"]
    part.tensors["logits.bias"] = ((shape[0] + 1,), [7.0, *numbers])
    part.claim["weights"]["logits.bias"]["rows"] = [0, 1, 3, 4]
    bundle, directory = part.write(tmp_path / "b"), write_model(full, tmp_path / "m")
    assert check(bundle)[0] is Outcome.VALID
    assert (
        "tensor logits.bias breaks the rule that rows are of the model: found 0"
        in check(bundle, directory)[1]
    )
    without("rows_are_of_the_model", monkeypatch)
    assert check(bundle, directory)[0] is Outcome.VALID


@pytest.mark.parametrize("is_there", [True, False])
def test_a_tensor_that_the_model_does_not_have_is_invalid(is_there, tmp_path):
    """There is nothing to compare it with."""
    full, part = sliced()
    _, numbers = full.tensors.pop("logits.bias")
    full.tensors |= {"logits.bias": ((6, 1), numbers)} if is_there else {}
    outcome, sentence = check(part.write(tmp_path / "b"), write_model(full, tmp_path / "m"))
    assert outcome is Outcome.INVALID
    wanted = "tensor logits.bias breaks the rule that shapes are of the model: found (6)"
    assert sentence.startswith(f"{tmp_path / 'm'}: {wanted}")


def test_a_model_without_programs_need_not_name_them(tmp_path):
    """Its file has no such key."""
    bundle = proving(fitting(), "equivalence")
    declared = {"architecture": bundle.claim["architecture"], "alphabet": None}
    files = {"model.json": maker.as_bytes(declared), "weights.safetensors": maker.safetensors(bundle.tensors)}
    maker.seal(tmp_path / "m", files)
    assert check(bundle.write(tmp_path / "b"), tmp_path / "m")[0] is Outcome.VALID


def test_two_spellings_of_a_program_are_one(tmp_path):
    """A model may say `token_match == true` where a claim says `token_match`; another rule is another."""
    bundle = proving(fitting(), "equivalence")
    for name in [one for one in bundle.tensors if one.startswith(("head.0.0.query", "head.0.0.key"))]:
        del bundle.tensors[name]
    bundle.claim["programs"] = spelled("token_match")
    for rule in ("token_match == true", "token_match == false"):
        declared = {"architecture": bundle.claim["architecture"], "programs": spelled(rule), "alphabet": None}
        weights = maker.safetensors(bundle.tensors)
        maker.seal(tmp_path / rule, {"model.json": maker.as_bytes(declared), "weights.safetensors": weights})
        _, sentence = check(bundle.write(tmp_path / f"bundle of {rule}"), tmp_path / rule)
        assert ("programs are of the model" in sentence) is rule.endswith("false"), sentence


def spelled(rule):
    """Return a program of one rule."""
    return {"0.0": ["default 0", f"add 1 when {rule}", "otherwise self"]}


def test_what_is_not_a_model_directory_is_a_failure(tmp_path):
    """Nothing can be said about the bundle's model."""
    bundle = proving(fitting(), "equivalence").write(tmp_path / "b")
    assert check(bundle, tmp_path / "b")[0] is Outcome.FAILURE
    assert check(bundle, tmp_path / "nowhere")[0] is Outcome.FAILURE


def calibrated(**base: Any) -> Bundle:
    """Return a bundle that claims the lesion identity with a base, declared in another way if told."""
    prover = fitting(programs=PROGRAM)
    table = {name: entry["digest"] for name, entry in maker.pinned(prover.bundle.tensors).items()}
    names = sorted(name for name in table if not name.startswith("head.0.0."))
    size = prover.claim["architecture"]
    before = {"architecture": size, "programs": PROGRAM, "tensors": table} | base
    entry = {"kind": "lesion identity", "base": before, "artifact": table}
    children = [{"same": table[name]} for name in names]
    prover.answer(entry, "proved", {"split": "tensor", "children": children})
    return prover.bundle


def test_a_lesion_identity_holds_against_artifact_and_base(tmp_path):
    """Every tensor of both directories is digested again."""
    bundle = calibrated()
    model_path = write_model(bundle, tmp_path / "m")
    base = write_model(bundle, tmp_path / "base")
    assert check(bundle.write(tmp_path / "b"), model_path, base)[0] is Outcome.VALID


def _transposed(bundle: Bundle) -> None:
    shape, numbers = bundle.tensors["mlp.0.up.weight"]
    bundle.tensors["mlp.0.up.weight"] = (shape[::-1], numbers)


BASES: dict[str, tuple[dict[str, Any], Any]] = {
    "base_is_of_the_architecture": (
        {"architecture": maker.architecture(activation={"kind": "relu"})},
        lambda _: None,
    ),
    "base_has_the_programs": ({"programs": {"0.0": ["default 2", "otherwise self"]}}, lambda _: None),
    "tables_have_the_shapes": ({}, _transposed),
}


@pytest.mark.parametrize("rule", BASES)
def test_a_base_of_another_kind_is_invalid(rule, tmp_path, monkeypatch):
    """The same bytes in another architecture, with another program or in another shape compute otherwise."""
    declared, change = BASES[rule]
    bundle = calibrated()
    written, other = bundle.write(tmp_path / "b"), calibrated()
    change(other)
    base = write_model(other, tmp_path / "base", **declared)
    outcome, sentence = check(written, None, base)
    assert (outcome, rule.replace("_", " ") in sentence) == (Outcome.INVALID, True)
    without(rule, monkeypatch)
    assert check(written, None, base)[0] is Outcome.VALID


@pytest.mark.parametrize(
    "changes",
    [
        {"attention": "softmax"},
        {"activation": {"kind": "gelu", "form": "tanh"}},
        {"activation": {"kind": "relu"}},
        {"attention_scale": "1/4"},
        {"layers": 2},
        {"logit_bias": False},
    ],
    ids=str,
)
def test_a_lesion_identity_with_a_base_of_another_architecture_is_invalid(changes, tmp_path):
    """Whatever is the same, the base computes something else."""
    bundle = calibrated(architecture=maker.architecture(**changes))
    base = write_model(bundle, tmp_path / "base", architecture=maker.architecture(**changes))
    outcome, sentence = check(bundle.write(tmp_path / "b"), None, base)
    assert outcome is Outcome.INVALID
    assert "breaks the rule that" in sentence


def test_a_tensor_that_only_the_base_has_is_invalid(tmp_path):
    """A bias that the artifact lacks was read by the base."""
    bundle = calibrated()
    tensors = bundle.claim["properties"][0]["base"]["tensors"] | {"logits.extra": "0" * 64}
    other = calibrated(tensors=tensors)
    outcome, sentence = check(other.write(tmp_path / "b"))
    assert (outcome, "base lists its tensors" in sentence) == (Outcome.INVALID, True)


def test_tables_of_another_model_are_refused(tmp_path):
    """A changed tensor that the circuit does not read, on either side, and a tensor too many."""
    bundle = calibrated()
    honest = write_model(bundle, tmp_path / "honest")
    written = bundle.write(tmp_path / "b")
    shape, numbers = bundle.tensors["mlp.0.up.bias"]
    other = calibrated()
    other.tensors["mlp.0.up.bias"] = (shape, [number + 1 for number in numbers])
    wrong = write_model(other, tmp_path / "wrong")
    outcome, sentence = check(written, honest, wrong)
    assert outcome is Outcome.INVALID
    assert "base, tensor mlp.0.up.bias breaks the rule that tables are of the model" in sentence
    other = calibrated()
    other.tensors["extra"] = ((1,), [0.0])
    more = write_model(other, tmp_path / "more")
    outcome, sentence = check(written, honest, more)
    assert outcome is Outcome.INVALID
    assert "tables list the model" in sentence


def test_a_base_that_nobody_claims_is_refused(tmp_path):
    """Asking about a base wants a bundle that has one."""
    full, _ = sliced()
    base = write_model(full, tmp_path / "base")
    outcome, sentence = check(full.write(tmp_path / "b"), None, base)
    assert outcome is Outcome.INVALID
    assert "a base is claimed" in sentence


def test_a_base_that_is_no_model_cannot_be_judged(tmp_path):
    """A bundle is not a model directory."""
    bundle = calibrated()
    written = bundle.write(tmp_path / "b")
    outcome, sentence = check(written, None, written)
    assert outcome is Outcome.FAILURE
    assert "is not a model directory" in sentence


def declared() -> tuple[Bundle, dict[str, Any]]:
    """Return a bundle and the declaration of its task."""
    bundle = proving(fitting(), "equivalence")
    asked = bundle.claim["task"]
    content = {key: asked[key] for key in ("name", "candidates", "answer", "relation")}
    content |= {"alphabet": ["zero", "1", "2", "3", "4", "5"], "domain": dict(bundle.domain)}
    return bundle, content


def canonical(content: dict[str, Any]) -> bytes:
    """Return the bytes whose digest a task carries."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def compared(bundle: Bundle, content: dict[str, Any], folder: Path) -> tuple[Outcome, str]:
    """Return the answer about a bundle beside a declaration, which need not be written canonically."""
    (folder / "task.json").write_text(json.dumps(content, indent=1))
    report = inspect(bundle.write(folder / "b"), Beside(task=folder / "task.json"))
    return report.outcome, report.reason


def test_a_bundle_of_a_declared_task_is_valid(tmp_path):
    """The line then says so."""
    bundle, content = declared()
    bundle.claim["task"]["declaration"] = maker.digest(canonical(content))
    outcome, sentence = compared(bundle, content, tmp_path)
    assert outcome is Outcome.VALID
    assert f"task {maker.digest(canonical(content))[:12]} as declared;" in sentence


DECLARED = {
    "task_has_the_declared_digest": lambda _: None,
    "task_is_the_declared": lambda content: content.update(name="quotes"),
    "domain_is_the_declared": lambda content: content["domain"].update(strata=["other"] * 8),
    "names_are_the_declared": lambda content: content.update(alphabet=["1", "zero", "2", "3", "4", "5"]),
    "alphabets_name_each_token_once": lambda content: content.update(
        alphabet=["zero", "1", "2", "3", "4", "1"]
    ),
}


OUTPUTS = ["a", "b", "c", "d", "e", "f"]
MORE_DECLARED = {
    "outputs_are_the_declared": lambda content: content.update(outputs=["f", "e", "d", "c", "b", "a"]),
    "declared_outputs_have_names_of_their_own": lambda content: content.update(
        outputs=["a", "b", "c", "d", "e", "a"]
    ),
    "task_is_the_declared": lambda content: content.update(position=-2),
}


@pytest.mark.parametrize("rule", MORE_DECLARED)
def test_a_bundle_of_other_outputs_or_another_position_is_invalid(rule, tmp_path, monkeypatch):
    """What is answered, and where, is declared with the task."""
    bundle, content = declared()
    bundle.claim["task"]["outputs"] = {str(one): OUTPUTS[one] for one in content["candidates"]}
    content["outputs"] = OUTPUTS
    MORE_DECLARED[rule](content)
    bundle.claim["task"]["declaration"] = maker.digest(canonical(content))
    outcome, sentence = compared(bundle, content, tmp_path)
    assert (outcome, rule.replace("_", " ") in sentence) == (Outcome.INVALID, True)
    without(rule, monkeypatch)
    outcome, sentence = compared(bundle, content, tmp_path)
    assert outcome is Outcome.VALID, sentence


@pytest.mark.parametrize("rule", DECLARED)
def test_a_bundle_of_another_task_is_invalid(rule, tmp_path, monkeypatch):
    """A name says nothing: with one prompt or swapped tokens it is another task."""
    bundle, content = declared()
    DECLARED[rule](content)
    if rule != "task_has_the_declared_digest":
        bundle.claim["task"]["declaration"] = maker.digest(canonical(content))
    outcome, sentence = compared(bundle, content, tmp_path)
    assert (outcome, rule.replace("_", " ") in sentence) == (Outcome.INVALID, True)
    without(rule, monkeypatch)
    outcome, sentence = compared(bundle, content, tmp_path)
    assert outcome is Outcome.VALID, sentence


@pytest.mark.parametrize("other", [True, 1.0])
def test_a_declared_candidate_is_a_number(other, tmp_path):
    """Python takes `true` and 1.0 for 1; a declaration that says so is another one."""
    bundle, content = declared()
    content["candidates"] = [other, 3, 4]
    bundle.claim["task"]["declaration"] = maker.digest(canonical(content))
    outcome, sentence = compared(bundle, content, tmp_path)
    assert (outcome, "task is the declared" in sentence) == (Outcome.INVALID, True)


def test_a_declaration_of_an_odd_name_is_named_in_quotes(tmp_path):
    """The name of a file adds no words to the sentence."""
    bundle, _ = declared()
    odd = tmp_path / "x is valid: as declared"
    odd.write_text("{}")
    report = inspect(bundle.write(tmp_path / "b"), Beside(task=odd))
    assert report.reason.count('x is valid: as declared"') == 2  # the file, and the command


def test_the_alphabet_of_a_declared_task_is_the_models(tmp_path, monkeypatch):
    """Where no token of the claim has a name, the declaration still says how all are called."""
    bundle, content = declared()
    bundle.claim["task"]["names"] = {}
    bundle.claim["task"]["declaration"] = maker.digest(canonical(content))
    (tmp_path / "task.json").write_bytes(canonical(content))
    written = bundle.write(tmp_path / "b")
    other = write_model(bundle, tmp_path / "m", programs={}, alphabet=list("zyxwvu"))
    beside = Beside(against=other, task=tmp_path / "task.json")
    report = inspect(written, beside)
    assert "declared alphabet is of the model" in report.reason
    without("declared_alphabet_is_of_the_model", monkeypatch)
    assert inspect(written, beside).outcome is Outcome.VALID


def as_toml(value: Any) -> str:
    """Return a value as TOML writes it in a line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {as_toml(one)}" for key, one in value.items()) + "}"
    return "[" + ", ".join(map(as_toml, value)) + "]" if isinstance(value, list) else json.dumps(value)


def test_a_declaration_may_be_written_as_toml(tmp_path):
    """It is what it says, not how: the digest is that of its canonical JSON."""
    bundle, content = declared()
    bundle.claim["task"]["declaration"] = maker.digest(canonical(content))
    file = tmp_path / "task.toml"
    file.write_text("\n".join(f"{key} = {as_toml(value)}" for key, value in content.items()))
    written = bundle.write(tmp_path / "b")
    assert inspect(written, Beside(task=file)).outcome is Outcome.VALID
    file.write_text(file.read_text().replace('"zero"', '"none"'))
    assert inspect(written, Beside(task=file)).outcome is Outcome.INVALID


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "task.toml",
            'name = "tiny"\nalphabet = ["0", "1"]\nprompts = ["0 1"]\nanswers = ["0"]\nclasses = [0]',
        ),
        ("task.toml", "name ="),
        ("task.toml", "name = 2026-01-01"),
        ("task.json", '{"name": "tiny", "prompts": [[0, 1]]}'),
        ("task.json", "{"),
        ("task.json", "[]"),
        ("task.json", 'name = "tiny"'),
    ],
)
def test_a_file_that_declares_nothing_says_nothing_of_a_bundle(tmp_path, name, text):
    """A task file is what its author wrote: the declaration is made of it, and the sentence says how."""
    bundle, content = declared()
    bundle.claim["task"]["declaration"] = maker.digest(canonical(content))
    (tmp_path / name).write_text(text)
    report = inspect(bundle.write(tmp_path / "b"), Beside(task=tmp_path / name))
    assert report.outcome is Outcome.FAILURE
    assert f"make one by circuitproof task {tmp_path / name} --out DECLARATION.json" in report.reason


def test_a_declaration_that_is_no_text_is_another(tmp_path):
    """Half a character has no canonical bytes."""
    bundle, content = declared()
    outcome, sentence = compared(bundle, content | {"name": "\ud800"}, tmp_path)
    assert (outcome, "task has the declared digest" in sentence) == (Outcome.INVALID, True)


@pytest.mark.parametrize(
    ("names", "alphabet", "said", "status"),
    [
        ({"0": "zero"}, None, "model compared, names not compared, task", "not compared"),
        ({"0": "zero"}, ["zero", "1", "2", "3", "4", "5"], "model compared, task", "compared"),
        ({}, None, "model compared, task", "none"),
    ],
    ids=["no alphabet", "alphabet", "no names"],
)
def test_names_that_no_alphabet_confirms_are_said_to_be_unchecked(names, alphabet, said, status, tmp_path):
    """A model without an alphabet cannot tell whether token 9 is a quotation mark."""
    bundle = proving(fitting(), "equivalence")
    bundle.claim["task"]["names"] = names
    model = write_model(bundle, tmp_path / "m", programs={}, alphabet=alphabet)
    report = inspect(bundle.write(tmp_path / "b"), Beside(against=model))
    assert (report.outcome, report.reason.startswith(said)) == (Outcome.VALID, True)
    assert {"about": "names", "is": status} in report.assumptions
