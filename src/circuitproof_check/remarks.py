"""Remarks: where a proved answer says less than its name. They are found from the claim, as all else is."""

from collections import Counter
from collections.abc import Iterator, Sequence

from .architecture import (
    EMBED,
    Edge,
    Edges,
    Node,
    all_edges,
    constant_edges,
    live_nodes,
    logits_node,
    name_of,
    readers,
)
from .case import Case, Decision
from .claim import Claim, Property
from .patterns import walk
from .reading import integer, items, mapping
from .sums.settle import sums_of
from .work import NUMBER, OBJECT, key, paid, spend


def found_remarks(case: Case, claimed: Property, proved: Sequence[Property], evidence: object) -> list[str]:
    """Return the remarks on a property, of which some others are proved too; on one that is not, none."""
    if claimed not in proved:
        return []
    said, left_out = _of_property(case, claimed, proved, evidence), _of_left_out(claimed)
    if case.claim.ablation.is_zero or claimed.kind == "lesion identity":
        return said + left_out
    if claimed.kind in ("necessity", "agreement", *_SIZES):
        return said + _of_prompts(case.claim)
    every = all_edges(case.claim.architecture, case.claim.shape)
    is_cut = len(case.claim.edges) < len(every) or claimed.kind == "recovered difference"
    said += (_of_prompts(case.claim) if is_cut else []) + left_out
    every = all_edges(case.claim.architecture)
    return said + _if(_perhaps(case, "logits of the whole model"), _is_same(case, every))


def _of_left_out(claimed: Property) -> list[str]:
    count = len(claimed.counted.listed) if claimed.kind == "recovered difference" else 0
    return _if(f"prompts left out: {count}", count)


def _perhaps(case: Case, remark: str) -> str:
    """Return a remark on numbers that are the same; enclosed ones are never known to be."""
    return f"perhaps {remark}" if case.claim.is_enclosed else remark


def _of_prompts(claim: Claim) -> list[str]:
    """Remark on prompts that stand for themselves at cut edges."""
    ablation = claim.ablation
    single = own = 0
    lengths = Counter(map(len, paid(ablation.prompts, NUMBER)))
    for prompt in paid(claim.prompts, OBJECT):
        single += (len(ablation.prompts) if ablation.is_pooled else lengths[len(prompt)]) == 1
        own += ablation.partners.get(key(prompt)) == prompt
    return _if(f"means of one prompt: {single}", single) + _if(f"own partners: {own}", own)


def _of_property(case: Case, claimed: Property, proved: Sequence[Property], evidence: object) -> list[str]:
    labels = walk.labels(case)
    is_constant = len({answer for answer, _ in labels}) == 1
    is_equivalent = any(_implies_equivalence(case, one) for one in proved)
    match claimed.kind:
        case "equivalence":
            return _if("constant answer", is_constant) + _unedged(case, evidence)
        case "subset minimality" | "minimum":
            return _of_size(case.claim, claimed, evidence, is_constant=is_constant)
        case "invariance":
            has_one_each = len({group for _, group in labels}) == len(labels)
            implied = _if("implied by equivalence", is_equivalent and has_one_each)
            return implied + _if("implied by clear decisions", _is_single(case)) + _constant(case, evidence)
        case "necessity":
            is_blind = case.claim.ablation.is_uniform and not is_constant
            is_implied = is_equivalent and is_blind and _is_chain(case.claim)
            return _if("implied by equivalence", is_implied) + _of_edges(case)
        case "robustness":
            count = case.claim.unreached if case.claim.declared is None else 0
            return _constant(case, evidence) + _if(f"unreached prompts: {count}", count)
        case "faithfulness":
            ties = sum(len(decision) > 1 for decision in _decisions(case, evidence))
            said = _if("whole model", _is_whole(case)) + _if(f"tied prompts: {ties}", ties)
            return _constant(case, evidence) + said
        case "agreement":
            is_same = case.claim.declared is None and _is_same(case, case.claim.other)
            return _constant(case, evidence) + _if(_perhaps(case, "same logits"), is_same)
        case "lesion identity":
            return _of_lesion(case.claim, claimed)
        case _:
            return _of_counted(case, claimed)


_SIZES = ("subset minimality", "minimum")
"""The properties of which equivalence is a part."""


def _if(remark: str, applies: object) -> list[str]:
    return [remark] if applies else []


def _implies_equivalence(case: Case, claimed: Property) -> bool:
    """Say whether it is said of every prompt that its right answer is decided."""
    if claimed.kind == "accuracy":
        return _said_right(case, claimed) == sum(paid(_answers(case), NUMBER).values())
    return claimed.kind in ("equivalence", *_SIZES)


def _said_right(case: Case, claimed: Property) -> int:
    """Return how many prompts an accuracy says to be right."""
    counted = claimed.counted
    every = sum(paid(_answers(case), NUMBER).values())
    return counted.least or counted.exactly or every - len(counted.listed)


