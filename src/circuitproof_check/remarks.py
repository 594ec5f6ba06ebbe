"""Remarks: where a proved answer says less than its name. They are found from the claim, as all else is."""

from collections import Counter
from collections.abc import Sequence

from .architecture import Edge, Edges, live_nodes, name_of
from .case import Case
from .claim import Claim, Property
from .patterns import walk
from .work import paid


def found_remarks(case: Case, claimed: Property, proved: Sequence[Property]) -> list[str]:
    """Return the remarks on a property, of which some others are proved too; on one that is not, none."""
    if claimed not in proved:
        return []
    labels = walk.labels(case)
    is_constant = len({answer for answer, _ in labels}) == 1
    is_equivalent = any(one.kind == "equivalence" for one in proved)
    match claimed.kind:
        case "invariance":
            return _of_invariance(case.claim, labels, is_equivalent=is_equivalent)
        case "necessity":
            is_implied = is_equivalent and not is_constant and _is_chain(case.claim)
            implied = ["implied by equivalence"] if is_implied else []
            return implied + [f"shared bias: {name}" for name in _biased(case)]
        case "equivalence" | "subset minimality" | "minimum":
            return ["constant answer"] if is_constant else []
        case "robustness" if case.claim.declared is None:
            count = case.claim.unreached
            return [f"unreached prompts: {count}"] if count else []
        case _:
            return []


def _of_invariance(claim: Claim, labels: set[tuple[int, int]], *, is_equivalent: bool) -> list[str]:
    has_one_each = len({group for _, group in labels}) == len(labels)
    remarks = ["implied by equivalence"] if is_equivalent and has_one_each else []
    is_single = claim.declared is None and len(set(claim.task.classes)) == len(claim.prompts)
    return remarks + (["implied by clear decisions"] if is_single else [])


def _is_chain(claim: Claim) -> bool:
    """Say whether all that is kept is one path, on which no head may attend nowhere."""
    sources = Counter(source for source, _ in claim.edges)
    targets = Counter(target for _, target in claim.edges)
    live = live_nodes(claim.edges, claim.architecture)
    is_path = max(sources.values()) == max(targets.values()) == 1 and set(targets) <= live
    programs = [claim.programs.get((node.layer, node.head)) for node in targets if node.is_head]
    return is_path and all(program is None or program.is_self for program in programs)


def _biased(case: Case) -> list[str]:
    """Return the edges that change no decision as long as a bias that heads share is kept."""
    claim = case.claim
    edges = enumerate(claim.edges) if claim.architecture.biases else ()
    return [name_of(edge, claim.architecture) for place, edge in edges if _is_biased(case, place)]


def _is_biased(case: Case, edge: int) -> bool:
    source, target = case.claim.edges[edge]
    if not source.is_head or len(_of_layer(case.claim.edges, (source, target))) > 1:
        return False
    biases = frozenset({(target, source.layer)})
    for prompt in range(len(case.claim.prompts)):
        decision = case.decide(case.logits(prompt, case.claim.edges))
        if len(decision) == 1 and case.decide(case.logits(prompt, case.lesion(edge), biases)) != decision:
            return False
    return True


def _of_layer(edges: Edges, edge: Edge) -> Edges:
    """Return the edges from heads of the same layer to the same node."""
    source, target = edge
    return tuple(one for one in paid(edges) if one[1] == target and one[0].stage == source.stage)
