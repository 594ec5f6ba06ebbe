"""Tasks as a person writes them: prompts one by one, from templates, or all of a pattern."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf

from circuitproof.errors import InputError
from circuitproof.files.reading import Fields, reading_part
from circuitproof.tasks.alphabet import Alphabet, Vocabulary, read_vocabulary
from circuitproof.tasks.answer_rules import SequenceRule, rule_answer
from circuitproof.tasks.candidates import AskedCandidates
from circuitproof.tasks.domain import LAST, Domain, Prompt, places_of
from circuitproof.tasks.openers import listed_opener_task
from circuitproof.tasks.pattern_text import Sets, parse_pattern
from circuitproof.tasks.rules import AnswerTable, ClassTable, OnlyOpener, SameAnswer, SameOpener
from circuitproof.tasks.spelling import Spelling, output_spelling, pattern_spelling, spelling_of
from circuitproof.tasks.task import Task
from circuitproof.tasks.templates import read_filled
from circuitproof.tasks.written_rules import read_written_rule

_OF_THE_MODEL, _TEXT = "model", "text"


_LONGEST_NAME = 100


def read_written(fields: Fields, model: Alphabet | None) -> Task:
    """Read a task that lists its prompts or gives templates; `model` names its tokens."""
    alphabet = _read_alphabet(fields, model)
    spelling = spelling_of(alphabet, is_text=fields.has("alphabet") and fields.value("alphabet") == _TEXT)
    names = Alphabet(fields.texts("outputs")) if fields.has("outputs") else None
    answered = spelling if names is None else output_spelling(names)
    read = _read_templates if fields.has("templates") else _read_listed
    task = read(fields, Spoken(alphabet, names, spelling, answered))
    if fields.has("candidates"):
        return replace(task, candidates=_candidates(fields, answered, len(names or alphabet)))
    return task


@dataclass(frozen=True, slots=True)
class Spoken:
    """The names of tokens and, if they are no tokens, of outputs; how prompts and answers are written."""

    alphabet: Alphabet
    outputs: Alphabet | None
    spelling: Spelling
    answered: Spelling

    def answer_text(self, answers: Iterable[int]) -> str:
        """Return the names of answers; what has none is refused with its task."""
        known = self.outputs or self.alphabet
        return known.text([one for one in answers if 0 <= one < len(known)])


def _candidates(fields: Fields, spelling: Spelling, vocabulary: int) -> tuple[int, ...]:
    """Read the candidates: a list of tokens, or the word that means all."""
    if fields.value("candidates") == AskedCandidates.ALL:
        return tuple(range(vocabulary))
    return spelling.tokens(fields, "candidates")


def _read_alphabet(fields: Fields, model: Alphabet | None) -> Alphabet:
    """Read the names of tokens; unless they are listed, they are the model's."""
    asked = fields.value("alphabet") if fields.has("alphabet") else _OF_THE_MODEL
    if asked not in (_OF_THE_MODEL, _TEXT):
        return Alphabet(fields.texts("alphabet"))
    if model is None:
        raise InputError(
            f"{fields.path('alphabet')} is not listed, and there is no model here that names its tokens; "
            "list the names, or give a model"
        )
    if asked == _TEXT and model.encode is None:
        raise InputError(
            f"{fields.path('alphabet')} is {asked!r}, but the model comes without a tokenizer; put its "
            "tokenizer.json beside its model.json (a model of bytes has none: train one of byte pairs), or "
            "leave the alphabet out and write each prompt as a list of names of tokens"
        )
    return model


