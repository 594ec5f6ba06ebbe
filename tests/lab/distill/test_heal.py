from dataclasses import replace
from math import log

import pytest
import torch

from circuitproof.circuits.circuit import whole
from circuitproof.circuits.graph import Head
from circuitproof.errors import InputError
from circuitproof.nn.checkpoint import StoredModel, model_files
from circuitproof.tasks.task import Task
from circuitproof_lab.distill.heal import (
    ANSWERED,
    TERMS,
    Draw,
    Healing,
    LossTerm,
    Treatment,
    Weighing,
    bypass_penalty,
    prompts_of,
    thinned,
)
from circuitproof_lab.distill.lesion import Behaviour
from circuitproof_lab.train.loop import TrainingGoal, TrainingPlan, Watcher, fit
from floats import agree
from hand_models import circuit_of, table_task
from models import NORMS, PROGRAMS, random_model, tiny_architecture

PROMPTS = [(0, 1), (3, 4), (3, 4, 2), (1, 1, 4), (1, 2, 0), (4, 2, 0, 3), (1, 3, 3, 4)]
TASK = table_task({prompt: sum(prompt) % 3 for prompt in PROMPTS}, candidates=(0, 1, 2))
OTHER_TASK = replace(
    table_task({prompt: 1 + sum(prompt) % 2 for prompt in PROMPTS}, candidates=(1, 2)), name="o"
)
READS_TWO = circuit_of(
    ("embed -> head 0.0", "head 0.0 -> mlp 0", "mlp 0 -> head 1.1", "embed -> mlp 0", "head 1.1 -> logits"),
    layers=2,
    heads=2,
)
READS_ONE = circuit_of(("embed -> head 1.1", "head 1.1 -> logits", "mlp 1 -> logits"), layers=2, heads=2)
BEHAVIOURS = (Behaviour(TASK, READS_TWO), Behaviour(OTHER_TASK, READS_ONE))
HEADS = (Head(0, 0), Head(0, 1), Head(1, 1))
DRAW = Draw(seed=3, batch=3, keep=0.25)
WEIGHTS = {term: 0.5 + place / 4 for place, term in enumerate(LossTerm)}
PLAN = TrainingPlan(
    seed=3,
    steps=6,
    learning_rate=0.01,
    warmup=2,
    weight_decay=0.01,
    gradient_limit=1.0,
    initial_deviation=0.0,
    evaluate_every=3,
    checkpoint_every=2,
)


def weighing(treatment: Treatment) -> Weighing:
    """Return an objective whose terms all weigh differently."""
    return Weighing(treatment, {term: WEIGHTS[term] for term in TERMS[treatment]})


def model_with_programs(norm=NORMS[0]):
    """Return a random model with three programs and one neural head."""
    return random_model(tiny_architecture(norm=norm), 2, {head: PROGRAMS[head] for head in HEADS})


def healing(treatment: Treatment, behaviours=BEHAVIOURS) -> Healing:
    """Return the goal of an objective."""
    return Healing(behaviours, HEADS, weighing(treatment), DRAW)


def without(circuit, *heads):
    """Return a circuit without the edges out of some heads, spelled out."""
    return replace(circuit, edges=frozenset(edge for edge in circuit.edges if edge.source not in heads))


def slow_circuits(term: LossTerm, behaviour: Behaviour, step: int):
    """Return what a term is about, by its words."""
    everything, declared = whole(behaviour.circuit.graph), behaviour.circuit
    core = [head for head in HEADS if any(edge.source == head for edge in declared.edges)]
    return {
        LossTerm.TASK: [everything],
        LossTerm.CIRCUIT: [declared],
        LossTerm.EXTRA_EDGES: [thinned(declared, DRAW, step)],
        LossTerm.MODEL_EACH: [without(everything, head) for head in core],
        LossTerm.MODEL_JOINT: [without(everything, *HEADS)],
        LossTerm.CIRCUIT_EACH: [without(declared, head) for head in core],
        LossTerm.CIRCUIT_JOINT: [without(declared, *HEADS)],
    }[term]


def slow_term(term: LossTerm, model, behaviour: Behaviour, step: int) -> float:
    """Return a term from one forward pass for each circuit and each prompt."""
    losses = []
    for circuit in slow_circuits(term, behaviour, step):
        for batch in prompts_of(behaviour.task, DRAW, step):
            for prompt, answer in zip(batch.tokens.tolist(), batch.answers.tolist(), strict=True):
                with torch.no_grad():
                    logits = model(torch.tensor([prompt]), circuit)[0, -1].double()
                candidates = logits[list(behaviour.task.candidates)].log_softmax(-1)
                uniform = 1 / len(candidates)
                bypass = sum(uniform * (log(uniform) - float(value)) for value in candidates)
                losses.append(-float(logits.log_softmax(-1)[answer]) if term in ANSWERED else bypass)
    return sum(losses) / len(losses)


