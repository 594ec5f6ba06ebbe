"""All claims of a file, proved and checked in one call."""

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from circuitproof.api.arguments import PathLike, Progress, paced, place_of, workers_at
from circuitproof.api.showing import show_as
from circuitproof.claims.checking import check_claims
from circuitproof.claims.checkpoints import ClaimsOverCheckpoints, claims_over, load_at_steps
from circuitproof.claims.file import OtherModel, load_claims
from circuitproof.claims.proving import prove_claims as prove_all
from circuitproof.claims.results import Claims
from circuitproof.claims.showing import claims_said
from circuitproof.nn.measuring import measured_after
from circuitproof.proof.effort import UNHURRIED

show_as(Claims, claims_said)
show_as(ClaimsOverCheckpoints, claims_said)


def prove_claims(  # noqa: PLR0913  # what is proved, and how
    file: PathLike,
    *,
    out: PathLike | None = None,
    where: Mapping[str, PathLike] | None = None,
    model: PathLike | None = None,
    instead_of: str | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Claims:
    """Prove every claim of a file that is not proved in `out` yet, and let the checker judge all of them.

    What is found has a `table` for a document and a `page`, and `is_expected` says whether every bundle holds
    and every verdict is that of the file. Without `out` the proofs stand where the file says, or in
    `build/NAME`.
    `where` has directories of models by their names in the file, in the place of those that it gives. A
    `model` takes the place of the file's only one, or `instead_of` one of several, and its claims are proved
    anew. Several `jobs` are processes that prove or check a claim each, a `cluster` is the address of a Ray
    cluster's head, whose processors prove.
    """
    other = None if model is None else OtherModel(Path(model), instead_of)
    workers = workers_at(jobs, cluster)
    stated, hear = load_claims(Path(file), _paths(where), other), paced(None, progress).hear
    folder = place_of(out) or stated.proofs

    def tell(_: str, done: int, total: int) -> None:
        hear("claims", done, total)

    prove_all(stated, folder, tell, workers=workers, force=force, measure=measured_after)
    return Claims(stated.name, check_claims(stated, folder, workers=workers, hear=UNHURRIED.hear))


def claims_over_checkpoints(  # noqa: PLR0913  # what is proved, and how
    file: PathLike,
    checkpoints: Sequence[PathLike],
    *,
    instead_of: str | None = None,
    where: Mapping[str, PathLike] | None = None,
    out: PathLike | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> ClaimsOverCheckpoints:
    """Prove and check the claims of a file on every checkpoint of a training, in the order of their steps.

    The step is the last number in a directory's name. `first` says from which step on a claim holds; `out`
    keeps the proofs. `jobs` and `cluster` are as for `prove_claims`.
    """
    workers = workers_at(jobs, cluster)
    files = load_at_steps(Path(file), _paths(where), [Path(one) for one in checkpoints], instead_of)
    place = place_of(out)
    with nullcontext(str(place)) if place else tempfile.TemporaryDirectory() as folder:
        return claims_over(files, Path(folder), paced(None, progress).hear, workers=workers)


def _paths(where: Mapping[str, PathLike] | None) -> Mapping[str, Path]:
    return {name: Path(path) for name, path in (where or {}).items()}
