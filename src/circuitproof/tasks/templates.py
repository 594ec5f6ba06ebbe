"""Tasks whose prompts come from templates: slots that are filled in every way, and rules for the answer.

[slots]
noun = ["dog", "dogs"]
near = ["cat", "cats"]
[[templates]]
name = "near"
text = "the {noun} by the {near}"
answer = { noun = { dog = "runs", dogs = "run" } }
irrelevant = ["near"]
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.codec import Codec
from circuitproof.files.reading import Fields, reading_part
from circuitproof.tasks.generator import Slot, refuse_misfit, slot_names

SlotWords: TypeAlias = Mapping[str, str]
"""What stands in each slot."""


@dataclass(frozen=True, slots=True)
class SpelledAnswer:
    """The answer as a text with slots, such as `{a}`."""

    text: str

    def slots(self) -> tuple[str, ...]:
        return slot_names("answer", self.text)

    def of(self, chosen: SlotWords) -> str:
        return self.text.format(**chosen)


@dataclass(frozen=True, slots=True)
class TabledAnswer:
    """The answer as a table from what stands in one slot."""

    slot: str
    answers: SlotWords

    def slots(self) -> tuple[str, ...]:
        return (self.slot,)

    def of(self, chosen: SlotWords) -> str:
        word = chosen[self.slot]
        if word not in self.answers:
            raise DeclarationError(f"the answer's table has no {word!r}, which can stand in {{{self.slot}}}")
        return self.answers[word]


@dataclass(frozen=True, slots=True)
class Filled:
    """A prompt's text, its template, its answer, and what must not be told apart from it."""

    text: str
    template: str
    answer: str
    group: tuple[str, ...]
    """The template and what stands in the slots that may matter: the class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTemplate:
    """A text with slots, the answer to it, the slots that must not matter, and those that differ."""

    name: str
    text: str
    answer: SpelledAnswer | TabledAnswer
    irrelevant: tuple[str, ...]
    distinct: tuple[str, ...]

    def __post_init__(self) -> None:
        for key, names in {"irrelevant": self.irrelevant, "distinct": self.distinct}.items():
            if len(set(names)) < len(names):
                raise DeclarationError(f"template {self.name!r}: {key} names a slot twice; name each once")
        if len(self.distinct) == 1:
            raise DeclarationError(f"template {self.name!r}: distinct names one slot, want two or none")
        asked = {"answer": self.answer.slots(), "irrelevant": self.irrelevant, "distinct": self.distinct}
        for key, names in asked.items():
            if absent := [name for name in names if name not in self.slots()]:
                raise DeclarationError(
                    f"template {self.name!r}: {key} speaks of {{{absent[0]}}}, which its text does not hold"
                )
        if read := [name for name in self.answer.slots() if name in self.irrelevant]:
            raise DeclarationError(
                f"template {self.name!r}: the answer reads {{{read[0]}}}, which is said to be irrelevant"
            )

    def slots(self) -> tuple[str, ...]:
        """Return the slots of the text, each once, in order of appearance."""
        return tuple(dict.fromkeys(slot_names(self.name, self.text)))

    def fill(self, words: Mapping[str, tuple[str, ...]]) -> Iterator[Filled]:
        """Yield every prompt, the last slot changing first."""
        names = self.slots()
        for values in product(*(words[name] for name in names)):
            chosen = dict(zip(names, values, strict=True))
            if len({chosen[name] for name in self.distinct}) == len(self.distinct):
                group = (self.name, *(chosen[name] for name in names if name not in self.irrelevant))
                yield Filled(self.text.format(**chosen), self.name, self.answer.of(chosen), group)


def read_filled(fields: Fields) -> tuple[Filled, ...]:
    """Read templates and slots and return every prompt, template by template."""
    words: dict[str, tuple[str, ...]] = {}
    if fields.has("slots"):
        with reading_part(fields, "slots") as part:
            words = {name: Slot(name, part.texts(name)).words for name in part.keys()}  # noqa: SIM118  # Fields is not a mapping
    templates = fields.each("templates", _read_template)
    refuse_misfit([(template.name, template.slots()) for template in templates], words)
    filled = tuple(one for template in templates for one in template.fill(words))
    for template in templates:
        _refuse_unknown_words(template, words)
    return filled


def _read_template(fields: Fields) -> TaskTemplate:
    return TaskTemplate(
        name=fields.text("name"),
        text=fields.text("text"),
        answer=_read_answer(fields),
        irrelevant=fields.texts("irrelevant") if fields.has("irrelevant") else (),
        distinct=fields.texts("distinct") if fields.has("distinct") else (),
    )


def _read_answer(fields: Fields) -> SpelledAnswer | TabledAnswer:
    if isinstance(fields.value("answer"), str):
        return SpelledAnswer(fields.text("answer"))
    with reading_part(fields, "answer") as part:
        match part.keys():
            case (slot,):
                return TabledAnswer(slot, Codec().value(Mapping[str, str], part, slot))
            case slots:
                raise InputError(f"{part.where} has tables for {list(slots)}, want one slot's")


def _refuse_unknown_words(template: TaskTemplate, words: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse a table of answers with a word that cannot stand in its slot."""
    if isinstance(template.answer, TabledAnswer):
        slot = template.answer.slot
        if unknown := [word for word in template.answer.answers if word not in words[slot]]:
            raise DeclarationError(
                f"template {template.name!r}: the answer's table has {unknown[0]!r}, "
                f"which cannot stand in {{{slot}}}; add it to the slot or leave it out"
            )
