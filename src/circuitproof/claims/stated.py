"""What a claims file states: models with the SHA-256 of their weights, and claims with expected verdicts."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from circuitproof.circuits.graph import Graph
from circuitproof.circuits.spelling import load_circuit
from circuitproof.errors import CircuitproofError, InputError
from circuitproof.files.canonical import Digest, digest_file
from circuitproof.files.codec import FolderName
from circuitproof.forward.frozen import Frozen, open_model
from circuitproof.models.declaration import WEIGHTS
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.agreement import Agreement
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.lesion_identity import LesionIdentity, identity_with
from circuitproof.proof.properties.minimum import Minimum
from circuitproof.proof.properties.property import Property
from circuitproof.proof.verdict import Verdict
from circuitproof.tasks.loading import is_task_file
from circuitproof.verbs.asked import asked_model
from circuitproof.verbs.verification import PerturbationSite, Request, claim_of


@dataclass(frozen=True, slots=True)
class StatedModel:
    """A model directory, and the SHA-256 that its weights file must have."""

    path: Path | None = None
    """Where it is; nothing if it is not at hand."""
    sha256: Digest | None = None

    @property
    def is_at_hand(self) -> bool:
        return self.path is not None

    def directory(self) -> Path:
        """Return where the model is, whose weights must be those that are meant."""
        if self.path is None:
            raise InputError("its model is not at hand: give a path in the claims file, or --where NAME=DIR")
        self.refuse_other_weights()
        return self.path

    def refuse_other_weights(self) -> None:
        """Refuse a model directory whose weights are not those that are meant."""
        if self.path is None or self.sha256 is None:
            return
        file = self.path / WEIGHTS
        if (found := digest_file(file)) != self.sha256:
            raise InputError(
                f"{file} has SHA-256 {found}, the claims file wants {self.sha256}; give that model"
            )


@dataclass(frozen=True, slots=True)
class StatedFewest:
    """Which circuits are said to have the fewest edges, and how many may be tried to prove it."""

    circuits: tuple[Path, ...]
    budget: int

    def open(self, graph: Graph) -> Minimum:
        """Read the circuits; a model of other edges is refused where the claim is put together."""
        circuits = tuple(map(load_circuit, self.circuits))
        if other := [file for file, one in zip(self.circuits, circuits, strict=True) if one.graph != graph]:
            raise InputError(f"{other[0]} is a circuit of a model of other sizes; give one of this model")
        return Minimum(circuits)

    def refuse_costly(self, claim: Claim) -> None:
        """Refuse a claim about more circuits of some size than may be tried."""
        for size in range(len(claim.circuit) + 1):
            if len(claim.among().contenders(claim.edges(), size, self.budget + 1)) > self.budget:
                raise InputError(
                    f"minimum is about more than {self.budget} circuits of {size} edges; give a larger budget"
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
    """Those that can be told without the model; `agrees_with`, `fewest` and `base` are of the others."""
    place: PerturbationSite
    agrees_with: Path | None = None
    """The other circuit of agreement, if it is claimed."""
    fewest: StatedFewest | None = None
    """Of the minimum, if it is claimed."""
    base: StatedModel | None = None
    """Of the lesion identity, if it is claimed: the model that this one was built on."""
    expected: Mapping[Kind, Verdict]
    is_detached: bool = False
    """Whether its bundle names the tensors of the model and holds none."""
    measures_floats: bool = False
    """Whether floats are asked too, once it is proved, for the column that says whether a run could tell."""
    position: int | None = None
    """Where prompts are decided, where it is not the task that says it."""
    operations: int | None = None
    """How much work the checker may do; without it as much as is usual for a bundle of its size."""

    @property
    def is_at_hand(self) -> bool:
        """Say whether every model that it speaks of is there."""
        return self.model.is_at_hand and (self.base is None or self.base.is_at_hand)

    def is_about(self, model: StatedModel) -> bool:
        """Say whether it speaks of this very model of its file, be it as the base."""
        return any(one is model for one in (self.model, self.base))

    def beside(self) -> tuple[Path | None, Path | None]:
        """Return where model and base are that a bundle is compared with, as far as they are at hand."""
        base = None if self.base is None else self.base.path
        return (
            None if self.model.path is None else self.model.path.absolute(),
            None if base is None else base.absolute(),
        )

    def inputs(self) -> tuple[Path, ...]:
        """Return the files that it is read from, apart from models."""
        task = (Path(self.task),) if is_task_file(self.task) else ()
        fewest = () if self.fewest is None else self.fewest.circuits
        circuits = (one for one in (self.circuit, self.agrees_with) if one is not None)
        return (*task, *circuits, *fewest)

    def open(self, model: Frozen | None = None, identity: LesionIdentity | None = None) -> Claim:
        """Open model, base, task and circuits, which must be those that are meant and fit together.

        A `model` or an `identity` that is given is taken for the one that is meant.
        """
        try:
            frozen = asked_model(model or self.model.directory())
            return claim_of(
                Request(
                    model=frozen,
                    circuit=self.circuit,
                    task=self.task,
                    properties=(*self.properties, *self._of_model(frozen, identity)),
                    place=self.place,
                    position=self.position,
                )
            )
        except CircuitproofError as error:
            raise InputError(f"claim {self.name!r}: {error}") from error

    def _of_model(self, frozen: Frozen, identity: LesionIdentity | None) -> tuple[Property, ...]:
        """Return the properties that speak of circuits of the model, or of its base."""
        other = () if self.agrees_with is None else (Agreement(load_circuit(self.agrees_with, frozen.graph)),)
        fewest = () if self.fewest is None else (self.fewest.open(frozen.graph),)
        if self.base is None:
            return (*other, *fewest)
        return (*other, *fewest, identity or identity_with(open_model(self.base.directory()), frozen))

    def refuse_costly(self, claim: Claim) -> None:
        """Refuse to begin what would take more than the claims file allows."""
        if self.fewest is None:
            return
        try:
            self.fewest.refuse_costly(claim)
        except InputError as error:
            raise InputError(f"claim {self.name!r}: {error}") from error
