"""Save and load fitted estimators: arrays in a zip file, everything else in a JSON manifest.

Loading builds an object of a public estimator and sets the attributes that its class declares (`tacit.declared`), each checked
against its declaration, from plain numbers, strings and arrays. Nothing in the file is ever executed, unpickled or imported.
"""

import contextlib
import dataclasses
import inspect
import json
import math
import os
import warnings
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from . import _SUBMODULES, __version__
from .archive import UNSOUND, read_archive, write_archive
from .arrays import Arrays
from .base import RowsEstimator
from .declared import OBJECTIVE, SAVABLE, SQUARES, Flag, Listed, Names, Numbers, Spec, Text, Whole, check_declared
from .engine import Fit, Online, Trace
from .engine.trace import CRITERIA
from .families import Family, Prior
from .notes import Note
from .source import Block

__all__ = ["load", "notes", "save"]

FORMAT = 1
MOST_NOTES = 50_000_000

KERNELS = (
    "RBF", "CompoundKernel", "ConstantKernel", "DotProduct", "ExpSineSquared", "Exponentiation", "Matern", "PairwiseKernel",
    "Product", "RationalQuadratic", "Sum", "WhiteKernel",
)  # fmt: skip
"""Covariances of scikit-learn's that a file may hold."""

FOREIGN: dict[str, tuple[str, dict[str, Spec]]] = {
    "MissingIndicator": (
        "sklearn.impute",
        {
            "features_": Numbers("m", low=0, kind="i"),
            "n_features_in_": Whole(1, size="d"),
            "feature_names_in_": Names("d", needed=False),
            "_n_features": Whole(1, size="d"),
            "_precomputed": Flag(),
        },
    )
} | {name: ("sklearn.gaussian_process.kernels", {}) for name in KERNELS}
"""Classes of other libraries that estimators are made of, where they live, and the fitted attributes a file may set."""


@cache
def _parts() -> dict[str, type]:
    """Classes of this library that an estimator may be made of, by name: those that declare what they are made of."""
    for package in _packages():
        module = import_module(package)
        for name in module.__all__:  # some are loaded when they are asked for
            with contextlib.suppress(ImportError):
                getattr(module, name)
    known: dict[str, type] = dict(SAVABLE)
    waiting: list[Any] = [Arrays, Family, Prior]
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        if cls.__module__.startswith("tacit.") and cls._saved:
            known.setdefault(cls.__name__, cls)  # families and priors first
    return known


def _packages() -> list[str]:
    """The public packages, any of which may define estimators."""
    return [f"tacit.{name}" for name in _SUBMODULES if name not in ("plot", "report", "testing", "datasets", "tables")]


def _home(cls: type) -> str:
    """The public package that a class belongs to."""
    return ".".join(cls.__module__.split(".")[:2])


def _estimator_class(name: str, home: Any) -> type[RowsEstimator]:
    """The estimator of that name; where the file does not say in which package, all are looked through."""
    for package in [home] if home is not None else _packages():
        if package not in _packages():
            raise ValueError(f"it names the package {package!r}, which has no estimators")
        module = import_module(package)
        found = getattr(module, name, None) if name in module.__all__ else None
        if isinstance(found, type) and issubclass(found, RowsEstimator):
            return found
    raise ValueError(f"it names the class {name!r}, which is no estimator of tacit")


def _fields(cls: type) -> list[str]:
    """Names of what a part is made of, which its constructor takes."""
    if dataclasses.is_dataclass(cls):
        return [field.name for field in dataclasses.fields(cls)]
    return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]  # type: ignore[misc]


def save(estimator: Any, path: Any, notes: dict | None = None) -> None:
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
    if not _is_own(estimator):
        own = [name for name, step in getattr(estimator, "steps", ()) if _is_own(step)]
        parts = f"save its steps one by one, as tacit.save(pipeline[{own[-1]!r}], path), or " if own else ""
        raise TypeError(
            f"a {type(estimator).__name__} cannot be saved; save takes a fitted estimator of tacit: {parts}write the whole with "
            "joblib.dump."
        )
    if not os.fspath(path) or os.path.isdir(path) or not os.path.basename(path):
        raise IsADirectoryError(f"{os.fspath(path)!r} is not the name of a file; give one, such as 'model.tacit'.")
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"there is no folder {folder!r} to write {os.path.basename(path)!r} to; create it first."
        )
    _check_notes(notes)
    arrays: dict[str, np.ndarray] = {}
    manifest = {"format": FORMAT, "version": __version__, "estimator": _encode(estimator, arrays), "notes": notes or {}}
    write_archive(path, manifest, arrays)


