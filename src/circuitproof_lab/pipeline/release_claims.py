"""The claims file of a release, as text."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from circuitproof.bundle.opening import Answered
from circuitproof.files.canonical import Digest
from circuitproof.files.reading import write_rational
from circuitproof.proof.properties.robustness import Robustness


@dataclass(frozen=True, slots=True)
class ReleasedModel:
    """A model of a release, and the SHA-256 of its weights."""

    name: str
    weights: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedClaim:
    """A claim of a release: its circuit and its task stand under its own name."""

    name: str
    model: str
    base: str | None
    answers: tuple[Answered, ...]
    operations: int | None
    """How much work the checker is allowed, where that is more than it allows by itself."""


def claims_text(name: str, models: Sequence[ReleasedModel], claims: Sequence[ReleasedClaim]) -> str:
    """Return a claims file whose proofs stand beside it."""
    made = "# Made by circuitproof release from a finished circuitproof run; see release.json."
    head = f'{made}\nname = {json.dumps(name)}\nproofs = "."\n'
    return "\n".join([head, *map(_model, models), *map(_claim, claims)])


def _model(one: ReleasedModel) -> str:
    return f'[models.{one.name}]\npath = "models/{one.name}"\nsha256 = "{one.weights}"\n'


def _claim(one: ReleasedClaim) -> str:
    return "".join(f"{line}\n" for line in _claim_lines(one))


def _claim_lines(one: ReleasedClaim) -> Iterator[str]:
    yield "[[claims]]"
    yield f'name = "{one.name}"'
    yield f'model = "{one.model}"'
    if one.base is not None:
        yield f'base = "{one.base}"'
    yield f'task = "tasks/{one.name}.json"'
    yield f'circuit = "circuits/{one.name}.json"'
    if one.operations is not None:
        yield f"operations = {one.operations}"
    for answer in one.answers:
        if isinstance(answer.prop, Robustness):
            yield f'epsilon = "{write_rational(answer.prop.epsilon)}"'
    yield "[claims.expected]"
    for answer in one.answers:
        yield f'"{answer.prop.kind}" = "{answer.verdict}"'
