"""Save and load fitted estimators: arrays in a zip file, everything else in a JSON manifest.

Loading builds an object of an allow-listed class and sets allow-listed attributes from plain numbers, strings and arrays. Nothing
in the file is ever executed, unpickled or imported.
"""

import contextlib
import dataclasses
import inspect
import json
import math
import os
import warnings
from functools import cache
from importlib import import_module

import numpy as np
from scipy import sparse

from . import __version__
from .archive import UNSOUND, read_archive, write_archive
from .arrays import Arrays
from .engine import Fit, Online, Trace
from .factor.principal.rank import RankChoice
from .families import Family, Prior
from .schema import Column, Schema
from .source import Block
from .table import Table

__all__ = ["load", "notes", "save"]

FORMAT = 1
MOST_NOTES = 50_000_000

CENTERS = (
    "cluster_centers_", "labels_", "inertia_", "n_iter_", "converged_", "lower_bound_", "lower_bounds_", "fit_",
    "n_features_in_", "feature_names_in_",
)  # fmt: skip
"""Fitted attributes of clusters around centres."""

CLASSES = {
    "GaussianMixture": ("tacit.mixture", (
        "weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_", "converged_", "n_iter_",
        "lower_bound_", "lower_bounds_", "component_prior_", "fit_", "n_features_in_", "feature_names_in_",
    )),
    "Mixture": ("tacit.mixture", (
        "weights_", "schema_", "family_", "params_", "converged_", "n_iter_", "lower_bound_", "lower_bounds_", "fit_",
        "n_features_in_", "feature_names_in_",
    )),
    "GaussianBayes": ("tacit.classification", ("classes_", "mixture_", "n_features_in_", "feature_names_in_")),
    "NaiveBayes": ("tacit.classification", ("classes_", "mixture_", "n_features_in_", "feature_names_in_")),
    "BayesianGaussianMixture": ("tacit.mixture", (
        "weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_", "converged_", "n_iter_",
        "lower_bound_", "lower_bounds_", "weight_concentration_", "mean_precision_", "degrees_of_freedom_",
        "weight_concentration_prior_", "mean_precision_prior_", "mean_prior_", "degrees_of_freedom_prior_",
        "covariance_prior_", "fit_", "n_features_in_", "feature_names_in_",
    )),
    "StudentTMixture": ("tacit.mixture", (
        "weights_", "means_", "scales_", "covariances_", "df_", "converged_", "n_iter_", "lower_bound_", "lower_bounds_",
        "fit_", "n_features_in_", "feature_names_in_",
    )),
    "ProbabilisticPCA": ("tacit.factor", (
        "mean_", "components_", "explained_variance_", "explained_variance_ratio_", "noise_variance_", "loadings_", "scale_",
        "n_components_", "rank_choice_", "converged_", "n_iter_", "lower_bound_", "lower_bounds_", "fit_", "n_features_in_",
        "feature_names_in_",
    )),
    "GaussianImputer": ("tacit.impute", (
        "mixture_", "observed_", "n_iter_", "indicator_", "n_features_in_", "feature_names_in_",
    )),
    "MixtureOfExperts": ("tacit.mixture", (
        "coef_", "intercept_", "noise_variance_", "gate_coef_", "gate_intercept_", "weights_", "converged_", "n_iter_",
        "lower_bound_", "lower_bounds_", "fit_", "n_features_in_", "feature_names_in_",
    )),
    "MixtureOfExpertsClassifier": ("tacit.mixture", (
        "classes_", "coef_", "intercept_", "gate_coef_", "gate_intercept_", "weights_", "converged_", "n_iter_",
        "lower_bound_", "lower_bounds_", "fit_", "n_features_in_", "feature_names_in_",
    )),
    "KMeans": ("tacit.cluster", CENTERS),
    "KMedians": ("tacit.cluster", CENTERS),
    "SoftKMeans": ("tacit.cluster", (*CENTERS, "stiffness_")),
    "MiniBatchKMeans": ("tacit.cluster", (*CENTERS, "n_steps_")),
    "KMedoids": ("tacit.cluster", (
        "medoid_indices_", "cluster_centers_", "labels_", "inertia_", "medoid_silhouette_", "n_clusters_", "silhouettes_",
        "losses_", "n_iter_", "converged_", "metric_params_", "metric_note_", "sample_size_", "schema_", "_n_features_out",
        "n_features_in_", "feature_names_in_",
    )),
    "SpectralClustering": ("tacit.cluster", (
        "labels_", "affinity_matrix_", "n_clusters_", "eigenvalues_", "eigengap_", "eigenvectors_", "embedding_",
        "embedding_centers_", "n_cut_", "ratio_cut_", "degrees_", "stationary_distribution_", "n_connected_components_",
        "connected_components_", "n_isolated_", "gamma_", "epsilon_", "widths_", "X_fit_", "n_features_in_",
        "feature_names_in_",
    )),
    "ColumnScaler": ("tacit.cluster", (
        "center_", "scale_", "whitening_", "constant_", "mixture_", "n_features_in_", "feature_names_in_",
    )),
    "FactorAnalysis": ("tacit.factor", (
        "components_", "noise_variance_", "mean_", "scale_", "uniqueness_", "heywood_", "factor_correlation_", "structure_",
        "rotation_", "test_", "dof_", "loglike_", "n_components_", "n_iter_", "converged_", "fit_", "n_features_in_",
        "feature_names_in_", "rank_choice_",
    )),
    "PCA": ("tacit.factor", (
        "components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_", "scale_",
        "n_components_", "n_samples_", "noise_variance_", "rank_choice_", "n_features_in_", "feature_names_in_",
    )),
    "TruncatedSVD": ("tacit.factor", (
        "components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "n_features_in_",
        "feature_names_in_",
    )),
    "KernelPCA": ("tacit.factor", (
        "eigenvalues_", "eigenvectors_", "explained_variance_ratio_", "approximation_error_", "eigen_solver_", "X_fit_",
        "K_fit_rows_", "origin_", "landmarks_", "landmark_indices_", "landmark_coef_", "mean_coef_", "dual_coef_",
        "X_transformed_fit_", "gamma_", "n_features_in_", "feature_names_in_",
    )),
    "CCA": ("tacit.factor", (
        "canonical_correlations_", "all_canonical_correlations_", "x_weights_", "y_weights_", "x_loadings_", "y_loadings_",
        "x_rotations_", "y_rotations_", "coef_", "intercept_", "ranks_", "route_", "n_samples_", "n_iter_", "_x_mean",
        "_y_mean", "_x_std", "_y_std", "_predict_1d", "_n_features_out", "n_features_in_",
        "feature_names_in_", "target_names_in_",
    )),
    "ProbabilisticCCA": ("tacit.factor", (
        "canonical_correlations_", "x_mean_", "y_mean_", "x_loadings_", "y_loadings_", "x_noise_covariance_",
        "y_noise_covariance_", "x_rotations_", "y_rotations_", "n_components_", "selection_", "converged_", "n_iter_",
        "lower_bound_", "lower_bounds_", "_y_is_flat", "_n_features_out", "n_features_in_", "feature_names_in_",
        "target_names_in_", "fit_",
    )),
    "MissingIndicator": ("sklearn.impute", (
        "features_", "n_features_in_", "feature_names_in_", "_n_features", "_precomputed",
    )),
}  # fmt: skip
"""Classes a file may name, where they live, and the fitted attributes it may set."""


