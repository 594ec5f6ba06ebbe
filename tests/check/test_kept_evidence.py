"""The proofs that are kept in the tree hold, and say what the documents say of them."""

import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from statistics import median

import pytest

from circuitproof_check.main import Outcome, check
from documents import DOCUMENTS
from places import ROOT

KEPT = ROOT / "evidence" / "code-lm"
TASKS = ("quotes", "brackets")
TEXTS = {path: " ".join(path.read_text().split()) for path in (*DOCUMENTS, KEPT.parent / "README.md")}
"""Every document, as one line."""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("quotes", ("lesion identity proved", "3 edges", "1280 prompts", "robustness at 1/100")),
        ("brackets", ("lesion identity proved", "3 edges", "1280 prompts", "robustness at 1/100")),
        ("quotes-beyond", ("3 edges", "all 1.382e423 prompts of a pattern", "robustness at 1/100")),
    ],
)
def test_a_kept_bundle_is_valid_and_says_what_is_told_of_it(name, words):
    """A change of the format or of the checker must not leave the evidence behind."""
    outcome, reason = check(KEPT / name / "bundle")
    assert outcome is Outcome.VALID
    for one in words:
        assert one in reason


def test_the_kept_refutation_beyond_the_domain_of_brackets_holds():
    """An artifact that is right on every declared prompt is wrong outside; the bundle shows a prompt."""
    outcome, reason = check(KEPT / "brackets-beyond" / "bundle")
    assert outcome is Outcome.REFUTED
    assert "all 1.382e423 prompts of a pattern" in reason


def read(name: str, file: str):
    """Return a file of a kept bundle."""
    return json.loads((KEPT / name / "bundle" / file).read_text())


def radii(task: str) -> list[Fraction]:
    """Return the radius of every prompt, as the certificate has it."""
    answers = read(task, "certificate.json")["answers"]
    (robust,) = (one for one in answers if one["property"]["kind"] == "robustness")
    return [Fraction(child["radius"]) for child in robust["evidence"]["children"]]


def spread(task: str) -> str:
    """Return the radii as documents tell them."""
    found = radii(task)
    return f"{float(min(found)):.4f} to {float(max(found)):.4f}, median {float(median(found)):.4f}"


def least(task: str) -> str:
    """Return the least radius as documents tell it."""
    return f"{float(min(radii(task))):.4f}"


def prompts(task: str) -> str:
    """Return how many prompts are declared."""
    return f"{len(read(task, 'domain.json')['prompts']):,}"


def beyond(task: str) -> str:
    """Return how many prompts have up to so many tokens, of which just one is an opener."""
    vocabulary = read(f"{task}-beyond", "claim.json")["architecture"]["vocabulary"]
    pattern = read(f"{task}-beyond", "domain.json")["pattern"]
    ((clause,), longest) = (pattern["clauses"], pattern["longest"])
    assert (clause["least"], clause["most"], longest) == (1, 1, 128)
    openers = len(clause["of"]["tokens"])
    count = sum(length * openers * (vocabulary - openers) ** (length - 1) for length in range(1, longest + 1))
    return f"{Decimal(count):.2e}".replace("+", "")


def path(task: str) -> str:
    """Return the nodes of the kept circuit, which is one path."""
    edges = [edge.split(" -> ") for edge in read(task, "claim.json")["circuit"]["edges"]]
    assert all(first[1] == second[0] for first, second in pairwise(edges))
    return " → ".join([edges[0][0], *(target for _, target in edges)]).replace("mlp", "MLP")


def program(task: str) -> str:
    """Return the condition of the program of the head that the circuit reads."""
    claim = read(task, "claim.json")
    (head,) = re.findall(r"-> head (\S+)", " ".join(claim["circuit"]["edges"]))
    (rule,) = claim["programs"][head][1:-1]
    return rule.removeprefix("add 1 when ")


SAID: dict[str, tuple[Callable[[str], str], str, int]] = {
    "radii": (spread, r"kept TASK circuit: radii (\S+ to \S+, median \d\.\d+)", 2),
    "prompts beyond the domain": (beyond, r"(\d\.\d+e\d+) prompts of up to 128 tokens", 2),
    "declared prompts": (prompts, r"all (\S+) declared prompts", 2),
    "proved prompts": (prompts, r"proved on (?:the )?(\d,\d+) prompts", 3),
}
"""What is told: how it is computed from the files, how documents spell it, and at least how often."""


def told(spelling: str, task: str) -> Iterator[tuple[str, str]]:
    """Yield what each document tells of a task in some spelling."""
    for document, text in TEXTS.items():
        for found in re.findall(spelling.replace("TASK", task), text):
            yield document.name, found


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("what", SAID)
def test_every_number_that_documents_tell_of_a_kept_bundle_is_its_own(what, task):
    """A radius of another circuit stood in two documents, because nothing compared them with the bundle."""
    value, spelling, times = SAID[what]
    found = list(told(spelling, task))
    assert len(found) >= times
    assert {number for _, number in found} == {value(task)}, found


@pytest.mark.parametrize("task", TASKS)
def test_the_study_tells_the_circuit_and_the_radii_of_what_is_kept(task):
    """The circuit of quotes is not trimmed after calibration: its rung of record has that least radius."""
    study = TEXTS[ROOT / "docs" / "study.md"]
    assert path(task) in study
    if task == "quotes":
        assert f"`{program(task)}`" in study
        assert f"793 (295.0) | {least(task)} | yes, and loses least" in study
