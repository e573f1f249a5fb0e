"""How kernels are compiled: one thread, GIL released, cached on disk where that is safe."""

import hashlib
import logging
import os
import re
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.core import event as events
from numba.extending import intrinsic

__all__ = ["cache_folder", "inner", "is_compiled", "jit", "jit_sums", "prefetch"]


log = logging.getLogger("tacit")
_HERE = Path(__file__).parent
_IMPORTS = re.compile(r"^\s*from \.(\w*) import", re.MULTILINE)


@cache
def _source(name):
    """A kernel module's text, and the modules of this package that it imports."""
    text = (_HERE / f"{name}.py").read_bytes()
    return text, sorted({found or "__init__" for found in _IMPORTS.findall(text.decode())})


def _fingerprint(name):
    """Digest of a module's source and of all that it imports here: numba's own key misses helpers that live in other files."""
    waiting, known = [name, "jit"], set()
    while waiting:
        if (module := waiting.pop()) not in known:
            known.add(module)
            waiting += _source(module)[1]
    digest = hashlib.sha256(numba.__version__.encode())
    for module in sorted(known):
        digest.update(_source(module)[0])
    return digest.hexdigest()[:16]


def _base():
    """The folder of all compiled kernels; RuntimeError where the user has no home."""
    return (
        Path(os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tacit"
    )


@cache
def cache_folder(name):
    """A writable folder for the compiled kernels of a module, or None: an unwritable cache must not stop a fit."""
    try:
        folder = _base() / f"{name}-{_fingerprint(name)}"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return str(folder)
    except (OSError, RuntimeError):
        return None


def is_compiled(name):
    """Whether compiled kernels of a module are there from an earlier run, or never will be."""
    folder = cache_folder(name)
    return folder is None or any(Path(folder).rglob("*.nbc"))


class _Teller(events.Listener):
    """Says once that kernels are being compiled: the first call of each takes seconds, and nothing else would tell why."""

    def on_start(self, event):
        if event.data["dispatcher"].py_func.__module__.startswith(__package__):
            waits = (sys.stderr is not None and sys.stderr.isatty()) or "ipykernel" in sys.modules
            log.log(
                logging.WARNING if waits else logging.INFO, "compiling kernels, once per machine: some seconds each; kept in %s",
                _base() if cache_folder("jit") else "memory, since no folder for them can be written",
            )  # fmt: skip
            events.unregister("numba:compile", self)

    def on_end(self, event):
        pass


events.register("numba:compile", _Teller())


def jit(function):
    """Compile `function` for one thread without the GIL.

    Only contraction is allowed: reassociation would undo the rounding trick of the fast exponential.
    """
    return _compile(function, {"contract"})


def inner(function):
    """As `jit` for what only compiled code calls, which neither makes arrays nor returns any that its caller does not hold.

    There are no wrappers for Python, which take long to compile for records of arrays, and references are not counted: that is an
    atomic addition at every use of a record's array, and took most of the time of small nodes of trees.
    """
    return _compile(function, {"contract"}, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)


def jit_sums(function):
    """As `jit` for functions that add up along rows: sums may be taken in any order, so that they vectorise."""
    return _compile(function, {"contract", "reassoc"})


def _compile(function, fastmath, **options):
    config: Any = numba.config
    folder = cache_folder(Path(function.__code__.co_filename).stem)
    before, config.CACHE_DIR = config.CACHE_DIR, folder or config.CACHE_DIR
    try:
        options = {"_nrt": True} | options  # said of all: whoever is called by `inner` would inherit it
        return numba.njit(nogil=True, fastmath=fastmath, error_model="numpy", cache=folder is not None, **options)(
            function
        )
    finally:
        config.CACHE_DIR = before


@intrinsic
def prefetch(context, array, row):
    """Ask for the beginning of a row of a two-dimensional array, which will be read soon; nothing where LLVM is old."""

    def generate(context, builder, signature, arguments):
        if binding.llvm_version_info[0] < 20:  # its name was another
            return context.get_dummy_value()
        kind = signature.args[0]
        made = context.make_array(kind)(context, builder, arguments[0])
        shape, strides = (cgutils.unpack_tuple(builder, part, kind.ndim) for part in (made.shape, made.strides))
        at = [arguments[1], context.get_constant(types.intp, 0)]
        pointer = cgutils.get_item_pointer2(context, builder, made.data, shape, strides, kind.layout, at)
        pointer = builder.bitcast(pointer, ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        function = ir.FunctionType(ir.VoidType(), [pointer.type, word, word, word])
        fetch = cgutils.get_or_insert_function(builder.module, function, "llvm.prefetch.p0")
        builder.call(fetch, [pointer, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate
