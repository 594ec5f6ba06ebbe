"""The rows of the gallery: whose model it is, what is claimed, and where the weights can be had."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
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
    """The SHA-256 of the original file, or of the safetensors file that was made of it."""
    is_made: bool = False
    """Whether it is that of the file that was made, `model.safetensors` beside its `config.json`."""
    wants: str
    """What --weights is to be."""
    layout: str
    """The module of this package that converts it."""
    kept: str | None = None
    """The claims file in the repository beside which the row's bundles are kept, without weights."""

    @property
    def known_by(self) -> str:
        """Say by which digest the weights are known."""
        return f"{'its model.safetensors here' if self.is_made else 'its original'} has SHA-256 {self.sha256}"

    def claims(self) -> dict[str, bytes]:
        """Return the row's claims file and the files beside it."""
        found = files("circuitproof.gallery").joinpath("rows", self.name)
        return {one.name: one.read_bytes() for one in found.iterdir() if one.is_file()}

    def fill(self) -> Callable[[Path, Path], None]:
        """Return what writes the model directory, and what the claims name beside it, into a folder."""
        from circuitproof.gallery import modular_addition, ordinary, release

        if self.layout == "ordinary":
            return partial(ordinary.fill_row, self.name)
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
_COQ = "https://github.com/JasonGross/neural-net-coq-interp"
_RIB = "https://github.com/ApolloResearch/rib"
_GROKKING = "https://github.com/neelnanda-io/Grokking"
_LENS = "a directory with its model.safetensors and config.json, as import-tl reads them"
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
    GalleryModel(
        name="max_of_two",
        model="the larger of two tokens of 64: one attention-only softmax head, as in Coq",
        claim="right on all 4,096 inputs, in either order; the mean loss in a bracket",
        address=_COQ,
        commit="fdb4d4fc",
        original="theories/MaxOfTwoNumbersSimpler/Parameters.v",
        sha256="111f39da79b082bf5d35ba780929147f1ea9a5df9d0a8e77754a851ea88c1d99",
        is_made=True,
        wants=_LENS,
        layout="ordinary",
    ),
    GalleryModel(
        name="max_of_two_undertrained",
        model="the same, trained for a shorter time",
        claim="right on exactly 4,046 of 4,096 inputs, the 50 others by name; Coq's mean loss in a bracket",
        address=_COQ,
        commit="fdb4d4fc",
        original="theories/MaxOfTwoNumbersUndertrainedSimpler/Parameters.v",
        sha256="fa43117a61780cce20dc03b77218fc1beee07baefd469092c5f1fac148dcc9aa",
        is_made=True,
        wants=_LENS,
        layout="ordinary",
    ),
    GalleryModel(
        name="modular_addition",
        model="addition modulo 113: one softmax layer of four heads, ReLU",
        claim="right on all 12,769 inputs, in either order; so are nine of its 15 edges",
        address=_RIB,
        commit="7a6199f7",
        original="SHA-256 e8f3b19a8badee6ca69abb0625fd4d022d7b466c4ab8efc54b1aad5b278da9d6",
        sha256="951a3a7971f4d5e59d552905b7ba6f24c1cce06589731238e33bc4b00017a49b",
        is_made=True,
        wants=_LENS,
        layout="ordinary",
    ),
    GalleryModel(
        name="modular_addition_4_errors",
        model="addition modulo 113, another training of the same",
        claim="right on exactly 12,765 of 12,769 inputs, the four others by name",
        address=_RIB,
        commit="7a6199f7",
        original="SHA-256 6fdbd78ba624dfbfa36866152926a071bcdd6d5248fc1a83b4289d41b0d9268d",
        sha256="904838ae74ee6c3f34467321c2cd95bdf4b2057a069fd2b47a1b37074594c72f",
        is_made=True,
        wants=_LENS,
        layout="ordinary",
    ),
    GalleryModel(
        name="grokking",
        model="Grokking: addition modulo 113, one softmax layer of four heads, ReLU",
        claim="right on all 12,769 inputs, in either order; so are nine of 15 edges, as the model decides",
        address=_GROKKING,
        commit="dfbd38f",
        original="saved_runs/mod_addition_no_wd.pth",
        sha256="fb8fa33a56ea3452389e84f223ec015e1a0328025c7241ec4c0b6bf43547bdb4",
        is_made=True,
        wants=_LENS,
        layout="ordinary",
    ),
    GalleryModel(
        name="pizza_softmax_attention",
        model="The Clock and the Pizza, softmax attention: addition modulo 59, one layer of four heads",
        claim="right on all 3,481 inputs, in either order; so are nine of its 15 edges",
        address="https://github.com/fjzzq2002/pizza",
        commit="4c7f2f31d215a51522b33f3ae2ef35f9c254ef6f",
        original="code/save/model_l8k1hzciux.pt",
        sha256="67aa07efc4adc7ef5bdd4831ab5f37f51ce83275071725e7404104a4d5259e6b",
        is_made=True,
        wants=_LENS,
        layout="ordinary",
    ),
    GalleryModel(
        name="induction_head",
        model="two attention-only softmax layers of four heads, trained on sequences that repeat",
        claim="two heads do not suffice on 128 sequences, by zero or by counterfactual ablation; seven do",
        address=_GROKKING,
        commit="dfbd38f",
        original="saved_runs/induction_head_infinite.pth",
        sha256="2ba1acbf9729100b7b44b1048bb01b7bd36cb1c042f77f612f38040ec37a8f34",
        is_made=True,
        wants=_LENS,
        layout="ordinary",
    ),
    GalleryModel(
        name="nano_sort",
        model="a GPT of three layers with LayerNorm, GELU and softmax that sorts six of three tokens",
        claim="right on all 4,374 inputs, among all tokens",
        address="https://github.com/bbycroft/llm-viz",
        commit="a3613d777084b8010211b2d53b3d46d4ee6874ea",
        original="public/gpt-nano-sort-model.json",
        sha256="162c6f535ff27f3687959c9749fb269b4055603414d9dba572be32693a345cc9",
        is_made=True,
        wants="a directory with its model.safetensors, biases of c_attn and all, and its config.json",
        layout="ordinary",
    ),
    GalleryModel(
        name="shakespeare_gpt2",
        model="a GPT-2 of four layers and 929,536 parameters, trained on Shakespeare's plays",
        claim="24 of 207 edges write a speaker's colon and end the line, as the model does, on 128 prompts",
        address="a public GPT-2 whose address is not recorded",
        commit="the revision with this file",
        original="model.safetensors",
        sha256="cd1b2921df8bc82d903018f9ab11e97c216d352d4dad8fe34b27aac19a622d05",
        wants="its directory: config.json, model.safetensors and tokenizer.json",
        layout="ordinary",
    ),
    KeptModel(
        name="code-lm",
        model="a language model of Python's standard library, with programs in the place of some heads",
        claim="three edges close quotes on every prompt with one opener, three decide brackets on 1,280",
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
