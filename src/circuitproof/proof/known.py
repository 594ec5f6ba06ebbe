"""Questions about decisions, with three answers: yes, no, and that nobody knows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from circuitproof.errors import NotExactError
from circuitproof.files.reading import shown
from circuitproof.proof.enclosed import NOT_KNOWN, Decision, Enclosed, EnclosedNumber, NotKnown, Ternary
from circuitproof.proof.fold import CandidateLogits, Fold


@dataclass(frozen=True, slots=True)
class Divided:
    """Places at which a question has the answer yes, at which no, and at which nobody knows."""

    yes: tuple[int, ...]
    no: tuple[int, ...]
    open: tuple[int, ...]


def divide(answers: Iterable[Ternary]) -> Divided:
    """Return where a question asked at one place after another has which answer."""
    found = list(enumerate(answers))
    return Divided(
        tuple(place for place, answer in found if answer is True),
        tuple(place for place, answer in found if answer is False),
        tuple(place for place, answer in found if isinstance(answer, NotKnown)),
    )


def all_of(answers: Iterable[Ternary]) -> Ternary:
    """Say whether all answers are yes: one no is enough to know that they are not."""
    found = divide(answers)
    return False if found.no else NOT_KNOWN if found.open else True


def same(one: Decision, other: Decision) -> Ternary:
    """Say whether two decisions are the same; what is not known is not even the same as itself."""
    if isinstance(one, NotKnown) or isinstance(other, NotKnown):
        return NOT_KNOWN
    return one == other


def same_decision(one: CandidateLogits, other: CandidateLogits) -> Ternary:
    """Say whether the same candidates are maximal."""
    return same(one.decision, other.decision)


def decides(found: CandidateLogits, place: int) -> Ternary:
    """Say whether one candidate leads alone."""
    return same(found.decision, frozenset({place}))


def is_clear(decision: Decision) -> Ternary:
    """Say whether some candidate leads alone."""
    return decision if isinstance(decision, NotKnown) else len(decision) == 1


def is_changed(before: CandidateLogits, after: CandidateLogits) -> Ternary:
    """Say whether a clear decision is another afterwards, or a tie."""
    is_same = same_decision(before, after)
    if is_clear(before.decision) is False:
        return False
    return is_same if isinstance(is_same, NotKnown) else not is_same


def changed_places(before: Sequence[CandidateLogits], after: Sequence[CandidateLogits]) -> Divided:
    """Divide prompts by whether their clear decision is another afterwards, or a tie."""
    return divide(is_changed(one, other) for one, other in zip(before, after, strict=True))


def changes_nothing(before: Sequence[CandidateLogits], after: Sequence[CandidateLogits]) -> Ternary:
    """Say whether every clear decision is still the same."""
    changed = changed_places(before, after)
    return False if changed.yes else NOT_KNOWN if changed.open else True


def same_logits(one: CandidateLogits, other: CandidateLogits) -> Ternary:
    """Say whether logits are the same numbers, which enclosed ones never are for certain."""
    if isinstance(one, Fold) and isinstance(other, Fold):
        return one == other
    left, right = _enclosed(one), _enclosed(other)
    scale = left.unit / right.unit
    numbers = left.numbers if scale == 1 else tuple(number * scale for number in left.numbers)
    reach = left.reach * scale + right.reach
    are_apart = any(abs(a - b) > reach for a, b in zip(numbers, right.numbers, strict=True))
    return False if are_apart else NOT_KNOWN


def _enclosed(found: CandidateLogits) -> Enclosed:
    return found if isinstance(found, Enclosed) else Enclosed(found.logits, Fraction(0))


def least_lead(found: CandidateLogits) -> Fraction:
    """Return by how much what leads does so at least."""
    margin = found.margin(found.leader)
    return margin.least if isinstance(margin, EnclosedNumber) else margin


def exact_folds(found: Iterable[CandidateLogits]) -> tuple[Fold, ...]:
    """Return logits where only exact ones will do."""
    folds = tuple(found)
    exact = tuple(one for one in folds if isinstance(one, Fold))
    if len(exact) < len(folds):
        raise NotExactError("logits are enclosed where exact ones are wanted; claim in exact arithmetic")
    return exact


def known_decision(found: CandidateLogits) -> frozenset[int]:
    """Return a decision on which a proof rests, which therefore is known."""
    if isinstance(found.decision, NotKnown):
        raise TypeError("a proof rests on a decision that is not known")
    return found.decision


def open_words(what: str, found: Iterable[CandidateLogits]) -> str:
    """Say what is open, and the smallest margin of its enclosed logits with its radius."""
    return f"{what} open, as logits are known up to a radius: {margin_words(found)}"


def margin_words(found: Iterable[CandidateLogits]) -> str:
    """Return the smallest margin of enclosed logits with its radius."""
    margins = [one.margin(one.leader) for one in found if isinstance(one, Enclosed)]
    least = min(margins, key=lambda margin: margin.midpoint)
    return f"the smallest margin is {shown(least.midpoint)} with a radius of {shown(least.radius)}"
