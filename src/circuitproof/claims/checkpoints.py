"""The claims of a file on other models: what changes on one, and from which checkpoint on a claim holds."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from circuitproof.claims.checking import check_claims
from circuitproof.claims.file import ClaimsFile, OtherModel, load_claims
from circuitproof.claims.proving import prove_claims
from circuitproof.claims.results import Claims
from circuitproof.errors import ExitCode, InputError
from circuitproof.files.canonical import Json
from circuitproof.files.codec import to_json
from circuitproof.proof.effort import UNHURRIED
from circuitproof.workers import SERIAL, Division

_NUMBER = re.compile(r"\d+")
_BROKEN = (ExitCode.FAILURE, ExitCode.INVALID)
"""What no later checkpoint makes good: these say nothing about the model."""


@dataclass(frozen=True, slots=True)
class ClaimsOnModel:
    """The claims of a file, proved anew on another model and judged by the checker."""

    model: Path
    found: Claims

    @property
    def exit_code(self) -> ExitCode:
        return self.found.exit_code

    def summary(self) -> Iterator[str]:
        """Say claim by claim what changed, and how much did."""
        yield from self.found.summary()
        asked = [one for one in self.found.claims if one.changed_kinds]
        changed = sum(len(one.changed_kinds) for one in asked)
        verdicts = sum(len(one.claim.expected) for one in self.found.claims)
        yield (
            f"{changed} of {verdicts} verdicts changed on {self.model}, "
            f"in {len(asked)} of {len(self.found.claims)} claims"
        )

    def to_json(self) -> dict[str, Json]:
        return {"model": str(self.model), **self.found.to_json()}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model on the way of a training, and after which step it was kept."""

    step: int
    model: Path


@dataclass(frozen=True, slots=True)
class ClaimsOverCheckpoints:
    """The claims of a file on the checkpoints of a training, the first step first."""

    name: str
    steps: tuple[int, ...]
    models: tuple[ClaimsOnModel, ...]

    @property
    def claims(self) -> tuple[str, ...]:
        return tuple(one.claim.name for one in self.models[0].found.claims)

    def held(self, claim: str) -> tuple[int, ...]:
        """Return the steps at which every verdict on a claim is as expected."""
        place = self.claims.index(claim)
        codes = [one.found.claims[place].exit_code for one in self.models]
        return tuple(step for step, code in zip(self.steps, codes, strict=True) if code is ExitCode.GOOD)

    def first(self, claim: str) -> int | None:
        """Return the first step from which on a claim holds at all of them; nothing where the last fails."""
        held = self.held(claim)
        lasting = [*takewhile(held.__contains__, reversed(self.steps))]
        return lasting[-1] if lasting else None

    def lost(self, claim: str) -> tuple[int, ...]:
        """Return the steps at which a claim holds, and at a later one does not."""
        first = self.first(claim)
        return tuple(step for step in self.held(claim) if first is None or step < first)

    @property
    def exit_code(self) -> ExitCode:
        """Return how it ends: as the last checkpoint does, unless at some step nothing could be judged."""
        broken = [one.exit_code for one in self.models if one.exit_code in _BROKEN]
        return broken[0] if broken else self.models[-1].exit_code

    def to_json(self) -> Json:
        return {
            "name": self.name,
            "exit": int(self.exit_code),
            "first": to_json({claim: self.first(claim) for claim in self.claims}),
            "held": to_json({claim: self.held(claim) for claim in self.claims}),
            "checkpoints": [
                {"step": step, **one.to_json()} for step, one in zip(self.steps, self.models, strict=True)
            ],
        }


def checkpoints_of(models: Sequence[Path]) -> tuple[Checkpoint, ...]:
    """Return models in the order of their steps, which are the last numbers in their names."""
    found: dict[int, Path] = {}
    for model in models:
        numbers = _NUMBER.findall(model.absolute().name)
        if not numbers:
            raise InputError(
                f"{model} has no number in its name, want the step, as in step-000200; rename it"
            )
        if (step := int(numbers[-1])) in found:
            raise InputError(f"{found[step]} and {model} are both of step {step}; give each step once")
        found[step] = model
    return tuple(Checkpoint(step, found[step]) for step in sorted(found))


def claims_on(
    file: ClaimsFile,
    folder: Path,
    hear: Callable[[str, int, int], None] = UNHURRIED.hear,
    *,
    workers: Division = SERIAL,
) -> ClaimsOnModel:
    """Prove the claims of a file whose model is another one into `folder`, and judge them."""
    assert file.other is not None  # noqa: S101  # the caller names it
    prove_claims(file, folder, hear, workers=workers)
    found = check_claims(file, folder, workers=workers, hear=UNHURRIED.hear)
    return ClaimsOnModel(file.other.path, Claims(file.name, found))


def claims_over(
    files: Mapping[int, ClaimsFile],
    folder: Path,
    hear: Callable[[str, int, int], None],
    *,
    workers: Division = SERIAL,
) -> ClaimsOverCheckpoints:
    """Prove and judge the claims of a file at every step; bad input is refused before anything is proved."""
    for file in files.values():
        for claim in file.claims:
            claim.open()
    total, models = sum(len(file.claims) for file in files.values()), list[ClaimsOnModel]()
    for step, file in files.items():
        before = sum(len(one.found.claims) for one in models)

        def tell(name: str, done: int, _: int, step: int = step, before: int = before) -> None:
            hear(f"step {step} {name}", before + done, total)

        models.append(claims_on(file, folder / f"{step}", tell, workers=workers))
    return ClaimsOverCheckpoints(next(iter(files.values())).name, tuple(files), tuple(models))


def load_at_steps(
    path: Path, given: Mapping[str, Path], models: Sequence[Path], instead_of: str | None
) -> Mapping[int, ClaimsFile]:
    """Read a claims file for each checkpoint, which takes the place of one of its models."""
    return {
        one.step: load_claims(path, given, OtherModel(one.model, instead_of))
        for one in checkpoints_of(models)
    }
