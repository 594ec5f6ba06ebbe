"""Places: a position of a prompt with all that comes before it, which prompts with one beginning share.

A node puts out at a position what depends on the tokens up to there and on what cut edges carry there; so
rows are remembered by the number of a node and the number of a place. Without a mask it depends on the whole
prompt, and on all that cut edges carry anywhere: no two prompts share a place.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from circuitproof_check.ablation import Prompt
from circuitproof_check.architecture import Node
from circuitproof_check.circuits import Circuit, Circuits, NeededPositions, Reading
from circuitproof_check.work import NUMBER, spend
from circuitproof_check.work import key as bytes_of

from .rows import RowBall

Wanted = tuple[Prompt, NeededPositions]
"""A prompt, and at which positions the outputs of nodes are wanted."""
Store = dict[tuple[int, int], RowBall]
"""What nodes put out, by their numbers and places."""


@dataclass(frozen=True, slots=True, eq=False)
class PromptEntry:
    """A prompt that is computed, and what is needed of nodes for what is wanted."""

    prompt: Prompt
    places: list[int]
    reading: Reading
    needs: NeededPositions
    twin: "PromptEntry | None" = None
    """Its partner in the whole model, where that stands at cut edges."""


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """A position of a prompt, for which any other of the same place would do."""

    entry: PromptEntry
    position: int

    @property
    def place(self) -> int:
        return self.entry.places[self.position]

    def at(self, position: int) -> "Spot":
        return Spot(self.entry, position)


Spots = dict[int, Spot]
"""One spot for each place."""


def by_place(spots: Iterable[Spot]) -> Spots:
    found: Spots = {}
    for spot in spots:
        spend(NUMBER)
        found.setdefault(spot.place, spot)
    return found


class Places:
    """Gives each place its number."""

    def __init__(self, circuits: Circuits) -> None:
        self._circuits, self._ablation = circuits, circuits.claim.ablation
        self._numbers: dict[bytes, int] = {}

    def of(self, circuit: Circuit, prompt: Prompt) -> list[int]:
        """Return a number for each position: prompts that are alike up to there have the same.

        Where edges are cut, what stands there may differ by the length of the prompt, or by its partner.
        """
        spend(NUMBER * (len(prompt) + len(circuit.cut)))
        here, others = 0, tuple[int, ...]()
        if not self._ablation.is_uniform and any(circuit.cut.values()):
            here = self._number((-1, len(prompt)))
            others = self._ablation.partners.get(bytes_of(prompt), ())
        if not self._circuits.size.is_masked:
            here = self._number((-2, here, self._circuits.number(prompt)))
        found: list[int] = []
        for position, token in enumerate(prompt):
            here = self._number((here, token, *others[position : position + 1]))
            found.append(here)
        return found

    def _number(self, numbers: Sequence[int]) -> int:
        return self._numbers.setdefault(bytes_of(numbers), len(self._numbers) + 1)

    def entry(self, circuit: Circuit, wanted: Wanted, store: Store) -> PromptEntry:
        """Return what of a circuit is needed and not in store for what is wanted of a prompt."""
        (prompt, needs), numbers = wanted, circuit.numbers
        places, reading = self.of(circuit, prompt), Reading(self._circuits, prompt)

        def name(node: Node, position: int) -> tuple[int, int]:
            return numbers[node], places[position]

        spend(NUMBER * sum(map(len, needs.values())))
        missing = {n: {place for place in found if name(n, place) not in store} for n, found in needs.items()}
        needed = reading.complete(circuit, missing, (name, store))
        return PromptEntry(prompt, places, reading, needed, self._twin(prompt))

    def _twin(self, prompt: Prompt) -> PromptEntry | None:
        partner = self._ablation.partners.get(bytes_of(prompt))
        if partner is None:
            return None
        return PromptEntry(
            partner, self.of(self._circuits.model, partner), Reading(self._circuits, partner), {}
        )
