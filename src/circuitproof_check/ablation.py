"""What cut edges are declared to carry: nothing, a mean, or a partner's; `forward.Forward` computes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from .architecture import Architecture
from .reading import canonical, fields, integers, items, kind, require, sha256
from .task import Prompts, check_tokens
from .work import NUMBER, key, paid, spend

Prompt = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ablation:
    """Its kind, and the prompts on which the whole model is read."""

    kind: str = "zero"
    is_pooled: bool = False
    prompts: Prompts = ()
    partners: Mapping[bytes, Prompt] = field(default_factory=dict[bytes, Prompt])
    digest: str = ""
    """That of its canonical JSON; of nothing, none."""

    @property
    def is_zero(self) -> bool:
        return self.kind == "zero"

    @property
    def over(self) -> str:
        """Return over what a mean is taken."""
        pooled = "all" if self.is_pooled else "position"
        return pooled if self.kind == "mean" else ""

    @property
    def count(self) -> int:
        """Return how many prompts or pairs are listed."""
        return len(self.prompts) + len(self.partners)

    @property
    def is_uniform(self) -> bool:
        """Say whether a cut edge carries the same at every position of every prompt."""
        return self.is_zero or self.is_pooled


def read_ablation(value: object, where: str, size: Architecture) -> Ablation:
    """Read what cut edges carry."""
    if value == "zero":
        return Ablation()
    name = kind(value, where)
    require("ablation_is_known", name in ("mean", "counterfactual"), where, name)
    if name == "counterfactual":
        found = _read_partners(fields(value, where, "kind", "pairs")[1], f"{where}.pairs", size)
    else:
        found = _read_mean(value, where, size)
    return replace(found, digest=sha256(canonical(value).encode()))


def _read_mean(value: object, where: str, size: Architecture) -> Ablation:
    _, over, listed = fields(value, where, "kind", "over", "prompts")
    require("means_are_over_positions_or_all", over in ("position", "all"), where, over)
    prompts = tuple(_read_prompt(row, where, size) for row in items(listed, where))
    require("means_are_over_prompts", prompts, where)
    are_distinct = len({key(prompt) for prompt in prompts}) == len(prompts)
    require("prompts_of_a_mean_are_distinct", are_distinct, where)
    return Ablation("mean", over == "all", prompts)


def _read_partners(value: object, where: str, size: Architecture) -> Ablation:
    partners: dict[bytes, Prompt] = {}
    pairs = [items(pair, where) for pair in items(value, where)]
    require("partners_are_pairs", all(len(pair) == len(("prompt", "partner")) for pair in pairs), where)
    for pair in paid(pairs, NUMBER):
        prompt, partner = (_read_prompt(row, where, size) for row in pair)
        require("partners_are_as_long", len(prompt) == len(partner), where, len(prompt), len(partner))
        partners[key(prompt)] = partner
    require("prompts_have_one_partner", len(partners) == len(pairs), where)
    return Ablation("counterfactual", partners=partners)


def _read_prompt(value: object, where: str, size: Architecture) -> Prompt:
    prompt = integers(value, where)
    require("ablations_fit_the_context", 1 <= len(prompt) <= size.context, where, len(prompt), size.context)
    check_tokens(prompt, where, size)
    return prompt


def check_covered(ablation: Ablation, prompts: Prompts) -> None:
    """Demand that every prompt has what stands at cut edges on it."""
    if ablation.kind == "counterfactual":
        are_paired = all(key(prompt) in ablation.partners for prompt in prompts)
        require("every_prompt_has_a_partner", are_paired, "claim.circuit.ablation")
    if ablation.kind == "mean" and not ablation.is_pooled:
        missing = _lengths(prompts) - _lengths(ablation.prompts)
        require("means_have_every_length", not missing, "claim.circuit.ablation", missing)


def _lengths(prompts: Sequence[Prompt]) -> set[int]:
    spend(NUMBER * len(prompts))
    return {len(prompt) for prompt in prompts}
