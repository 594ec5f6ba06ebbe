"""The stages that audit and calibrate: base, installed model and each rung, and which is of record."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from circuitproof.circuits.circuit import whole
from circuitproof.circuits.graph import Head
from circuitproof.errors import InputError, NumericError
from circuitproof.files.canonical import write_file
from circuitproof.files.run import Run
from circuitproof.models.declaration import readout_tensors
from circuitproof.nn.checkpoint import StoredModel, load_model, load_tensors, save_model, save_tensors
from circuitproof.nn.transformer import Transformer
from circuitproof_lab.distill.audit import audit, without_circuit
from circuitproof_lab.distill.calibrate import Rung, calibrate, least_aimed
from circuitproof_lab.distill.install import install, replace_tensors
from circuitproof_lab.distill.lesion import Behaviour, silence
from circuitproof_lab.distill.shared_below import share_below
from circuitproof_lab.pipeline.construction_recipe import Blueprint, Construction, QualityBudget, RungChoice
from circuitproof_lab.pipeline.engine import Stopped, written
from circuitproof_lab.pipeline.stages.prove import CircuitProof
from circuitproof_lab.records.audit import CHOSEN, Audit, ChosenRung, Losses, MeasuredState
from circuitproof_lab.records.proof import ProofMeasures

_RULES: Mapping[RungChoice, tuple[Callable[[MeasuredState], float], str]] = {
    RungChoice.FIRST: (lambda _: 0, "trains the least"),
    RungChoice.RADIUS: (lambda state: -state.radius, "has the most of what is aimed at on the worst prompt"),
    RungChoice.QUALITY: (
        lambda state: float("inf") if state.losses is None else state.losses.model,
        "loses the least on the text",
    ),
}
"""What each rule makes least, and what it says of the rung that has the least of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactBuild:
    """Where one artifact is built and from what, and how far it has come."""

    construction: Construction
    blueprint: Blueprint
    base: Path
    run: Run
    stored: StoredModel | None = None
    """The base, read."""
    installed: Transformer | None = None
    """The base with the programs of the blueprint."""
    states: tuple[MeasuredState, ...] = ()
    """The base, the installed model and each rung, as they were audited."""
    chosen: ChosenRung | None = None
    model: Path | None = None
    """The model of record."""
    proof: CircuitProof | None = None
    measures: ProofMeasures | None = None

    @property
    def behaviour(self) -> Behaviour:
        return Behaviour(self.blueprint.task, self.blueprint.circuit)


def install_blueprint(build: ArtifactBuild) -> ArtifactBuild:
    """Read the base and put the programs of the blueprint into it; both stay in memory."""
    stored = load_model(build.base, build.run.device)
    installed = install(stored.model, build.blueprint.programs)
    share_below(stored.model, installed)
    return replace(build, stored=stored, installed=installed)


def audit_ends(build: ArtifactBuild) -> ArtifactBuild:
    """Audit the base and the installed model, before anything is trained."""
    stored, installed = written(build.stored, "base"), written(build.installed, "installed model")
    states = (
        state_of(build, "base", lambda: stored.model),
        state_of(build, "installed", lambda: installed),
    )
    return replace(build, states=states)


def calibrate_rungs(build: ArtifactBuild) -> ArtifactBuild:
    """Calibrate and audit every rung, choose the one of record, and save its model."""
    stored, installed = written(build.stored, "base"), written(build.installed, "installed model")
    rungs = [
        state_of(build, rung, partial(calibrated, build, installed, rung))
        for rung in build.construction.rungs
    ]
    states = (*build.states, *rungs)
    refuse_broken_identity(states)
    chosen, rung = chosen_rung(build, rungs)

    def save(path: Path) -> None:
        save_model(path, StoredModel(calibrated(build, installed, rung), stored.alphabet))

    return replace(build, states=states, chosen=chosen, model=build.run.stage("model", save))


def state_of(build: ArtifactBuild, name: str, make: Callable[[], Transformer]) -> MeasuredState:
    """Return what is measured of a model, which is made only where that is not yet known."""

    def measure() -> MeasuredState:
        begin = time.perf_counter()
        model, heads = make(), tuple(build.blueprint.programs)
        build.run.tell(f"{build.blueprint.task.name}: auditing {name}")
        found = audit(model, build.behaviour, heads)
        aim = build.construction.calibration.aim
        radius = least_aimed(model, build.behaviour, aim)
        quality = build.construction.quality
        losses = None if quality is None else _losses(model, build.behaviour, heads, quality)
        return MeasuredState(
            task=build.blueprint.task.name,
            name=name,
            audit=found,
            radius=radius,
            losses=losses,
            seconds=time.perf_counter() - begin,
            passes=_passes(build.construction, found, radius, losses),
            aim=aim,
        )

    return build.run.record(f"{name}.json", MeasuredState, measure)