def _of_counted(case: Case, claimed: Property) -> list[str]:
    """Remark that one answer or no edge is right of as many prompts, or that nothing is lost, or won."""
    if claimed.kind == "accuracy":
        most, right = max(paid(_answers(case), NUMBER).values()), _said_right(case, claimed)
        return _if(f"no better than a constant: {most}", most >= right) + _bare(case, right, most)
    if claimed.kind != "recovered difference":
        return []
    last = logits_node(case.claim.architecture)
    is_bare = all(target.reader != last for _, target in paid(case.claim.edges))
    return _if("whole model", _is_whole(case)) + _if("no edges", is_bare)


def _bare(case: Case, right: int, most: int) -> list[str]:
    """Remark that without any edge no fewer prompts are right, or perhaps.

    Under zero ablation all prompts have one decision then, which is right of `most` of them at most.
    """
    if case.claim.ablation.is_zero:
        found = case.known(0, ())
        counts = paid(list(_answers(case).items()), NUMBER)
        known = sum(count for answer, count in counts if found == frozenset({answer}))
        possible = most if found is None else known
    else:
        known, possible = _bare_by_prompt(case)
    if known >= right:
        return ["decided without edges"]
    return _if("perhaps decided without edges", possible >= right)


def _bare_by_prompt(case: Case) -> tuple[int, int]:
    """Return how many listed prompts are right without any edge, and how many may be."""
    case.prepare(())
    answers = case.claim.task.answers
    found = [case.known(prompt, ()) for prompt in paid(range(len(answers)), NUMBER)]
    known = sum(one == frozenset({answer}) for one, answer in paid(list(zip(found, answers, strict=True))))
    return known, known + found.count(None)


def _answers(case: Case) -> Counter[int]:
    """Return of how many prompts each candidate is the right answer."""
    if case.claim.declared is None:
        return Counter(paid(case.claim.task.answers, NUMBER))
    found: Counter[int] = Counter()
    for (answer, _), count in paid(sums_of(case).counts, NUMBER).items():
        found[answer] += count
    return found


def _of_size(claim: Claim, claimed: Property, evidence: object, *, is_constant: bool) -> list[str]:
    """Remark that no other circuit had to be looked at, or none of fewer edges."""
    tried = len(items(mapping(evidence, "evidence")["children"], "evidence"))
    is_alone = not is_constant and tried == max(1, len(claimed.circuits))
    is_blind = not is_constant and claim.ablation.is_uniform
    is_least = is_blind and len(claim.edges) == 1 and claimed.kind == "minimum"
    said = _if("implied by equivalence", is_alone) + _if("constant answer", is_constant)
    return said + _if("one edge", is_least)


def _of_lesion(claim: Claim, claimed: Property) -> list[str]:
    """Remark that there is nothing to silence, here or in the circuit, and on heads that the base has too.

    Cut edges that carry anything carry what the program heads put out: the circuit uses them then.
    """
    live = live_nodes(claim.edges, claim.architecture)
    silenced = [place for place, program in claim.programs.items() if not program.is_empty]
    is_unused = all(Node(2 * layer + 1, head) not in live for layer, head in silenced)
    is_unused &= claim.ablation.is_zero or not claim.programs
    same = sorted(place for place, lines in claimed.lines.items() if claim.lines.get(place) == lines)
    said = _if("no program head in the circuit" if claim.programs else "no program head", is_unused)
    return said + [f"program of the base: head {layer}.{head}" for layer, head in same]


def _is_whole(case: Case) -> bool:
    """Say whether the circuit lacks no edge but those from and to nodes that put out zero.

    Without an edge from such a head its target may lose the bias of the layer; that must be zero then, too.
    """
    size, kept = case.claim.architecture, set(case.claim.edges)
    told = {(source.stage, target) for source, target in kept if source.is_head}
    for source, target in paid(all_edges(size, case.claim.shape), OBJECT):
        if (source, target) in kept or _is_silent(case, target.reader):
            continue
        is_told = not size.biases or not source.is_head or (source.stage, target) in told
        is_told = is_told or not case.claim.ablation.is_zero
        if not _is_silent(case, source) or not (is_told or _is_zero(case, _shared_bias(source))):
            return False
    return True


def _is_same(case: Case, others: Edges) -> bool:
    """Say whether on no prompt of a list another circuit is known to have other logits."""
    case.prepare(case.claim.edges, others)
    return not any(case.are_apart(one, case.claim.edges, others) for one in range(len(case.claim.prompts)))


def _shared_bias(head: Node) -> str:
    return f"attention.{head.layer}.output.bias"


def _is_zero(case: Case, name: str) -> bool:
    return case.forward.weights.is_zero(name)


def _is_silent(case: Case, node: Node) -> bool:
    """Say whether a head or an MLP puts out zero whatever it reads."""
    size = case.claim.architecture
    if node in (EMBED, logits_node(size)):
        return False
    if node.is_head:
        program = case.claim.programs.get((node.layer, node.head))
        is_empty = program is not None and program.is_empty
        name = f"head.{node.layer}.{node.head}"
        return is_empty or _is_zero(case, f"{name}.output.weight") or _maps_to_zero(case, f"{name}.value")
    name = f"mlp.{node.layer}"
    if size.biases and not _is_zero(case, f"{name}.down.bias"):
        return False
    return _is_zero(case, f"{name}.down.weight") or _maps_to_zero(case, f"{name}.up")


