"""Logits of a model or a circuit on prompts, exact or enclosed; to compare with another forward."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias

from circuitproof.arithmetic.rounding import nearest_double
from circuitproof.circuits.circuit import Circuit
from circuitproof.errors import UsageError, asked_for
from circuitproof.files.canonical import Json
from circuitproof.files.printing import shown_text
from circuitproof.files.reading import write_rational
from circuitproof.forward.frozen import Frozen
from circuitproof.models.declaration import Declaration
from circuitproof.proof.claim import refuse_other_graph
from circuitproof.proof.effort import Effort
from circuitproof.proof.enclosed import NotKnown
from circuitproof.proof.fold import CandidateLogits, Fold, fold
from circuitproof.proof.inexact import Need, has_exact_logits, refuse_inexact
from circuitproof.tasks.alphabet import Alphabet, Vocabulary, token_of
from circuitproof.tasks.domain import LAST, Prompt, refuse_without_position
from circuitproof.tasks.names import TokenNames, named, prompt_line
from circuitproof.verbs.asked import asked_circuit, asked_model, refuse_length
from circuitproof.verbs.enclosing import enclose
from circuitproof.verbs.frame import frame_of

Spelled: TypeAlias = str | int
"""A token: its name, what is shown of it, its text, its number, or its number in a text."""


@dataclass(frozen=True)
class TokenSpelling:
    """How tokens of a model are spelled: by name, as text where it has a tokenizer, and by number."""

    declaration: Declaration

    @property
    def alphabet(self) -> Alphabet | Vocabulary:
        """Return the names of the model's tokens, or that there are so many without."""
        named = self.declaration.alphabet
        return Vocabulary(self.declaration.architecture.vocabulary) if named is None else named

    @property
    def outputs(self) -> Alphabet | Vocabulary:
        """Return what the logits are called: as tokens are, or by numbers where outputs are no tokens."""
        count = self.declaration.architecture.outputs
        return self.alphabet if count is None else Vocabulary(count)

    def output(self, spelled: Spelled) -> int:
        """Return the logit that is meant: that of a token, or where outputs are no tokens its number."""
        count = self.declaration.architecture.outputs
        if count is None:
            return self.token(spelled)
        found = token_of(str(spelled), {}, count)
        if found is None:
            said = shown_text(str(spelled))
            raise UsageError(f"{said!r} is no output of the model; its outputs are 0 to {count - 1}")
        return found

    @property
    def encode(self) -> Callable[[str], Prompt] | None:
        """Return what reads text, where the model comes with its tokenizer."""
        return None if self.declaration.alphabet is None else self.declaration.alphabet.encode

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """Return the token of every name and, where no name is the same, of what is shown of one."""
        names = self.alphabet.named()
        return {**names.meant, **{name: token for token, name in names.items()}}

    def token(self, spelled: Spelled) -> int:
        """Return the token that a word, a text or a number means; another one is refused."""
        size = self.declaration.architecture.vocabulary
        if isinstance(spelled, str) and spelled not in self.numbers and len(read := self._read(spelled)) == 1:
            return read[0]
        token = token_of(str(spelled), {} if isinstance(spelled, int) else self.numbers, size)
        if token is None:
            known = f"0 to {size - 1}" + (f", or one of {len(self.alphabet)} names" if self.numbers else "")
            raise UsageError(f"{shown_text(str(spelled))!r} is no token of the model; its tokens are {known}")
        return token

    def prompt(self, spelled: str | Sequence[Spelled]) -> Prompt:
        """Return the prompt that a text, or a sequence of tokens, means.

        Where the model has no tokenizer, a text is names or numbers of tokens between blanks.
        """
        if isinstance(spelled, str) and self.encode is not None:
            prompt = self.encode(spelled)
        else:
            prompt = tuple(map(self.token, spelled.split() if isinstance(spelled, str) else spelled))
        refuse_length(prompt, self.declaration.architecture.context)
        return prompt

    def _read(self, text: str) -> Prompt:
        return () if self.encode is None else self.encode(text)


