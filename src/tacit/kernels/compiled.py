"""A function of two rows, written by the user in Python, compiled so that it fills a block of a matrix at native speed."""

import types
import warnings

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher

__all__ = ["compile_as", "compile_pairs", "python_pairs"]

_COMPILED: list = []
_TYPED: list = []
_CHECKED = numba.njit(nogil=True, boundscheck=True, error_model="numpy")  # cells are NumPy's, and so is 1 / 0
KEPT = 16
"""So many functions stay compiled; the same function in another fit need not be compiled again."""


def compile_as(function, signature, of=()):
    """Compile `function` for arguments of given types, so that compiled code can call it through its address.

    Indices are checked, and errors are numba's. Where functions are named in `of`, it is function(*of), with these
    compiled, that is compiled.
    """
    parts = of or (function,)
    key, state = (function, *parts, str(signature)), [_state_of(each) for each in parts]
    for known, before, made in _TYPED:
        if known == key and before == state:
            return made
    inner = [each if isinstance(each, Dispatcher) else _CHECKED(each) for each in parts]
    whole = function(*inner) if of else _calling(inner[0], len(signature.args))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = numba.njit(signature, nogil=True, boundscheck=True, error_model="numpy")(whole)
    _TYPED.append((key, state, made))
    del _TYPED[:-KEPT]
    return made


def _calling(function, n_arguments):
    """A call of a function that is compiled already, in Python."""
    return (lambda x: function(x)) if n_arguments == 1 else lambda x, y: function(x, y)


def compile_pairs(function):
    """Compile `function` into between(A, B, extra, out) and within(A, extra, out), which release the GIL.

    Rows are read-only, so that a function that writes into them is refused, and indices are checked. Errors are numba's, and come
    when the result is first called.
    """
    state = _state_of(function)
    for known, before, pair in _COMPILED:
        if known is function and before == state:
            return pair
    pair = _compile(function)
    _COMPILED.append((function, state, pair))
    del _COMPILED[:-KEPT]
    return pair


def _compile(function):
    inner = function if isinstance(function, Dispatcher) else _CHECKED(function)
    between, within = (numba.njit(nogil=True)(loop) for loop in _loops(inner))
    return _quietly(between), _quietly(within)


def _loops(value):
    """The two loops over pairs of rows, in plain Python."""

    def between(A, B, extra, out):
        for i in range(A.shape[0]):
            for j in range(B.shape[0]):
                out[i, j] = value(A[i], B[j], *extra)

    def within(A, extra, out):
        for i in range(A.shape[0]):
            out[i, i] = 0.0
            for j in range(i):
                out[i, j] = out[j, i] = value(A[i], A[j], *extra)

    return between, within


def _quietly(kernel):
    """The kernel, without what numba has to say on how fast it might be."""

    def run(*arguments):
        if kernel.signatures:
            return kernel(*arguments)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return kernel(*arguments)

    return run


def python_pairs(function, parameters, noun="metric"):
    """The same two functions by plain calls; messages call the function by its noun."""

    def value(x, y, *extra):
        found = function(x, y, **parameters)
        try:
            return float(found)
        except (TypeError, ValueError):
            raise ValueError(
                f"{noun}={function!r} returned {found!r} for a pair of rows, which is not a number; return a float."
            ) from None

    return _loops(value)


# What numba freezes into the compiled code: if any of it changed, the function is compiled again.


def _state_of(function, depth=3):
    function = getattr(function, "py_func", function)
    code = getattr(function, "__code__", None)
    if code is None or depth == 0:
        return object()
    names = _names(code)
    known = {name: function.__globals__[name] for name in names if name in function.__globals__}
    cells = [_frozen(cell.cell_contents, names, depth) for cell in function.__closure__ or ()]
    read = [(name, _frozen(value, names, depth)) for name, value in sorted(known.items())]
    return code, read, cells, [_frozen(value, names, depth) for value in function.__defaults__ or ()]


def _names(code):
    """Names that a function and those inside of it look up."""
    inner = [_names(part) for part in code.co_consts if isinstance(part, types.CodeType)]
    return set(code.co_names).union(*inner)


def _frozen(value, names, depth):
    """Something that equals itself later exactly if the value is still the same."""
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return type(value).__name__, repr(value)
    if isinstance(value, tuple):
        return [_frozen(part, names, depth) for part in value]
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, types.ModuleType):
        plain = (bool, int, float, str, np.ndarray, types.FunctionType)
        parts = [(name, getattr(value, name, None)) for name in sorted(names)]
        return id(value), [
            (name, id(part) if isinstance(part, types.FunctionType) else _frozen(part, names, depth))
            for name, part in parts
            if isinstance(part, plain)
        ]
    if isinstance(value, (types.BuiltinFunctionType, np.ufunc, type)):
        return id(value)
    if isinstance(value, (types.FunctionType, Dispatcher)):
        return _state_of(value, depth - 1)
    return object()
