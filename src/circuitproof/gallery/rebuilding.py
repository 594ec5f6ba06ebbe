"""Rebuilding a row of the gallery: a folder with its claims file and the model made from its weights."""

from pathlib import Path

from circuitproof.claims.file import ClaimsFile, load_claims
from circuitproof.errors import InputError
from circuitproof.files.canonical import write_directory, write_files
from circuitproof.files.reading import read_bytes
from circuitproof.gallery.listed import GalleryModel

CLAIMS = "claims.toml"
PROOFS = "proofs"


def rebuild(row: GalleryModel, weights: Path, folder: Path) -> ClaimsFile:
    """Write a row's claims file, model and task into a folder, and return the claims file there.

    A folder that an earlier call wrote is taken as it is, so that what is proved in it stays.
    """
    if not folder.exists():
        write_directory(folder, lambda temporary: _fill(row, weights, temporary))
    elif not (folder / CLAIMS).is_file() or read_bytes(folder / CLAIMS) != row.claims()[CLAIMS]:
        raise InputError(f"{folder} is there and does not hold row {row.name!r}; choose another place")
    return load_claims(folder / CLAIMS)


def _fill(row: GalleryModel, weights: Path, folder: Path) -> None:
    row.fill()(weights, folder)
    write_files({folder / name: content for name, content in row.claims().items()})
    for claim in load_claims(folder / CLAIMS).claims:
        try:
            claim.model.refuse_other_weights()
        except InputError as error:
            raise InputError(
                f"{weights} does not give the weights that row {row.name!r} is about; {row.known_by}, "
                f"from {row.address}"
            ) from error
