"""Three-step estimation: classes first, then who is in them or what follows from them, corrected for errors of classification.

Step 1 is a fitted mixture, step 2 assigns rows to classes, w_is, by the largest posterior probability or in proportion. With
D_ts = p(assigned s | class t) = Σ_i p_it w_is / Σ_i p_it, step 3 estimates p(t | z) or p(y | t) from

    none   weights u_i = w_i             BCH   weights u_i = w_i D⁻¹             ML   Σ_is w_is log Σ_t p(t | z_i) p(y_i | t) D_ts

Estimates solve Σ_i ψ_i(β; D, θ) = 0, θ being the parameters of step 1 with scores s_i, so that all steps tell their variance:

    Var β = A⁻¹ (Σ_i φ_i φ_iᵀ) A⁻ᵀ,    φ_i = ψ_i + C d_i + B (Σ_i s_i s_iᵀ)⁻¹ s_i,    d_its = p_it (w_is − D_ts) / Σ_i p_it

with A, C and B the derivatives of Σ_i ψ_i by β, by D, and by θ, on which D depends as well.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax
from scipy.stats import chi2, norm
from sklearn.utils.validation import check_is_fitted

from ..checks import check_choice
from ..frames import read_columns
from ..schema import level_text
from .class_regression import LatentClassRegression
from .estimator import check_mixture
from .gate import newton_step, softmax_stats
from .uncertainty import STEP, Named, StandardErrors, normal_end

__all__ = ["ThreeStep", "three_step"]

CORRECTIONS = ("bch", "ml", "none")
ASSIGNMENTS = ("modal", "proportional")


class ThreeStep(StandardErrors):
    """Estimates of a third step with their standard errors; made by `three_step`.

    Attributes
    ----------
    table, estimate, standard_error, lower, upper, level
        As in `StandardErrors`. Covariates: ``intercept`` and ``coef``, log odds against class 0. A measured outcome: ``mean`` and
        ``variance`` of each class. A category: ``probability`` of each level in each class. Of outcomes also ``weights``.
    classification_error : ndarray of shape (n_components, n_components)
        D: probability of being assigned to each class (column) for rows of each class (row).
    wald, df, p_value : float, int, float
        Wald test that classes do not differ: that no covariate matters, or that all have the same mean or probabilities.
    correction, assignment : str
    """

    def __init__(self, parts: tuple[Named, ...], columns: list, level: float, tested: tuple, **told: Any) -> None:
        super().__init__(parts, None, f"three-step, correction {told['correction']!r}", level, columns)
        self.wald, self.df = tested
        self.p_value = float(chi2.sf(self.wald, self.df)) if self.df else float("nan")
        self.classification_error: np.ndarray = told["errors"]
        self.correction, self.assignment = told["correction"], told["assignment"]

    def __repr__(self) -> str:
        return f"{self.table}\nclasses alike: Wald {self.wald:.4g}, df {self.df}, p {self.p_value:.3g}"


def three_step(
    mixture: Any,
    X: Any,
    *,
    covariates: Any = None,
    outcome: Any = None,
    correction: str = "bch",
    assignment: str = "modal",
    level: float = 0.95,
) -> ThreeStep:
    """Relate the classes of a fitted mixture to covariates, or to a distal outcome, without changing the classes.

    Assigning rows to classes and going on as if that were known attenuates every relation; `correction` takes the errors of
    classification into account. BCH is robust to what the outcome looks like inside classes; ML is more efficient where that is
    normal, and where classes overlap much. Standard errors are robust and take in what step 1 leaves uncertain.

    Parameters
    ----------
    mixture : LatentClassEstimator
        Fitted to X, such as a `Mixture`.
    X : array-like or table of shape (n_samples, n_features)
        The rows it was fitted to.
    covariates : array-like or table of shape (n_samples, n_covariates), optional
        What may explain who is in which class; categories become indicators of their levels but the first.
    outcome : array-like of shape (n_samples,), optional
        What may follow from the class: numbers, or names of levels. Rows in which it is missing tell nothing of it. Give either
        this or covariates.
    correction : {"bch", "ml", "none"}, default="bch"
        Of the errors of classification.
    assignment : {"modal", "proportional"}, default="modal"
        To the most probable class, or to all in proportion to their probabilities.
    level : float, default=0.95
        Of the confidence intervals.

    Returns
    -------
    ThreeStep

    References
    ----------
    Bolck, Croon and Hagenaars (2004), Estimating latent structure models with categorical variables: one-step versus three-step
    estimators.
    Vermunt (2010), Latent class modeling with covariates: two improved three-step approaches.
    Bakk, Tekle and Vermunt (2013), Estimating the association between latent class membership and external variables using
    bias-adjusted three-step approaches.
    Bakk, Oberski and Vermunt (2014), Relating latent class assignments to external variables: standard errors for correct
    inference.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.mixture import GaussianMixture, three_step
    >>> rng = np.random.default_rng(0)
    >>> group = rng.random(1000) < 0.5
    >>> X = rng.normal(size=(1000, 2)) + 1.5 * group[:, None]
    >>> later = 10 + 2.0 * group + rng.normal(size=1000)
    >>> mixture = GaussianMixture(2, covariance_type="spherical", random_state=0).fit(X)
    >>> np.ptp(three_step(mixture, X, outcome=later).estimate["mean"]).round()
    np.float64(2.0)
    """
    check_mixture("three_step", mixture, "a mixture learned by likelihood", by_likelihood=True)
    check_is_fitted(mixture)
    check_choice("correction", correction, CORRECTIONS)
    check_choice("assignment", assignment, ASSIGNMENTS)
    if not isinstance(level, (float, int)) or not 0 < level < 1:
        raise ValueError(f"level={level!r} is not a number between 0 and 1, such as 0.95.")
    if (covariates is None) == (outcome is None):
        raise ValueError(
            "give either covariates or an outcome, and not both; relate the classes to one after the other."
        )
    if mixture.n_components < 2:
        raise ValueError("the mixture has one class, which nothing can depend on; use n_components of at least 2.")
    scores, posterior, beside = _first_step(mixture, X)
    step = _Membership(covariates) if outcome is None else _outcome(outcome)
    if len(step.seen) != len(posterior):
        raise ValueError(f"X has {len(posterior)} rows, but {len(step.seen)} were given beside it; give one per row.")
    told = _Correction(posterior, correction, assignment)
    beta = _solve(step, told)

    def sums(beta: np.ndarray, posterior: np.ndarray, errors: Any = None) -> np.ndarray:
        # The most probable class of a row is taken as given; what is known of its errors is not.
        given = told.assigned if assignment == "modal" else None
        moved = _Correction(posterior, correction, assignment, given, errors)
        return step.scores(beta, moved.weights(step, beta)).sum(axis=0)

    bread = _derivative(lambda each: sums(each, posterior), beta, 1e-5 * np.maximum(1.0, np.abs(beta)))
    influence = step.scores(beta, told.weights(step, beta))
    if correction != "none":
        # Errors of classification are means over the rows, at parameters that were estimated: both have their part.
        shape, size = told.errors.shape, np.full(told.errors.size, 1e-6)
        by_errors = _derivative(lambda each: sums(beta, posterior, each.reshape(shape)), told.errors.ravel(), size)
        own = posterior[:, :, None] * (told.assigned[:, None] - told.errors) / posterior.sum(axis=0)[:, None]
        by_first = np.array([sums(beta, above) - sums(beta, below) for above, below in beside]).T / (2 * STEP)
        first = scores @ np.linalg.pinv(scores.T @ scores, rcond=1e-10, hermitian=True)
        influence = influence + own.reshape(len(own), -1) @ by_errors.T + first @ by_first.T
    half = np.linalg.lstsq(bread, influence.T, rcond=1e-12)[0]
    return _told(
        step, beta, half @ half.T, level, {"errors": told.errors, "correction": correction, "assignment": assignment}
    )


def _first_step(mixture: Any, X: Any) -> tuple[np.ndarray, np.ndarray, list]:
    """Scores (rows, p) of the mixture's parameters, posterior probabilities, and those a step above and below along each."""
    source = mixture._open(X)
    model, params = mixture._resumed(source)
    vector = model.free(params)

    def at(coordinates: np.ndarray) -> list[np.ndarray]:
        parts = list(source.map(lambda block: model.posterior(model.bound(coordinates, params), block)))
        return [np.concatenate(part).astype(np.float64) for part in zip(*parts)]

    pairs = [[at(vector + sign * step) for sign in (1, -1)] for step in STEP * np.eye(len(vector))]
    scores = np.array([above[1] - below[1] for above, below in pairs]).T / (2 * STEP)
    return scores, at(vector)[0], [(above[0], below[0]) for above, below in pairs]


