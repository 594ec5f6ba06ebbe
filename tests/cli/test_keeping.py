import json
import subprocess
import sys
from pathlib import Path

import pytest

from circuitproof.errors import OutputError
from circuitproof.files import canonical
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import TOY
from hand_models import QUOTE_EDGES, circuit_of, quote_model

OF_QUOTES = ("--model", "model", "--task", "quotes", "--out", "out")
COMMANDS = {
    "verify": (*OF_QUOTES, "--circuit", "circuit.json"),
    "verify by all": (*OF_QUOTES, "--circuit", "circuit.json", "--engine", "all", "--anchors", 1),
    "minimal": ("--model", "model", "--task", "quotes", "--most", 2, "--out", "out"),
    "extract": OF_QUOTES,
    "synthesise": (*OF_QUOTES, "--head", "0.0", "--rules", 1, "--members", 1),
}
"""Commands that write what they found, each with what its answer begins with."""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Go where a model and a circuit of it are."""
    save_model(tmp_path / "model", StoredModel(quote_model(programs={}), TOY))
    (tmp_path / "circuit.json").write_text(json.dumps(circuit_of(QUOTE_EDGES).to_json()))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def full_disk(here, monkeypatch):
    """Let the disk be full when the last file of a command is written."""
    write = canonical.write_parts

    def write_unless_last(path, parts):
        if path.name in {"out", "manifest.json"} and path.resolve().is_relative_to(here):
            raise OutputError(f"{path} cannot be written: No space left on device; choose another place")
        write(path, parts)

    monkeypatch.setattr(canonical, "write_parts", write_unless_last)
    return here


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_disk_that_fills_costs_no_answer(run, full_disk, name, more):
    """It is told, then why its file is not there, with the exit code of a failure; nothing is left of it."""
    before = sorted(full_disk.rglob("*"))
    code, out, err = run(name.split()[0], *COMMANDS[name], *more)
    assert code == 3, err
    assert len(err.splitlines()) == 1
    assert err.startswith("circuitproof: out")
    assert "No space left on device" in err
    assert sorted(full_disk.rglob("*")) == before
    if more:
        told = json.loads(out)
        assert (told["code"], told["error"]) == (3, err.removeprefix("circuitproof: ").strip())
        assert "verdict" in told or "candidates" in told or told["outcome"] == "realised"
    else:
        assert "proved" in out or "*" in out
        assert "holds" not in out


@pytest.mark.parametrize("more", ["", "--json"])
def test_a_file_that_the_system_does_not_take_costs_no_proof(here, more):
    """The same with a limit that the system itself keeps."""
    words = " ".join(map(str, COMMANDS["verify"]))
    script = f"ulimit -f 1; {sys.executable} -m circuitproof verify {words} {more}"
    ended = subprocess.run(["bash", "-c", script], check=False, capture_output=True, text=True)  # noqa: S603, S607
    assert ended.returncode == 3
    assert "File too large; choose another place\n" in ended.stderr
    assert "proved" in ended.stdout
    assert {path.name for path in here.iterdir()} == {"model", "circuit.json"}


@pytest.mark.slow
def test_of_two_commands_for_one_place_one_does_the_work(here):
    """The other says so in a sentence, and what is written is whole."""
    words = [sys.executable, "-m", "circuitproof", "verify", *map(str, COMMANDS["verify"])]
    held = "from pathlib import Path; from circuitproof.files.locked import claimed\n"
    held += "with claimed(Path('out')): print(flush=True); input()"
    with subprocess.Popen(  # noqa: S603  # ours
        [sys.executable, "-c", held], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout is not None
        first.stdout.readline()
        second = subprocess.run(words, check=False, capture_output=True, text=True)  # noqa: S603  # ours
        first.communicate("\n")
    wanted = "out is being written by another command; wait for it or choose another place"
    assert (second.returncode, second.stderr) == (3, f"circuitproof: {wanted}\n")
    assert subprocess.run(words, check=False, capture_output=True).returncode == 0  # noqa: S603  # ours
    assert not list(Path().glob(".*"))
    assert (here / "out" / "manifest.json").exists()
