"""Rules that answer a prompt while it is read: only openers, and rules with states over the sequence.

What is known after some tokens is a tuple of small numbers. Where the answer turns on the last token, a
prompt is read once for each token that may be last, and only the reading that guessed it counts.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from .reading import fields, integer, integers, items, kind, require
from .work import NUMBER, STEP, paid, spend

Label = tuple[int, int]
"""The right answer, and the class: an opener, or the answer itself."""
Known = tuple[int, ...]
"""What a rule knows of some tokens."""
ABSENT = -1
_OF_TOKENS = ("maximum", "minimum", "first", "last", "most frequent", "after previous", "next above")
_CYCLIC = ("count", "sum")
SEQUENCE_RULES = (*_OF_TOKENS, *_CYCLIC, "automaton")
_GUESSING = ("after previous", "next above")
_MOST_STATES = 10_000


@dataclass(frozen=True, slots=True)
class OpenerRules:
    """The openers with their answers, and the openers of the classes."""

    answers: Mapping[int, int]
    classes: frozenset[int]

    def starts(self) -> tuple[Known, ...]:
        """Return how many openers of both kinds there were, and the last of each: none yet."""
        return ((0, 0, 0, 0),)

    def parts(self) -> list[tuple[int, ...]]:
        """Return the openers, each alone."""
        openers = {*self.answers, *self.classes}
        spend(NUMBER * len(openers))
        return [(opener,) for opener in sorted(openers)]

    def see(self, seen: Known, token: int) -> Known:
        """Return how many openers of both kinds there were, and the last of each."""
        count, opener, others, group = seen
        if token in self.answers:
            count, opener = min(count + 1, 2), token
        if token in self.classes:
            others, group = min(others + 1, 2), token
        return count, opener, others, group

    def is_guessed(self, seen: Known) -> bool:  # noqa: ARG002  # nothing is guessed
        """Say whether a guess about the last token was right."""
        return True

    def label(self, seen: Known) -> Label | None:
        """Return answer and class of a prompt, if it has just one opener of each kind."""
        count, opener, others, group = seen
        return (self.answers[opener], group) if count == others == 1 else None

    def contradicts(self, seen: Known, label: Label) -> bool:
        """Say whether a label cannot come any more."""
        count, opener, others, group = seen
        answer, wanted = label
        return (count > 0 and self.answers[opener] != answer) or (others > 0 and group != wanted)


@dataclass(frozen=True, slots=True)
class SequenceRule:
    """A rule of some kind about tokens in an order, or an automaton written out."""

    kind: str
    of: tuple[int, ...]
    """The tokens in their order; of an automaton those of all classes."""
    places: Mapping[int, int]
    """Where each token stands in the order; of an automaton its class."""
    answers: tuple[int, ...]
    """The answer at each place; of an automaton that of each state, where -1 is none."""
    moves: tuple[tuple[int, ...], ...] = ()
    """For each state of an automaton where each class leads."""

    def starts(self) -> tuple[Known, ...]:
        """Return what is known before the first token, for each guess about the last."""
        if self.kind in _GUESSING:
            spend(NUMBER * len(self.of))
            return tuple((guess, 0, ABSENT) for guess in range(ABSENT, len(self.of)))
        if self.kind == "most frequent":
            spend(NUMBER * len(self.of))
            return ((0,) * (1 + len(self.of)),)
        return ((0,),) if self.kind in (*_CYCLIC, "automaton") else ((ABSENT,),)

    def parts(self) -> list[tuple[int, ...]]:
        """Return sets of tokens that the rule treats alike: of most kinds, each token alone."""
        spend(NUMBER * len(self.of))
        if self.kind == "count":
            return [tuple(sorted(self.of))]
        if self.kind == "automaton":
            width = len(self.moves[0])
            spend(STEP * len(self.of) + NUMBER * width)
            found: list[list[int]] = [[] for _ in range(width)]
            for token in sorted(self.of):
                found[self.places[token]].append(token)
            return [tuple(members) for members in found]
        return [(token,) for token in sorted(self.of)]

    def see(self, seen: Known, token: int) -> Known:
        """Return what is known after one more token."""
        place = self.places.get(token, ABSENT)
        if self.kind in _GUESSING:
            return self._guessed(seen, place)
        if place == ABSENT:
            return seen
        if self.kind == "most frequent":
            return self._tallied(seen, place)
        return (self._followed(seen[0], place),)

    def _followed(self, old: int, place: int) -> int:
        """Return the number that is kept: the place of a token, the rest of a sum, an automaton's state."""
        if self.kind == "automaton":
            return self.moves[old][place]
        if self.kind in _CYCLIC:
            return (old + (1 if self.kind == "count" else place)) % len(self.answers)
        is_kept = old != ABSENT and (
            self.kind == "first"
            or (self.kind == "maximum" and old > place)
            or (self.kind == "minimum" and old < place)
        )
        return old if is_kept else place

    def _tallied(self, seen: Known, place: int) -> Known:
        """Return whether there was a token, and how often each more than the rarest."""
        spend(NUMBER * len(seen))
        tally = [old + (where == place) for where, old in enumerate(seen[1:])]
        least = min(tally)
        return (1, *(old - least for old in tally))

    def _guessed(self, seen: Known, place: int) -> Known:
        """Return the guess, whether it is the token just read, and the place that is found."""
        guess, was_last, found = seen
        if self.kind == "after previous":
            found = place if was_last and guess != ABSENT else found
        elif place > guess and (found == ABSENT or place < found):
            found = place
        return guess, int(place == guess), found

    def is_guessed(self, seen: Known) -> bool:
        """Say whether a guess about the last token was right."""
        return self.kind not in _GUESSING or seen[1] == 1

    def label(self, seen: Known) -> Label | None:
        """Return the answer twice, if there is one: it is the class too."""
        if self.kind == "most frequent":
            spend(NUMBER * len(seen))
            place = seen.index(max(seen[1:]), 1) - 1 if seen[0] else ABSENT
        else:
            place = seen[-1]
        answer = ABSENT if place == ABSENT else self.answers[place]
        return None if answer == ABSENT else (answer, answer)

    def contradicts(self, seen: Known, label: Label) -> bool:
        """Say whether a label cannot come any more, where that is plain; it only saves work."""
        place = self.places.get(label[0], ABSENT)
        if self.kind == "maximum":
            return seen[0] > place
        if self.kind in ("minimum", "first"):
            is_past = seen[0] < place if self.kind == "minimum" else seen[0] != place
            return seen[0] != ABSENT and is_past
        return False

    def outputs(self) -> Iterator[int]:
        """Return every token that may be the answer."""
        return (answer for answer in paid(self.answers, NUMBER) if answer != ABSENT)


