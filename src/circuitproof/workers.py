"""Work in parts, mapped over processes or machines: joblib and Ray run them, and no scheduler is ours.

Results come in the order of the parts, and never depend on who computes them or on how many do.
"""

import mmap
import pickle
import signal
import socket
import tempfile
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from copyreg import dispatch_table
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from math import inf
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar, assert_never

from circuitproof.errors import CircuitproofError, InputError, LostWorkerError, UsageError
from circuitproof.extras import missing

Shared = TypeVar("Shared")
Part = TypeVar("Part")
Result = TypeVar("Result")

_OVER = "over"
_SECONDS = 5.0
"""How long a cluster may take to answer."""
_TRIES = 3
"""How often parts are given to a cluster that loses a worker with them."""
_WINDOW = 4
"""So many parts of each worker of a cluster are under way at most, and their results in memory."""


@dataclass(frozen=True, slots=True)
class Serial:
    """This process, one part after the other."""


@dataclass(frozen=True, slots=True)
class Processes:
    """So many processes of this machine, by joblib."""

    count: int

    def __post_init__(self) -> None:
        if self.count < 1:
            raise UsageError(f"{self.count} jobs were asked for, want at least 1")


@dataclass(frozen=True, slots=True)
class Cluster:
    """All processors of the Ray cluster whose head has this address, by joblib's backend for Ray."""

    address: str

    def __post_init__(self) -> None:
        self.place()

    def place(self) -> tuple[str, int]:
        """Return the host and port."""
        host, _, port = self.address.rpartition(":")
        if not host or "/" in host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
            raise UsageError(f"cluster {self.address!r} is no address, want HOST:PORT as ray start says it")
        return host, int(port)


Division: TypeAlias = Serial | Processes | Cluster
SERIAL: Final = Serial()


def workers_of(jobs: int = 1, cluster: str | None = None) -> Division:
    """Return who works where so many jobs or a cluster are asked for; what that lacks is told at once."""
    if cluster is None:
        asked = Processes(jobs)
        if jobs == 1:
            return SERIAL
        _refuse_lacking("joblib", f"--jobs {jobs}")
        return asked
    if jobs != 1:
        raise UsageError("--jobs and --cluster are both given; a cluster has its own number of processors")
    found = Cluster(cluster)
    _refuse_lacking("ray", "--cluster")
    _refuse_lacking("joblib", "--cluster")
    _refuse_silent(found)
    return found


def _refuse_lacking(package: str, option: str) -> None:
    if find_spec(package) is None:
        raise InputError(missing(package, option))


def _refuse_silent(cluster: Cluster) -> None:
    """Refuse an address where nothing answers; Ray itself would ask for a minute."""
    try:
        socket.create_connection(cluster.place(), _SECONDS).close()
    except OSError as error:
        raise InputError(
            f"no Ray cluster answers at {cluster.address} ({error.strerror or error}); start one there by "
            "ray start --head, and give its address"
        ) from error


def count_of(workers: Division) -> int:
    """Return how many parts are worked on at a time."""
    match workers:
        case Serial():
            return 1
        case Processes(count):
            return count
        case Cluster():
            return _processors(workers)
        case _:
            assert_never(workers)


def mapped(
    work: Callable[[Shared, Part], Result], shared: Shared, parts: Sequence[Part], workers: Division
) -> Iterator[Result]:
    """Return what the work makes of each part, in their order, as soon as it and those before are done.

    The work is a function of a module; what all parts share is sent to each worker once, and files that are
    mapped into memory are sent with it. An error of a part is raised here as it was raised there.
    """
    match workers:
        case Serial():
            yield from (work(shared, part) for part in parts)
        case Processes(count):
            yield from _in_processes(work, shared, parts, count)
        case Cluster():
            yield from _on_cluster(work, shared, parts, workers)
        case _:
            assert_never(workers)


def _in_processes(
    work: Callable[[Shared, Part], Result], shared: Shared, parts: Sequence[Part], count: int
) -> Iterator[Result]:
    joblib = import_module("joblib")
    with _running() as folder:
        file = folder / "shared"
        file.write_bytes(_packed(shared, folder))
        tasks = (joblib.delayed(_run)(work, str(file), None, _packed(part, folder)) for part in parts)
        with joblib.parallel_config("loky", inner_max_num_threads=1, initializer=_begin):
            pool = joblib.Parallel(count, return_as="generator", batch_size=1, max_nbytes=None)
        found = pool(tasks)
        try:
            for one in found:
                yield _told(one)
        except BrokenProcessPool as error:
            raise LostWorkerError(
                "a worker process was killed, or died of a lack of memory, before its part was done; "
                "ask for fewer --jobs or use a larger machine"
            ) from error
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # joblib's, of work that nobody waits for any more
                found.close()


