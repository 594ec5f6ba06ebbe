"""Directories whose manifest holds the digest of every file, so that what is read is what was written."""

from collections.abc import Mapping
from pathlib import Path

from circuitproof.errors import InputError
from circuitproof.files.canonical import (
    MANIFEST,
    Digest,
    digest_bytes,
    digest_file,
    readable_json,
    write_directory,
    write_file,
    write_files,
)
from circuitproof.files.codec import Codec, to_json
from circuitproof.files.reading import read_json, reading


def write_sealed(path: Path, files: Mapping[str, bytes]) -> None:
    """Write a new directory of `files` and their manifest; it appears whole or not at all."""
    digests = {name: digest_bytes(content) for name, content in sorted(files.items())}
    whole = {**files, MANIFEST: readable_json({"files": to_json(digests)})}
    write_directory(path, lambda folder: write_files({folder / name: whole[name] for name in whole}))


def seal(path: Path) -> None:
    """Write the manifest of all files of a directory, which has none yet."""
    names = sorted(file.name for file in path.iterdir() if file.is_file() and file.name != MANIFEST)
    digests = {name: digest_file(path / name) for name in names}
    write_file(path / MANIFEST, readable_json({"files": to_json(digests)}))


def check_seal(path: Path, names: frozenset[str]) -> None:
    """Refuse a directory unless it has the files `names` and every listed file is as its manifest says."""
    digests = read_manifest(path)
    if missing := sorted(names - digests.keys()):
        raise InputError(
            f"{path / MANIFEST} does not list {missing[0]}; this is not the expected kind of directory"
        )
    for name, wanted in digests.items():
        file = path / name
        if not file.is_file():
            raise InputError(f"{file} is missing, though the manifest lists it")
        if (found := digest_file(file)) != wanted:
            raise InputError(f"{file} has digest {found}, the manifest wants {wanted}: the file was changed")


def read_manifest(path: Path) -> Mapping[str, Digest]:
    """Return the digest of each file that a sealed directory lists."""
    manifest = path / MANIFEST
    if path.is_dir() and not manifest.exists():
        raise InputError(
            f"cannot read {manifest}: {path} is not sealed; seal a model by circuitproof model {path} --seal"
        )
    with reading(read_json(manifest), str(manifest)) as fields:
        digests = Codec().value(Mapping[str, Digest], fields, "files")
    if strange := [name for name in digests if Path(name).name != name]:
        raise InputError(f"{manifest} lists {strange[0]!r}, which is not a plain file name")
    return digests