@pytest.mark.parametrize("norm", [NORMS[0], NORMS[1], NORMS[3]])
@pytest.mark.parametrize("treatment", Treatment)
def test_every_term_is_what_separate_forwards_say(treatment, norm):
    """All circuits and prompts of a step go through one gated forward; the twin runs them one by one.

    The discontinuous norm is left out: where a coordinate is zero, rounding decides what it does.
    """
    model = model_with_programs(norm).double()
    for step in (0, 5):
        for behaviour, terms in zip(BEHAVIOURS, healing(treatment).terms(model, step), strict=True):
            assert set(terms) == set(TERMS[treatment])
            for term, value in terms.items():
                assert agree(value, slow_term(term, model, behaviour, step))


@pytest.mark.parametrize("treatment", Treatment)
def test_the_loss_is_the_weighted_sum_of_the_terms_averaged_over_behaviours(treatment):
    """The weights are those of the recipe and nobody else's."""
    model = model_with_programs().double()
    expected = sum(
        WEIGHTS[term] * slow_term(term, model, behaviour, 4) / 2
        for behaviour in BEHAVIOURS
        for term in TERMS[treatment]
    )
    (loss,) = healing(treatment).losses(model, 4)
    assert agree(loss, expected)


def test_each_objective_asks_for_more_than_the_one_before():
    """Their comparison is about what is added, so nothing may be taken away."""
    plain, ablation, core = (set(TERMS[treatment]) for treatment in Treatment)
    assert plain < ablation < core
    assert plain == {LossTerm.TASK}
    assert core == set(LossTerm)


def test_no_preference_costs_nothing_and_a_sure_one_costs_in_proportion():
    """The penalty does not level off: what is bypassed for sure is pushed as hard as what is in doubt."""
    assert agree(bypass_penalty(torch.full((1, 2, 3), 7.0).double()), 0.0)
    sure, surer = (bypass_penalty(torch.tensor([[[margin, 0.0]]]).double()) for margin in (50.0, 100.0))
    assert agree(surer - sure, 25.0)


def test_extra_edges_keep_the_circuit_and_come_with_their_probability():
    """A quarter of the others, over many steps, and never at the cost of the circuit."""
    others = len(READS_TWO.graph.edges()) - len(READS_TWO)
    drawn = [thinned(READS_TWO, DRAW, step) for step in range(300)]
    assert all(circuit | READS_TWO == circuit for circuit in drawn)
    share = sum(len(circuit) - len(READS_TWO) for circuit in drawn) / (300 * others)
    deviation = (0.25 * 0.75 / (300 * others)) ** 0.5
    assert abs(share - 0.25) < 4 * deviation
    assert len(set(drawn)) > 250


def test_what_is_drawn_depends_on_seed_and_step_alone():
    """Otherwise a resumed run would not be the same run."""
    assert thinned(READS_TWO, DRAW, 7) == thinned(READS_TWO, DRAW, 7)
    assert thinned(READS_TWO, DRAW, 7) != thinned(READS_TWO, replace(DRAW, seed=4), 7)
    one, same = (prompts_of(TASK, DRAW, 2) for _ in range(2))
    assert [batch.tokens.tolist() for batch in one] == [batch.tokens.tolist() for batch in same]


def drawn_prompts(task: Task, step: int) -> list[tuple[int, ...]]:
    """Return the prompts of a step with their answers checked."""
    known = dict(zip(task.domain.prompts, task.answers(), strict=True))
    found = [
        (tuple(prompt), answer)
        for batch in prompts_of(task, DRAW, step)
        for prompt, answer in zip(batch.tokens.tolist(), batch.answers.tolist(), strict=True)
    ]
    assert all(known[prompt] == answer for prompt, answer in found)
    return [prompt for prompt, _ in found]


def test_prompts_come_in_batches_that_share_none_within_an_epoch():
    """Seven prompts make two batches of three an epoch; lengths do not mix in a tensor."""
    for epoch in range(5):
        first, second = drawn_prompts(TASK, 2 * epoch), drawn_prompts(TASK, 2 * epoch + 1)
        assert len({*first, *second}) == len(first) + len(second) == 6


