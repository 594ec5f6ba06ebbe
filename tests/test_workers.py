"""Work is divided among processes and machines, and nothing that is found depends on it."""

import mmap
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import worker_tasks
from circuitproof import extras, workers
from circuitproof.errors import DeclarationError, InputError, LostWorkerError, UsageError
from circuitproof.workers import SERIAL, Cluster, Processes, end_parts, mapped, workers_of

WORKERS = (SERIAL, Processes(2), Processes(3))


@pytest.mark.parametrize("who", WORKERS, ids=str)
def test_results_come_in_the_order_of_the_parts(who):
    """Whoever is done first."""
    assert list(mapped(worker_tasks.added, 100, range(7), who)) == list(range(100, 107))


def test_workers_are_other_processes_of_one_thread_each():
    """So that as many as there are processors do not stand in each other's way."""
    found = list(mapped(worker_tasks.where, None, range(6), Processes(2)))
    assert os.getpid() not in {process for _, process, _ in found}
    assert {threads for _, _, threads in found} == {"1"}


def test_a_mapped_file_is_sent_once_and_as_it_was(tmp_path):
    """A worker maps a copy: the file may have another content by then."""
    path = tmp_path / "weights"
    path.write_bytes(b"abc")
    with path.open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    path.unlink()
    path.write_bytes(b"xyz")
    assert bytes(mapped(worker_tasks.read, content, range(3), Processes(2))) == b"abc"


@pytest.mark.parametrize("who", WORKERS, ids=str)
def test_an_error_of_a_worker_is_what_it_is_here(who):
    """The same class and sentence, of the first part that fails; what is before it is told first."""
    found = mapped(worker_tasks.refused, None, range(5), who)
    assert next(found) == 0
    with pytest.raises(DeclarationError, match=r"^part 1 is 3, want less$"):
        next(found)


def test_a_worker_that_dies_is_a_sentence():
    """And the next work has other workers."""
    with pytest.raises(LostWorkerError, match="a worker process was killed, or died of a lack of memory"):
        list(mapped(worker_tasks.crashed, None, range(4), Processes(2)))
    assert list(mapped(worker_tasks.added, 1, range(3), Processes(2))) == [1, 2, 3]


def test_work_that_is_not_waited_for_ends_its_workers():
    """As when what is found cannot be written: nobody computes on, and nothing is warned of."""
    found = mapped(worker_tasks.begun, None, range(40), Processes(2))
    process = next(found)
    found.close()
    assert list(mapped(worker_tasks.added, 0, [1, 2], Processes(2))) == [1, 2]
    assert not _is_alive(process)


def test_workers_hear_that_time_is_over(tmp_path):
    """The first interrupt of a command is a deadline that has come, in its workers too."""

    def end_soon():
        while len(list(tmp_path.iterdir())) < 2:
            time.sleep(0.01)
        end_parts()

    ending = threading.Thread(target=end_soon)
    ending.start()
    assert list(mapped(worker_tasks.waited, str(tmp_path), range(2), Processes(2))) == [0, 1]
    ending.join()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_two_interrupts_end_a_command_and_its_workers(tmp_path, number):
    """The second at once: no process is left."""
    text = (
        "import sys; from circuitproof.cli.pacing import paced\n"
        "from circuitproof.cli.main import _interruptible\n"
        "import worker_tasks; from circuitproof.workers import Processes, mapped\n"
        "with _interruptible(), paced(None, as_json=True):\n"
        "    list(mapped(worker_tasks.stuck, sys.argv[1], range(2), Processes(2)))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-c", text, str(tmp_path)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603  # this program
        names = _wait_for_files(tmp_path, 2)
        process.send_signal(number)
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(number)
        process.communicate(timeout=20)
    assert process.returncode != 0
    for name in names:
        assert not _is_alive(int(name.partition("-")[2]))


def _wait_for_files(folder, count):
    end = time.monotonic() + 30
    while len(found := [path.name for path in folder.iterdir()]) < count:
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def _is_alive(process):
    """Say whether a process is there within a second, and no zombie."""
    for _ in range(50):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return False
        if state == "Z":
            return False
        time.sleep(0.1)
    return True


def test_one_job_is_this_process():
    """And needs no package."""
    assert workers_of(1) is SERIAL
    assert workers_of(2) == Processes(2)


@pytest.mark.parametrize(
    ("asked", "error", "sentence"),
    [
        ({"jobs": 0}, UsageError, "0 jobs were asked for, want at least 1"),
        ({"jobs": -1}, UsageError, "-1 jobs were asked for, want at least 1"),
        ({"jobs": 2, "cluster": "here:1"}, UsageError, "--jobs and --cluster are both given"),
        ({"cluster": "here"}, UsageError, "cluster 'here' is no address, want HOST:PORT"),
        ({"cluster": "ray://here:10001"}, UsageError, "'ray://here:10001' is no address, want HOST:PORT"),
        ({"cluster": "here:0"}, UsageError, "'here:0' is no address, want HOST:PORT"),
        ({"cluster": "here:99999"}, UsageError, "'here:99999' is no address, want HOST:PORT"),
        ({"cluster": ":6379"}, UsageError, "':6379' is no address, want HOST:PORT"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_with_a_sentence(asked, error, sentence):
    """Before anything is opened."""
    with pytest.raises(error, match=sentence):
        workers_of(**asked)


def test_an_address_where_nothing_answers_is_refused_at_once(monkeypatch):
    """Ray itself would ask for a minute, in many lines."""
    monkeypatch.setattr(workers, "find_spec", lambda _package: True)
    with pytest.raises(InputError, match=r"no Ray cluster answers at 127.0.0.1:1 \(.*\); start one there"):
        workers_of(cluster="127.0.0.1:1")


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"jobs": 2}, r"--jobs 2 needs joblib, which is not installed: pip install 'circuitproof\[jobs\]'"),
        (
            {"cluster": "127.0.0.1:1"},
            r"--cluster needs ray, which is not installed: pip install 'circuitproof\[cluster\]'",
        ),
    ],
)
def test_a_package_that_is_not_installed_is_named_with_its_extra(monkeypatch, asked, sentence):
    """One job needs none."""
    monkeypatch.setattr(workers, "find_spec", lambda _package: None)
    with pytest.raises(InputError, match=sentence):
        workers_of(**asked)
    assert workers_of() is SERIAL


def test_the_extras_bring_what_they_are_said_to_bring():
    """The sentence above names them."""
    import tomllib

    project = tomllib.loads((Path(extras.__file__).parents[2] / "pyproject.toml").read_text())["project"]
    brought = {
        name: {one.partition(">")[0] for one in packages}
        for name, packages in project["optional-dependencies"].items()
    }
    assert "joblib" in brought["jobs"]
    assert {"joblib", "ray"} <= brought["cluster"]


def test_an_address_is_a_host_and_a_port():
    """Of version 6 as well."""
    assert Cluster("head.example:6379").place() == ("head.example", 6379)
    assert Cluster("::1:6379").place() == ("::1", 6379)
