"""Every command that writes: nothing is replaced unasked, and nothing is written into a sealed folder.

The commands and their options are taken from the table of all commands: one that is new and not known here
fails the first tests.
"""

import json
from importlib import import_module
from pathlib import Path
from shutil import copytree
from typing import Annotated, get_args, get_origin, get_type_hints

import pytest
from typer.models import OptionInfo

import lens_files
import viewed
from circuitproof.cli.table import commands
from circuitproof.cli.writing import products
from circuitproof.errors import InputError
from circuitproof.files.replacing import Continued, Folder, OneFile, Sealed, replacing
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import TOY
from constructions import write_construction
from distill_recipes import write_distillation
from gpt2_files import write_gpt2, write_mingpt
from hand_models import QUOTE_EDGES, circuit_of, quote_model
from lens_files import write_lens
from norm_recipes import write_norm_recipe
from places import COMPILED, RECIPES
from protocols import write_protocol
from recipes import write_recipe
from releases import release_files, write_release
from studies import write_study
from variants import write_variants

QUOTES = ("--model", "model", "--task", "quotes")
COMMANDS = commands()
GIVEN = {
    "task": ("quotes",),
    "import-release": ("release",),
    "import-hf": ("gpt2",),
    "import-tl": ("lens",),
    "import-mingpt": ("mingpt",),
    "import-tracr": (COMPILED / "length.safetensors",),
    "extract": QUOTES,
    "synthesise": (*QUOTES, "--head", "0.0", "--rules", 1, "--members", 1),
    "verify": (*QUOTES, "--circuit", "circuit.json"),
    "minimal": ("--model", "model", "--task", "quotes", "--most", 2),
    "install": ("--model", "model", "--program", "0.0=quotes.program"),
    "report": ("bundle",),
    "figures": ("bundle",),
    "results": ("evidence",),
    "queries": (*QUOTES, "--circuit", "circuit.json", "--property", "equivalence", "--anchors", 1),
    "export-hf": ("--model", "imported"),
}
"""What each command is given besides the place of its product."""
RUNS = {
    "train": lambda folder: write_recipe(folder / "recipe.toml"),
    "variants": write_variants,
    "localise": write_protocol,
    "run": write_study,
    "remove-norm": write_norm_recipe,
    "distill": write_distillation,
    "construct": write_construction,
    "surrogate": lambda _: RECIPES / "surrogate.toml",
    "gallery": lambda folder: ("norm-free", "--weights", folder / "release"),
}
"""The recipe of each command that goes on in the folder of its own run."""
ONCE = {"release": ("run",)}
"""What each command is given whose product is a new folder that nothing replaces."""
READ = {
    "--model",
    "--circuit",
    "--base",
    "--config",
    "--against",
    "--task",
    "--bundle",
    "--weights",
    "--compare",
    "--agrees-with",
}
"""Options that name a file or folder which is only read."""


def function_of(name: str):
    """Return the function of a command."""
    module = import_module(COMMANDS[name].module)
    return getattr(module, name.replace("-", "_"))


def paths_of(name: str) -> dict[str, str]:
    """Return the options of a command that take a path, by the parameter."""
    hints = get_type_hints(function_of(name), include_extras=True)
    taken = {one: get_args(hint) for one, hint in hints.items() if get_origin(hint) is Annotated}
    return {
        one: next(word for word in (option.default, *option.param_decls) if word is not ...)
        for one, (kind, *notes) in taken.items()
        for option in notes
        if isinstance(option, OptionInfo) and (kind is Path or Path in get_args(kind))
    }


GROUPS = {"claims"}
"""Commands with parts of their own, which are looked at where they are tested."""
WRITTEN = [
    (name, flag)
    for name in COMMANDS
    if name not in GROUPS
    for flag in paths_of(name).values()
    if flag not in READ
]


