"""Prompts from templates, in an order that no model can influence: balanced, hashed, without repeats.

A generator fills the slots of its templates in every way, puts the prompts of each opener and template in
the order of their hashes, and deals them out in turn. A split is a run of that order: development data and
gates that do not overlap are runs that do not overlap.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, product
from math import prod
from string import Formatter
from typing import Protocol

from circuitproof.errors import DeclarationError
from circuitproof.files.canonical import Digest, Json, digest_bytes, digest_json
from circuitproof.files.codec import record_to_json
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.domain import Prompt
from circuitproof.tasks.openers import listed_opener_task
from circuitproof.tasks.task import Task

OPENER = "opener"
_PLACE = "\0"
"""What no text has: it stands for the opener where its place is looked for."""
MOST_PROMPTS = 1_000_000
"""How many prompts one generator may have; more would take minutes to hash."""


class Encoder(Protocol):
    """What turns a text into tokens."""

    @property
    def alphabet(self) -> Alphabet: ...

    @property
    def digest(self) -> Digest:
        """Return the digest of all that the tokens of a text depend on."""
        ...

    def encode(self, text: str) -> Prompt: ...


@dataclass(frozen=True, slots=True)
class NamedTokens:
    """Texts whose words are names of tokens."""

    alphabet: Alphabet

    @property
    def digest(self) -> Digest:
        """Return that of the names: nothing else is known of a text."""
        return vocabulary_digest(self.alphabet)

    def encode(self, text: str) -> Prompt:
        return self.alphabet.tokens(text.split())


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A text with slots in braces, one of which is `{opener}`; a brace itself is written twice."""

    name: str
    text: str

    def __post_init__(self) -> None:
        if self.slots().count(OPENER) != 1:
            raise DeclarationError(
                f"template {self.name!r} is {self.text!r}, want the slot {{{OPENER}}} exactly once"
            )

    def slots(self) -> tuple[str, ...]:
        return slot_names(self.name, self.text)


def slot_names(template: str, text: str) -> tuple[str, ...]:
    """Return the names of the slots of a text, in order of appearance."""
    try:
        found = [part[1:] for part in Formatter().parse(text) if part[1] is not None]
    except ValueError as error:
        raise DeclarationError(f"template {template!r} is {text!r}: {error}") from error
    names = [name or "" for name, _, _ in found]
    if wrong := [name for name in names if not name.isidentifier()]:
        raise DeclarationError(f"template {template!r} has the slot {{{wrong[0]}}}, want a plain name")
    if formatted := [name for name, form, conversion in found if form or conversion]:
        raise DeclarationError(
            f"template {template!r} prints {{{formatted[0]}}} in a form, want the name only"
        )
    return tuple(names)


@dataclass(frozen=True, slots=True)
class Slot:
    """A name and the words that can stand there."""

    name: str
    words: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.words or len(set(self.words)) != len(self.words):
            raise DeclarationError(f"slot {self.name!r} has words {self.words}, want some, all distinct")


def refuse_misfit(
    templates: Sequence[tuple[str, tuple[str, ...]]], words: Mapping[str, tuple[str, ...]]
) -> None:
    """Refuse templates of one name, slots without words, words without a slot, and too many prompts."""
    if len(dict(templates)) != len(templates):
        raise DeclarationError("two templates have one name; give each its own")
    for template, slots in templates:
        if missing := [name for name in slots if name not in words]:
            raise DeclarationError(f"template {template!r} has a slot {{{missing[0]}}} without words")
    used = {name for _, slots in templates for name in slots}
    if unused := [name for name in words if name not in used]:
        raise DeclarationError(f"slot {unused[0]!r} stands in no template; use it or leave it out")
    if (total := sum(prod(len(words[name]) for name in set(slots)) for _, slots in templates)) > MOST_PROMPTS:
        raise DeclarationError(f"the templates give {total} prompts, want at most {MOST_PROMPTS}")


