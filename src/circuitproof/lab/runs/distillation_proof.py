"""The end of a distillation: the final circuit of a task trimmed, proved, bundled and checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from circuitproof.bundle.files import write_bundle
from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.circuits.graph import Head
from circuitproof.forward.frozen import open_model
from circuitproof.lab.distill.lesion import Behaviour
from circuitproof.lab.runs.run import Run
from circuitproof.lab.runs.trimming import trimmed
from circuitproof.prove.battery import prove
from circuitproof.prove.claim import Claim
from circuitproof.prove.properties.catalogue import four_properties
from circuitproof.prove.properties.kinds import Kind
from circuitproof.prove.verdict import Verdict
from circuitproof.text.canonical import Json
from circuitproof.text.codec import to_json
from circuitproof_check.main import Outcome, check

_CIRCUIT, _BUNDLE, _REPORT = "circuit.json", "bundle", "proof.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What is known about the final circuit of a task."""

    task: str
    circuit: Circuit
    neural: tuple[Head, ...]
    """The neural heads that the circuit still reads."""
    verdicts: Mapping[str, Verdict]
    """By the kind of the property."""
    checker: Outcome
    """What the independent checker answers about the bundle."""
    bundle: Path

    @property
    def is_good(self) -> bool:
        """Say whether there is no neural attention left, and all is proved and confirmed."""
        proved = all(verdict is Verdict.PROVED for verdict in self.verdicts.values())
        return proved and bool(self.verdicts) and not self.neural and self.checker is Outcome.VALID

    def to_json(self) -> Json:
        return {
            "task": self.task,
            "edges": [str(edge) for edge in self.circuit],
            "neural_heads": [str(head) for head in self.neural],
            "verdicts": to_json(self.verdicts),
            "checker": self.checker.name.lower(),
            "bundle": str(self.bundle),
        }


@dataclass(frozen=True, slots=True)
class _Report:
    """What is kept of a proof: the verdict on each property, and what the checker says, and why."""

    verdicts: Mapping[str, Verdict]
    checker: str
    reason: str


def prove_circuit(run: Run, model: Path, behaviour: Behaviour, epsilon: Fraction) -> Proof:
    """Prove what a circuit does on its task, trimmed, and let the independent checker confirm the bundle."""
    frozen, task = open_model(model), behaviour.task
    circuit = trimmed(run, _CIRCUIT, frozen, task, behaviour.circuit)

    def prove_and_check() -> _Report:
        battery = prove(Claim(frozen, circuit, task, four_properties(epsilon)))
        outcome, reason = check(run.stage(_BUNDLE, lambda place: write_bundle(place, battery)), model)
        verdicts = {str(answer.prop.kind): answer.verdict for answer in battery.answers}
        return _Report(verdicts, outcome.name.lower(), reason)

    report = run.record(_REPORT, _Report, prove_and_check, f"proving {task.name}")
    heads = [head for head in circuit.heads() if head not in frozen.programs]
    return Proof(
        task=task.name,
        circuit=circuit,
        neural=tuple(heads),
        verdicts={Kind(name): verdict for name, verdict in report.verdicts.items()},
        checker=Outcome[report.checker.upper()],
        bundle=run.folder / _BUNDLE,
    )
