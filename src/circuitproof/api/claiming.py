"""All claims of a file, proved and checked in one call."""

from collections.abc import Mapping
from pathlib import Path

from circuitproof.api.arguments import PathLike, Progress, paced, place_of
from circuitproof.api.showing import show_as
from circuitproof.claims.checking import check_claims
from circuitproof.claims.file import load_claims
from circuitproof.claims.proving import prove_claims as prove_all
from circuitproof.claims.results import Claims
from circuitproof.claims.showing import claims_said
from circuitproof.proof.effort import UNHURRIED

show_as(Claims, claims_said)


def prove_claims(  # noqa: PLR0913  # what is proved, and how
    file: PathLike,
    *,
    out: PathLike | None = None,
    models: Mapping[str, PathLike] | None = None,
    jobs: int = 1,
    force: bool = False,
    progress: Progress | None = None,
) -> Claims:
    """Prove every claim of a file that is not proved in `out` yet, and let the checker judge all of them.

    What is found has a `table` for a document and a `page`, and `is_expected` says whether every bundle holds
    and every verdict is that of the file. Without `out` the proofs stand where the file says, or in
    `build/NAME`.
    `models` are directories of models by their names in the file, in the place of those that it gives.
    """
    given = {name: Path(path) for name, path in (models or {}).items()}
    stated, hear = load_claims(Path(file), given), paced(None, progress).hear
    folder = place_of(out) or stated.proofs
    prove_all(stated, folder, lambda _, done, total: hear("claims", done, total), jobs=jobs, force=force)
    return Claims(stated.name, check_claims(stated, folder, jobs=jobs, hear=UNHURRIED.hear))
