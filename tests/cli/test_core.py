"""Without any extra, every command does its work or says in one sentence which extra it needs."""

import json
import subprocess
import sys

import pytest

import lens_files
from circuitproof.cli.table import commands
from circuitproof.files.canonical import digest_bytes
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.programs.candidates import Grammar
from circuitproof.programs.text import to_text
from circuitproof.tasks.alphabet import TOY
from circuitproof_lab.distill.synthesis import Bounds
from circuitproof_lab.pipeline.ledger import Ledger
from circuitproof_lab.pipeline.synthesis import SynthesisRequest, certificate_path, synthesise
from claim_files import write_claims
from gpt2_files import CONFIG, gpt2_tensors, write_gpt2, write_mingpt
from hand_models import QUOTE_EDGES, SELECT, circuit_of, quote_model
from lens_files import write_lens
from places import COMPILED, RECIPES, ROOT
from releases import release_files, write_release

COMMANDS = commands()
MODEL, TASK = ("--model", "model"), ("--task", "quotes")
CIRCUIT = ("--circuit", "circuit.json")
WORK = {
    "task": ["quotes"],
    "model": ["model"],
    "circuit": ["circuit.json"],
    "import-release": ["release", "--out", "released"],
    "import-hf": ["gpt2", "--out", "from-hf"],
    "import-tl": ["lens", "--out", "from-tl"],
    "import-mingpt": ["mingpt", "--out", "from-mingpt"],
    "import-tracr": [str(COMPILED / "length.safetensors"), "--out", "from-tracr"],
    "export-hf": ["--model", "from-hf", "--out", "to-hf"],
    "verify": [*MODEL, *TASK, *CIRCUIT, "--epsilon", "1/100", "--out", "bundle"],
    "install": [*MODEL, "--program", "0.0=program.txt", "--out", "installed"],
    "radius": [*MODEL, *TASK, *CIRCUIT],
    "logits": [*MODEL, "--prompt", "1 9", *CIRCUIT],
    "minimal": [*MODEL, *TASK, "--most", "2"],
    "cost": [*MODEL, *TASK, *CIRCUIT, "--anchors", "1"],
    "report": ["bundle"],
    "show": ["bundle"],
    "check": ["bundle", "--against", "model"],
    "explain": ["#0", "--bundle", "bundle"],
    "queries": [*MODEL, *TASK, *CIRCUIT, "--anchors", "1", "--out", "queries"],
    "recheck": ["certificate.json", "--model", "silent", *TASK],
    "ledger": ["ledger.jsonl"],
    "results": [str(ROOT / "evidence"), "--out", "results.md"],
    "claims": ["prove", "claims/claims.toml", "--out", "proofs"],
    "gallery": ["norm-free"],
    "tour": [],
}  # fmt: skip
"""What can be done without an extra, in an order in which files are there when they are read."""
NEEDS_TORCH = {
    "train": ["toy.toml"],
    "evaluate": [*MODEL, *TASK],
    "extract": [*MODEL, *TASK, "--out", "out.json"],
    "variants": ["code-lm-variants.toml"],
    "localise": ["toy-localisation.toml"],
    "synthesise": [*MODEL, *TASK, "--head", "0.0", "--out", "out.txt"],
    "remove-norm": ["toy-norm-free.toml"],
    "distill": ["toy-programs.toml"],
    "construct": ["gpt2-openers.toml"],
    "surrogate": ["surrogate.toml"],
    "run": ["code-lm.toml"],
    "release": ["run", "--out", "released-study"],
}
"""What torch computes."""
NEEDS_DRAWING = {"figures": ["bundle", "--out", "figures"]}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Return the exit code and output of every command, called without any extra."""
    at = tmp_path_factory.mktemp("core")
    for file in RECIPES.glob("*.toml"):
        (at / file.name).symlink_to(file)
    save_model(at / "model", StoredModel(quote_model(programs={}), TOY))
    silent = {"head.0.0.output.weight": [[0, 0], [0, 0]], "embed.token": [[0, 0]] * 32}
    save_model(at / "silent", StoredModel(quote_model(silent, programs={}), TOY))
    (at / "circuit.json").write_text(json.dumps(circuit_of(QUOTE_EDGES).to_json()))
    (at / "program.txt").write_text(to_text(SELECT))
    write_release(at / "release", release_files())
    (at / "claims").mkdir()
    write_claims(at / "claims")
    write_gpt2(at / "gpt2", CONFIG, gpt2_tensors())
    write_lens(at / "lens", lens_files.CONFIG, lens_files.lens_state())
    write_mingpt(at / "mingpt")
    Ledger(at / "ledger.jsonl").declare("one", digest_bytes(b"one"))
    certify(at)
    words = [[name, *given] for name, given in {**WORK, **NEEDS_TORCH, **NEEDS_DRAWING}.items()]
    ended = subprocess.run(  # noqa: S603  # ours
        [sys.executable, ROOT / "tests" / "core_environment.py"],
        check=False, cwd=at, input=json.dumps(words), capture_output=True, text=True,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return dict(zip([name for name, *_ in words], json.loads(ended.stdout), strict=True))


def certify(at):
    """Write a certificate that no program will do for a head without effect."""
    bounds = Bounds(grammar=Grammar(rules=1, conditions=1, members=1))
    asked = SynthesisRequest(model=at / "silent", tasks=("quotes",), head="0.0", circuits=(), bounds=bounds)
    synthesise(asked, at / "certificate")
    certificate_path(at / "certificate").rename(at / "certificate.json")


def test_every_command_is_tried():
    """One that is new belongs into one of the two tables."""
    assert WORK.keys() | NEEDS_TORCH.keys() | NEEDS_DRAWING.keys() == COMMANDS.keys()


@pytest.mark.parametrize("name", WORK)
def test_a_command_that_needs_no_extra_does_its_work_without(name, found):
    """Proving, checking and looking need no more than what is always installed."""
    code, out, err = found[name]
    assert code in (0, 1), err
    assert out


@pytest.mark.parametrize("name", NEEDS_TORCH)
def test_a_command_that_needs_an_extra_says_which(name, found):
    """In one sentence, with what to type."""
    sentence = (
        f"circuitproof: {name} needs torch, which is not installed: pip install 'circuitproof[torch]'\n"
    )
    assert found[name] == [3, "", sentence]


def test_figures_need_what_draws_them(found):
    """The extra is named."""
    code, out, err = found["figures"]
    assert (code, out) == (3, "")
    assert "report" in err
    assert "matplotlib" in err
