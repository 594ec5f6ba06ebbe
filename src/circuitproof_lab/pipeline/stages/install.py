"""The stages that synthesise and install: each neural head that circuits read gets a program, one by one."""

from collections.abc import Sequence
from pathlib import Path

from circuitproof.circuits.graph import Head
from circuitproof.files.canonical import Json, readable_json
from circuitproof.files.run import Run
from circuitproof.models.declaration import ProgramHeads
from circuitproof.nn.checkpoint import StoredModel, load_model, save_model
from circuitproof_lab.distill.install import install
from circuitproof_lab.distill.lesion import Behaviour
from circuitproof_lab.distill.synthesis import Bounds
from circuitproof_lab.distill.synthesise import synthesise
from circuitproof_lab.pipeline.engine import Stopped

_INSTALLED, _SYNTHESIS = "installed", "synthesis.json"


def install_programs(run: Run, model: Path, behaviours: Sequence[Behaviour], bounds: Bounds) -> Path:
    """Return the model with a program at each neural head that a circuit reads, found one after the other."""
    circuits = {one.task.name: one.circuit for one in behaviours}

    def make(path: Path) -> None:
        stored = load_model(model, run.device)
        installed, reports = stored.model, list[Json]()
        for head in new_heads(installed.programs, behaviours):
            run.tell(f"{path.name}: synthesising {head}")
            found = synthesise(installed, [one.task for one in behaviours], head, circuits, bounds)
            if found.program is None:
                raise Stopped(f"no program within the bounds is accepted for {head}")
            reports.append(found.to_json())
            installed = install(installed, {head: found.program})
        save_model(path, StoredModel(installed, stored.alphabet), {_SYNTHESIS: readable_json(reports)})

    return run.stage(_INSTALLED, make)


def new_heads(programs: ProgramHeads, behaviours: Sequence[Behaviour]) -> tuple[Head, ...]:
    """Return the neural heads that the circuits read, in the order of computation."""
    nodes = {edge.source for behaviour in behaviours for edge in behaviour.circuit.live()}
    heads = [node for node in nodes if isinstance(node, Head) and node not in programs]
    return tuple(sorted(heads, key=lambda head: head.place))
