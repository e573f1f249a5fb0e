"""`cluster_report`: how large and how tight clusters are, and what sets each of them apart, in words and numbers."""

import numbers
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array

from ...checks import check_number
from ...study.tallies import Tallies, defining, profile_of
from ...table import Table, html
from ..dissimilarity.metrics import METRICS
from ..scaling import dominant_column
from .labelled import Clusters, Rows, read_clusters, read_rows
from .scores import scatter_scores
from .silhouette import Measure, Silhouettes, measure, silhouettes

__all__ = ["ClusterReport", "cluster_report", "read_clustered"]

SHOWN = 20
UNITS_MATTER = ("euclidean", "nan_euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski")
SCORES = {"silhouette": "silhouette", "calinski_harabasz": "Calinski–Harabasz", "davies_bouldin": "Davies–Bouldin"}


@dataclass(eq=False, repr=False, kw_only=True)
class ClusterReport:
    """What clusters are like; made by `cluster_report`, printed as text or, in a notebook, as tables.

    Attributes
    ----------
    table : Table
        One row per cluster: its rows (and weight), share, mean silhouette, radius (mean distance to its most central row),
        nearest other cluster (of most of its rows) and the number of its most central row; one more row for noise.
    defining : Table
        For every cluster the columns that set it apart, those that do so most first: mean (or share of a level) in the cluster
        and in all rows, the difference in standard deviations of the column, and all of it in words.
    scores : dict
        Mean silhouette (higher is better, at most 1), Calinski–Harabasz ratio (higher is better) and Davies–Bouldin index
        (lower is better); None where one is not defined.
    silhouette_samples : ndarray of shape (n_samples,)
        The silhouette of each row; NaN for rows that are noise, have no weight, or are outside the sample.
    labels : list
        Labels of the clusters.
    codes : ndarray of int of shape (n_samples,)
        For each row the place of its cluster among `labels`; −1 for noise and rows without weight.
    profiles : list of dict
        Means of all columns in all clusters, as `defining` is made from them.
    notes : list of str
        What to know about the figures.
    """

    table: Table
    defining: Table
    scores: dict[str, float | None]
    silhouette_samples: np.ndarray
    labels: list
    codes: np.ndarray
    profiles: list[dict]
    notes: list[str]
    title: str
    n_defining: int

    @property
    def sizes(self) -> dict:
        """Rows of each cluster, by label; their weight where rows have weights."""
        column = "weight" if "weight" in self.table.columns else "rows"
        return dict(zip(self.labels, self.table[column]))

    @property
    def silhouettes(self) -> dict:
        """Mean silhouette of each cluster, by label; None where there is one cluster only."""
        return dict(zip(self.labels, self.table["silhouette"]))

    def describe(self, label: Any, n_columns: int | None = None) -> str:
        """What sets a cluster apart, as one line."""
        if label not in self.labels:
            raise KeyError(f"{label!r} is not a cluster; there are {', '.join(map(str, self.labels))}.")
        texts = [row["text"] for row in self.defining if row["cluster"] == label]
        return "; ".join(texts[: n_columns or self.n_defining]) or "nothing sets it apart"

    def to_pandas(self) -> Any:
        """The clusters as a pandas DataFrame, with what sets each apart as text."""
        frame = self.table.to_pandas()
        told = {label: self.describe(label) for label in self.labels} if self.profiles else {}
        frame["defined by"] = [told.get(label) for label in frame["cluster"]]
        return frame

    def _lines(self) -> list[tuple[Any, str]]:
        """What is said besides the table: one line per cluster, and notes."""
        if not self.profiles or len(self.labels) == 1:
            return []
        return [(label, self.describe(label)) for label in self.labels[:SHOWN]]

    def _summary(self) -> str:
        told = [f"{text} {self.scores[name]:.4g}" for name, text in SCORES.items() if self.scores[name] is not None]
        return ", ".join(told)

    def __str__(self) -> str:
        hidden = len(self.table) - SHOWN
        parts = [line for line in (self.title, self._summary()) if line]
        parts += ["", str(self.table[:SHOWN])] + ([f"… and {hidden} more"] if hidden > 0 else [])
        if lines := self._lines():
            parts += ["", "what sets them apart (in the cluster vs in all rows)"]
            parts += [f"  {label}: {text}" for label, text in lines]
        if self.notes:
            parts += ["", *(f"note: {note}" for note in self.notes)]
        return "\n".join(parts)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = [f"<p>{html(line)}</p>" for line in (self.title, self._summary()) if line]
        parts.append(self.table[:SHOWN]._repr_html_())
        if lines := self._lines():
            parts.append(Table({"cluster": label, "what sets it apart": text} for label, text in lines)._repr_html_())
        return "\n".join(parts + [f"<p>{html(note)}</p>" for note in self.notes])