class _Correction:
    """Assignments, the errors of classification D, and the weights of classes for step 3 that follow."""

    def __init__(
        self, posterior: np.ndarray, correction: str, assignment: str, assigned: Any = None, errors: Any = None
    ):
        if assigned is None:
            assigned = np.eye(posterior.shape[1])[posterior.argmax(axis=1)] if assignment == "modal" else posterior
        self.assigned, self.correction = assigned, correction
        self.errors = posterior.T @ assigned / posterior.sum(axis=0)[:, None] if errors is None else errors
        if correction == "bch":
            if np.linalg.cond(self.errors) > 1e8:
                raise ValueError(
                    "the classes overlap so much that no row is assigned to one of them, and BCH cannot be corrected; use "
                    "correction='ml', assignment='proportional' or fewer classes."
                )
            self.fixed = assigned @ np.linalg.inv(self.errors)

    def weights(self, step: Any, beta: np.ndarray) -> np.ndarray:
        """Weights (rows, classes) that each row has in each class."""
        if self.correction != "ml":
            return self.assigned if self.correction == "none" else self.fixed
        chance = step.log_prob(beta, self.assigned.shape[1])
        chance = np.exp(chance - chance.max(axis=1, keepdims=True))
        return chance * ((self.assigned / np.maximum(chance @ self.errors, 1e-300)) @ self.errors.T)


