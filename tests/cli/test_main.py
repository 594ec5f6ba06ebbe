import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest
from safetensors.numpy import load_file

import circuitproof
from circuitproof import __version__
from circuitproof.circuits.circuit import whole
from circuitproof.circuits.graph import Graph
from circuitproof.cli.helping import GROUPS
from circuitproof.cli.main import WAITING, main
from circuitproof.cli.output import INTERRUPTS
from circuitproof.cli.table import HelpPanel, commands
from circuitproof.nn.checkpoint import StoredModel, load_model, save_model
from circuitproof.nn.transformer import Transformer, initialise
from circuitproof.tasks.alphabet import TOY
from circuitproof_lab.pipeline.recipe import load_recipe
from recipes import write_recipe
from releases import changed, release_files, without, write_release


class Result:
    """What a command said and how it ended."""

    def __init__(self, code: object, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> object:
        """Return standard output as the JSON it must be."""
        return json.loads(self.out)


@pytest.fixture
def run(run):
    """Return what runs a command line as the entry point does, with a result that has names."""
    return lambda *arguments: Result(*run(*arguments))


@pytest.fixture
def recipe(tmp_path) -> Path:
    """Return a recipe that trains in a moment."""
    return write_recipe(tmp_path / "tiny.toml")


@pytest.fixture
def model(tmp_path, recipe) -> Path:
    """Return a model directory for the toy tasks, with random weights."""
    made = Transformer(load_recipe(recipe).architecture)
    initialise(made, 0, 0.5)
    save_model(tmp_path / "model", StoredModel(made, TOY))
    return tmp_path / "model"


@pytest.fixture
def circuit(tmp_path) -> Path:
    """Return a circuit file with a live edge and a dead one."""
    content = {**whole(Graph(1, 2)).to_json(), "edges": ["embed -> logits", "embed -> mlp 0"]}
    (tmp_path / "circuit.json").write_text(json.dumps(content))
    return tmp_path / "circuit.json"


def test_help_names_every_command_and_the_exit_codes(run):
    """The exit codes are part of the contract with scripts."""
    result = run("--help")
    assert result.code == 0
    assert {"train", "evaluate", "circuit", "import-release"} <= set(commands())
    assert all(command in result.out for command in commands())
    assert "Exit codes: 0 proved, valid or done; 1 refuted; 2 wrong usage; 3 bad input" in result.out
    assert "5 invalid" in result.out


COMMANDS = commands()
PARTS = {"claims": ("prove", "check", "table", "archive")}
ALL = [words for name in COMMANDS for words in ([(name, part) for part in PARTS.get(name, ())] or [(name,)])]


@pytest.mark.parametrize("command", sorted(ALL), ids=" ".join)
def test_every_command_has_help_and_json(run, command):
    """Programs and people use the same commands."""
    result = run(*command, "--help")
    assert result.code == 0
    assert "--json" in result.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_an_example_that_its_options_allow(run, command):
    """Who asks for help wants a line to start from, and one that the command takes."""
    shown = run(command, "-h").out
    assert f"Example:\n    {COMMANDS[command].example}" in shown
    name, *words = shlex.split(COMMANDS[command].example)[1:]
    assert name == command
    assert all(f"{word} " in shown for word in words if word.startswith("--"))


def test_the_options_of_verify_stand_in_groups(run):
    """Each once, by what it is about; none is left out."""
    shown = run("verify", "-h").out
    titles = ("Claim:", "Robustness:", "Patterns:", "Solvers:", "Output:", "Example:")
    places = [shown.index(f"\n{' ' * (title == 'Example:') * 2}{title}") for title in titles]
    assert places == sorted(places)
    assert "the whole model, all edges" in " ".join(shown.split())
    parameters = signature(import_module("circuitproof.cli.proving").verify).parameters
    grouped = [name for group in GROUPS.values() for name in group]
    assert sorted(grouped) == sorted([*parameters.keys() - {"context"}, "force", "help"])


def imported_by(*arguments: str) -> set[str]:
    """Return the modules that a command line imports in a process of its own."""
    watch = (
        f"import sys; sys.argv = ['circuitproof', *{arguments!r}]\n"
        "from circuitproof.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", watch], check=True, capture_output=True, text=True)  # noqa: S603  # our own interpreter
    return set(done.stderr.split())


