"""Reading `claims.toml`: models with the SHA-256 of their weights, and claims with expected verdicts."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from circuitproof.declare.tasks.loading import is_task_file, task_spec
from circuitproof.errors import CircuitproofError, InputError
from circuitproof.forward.declaration import WEIGHTS
from circuitproof.forward.frozen import Frozen
from circuitproof.lab.runs.verification import Place, Request, claim_of, parse_properties
from circuitproof.prove.claim import Claim
from circuitproof.prove.properties import Kind, Property
from circuitproof.prove.verdict import Verdict
from circuitproof.text.canonical import Digest, digest_file
from circuitproof.text.codec import Codec, FolderName
from circuitproof.text.reading import Fields, read_toml, reading, reading_part

_CODEC = Codec()


@dataclass(frozen=True, slots=True)
class StatedModel:
    """A model directory, and the SHA-256 that its weights file must have."""

    path: Path
    sha256: Digest

    def refuse_other_weights(self) -> None:
        """Refuse a model directory whose weights are not those that are meant."""
        file = self.path / WEIGHTS
        if (found := digest_file(file)) != self.sha256:
            raise InputError(
                f"{file} has SHA-256 {found}, the claims file wants {self.sha256}; give that model"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedClaim:
    """What is claimed of a circuit of a model, and the verdict that is expected on each property."""

    name: FolderName
    model: StatedModel
    task: str
    circuit: Path | None
    """Without one, all edges: the model itself."""
    properties: tuple[Property, ...]
    place: Place
    expected: Mapping[Kind, Verdict]

    def inputs(self) -> tuple[Path, ...]:
        """Return the files that it is read from, apart from the model."""
        task = (Path(self.task),) if is_task_file(self.task) else ()
        return (*task, *(() if self.circuit is None else (self.circuit,)))

    def open(self, model: Frozen | None = None) -> Claim:
        """Open model, task and circuit, which must be those that are meant and fit together.

        A `model` that is given is taken for the one that is meant.
        """
        try:
            if model is None:
                self.model.refuse_other_weights()
            return claim_of(
                Request(
                    model=model or self.model.path,
                    circuit=self.circuit,
                    task=self.task,
                    properties=self.properties,
                    place=self.place,
                )
            )
        except CircuitproofError as error:
            raise InputError(f"claim {self.name!r}: {error}") from error


@dataclass(frozen=True, slots=True)
class ClaimsFile:
    """A claims file that was read."""

    path: Path
    name: FolderName
    claims: tuple[StatedClaim, ...]

    def only(self, names: Collection[str]) -> "ClaimsFile":
        """Return the same file with the claims of these names alone; without names, with all of them."""
        known = [claim.name for claim in self.claims]
        if unknown := [name for name in names if name not in known]:
            raise InputError(f"{self.path} has no claim {unknown[0]!r}; it has {', '.join(known)}")
        return replace(self, claims=tuple(one for one in self.claims if not names or one.name in names))


def load_claims(path: Path) -> ClaimsFile:
    """Read a claims file; paths in it are relative to its own folder."""
    codec = _CODEC.knowing({Path: lambda fields, key: path.parent / fields.text(key)})
    with reading(read_toml(path), path.name) as fields:
        name = codec.value(FolderName, fields, "name")
        models = codec.value(Mapping[str, StatedModel], fields, "models")
        claims = fields.each("claims", partial(_read_claim, path.parent, models))
    _refuse_repeated(path.name, [claim.name for claim in claims])
    return ClaimsFile(path, name, claims)


def _read_claim(folder: Path, models: Mapping[str, StatedModel], fields: Fields) -> StatedClaim:
    expected = _read_expected(fields)
    if not fields.has("epsilon") and (idle := [key for key in ("at", "positions") if fields.has(key)]):
        raise InputError(f"{fields.path(idle[0])} is given without an epsilon; leave it out")
    return StatedClaim(
        name=_CODEC.value(FolderName, fields, "name"),
        model=models[fields.one_of("model", models)],
        task=task_spec(fields.text("task"), folder),
        circuit=folder / fields.text("circuit") if fields.has("circuit") else None,
        properties=_read_properties(fields, tuple(expected)),
        place=_CODEC.record(Place, fields),
        expected=expected,
    )


def _read_expected(fields: Fields) -> Mapping[Kind, Verdict]:
    """Read the properties that are claimed, each with the verdict that is expected on it."""
    with reading_part(fields, "expected") as part:
        for key in part.keys():  # noqa: SIM118  # Fields is not a mapping
            if key not in list(Kind):
                raise InputError(f"{part.path(key)} is no property; known are {', '.join(Kind)}")
        found = {kind: part.choice(kind, Verdict) for kind in Kind if part.has(kind)}
    if not found:
        raise InputError(f"{part.where} is empty; give a property and its verdict")
    return found


def _read_properties(fields: Fields, kinds: Sequence[Kind]) -> tuple[Property, ...]:
    epsilon = fields.value("epsilon") if fields.has("epsilon") else None
    if epsilon is not None and not isinstance(epsilon, str | int):
        fields.rational("epsilon")  # which refuses what is neither
    try:
        return parse_properties(kinds, None if epsilon is None else str(epsilon), fields.where)
    except InputError as error:
        raise (
            error if str(error).startswith(fields.where) else InputError(f"{fields.where}: {error}")
        ) from error


def _refuse_repeated(where: str, names: Sequence[str]) -> None:
    if not names:
        raise InputError(f"{where}.claims is empty; state at least one claim")
    if repeated := [name for name in names if names.count(name) > 1]:
        raise InputError(f"{where} has two claims {repeated[0]!r}; give each a name of its own")