def _check_notes(notes: Any) -> None:
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


def load(path: Any) -> Any:
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
    # What overflows here is none that was ever fitted.
    with _sound(path), np.errstate(over="raise", divide="raise", invalid="raise"):
        manifest, arrays = _read(path)
        found = _decode(manifest["estimator"], arrays)
        if not _is_own(found):
            raise ValueError(f"it holds a {type(found).__name__}, which is no estimator of tacit")
        return found


def notes(path: Any) -> dict:
    """The notes that `save` wrote beside an estimator: a dictionary, empty where there are none."""
    with _sound(path):
        found = _read(path)[0].get("notes", {})
        if not isinstance(found, dict):
            raise ValueError(f"its notes are a {type(found).__name__}, not a dictionary")
        return found


def _read(path: Any) -> Any:
    manifest, arrays = read_archive(path)
    for name, kind in (("format", int), ("estimator", dict)):
        if not isinstance(manifest.get(name), kind):
            raise ValueError(f"its manifest has no {name!r} that save wrote")
    if manifest["format"] > FORMAT:
        raise ValueError(f"its format is {manifest['format']}, newer than {FORMAT}; upgrade tacit")
    return manifest, arrays


@contextlib.contextmanager
def _sound(path: Any) -> Iterator[None]:
    """Say which file is at fault."""
    try:
        yield
    except UNSOUND as error:
        raise ValueError(f"{os.fspath(path)!r} is not a sound tacit model file: {error}.") from None


def _is_own(estimator: Any) -> bool:
    """Whether an object is a public estimator of this library."""
    cls = type(estimator)
    return (
        isinstance(estimator, RowsEstimator)
        and _home(cls) in _packages()
        and cls.__name__ in import_module(_home(cls)).__all__
    )


