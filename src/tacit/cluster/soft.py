"""Soft clusters around centres: r_ik ∝ exp(−β ‖x_i − μ_k‖²), with the stiffness β.

    maximise (1/β) Σ_i w_i log Σ_k exp(−β ‖x_i − μ_k‖²)        M-step: μ_k = Σ_i r_ik x_i / Σ_i r_ik

With β → ∞ this is minus the loss of k-means. A row with missing cells is as far from a centre as its observed cells say, times d
over their number, as in k-means.
"""

from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..base import Task, like
from ..base.settings import KW_ONLY, settings
from ..checks import check_positive
from ..declared import SQUARES, Numbers
from ..engine import fit
from ..kernels import backend, kernel
from ..source import Block, Source, as_source
from .centers import Centers, CenterStats, KMeansModel, MeansModel
from .estimator import CenterEstimator, Spread

__all__ = ["SoftKMeans", "SoftKMeansModel"]


class SoftKMeansModel(MeansModel):
    """Soft k-means, as the engine learns it.

    Parameters
    ----------
    n_clusters : int
        Number of centres.
    stiffness : float
        β.
    """

    extrapolates = True

    def __init__(self, n_clusters: int, stiffness: float):
        super().__init__(n_clusters)
        self.stiffness = stiffness

    def e_step(self, params: Centers, block: Block) -> CenterStats:
        """Weighted sums over all rows for each cluster."""
        counts, cells, sums = np.zeros(self.n_clusters), *np.zeros((2, *params.center.shape))
        nothing = np.empty((0, self.n_clusters)), np.empty(0)
        value = self._pass(params, block, block.weight, nothing, (counts, cells, sums))
        return CenterStats(value, float(block.weight.sum()), counts, cells, sums)

    def posterior(self, params: Centers, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Memberships (rows, classes), and (1/β) log Σ_k exp(−β ‖x − μ_k‖²) of each row."""
        resp, evidence = np.empty((len(block), self.n_clusters)), np.empty(len(block))
        unused = np.zeros(self.n_clusters), *np.zeros((2, *params.center.shape))
        self._pass(params, block, block.weight * 0.0 + 1.0, (resp, evidence), unused)
        return resp, evidence

    def _pass(self, params: Centers, block: Block, weight: np.ndarray, out: tuple, sums: tuple) -> float:
        return kernel("soft", backend(block.X))(
            block.X, weight, params.origin, params.about_origin, float(self.stiffness), *out, *sums
        )

    def free(self, params: Centers) -> np.ndarray:
        """The centres as a vector, for acceleration."""
        return params.center.ravel()

    def bound(self, vector: np.ndarray, params: Centers) -> Centers:
        """Parameters with the centres of a vector."""
        return self.at(vector.reshape(params.center.shape), params.origin)


@settings
class SoftKMeans(CenterEstimator):
    """Soft k-means clustering of rows that may have missing cells: every row belongs to every cluster to a degree.

    Degrees are r_k ∝ exp(−β ‖x − μ_k‖²), with the stiffness β: 1/√(2β) is the distance at which clusters begin to merge. (Texts
    that write exp(−‖x − μ_k‖²/β) mean the inverse.) It is the mixture of Gaussians with equal weights and the known covariance
    I/(2β). With a large β the result is that of `KMeans`. Below the critical β = 1/(2λ), where λ is the largest
    eigenvalue of the covariance of the rows, all centres coincide at the mean; as β grows past it they part, and further
    clusters split where the same holds within a cluster.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    stiffness : float or "auto", default="auto"
        β, in units of one over squared distance. ``auto`` is 1/(2σ²), where σ² is the mean variance of columns within the
        clusters of a short run of k-means on a sample: clusters as wide as those are told apart.
    tol : float, default=1e-4
        The fit ends when a pass improves the objective per unit of weight by less than this share of 1/β, and of the columns'
        mean variance. With a large β that is when no row changes its cluster.
    init, n_init, max_iter, verbose, random_state, n_jobs, device, callback
        As in `KMeans`.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres.
    stiffness_ : float
        β.
    labels_ : ndarray of shape (n_samples,)
        The cluster that each row belongs to most, whose centre is the nearest.
    inertia_ : float
        Weighted sum of squared distances of rows to the nearest centre.
    n_iter_ : int
        Passes of the best start.
    fit_ : Fit
        What was learned, with the objective after every pass (in ``fit_.trace``) and the reason why it stopped.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    MacKay (2003), Information Theory, Inference, and Learning Algorithms, chapters 20 and 22. Rose (1998), Deterministic
    annealing for clustering, compression, classification, regression, and related optimization problems.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.cluster import SoftKMeans
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]])
    >>> soft = SoftKMeans(2, stiffness=0.1, random_state=0).fit(X)
    >>> np.sort(soft.predict_proba([[5.0], [6.0]]), axis=1).round(2).tolist()
    [[0.5, 0.5], [0.17, 0.83]]
    """

    _: KW_ONLY
    stiffness: Any = "auto"

    accelerate: ClassVar = "auto"  # type: ignore[misc]

    _saved = CenterEstimator._saved | {"stiffness_": Numbers(low=0, high=SQUARES)}

    def _check_settings(self) -> None:
        super()._check_settings()
        if isinstance(self.stiffness, str):
            if self.stiffness != "auto":
                raise ValueError(f"stiffness={self.stiffness!r} is unknown; use 'auto' or a number above 0.")
        else:
            check_positive("stiffness", self.stiffness)

    def _model(self) -> SoftKMeansModel:
        return SoftKMeansModel(self.n_clusters, self.stiffness_)

    def _prepare(self, source: Source) -> Spread:
        known = super()._prepare(source)
        self.stiffness_ = float(self.stiffness) if self.stiffness != "auto" else self._usual_stiffness(source, known)
        return known

    def _usual_stiffness(self, source: Source, known: Spread) -> float:
        """1/(2σ²) of a short run of k-means; the seed is fixed, so that it depends on the rows alone."""
        rng = np.random.default_rng(0)
        sample = source.sample(self._sample_rows(), rng)
        model = KMeansModel(self.n_clusters)
        run = fit(model, as_source(sample), model.init(sample, rng), max_iter=10, tol=0.0)
        within = -run.trace.per_weight[-1] / source.n_features
        # Rows that all lie on their centres have no scale of their own, and equal ones none at all.
        within = max(within, 1e-12 * known.variance)
        return 0.5 / within if within > 0 else 1.0

    def _tol(self, task: Task) -> float:
        return self.tol * min(1.0 / self.stiffness_, task.known.variance)

    def _why_fewer(self) -> str:
        within = self.inertia_ / (self.fit_.trace.weight * self.n_features_in_)
        if (
            within <= 1e-12 * np.square(self.cluster_centers_).mean()
        ):  # rows lie on their centres, whatever the stiffness
            return super()._why_fewer()
        return (
            f"With stiffness={self.stiffness_:.3g} centres coincide that are meant to be apart: raise it, to "
            f"{0.5 / within:.2g} or more, or use stiffness='auto'."
        )

    def predict_proba(self, X: Any, out: Any = None) -> Any:
        """The degrees to which rows belong to clusters, which add up to 1.

        Parameters
        ----------
        X, out
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
        """
        params, model = self._params(), self._model()
        names = [f"cluster_{k}" for k in range(self.n_clusters)]
        return self._apply(X, lambda block: like(block, model.posterior(params, block)[0]), out, names)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The objective on rows: (1/β) Σ_i w_i log Σ_k exp(−β ‖x_i − μ_k‖²), which tends to that of `KMeans` with β.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        float
        """
        params, model = self._params(), self._model()
        return float(self._placed(self._open(X, sample_weight)).sum(partial(model.e_step, params)).loglik)
