"""The last stages of a distillation: the final circuit of a task is proved, bundled and checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Head
from circuitproof.files.canonical import Json
from circuitproof.files.codec import to_json
from circuitproof.files.run import Run
from circuitproof.forward.frozen import open_model
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.verdict import Verdict
from circuitproof_check.main import Outcome
from circuitproof_lab.pipeline.stages.check import check_bundle
from circuitproof_lab.pipeline.stages.prove import CircuitClaim, prove_circuit, trimmed
from circuitproof_lab.records.proof import PROOF, KeptVerdicts


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillationProof:
    """What is known about the final circuit of a task."""

    task: str
    circuit: Circuit
    neural: tuple[Head, ...]
    """The neural heads that the circuit still reads."""
    verdicts: Mapping[Kind, Verdict]
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


def prove_final(run: Run, asked: CircuitClaim) -> DistillationProof:
    """Prove what a circuit does on its task, and let the independent checker confirm the bundle."""

    def prove() -> KeptVerdicts:
        battery = prove_circuit(run, asked).battery
        return KeptVerdicts({str(answer.prop.kind): answer.verdict for answer in battery.answers})

    circuit, kept = trimmed(run, asked), run.record(PROOF, KeptVerdicts, prove)
    bundle = run.folder / asked.bundle_folder
    programs = open_model(asked.model).programs
    return DistillationProof(
        task=asked.behaviour.task.name,
        circuit=circuit,
        neural=tuple(head for head in circuit.heads() if head not in programs),
        verdicts={Kind(name): verdict for name, verdict in kept.verdicts.items()},
        checker=Outcome[check_bundle(run, bundle, asked.model).outcome.upper()],
        bundle=bundle,
    )