def _encode(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """A value as JSON; arrays are set aside under a number."""
    name = type(value).__name__
    if _is_own(value):
        return _encode_estimator(value, name, arrays)
    if name in FOREIGN and type(value).__module__.startswith(FOREIGN[name][0].split(".")[0] + "."):
        fitted = {key: _encode(getattr(value, key), arrays) for key in FOREIGN[name][1] if hasattr(value, key)}
        settings = {key: _encode(setting, arrays) for key, setting in value.get_params(deep=False).items()}
        return {"class": name, "settings": settings, "fitted": fitted}
    if isinstance(value, Fit):
        trace = value.trace
        return {"fit": {
            "trace": [float(v) for v in trace.objectives], "weight": trace.weight, "criterion": trace.criterion,
            "passes": trace.passes, "led": trace.led, "leapt": trace.leapt,
            "previous": _encode(trace.previous, arrays), "reason": _encode(value.reason, arrays),
            "converged": value.converged, "interrupted": value.interrupted,
            "failures": [_encode(note, arrays) for note in value.failures],
            "n_runs": value.n_runs, "n_reached": value.n_reached,
        }}  # fmt: skip
    if isinstance(value, Note):
        return {"note": [value.code, str(value), _encode(value.values, arrays)]}
    if isinstance(value, (Arrays, Family, Prior, *SAVABLE.values())):
        return _encode_part(value, name, arrays)
    if isinstance(value, dict):
        return {"dict": [[_encode(key, arrays), _encode(v, arrays)] for key, v in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": [_encode(v, arrays) for v in value]}
    if isinstance(value, np.ndarray) and value.dtype == object and not all(isinstance(v, str) for v in value.flat):
        return {"labels": [_encode(v, arrays) for v in value.ravel().tolist()]}
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


def _encode_part(value: Any, name: str, arrays: dict[str, np.ndarray]) -> dict:
    if _parts().get(name) is not type(value):
        raise TypeError(f"{name} is no class of this library, so it cannot be saved")
    return {"part": name, "fields": {field: _encode(getattr(value, field), arrays) for field in _fields(type(value))}}


def _decode_part(content: dict, arrays: Any) -> Any:
    name, fields = content["part"], content["fields"]
    if name not in _parts():
        raise ValueError(f"it names {name!r}, which is no part of an estimator")
    cls: Any = _parts()[name]
    values = {field: _decode(value, arrays) for field, value in fields.items()}
    check_declared({field: cls._saved[field] for field in _fields(cls)}, values, {}, cls, name)
    if issubclass(cls, Arrays):
        values = {
            field: value.astype(np.float64) if isinstance(value, np.ndarray) and _is_real(cls._saved[field]) else value
            for field, value in values.items()
        }
    return cls(**values)


def _is_real(spec: Spec) -> bool:
    """Whether numbers are declared as floats, not as whole numbers or truth values."""
    return not isinstance(spec, Numbers) or spec.kind == "f"


def _encode_estimator(estimator: RowsEstimator, name: str, arrays: dict[str, np.ndarray]) -> dict:
    settings = {}
    for key, value in estimator.get_params(deep=False).items():
        try:
            settings[key] = _encode_setting(value, arrays)
        except TypeError:
            if key in estimator._needs:
                raise TypeError(
                    f"{key}={value!r} is a function, which a model file cannot hold; use a named {key}, or pickle the model."
                ) from None
            warnings.warn(f"{key}={value!r} cannot be saved; the loaded model will have {key}=None.", stacklevel=4)
            settings[key] = None
    fitted = {key: _encode(getattr(estimator, key), arrays) for key in estimator._saved if hasattr(estimator, key)}
    if not fitted:
        raise ValueError(f"this {name} is not fitted; call fit before saving it.")
    content = {"class": name, "home": _home(type(estimator)), "settings": settings, "fitted": fitted}
    online = getattr(estimator, "_online", None)
    if online is not None:
        records = {"params": online.params, "stats": online.stats}
        content["online"] = {"steps": online.steps, "weight": float(online.weight)} | {
            name: {key: _encode(value, arrays) for key, value in record.to_dict().items()}
            for name, record in records.items()
        }
    return content


def _encode_setting(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """A setting, which may be an estimator that nobody fitted: one that copies are fitted of."""
    if not _is_own(value) or any(hasattr(value, key) for key in value._saved):
        return _encode(value, arrays)
    settings = {key: _encode_setting(setting, arrays) for key, setting in value.get_params(deep=False).items()}
    return {"template": [type(value).__name__, _home(type(value)), settings]}


def _decode(value: Any, arrays: Any) -> Any:
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
    if rest or kind not in (
        "array",
        "strings",
        "float",
        "labels",
        "list",
        "tuple",
        "dict",
        "fit",
        "csr",
        "note",
        "template",
    ):
        raise ValueError(f"it holds an entry of unknown kind {kind!r}")
    if kind == "array":
        return arrays(int(content))
    if kind == "strings":
        return np.array([str(v) for v in content], dtype=object)
    if kind == "labels":
        labels = np.empty(len(content), dtype=object)
        labels[:] = [_decode(v, arrays) for v in content]
        return labels
    if kind == "float":
        return float(content)
    if kind == "list":
        return [_decode(v, arrays) for v in content]
    if kind == "tuple":
        return tuple(_decode(v, arrays) for v in content)
    if kind == "csr":
        return _decode_sparse(content, arrays)
    if kind == "note":
        code, sentence, values = content
        return Note.told(str(code), str(sentence), dict(_decode(values, arrays)))
    if kind == "template":
        name, home, settings = content
        return _unfitted(_estimator_class(str(name), home), {key: _decode(v, arrays) for key, v in settings.items()})
    if kind == "dict":
        return {_decode(key, arrays): _decode(v, arrays) for key, v in content}
    return _decode_fit(content, arrays)


TRACE = {
    "trace": Listed(OBJECTIVE), "weight": Numbers(above=0), "criterion": Text(CRITERIA), "passes": Whole(0), "led": Whole(0),
    "leapt": Whole(0, needed=False), "previous": dataclasses.replace(OBJECTIVE, optional=True), "converged": Flag(),
    "interrupted": Flag(), "n_runs": Whole(0, needed=False), "n_reached": Whole(0, needed=False),
}  # fmt: skip
"""What a file tells of how a fit went, beside its notes."""


def _decode_fit(content: dict, arrays: Any) -> Fit:
    found = {key: value for key, value in content.items() if key not in ("reason", "failures")}
    found["previous"] = _decode(found["previous"], arrays)
    check_declared(TRACE, found, {}, Fit, "fit")
    trace = Trace(found["criterion"], found["previous"], found["led"])
    trace.passes, trace.leapt = found["passes"], found.get("leapt", 0)
    trace.objectives, trace.weight = [float(v) for v in found["trace"]], float(found["weight"])
    reason, *failures = (_told(note, arrays) for note in (content["reason"], *content["failures"]))
    counts = {name: found.get(name, 1) for name in ("n_runs", "n_reached")}
    return Fit(Arrays(), trace, reason, found["converged"], found["interrupted"], tuple(failures), **counts)


def _told(content: Any, arrays: Any) -> Note:
    """A note, or the text that files of older versions hold instead."""
    found = _decode(content, arrays)
    return found if isinstance(found, Note) else Note.told("", str(found), {})


def _decode_sparse(content: dict, arrays: Any) -> Any:
    data, indices, pointer = (_decode(part, arrays) for part in content[:3])
    n_rows, n_columns = (int(size) for size in content[3:])
    # Where there are none in all, cells are not looked at by the check of the format.
    if pointer.ndim != 1 or pointer[0] != 0 or pointer[-1] != len(indices) or (np.diff(pointer) < 0).any():
        raise ValueError("a sparse matrix does not say where its rows begin")
    matrix = sparse.csr_matrix((data, indices, pointer), shape=(n_rows, n_columns))
    matrix.check_format(full_check=True)
    return matrix


def _decode_estimator(content: dict, arrays: Any) -> Any:
    name = content["class"]
    settings = {key: _decode(value, arrays) for key, value in content["settings"].items()}
    fitted = {key: _decode(value, arrays) for key, value in content["fitted"].items()}
    module, saved = FOREIGN.get(name, ("", {}))
    cls: Any = getattr(import_module(module), name) if module else _estimator_class(str(name), content.get("home"))
    estimator = _unfitted(cls, settings)
    if name in KERNELS:
        from .gaussian_process.kernels import check_sound

        check_sound(estimator)
        return estimator
    if module:
        estimator._validate_params()
        check_declared(saved, fitted, {}, estimator)
        estimator.__dict__.update(fitted)
        return estimator
    _check_fitted(estimator, fitted)
    estimator._check_loaded()
    if isinstance(getattr(estimator, "fit_", None), Fit):
        fit = estimator.fit_
        model, params, estimator._online = estimator._model(), estimator._params(), None
        model.check_params(params, estimator._n_columns)
        estimator.fit_ = dataclasses.replace(fit, params=params)
        if "online" in content:
            estimator._online = _decode_online(content["online"], arrays, model, params, estimator._n_columns)
    return estimator


def _unfitted(cls: Any, settings: dict[str, Any]) -> Any:
    """An estimator or kernel of settings, which must be its own."""
    known = list(inspect.signature(cls).parameters) if cls.__name__ in KERNELS else cls._get_param_names()
    if unknown := set(settings) - set(known):
        raise ValueError(f"it sets {min(unknown)!r}, which is no setting of {cls.__name__}")
    return cls(**settings)


def _check_fitted(estimator: RowsEstimator, fitted: dict[str, Any]) -> None:
    """Hold settings to what `fit` asks of them, and fitted attributes to what the class declares."""
    estimator._check_settings()
    estimator._saved["n_features_in_"].check("n_features_in_", fitted["n_features_in_"], {}, estimator)
    estimator.__dict__.update({key: value for key, value in fitted.items() if key in estimator._saved})
    sizes = {name: size for name, size in estimator._sizes().items() if isinstance(size, (int, np.integer))}
    check_declared(estimator._saved, fitted, sizes, estimator)


def _decode_online(content: dict, arrays: Any, model: Any, params: Any, n_columns: int) -> Online:
    """Where `partial_fit` goes on: parameters, and statistics whose M-step gives parameters."""
    # Statistics of any row have the shapes to read saved ones into.
    stats = model.e_step(params, Block.of(np.full((1, n_columns), np.nan)))
    params, stats = (_decode_record(content[key], arrays, like) for key, like in (("params", params), ("stats", stats)))
    model.check_params(params, n_columns)
    model.check_params(model.m_step(stats, params), n_columns)
    for name, spec in ONLINE.items():
        spec.check(name, content[name], {}, model)
    return Online(params, stats, content["steps"], weight=float(content["weight"]))


ONLINE = {"steps": Whole(0), "weight": Numbers(above=0)}


def _decode_record(content: Any, arrays: Any, like: Any) -> Any:
    """A record of arrays with the shapes of `like`."""
    flat, sums = {key: _decode(value, arrays) for key, value in content.items()}, like.ranges()
    for key, value in like.to_dict().items():
        # Cells of sparse rows share their weights, which are then stored once.
        shared = key == "cells" and np.shape(flat[key]) == (*value.shape[:-1], 1)
        shape = " ".join(map(str, flat[key].shape if shared else value.shape))
        for spec in (Numbers(shape, high=SQUARES), *([sums[key]] if key in sums else [])):
            spec.check(key, flat[key], {}, like)
        flat[key] = flat[key].astype(value.dtype)
    return like.from_dict(flat)