def _on_cluster(
    work: Callable[[Shared, Part], Result], shared: Shared, parts: Sequence[Part], cluster: Cluster
) -> Iterator[Result]:
    joblib = import_module("joblib")
    count, content = _processors(cluster), _packed(shared)
    name = f"{id(shared)} {time.time()}"
    for start in range(0, len(parts), _WINDOW * count):
        window = parts[start : start + _WINDOW * count]
        tasks = [joblib.delayed(_run)(work, name, content, _packed(part)) for part in window]
        yield from map(_told, _tried(tasks, count))


def _tried(tasks: Sequence[Any], count: int, tries: int = _TRIES) -> list[Any]:
    """Let a cluster do some tasks, and all of them again if it loses a worker on the way."""
    joblib = import_module("joblib")
    try:
        with joblib.parallel_config("ray"):
            return joblib.Parallel(count, batch_size=1)(tasks)
    except import_module("ray.exceptions").RayError as error:
        if tries > 1:
            return _tried(tasks, count, tries - 1)
        raise LostWorkerError(
            f"the cluster lost a worker {_TRIES} times before its part was done; look at Ray's logs, or give "
            "its workers more memory"
        ) from error


def _processors(cluster: Cluster) -> int:
    """Return how many processors a cluster has; this process joins it when it is first asked."""
    ray = import_module("ray")
    if not ray.is_initialized():
        handler = signal.getsignal(signal.SIGTERM)
        try:
            ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise InputError(f"the Ray cluster at {cluster.address} cannot be joined: {error}") from error
        finally:
            signal.signal(signal.SIGTERM, handler)  # which Ray has replaced
        import_module("ray.util.joblib").register_ray()
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


_folders: set[Path] = set()
"""Those of the work that is divided among processes now."""


@contextmanager
def _running() -> Generator[Path, None, None]:
    """Give a folder for what processes share."""
    with tempfile.TemporaryDirectory(prefix="circuitproof-") as name:
        folder = Path(name)
        _folders.add(folder)
        try:
            yield folder
        finally:
            _folders.discard(folder)


def end_parts() -> None:
    """Tell the processes of this one that time is over: `clock` says so there."""
    for folder in _folders:
        (folder / _OVER).touch()


def end_of(left: float) -> float:
    """Return when so many seconds are over, on a clock that all machines have."""
    return time.time() + left


def clock() -> float:
    """Return the time in a worker, which is the end of time once the work is to end."""
    return inf if any(folder and (folder / _OVER).exists() for folder, _ in _kept.values()) else time.time()


_kept: dict[str, tuple[Path | None, Any]] = {}
"""In a worker: what its parts share, by its name, and the folder of it if there is one."""


def _begin() -> None:
    """Begin a worker: an interrupt of a terminal goes to all of its processes, and the first one answers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@dataclass(frozen=True, slots=True)
class _FailedPart:
    """What a part came to that failed: it is told in its turn, whichever fails first."""

    error: CircuitproofError


def _told(found: Result | _FailedPart) -> Result:
    if isinstance(found, _FailedPart):
        raise found.error
    return found


def _run(
    work: Callable[[Any, Any], Result], name: str, content: bytes | None, part: bytes
) -> Result | _FailedPart:
    """Do a part in a worker, which reads what is shared when it sees the first of its parts."""
    if name not in _kept:
        _kept.clear()
        folder = Path(name).parent if content is None else None
        shared = Path(name).read_bytes() if content is None else content
        _kept[name] = folder, pickle.loads(shared)  # noqa: S301  # ours, from the process that asks
    try:
        return work(_kept[name][1], pickle.loads(part))  # noqa: S301  # the same
    except CircuitproofError as error:
        return _FailedPart(error)


def _packed(content: object, folder: Path | None = None) -> bytes:
    """Pickle what is sent; of a mapped file a worker maps a copy in the folder, or gets its bytes."""
    into = BytesIO()
    pickler = pickle.Pickler(into, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = dispatch_table.copy()
    pickler.dispatch_table[mmap.mmap] = _sent if folder is None else lambda file: _copied(file, folder)
    pickler.dump(content)
    return into.getvalue()


def _sent(file: mmap.mmap) -> tuple[Any, ...]:
    return bytes, (file[:],)


def _copied(file: mmap.mmap, folder: Path) -> tuple[Any, ...]:
    path = folder / f"{id(file)}.bin"
    if not path.exists():
        path.write_bytes(file)
    return _map, (str(path),)


def _map(path: str) -> mmap.mmap:
    with Path(path).open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
