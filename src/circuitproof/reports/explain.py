"""One prompt explained: its cell, what heads read, what edges bring to the margin, what would flip it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from circuitproof.bundle.opening import OpenedBundle
from circuitproof.circuits.ablation import Counterfactual
from circuitproof.circuits.graph import LOGITS, Edge
from circuitproof.errors import InputError, InvalidError, OverdueError, UsageError, asked_for
from circuitproof.files.canonical import Json
from circuitproof.files.codec import to_json
from circuitproof.files.printing import shown_text
from circuitproof.files.reading import long_numbers, write_rational
from circuitproof.models.declaration import Declaration
from circuitproof.proof.effort import UNHURRIED, Effort, Pace
from circuitproof.proof.enclosed import NotKnown
from circuitproof.proof.fold import CandidateLogits, fold
from circuitproof.proof.regions.disturbed import Question, disturb_residual
from circuitproof.proof.regions.radius import Bracket, find_radius
from circuitproof.reports.bundle_view import BundleView, Uncomputed, Unjudged, answer_to, numbers_of
from circuitproof.reports.numbers import ComputedCell, Numbers
from circuitproof.reports.regions import labelled_prompts
from circuitproof.reports.trace import AttentionReading
from circuitproof.reports.words import constants_words, token_name
from circuitproof.tasks.alphabet import token_of
from circuitproof.tasks.domain import Prompt, refuse_without_position
from circuitproof.verbs.asked import refuse_length
from circuitproof_check.main import Outcome

_PARTS = 100
"""The most parts of a ball that are looked at for the radius of a prompt."""
_WIDEST = 64
"""The most coordinates of a residual that are searched here."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the circuit does on one prompt."""

    bundle: OpenedBundle
    prompt: Prompt
    answer: int | None
    """The right answer; nothing where the claim does not speak of the prompt."""
    number: int | None
    """The number of its cell among those of the bundle's prompts."""
    shared: int
    """How many of the bundle's prompts are in the cell."""
    cell: ComputedCell
    needed: tuple[Edge, ...] | None
    """The edges without which the decision is another one or a tie; nothing where that is not computed."""
    readings: tuple[AttentionReading, ...]
    searched: Bracket | None = None
    """What is known of the radius where a norm reads the final residual, if it was searched for."""
    beside: Mapping[str, CandidateLogits] = field(default_factory=dict[str, CandidateLogits])
    """What other circuits that the claim speaks of make of the prompt, by what they are."""

    def to_json(self) -> Json:
        """Return the explanation with all numbers exactly."""
        task, cell, candidates = self.bundle.task, self.cell, self.bundle.task.candidates
        flow, flip = cell.flow, cell.flip
        return {
            "prompt": list(self.prompt),
            "text": [token_name(task, token) for token in self.prompt],
            "answer": self.answer,
            "ablation": self.bundle.circuit.ablation.name,
            "partner": None if self.partner is None else list(self.partner),
            "cell": self.number,
            "prompts_in_cell": self.shared,
            "logits": to_json(dict(zip(candidates, cell.logits, strict=True))),
            **self._within(),
            "decision": self._decided(cell.fold),
            "beside": {name: self._decided(fold) for name, fold in self.beside.items()},
            "rival": candidates[cell.runner],
            "margin": write_rational(cell.margin),
            "contributions": {} if flow is None else to_json(flow.edges),
            "own": {} if flow is None else to_json(flow.own),
            "needed": None if self.needed is None else [str(edge) for edge in self.needed],
            "radius": None if flip is None else write_rational(flip.radius),
            "searched": to_json(self.searched),
            "flips_to": None if flip is None else candidates[flip.competitor],
            "moves": None if flip is None else list(flip.direction),
            "reads": [
                {"head": str(one.head), "query": one.query, "weights": to_json(dict(one.weights))}
                for one in self.readings
            ],
        }

    def _within(self) -> dict[str, Json]:
        """Return how precisely logits are known, where they are enclosed: the others are midpoints."""
        if self.bundle.precision is None:
            return {}
        return {"precision": self.bundle.precision, "within": write_rational(self.cell.within / 2)}

    def _decided(self, found: CandidateLogits) -> Json:
        """Return the candidates of a decision; nothing where it is not known."""
        if isinstance(found.decision, NotKnown):
            return None
        return [self.bundle.task.candidates[place] for place in sorted(found.decision)]

    @property
    def constants(self) -> str:
        """Return what a node adds by itself to what flows through it."""
        return constants_words(self.bundle.circuit.ablation)

    @property
    def partner(self) -> Prompt | None:
        """Return the prompt on which the whole model is read for what cut edges carry, if it is one."""
        ablation = self.bundle.circuit.ablation
        return ablation.partners.get(self.prompt) if isinstance(ablation, Counterfactual) else None

    def terms(self) -> tuple[tuple[str, Fraction], ...]:
        """Return what sums to the margin: the edges into `logits`, and what is added there."""
        if self.cell.flow is None:
            return ()
        edges = [(str(e), share) for e, share in self.cell.flow.edges.items() if e.target == LOGITS]
        return (*edges, (f"{self.constants} at logits", self.cell.flow.own[LOGITS]))

    def inner(self) -> tuple[tuple[str, Fraction], ...]:
        """Return what the other edges bring, which flows on through the nodes that they lead to."""
        flow = self.cell.flow
        return () if flow is None else tuple((str(e), x) for e, x in flow.edges.items() if e.target != LOGITS)


