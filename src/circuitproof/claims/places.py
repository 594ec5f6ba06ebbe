"""Where the proof of each claim stands: a folder of its own with the bundle, and what proving it took."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from circuitproof.bundle.files import CLAIM, WEIGHTS, claim_to_json, is_detached
from circuitproof.circuits.spelling import parse_circuit
from circuitproof.claims.file import ClaimsFile
from circuitproof.claims.stated import StatedClaim
from circuitproof.errors import InputError
from circuitproof.files.canonical import refuse_file, refuse_unwritable
from circuitproof.files.codec import PositiveInt
from circuitproof.files.reading import read_fields
from circuitproof.files.records import read_record
from circuitproof.files.sealed import MANIFEST
from circuitproof.forward.frozen import Frozen, WeightFile, open_weights
from circuitproof.models.architecture import read_architecture
from circuitproof.models.declaration import Declaration, read_program_lines
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.catalogue import read_property
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.lesion_identity import LesionIdentity
from circuitproof.proof.verdict import Battery, Verdict
from circuitproof.verbs.floats import FloatFormat, FloatMeasures, Unmeasured

BUNDLE, RECORD = "bundle", "proved.json"
_STATED = ("architecture", "programs", "circuit", "task")
"""What two bundles of the same claim about other weights have in common, beside properties alike."""


@dataclass(frozen=True, slots=True)
class MetObligations:
    """How many obligations of a property are met, and of how many."""

    met: int
    obligations: PositiveInt

    def __str__(self) -> str:
        return f"the prover counts {self.met} of {self.obligations}"


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """What a claim's circuit decides in one format of floats: measured, and no part of what is proved."""

    format: FloatFormat
    differing: int
    """On how many prompts another decision is known."""
    least_margin: float | None
    """The smallest lead in floats; none where a logit is infinite or NaN."""
    seconds: float


@dataclass(frozen=True, slots=True)
class ProofRecord:
    """What proving a claim took, and the prover's verdicts; the bundle beside it has the proof."""

    seconds: float
    cells: int
    verdicts: Mapping[str, Verdict]
    counts: Mapping[str, MetObligations] = field(default_factory=dict[str, MetObligations])
    """The prover's count for each property."""
    floats: tuple[MeasuredRun, ...] = ()
    """What floats decide, where the claims file asks for that."""
    unmeasured: str = ""
    """Why floats could not be measured though that was asked for."""


def record_of(
    battery: Battery, seconds: float, floats: FloatMeasures | Unmeasured | None = None
) -> ProofRecord:
    """Return the record of a proof that took so many seconds, with what floats make of it."""
    named = {str(answer.prop.kind): answer for answer in battery.answers}
    runs = floats.runs if isinstance(floats, FloatMeasures) else ()
    return ProofRecord(
        round(seconds, 3),
        battery.cells,
        {kind: answer.verdict for kind, answer in named.items()},
        {kind: MetObligations(answer.met, answer.obligations) for kind, answer in named.items()},
        tuple(
            MeasuredRun(run.format, run.differing, run.least_margin, round(run.seconds, 3)) for run in runs
        ),
        floats.reason if isinstance(floats, Unmeasured) else "",
    )


@dataclass(frozen=True, slots=True)
class ProofFolder:
    """The folder of a claim's proof."""

    claim: StatedClaim
    folder: Path

    @property
    def bundle(self) -> Path:
        return self.folder / BUNDLE

    @property
    def is_there(self) -> bool:
        return self.bundle.is_dir()

    def record(self) -> ProofRecord:
        return read_record(self.folder / RECORD, ProofRecord)

    def is_finished(self, claim: Claim, *, force: bool) -> bool:
        """Say whether the claim is proved here; another one is refused, or with `force` may be replaced."""
        if not self.folder.exists():
            return False
        if self.is_there and is_bundle_of(self.bundle, claim):
            if is_detached(self.bundle) is self.claim.is_detached:
                return True
            held = "holds no weights" if is_detached(self.bundle) else "holds weights"
            if not force:
                raise InputError(
                    f"{self.bundle} {held}, otherwise than the claims file says (detached); give --force to "
                    "prove it again, or choose another place"
                )
            return False
        names = {path.name for path in self.folder.iterdir()} if self.folder.is_dir() else {""}
        if names != {BUNDLE, RECORD}:
            raise InputError(f"{self.folder} is there and no proof of ours; choose another place")
        if not force:
            raise InputError(
                f"{self.folder} holds the proof of another claim; give --force or choose another place"
            )
        return False


