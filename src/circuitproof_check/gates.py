"""The gate of every leaf: what must hold of a claim before a leaf of that kind says anything about it.

This is the table of `docs/certificate.md`, and the only way to the content of a leaf: one without a row here
cannot be read.
"""

from dataclasses import dataclass
from enum import Enum

from .architecture import live_nodes
from .claim import Claim, Property
from .counted import MEASURES
from .reading import fields, mapping, require
from .work import spend

_DECIDED = ("equivalence", "invariance")
_COUNTED_TOO = (*_DECIDED, "accuracy")
_DECIDED_OF_LISTS = ("equivalence", "invariance", "accuracy", "subset minimality", "minimum")
_OPENED = 100
"""Operations to go through the table."""


@dataclass(frozen=True, slots=True)
class LeafGate:
    """The keys of a leaf, and what a claim must be for it."""

    keys: tuple[str, ...]
    shows: tuple[str, ...]
    domain: str = "any"
    norm: str = "any"
    place: str = "any"
    reach: str = "any"
    programs: str = "any"
    cut: str = "zero"
    """What cut edges may carry; `at the end`: anything, if nothing is perturbed but the final residual."""
    arithmetic: str = "exact"


class Leaf(Enum):
    """Every kind of leaf, by its name in the specification."""

    FOLD = "fold"
    LESION_FOLD = "lesion fold"
    MODEL_FOLD = "model fold"
    OTHER_FOLD = "other fold"
    RADIUS = "radius"
    REGIONS = "regions"
    MARGINS = "margins"
    LESION_MARGINS = "lesion margins"
    OTHER_MARGINS = "other margins"
    PROMPTS = "prompts"
    ROBUST_PROMPTS = "robust prompts"
    LESION_PROMPTS = "lesion prompts"
    OTHER_PROMPTS = "other prompts"
    REPLAY = "replay"
    LESION_REPLAY = "lesion replay"
    MODEL_REPLAY = "model replay"
    OTHER_REPLAY = "other replay"
    PERTURBED_REPLAY = "perturbed replay"
    ENCLOSURE = "enclosure"
    LESION_ENCLOSURE = "lesion enclosure"
    MODEL_ENCLOSURE = "model enclosure"
    OTHER_ENCLOSURE = "other enclosure"
    ENCLOSURE_LEADS = "enclosure leads"
    ENCLOSURE_CUTS = "enclosure cuts"
    ENCLOSURE_PROMPTS = "enclosure prompts"
    ROBUST_ENCLOSURE = "robust enclosure"
    ENCLOSURE_REPLAY = "enclosure replay"
    LESION_ENCLOSURE_REPLAY = "lesion enclosure replay"
    MODEL_ENCLOSURE_REPLAY = "model enclosure replay"
    OTHER_ENCLOSURE_REPLAY = "other enclosure replay"
    PERTURBED_ENCLOSURE_REPLAY = "perturbed enclosure replay"
    EVALUATION = "evaluation"
    SAME_DIGEST = "same digest"
    OTHER_DIGEST = "other digest"


def _enclosed(
    keys: tuple[str, ...], shows: tuple[str, ...], place: str = "any", reach: str = "any"
) -> LeafGate:
    return LeafGate(keys, shows, "list", "any", place, reach, cut="any", arithmetic="enclosed")


def _shown(keys: tuple[str, ...], shows: tuple[str, ...]) -> LeafGate:
    return LeafGate(keys, shows, cut="any", arithmetic="enclosed")


def _of_patterns(keys: tuple[str, ...], norm: str = "any", programs: str = "any") -> LeafGate:
    return LeafGate(keys, _COUNTED_TOO, "pattern", norm, programs=programs, arithmetic="enclosed")


