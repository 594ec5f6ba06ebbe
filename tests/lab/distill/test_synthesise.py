from fractions import Fraction

import pytest

from circuitproof.circuits.circuit import whole
from circuitproof.circuits.graph import Head
from circuitproof.errors import DeclarationError, InputError, NotExactError
from circuitproof.find.choices import Objective
from circuitproof.importers.release import load_release
from circuitproof.programs.atoms import Brackets
from circuitproof.programs.candidates import Grammar, Language, NamedOperand
from circuitproof.programs.features import Feature, WordKind
from circuitproof.programs.syntax import Pick
from circuitproof.programs.text import parse, to_text
from circuitproof.tasks.brackets import toy_brackets
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_lab.distill.choices import Growth, Scope
from circuitproof_lab.distill.decision_target import targets_of
from circuitproof_lab.distill.synthesis import Bounds, Realised, Unfinished
from circuitproof_lab.distill.synthesise import accepts, freeze, synthesise
from circuitproof_lab.distill.unrealisable import Unrealisable
from distractor_models import FILLERS, HEAD, distractor_model, neutral_quotes
from floats import agree
from hand_models import QUOTE_EDGES, circuit_of
from models import NORMS, random_model, tiny_architecture
from program_strategies import all_programs
from releases import stored

CIRCUITS = {"quotes": circuit_of(QUOTE_EDGES)}
FILLER_WORDS = tuple(NamedOperand(WordKind.TOKEN, token) for token in FILLERS)
TOKENS_ONLY = Grammar(rules=2, features=(Feature.KEY_TOKEN,))


def run(bounds, task=None, circuits=CIRCUITS):
    """Synthesise a program for the head that two fillers mislead."""
    return synthesise(distractor_model(), [task or neutral_quotes()], HEAD, circuits, bounds)


@pytest.mark.parametrize("growth", Growth)
@pytest.mark.parametrize(
    "grammar",
    [
        TOKENS_ONLY,
        Grammar(rules=1, features=(Feature.KEY_POSITION,)),
        Grammar(rules=1, features=(Feature.RELATIVE_DISTANCE,)),
        Grammar(rules=1, features=(), picks=(Pick.LAST,)),
        Grammar(rules=1, features=(), brackets=(Brackets(((9, 13), (10, 14))),)),
    ],
)
def test_the_accepted_program_is_accepted_by_the_whole_domain(grammar, growth):
    """Tokens, positions, distances, scans and brackets all find the quotation mark; the engine says so."""
    found = run(Bounds(grammar=grammar, growth=growth))
    assert isinstance(found.outcome, Realised)
    frozen = freeze(distractor_model())
    asked = [[whole(frozen.graph), CIRCUITS["quotes"]]]
    targets = targets_of(frozen, [neutral_quotes()], asked, Objective.PROGRAM)
    assert accepts(frozen, HEAD, found.program, targets)
    assert found.effort.tried <= found.effort.meanings <= found.effort.programs


@pytest.mark.parametrize("rules", [1, 2])
def test_what_is_accepted_is_the_best_of_all_that_brute_force_accepts(rules):
    """The twin installs every program of the language, one by one."""
    grammar = Grammar(rules=rules, features=(Feature.KEY_POSITION,))
    words = tuple(NamedOperand(WordKind.POSITION, position) for position in (2, 3))
    found = run(Bounds(grammar=grammar, words=words))
    frozen = freeze(distractor_model())
    targets = targets_of(frozen, [neutral_quotes()], [[whole(frozen.graph)]], Objective.PROGRAM)
    good = [p for p in all_programs(Language(grammar, words)) if accepts(frozen, HEAD, p, targets)]
    assert found.program in good
    seen = found.record.prefix_table
    kept = {seen.rows(program).tobytes() for program in good}
    better = [leader for leader in found.leaders if leader.overlap > found.overlap]
    assert not any(seen.rows(leader.program).tobytes() in kept for leader in better)


