"""Remarks: where a proved answer says less than its name. They are found from the claim, as all else is."""

from collections import Counter
from collections.abc import Iterator, Sequence

from .architecture import EMBED, Edge, Edges, all_edges, constant_edges, live_nodes, name_of
from .case import Case, Decision
from .claim import Claim, Property
from .patterns import walk
from .reading import integer, items, mapping
from .work import NUMBER, paid, spend


def found_remarks(case: Case, claimed: Property, proved: Sequence[Property], evidence: object) -> list[str]:
    """Return the remarks on a property, of which some others are proved too; on one that is not, none."""
    if claimed not in proved:
        return []
    labels = walk.labels(case)
    is_constant = len({answer for answer, _ in labels}) == 1
    is_equivalent = any(one.kind == "equivalence" for one in proved)
    match claimed.kind:
        case "equivalence":
            return _if("constant answer", is_constant) + _unedged(case, evidence)
        case "subset minimality":
            is_implied = not is_constant and _is_chain(case.claim)
            return _if("implied by equivalence", is_implied) + _if("constant answer", is_constant)
        case "minimum":
            return _if("constant answer", is_constant)
        case "invariance":
            has_one_each = len({group for _, group in labels}) == len(labels)
            implied = _if("implied by equivalence", is_equivalent and has_one_each)
            return implied + _if("implied by clear decisions", _is_single(case)) + _constant(case, evidence)
        case "necessity":
            is_implied = is_equivalent and not is_constant and _is_chain(case.claim)
            return _if("implied by equivalence", is_implied) + _of_edges(case)
        case "robustness":
            count = case.claim.unreached if case.claim.declared is None else 0
            return _constant(case, evidence) + _if(f"unreached prompts: {count}", count)
        case "faithfulness":
            is_whole = case.claim.edges == all_edges(case.claim.architecture)
            ties = sum(len(decision) > 1 for decision in _decisions(case, evidence))
            said = _if("whole model", is_whole) + _if(f"tied prompts: {ties}", ties)
            return _constant(case, evidence) + said
        case _:
            return _if("no program head", not case.claim.programs)


def _if(remark: str, applies: object) -> list[str]:
    return [remark] if applies else []


def _constant(case: Case, evidence: object) -> list[str]:
    """Remark that all prompts are decided alike, and that this needs no edge."""
    found = set(_decisions(case, evidence))
    is_one = len(found) == 1 and len(min(found, key=len)) == 1
    return _if("constant decision", is_one) + _unedged(case, evidence)


def _unedged(case: Case, evidence: object) -> list[str]:
    alone = case.decide(case.logits(0, ()))
    is_same = len(alone) == 1 and set(_decisions(case, evidence)) == {alone}
    return _if("decided without edges", is_same)


def _decisions(case: Case, evidence: object) -> Iterator[Decision]:
    """Return what evidence that has been checked says is decided: of each prompt, or in each region."""
    if case.claim.declared is not None:
        yield from _in_regions(case, mapping(evidence, "evidence"))
        return
    for prompt in range(len(case.claim.prompts)):
        spend(NUMBER * len(case.claim.task.candidates))
        yield case.decide(case.logits(prompt, case.claim.edges))


def _in_regions(case: Case, tree: dict[str, object]) -> Iterator[Decision]:
    spend(NUMBER)
    for child in items(tree.get("children", []), "evidence"):
        yield from _in_regions(case, mapping(mapping(child, "evidence")["evidence"], "evidence"))
    for entry in items(tree.get("prompts", []), "evidence"):
        spend(NUMBER * len(case.claim.task.candidates))
        yield case.decide(case.folds[integer(mapping(entry, "evidence")["fold"], "evidence")])
    if "decision" in tree:
        yield frozenset({case.claim.task.candidates[integer(tree["decision"], "evidence")]})


def _is_single(case: Case) -> bool:
    """Say whether each prompt is a class of its own."""
    return walk.count(case.claim) == len({group for _, group in walk.labels(case)})


def _is_chain(claim: Claim) -> bool:
    """Say whether all that is kept is one path from `embed`, on which no head may attend nowhere."""
    sources = Counter(source for source, _ in claim.edges)
    targets = Counter(target for _, target in claim.edges)
    live = live_nodes(claim.edges, claim.architecture)
    is_path = max(sources.values()) == max(targets.values()) == 1 and set(targets) <= live
    programs = [claim.programs.get((node.layer, node.head)) for node in targets if node.is_head]
    return is_path and EMBED in sources and all(program is None or program.is_self for program in programs)


def _of_edges(case: Case) -> list[str]:
    """Remark on edges that only bring a shared bias, and on those that carry a constant."""
    claim = case.claim
    places = range(len(claim.edges)) if claim.architecture.biases else ()
    biased = [claim.edges[place] for place in places if _is_biased(case, place)]
    constant = constant_edges(claim.edges, claim.programs)
    return [f"shared bias: {name_of(edge, claim.architecture)}" for edge in biased] + [
        f"constant source: {name_of(edge, claim.architecture)}" for edge in constant
    ]


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
