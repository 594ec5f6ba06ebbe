"""What is said of all claims of a file: one table, and what is not as it should be."""

from collections.abc import Iterator
from typing import assert_never

from circuitproof.claims.checkpoints import ClaimsOnModel, ClaimsOverCheckpoints
from circuitproof.claims.results import Claims
from circuitproof.claims.tables import short_table
from circuitproof.reports.said import Said, Table


def claims_said(found: Claims | ClaimsOnModel | ClaimsOverCheckpoints) -> Iterator[Said]:
    """Return a row for each claim, and what its verdicts come to; of checkpoints a row for each of them."""
    match found:
        case Claims(name, claims):
            yield short_table(name, claims)
            yield from found.summary()
        case ClaimsOnModel(model, Claims(name, claims)):
            yield short_table(f"{name} on {model}", claims)
            yield from found.summary()
        case ClaimsOverCheckpoints():
            yield from _over_checkpoints(found)
        case _:
            assert_never(found)


def _over_checkpoints(found: ClaimsOverCheckpoints) -> Iterator[Said]:
    """Return how many verdicts are as expected at each step, and from which on each claim holds."""
    yield Table(f"{found.name}: verdicts as expected", ("step#", *found.claims), tuple(_step_rows(found)))
    columns = ("claim", "holds from step#", "held before, and was lost")
    yield Table(
        f"{found.name}: first steps", columns, tuple(_first_row(found, name) for name in found.claims)
    )
    for sentence in found.models[-1].found.sentences():
        yield f"at the last step, {found.steps[-1]}: {sentence}"


def _step_rows(found: ClaimsOverCheckpoints) -> Iterator[tuple[str, ...]]:
    for step, one in zip(found.steps, found.models, strict=True):
        wanted = [len(claim.claim.expected) for claim in one.found.claims]
        changed = [len(claim.changed_kinds) for claim in one.found.claims]
        yield (f"{step}", *(f"{all_ - lost} of {all_}" for all_, lost in zip(wanted, changed, strict=True)))


def _first_row(found: ClaimsOverCheckpoints, claim: str) -> tuple[str, str, str]:
    first, lost = found.first(claim), found.lost(claim)
    return (claim, "never" if first is None else f"{first}", ", ".join(map(str, lost)))
