"""The steps of calibrations: what is right, what is left when something is taken away, and what it costs."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp
from pathlib import Path

from circuitproof.errors import InputError
from circuitproof.text.codec import Codec, Count
from circuitproof.text.reading import Fields, read_fields, read_json

_CHOSEN = "chosen.json"
_MOST = 700
"""A loss beyond this is none that was measured; its exponential is still a float."""
_LADDER = ("base", "installed", "scalar", "diagonal", "readout")
"""The states of a calibration, from the model that was given to the one that trains the most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """How many prompts are decided right, with nothing and with something taken away, as a run wrote it."""

    heads: tuple[str, ...]
    """Which heads have or will have programs."""
    prompts: Count
    model: int
    circuit: int
    without_heads: int
    """The model with all of those heads silenced: the native backup route."""
    without_each: tuple[int, ...]
    """The model with each of those heads alone silenced."""
    circuit_without_each: tuple[int, ...]
    """The circuit with each of them alone silenced."""
    without_circuit: int
    """The model without any edge of the circuit."""
    backup: tuple[int, ...]
    """The prompts that the backup route covers."""
    wrong: tuple[int, ...]
    """The prompts that the model decides wrong."""


@dataclass(frozen=True, slots=True)
class Losses:
    """What a model loses on a text, with nothing and with something taken away."""

    model: float
    without_heads: float
    without_each: tuple[float, ...]
    without_circuit: float


@dataclass(frozen=True, slots=True)
class Lesioned:
    """How many prompts are right without something, and the perplexity on the text where there is one."""

    without: str
    model: int
    circuit: int | None
    """Of the circuit without it, if that was asked."""
    perplexity: float | None


@dataclass(frozen=True, slots=True)
class ErrorSets:
    """The prompts that a model decides wrong, beside those that are right without its program heads."""

    wrong: int
    uncovered: int
    """Prompts that are not right without the program heads."""
    both: int
    """Prompts that are wrong and not right without the program heads either."""


@dataclass(frozen=True, slots=True)
class Rung:
    """A step of a calibration: what is right, with and without its program heads, and what it cost."""

    task: str
    state: str
    prompts: int
    model: int
    circuit: int
    without_heads: int
    without_circuit: int
    lesions: tuple[Lesioned, ...]
    errors: ErrorSets
    perplexity: float | None
    radius: float
    seconds: float
    passes: bool
    why: str
    """Why it is the model of record; nothing for a rung that is not."""

    @property
    def place(self) -> str:
        """Return which step of which calibration it is."""
        return f"{self.task} {self.state}"


def read_rungs(folder: Path) -> list[Rung]:
    """Read the steps of the calibration that stands in a folder, in order, those of other names last."""
    return sorted(_rungs(folder), key=_step)


def _step(rung: Rung) -> int:
    return _LADDER.index(rung.state) if rung.state in _LADDER else len(_LADDER)


def _rungs(folder: Path) -> Iterator[Rung]:
    """Read what is a step of a calibration; other files are passed over."""
    chosen = _chosen(folder / _CHOSEN)
    for file in sorted(folder.glob("*.json")):
        content = read_json(file)
        if not isinstance(content, dict):
            continue
        fields = Fields(content, str(file))  # pyright: ignore[reportUnknownArgumentType]  # unread JSON
        if fields.has("audit") and fields.has("passes"):
            yield _rung(folder.name, fields, chosen)


def _chosen(file: Path) -> dict[str, str]:
    """Return the rung of record with the reason, if it was written down."""
    if not file.is_file():
        return {}
    fields = read_fields(file)
    return {fields.text("record"): fields.text("why")}


def _rung(task: str, fields: Fields, chosen: dict[str, str]) -> Rung:
    audit, state = read_audit(fields), fields.text("name")
    losses = _read_losses(fields, audit)
    return Codec().record(
        Rung,
        fields,
        task=task,
        state=state,
        prompts=audit.prompts,
        model=audit.model,
        circuit=audit.circuit,
        without_heads=audit.without_heads,
        without_circuit=audit.without_circuit,
        lesions=tuple(_lesions(audit, losses)),
        errors=error_sets(audit),
        perplexity=None if losses is None else perplexity(losses.model),
        why=chosen.get(state, ""),
    )


def read_audit(fields: Fields) -> Audit:
    """Read what stands at the key `audit`."""
    audit = Codec().record(Audit, fields.fields("audit"))
    for told in (audit.without_each, audit.circuit_without_each):
        _require_each(fields, len(audit.heads), len(told))
    return audit


def _read_losses(fields: Fields, audit: Audit) -> Losses | None:
    if fields.value("losses") is None:
        return None
    losses = Codec().value(Losses, fields, "losses")
    _require_each(fields, len(audit.heads), len(losses.without_each))
    return losses


def _require_each(fields: Fields, wanted: int, found: int) -> None:
    """Require that whatever is told of each program head alone is told of all of them."""
    if wanted != found:
        raise InputError(f"{fields.where} tells of {wanted} program heads and of {found}, want as many twice")


def perplexity(loss: float) -> float:
    """Return the perplexity of a loss, which a file may claim to be anything."""
    return exp(min(loss, _MOST))


def _lesions(audit: Audit, losses: Losses | None) -> Iterator[Lesioned]:
    """Return all program heads together, each alone where there are several, and the circuit's edges."""
    together, *each, gone = _perplexities(audit, losses)
    if len(audit.heads) == 1:
        yield Lesioned(audit.heads[0], audit.without_heads, audit.circuit_without_each[0], together)
    else:
        yield Lesioned("all program heads", audit.without_heads, None, together)
        counts = zip(audit.heads, audit.without_each, audit.circuit_without_each, each, strict=True)
        yield from (Lesioned(*one) for one in counts)
    yield Lesioned("the circuit", audit.without_circuit, None, gone)


def _perplexities(audit: Audit, losses: Losses | None) -> list[float | None]:
    if losses is None:
        return [None] * (len(audit.heads) + 2)
    return [*map(perplexity, (losses.without_heads, *losses.without_each, losses.without_circuit))]


def error_sets(audit: Audit) -> ErrorSets:
    wrong, backup = frozenset(audit.wrong), frozenset(audit.backup)
    return ErrorSets(len(wrong), audit.prompts - len(backup), len(wrong - backup))
