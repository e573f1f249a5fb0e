"""Checks of settings, weights and places to write, each with an error that names the value and the remedy."""

import numbers
import os
import warnings
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from .frames import check_names, check_types
from .kernels import backend, host
from .notes import Note

__all__ = [
    "as_numpy", "as_rows", "check_choice", "check_columns", "check_memory", "check_n_jobs", "check_number", "check_out",
    "check_positive", "check_range", "check_rows", "check_shaped", "check_table", "check_weight", "machine_memory",
    "warn_of_light_rows",
]  # fmt: skip

HEAVIEST = 1e50
"""The largest weight of a row; the smallest is its inverse."""
LARGEST = 1e151
"""The largest cell that models take which add up squares."""
MANY = 1 << 18
"""Cells beyond which they are checked on threads."""


def check_number(
    name: str, value: Any, kind: Any, least: float, most: float = float("inf"), also: tuple[str | None, ...] = ()
) -> None:
    """Raise where a setting is not a number of that kind, or out of range; `also` are other values that it may have."""
    if (value is None or isinstance(value, str)) and value in also:
        return
    if not isinstance(value, kind) or isinstance(value, bool) or not least <= value <= most:
        noun = "a whole number" if kind is numbers.Integral else "a number"
        limit = f" and at most {most:g}" if most < float("inf") else ""
        raise ValueError(f"{name}={value!r} is not {noun} of at least {least}{limit}.")


def check_n_jobs(value: int | None) -> None:
    """Raise where a number of threads is neither None, −1 nor a whole number of at least 1."""
    if value is not None and not (isinstance(value, numbers.Integral) and value == -1):
        check_number("n_jobs", value, numbers.Integral, 1)


def check_positive(name: str, value: Any) -> None:
    """Raise where a setting is not a finite number above 0."""
    if not isinstance(value, (int, float, np.number)) or isinstance(value, bool) or not 0 < value < float("inf"):
        raise ValueError(f"{name}={value!r} is not a number above 0.")


def machine_memory() -> float:
    """Bytes of memory of this machine; infinite where that is not told."""
    if not hasattr(os, "sysconf"):
        return float("inf")
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def check_memory(name: str, value: int, each: float) -> None:
    """Raise where `value` things of so many bytes `each` cannot fit into this machine's memory."""
    memory = machine_memory()
    if value * each > memory:
        raise ValueError(
            f"{name}={value} takes {value * each / 1e9:.3g} GB, but this machine has {memory / 1e9:.3g} GB of memory; use at "
            f"most {int(memory / each)}."
        )


def check_shaped(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """An array that the user gave, as float64 of the right shape."""
    from sklearn.utils.validation import check_array  # where used: reading a table must be quick

    value = check_array(value, dtype=np.float64, ensure_2d=False, allow_nd=True)
    if value.shape != shape:
        raise ValueError(f"The parameter '{name}' should have the shape of {shape}, but got {value.shape}")
    return value


def check_choice(name: str, value: Any, choices: Collection) -> None:
    """Raise where a setting is not one of the choices."""
    if not isinstance(value, (str, type(None))) or value not in choices:
        raise ValueError(f"{name}={value!r} is unknown; use one of {', '.join(map(repr, choices))}.")


def check_columns(name: str, value: Any, n_features: int, names: Iterable | None = None) -> np.ndarray:
    """Numbers of columns that are given by number or, where they have names, by name."""
    known = [] if names is None else list(names)
    numbered = []
    for column in [value] if isinstance(value, (str, numbers.Integral)) else value:
        if column in known:
            numbered.append(known.index(column))
        elif isinstance(column, (int, np.integer)) and not isinstance(column, bool) and 0 <= column < n_features:
            numbered.append(int(column))
        else:
            there = f"named {', '.join(map(str, known))}" if known else "without names"
            raise ValueError(f"{name} holds {column!r}, which is no column; there are 0 to {n_features - 1}, {there}.")
    if not numbered:
        raise ValueError(f"{name} names no column; give at least one.")
    if len(set(numbered)) < len(numbered):
        raise ValueError(f"{name}={value!r} names a column twice; give each once.")
    return np.array(numbered)


def as_numpy(value: Any) -> Any:
    """An array of any library that follows the array API standard as one of NumPy; anything else as it is."""
    if backend(value) == "torch":
        return host(value)
    if isinstance(value, np.ndarray) or not hasattr(value, "__array_namespace__"):
        return value
    try:
        return np.from_dlpack(value)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):  # NumPy may know another way
        pass
    try:
        return np.asarray(value)
    except (RuntimeError, TypeError, ValueError) as error:
        kind = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
        raise TypeError(
            f"an array of {kind} cannot be read ({error}); copy it to the memory of the CPU first."
        ) from None


