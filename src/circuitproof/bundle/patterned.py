"""Writing a bundle about a pattern: the same five files; the prompts are those that the evidence shows."""

from collections.abc import Mapping
from pathlib import Path

from circuitproof.bundle.files import answer_to_json, bundle_of
from circuitproof.bundle.tensors import Extract, chosen_extracts
from circuitproof.declare.tasks.domain import Domain, Prompt
from circuitproof.prove.patterns.battery import SymbolicBattery
from circuitproof.prove.patterns.evidence import Ledger
from circuitproof.text.sealed import write_sealed


def write_symbolic_bundle(path: Path, battery: SymbolicBattery) -> None:
    """Write a new bundle directory; it appears whole or not at all."""
    write_sealed(path, symbolic_bundle_files(battery))


def symbolic_bundle_files(battery: SymbolicBattery) -> Mapping[str, bytes]:
    """Return the files of a bundle, without the manifest."""
    ledger, task = Ledger(), battery.claim.task
    answers = [answer_to_json(answer, ledger.evidence_to_json(answer.evidence)) for answer in battery.answers]
    prompts = tuple(dict.fromkeys((*ledger.prompts, *task.examples())))
    domain = Domain(prompts, tuple(str(task.label_of(prompt).group) for prompt in prompts))
    return bundle_of(battery.claim, domain, _extracts(battery, prompts), list(ledger.folds), answers)


def _extracts(battery: SymbolicBattery, prompts: tuple[Prompt, ...]) -> tuple[Extract, ...]:
    """Return what a checker must read: of the embeddings only the tokens that the evidence speaks of."""
    claim = battery.claim
    candidates = tuple(sorted(claim.task.candidates))
    tied = set(candidates) if claim.frozen.architecture.tied else set[int]()
    tokens = battery.tokens | tied | {token for prompt in prompts for token in prompt}
    partial = {
        "embed.token": tuple(sorted(tokens)),
        "embed.position": tuple(range(claim.task.pattern.longest)),
        "logits.weight": candidates,
        "logits.bias": candidates,
    }
    circuits = (claim.circuit, *claim.circuit.lesions())
    found = chosen_extracts(claim.frozen.file, circuits, partial)
    return tuple(sorted(found, key=lambda extract: extract.name))
