"""The limit of healing: a whole model trained to use its programs, and what it decides without them."""

from dataclasses import dataclass
from pathlib import Path

from circuitproof.forward.declaration import ProgramHeads
from circuitproof.lab.distill.audit import audit
from circuitproof.lab.distill.heal import Healing, TextTerm
from circuitproof.lab.distill.install import install
from circuitproof.lab.distill.lesion import Behaviour
from circuitproof.lab.distill.migrate import LesionGates
from circuitproof.lab.model.checkpoint import StoredModel, load_model, save_model
from circuitproof.lab.records.healing import HEALED, Healed
from circuitproof.lab.runs.construction_recipe import Quality
from circuitproof.lab.runs.run import Run
from circuitproof.lab.runs.study_recipe import CoreHealing
from circuitproof.lab.runs.training import MODEL
from circuitproof.lab.train.data import CorpusData
from circuitproof.lab.train.loop import Watcher, fit
from circuitproof.text.canonical import readable_json
from circuitproof.text.codec import to_json

_HISTORY = "healing.json"


@dataclass(frozen=True, slots=True)
class Therapist:
    """What healing needs beside a behaviour: how to train, on which text, and what counts."""

    healing: CoreHealing
    gates: LesionGates
    quality: Quality
    data: CorpusData

    def heal(self, run: Run, stored: StoredModel, behaviour: Behaviour, programs: ProgramHeads) -> Healed:
        """Train every parameter of the model with programs, then audit it; a killed run goes on."""
        plan = self.healing.plan

        def train(path: Path) -> None:
            model = install(stored.model, programs)
            text = TextTerm(self.data, self.healing.text)
            goal = Healing([behaviour], tuple(programs), self.healing.weighing, self.healing.draw, text)
            healed = fit(model, goal, plan, path.parent / "checkpoints", Watcher())
            history = readable_json(to_json(healed.evaluations))
            save_model(path, StoredModel(healed.model, stored.alphabet), {_HISTORY: history})

        place = run.stage(MODEL, train, f"{behaviour.task.name}: healing for {plan.steps} steps")
        return run.record(HEALED, Healed, lambda: self._examine(place, behaviour))

    def _examine(self, place: Path, behaviour: Behaviour) -> Healed:
        model = load_model(place).model
        found, loss = audit(model, behaviour, tuple(model.programs)), self.quality.loss(model)
        return Healed(
            task=behaviour.task.name,
            steps=self.healing.plan.steps,
            audit=found,
            loss=loss,
            within_budget=loss <= self.quality.budget,
            uses_programs=found.without_heads <= self.gates.right * found.prompts,
        )
