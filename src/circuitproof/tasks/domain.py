"""The declared set of prompts: ordered, unique, sorted into strata, and pinned by a digest."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from circuitproof.errors import DeclarationError
from circuitproof.files.canonical import Digest, Json, digest_json
from circuitproof.files.reading import Fields

Prompt: TypeAlias = tuple[int, ...]
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Domain:
    """An enumerated domain. `strata` names, prompt by prompt, the group it belongs to."""

    prompts: tuple[Prompt, ...]
    strata: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.prompts:
            raise DeclarationError("domain: no prompts; a claim about an empty domain says nothing")
        if len(self.strata) != len(self.prompts):
            raise DeclarationError(
                f"domain: {len(self.strata)} strata for {len(self.prompts)} prompts; give each prompt one"
            )
        first: dict[Prompt, int] = {}
        for index, prompt in enumerate(self.prompts):
            if not prompt or min(prompt) < 0:
                raise DeclarationError(
                    f"domain: prompt {index} is {prompt}, want at least one token, none negative"
                )
            if first.setdefault(prompt, index) != index:
                raise DeclarationError(
                    f"domain: prompts {first[prompt]} and {index} are both {prompt}; list each prompt once"
                )

    def __len__(self) -> int:
        return len(self.prompts)

    @property
    def longest(self) -> int:
        return max(map(len, self.prompts))

    @property
    def digest(self) -> Digest:
        """Return the digest of the prompts and strata in their order."""
        return digest_json(self.to_json())

    def sizes(self) -> Mapping[str, int]:
        """Return how many prompts each stratum has, in order of appearance."""
        return {stratum: self.strata.count(stratum) for stratum in dict.fromkeys(self.strata)}

    def to_json(self) -> dict[str, Json]:
        return {"prompts": [list(prompt) for prompt in self.prompts], "strata": list(self.strata)}


LAST = -1
"""The position at which is decided unless another one is said."""


def decided_at(length: int, position: int) -> int:
    """Return at which position of a prompt of some length is decided; a negative one counts from the end.

    >>> decided_at(5, 0), decided_at(5, -1), decided_at(5, -2)
    (0, 4, 3)
    """
    return position if position >= 0 else length + position


def refuse_without_position(prompts: Sequence[Prompt], position: int, where: str) -> None:
    """Refuse prompts that are too short for the position at which is decided."""
    least = position + 1 if position >= 0 else -position
    short = [place for place, prompt in enumerate(prompts) if len(prompt) < least]
    if short:
        raise DeclarationError(
            f"{where}: prompt {short[0]} has {len(prompts[short[0]])} tokens, and position {position} is "
            f"decided at; want at least {least} tokens in each, or another position"
        )


def places_of(keys: Iterable[Key]) -> Mapping[Key, list[int]]:
    """Return the places at which each key stands, in order of appearance.

    >>> places_of("abba")
    {'a': [0, 3], 'b': [1, 2]}
    """
    places: dict[Key, list[int]] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, []).append(place)
    return places


def by_length(prompts: Sequence[Prompt]) -> Mapping[int, list[int]]:
    """Return the places of prompts, those of one length together, in order of appearance."""
    return places_of(map(len, prompts))


def read_domain(fields: Fields) -> Domain:
    return Domain(fields.integer_rows("prompts"), fields.texts("strata"))