def as_rows(estimator: Any, X: Any) -> Any:
    """X as scikit-learn's checks can read it: masked cells are missing ones; what is no rows yet is refused with a remedy."""
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(X.dtype if X.dtype.kind == "f" else np.float64), np.nan)
    if isinstance(X, (str, os.PathLike)):
        raise ValueError(
            f"X={os.fspath(X)!r} is a path, but {type(estimator).__name__} takes rows in memory here; read the file first, for "
            "example with pandas."
        )
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a polars LazyFrame, which holds no rows yet; call .collect() first.")
    if type(X).__name__ == "DataFrame":
        check_names(X.columns)
    return as_numpy(X)


def check_rows(estimator: Any, X: Any, *, reset: bool, **settings: Any) -> Any:
    """X as floats with NaN where cells are missing, by scikit-learn's checks; what rows are taken the estimator declares.

    Parameters
    ----------
    estimator : RowsEstimator
        Whose columns are learned, if `reset`, or checked.
    X : array-like or sparse matrix
        Rows.
    **settings
        Passed to scikit-learn's `validate_data`.
    """
    from sklearn.utils import get_tags
    from sklearn.utils.validation import validate_data

    sparse = "csr" if get_tags(estimator).input_tags.sparse else False
    missing = "allow-nan" if estimator._takes_missing else True
    settings = {"accept_sparse": sparse, "ensure_all_finite": missing, "dtype": list(estimator._dtypes)} | settings
    settings.setdefault("ensure_min_samples", estimator._min_rows if reset else 1)
    check_types(X)
    X = as_rows(estimator, X)
    sound = settings["ensure_all_finite"] in (True, "allow-nan") and _is_sound(estimator, X, settings)
    if sound:
        settings["ensure_all_finite"] = False  # once is enough
    try:
        X = validate_data(estimator, X, reset=reset, **settings)
    except ValueError as error:
        if estimator._missing_remedy and "contains NaN" in str(error):
            where = _first_missing(estimator, X)
            raise ValueError(f"Input X contains NaN{where}, {estimator._missing_remedy}.") from None
        if "setting an array element with a sequence" in str(error):
            raise ValueError(
                f"X holds lists or arrays as cells; {type(estimator).__name__} takes a number in each."
            ) from None
        if "contains infinity" in str(error):
            raise ValueError(f"{str(error).removesuffix('.')}{_first_infinite(estimator, X)}.") from None
        if "could not convert string to float" not in str(error):
            raise
        raise ValueError(f"{error}{_first_text(estimator, X)}: {estimator._text_remedy}.") from None
    if not sound:
        check_range(X, estimator._largest, estimator._told)
    return X