def explain(
    view: BundleView | Unjudged, spelled: str, pace: Pace = UNHURRIED, model: Declaration | None = None
) -> Explanation:
    """Explain a prompt of a bundle that the checker has judged; what flips it is searched for at a pace.

    With a `model` the prompt is text, which the model's tokenizer reads.
    """
    if isinstance(view, Unjudged):
        is_incomplete = view.judgement.outcome is Outcome.INCOMPLETE
        kind = OverdueError if is_incomplete else InvalidError
        raise kind(f"nothing of {view.path} can be explained: {view.judgement.reason}")
    with long_numbers():
        prompt = find_prompt(view.bundle, spelled, model)
        found = numbers_of(view.bundle, (prompt,))
        if isinstance(found, Uncomputed):
            raise InputError(f"the prompt cannot be computed: {found.reason}")
        explained = _explanation(view, prompt, found, 0)
        searched = _searched(view.bundle, prompt, explained.cell, pace)
        return replace(explained, searched=searched, beside=_beside(view.bundle, prompt))


def _beside(bundle: OpenedBundle, prompt: Prompt) -> Mapping[str, CandidateLogits]:
    """Compute the prompt in the circuits that the claim's is compared with."""
    pairs = [(one.prop.beside, one.prop.shown_beside()) for one in bundle.answers]
    return {
        name: fold(
            bundle.frozen, bundle.task.candidates, [circuit], [prompt], arithmetic=bundle.arithmetic
        ).of(circuit)[0]
        for name, circuit in pairs
        if circuit is not None
    }


def _searched(bundle: OpenedBundle, prompt: Prompt, cell: ComputedCell, pace: Pace) -> Bracket | None:
    """Look for the least perturbation of the final residual that changes a decision after a norm."""
    sizes = bundle.frozen.architecture
    is_bounded = bundle.precision is None and sizes.width <= _WIDEST and not pace.is_over
    if not sizes.has_norm or cell.is_clear is not True or not is_bounded:
        return None
    (function,) = disturb_residual(bundle.frozen, bundle.task.candidates, bundle.circuit, (prompt,))
    return find_radius(Question(function, cell.leader), Effort(budget=_PARTS, pace=pace))


def explain_place(view: BundleView, numbers: Numbers, place: int) -> Explanation:
    """Explain a prompt of the bundle with the numbers that are known already."""
    return _explanation(view, view.bundle.domain.prompts[place], numbers, place)


def _explanation(view: BundleView, prompt: Prompt, found: Numbers, at: int) -> Explanation:
    prompts = view.bundle.domain.prompts
    place = prompts.index(prompt) if prompt in prompts else None
    cell_of = () if isinstance(view.numbers, Uncomputed) else view.numbers.cell_of
    number = cell_of[place] if cell_of and place is not None else None
    needed = (edge for edge, needs in found.needs.items() if at in needs.flips or at in needs.ties)
    return Explanation(
        bundle=view.bundle,
        prompt=prompt,
        answer=_answer(view.bundle, place, prompt),
        number=number,
        shared=cell_of.count(number),
        cell=found.cells[found.cell_of[at]],
        needed=tuple(needed) if found.needs else None,
        readings=tuple(found.trace.readings(prompt)),
    )


def _answer(bundle: OpenedBundle, place: int | None, prompt: Prompt) -> int | None:
    if place is not None:
        return answer_to(bundle, place, prompt)
    task = labelled_prompts(bundle)
    return task.label_of(prompt).answer if task is not None and prompt in task.machine else None


def find_prompt(bundle: OpenedBundle, spelled: str, model: Declaration | None = None) -> Prompt:
    """Return the prompt that is meant: `#3` for that of a place, a text, or tokens by name or by number."""
    prompts = bundle.domain.prompts
    if spelled.startswith("#") and spelled[1:].isdecimal():
        if (place := int(spelled[1:])) < len(prompts):
            return prompts[place]
        raise UsageError(f"there is no prompt {spelled}: the bundle lists #0 to #{len(prompts) - 1}")
    prompt = _named_prompt(bundle, spelled) if model is None else _read_text(bundle, spelled, model)
    refuse_length(prompt, bundle.frozen.architecture.context)
    with asked_for():
        refuse_without_position((prompt,), bundle.task.position, "the bundle's task")
    return prompt


def _named_prompt(bundle: OpenedBundle, spelled: str) -> Prompt:
    names = bundle.task.names
    tokens = {name: token for token, name in names.items()}
    tokens |= {token_name(bundle.task, token): token for token in names}
    return tuple(_token(bundle, tokens, word) for word in spelled.split())


def _read_text(bundle: OpenedBundle, text: str, model: Declaration) -> Prompt:
    """Return the tokens of a text, if the model calls them as the bundle does."""
    alphabet = model.alphabet
    if alphabet is None or alphabet.encode is None:
        raise InputError(
            "the model comes without a tokenizer, so it reads no text; put its tokenizer.json beside its "
            "model.json, or give names or numbers of tokens and no model"
        )
    prompt, names = alphabet.encode(text), bundle.task.names
    size = bundle.frozen.architecture.vocabulary
    for token in prompt:
        if token >= size or names.get(token, alphabet.names[token]) != alphabet.names[token]:
            raise InputError(
                f"the model's token {token} is not that of the bundle; give the bundle's own model"
            )
    return prompt


def _token(bundle: OpenedBundle, tokens: dict[str, int], word: str) -> int:
    token = token_of(word, tokens, bundle.frozen.architecture.vocabulary)
    if token is not None:
        return token
    some = " ".join(list(tokens)[:8])
    raise UsageError(
        f"{shown_text(word)!r} is no token of this bundle; give #PLACE, numbers, or names such as {some}"
    )
