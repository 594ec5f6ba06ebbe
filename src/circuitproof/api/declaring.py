"""What is asked of what: models, tasks and circuits, from files or said in place."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from circuitproof.api.arguments import PathLike, choice, listed, path_of, typed
from circuitproof.api.showing import show_as
from circuitproof.circuits.ablation import ZERO, Ablation, Counterfactual, Mean, Pooling, Zero
from circuitproof.circuits.ablation_asked import mean_of, read_ablation_of, spelling_in
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Granularity, Use
from circuitproof.circuits.spelling import load_circuit as read_circuit
from circuitproof.circuits.spelling import parse_edges
from circuitproof.forward.frozen import Frozen, open_model
from circuitproof.models.architecture import Architecture
from circuitproof.models.declaration import ProgramHeads, read_declaration
from circuitproof.reports.said import Said
from circuitproof.reports.words import exactness, model_words
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.loading import load_task as find_task
from circuitproof.tasks.loading import read_declared
from circuitproof.tasks.spelling import Spelling
from circuitproof.tasks.task import Task
from circuitproof.verbs.models import write_model as store_model


@dataclass(frozen=True, slots=True)
class Model:
    """A model directory that was opened as it was sealed."""

    frozen: Frozen

    @property
    def path(self) -> Path:
        return self.frozen.file.path.parent

    @property
    def architecture(self) -> Architecture:
        return self.frozen.architecture

    @property
    def alphabet(self) -> Alphabet | None:
        """Return the names of the model's tokens, where it has any."""
        return self.frozen.declaration.alphabet

    @property
    def programs(self) -> ProgramHeads:
        """Return the programs of heads that have one."""
        return self.frozen.programs


def _said(model: Model) -> Iterator[Said]:
    """Say where the model is, what it is, and whether it can be proved of."""
    yield f"{model.path}: {model_words(model.architecture, len(model.programs))}"
    yield exactness(model.frozen.declaration)


show_as(Model, _said)
_A_TASK = "a task, the name of one or its file"
AnyModel: TypeAlias = Model | PathLike
"""A model, or its directory."""
AnyTask: TypeAlias = Task | PathLike
"""A task, its shipped name, or its file."""
AnyCircuit: TypeAlias = Circuit | PathLike
"""A circuit, or its file."""
PromptInput: TypeAlias = str | int | Sequence[str | int]
"""A prompt: a text of names between blanks, or tokens by name and number."""


def load_model(path: PathLike) -> Model:
    """Open a model directory; what was changed since it was sealed is refused."""
    return Model(open_model(path_of("model", path, "a model directory")))


def write_model(
    architecture: Architecture | Mapping[str, object],
    tensors: Mapping[str, object],
    out: PathLike,
    *,
    alphabet: Sequence[str] | None = None,
    programs: Mapping[str, Sequence[str]] | None = None,
) -> Model:
    """Write a model directory from arrays or torch tensors by their names of docs/models.md, and open it.

    `architecture` has the keys of `model.json`, with numbers that are not whole in quotes. Nothing is
    rounded: a number that FP32 does not have is an `InputError`, as is a missing or an unknown tensor.

        sizes = {"vocabulary": 8, "context": 6, "layers": 1, …}
        model = cp.write_model(sizes, {"embed.token": token, …}, "model", alphabet=list("abcdefgh"))
    """
    sizes = architecture.to_json() if isinstance(architecture, Architecture) else architecture
    content = {"architecture": sizes, "alphabet": alphabet, "programs": programs or {}}
    place = path_of("out", out)
    store_model(read_declaration(place, _plain(content)), tensors, place)
    return load_model(place)


def load_task(spec: PathLike, *, model: AnyModel | None = None, pattern: str | None = None) -> Task:
    """Return a shipped task by its name, or the task of a `.toml` or `.json` file.

    A file may leave the names of tokens to the `model`; `pattern` takes the place of that of a file.
    """
    alphabet = None if model is None else model_at(model).alphabet
    return find_task(str(path_of("task", spec, _A_TASK)), alphabet, pattern)


def declare_task(  # noqa: PLR0913  # the keys of a task file
    name: str,
    *,
    model: AnyModel | None = None,
    alphabet: Sequence[str] | Literal["text"] | None = None,
    prompts: Sequence[PromptInput] | None = None,
    answers: Sequence[str | int] | Mapping[str | int, str | int] | None = None,
    answer: str | Mapping[str, object] | None = None,
    classes: Sequence[str | int] | None = None,
    openers: Mapping[str, str | int] | None = None,
    slots: Mapping[str, Sequence[str]] | None = None,
    templates: Sequence[Mapping[str, object]] | None = None,
    candidates: Sequence[str | int] | None = None,
    outputs: Sequence[str] | None = None,
    position: int | None = None,
    pattern: str | None = None,
    vocabulary: int | None = None,
    sets: Mapping[str, Sequence[str | int]] | None = None,
    names: Mapping[int, str] | None = None,
) -> Task:
    """Declare a task in place: listed prompts, templates, or every prompt of a pattern.

    The arguments are the keys of a task file (docs/tasks.md, docs/patterns.md) and are read by the same
    reader. The names of tokens are the `alphabet`, or those of the `model`; with `alphabet="text"` prompts
    and answers are plain text, which the model's tokenizer reads. On a pattern, `answers` maps openers to
    answers; `answer` is a rule over the sequence (`"maximum"`) in its place. `outputs` names what is answered
    where that is no token; `position` is where prompts are decided.
    """
    opened = None if model is None else model_at(model)
    keys: dict[str, object] = {
        "name": name,
        "alphabet": "model" if alphabet is None and model is not None and vocabulary is None else alphabet,
        "prompts": prompts,
        "answers": list(map(list, answers.items())) if isinstance(answers, Mapping) else answers,
        "answer": answer,
        "classes": classes,
        "openers": openers,
        "slots": slots,
        "templates": templates,
        "candidates": candidates,
        "outputs": outputs,
        "position": position,
        "pattern": pattern,
        "vocabulary": vocabulary,
        "sets": sets,
        "names": None if names is None else {str(token): word for token, word in names.items()},
    }
    given = {key: _plain(value) for key, value in keys.items() if value is not None}
    tokens = None if opened is None else opened.frozen.declaration.tokens
    return read_declared(given, f"task {name!r}", tokens)