def _is_sound(estimator: Any, X: Any, settings: dict) -> bool:
    """Whether an array of many floats holds nothing that is refused: one pass on all threads instead of three on one."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.size < MANY or X.dtype not in settings["dtype"]:
        return False
    from .source.threads import all_of, slices, thread_count

    rows, most = (X.T if X.flags.f_contiguous else X), estimator._largest
    may_miss = settings["ensure_all_finite"] == "allow-nan"

    def within(part: slice) -> bool:
        high, low = rows[part].max(), rows[part].min()
        if high != high and may_miss:
            high, low = np.fmax.reduce(rows[part], axis=None), np.fmin.reduce(rows[part], axis=None)
            high, low = (0.0, 0.0) if high != high else (high, low)  # all are missing
        extreme = max(float(high), -float(low))  # in single precision the limit would overflow
        return bool(np.isfinite(high) and np.isfinite(low)) and extreme <= most

    threads = getattr(estimator, "n_jobs", None)
    threads = thread_count(threads) if threads in (None, -1) or (isinstance(threads, int) and threads > 0) else 1
    return all(all_of(within, slices(*rows.shape), threads))


def check_table(estimator: Any, X: Any, *, reset: bool) -> Any:
    """A table with columns of any kind, or nested lists, as a schema encodes it; its columns are learned, or checked."""
    from sklearn.utils.validation import _check_feature_names, _check_n_features

    X = np.array(X, dtype=object) if isinstance(X, (list, tuple)) else X
    if hasattr(X, "columns") and not hasattr(X, "column_names"):
        check_names(X.columns)
        _check_feature_names(estimator, X, reset=reset)
    if hasattr(X, "shape"):
        _check_n_features(estimator, X, reset=reset)
    return X


def check_range(X: Any, largest: float = LARGEST, told: Callable[[int], str] = str) -> None:
    """Raise where a cell is so large that sums of squares would overflow; two passes that cost less than any other."""
    sparse = hasattr(X, "tocsr")
    cells = X.data if sparse else X
    if not cells.size or largest >= float(np.finfo(cells.dtype).max):
        return
    if not max(np.fmax.reduce(cells, axis=None), -np.fmin.reduce(cells, axis=None)) > largest:
        return
    first = int(np.argmax(np.abs(cells) > largest))
    column = X.tocoo().col[first] if sparse else first % X.shape[1]
    raise ValueError(
        f"column {told(int(column))} holds {cells.flat[first]:g}, and sums of squares of cells beyond {largest:g} overflow; "
        "divide the column by its scale."
    )


def _first_missing(estimator: Any, X: Any) -> str:
    """Where the first missing cell is, as messages tell it; nothing of sparse rows."""
    if hasattr(X, "tocsr"):
        return ""
    from sklearn.utils import check_array

    cells = check_array(X, dtype=np.float64, ensure_all_finite=False)  # which reads missing cells of every frame
    row, column = np.argwhere(np.isnan(cells))[0]
    return f" (row {row}, column {estimator._told(column)})"


def _first_infinite(estimator: Any, X: Any) -> str:
    """Where the first infinite cell is, and what to do about it; nothing of sparse rows."""
    if hasattr(X, "tocsr"):
        return ""
    from sklearn.utils import check_array

    cells = check_array(X, dtype=estimator._dtypes[0], ensure_all_finite=False, ensure_2d=False)
    if cells.ndim != 2 or not np.isinf(cells).any():
        return ""
    row, column = np.argwhere(np.isinf(cells))[0]
    remedy = "replace it" + (", or set the cell to NaN if it is missing" if estimator._takes_missing else "")
    return f" (row {row}, column {_told(estimator, X, column)}); {remedy}"


def _first_text(estimator: Any, X: Any) -> str:
    """The first column that holds text which is no number; nothing where that is not found out."""
    cells = np.asarray(X, dtype=object)
    for column in range(cells.shape[1] if cells.ndim == 2 else 0):
        try:
            cells[:, column].astype(np.float64)
        except (TypeError, ValueError):
            return f" in column {_told(estimator, X, column)}"
    return ""


def _told(estimator: Any, X: Any, column: int) -> str:
    """A column as messages name it, also of rows whose names were not learned."""
    names = getattr(X, "columns", None)
    return str(column) if names is None else f"{column} ({list(names)[column]!r})"


def warn_of_light_rows(sample_weight: Any, stacklevel: int = 3) -> None:
    """Warn where weights of rows add up to next to nothing, as those do that add up to 1: intervals take them for counts."""
    if sample_weight is None or isinstance(sample_weight, str):
        return
    weight = np.atleast_1d(np.asarray(as_numpy(sample_weight), dtype=np.float64))
    if weight.ndim > 1 or weight.max() >= 0.5:
        return
    n_rows, total = int((weight > 0).sum()), float(weight.sum())
    if n_rows < 3 or total > max(1.5, 0.1 * n_rows):
        return
    warnings.warn(
        Note(
            "light_rows",
            "sample_weight adds up to {total:.3g} over {n_rows} rows: weights are numbers of rows, so that intervals, priors and "
            "evidence are those of {total:.3g} rows; divide the weights by their mean if only their ratios mean anything",
            total=total, n_rows=n_rows,
        ) + ".",
        UserWarning, stacklevel=stacklevel + 1,
    )  # fmt: skip


def check_weight(sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """Row weights as float64, or None; they must be finite, not negative, and not all zero."""
    if sample_weight is None:
        return None
    weight = np.asarray(as_numpy(sample_weight), dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weight.shape}, but X has {n_rows} rows; give one weight per row.")
    bad = weight[~np.isfinite(weight) | (weight < 0)]
    if bad.size:
        raise ValueError(f"sample_weight holds {bad[0]:g}; weights must be finite and not negative.")
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one row must count.")
    bad = weight[(weight > HEAVIEST) | ((weight > 0) & (weight < 1.0 / HEAVIEST))]
    if bad.size:
        raise ValueError(
            f"sample_weight holds {bad[0]:g}; weights other than 0 must lie between {1 / HEAVIEST:g} and {HEAVIEST:g}: divide "
            "them by their mean."
        )
    return weight


def check_out(X: Any, out: Any) -> None:
    """Refuse to write results over the rows they are made from, or under a name that misleads."""
    if os.path.splitext(out)[1].lower() in (".csv", ".tsv", ".txt", ".xlsx", ".json"):
        raise ValueError(f"out={os.fspath(out)!r} would be a Parquet file by another name; end it in .parquet.")
    if isinstance(X, (str, os.PathLike)):
        inside = os.path.realpath(out) == os.path.realpath(X) or os.path.dirname(
            os.path.realpath(out)
        ) == os.path.realpath(X)
        if inside:
            raise ValueError(f"out={os.fspath(out)!r} would write over the rows that are read; choose another place.")
