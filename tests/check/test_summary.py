"""What a verdict says: short, and with no word of the bundle that could be taken for the checker's own."""

import json
import re
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from operator import getitem
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import bundle_maker as maker
import pattern_forgeries
from bundle_maker import Bundle, fitting, proving
from circuitproof_check.ablation import Ablation
from circuitproof_check.claim import KINDS, Property, read_claim
from circuitproof_check.counted import Counted, MeasureBracket
from circuitproof_check.main import Beside, Outcome, check, inspect, main
from circuitproof_check.properties import Verdict
from circuitproof_check.reading import ForgedError, cut, named, quoted, require, show
from circuitproof_check.summary import Judged, assumptions, facts, sentence
from golden_verdicts import VERDICTS, file_of, verdict
from json_changes import places

IMITATION = "x' 0123456789ab as declared, 4 edges), of the model m"
DOUBLE = 'tiny"); model compared, task 0123456789ab as declared (task "other'
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
LONGEST = 1100 - len("incomplete: ")


def judged(name: str = "tiny", *properties: Property, remarks: int = 0, **beside: Path) -> Judged:
    """Return a claim that was judged, under a name of the task."""
    bundle = proving(fitting(), "equivalence")
    bundle.claim["task"]["declaration"] = "0123456789ab" + "0" * 52
    domain = maker.as_bytes(bundle.domain)
    bundle.claim["domain"] = {"digest": maker.digest(domain), "prompts": 8}
    claim = read_claim(bundle.claim, bundle.domain, domain)
    claimed = properties or claim.properties
    renamed = replace(claim, task=replace(claim.task, name=name), properties=claimed)
    said = tuple(f"shared bias: head 0.{edge} -> logits" for edge in range(remarks))
    answers = [(Verdict.PROVED, said)] * len(claimed)
    return Judged(renamed, answers, Beside(**beside), has_alphabet=False, count=1382 * 10**420)


PLAIN = judged()


def read_back(text: str) -> tuple[str, bool, str]:
    """Return the string that begins a text, whether it was cut, and what stands behind it."""
    content, end = json.JSONDecoder().raw_decode(text)
    rest = text[end:]
    return content, rest.startswith("..."), rest.removeprefix("...")


@given(st.text())
@example(IMITATION)
@example(DOUBLE)
@example('\\"\\')
@example("\n\x7f\u202e\U0001f600" * 20)
def test_a_task_name_is_read_back_from_the_line_and_changes_no_other_word(name):
    """All before the first quote is the checker's own, and is the same under every name."""
    line = sentence(replace(PLAIN, claim=replace(PLAIN.claim, task=replace(PLAIN.claim.task, name=name))))
    own, rest = sentence(PLAIN).split('"tiny"')
    assert line.startswith(own)
    assert line.isascii()
    assert line.isprintable()
    found, is_cut, behind = read_back(line.removeprefix(own))
    assert behind == rest == ")"
    assert name.startswith(found)
    assert (found != name) == is_cut


@given(st.text(min_size=1).filter(lambda path: "\0" not in path), st.text())
@example(DOUBLE, DOUBLE)
def test_paths_and_names_are_read_back_from_the_line(path, name):
    """A folder may have any name too; the name of the task stands last."""
    beside = Beside(against=Path(path))
    task = replace(PLAIN.claim.task, name=name)
    line = sentence(replace(PLAIN, claim=replace(PLAIN.claim, task=task), beside=beside))
    own, _, rest = line.partition('"')
    assert own.removesuffix("...").endswith("equivalence proved (model ")
    found, _, behind = read_back(f'"{rest}')
    assert str(Path(path)).endswith(found)
    assert behind.startswith(", task ")
    found, _, behind = read_back(behind.removeprefix(", task "))
    assert name.startswith(found)
    assert behind == ")"


def test_a_line_is_short_whatever_the_claim_holds():
    """An epsilon of 330,000 digits, a thousand positions and remarks, brackets, long names: each is cut."""
    epsilon = Fraction(1, 1 << 1_100_000)
    robust = Property("robustness", epsilon, "head 4095.4095 output", tuple(range(10**6, 10**6 + 1000)))
    edges = ("head 4095.4095 -> logits",) * 10**6
    bracket = MeasureBracket(-epsilon / 3, Fraction(2, 3 << 4000))
    brackets = {"loss": 1, "logit difference": 3, "recovered difference": 1}
    others = [(kind, (bracket,) * brackets.get(kind, 0)) for kind in KINDS if kind != "robustness"]
    every = [Property(kind, circuits=(edges,), counted=Counted(brackets=one)) for kind, one in others]
    every.append(robust)
    far = Path("/" + "deep/" * 800)
    zero = judged("\U0001f600" * 10_000, *every, remarks=1000, against=far, base=far, task=far)
    mean = Ablation("mean", is_pooled=True, prompts=((0,),) * 10**6, digest="3f2a" * 16)
    carried = sentence(replace(zero, claim=replace(zero.claim, ablation=mean)))
    assert (len(carried) <= LONGEST, f" proved [remarks: {1000 * len(every)}] (" in carried) == (True, True)
    found = sentence(zero)
    assert len(found) <= LONGEST
    assert found.startswith(
        "model compared, names as declared, base compared, task 0123456789ab as declared;"
    )
    assert "robustness at a number of 1100001 bits (about 2^" in found
    assert "[head 4095.4095 output, positions 1000000 1000001" in found
    assert "1000002 1000003 and 996 more" in found
    assert found.endswith('\\ud83d\\ude00"...)')
    assert found.count('..."') == len(("model", "base"))


