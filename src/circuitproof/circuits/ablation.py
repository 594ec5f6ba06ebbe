"""What a cut edge carries: nothing, a mean over declared prompts, or its source's output on a partner."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TypeAlias, assert_never

from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.canonical import Json
from circuitproof.tasks.domain import Prompt


class Pooling(StrEnum):
    """Which values one mean is taken over."""

    POSITION = "position"
    """Those at the same position, of the prompts that are as long."""
    ALL = "all"
    """Those of all prompts at all positions."""


@dataclass(frozen=True, slots=True)
class Zero:
    """A cut edge carries nothing."""

    kind = "zero"
    name = kind

    def to_json(self) -> Json:
        return self.kind


@dataclass(frozen=True)
class Mean:
    """A cut edge carries the mean of what its source puts out in the whole model on some prompts."""

    prompts: tuple[Prompt, ...]
    over: Pooling = Pooling.POSITION

    kind = "mean"

    def __post_init__(self) -> None:
        if not self.prompts or not all(self.prompts):
            raise DeclarationError("a mean is taken over one or more prompts, none of them empty")
        if len(set(self.prompts)) != len(self.prompts):
            raise DeclarationError("a mean is taken over distinct prompts; one is listed twice")
        _refuse_negative(self.prompts)

    @property
    def name(self) -> str:
        """Return what tells it from the other mean."""
        match self.over:
            case Pooling.POSITION:
                return "mean by position"
            case Pooling.ALL:
                return "mean over all positions"
            case _:
                assert_never(self.over)

    @cached_property
    def longest(self) -> int:
        return max(map(len, self.prompts))

    @cached_property
    def _hash(self) -> int:
        return hash((self.over, self.prompts))

    def __hash__(self) -> int:
        return self._hash

    def to_json(self) -> Json:
        return {"kind": self.kind, "over": str(self.over), "prompts": [list(one) for one in self.prompts]}


@dataclass(frozen=True)
class Counterfactual:
    """A cut edge carries what its source puts out in the whole model on the prompt's partner."""

    pairs: tuple[tuple[Prompt, Prompt], ...]
    """Each prompt with its partner, which is as long."""

    kind = "counterfactual"
    name = kind

    def __post_init__(self) -> None:
        if not self.pairs:
            raise DeclarationError("counterfactual ablation wants prompts with partners; there are none")
        if len(self.partners) != len(self.pairs):
            raise DeclarationError("a prompt has one partner; one is listed twice")
        for prompt, partner in self.pairs:
            if len(prompt) != len(partner) or not prompt:
                raise DeclarationError(
                    f"prompt {list(prompt)} has {len(prompt)} tokens and its partner {len(partner)}; "
                    "want the same number, at least one"
                )
        _refuse_negative([one for pair in self.pairs for one in pair])

    @cached_property
    def partners(self) -> Mapping[Prompt, Prompt]:
        return dict(self.pairs)

    def partner_of(self, prompt: Prompt) -> Prompt:
        """Return the partner of a prompt, which must have one."""
        if prompt not in self.partners:
            raise InputError(f"prompt {list(prompt)} has no partner; counterfactual ablation wants one")
        return self.partners[prompt]

    @cached_property
    def _hash(self) -> int:
        return hash(self.pairs)

    def __hash__(self) -> int:
        return self._hash

    def to_json(self) -> Json:
        return {"kind": self.kind, "pairs": [[list(one), list(other)] for one, other in self.pairs]}


Ablation: TypeAlias = Zero | Mean | Counterfactual
ZERO = Zero()


def _refuse_negative(prompts: Sequence[Prompt]) -> None:
    if wrong := [prompt for prompt in prompts if min(prompt) < 0]:
        raise DeclarationError(f"prompt {list(wrong[0])} has a token below 0; tokens are numbered from 0")


def ablated_prompts(ablation: Ablation) -> tuple[Prompt, ...]:
    """Return the prompts on which the whole model is read for what cut edges carry."""
    match ablation:
        case Zero():
            return ()
        case Mean():
            return ablation.prompts
        case Counterfactual():
            return tuple(partner for _, partner in ablation.pairs)
        case _:
            assert_never(ablation)


def is_uniform(ablation: Ablation) -> bool:
    """Say whether a cut edge carries the same at every position of every prompt."""
    match ablation:
        case Zero():
            return True
        case Mean():
            return ablation.over is Pooling.ALL
        case Counterfactual():
            return False
        case _:
            assert_never(ablation)


KINDS = (Zero.kind, Mean.kind, Counterfactual.kind)
