"""Whether a program equals a surrogate on a whole domain: by going through it, and by two solvers."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, assert_never

from circuitproof.errors import InputError
from circuitproof.files.canonical import write_file
from circuitproof.proof.verdict import Verdict
from circuitproof.solvers.results import Failed, Satisfiable, Solver, Unknown, Unsatisfiable
from circuitproof.solvers.rulings import DisagreementError
from circuitproof_lab.surrogate.network import Network
from circuitproof_lab.surrogate.queries import disagreement, spelled_word, symbols
from circuitproof_lab.surrogate.template import FilledTemplate, MooreMachine, Signature
from circuitproof_lab.surrogate.words import Word


@dataclass(frozen=True, slots=True)
class Same:
    """There is no word on which the two disagree."""


@dataclass(frozen=True, slots=True)
class Differs:
    """They disagree on this word."""

    word: Word


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """The question was not answered, and why."""

    reason: str


Reply: TypeAlias = Same | Differs | NoAnswer


@dataclass(frozen=True, slots=True)
class WordCounterexample:
    """A word and what both say to it, computed exactly."""

    word: Word
    program: int
    surrogate: frozenset[int]
    """The maximal answers; more than one is a tie, which equals no answer."""


@dataclass(frozen=True, slots=True)
class EquivalenceReplies:
    """The replies to one question by the name of who gave them, and the counterexample if there is one."""

    replies: Mapping[str, Reply]
    counterexample: WordCounterexample | None

    @property
    def verdict(self) -> Verdict:
        """Return what the replies come to; those without an answer count for nothing."""
        if self.counterexample is not None:
            return Verdict.REFUTED
        is_proved = any(isinstance(reply, Same) for reply in self.replies.values())
        return Verdict.PROVED if is_proved else Verdict.UNDECIDED


@dataclass(frozen=True, slots=True)
class Examiners:
    """Who is asked, for how long, and where a question goes that they contradict each other on."""

    solvers: tuple[Solver, ...]
    seconds: float
    dispute: Path


def compare(program: FilledTemplate, network: Network, examiners: Examiners) -> EquivalenceReplies:
    """Ask whether a program equals a surrogate on every word.

    A domain that can be listed is gone through; the solvers see symbolic words in any case. Every
    counterexample is computed again, and answers that contradict each other are an error.
    """
    if program.signature != Signature(network.shape.words, network.shape.answers):
        raise InputError("the program and the surrogate have different tokens, answers or lengths")
    automaton, text = program.automaton, disagreement(program.automaton, network)
    replies: dict[str, Reply] = {}
    if network.shape.words.is_listable:
        replies["enumeration"] = enumerate_words(automaton, network)
    wanted = symbols(network.shape.words)
    for solver in examiners.solvers:
        match solver.solve(text, wanted, examiners.seconds):
            case Unsatisfiable():
                replies[solver.name] = Same()
            case Satisfiable(values):
                replies[solver.name] = Differs(spelled_word(network.shape.words, values))
            case Unknown(reason) | Failed(reason):
                replies[solver.name] = NoAnswer(reason)
            case _ as result:
                assert_never(result)
    return _settle(automaton, network, replies, (text, examiners.dispute))


def enumerate_words(automaton: MooreMachine, network: Network) -> Reply:
    words = list(network.shape.words)
    row = automaton.row(network.shape.words).tolist()
    for word, answer, found in zip(words, row, network.decide(words), strict=True):
        if found != frozenset({answer}):
            return Differs(word)
    return Same()


def replay(automaton: MooreMachine, network: Network, word: Word) -> WordCounterexample | None:
    """Compute what both say to a word, and return it if they disagree."""
    (found,) = network.decide([word])
    answer = automaton.answer(word)
    return WordCounterexample(word, answer, found) if found != frozenset({answer}) else None


def describe(reply: Reply) -> str:
    match reply:
        case Same():
            return "proved"
        case Differs(word):
            return f"refuted by {list(word)}"
        case NoAnswer(reason):
            return f"no answer: {reason}"
        case _:
            assert_never(reply)


def _settle(
    automaton: MooreMachine, network: Network, replies: Mapping[str, Reply], question: tuple[str, Path]
) -> EquivalenceReplies:
    differing = [reply.word for reply in replies.values() if isinstance(reply, Differs)]
    is_proved = any(isinstance(reply, Same) for reply in replies.values())
    inside = [word for word in differing if word in network.shape.words]
    replayed = [found for word in inside if (found := replay(automaton, network, word)) is not None]
    if (differing and is_proved) or len(replayed) != len(differing):
        text, path = question
        write_file(path, text.encode())
        said = "; ".join(f"{name}: {describe(reply)}" for name, reply in replies.items())
        raise DisagreementError(
            f"the answers contradict each other ({said}); nothing is decided, see {path}", text
        )
    return EquivalenceReplies(replies, min(replayed, key=lambda one: (len(one.word), one.word), default=None))