@pytest.mark.parametrize("arguments", [["--help"], ["task", "quotes"], ["train", "--help"]])
def test_what_computes_nothing_needs_no_heavy_import(arguments):
    """Torch takes seconds to import; help and a task's declaration must answer at once."""
    assert not imported_by(*arguments) & {"torch", "numpy", "safetensors", "rich"}


def test_only_the_module_of_the_command_that_runs_is_imported():
    """The others' imports are their own affair."""
    modules = {entry.module for entry in COMMANDS.values()}
    assert imported_by("--help") & {*modules, "importlib.metadata"} == set()
    assert imported_by("task", "quotes") & modules == {"circuitproof.cli.tasks"}


def test_a_proof_imports_neither_the_checker_nor_torch():
    """Each would be a good part of the time of a small one."""
    model = Path(circuitproof.__file__).parent / "reports" / "tour" / "model"
    arguments = ("verify", "--model", str(model), "--task", "quotes")
    imported = {name.split(".")[0] for name in imported_by(*arguments)}
    assert "numpy" in imported
    assert not imported & {"torch", "circuitproof_check", "circuitproof_lab"}


def test_the_list_of_commands_says_what_each_says_of_itself(run):
    """Though it imports none of them."""
    listed = run("--help").out
    for command, entry in COMMANDS.items():
        function = getattr(import_module(entry.module), command.replace("-", "_"))
        assert re.search(rf"^  {command} +{re.escape(function.__doc__[:30])}", listed, re.MULTILINE)


def test_the_version_is_the_packages(run):
    """So that a report can name it."""
    result = run("--version")
    assert (result.code, result.out) == (0, f"circuitproof {__version__}\n")


