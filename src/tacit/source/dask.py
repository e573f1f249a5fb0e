"""`DaskSource`: rows of Dask collections, which stay on the workers of a cluster.

Each partition becomes an `ArraySource` in the memory of its worker. A pass sends one function down to every worker,
makes one record of statistics per partition and adds these up in a tree on the workers; only the root comes back:

    Σ_blocks f(block) = Σ_partitions Σ_{blocks of the partition} f(block),    eight addends per node, in a fixed order
"""

import uuid
from collections import deque

import numpy as np

from . import partition
from .base import Source
from .block import Block
from .cluster import cluster_of, require_dask
from .delayed import delayed_partitions, is_dask

__all__ = ["DaskSource", "is_dask"]

FAN_IN = 8


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

    def __init__(self, data, columns=None, *, weight=None, labels=None, client=None, n_jobs=None):
        dask = require_dask()
        self.cluster = cluster_of(client)
        parts, dtype, self.columns = delayed_partitions(data, columns, weight, labels)
        self.n_jobs = self.cluster.threads(len(parts)) if n_jobs in (None, -1) else n_jobs
        read = dask.delayed(partition.read, pure=False)
        name = uuid.uuid4().hex
        tasks = [
            read(i, *part, self.columns, dtype, self.n_jobs, dask_key_name=f"tacit-read-{name}-{i}")
            for i, part in enumerate(parts)
        ]
        partitions = self.cluster.persist(tasks)
        told = self.cluster.gather([self.cluster.call("tell", partition.tell, each) for each in partitions])
        kept = [i for i, facts in enumerate(told) if facts.n_rows]
        self._learn_facts([told[i] for i in kept])
        self._partitions = self.cluster.balanced([partitions[i] for i in kept], [told[i].n_bytes for i in kept])

    def _learn_facts(self, told):
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
        self._ends = np.cumsum([facts.n_rows for facts in told])
        self._starts = self._ends - [facts.n_rows for facts in told]
        self.n_rows, self.n_partitions = int(self._ends[-1]), len(told)
        self.observed = np.logical_or.reduce([facts.observed for facts in told])
        self.labelled = all(facts.labelled for facts in told)
        ranges = [facts.label_range for facts in told if facts.label_range]
        self.label_range = (min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else None
        if self.columns is not None and not all(isinstance(name, str) for name in self.columns):
            self.columns = None  # numbers of columns are no names

    def sum(self, function):
        """Σ function(block), reduced in a tree on the workers.

        The order of additions depends on the partitions alone, so results depend neither on timing nor on which worker
        holds what.
        """
        held = self.cluster.hold(function)
        level = [self.cluster.call("sum", partition.sum_blocks, each, held) for each in self._partitions]
        while len(level) > 1:
            groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
            level = [self.cluster.submit("add", partition.add_up, *group) for group in groups]
        return self.cluster.gather(level)[0]

    def map(self, function):
        """Yield function(block) for every block, in order; a few partitions are worked on ahead of the one yielded."""
        held = self.cluster.hold(function)
        return self._in_order(lambda each: self.cluster.call("map", partition.map_blocks, each, held))

    def __iter__(self):
        return self._in_order(lambda each: self.cluster.call("fetch", list, each))

    def _in_order(self, submit):
        """The items of the lists that `submit` makes of each partition; only a few results wait on workers."""
        waiting: deque = deque()
        ahead = self.cluster.ahead()
        for each in self._partitions:
            waiting.append(submit(each))
            if len(waiting) > ahead:
                yield from self.cluster.gather([waiting.popleft()])[0]
        while waiting:
            yield from self.cluster.gather([waiting.popleft()])[0]

    def eligible(self):
        found = self.cluster.gather([self.cluster.call("rows", partition.eligible, each) for each in self._partitions])
        return np.concatenate([rows + start for rows, start in zip(found, self._starts)])

    def take(self, rows):
        return self._take(rows, self._ends, among_eligible=False)

    def sample(self, n_rows, rng):
        """One block of at most `n_rows` rows drawn without replacement, rows of zero weight left out."""
        # The same draw as that of an array, but rows are numbered where they are: numbers of a billion rows fill 8 GB.
        ends = np.cumsum([facts.n_eligible for facts in self._facts])
        n_eligible = int(ends[-1])
        rows = np.sort(rng.choice(n_eligible, n_rows, replace=False)) if n_eligible > n_rows else np.arange(n_eligible)
        return self._take(rows, ends, among_eligible=True)

    def _take(self, rows, ends, among_eligible):
        """Rows by number; the numbers of partition i end before ends[i]."""
        starts = np.concatenate([[0], ends])
        cuts = np.searchsorted(rows, starts)
        found = [
            self.cluster.call("take", partition.take, each, rows[low:high] - start, among_eligible)
            for each, low, high, start in zip(self._partitions, cuts, cuts[1:], starts)
            if low < high
        ]
        X, weight, labels = zip(*self.cluster.gather(found))
        return Block.of(np.concatenate(X), np.concatenate(weight), np.concatenate(labels))
