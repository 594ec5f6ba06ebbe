"""What is shown of a bundle: the checker's judgement, the claim, numbers, witnesses, regions."""

from dataclasses import dataclass
from pathlib import Path

from circuitproof.bundle.files import WEIGHTS
from circuitproof.bundle.opening import OpenedBundle, open_bundle
from circuitproof.bundle.tensors import safetensors_header
from circuitproof.errors import InputError, NotExactError
from circuitproof.files.reading import long_numbers
from circuitproof.reports.evidence import PromptWitness, witnesses
from circuitproof.reports.numbers import Numbers, compute
from circuitproof.reports.regions import RegionTree, region_trees
from circuitproof.tasks.answer_rules import rule_answer
from circuitproof.tasks.domain import Prompt
from circuitproof.tasks.rules import AnswerTable, OnlyOpener
from circuitproof_check.main import Beside, Outcome, Report, inspect


@dataclass(frozen=True, slots=True)
class Unjudged:
    """A bundle that is invalid, or that the checker did not judge to its end: nothing of it is shown."""

    path: Path
    judgement: Report


@dataclass(frozen=True, slots=True)
class Uncomputed:
    """Why a bundle's circuit has no numbers here."""

    reason: str


@dataclass(frozen=True, slots=True)
class BundleView:
    """A bundle that the checker has judged, and everything that a page says of it."""

    judgement: Report
    """What the independent checker says of it when it is looked at."""
    beside: Beside
    """What the checker compared it with."""
    bundle: OpenedBundle
    answers: tuple[int, ...]
    """The right answer to each prompt."""
    numbers: Numbers | Uncomputed
    witnesses: tuple[PromptWitness, ...]
    """What the evidence replays, refutations first."""
    trees: tuple[RegionTree, ...]


def tell(path: Path, beside: Beside | None = None) -> BundleView | Unjudged:
    """Let the checker judge a bundle, and read it if nothing in it is broken."""
    compared = beside or Beside()
    report = inspect(path, compared)
    if report.outcome is Outcome.FAILURE:
        raise InputError(report.reason)
    return tell_judged(path, report, compared)


def tell_judged(path: Path, report: Report, beside: Beside) -> BundleView | Unjudged:
    """Read a bundle of which the checker has given its report, if nothing in it is broken."""
    if not report.claim:
        return Unjudged(path, report)
    with long_numbers():
        bundle = open_bundle(path, {**report.files, **_of_model(report)}, report.folds)
        prompts = bundle.domain.prompts
        answers = tuple(answer_to(bundle, place, prompt) for place, prompt in enumerate(prompts))
        numbers, trees = numbers_of(bundle, prompts), tuple(region_trees(bundle))
        found = tuple(sorted(witnesses(bundle), key=lambda one: not one.is_refutation))
        return BundleView(report, beside, bundle, answers, numbers, found, trees)


def _of_model(report: Report) -> dict[str, bytes]:
    """Return the tensors that were judged in the place of a file, where the bundle is detached."""
    if not report.tensors:
        return {}
    shapes = {name: tensor.shape for name, tensor in report.tensors.items()}
    content = [tensor.content for tensor in report.tensors.values()]
    return {WEIGHTS: safetensors_header(shapes) + b"".join(content)}


def numbers_of(bundle: OpenedBundle, prompts: tuple[Prompt, ...]) -> Numbers | Uncomputed:
    """Return what the circuit computes on some prompts; a claim may be about what cannot be computed."""
    try:
        return compute(bundle, prompts)
    except (InputError, NotExactError) as error:
        return Uncomputed(str(error))


def answer_to(bundle: OpenedBundle, place: int, prompt: Prompt) -> int:
    """Return the right answer to a prompt, by its place, by its opener or by a rule."""
    match bundle.task.answer:
        case AnswerTable(answers):
            return answers[place]
        case OnlyOpener(pairs) as rule:
            return dict(pairs)[rule.opener(prompt)]
        case rule:
            by_rule = rule_answer(rule, prompt)
            assert by_rule is not None  # noqa: S101  # the bundle was judged
            return by_rule
