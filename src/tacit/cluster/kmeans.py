"""`KMeans`: rows join the nearest centre, and centres are the means of their rows."""

import warnings
from functools import partial
from typing import Any, Self

import numpy as np

from ..base.settings import KW_ONLY, settings
from ..checks import check_choice
from ..engine import Online
from ..source import Source
from .centers import Centers, CenterStats, KMeansModel
from .estimator import CenterEstimator, check_enough

__all__ = ["ALGORITHMS", "KMeans"]

ALGORITHMS = ("auto", "lloyd", "hamerly", "yinyang", "elkan")


@settings
class KMeans(CenterEstimator):
    """K-means clustering of rows that may have missing cells.

    Drop-in for scikit-learn's ``KMeans``. Distances that the triangle inequality rules out are not computed, and sums change only
    where rows move, so that most passes cost little more than reading a few bytes per row.

    A row with missing cells is as far from a centre as its observed cells say, times the number of columns over theirs. A centre
    is the mean of the observed cells of its rows, weighted by the same factor, so that the loss never increases.

    Sparse matrices are never made dense: a pass costs their stored cells times the number of clusters, and memory holds them
    and a few times the centres.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : {"k-means++", "k-means||", "random"}, array of shape (n_clusters, n_features) or callable, default="k-means++"
        Where centres start: rows far apart (greedily, among a sample of rows), rows far apart by a few passes over all rows,
        random rows, these points, or ``init(X, n_clusters, random_state)``.
    n_init : int or "auto", default="auto"
        Number of starts, of which the best is kept; ``auto`` is 1 where starts lie far apart, else 10.
    max_iter : int, default=300
        Passes at most.
    tol : float, default=1e-4
        The fit ends when the squared movements of all centres add up to this share of the columns' mean variance.
    verbose : int, default=0
        Print progress.
    random_state : int, RandomState instance or None, default=None
        Seed.
    copy_x : bool, default=True
        Ignored, for compatibility: X is never changed.
    algorithm : {"auto", "lloyd", "hamerly", "yinyang", "elkan"}, default="auto"
        How distances are saved; all give the same result. ``lloyd`` saves none; the others keep a lower bound per row, per
        row and group of centres, or per row and centre. ``auto`` keeps one per hundred centres, and none while they do not
        help.
    n_jobs : int, optional
        Threads; default all cores. Results do not depend on it.
    device : {"auto", "cpu", "cuda", "cuda:0", …}, optional
        Where to compute; by default where the rows are. "auto" is a GPU where there is one and the rows are many.
    callback : callable, optional
        Called with a `tacit.engine.Progress` after every pass.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row.
    inertia_ : float
        Weighted sum of squared distances of rows to their centres.
    n_iter_ : int
        Passes of the best start.
    fit_ : Fit
        What was learned, with the loss after every pass (negated, in ``fit_.trace``) and the reason why it stopped.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Hamerly (2010), Making k-means even faster. Ding et al. (2015), Yinyang k-means. Arthur and Vassilvitskii (2007),
    k-means++. Bahmani et al. (2012), Scalable k-means++.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.cluster import KMeans
    >>> X = np.array([[1.0, 2.0], [1.0, np.nan], [1.0, 0.0], [9.0, 2.0], [np.nan, 4.0], [9.0, 0.0]])
    >>> kmeans = KMeans(2, random_state=0).fit(X)
    >>> kmeans.predict([[0.0, np.nan], [12.0, 3.0]]) == kmeans.labels_[[0, 3]]
    array([ True,  True])
    """

    _: KW_ONLY
    copy_x: bool = True
    algorithm: str = "auto"

    _takes_sparse = True

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("algorithm", self.algorithm, ALGORITHMS)
        if self.algorithm == "elkan" and self.n_clusters == 1:
            warnings.warn(
                "algorithm='elkan' doesn't make sense for a single cluster. Using 'lloyd' instead.",
                RuntimeWarning,
                stacklevel=3,
            )

    def _model(self) -> KMeansModel:
        return KMeansModel(self.n_clusters, "lloyd" if self.n_clusters == 1 else self.algorithm)

    def _searcher(self) -> KMeansModel:
        return KMeansModel(self.n_clusters, "lloyd")  # bounds pay only from the second pass on

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Move the centres by one more batch of rows, as mini-batch k-means does: a centre is the mean of all rows it ever got.

        The first batch sets the start, so it should be typical and hold at least `n_clusters` rows.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        self
        """
        self._label(self._learn_batch(X, sample_weight))
        return self

    def _check_first_batch(self, source: Source) -> None:
        check_enough(source.n_rows, self.n_clusters)

    def _step(self, model: KMeansModel, batch: Source, state: Online, rng: np.random.Generator | None = None) -> Online:
        """What is known after one more batch: every row counts the same, whenever it came."""
        stats = batch.sum(partial(model.e_step, state.params))
        total = stats if state.stats is None else state.weight * state.stats + stats
        total, image = self._tend(model, batch, state, total, model.m_step(total, state.params), rng)
        return Online(image, (1.0 / total.weight) * total, state.steps + 1, stats.loglik / stats.weight, total.weight)

    def _tend(
        self, model: KMeansModel, batch: Source, state: Online, total: CenterStats, image: Centers,
        rng: np.random.Generator | None,
    ) -> tuple[CenterStats, Centers]:  # fmt: skip
        """Sums and centres, where those that no row joined are mended."""
        return total, model.mend(batch, total, state.params, image)