def _maps_to_zero(case: Case, name: str) -> bool:
    has_bias = case.claim.architecture.biases and not _is_zero(case, f"{name}.bias")
    return not has_bias and _is_zero(case, f"{name}.weight")


def _constant(case: Case, evidence: object) -> list[str]:
    """Remark that all prompts are decided alike, and that this needs no edge."""
    found = set(_decisions(case, evidence))
    is_one = len(found) == 1 and len(min(found, key=len)) == 1
    return _if("constant decision", is_one) + _unedged(case, evidence)


def _unedged(case: Case, evidence: object) -> list[str]:
    found = list(_decisions(case, evidence))
    if case.claim.ablation.is_zero and any(one != found[0] for one in found):
        return []  # without any edge all prompts have the same logits, so one decision, known or not
    if case.claim.ablation.is_zero:
        bare = [case.known(0, ())] * len(found)
    else:
        case.prepare(())
        bare = [case.known(prompt, ()) for prompt in range(len(case.claim.prompts))]
    pairs = zip(bare, found, strict=True)
    if not found or any(one is not None and (len(one) > 1 or one != own) for one, own in pairs):
        return []
    return ["perhaps decided without edges" if None in bare else "decided without edges"]


def _decisions(case: Case, evidence: object) -> Iterator[Decision]:
    """Return what evidence that has been checked says is decided: of each prompt, or in each region."""
    if case.claim.declared is not None:
        yield from _in_regions(case, mapping(evidence, "evidence"))
        return
    case.prepare(case.claim.edges)
    for prompt in range(len(case.claim.prompts)):
        spend(NUMBER * len(case.claim.task.candidates))
        yield case.known(prompt, case.claim.edges) or frozenset()


def _in_regions(case: Case, tree: dict[str, object]) -> Iterator[Decision]:
    spend(NUMBER)
    for child in items(tree.get("children", []), "evidence"):
        yield from _in_regions(case, mapping(mapping(child, "evidence")["evidence"], "evidence"))
    for entry in items(tree.get("prompts", []), "evidence"):
        spend(NUMBER * len(case.claim.task.candidates))
        shown = mapping(entry, "evidence")
        yield _stated(case, shown, "decided") or case.decide(
            case.referred[integer(shown["fold"], "evidence")]
        )
    for name in ("decision", "decided"):
        if found := _stated(case, tree, name):
            yield found


def _stated(case: Case, content: dict[str, object], name: str) -> Decision:
    """Return the decision that a leaf states by the place of its candidate, or nothing."""
    if name not in content:
        return frozenset()
    return frozenset({case.claim.task.candidates[integer(content[name], "evidence")]})


def _is_single(case: Case) -> bool:
    """Say whether each prompt is a class of its own."""
    return walk.count(case) == len({group for _, group in walk.labels(case)})


def _is_chain(claim: Claim) -> bool:
    """Say whether all that is kept is one path to the logits, of which only the first node is a reader."""
    sources = Counter(source for source, _ in claim.edges)
    targets = Counter(target.reader for _, target in claim.edges)
    live = live_nodes(claim.edges, claim.architecture)
    is_path = max(sources.values()) == max(targets.values()) == 1 and set(targets) <= live
    return is_path and set(readers(claim.programs).intersection(sources)) == set(sources) - set(targets)


def _of_edges(case: Case) -> list[str]:
    """Remark on edges that only bring a shared bias, and on those that carry a constant."""
    claim = case.claim
    may_lose_bias = claim.architecture.biases and claim.ablation.is_zero
    places = range(len(claim.edges)) if may_lose_bias else ()
    biased = [remark for place in places for remark in _biased(case, place)]
    constant = constant_edges(claim.edges, claim.programs) if claim.ablation.is_uniform else ()
    return biased + [f"constant source: {name_of(edge, claim.architecture)}" for edge in constant]


def _biased(case: Case, edge: int) -> list[str]:
    """Remark on an edge without which no decision is another, as long as its target reads the bias."""
    source, target = case.claim.edges[edge]
    if not source.is_head or len(_of_layer(case.claim.edges, (source, target))) > 1:
        return []
    biases, is_known = frozenset({(target, source.layer)}), True
    case.prepare(case.claim.edges)
    for prompt in range(len(case.claim.prompts)):
        decision = case.known(prompt, case.claim.edges)
        if decision is not None and len(decision) > 1:
            continue
        without = None if decision is None else case.known(prompt, case.lesion(edge), biases)
        if without not in (None, decision):
            return []
        is_known = is_known and without is not None
    remark = f"shared bias: {name_of((source, target), case.claim.architecture)}"
    return [remark if is_known else f"perhaps {remark}"]


def _of_layer(edges: Edges, edge: Edge) -> Edges:
    """Return the edges from heads of the same layer to the same node."""
    source, target = edge
    return tuple(one for one in paid(edges) if one[1] == target and one[0].stage == source.stage)
