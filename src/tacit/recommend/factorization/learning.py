"""How `MatrixFactorization` learns: the model that its settings describe, its rows, and what is published of a fit."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...base import EMEstimator
from ...engine import fit
from ...kernels import lazy
from ...source import Block
from ..base import Recommender
from ..features import features_of
from ..ratings import Ratings
from .answers import FactorAnswers
from .drift import DriftingResponse, edges_of, periods_of
from .model import FactorModel, FactorParams
from .priors import SidePrior, Users, Vectors
from .responses import GaussianResponse, ImplicitResponse, OrdinalResponse
from .source import SINGLE, RatingSource, cuts

__all__ = ["FactorLearning"]

compiled = lazy("factorization")
MOST_CELLS = 1 << 22
STARTING_SWEEPS, HELD = 20, 3.0
"""Sweeps over points before variational Bayes, and what their squares are charged with, in units of the noise."""
MANY, STEPS = 100, 3
"""Factors from which on points are found by conjugate gradients, and how many of these a half sweep takes."""


class FactorLearning(FactorAnswers, EMEstimator):
    """What `MatrixFactorization` does with its settings."""

    inference: str
    response: str
    regularization: Any
    noise: str
    alpha: float
    biases: bool
    periods: int | None
    solver: str
    device: str | None
    _from_points = True  # whether variational Bayes starts there

    def _model(self) -> FactorModel:
        points = self.inference == "map"
        many = self.solver == "cg" or (self.solver == "auto" and self.n_components >= MANY)
        bias, factor = (float(self.regularization),) * 2 if self._scaled else (5.0, 10.0)
        return FactorModel(
            self.n_components, learns=not points, user_features=self.user_features_,
            item_features=self.item_features_, response=self._response(), uneven=self.noise == "user" and not points,
            precision=(bias, factor), kind=np.float32 if self.seen_.nnz > SINGLE else np.float64,
            n_steps=STEPS if many and points else 0, given=self._given(), biases=self.biases, device=self.device,
        )  # fmt: skip

    def _response(self) -> Any:
        if self.response == "implicit":
            data, n_cells = self.seen_.data, float(len(self.users_)) * len(self.items_)
            weighted = (len(data) + self.alpha * float(data.sum(dtype=float))) / n_cells
            return ImplicitResponse(self.alpha, weighted, self.inference == "vb")
        if self.response == "ordinal":
            found, counts = np.unique(self.seen_.data, return_counts=True)
            return OrdinalResponse(found, counts)
        data = self.seen_.data  # which may lie in a file, so that nothing of its size is made
        told = (
            self.mean_,
            float(max(np.vdot(data, data) / max(len(data), 1) - self.mean_**2, 0.0)),
            self.inference == "vb",
        )
        return (
            GaussianResponse(*told)
            if self.periods is None
            else DriftingResponse(*told, (len(self.items_), self.periods))
        )

    def _given(self) -> Any:
        """σ² and priors that were learned before, for points."""
        if self._scaled or self.inference == "vb" or not hasattr(self, "user_precision_"):
            return None
        return self.noise_variance_, *self._priors()

    def _priors(self) -> list[SidePrior]:
        names = "precision", "link", "penalty"
        return [SidePrior(*(getattr(self, f"{side}_{name}_") for name in names)) for side in ("user", "item")]

    def _start(self, model: Any, task: Any) -> FactorParams:
        """Random factors after sweeps over points: from small factors, variational Bayes often leads to none at all."""
        start = model.init(task.sample, task.rng)
        if not model.learns or not self.n_components or not self._from_points:
            return start
        points = copy(model)
        points.learns, points.uneven, points.n_steps = False, False, 0
        points.response = points.response.as_points()
        held = HELD / start.noise * np.eye(model.size)
        held[0, 0] = held[0, 0] if self.biases else start.user_prior.precision[0, 0]
        priors = (replace(prior, precision=held) for prior in (start.user_prior, start.item_prior))
        given = dict(
            zip(("user_prior", "item_prior"), priors), vectors=Vectors(start.vectors.mean, start.vectors.spread[:, :0])
        )
        found = fit(points, task.source, replace(start, **given), max_iter=STARTING_SWEEPS, tol=1e-3).params
        vectors = Vectors(found.vectors.mean, start.vectors.spread)
        return replace(
            start, vectors=vectors, response=found.response, user_prior=found.user_prior, item_prior=found.item_prior
        )

    def _know(self, ratings: Ratings) -> None:
        super()._know(ratings)
        self._check_ratings()
        if self.response != "gaussian":
            self.mean_ = 0.0
        if self.response == "implicit":
            self.scale_, self.levels_ = (0.0, 1.0), None

    def _check_ratings(self) -> None:
        """Raise where ratings are not what the response takes."""
        if self.response == "implicit" and len(self.seen_.data) and self.seen_.data.min() <= 0:
            raise ValueError(
                f"response='implicit' takes strengths of events above 0, but a rating is {self.seen_.data.min():g}; leave out "
                "rows without an event."
            )
        if self.response == "ordinal" and (self.levels_ is None or len(self.levels_) < 2):
            told = "too many distinct values" if self.levels_ is None else "a single value"
            raise ValueError(f"response='ordinal' takes levels of a scale, but ratings have {told}; use 'gaussian'.")

    def _learn_ratings(self, ratings: Ratings, **along: Any) -> None:  # type: ignore[override]
        self.user_features_ = features_in(along.pop("user_features", None), ratings.users, "user")
        self.item_features_ = features_in(along.pop("item_features", None), ratings.items, "item")
        self._check_determined()
        source = RatingSource(ratings, self._period(ratings), device=self.device, n_jobs=self.n_jobs)
        if self.inference == "map" and not self._scaled:
            self._learn_priors(source)
        self._learn(source, **along)

    def _period(self, ratings: Ratings) -> Any:
        """What tells periods of times, where biases drift."""
        self.period_edges_ = np.zeros(0)
        if self.periods is None:
            return None
        if ratings.time is None:
            raise ValueError(
                f"periods={self.periods} needs the times of ratings; name their column, time=…, in Ratings.read."
            )
        self.period_edges_ = edges_of(ratings.time, self.periods)
        return partial(periods_of, edges=self.period_edges_)

    def _learn_priors(self, source: RatingSource) -> None:
        """σ² and priors by variational Bayes, for points: from small random factors or from points, by the higher bound."""
        known = {*Recommender._saved, "user_features_", "item_features_"} - {"feature_names_in_"}
        names = [f"{side}_{what}_" for side in ("user", "item") for what in ("precision", "link", "penalty")]
        tried = []
        for small in (True, False):
            found = self.__class__(**self.get_params() | {"inference": "vb", "warm_start": False, "noise": "constant"})
            found.__dict__.update({name: getattr(self, name) for name in known}, _from_points=not small)
            found._learn(source)
            tried.append(found)
        best = max(tried, key=lambda found: found.fit_.trace.objectives[-1])
        for name in ("noise_variance_", *names):
            setattr(self, name, getattr(best, name))

    def _check_determined(self) -> None:
        """Raise where maximum likelihood has no unique solution."""
        if not self._scaled or self.regularization > 0:
            return
        q, seen = self.n_components + 1, np.diff(self.seen_.indptr)
        for what, ids, counts in (("user", self.users_, seen), ("item", self.items_, self.item_counts_)):
            few = np.flatnonzero(counts < q)
            if len(few):
                who, n = ids.tolist()[few[0]], counts[few[0]]
                raise ValueError(
                    f"regularization=0 leaves vectors undetermined: {what} {who!r} has {n} ratings for a bias "
                    f"and {self.n_components} factors, and {len(few) - 1} more have too few as well. Use regularization > 0 or "
                    "'learn', or fewer factors. Even where all are determined, factors are so only up to an invertible matrix."
                )

    def _publish(self, params: FactorParams, dtype: np.dtype) -> None:
        self.item_bias_, self.item_factors_ = params.vectors.mean[:, 0].copy(), params.vectors.mean[:, 1:].copy()
        self.item_spread_, self.item_log_det_ = params.vectors.spread, float(params.log_det)
        self.noise_variance_, self.freedom_ = float(params.noise), float(params.freedom)
        self.thresholds_ = params.response if self.response == "ordinal" else np.zeros(0)
        self.drift_variance_, self.item_drift_ = 0.0, np.zeros((len(params.vectors.mean), 0))
        self.item_drift_variance_ = self.item_drift_
        if self.periods is not None:
            told = self._response().parts(params)
            self.drift_variance_, self.item_drift_, self.item_drift_variance_ = told
        for side, prior in (("user", params.user_prior), ("item", params.item_prior)):
            for name, value in zip(
                ("precision", "link", "penalty"), (prior.precision, prior.coefficients, prior.penalty)
            ):
                setattr(self, f"{side}_{name}_", value)

    def _keep(self, source: Any) -> None:
        """Users at the items that were found last, and covariances of both sides."""
        model, params = self._model(), self.fit_.params
        users = Users.concatenate([self._solved(model, params, block) for block in source])
        spread = params.vectors.spread
        if self.inference == "map":
            blank = replace(params, vectors=Vectors(params.vectors.mean, model.isotropic(len(self.items_), True)))
            spread = model.with_items(source, blank, replace(users, spread=users.spread[:, :0])).vectors.spread
        if self._scaled and self.response == "gaussian":
            self._estimate_noise(users, params.vectors)
        scale = self.noise_variance_ if self._scaled else 1.0
        self.user_spread_, self.item_spread_ = users.spread * scale, spread * scale
        self.user_bias_, self.user_factors_ = users.mean[:, 0].copy(), users.mean[:, 1:].copy()
        self.user_consistency_ = users.steady[:, 0].copy()
        self._online = None  # `partial_fit` goes on from vectors, not from sums
        self.user_selection_, self.item_selection_ = self._selection("user"), self._selection("item")
        source.remember(None)

    def _selection(self, side: str) -> np.ndarray:
        """By how much vectors behind ratings are above their prior's mean: items that are rated often are not average."""
        seen = np.diff(self.seen_.indptr) if side == "user" else self.item_counts_
        mean = np.column_stack([getattr(self, f"{side}_bias_"), getattr(self, f"{side}_factors_")])
        above = mean - getattr(self, f"{side}_features_") @ getattr(self, f"{side}_link_")
        return seen @ above / max(seen.sum(), 1)

    def _solved(self, model: FactorModel, params: FactorParams, block: Block) -> Users:
        """Users with covariances, given the items; how consistent they are stays as it was."""
        known: Any = model.memory(block) if block.memory is None else block.memory
        users = Users(known.mean.copy(), model.isotropic(len(block), True), known.steady)
        features = self.user_features_[block.first : block.first + len(block)]
        rows: Any = block.X
        model.solve(params, rows, users, params.vectors, params.user_prior, features, users.steady[:, 0])
        return users

    def _estimate_noise(self, users: Users, items: Vectors) -> None:
        """σ² where λ is given: the squared errors over the ratings less what was fitted, by users and as much by items."""
        indptr, total = self.seen_.indptr.astype(np.int64), 0.0
        for a, b in cuts(indptr, 1 + self.seen_.nnz // MOST_CELLS):  # nothing of the size of all ratings is made
            cells = slice(indptr[a], indptr[b])
            found = compiled.cell_sums(
                indptr[a : b + 1] - indptr[a], self.seen_.indices[cells], users.mean[a:b], items.mean
            )
            total += float(np.square(self.seen_.data[cells] - self.mean_ - found).sum())
        fitted = users.mean.size - self.regularization * np.trace(users.moments()[1])
        left = max(self.seen_.nnz - 2.0 * fitted, 0.1 * self.seen_.nnz)
        self.noise_variance_ = max(total / left, 1e-12)

    def _params(self) -> FactorParams:
        spread = self.item_spread_ if self.inference == "vb" else self.item_spread_[:, :0]
        vectors = Vectors(np.column_stack([self.item_bias_, self.item_factors_]), spread)
        noise = 1.0 if self._scaled else self.noise_variance_
        response = self.thresholds_
        if self.periods is not None:
            drift = self.item_drift_, self.item_drift_variance_
            response = np.concatenate([[self.drift_variance_], *(each.ravel() for each in drift)])
        along = self.mean_, noise, self.freedom_, response, vectors, self.item_log_det_
        return FactorParams(*along, *self._priors())


def features_in(features: Any, ids: np.ndarray, what: str) -> np.ndarray:
    """Features of ids with a column of ones before them."""
    if features is None:
        return np.ones((len(ids), 1))
    matrix = features_of(features, ids, what).matrix
    return np.hstack([np.ones((len(ids), 1)), matrix.toarray() if hasattr(matrix, "toarray") else matrix])