def _solve(step: Any, told: _Correction) -> np.ndarray:
    """Where the estimating equations are solved: EM for ML, and the M-step until it rests for fixed weights."""
    beta = step.m_step(told.assigned, None)
    for _ in range(10_000):
        new = step.m_step(told.weights(step, beta), beta)
        if np.abs(new - beta).max() <= 1e-10 * (1.0 + np.abs(beta).max()):
            return new
        beta = new
    raise ValueError("the third step did not converge; use fewer classes or covariates, or correction='ml'.")


def _derivative(function: Callable, at: np.ndarray, size: np.ndarray) -> np.ndarray:
    """∂ function / ∂ its vector, (values, coordinates), by central differences."""
    steps = np.diag(size)
    return np.array([(function(at + step) - function(at - step)) / (2 * step.sum()) for step in steps]).T


class _Membership:
    """p(t | z) = softmax(V·[1, z]), class 0 having no coefficients; β is V of the other classes."""

    def __init__(self, covariates: Any):
        reader = LatentClassRegression()
        covariates = np.asarray(covariates)[:, None] if np.ndim(covariates) == 1 else covariates
        cells = reader._validate(covariates, reset=True)
        if np.isnan(cells).any():
            row, column = np.argwhere(np.isnan(cells))[0]
            raise ValueError(
                f"covariates have a missing value (row {row}, column {column}); fill it first, or use LatentClassRegression, "
                "which takes missing covariates."
            )
        features, self.terms = reader._expanded(cells), reader.terms_
        self.origin, scale = features.mean(axis=0), features.std(axis=0)
        self.scale, self.seen = np.where(scale > 0, scale, 1.0), np.ones(len(features), bool)
        self.Z = np.column_stack([np.ones(len(features)), (features - self.origin) / self.scale])
        root = np.linalg.cholesky(self.Z.T @ self.Z / len(self.Z) + 1e-10 * np.eye(self.Z.shape[1]))
        self.reach = np.sqrt((np.linalg.solve(root, self.Z.T) ** 2).sum(axis=0).max()) * root.T

    def _coef(self, beta: np.ndarray) -> np.ndarray:
        rest = beta.reshape(-1, self.Z.shape[1])
        return np.vstack([np.zeros((1, self.Z.shape[1])), rest])

    def log_prob(self, beta: np.ndarray, n_classes: int) -> np.ndarray:
        return log_softmax(self.Z @ self._coef(beta).T, axis=1)

    def m_step(self, weights: np.ndarray, beta: Any) -> np.ndarray:
        coef = np.zeros((weights.shape[1], self.Z.shape[1])) if beta is None else self._coef(beta)
        for _ in range(20 if beta is None else 3):
            coef = newton_step(coef, softmax_stats(coef, self.Z, weights), 0.0, self.reach)
        return (coef[1:] - coef[0]).ravel()

    def scores(self, beta: np.ndarray, weights: np.ndarray) -> np.ndarray:
        left = weights - softmax(self.Z @ self._coef(beta).T, axis=1)
        return (left[:, 1:, None] * self.Z[:, None]).reshape(len(left), -1)

    def published(self, beta: np.ndarray) -> Named:
        coef = self._coef(beta)
        slope = coef[:, 1:] / self.scale
        return {"intercept": coef[:, 0] - slope @ self.origin, "coef": slope}

    def contrasts(self, beta: np.ndarray) -> np.ndarray:
        return np.delete(beta.reshape(-1, self.Z.shape[1]), 0, axis=1).ravel()


