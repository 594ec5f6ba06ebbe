"""What a distillation comes to: the rounds of each seed, and what is proved of its final circuits."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Head
from circuitproof.files.canonical import Json
from circuitproof.files.codec import record_to_json, to_json
from circuitproof.files.run import Run
from circuitproof.forward.frozen import open_model
from circuitproof.models.declaration import ProgramHeads
from circuitproof.programs.text import to_text
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.verdict import Verdict
from circuitproof_check.main import Outcome
from circuitproof_lab.distill.install import ScoringParameters
from circuitproof_lab.distill.migrate import Fate, Migration
from circuitproof_lab.pipeline.stages.check import check_bundle
from circuitproof_lab.pipeline.stages.prove import FinishedProof
from circuitproof_lab.records.migration import RoundRecord


@dataclass(frozen=True, slots=True)
class Round:
    """A model with programs, healed under one objective or not yet, and what became of its behaviours."""

    name: str
    model: Path
    programs: ProgramHeads
    scoring: ScoringParameters
    migrations: tuple[Migration, ...]

    @property
    def fate(self) -> Fate:
        """Return the worst fate of a behaviour."""
        return min((migration.fate for migration in self.migrations), key=list(Fate).index)

    def record(self) -> RoundRecord:
        """Return what is written down of it."""
        return RoundRecord(
            name=self.name,
            fate=self.fate,
            model=str(self.model),
            programs={str(head): to_text(program) for head, program in self.programs.items()},
            scoring_parameters=self.scoring.with_programs,
            scoring_parameters_before=self.scoring.without_programs,
            behaviours=tuple(migration.record() for migration in self.migrations),
        )

    def to_json(self) -> Json:
        return to_json(self.record())


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


def check_final(run: Run, proof: FinishedProof) -> DistillationProof:
    """Return what is known about a final circuit, once the independent checker has judged its bundle."""
    model, programs = proof.claim.model, open_model(proof.claim.model).programs
    return DistillationProof(
        task=proof.claim.behaviour.task.name,
        circuit=proof.circuit,
        neural=tuple(head for head in proof.circuit.heads() if head not in programs),
        verdicts=proof.verdicts,
        checker=Outcome[check_bundle(run, proof.bundle, model).outcome.upper()],
        bundle=proof.bundle,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedReport:
    """What one seed came to; the last round is the one that is proved."""

    seed: int
    stopped: str | None = None
    """Why the seed ended early, in one sentence: a gate not met, a number that is none. Nothing is proved."""
    rounds: tuple[Round, ...]
    proofs: tuple[DistillationProof, ...] = ()

    @property
    def is_held(self) -> bool:
        """Say whether the programs held and everything about the final circuits is proved."""
        if self.stopped is not None or not self.rounds or not self.proofs:
            return False
        return self.rounds[-1].fate is Fate.HELD and all(proof.is_good for proof in self.proofs)

    def to_json(self) -> Json:
        return {"seed": self.seed, "held": self.is_held, **record_to_json(self)}
