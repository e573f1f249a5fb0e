"""`how_many`: five criteria for the number of clusters, side by side.

gap          Gap(k) = mean log W*_k − log W_k, W the loss of the rows and W* that of rows drawn from one even cloud
stability    mean adjusted Rand index between the clusters of all rows and those of random halves of them
silhouette   mean silhouette
eigengap     relative gap after the k-th eigenvalue of a graph of neighbours, less what its eigenvectors leave unexplained
bic          −2 log L + p log n of a mixture

Each answers a question of its own; they agree where clusters are round, apart and of similar size.
"""

import numbers
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from ...assess.selecting import one_standard_error
from ...assess.stability import halves
from ...checks import check_choice, check_number
from ...table import Table
from ..dissimilarity.metrics import learn_parameters, make
from ..estimator import CenterEstimator
from ..kmeans import KMeans
from ..spectral import SpectralClustering
from .curve import check_counts, count_setting, loss_of
from .labelled import labels_of, read_rows
from .report import read_clustered
from .silhouette import silhouettes

__all__ = ["CRITERIA", "HowMany", "how_many"]

CRITERIA = ("gap", "stability", "silhouette", "eigengap", "bic")
STABLE = 0.75
"""Agreement of halves below which clusters are not taken for stable (Hennig 2007)."""
N_NEIGHBORS = 10