@dataclass(frozen=True, slots=True)
class GeneratedPrompt:
    """A generated prompt and where it comes from."""

    prompt: Prompt
    opener: str
    """The opener as its template spells it, or the right answer."""
    template: str
    stratum: str
    """The template with the words that part it, or a declared stratum: what can go as a whole."""
    position: int | None = None
    """Where the opener's token stands, if there is one."""
    text: str | None = None
    """What was turned into tokens, if it was a text."""
    is_aligned: bool | None = None
    """Whether the text up to the opener's end is just the tokens up to the opener's."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Some of a generator's prompts: the first fillings of each template by their hashes, in strata."""

    fillings: int
    """How many ways to fill each template; each is taken with every opener."""
    slots: tuple[str, ...]
    """The slots whose words part the prompts of a template into strata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """A task's prompts, as data: nothing here depends on a model."""

    task: str
    salt: str
    """Changes the order and nothing else."""
    encoder: Encoder
    answers: tuple[tuple[str, str], ...]
    """Pairs (opener, answer), each one token."""
    templates: tuple[PromptTemplate, ...]
    slots: tuple[Slot, ...]
    pool: Pool | None = None
    """Which of all prompts are meant; all of them, if nothing is said."""

    def __post_init__(self) -> None:
        names = [slot.name for slot in self.slots]
        if not self.templates or not self.answers:
            raise DeclarationError(f"{self.task}: want at least one template and one opener")
        if len(set(names)) != len(names) or OPENER in names:
            raise DeclarationError(f"{self.task}: slots are {names}, want distinct names, none {OPENER!r}")
        refuse_misfit([(template.name, template.slots()) for template in self.templates], self._words())

    @property
    def digest(self) -> Digest:
        """Return the digest of everything that the order depends on, the vocabulary included."""
        return digest_json(self.to_json())

    @property
    def vocabulary_digest(self) -> Digest:
        return vocabulary_digest(self.encoder.alphabet)

    @property
    def tokenizer_digest(self) -> Digest:
        return self.encoder.digest

    def to_json(self) -> Json:
        return {
            **({} if self.pool is None else {"pool": record_to_json(self.pool)}),
            "task": self.task,
            "salt": self.salt,
            "vocabulary": str(self.vocabulary_digest),
            "answers": [list(pair) for pair in self.answers],
            "templates": [[template.name, template.text] for template in self.templates],
            "slots": [[slot.name, *slot.words] for slot in self.slots],
        }

    def order(self) -> tuple[GeneratedPrompt, ...]:
        """Return every prompt once: openers take turns, and among an opener's prompts its templates do."""
        openers = [opener for opener, _ in self.answers]
        rows = in_turn([in_turn([self._hashed(one, opener) for one in self.templates]) for opener in openers])
        _refuse_repeats(rows)
        return tuple(rows)

    def make_task(self, rows: Sequence[GeneratedPrompt]) -> Task:
        answers = {self._token(opener): self._token(answer) for opener, answer in self.answers}
        prompts = [row.prompt for row in rows]
        return listed_opener_task(self.task, self.encoder.alphabet, prompts, answers)

    def _words(self) -> Mapping[str, tuple[str, ...]]:
        openers = tuple(opener for opener, _ in self.answers)
        return {OPENER: openers, **{slot.name: slot.words for slot in self.slots}}

    def _hashed(self, template: PromptTemplate, opener: str) -> list[GeneratedPrompt]:
        """Return one opener's prompts from one template, in the order of their hashes."""
        filled = [(self._filled(template, opener, words), words) for words in self._fillings(template)]
        filled.sort(key=lambda one: str(self._hash(template, one[0])))
        return [self._row(text, opener, template, words) for text, words in filled]

    def _hash(self, template: PromptTemplate, text: str) -> Digest:
        return digest_bytes(f"{self.salt}\0{self.task}\0{template.name}\0{text}".encode())

    def _fillings(self, template: PromptTemplate) -> list[Mapping[str, str]]:
        """Return the ways to fill a template that are meant, the same for every opener."""
        words = self._words()
        names = tuple(dict.fromkeys(name for name in template.slots() if name != OPENER))
        chosen = product(*(words[name] for name in names))
        found: list[Mapping[str, str]] = [dict(zip(names, some, strict=True)) for some in chosen]
        if self.pool is None:
            return found
        found.sort(key=lambda one: str(self._hash(template, self._filled(template, "", one))))
        return found[: self.pool.fillings]

    def _filled(self, template: PromptTemplate, opener: str, words: Mapping[str, str]) -> str:
        return template.text.format(**{OPENER: opener}, **words)

    def _stratum(self, template: PromptTemplate, words: Mapping[str, str]) -> str:
        parted = () if self.pool is None else self.pool.slots
        return " / ".join([template.name, *(words[name] for name in parted if name in words)])

    def _row(
        self, text: str, opener: str, template: PromptTemplate, words: Mapping[str, str]
    ) -> GeneratedPrompt:
        prompt = self.encoder.encode(text)
        token = self._token(opener)
        if prompt.count(token) != 1:
            raise DeclarationError(
                f"template {template.name!r} gives {text!r}, in which the opener {opener!r} is "
                f"{prompt.count(token)} tokens {token}; want just one"
            )
        position, end = prompt.index(token), self._filled(template, _PLACE, words).index(_PLACE) + len(opener)
        return GeneratedPrompt(
            prompt,
            opener,
            template.name,
            self._stratum(template, words),
            position,
            text,
            self.encoder.encode(text[:end]) == prompt[: position + 1],
        )

    def _token(self, text: str) -> int:
        match self.encoder.encode(text):
            case (token,):
                return token
            case tokens:
                raise DeclarationError(f"{self.task}: {text!r} is {len(tokens)} tokens, want one")