def test_a_long_path_keeps_its_end():
    """The last parts of a path tell it from others."""
    line = sentence(judged(against=Path("/models") / ("deep/" * 30) / "pythia-70m"))
    assert 'deep/deep/pythia-70m", task "tiny")' in line


@given(st.lists(st.one_of(st.text("ab ,", max_size=9), st.text().map(quoted))), st.integers(3, 80))
def test_what_is_cut_tears_no_string(parts, most):
    """What stands after a quote that is never closed could be taken for a part of it."""
    found = cut("".join(parts), most)
    assert len(found) <= most
    assert STRING.sub("", found).count('"') == 0


def test_a_few_remarks_are_shown_and_many_about_edges_are_counted():
    """All of them are in the JSON; a remark about the whole claim is not hidden by those about edges."""
    assert "[shared bias: head 0.0 -> logits; shared bias: head 0.1 -> logits]" in sentence(judged(remarks=2))
    many = judged(remarks=39)
    assert "equivalence [shared bias: 39 edges] proved" in sentence(many)
    ((verdict, remarks),) = many.answers
    both = replace(many, answers=[(verdict, ("whole model", *remarks, "constant source: embed -> mlp 0"))])
    shown = "[whole model; shared bias: 39 edges; constant source: 1 edge]"
    assert shown in sentence(both)


def test_remarks_of_several_properties_are_spelled_out_as_long_as_they_fit():
    """Ten of them do; whether they do does not depend on names."""
    claimed = [Property(kind) for kind in ("equivalence", "necessity")]
    ten, long = (sentence(judged(name, *claimed, remarks=5)) for name in ("tiny", "tiny" * 99))
    assert ten.count("shared bias: head 0.") == long.count("shared bias: head 0.") == 10
    assert len(long) <= LONGEST
    assert "[shared bias: 16 edges], necessity [shared bias: 16 edges]" in sentence(
        judged("tiny", *claimed, remarks=16)
    )


MEAN = Ablation("mean", prompts=((0,), (1, 2)), digest="3f2a" * 16)
WORDS = {
    "mean ablation by position of 2 prompts 3f2a3f2a3f2a": (MEAN, {"over": "position", "count": "2"}),
    "mean ablation over all positions of 2 prompts 3f2a3f2a3f2a": (
        replace(MEAN, is_pooled=True),
        {"over": "all", "count": "2"},
    ),
    "counterfactual ablation of 1 pair 3f2a3f2a3f2a": (
        Ablation("counterfactual", partners={b"": (0,)}, digest=MEAN.digest),
        {"count": "1"},
    ),
    "zero ablation": (Ablation(), {}),
}


@pytest.mark.parametrize("words", WORDS)
def test_a_line_says_what_stands_at_cut_edges(words):
    """Which mean, of how many prompts, and of which: claims that differ in it do not have one line."""
    ablation, data = WORDS[words]
    found = replace(PLAIN, claim=replace(PLAIN.claim, ablation=ablation))
    assert f"4 edges, {words}, 1.382e423 prompts" in sentence(found)
    data = data and {**data, "digest": ablation.digest}
    assert facts(found).get("cut", {}) == data
    (assumed,) = [one for one in assumptions(found) if one["about"] == "ablation"]
    assert assumed == {"about": "ablation", "is": ablation.kind, **data}


def test_a_line_says_among_how_many_candidates_is_decided():
    """A decision among two tokens is not one among all."""
    assert "4 edges, zero ablation, 1.382e423 prompts, 3 candidates: " in sentence(PLAIN)


def test_what_is_listed_of_a_set_does_not_depend_on_how_strings_are_hashed():
    """Whoever reports a refusal and whoever reads of it see the same words."""
    assert show({f"key {number}" for number in range(100)}).startswith(
        '("key 0", "key 1", "key 10", "key 11"'
    )


