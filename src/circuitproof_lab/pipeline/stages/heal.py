"""The stage that heals: a model with programs is trained further, and what it decides without them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from circuitproof.files.canonical import readable_json
from circuitproof.files.codec import to_json
from circuitproof.files.run import Run
from circuitproof.nn.checkpoint import StoredModel, load_model, save_model
from circuitproof_lab.distill.audit import audit
from circuitproof_lab.distill.heal import Draw, Healing, TextTerm, Weighing
from circuitproof_lab.distill.lesion import Behaviour
from circuitproof_lab.distill.migrate import LesionGates
from circuitproof_lab.pipeline.construction_recipe import QualityBudget
from circuitproof_lab.pipeline.stages.train import MODEL
from circuitproof_lab.records.healing import HEALED, Healed
from circuitproof_lab.train.loop import TrainingPlan, Watcher, fit

_HISTORY = "healing.json"


@dataclass(frozen=True, slots=True)
class HealingCourse:
    """How a model with programs is trained: the steps, what is drawn, the objective, and a text beside it."""

    plan: TrainingPlan
    draw: Draw
    weighing: Weighing
    text: TextTerm | None = None


def heal(
    run: Run,
    start: Callable[[], StoredModel],
    behaviours: Sequence[Behaviour],
    plan: HealingCourse,
    telling: str,
) -> Path:
    """Train every parameter of a model with programs, and return where it is; a killed training goes on."""

    def train(path: Path) -> None:
        stored = start()
        goal = Healing(behaviours, tuple(stored.model.programs), plan.weighing, plan.draw, plan.text)
        healed = fit(stored.model, goal, plan.plan, path.parent / "checkpoints", Watcher())
        history = readable_json(to_json(healed.evaluations))
        save_model(path, StoredModel(healed.model, stored.alphabet), {_HISTORY: history})

    return run.stage(MODEL, train, telling)


@dataclass(frozen=True, slots=True)
class HealingGates:
    """What a healed model is held to: what it may decide without its programs, and lose on text."""

    lesions: LesionGates
    quality: QualityBudget


def examine_healed(run: Run, model: Path, behaviour: Behaviour, gates: HealingGates, steps: int) -> Healed:
    """Audit a healed model: does it need its programs, and what does it lose on text?"""

    def examine() -> Healed:
        healed = load_model(model, run.device).model
        found, loss = audit(healed, behaviour, tuple(healed.programs)), gates.quality.loss(healed)
        return Healed(
            task=behaviour.task.name,
            steps=steps,
            audit=found,
            loss=loss,
            within_budget=loss <= gates.quality.budget,
            uses_programs=found.without_heads <= gates.lesions.right * found.prompts,
        )

    return run.record(HEALED, Healed, examine)
