"""The stage that proves: a circuit is trimmed on its domain, its properties are answered and bundled."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path, PurePath

from circuitproof.bundle.files import write_bundle
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.spelling import load_circuit
from circuitproof.files.records import write_record
from circuitproof.files.run import Run
from circuitproof.forward.frozen import open_model
from circuitproof.proof.arithmetic import EXACT, ClaimArithmetic, ExactNumbers
from circuitproof.proof.battery import prove, prove_also
from circuitproof.proof.claim import Claim
from circuitproof.proof.inexact import in_its_arithmetic
from circuitproof.proof.properties.catalogue import four_properties
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.lesion_identity import identity_with
from circuitproof.proof.trim import trim
from circuitproof.proof.verdict import Battery, Verdict
from circuitproof_lab.distill.lesion import Behaviour
from circuitproof_lab.records.proof import PROOF, WITNESSES, KeptVerdicts, NecessityWitnesses, NeededEdge

CIRCUIT, BUNDLE = "circuit.json", "bundle"


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitClaim:
    """What is to be proved: the four properties of a declared circuit of a stored model on its task."""

    model: Path
    behaviour: Behaviour
    epsilon: Fraction
    base: Path | None = None
    """If given, it is claimed too that the model is this one but for its program heads."""
    circuit_file: str = CIRCUIT
    """Where in the run the trimmed circuit is kept."""
    bundle_folder: str = BUNDLE


@dataclass(frozen=True, slots=True)
class CircuitProof:
    """What is proved of a circuit that was trimmed on its domain."""

    battery: Battery
    declared_edges: int
    """How many edges it had before it was trimmed."""
    bundle: Path
    seconds: float
    """Opening the weights, folding and answering the properties."""
    unclaimed: Mapping[str, str]
    """Which of the four properties cannot be proved in the arithmetic of the claim, and why."""

    @property
    def verdict(self) -> Verdict:
        return self.battery.verdict


def prove_circuit(run: Run, asked: CircuitClaim) -> CircuitProof:
    """Trim the declared circuit, prove its properties, and write the bundle."""
    task, circuit = asked.behaviour.task, trimmed(run, asked)
    run.tell(f"proving {task.name}")
    begin = time.perf_counter()
    frozen = open_model(asked.model)
    claim, unclaimed = provable(Claim(frozen, circuit, task, four_properties(asked.epsilon)))
    battery = prove(claim)
    seconds = time.perf_counter() - begin
    if asked.base is not None:
        battery = prove_also(battery, identity_with(open_model(asked.base), frozen))
    kept = PurePath(asked.circuit_file).with_suffix(WITNESSES)
    run.record(str(kept), NecessityWitnesses, lambda: _witnesses(battery))
    bundle = bundled(run, battery, asked.bundle_folder)
    return CircuitProof(battery, len(asked.behaviour.circuit), bundle, seconds, unclaimed)


def provable(claim: Claim) -> tuple[Claim, Mapping[str, str]]:
    """Return a claim in its arithmetic with what can be proved there, and why the rest cannot be."""
    whole = in_its_arithmetic(claim)
    reasons = {prop.kind: prop.cannot_prove(whole) for prop in whole.properties}
    left = tuple(prop for prop in whole.properties if reasons[prop.kind] is None)
    return replace(whole, properties=left), {str(kind): why for kind, why in reasons.items() if why}


@dataclass(frozen=True, slots=True)
class FinishedProof:
    """What the files of a finished proof say: no more than verdicts, so that nothing is proved again."""

    claim: CircuitClaim
    circuit: Circuit
    """Trimmed."""
    verdicts: Mapping[Kind, Verdict]
    bundle: Path


def prove_once(run: Run, asked: CircuitClaim) -> FinishedProof:
    """Return what `prove_circuit` finds, or what it found before."""

    def prove_all() -> KeptVerdicts:
        battery = prove_circuit(run, asked).battery
        return KeptVerdicts({str(answer.prop.kind): answer.verdict for answer in battery.answers})

    circuit, kept = trimmed(run, asked), run.record(PROOF, KeptVerdicts, prove_all)
    verdicts = {Kind(name): verdict for name, verdict in kept.verdicts.items()}
    return FinishedProof(asked, circuit, verdicts, run.folder / asked.bundle_folder)


def _witnesses(battery: Battery) -> NecessityWitnesses:
    """Return every prompt that needs an edge: a bundle keeps one of each, which is enough to be checked."""
    task = battery.claim.task
    found = [edge for answer in battery.answers for edge in answer.findings.edges]
    edges = tuple(NeededEdge(str(one.edge), one.flips, one.ties) for one in found)
    return NecessityWitnesses(task.name, task.size, edges)


def bundled(run: Run, battery: Battery, folder: str = BUNDLE) -> Path:
    """Return the bundle of answers, which is written unless it is there."""
    return run.stage(folder, lambda path: write_bundle(path, battery))


def deciding_arithmetic(claim: Claim) -> ClaimArithmetic:
    """Return the arithmetic of a claim, as fine as its decisions need where they are enclosed."""
    found = in_its_arithmetic(claim)
    return EXACT if isinstance(found.arithmetic, ExactNumbers) else prove(found).claim.arithmetic


def trimmed(run: Run, asked: CircuitClaim) -> Circuit:
    """Return the circuit without edges that no decision depends on, trimmed unless that was done before.

    Extraction also keeps edges that only make decisions surer, and a rule that prefers large margins keeps
    more of them; of such an edge, necessity would be refuted.
    """
    task, circuit = asked.behaviour.task, asked.behaviour.circuit

    def write(path: Path) -> None:
        claim = Claim(open_model(asked.model), circuit, task, (Equivalence(),))
        write_record(path, trim(claim.frozen, task, circuit, deciding_arithmetic(claim)))

    return load_circuit(run.stage(asked.circuit_file, write, f"trimming {task.name}"))