def test_a_batch_larger_than_the_domain_is_the_domain():
    """Small domains are taken whole."""
    whole_domain = prompts_of(TASK, replace(DRAW, batch=100), 3)
    assert sorted(tuple(row) for batch in whole_domain for row in batch.tokens.tolist()) == sorted(PROMPTS)


@pytest.mark.parametrize("treatment", Treatment)
def test_healing_stopped_anywhere_ends_with_the_same_bits(tmp_path, treatment):
    """What is drawn, the optimizer and the programs all come back."""

    class Killed(Exception):  # noqa: N818  # not an error of the program under test
        """Stands in for a kill."""

    def run(name, stop=None):
        def on_step(step, _loss):
            if step == stop:
                raise Killed

        goal = healing(treatment)
        healed = fit(model_with_programs(), goal, PLAN, tmp_path / name, Watcher(on_step=on_step))
        return model_files(StoredModel(healed.model, None)), healed.evaluations

    expected = run("whole")
    for stop in (3, 5):
        with pytest.raises(Killed):
            run("stopped", stop)
    assert run("stopped") == expected


def test_healing_trains_everything_and_leaves_the_programs(tmp_path):
    """Values, outputs and the neural head learn; where programs attend is no parameter."""
    before = {name: view.clone() for name, view in model_with_programs().named_slices().items()}
    healed = fit(model_with_programs(), healing(Treatment.CORE_AWARE), PLAN, tmp_path, Watcher()).model
    after = healed.named_slices()
    assert healed.programs == {head: PROGRAMS[head] for head in HEADS}
    assert all(not torch.equal(before[name], after[name]) for name in before)


def test_core_aware_healing_lowers_what_survives_the_joint_lesion(tmp_path):
    """The objective does what it is for, seen from its own terms."""
    goal = Healing(BEHAVIOURS[:1], HEADS, weighing(Treatment.CORE_AWARE), replace(DRAW, batch=7))
    model = model_with_programs()
    (before,) = goal.terms(model, 0)
    healed = fit(
        model,
        goal,
        replace(PLAN, steps=60, learning_rate=0.03, evaluate_every=60, checkpoint_every=60),
        tmp_path,
        Watcher(),
    ).model
    (after,) = goal.terms(healed, 0)
    for term in LossTerm:
        assert after[term].item() < before[term].item(), term


def test_an_evaluation_says_how_model_circuit_and_the_rest_decide():
    """The three numbers that tell a bypass from a mechanism while training goes on."""
    found = healing(Treatment.PLAIN).evaluate(model_with_programs())
    names = [f"{task} {name}" for task in ("table", "o") for name in ("model", "circuit", "without programs")]
    assert list(found) == names
    assert all(0 <= value <= 1 for value in found.values())


def test_healing_is_a_goal_of_training():
    """The loop asks for nothing else."""
    assert isinstance(healing(Treatment.PLAIN), TrainingGoal)


def test_a_circuit_that_reads_no_program_cannot_be_healed_for_one():
    """The penalty would be about nothing, and silently zero."""
    aside = circuit_of(("embed -> head 1.0", "head 1.0 -> logits"), layers=2, heads=2)
    behaviours = (Behaviour(TASK, aside),)
    healing(Treatment.PLAIN, behaviours)
    with pytest.raises(
        InputError, match=r"the circuit of task 'table' reads no program, so none can be made"
    ):
        healing(Treatment.ABLATION_AWARE, behaviours)


def test_healing_without_behaviours_is_refused():
    """A mean over nothing is no loss."""
    with pytest.raises(InputError, match="there is no behaviour to keep; give at least one task"):
        healing(Treatment.PLAIN, ())


def test_an_objective_with_a_term_missing_or_too_many_is_refused():
    """An objective is known by its terms; a forgotten penalty would make it another one."""
    with pytest.raises(InputError, match=r"given for task, circuit, the objective plain consists of task$"):
        Weighing(Treatment.PLAIN, {LossTerm.TASK: 1.0, LossTerm.CIRCUIT: 1.0})
    with pytest.raises(InputError, match=r"given for no term, the objective plain consists of task"):
        Weighing(Treatment.PLAIN, {})


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf")])
def test_a_term_must_weigh_something(weight):
    """A weight of nothing is a term left out under another name."""
    with pytest.raises(InputError, match=f"task weighs {weight}, want a finite number above 0"):
        Weighing(Treatment.PLAIN, {LossTerm.TASK: weight})
