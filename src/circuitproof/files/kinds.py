"""What kind of file a JSON or TOML file is, told by its keys, for who gives one in the place of another."""

from collections.abc import Mapping
from enum import StrEnum

from circuitproof.errors import InputError


class FileKind(StrEnum):
    """The files that commands read, each with the command that reads it."""

    CIRCUIT = "a circuit (--circuit)"
    ABLATION = "what cut edges carry (--ablation)"
    TASK = "a task (--task)"
    MODEL = "a model's declaration (--model takes its directory)"
    CLAIM = "the claim of a bundle (circuitproof check takes its directory)"
    CERTIFICATE = "the certificate of a bundle (circuitproof check takes its directory)"
    DOMAIN = "the prompts of a bundle (circuitproof check takes its directory)"
    MANIFEST = "a manifest (give the directory that it lists)"
    UNREALISABLE = "a certificate of unrealisability (circuitproof recheck)"
    EXTRACTION = "the report of an extraction (the circuit stands beside it)"
    TRAINING = "a recipe of a training (circuitproof train)"
    REMOVAL = "a recipe of a norm removal (circuitproof remove-norm)"
    PROTOCOL = "a protocol (circuitproof localise)"
    STUDY = "a recipe of a study (circuitproof run)"
    DISTILLATION = "a recipe of a distillation (circuitproof distill)"
    CONSTRUCTION = "a recipe of a construction (circuitproof construct)"
    SURROGATE = "a recipe of surrogates (circuitproof surrogate)"
    VARIANTS = "a recipe of variants (circuitproof variants)"


_MARKS: Mapping[FileKind, tuple[str, ...]] = {
    FileKind.CIRCUIT: ("edges",),
    FileKind.ABLATION: ("kind prompts", "kind pairs"),
    FileKind.TASK: (
        "candidates domain",
        "prompts answers",
        "prompts openers",
        "slots templates",
        "vocabulary candidates answers",
    ),
    FileKind.MODEL: ("architecture alphabet programs",),
    FileKind.CLAIM: ("circuit task properties weights",),
    FileKind.CERTIFICATE: ("answers claim folds",),
    FileKind.DOMAIN: ("prompts strata",),
    FileKind.MANIFEST: ("files",),
    FileKind.UNREALISABLE: ("head language refuted",),
    FileKind.EXTRACTION: ("candidates selected circuit_digest",),
    FileKind.TRAINING: ("architecture data training",),
    FileKind.REMOVAL: ("source schedule fold",),
    FileKind.PROTOCOL: ("model method generations",),
    FileKind.STUDY: ("localisation generations",),
    FileKind.DISTILLATION: ("source extraction healing",),
    FileKind.CONSTRUCTION: ("artifacts calibration",),
    FileKind.SURROGATE: ("studies",),
    FileKind.VARIANTS: ("base variants",),
}
"""The keys that tell a file of each kind, in one or more forms."""


def of_kind(content: object, where: str, wanted: FileKind) -> object:
    """Return the content of a file; refuse it where its keys tell another kind than is wanted."""
    kinds = _kinds(content)
    if kinds and wanted not in kinds:
        raise InputError(f"{where} is {kinds[0]}, want {wanted}")
    return content


def _kinds(content: object) -> tuple[FileKind, ...]:
    keys = set(map(str, content)) if isinstance(content, dict) else set[str]()  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # keys of unread JSON
    return tuple(kind for kind, forms in _MARKS.items() if any(keys >= set(form.split()) for form in forms))
