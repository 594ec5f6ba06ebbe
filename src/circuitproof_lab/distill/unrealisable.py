"""Certificates that no program of a bounded language will do: every meaning with the prompt that refutes it.

The statement is about all programs of the language, by their meaning on the prompts of the targets: programs
with equal rows there decide alike. `recheck` lists the language anew, works out the rows of every refuted
program by the exact meaning, compares the two lists, and computes every refuting decision again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from safetensors.numpy import save

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Head
from circuitproof.circuits.spelling import parse_circuit, parse_nodes
from circuitproof.errors import InputError, InvalidError
from circuitproof.files.canonical import Digest, Json, digest_bytes, digest_json
from circuitproof.files.reading import Fields, reading_part
from circuitproof.find.choices import Objective
from circuitproof.forward.frozen import Frozen
from circuitproof.models.declaration import programs_to_json
from circuitproof.programs.candidates import Language, read_language
from circuitproof.programs.syntax import Program
from circuitproof.programs.text import parse, to_text
from circuitproof.proof.fold import fold
from circuitproof.tasks.task import Task
from circuitproof_lab.distill.decide import WrongDecision, with_program
from circuitproof_lab.distill.decision_target import DecisionTarget, targets_of
from circuitproof_lab.distill.meanings import Meanings, meaning_name
from circuitproof_lab.distill.prefix_table import PrefixTable


@dataclass(frozen=True, slots=True)
class RefutedMeaning:
    """The simplest program of a meaning, and a decision that it gets wrong."""

    program: Program
    refutation: WrongDecision


@dataclass(frozen=True, slots=True, kw_only=True)
class Unrealisable:
    """No program of `language` in the place of `head` makes all circuits decide as wanted on all prompts."""

    name: ClassVar[str] = "unrealisable"
    model: Digest
    head: Head
    objective: Objective
    tasks: tuple[Digest, ...]
    circuits: tuple[tuple[Circuit, ...], ...]
    """The circuits that were asked on each task."""
    language: Language
    digest: Digest
    """The digest of the list of meanings."""
    refuted: tuple[RefutedMeaning, ...]

    def to_json(self) -> Json:
        """Return the certificate as JSON that `read_unrealisable` reads back.

        Rules stand in one list. A refuted meaning is a list of numbers: the task, circuit and prompt that
        refute it, the place of its fallback in `otherwise` of the grammar, and the places of its rules.
        """
        rules: dict[str, int] = {}
        choices = self.language.grammar.otherwise
        refuted: list[Json] = []
        for one in self.refuted:
            lines = to_text(one.program).splitlines()[1:-1]
            places = [rules.setdefault(line, len(rules)) for line in lines]
            at = one.refutation
            refuted.append([at.target, at.circuit, at.prompt, choices.index(one.program.otherwise), *places])
        return {
            "model": str(self.model),
            "head": str(self.head),
            "objective": str(self.objective),
            "tasks": [str(task) for task in self.tasks],
            "circuits": [[circuit.to_json() for circuit in asked] for asked in self.circuits],
            "language": self.language.to_json(),
            "programs": self.language.program_count(),
            "meanings": len(self.refuted),
            "meanings_digest": str(self.digest),
            "rules": [*rules],
            "refuted": refuted,
        }


def read_unrealisable(fields: Fields) -> Unrealisable:
    """Read a certificate; that it is true is for `recheck` to say."""
    with reading_part(fields, "language") as part:
        language = read_language(part)
    circuits = tuple(_read_circuits(asked, fields.path("circuits")) for asked in fields.items("circuits"))
    if not circuits or not circuits[0]:
        raise InputError(f"{fields.path('circuits')} names no circuit; there is nothing to refute")
    (head,) = parse_nodes(fields.text("head"), circuits[0][0].graph, fields.path("head"))
    if not isinstance(head, Head):
        raise InputError(f"{fields.path('head')} is {head}, want a head")
    found = Unrealisable(
        model=Digest(fields.text("model")),
        head=head,
        objective=fields.choice("objective", Objective),
        tasks=tuple(map(Digest, fields.texts("tasks"))),
        circuits=circuits,
        language=language,
        digest=Digest(fields.text("meanings_digest")),
        refuted=_read_refuted(fields, language),
    )
    for key, count in (("programs", language.program_count()), ("meanings", len(found.refuted))):
        if fields.integer(key) != count:
            raise InvalidError(f"{fields.path(key)} is {fields.integer(key)}, but there are {count}")
    return found


def recheck(certificate: Unrealisable, frozen: Frozen, tasks: Sequence[Task]) -> None:
    """Accept a certificate about a model and tasks, or refuse it with a sentence."""
    if certificate.model != model_digest(frozen):
        raise InvalidError("the certificate is about another model: the digests differ")
    if certificate.tasks != tuple(task.digest for task in tasks):
        raise InvalidError("the certificate is about other tasks: the digests differ")
    if len(certificate.circuits) != len(tasks):
        raise InvalidError(
            f"the certificate has {len(certificate.circuits)} lists of circuits for {len(tasks)} tasks"
        )
    prefix_table = PrefixTable(tuple(prompt for task in tasks for prompt in task.prompts))
    _recheck_list(certificate, prefix_table)
    targets = targets_of(frozen, tasks, certificate.circuits, certificate.objective)
    for number, one in enumerate(certificate.refuted):
        if _decides_right(certificate, frozen, targets, number):
            raise InvalidError(
                f"refuted meaning {number} decides prompt {one.refutation.prompt} as wanted; "
                "its program is not refuted there"
            )


def model_digest(frozen: Frozen) -> Digest:
    """Return the digest of all that decisions depend on: architecture, programs and weights.

    Weights are written anew for it, so that it does not depend on the order of tensors in a file.
    """
    tensors = {
        name: np.frombuffer(frozen.file.raw(name), dtype="<f4").reshape(shape)
        for name, shape in frozen.file.shapes().items()
    }
    return digest_json(
        {
            "architecture": frozen.architecture.to_json(),
            "programs": programs_to_json(frozen.programs),
            "weights": str(digest_bytes(save(tensors))),
        }
    )


def _recheck_list(certificate: Unrealisable, prefix_table: PrefixTable) -> None:
    """Refuse a certificate unless it refutes just the meanings of its language."""
    language = certificate.language
    meanings = Meanings(prefix_table, language.grammar, prefix_table.own())
    meanings.learn(language.words)
    meanings.grow()
    names = {meaning_name(prefix_table.rows(one.program)) for one in certificate.refuted}
    listed = digest_bytes(b"".join(sorted(names)))
    if len(names) != len(certificate.refuted):
        raise InvalidError("the certificate refutes a meaning twice; want each once")
    if not meanings.digest == listed == certificate.digest:
        raise InvalidError(
            f"the certificate refutes {len(names)} meanings, its language has {len(meanings)}, "
            "and the digests of the two lists must be the one it states"
        )


def _decides_right(
    certificate: Unrealisable, frozen: Frozen, targets: Sequence[DecisionTarget], number: int
) -> bool:
    one = certificate.refuted[number]
    at = one.refutation
    try:
        target = targets[at.target]
        circuit, prompt = target.circuits[at.circuit], target.task.prompts[at.prompt]
    except IndexError as error:
        raise InvalidError(f"refuted meaning {number}: its task, circuit or prompt is not there") from error
    installed = with_program(frozen, certificate.head, one.program)
    (found,) = fold(installed, target.task.candidates, [circuit], [prompt]).of(circuit)
    return found.decision == frozenset({target.wanted[at.prompt]})


def _read_circuits(asked: object, where: str) -> tuple[Circuit, ...]:
    return tuple(parse_circuit(one, where) for one in Fields({"circuits": asked}, where).items("circuits"))


def _read_refuted(fields: Fields, language: Language) -> tuple[RefutedMeaning, ...]:
    rules, choices = fields.texts("rules"), language.grammar.otherwise
    found: list[RefutedMeaning] = []
    for number, row in enumerate(fields.integer_rows("refuted")):
        where = f"{fields.path('refuted')}[{number}]"
        match row:
            case (target, circuit, prompt, choice, *places) if (
                min(row) >= 0 and choice < len(choices) and max(places, default=-1) < len(rules)
            ):
                lines = [rules[place] for place in places]
                program = parse("\n".join(["default 0", *lines, f"otherwise {choices[choice]}"]), where)
                found.append(RefutedMeaning(program, WrongDecision(target, circuit, prompt)))
            case _:
                raise InputError(f"{where} is {[*row]}, want task, circuit, prompt, fallback and known rules")
    return tuple(found)
