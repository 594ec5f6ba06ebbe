"""Sealed directories: a manifest that holds the digest of every file."""

import hashlib
from pathlib import Path

from circuitproof_check.reading import ForgedError, UnreadableError, fields, mapping, parse_json, show, text

MANIFEST = "manifest.json"
CLAIM, DOMAIN, WEIGHTS, CERTIFICATE = "claim.json", "domain.json", "weights.safetensors", "certificate.json"
BUNDLE = frozenset({CLAIM, DOMAIN, WEIGHTS, CERTIFICATE})


def read_sealed(directory: Path) -> dict[str, bytes]:
    """Return the files of a directory by name, each with the digest that the manifest lists."""
    contents: dict[str, bytes] = {}
    for name, digest in _read_manifest(directory / MANIFEST).items():
        if Path(name).name != name:
            raise ForgedError(f"{MANIFEST} lists {name!r}, which is not a plain file name")
        if not (directory / name).is_file():
            raise ForgedError(f"{name!r} is listed but missing")
        contents[name] = (directory / name).read_bytes()
        rule_file_has_its_digest(name, contents[name], digest)
    if not contents:
        raise ForgedError(f"{MANIFEST} lists no files")
    return contents


def _read_manifest(path: Path) -> dict[str, str]:
    try:
        (files,) = fields(parse_json(path.read_bytes(), path.name), path.name, "files")
        return {name: text(digest, name) for name, digest in mapping(files, path.name).items()}
    except (OSError, ForgedError) as error:
        raise UnreadableError(f"{path} is not a manifest: {error}") from error


def sha256(content: bytes) -> str:
    """Return the SHA-256 digest in hex."""
    return hashlib.sha256(content).hexdigest()


def rule_file_has_its_digest(name: str, content: bytes, wanted: str) -> None:
    """Every file has the digest that the manifest lists."""
    if sha256(content) != wanted:
        raise ForgedError(
            f"{name!r} is not what the manifest says: digest {sha256(content)}, want {show(wanted)}"
        )


def rule_bundle_has_five_files(directory: Path, listed: frozenset[str]) -> None:
    """A bundle is a directory with five files; the manifest lists the four others, no more and no fewer."""
    present = {entry.name for entry in directory.iterdir()} - {MANIFEST}
    if strange := sorted((listed ^ BUNDLE) | (present ^ BUNDLE)):
        raise ForgedError(f"{strange[0]!r} is missing or too much: a bundle has {', '.join(sorted(BUNDLE))}")
