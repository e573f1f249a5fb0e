"""``python -m benchmarks.gpu.zoo``: every model and every estimator of the engine gives on a GPU what it gives on the CPU.

Models are learned from one start on tensors of the device and of the CPU, which the tests compare with arrays; estimators are
fitted with ``device``, on tensors of the device and on those of the CPU. Prints what differs; exits with 1 where anything does.
"""

import argparse
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import torch
from sklearn.base import clone
from tests.zoo import LEARNERS, document_rows, gaussian_rows, mixed_rows, positive_rows, with_missing

from benchmarks.harness import table
from tacit.cluster import KMeans, KMedians, MiniBatchKMeans, SoftKMeans
from tacit.engine import fit
from tacit.factor import FactorAnalysis, ProbabilisticPCA
from tacit.impute import GaussianImputer, MixtureImputer
from tacit.mixture import BayesianGaussianMixture, GaussianMixture, Mixture, StudentTMixture
from tacit.sequence import HiddenMarkovModel
from tacit.source.torch import TorchSource
from tacit.topics import NMF, LatentDirichletAllocation

# ruff: noqa: B023  (every case is run before the next one is made)
CLOSE = 1e-6  # of fits that end by themselves, whose last step may differ


def relative(found, expected):
    """Largest difference, relative to the largest number."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    return float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-300))


def learned(model, source, start):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(model, source, start, max_iter=8, tol=0.0)


def model_cases(device):
    """A row of the table for every model of the zoo."""
    for name, (model, rows) in LEARNERS.items():
        for holes in (0.0, 0.2):
            if holes and ("topics" in name or "Markov" in name):
                continue
            X = with_missing(rows(), holes) if holes else rows()
            arrays, tensors = TorchSource(X), TorchSource(X, device=device)
            start = model.init(arrays.sample(len(X), np.random.default_rng(0)), np.random.default_rng(0))
            yield (
                f"{name}, {holes:.0%} missing",
                1e-8,
                lambda: relative(
                    learned(model, tensors, start).trace.objectives, learned(model, arrays, start).trace.objectives
                ),
            )


def estimator_cases(device):
    """A row of the table for every estimator, and for everything that tensors may be given to."""
    rows, mixed = with_missing(gaussian_rows()), mixed_rows()
    labels, weight = np.where(np.arange(240) % 5, -1, np.arange(240) % 3), np.linspace(0.5, 2.0, 240)
    seeded = {"random_state": 0}
    known = {0: "poisson", 2: "categorical", 4: "categorical"}
    estimators = [
        (GaussianMixture(3, **seeded), rows), (GaussianMixture(3, covariance_type="VEV", **seeded), rows),
        (GaussianMixture(2, noise=True, **seeded), rows), (BayesianGaussianMixture(3, **seeded), rows),
        (StudentTMixture(3, **seeded), rows), (Mixture(3, by_column=known, **seeded), mixed),
        (KMeans(3, **seeded), rows), (KMedians(3, **seeded), rows), (MiniBatchKMeans(3, batch_size=60, **seeded), rows),
        (SoftKMeans(3, **seeded), rows), (FactorAnalysis(2), rows), (ProbabilisticPCA(2), rows),
        (NMF(2, **seeded), positive_rows()), (LatentDirichletAllocation(2, **seeded), document_rows()),
        (HiddenMarkovModel(3, **seeded), rows),
    ]  # fmt: skip

    def objective(estimator, X, **given):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = estimator.fit(X, **given)
        return fitted.fit_.trace.objectives[-1]

    for estimator, X in estimators:
        name = f"{type(estimator).__name__}({getattr(estimator, 'covariance_type', '')})"
        yield (
            f"{name} with device",
            CLOSE,
            lambda: relative(
                objective(clone(estimator).set_params(device=device), X), objective(clone(estimator), torch.tensor(X))
            ),
        )
        yield (
            f"{name} of tensors",
            CLOSE,
            lambda: relative(
                objective(clone(estimator), torch.tensor(X, device=device)),
                objective(clone(estimator), torch.tensor(X)),
            ),
        )
    mixture, tensor = GaussianMixture(3, **seeded), torch.tensor(rows, device=device)
    given = {"y": torch.tensor(labels, device=device), "sample_weight": torch.tensor(weight, device=device)}
    yield (
        "labels and weights as tensors",
        CLOSE,
        lambda: relative(
            objective(clone(mixture), tensor, **given),
            objective(clone(mixture), torch.tensor(rows), y=labels, sample_weight=weight),
        ),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.ckpt"
        yield (
            "checkpoint",
            CLOSE,
            lambda: relative(
                objective(clone(mixture), tensor, checkpoint=path, checkpoint_every=0.0),
                objective(clone(mixture), torch.tensor(rows)),
            ),
        )
    for imputer, X in ((GaussianImputer(), rows), (MixtureImputer(2, **seeded), rows)):
        yield (
            f"{type(imputer).__name__} of tensors",
            CLOSE,
            lambda: relative(
                clone(imputer).fit(torch.tensor(X, device=device)).transform(torch.tensor(X, device=device)),
                clone(imputer).fit(X).transform(X),
            ),
        )


def main():
    """Run all cases and print those that differ, and how many there are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    device = parser.parse_args().device
    begin, rows, n_cases, largest = time.perf_counter(), [], 0, 0.0
    for cases in (model_cases, estimator_cases):
        for name, limit, difference in cases(device):
            n_cases += 1
            try:
                found = difference()
            except Exception as error:
                rows.append({"case": name, "difference": f"{type(error).__name__}: {str(error)[:150]}"})
                print(rows[-1], flush=True)
                continue
            largest = max(largest, found)
            if not found <= limit:
                rows.append({"case": name, "difference": f"{found:.2g}"})
                print(rows[-1], flush=True)
        print(f"{n_cases} cases after {time.perf_counter() - begin:.0f} s", flush=True)
    told = f"{n_cases} cases in {time.perf_counter() - begin:.0f} s, {len(rows)} at fault, largest difference {largest:.2g}"
    print(table(rows) if rows else "", told, sep="\n")
    sys.exit(bool(rows))


if __name__ == "__main__":
    main()
