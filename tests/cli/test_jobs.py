"""However many processes or machines a command's work is divided among, what it writes has the same bytes."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest

import circuitproof as cp
from circuitproof.errors import CircuitproofError
from circuitproof.files.canonical import readable_json
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import Alphabet
from claim_files import write_claims
from hand_models import table_task
from real_twin import ordinary_model

BARE = ("--model", "model", "--task", "quotes")
QUOTES = (*BARE, "--circuit", "circuit.json", "--epsilon", "1/100")
LISTED = (
    "--model",
    "ordinary",
    "--task",
    "table.json",
    "--property",
    "faithfulness",
    "--property",
    "necessity",
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Go where an exact and an ordinary model are, with tasks and claims about them."""
    write_claims(tmp_path)
    seed = next(seed for seed in range(100) if len(_ordinary(seed).architecture.graph.edges()) > 5)
    prompts = {(a, b): (a + b) % 2 for a in range(5) for b in range(5)}
    save_model(tmp_path / "ordinary", StoredModel(_ordinary(seed).float(), Alphabet(tuple("abcde"))))
    (tmp_path / "table.json").write_bytes(readable_json(table_task(prompts).to_json()))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _ordinary(seed):
    return ordinary_model(Random(seed), seed)  # noqa: S311  # models, not secrets


def bytes_below(folder):
    """Return every file of a folder but the record of how long a proof took."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "proved.json"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


COMMANDS = {
    "an exact list": ("verify", *QUOTES),
    "an enclosed list": ("verify", *LISTED),
    "minimal": ("minimal", *BARE),
    "claims": ("claims", "prove", "claims.toml"),
    "extract": ("extract", *BARE),
}


@pytest.mark.parametrize("what", COMMANDS)
def test_the_number_of_jobs_changes_no_byte(here, run, what):
    """Of bundles, circuits and reports; nor does it change the exit code or what is printed."""
    found, said = [], []
    for jobs in ("1", "2", "3")[: 2 if what == "extract" else 3]:  # each new worker loads torch
        folder = here / f"jobs-{jobs}"
        folder.mkdir()
        out = folder / ("circuit.json" if what == "extract" else "out")
        code, printed, err = run(*COMMANDS[what], "--jobs", jobs, "--out", str(out), "--json")
        assert code in {0, 1}, err
        found.append(bytes_below(folder))
        said.append((code, printed.count("\n")))
    assert found[0]
    assert all(one == found[0] for one in found)
    assert all(one == said[0] for one in said)


def test_python_divides_the_same(here):
    """With the arguments of the same names."""
    alone = cp.verify("model", "quotes", "circuit.json", out="one")
    divided = cp.verify("model", "quotes", "circuit.json", out="two", jobs=2)
    assert alone.verdict is divided.verdict is cp.Verdict.PROVED
    assert bytes_below(here / "one") == bytes_below(here / "two")
    assert cp.minimal("model", "quotes", jobs=2).search == cp.minimal("model", "quotes").search
    for asked in ({"jobs": 0}, {"jobs": "2"}, {"jobs": 2, "cluster": "here:1"}, {"cluster": 6379}):
        for ask in (cp.verify, cp.minimal, cp.extract):
            with pytest.raises(CircuitproofError, match=r"jobs|cluster"):
                ask("model", "quotes", **asked)
        with pytest.raises(CircuitproofError, match=r"jobs|cluster"):
            cp.prove_claims("claims.toml", **asked)


@pytest.mark.parametrize(
    "command",
    [
        ("verify", *QUOTES),
        ("minimal", *BARE),
        ("extract", *BARE, "--out", "c.json"),
        ("claims", "prove", "claims.toml"),
    ],
    ids=lambda words: words[0],
)
@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (("--jobs", "0"), 2, "--jobs"),
        (("--jobs", "many"), 2, "--jobs"),
        (("--cluster", "here"), 2, "cluster 'here' is no address, want HOST:PORT as ray start says it"),
        (("--cluster", "127.0.0.1:1"), 3, "no Ray cluster answers at 127.0.0.1:1"),
        (("--cluster", "127.0.0.1:1", "--jobs", "2"), 2, "--jobs and --cluster are both given"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else None,
)
def test_workers_that_cannot_be_had_are_one_sentence(here, run, command, options, code, sentence):  # noqa: PLR0917  # what is given and said
    """Before anything is opened or written."""
    if options == ("--cluster", "127.0.0.1:1") and find_spec("ray") is None:
        sentence = "--cluster needs ray, which is not installed: pip install 'circuitproof[cluster]'"
    found, out, err = run(*command, *options)
    assert (found, out) == (code, ""), err
    assert sentence in " ".join(err.split())
    assert "Traceback" not in err
    assert not (here / "c.json").exists()


@pytest.mark.usefixtures("here")
def test_options_that_would_do_nothing_are_refused(run):
    """A solver, or the checker of bundles that are here, is not divided so."""
    code, _, err = run("verify", *QUOTES, "--engine", "z3", "--jobs", "2")
    assert (code, "--jobs does nothing here: --engine z3 only compares answers" in err) == (2, True)
    code, _, err = run("claims", "check", "claims.toml", "--cluster", "127.0.0.1:1")
    assert (code, "--cluster does nothing here: neither --model nor --models is given" in err) == (2, True)


def _free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.fixture
def started(tmp_path, monkeypatch):
    """Return where each part that a worker begins leaves its process; Ray's workers find our tests too."""
    folder = tmp_path / "started"
    folder.mkdir()
    monkeypatch.setenv("WORKER_TASKS_STARTED", str(folder))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    return folder


@pytest.fixture
def cluster(monkeypatch, started):  # noqa: ARG001  # which its workers must know
    """Start Ray with two workers here, with a token and a home of its own."""
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed: pip install -e '.[cluster]'")
    home, port = Path(tempfile.mkdtemp(prefix="ray-")), _free_port()  # a socket's path must be short
    own = {"HOME": str(home), "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    words = ["start", "--head", "--port", str(port), "--num-cpus", "2", "--node-ip-address", "127.0.0.1"]
    words += ["--include-dashboard", "false", "--disable-usage-stats", "--block", "--temp-dir", str(home)]
    with (home / "log").open("w") as log:
        command = [Path(sys.executable).with_name("ray"), *words]
        process = subprocess.Popen(command, stdout=log, stderr=log)  # noqa: S603  # Ray
    try:
        _await(lambda: "Ray runtime started" in (home / "log").read_text(), process)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)
        shutil.rmtree(home, ignore_errors=True)


def _await(is_so, process):
    end = time.monotonic() + 60
    while not is_so():
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_writes_the_same_bytes(here, run, cluster, started):
    """Two workers of Ray on this machine, of which one is killed in the middle of its part."""
    code, _, err = run("verify", *QUOTES, "--out", "alone")
    assert code == 0, err
    words = ["verify", *QUOTES, "--out", "together", "--cluster", cluster]
    text = (
        "import worker_tasks\nfrom circuitproof.proof import fold_parts\n"
        "from circuitproof.cli.main import main\n"
        "fold_parts.compute_part = worker_tasks.computed_slowly\nmain()"
    )
    with subprocess.Popen([sys.executable, "-c", text, *words], stderr=subprocess.PIPE, text=True) as process:  # noqa: S603  # this program
        _await(lambda: len(list(started.iterdir())) >= 2, process)
        os.kill(int(next(started.iterdir()).name), signal.SIGKILL)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert len(list(started.iterdir())) >= 4
    assert bytes_below(here / "together") == bytes_below(here / "alone")
