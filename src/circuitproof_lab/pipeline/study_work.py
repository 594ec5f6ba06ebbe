"""What the stages of a study work on: what all tasks share, and how far each of them has come."""

from dataclasses import dataclass, replace
from pathlib import Path

from circuitproof.circuits.circuit import Circuit
from circuitproof.files.run import Run
from circuitproof.models.declaration import ProgramHeads
from circuitproof.nn.checkpoint import StoredModel
from circuitproof.tasks.task import Task
from circuitproof_lab.distill.lesion import Behaviour
from circuitproof_lab.pipeline.construction import Artifact
from circuitproof_lab.pipeline.construction_recipe import QualityBudget
from circuitproof_lab.pipeline.splits import Rounds
from circuitproof_lab.pipeline.stages.calibrate import ArtifactBuild
from circuitproof_lab.pipeline.stages.gate import GatedRun
from circuitproof_lab.pipeline.stages.remove_norms import Watchers
from circuitproof_lab.pipeline.stages.synthesise import Installed
from circuitproof_lab.pipeline.study_recipe import Study
from circuitproof_lab.records.audit import BaseQuality
from circuitproof_lab.records.blocks import BlockRegression
from circuitproof_lab.records.checked import CheckedBundle
from circuitproof_lab.records.domain import DeclaredDomain
from circuitproof_lab.records.gate import GateOutcome
from circuitproof_lab.records.healing import Healed
from circuitproof_lab.records.limits import NoLimits, PatternLimits
from circuitproof_lab.records.viability import Viability
from circuitproof_lab.train.data import CorpusData
from circuitproof_lab.train.tokenised import TokenisedCorpus


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReport:
    """How far a task came, and what was found on the way."""

    task: str
    viability: Viability
    outcomes: tuple[GateOutcome, ...] = ()
    """Of the gates that were opened."""
    domain: DeclaredDomain | None = None
    circuit: Circuit | None = None
    """Extracted on the whole declared domain."""
    blocks: BlockRegression | None = None
    installed: Installed | None = None
    again: Circuit | None = None
    """Extracted again from the circuit of the programs."""
    artifact: Artifact | None = None
    checked: CheckedBundle | None = None
    limits: PatternLimits | NoLimits | None = None
    healed: Healed | None = None
    stopped: str | None = None
    """Why the task ended early, in one sentence."""


@dataclass(frozen=True, slots=True)
class StudySite:
    """What all tasks of a study share: its base, read, and the text that it is measured and healed on."""

    base: Path
    stored: StoredModel
    quality: QualityBudget
    data: CorpusData


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStudy:
    """One task of a study, its part of the run, and what is known of it."""

    study: Study
    site: StudySite
    run: Run
    job: GatedRun
    """The protocol and the ledger of all gates."""
    rounds: Rounds
    """The prompts of its generations."""
    report: TaskReport
    domain: Task | None = None
    """The task on its declared domain."""
    behaviour: Behaviour | None = None
    """The same with the circuit that is worked on."""
    programs: ProgramHeads | None = None
    """Those that this circuit reads."""
    build: ArtifactBuild | None = None

    def reporting(self, **found: object) -> "TaskStudy":
        """Return the same with something more in the report."""
        return replace(self, report=replace(self.report, **found))


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyWork:
    """A study, its run, and what is known of its base and its tasks."""

    study: Study
    run: Run
    corpus: TokenisedCorpus
    watchers: Watchers
    base: Path | None = None
    """The model that is studied: given, or made."""
    site: StudySite | None = None
    gated: GatedRun | None = None
    """The gates of the tasks that the base does, and what came of them."""
    quality: BaseQuality | None = None
    tasks: tuple[TaskStudy, ...] = ()