def answers_of(rule: SequenceRule, prompts: Iterable[tuple[int, ...]], where: str) -> tuple[int, ...]:
    """Return the answer to each prompt, which has one."""
    found: list[int] = []
    for number, prompt in enumerate(prompts):
        label = None
        for start in rule.starts():
            seen = start
            for token in paid(prompt, NUMBER):
                seen = rule.see(seen, token)
            label = rule.label(seen) if rule.is_guessed(seen) else label
        require("rules_answer_each_prompt", label is not None, where, f"prompt {number}", prompt)
        found.append(label[0] if label else ABSENT)
    return tuple(found)


def read_rule(value: object, where: str, vocabulary: int) -> SequenceRule:
    """Read a rule of one of the kinds."""
    name = str(kind(value, where))
    if name == "automaton":
        return _read_automaton(value, where, vocabulary)
    if name in _CYCLIC:
        _, listed, told = fields(value, where, "kind", "of", "answers")
        answers = _tokens(told, where, vocabulary)
        require("rules_have_several_answers", len(answers) > 1, where, len(answers))
    else:
        _, listed = fields(value, where, "kind", "of")
        answers = _tokens(listed, where, vocabulary)
    of = _tokens(listed, where, vocabulary)
    places = _numbered(((token, place) for place, token in enumerate(of)), where)
    return SequenceRule(name, of, places, answers)


def _read_automaton(value: object, where: str, vocabulary: int) -> SequenceRule:
    _, classes, rows, told = fields(value, where, "kind", "tokens", "transitions", "answers")
    members = [_tokens(one, where, vocabulary) for one in items(classes, where)]
    moves = tuple(integers(row, where) for row in items(rows, where))
    count = len(moves)
    require("automata_have_few_states", 1 <= count <= _MOST_STATES, where, count, _MOST_STATES)
    are_full = all(len(row) == len(members) for row in paid(moves))
    require("states_have_a_transition_for_each_class", are_full, where, len(members))
    known = all(0 <= state < count for row in paid(moves) for state in paid(row))
    require("transitions_lead_to_states", known, where, count)
    require("classes_of_automata_have_tokens", members and all(members), where)
    pairs = [integers(pair, where) for pair in items(told, where)]
    are_pairs = pairs and all(len(pair) == len(("state", "answer")) for pair in paid(pairs))
    require("states_have_answers", are_pairs, where)
    answers = [ABSENT] * count
    for pair in pairs:
        state, answer = pair
        is_new = 0 <= state < count and answers[state] == ABSENT
        require("answers_are_of_states_once", is_new, where, state)
        answers[state] = integer(answer, where, 0, vocabulary - 1)
    listed = ((token, place) for place, one in enumerate(members) for token in paid(one, NUMBER))
    places = _numbered(listed, where)
    return SequenceRule("automaton", tuple(places), places, tuple(answers), moves)


def _tokens(value: object, where: str, vocabulary: int) -> tuple[int, ...]:
    return tuple(integer(entry, where, 0, vocabulary - 1) for entry in items(value, where))


def _numbered(pairs: Iterable[tuple[int, int]], where: str) -> dict[int, int]:
    """Return a number for each token, of which at least one is listed and none twice."""
    places: dict[int, int] = {}
    for token, place in pairs:
        require("rules_list_tokens_once", token not in places, where, token)
        places[token] = place
    require("rules_speak_of_tokens", places, where)
    return places
