"""``python -m benchmarks.ratings_fit [RATINGS]``: matrix factorisation of 100 million ratings in a Parquet file.

The file is written in parts and never held. What is told of memory is the peak of what belongs to the process alone: pages of
files that are mapped into it can be taken from it at any time.
"""

import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from tacit.recommend import MatrixFactorization, Ratings

from .ratings import write_large


class Peak(threading.Thread):
    """Watches the memory of this process."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.goes_on = 0.0, True

    def run(self):
        """Look twenty times a second."""
        while self.goes_on:
            lines = Path("/proc/self/status").read_text().splitlines()
            self.most = max(
                self.most, int(next(line for line in lines if line.startswith("RssAnon")).split()[1]) / 1024
            )
            time.sleep(0.05)


def main(n_rows=100_000_000):
    """Print seconds, memory and the error."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(folder) / "ratings.parquet"
        if not path.exists():
            write_large(path, n_rows)
        peak, start = Peak(), time.perf_counter()
        peak.start()
        ratings = Ratings.read(path)
        read, before = time.perf_counter() - start, peak.most
        print(f"{ratings}: read in {read:.0f} s, peak {before:.0f} MB", flush=True)
        start, sweeps = time.perf_counter(), 3
        settings = {"inference": "map", "regularization": 5.0, "tol": 0.0, "random_state": 0}
        model = MatrixFactorization(10, max_iter=sweeps, **settings).fit(ratings)
        few = np.arange(0, len(ratings), 1000)
        wrong = (
            model.predict((ratings.users[ratings.user[few]], ratings.items[ratings.item[few]])) - ratings.rating[few]
        )
        told = f"{sweeps} sweeps of ridge regressions, 10 factors, in {time.perf_counter() - start:.0f} s"
        print(
            f"{told}, peak {peak.most:.0f} MB; error {np.sqrt(np.mean(wrong**2)):.3f} of {ratings.rating[few].std():.3f}"
        )


if __name__ == "__main__":
    main(*(int(each) for each in sys.argv[1:2]))
