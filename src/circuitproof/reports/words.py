"""What claims, verdicts and remarks mean, in plain words and as formulas."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, assert_never

from circuitproof.circuits.ablation import Ablation, Counterfactual, Mean, Pooling, Zero
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Granularity
from circuitproof.files.printing import plural
from circuitproof.files.reading import shown, write_rational
from circuitproof.models.architecture import Architecture
from circuitproof.programs.lines import to_lines
from circuitproof.programs.syntax import Program, Rule
from circuitproof.proof.enclosed import PERHAPS, Decision, NotKnown
from circuitproof.tasks.domain import Prompt
from circuitproof.tasks.names import TokenNames, named
from circuitproof.tasks.pattern_text import print_pattern
from circuitproof.tasks.patterns import Pattern

if TYPE_CHECKING:
    from circuitproof.bundle.opening import AskedTask
    from circuitproof.models.declaration import Declaration

_TOLD = 24
"""Of how many tokens it is told what they are."""
_MOVED = 12
"""How many coordinates of a perturbation are written out."""
_DIGITS = 40
"""A rational of no more signs than this is shown as it is."""


def listed_tokens(names: TokenNames, tokens: Iterable[int], most: int = _TOLD) -> str:
    """Return tokens by number with what people see of each, in order; of many the first."""
    found = sorted(frozenset(tokens))
    listed = [f"{token} {named(names, token)}" if token in names else f"{token}" for token in found[:most]]
    return ", ".join(listed + ["…"] * (len(found) > most))


def pattern_words(names: TokenNames, pattern: Pattern) -> str:
    """Return a pattern, and in brackets what people see of the tokens that it mentions by number."""
    listed = listed_tokens(names, (token for token in pattern.tokens() if token in names))
    return f"{print_pattern(pattern)} ({listed})" if listed else print_pattern(pattern)


def program_lines(names: TokenNames, program: Program) -> list[str]:
    """Return the lines of a program; a comment after each rule says what its tokens are."""
    first, *rules, last = to_lines(program)
    return [first, *(_commented(names, *pair) for pair in zip(rules, program.rules, strict=True)), last]


def program_line(names: TokenNames, program: Program) -> str:
    """Return a program on one line, and in brackets what people see of its tokens."""
    told = listed_tokens(names, (token for token in program.tokens() if token in names))
    return "; ".join(to_lines(program)) + (f" ({told})" if told else "")


def _commented(names: TokenNames, line: str, rule: Rule) -> str:
    told = listed_tokens(names, (token for token in rule.tokens() if token in names))
    return f"{line}  # {told}" if told else line


def token_name(task: "AskedTask", token: int) -> str:
    """Return what people see of a token of a claim."""
    return named(task.names, token)


def answer_name(task: "AskedTask", answer: int) -> str:
    """Return what people see of a candidate of a claim."""
    return named(task.answer_names, answer)


def prompt_text(task: "AskedTask", prompt: Prompt) -> str:
    """Return a prompt as what people see of its tokens."""
    return " ".join(token_name(task, token) for token in prompt)


def decision_text(task: "AskedTask", decision: Decision) -> str:
    """Return a decision: a candidate, those that tie, or that it is not known."""
    if isinstance(decision, NotKnown):
        return "not known"
    return " = ".join(answer_name(task, task.candidates[place]) for place in sorted(decision))


def exact(value: Fraction) -> str:
    """Return a number as it is, or if that is long its first digits and how long it is."""
    spelled = write_rational(value)
    return spelled if len(spelled) <= _DIGITS else f"≈ {shown(value)} (exactly: {len(spelled):,} signs)"


def exactness(declaration: "Declaration") -> str:
    """Say what keeps a whole model from exact proofs, if anything does."""
    if (inexact := declaration.inexact_operator) is None:
        return "every circuit of it can be computed exactly"
    return f"{inexact} has no exact value: claims about lists are proved in enclosed numbers"


def model_words(sizes: Architecture, programs: int) -> str:
    """Say what a model is, and how many of its heads are programs."""
    norm = f"{sizes.norm.tag} norm" if sizes.has_norm else "no norm"
    shape = f"{plural(sizes.layers, 'layer')} of {plural(sizes.heads, 'head')}, width {sizes.width}"
    heads = f", {plural(programs, 'program head')}" if programs else ""
    mask = "" if sizes.is_causal else " without a mask"
    outputs = "" if sizes.outputs is None else f", {plural(sizes.outputs, 'output')}"
    tokens = f"{plural(sizes.vocabulary, 'token')}{outputs}"
    return f"{shape}, {tokens}, {norm}, {sizes.attention} attention{mask}{heads}"


def edges_words(circuit: Circuit) -> str:
    """Return how many edges a circuit keeps, and whether they end at ports."""
    ports = " into ports" if circuit.graph.granularity is Granularity.PORT else ""
    return f"{plural(len(circuit), 'edge')}{ports}"


def ablation_words(ablation: Ablation) -> str:
    """Say what a cut edge carries."""
    match ablation:
        case Zero():
            return "A cut edge carries zero."
        case Mean(prompts, over):
            where = (
                "at the same position of those of the same length"
                if over is Pooling.POSITION
                else "at all positions"
            )
            return (
                "A cut edge carries the mean of what its source puts out in the whole model on "
                f"{plural(len(prompts), 'declared prompt')}, {where}."
            )
        case Counterfactual(pairs):
            return (
                "A cut edge carries what its source puts out in the whole model on the prompt's partner; "
                f"{plural(len(pairs), 'prompt')} {'has' if len(pairs) == 1 else 'have'} one."
            )
        case _:
            assert_never(ablation)


def constants_words(ablation: Ablation) -> str:
    """Return what a node adds by itself to what flows through it."""
    return "biases and norm" if isinstance(ablation, Zero) else "biases, norm and cut edges"


def moved(eta: Sequence[Fraction]) -> str:
    """Say which coordinates a perturbation moves, the first of them with how far."""
    found = [(place, size) for place, size in enumerate(eta) if size]
    listed = ", ".join(f"{place}: {shown(size)}" for place, size in found[:_MOVED])
    more = ", …" if len(found) > _MOVED else ""
    count = plural(len(found), "coordinate")
    return f"η moves {count} of {len(eta)}{': ' if found else ''}{listed}{more}"


_REMARKS = {
    "implied by equivalence": "it follows from equivalence and tells nothing further",
    "implied by clear decisions": "every prompt is a class of its own",
    "no better than a constant": "one answer is right for so many prompts: always giving it does as well",
    "prompts left out": "on so many prompts the model is not known to gain anything over no edge at all",
    "constant answer": "all prompts have one right answer: whatever ignores its prompt could be as right",
    "constant decision": "all prompts get one decision: whatever ignores its prompt could do the same",
    "decided without edges": "a circuit without any edge decides every prompt so",
    "one edge": "a circuit without any edge ignores its prompt, so only others of one edge had to be tried",
    "whole model": "the circuit lacks no edge that carries anything, so it is the model",
    "no edges": "no edge leads to the logits, so that the circuit recovers nothing by definition",
    "tied prompts": "circuit and model both leave so many prompts undecided, by the same tie",
    "same logits": "both circuits have the same logits on every prompt: the edges that differ change nothing",
    "constant source": "the edge carries the same at every position of every prompt: it is a constant",
    "no program head": "the model has no program head: it is compared with itself",
    "no program head in the circuit": "the circuit uses no program head: silencing takes nothing from it",
    "program of the base": "the base has the same program there: it was not put in",
    "logits of the whole model": "cutting edges changes no logit: what cut edges carry replaces nothing here",
    "own partners": "so many prompts are their own partners: there, cut edges carry what kept ones would",
    "means of one prompt": "for so many prompts the mean is that of a single prompt, so it averages nothing",
    "shared bias": "without the edge its reader loses a bias that heads share, and nothing else that matters",
    "unreached prompts": "the perturbed positions are not read on the way to the logits of so many prompts",
}


def remark_meaning(remark: str) -> str:
    """Return what a remark means: that a proof tells less than its name, or perhaps does."""
    kind = remark.partition(":")[0]
    sure = kind.removeprefix(PERHAPS)
    return _REMARKS[sure] if sure == kind else f"it is not known whether this is so: {_REMARKS[sure]}"
