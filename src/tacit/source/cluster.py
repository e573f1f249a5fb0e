"""Where the tasks of a `DaskSource` run: on the workers of a client, or in this process."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

from . import partition
from .threads import n_cores

__all__ = ["Cluster", "Here", "cluster_of", "places", "require_dask"]

WATCH = 1.0  # seconds between looks at which workers there are
READ_RETRIES = 3  # a file system may fail for a moment; a function of rows that fails once fails always


def require_dask() -> Any:
    """Dask, or an error that names what to install."""
    try:
        import dask
    except ImportError as error:
        raise ImportError(
            "rows of Dask collections need dask; install it with: pip install 'tacit[cluster]'"
        ) from error
    return dask


def cluster_of(client: Any) -> Here | Cluster:
    """The client's cluster, or this process where no client is given or current."""
    if client is None and "distributed" in sys.modules:
        try:
            client = sys.modules["distributed"].get_client()
        except ValueError:
            client = None
    return Here() if client is None else Cluster(client)


class Here:
    """The process itself: what is submitted is computed at once."""

    def threads(self, n_partitions: int) -> int:
        """Threads each partition should use."""
        return n_cores()

    def ahead(self) -> int:
        """Partitions to work on ahead of the one whose result is awaited."""
        return 0

    def persist(self, tasks: list) -> list:
        return list(require_dask().compute(*tasks))

    def balanced(self, partitions: list, sizes: list) -> list:
        return partitions

    def hold(self, function: Any) -> Any:
        return function

    def call(self, name: str, function: Callable, each: Any, *args: Any, stays: bool = False) -> Any:
        return function(each, *args)

    submit = call

    def gather(self, results: list) -> list:
        """The results themselves."""
        return results

    def finish(self, begin: Callable[[], list]) -> list:
        """What begin() returns."""
        return begin()


class Cluster:
    """The workers of a client.

    Every value is the result of a task that the scheduler can run again: nothing is scattered, because scattered values
    die with their worker.
    """

    def __init__(self, client: Any):
        self.client = client
        self._place: dict = {}  # the worker of each partition, by its key
        self._size: dict = {}

    def _n_threads(self) -> int:
        return max(sum(self.client.nthreads().values()), 1)

    def threads(self, n_partitions: int) -> int:
        """Threads each partition should use."""
        return max(self._n_threads() // max(n_partitions, 1), 1)

    def ahead(self) -> int:
        """Partitions to work on ahead of the one whose result is awaited."""
        return 2 * self._n_threads()

    def persist(self, tasks: list) -> list:
        """Compute tasks and keep their results where they were made."""
        return self.client.compute(tasks, retries=READ_RETRIES)

    def balanced(self, partitions: list, sizes: list) -> list:
        """The same partitions, some of them moved from workers that hold more than their share."""
        holders = self.client.who_has(partitions)
        where = [next(iter(holders.get(each.key) or ()), None) for each in partitions]
        chosen = places(where, sizes, self.client.nthreads())
        moved = [
            each if at == place else self.submit("stay", partition.stay, each, **_at(place))
            for each, at, place in zip(partitions, where, chosen)
        ]
        self._place = {each.key: place for each, place in zip(moved, chosen)}
        self._size = {each.key: size for each, size in zip(moved, sizes)}
        return moved

    def call(self, name: str, function: Callable, each: Any, *args: Any, stays: bool = False) -> Any:
        """Call function on the worker that holds the partition.

        A busy worker's task may move to another one with a copy of the partition, unless it stays: then it also waits for a
        worker that is gone, for which `finish` finds another.
        """
        return self.submit(name, function, each, *args, **_at(self._place.get(each.key), stays))

    def hold(self, function: Any) -> Any:
        """The function as the result of a task: sent once to each worker, however many partitions it has."""
        return self.submit("hold", partition.hold, function)

    def submit(self, name: str, function: Callable, *args: Any, **settings: Any) -> Any:
        """Call function on a worker; a key of its own, since an equal call of the last step has another meaning."""
        key = f"tacit-{name}-{uuid.uuid4().hex}"
        return self.client.submit(function, *args, key=key, pure=False, **settings)

    def finish(self, begin: Callable[[], list]) -> list:
        """Results of the futures that begin() makes; it is called again where a worker of partitions is gone."""
        futures = begin()
        while not self._done(futures):
            if self._settled():
                futures = begin()
        return self.gather(futures)

    def _done(self, futures: list) -> bool:
        """Whether all futures have come to an end, after a while."""
        from distributed import wait

        try:
            with self.client.as_current():
                wait(futures, timeout=WATCH)
        except CancelledError:
            return True  # `gather` tells
        except TimeoutError:
            return False
        return True

    def _settled(self) -> bool:
        """Whether partitions of workers that are gone were given to others."""
        threads = self.client.nthreads()
        if not threads or set(self._place.values()) <= {None, *threads}:
            return False
        self._place = dict(zip(self._place, places([*self._place.values()], [*self._size.values()], threads)))
        return True

    def gather(self, futures: list) -> list:
        """Results of futures; what went wrong on a worker is raised here."""
        from distributed.scheduler import KilledWorker

        try:
            return self.client.gather(futures)
        except KilledWorker as error:
            raise RuntimeError(
                f"workers died {error.allowed_failures + 1} times on {error.task!r}, the last at "
                f"{getattr(error.last_worker, 'address', error.last_worker)}, most often for want of memory; make "
                "partitions smaller (rechunk, repartition) or give workers more memory."
            ) from error
        except CancelledError as error:
            raise RuntimeError(
                f"rows were lost with their worker and cannot be read again ({error}); make the collection from files "
                "or from a graph instead of client.scatter, and keep the client open."
            ) from error


def _at(place: str | None, stays: bool = False) -> dict:
    """Settings of a task that should run at a place. Left free, Dask would rather move small partitions than wait."""
    return {} if place is None else {"workers": [place], "allow_other_workers": not stays}


def places(where: list, sizes: list, threads: dict) -> list:
    """A worker for each partition: where it is, unless that worker has more than its share of bytes per thread.

    Parameters
    ----------
    where : list of str or None
        The worker that holds each partition.
    sizes : list of int
        Bytes of each partition.
    threads : dict
        Threads of each worker.
    """
    if not threads:
        return where
    share = {worker: sum(sizes) * n / sum(threads.values()) for worker, n in threads.items()}
    load = dict.fromkeys(threads, 0.0)
    chosen, homeless = list(where), []
    for i, (worker, size) in enumerate(zip(where, sizes)):
        # Half a partition over the share is as near to it as one can get.
        if worker in load and load[worker] + size / 2 <= share[worker]:
            load[worker] += size
        else:
            homeless.append(i)
    for i in homeless:
        chosen[i] = min(load, key=lambda worker: (load[worker] + sizes[i]) / threads[worker])
        load[chosen[i]] += sizes[i]
    return chosen
