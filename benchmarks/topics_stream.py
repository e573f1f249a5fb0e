"""``python -m benchmarks.topics_stream [DOCUMENTS]``: topics of a million synthetic documents, streamed from a Parquet file.

A document is a unit of rows [word, count] under one number. The file is written in parts and never held; what the process holds
beyond its imports, and how far the topics found are from those that made the documents, is printed.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from scipy.optimize import linear_sum_assignment

from tacit.source import ParquetSource
from tacit.topics import DocumentSource, LatentDirichletAllocation

WORDS, TOPICS, LENGTH, PART = 5000, 20, 60, 10_000


def write(path, n_documents, beta, rng):
    """Write documents of known topics β (topics, words)."""
    schema = pa.schema([("document", pa.int64()), ("word", pa.int32()), ("count", pa.float32())])
    cumulated = np.cumsum(beta, axis=1)
    with pa.parquet.ParquetWriter(path, schema) as writer:
        for first in range(0, n_documents, PART):
            n = min(PART, n_documents - first)
            theta = np.cumsum(rng.dirichlet(np.full(TOPICS, 0.1), n), axis=1)
            topic = (rng.random((n, LENGTH, 1)) > theta[:, None]).sum(axis=2).clip(max=TOPICS - 1)
            word = np.empty_like(topic)
            draw = rng.random(topic.shape)
            for k in range(TOPICS):
                word[topic == k] = np.searchsorted(cumulated[k], draw[topic == k] * cumulated[k, -1])
            pair, count = np.unique(np.arange(n)[:, None] * WORDS + word, return_counts=True)
            columns = first + pair // WORDS, (pair % WORDS).astype(np.int32), count.astype(np.float32)
            writer.write_table(pa.table(dict(zip(schema.names, columns)), schema=schema))


def held(name):
    """Megabytes under a name in this process's status."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) / 1024


def main(n_documents=1_000_000):
    """Print seconds, memory and the distance to the truth."""
    rng = np.random.default_rng(0)
    beta = rng.dirichlet(np.full(WORDS, 0.05), TOPICS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "documents.parquet"
        write(path, n_documents, beta, rng)
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
        before, start = held("VmRSS"), time.perf_counter()
        rows = ParquetSource(path, ["word", "count"], unit="document")
        source = DocumentSource(rows, WORDS)
        opened = time.perf_counter() - start
        settings = {"inference": "scvb0", "max_iter": 1, "batch_size": 4096, "max_doc_update_iter": 20}
        model = LatentDirichletAllocation(TOPICS, doc_topic_prior=0.1, random_state=0, **settings).fit(source)
        seconds, size = time.perf_counter() - start, path.stat().st_size / 1e6
    apart = 0.5 * np.abs(model.topic_word_[:, None] - beta[None]).sum(axis=2)
    found = apart[linear_sum_assignment(apart)]
    print(
        f"{n_documents:,} documents, {rows.n_rows:,} pairs, {size:.0f} MB; opened in {opened:.1f} s, fitted in {seconds:.1f} s"
    )
    print(
        f"memory beyond the start: {held('VmHWM') - before:.0f} MB; total variation of topics: median {np.median(found):.3f}"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
