"""Reading `claims.toml`: models, claims about them, and where the proofs are."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from pathlib import Path

from circuitproof.claims.stated import StatedClaim, StatedFewest, StatedModel
from circuitproof.errors import InputError
from circuitproof.files.codec import Codec, FolderName
from circuitproof.files.reading import Fields, read_toml, reading, reading_part
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.property import Property
from circuitproof.proof.verdict import Verdict
from circuitproof.tasks.loading import task_spec
from circuitproof.verbs.verification import PerturbationSite, parse_properties

_CODEC = Codec()
_OF_MODEL = (Kind.AGREEMENT, Kind.MINIMUM, Kind.LESION_IDENTITY)
"""Properties that speak of more than the claim's own circuit."""
_BUDGET = 5000
"""The most circuits of a size that are tried for a minimum, unless told."""


@dataclass(frozen=True, slots=True)
class OtherModel:
    """A model that takes the place of one of a claims file, to see which claims hold of it too."""

    path: Path
    instead_of: str | None = None
    """The name of the one in the file; it may be left out where the file has a single model."""


@dataclass(frozen=True, slots=True)
class ClaimsFile:
    """A claims file that was read."""

    path: Path
    name: FolderName
    claims: tuple[StatedClaim, ...]
    own_proofs: Path | None
    """Where it says that the proofs are."""
    given: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """Directories that were given for some of the models."""
    other: OtherModel | None = None
    """The model that its claims are about instead, if there is one."""

    @property
    def proofs(self) -> Path:
        """Return where the proofs are, unless told otherwise; those about another model stand apart."""
        if self.other is not None:
            return Path("build") / f"{self.name}-on-{self.other.path.resolve().name}"
        return self.own_proofs or Path("build") / self.name

    def only(self, names: Collection[str]) -> "ClaimsFile":
        """Return the same file with the claims of these names alone; without names, with all of them."""
        known = [claim.name for claim in self.claims]
        if unknown := [name for name in names if name not in known]:
            raise InputError(f"{self.path} has no claim {unknown[0]!r}; it has {', '.join(known)}")
        return replace(self, claims=tuple(one for one in self.claims if not names or one.name in names))


def load_claims(
    path: Path, given: Mapping[str, Path] | None = None, other: OtherModel | None = None
) -> ClaimsFile:
    """Read a claims file; paths in it are relative to its own folder.

    The directories that are `given` for models of it take the place of those that it names. An `other` model
    takes the place of one of them, with whatever weights; only claims about that one are left then.
    """
    codec = _CODEC.knowing({Path: lambda fields, key: path.parent / fields.text(key)})
    placed = given or {}
    with reading(read_toml(path), path.name) as fields:
        name = codec.value(FolderName, fields, "name")
        proofs = path.parent / fields.text("proofs") if fields.has("proofs") else None
        models = _read_models(codec, fields, placed)
        replaced = None if other is None else _replaced(fields, models, placed, other)
        models |= {} if other is None or replaced is None else {replaced: StatedModel(other.path)}
        claims = fields.each("claims", partial(_read_claim, path.parent, models))
    _refuse_repeated(path.name, [claim.name for claim in claims])
    about = claims if replaced is None else tuple(one for one in claims if one.is_about(models[replaced]))
    if not about:
        raise InputError(f"{path.name} has no claim about model {replaced!r}; give --instead-of another")
    return ClaimsFile(path, name, about, proofs, placed, other)


def _read_models(codec: Codec, fields: Fields, given: Mapping[str, Path]) -> dict[str, StatedModel]:
    """Read the models, of which those that are `given` stand elsewhere than the file says."""
    found = codec.value(Mapping[str, StatedModel], fields, "models")
    for name in given:
        _refuse_unknown(fields, found, f"--where {name}", name)
    if unpinned := [name for name, one in found.items() if one.is_at_hand and one.sha256 is None]:
        raise InputError(f"{fields.path('models')}.{unpinned[0]}.sha256 is missing; add it")
    return {name: replace(one, path=given.get(name, one.path)) for name, one in found.items()}


def _replaced(
    fields: Fields, models: Mapping[str, StatedModel], given: Mapping[str, Path], other: OtherModel
) -> str:
    """Return the name of the model whose place another one takes."""
    if other.instead_of is None and len(models) > 1:
        raise InputError(
            f"{fields.where} has models {', '.join(models)}; say by --instead-of NAME which of them "
            f"{other.path} takes the place of"
        )
    name = other.instead_of or next(iter(models), "")
    _refuse_unknown(fields, models, f"--instead-of {name}", name)
    if name in given:
        raise InputError(f"--where {name} says where it is, but {other.path} takes its place; give one")
    return name


