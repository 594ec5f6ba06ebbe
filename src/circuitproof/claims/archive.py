"""One archive of a claims file, the files that it names, and all bundles: the same bytes each time."""

import gzip
import io
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from circuitproof.bundle.files import names_in
from circuitproof.claims.file import ClaimsFile
from circuitproof.claims.places import BUNDLE, RECORD, ProofFolder, is_meant, proofs_in
from circuitproof.errors import InputError
from circuitproof.files.canonical import digest_bytes, readable_json, write_file
from circuitproof.files.codec import to_json
from circuitproof.files.reading import read_bytes
from circuitproof.files.sealed import MANIFEST, check_seal

PROOFS = "proofs"
_SUFFIX = ".tar.gz"


def write_archive(file: ClaimsFile, folder: Path, out: Path) -> Mapping[str, bytes]:
    """Write the archive of a file whose claims are all proved in `folder`, and return its files by name.

    Models are not in it; the claims file has the SHA-256 of their weights.
    """
    if not out.name.endswith(_SUFFIX):
        raise InputError(f"{out} is no name of an archive, want one that ends in {_SUFFIX}")
    files = dict(sorted(_files(file, folder)))
    digests = {name: digest_bytes(content) for name, content in files.items()}
    files[MANIFEST] = readable_json({"files": to_json(digests)})
    write_file(out, _packed(file.name, files))
    return files


def _files(file: ClaimsFile, folder: Path) -> Iterator[tuple[str, bytes]]:
    yield file.path.name, read_bytes(file.path)
    for path in {path for claim in file.claims for path in claim.inputs()}:
        yield _name_beside(file.path, path), read_bytes(path)
    for proof in proofs_in(folder, file):
        yield from _proof_files(proof, f"{_proofs_name(file)}/{proof.claim.name}")


def _proofs_name(file: ClaimsFile) -> str:
    """Return the folder of the archive in which proofs stand: where the claims file looks for them."""
    return PROOFS if file.own_proofs is None else _name_beside(file.path, file.own_proofs)


def _name_beside(claims: Path, path: Path) -> str:
    """Return what a file is called from the folder of the claims file, below which it must be."""
    try:
        return path.resolve().relative_to(claims.parent.resolve()).as_posix()
    except ValueError as error:
        raise InputError(
            f"{path} is not below the folder of {claims}, so the archive would not find it; put it there"
        ) from error


def _proof_files(proof: ProofFolder, at: str) -> Iterator[tuple[str, bytes]]:
    if not proof.is_there:
        raise InputError(f"claim {proof.claim.name!r} is not proved in {proof.folder.parent}; prove it first")
    check_seal(proof.bundle, names_in(proof.bundle))
    if not is_meant(proof):
        raise InputError(f"{proof.folder} holds the proof of another claim; prove {proof.claim.name!r} first")
    for name in (RECORD, *(f"{BUNDLE}/{path.name}" for path in sorted(proof.bundle.iterdir()))):
        yield f"{at}/{name}".removeprefix("./"), read_bytes(proof.folder / name)


def _packed(top: str, files: Mapping[str, bytes]) -> bytes:
    """Return a compressed archive with names in order and without times, owners or the name of a file."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size = len(content)  # its mode is 0o644, as it is unless told
            tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()
