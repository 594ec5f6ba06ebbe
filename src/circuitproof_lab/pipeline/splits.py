"""Splits of a generator's prompts, and how they are dealt: development data, and gates that are seen once."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from circuitproof.files.canonical import Digest, Json, digest_json
from circuitproof.tasks.generator import GeneratedPrompt, deal
from circuitproof.tasks.task import Task
from circuitproof_lab.pipeline.prompts import PromptSource

if TYPE_CHECKING:  # a ledger is read without torch, which a protocol needs
    from circuitproof_lab.pipeline.protocol import Protocol


@dataclass(frozen=True, slots=True)
class Split:
    """Rows of one generator under a name. What it is good for is not said here but by its holder."""

    name: str
    generator: PromptSource
    rows: tuple[GeneratedPrompt, ...]

    @property
    def digest(self) -> Digest:
        return digest_json(self.to_json())

    def prompt_digests(self) -> tuple[Digest, ...]:
        """Return what stands for each prompt in a ledger.

        Other vocabularies and other tasks have other digests.
        """
        where: list[Json] = [str(self.generator.vocabulary_digest), self.generator.task]
        return tuple(digest_json([*where, list(row.prompt)]) for row in self.rows)

    def without(self, places: Collection[int], why: str) -> "Split":
        """Return the split without some of its rows, if there are any, and with the reason in its name."""
        if not places:
            return self
        rows = tuple(row for place, row in enumerate(self.rows) if place not in places)
        return Split(f"{self.name}, {why}", self.generator, rows)

    def to_json(self) -> dict[str, Json]:
        """Return the manifest: what the split is, each prompt, and what they cover together."""
        lengths = [len(row.prompt) for row in self.rows]
        return {
            "name": self.name,
            "task": self.generator.task,
            "generator": str(self.generator.digest),
            "vocabulary": str(self.generator.vocabulary_digest),
            "tokenizer": str(self.generator.tokenizer_digest),
            "prompt_set": str(digest_json([list(row.prompt) for row in self.rows])),
            "candidates": [answer for _, answer in self.generator.answers],
            "strata": _counts(row.opener for row in self.rows),
            "templates": _counts(row.template for row in self.rows),
            "opener_positions": [*sorted({row.position for row in self.rows if row.position is not None})],
            "lengths": [min(lengths), max(lengths)],
            "aligned": sum(row.is_aligned is True for row in self.rows),
            "prompts": [_prompt_to_json(row) for row in self.rows],
        }


def _prompt_to_json(row: GeneratedPrompt) -> Json:
    return {
        "tokens": list(row.prompt),
        "text": row.text,
        "template": row.template,
        "stratum": row.stratum,
        "opener": row.opener,
        "position": row.position,
        "aligned": row.is_aligned,
    }


@dataclass(frozen=True, slots=True)
class Development:
    """Prompts that may be looked at as often as one likes."""

    splits: tuple[Split, ...]

    def task(self) -> Task:
        """Return the task on all of them together."""
        rows = [row for split in self.splits for row in split.rows]
        return self.splits[0].generator.make_task(rows)


@dataclass(frozen=True, slots=True)
class Gate:
    """Prompts that nobody has seen. It has no task: only a ledger that burns it hands that out."""

    split: Split


@dataclass(frozen=True, slots=True)
class Rounds:
    """The prompts of one task: for each generation what becomes development data, and its gate."""

    generator: PromptSource
    fresh: tuple[Split | None, ...]
    gates: tuple[Gate, ...]

    def development(self, generation: int, apart: Sequence[Collection[int]] | None = None) -> Development:
        """Return what a generation selects on: all that was looked at before its gate is opened.

        Of each gate that was opened before, the prompts that the model itself misses may be left out.
        """
        fresh = [split for split in self.fresh[: generation + 1] if split is not None]
        left_out = [()] * generation if apart is None else apart[:generation]
        burned = (
            gate.split.without(places, "as far as the model decides it right")
            for gate, places in zip(self.gates[:generation], left_out, strict=True)
        )
        return Development((*fresh, *burned))

    def everything(self, generation: int) -> Task:
        """Return the task on all that was looked at when a generation is over."""
        seen = self.development(generation)
        return Development((*seen.splits, self.gates[generation].split)).task()


def deal_rounds(protocol: "Protocol", generator: PromptSource) -> Rounds:
    """Deal a generator's prompts out to all generations; nothing else is consulted."""
    sizes = [size for one in protocol.generations for size in (one.development, one.gate) if size]
    dealt = iter(deal(generator.order(), sizes, len(generator.answers)))
    fresh, gates = list[Split | None](), list[Gate]()
    for one in protocol.generations:
        name = f"{generator.task} {one.name}"
        fresh.append(Split(f"{name} development", generator, next(dealt)) if one.development else None)
        gates.append(Gate(Split(f"{name} gate", generator, next(dealt))))
    return Rounds(generator, tuple(fresh), tuple(gates))


def _counts(names: Iterable[str]) -> Json:
    return {name: count for name, count in sorted(Counter(names).items())}  # noqa: C416  # a mapping of Json
