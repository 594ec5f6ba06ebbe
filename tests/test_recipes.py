"""Every recipe that is shipped is read, and takes its first steps at a tiny size.

The recipe is read as it stands. Then this is replaced, and nothing else: an architecture keeps its operators
and gets one layer of two heads and width eight; a task keeps sixteen of its prompts; a corpus, be it the
standard library or a download, is a few files here, with 300 byte pairs for its tokenizer; trainings have a
few steps, sequences of a rule at most eight tokens, norms fade within them, and a fold may cost what it
likes. What a study, a distillation or a construction looks for and trains besides is looked for in a model
made by hand, and trained on a random one and six prompts. All of it runs under a mode that refuses a tensor
that is made without naming its device.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from circuitproof.errors import InputError
from circuitproof.files.codec import FolderName
from circuitproof.files.run import Run
from circuitproof.find.extraction import ExtractionMethod, find_circuits
from circuitproof.models.architecture import Architecture, inverse_root
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.loading import load_task
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_lab.distill.calibrate import Calibration, Rung, calibrate
from circuitproof_lab.distill.heal import Draw, Weighing
from circuitproof_lab.distill.lesion import Behaviour
from circuitproof_lab.pipeline.construction_recipe import load_construction
from circuitproof_lab.pipeline.distillation_recipe import load_distillation_recipe
from circuitproof_lab.pipeline.norm_recipe import NormRecipe, load_norm_recipe
from circuitproof_lab.pipeline.protocol import load_protocol
from circuitproof_lab.pipeline.recipe import Recipe, TasksSource, load_recipe
from circuitproof_lab.pipeline.stages.heal import HealingCourse, heal
from circuitproof_lab.pipeline.stages.remove_norms import Watchers, remove_norms
from circuitproof_lab.pipeline.stages.teach import rule_task
from circuitproof_lab.pipeline.stages.train import material_of, train_model, train_recipe
from circuitproof_lab.pipeline.study_recipe import load_study
from circuitproof_lab.pipeline.surrogate_recipe import TrainedTeacher, load_surrogate_recipe
from circuitproof_lab.pipeline.variants import compare_variants
from circuitproof_lab.pipeline.variants_recipe import load_variants_recipe
from circuitproof_lab.surrogate.fitting import fit_network
from circuitproof_lab.train.corpus import Files
from circuitproof_lab.train.loop import TrainingPlan, Watcher
from circuitproof_lab.train.measures import FoldLimits
from circuitproof_lab.train.ruled import RuleSource
from circuitproof_lab.train.tokenised import BytePairs
from corpora import write_corpus
from devices import NamedDevices
from hand_models import circuit_of, quote_model, table_task
from models import PROGRAMS, random_model, tiny_architecture
from surrogate_twin import automaton_teacher

RECIPES = Path(__file__).parent.parent / "recipes"
PROMPTS = [(0, 1), (3, 4), (3, 4, 2), (1, 1, 4), (1, 2, 0), (4, 2, 0, 3)]
TASK = table_task({prompt: sum(prompt) % 3 for prompt in PROMPTS}, candidates=(0, 1, 2))
EDGES = (
    "embed -> head 0.0",
    "head 0.0 -> mlp 0",
    "mlp 0 -> head 1.1",
    "embed -> mlp 0",
    "head 1.1 -> logits",
)
BEHAVIOUR = Behaviour(TASK, circuit_of(EDGES, layers=2, heads=2))


def shrunk(sizes: Architecture, vocabulary: int) -> Architecture:
    """Return an architecture of the same operators that takes no time."""
    return replace(
        sizes,
        vocabulary=vocabulary,
        context=min(sizes.context, 8),
        layers=1,
        heads=2,
        width=8,
        head_width=4,
        mlp_width=8 if sizes.mlp_width else 0,
        attention_scale=inverse_root(4),
    )


def few(plan: TrainingPlan, steps: int = 2) -> TrainingPlan:
    """Return the first steps of a training, each of them kept and the last one measured."""
    pieces = min(plan.pieces, 2)
    return replace(plan, steps=steps, warmup=1, evaluate_every=steps, checkpoint_every=1, pieces=pieces)


def tiny(recipe: Recipe, folder: Path) -> Recipe:
    """Return the recipe at a tiny size, on its own tasks or on the corpus in `folder`."""
    if isinstance(recipe.source, TasksSource):
        tasks = tuple(task.only(range(task.size)[:16]) for task in recipe.source.tasks)
        longest = max(len(prompt) for task in tasks for prompt in task.prompts)
        sizes = replace(shrunk(recipe.architecture, recipe.architecture.vocabulary), context=longest)
        source = replace(recipe.source, tasks=tasks)
        return replace(recipe, architecture=sizes, source=source, plan=few(recipe.plan))
    if isinstance(recipe.source, RuleSource):
        sizes = shrunk(recipe.architecture, recipe.source.tokens)
        source = replace(recipe.source, length=min(recipe.source.length, sizes.context), batch=8)
        return replace(recipe, architecture=sizes, source=source, plan=few(recipe.plan))
    text, second = (Files(folder / kind, ("*.txt",)) for kind in ("code", "prose"))
    source = replace(recipe.source, tokenizer=BytePairs(300), batch=64, text=text, second=second)
    return replace(
        recipe, architecture=shrunk(recipe.architecture, 300), source=source, plan=few(recipe.plan)
    )


def tiny_removal(recipe: NormRecipe, folder: Path) -> NormRecipe:
    """Return the removal at a tiny size, its norms gone after four steps."""
    return replace(
        recipe,
        source=tiny(recipe.source, folder),
        plan=few(recipe.plan, 4),
        schedule=replace(recipe.schedule, begin=1, fade=1, interval=1, window=2),
        limits=FoldLimits(largest_error=1e9, relative_error=1e9, agreement=1e-9, loss_change=1e9),
    )


def begin_training(path: Path, folder: Path) -> None:
    """Train the model of a recipe."""
    stored = train_recipe(tiny(load_recipe(path), folder), folder / "run", Watcher())
    assert stored.model.architecture.layers == 1


def begin_removal(path: Path, folder: Path) -> None:
    """Train a source and remove its norms."""
    removed = remove_norms(tiny_removal(load_norm_recipe(path), folder), None, folder / "run", Watchers())
    assert [one.step for one in removed.attenuation.evaluations] == [4]


def begin_variants(path: Path, folder: Path) -> None:
    """Train every variant with one seed, and, where that is asked for, remove the norms of one."""
    recipe = load_variants_recipe(path)
    removal = recipe.removal
    if removal is not None:
        removal = replace(removal, recipe=tiny_removal(removal.recipe, folder))
    shrunken = replace(recipe, base=tiny(recipe.base, folder), removal=removal)
    found = compare_variants(shrunken, folder / "run", lambda _title, _steps: Watcher(), recipe.seeds[:1])
    assert len(found.rows) == len(recipe.names)


def begin_localisation(path: Path, folder: Path) -> None:
    """Train the model and look for the first circuit."""
    protocol = load_protocol(path)
    assert isinstance(protocol.model, Recipe)
    train_recipe(tiny(protocol.model, folder), folder / "run", Watcher())
    search(protocol.method, folder)


def begin_distillation(path: Path, folder: Path) -> None:
    """Train the source, look for a circuit, and heal under every objective."""
    recipe = load_distillation_recipe(path)
    train_recipe(tiny(recipe.source, folder), folder / "run", Watcher())
    search(recipe.method, folder)
    healing = recipe.healing.seeded(recipe.seeds[0])
    for treatment, weighing in healing.weighings.items():
        course(healing.plan, healing.draw, weighing, folder / treatment)


def begin_study(path: Path, folder: Path) -> None:
    """Make the base, look for a circuit, heal and calibrate."""
    study = load_study(path)
    if isinstance(study.base_recipe, NormRecipe):
        remove_norms(tiny_removal(study.base_recipe, folder), None, folder / "run", Watchers())
    else:
        train_recipe(tiny(study.base_recipe, folder), folder / "run", Watcher())
    search(study.method, folder)
    course(study.healing.plan, study.healing.draw, study.healing.weighing, folder / "healing")
    climb(study.ladder.rungs, study.ladder.calibration)


def begin_construction(path: Path, _folder: Path) -> None:
    """Calibrate every rung."""
    construction = load_construction(path)
    climb(construction.rungs, construction.calibration)


def begin_surrogate(path: Path, folder: Path) -> None:
    """Train each teacher, and fit a surrogate, which two steps do not make agree with anybody."""
    teacher = automaton_teacher([(1, 0), (0, 1)], [0, 1])
    for study in load_surrogate_recipe(path).studies:
        if isinstance(study.teacher, TrainedTeacher):
            task, run = rule_task(study.question, study.teacher), Run(folder / study.question.name)
            source = TasksSource((task,), study.teacher.batch)
            plan, name = few(study.teacher.plan), FolderName(study.question.name)
            recipe = Recipe(name, study.teacher.architecture, source, plan, task.digest)
            train_model(run, recipe, material_of(recipe, folder), Watcher())
        with pytest.raises(InputError, match=r"agrees with teacher 'machine' on .* in 1 attempts of 2 steps"):
            fit_network(teacher, replace(study.fitting, steps=2, attempts=1))


def search(method: ExtractionMethod, folder: Path) -> None:
    """Look for a circuit by a method, at its largest threshold, in a model that closes quotes."""
    save_model(folder / "quotes", StoredModel(quote_model(), TOY))
    method = replace(method, thresholds=(max(method.thresholds),))
    assert find_circuits(folder / "quotes", toy_quotes(), method).candidates


def course(plan: TrainingPlan, draw: Draw, weighing: Weighing, folder: Path) -> None:
    """Heal a random model with programs under an objective."""
    model = random_model(tiny_architecture(), 2, PROGRAMS)
    asked = HealingCourse(few(plan), replace(draw, batch=3), weighing)
    assert heal(Run(folder), lambda: StoredModel(model, None), [BEHAVIOUR], asked, "healing").exists()


def climb(rungs: tuple[Rung, ...], plan: Calibration) -> None:
    """Calibrate the programs of a random model by every rung."""
    model = random_model(tiny_architecture(), 2, PROGRAMS)
    for rung in rungs:
        assert calibrate(model, BEHAVIOUR, rung, replace(plan, steps=2, batch=4)).programs


def only_read(path: Path, _folder: Path) -> None:
    """Read a task, which trains nothing."""
    assert load_task(str(path)).candidates


BEGINNINGS: dict[Callable[[Path, Path], None], tuple[str, ...]] = {
    begin_training: (
        *("code-lm-baseline", "code-lm-source", "gpt2-baseline", "gpt2-source", "text"),
        *("own-closing-tags", "own-first-letter", "own-indirect-object", "own-subject-verb"),
        *("max-of-four", "max-of-four-two-heads", "max-of-five", "max-of-ten", "max-of-twenty"),
        *("toy", "toy-band", "toy-control", "toy-norms-base", "toy-plain", "toy-softmax"),
    ),
    begin_removal: ("code-lm-base", "code-lm-norm-free", "gpt2-base", "text-norm-free", "toy-norm-free"),
    begin_variants: ("code-lm-variants", "gpt2-variants", "toy-norms"),
    begin_localisation: ("toy-localisation",),
    begin_distillation: ("toy-programs",),
    begin_study: ("code-lm", "code-lm-softmax", "gpt2"),
    begin_construction: ("gpt2-openers",),
    begin_surrogate: ("surrogate", "surrogate-tables"),
    only_read: (
        *("gpt2-brackets-pattern", "gpt2-quotes-pattern", "toy-quotes-pattern"),
        *("tasks/closing-tags", "tasks/first-letter", "tasks/indirect-object", "tasks/subject-verb"),
        "tasks/maximum",
    ),
}
"""How the recipes of each kind begin."""
CASES = [(begin, name) for begin, names in BEGINNINGS.items() for name in names]


def test_every_recipe_has_a_beginning():
    """A recipe that is added later must be told here how it begins."""
    found = sorted(path.relative_to(RECIPES).with_suffix("").as_posix() for path in RECIPES.rglob("*.toml"))
    assert found == sorted(name for _, name in CASES)


@pytest.mark.parametrize(("begin", "name"), CASES, ids=[name for _, name in CASES])
def test_a_shipped_recipe_takes_its_first_steps(begin, name, tmp_path):
    """What it declares fits together, and every tensor on the way is made on a device that is named."""
    write_corpus(tmp_path)
    with NamedDevices():
        begin(RECIPES / f"{name}.toml", tmp_path)