@dataclass(frozen=True, slots=True)
class Logits:
    """The logits of candidates at a position of each prompt: exact, or each within a radius."""

    alphabet: Alphabet | Vocabulary
    prompts: tuple[Prompt, ...]
    candidates: tuple[int, ...]
    folds: tuple[CandidateLogits, ...]
    are_all: bool
    """No candidates were asked for, so these are all tokens."""
    precision: int | None = None
    """How precisely logits are enclosed, in bits; nothing where they are exact."""
    outputs: Alphabet | Vocabulary | None = None
    """What candidates are called where they are no tokens."""

    @property
    def answer_names(self) -> TokenNames:
        """Return what candidates are called."""
        return (self.outputs or self.alphabet).named()

    @property
    def values(self) -> tuple[tuple[Fraction, ...], ...]:
        """Return the logits of each prompt, in the order of the candidates; midpoints of enclosed ones."""
        return tuple(one.logits if isinstance(one, Fold) else one.midpoints for one in self.folds)

    @property
    def radii(self) -> tuple[Fraction, ...]:
        """Return how far the logits of each prompt are at most from `values`: 0 where they are exact."""
        return tuple(Fraction(0) if isinstance(one, Fold) else one.radius for one in self.folds)

    def floats(self) -> tuple[tuple[float, ...], ...]:
        """Return the double nearest to each of `values`, in the same order."""
        return tuple(tuple(map(nearest_double, row)) for row in self.values)

    def to_frame(self) -> Any:  # noqa: ANN401  # pandas is optional, so its type is not at hand
        """Return a row for each prompt and candidate, in floats; needs pandas."""
        places = [(x, y) for x in range(len(self.prompts)) for y in range(len(self.candidates))]
        floats, names = self.floats(), self.answer_names
        return frame_of(
            {
                "prompt": [self.text(x) for x, _ in places],
                "token": [self.candidates[y] for _, y in places],
                "name": [named(names, self.candidates[y]) for _, y in places],
                "logit": [floats[x][y] for x, y in places],
                **self._radii_column(places),
            }
        )

    def _radii_column(self, places: Sequence[tuple[int, int]]) -> dict[str, list[float]]:
        """Return how far each logit is off at most, where that is not nothing."""
        if self.precision is None:
            return {}
        return {"radius": [nearest_double(self.radii[x]) for x, _ in places]}

    def to_json(self) -> Json:
        """Return every logit, exactly or as midpoint and radius, and as the nearest double."""
        bits: dict[str, Json] = {} if self.precision is None else {"precision": self.precision}
        prompts: list[Json] = [self._prompt_to_json(place) for place in range(len(self.prompts))]
        return {"candidates": list(self.candidates), **bits, "prompts": prompts}

    def _prompt_to_json(self, place: int) -> Json:
        names, values = self.alphabet.named(), self.values[place]
        decision = self.folds[place].decision
        radius = {} if self.precision is None else {"radius": write_rational(self.radii[place])}
        is_open = isinstance(decision, NotKnown)
        return {
            "prompt": list(self.prompts[place]),
            "text": [named(names, token) for token in self.prompts[place]],
            "logits": [write_rational(value) for value in values],
            **radius,
            "floats": [*map(_finite, values)],
            "largest": None if is_open else [self.candidates[y] for y in sorted(decision)],
        }

    def text(self, place: int) -> str:
        """Return a prompt as people see it."""
        return prompt_line(self.alphabet.named(), self.prompts[place])


def _finite(value: Fraction) -> float | None:
    """Return the nearest double, which JSON can write; nothing where it is infinite."""
    return near if isfinite(near := nearest_double(value)) else None


def find_logits(  # noqa: PLR0913  # the same
    model: Path | Frozen,
    prompts: Sequence[str | Sequence[Spelled]],
    circuit: Path | Circuit | None = None,
    candidates: Sequence[Spelled] | None = None,
    effort: Effort | None = None,
    *,
    position: int = LAST,
) -> Logits:
    """Return logits at a position of prompts, of some outputs or of all.

    They are exact where every operator has an exact value, and otherwise enclosed: ever more precisely, until
    each radius is about that of a double and decisions are known, or the bits of the `effort` are reached.
    """
    frozen = asked_model(model).at(position)
    spelling = TokenSpelling(frozen.declaration)
    kept = asked_circuit(circuit, frozen.graph)
    refuse_other_graph(frozen, kept)
    asked = range(frozen.architecture.predicted) if candidates is None else map(spelling.output, candidates)
    chosen = tuple(dict.fromkeys(asked))
    if not (prompts and chosen):
        raise UsageError("no logits are asked for; give at least one prompt, and one candidate if any")
    read = tuple(map(spelling.prompt, prompts))
    with asked_for():
        refuse_without_position(read, position, "logits")
    outputs = spelling.outputs
    if has_exact_logits(frozen, kept):
        folds = exact_logits(frozen, kept, chosen, read)
        return Logits(spelling.alphabet, read, chosen, folds, candidates is None, outputs=outputs)
    found = enclose(frozen, kept, chosen, read, effort or Effort())
    bits = found.numbers.precision
    return Logits(spelling.alphabet, read, chosen, found.logits, candidates is None, bits, outputs)


def exact_logits(
    frozen: Frozen, circuit: Circuit, tokens: tuple[int, ...], prompts: Sequence[Prompt]
) -> tuple[Fold, ...]:
    """Return the exact logits of tokens after prompts, unless the circuit computes what has none."""
    refuse_other_graph(frozen, circuit)
    refuse_inexact(frozen, circuit, Need.LOGITS)
    return fold(frozen, tokens, [circuit], prompts).of(circuit)
