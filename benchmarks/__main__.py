"""``python -m benchmarks [WORD …]``: run the comparisons whose name holds every WORD and print one table."""

import argparse

from . import (
    belief_networks,
    bootstrap,
    cca,
    climb,
    crf,
    factor_analysis,
    gaussian_mixture,
    gaussian_process,
    graph_cut,
    hmm,
    how_many,
    imputation,
    kernel_pca,
    kmeans,
    kmeans_sparse,
    kmedians,
    linear,
    logistic,
    markov,
    medoids,
    mixed_table,
    pca,
    ppca,
    resampling,
    selection,
    spectral,
    structure,
    student_mixture,
    svm,
    tables,
    text,
)
from .harness import measure, table

MODULES = (
    belief_networks,
    bootstrap,
    cca,
    climb,
    crf,
    factor_analysis,
    gaussian_mixture,
    gaussian_process,
    graph_cut,
    hmm,
    how_many,
    imputation,
    kernel_pca,
    kmeans,
    kmeans_sparse,
    kmedians,
    logistic,
    linear,
    markov,
    medoids,
    mixed_table,
    pca,
    ppca,
    resampling,
    selection,
    spectral,
    structure,
    student_mixture,
    svm,
    tables,
    text,
)
JOBS = [job for module in MODULES for job in module.JOBS]


def main():
    """Run the comparisons."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("words", nargs="*", help="run only jobs whose name holds every word")
    parser.add_argument("--no-memory", action="store_true", help="do not measure memory")
    arguments = parser.parse_args()
    rows = []
    for job in JOBS:
        if all(word in job.name for word in arguments.words):
            print(f"running: {job.name} against {job.rival}", flush=True)
            rows.append(measure(job, memory=not arguments.no_memory))
    print("\n" + table(rows) if rows else "no job matches")


if __name__ == "__main__":
    main()
