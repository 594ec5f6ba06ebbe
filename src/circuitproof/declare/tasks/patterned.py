"""Tasks on all prompts of a pattern: answers and classes are rules about the only opener of a prompt."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from circuitproof.declare.tasks.alphabet import Alphabet
from circuitproof.declare.tasks.automaton import Automaton, State, automaton
from circuitproof.declare.tasks.domain import Prompt
from circuitproof.declare.tasks.pattern_text import Sets, parse_pattern, print_pattern
from circuitproof.declare.tasks.patterns import Pattern, Tokens, read_pattern
from circuitproof.declare.tasks.task import OnlyOpener, SameOpener, read_rules
from circuitproof.errors import DeclarationError, InputError
from circuitproof.text.canonical import Digest, Json, digest_json
from circuitproof.text.reading import Fields, reading_part


@dataclass(frozen=True, slots=True, order=True)
class Label:
    """What the rules say of a prompt: its right answer, and the opener that is its class."""

    answer: int
    group: int


Seen: TypeAlias = tuple[int | None, int | None]
"""The answer's opener and the class's opener, as far as a prompt has been read."""
NOTHING_SEEN: Seen = (None, None)


_MOST_TOKENS = 1 << 21


@dataclass(frozen=True)
class SymbolicTask:
    """What is asked, on every prompt of a pattern. Holding one is proof that each has just one answer."""

    name: str
    vocabulary: int
    candidates: tuple[int, ...]
    pattern: Pattern
    answer: OnlyOpener
    relation: SameOpener
    names: tuple[tuple[int, str], ...] = ()
    """What some tokens are called, for readers."""

    def __post_init__(self) -> None:
        if len(set(self.candidates)) != len(self.candidates) or len(self.candidates) < 2:  # noqa: PLR2004  # a choice
            raise DeclarationError(
                f"{self.name}: candidates are {self.candidates}, want two or more, all distinct"
            )
        if not 1 <= self.vocabulary <= _MOST_TOKENS:
            raise DeclarationError(f"{self.name}: vocabulary is {self.vocabulary}, want 1 to {_MOST_TOKENS}")
        for token in (
            *self.candidates,
            *(opener for opener, _ in self.answer.answers),
            *self.relation.openers,
        ):
            if not 0 <= token < self.vocabulary:
                raise DeclarationError(
                    f"{self.name}: token {token} is unknown; "
                    f"the vocabulary has tokens 0 to {self.vocabulary - 1}"
                )
        for opener, answer in self.answer.answers:
            if answer not in self.candidates:
                raise DeclarationError(
                    f"{self.name}: answer {answer} to opener {opener} is not among "
                    f"candidates {self.candidates}"
                )
        self._refuse_unknown_names()
        self._refuse_undefined()

    @property
    def classes(self) -> tuple[Tokens, ...]:
        """Return the classes that tell the openers apart."""
        openers = {*(opener for opener, _ in self.answer.answers), *self.relation.openers}
        return tuple(Tokens((opener,)) for opener in sorted(openers))

    @cached_property
    def machine(self) -> Automaton:
        """Return the automaton of the pattern, its atoms telling the openers apart."""
        return self.machine_of(())

    @property
    def size(self) -> int:
        """Return how many prompts there are."""
        return self.machine.size

    def machine_of(self, further: tuple[Tokens, ...]) -> Automaton:
        """Return the automaton with atoms that also respect further classes."""
        return automaton(self.pattern, self.vocabulary, tuple(dict.fromkeys((*self.classes, *further))))

    def see(self, seen: Seen, token: int) -> Seen | None:
        """Return what is seen after a token; nothing after a second opener."""
        answers, groups = self._openers
        if (token in answers and seen[0] is not None) or (token in groups and seen[1] is not None):
            return None
        return (token if token in answers else seen[0], token if token in groups else seen[1])

    def label(self, seen: Seen) -> Label | None:
        """Return the label of a prompt that ends so; nothing if an opener is missing."""
        opener, group = seen
        return None if opener is None or group is None else Label(self._openers[0][opener], group)

    def labels(self) -> tuple[Label, ...]:
        """Return the labels that some prompt has, in order."""
        return self._labels

    @cached_property
    def _labels(self) -> tuple[Label, ...]:
        found = {self.label(seen) for _, seen in self._ends() if seen is not None}
        return tuple(sorted(label for label in found if label is not None))

    def examples(self) -> tuple[Prompt, ...]:
        """Return a shortest prompt of each label, in the order of labels."""
        found: dict[Label, Prompt] = {}
        for prompt, seen in self._ends():
            if seen is not None and (label := self.label(seen)) is not None:
                found.setdefault(label, prompt)
        return tuple(found[label] for label in sorted(found))

    def may_become(self, seen: Seen, label: Label) -> bool:
        """Say whether what is seen so far does not rule a label out."""
        opener, group = seen
        return (opener is None or self._openers[0][opener] == label.answer) and group in (None, label.group)

    def label_of(self, prompt: Prompt) -> Label:
        """Return the label of a prompt of the pattern."""
        seen: Seen | None = NOTHING_SEEN
        for token in prompt:
            seen = None if seen is None else self.see(seen, token)
        found = None if seen is None else self.label(seen)
        if found is None or prompt not in self.machine:
            raise InputError(f"{self.name}: prompt {prompt} is not one of the pattern")
        return found

    def lengths(self) -> tuple[int, ...]:
        """Return how many tokens prompts of the pattern have, in order."""
        return tuple(sorted({len(prompt) for prompt, _ in self._ends()}))

    def refuse_other_alphabet(self, alphabet: Alphabet | None) -> None:
        """Refuse a model that calls a named token otherwise; a model without an alphabet cannot tell."""
        if alphabet is None:
            return
        for token, name in self.names:
            own = alphabet.names[token] if token < len(alphabet) else None
            if own != name:
                found = "has no name" if own is None else f"is called {own!r}"
                raise InputError(
                    f"the model's alphabet is not that of task {self.name!r}: token {token}, {name!r} there, "
                    f"{found} in the model; mend [names]"
                )

    def text(self, prompt: Prompt) -> str:
        """Return a prompt as a person reads it."""
        names = dict(self.names)
        return " ".join(names.get(token, f"<{token}>") for token in prompt)

    @property
    def digest(self) -> Digest:
        """Return the digest of the whole declaration."""
        return digest_json(self.to_json())

    def to_json(self) -> dict[str, Json]:
        """Return the whole declaration, the pattern included."""
        return {
            **self._rules(),
            "vocabulary": self.vocabulary,
            "domain": {"pattern": self.pattern.to_json()},
        }

    def in_claim(self) -> dict[str, Json]:
        """Return the task as it stands in a claim; the pattern is the domain and stands apart."""
        return {**self._rules(), "declaration": str(self.digest)}

    def _rules(self) -> dict[str, Json]:
        return {
            "name": self.name,
            "names": {str(token): name for token, name in self.names},
            "candidates": list(self.candidates),
            "answer": {"kind": "only opener", "answers": [list(pair) for pair in self.answer.answers]},
            "relation": {"kind": "same opener", "openers": list(self.relation.openers)},
        }

    @cached_property
    def _openers(self) -> tuple[Mapping[int, int], frozenset[int]]:
        return dict(self.answer.answers), frozenset(self.relation.openers)

    def _refuse_unknown_names(self) -> None:
        named = [token for token, _ in self.names]
        if outside := [token for token in named if not 0 <= token < self.vocabulary]:
            raise DeclarationError(
                f"{self.name}: token {outside[0]} has a name, "
                f"but the vocabulary has tokens 0 to {self.vocabulary - 1}"
            )
        if len(set(named)) != len(named):
            repeated = next(token for token in named if named.count(token) > 1)
            raise DeclarationError(f"{self.name}: token {repeated} has two names; give it one")

    def _refuse_undefined(self) -> None:
        """Refuse a pattern of no prompt, or of one without just one opener, which is then shown."""
        text = print_pattern(self.pattern)
        if self.machine.accepts(self.machine.start):
            raise DeclarationError(f"{self.name}: {text!r} denotes the empty prompt, want at least one token")
        if not self.size:
            raise DeclarationError(
                f"{self.name}: {text!r} denotes no prompt; a claim about nothing says nothing"
            )
        for prompt, seen in self._ends():
            if seen is None or self.label(seen) is None:
                wanted = sorted(self._openers[0])
                raise DeclarationError(
                    f"{self.name}: {text!r} denotes prompt {_shown(prompt)}, which does not hold just one of "
                    f"the openers {wanted} (and of the relation's); add 'with exactly 1 of {wanted}'"
                )

    def _ends(self) -> Iterator[tuple[Prompt, Seen | None]]:
        """Return for each way to end one prompt that ends so, and what was seen on the way."""
        machine = self.machine
        layer: dict[tuple[State, Seen | None], Prompt] = {(machine.start, NOTHING_SEEN): ()}
        for position in range(self.pattern.longest):
            after: dict[tuple[State, Seen | None], Prompt] = {}
            for (state, seen), prompt in layer.items():
                for atom, members in enumerate(machine.atoms):
                    if (target := machine.step(state, atom, position)) is not None:
                        then = None if seen is None else self.see(seen, members[0])
                        after.setdefault((target, then), (*prompt, members[0]))
            yield from ((prompt, seen) for (state, seen), prompt in after.items() if machine.accepts(state))
            layer = after


def _shown(prompt: Prompt) -> str:
    most = 12
    return str(prompt) if len(prompt) <= most else f"({', '.join(map(str, prompt[:most]))}, ...)"


def read_symbolic_task(fields: Fields) -> SymbolicTask:
    """Read a declaration as `SymbolicTask.to_json` writes it."""
    with reading_part(fields, "domain") as part, reading_part(part, "pattern") as written:
        pattern = read_pattern(written)
    answer, relation = read_rules(fields)
    if not isinstance(answer, OnlyOpener) or not isinstance(relation, SameOpener):
        raise InputError(f"{fields.where} has a table, but answers and classes on a pattern are rules")
    return SymbolicTask(
        name=fields.text("name"),
        vocabulary=fields.integer("vocabulary", least=1),
        candidates=fields.integers("candidates"),
        pattern=pattern,
        answer=answer,
        relation=relation,
        names=_read_names(fields),
    )


def read_written_pattern(fields: Fields, text: str | None = None) -> SymbolicTask:
    """Read a task as a person writes it; `text` is the pattern, where it is not the file's own.

        name = "quotes"
        vocabulary = 50257
        candidates = [1, 6]
        answers = [[366, 1], [705, 6]]
        pattern = "any{1..1024} with exactly 1 of openers"
        [sets]
        openers = [366, 705]

    `classes`, the openers of the relation, are those of the answers unless they are given; `[names]` gives
    tokens names for readers.
    """
    sets: Sets = {}
    if fields.has("sets"):
        with reading_part(fields, "sets") as part:
            sets = {name: part.integers(name) for name in part.keys()}  # noqa: SIM118  # Fields is not a mapping
    rows = fields.integer_rows("answers")
    if wrong := [row for row in rows if len(row) != 2]:  # noqa: PLR2004  # opener and answer
        raise InputError(f"{fields.path('answers')} has the row {list(wrong[0])}, want [opener, answer]")
    pairs = tuple((row[0], row[1]) for row in rows)
    spelled = fields.text("pattern") if fields.has("pattern") and text is None else text
    if spelled is None:
        raise InputError(f"{fields.path('pattern')} is missing; write it there or give one with --pattern")
    classes = fields.integers("classes") if fields.has("classes") else tuple(opener for opener, _ in pairs)
    return SymbolicTask(
        name=fields.text("name"),
        vocabulary=fields.integer("vocabulary", least=1),
        candidates=fields.integers("candidates"),
        pattern=parse_pattern(spelled, sets, fields.path("pattern") if text is None else "--pattern"),
        answer=OnlyOpener(pairs),
        relation=SameOpener(classes),
        names=_read_names(fields),
    )


def _read_names(fields: Fields) -> tuple[tuple[int, str], ...]:
    if not fields.has("names"):
        return ()
    with reading_part(fields, "names") as part:
        keys = part.keys()
        if wrong := [key for key in keys if not key.isdecimal() or not key.isascii()]:
            raise InputError(f"{part.where} has a key {wrong[0]!r}, want a token's number")
        return tuple(sorted((int(key), part.text(key)) for key in keys))