def test_a_tie_is_not_accepted():
    """A head that attends nowhere leaves the candidates equal."""
    grammar = Grammar(rules=1, features=(Feature.QUERY_POSITION,))
    found = run(Bounds(grammar=grammar, words=()))
    assert isinstance(found.outcome, Unrealisable)
    assert parse("default 0\notherwise self") in [one.program for one in found.outcome.refuted]


@pytest.mark.parametrize("growth", Growth)
def test_a_language_without_a_fitting_program_gives_a_certificate(growth):
    """One comparison leaves one of the misleading fillers in; two in a rule leave out both."""
    bounds = Bounds(grammar=TOKENS_ONLY, words=FILLER_WORDS, growth=growth)
    found = run(bounds)
    assert isinstance(found.outcome, Unrealisable)
    assert found.program is None
    assert len(found.outcome.refuted) == found.effort.meanings == found.effort.tried
    assert found.outcome.language.program_count() == found.effort.programs
    larger = Grammar(rules=1, conditions=2, features=(Feature.KEY_TOKEN,))
    fitting = run(Bounds(grammar=larger, words=FILLER_WORDS, growth=growth))
    assert to_text(fitting.program).splitlines()[1] == "add 1 when key_token != 7 and key_token != 8"


def test_guided_search_ends_with_the_same_certificate_as_a_search_at_once():
    """The list of meanings has one digest however it was come by."""
    whole_list, guided = (
        run(Bounds(grammar=TOKENS_ONLY, words=FILLER_WORDS, growth=growth)).outcome for growth in Growth
    )
    assert whole_list.digest == guided.digest
    assert whole_list.language.program_count() == guided.language.program_count()


def test_guided_search_accepts_from_a_smaller_language():
    """It stops at the first words that will do."""
    grammar = Grammar(rules=1, features=(Feature.KEY_POSITION,))
    found = run(Bounds(grammar=grammar, growth=Growth.GUIDED))
    assert found.effort.words < run(Bounds(grammar=grammar)).effort.words
    assert found.effort.rounds == found.effort.words + 1


def test_a_budget_leaves_the_search_unfinished_and_says_why():
    """Neither a program nor a certificate: nothing is claimed."""
    found = run(Bounds(grammar=TOKENS_ONLY, words=FILLER_WORDS, budget=30))
    assert found.outcome == Unfinished(
        "136 programs over 4 words, more than 30; want smaller bounds or a larger budget"
    )
    rules = run(Bounds(grammar=TOKENS_ONLY, words=FILLER_WORDS, budget=14))
    assert rules.outcome == Unfinished(
        "15 rules over 4 words, more than 14; want smaller bounds or a larger budget"
    )


def test_candidates_that_are_passed_over_are_not_refuted():
    """A least overlap is a wish, not a proof: what it leaves out stays open."""
    found = run(Bounds(grammar=TOKENS_ONLY, words=FILLER_WORDS, overlap=0.9))
    assert isinstance(found.outcome, Unfinished)
    assert "were passed over; want a smaller least overlap" in found.outcome.reason
    assert found.effort.tried < found.effort.meanings
    guided = run(Bounds(grammar=TOKENS_ONLY, words=FILLER_WORDS, overlap=1.0, growth=Growth.GUIDED))
    assert isinstance(guided.outcome, Unfinished)


def test_the_scope_says_which_forward_passes_are_asked():
    """A circuit without the head decides wrong whatever the program; the whole model alone does not mind."""
    bypass = {"quotes": circuit_of(["embed -> logits"])}
    grammar = Grammar(rules=1, features=(Feature.KEY_POSITION,))
    outcomes = {
        scope: type(run(Bounds(grammar=grammar, scope=scope), circuits=bypass).outcome) for scope in Scope
    }
    assert outcomes == {Scope.BOTH: Unrealisable, Scope.CIRCUIT: Unrealisable, Scope.MODEL: Realised}


def test_the_objective_says_what_is_wanted():
    """Even attention is misled by fillers: keeping the model's own decisions is something else than P."""
    grammar = Grammar(rules=1, features=(Feature.KEY_POSITION,))
    own = run(Bounds(grammar=grammar, objective=Objective.MODEL), circuits={})
    right = run(Bounds(grammar=grammar), circuits={})
    assert to_text(own.program) == "default 0\nadd 1\notherwise self\n"
    assert agree(own.overlap, 1.0)
    assert to_text(right.program) != to_text(own.program)


