"""Opening a bundle again: its claim as typed data, its weights as a model, its evidence as it was written.

Whoever opens a bundle has let the checker judge it before: what is read here is not judged again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from circuitproof.bundle.files import CERTIFICATE, CLAIM, DOMAIN, WEIGHTS
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.spelling import parse_circuit
from circuitproof.errors import InputError
from circuitproof.files.codec import Codec, Whole
from circuitproof.files.reading import Fields, parse_json
from circuitproof.forward.frozen import Frozen, WeightFile, parse_weights
from circuitproof.models.architecture import Shapes, read_architecture
from circuitproof.models.declaration import Declaration, read_program_lines
from circuitproof.proof.arithmetic import EXACT, ClaimArithmetic, EnclosedNumbers
from circuitproof.proof.properties.catalogue import read_property
from circuitproof.proof.properties.property import Property
from circuitproof.proof.verdict import Verdict
from circuitproof.tasks.domain import LAST, Domain, read_domain
from circuitproof.tasks.names import TokenNames
from circuitproof.tasks.patterns import Pattern, read_pattern
from circuitproof.tasks.rules import AnswerRule, RelationRule


@dataclass(frozen=True, slots=True)
class KeptWeights(WeightFile):
    """The weights of a bundle: some tensors, and of some of these only some rows."""

    full: Shapes
    """The shapes that the tensors have in the model."""
    rows: Mapping[str, Mapping[int, int]]
    """Where the rows of a tensor stand that is not here whole."""

    def shapes(self) -> Shapes:
        return self.full

    def raw(self, name: str, rows: Sequence[int] | None = None) -> bytes:
        """Return the bytes of a tensor, or of some of the model's rows of it."""
        places = self.rows.get(name)
        if places is None:
            return WeightFile.raw(self, name, rows)
        wanted = range(self.full[name][0]) if rows is None else rows
        if absent := [row for row in wanted if row not in places]:
            raise InputError(f"{self.path} lacks row {absent[0]} of tensor {name}")
        return WeightFile.raw(self, name, [places[row] for row in wanted])


@dataclass(frozen=True, slots=True)
class AskedTask:
    """What a claim says of its task; `names` are untrusted and may be any text."""

    name: str
    declaration: str | None
    names: TokenNames
    candidates: tuple[int, ...]
    answer: AnswerRule
    relation: RelationRule
    outputs: TokenNames | None = None
    """The names of candidates and answers, where they are no tokens."""
    position: Whole = LAST

    @property
    def answer_names(self) -> TokenNames:
        return self.names if self.outputs is None else self.outputs


@dataclass(frozen=True, slots=True)
class Answered:
    """A property, the verdict on it, its remarks, and the evidence as the certificate has it."""

    prop: Property
    verdict: Verdict
    remarks: tuple[str, ...]
    evidence: Fields


@dataclass(frozen=True, slots=True)
class OpenedBundle:
    """A bundle: what is claimed of which circuit of which model, on which prompts, and the answers."""

    path: Path
    frozen: Frozen
    circuit: Circuit
    task: AskedTask
    domain: Domain
    pattern: Pattern | None
    answers: tuple[Answered, ...]
    folds: tuple[tuple[Fraction, ...], ...]
    """Rows of exact logits, to which evidence refers by number; none of a bundle that was not judged."""
    precision: int | None
    """How precisely logits are enclosed, in bits; nothing where they are exact."""

    @property
    def arithmetic(self) -> ClaimArithmetic:
        """Return what logits are computed in, as precisely as the certificate says."""
        return EXACT if self.precision is None else EnclosedNumbers(self.precision, most=self.precision)


def open_bundle(
    path: Path, files: Mapping[str, bytes], folds: tuple[tuple[Fraction, ...], ...] = ()
) -> OpenedBundle:
    """Read a bundle from the very bytes that the checker has judged, whatever the path holds by now.

    Its rows of exact logits are those that the checker computed: a certificate may hold their digests alone.
    """
    claim, asked, certificate = (
        Fields(parse_json(files[name], str(path / name)), str(path / name))
        for name in (CLAIM, DOMAIN, CERTIFICATE)
    )
    architecture = read_architecture(claim.fields("architecture"))
    programs = read_program_lines(claim.fields("programs"), architecture)
    circuit = parse_circuit(claim.value("circuit"), claim.path("circuit"), architecture.graph)
    answers = certificate.each("answers", lambda one: _read_answer(one, circuit))
    task = _read_task(claim.fields("task"))
    return OpenedBundle(
        path,
        Frozen(
            Declaration(architecture, programs, None),
            _read_weights(parse_weights(path / WEIGHTS, files[WEIGHTS]), claim),
            position=task.position,
        ),
        circuit,
        task,
        read_domain(asked),
        read_pattern(asked) if asked.has("pattern") else None,
        answers,
        folds,
        certificate.integer("precision") if certificate.has("precision") else None,
    )


def _read_weights(file: WeightFile, claim: Fields) -> KeptWeights:
    listed = claim.fields("weights")
    parts = {name: listed.fields(name) for name in listed.keys()}  # noqa: SIM118  # Fields is not a mapping
    rows = {
        name: {row: place for place, row in enumerate(part.integers("rows"))}
        for name, part in parts.items()
        if part.value("rows") is not None
    }
    full = {name: part.integers("shape") for name, part in parts.items()}
    return KeptWeights(file.path, file.content, file.places, full, rows)


def _read_task(fields: Fields) -> AskedTask:
    outputs = _read_names(fields.fields("outputs")) if fields.has("outputs") else None
    return Codec().record(AskedTask, fields, names=_read_names(fields.fields("names")), outputs=outputs)


def _read_names(names: Fields) -> TokenNames:
    return TokenNames({int(token): names.text(token) for token in names.keys()})  # noqa: SIM118  # Fields is not a mapping


def _read_answer(fields: Fields, circuit: Circuit) -> Answered:
    return Answered(
        read_property(fields.fields("property"), circuit),
        fields.choice("verdict", Verdict),
        fields.texts("remarks"),
        fields.fields("evidence"),
    )