def proofs_in(folder: Path, file: ClaimsFile) -> tuple[ProofFolder, ...]:
    """Return where the proof of each claim of a file stands in a folder."""
    return tuple(ProofFolder(claim, folder / claim.name) for claim in file.claims)


def refuse_place(folder: Path) -> None:
    """Refuse a folder in which no proofs can be written: a file, or one whose files are sealed."""
    refuse_file(folder)
    if (folder / MANIFEST).exists():
        raise InputError(f"{folder} is a sealed folder, in which nothing is written; choose another place")
    refuse_unwritable(folder / RECORD)


def model_in(bundle: Path) -> Frozen:
    """Return the model that a bundle is about, as far as the bundle has it."""
    stated = read_fields(bundle / CLAIM)
    architecture = read_architecture(stated.fields("architecture"))
    programs = read_program_lines(stated.fields("programs"), architecture)
    held = WeightFile(bundle, b"", {}) if is_detached(bundle) else open_weights(bundle / WEIGHTS)
    return Frozen(Declaration(architecture, programs, None), held)


def identity_in(bundle: Path) -> LesionIdentity | None:
    """Return the lesion identity that a bundle claims, with whatever base, if it claims one."""
    stated = read_fields(bundle / CLAIM)
    graph = read_architecture(stated.fields("architecture")).graph
    circuit = parse_circuit(stated.value("circuit"), stated.path("circuit"), graph)
    found = stated.each("properties", lambda one: read_property(one, circuit))
    return next((prop for prop in found if isinstance(prop, LesionIdentity)), None)


def is_meant(proof: ProofFolder, *, has_models: bool = True) -> bool:
    """Say whether a bundle states the claim of the file, as far as the models of it are at hand.

    What is stated of a model or a base that is not at hand is taken as it stands.
    """
    stated, bundle = proof.claim, proof.bundle
    if has_models and stated.is_at_hand:
        return is_bundle_of(bundle, stated.open())
    if (identity := identity_in(bundle)) is None and stated.base is not None:
        return False
    if has_models and stated.model.is_at_hand:
        return is_bundle_of(bundle, stated.open(identity=identity))
    return is_stated_in(bundle, stated.open(model_in(bundle), identity))


def is_bundle_of(bundle: Path, claim: Claim) -> bool:
    """Say whether a bundle states this very claim: model, circuit, task and properties."""
    weights, file = read_fields(bundle / CLAIM).fields("weights"), claim.frozen.file
    return is_stated_in(bundle, claim) and all(
        name in file.places and weights.fields(name).text("digest") == str(file.digest(name))
        for name in weights.keys()  # noqa: SIM118  # Fields is not a mapping
    )


def is_stated_in(bundle: Path, claim: Claim) -> bool:
    """Say whether a bundle states this claim, of whatever weights."""
    stated, wanted = read_fields(bundle / CLAIM), claim_to_json(claim, None, ())
    listed = [{key: one.value(key) for key in one.keys()} for one in stated.tables("properties")]  # noqa: SIM118  # Fields is not a mapping
    return all(stated.value(key) == wanted[key] for key in _STATED) and (
        len(listed) == len(claim.properties)
        and all(prop.is_stated_as(one) for prop, one in zip(claim.properties, listed, strict=True))
    )


def changed_kinds(expected: Mapping[Kind, Verdict], found: Mapping[str, Verdict]) -> tuple[Kind, ...]:
    """Return the properties whose verdicts are not as expected."""
    return tuple(kind for kind, verdict in expected.items() if found.get(kind) != verdict)


def changed_words(
    expected: Mapping[Kind, Verdict], found: Mapping[str, Verdict], counts: Mapping[str, MetObligations]
) -> str:
    """Say which verdicts are not as expected, with what was counted; nothing where all are."""
    return ", ".join(
        f"{kind} is {found.get(kind, 'not there')}, not {expected[kind]}"
        + (f" ({counts[kind]})" if kind in counts and kind in found else "")
        for kind in changed_kinds(expected, found)
    )
