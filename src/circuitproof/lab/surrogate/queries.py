"""The question to a solver: is there a word on which an automaton and a surrogate disagree?

The word is symbolic: a truth value for each position and token, so the text grows with the length of the
words and not with their number. The logits are multiplied by a common denominator, layer by layer, which
changes no decision because max(z, 0) commutes with it; so every number in the text is a whole one.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import lcm

from circuitproof.lab.surrogate.network import Layer, Network
from circuitproof.lab.surrogate.program import MooreMachine
from circuitproof.lab.surrogate.words import Word, Words


def disagreement(automaton: MooreMachine, network: Network) -> str:
    """Return SMT-LIB text that is satisfiable if and only if the two disagree on some word.

    They agree where the answer of the automaton is the only maximal one of the surrogate; a tie disagrees.
    """
    return "\n".join(
        [
            "(set-logic QF_LRA)",
            *_word(network.shape.words),
            *_layers(network),
            *_states(automaton, network.shape.words),
            *_difference(automaton, network),
            "(check-sat)",
            "",
        ]
    )


def symbols(words: Words) -> tuple[str, ...]:
    """Return the names of the truth values that spell the word."""
    return tuple(_at(p, t) for p in range(words.longest) for t in range(len(words.tokens)))


def spelled_word(words: Words, values: Mapping[str, object]) -> Word:
    """Return the word that a solver's values spell; a value that it left out may be anything, so false."""
    word: list[int] = []
    for position in range(words.longest):
        word += [token for token in range(len(words.tokens)) if values.get(_at(position, token)) is True]
    return tuple(word)


def _word(words: Words) -> Iterator[str]:
    """At each position at most one token, none after a position without one, and enough of them."""
    tokens = range(len(words.tokens))
    for position in range(words.longest):
        yield from (f"(declare-const {_at(position, token)} Bool)" for token in tokens)
        for one, other in combinations(tokens, 2):
            yield f"(assert (not (and {_at(position, one)} {_at(position, other)})))"
        present = " ".join(_at(position, token) for token in tokens)
        yield f"(define-fun {_present(position)} () Bool (or {present}))"
        if position < words.shortest:
            yield f"(assert {_present(position)})"
        else:
            yield f"(assert (=> {_present(position)} {_present(position - 1)}))"


def _layers(network: Network) -> Iterator[str]:
    scale = 1
    inputs: Sequence[str] = [f"(ite {symbol} 1.0 0.0)" for symbol in symbols(network.shape.words)]
    for place, layer in enumerate(network.layers):
        (bias,) = layer.bias.fractions()
        rows = layer.weight.fractions()
        above = _common(scale, layer)
        for unit, (row, shift) in enumerate(zip(rows, bias, strict=True)):
            total = _sum([weight * above / scale for weight in row], inputs, shift * above)
            yield f"(declare-const {_before(place, unit)} Real)"
            yield f"(assert (= {_before(place, unit)} {total}))"
            if place + 1 < len(network.layers):
                name = _before(place, unit)
                yield f"(declare-const {_after(place, unit)} Real)"
                yield f"(assert (= {_after(place, unit)} (ite (> {name} 0.0) {name} 0.0)))"
        inputs = [_after(place, unit) for unit in range(len(rows))]
        scale = above


def _states(automaton: MooreMachine, words: Words) -> Iterator[str]:
    """Say after how many tokens the automaton is in which state; it rests where the word has ended."""
    states = range(len(automaton.steps))
    for state in states:
        yield f"(define-fun {_in(0, state)} () Bool {'true' if state == 0 else 'false'})"
    for position in range(words.longest):
        sources: dict[int, list[str]] = {
            state: [f"(and {_in(position, state)} (not {_present(position)}))"] for state in states
        }
        for state in states:
            for token, after in enumerate(automaton.steps[state]):
                sources[after].append(f"(and {_in(position, state)} {_at(position, token)})")
        for state in states:
            yield f"(define-fun {_in(position + 1, state)} () Bool {_any(sources[state])})"


def _difference(automaton: MooreMachine, network: Network) -> Iterator[str]:
    end, last = network.shape.words.longest, len(network.layers) - 1
    cases: list[str] = []
    for state, answer in enumerate(automaton.answers):
        others = [unit for unit in range(len(network.shape.answers)) if unit != answer]
        beaten = [f"(>= {_before(last, other)} {_before(last, answer)})" for other in others]
        cases.append(f"(and {_in(end, state)} {_any(beaten)})")
    yield f"(assert {_any(cases)})"


def _common(scale: int, layer: Layer) -> int:
    """Return a multiple of `scale` that makes a layer's outputs whole if `scale` does so for its inputs."""
    weights = lcm(*(entry.denominator for row in layer.weight.fractions() for entry in row))
    biases = lcm(*(entry.denominator for entry in layer.bias.fractions()[0]))
    return lcm(scale * weights, biases)


def _sum(factors: Sequence[Fraction], terms: Sequence[str], constant: Fraction) -> str:
    parts = [f"(* {_whole(f)} {term})" for f, term in zip(factors, terms, strict=True) if f]
    return f"(+ {_whole(constant)} {' '.join(parts)})" if parts else _whole(constant)


def _whole(value: Fraction) -> str:
    return f"{value.numerator}.0" if value >= 0 else f"(- {-value.numerator}.0)"


def _any(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"(or {' '.join(parts)})"


def _at(position: int, token: int) -> str:
    return f"token_{position}_{token}"


def _present(position: int) -> str:
    return f"present_{position}"


def _before(layer: int, unit: int) -> str:
    return f"sum_{layer}_{unit}"


def _after(layer: int, unit: int) -> str:
    return f"relu_{layer}_{unit}"


def _in(position: int, state: int) -> str:
    return f"state_{position}_{state}"