def _read_listed(fields: Fields, spoken: Spoken) -> Task:
    spelling, answered = spoken.spelling, spoken.answered
    prompts = tuple(spelling.prompt(entry, where) for entry, where in fields.entries("prompts"))
    if fields.has("openers"):
        with reading_part(fields, "openers") as part:
            pairs = {spelling.token(name, part.where): part.value(name) for name in part.keys()}  # noqa: SIM118  # Fields is not a mapping
        answers = {opener: spelling.token(entry, fields.path("openers")) for opener, entry in pairs.items()}
        name, outputs = _name(fields), spoken.outputs
        if outputs is not None:
            raise InputError(f"{fields.path('outputs')} are named beside openers; list the answers instead")
        return listed_opener_task(name, spoken.alphabet, prompts, answers).at(_read_position(fields))
    if fields.has("answer"):
        return _read_ruled(fields, spoken, prompts)
    tabled = answered.tokens(fields, "answers")
    if len(tabled) != len(prompts):
        raise InputError(
            f"{fields.path('answers')} has {len(tabled)} entries for {len(prompts)} prompts; "
            "give one per prompt"
        )
    strata = tuple(spoken.answer_text((answer,)) for answer in tabled)
    return _tabled(fields, spoken, Domain(prompts, strata), tabled, _read_labels(fields))


def _read_position(fields: Fields) -> int:
    return fields.integer("position", least=-inf) if fields.has("position") else LAST


def _read_ruled(fields: Fields, spoken: Spoken, prompts: tuple[Prompt, ...]) -> Task:
    """Read a list that a rule answers; without `classes`, prompts with one answer are a class."""
    alphabet, spelling = spoken.alphabet, spoken.spelling
    if spoken.outputs is not None:
        raise InputError(
            f"{fields.path('outputs')} are named beside a rule, which answers by tokens; list the answers"
        )
    if not fields.has("candidates"):
        raise InputError(f"{fields.path('candidates')} is missing, want the tokens that the rule may answer")
    candidates = _candidates(fields, spelling, len(alphabet))
    rule = read_written_rule((fields, "answer"), spelling, candidates)
    strata = tuple(
        "" if one is None else alphabet.text((one,)) for one in map(partial(rule_answer, rule), prompts)
    )
    relation = SameAnswer()
    if fields.has("classes"):
        labels = _read_labels(fields)
        places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
        relation = ClassTable(tuple(places[label] for label in labels))
    task = Task(_name(fields), alphabet, candidates, Domain(prompts, strata), rule, relation)
    return task.at(_read_position(fields))


def _name(fields: Fields) -> str:
    """Read what a task is called: a name that can be printed in a line."""
    name = fields.text("name")
    if not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        raise InputError(f"{fields.path('name')} is {name!r}, want 1 to {_LONGEST_NAME} printable signs")
    return name


def _read_labels(fields: Fields) -> tuple[Hashable, ...]:
    labels = fields.items("classes")
    if wrong := [label for label in labels if not isinstance(label, (str, int)) or isinstance(label, bool)]:
        raise InputError(f"{fields.path('classes')} has {wrong[0]}, want whole numbers or names")
    return tuple(label for label in labels if isinstance(label, (str, int)))


def _read_templates(fields: Fields, spoken: Spoken) -> Task:
    spelling, answered = spoken.spelling, spoken.answered
    filled, where = read_filled(fields), fields.path("templates")
    prompts = tuple(spelling.prompt(one.text, f"{where}, {one.text!r}") for one in filled)
    answers = tuple(answered.token(one.answer, f"{where}, the answer to {one.text!r}") for one in filled)
    domain = Domain(prompts, tuple(one.template for one in filled))
    return _tabled(fields, spoken, domain, answers, [one.group for one in filled])


def _tabled(
    fields: Fields, spoken: Spoken, domain: Domain, answers: tuple[int, ...], labels: Sequence[Hashable]
) -> Task:
    """Return the task with these answers and classes; candidates are all named outputs, or what occurs."""
    places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    for label, members in places_of(labels).items():
        if len(right := dict.fromkeys(answers[x] for x in members if x < len(answers))) > 1:
            raise InputError(
                f"{fields.where}: class {label!r} has {len(right)} right answers, {spoken.answer_text(right)}"
                ": what must not matter in a class cannot change the answer; give each answer its own class"
            )
    return Task(
        name=_name(fields),
        alphabet=spoken.alphabet,
        candidates=tuple(dict.fromkeys(answers) if spoken.outputs is None else range(len(spoken.outputs))),
        domain=domain,
        answer=AnswerTable(answers),
        relation=ClassTable(tuple(places[label] for label in labels)),
        outputs=spoken.outputs,
        position=_read_position(fields),
    )


