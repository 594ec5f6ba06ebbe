"""Every command of every document runs as it stands, or the document says why it does not."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from circuitproof.circuits.spelling import load_circuit
from circuitproof.files.canonical import readable_json
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import TOY
from circuitproof_check.main import main as check
from documents import DOCUMENTS, PROGRAMS, blocks
from hand_models import QUOTE_EDGES, circuit_of, quote_model
from places import RECIPES, ROOT
from releases import release_files, write_release

STEPS = ROOT / "docs" / "start.md"
BLOCKS = [block for document in DOCUMENTS for block in blocks(document)]
FIRST = ("start.md", "page.md", "figures.md", "howto-check.md", "howto-model.md", "howto-valid.md")
"""Pages about the model and the bundle that the first steps make."""


def test_every_block_is_found():
    """Each command that a document shows in a line of its own belongs to a block."""
    for document in DOCUMENTS:
        shown = re.findall(rf"^(?:    |\$ )(?:{'|'.join(PROGRAMS)}) ", document.read_text(), re.MULTILINE)
        found = [line for block in BLOCKS if block.document == document for line in block.lines]
        assert len(shown) == sum(
            line.removeprefix("$ ").startswith(tuple(f"{one} " for one in PROGRAMS)) for line in found
        )
    assert len(BLOCKS) > 20


def test_what_is_not_run_has_a_reason_and_its_twin_is_there():
    """The reason names the test that does the same at smoke size, where there is one."""
    for block in BLOCKS:
        if block.reason is not None:
            assert len(block.reason) > 10, block.name
            for file in re.findall(r"tests/[\w/]+\.py", block.reason):
                assert (ROOT / file).exists(), block.name


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """Go to a folder with the recipes, small things made by hand, and a model that came from elsewhere."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipes").symlink_to(RECIPES)
    save_model(Path("hand/neural"), StoredModel(quote_model(programs={}), TOY))
    save_model(Path("hand/model"), StoredModel(quote_model(), TOY))
    for name in ("elsewhere", "other"):
        save_model(Path("hand", name), StoredModel(quote_model(), TOY))
        Path("hand", name, "manifest.json").unlink()
    Path("hand/circuit.json").write_bytes(readable_json(circuit_of(QUOTE_EDGES).to_json()))
    write_release(Path("hand/release"), release_files())
    return tmp_path


@pytest.mark.slow
@pytest.mark.usefixtures("workplace")
def test_the_first_steps_run_as_they_stand_and_so_does_the_page_about_their_bundle(run):
    """From the first command on, each in the folder that those before it have left."""
    run_documents(run, *FIRST)
    assert list(Path().glob("**/*.html"))
    assert load_circuit(Path("build/quotes.json")).edges


@pytest.mark.slow
@pytest.mark.usefixtures("workplace")
@pytest.mark.parametrize(
    "name", sorted({block.document.name for block in BLOCKS if block.reason is None} - {*FIRST})
)
def test_the_commands_of_every_other_document_run_as_they_stand(run, name):
    """Each needs no more than things made by hand."""
    run_documents(run, name)


def run_documents(run, *names):
    """Run all blocks of documents. Training rounds by the machine, so an answer may be no or not yet."""
    for block in (block for name in names for block in BLOCKS if block.document.name == name):
        if block.reason is None:
            for words, text in block.commands():
                code, out, err = do(run, words, text)
                assert code in (0, 1, 4), (block.name, words, out, err)


def test_an_own_task_an_own_circuit_and_a_model_made_elsewhere_end_in_a_checked_bundle(
    run, tmp_path, monkeypatch
):
    """The task and the circuit are those that the first steps show; nothing of ours writes the model."""
    monkeypatch.chdir(tmp_path)
    for name, kind in (("agreement.toml", "toml"), ("circuit.json", "json")):
        Path(name).write_text(re.search(rf"```{kind}\n(.*?)```", STEPS.read_text(), re.DOTALL)[1])
    write_model_elsewhere(Path("mine"))
    assert run("task", "agreement.toml")[0] == 0
    assert run("circuit", "circuit.json")[0] == 0
    assert run("model", "mine", "--seal")[0] == 0
    claim = ("--model", "mine", "--circuit", "circuit.json", "--task", "agreement.toml")
    code, out, err = run("verify", *claim, "--epsilon", "1/1000", "--out", "bundle")
    assert code == 0, out + err
    with pytest.raises(SystemExit) as end:
        check(["bundle", "--against", "mine"])
    assert end.value.code == 0


def write_model_elsewhere(folder):
    """Write a model whose head reads the token at position 1, by docs/models.md, numpy and safetensors."""
    tokens, context, width = 6, 5, 11
    sizes = {"vocabulary": tokens, "context": context, "layers": 1, "heads": 1, "mlp_width": 1}
    operators = {"norm": {"kind": "none"}, "attention": "sparsemax", "activation": {"kind": "relu"}}
    options = {"attention_scale": "1", "tied": False, "biases": False, "logit_bias": False}
    widths = {"width": width, "head_width": width}
    tensors = {
        "embed.token": np.eye(tokens, width),
        "embed.position": np.eye(context, width, tokens),
        "head.0.0.query.weight": matrix(width, width, {(0, tokens + 4): 2}),
        "head.0.0.key.weight": matrix(width, width, {(0, tokens + 1): 1}),
        "head.0.0.value.weight": np.eye(width),
        "head.0.0.output.weight": matrix(width, width, {(4, 1): 1, (5, 2): 1}),
        "mlp.0.up.weight": matrix(1, width, {}),
        "mlp.0.down.weight": matrix(width, 1, {}),
        "logits.weight": np.eye(tokens, width),
    }
    folder.mkdir()
    save_file({name: one.astype(np.float32) for name, one in tensors.items()}, folder / "weights.safetensors")
    architecture = {**sizes, **widths, **operators, **options}
    names = ["the", "dog", "dogs", "near", "runs", "run"]
    declaration = {"architecture": architecture, "alphabet": names, "programs": {}}
    (folder / "model.json").write_text(json.dumps(declaration))


def matrix(rows, columns, entries):
    """Return a matrix of zeros but for some entries."""
    made = np.zeros((rows, columns))
    for place, value in entries.items():
        made[place] = value
    return made


def do(run, words, text):
    """Run one command in this process, as the shell would in one of its own."""
    match words:
        case ["circuitproof", *rest]:
            return run(*rest)
        case ["circuitproof-check" | "python", *rest]:
            given = rest[rest.index("circuitproof_check") + 1 :] if words[0] == "python" else rest
            with pytest.raises(SystemExit) as end:
                check(given)
            return end.value.code, "", ""
        case ["cat", ">", file]:
            Path(file).write_text(text)
            return 0, "", ""
        case _:
            raise AssertionError(f"{words} is no command that can be run here: add a note why")
