"""The rows of the gallery: whose model it is, what is claimed, and where the weights can be had."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from circuitproof.errors import InputError
from circuitproof.files.canonical import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryModel:
    """A model that somebody else made, with claims about it."""

    name: str
    model: str
    claim: str
    address: str
    commit: str
    """The commit or tag at which the original stands there."""
    original: str
    """The original file's path in the repository."""
    sha256: str
    """The SHA-256 of the original file."""
    wants: str
    """What --weights is to be."""
    layout: str
    """The module of this package that converts it."""
    kept: str | None = None
    """The claims file in the repository beside which the row's bundles are kept, without weights."""

    def claims(self) -> dict[str, bytes]:
        """Return the row's claims file and the files beside it."""
        found = files("circuitproof.gallery").joinpath("rows", self.name)
        return {one.name: one.read_bytes() for one in found.iterdir() if one.is_file()}

    def fill(self) -> Callable[[Path, Path], None]:
        """Return what writes the model directory, and what the claims name beside it, into a folder."""
        from circuitproof.gallery import modular_addition, release

        return {"modular_addition": modular_addition.fill_row, "release": release.fill_row}[self.layout]

    def to_json(self) -> Json:
        return {
            "name": self.name,
            "model": self.model,
            "claim": self.claim,
            "address": self.address,
            "commit": self.commit,
            "original": self.original,
            "sha256": self.sha256,
            "weights": self.wants,
            "claims": self.kept,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptModel:
    """A model that a recipe of ours trains from public text, whose claims are kept with their proofs."""

    name: str
    model: str
    claim: str
    recipe: str
    """What trains it, finds its circuits and proves them."""
    file: str
    """The claims file in the repository, with the proofs beside it."""

    def to_json(self) -> Json:
        return {
            "name": self.name,
            "model": self.model,
            "claim": self.claim,
            "recipe": self.recipe,
            "claims": self.file,
        }


_RELEASE = "https://github.com/neelsomani/verifiable-transformers"
_FOLDER = "the release's folder of this model, with config.json, vocab.json and smt_weights.json"
ROWS: tuple[GalleryModel | KeptModel, ...] = (
    GalleryModel(
        name="pizza",
        model="The Clock and the Pizza, constant attention: addition modulo 59, one layer of four heads",
        claim="nine edges add right on all 3,481 inputs, in either order, as the model does; each matters",
        address="https://github.com/fjzzq2002/pizza",
        commit="4c7f2f31d215a51522b33f3ae2ef35f9c254ef6f",
        original="code/save/model_p99zdpze5l.pt",
        sha256="eb58a5a059f05f9f8a434f8f6d62405c6194dc353abf9843cb56382183820e25",
        wants="a safetensors file of the original's tensors under their own names",
        layout="modular_addition",
    ),
    GalleryModel(
        name="norm-free",
        model="Towards Verifiable Transformers, the small model after removal of its norms",
        claim="its circuit closes quotes on all 128 prompts, robust at 1/100; so is the one of five edges",
        address=_RELEASE,
        commit="v1.0",
        original="smt_weights.json",
        sha256="d757fdb454983ecd44b8f9a9c13cdc611016fec11fe7a2113515ec239b4b54f1",
        wants=_FOLDER,
        layout="release",
    ),
    GalleryModel(
        name="band-norm",
        model="Towards Verifiable Transformers, the small model with BandNorm",
        claim="its circuit closes quotes; the one of five edges is decided at the paper's four radii",
        address=_RELEASE,
        commit="v1.0",
        original="smt_weights.json",
        sha256="e6afd48e13b1d6b342ff4106ee4dbe17f3115f955cb843ef4583231f720c67f3",
        wants=_FOLDER,
        layout="release",
    ),
    GalleryModel(
        name="program-healed",
        model="Towards Verifiable Transformers, the small model with three heads replaced by programs",
        claim="its circuit closes quotes on all 128 prompts, robust at 1/100",
        address=_RELEASE,
        commit="v1.0",
        original="smt_weights.json",
        sha256="2da3057475e43904c698f403ab5338f8e4a59d7a0fda7564b1e46a64bdb10df3",
        wants=_FOLDER,
        layout="release",
        kept="evidence/gallery/program-healed/claims.toml",
    ),
    KeptModel(
        name="code-lm",
        model="a language model of Python's standard library, with programs in the place of some heads",
        claim="three edges close quotes, three decide brackets, also on every prompt with one opener",
        recipe="recipes/code-lm.toml",
        file="evidence/code-lm/claims.toml",
    ),
)


def find_row(name: str) -> GalleryModel | KeptModel:
    """Return the row of a name."""
    found = next((row for row in ROWS if row.name == name), None)
    if found is None:
        known = ", ".join(row.name for row in ROWS)
        raise InputError(f"the gallery has no row {name!r}; it has {known}")
    return found
