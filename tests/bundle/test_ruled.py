"""Claims whose answers are given by rules: prover, looking at every prompt, and checker say the same."""

import json
import re
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from random import Random

import pytest

from circuitproof.bundle.files import write_bundle
from circuitproof.errors import DeclarationError
from circuitproof.files.sealed import write_sealed
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.effort import Effort
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.verdict import Verdict
from circuitproof.tasks.answer_rules import SEQUENCE_RULES, First, Last, Maximum, Minimum, MostFrequent
from circuitproof_check.main import Outcome, check
from circuitproof_check.reading import MANIFEST
from pattern_claims import PROPERTIES, random_claim, truths
from places import DOCS
from rule_twin import ATTENTION, PATTERNS, attending, by_machine, obvious, random_rule, ruled_task

OUTCOMES = {
    Verdict.PROVED: Outcome.VALID,
    Verdict.REFUTED: Outcome.REFUTED,
    Verdict.UNDECIDED: Outcome.INCOMPLETE,
}


def judged(claim, path):
    """Return the answers of the prover, which the checker has confirmed."""
    battery = prove(claim, Effort(listed=300))
    write_bundle(path, battery)
    outcome, sentence = check(path)
    assert outcome is OUTCOMES[battery.verdict], sentence
    return battery.answers


def ruled_claim(kind, seed):
    """Return a random claim whose prompts are answered by a rule; some patterns leave it prompts without."""
    draw = Random(seed)  # noqa: S311  # claims, not secrets
    claim = random_claim(seed)
    while True:
        rule = random_rule(draw, kind)
        candidates = tuple(dict.fromkeys((*rule.outputs(), 0, 1)))
        try:
            task = ruled_task(rule, draw.choice(PATTERNS), 6, candidates)
        except DeclarationError:
            continue
        return Claim(claim.frozen, claim.circuit, task, PROPERTIES)


@pytest.mark.parametrize("kind", SEQUENCE_RULES, ids=lambda kind: kind.tag)
def test_answers_by_rule_are_what_looking_at_every_prompt_says(kind, tmp_path):
    """Whatever the model: proved means proved, refuted refuted, and the checker agrees."""
    decided = 0
    for seed in range(2):
        claim = ruled_claim(kind, seed)
        found = truths(claim, claim.properties)
        for answer, is_true in zip(judged(claim, tmp_path / str(seed)), found, strict=True):
            if answer.verdict is not Verdict.UNDECIDED:
                assert (answer.verdict is Verdict.PROVED) == is_true, (seed, answer.prop)
                decided += 1
    assert decided > 3


def test_an_automaton_in_the_place_of_openers_changes_no_verdict(tmp_path):
    """The same answers, said by states: what was proved of the one is proved of the other."""
    verdicts = Counter()
    for seed in range(8):
        claim = random_claim(seed, (Equivalence(),))
        (usual,) = prove(claim, Effort(listed=300)).answers
        (answer,) = judged(replace(claim, task=by_machine(claim.task)), tmp_path / str(seed))
        assert answer.verdict is usual.verdict
        verdicts[answer.verdict] += 1
    assert min(verdicts[Verdict.PROVED], verdicts[Verdict.REFUTED]) > 1


@pytest.mark.parametrize(
    ("rule", "lines", "text", "is_right"),
    [
        (Maximum((0, 1, 2, 3)), ATTENTION["largest"], "any{1..4}", True),
        (Maximum((0, 1, 2, 3)), ATTENTION["largest"], "any{1..12}", False),
        (Minimum((0, 1, 2, 3)), ATTENTION["largest"], "any{1..4}", False),
        (Maximum((3, 2, 1, 0)), ATTENTION["smallest"], "any{1..4}", True),
        (Minimum((0, 1, 2, 3)), ATTENTION["smallest"], "any{1..4}", True),
        (First((0, 1, 2, 3)), ATTENTION["first"], "any{1..9}", True),
        (Last((0, 1, 2, 3)), ATTENTION["first"], "any{1..9}", False),
        (Last((0, 1, 2, 3)), ATTENTION["last"], "any{1..9}", True),
        (MostFrequent((0, 1)), ATTENTION["all"], "[0, 1] ([0, 1]{2}){0..5}", True),
        (MostFrequent((0, 1)), ATTENTION["all"], "[0, 1]{1..4}", False),
    ],
)
def test_a_head_that_attends_by_a_program_is_proved_right_or_refuted(rule, lines, text, is_right, tmp_path):
    """It copies what it looks at; where ties or many small tokens outvote the right one a prompt shows it."""
    claim = attending(rule, lines, text, (Equivalence(), Invariance()))
    equivalence, invariance = judged(claim, tmp_path / "bundle")
    assert equivalence.verdict is (Verdict.PROVED if is_right else Verdict.REFUTED)
    assert invariance.verdict is equivalence.verdict
    if not is_right:
        (prompt,) = equivalence.findings.survey.prompts
        assert prompt in claim.task.labelled.machine
        assert obvious(rule, prompt) == claim.task.labelled.label_of(prompt).answer


def retold(path, change):
    """Judge a bundle whose claim was changed and sealed anew; its certificate speaks of the new claim."""
    files = {one.name: one.read_bytes() for one in path.iterdir() if one.name != MANIFEST}
    claim, certificate = json.loads(files["claim.json"]), json.loads(files["certificate.json"])
    change(claim["task"])
    files["claim.json"] = json.dumps(claim).encode()
    certificate["claim"] = sha256(files["claim.json"]).hexdigest()
    files["certificate.json"] = json.dumps(certificate).encode()
    write_sealed(path.with_name("retold"), files)
    return check(path.with_name("retold"))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda task: task.update(names={}), ""),
        (lambda task: task["answer"].update(kind="minimum"), "margins are the least"),
        (lambda task: task["answer"]["of"].reverse(), "margins are the least"),
        (lambda task: task["answer"]["of"].pop(), "prompts of patterns have labels"),
        (lambda task: task["answer"].update(kind="median"), "answer is known"),
        (lambda task: task["answer"].update(answers=[1, 2]), "keys are the named"),
        (lambda task: task["candidates"].remove(2), "answers are candidates"),
        (lambda task: task["answer"].update(of=[0, 1, 2, 9]), "integers are in range"),
        (
            lambda task: task.update(relation={"kind": "same opener", "openers": [3]}),
            "prompts have one opener",
        ),
        (lambda task: task.update(relation={"kind": "table", "classes": [0] * 4}), "patterns have rules"),
    ],
)
def test_a_rule_that_is_changed_in_the_claim_is_found_out(change, found, tmp_path):
    """Another rule has other answers: the evidence says nothing of them."""
    claim = attending(Maximum((0, 1, 2, 3)), ATTENTION["largest"], "any{2}", (Equivalence(),))
    judged(claim, tmp_path / "bundle")
    outcome, sentence = retold(tmp_path / "bundle", change)
    assert outcome is (Outcome.INVALID if found else Outcome.VALID)
    assert found in sentence


def test_the_example_in_the_documents_is_proved(tmp_path, monkeypatch, capsys):
    """As it stands there, with the number of prompts that is told beneath it."""
    text = (DOCS / "patterns.md").read_text()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "build").mkdir()
    exec(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], {})  # noqa: S102  # ours
    shown = capsys.readouterr().out
    assert "2 edges, ablation zero, proved" in shown
    assert "299592 prompts: any{1..6}" in shown
    assert "All 299,592 sequences" in text
