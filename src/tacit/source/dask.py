"""`DaskSource`: rows of Dask collections, which stay on the workers of a cluster.

Each partition becomes an `ArraySource` in the memory of its worker. A pass sends one function down to every worker,
makes one record of statistics per partition and adds these up in a tree on the workers; only the root comes back:

    Σ_blocks f(block) = Σ_partitions Σ_{blocks of the partition} f(block),    eight addends per node, in a fixed order
"""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ..arrays import Arrays
from . import partition
from .block import Block
from .cluster import cluster_of, require_dask
from .delayed import delayed_partitions, is_dask
from .memory import Blank
from .source import Source

__all__ = ["DaskSource", "is_dask"]

FAN_IN = 8
T = TypeVar("T")


class DaskSource(Source):
    """Rows of a Dask array, a Dask dataframe or a list of delayed arrays.

    With a current `distributed.Client`, partitions are read once, by the workers, and stay in their memory; what a
    worker held when it died is read again by others. Without one they are held in the memory of this process. Making a source
    reads the rows, so a source that is used more than once should be kept.

    Iteration brings every row to this process, partition by partition: it is slow, and only there for small data.

    Parameters
    ----------
    data : dask array, dask dataframe, or list of delayed values or futures
        Rows. Columns in several chunks are brought together; a list holds one two-dimensional array per partition.
    columns : list of str, optional
        Columns of a dataframe to use; default all numeric ones.
    weight, labels : str, array, dask array or dask series, optional
        Row weights and known classes (−1 or NaN where unknown): names of columns of a dataframe, or values in
        partitions like those of `data`. A NumPy array is cut to the partitions of a Dask array.
    targets : list of str, array or dask collection of two dimensions, optional
        What is to be predicted, given in the same ways.
    unit : str, array, dask array or dask series, optional
        The unit of each row, given in the same ways; rows of a unit must lie together. Where a unit begins in one partition and
        ends in the next, its rows are brought together.
    client : distributed.Client, optional
        Where to compute; default the current client, or this process where there is none.
    n_jobs : int, optional
        Threads per partition. Default: one where there are as many partitions as the cluster has threads.

    Attributes
    ----------
    n_partitions : int
        Partitions that have rows.
    observed : ndarray of shape (n_features,)
        Which columns have any observed value.
    label_range : (int, int) or None
        Least and greatest label.

    Examples
    --------
    >>> import dask.dataframe as dd, distributed  # doctest: +SKIP
    >>> client = distributed.Client("tcp://scheduler:8786")  # doctest: +SKIP
    >>> GaussianMixture(8).fit(dd.read_parquet("visits/"), sample_weight="cost")  # doctest: +SKIP
    """

    def __init__(
        self,
        data: Any,
        columns: Sequence | None = None,
        *,
        weight: Any = None,
        labels: Any = None,
        targets: Any = None,
        unit: Any = None,
        client: Any = None,
        n_jobs: int | None = None,
    ):
        dask = require_dask()
        self.cluster: Any = cluster_of(client)
        along = {"weight": weight, "labels": labels, "targets": targets, "unit": unit}
        parts, dtype, self.columns = delayed_partitions(data, columns, along)
        self.n_jobs = self.cluster.threads(len(parts)) if n_jobs is None or n_jobs == -1 else n_jobs
        read = dask.delayed(partition.read, pure=False)
        name = uuid.uuid4().hex
        tasks = [
            read(i, *part, self.columns, dtype, self.n_jobs, dask_key_name=f"tacit-read-{name}-{i}")
            for i, part in enumerate(parts)
        ]
        partitions, told = self._with_rows(self.cluster.persist(tasks))
        if unit is not None:
            partitions, told = self._with_rows(self._regrouped(partitions, told))
        self._learn_facts(told)
        self._partitions = self.cluster.balanced(partitions, [facts.n_bytes for facts in told])
        self._pass = partition.Pass(_nothing)

    def _with_rows(self, partitions: list) -> tuple[list, list]:
        """The partitions that have rows, and what is known of each."""
        told = self.cluster.gather([self.cluster.call("tell", partition.tell, each) for each in partitions])
        kept = [i for i, facts in enumerate(told) if facts.n_rows]
        return [partitions[i] for i in kept], [told[i] for i in kept]

    def _regrouped(self, partitions: list, told: list) -> list:
        """The partitions with every unit in the one in which it begins."""
        made = []
        for i, facts in enumerate(told):
            drop = facts.head if i and told[i - 1].ends[1] == facts.ends[0] else 0
            following: list[Any] = []
            for other, later in zip(partitions[i + 1 :], told[i + 1 :]):
                if drop == facts.n_rows or later.ends[0] != facts.ends[1]:
                    break
                following += [other, later.head]
                if later.head < later.n_rows:
                    break
            moved = drop or following
            made.append(
                self.cluster.submit("regroup", partition.regrouped, partitions[i], drop, *following)
                if moved
                else partitions[i]
            )
        return made

    def _learn_facts(self, told: list) -> None:
        """What is known of all rows, from what is known of each partition."""
        if not told:
            raise ValueError("Found array with 0 sample(s): no partition has any rows.")
        self._facts = told
        self.n_features, self.dtype = told[0].n_features, np.result_type(*(facts.dtype for facts in told))
        for facts in told:
            if facts.n_features != self.n_features:
                raise ValueError(
                    f"partitions have {self.n_features} and {facts.n_features} columns; give all the same columns."
                )
        if not any(facts.n_eligible for facts in told):
            raise ValueError("the weight is zero for every row; at least one row must count.")
        self.n_rows, self.n_partitions = sum(facts.n_rows for facts in told), len(told)
        self.n_targets = told[0].n_targets
        if told[0].lengths is not None:
            lengths = np.concatenate([facts.lengths for facts in told])
            self.offsets = None if (lengths == 1).all() else np.append(0, np.cumsum(lengths))
        self._ends = np.cumsum([facts.n_units for facts in told])
        self._starts = self._ends - [facts.n_units for facts in told]
        self.observed = np.logical_or.reduce([facts.observed for facts in told])
        self.labelled = all(facts.labelled for facts in told)
        ranges = [facts.label_range for facts in told if facts.label_range]
        self.label_range = (min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else None
        if self.columns is not None and not all(isinstance(name, str) for name in self.columns):
            self.columns = None  # numbers of columns are no names

    def sum(self, function: Callable[[Block], T]) -> T:
        """Σ function(block), reduced in a tree on the workers.

        The order of additions depends on the partitions alone, so results depend neither on timing nor on which worker
        holds what.
        """
        held = self._held(function)

        def begin() -> list:
            level = self._over_partitions("sum", partition.sum_blocks, held)
            while len(level) > 1:
                groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
                level = [self.cluster.submit("add", partition.add_up, *group) for group in groups]
            return level

        return self.cluster.finish(begin)[0]

    def _over_partitions(self, name: str, work: Callable, held: Any) -> list:
        """Futures of the work on all partitions, which is told the pass and the number of each one's first unit.

        Partitions whose units remember are not worked on elsewhere while their worker lives.
        """
        stays = self._pass.blank is not None
        return [
            self.cluster.call(name, work, each, held, int(first), stays=stays)
            for each, first in zip(self._partitions, self._starts)
        ]

    def _held(self, function: Callable) -> Any:
        """A pass as the workers take it; saved records are sent along once."""
        held = self.cluster.hold(replace(self._pass, function=function))
        self._pass = replace(self._pass, saved=None)
        return held

    def map(self, function: Callable[[Block], T]) -> Iterator[T]:
        """Yield function(block) for every block, in order; a few partitions are worked on ahead of the one yielded."""
        held, waiting, ahead = self._held(function), deque[Any](), self.cluster.ahead()
        for each, first in zip(self._partitions, self._starts):
            waiting.append(self.cluster.call("map", partition.map_blocks, each, held, int(first)))
            if len(waiting) > ahead:
                yield from self.cluster.gather([waiting.popleft()])[0]
        while waiting:
            yield from self.cluster.gather([waiting.popleft()])[0]

    def __iter__(self) -> Iterator[Block]:
        return self.map(partition.hold)

    def remember(self, blank: Blank | None, saved: Arrays | None = None) -> None:
        """Keep a record per unit on the workers; what a worker held when it died is begun anew."""
        self._pass = partition.Pass(_nothing, uuid.uuid4().hex, blank, saved)

    def recall(self) -> Arrays | None:
        """The records of all units in order, or None where nothing is kept."""
        if self._pass.blank is None:
            return None
        held = self._held(_nothing)
        return Arrays.concatenate(self.cluster.finish(lambda: self._over_partitions("recall", partition.recall, held)))

    def eligible(self) -> np.ndarray:
        found = self.cluster.gather([self.cluster.call("units", partition.eligible, each) for each in self._partitions])
        return np.concatenate([units + start for units, start in zip(found, self._starts)])

    def take(self, units: np.ndarray) -> Block:
        return self._take(units, self._ends, among_eligible=False)

    def sample(self, n_rows: int, rng: np.random.Generator) -> Block:
        """One block of at most `n_rows` rows, in whole units drawn without replacement; those of zero weight are left out."""
        if self.offsets is not None:
            return super().sample(n_rows, rng)
        # The same draw as that of an array, but rows are numbered where they are: numbers of a billion rows fill 8 GB.
        ends = np.cumsum([facts.n_eligible for facts in self._facts])
        n_eligible = int(ends[-1])
        rows = np.sort(rng.choice(n_eligible, n_rows, replace=False)) if n_eligible > n_rows else np.arange(n_eligible)
        return self._take(rows, ends, among_eligible=True)

    def _take(self, units: np.ndarray, ends: np.ndarray, among_eligible: bool) -> Block:
        """Units by number; the numbers of partition i end before ends[i]."""
        starts = np.concatenate([[0], ends])
        cuts = np.searchsorted(units, starts)
        found = [
            self.cluster.call("take", partition.take, each, units[low:high] - start, among_eligible)
            for each, low, high, start in zip(self._partitions, cuts, cuts[1:], starts)
            if low < high
        ]
        X, weight, labels, targets, lengths = zip(*self.cluster.gather(found))
        return Block.of(
            np.concatenate(X), np.concatenate(weight), np.concatenate(labels),
            np.concatenate(targets) if self.n_targets else None,
            units=None if self.offsets is None else np.append(0, np.cumsum(np.concatenate(lengths))),
        )  # fmt: skip


def _nothing(block: Block) -> None:
    """What no pass asks for."""