@dataclass(eq=False, repr=False, kw_only=True)
class HowMany:
    """Scores of several numbers of clusters and what each criterion answers; made by `how_many`, printed as text.

    Attributes
    ----------
    table : Table
        One row per number of clusters: `n_clusters`, `loss`, `gap` and its standard error `gap_se`, `stability`, `silhouette`,
        `eigengap`, `bic`; None where a score is not defined. Of `bic` less is better, of the others more.
    answers : dict
        The number that each criterion answers; None where it gives no answer.
    models : dict
        The fitted clusterers, by number of clusters.
    notes : list of str
        What to know about the figures.
    """

    table: Table
    answers: dict[str, int | None]
    models: dict[int, Any]
    notes: list[str]

    @property
    def majority(self) -> int:
        """The number that most criteria answer; of several, the smallest."""
        votes = Counter(answer for answer in self.answers.values() if answer is not None)
        return min(votes, key=lambda k: (-votes[k], k))

    def plot(self, ax: Any = None) -> Any:
        """Draw all criteria against the number of clusters; returns a :class:`tacit.plot.HowManyDisplay`."""
        from ...plot import HowManyDisplay

        return HowManyDisplay.from_record(self, ax=ax)

    def __str__(self) -> str:
        told = ", ".join(f"{name} {'none' if k is None else k}" for name, k in self.answers.items())
        return "\n".join([str(self.table), "", f"answers: {told}", *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__


def how_many(
    X: Any, n_clusters: Iterable[int] = range(1, 11), *, estimator: Any = None, criteria: Iterable[str] = CRITERIA,
    mixture: Any = None, n_references: int = 10, n_resamples: int = 20, max_rows: int | None = 5_000,
    random_state: Any = None, n_jobs: int | None = None,
) -> HowMany:  # fmt: skip
    """Score numbers of clusters by several criteria, and say what each answers.

    Parameters
    ----------
    X : array-like or table of shape (n_samples, n_features)
        Rows of numbers; NaN is missing.
    n_clusters : iterable of int, default=range(1, 11)
        Numbers to try. Only gap, eigengap and bic can answer 1 by their score; stability answers it where no clusters are
        stable.
    estimator : clusterer, optional
        With the setting `n_clusters` (or `n_components`) and `fit`, or a pipeline that ends in one, whose other steps are
        learned once; default `KMeans`. It is not changed. Missing cells are allowed where it takes them.
    criteria : iterable of str, default=("gap", "stability", "silhouette", "eigengap", "bic")
        Which to compute.
    mixture : mixture, optional
        For bic; default `GaussianMixture` with full covariances.
    n_references : int, default=10
        Tables drawn for the gap statistic.
    n_resamples : int, default=20
        Random halves of the rows, for stability.
    max_rows : int or None, default=5000
        Rows in a sample that is used where there are more; None for all.
    random_state : int, RandomState or None, default=None
        Seed of samples, references, halves and starts.
    n_jobs : int, optional
        Threads of silhouettes; default all cores. Results do not depend on it.

    Returns
    -------
    HowMany

    Notes
    -----
    gap: the smallest k with Gap(k) ≥ Gap(k + 1) − s(k + 1). Clusterers of centres also start from the fit with one cluster less
    and a row far from its centres. References are uniform along the principal axes, along the columns where cells are missing,
    and miss the same cells. stability: the largest k whose agreement is within one standard error of the best; 1 where even the
    best is below 0.75. silhouette: the largest mean. eigengap: the largest score of `SpectralClustering` on 10 nearest
    neighbours. bic: the least.

    References
    ----------
    Tibshirani, Walther and Hastie (2001), Estimating the number of clusters in a data set via the gap statistic. Lange, Roth,
    Braun and Buhmann (2004), Stability-based validation of clustering solutions. Hennig (2007), Cluster-wise assessment of
    cluster stability.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from tacit.cluster import how_many
    >>> X, _ = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> how_many(X, range(1, 6), n_references=5, n_resamples=5, random_state=0).answers
    {'gap': 3, 'stability': 3, 'silhouette': 3, 'eigengap': 3, 'bic': 3}
    """
    criteria = list(criteria)
    for name in criteria:
        check_choice("criteria", name, CRITERIA)
    check_number("n_references", n_references, numbers.Integral, 2)
    check_number("n_resamples", n_resamples, numbers.Integral, 2)
    check_number("max_rows", max_rows, numbers.Integral, 10, also=(None,))
    counts = check_counts(n_clusters, 1)
    estimator = KMeans(algorithm="lloyd") if estimator is None else estimator  # bounds pay only where rows are many
    setting = count_setting(estimator, "how_many")[1]
    if hasattr(estimator, "steps"):
        X, estimator = clone(estimator[:-1]).fit_transform(X), estimator[-1]
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    cells, notes = _sampled(X, max_rows, rng)
    if counts[-1] > len(cells) // 2:
        raise ValueError(f"n_clusters={counts[-1]} is too many for {len(cells)} rows; use at most {len(cells) // 2}.")
    trial = Trial(cells, counts, estimator, setting, rng, notes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of many fits, some empty a cluster or stop early
        fits = trial.fits(cells)
        scores: dict[str, np.ndarray] = {}
        answers: dict[str, int | None] = {}
        compute: dict[str, Callable] = {
            "gap": lambda: trial.gap(fits, n_references), "stability": lambda: trial.stability(fits, n_resamples),
            "silhouette": lambda: trial.silhouette(fits, n_jobs), "eigengap": trial.eigengap, "bic": lambda: trial.bic(mixture),
        }  # fmt: skip
        for name in criteria:
            found, answers[name] = compute[name]()
            scores |= found
    for name in ("gap", "silhouette", "bic"):
        if len(counts) > 1 and answers.get(name) == counts[-1]:
            notes.append(f"{name} answers {counts[-1]}, the largest number tried; try more.")
    columns = {"loss": np.array([loss_of(fit) for fit in fits], dtype=float)} | scores
    rows = [
        {"n_clusters": k} | {name: None if np.isnan(values[i]) else float(values[i]) for name, values in columns.items()}
        for i, k in enumerate(counts)
    ]  # fmt: skip
    return HowMany(table=Table(rows), answers=answers, models=dict(zip(counts, fits)), notes=notes)


def _sampled(X: Any, max_rows: int | None, rng: np.random.Generator) -> tuple[np.ndarray, list[str]]:
    """Cells of the rows or of a sample of them, and what to know about them."""
    rows = read_rows(X)
    if rows.categories.any():
        column = rows.names[int(np.argmax(rows.categories))]
        raise ValueError(
            f"column {column!r} holds categories, and how_many takes numbers; use KMedoids('auto', metric='gower') or "
            "tacit.mixture.select."
        )
    notes = [f"column {name!r} is left out: {reason}." for name, reason in rows.left_out]
    cells = rows.cells.astype(np.float64)
    if max_rows is not None and len(cells) > max_rows:
        notes.append(f"scores are those of a sample of {max_rows} of {len(cells)} rows.")
        cells = cells[np.sort(rng.choice(len(cells), max_rows, replace=False))]
    return cells, notes


@dataclass(frozen=True)
class Trial:
    """Rows, the numbers of clusters to try on them, the clusterer and the setting that is the number, draws, and notes."""

    X: np.ndarray
    counts: list[int]
    estimator: Any
    setting: str
    rng: np.random.Generator
    notes: list[str]

    def _fit(self, X: np.ndarray, k: int, **settings: Any) -> Any:
        known = clone(self.estimator).set_params(**{self.setting: k})
        if "random_state" in known.get_params():
            settings["random_state"] = int(self.rng.integers(2**31))
        return known.set_params(**settings).fit(X)

    def fits(self, X: np.ndarray) -> list[Any]:
        """Fits of all numbers; where there are centres, the better of a fresh fit and one that goes on from the number before."""
        found: list[Any] = []
        for k in self.counts:
            fit = self._fit(X, k)
            if found and isinstance(fit, CenterEstimator) and isinstance(fit.init, str):
                warm = self._fit(X, k, init=self._more(X, found[-1], k), n_init=1).set_params(init=fit.init)
                fit = min(fit, warm, key=lambda one: one.inertia_)
            found.append(fit)
        return found

    def _more(self, X: np.ndarray, fit: Any, k: int) -> np.ndarray:
        """The centres of a fit, and rows drawn by their loss; missing cells are those of the nearest centre."""
        apart = fit.transform(X)
        loss = apart.min(axis=1) ** fit._power
        chance = loss / loss.sum() if loss.sum() > 0 else None
        drawn = self.rng.choice(len(X), k - len(fit.cluster_centers_), p=chance)
        near = fit.cluster_centers_[apart[drawn].argmin(axis=1)]
        return np.vstack([fit.cluster_centers_, np.where(np.isnan(X[drawn]), near, X[drawn])])

    def _losses(self, fits: list[Any]) -> np.ndarray:
        losses = np.array([loss_of(fit) for fit in fits], dtype=float)
        return np.log(np.maximum(losses, np.finfo(float).tiny))

    def gap(self, fits: list[Any], n_references: int) -> tuple[dict[str, np.ndarray], int | None]:
        """Gaps and their standard errors, and the smallest number whose gap the next does not exceed by more than its error."""
        if loss_of(fits[-1]) is None:
            self.notes.append(f"there is no gap statistic: {type(fits[-1]).__name__} has no inertia_.")
            return {"gap": np.full(len(fits), np.nan)}, None
        draw = reference(self.X)
        drawn = np.array([self._losses(self.fits(draw(self.rng))) for _ in range(n_references)])
        gap = drawn.mean(axis=0) - self._losses(fits)
        error = drawn.std(axis=0) * np.sqrt(1.0 + 1.0 / n_references)
        enough = [i for i in range(len(gap) - 1) if gap[i] >= gap[i + 1] - error[i + 1]]
        return {"gap": gap, "gap_se": error}, self.counts[enough[0] if enough else -1]

    def stability(self, fits: list[Any], n_resamples: int) -> tuple[dict[str, np.ndarray], int | None]:
        """Agreement of the clusters of all rows with those of halves, and the largest number that is as good as the best."""
        tried = [i for i, k in enumerate(self.counts) if k > 1]
        labels = [labels_of(fit, self.X) for fit in fits]

        def again(rows: np.ndarray, i: int) -> np.ndarray:
            return labels_of(self._fit(self.X[rows], self.counts[i]), self.X[rows])

        agreement = halves(labels, again, len(self.X), n_resamples, tried, self.rng)
        mean = agreement.mean(axis=0)
        if not tried:
            return {"stability": mean}, None
        largest = one_standard_error(agreement.T, complexity=np.negative(self.counts), larger=True)
        return {"stability": mean}, self.counts[largest] if np.nanmax(mean) >= STABLE else 1

    def silhouette(self, fits: list[Any], n_jobs: int | None) -> tuple[dict[str, np.ndarray], int | None]:
        """Mean silhouettes and the number of the largest."""
        scores = np.full(len(fits), np.nan)
        for i, fit in enumerate(fits):
            _, clusters, measure = read_clustered(self.X, fit, None, "auto", None)
            if len(clusters.names) > 1:
                scores[i] = silhouettes(measure, clusters, max_rows=None, n_jobs=n_jobs).mean(clusters)
        return {"silhouette": scores}, None if np.isnan(scores).all() else self.counts[int(np.nanargmax(scores))]

    def eigengap(self) -> tuple[dict[str, np.ndarray], int | None]:
        """Scores of gaps of a graph of neighbours, by distances over the cells that both rows have, and the best number."""
        affinity, rows = "nearest_neighbors", self.X
        if np.isnan(rows).any():
            affinity = "precomputed_nearest_neighbors"
            parameters = learn_parameters("nan_euclidean", None, rows, np.ones(len(rows)))
            rows = make("nan_euclidean", parameters, rows).square(rows, np.arange(len(rows)), 1)
        graph = SpectralClustering(
            "auto", affinity=affinity, n_neighbors=min(N_NEIGHBORS, len(rows)), max_clusters=self.counts[-1], n_init=1,
            random_state=int(self.rng.integers(2**31)),
        ).fit(rows)  # fmt: skip
        scores = graph.gap_scores_[np.array(self.counts) - 1]
        return {"eigengap": scores}, None if np.isnan(scores).all() else self.counts[int(np.nanargmax(scores))]

    def bic(self, mixture: Any) -> tuple[dict[str, np.ndarray], int | None]:
        """BIC of mixtures, and the number of the least among those in which no class collapsed."""
        from ...mixture import GaussianMixture, select

        if mixture is None:
            mixture = GaussianMixture(random_state=int(self.rng.integers(2**31)))
        found = select(mixture, self.X, n_components=self.counts)
        values = {row["n_components"]: row["bic"] for row in found.table if row["failed"] is None}
        scores = np.array([values.get(k, np.nan) for k in self.counts])
        return {"bic": scores}, found.best_settings["n_components"]


def reference(X: np.ndarray) -> Callable[[np.random.Generator], np.ndarray]:
    """Draws rows of one even cloud: uniform along the principal axes, or along the columns where cells are missing."""
    missing, axes = np.isnan(X), np.eye(X.shape[1])
    center = np.nanmean(X, axis=0)
    if not missing.any():
        axes = np.linalg.svd(X - center, full_matrices=False)[2]
    places = (X - center) @ axes.T if not missing.any() else X - center
    low, high = np.nanmin(places, axis=0), np.nanmax(places, axis=0)

    def draw(rng: np.random.Generator) -> np.ndarray:
        rows = center + rng.uniform(low, high, size=places.shape) @ axes
        rows[missing] = np.nan
        return rows

    return draw