def read_written_pattern(fields: Fields, text: str | None = None, model: Alphabet | None = None) -> Task:
    """Read a task as a person writes it; `text` is the pattern, where it is not the file's own.

        name = "quotes"
        vocabulary = 50257
        candidates = [1, 6]
        answers = [[366, 1], [705, 6]]
        pattern = "any{1..1024} with exactly 1 of openers"
        [sets]
        openers = [366, 705]

    In place of `answers` may stand a rule over the sequence, `answer = "maximum"`. `classes`, the openers of
    the relation, are those of the answers unless they are given; `[names]` gives tokens names for readers. In
    place of a number may stand a name, what is shown of it, or with the tokenizer of a `model` its text; in a
    pattern between quotation marks.
    """
    if told := [key for key in ("outputs", "position") if fields.has(key)]:
        raise InputError(
            f"{fields.path(told[0])} is not known over patterns, which are answered by tokens at the last "
            "position; list prompts"
        )
    vocabulary = read_vocabulary(fields)
    spelling = pattern_spelling(vocabulary, model)
    sets = dict(_read_sets(fields, spelling))
    candidates = _candidates(fields, spelling, len(vocabulary))
    rules = _read_rules(fields, spelling, candidates, sets)
    spelled = fields.text("pattern") if fields.has("pattern") and text is None else text
    if spelled is None:
        raise InputError(f"{fields.path('pattern')} is missing; write it there or give one with --pattern")
    where = fields.path("pattern") if text is None else "--pattern"
    domain = parse_pattern(spelled, sets, where, spelling.token)
    return Task(
        name=_name(fields),
        alphabet=_with_names(vocabulary, spelling.used, model),
        candidates=candidates,
        domain=domain,
        answer=rules[0],
        relation=rules[1],
    )


def _read_rules(
    fields: Fields, spelling: Spelling, candidates: tuple[int, ...], sets: Sets
) -> tuple[SequenceRule | OnlyOpener, SameAnswer | SameOpener]:
    """Read how a pattern's prompts are answered, and which are one class: by a rule, or by openers."""
    if fields.has("answer"):
        if fields.has("answers") or fields.has("classes"):
            raise InputError(
                f"{fields.path('answer')} is a rule, by which prompts with one answer are a class; "
                "leave answers and classes out"
            )
        return read_written_rule((fields, "answer"), spelling, candidates, sets), SameAnswer()
    pairs = tuple(_read_pair(entry, where, spelling) for entry, where in fields.entries("answers"))
    openers = tuple(opener for opener, _ in pairs)
    classes = spelling.tokens(fields, "classes") if fields.has("classes") else openers
    return OnlyOpener(pairs), SameOpener(classes)


def _read_sets(fields: Fields, spelling: Spelling) -> Iterator[tuple[str, tuple[int, ...]]]:
    if fields.has("sets"):
        with reading_part(fields, "sets") as part:
            for name in part.keys():  # noqa: SIM118  # Fields is not a mapping
                yield name, spelling.tokens(part, name)


def _read_pair(entry: object, where: str, spelling: Spelling) -> tuple[int, int]:
    found = () if isinstance(entry, str) else spelling.prompt(entry, where)
    if len(found) != 2:  # noqa: PLR2004  # a pair
        raise InputError(f"{where} is {entry!r}, want an opener and its answer, such as [366, 1]")
    return (found[0], found[1])


def _with_names(vocabulary: Vocabulary, used: Collection[int], model: Alphabet | None) -> Vocabulary:
    """Return a vocabulary that names the tokens too that were written by the model's names, or as text."""
    own = dict(vocabulary.names)
    named = {} if model is None else {token: model.names[token] for token in used if token < len(model)}
    return replace(vocabulary, names=tuple(sorted({**named, **own}.items())))
