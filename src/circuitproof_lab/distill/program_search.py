"""The one search for a head's program: which candidates are formed, in which order they are decided.

The whole bounded language is ranked at once, or it grows (`Growth.GUIDED`): the search then begins without
any token, position or distance to speak of, and as long as every program over its words is refuted, the best
of them shows which word it lacks: counterexample-guided inductive synthesis (CEGIS). Guided search finds a
program of few words, the other one of large overlap. Who decides candidates is given: the exact engine, or
floats.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from circuitproof.errors import OverdueError
from circuitproof.programs.candidates import Language, NamedOperand, words_of
from circuitproof.proof.effort import Pace
from circuitproof.tasks.domain import Prompt
from circuitproof_lab.distill.attention import AttentionRecord
from circuitproof_lab.distill.choices import Growth
from circuitproof_lab.distill.decide import WrongDecision, growing
from circuitproof_lab.distill.meanings import Meanings
from circuitproof_lab.distill.separate import separating_word
from circuitproof_lab.distill.synthesis import Bounds, Leader, SearchEffort

_FIRST_BLOCK, _LARGEST_BLOCK = 64, 4096
_LEADERS = 10


class Decides(Protocol):
    """Who decides candidates for a head."""

    pace: Pace
    decisions: int
    """How many decisions were computed."""

    def refutations(self, meanings: Meanings, places: Sequence[int]) -> Iterator[WrongDecision | None]:
        """Yield for each candidate a decision that is wrong, or nothing; none is asked after nothing."""
        ...

    def read_queries(self, target: int, prompt: int) -> Sequence[Prompt]:
        """Return the prefixes of a prompt at which the head is read."""
        ...


class ProgramSearch:
    """A search while it goes on."""

    def __init__(self, decider: Decides, seen: AttentionRecord, bounds: Bounds) -> None:
        self.record, self.bounds, self.decider = seen, bounds, decider
        self.meanings = Meanings(seen.prefix_table, bounds.grammar, seen.support)
        self.refuted: dict[int, WrongDecision] = {}
        self.accepted: int | None = None
        """The first candidate that nothing refutes."""
        self._rounds = 0
        self._formed = 0
        words = words_of(seen.prefix_table.prompts, bounds.grammar) if bounds.words is None else bounds.words
        self._pending = list(dict.fromkeys(words))

    def run(self) -> str | None:
        """Walk until a candidate is accepted or none is left; return which bound was met, if one was."""
        try:
            return self._walk()
        except OverdueError:
            refuted, formed = len(self.refuted), len(self.meanings)
            return f"the work was ended with {refuted} of {formed} meanings refuted"

    def _walk(self) -> str | None:
        """Take words in one by one, or all at once, and decide the programs that they allow."""
        fresh: list[NamedOperand] = []
        if self.bounds.growth is not Growth.GUIDED:
            fresh, self._pending = self._pending, []
        while (reason := self._learn(fresh)) is None:
            self._rounds += 1
            self.accepted = self._try(self.meanings.grow(self.decider.pace))
            if self.accepted is not None:
                return None
            if not self._pending:
                return self._passed_over()
            fresh = [self._lacking()]
            self._pending.remove(fresh[0])
        return reason

    def effort(self) -> SearchEffort:
        return SearchEffort(
            rounds=self._rounds,
            words=len(self.meanings.words),
            programs=self.meanings.language.program_count(),
            meanings=len(self.meanings),
            tried=len(self.refuted) + (self.accepted is not None),
            decisions=self.decider.decisions,
        )

    def leaders(self) -> tuple[Leader, ...]:
        """Return the candidates nearest to the head's attention, and the accepted one."""
        places = sorted(range(len(self.meanings)), key=self.meanings.rank)[:_LEADERS]
        if self.accepted is not None and self.accepted not in places:
            places.append(self.accepted)
        return tuple(
            Leader(self.meanings.program(place), self.meanings.overlaps[place], place == self.accepted)
            for place in places
        )

    def _learn(self, words: Sequence[NamedOperand]) -> str | None:
        """Take in words; return why not, if the programs they allow are too many."""
        language = Language(self.bounds.grammar, (*self.meanings.words, *words))
        if language.rule_count() > self.bounds.budget:
            return self._too_many(language.rule_count(), "rules", language)
        self._formed += self.meanings.learn(words)
        if self._formed > self.bounds.budget:
            return self._too_many(self._formed, "programs", language)
        return None

    def _too_many(self, count: int, what: str, language: Language) -> str:
        words, most = len(language.words), self.bounds.budget
        return f"{count} {what} over {words} words, more than {most}; want smaller bounds or a larger budget"

    def _try(self, places: Iterable[int]) -> int | None:
        """Decide candidates in order of rank; return the first that is accepted."""
        near = [place for place in places if self.meanings.overlaps[place] >= self.bounds.overlap]
        for block in growing(sorted(near, key=self.meanings.rank), _FIRST_BLOCK, 4, _LARGEST_BLOCK):
            self.decider.pace.hear("meanings", len(self.refuted), len(self.meanings))
            for place, refutation in zip(block, self.decider.refutations(self.meanings, block), strict=True):
                if refutation is None:
                    return place
                self.refuted[place] = refutation
        return None

    def _lacking(self) -> NamedOperand:
        """Return the word that the best candidate so far lacks."""
        best = min(range(len(self.meanings)), key=self.meanings.rank)
        at = self.refuted.get(best)
        read = (
            self.record.prefix_table.prefixes
            if at is None
            else self.decider.read_queries(at.target, at.prompt)
        )
        return separating_word(self.meanings, self.record, best, read, self._pending)

    def _passed_over(self) -> str | None:
        """Say how many candidates were too far from the head to be decided, if there are any."""
        if passed := len(self.meanings) - len(self.refuted):
            return (
                f"{len(self.refuted)} meanings are refuted, {passed} overlap less than {self.bounds.overlap} "
                "with the head and were passed over; want a smaller least overlap"
            )
        return None
