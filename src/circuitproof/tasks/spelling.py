"""Tokens as people write them: by number, by name, as they are shown, or as text that a tokenizer reads."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from circuitproof.errors import InputError
from circuitproof.files.reading import Fields
from circuitproof.tasks.alphabet import Alphabet, Vocabulary
from circuitproof.tasks.domain import Prompt


@dataclass(frozen=True, slots=True)
class Spelling:
    """How tokens are written: `numbers` are names; with `encode`, prompts are texts and not names."""

    numbers: Mapping[str, int]
    encode: Callable[[str], Prompt] | None = None
    used: set[int] = field(default_factory=set[int])
    """The tokens that were not written as numbers."""
    whose: str = "the alphabet"
    """What the names are of."""

    def token(self, entry: object, where: str) -> int:
        if isinstance(entry, int) and not isinstance(entry, bool):
            return entry
        if not isinstance(entry, str):
            raise self._refusal(entry, where)
        found = self._text_token(entry, where)
        self.used.add(found)
        return found

    def _text_token(self, entry: str, where: str) -> int:
        tokens = () if self.encode is None else self.encode(entry)
        if len(tokens) == 1:
            return tokens[0]
        if entry in self.numbers:
            return self.numbers[entry]
        if tokens:
            raise InputError(f"{where} is {entry!r}, which is {len(tokens)} tokens {list(tokens)}, want one")
        raise self._refusal(entry, where)

    def _refusal(self, entry: object, where: str) -> InputError:
        said = entry if isinstance(entry, Decimal) else repr(entry)
        return InputError(
            f"{where} is {said}, want a token's number or one of the {len(self.numbers)} names "
            f"of {self.whose}"
        )

    def prompt(self, entry: object, where: str) -> Prompt:
        """Return the prompt that a text, or a list of numbers and names, means."""
        if isinstance(entry, str) and self.encode is not None:
            return self.encode(entry)
        parts = entry.split() if isinstance(entry, str) else entry
        if not isinstance(parts, list):
            raise InputError(f"{where} is {entry!r}, want a text of names or a list of tokens")
        tokens: list[object] = [*parts]  # pyright: ignore[reportUnknownVariableType]  # entries of unread TOML
        return tuple(self.token(part, f"{where}[{place}]") for place, part in enumerate(tokens))

    def tokens(self, fields: Fields, key: str) -> tuple[int, ...]:
        return self.prompt(list(fields.items(key)), fields.path(key))


def output_spelling(outputs: Alphabet) -> Spelling:
    """Return how answers are written that are no tokens."""
    return replace(spelling_of(outputs, is_text=False), whose="the outputs")


def spelling_of(alphabet: Alphabet, *, is_text: bool) -> Spelling:
    """Return how tokens are written in a task over an alphabet: by names, or as text."""
    shown = alphabet.named().meant
    if is_text:
        return Spelling(shown, alphabet.encode)
    return Spelling({**shown, **{name: token for token, name in enumerate(alphabet.names)}})


def pattern_spelling(vocabulary: Vocabulary, model: Alphabet | None) -> Spelling:
    """Return how tokens are written beside a pattern: by the file's own names, the model's, or as text."""
    theirs = dict[str, int]() if model is None else spelling_of(model, is_text=False).numbers
    own = vocabulary.named()
    numbers = {**theirs, **own.meant, **{name: token for token, name in own.items()}}
    return Spelling(numbers, None if model is None else model.encode)