@pytest.mark.parametrize(
    "arguments",
    [["fly"], ["train"], ["import-release", "x"], ["circuit", "x", "--dead"], ["train", "a", "b"]],
)
def test_a_wrong_command_line_has_exit_code_2(run, arguments):
    """As every shell user expects; nothing is printed where results go."""
    result = run(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert "Usage: " in result.err


def test_training_prints_where_the_model_is(run, recipe, tmp_path):
    """On standard error, out of the way of results."""
    result = run("train", recipe, "--out", tmp_path / "run")
    assert result.code == 0
    assert result.out == ""
    assert f"{tmp_path / 'run' / 'model'} holds the trained model" in result.err
    load_model(tmp_path / "run" / "model")


def test_training_as_json_tells_the_evaluations(run, recipe, tmp_path):
    """The progress bar does not get between."""
    result = run("train", recipe, "--out", tmp_path / "run", "--json")
    assert result.code == 0
    assert result.json["model"] == str(tmp_path / "run" / "model")
    assert [evaluation["step"] for evaluation in result.json["evaluations"]] == [4, 6]


def test_without_out_a_run_goes_where_its_name_says(run, recipe, tmp_path, monkeypatch):
    """Two recipes do not meet by accident."""
    monkeypatch.chdir(tmp_path)
    assert run("train", recipe).code == 0
    assert (tmp_path / "build" / "tiny" / "model").is_dir()


@pytest.mark.parametrize("name", ["toy [b]", "a [red] b", ":car:"])
def test_names_are_printed_as_they_are(run, tmp_path, name):
    """Square brackets and colons are text, not formatting that fails or disappears."""
    recipe = write_recipe(tmp_path / "odd.toml", {"name": f'"{name}"', "training.steps": "1"})
    result = run("train", recipe, "--out", tmp_path / name)
    assert result.code == 0
    assert f"{name}/model holds" in result.err
    result = run("evaluate", "--model", tmp_path / name / "model", "--task", "quotes")
    assert result.code == 0
    assert f"{name}/model, measured in FP32" in result.out


def test_evaluation_is_a_table_for_people(run, model):
    """Each task with the model and three circuits."""
    result = run("evaluate", "--model", model, "--task", "quotes", "--task", "brackets")
    assert result.code == 0
    for word in ("quotes", "brackets", "all edges", "no edges", "worst margin", "/128"):
        assert word in result.out


def test_evaluation_is_json_for_programs(run, model, circuit):
    """Chosen tasks and circuits only."""
    result = run("evaluate", "--model", model, "--task", "quotes", "--circuit", circuit, "--json")
    assert result.code == 0
    assert [(row["task"], row["circuit"], row["edges"]) for row in result.json] == [
        ("quotes", "model", 9),
        ("quotes", str(circuit), 2),
    ]


def test_a_circuit_is_printed_in_our_spelling(run, circuit):
    """With the count of edges that change nothing."""
    result = run("circuit", circuit)
    assert (result.code, result.out) == (
        0,
        "embed -> mlp 0\nembed -> logits\n2 edges of 9, 1 of them dead\n",
    )


def test_only_the_live_part_can_be_asked_for(run, circuit):
    """What remains is what matters, and nothing of it is dead."""
    result = run("circuit", circuit, "--live", "--json")
    assert (result.code, result.json["edges"]) == (0, ["embed -> logits"])
    assert run("circuit", circuit, "--live").out == "embed -> logits\n1 edges of 9, 0 of them dead\n"


def test_a_release_is_imported(run, tmp_path):
    """The sentence says where the model is, and each circuit."""
    source = write_release(tmp_path / "release", release_files())
    result = run("import-release", source, "--out", tmp_path / "out")
    assert result.code == 0
    assert f"{tmp_path / 'out'} holds the model of {source}" in result.out
    numbers = sum(one.size for one in load_file(tmp_path / "out" / "weights.safetensors").values())
    assert (
        f"{numbers} numbers are those of the release, each an FP32 value: nothing was rounded" in result.out
    )
    assert f"{tmp_path / 'out' / 'quotes.circuit.json'} holds the quotes circuit of 2 edges" in result.out
    load_model(tmp_path / "out")


def test_an_import_is_told_as_json(run, tmp_path):
    """Tasks with the sizes of their circuits."""
    source = write_release(tmp_path / "release", release_files())
    result = run("import-release", source, "--out", tmp_path / "out", "--json")
    assert (result.code, result.json["circuits"]) == (0, {"quotes": 2})
    numbers = sum(one.size for one in load_file(tmp_path / "out" / "weights.safetensors").values())
    assert (result.json["model"], result.json["equal_numbers"]) == (str(tmp_path / "out"), numbers)


@pytest.mark.parametrize("option", [[], ["--json"]])
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"training.stepz": "3"}, "tiny.toml.training.stepz is not a known key"),
        ({"training.steps": '"3"'}, "tiny.toml.training.steps is the string '3', want a whole number"),
        ({"architecture.width": "5"}, "tiny.toml.architecture: width is 5, which 2 heads do not divide"),
        (
            {"architecture.context": "5"},
            "tiny.toml.architecture.context is 5, task 'quotes' needs at least 6",
        ),
        ({"architecture.layers": "0"}, "tiny.toml.architecture.layers is 0, want at least 1"),
        ({"data.tasks": '["verse"]'}, "tiny.toml.data.tasks: there is no task 'verse'"),
        ({"training.steps": "= 3"}, "tiny.toml is not usable TOML"),
    ],
)
def test_a_bad_recipe_is_one_sentence_and_exit_code_3(run, tmp_path, changes, sentence, option):
    """Nothing is written; a program that asked for JSON is told in JSON."""
    recipe = write_recipe(tmp_path / "tiny.toml", changes)
    result = run("train", recipe, "--out", tmp_path / "run", *option)
    assert result.code == 3
    assert result.out == "" or json.loads(result.out)["code"] == 3
    assert result.err.startswith("circuitproof: ")
    assert sentence in result.err
    assert result.err.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({**release_files(), "config.json": "{"}, "config.json is not usable JSON"),
        (
            changed(release_files(), "smt_weights.json", lm_head_bias=[float("nan")] * 5),
            "NaN is not a number",
        ),
        (changed(release_files(), "smt_weights.json", lm_head_bias=[0]), "holds 1 entries, want a list of 5"),
        (without(release_files(), "smt_weights.json", "wte"), "smt_weights.json.wte is missing"),
    ],
)
def test_a_bad_release_is_one_sentence_and_exit_code_3(run, tmp_path, files, sentence):
    """And nothing is half-written."""
    source = write_release(tmp_path / "release", files)
    result = run("import-release", source, "--out", tmp_path / "out")
    assert (result.code, result.out) == (3, "")
    assert sentence in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "--model", "nowhere", "--task", "quotes"],
        ["circuit", "nowhere.json"],
        ["import-release", "nowhere", "--out", "out"],
        ["train", "nowhere.toml"],
    ],
)
def test_what_is_not_there_is_exit_code_3(run, tmp_path, monkeypatch, arguments):
    """Every command says which file it could not read."""
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.code == 3
    assert "circuitproof: cannot read nowhere" in result.err


