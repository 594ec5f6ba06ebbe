import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from safetensors.numpy import load

from circuitproof.bundle.files import bundle_files, write_bundle
from circuitproof.errors import InputError
from circuitproof.files.canonical import canonical_json, digest_bytes, digest_file
from circuitproof.models.operators import BandNorm, Lift
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.regions.search import Effort, Method
from circuitproof.proof.verdict import Battery, Verdict
from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_check.main import Outcome, check
from hand_models import (
    ADDED,
    DIRECT,
    PLAIN,
    QUOTE_EDGES,
    adder_claim,
    build,
    circuit_of,
    freeze,
    quote_model,
    table_task,
)

FILES = {"claim.json", "domain.json", "weights.safetensors", "certificate.json", "manifest.json"}
ALL = (Equivalence(), Invariance(), Necessity(), Robustness(Fraction(1, 3)), Faithfulness())


def quotes() -> Battery:
    """Return every property of the model that closes quotes, answered."""
    frozen = freeze(quote_model(), TOY)
    return prove(Claim(frozen, circuit_of(QUOTE_EDGES), toy_quotes(), ALL))


def parsed(files) -> dict:
    """Return the JSON files of a bundle."""
    return {name: json.loads(content) for name, content in files.items() if name.endswith(".json")}


def test_a_bundle_is_five_files_and_its_manifest_seals_the_other_four(tmp_path):
    """No more and no fewer, with the digests of the bytes as they are."""
    write_bundle(tmp_path / "bundle", quotes())
    found = {path.name for path in (tmp_path / "bundle").iterdir()}
    assert found == FILES
    manifest = json.loads((tmp_path / "bundle" / "manifest.json").read_text())
    assert manifest == {
        "files": {name: str(digest_file(tmp_path / "bundle" / name)) for name in FILES - {"manifest.json"}}
    }


def test_a_bundle_never_overwrites(tmp_path):
    """An old proof is not replaced by a new one without a word."""
    write_bundle(tmp_path / "bundle", quotes())
    before = (tmp_path / "bundle" / "manifest.json").read_bytes()
    with pytest.raises(InputError, match="already exists"):
        write_bundle(tmp_path / "bundle", prove(adder_claim()))
    assert (tmp_path / "bundle" / "manifest.json").read_bytes() == before


def test_the_claim_states_everything_and_names_nothing_else():
    """A person reads the whole statement here, and a checker refuses keys that the format does not name."""
    battery = quotes()
    files = bundle_files(battery)
    claim, task = parsed(files)["claim.json"], toy_quotes()
    declared = task.to_json()
    weights = claim.pop("weights")
    assert claim == {
        "format": "circuitproof claim 3",
        "arithmetic": "exact",
        "architecture": battery.claim.frozen.architecture.to_json(),
        "programs": {"0.0": ["default 0", "add 1 when key_token in {9, 10}", "otherwise self"]},
        "circuit": {
            "layers": 1,
            "heads": 1,
            "mlps": True,
            "granularity": "head",
            "ablation": "zero",
            "edges": list(QUOTE_EDGES),
        },
        "task": {
            "name": "quotes",
            "declaration": str(task.digest),
            "names": {str(token): TOY.names[token] for token in (1, 2, 5, 6, 7, 8, 9, 10)},
            "candidates": [9, 10],
            "answer": declared["answer"],
            "relation": declared["relation"],
        },
        "domain": {"digest": str(digest_bytes(files["domain.json"])), "prompts": 128},
        "properties": [
            {"kind": "equivalence"},
            {"kind": "invariance"},
            {"kind": "necessity"},
            {"kind": "robustness", "epsilon": "1/3", "at": "logits input", "positions": "last"},
            {"kind": "faithfulness"},
        ],
    }
    assert set(weights) == set(load(files["weights.safetensors"]))
    assert b"\n  " in files["claim.json"]