def vocabulary_digest(alphabet: Alphabet) -> Digest:
    """Return the digest of the names of all tokens, in order."""
    return digest_json(list(alphabet.names))


def deal(
    rows: Sequence[GeneratedPrompt], sizes: Sequence[int], strata: int
) -> tuple[tuple[GeneratedPrompt, ...], ...]:
    """Cut an order into splits of these sizes, one behind the other, each balanced over the strata."""
    for size in sizes:
        if size < 1 or size % strata:
            raise DeclarationError(f"a split of {size} prompts is not balanced; want a multiple of {strata}")
    if sum(sizes) > len(rows):
        raise DeclarationError(
            f"splits of {list(sizes)} prompts need {sum(sizes)}, the templates give {len(rows)} distinct "
            "ones; a prompt is never used twice: ask for fewer or add templates"
        )
    bounds = pairwise(accumulate(sizes, initial=0))
    splits = tuple(tuple(rows[start:end]) for start, end in bounds)
    for split in splits:
        _refuse_partial(split, rows, strata)
    return splits


def in_turn(groups: Sequence[Sequence[GeneratedPrompt]]) -> list[GeneratedPrompt]:
    """Take one row of each group in turn, until all are empty."""
    longest = max(map(len, groups))
    return [group[place] for place in range(longest) for group in groups if place < len(group)]


def _refuse_partial(split: Sequence[GeneratedPrompt], rows: Sequence[GeneratedPrompt], strata: int) -> None:
    if missing := {row.template for row in rows} - {row.template for row in split}:
        raise DeclarationError(
            f"a split of {len(split)} prompts has none from template {min(missing)!r}; ask for more prompts"
        )
    counts = Counter(row.opener for row in split)
    if len(counts) != strata or len(set(counts.values())) != 1:
        raise DeclarationError(
            f"a split of {len(split)} prompts has {dict(counts)} of the openers, want as many of each; "
            "an opener has no prompts left"
        )


def _refuse_repeats(rows: Sequence[GeneratedPrompt]) -> None:
    first: dict[Prompt, GeneratedPrompt] = {}
    for row in rows:
        if first.setdefault(row.prompt, row) is not row:
            raise DeclarationError(
                f"templates {first[row.prompt].template!r} and {row.template!r} both give prompt "
                f"{row.prompt}; repeated prompts would count one observation as several"
            )
