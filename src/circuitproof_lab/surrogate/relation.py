"""The teacher relation: the one answer that a teacher gives to every word of a bounded domain."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.canonical import Digest, Json, digest_json
from circuitproof.files.reading import Fields, read_json, reading
from circuitproof.tasks.alphabet import Alphabet
from circuitproof_lab.records.surrogate import Basis
from circuitproof_lab.surrogate.template import Signature
from circuitproof_lab.surrogate.words import Word, Words, read_words

_MOST_ANSWERS = 256
"""A meaning is stored with a byte per word."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A teacher as a function on all words of a domain. Holding one is proof that no word lacks an answer."""

    name: str
    words: Words
    answers: Alphabet
    """The names of the possible answers."""
    decided: tuple[int, ...]
    """For each word in the order of the domain, which answer it has."""
    basis: Basis = Basis.LISTED

    def __post_init__(self) -> None:
        self.words.refuse_unlistable()
        if not 2 <= len(self.answers) <= _MOST_ANSWERS:  # noqa: PLR2004  # a choice
            raise DeclarationError(
                f"{self.name}: {len(self.answers)} possible answers, want 2 to {_MOST_ANSWERS}: "
                f"a single one leaves no question"
            )
        if len(self.decided) != len(self.words):
            raise DeclarationError(f"{self.name}: {len(self.decided)} answers to {len(self.words)} words")
        if not all(0 <= answer < len(self.answers) for answer in self.decided):
            raise DeclarationError(f"{self.name}: an answer is outside 0 to {len(self.answers) - 1}")

    @property
    def signature(self) -> Signature:
        """What a program must read and answer to be compared with the teacher."""
        return Signature(self.words, self.answers)

    def answer(self, word: Word) -> int:
        return self.decided[self.words.place(word)]

    @property
    def digest(self) -> Digest:
        """Return the digest of the domain, the answers' names and every answer."""
        return digest_json(self.to_json())

    def to_json(self) -> dict[str, Json]:
        tokens, answers = self.words.tokens.names, self.answers.names
        rows: list[Json] = [
            {"input": [tokens[token] for token in word], "answer": answers[answer]}
            for word, answer in zip(self.words, self.decided, strict=True)
        ]
        return {
            "name": self.name,
            **self.words.to_json(),
            "answers": list(self.answers.names),
            "basis": str(self.basis),
            "rows": rows,
        }


def load_relation(path: Path) -> Relation:
    """Read a teacher from a JSON table, whoever made it."""
    with reading(read_json(path), str(path)) as fields:
        return read_relation(fields)


def read_relation(fields: Fields) -> Relation:
    """Read a table that answers every word of its domain, each just once."""
    words, answers = read_words(fields), Alphabet(fields.texts("answers"))
    words.refuse_unlistable()
    rows = fields.each("rows", lambda row: _read_row(row, words, answers))
    basis = fields.choice("basis", Basis) if fields.has("basis") else Basis.LISTED
    return Relation(fields.text("name"), words, answers, _in_order(fields, words, answers, rows), basis)


def _read_row(fields: Fields, words: Words, answers: Alphabet) -> tuple[Word, int]:
    word, answer = words.listed(fields.texts("input"), fields.path("input")), fields.text("answer")
    if answer not in answers.names:
        raise InputError(f"{fields.path('answer')} is {answer!r}, want one of {list(answers.names)}")
    return word, answers.token(answer)


def _in_order(
    fields: Fields, words: Words, answers: Alphabet, rows: Sequence[tuple[Word, int]]
) -> tuple[int, ...]:
    found: dict[Word, int] = {}
    for word, answer in rows:
        if found.setdefault(word, answer) != answer:
            both = f"{answers.names[found[word]]!r} and {answers.names[answer]!r}"
            raise InputError(
                f"{fields.path('rows')} gives input '{words.tokens.text(word)}' two answers, {both}; "
                f"a teacher has one answer to each input"
            )
    if len(rows) != len(found):
        raise InputError(f"{fields.path('rows')} lists an input twice; list each once")
    if missing := [word for word in words if word not in found]:
        raise InputError(
            f"{fields.path('rows')} lacks {len(missing)} of {len(words)} inputs, "
            f"first '{words.tokens.text(missing[0])}'; list every input"
        )
    return tuple(found[word] for word in words)