def test_names_are_given_for_candidates_that_no_prompt_holds():
    """A reader wants to know what is being answered."""
    task = table_task({(0,): 4}, candidates=(4, 1))
    claim = parsed(bundle_files(prove(adder_claim(Equivalence(), edges=DIRECT, task=task))))["claim.json"]
    assert claim["task"]["names"] == {"0": "a", "1": "b", "4": "e"}
    assert claim["task"]["candidates"] == [4, 1]


def test_the_domain_is_the_prompts_in_their_order():
    """Evidence speaks of prompts by their place."""
    files = bundle_files(quotes())
    domain = toy_quotes().domain
    assert parsed(files)["domain.json"] == {
        "prompts": [list(prompt) for prompt in domain.prompts],
        "strata": list(domain.strata),
    }
    assert digest_bytes(files["domain.json"]) == domain.digest


def test_the_certificate_belongs_to_the_claim_and_answers_it_in_order():
    """The claim's own bytes are what it is bound to."""
    files = bundle_files(quotes())
    claim, certificate = parsed(files)["claim.json"], parsed(files)["certificate.json"]
    assert set(certificate) == {"format", "claim", "folds", "answers"}
    assert certificate["format"] == "circuitproof certificate 3"
    assert certificate["claim"] == str(digest_bytes(files["claim.json"]))
    assert [answer["property"] for answer in certificate["answers"]] == claim["properties"]
    assert {answer["verdict"] for answer in certificate["answers"]} == {"proved"}
    keys = {"property", "verdict", "evidence", "remarks"}
    assert all(set(answer) == keys for answer in certificate["answers"])


def test_the_certificate_carries_the_remarks():
    """A checker finds the same by itself; a reader of the file sees them beside the verdict."""
    certificate = parsed(bundle_files(quotes()))["certificate.json"]
    implied = ["implied by equivalence"]
    assert [answer["remarks"] for answer in certificate["answers"]] == [[], implied, implied, [], []]


def test_the_declaration_is_the_digest_of_the_canonical_task():
    """Whoever has the task's file can compare all of it."""
    claim, task = parsed(bundle_files(quotes()))["claim.json"], toy_quotes()
    assert set(task.to_json()) == {"name", "alphabet", "candidates", "domain", "answer", "relation"}
    assert claim["task"]["declaration"] == str(digest_bytes(canonical_json(task.to_json())))


def referred(content) -> set[int]:
    """Return the folds that some evidence refers to."""
    if isinstance(content, list):
        return set().union(*map(referred, content))
    if not isinstance(content, dict):
        return set()
    own = {content[key] for key in ("fold", "lesion", "model") if key in content}
    return own.union(*map(referred, content.values()))


REFUTED = adder_claim(
    *ALL, edges=(*DIRECT, "embed -> head 0.0"), task=table_task({(1,): 1, (0,): 0, (2,): 0}, (0, 0, 1))
)


@pytest.mark.parametrize("claim", [REFUTED, adder_claim(*ALL), adder_claim(Necessity())])
def test_every_fold_is_referred_to_and_no_other(claim):
    """What nothing refers to would be noise, and what is missing a hole."""
    battery = prove(claim)
    certificate = parsed(bundle_files(battery))["certificate.json"]
    assert referred(certificate["answers"]) == set(range(len(certificate["folds"])))
    assert len(certificate["folds"]) <= len(battery.folded.folds)


def test_folds_are_exact_logits_of_the_candidates():
    """By hand, in order of appearance: the four prompts, then what lesions make of them."""
    certificate = parsed(bundle_files(prove(adder_claim())))["certificate.json"]
    assert certificate["folds"] == [["2", "3"], ["1", "0"], ["1", "3"], ["4", "3"], ["2", "1"], ["0", "2"]]
    assert certificate["answers"][1]["evidence"] == {
        "split": "edge",
        "children": [
            {"replay": [{"prompt": 0, "fold": 0, "lesion": 4}]},
            {"replay": [{"prompt": 3, "fold": 3, "lesion": 5}]},
            {"replay": [{"prompt": 0, "fold": 0, "lesion": 4}]},
        ],
    }