RULES = ("affinity", "kernel")
"""Settings without which a fitted estimator cannot do its work, so that it is not saved where they cannot be."""

PARTS = (Arrays, Family, Prior, Schema, Column, Table, RankChoice)
"""Bases of what an estimator may be made of: records of arrays and things that hold settings only."""


@cache
def _parts():
    """Classes of this library that derive from `PARTS`, by name."""
    for package in ("cluster", "factor", "mixture"):
        import_module(f"tacit.{package}")
    known: dict = {}
    waiting = list(PARTS)
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        if cls.__module__.startswith("tacit."):
            known[cls.__name__] = cls
    return known


def _fields(cls):
    """Names of what a part is made of, which its constructor takes."""
    if dataclasses.is_dataclass(cls):
        return [field.name for field in dataclasses.fields(cls)]
    return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]


def save(estimator, path, notes=None):
    """Write a fitted estimator to one file.

    The file appears whole or not at all: it is written beside `path` and renamed.

    Parameters
    ----------
    estimator : estimator
        A fitted tacit estimator.
    path : str or path-like
        Where to write, by convention ``name.tacit``.
    notes : dict, optional
        Anything JSON can hold that belongs to the model, such as where its rows came from; read by `notes`. Numbers
        must be finite; tuples come back as lists.

    Examples
    --------
    >>> import numpy as np, tacit, tempfile, os
    >>> from tacit.mixture import GaussianMixture
    >>> path = os.path.join(tempfile.mkdtemp(), "model.tacit")
    >>> tacit.save(GaussianMixture().fit(np.arange(6.0).reshape(3, 2)), path)
    >>> tacit.load(path).means_
    array([[2., 3.]])
    """
    if type(estimator).__name__ not in CLASSES:
        known = ", ".join(name for name, (module, _) in CLASSES.items() if module.startswith("tacit"))
        raise TypeError(f"a {type(estimator).__name__} cannot be saved; save takes a fitted {known}.")
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"there is no folder {folder!r} to write {os.path.basename(path)!r} to; create it first."
        )
    _check_notes(notes)
    arrays: dict[str, np.ndarray] = {}
    manifest = {"format": FORMAT, "version": __version__, "estimator": _encode(estimator, arrays), "notes": notes or {}}
    write_archive(path, manifest, arrays)