def load_circuit(path: PathLike) -> Circuit:
    """Read a circuit file in our spelling, the paper's release's, EAP-IG's, or ACDC's (.gv)."""
    return read_circuit(path_of("circuit", path, "a circuit file"))


def circuit(
    model: AnyModel, edges: Sequence[str], *, granularity: str | None = None, ablation: Ablation = ZERO
) -> Circuit:
    """Return the circuit of a model that keeps these edges, such as `embed -> head 0.0`.

    Edges such as `embed -> head 0.0 query` tell the ports of heads apart, in all edges of the circuit: its
    `granularity` is then "port", otherwise "head". What cut edges carry is the `ablation`: nothing, or what
    `cp.mean` or `cp.counterfactual` returns.
    """
    wanted = "a list of edges such as ['embed -> head 0.0']"
    kept = [
        typed("an edge", one, str, "a text such as 'embed -> head 0.0'")
        for one in listed("edges", edges, wanted)
    ]
    if granularity is None:
        told = Granularity.PORT if any(map(_names_port, kept)) else Granularity.HEAD
    else:
        told = choice("granularity", granularity, Granularity)
    wanted = "what cp.mean or cp.counterfactual returns"
    cut = typed("ablation", ablation, (Zero, Mean, Counterfactual), wanted)
    return parse_edges(replace(model_at(model).frozen.graph, granularity=told), kept, "circuit", cut)


def _names_port(edge: object) -> bool:
    return isinstance(edge, str) and edge.endswith(tuple(f" {use}" for use in Use))


def mean(
    prompts: Task | Sequence[PromptInput], *, over: str = Pooling.POSITION, model: AnyModel | None = None
) -> Mean:
    """Return the ablation by which a cut edge carries the mean of its source's output in the whole model.

    The mean is taken over the prompts of a task or over those listed, `over` the same "position" of prompts
    of the same length, or "all" positions. Prompts are lists of token numbers; with a `model`, also names of
    its tokens, or text that its tokenizer reads.
    """
    pooling = choice("over", over, Pooling)
    if isinstance(prompts, Task):
        return mean_of(prompts, pooling)
    given = _plain(listed("prompts", prompts, "a task, or a list of prompts"))
    found = read_ablation_of({"kind": "mean", "over": pooling, "prompts": given}, "mean", _spelling(model))
    return typed("ablation", found, Mean, "a mean")


def counterfactual(
    pairs: Sequence[tuple[PromptInput, PromptInput]], *, model: AnyModel | None = None
) -> Counterfactual:
    """Return the ablation by which a cut edge carries its source's output on the prompt's partner.

    Each pair is a prompt and its partner, which has as many tokens; they are written as for `mean`.
    """
    given = _plain(listed("pairs", pairs, "a list of pairs of prompts"))
    content = {"kind": "counterfactual", "pairs": given}
    found = read_ablation_of(content, "counterfactual", _spelling(model))
    return typed("ablation", found, Counterfactual, "pairs")


def _spelling(model: AnyModel | None) -> Spelling:
    """Return how prompts are written: by number, or as a model's tokens are."""
    return Spelling({}) if model is None else spelling_in(model_at(model).frozen.declaration.tokens)


def model_at(model: AnyModel) -> Model:
    """Return a model that was opened before, or open its directory."""
    return model if isinstance(model, Model) else load_model(model)


def task_at(task: AnyTask) -> Task | str:
    """Return a task, or the name or file of one as runs take it."""
    return task if isinstance(task, Task) else str(path_of("task", task, _A_TASK))


def circuit_at(found: AnyCircuit | None) -> Circuit | Path | None:
    """Return a circuit, the place of its file, or nothing: all edges."""
    if found is None or isinstance(found, Circuit):
        return found
    return path_of("circuit", found, "a circuit or its file; cp.circuit(model, edges) makes one of edges")


def _plain(value: object) -> object:
    """Return mappings and sequences as the dictionaries and lists that a file would hold."""
    match value:
        case str():
            return value
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # what a caller nests is read strictly afterwards
        case Sequence():
            return [_plain(item) for item in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # the same
        case _:
            return value
