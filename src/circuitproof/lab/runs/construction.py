"""Building artifacts: install programs, audit, calibrate rung by rung, choose one, prove and bundle it."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch

from circuitproof.declare.circuits.circuit import whole
from circuitproof.declare.circuits.graph import Head
from circuitproof.errors import InputError, NumericError
from circuitproof.forward.declaration import NO_PROGRAMS, Declaration, readout_tensors
from circuitproof.forward.frozen import open_model
from circuitproof.lab.distill.audit import audit
from circuitproof.lab.distill.calibrate import Rung, calibrate, worst_radius
from circuitproof.lab.distill.frozen import share_below
from circuitproof.lab.distill.install import install, replace_tensors
from circuitproof.lab.distill.lesion import Behaviour, silence
from circuitproof.lab.model.checkpoint import StoredModel, load_model, load_tensors, save_model, save_tensors
from circuitproof.lab.model.transformer import Transformer, initialise
from circuitproof.lab.records.audit import CHOSEN, Audit, Chosen, Losses, State
from circuitproof.lab.runs.construction_recipe import Blueprint, Choice, Construction, Quality, SeededBase
from circuitproof.lab.runs.run import Run, Tell, begin_run, silent
from circuitproof.lab.runs.sizes import model_size
from circuitproof.lab.runs.stages.measure_proof import ProofMeasures, measure_proof
from circuitproof.lab.runs.stages.prove import CircuitClaim, Proof, prove_circuit
from circuitproof.text.canonical import Json, write_file
from circuitproof.text.codec import record_to_json, to_json

_RULES: Mapping[Choice, tuple[Callable[[State], float], str]] = {
    Choice.FIRST: (lambda _: 0, "trains the least"),
    Choice.RADIUS: (lambda state: -state.radius, "has the largest worst radius"),
    Choice.QUALITY: (
        lambda state: float("inf") if state.losses is None else state.losses.model,
        "loses the least on the text",
    ),
}
"""What each rule makes least, and what it says of the rung that has the least of it."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """A calibrated model of record with its history and its proof."""

    task: str
    states: tuple[State, ...]
    record: str
    """The rung that became the model of record."""
    why: str
    """Why it is that one, in one sentence."""
    model: Path
    proof: Proof
    measures: ProofMeasures

    def to_json(self) -> Json:
        return {
            "task": self.task,
            "states": to_json(self.states),
            "record": self.record,
            "why": self.why,
            "model": str(self.model),
            "proof": _proof_to_json(self.proof, self.measures),
        }


def _proof_to_json(proof: Proof, measures: ProofMeasures) -> Json:
    battery = proof.battery
    return {
        "verdict": str(proof.verdict),
        "answers": [{**answer.to_json(), "obligations": answer.obligations} for answer in battery.answers],
        "prompts": battery.claim.task.size,
        "cells": battery.cells,
        "edges": [str(edge) for edge in battery.claim.circuit],
        "declared_edges": proof.declared_edges,
        "verification_seconds": proof.seconds,
        **record_to_json(measures),
        "bundle": str(proof.bundle),
    }


@dataclass(frozen=True, slots=True)
class _Site:
    """Where one artifact is built, and from what."""

    construction: Construction
    blueprint: Blueprint
    base: Path
    run: Run

    @property
    def behaviour(self) -> Behaviour:
        return Behaviour(self.blueprint.task, self.blueprint.circuit)

    def claim(self, model: Path) -> CircuitClaim:
        """Return what is to be proved of a calibrated model: it is the base but for its program heads."""
        epsilon = self.construction.epsilon
        return CircuitClaim(model=model, behaviour=self.behaviour, epsilon=epsilon, base=self.base)


def construct(construction: Construction, out: Path, tell: Tell = silent) -> tuple[Artifact, ...]:
    """Build every artifact of a recipe in `out`; what an interrupted run finished is not done again."""
    size = _refuse_unfit(construction)
    with begin_run(out, construction.name, construction.digest, size, tell) as run:
        base = _base(construction.base, run)
        return tuple(
            _build(_Site(construction, blueprint, base, run.within(blueprint.task.name)))
            for blueprint in construction.blueprints
        )


def _refuse_unfit(construction: Construction) -> int:
    """Refuse what could only fail after calibration, and return how much a run writes."""
    base = construction.base
    declared = (
        open_model(base).declaration
        if isinstance(base, Path)
        else Declaration(base.architecture, NO_PROGRAMS, None)
    )
    for blueprint in construction.blueprints:
        declared.refuse_unfit(blueprint.task)
        replace(declared, programs=blueprint.programs).refuse_inexact("a construction", blueprint.circuit)
    return (1 + 2 * len(construction.blueprints)) * model_size(declared.architecture)


def _base(declared: SeededBase | Path, run: Run) -> Path:
    if isinstance(declared, Path):
        return declared
    return run.stage("base", lambda path: save_model(path, StoredModel(_seeded(declared), None)))


def _seeded(base: SeededBase) -> Transformer:
    """Return a model of random weights, biases included."""
    model = Transformer(base.architecture)
    initialise(model, base.seed, base.deviation)
    generator = torch.Generator().manual_seed(base.seed + 1)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.normal_(0, base.bias_deviation, generator=generator)
    return model


def _build(site: _Site) -> Artifact:
    stored = load_model(site.base)
    installed = install(stored.model, site.blueprint.programs)
    share_below(stored.model, installed)
    states = [
        _state(site, "base", lambda: stored.model),
        _state(site, "installed", lambda: installed),
        *(_state(site, rung, partial(_rung, site, installed, rung)) for rung in site.construction.rungs),
    ]
    _refuse_broken_identity(states)
    chosen = site.run.record(CHOSEN, Chosen, lambda: _choose(site, states[2:]))

    def save(path: Path) -> None:
        save_model(path, StoredModel(_rung(site, installed, Rung(chosen.record)), stored.alphabet))

    model = site.run.stage("model", save)
    proof = prove_circuit(site.run.within("proof"), site.claim(model))
    task, anchors = site.blueprint.task.name, site.construction.anchors
    site.run.tell(f"evaluating {anchors} anchors of {task}")
    measures = measure_proof(model, proof.battery, anchors)
    return Artifact(task, tuple(states), chosen.record, chosen.why, model, proof, measures)


def _state(site: _Site, name: str, make: Callable[[], Transformer]) -> State:
    """Return what is measured of a model, which is made only where that is not yet known."""

    def measure() -> State:
        begin = time.perf_counter()
        model, heads = make(), tuple(site.blueprint.programs)
        site.run.tell(f"{site.blueprint.task.name}: auditing {name}")
        found = audit(model, site.behaviour, heads)
        radius = worst_radius(model, site.behaviour, site.construction.calibration.aim)
        quality = site.construction.quality
        losses = None if quality is None else _losses(model, site.behaviour, heads, quality)
        return State(
            task=site.blueprint.task.name,
            name=name,
            audit=found,
            radius=radius,
            losses=losses,
            seconds=time.perf_counter() - begin,
            passes=_passes(site.construction, found, radius, losses),
        )

    return site.run.record(f"{name}.json", State, measure)


def _losses(model: Transformer, behaviour: Behaviour, heads: Sequence[Head], quality: Quality) -> Losses:
    """Return the losses of a model with nothing and with something taken away, as its audit does."""
    everything = whole(model.graph)
    return Losses(
        model=quality.loss(model),
        without_heads=quality.loss(model, silence(everything, heads)),
        without_each=tuple(quality.loss(model, silence(everything, [head])) for head in heads),
        without_circuit=quality.loss(model, everything.without(*behaviour.circuit.edges)),
    )


def _passes(construction: Construction, found: Audit, radius: float, losses: Losses | None) -> bool:
    """Say whether model and circuit are right on every prompt, with the radius and the quality asked for."""
    is_right = found.model == found.circuit == found.prompts
    quality = construction.quality
    is_good = quality is None or (losses is not None and losses.model <= quality.budget)
    return is_right and radius >= construction.calibration.target and is_good


def _rung(site: _Site, installed: Transformer, rung: Rung) -> Transformer:
    """Return the model calibrated by one rung; only its readouts are kept on disk."""
    readouts = readout_tensors(installed.programs, biases=installed.architecture.biases)

    def train(path: Path) -> None:
        construction = site.construction
        model = calibrate(installed, site.behaviour, rung, construction.calibration, construction.text)
        slices = {name: view.detach().contiguous() for name, view in model.named_slices().items()}
        write_file(path, save_tensors({name: slices[name] for name in sorted(readouts)}))

    telling = f"{site.blueprint.task.name}: calibrating the {rung} rung"
    kept = site.run.stage(f"{rung}.safetensors", train, telling)
    shapes = {name: tuple(view.shape) for name, view in installed.named_slices().items() if name in readouts}
    calibrated = replace_tensors(installed, load_tensors(kept, shapes))
    share_below(installed, calibrated)
    return calibrated


def _choose(site: _Site, rungs: list[State]) -> Chosen:
    """Return the rung that becomes the model of record, by the rule that was fixed beforehand."""
    good = [state for state in rungs if state.passes]
    if not good:
        best = max(rungs, key=lambda state: (state.audit.model + state.audit.circuit, state.radius))
        lost = "" if best.losses is None else f", and loses {best.losses.model:.4f} on the text"
        raise InputError(
            f"{site.blueprint.task.name}: no rung passes its gates; the best, {best.name}, has "
            f"{best.audit.model} of {best.audit.prompts} right in the model, {best.audit.circuit} in the "
            f"circuit and a smallest radius of {best.radius:.3g}{lost}; "
            "raise the steps, or lower the target or the demands"
        )
    rank, reason = _RULES[site.construction.choice]
    record, passing = min(good, key=rank).name, ", ".join(state.name for state in good)
    return Chosen(record, f"{record} is of record: of the rungs that pass ({passing}) it {reason}")


def _refuse_broken_identity(states: list[State]) -> None:
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
