"""What a study of a language model wrote: does the model do it, programs, healing, what lies beyond."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from circuitproof.declare.programs.lines import parse_lines
from circuitproof.declare.tasks.names import TokenNames
from circuitproof.errors import InputError
from circuitproof.forward.declaration import DECLARATION, Declaration, read_declaration
from circuitproof.text.codec import Codec, Count
from circuitproof.text.reading import Fields, long_numbers, read_fields, scientific
from circuitproof.view.rungs import Audit, perplexity, read_audit
from circuitproof.view.words import program_lines

_VIABILITY, _BEYOND, _HEALED = "viability.json", "beyond.json", "healed.json"
_QUALITY, _ACCEPTED, _EXTRACTED = "base.json", "accepted.json", "circuit.json"
_SEARCH, _AGAIN = "program.*.json", "programs.circuit.json"
_CODEC = Codec()


@dataclass(frozen=True, slots=True)
class Quality:
    """The base on held-out text, and what an artifact of it may have there."""

    perplexity: float
    budget: float


@dataclass(frozen=True, slots=True)
class Stratum:
    """The prompts of a template that share some words, or a declared stratum, as the model decides them."""

    name: str
    prompts: Count
    right: int

    @property
    def is_right(self) -> bool:
        return self.right == self.prompts


@dataclass(frozen=True, slots=True, kw_only=True)
class Viability:
    """What a model decides on the pool of a task, and what is left of the pool."""

    task: str
    strata: tuple[Stratum, ...]
    kept: tuple[str, ...]
    """The strata that stay."""
    left: int
    """How many prompts stay, as many of each opener or answer."""
    wanted: Count
    narrowing: str
    """The rule by which strata go."""
    least: Count
    """With fewer prompts left of one of its openers, a template goes."""

    @property
    def is_viable(self) -> bool:
        """Say whether enough prompts stay."""
        return self.left >= self.wanted

    @property
    def prompts(self) -> int:
        """Return how large the pool is."""
        return sum(one.prompts for one in self.strata)

    @property
    def right(self) -> int:
        """Return how many prompts of the pool are decided right."""
        return sum(one.right for one in self.strata)

    @property
    def sentence(self) -> str:
        """Say in a sentence what stays, and which strata do not."""
        wrong_ones = [one for one in self.strata if not one.is_right]
        failing = [f"{self.shown_stratum(one.name)} ({one.prompts - one.right})" for one in wrong_ones]
        wrong = f"; wrong in {', '.join(failing)}" if failing else ""
        return (
            f"{self.task}: {self.right} of {self.prompts} prompts decided right{wrong}; {len(self.kept)} of "
            f"{len(self.strata)} strata stay with {self.left} balanced prompts, {self.wanted} are wanted"
        )

    def shown_stratum(self, name: str) -> str:
        """Return how the name of a stratum is shown, where strata are called by tokens."""
        return TokenNames({place: one.name for place, one in enumerate(self.strata)}).stratum(name)

    @property
    def dropped(self) -> tuple[Stratum, ...]:
        return tuple(one for one in self.strata if one.name not in self.kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedHead:
    """What became of the search for one head's program."""

    layer: int
    index: int
    program: tuple[str, ...] | None
    overlap: float | None
    meanings: int
    tried: int
    seconds: float
    told: tuple[str, ...]
    """The program's lines, with what its tokens are where that is known; or that there is none."""

    @property
    def head(self) -> str:
        return f"head {self.layer}.{self.index}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """The programs that were looked for on a task's domain, and what the circuit decides with them."""

    task: str
    searches: tuple[SearchedHead, ...]
    extracted: int | None
    """How many edges were extracted on the whole domain."""
    exact: int | None
    """How many prompts the circuit decides right with the programs, in exact arithmetic."""
    prompts: int | None
    again: tuple[str, ...] | None
    """The edges that are left when the circuit is extracted again among the programs."""

    def is_read(self, search: SearchedHead) -> bool:
        """Say whether a head is still read in the end."""
        return any(edge.startswith(f"{search.head} ->") for edge in self.again or ())


