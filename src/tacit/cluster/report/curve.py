"""`k_curve`: the loss and the silhouette of a clusterer against its number of clusters."""

import numbers
from collections.abc import Callable, Iterable
from typing import Any

from sklearn.base import clone

from ...checks import check_number
from ...table import Table
from .report import read_clustered
from .silhouette import silhouettes

__all__ = ["check_counts", "count_setting", "k_curve", "loss_of"]

LOSSES = ("inertia_", "n_cut_")


def k_curve(
    estimator: Any, X: Any, n_clusters: Iterable[int] = range(2, 11), *, sample_weight: Any = None,
    metric: str | Callable = "auto", metric_params: dict | None = None, silhouette: str = "auto",
    max_rows: int | None = 5_000, random_state: int = 0, n_jobs: int | None = None,
) -> Table:  # fmt: skip
    """Fit a clusterer with several numbers of clusters and say how good each is.

    The loss of most clusterers falls with the number of clusters, and where it stops falling much (the elbow) is a matter of
    taste; the mean silhouette has a maximum.

    Parameters
    ----------
    estimator : clusterer
        With the setting `n_clusters` (or `n_components`) and `fit`; it is not changed.
    X : table or array-like
        Rows that it takes.
    n_clusters : iterable of int, default=range(2, 11)
        Numbers to try, each at least 2.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, where the estimator takes them; in a pipeline, where its last step does.
    metric, metric_params, silhouette, max_rows, random_state, n_jobs
        How silhouettes are computed, as in `cluster_report`.

    Returns
    -------
    Table
        With the columns `n_clusters`, `loss` (`inertia_` or `n_cut_`; None where there is neither) and `silhouette`;
        ``tacit.plot.KSelectionDisplay.from_curve`` draws it.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from tacit.cluster import KMeans, k_curve
    >>> X, _ = make_blobs(200, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> table = k_curve(KMeans(random_state=0), X, range(2, 6))
    >>> max(table, key=lambda row: row["silhouette"])["n_clusters"]
    3
    """
    counts = check_counts(n_clusters, 2)
    prefix, setting = count_setting(estimator, "k_curve")
    weights = {} if sample_weight is None else {f"{prefix}sample_weight": sample_weight}
    rows = []
    for k in counts:
        fitted = clone(estimator).set_params(**{prefix + setting: k}).fit(X, **weights)
        _, clusters, measure = read_clustered(X, fitted, sample_weight, metric, metric_params)
        score = None
        if len(clusters.names) > 1:
            score = silhouettes(
                measure, clusters, method=silhouette, max_rows=max_rows, random_state=random_state, n_jobs=n_jobs
            ).mean(clusters)
        rows.append({"n_clusters": k, "loss": loss_of(fitted), "silhouette": score})
    return Table(rows)


def check_counts(n_clusters: Any, least: int) -> list[int]:
    """Numbers of clusters to try, rising."""
    if isinstance(n_clusters, (numbers.Number, str)):
        raise ValueError(f"n_clusters={n_clusters!r} must be several numbers; give a range, such as range(2, 11).")
    counts = list(n_clusters)
    for k in counts:
        check_number("n_clusters", k, numbers.Integral, least)
    if not counts:
        raise ValueError("n_clusters is empty; give at least one number.")
    return sorted(set(map(int, counts)))


def count_setting(estimator: Any, asking: str) -> tuple[str, str]:
    """The setting that is the number of clusters, and what names of settings of the last step of a pipeline begin with."""
    if isinstance(estimator, type):
        raise TypeError(
            f"estimator is the class {estimator.__name__}; give an instance, such as {estimator.__name__}()."
        )
    step, final = estimator.steps[-1] if hasattr(estimator, "steps") else ("", estimator)
    setting = next((name for name in ("n_clusters", "n_components") if name in final.get_params()), None)
    if setting is None:
        raise TypeError(f"{type(final).__name__} has no setting n_clusters, which {asking} varies.")
    return f"{step}__" if step else "", setting


def loss_of(fitted: Any) -> float | None:
    """What a fitted clusterer says that it made small, or None."""
    final = fitted[-1] if hasattr(fitted, "steps") else fitted
    return next((float(getattr(final, name)) for name in LOSSES if getattr(final, name, None) is not None), None)