def _check_notes(notes):
    """Raise where notes would not come back as they were given."""
    if notes is None:
        return
    if not isinstance(notes, dict):
        raise TypeError(f"notes must be a dictionary, not {type(notes).__name__}; name what they say.")
    try:
        text = json.dumps(notes, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(
            f"notes hold what JSON cannot: {error}; use text, finite numbers, lists and dictionaries."
        ) from None
    if len(text) > MOST_NOTES:
        raise ValueError(
            f"notes take {len(text):,} characters; keep them below {MOST_NOTES:,}, and large things elsewhere."
        )


def load(path):
    """Read an estimator written by `save`.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator

    Raises
    ------
    ValueError
        If the file is damaged, truncated, of a newer format, or names anything that is not on the allow-list.
    """
    with _sound(path):
        manifest, arrays = _read(path)
        return _decode(manifest["estimator"], arrays)


def notes(path):
    """The notes that `save` wrote beside an estimator: a dictionary, empty where there are none."""
    with _sound(path):
        found = _read(path)[0].get("notes", {})
        if not isinstance(found, dict):
            raise ValueError(f"its notes are a {type(found).__name__}, not a dictionary")
        return found


def _read(path):
    manifest, arrays = read_archive(path)
    if manifest["format"] > FORMAT:
        raise ValueError(f"its format is {manifest['format']}, newer than {FORMAT}; upgrade tacit")
    return manifest, arrays


@contextlib.contextmanager
def _sound(path):
    """Say which file is at fault."""
    try:
        yield
    except UNSOUND as error:
        raise ValueError(f"{os.fspath(path)!r} is not a sound tacit model file: {error}.") from None


def _encode(value, arrays):
    """A value as JSON; arrays are set aside under a number."""
    name = type(value).__name__
    if name in CLASSES and type(value).__module__.startswith(CLASSES[name][0].split(".")[0] + "."):
        return _encode_estimator(value, name, arrays)
    if isinstance(value, Fit):
        trace = value.trace
        return {"fit": {
            "trace": [float(v) for v in trace.objectives], "weight": trace.weight, "criterion": trace.criterion,
            "passes": trace.passes,
            "previous": _encode(trace.previous, arrays), "reason": value.reason, "converged": value.converged,
            "interrupted": value.interrupted, "failures": list(value.failures),
        }}  # fmt: skip
    if isinstance(value, PARTS):
        return _encode_part(value, name, arrays)
    if isinstance(value, dict):
        return {"dict": [[_encode(key, arrays), _encode(v, arrays)] for key, v in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": [_encode(v, arrays) for v in value]}
    if isinstance(value, np.ndarray) and value.dtype.kind in "OU":
        return {"strings": [str(v) for v in value.ravel()]}
    if isinstance(value, np.ndarray):
        key = str(len(arrays))
        arrays[key] = value
        return {"array": key}
    if sparse.issparse(value):
        value = value.tocsr()
        parts = (value.data, value.indices, value.indptr)
        return {"csr": [*(_encode(part, arrays) for part in parts), *value.shape]}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if isinstance(value, (list, range)):
        return {"list": [_encode(v, arrays) for v in value]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{value!r} cannot be saved")


def _encode_part(value, name, arrays):
    if _parts().get(name) is not type(value):
        raise TypeError(f"{name} is no class of this library, so it cannot be saved")
    return {"part": name, "fields": {field: _encode(getattr(value, field), arrays) for field in _fields(type(value))}}


def _decode_part(content, arrays):
    name, fields = content["part"], content["fields"]
    if name not in _parts():
        raise ValueError(f"it names {name!r}, which is no part of an estimator")
    if unknown := set(fields) - set(_fields(_parts()[name])):
        raise ValueError(f"it sets {min(unknown)!r}, which is no part of {name}")
    return _parts()[name](**{field: _decode(value, arrays) for field, value in fields.items()})


def _encode_estimator(estimator, name, arrays):
    if hasattr(estimator, "_check_savable"):
        estimator._check_savable()
    settings = {}
    for key, value in estimator.get_params(deep=False).items():
        try:
            settings[key] = _encode(value, arrays)
        except TypeError:
            if key in RULES:
                raise TypeError(
                    f"{key}={value!r} is a function, which a model file cannot hold; use a named {key}, or pickle the model."
                ) from None
            warnings.warn(f"{key}={value!r} cannot be saved; the loaded model will have {key}=None.", stacklevel=4)
            settings[key] = None
    fitted = {key: _encode(getattr(estimator, key), arrays) for key in CLASSES[name][1] if hasattr(estimator, key)}
    if not fitted:
        raise ValueError(f"this {name} is not fitted; call fit before saving it.")
    content = {"class": name, "settings": settings, "fitted": fitted}
    online = getattr(estimator, "_online", None)
    if online is not None:
        records = {"params": online.params, "stats": online.stats}
        content["online"] = {"steps": online.steps, "weight": float(online.weight)} | {
            name: {key: _encode(value, arrays) for key, value in record.to_dict().items()}
            for name, record in records.items()
        }
    return content


def _decode(value, arrays):
    """The value that `_encode` wrote."""
    if not isinstance(value, dict):
        if isinstance(value, list):
            raise ValueError("a bare list stands where a value was expected")
        return value
    if "class" in value:
        return _decode_estimator(value, arrays)
    if "part" in value:
        return _decode_part(value, arrays)
    (kind, content), *rest = value.items()
    if rest or kind not in ("array", "strings", "float", "list", "tuple", "dict", "fit", "csr"):
        raise ValueError(f"it holds an entry of unknown kind {kind!r}")
    if kind == "array":
        return arrays(int(content))
    if kind == "strings":
        return np.array([str(v) for v in content], dtype=object)
    if kind == "float":
        return float(content)
    if kind == "list":
        return [_decode(v, arrays) for v in content]
    if kind == "tuple":
        return tuple(_decode(v, arrays) for v in content)
    if kind == "csr":
        return _decode_sparse(content, arrays)
    if kind == "dict":
        return {_decode(key, arrays): _decode(v, arrays) for key, v in content}
    trace = Trace(content["criterion"], _decode(content["previous"], arrays))
    trace.passes = int(content["passes"])
    trace.objectives, trace.weight = [float(v) for v in content["trace"]], float(content["weight"])
    failures = tuple(str(v) for v in content["failures"])
    return Fit(
        Arrays(), trace, str(content["reason"]), bool(content["converged"]), bool(content["interrupted"]), failures
    )


def _decode_sparse(content, arrays):
    data, indices, pointer = (_decode(part, arrays) for part in content[:3])
    n_rows, n_columns = (int(size) for size in content[3:])
    matrix = sparse.csr_matrix((data, indices, pointer), shape=(n_rows, n_columns))
    matrix.check_format(full_check=True)
    return matrix


def _decode_estimator(content, arrays):
    name = content["class"]
    if name not in CLASSES:
        raise ValueError(f"it names the class {name!r}, which is not one of {', '.join(CLASSES)}")
    module, allowed = CLASSES[name]
    cls = getattr(import_module(module), name)
    known = cls._get_param_names()
    settings = {key: _decode(value, arrays) for key, value in content["settings"].items()}
    if unknown := set(settings) - set(known):
        raise ValueError(f"it sets {min(unknown)!r}, which is no setting of {name}")
    estimator = cls(**settings)
    for key, value in content["fitted"].items():
        if key not in allowed:
            raise ValueError(f"it sets {key!r}, which is no attribute of {name}")
        setattr(estimator, key, _decode(value, arrays))
    if isinstance(getattr(estimator, "fit_", None), Fit):
        fit = estimator.fit_
        params, estimator._online = estimator._params(), None
        estimator.fit_ = Fit(params, fit.trace, fit.reason, fit.converged, fit.interrupted, fit.failures)
        if "online" in content:
            # Statistics of any row have the shapes to read saved ones into.
            stats = estimator._model().e_step(params, Block.of(np.zeros((1, estimator.n_features_in_))))
            online = content["online"]
            params = _decode_record(online["params"], arrays, params)
            stats = _decode_record(online["stats"], arrays, stats)
            estimator._online = Online(params, stats, int(online["steps"]), weight=float(online["weight"]))
    return estimator


def _decode_record(content, arrays, like):
    """A record of arrays with the shapes of `like`."""
    flat = {key: _decode(value, arrays) for key, value in content.items()}
    for key, value in like.to_dict().items():
        # Cells of sparse rows share their weights, which are then stored once.
        shared = key == "cells" and np.shape(flat[key]) == (*value.shape[:-1], 1)
        if np.shape(flat[key]) != value.shape and not shared:
            raise ValueError(f"{key!r} has shape {np.shape(flat[key])}, not {value.shape}")
    return like.from_dict(flat)
