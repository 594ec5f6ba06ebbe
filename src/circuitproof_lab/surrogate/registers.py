"""Templates with one small register: predicates on tokens, toggles, and counters with thresholds."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import cast

from circuitproof_lab.surrogate.template import Fill, Holes, MachineState, Signature, effects

_YES, _NO = "yes", "no"
_STAY, _FLIP = "stay", "flip"
_EVEN, _ODD = "even", "odd"
_UP, _DOWN, _RESET = "up", "down", "reset"
_MOVES = {_STAY: 0, _UP: 1, _DOWN: -1}
_FREE, _GUARDED = "always", "only while the other is even"


@dataclass(frozen=True, slots=True)
class Constant:
    """The same answer to every word."""

    name: str = "constant"
    start: MachineState = 0

    def holes(self, signature: Signature) -> Holes:
        return {"always": signature.answers.names}

    def step(self, _fill: Fill, state: MachineState, _token: str) -> MachineState:
        return state

    def answer(self, fill: Fill, _state: MachineState) -> str:
        return fill["always"]

    def lines(self, fill: Fill, _signature: Signature) -> tuple[str, ...]:
        return (f"answer {fill['always']} always",)


class When(StrEnum):
    """Which token of a word a predicate is about."""

    LAST = "last"
    EVER = "ever"
    FIRST = "first"


@dataclass(frozen=True, slots=True)
class Predicate:
    """One answer if the last, the first or any token is in a set, another if not."""

    when: When
    start: MachineState = None

    @property
    def name(self) -> str:
        return str(self.when)

    def holes(self, signature: Signature) -> Holes:
        tokens = {f"in {token}": (_NO, _YES) for token in signature.tokens}
        return tokens | {"outside": signature.answers.names, "inside": signature.answers.names}

    def step(self, fill: Fill, state: MachineState, token: str) -> MachineState:
        is_settled = (self.when is When.EVER and state == _YES) or (self.when is When.FIRST and state)
        return state if is_settled else fill[f"in {token}"]

    def answer(self, fill: Fill, state: MachineState) -> str:
        return fill["inside" if state == _YES else "outside"]

    def lines(self, fill: Fill, signature: Signature) -> tuple[str, ...]:
        chosen = [token for token in signature.tokens if fill[f"in {token}"] == _YES]
        subject = {When.LAST: "the last token", When.FIRST: "the first token", When.EVER: "any token"}
        test = f"{subject[self.when]} is one of {{{', '.join(chosen)}}}"
        return (f"answer {fill['inside']} if {test}", f"answer {fill['outside']} if not")


@dataclass(frozen=True, slots=True)
class Toggle:
    """A bit that some tokens flip."""

    name: str = "toggle"
    start: MachineState = _EVEN

    def holes(self, signature: Signature) -> Holes:
        tokens = {f"on {token}": (_STAY, _FLIP) for token in signature.tokens}
        return tokens | dict.fromkeys((_EVEN, _ODD), signature.answers.names)

    def step(self, fill: Fill, state: MachineState, token: str) -> MachineState:
        return _flipped(state) if fill[f"on {token}"] == _FLIP else state

    def answer(self, fill: Fill, state: MachineState) -> str:
        return fill[str(state)]

    def lines(self, fill: Fill, signature: Signature) -> tuple[str, ...]:
        answers = (f"answer {fill[value]} when {value}" for value in (_EVEN, _ODD))
        return (f"bit, even at first; {effects(fill, signature, 'on {}', _STAY)}", *answers)


@dataclass(frozen=True, slots=True)
class Toggles:
    """Two bits, each flipped by tokens of its own, perhaps guarded by the other."""

    name: str = "toggles"
    start: MachineState = (_EVEN, _EVEN)

    def holes(self, signature: Signature) -> Holes:
        first = {f"first on {token}": (_STAY, _FLIP) for token in signature.tokens}
        second = {f"second on {token}": (_STAY, _FLIP) for token in signature.tokens}
        pairs = {f"{one} {other}": signature.answers.names for one, other in _PAIRS}
        return first | second | {"flips": (_FREE, _GUARDED)} | pairs

    def step(self, fill: Fill, state: MachineState, token: str) -> MachineState:
        one, other = _pair(state)
        flips_one = fill[f"first on {token}"] == _FLIP and self._may(fill, other)
        flips_other = fill[f"second on {token}"] == _FLIP and self._may(fill, one)
        return (_flipped(one) if flips_one else one, _flipped(other) if flips_other else other)

    def answer(self, fill: Fill, state: MachineState) -> str:
        return fill[" ".join(_pair(state))]

    def lines(self, fill: Fill, signature: Signature) -> tuple[str, ...]:
        answers = (f"answer {fill[f'{one} {other}']} when {one}, {other}" for one, other in _PAIRS)
        return (
            f"first bit, even at first; {effects(fill, signature, 'first on {}', _STAY)}",
            f"second bit, even at first; {effects(fill, signature, 'second on {}', _STAY)}",
            f"a bit flips {fill['flips']}",
            *answers,
        )

    def _may(self, fill: Fill, other: str) -> bool:
        return other == _EVEN or fill["flips"] == _FREE


@dataclass(frozen=True, slots=True)
class Counter:
    """A count from zero that tokens raise, lower (never below zero) or reset, read by thresholds."""

    thresholds: int
    start: MachineState = 0

    @property
    def name(self) -> str:
        return f"counter {self.thresholds}"

    def holes(self, signature: Signature) -> Holes:
        tokens = {f"on {token}": (_STAY, _UP, _DOWN, _RESET) for token in signature.tokens}
        rising = combinations(range(1, signature.words.longest + 1), self.thresholds)
        levels = {f"level {level}": signature.answers.names for level in range(self.thresholds + 1)}
        return tokens | {"thresholds": tuple(" ".join(map(str, chosen)) for chosen in rising)} | levels

    def step(self, fill: Fill, state: MachineState, token: str) -> MachineState:
        effect = fill[f"on {token}"]
        return 0 if effect == _RESET else max(_number(state) + _MOVES[effect], 0)

    def answer(self, fill: Fill, state: MachineState) -> str:
        reached = sum(_number(state) >= threshold for threshold in _thresholds(fill))
        return fill[f"level {reached}"]

    def lines(self, fill: Fill, signature: Signature) -> tuple[str, ...]:
        levels = reversed(list(enumerate(_thresholds(fill), start=1)))
        answers = (
            f"answer {fill[f'level {level}']} when the count is at least {least}" for level, least in levels
        )
        effect = effects(fill, signature, "on {}", _STAY)
        return (f"count, 0 at first, never below; {effect}", *answers, f"answer {fill['level 0']} otherwise")


_PAIRS = tuple((one, other) for one in (_EVEN, _ODD) for other in (_EVEN, _ODD))


def _flipped(bit: MachineState) -> str:
    return _EVEN if bit == _ODD else _ODD


def _pair(state: MachineState) -> tuple[str, str]:
    return cast("tuple[str, str]", state)


def _number(state: MachineState) -> int:
    return cast("int", state)


def _thresholds(fill: Fill) -> tuple[int, ...]:
    return tuple(map(int, fill["thresholds"].split()))
