"""The certificate: one answer per property of the claim, in the claim's order."""

from enum import Enum

from circuitproof_check.claim import Claim, Property, read_property, rule_format_is_known
from circuitproof_check.evidence import Case
from circuitproof_check.forward import Forward
from circuitproof_check.reading import ForgedError, fields, items, rationals, show, text
from circuitproof_check.rules import CHECKS

FORMAT = "circuitproof certificate 1"


class Verdict(Enum):
    """How a property is answered."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


def judge(value: object, claim_digest: str, claim: Claim, forward: Forward) -> tuple[Verdict, ...]:
    """Return the verdict on each property of the claim, with every piece of evidence checked."""
    spelled, digest, rows, answers = fields(value, "certificate", "format", "claim", "folds", "answers")
    rule_format_is_known(spelled, FORMAT)
    rule_certificate_is_of_the_claim(digest, claim_digest)
    folds = tuple(rationals(row, f"folds[{i}]") for i, row in enumerate(items(rows, "folds")))
    case = Case(claim, forward, folds)
    entries = items(answers, "answers")
    rule_every_property_is_answered(len(entries), claim)
    pairs = zip(claim.properties, entries, strict=False)
    verdicts = tuple(_judge_answer(case, claimed, entry) for claimed, entry in pairs)
    rule_every_fold_is_referred_to(case)
    return verdicts


def _judge_answer(case: Case, claimed: Property, value: object) -> Verdict:
    where = claimed.kind.value
    answered, verdict, evidence = fields(value, where, "property", "verdict", "evidence")
    rule_answer_is_to_the_property(read_property(answered, where), claimed)
    match verdict:
        case "proved":
            CHECKS[claimed.kind].proof(case, evidence, claimed)
        case "refuted":
            CHECKS[claimed.kind].refutation(case, evidence, claimed)
        case "undecided":
            text(fields(evidence, where, "open")[0], f"{where}.open")
        case _:
            raise ForgedError(f"{where}: the verdict is {show(verdict)}, want proved, refuted or undecided")
    return Verdict(verdict)


def rule_certificate_is_of_the_claim(found: object, wanted: str) -> None:
    """The certificate names the digest of the claim."""
    if found != wanted:
        raise ForgedError(f"the certificate is of claim {show(found)}, want {wanted}")


def rule_every_property_is_answered(count: int, claim: Claim) -> None:
    """There is one answer per property of the claim."""
    if count != len(claim.properties):
        raise ForgedError(f"there are {count} answers, want one per property: {len(claim.properties)}")


def rule_answer_is_to_the_property(found: Property, wanted: Property) -> None:
    """Answers stand in the order of the claim's properties, and are to the same."""
    if found != wanted:
        raise ForgedError(f"the answer is to {show(found)}, want {show(wanted)}")


def rule_every_fold_is_referred_to(case: Case) -> None:
    """Every fold is referred to."""
    if idle := sorted(set(range(len(case.folds))) - case.referred):
        raise ForgedError(f"fold {idle[0]} is not referred to")