def cluster_report(
    X: Any, labels: Any, *, sample_weight: Any = None, feature_names: Any = None, metric: str | Callable = "auto",
    metric_params: dict | None = None, space: Any = None, silhouette: str = "auto", max_rows: int | None = 10_000,
    n_defining: int = 3, noise: Any = -1, random_state: int = 0, n_jobs: int | None = None,
) -> ClusterReport:  # fmt: skip
    """Report on clusters: sizes, silhouettes, and what sets each apart.

    Parameters
    ----------
    X : table or array-like of shape (n_samples, n_features)
        Rows in the units to be told, with columns of any kind; missing cells are allowed.
    labels : array-like of shape (n_samples,), or fitted estimator
        Cluster of each row, as numbers or names; or an estimator that says so (by `predict`, else by `labels_`).
    sample_weight : array-like of shape (n_samples,), optional
        Row weights: weight 2 counts as the row given twice.
    feature_names : list of str, optional
        Names of the columns, where X has none.
    metric : str or callable, default="auto"
        Dissimilarity of rows, as in `KMedoids`; with missing cells ``"euclidean"`` is taken over the cells that two rows both
        have. ``"auto"`` is the estimator's where it has one, ``"gower"`` for tables with categories, else ``"euclidean"``.
    metric_params : dict, optional
        Further arguments of the dissimilarity.
    space : array-like, optional
        Rows to measure dissimilarities between, where it is not X that was clustered but X scaled or embedded; a matrix of
        dissimilarities for ``metric="precomputed"``. Default: what the last step of a pipeline sees, else X.
    silhouette : {"auto", "exact", "sample", "simplified"}, default="auto"
        Silhouettes of all rows, of about `max_rows` of them, or with distances to centres instead of rows, which is fast for any
        number of rows. ``"auto"`` takes a sample where there are more than `max_rows`.
    max_rows : int or None, default=10000
        Rows in a sample; None for all.
    n_defining : int, default=3
        Columns to print for each cluster; `defining` holds all.
    noise : label, list of labels or None, default=-1
        Labels of rows that belong to no cluster.
    random_state : int, default=0
        Seed of the sample.
    n_jobs : int, optional
        Threads; default all cores. Results do not depend on it.

    Returns
    -------
    ClusterReport

    Warns
    -----
    UserWarning
        Where one column has more than 95 % of the variance, so that its unit decides which rows are near.

    Examples
    --------
    >>> from tacit.cluster import cluster_report
    >>> from tacit.datasets import load_penguins
    >>> X, species, columns = load_penguins()
    >>> report = cluster_report(X[:, :3], species, feature_names=columns[:3])
    >>> report.describe("Gentoo", 1), report.sizes["Gentoo"]
    ('flipper_length_mm high (217 vs 201)', 124)
    """
    check_number("n_defining", n_defining, numbers.Integral, 1)
    check_number("max_rows", max_rows, numbers.Integral, 2, also=(None,))
    rows, clusters, seen = read_clustered(
        X, labels, sample_weight, metric, metric_params, space=space, names=feature_names, noise=noise
    )
    notes = [] if rows is None else [f"column {name!r} is left out: {reason}." for name, reason in rows.left_out]
    _check_units(seen, clusters, notes)
    found = silhouettes(seen, clusters, method=silhouette, max_rows=max_rows, random_state=random_state, n_jobs=n_jobs)
    scores = _scores(seen, clusters, found, notes)
    profiles = []
    if rows is not None:
        tallies = Tallies(rows.columns, len(clusters.names))
        tallies.add(rows.cells[clusters.rows], clusters.codes, clusters.weight)
        profiles = tallies.profiles()
    samples, codes = np.full(clusters.n_rows, np.nan), np.full(clusters.n_rows, -1)
    samples[clusters.rows], codes[clusters.rows] = found.values, clusters.codes
    return ClusterReport(
        table=Table(_cluster_rows(clusters, found, sample_weight is not None)), scores=scores, labels=clusters.names,
        defining=Table(_defining(profiles, clusters)), silhouette_samples=samples, codes=codes, profiles=profiles, notes=notes,
        title=_title(clusters, found, seen), n_defining=n_defining,
    )  # fmt: skip


def read_clustered(
    X: Any, labels: Any, sample_weight: Any, metric: str | Callable, metric_params: dict | None, *, space: Any = None,
    names: Any = None, noise: Any = -1,
) -> tuple[Rows | None, Clusters, Measure]:  # fmt: skip
    """Rows in the units to be told (None where X is a matrix of dissimilarities), their clusters, and how far apart they are."""
    final = labels
    if hasattr(labels, "steps"):
        final = labels[-1]
        if space is None and len(labels.steps) > 1:
            space = labels[:-1].transform(X)
    if isinstance(metric, str) and metric == "auto":
        own = getattr(final, "metric", None)
        if callable(own) or (isinstance(own, str) and own in METRICS):
            metric, metric_params = own, metric_params or getattr(final, "metric_params", None)
    is_matrix = isinstance(metric, str) and metric == "precomputed"
    rows = None if is_matrix and space is None else read_rows(X, _names(X, labels, names))
    n_rows = len(X) if rows is None else len(rows.cells)
    clusters = read_clusters(X, labels, n_rows, sample_weight, noise)
    if is_matrix:
        return rows, clusters, _matrix(X if space is None else space, n_rows)
    measured = rows if rows is not None and space is None else read_rows(space)
    if len(measured.cells) != n_rows:
        raise ValueError(
            f"space has {len(measured.cells)} rows, but X has {n_rows}; give the same rows in the same order."
        )
    return rows, clusters, measure(measured, clusters.row_weight, metric, metric_params)