GATES: dict[Leaf, LeafGate] = {
    Leaf.FOLD: LeafGate(("fold",), _DECIDED_OF_LISTS, "list", cut="any"),
    Leaf.LESION_FOLD: LeafGate(("fold", "lesion"), ("necessity",), "list", cut="any"),
    Leaf.MODEL_FOLD: LeafGate(("fold", "model"), ("faithfulness",), "list", cut="any"),
    Leaf.OTHER_FOLD: LeafGate(("fold", "other"), ("agreement",), "list", cut="any"),
    Leaf.RADIUS: LeafGate(
        ("fold", "radius"), ("robustness",), "list", "none", "final", "some prompt", cut="any"
    ),
    Leaf.REGIONS: LeafGate(
        ("fold", "regions"), ("robustness",), "list", reach="some prompt", cut="at the end"
    ),
    Leaf.MARGINS: LeafGate(
        ("decision", "margins"),
        (*_DECIDED, "robustness"),
        "pattern",
        "none",
        "final",
        "some prompt",
        "no brackets",
    ),
    Leaf.LESION_MARGINS: LeafGate(
        ("decision", "margins", "lesion"), ("necessity",), "pattern", "none", programs="no brackets"
    ),
    Leaf.OTHER_MARGINS: LeafGate(
        ("decision", "margins", "other"), ("agreement",), "pattern", "none", programs="no brackets"
    ),
    Leaf.PROMPTS: LeafGate(("prompts",), _DECIDED, "pattern"),
    Leaf.ROBUST_PROMPTS: LeafGate(("prompts",), ("robustness",), "pattern", "none", "final", "some prompt"),
    Leaf.LESION_PROMPTS: LeafGate(("prompts",), ("necessity",), "pattern"),
    Leaf.OTHER_PROMPTS: LeafGate(("prompts",), ("agreement",), "pattern"),
    Leaf.REPLAY: LeafGate(("prompt", "fold"), _DECIDED_OF_LISTS, cut="any"),
    Leaf.LESION_REPLAY: LeafGate(("prompt", "fold", "lesion"), ("necessity",), cut="any"),
    Leaf.MODEL_REPLAY: LeafGate(("prompt", "fold", "model"), ("faithfulness",), "list", cut="any"),
    Leaf.OTHER_REPLAY: LeafGate(("prompt", "fold", "other"), ("agreement",), cut="any"),
    Leaf.PERTURBED_REPLAY: LeafGate(
        ("prompt", "fold", "eta"), ("robustness",), reach="some prompt", cut="at the end"
    ),
    Leaf.ENCLOSURE: _enclosed(("decided",), _DECIDED_OF_LISTS),
    Leaf.LESION_ENCLOSURE: _enclosed(("decided", "lesion"), ("necessity",)),
    Leaf.MODEL_ENCLOSURE: _enclosed(("decided", "model"), ("faithfulness",)),
    Leaf.OTHER_ENCLOSURE: _enclosed(("decided", "other"), ("agreement",)),
    Leaf.ENCLOSURE_LEADS: _of_patterns(("decided",), "none", "none"),
    Leaf.ENCLOSURE_CUTS: _of_patterns(("decided", "cuts"), "none", "none"),
    Leaf.ENCLOSURE_PROMPTS: _of_patterns(("prompts",)),
    Leaf.ROBUST_ENCLOSURE: _enclosed(("decided",), ("robustness",), "final", "some prompt"),
    Leaf.ENCLOSURE_REPLAY: _shown(("prompt", "decided"), _DECIDED_OF_LISTS),
    Leaf.LESION_ENCLOSURE_REPLAY: _shown(("prompt", "decided", "lesion"), ("necessity",)),
    Leaf.MODEL_ENCLOSURE_REPLAY: _enclosed(("prompt", "decided", "model"), ("faithfulness",)),
    Leaf.OTHER_ENCLOSURE_REPLAY: _enclosed(("prompt", "decided", "other"), ("agreement",)),
    Leaf.PERTURBED_ENCLOSURE_REPLAY: _enclosed(
        ("prompt", "decided", "eta"), ("robustness",), "final", "some prompt"
    ),
    Leaf.EVALUATION: _enclosed(("evaluated",), MEASURES),
    Leaf.SAME_DIGEST: LeafGate(("same",), ("lesion identity",), cut="any", arithmetic="any"),
    Leaf.OTHER_DIGEST: LeafGate(("tensor",), ("lesion identity",), cut="any", arithmetic="any"),
}


def open_leaf(claim: Claim, claimed: Property, value: object, where: str) -> tuple[Leaf, list[object]]:
    """Return which kind of leaf this is and what its keys hold, once the claim has passed its gate."""
    spend(_OPENED)
    keys = mapping(value, where).keys()
    domain = "list" if claim.declared is None else "pattern"
    found = [
        leaf
        for leaf, gate in GATES.items()
        if keys == set(gate.keys) and claimed.kind in gate.shows and gate.domain in ("any", domain)
    ]
    require("leaves_are_in_the_table", found, where, sorted(keys), claimed.kind)
    arithmetic = "enclosed" if claim.is_enclosed else "exact"
    found.sort(key=lambda leaf: GATES[leaf].arithmetic not in ("any", arithmetic))
    gate = GATES[found[0]]
    has_norm = claim.architecture.norm is not None
    require("leaves_allow_the_norm", gate.norm == "any" or not has_norm, where, found[0].value)
    is_allowed = gate.arithmetic in ("any", arithmetic)
    require("leaves_allow_the_arithmetic", is_allowed, where, found[0].value, arithmetic)
    is_final = (claimed.at, claimed.positions) == ("logits input", "last")
    if claimed.kind == "robustness":
        require("leaves_allow_the_place", gate.place == "any" or is_final, where, found[0].value, claimed.at)
    may_carry = gate.cut == "any" or (gate.cut == "at the end" and is_final) or claim.ablation.is_zero
    require("leaves_allow_the_ablation", may_carry, where, found[0].value, claim.ablation.kind)
    if gate.reach != "any":
        check_reach(claim, claimed, where)
    is_plain = gate.programs == "any" or not _forbidden_programs(claim, claimed, gate.programs)
    require("leaves_allow_the_programs", is_plain, where, found[0].value)
    return found[0], list(fields(value, where, *gate.keys))


def check_reach(claim: Claim, claimed: Property, where: str) -> None:
    """Demand that what is perturbed, if anything is, reaches the logits of some prompt."""
    is_reaching = claimed.kind != "robustness" or claim.unreached < len(claim.prompts)
    require("perturbations_reach_the_logits", is_reaching, where, claimed.at, claimed.positions)


def _forbidden_programs(claim: Claim, claimed: Property, allowed: str) -> bool:
    """Say whether a head on the way to the logits has a program, or one with a condition on brackets."""
    nodes = live_nodes(claim.edges, claim.architecture)
    if claimed.kind == "agreement":
        nodes |= live_nodes(claim.other, claim.architecture)
    heads = {(node.layer, node.head) for node in nodes if node.is_head}
    programs = [claim.programs[head] for head in heads & claim.programs.keys()]
    return any(allowed == "none" or program.has_brackets for program in programs)
