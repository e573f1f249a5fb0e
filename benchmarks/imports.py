"""``python -m benchmarks.imports``: the time of ``import tacit`` against ``import sklearn.base``, each in fresh interpreters."""

import statistics
import subprocess
import sys

CODE = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def seconds(name):
    """Time of one import in an interpreter of its own."""
    done = subprocess.run([sys.executable, "-c", CODE.format(name)], check=True, capture_output=True, text=True)
    return float(done.stdout)


def main(repeats=9):
    """Interleave the imports and print medians and their ratio."""
    names = ("tacit", "sklearn.base")
    times = {name: [] for name in names}
    for _ in range(repeats):
        for name in names:
            times[name].append(seconds(name))
    ours, theirs = (statistics.median(times[name]) for name in names)
    print(
        f"import tacit {1e3 * ours:.1f} ms, import sklearn.base {1e3 * theirs:.1f} ms: {ours / theirs:.4f} × (at most 1.3)"
    )


if __name__ == "__main__":
    main()