def test_leaders_are_ranked_and_end_with_the_accepted_one():
    """What is nearest to the head is there to be looked at, accepted or not."""
    found = run(Bounds(grammar=Grammar(rules=1)))
    overlaps = [leader.overlap for leader in found.leaders]
    assert agree(overlaps, sorted(overlaps, reverse=True))
    assert [leader.is_accepted for leader in found.leaders].count(True) == 1
    report = found.to_json()
    assert report["outcome"] == "realised"
    assert report["program"] == to_text(found.program).splitlines()
    assert report["meanings"] == found.effort.meanings


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        (
            {"circuits": {"brackets": CIRCUITS["quotes"]}},
            InputError,
            "a circuit for 'brackets', which is not",
        ),
        ({"circuits": {}, "bounds": Bounds(scope=Scope.CIRCUIT)}, InputError, "but a task has none"),
        ({"tasks": [], "circuits": {}}, InputError, "want one task or more"),
        ({"head": Head(3, 3)}, DeclarationError, "head 3.3 cannot be a program: there are 1 layers"),
        ({"circuits": {"quotes": circuit_of(["embed -> logits"], heads=2)}}, InputError, "of 2 heads"),
    ],
)
def test_what_does_not_fit_together_is_refused(change, error, sentence):
    """Before anything is searched."""
    asked = {
        "model": distractor_model(),
        "tasks": [neutral_quotes()],
        "head": HEAD,
        "circuits": CIRCUITS,
        "bounds": Bounds(),
    } | change
    with pytest.raises(error, match=sentence):
        synthesise(**asked)


def test_a_model_that_is_not_exact_is_refused():
    """LayerNorm has no exact value, so nothing can be accepted or refuted."""
    model = random_model(tiny_architecture(norm=NORMS[1]))
    task = neutral_quotes()
    with pytest.raises((InputError, NotExactError)):
        synthesise(model, [task], Head(0, 0), {}, Bounds())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [({"budget": 0}, "budget is 0 programs"), ({"overlap": 1.5}, "least overlap is 1.5")],
)
def test_bounds_are_checked_when_they_are_made(change, sentence):
    """A search without programs would end at once."""
    with pytest.raises(InputError, match=sentence):
        Bounds(**change)


def test_weights_other_than_one_are_searched():
    """A program with rules of different weight is another meaning."""
    grammar = Grammar(rules=2, features=(Feature.KEY_POSITION,), weights=(Fraction(1), Fraction(2)))
    words = (NamedOperand(WordKind.POSITION, 3), NamedOperand(WordKind.POSITION, 2))
    plain = run(Bounds(grammar=Grammar(rules=2, features=(Feature.KEY_POSITION,)), words=words))
    assert run(Bounds(grammar=grammar, words=words)).effort.meanings > plain.effort.meanings


def test_programs_for_a_head_of_the_papers_public_model(reference):
    """Thousands of programs in a moment; the paper's accepted programs overlap by 0.69 to 0.88."""
    release = load_release(reference / "norm_free")
    found = synthesise(stored(release).model, [toy_quotes()], Head(0, 0), release.circuits, Bounds())
    assert to_text(found.program).splitlines()[1:-1] == [
        "add 1 when key_position == 3",
        "add 1 when relative_distance == 1",
    ]
    assert (found.effort.meanings, found.effort.programs) == (5997, 13530)
    assert 0.69 <= found.overlap <= 0.88


@pytest.mark.slow
def test_ten_thousand_meanings_of_two_tasks_are_ranked_and_decided(reference):
    """The whole language of two rules over everything that the prompts of both tasks have."""
    release = load_release(reference / "norm_free")
    tasks = [toy_quotes(), toy_brackets()]
    found = synthesise(stored(release).model, tasks, Head(1, 0), release.circuits, Bounds())
    assert found.effort.meanings == 13597
    assert isinstance(found.outcome, Realised)