def _refuse_unknown(fields: Fields, models: Mapping[str, StatedModel], said: str, name: str) -> None:
    if name not in models:
        known = ", ".join(models) or "none"
        raise InputError(f"{said}: {fields.where} has no such model; it has {known}")


def _read_claim(folder: Path, models: Mapping[str, StatedModel], fields: Fields) -> StatedClaim:
    expected = _read_expected(fields)
    if not fields.has("epsilon") and (idle := [key for key in ("at", "positions") if fields.has(key)]):
        raise InputError(f"{fields.path(idle[0])} is given without an epsilon; leave it out")
    return StatedClaim(
        name=_CODEC.value(FolderName, fields, "name"),
        model=models[fields.one_of("model", models)],
        task=task_spec(fields.text("task"), folder),
        circuit=folder / fields.text("circuit") if fields.has("circuit") else None,
        properties=_read_properties(fields, [kind for kind in expected if kind not in _OF_MODEL]),
        place=_CODEC.record(PerturbationSite, fields),
        agrees_with=_read_other(folder, fields, expected),
        fewest=_read_fewest(folder, fields, expected),
        base=_read_base(models, fields, expected),
        expected=expected,
        is_detached=fields.has("detached") and fields.boolean("detached"),
        measures_floats=fields.has("measure_floats") and fields.boolean("measure_floats"),
        position=fields.integer("position", least=-inf) if fields.has("position") else None,
        operations=fields.integer("operations", least=1) if fields.has("operations") else None,
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
    bounds = fields.texts("bounds") if fields.has("bounds") else ()
    epsilon = fields.value("epsilon") if fields.has("epsilon") else None
    if epsilon is not None and not isinstance(epsilon, str | int):
        fields.rational("epsilon")  # which refuses what is neither
    if not kinds and epsilon is None and not bounds:
        return ()
    if not kinds:
        idle = "bounds are given, but what they are of" if bounds else "an epsilon is given, but robustness"
        raise InputError(f"{fields.where}: {idle} is not among what is expected")
    try:
        size = None if epsilon is None else str(epsilon)
        return parse_properties(kinds, size, fields.where, bounds=bounds)
    except InputError as error:
        raise (
            error if str(error).startswith(fields.where) else InputError(f"{fields.where}: {error}")
        ) from error


def _read_other(folder: Path, fields: Fields, expected: Collection[Kind]) -> Path | None:
    """Read the circuit that agreement is claimed with."""
    if Kind.AGREEMENT not in expected:
        _refuse_idle(fields, Kind.AGREEMENT, "agrees_with")
        return None
    if not fields.has("agrees_with"):
        raise InputError(f"{fields.where}: agreement wants agrees_with, the file of another circuit")
    return folder / fields.text("agrees_with")


def _read_fewest(folder: Path, fields: Fields, expected: Collection[Kind]) -> StatedFewest | None:
    """Read what a claim of the minimum names: circuits of the fewest edges, its own if it names none."""
    if Kind.MINIMUM not in expected:
        _refuse_idle(fields, Kind.MINIMUM, "minimum", "budget")
        return None
    if not fields.has("circuit"):
        raise InputError(f"{fields.where}: minimum wants a circuit, one of those with the fewest edges")
    named = fields.texts("minimum") if fields.has("minimum") else (fields.text("circuit"),)
    budget = fields.integer("budget", least=1) if fields.has("budget") else _BUDGET
    return StatedFewest(tuple(folder / name for name in named), budget)


def _read_base(
    models: Mapping[str, StatedModel], fields: Fields, expected: Collection[Kind]
) -> StatedModel | None:
    """Read the model that a lesion identity is claimed with."""
    if Kind.LESION_IDENTITY not in expected:
        _refuse_idle(fields, Kind.LESION_IDENTITY, "base")
        return None
    if not fields.has("base"):
        raise InputError(f"{fields.where}: lesion identity wants a base, the model that it was built on")
    return models[fields.one_of("base", models)]


def _refuse_idle(fields: Fields, kind: Kind, *keys: str) -> None:
    """Refuse keys that do nothing unless a property is claimed."""
    if idle := [key for key in keys if fields.has(key)]:
        raise InputError(f"{fields.path(idle[0])} is given, but {kind} is not expected; leave it out")


def _refuse_repeated(where: str, names: Sequence[str]) -> None:
    if not names:
        raise InputError(f"{where}.claims is empty; state at least one claim")
    if repeated := [name for name in names if names.count(name) > 1]:
        raise InputError(f"{where} has two claims {repeated[0]!r}; give each a name of its own")