def test_the_same_input_gives_the_same_bytes():
    """A bundle can be made again and compared; nothing in it depends on the hour or on hashing."""
    assert bundle_files(quotes()) == bundle_files(quotes())
    files = bundle_files(quotes())
    for name in ("domain.json", "certificate.json"):
        assert canonical_json(json.loads(files[name])) == files[name]


BRANCH = Effort(Method.BRANCH)
UNDECIDED = adder_claim(
    Equivalence(),
    Robustness(Fraction(1)),
    weights={"logits.norm.scale": [1, 1]},
    sizes=replace(PLAIN, norm=BandNorm(Fraction(1, 2), Fraction(2), Lift.REFERENCE)),
    edges=DIRECT,
    task=table_task({(3,): 0}),
)


def test_an_undecided_answer_says_what_is_open():
    """So that a checker can answer incomplete instead of guessing."""
    certificate = parsed(bundle_files(prove(UNDECIDED, BRANCH)))["certificate.json"]
    assert certificate["answers"][1]["verdict"] == "undecided"
    assert set(certificate["answers"][1]["evidence"]) == {"open"}


def checked(path: Path, battery: Battery) -> Outcome:
    """Write a bundle and return what the independent checker says of it."""
    write_bundle(path / "bundle", battery)
    return check(path / "bundle")[0]


@pytest.mark.parametrize(
    ("claim", "outcome"),
    [
        (adder_claim(*ALL), Outcome.VALID),
        (adder_claim(Equivalence(), Necessity(), edges=ADDED), Outcome.VALID),
        (REFUTED, Outcome.REFUTED),
        (UNDECIDED, Outcome.INCOMPLETE),
    ],
    ids=["all", "two", "refuted", "undecided"],
)
def test_the_checker_agrees_from_the_files_alone(tmp_path, claim, outcome):
    """It shares no code with what wrote them; refuted evidence must hold as well as proofs."""
    write_bundle(tmp_path / "bundle", prove(claim, BRANCH))
    found, reason = check(tmp_path / "bundle")
    assert found is outcome, reason
    if outcome is Outcome.REFUTED:
        wanted = (
            "equivalence, invariance, necessity, robustness at 1/3 [logits input, last], faithfulness ref"
        )
        assert f": {wanted}" in reason


def test_the_checker_agrees_about_quotes(tmp_path):
    """Rules in place of tables, a program head, 128 prompts."""
    assert checked(tmp_path, quotes()) is Outcome.VALID


ROLES = ("query", "key", "value", "output")


def deep_claim(layers: int, tiny: float) -> Claim:
    """Return a chain of neural heads with the smallest weights there are; each cubes what it reads."""
    pattern = [[tiny, 3 * tiny], [5 * tiny, tiny]]
    names = [f"head.{layer}.0.{role}.weight" for layer in range(layers) for role in ROLES]
    weights = {"embed.token": [*pattern, *pattern, [0, 0]], "embed.position": [[tiny, 7 * tiny]] * 3}
    model = build(weights | dict.fromkeys(names, pattern), replace(PLAIN, layers=layers, tied=True))
    nodes = ["embed", *(f"head {layer}.0" for layer in range(layers)), "logits"]
    edges = [f"{source} -> {target}" for source, target in pairwise(nodes)]
    task = table_task({(0, 1, 2): 1})
    return Claim(freeze(model), circuit_of(edges, layers=layers), task, (Equivalence(),))


def test_numbers_of_any_length_are_written_and_checked(tmp_path):
    """Exact logits of deep circuits have more digits than Python turns into text by default."""
    battery = prove(deep_claim(4, 2.0**-149))
    assert max(len(bin(logit.denominator)) for logit in battery.folded.folds[0].logits) > 15_000
    write_bundle(tmp_path / "bundle", battery)
    assert battery.answers[0].verdict is Verdict.PROVED
    assert check(tmp_path / "bundle")[0] is Outcome.VALID