class _Outcome:
    """A category given the class: β holds class weights and the probabilities of each level but the first."""

    positive = 0  # leading blocks of β, beyond the weights, that are means rather than variances

    def __init__(self, values: np.ndarray, seen: np.ndarray, terms: list):
        self.values, self.seen, self.terms = values, seen, terms

    def _parts(self, beta: np.ndarray) -> np.ndarray:
        return beta.reshape(1 + self._n_blocks, -1)

    @property
    def _n_blocks(self) -> int:
        return self.values.shape[1] - 1

    def log_prob(self, beta: np.ndarray, n_classes: int) -> np.ndarray:
        weight, *shares = self._parts(beta)
        every = np.vstack([1.0 - np.sum(shares, axis=0), *shares])
        own = self.values @ np.log(np.clip(every, 1e-300, None))
        return np.log(np.maximum(weight, 1e-300)) + np.where(self.seen[:, None], own, 0.0)

    def m_step(self, weights: np.ndarray, beta: Any) -> np.ndarray:
        rows = weights[self.seen]
        shares = (self.values[self.seen].T @ rows / rows.sum(axis=0))[1:]
        return np.vstack([weights.mean(axis=0), shares]).ravel()

    def scores(self, beta: np.ndarray, weights: np.ndarray) -> np.ndarray:
        weight, *shares = self._parts(beta)
        own = [
            self.seen[:, None] * weights * (column[:, None] - share) for column, share in zip(self.values.T[1:], shares)
        ]
        return np.hstack([weights - weight, *own])

    def published(self, beta: np.ndarray) -> Named:
        weight, *shares = self._parts(beta)
        return {"weights": weight, "probability": np.vstack([1.0 - np.sum(shares, axis=0), *shares]).T}

    def contrasts(self, beta: np.ndarray) -> np.ndarray:
        parts = self._parts(beta)[1:]
        return (parts[:, 1:] - parts[:, :1]).ravel()