def test_a_place_that_cannot_be_written_is_exit_code_3(run, recipe, tmp_path):
    """Not 1, which means refuted: a full disk proves nothing."""
    (tmp_path / "file").touch()
    result = run("train", recipe, "--out", tmp_path / "file" / "run")
    assert result.code == 3
    assert "file: Not a directory" in result.err


@pytest.mark.slow
def test_an_interrupted_training_says_so_with_exit_code_3(tmp_path):
    """Ctrl-C is neither an answer nor a crash; the run can be gone on with."""
    recipe = write_recipe(tmp_path / "long.toml", {"training.steps": "1000000"})
    command = [
        sys.executable,
        "-m",
        "circuitproof.cli.main",
        "train",
        str(recipe),
        "--out",
        str(tmp_path / "run"),
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603  # our own interpreter
        while not (tmp_path / "run" / "checkpoints").exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "circuitproof: interrupted; run the same command again to go on" in err
    assert "Traceback" not in err


@pytest.fixture
def standing_in(monkeypatch, capsys):
    """Return what runs something in the place of a command, with interrupts as they are."""
    before = {number: signal.getsignal(number) for number in INTERRUPTS}

    def run_command(command: str, app: Callable[[], object]) -> Result:
        monkeypatch.setattr(sys, "argv", ["circuitproof", command])
        monkeypatch.setattr("circuitproof.cli.main.app", app)
        with pytest.raises(SystemExit) as end:
            main()
        return Result(end.value.code, *capsys.readouterr())

    yield run_command
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(
    ("command", "kept"), [("train", "run the same command again to go on"), ("task", "the rest is lost")]
)
@pytest.mark.parametrize("number", INTERRUPTS)
def test_an_interrupt_says_what_is_true_of_its_command(standing_in, command, kept, number):
    """Only what is resumed is told to go on, whether a person or a scheduler interrupts."""
    ended = standing_in(command, lambda: signal.raise_signal(number))
    assert ended.code == 3
    assert kept in ended.err


def test_an_interrupt_after_the_answer_changes_nothing(standing_in):
    """The exit code says what was told; Python takes a while to end."""
    assert standing_in("task", lambda: sys.exit(1)).code == 1
    assert all(signal.getsignal(number) is signal.SIG_IGN for number in INTERRUPTS)


def test_threads_wait_as_the_user_says_or_else_asleep(standing_in, monkeypatch):
    """Trainings that share cores would keep each other from them; who knows better is asked first."""
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    others = [name for name in WAITING if name != "OMP_WAIT_POLICY"]
    for name in others:
        monkeypatch.delenv(name, raising=False)
    seen: list[str | None] = []
    standing_in("task", lambda: seen.extend(map(os.environ.get, WAITING)) or sys.exit())
    assert seen == ["ACTIVE", *(WAITING[name] for name in others)]


def test_a_crash_is_a_failure_and_not_a_refutation(standing_in):
    """Exit code 1 means refuted; a mistake of ours must never say so."""
    ended = standing_in("task", lambda: 1 / 0)
    assert ended.code == 3
    assert "this is a mistake in circuitproof, not an answer" in ended.err


@pytest.mark.parametrize(
    "arguments", [["--help"], ["task", "quotes"], ["task", "quotes", "--json"], ["--version"]]
)
@pytest.mark.parametrize(("shell", "is_told"), [("| true", False), ("> /dev/full", True), (">&-", True)])
def test_output_that_cannot_be_written_is_a_failure_and_no_answer(arguments, shell, is_told):
    """Exit code 3, whoever was writing, and a sentence, but not after `| head`: nobody wants to read on."""
    command = f"{sys.executable} -m circuitproof.cli.main {' '.join(arguments)}"
    script = f"set -o pipefail; ({command}; exit $?) {shell}; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", script], check=False, capture_output=True, text=True)  # noqa: S603, S607
    assert ended.returncode == 3
    assert ended.stderr.startswith("circuitproof: standard output cannot be written: " if is_told else "")
    assert len(ended.stderr.splitlines()) == is_told


