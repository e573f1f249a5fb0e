"""``python -m benchmarks.versions OTHER [WORD …]``: this checkout against another one, in two processes that take turns.

Prints, for every comparison whose name holds every WORD, the seconds of both and how many times as fast this one is. The other
checkout's own benchmarks are run, so that it may have other names inside.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parents[1]


def serve():
    """Take orders from the standard input: the number of a job to make ready, or nothing to run it once."""
    from .__main__ import JOBS

    print(*(job.name for job in JOBS), sep="\t", flush=True)
    job = data = None
    for line in sys.stdin:
        start = time.perf_counter()
        if line.strip():
            job = JOBS[int(line)]
            data = job.make()
        try:
            job.ours(data)
        except Exception as error:
            print(f"failed: {error!r}".replace("\n", " "), flush=True)
            continue
        print(time.perf_counter() - start, flush=True)


class Side:
    """A checkout, in a process of its own."""

    def __init__(self, root):
        path = os.pathsep.join(map(str, (root / "src", root)))
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from benchmarks.versions import serve; serve()"], cwd=root,
            env={**os.environ, "PYTHONPATH": path}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.names = self.process.stdout.readline().rstrip("\n").split("\t")

    def do(self, order=""):
        """Run a job; returns its seconds, or why it failed."""
        self.process.stdin.write(f"{order}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        return answer if answer.startswith("failed") else float(answer)


def main():
    """Compare two checkouts."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.versions", description=__doc__)
    parser.add_argument("other", type=Path, help="the root of another checkout")
    parser.add_argument("words", nargs="*", help="run only jobs whose name holds every word")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    new, old = Side(HERE), Side(arguments.other.resolve())
    print("| job | before (s) | now (s) | times as fast |\n|---|---|---|---|")
    for number, name in enumerate(new.names):
        if name not in old.names or not all(word in name for word in arguments.words):
            continue
        first = [old.do(old.names.index(name)), new.do(number)]  # makes data, compiles
        if any(isinstance(answer, str) for answer in first):
            print(f"| {name} | {first[0]} | {first[1]} | |", flush=True)
            continue
        times = [(old.do(), new.do()) for _ in range(arguments.repeats)]
        before, now = map(statistics.median, zip(*times))
        print(f"| {name} | {before:.3f} | {now:.3f} | {before / now:.2f} × |", flush=True)


if __name__ == "__main__":
    main()