def given_to(name: str, flag: str, folder: Path) -> tuple[object, ...]:
    """Return what a command is given besides a place for one of its products."""
    if name in GIVEN | ONCE:
        return (GIVEN | ONCE)[name]
    asked = RUNS[name](folder)
    given = asked if isinstance(asked, tuple) else (asked,)
    return (*given, *(() if flag == "--out" else ("--out", folder / "run")))


def forces(name: str) -> list[tuple[str, ...]]:
    """Return the ways to ask a command: without force, and with it where it takes that."""
    can_force = any(not isinstance(one, Continued) for one in products(function_of(name)).values())
    return [(), ("--force",)] if can_force else [()]


def test_every_path_that_an_option_takes_is_read_or_goes_through_the_rule():
    """A new option is neither until somebody says which."""
    for name in COMMANDS:
        paths, written = paths_of(name), products(function_of(name))
        assert {one for one, flag in paths.items() if flag not in READ} == written.keys(), name
    assert {name for name, _ in WRITTEN} == GIVEN.keys() | RUNS.keys() | ONCE.keys()
    assert {name for name, entry in COMMANDS.items() if entry.resumes} - GROUPS == RUNS.keys()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Return a folder with all that commands are given."""
    folder = tmp_path_factory.mktemp("prepared")
    save_model(folder / "model", StoredModel(quote_model(programs={}), TOY))
    copytree(viewed.bundle_of(viewed.seeds()[0]), folder / "bundle")
    (folder / "circuit.json").write_text(json.dumps(circuit_of(QUOTE_EDGES).to_json()))
    (folder / "quotes.program").write_text("default 0\nadd 1 when key_token in {9, 10}\notherwise self\n")
    (folder / "pattern.toml").write_text((RECIPES / "toy-quotes-pattern.toml").read_text())
    (folder / "evidence").mkdir()
    (folder / "evidence" / "results.in.md").write_text("nothing yet\n")
    write_gpt2(folder / "gpt2")
    write_lens(folder / "lens", lens_files.CONFIG, lens_files.lens_state())
    write_mingpt(folder / "mingpt")
    write_release(folder / "release", release_files())
    return folder


@pytest.fixture
def here(prepared, tmp_path, monkeypatch, run):
    """Go to a copy of that folder, with a GPT-2 that was imported."""
    copytree(prepared, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    assert run("import-hf", "gpt2", "--out", "imported")[0] == 0
    return tmp_path / "here"


def contents(folder: Path) -> dict[Path, bytes | None]:
    """Return what stands below a folder."""
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def spoiled(place: Path) -> Path:
    """Change the product of a command, and return the file that was changed."""
    file = (
        place
        if place.is_file()
        else next(one for one in sorted(place.iterdir()) if one.name != "manifest.json")
    )
    file.write_bytes(b"of another day")
    return file


def is_refused(told: tuple[int, str, str], *words: str) -> bool:
    """Return whether a command ended with one sentence and exit code 3."""
    code, out, err = told
    return (code, out, err.count("\n")) == (3, "", 1) and all(word in err for word in words)


@pytest.mark.parametrize("name", GIVEN)
def test_what_is_there_is_replaced_only_by_force_and_as_a_whole(here, run, name):
    """A second call says what is there; with --force nothing is left of the old, and nothing lies about."""
    place = here / "place.svg"
    asked = (name, *GIVEN[name], "--out", place)
    code, _, err = run(*asked)
    assert code in {0, 1, 4}, err
    old = spoiled(place) if place.exists() else place.with_suffix(".unrealisable.json")
    before = contents(here)
    assert is_refused(run(*asked), "already exists; give --force")
    assert contents(here) == before
    code, _, err = run(*asked, "--force")
    assert code in {0, 1, 4}, err
    assert old.read_bytes() != b"of another day"
    assert contents(here).keys() == before.keys()


@pytest.mark.parametrize(("name", "flag"), WRITTEN)
def test_nothing_is_written_into_a_sealed_folder(here, run, name, flag):
    """Neither beside its files, nor deeper, nor in the place of one, nor through a link, nor by force."""
    given = given_to(name, flag, here)
    (here / "link").symlink_to("bundle")
    before = contents(here)
    for force in forces(name):
        for place in ("bundle/new.svg", "bundle/deep/new.svg", "link/new.svg"):
            assert is_refused(run(name, *given, flag, place, *force), "bundle is sealed by its manifest.json")
        assert is_refused(run(name, *given, flag, "bundle/claim.json", *force), "bundle/claim.json")
    assert contents(here) == before


@pytest.mark.parametrize(("name", "flag"), WRITTEN)
def test_what_is_no_product_of_the_command_is_never_replaced(here, run, name, flag):
    """--force replaces a bundle by a bundle, and no folder of other files, however it is called."""
    given = given_to(name, flag, here)
    (here / "notes").mkdir()
    (here / "notes" / "diary.txt").write_text("mine")
    (here / "loop").symlink_to("loop")
    other = "model" if name in {"verify", "minimal"} else "bundle"
    before = contents(here)
    for place in ("notes", other, "loop", "."):
        for force in forces(name):
            assert is_refused(run(name, *given, flag, place, *force), place), (place, force)
    assert contents(here) == before


def test_a_folder_that_holds_more_than_the_product_is_kept(here, run):
    """A note that somebody has put into a bundle is not lost with it."""
    (here / "bundle" / "notes.txt").write_text("mine")
    before = contents(here)
    asked = ("verify", *GIVEN["verify"], "--out", "bundle", "--force")
    assert is_refused(run(*asked), "bundle is no bundle, or holds more than one")
    assert contents(here) == before


@pytest.mark.parametrize("more", [("--circuit", "nowhere.json"), ("--seconds", "none")])
def test_work_that_fails_leaves_what_was_there(here, run, more):
    """Force is about the answer that replaces another, and there is none."""
    asked = ("verify", *QUOTES, "--out", "bundle", "--force", *more)
    before = contents(here)
    assert run(*asked)[0] in {2, 3}
    assert contents(here) == before


def test_what_is_read_is_not_replaced_by_what_is_made_of_it(here, run):
    """A model cannot be its own source: it is there again after the refusal."""
    before = contents(here)
    assert is_refused(
        run("install", "--model", "model", "--program", "0.0=quotes.program", "--out", "model", "--force"),
        "model",
    )
    assert contents(here) == before


@pytest.mark.usefixtures("here")
def test_a_page_without_a_place_is_beside_its_bundle_and_not_replaced_either(run):
    """The usual place is a place like any other."""
    assert run("report", "bundle")[0] in {0, 1, 4}
    assert is_refused(run("report", "bundle"), "bundle.html already exists")
    assert run("report", "bundle", "--force")[0] in {0, 1, 4}


@pytest.mark.parametrize(
    ("product", "files", "is_same"),
    [
        (OneFile(), {"": b""}, True),
        (Folder("folder of figures", ("*.svg", "*.png")), {"a.svg": b"", "b.png": b""}, True),
        (Folder("folder", ("*.json",)), {"a.json": b"", "manifest.json": b"{}"}, False),
        (
            Sealed("bundle", "claim.json"),
            {"claim.json": b"", "manifest.json": b'{"files": {"*": "%s"}}' % (b"0" * 64)},
            False,
        ),
    ],
)
def test_products_are_told_by_what_they_hold(tmp_path, product, files, is_same):
    """A manifest that lists a star lists one odd file and not all."""
    place = tmp_path / "place"
    for name, content in files.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_bytes(content)
    if is_same:
        with replacing(place, product, is_forced=True):
            assert not place.exists()
        assert place.exists()
    else:
        with (
            pytest.raises(InputError, match="not replaced even with --force"),
            replacing(place, product, is_forced=True),
        ):
            pass
