"""How kernels are compiled: one thread, GIL released, cached on disk where that is safe."""

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.extending import intrinsic

__all__ = ["inner", "jit", "jit_sums", "prefetch"]


def _fingerprint():
    """Digest of every kernel source: numba's own key misses helpers that live in other files."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder():
    """A writable folder for compiled kernels, or None: an unwritable cache must not stop a fit."""
    try:
        base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(base) / "tacit" / _fingerprint()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return str(folder)
    except (OSError, RuntimeError):
        return None


_FOLDER = _cache_folder()


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
    before, config.CACHE_DIR = config.CACHE_DIR, _FOLDER or config.CACHE_DIR
    try:
        options = {"_nrt": True} | options  # said of all: whoever is called by `inner` would inherit it
        return numba.njit(nogil=True, fastmath=fastmath, error_model="numpy", cache=_FOLDER is not None, **options)(
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