@pytest.mark.parametrize("streams", ["> /dev/full", "2> /dev/full", "> /dev/full 2> /dev/full", ">&- 2>&-"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_refusal_that_cannot_be_told_keeps_its_exit_code(streams, unbuffered):
    """Python itself ends with 120 where its last words cannot be written."""
    command = f"{sys.executable} -m circuitproof.cli.main task dance.toml --json {streams}"
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    ended = subprocess.run(["bash", "-c", command], check=False, capture_output=True, env=environment)  # noqa: S603, S607
    assert ended.returncode == 3
    assert b"Exception" not in ended.stderr


def test_errors_are_json_where_json_was_asked_for(run):
    """A program that reads the output learns what went wrong from it."""
    result = run("task", "dance.toml", "--json")
    assert result.code == 3
    assert json.loads(result.out) == {"code": 3, "error": result.err.removeprefix("circuitproof: ").strip()}


def test_the_help_has_panels_of_at_most_seven_commands(run):
    """In the order of use, each command once."""
    out = run("--help").out
    panels = Counter(entry.panel for entry in COMMANDS.values())
    assert set(panels) == set(HelpPanel)
    assert max(panels.values()) <= 7
    assert [out.index(f"\n{panel}:") for panel in HelpPanel] == sorted(
        out.index(f"\n{panel}:") for panel in HelpPanel
    )
    assert all(out.count(f"\n  {name} ") == 1 for name in COMMANDS)


def test_without_a_command_it_says_what_to_type_first(run):
    """The first lines of a session."""
    result = run()
    assert result.code == 0
    assert "circuitproof train" in result.out


def test_the_product_does_its_work_where_nothing_adds_commands():
    """The laboratory joins through an entry point; a command of the product's does not even ask for it."""
    assert {entry.module.split(".")[0] for entry in COMMANDS.values()} == {"circuitproof", "circuitproof_lab"}
    assert not any(name.startswith("circuitproof_lab") for name in imported_by("task", "quotes"))


def test_a_misspelled_command_is_answered_with_the_nearest(run):
    """Whoever's it is."""
    assert "Did you mean 'verify'" in run("verfy").err
    assert "Did you mean 'localise'" in run("localize").err