def _losses(
    model: Transformer, behaviour: Behaviour, heads: Sequence[Head], quality: QualityBudget
) -> Losses:
    """Return the losses of a model with nothing and with something taken away, as its audit does."""
    everything = whole(model.graph)
    return Losses(
        model=quality.loss(model),
        without_heads=quality.loss(model, silence(everything, heads)),
        without_each=tuple(quality.loss(model, silence(everything, [head])) for head in heads),
        without_circuit=quality.loss(model, without_circuit(behaviour, everything, heads)),
    )


def _passes(construction: Construction, found: Audit, radius: float, losses: Losses | None) -> bool:
    """Say whether a state passes its gates.

    Model and circuit are right on every prompt, both need the programs together on as many prompts as was
    declared, and radius and quality are what is asked for.
    """
    is_right = found.model == found.circuit == found.prompts and found.needed >= construction.joint_necessity
    quality = construction.quality
    is_good = quality is None or (losses is not None and losses.model <= quality.budget)
    return is_right and radius >= construction.calibration.target and is_good


def calibrated(build: ArtifactBuild, installed: Transformer, rung: Rung) -> Transformer:
    """Return the model calibrated by one rung; only its readouts are kept on disk."""
    readouts = readout_tensors(installed.programs, biases=installed.architecture.biases)

    def train(path: Path) -> None:
        construction = build.construction
        model = calibrate(installed, build.behaviour, rung, construction.calibration, construction.text)
        slices = model.named_slices()
        write_file(path, save_tensors({name: slices[name] for name in sorted(readouts)}))

    telling = f"{build.blueprint.task.name}: calibrating the {rung} rung"
    kept = build.run.stage(f"{rung}.safetensors", train, telling)
    shapes = {name: tuple(view.shape) for name, view in installed.named_slices().items() if name in readouts}
    calibrated = replace_tensors(installed, load_tensors(kept, shapes))
    share_below(installed, calibrated)
    return calibrated


def chosen_rung(build: ArtifactBuild, rungs: Sequence[MeasuredState]) -> tuple[ChosenRung, Rung]:
    """Return which rung is of record, chosen once, and why."""
    chosen = build.run.record(CHOSEN, ChosenRung, lambda: _choose(build, rungs))
    names = {str(rung): rung for rung in build.construction.rungs}
    if chosen.record not in names:
        raise InputError(
            f"{build.run.folder / CHOSEN}: record is {chosen.record!r}, want one of {', '.join(names)}; "
            "remove the file to choose anew"
        )
    return chosen, names[chosen.record]


def _choose(build: ArtifactBuild, rungs: Sequence[MeasuredState]) -> ChosenRung:
    """Return the rung that becomes the model of record, by the rule that was fixed beforehand."""
    good = [state for state in rungs if state.passes]
    if not good:
        best = max(rungs, key=lambda state: (state.audit.model + state.audit.circuit, state.radius))
        needed = build.construction.joint_necessity
        lost = "" if best.losses is None else f", and loses {best.losses.model:.4f} on the text"
        raise Stopped(
            f"{build.blueprint.task.name}: no rung passes its gates; the best, {best.name}, has "
            f"{best.audit.model} of {best.audit.prompts} right in the model, {best.audit.circuit} in the "
            f"circuit, needs its programs together on {best.audit.needed} where {needed} are asked for, and "
            f"has a smallest {best.aim} of {best.radius:.3g}{lost}; "
            "raise the steps, or lower the target or the targets"
        )
    rank, reason = _RULES[build.construction.choice]
    record, passing = min(good, key=rank).name, ", ".join(state.name for state in good)
    return ChosenRung(record, f"{record} is of record: of the rungs that pass ({passing}) it {reason}")


def refuse_broken_identity(states: Sequence[MeasuredState]) -> None:
    """Refuse when the model without the program heads is not, bit by bit, what it was before calibration.

    The base is not held to the bits: where programs are installed, a layer's other heads are computed in
    another order. Which prompts it decides right must be the same.
    """
    base, installed, *rungs = states
    if base.audit.backup != installed.audit.backup:
        raise NumericError("with the program heads silenced, base and installed model decide differently")
    for state in rungs:
        if state.audit.lesion_digest != installed.audit.lesion_digest:
            raise NumericError(
                f"with the program heads silenced, {state.name} does not compute the bits it did before: "
                "something else than their readouts was changed"
            )
        if state.audit.without_circuit != installed.audit.without_circuit:
            raise NumericError(
                f"without the circuit and its program heads, {state.name} decides "
                f"{state.audit.without_circuit} prompts right and the installed model "
                f"{installed.audit.without_circuit}: something else than their readouts was changed"
            )
