"""A bounded language of programs: what conditions may say, how many make a rule, how many rules there are.

A `Grammar` says which kinds of condition there are and how many of each thing; the *words* are the tokens,
positions and distances that conditions may name. Both together are a `Language`: a finite set of programs
that can be counted without listing it, listed, and written into a certificate.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, product
from math import comb

from circuitproof.errors import DeclarationError
from circuitproof.files.canonical import Json
from circuitproof.files.codec import Codec, record_to_json, to_json
from circuitproof.files.reading import Fields, reading_part
from circuitproof.programs.atoms import Bracketed, Brackets, Condition, Link, PairEnd, Tally
from circuitproof.programs.features import Comparison, Feature, WordKind
from circuitproof.programs.syntax import Formula, Otherwise, Pick, Program, Rule, Scan, any_of, atoms
from circuitproof.programs.text import to_text


@dataclass(frozen=True, slots=True)
class NamedOperand:
    """A token, position or distance that conditions may name."""

    kind: WordKind
    number: int

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"


FEATURES = tuple(feature for feature in Feature if feature is not Feature.ABSOLUTE_DISTANCE)
"""Every feature but the absolute distance, which for causal keys is the relative one."""

_ORDERED = (Comparison.EQUAL, Comparison.UNEQUAL, Comparison.AT_MOST, Comparison.AT_LEAST)
_NAMED = (Comparison.EQUAL, Comparison.UNEQUAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """How large programs may be and what their conditions may be about.

    The default weight of every program is 0: a rule without conditions says the same at the price of a rule.
    """

    rules: int = 2
    """The most rules of a program."""
    conditions: int = 1
    """The most conditions of a rule, all of which must hold."""
    alternatives: int = 1
    """The most alternatives that `or` joins in a condition."""
    members: int = 2
    """The most tokens of a membership."""
    features: tuple[Feature, ...] = FEATURES
    picks: tuple[Pick, ...] = ()
    """The scans for keys that hold a token of a membership."""
    brackets: tuple[Brackets, ...] = ()
    """What may be asked for its unmatched opener or the partner of a closer."""
    depth: int = 0
    """Up to what depth of the brackets conditions count; 0 for none that do."""
    weights: tuple[Fraction, ...] = (Fraction(1),)
    otherwise: tuple[Otherwise, ...] = (Otherwise.SELF,)

    def __post_init__(self) -> None:
        for name in ("rules", "conditions", "alternatives", "members"):
            if getattr(self, name) < 1:
                raise DeclarationError(f"grammar: {name} is {getattr(self, name)}, want at least 1")
        if self.depth < 0 or (self.depth and not self.brackets):
            raise DeclarationError(f"grammar: depth is {self.depth}, want 0, or more with brackets to count")
        if not self.otherwise:
            raise DeclarationError("grammar: no choice for otherwise, want at least one")
        if not self.weights or min(self.weights) <= 0:
            raise DeclarationError("grammar: want at least one weight, each above 0")
        for name in ("features", "picks", "brackets", "weights", "otherwise"):
            chosen = getattr(self, name)
            if len(set(chosen)) != len(chosen):
                raise DeclarationError(f"grammar: {name} lists something twice; give each once")

    def kinds(self) -> frozenset[WordKind]:
        """Return the kinds of words that some condition can name."""
        named = {feature.words for feature in self.features if feature.words is not None}
        return frozenset(named | ({WordKind.TOKEN} if self.picks else set()))

    def to_json(self) -> Json:
        return {**record_to_json(self), "brackets": to_json([one.pairs for one in self.brackets])}


@dataclass(frozen=True, slots=True)
class Language:
    """Every program of a grammar over some words. A program is a multiset of rules: order says nothing."""

    grammar: Grammar
    words: tuple[NamedOperand, ...]

    def singles(self) -> tuple[Formula, ...]:
        """Return the conditions that are not joined from others."""
        grammar = self.grammar
        plain = [atom for feature in grammar.features for atom in self._compared(feature)]
        memberships = self._memberships(Feature.KEY_TOKEN)
        scans = [Scan(pick, one) for pick, one in product(grammar.picks, memberships)]
        links = [Bracketed(link, pairs) for pairs, link in product(grammar.brackets, Link)]
        bound = grammar.depth
        counted = product(grammar.brackets, PairEnd, range(bound + 1) if bound else ())
        tallies = [Tally(place, pairs, bound, Comparison.EQUAL, n) for pairs, place, n in counted]
        return (*plain, *scans, *links, *tallies)

    def conditions(self) -> tuple[Formula, ...]:
        """Return every condition: the single ones and those that `or` joins."""
        singles = self.singles()
        sizes = range(2, self.grammar.alternatives + 1)
        return (*singles, *(any_of(chosen) for size in sizes for chosen in combinations(singles, size)))

    def condition_count(self) -> int:
        """Return how many conditions there are, without joining them."""
        count = len(self.singles())
        return count + sum(comb(count, size) for size in range(2, self.grammar.alternatives + 1))

    def rule_count(self) -> int:
        count, sizes = self.condition_count(), range(self.grammar.conditions + 1)
        return len(self.grammar.weights) * sum(comb(count, size) for size in sizes)

    def program_count(self) -> int:
        return len(self.grammar.otherwise) * multiset_count(self.rule_count(), self.grammar.rules)

    def to_json(self) -> Json:
        words: dict[str, Json] = {str(kind): [*self._numbers(kind)] for kind in WordKind}
        return {"grammar": self.grammar.to_json(), "words": words}

    def _numbers(self, kind: WordKind) -> list[int]:
        return sorted(word.number for word in self.words if word.kind is kind)

    def _compared(self, feature: Feature) -> Iterator[Formula]:
        if feature.words is None:
            yield from (Condition(feature, Comparison.EQUAL, value) for value in (True, False))
            return
        is_token = feature.words is WordKind.TOKEN
        for comparison in _NAMED if is_token else _ORDERED:
            for number in self._numbers(feature.words):
                yield Condition(feature, comparison, number)
        if is_token:
            yield from (one for one in self._memberships(feature) if len(one.numbers()) > 1)

    def _memberships(self, feature: Feature) -> list[Condition]:
        """Return what says that a token is one of a few: of one, by equality."""
        tokens = self._numbers(WordKind.TOKEN)
        single = [Condition(feature, Comparison.EQUAL, token) for token in tokens]
        sizes = range(2, self.grammar.members + 1)
        chosen = [members for size in sizes for members in combinations(tokens, size)]
        return [*single, *(Condition(feature, Comparison.AMONG, members) for members in chosen)]


def multiset_count(things: int, most: int) -> int:
    """Return how many multisets of at most so many things there are.

    >>> multiset_count(3, 2)
    10
    """
    return sum(comb(things + size - 1, size) if size else 1 for size in range(most + 1))


def words_of(prompts: Iterable[Sequence[int]], grammar: Grammar) -> tuple[NamedOperand, ...]:
    """Return the words of some prompts that a grammar can name: tokens, then positions, then distances."""
    listed = list(prompts)
    places = range(max(map(len, listed), default=0))
    numbers: dict[WordKind, Iterable[int]] = {
        WordKind.TOKEN: sorted({*chain.from_iterable(listed)}),
        WordKind.POSITION: places,
        WordKind.DISTANCE: places,
    }
    kinds = grammar.kinds()
    return tuple(NamedOperand(kind, number) for kind in WordKind if kind in kinds for number in numbers[kind])


def simplicity(rule: Rule) -> int:
    """Return a number that is larger for a rule that is less simple; for a program, add those of its rules.

    Fewer rules are simpler, then fewer comparisons in all, then a shorter text.
    """
    text = to_text(Program(Fraction(0), (rule,), Otherwise.SELF)).splitlines()[1]
    comparisons = sum(1 for condition in rule.conditions for _ in atoms(condition))
    return (1 << 40) + (comparisons << 20) + len(text)


def read_language(fields: Fields) -> Language:
    with reading_part(fields, "grammar") as part:
        grammar = Codec({Brackets: _read_brackets}).whole(Grammar, part)
    with reading_part(fields, "words") as part:
        words = tuple(NamedOperand(kind, number) for kind in WordKind for number in part.integers(kind))
    return Language(grammar, words)


def _read_brackets(fields: Fields, key: str) -> Brackets:
    return Brackets(Codec().value(tuple[tuple[int, int], ...], fields, key))