def _names(X: Any, labels: Any, feature_names: Any) -> Any:
    """Names that were given, or those an estimator learned, for an array that has none."""
    known = getattr(labels, "feature_names_in_", None)
    if feature_names is None and known is not None and not hasattr(X, "columns") and np.shape(X)[1:] == (len(known),):
        return known
    return feature_names


def _matrix(D: Any, n_rows: int) -> Measure:
    D = check_array(D, dtype=[np.float64, np.float32], input_name="the matrix of dissimilarities")
    if D.shape != (n_rows, n_rows):
        raise ValueError(f"metric='precomputed' takes a matrix of {n_rows} × {n_rows}, but the shape is {D.shape}.")
    if D.min() < 0:
        raise ValueError(f"the matrix of dissimilarities holds {D.min():g}; dissimilarities must not be negative.")
    return Measure("precomputed", D)


def _check_units(seen: Measure, clusters: Clusters, notes: list[str]) -> None:
    """Warn where the unit of one column decides which rows are near."""
    if seen.name not in UNITS_MATTER:
        return
    found = dominant_column(seen.rows, clusters.row_weight)
    if found is None:
        return
    j, share = found
    told = "over 99.9" if share > 0.999 else f"{100 * share:.1f}"
    note = (
        f"{seen.names[j]!r} carries {told} % of the total variance, so that its unit decides which rows are near; put the "
        "columns on one scale first, by make_pipeline(tacit.cluster.ColumnScaler(), …), if they count alike."
    )
    warnings.warn(note, UserWarning, stacklevel=3)
    notes.append(note)


def _scores(seen: Measure, clusters: Clusters, found: Silhouettes, notes: list[str]) -> dict[str, float | None]:
    """Scores of the whole partition; None where one is not defined."""
    scores: dict[str, float | None] = dict.fromkeys(SCORES)
    if len(clusters.names) == 1:
        notes.append("there is one cluster, so that silhouettes and scores are not defined.")
        return scores
    scores["silhouette"] = found.mean(clusters)
    if seen.metric is not None and seen.is_euclidean:
        X = seen.rows[clusters.rows].astype(np.float64)
        if (X[0] == X).all():
            notes.append("all rows are equal: any clusters are as good as any others.")
            return scores
        scores["calinski_harabasz"], scores["davies_bouldin"] = scatter_scores(X, clusters)
    return scores


def _defining(profiles: list[dict], clusters: Clusters) -> list[dict]:
    """For each cluster the columns that set it apart, those that do so most first."""
    shown = ("column", "level", "value", "rest", "overall", "difference", "text")
    return [
        {"cluster": name} | {key: entry[key] for key in shown}
        for k, name in enumerate(clusters.names)
        for entry in defining(profile_of(profiles, k))
    ]


def _cluster_rows(clusters: Clusters, found: Silhouettes, weighted: bool) -> list[dict]:
    """One row per cluster, and one for noise."""
    totals, counts = clusters.sums(), np.bincount(clusters.codes)
    whole = totals.sum() + clusters.noise_weight
    means, nearest = found.means(clusters), found.nearest(clusters)
    rows = []
    for k, name in enumerate(clusters.names):
        row = {"cluster": name, "rows": int(counts[k])} | ({"weight": float(totals[k])} if weighted else {})
        row |= {"share": float(totals[k] / whole), "silhouette": None if np.isnan(means[k]) else float(means[k])}
        row |= {"radius": float(found.radius[k]), "nearest": clusters.names[nearest[k]] if nearest[k] >= 0 else None}
        rows.append(row | {"central row": int(found.central[k])})
    if clusters.n_noise:
        row = dict.fromkeys(rows[0]) | {"cluster": "noise", "rows": clusters.n_noise}
        row |= {"weight": clusters.noise_weight} if weighted else {}
        rows.append(row | {"share": clusters.noise_weight / whole})
    return rows


def _title(clusters: Clusters, found: Silhouettes, seen: Measure) -> str:
    how = {
        "exact": "silhouettes of all rows", "sample": f"silhouettes of a sample of {found.n_rows} rows",
        "simplified": "silhouettes by distances to centres",
    }[found.method]  # fmt: skip
    n = len(clusters.names)
    return f"{len(clusters.rows)} rows in {n} cluster{'s' * (n != 1)}; {how}, metric {seen.name!r}"