@dataclass(frozen=True, slots=True)
class Healing:
    """A model that was trained as a whole to use its programs."""

    task: str
    steps: int
    audit: Audit
    perplexity: float
    is_within_budget: bool
    uses_programs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Beyond:
    """What is proved of every prompt of a pattern, and where that ends."""

    task: str
    pattern: str
    prompts: str
    verdicts: Mapping[str, str]
    cells: int
    failing: int
    proved_parts: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Study:
    """What there is of a study in a run folder."""

    quality: Quality | None
    viabilities: tuple[Viability, ...]
    programs: tuple[Programs, ...]
    healings: tuple[Healing, ...]
    beyonds: tuple[Beyond, ...]


def read_study(path: Path) -> Study:
    """Read what a study wrote into a run folder, wherever it stands; nothing of another run."""
    folders = dict.fromkeys(file.parent for file in sorted(path.rglob(_SEARCH)))
    model = _model(path) if folders else None
    return Study(
        _quality(path / _QUALITY),
        tuple(_CODEC.record(Viability, read_fields(file)) for file in sorted(path.rglob(_VIABILITY))),
        tuple(_programs(folder, model) for folder in folders),
        tuple(map(_healing, sorted(path.rglob(_HEALED)))),
        tuple(map(_beyond, sorted(path.rglob(_BEYOND)))),
    )


def _quality(file: Path) -> Quality | None:
    if not file.is_file():
        return None
    fields = read_fields(file)
    return Quality(*(perplexity(_CODEC.value(float, fields, key)) for key in ("loss", "budget")))


def _model(path: Path) -> Declaration | None:
    """Return what the first model of a run that names its tokens says; all have the same, some no names."""
    found = (read_declaration(file.parent) for file in sorted(path.rglob(DECLARATION)))
    return next((one for one in found if one.alphabet is not None), None)


def _programs(folder: Path, model: Declaration | None) -> Programs:
    accepted = read_fields(folder / _ACCEPTED) if (folder / _ACCEPTED).is_file() else None
    extracted = _edges(folder / _EXTRACTED)
    searches = (_search(read_fields(file), model) for file in folder.glob(_SEARCH))
    return Programs(
        task=folder.name,
        searches=tuple(sorted(searches, key=lambda one: (one.layer, one.index))),
        extracted=None if extracted is None else len(extracted),
        exact=None if accepted is None else accepted.integer("exact"),
        prompts=None if accepted is None else accepted.integer("prompts"),
        again=_edges(folder / _AGAIN),
    )


def _search(fields: Fields, model: Declaration | None) -> SearchedHead:
    found = _CODEC.record(SearchedHead, fields, told=("none in bounds",))
    return found if found.program is None else replace(found, told=_told(found.program, model))


def _told(program: tuple[str, ...], model: Declaration | None) -> tuple[str, ...]:
    """Return the lines of a program, with what its tokens are where a model names them."""
    if model is None or model.alphabet is None:
        return program
    try:
        parsed = parse_lines(program, "program", model.architecture.vocabulary)
    except InputError:  # a stranger's run may hold anything, which is shown as it is
        return program
    return tuple(program_lines(model.alphabet.named(), parsed))


def _edges(file: Path) -> tuple[str, ...] | None:
    return read_fields(file).texts("edges") if file.is_file() else None


def _healing(file: Path) -> Healing:
    fields = read_fields(file)
    return _CODEC.record(
        Healing,
        fields,
        task=file.parents[1].name,
        audit=read_audit(fields),
        perplexity=perplexity(_CODEC.value(float, fields, "loss")),
        is_within_budget=fields.boolean("within_budget"),
    )


def _beyond(file: Path) -> Beyond:
    fields = read_fields(file)
    with long_numbers():
        prompts = scientific(int(fields.rational("prompts")))
    return _CODEC.record(Beyond, fields, task=file.parents[1].name, prompts=prompts)
