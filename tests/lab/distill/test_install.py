import json
from fractions import Fraction

import pytest
import torch

from circuitproof.bundle.files import write_bundle
from circuitproof.circuits.graph import Head
from circuitproof.errors import DeclarationError
from circuitproof.files.canonical import digest_bytes
from circuitproof.forward.frozen import open_model
from circuitproof.nn.checkpoint import StoredModel, load_model, save_model
from circuitproof.programs.text import parse
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.verdict import Verdict, settle
from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_check.main import Outcome, check
from circuitproof_lab.distill.install import ScoringParameters, install, scoring_parameters
from hand_models import QUOTE_EDGES, circuit_of, quote_model
from models import PROGRAMS, SCANS, random_model, random_tokens, tiny_architecture

HEAD = Head(0, 1)
ALL = (Equivalence(), Invariance(), Necessity(), Robustness(Fraction(1, 3)), Faithfulness())
NEAREST = "nearest key_token in {9, 10}"


def tensors(model):
    """Return copies of every tensor by name."""
    return {name: view.detach().clone() for name, view in model.named_slices().items()}


@pytest.mark.parametrize("biases", [True, False])
def test_installing_takes_away_the_queries_and_keys_of_a_head_and_copies_the_rest(biases):
    """Values, outputs and whatever else was trained stay bit for bit."""
    model = random_model(tiny_architecture(biases=biases))
    before, after = tensors(model), tensors(install(model, {HEAD: PROGRAMS[HEAD]}))
    scoring = ("query.weight", "key.weight") + (("query.bias", "key.bias") if biases else ())
    assert before.keys() - after.keys() == {f"head.0.1.{name}" for name in scoring}
    assert not after.keys() - before.keys()
    assert all(torch.equal(before[name], tensor) for name, tensor in after.items())


def test_the_installed_model_is_another_one_and_the_first_is_left_alone():
    """Training the one must not change the other."""
    model = random_model(tiny_architecture())
    installed, before = install(model, PROGRAMS), tensors(model)
    with torch.no_grad():
        for parameter in installed.parameters():
            parameter.zero_()
    assert model.programs == {}
    assert all(torch.equal(before[name], tensor) for name, tensor in tensors(model).items())


def test_everything_that_is_left_can_be_trained():
    """Values and outputs of a program head too; what is gone is not among the parameters."""
    installed = install(random_model(tiny_architecture()), SCANS)
    tokens = random_tokens(installed.architecture)
    installed(tokens).square().sum().backward()
    assert all(parameter.requires_grad for parameter in installed.parameters())
    assert not any("query" in name or "key" in name for name, _ in installed.named_parameters())
    for attention in installed.attentions:
        assert bool(attention.value.grad.flatten(1).any(1).all())
        assert bool(attention.output.grad.flatten(1).any(1).all())


def test_programs_that_are_there_stay_unless_they_are_replaced():
    """Heads are replaced one after the other."""
    first = install(random_model(tiny_architecture()), {HEAD: PROGRAMS[HEAD]})
    second = install(first, {Head(1, 0): PROGRAMS[Head(1, 0)]})
    assert second.programs == {head: PROGRAMS[head] for head in (HEAD, Head(1, 0))}
    assert install(second, {HEAD: SCANS[HEAD]}).programs[HEAD] == SCANS[HEAD]


def test_a_copy_in_double_precision_and_evaluation_stays_one():
    """Installing changes attention and nothing else."""
    model = random_model(tiny_architecture()).double().eval()
    with torch.no_grad():
        model.token += 1e-12
    installed = install(model, PROGRAMS)
    assert torch.equal(installed.token, model.token)
    assert not installed.training


@pytest.mark.parametrize(
    ("head", "text", "sentence"),
    [
        (Head(2, 0), "default 1\notherwise self", "head 2.0 cannot be a program"),
        (HEAD, "default 0\nadd 1 when nearest key_token == 7\notherwise self", "names token 7"),
        (HEAD, "default 0\nadd 1 when unmatched {1: 9}\notherwise self", "names token 9"),
    ],
)
def test_a_program_that_does_not_fit_the_model_is_refused(head, text, sentence):
    """It would do nothing, or never what it says."""
    with pytest.raises(DeclarationError, match=sentence):
        install(random_model(tiny_architecture()), {head: parse(text)})


@pytest.mark.parametrize(("biases", "each"), [(True, 2 * 3 * 4 + 2 * 3), (False, 2 * 3 * 4)])
def test_the_parameters_that_score_attention_are_counted(biases, each):
    """Four heads of width 3 on a residual of width 4; one program takes a quarter away."""
    model = random_model(tiny_architecture(biases=biases))
    assert scoring_parameters(model) == ScoringParameters(4 * each, 4 * each)
    assert scoring_parameters(install(model, {HEAD: PROGRAMS[HEAD]})) == ScoringParameters(4 * each, 3 * each)
    installed = install(model, PROGRAMS)
    assert scoring_parameters(installed) == ScoringParameters(4 * each, 0)
    sizes = [sum(parameter.numel() for parameter in one.parameters()) for one in (model, installed)]
    assert sizes[0] - sizes[1] == 4 * each


@pytest.fixture
def proved(tmp_path):
    """Install a scanning program, save, load, and prove everything; return the model and the bundle."""
    neural = quote_model(programs={})
    program = parse(f"default 0\nadd 1 when {NEAREST}\notherwise self")
    save_model(tmp_path / "model", StoredModel(install(neural, {Head(0, 0): program}), TOY))
    assert load_model(tmp_path / "model").model.programs == {Head(0, 0): program}
    claim = Claim(open_model(tmp_path / "model"), circuit_of(QUOTE_EDGES), toy_quotes(), ALL)
    battery = prove(claim)
    assert settle(claim.properties, battery.answers) is Verdict.PROVED
    write_bundle(tmp_path / "bundle", battery)
    return tmp_path / "model", tmp_path / "bundle"


def test_an_installed_program_is_stored_proved_and_confirmed_by_the_checker(proved):
    """From the trained model to an answer that needs none of this code."""
    model, bundle = proved
    assert check(bundle, model)[0] is Outcome.VALID


@pytest.mark.parametrize(
    "other", ["first key_token in {3, 4}", "not nearest key_token in {9, 10}", "unmatched {9: 10}"]
)
def test_another_program_in_the_claim_is_refused_although_every_digest_fits(proved, other):
    """The checker computes the rows of the program that it reads."""
    _, bundle = proved
    rewrite(bundle, "claim.json", lambda text: text.replace(NEAREST, other))
    claim = str(digest_bytes((bundle / "claim.json").read_bytes()))
    rewrite(bundle, "certificate.json", lambda text: json.dumps(json.loads(text) | {"claim": claim}))
    outcome, sentence = check(bundle)
    assert outcome is Outcome.INVALID
    assert "folds are the logits" in sentence


def rewrite(bundle, name, edit):
    """Change a file of a bundle and list its new digest."""
    file, manifest = bundle / name, bundle / "manifest.json"
    changed = edit(file.read_text())
    assert changed != file.read_text()
    file.write_text(changed)
    listed = json.loads(manifest.read_text())
    listed["files"][name] = str(digest_bytes(file.read_bytes()))
    manifest.write_text(json.dumps(listed))
