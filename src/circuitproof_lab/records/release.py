"""The record of a release: what made it, where, and the digest of every file in it."""

from collections.abc import Mapping
from dataclasses import dataclass

from circuitproof.files.canonical import Digest
from circuitproof_lab.records.environment import Environment

RELEASE = "release.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseManifest:
    """What a released study was made by, and what it holds."""

    recipe: str
    recipe_digest: Digest
    """Of the recipe and of whatever it names, and of a base that was given."""
    commands: tuple[str, ...]
    """Those that make the same again."""
    environment: Environment
    corpus_python: str | None
    """The version of the Python whose own texts are the corpus."""
    tokenizer: Digest | None
    rungs: Mapping[str, str]
    """Of each task the rung that is the model of record."""
    stopped: Mapping[str, str]
    """Tasks that ended early, and why."""
    files: Mapping[str, Digest]
