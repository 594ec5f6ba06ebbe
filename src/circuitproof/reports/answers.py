"""The answers to a claim in words, the same wherever they are told."""

from collections.abc import Iterator

from circuitproof.circuits.circuit import Circuit
from circuitproof.files.reading import scientific, shown
from circuitproof.models.declaration import ProgramHeads
from circuitproof.proof.claim import Claim
from circuitproof.proof.evidence import OneEdge, Open
from circuitproof.proof.findings import Survey
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.verdict import Answer, Battery, Verdict
from circuitproof.reports.drawings.circuit import draw_still
from circuitproof.reports.elements import Element, el
from circuitproof.reports.said import Table
from circuitproof.reports.words import edges_words, pattern_words
from circuitproof.tasks.domain import LAST, Domain
from circuitproof.tasks.names import prompt_line


def claim_title(claim: Claim, verdict: Verdict) -> str:
    """Return what an answered claim is about: the task and its digest, edges, ablation, verdict."""
    task, edges = claim.task, edges_words(claim.circuit)
    if len(claim.circuit) == len(claim.edges()):
        edges = f"the whole model, all {edges}"
    place = "" if task.position == LAST else f"decided at position {task.position}, "
    ablation = claim.circuit.ablation.name
    return f"{task.name} {str(task.digest)[:12]}: {edges}, ablation {ablation}, {place}{verdict}"


def answers_table(title: str, battery: Battery) -> Table:
    """Return the answers to a claim's properties as a table."""
    has_survey = any(answer.findings.survey is not None for answer in battery.answers)
    columns = ("property", "verdict", "regions#" if has_survey else "met#", "seen")
    return Table(title, columns, tuple(answer_row(battery.claim, answer) for answer in battery.answers))


def domain_lines(battery: Battery, seconds: float) -> Iterator[str]:
    """Say of how many prompts a claim speaks, and how many computations decide them."""
    task = battery.claim.task
    if isinstance(task.domain, Domain):
        ties = "not computed" if battery.ties is None else f"in {battery.cells} cells, {battery.ties} ties"
        yield f"{task.size} prompts {ties}"
    else:
        words = pattern_words(task.alphabet.named(), task.domain)
        yield f"{scientific(task.size)} prompts: {words}"
        yield f"{battery.cells} cells computed in {seconds:.1f} s"


def drawn(circuit: Circuit, programs: ProgramHeads) -> Element:
    """Return a circuit as the page draws it."""
    return el("div", draw_still(circuit, frozenset(programs)), class_="scroll drawing")


def answer_row(claim: Claim, answer: Answer) -> tuple[str, str, str, str]:
    """Return the cells of an answer's row: the property, the verdict, what was counted, what was seen."""
    survey = answer.findings.survey
    counted = f"{answer.met}/{answer.obligations}" if survey is None else f"{survey.regions}"
    seen = "; ".join([*map(str, answer.remarks), _seen(claim, answer)])
    return (answer.prop.name, answer.verdict, counted, seen)


def _seen(claim: Claim, answer: Answer) -> str:
    if isinstance(answer.evidence, Open):
        return answer.evidence.reason
    if answer.findings.survey is not None:
        return _surveyed(claim, answer, answer.findings.survey)
    return answer.findings.words() or "no counterexample"


def _surveyed(claim: Claim, answer: Answer, survey: Survey) -> str:
    """Say what was seen of a pattern: an edge that is idle, the least margin, or prompts."""
    if isinstance(answer.evidence, OneEdge):
        return f"no prompt needs {list(claim.circuit)[answer.evidence.edge]}"
    if survey.margin is None:
        names = claim.task.alphabet.named()
        return " and ".join(prompt_line(names, prompt) for prompt in survey.prompts[:2])
    least = "least" if survey.is_attained else "lower bound of the"
    margin = f"{least} margin {shown(survey.margin)}"
    if survey.radius is None or not isinstance(answer.prop, Robustness):
        return margin
    return f"{margin}, {least} radius {shown(survey.radius)}"
