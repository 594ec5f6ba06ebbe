"""Prompts of a declared task, dealt out as a generator deals its own: balanced, hashed, without repeats."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from circuitproof.files.canonical import Digest, digest_json
from circuitproof.tasks.generator import GeneratedPrompt, Generator, in_turn, vocabulary_digest
from circuitproof.tasks.task import Task


@dataclass(frozen=True, slots=True)
class TaskPrompts:
    """A task's listed prompts as a supply of development data and gates."""

    declared: Task
    salt: str
    """Changes the order and nothing else."""

    @property
    def task(self) -> str:
        return self.declared.name

    @property
    def answers(self) -> tuple[tuple[str, str], ...]:
        """Return every right answer that occurs, as its own stratum."""
        names = self.declared.tokens.names
        return tuple((names[answer], names[answer]) for answer in dict.fromkeys(self.declared.answers()))

    @property
    def digest(self) -> Digest:
        """Return the digest of everything that the order depends on."""
        return digest_json([str(self.declared.digest), self.salt])

    @property
    def vocabulary_digest(self) -> Digest:
        return vocabulary_digest(self.declared.tokens)

    @property
    def tokenizer_digest(self) -> Digest:
        """Return that of the names: the prompts are declared as tokens."""
        return self.vocabulary_digest

    def order(self) -> tuple[GeneratedPrompt, ...]:
        """Return every prompt once: answers take turns, and among an answer's prompts its strata do."""
        rows = sorted(self._rows(), key=lambda row: str(digest_json([self.salt, list(row.prompt)])))
        strata = self.declared.listed.sizes()

        def dealt(answer: str) -> list[GeneratedPrompt]:
            own = [row for row in rows if row.opener == answer]
            return in_turn([[row for row in own if row.template == stratum] for stratum in strata])

        return tuple(in_turn([dealt(answer) for answer, _ in self.answers]))

    def make_task(self, rows: Sequence[GeneratedPrompt]) -> Task:
        """Return the task on the prompts of some rows."""
        places = {prompt: place for place, prompt in enumerate(self.declared.prompts)}
        return self.declared.only([places[row.prompt] for row in rows])

    def _rows(self) -> list[GeneratedPrompt]:
        task, names = self.declared, self.declared.tokens.names
        listed = zip(task.prompts, task.answers(), task.listed.strata, strict=True)
        return [GeneratedPrompt(prompt, names[answer], group, group) for prompt, answer, group in listed]


PromptSource: TypeAlias = Generator | TaskPrompts
"""Where the prompts of a protocol's task come from: templates of its own, or a declared task."""