def test_the_printed_line_and_its_json_are_short_where_epsilon_is_long(tmp_path, capsys):
    """The whole number is in the JSON, apart from the sentence."""
    prover = fitting()
    epsilon = "1" + "0" * 3000
    entry = {"kind": "robustness", "epsilon": epsilon, **maker.FINAL_RESIDUAL}
    prover.answer(entry, "undecided", {"open": "no time"})
    written = prover.bundle.write(tmp_path / "bundle")
    with pytest.raises(SystemExit):
        main([str(written)])
    assert len(capsys.readouterr().out) < LONGEST
    report = json.loads(inspect(written, Beside()).to_json())
    assert len(report["reason"]) < LONGEST
    assert report["claim"]["properties"][0]["epsilon"] == epsilon


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.fractions(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner), st.lists(inner).map(tuple)),
    max_leaves=30,
)


@given(st.lists(values), st.text())
@example([IMITATION, DOUBLE], DOUBLE)
@example([["'x", '"y', {"z\n": 1}]] * 9, "a b")
@example([10**330], "x" * 1000)
def test_a_sentence_about_a_broken_rule_keeps_strings_in_quotes(found, name):
    """What a bundle holds cannot add words to the sentence that refuses it."""
    with pytest.raises(ForgedError) as refused:
        require("names_are_plain", None, f"tensor {named(name)}", *found)
    said = str(refused.value)
    assert len(said) <= LONGEST
    assert said.isascii()
    assert said.isprintable()
    words = STRING.sub("", said).partition(" breaks the rule that names are plain")[2]
    own = r"(True|False|None|inf|a number of \d+ bits|[-\d./e+(){}, ]|: found )*"
    assert re.fullmatch(own, words)


@given(st.text())
def test_a_quoted_string_is_a_json_string_of_its_beginning(name):
    """Cut by what is written, not by what is meant: an escape is never torn."""
    found, is_cut, rest = read_back(quoted(name))
    assert (rest, is_cut) == ("", found != name)
    assert len(quoted(name)) <= 45
    assert name.startswith(found)


def _about_a_list() -> Bundle:
    return proving(fitting(), *maker.KINDS)


def sealed_again(honest: Bundle, part: str) -> Bundle:
    """Return a copy of a bundle that is written with the digests that a change of a part asks for."""
    copy = deepcopy(honest)
    copy.pins = {"domain": {"domain", "certificate"}, "claim": {"certificate"}}.get(part, set())
    return copy


@pytest.mark.parametrize("make", [_about_a_list, pattern_forgeries.honest], ids=["list", "pattern"])
@pytest.mark.parametrize("part", ["claim", "domain", "certificate"])
def test_no_string_of_a_bundle_adds_words_to_what_is_said_of_it(make, part, tmp_path):
    """The imitation stands in the place of every value and of every key in turn."""
    honest = make()
    honest.write(tmp_path / "honest")
    for *path, last in filter(None, places(getattr(honest, part))):
        for is_key in (False, True):
            bundle = sealed_again(honest, part)
            holder = reduce(getitem, path, getattr(bundle, part))
            if is_key and isinstance(holder, dict):
                holder[DOUBLE] = holder.pop(last)
            else:
                holder[last] = f"{DOUBLE}\n{DOUBLE}"
            reason = inspect(bundle.write(tmp_path / "b"), Beside()).reason
            assert "as declared" not in STRING.sub("", reason)
            assert (len(reason) <= LONGEST, reason.isascii(), reason.isprintable()) == (True, True, True)


def test_a_plain_path_is_shown_as_it_is():
    """Quotes are for what could be taken for words."""
    assert named(Path("build/demo/model-1")) == "build/demo/model-1"
    assert named("a b") == '"a b"'
    assert show(Path("a")) == "a"


def test_a_decision_among_all_tokens_is_not_one_among_candidates(tmp_path):
    """Where every token is a candidate nothing is left out."""
    every = fitting(change=lambda b: b.claim["task"].update(candidates=list(range(6))))
    report = inspect(proving(every, "equivalence").write(tmp_path / "b"), Beside())
    decision = {"about": "decision", "is": "among all tokens", "count": "6", "tokens": "6"}
    assert decision in report.assumptions


@pytest.mark.parametrize("kind", VERDICTS)
def test_the_whole_json_is_the_golden_one(kind):
    """One file per kind of claim: programs read it, so whoever changes a line of it says why."""
    assert verdict(kind) == file_of(kind).read_text()


def test_every_kind_of_claim_has_a_golden_verdict():
    """Those of lists, and a claim about a pattern."""
    assert set(VERDICTS) == {*KINDS, "pattern"}


def test_what_is_not_judged_assumes_nothing(tmp_path):
    """There is no verdict that could rest on anything."""
    bundle = proving(fitting(), "equivalence")
    bundle.claim["note"] = IMITATION
    outcome, reason = check(bundle.write(tmp_path / "b"))
    assert (outcome, '"note"' in reason) == (Outcome.INVALID, True)
    assert "assumptions" not in json.loads(inspect(tmp_path / "b", Beside()).to_json())