class _Measured(_Outcome):
    """A measurement given the class, N(μ_t, σ_t²): β holds class weights, means and variances."""

    _n_blocks = 2  # type: ignore[assignment]

    def log_prob(self, beta: np.ndarray, n_classes: int) -> np.ndarray:
        weight, mean, variance = self._parts(beta)
        own = norm.logpdf(self.values, mean, np.sqrt(np.maximum(variance, 1e-300)))
        return np.log(np.maximum(weight, 1e-300)) + np.where(self.seen[:, None], own, 0.0)

    def m_step(self, weights: np.ndarray, beta: Any) -> np.ndarray:
        rows, y = weights[self.seen], self.values[self.seen]
        count = rows.sum(axis=0)
        mean = (rows * y).sum(axis=0) / count
        return np.vstack([weights.mean(axis=0), mean, (rows * (y - mean) ** 2).sum(axis=0) / count]).ravel()

    def scores(self, beta: np.ndarray, weights: np.ndarray) -> np.ndarray:
        weight, mean, variance = self._parts(beta)
        left, counts = self.values - mean, self.seen[:, None] * weights
        return np.hstack([weights - weight, counts * left, counts * (left**2 - variance)])

    def published(self, beta: np.ndarray) -> Named:
        return dict(zip(("weights", "mean", "variance"), self._parts(beta)))

    def contrasts(self, beta: np.ndarray) -> np.ndarray:
        mean = self._parts(beta)[1]
        return mean[1:] - mean[0]


def _outcome(outcome: Any) -> _Outcome:
    """The step for an outcome: measured if it is made of numbers, else a category."""
    if np.ndim(outcome) != 1:
        raise ValueError(f"the outcome has {np.ndim(outcome)} dimensions; give one value per row.")
    given = outcome.to_frame() if hasattr(outcome, "to_frame") else np.asarray(outcome)[:, None]
    (cells,) = read_columns(given).values()
    seen = ~cells.missing
    if cells.numeric and not cells.levels and np.asarray(outcome).dtype != bool:
        if np.isinf(cells.values[seen]).any():
            raise ValueError("the outcome contains infinity; replace it, or set it to NaN if it is missing.")
        return _Measured(np.where(seen, cells.values, 0.0)[:, None], seen, [])
    values = cells.values[seen]
    levels = sorted(set(values.tolist()), key=level_text)
    if len(levels) < 2:
        raise ValueError(
            f"the outcome has {len(levels)} level; an outcome that is the same everywhere depends on nothing."
        )
    table = np.zeros((len(seen), len(levels)))
    table[np.flatnonzero(seen), [levels.index(value) for value in values.tolist()]] = 1.0
    return _Outcome(table, seen, [level_text(level) for level in levels])


def _told(step: Any, beta: np.ndarray, covariance: np.ndarray, level: float, told: dict[str, Any]) -> ThreeStep:
    """The estimates as they are published, with what the covariance of β says of them."""
    estimate, size = step.published(beta), np.full(len(beta), 1e-6)
    spread, z = {}, norm.ppf(0.5 * (1 + level))
    for name, value in estimate.items():
        jacobian = _derivative(lambda each, name=name: step.published(each)[name].ravel(), beta, size)
        spread[name] = np.sqrt(np.einsum("ij,jk,ik->i", jacobian, covariance, jacobian)).reshape(value.shape)
    ends = (
        {name: normal_end(name, value, spread[name], sign * z) for name, value in estimate.items()} for sign in (-1, 1)
    )
    jacobian, apart = _derivative(step.contrasts, beta, size), step.contrasts(beta)
    within = jacobian @ covariance @ jacobian.T
    wald = float(apart @ np.linalg.lstsq(within, apart, rcond=1e-12)[0])
    return ThreeStep((estimate, spread, *ends), step.terms, level, (wald, len(apart)), **told)
