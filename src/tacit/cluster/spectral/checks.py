"""What `SpectralClustering` accepts, and what it says of a graph in pieces."""

from __future__ import annotations

import numbers
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from ...checks import check_choice, check_n_jobs, check_number, check_positive, check_rows
from ...words import count
from .assign import ASSIGNMENTS
from .eigenvectors import SOLVERS
from .graphs import nearest
from .laplacian import LAPLACIANS
from .similarity import AFFINITIES, PAIRWISE

if TYPE_CHECKING:
    from .estimator import SpectralClustering

__all__ = ["check_graph", "check_settings", "check_sizes", "checked_rows", "warn_if_alike"]

N_NAMED = 5  # rows or components named in a warning
CHOICES = {
    "eigen_solver": SOLVERS, "assign_labels": ASSIGNMENTS, "laplacian": LAPLACIANS, "edge_weights": ("binary", "gaussian"),
}  # fmt: skip


def check_settings(model: SpectralClustering) -> None:
    """Raise where a setting is not of its kind."""
    check_number("n_clusters", model.n_clusters, numbers.Integral, 1, also=("auto",))
    check_number("n_components", model.n_components, numbers.Integral, 1, also=(None,))
    if not callable(model.affinity):
        check_choice("affinity", model.affinity, AFFINITIES)
    for name, choices in CHOICES.items():
        check_choice(name, getattr(model, name), choices)
    for name in ("n_init", "n_neighbors", "max_clusters"):
        check_number(name, getattr(model, name), numbers.Integral, 1)
    check_n_jobs(model.n_jobs)
    if not isinstance(model.kernel_params, (dict, type(None))):
        raise ValueError(f"kernel_params={model.kernel_params!r} is not a dictionary of keyword arguments.")
    if isinstance(model.gamma, str):
        check_choice("gamma", model.gamma, ("scale", "local"))
    else:
        check_number("gamma", model.gamma, numbers.Real, 0)
    check_number("eigen_tol", model.eigen_tol, numbers.Real, 0, also=("auto",))
    if model.epsilon is not None:
        check_positive("epsilon", model.epsilon)
    if model.gamma == "local" and model.affinity != "rbf" and model.edge_weights != "gaussian":
        raise ValueError("gamma='local' needs affinity='rbf' or edge_weights='gaussian'; use one, or a number.")


def checked_rows(model: SpectralClustering, X: Any, *, reset: bool) -> Any:
    """X as float64, dense or CSR."""
    X = check_rows(model, X, reset=reset)
    if model.affinity in PAIRWISE:
        return X
    if reset and X.shape[0] == X.shape[1]:
        warnings.warn(
            "X is square, and is taken as rows of features; if it holds similarities, set affinity='precomputed'.",
            stacklevel=3,
        )
    return X


def check_sizes(model: SpectralClustering, n_rows: int) -> None:
    """Raise where more clusters or eigenvectors are asked for than there are rows."""
    for name in ("n_clusters", "n_components"):
        value = getattr(model, name)
        if isinstance(value, (int, np.integer)) and value > n_rows:
            raise ValueError(f"{name}={value} exceeds the {n_rows} rows of X; use at most {n_rows}.")


def check_graph(model: SpectralClustering) -> None:
    """Raise where a model's graph has too few edges; warn where it is in pieces."""
    if model.n_isolated_ == len(model.degrees_):
        raise ValueError(f"no two of the {model.n_isolated_} rows are joined by an edge; {_remedy(model)}.")
    n_joined = len(model.degrees_) - model.n_isolated_
    if model.n_clusters != "auto" and model.n_clusters > n_joined:
        raise ValueError(
            f"n_clusters={model.n_clusters}, but only {n_joined} of the {len(model.degrees_)} rows have an edge; "
            f"use at most {n_joined}, or {_remedy(model)}."
        )
    if model.n_connected_components_ > 1 or model.n_isolated_:
        message = f"Graph is not fully connected: {_pieces(model)}. To join them, {_remedy(model)}."
        warnings.warn(message, stacklevel=3)


def _pieces(model: SpectralClustering) -> str:
    """What a disconnected graph consists of, in words."""
    sizes = np.bincount(model.connected_components_)
    sizes = sizes[sizes > 1]
    pieces = f"{count(len(sizes), 'connected component')} of {_listed(sizes)} rows"
    if model.n_isolated_:
        alone = _listed(np.flatnonzero(model.degrees_ == 0))
        pieces += f", and {count(model.n_isolated_, 'isolated row')} without any edge ({alone})"
    if model.n_clusters != "auto" and len(sizes) > model.n_clusters:
        pieces += f"; with n_clusters={model.n_clusters} the smallest components share a cluster"
    return pieces


def _remedy(model: SpectralClustering) -> str:
    if callable(model.affinity) or model.affinity == "precomputed":
        return "give more pairs of rows a similarity above 0"
    if model.affinity == "epsilon":
        reach = nearest(model.X_fit_, model.X_fit_, 2, model.n_jobs)[0][:, 1].max()
        hint = f" (from {reach:.3g} on, every row has a neighbour)" if model.n_isolated_ else ""
        return f"use a larger epsilon than {model.epsilon_:g}{hint}"
    if "neighbors" in model.affinity:
        return f"use a larger n_neighbors than {model.n_neighbors}"
    return "use a smaller gamma, or affinity='nearest_neighbors'"


def _listed(values: np.ndarray) -> str:
    return ", ".join(map(str, values[:N_NAMED])) + (" …" if len(values) > N_NAMED else "")


def warn_if_alike(model: SpectralClustering, X: Any) -> None:
    """Warn where there are fewer distinct rows than clusters."""
    if sparse.issparse(X) or model.affinity in PAIRWISE or model.n_clusters == "auto":
        return
    few = X[: 4 * model.n_clusters + 16]  # nearly always enough to see that there are as many
    n_distinct = len(np.unique(few, axis=0))
    if n_distinct < model.n_clusters:
        n_distinct = len(np.unique(X, axis=0))
    if n_distinct < model.n_clusters:
        warnings.warn(
            f"n_clusters={model.n_clusters} exceeds the {n_distinct} distinct rows of X; equal rows are split at random.",
            ConvergenceWarning,
            stacklevel=3,
        )
