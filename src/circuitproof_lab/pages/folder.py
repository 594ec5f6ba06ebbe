"""What there is to show of a run folder: its bundles and the records of its stages, wherever they stand."""

from dataclasses import dataclass
from pathlib import Path

from circuitproof.errors import InputError
from circuitproof.files.canonical import Json
from circuitproof.files.codec import record_to_json, to_json
from circuitproof.files.records import read_record
from circuitproof.files.run import MARK, Mark
from circuitproof.reports.judged import JudgedBundle, judged_below
from circuitproof_check.main import Beside
from circuitproof_lab.pages.study import StudyView, read_study
from circuitproof_lab.records.audit import MeasuredState, read_chosen, read_states
from circuitproof_lab.records.gate import GATE, GateOutcome, load_outcome
from circuitproof_lab.records.migration import MIGRATION, PlacedLesion, read_lesions
from circuitproof_lab.records.norms import FOLD, REMOVAL, Attenuation, FadedNorm, NormFold
from circuitproof_lab.records.surrogate import STUDY as EXPLAINED
from circuitproof_lab.records.surrogate import SurrogateReport
from circuitproof_lab.records.variants import COMPARISON, VariantComparison


@dataclass(frozen=True, slots=True)
class ShownRung:
    """A state of a calibration, and why it is the model of record; nothing where it is not."""

    state: MeasuredState
    why: str

    @property
    def place(self) -> str:
        """Return which state of which calibration it is."""
        return f"{self.state.task} {self.state.name}"

    def to_json(self) -> Json:
        errors = to_json(self.state.audit.errors)
        return {**record_to_json(self.state), "errors": errors, "why": self.why}


@dataclass(frozen=True, slots=True)
class RunView:
    """A run folder, read."""

    path: Path
    recipe: str
    digest: str
    bundles: tuple[JudgedBundle, ...]
    trials: tuple[GateOutcome, ...]
    rungs: tuple[ShownRung, ...]
    lesions: tuple[PlacedLesion, ...]
    norms: tuple[FadedNorm, ...]
    folding: NormFold | None
    study: StudyView
    explanations: tuple[SurrogateReport, ...]
    """Those that were tested through surrogates."""
    comparison: VariantComparison | None


def read_run(path: Path, beside: Beside | None = None) -> RunView:
    """Read a run folder and let the checker judge each of its bundles, beside what they must be about."""
    compared = beside or Beside()
    bundles = tuple(judged_below(path, compared))
    if not bundles and (compared.against, compared.task) != (None, None):
        raise InputError(f"{path} holds no bundle to compare with anything; leave out --against and --task")
    mark, folders = read_record(path / MARK, Mark), sorted(one for one in path.rglob("*") if one.is_dir())
    return RunView(
        path,
        mark.recipe,
        str(mark.recipe_digest),
        bundles,
        tuple(load_outcome(file)[0] for file in sorted(path.rglob(GATE))),
        tuple(rung for folder in folders for rung in _rungs(folder)),
        tuple(lesion for file in sorted(path.rglob(MIGRATION)) for lesion in read_lesions(file, path)),
        _norms(path),
        read_record(path / FOLD, NormFold) if (path / FOLD).is_file() else None,
        read_study(path),
        tuple(read_record(file, SurrogateReport) for file in sorted(path.rglob(EXPLAINED))),
        read_record(path / COMPARISON, VariantComparison) if (path / COMPARISON).is_file() else None,
    )


def _rungs(folder: Path) -> list[ShownRung]:
    chosen = read_chosen(folder)
    whys = {} if chosen is None else {chosen.record: chosen.why}
    return [ShownRung(state, whys.get(state.name, "")) for state in read_states(folder)]


def _norms(path: Path) -> tuple[FadedNorm, ...]:
    """Return the norms of the first removal that a run holds; a model's folder has a copy of its record."""
    files = sorted(path.rglob(REMOVAL))
    return read_record(files[0], Attenuation).norms if files else ()
