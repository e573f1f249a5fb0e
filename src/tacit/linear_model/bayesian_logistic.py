"""Bayesian logistic regression: log p(y | x) as in `LogisticRegression`, B_kj ~ N(0, 1/α), predictions averaged over B.

    posterior   N(B̂, S), S⁻¹ = α I − Σ_i w_i E ∇² log p(y_i | x_i) about the mode B̂
    evidence    log p(y | α) ≈ log p(y | B̂) − α/2 ‖B̂‖² + p/2 log α − ½ log |H|, H as S⁻¹ without E (Laplace)

The prior is of features with mean 0 and variance 1, and there is none on intercepts. Unless α is given it is uncertain too, with
log α ~ N(0, 1), and everything is averaged over it: few rows tell little of a prior, and a single best one would claim too much.
The curvature is averaged over the posterior that it makes, E: at the mode alone it is next to nothing where classes are
separable, and Laplace's Gaussian so wide that it contradicts the rows it was learned from.
"""

import numbers
import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..base.rows import like
from ..base.settings import KW_ONLY, settings
from ..checks import check_n_jobs, check_number, warn_of_light_rows
from ..declared import OBJECTIVE, Numbers, Part
from ..engine import Fit, Newton, climb
from ..kernels import backend, host, lazy
from ..source import ArraySource, Block, Source
from .averaging import averaged
from .classifier import LinearClassifier, class_factors
from .logistic_model import LogisticModel, LogisticParams, class_codes, scores

__all__ = ["BayesianLogisticRegression"]

SPREAD = 1.0
"""Standard deviation of log α before any row was seen; its mean is 0."""
STEP, NEGLIGIBLE = 0.5, 5.0
"""Between log α that are averaged over, and how much less probable one is, in nats, that is left out."""
AVERAGED = 20
"""Most rounds in which the curvature is averaged over the posterior."""

softmax_kernel = lazy("softmax")


@dataclass(frozen=True)
class Mode:
    """The mode of the coefficients for a prior, minus the curvature there, and the evidence for the prior."""

    log_alpha: float
    fit: Fit
    H: np.ndarray
    evidence: float

    @property
    def probability(self) -> float:
        """Log of the probability of this prior, up to a constant."""
        return self.evidence - 0.5 * (self.log_alpha / SPREAD) ** 2 - np.log(SPREAD * np.sqrt(2.0 * np.pi))


FAR, FAR_OFF = 1e6, 1e3
"""How many times its variance the mean square of a column may be before moments are taken about its mean; how far, in standard
deviations, a column may lie from 0 before rows are moved there or, where they are not in memory, a warning says so."""


@settings
class BayesianLogisticRegression(LinearClassifier):
    """Logistic regression of two or several classes whose coefficients are uncertain, and whose prior the evidence tells.

    Parameters
    ----------
    alpha : float, optional
        Precision of the coefficients' prior, for features of mean 0 and variance 1; averaged over by its evidence unless given.
    fit_intercept : bool, default=True
        Whether there is an intercept; its prior is flat.
    class_weight : dict or "balanced", optional
        Factors of the rows' weights, by class.
    tol : float, default=1e-6
        A mode is found when no entry of the gradient, per unit of weight, is larger.
    max_iter : int, default=100
        Most steps to a mode.
    n_jobs : int, optional
        Threads; default all cores. Results do not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Posterior means, of features as they came; of two classes, the second's minus the first's.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    coef_std_ : ndarray like coef_
        Standard deviations of the coefficients.
    sigma_ : ndarray of shape (n_terms, n_terms)
        Covariance of all coefficients, class by class, the intercept after the features, for features of mean 0 and variance 1.
    mean_, scale_ : ndarray of shape (n_features,)
        Of the features.
    alpha_ : float
        The precision, or its mean in logarithms.
    log_evidence_ : float
        Of the classes, averaged over precisions unless one is given.
    n_iter_ : ndarray of shape (1,)
        Steps to the last mode.
    fit_ : Fit
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    MacKay (1992), The evidence framework applied to classification networks.
    Spiegelhalter and Lauritzen (1990), Sequential updating of conditional probabilities on directed graphical structures.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tacit.linear_model import BayesianLogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianLogisticRegression().fit(X, y)
    >>> round(model.score(X, y), 2), bool(model.predict_proba([[50.0, 50, 50, 50]]).max() < 0.99)
    (0.98, True)
    """

    alpha: float | None = None
    _: KW_ONLY
    fit_intercept: bool = True
    class_weight: Any = None
    tol: float = 1e-6
    max_iter: int = 100
    n_jobs: int | None = None

    _saved = LinearClassifier._saved | {
        "coef_std_": Numbers(lambda owner: f"{owner._n_scores()} d", low=0),
        "sigma_": Numbers(lambda owner: "{0} {0}".format(owner._n_scores() * owner._n_terms), form="scatter"),
        "mean_": Numbers("d"),
        "scale_": Numbers("d", low=0),
        "alpha_": Numbers(low=0),
        "log_evidence_": OBJECTIVE,
        "n_iter_": Numbers("1", low=0, kind="i"),
        "fit_": Part(Fit),
    }

    @property
    def _n_terms(self) -> int:
        return self.n_features_in_ + bool(self.fit_intercept)

    def _check_settings(self) -> None:
        check_number("alpha", self.alpha, numbers.Real, np.finfo(float).tiny, also=(None,))
        check_number("tol", self.tol, numbers.Real, 0)
        check_number("max_iter", self.max_iter, numbers.Integral, 1)
        check_n_jobs(self.n_jobs)

    # Learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the posterior, and the prior unless it is given; see `LogisticRegression.fit`."""
        self._check_settings()
        source, self.classes_ = self._open_classes(X, y, sample_weight)
        self._check_classes()
        warn_of_light_rows(sample_weight, stacklevel=2)
        self._survey(source)
        source, origin = self._centred(source)
        given = None if self.alpha is None else float(np.log(self.alpha))
        found = self._each_prior(source) if given is None else [self._mode(source, given, None)]
        self._publish(found)
        self._move_back(origin)
        if not self.fit_.converged:
            warnings.warn(
                f"the mode was not found: {self.fit_.reason}; increase max_iter.", ConvergenceWarning, stacklevel=2
            )
        return self

    def _survey(self, source: Source) -> None:
        """Mean and scale of the features, and the factors of classes."""

        def totals(block: Block) -> np.ndarray:
            return np.bincount(host(class_codes(block)), host(block.weight), minlength=len(self.classes_))

        def moments(origin: Any, block: Block) -> np.ndarray:
            X, weight = block.X, host(block.weight) * self._factors[host(class_codes(block))]
            X = X.matrix if backend(X) == "sparse" else host(X).astype(np.float64) - origin
            square = X.power(2) if hasattr(X, "power") else X**2
            return np.stack([np.append(weight @ X, weight.sum()), np.append(weight @ square, 0.0)])

        self._factors = class_factors(self.class_weight, self.classes_, source.sum(totals))
        first, second = source.sum(partial(moments, 0.0))
        total = first[-1]
        if not total > 0:
            raise ValueError("class_weight and sample_weight leave no row any weight; at least one class must count.")
        self.mean_ = first[:-1] / total
        square = second[:-1] / total
        if (square > FAR * np.maximum(square - self.mean_**2, 0.0)).any():  # about the mean, or digits are lost
            about, second = source.sum(partial(moments, self.mean_))
            variance = second[:-1] / total - (about[:-1] / total) ** 2
        else:
            variance = square - self.mean_**2
        flat = variance <= 1e-26 * np.maximum(square, 1e-300)
        self.scale_ = np.where(flat, 1.0, np.sqrt(np.maximum(variance, 0.0)))
        self._origin = np.where(~flat & (np.abs(self.mean_) > FAR_OFF * self.scale_), self.mean_, 0.0)
        if not self.fit_intercept:
            self.mean_ = np.zeros_like(self.mean_)

    def _centred(self, source: Source) -> tuple[Source, np.ndarray]:
        """Rows about a point near them, and that point; far from 0 the posterior would lose digits."""
        origin = self._origin
        if isinstance(source, ArraySource) and self.fit_intercept and origin.any():
            self.mean_ = self.mean_ - origin
            return ArraySource(
                source.X - origin, source.weight, source.labels, source.targets, n_jobs=self.n_jobs
            ).described_as(source), origin  # fmt: skip
        if origin.any():
            column = self._told(int(np.argmax(origin != 0)))
            warnings.warn(
                f"column {column} lies more than {FAR_OFF:g} standard deviations from 0, where the posterior loses digits; "
                "subtract its mean first.", stacklevel=3,
            )  # fmt: skip
        return source, np.zeros_like(origin)

    def _move_back(self, origin: np.ndarray) -> None:
        """Intercepts and means of features as they came, where they were learned about a point."""
        if origin.any():
            self.mean_ = self.mean_ + origin
            self.intercept_ = self.intercept_ - self.coef_ @ origin
            fit: Fit = self.__dict__["fit_"]
            moved = LogisticParams(fit.params.slope, fit.params.offset - fit.params.slope @ origin)
            self.fit_ = replace(fit, params=moved)

    def _model(self, alpha: float | None = None) -> LogisticModel:
        """The model of features as they came, whose prior is that of standardised ones."""
        alpha = self.alpha_ if alpha is None else alpha
        ridge = np.append(alpha * self.scale_**2, 0.0)
        factors = getattr(self, "_factors", np.ones(len(self.classes_)))
        hold = np.append(self.scale_**2, 1.0) if self._n_scores() > 1 else None
        return LogisticModel(self._n_scores(), ridge, np.zeros_like(ridge), self.fit_intercept, factors, hold=hold)

    def _mode(self, source: Source, log_alpha: float, start: Any) -> Mode:
        """The mode for a prior."""
        alpha = float(np.exp(log_alpha))
        model = self._model(alpha)
        fit = climb(model, source, start or model.start, method=Newton(0.0, self.tol), max_iter=self.max_iter)
        found = source.sum(partial(model.slope, fit.params, order=2))
        ridge = np.tile(model.ridge[: self._n_terms], self._n_scores())
        H = self._standardised(-found.curvature + np.diag(ridge))
        if model.hold is not None:  # all intercepts together change nothing, wherever features are
            H += np.tile(
                np.diag(np.append(np.zeros(self.n_features_in_), 1.0)[: self._n_terms]), (self._n_scores(),) * 2
            )
        value = float(found.loglik + model.log_prior(fit.params)) - 0.5 * float(np.linalg.slogdet(H)[1])
        evidence = value + 0.5 * self._n_scores() * self.n_features_in_ * log_alpha
        return Mode(log_alpha, fit, self._settled(source, model, fit.params, H), evidence)

    def _settled(self, source: Source, model: LogisticModel, params: LogisticParams, H: np.ndarray) -> np.ndarray:
        """The curvature averaged over the posterior that it makes."""
        outside = H - self._curvature(source, params, np.zeros_like(H))
        for _ in range(AVERAGED):
            before, H = H, outside + self._curvature(source, params, _inverse(H))
            if np.abs(H - before).max() < 1e-3 * np.abs(H).max():
                break
        return H

    def _curvature(self, source: Source, params: LogisticParams, sigma: np.ndarray) -> np.ndarray:
        """Curvature of the likelihood of standardised features, averaged over scores of covariance `sigma`, as chances are."""
        shape = (self._n_scores(), self._n_terms) * 2

        def of(block: Block) -> np.ndarray:
            Z, spread = self._terms(block), self._spread(block, sigma)
            chance = averaged(scores(params, block), spread)[:, -shape[0] :]
            damping = 1.0 / np.sqrt(1.0 + np.pi / 8.0 * _uncertainty(spread))
            weight = host(block.weight) * self._factors[host(class_codes(block))]
            found = np.zeros(shape)
            softmax_kernel.add_curvature(Z, chance.T, weight * damping, found)
            return -found.reshape(sigma.shape)

        return source.sum(of)

    def _each_prior(self, source: Source) -> list[Mode]:
        """Modes for all precisions that matter, going out from 1 as far as their probability is not negligible."""
        found = [self._mode(source, 0.0, None)]
        for step in (STEP, -STEP):
            last = found[0]
            while last.probability > max(each.probability for each in found) - NEGLIGIBLE:
                last = self._mode(source, last.log_alpha + step, last.fit.params)
                found.append(last)
        return found

    def _standardised(self, H: np.ndarray) -> np.ndarray:
        """The curvature in the coefficients of standardised features: b + B·x = (b + B·m) + (B s)·z."""
        d, q = self.n_features_in_, self._n_terms
        back = np.zeros((q, q))  # coefficients of features as they came, from those of standardised ones
        back[:d, :d] = np.diag(1.0 / self.scale_)
        if self.fit_intercept:
            back[d, :d], back[d, d] = -self.mean_ / self.scale_, 1.0
        lift = np.kron(np.eye(self._n_scores()), back)
        H = lift.T @ H @ lift
        return 0.5 * (H + H.T)

    def _publish(self, found: list[Mode]) -> None:
        """The mean and covariance of the posterior over coefficients and, where it is not given, over the prior's precision."""
        log_weight = np.array([each.probability if len(found) > 1 else 0.0 for each in found])
        weight = softmax(log_weight)
        best = found[int(np.argmax(log_weight))]
        self.fit_, self.alpha_ = best.fit, float(np.exp(weight @ [each.log_alpha for each in found]))
        self.log_evidence_ = best.evidence if len(found) == 1 else float(logsumexp(log_weight) + np.log(STEP))
        means = np.stack([self._forth(each.fit.params) for each in found])
        mean = weight @ means
        self.sigma_ = sum(
            w * (_inverse(each.H) + np.outer(m - mean, m - mean)) for w, each, m in zip(weight, found, means)
        )
        mean = mean.reshape(self._n_scores(), self._n_terms)
        spread = np.sqrt(self.sigma_.diagonal()).reshape(mean.shape)
        d = self.n_features_in_
        self.coef_, self.coef_std_ = mean[:, :d] / self.scale_, spread[:, :d] / self.scale_
        self.intercept_ = mean[:, d] - self.coef_ @ self.mean_ if self.fit_intercept else np.zeros(len(mean))
        self.n_iter_ = np.array([len(self.fit_.trace.objectives) - 1], dtype=np.int32)

    def _forth(self, params: LogisticParams) -> np.ndarray:
        """Coefficients of features as they came as those of standardised ones, in one row."""
        joined = np.column_stack([params.slope * self.scale_, params.offset + params.slope @ self.mean_])
        return joined[:, : self._n_terms].ravel()

    # Predictions

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class for each row, averaged over the posterior of the coefficients."""
        check_is_fitted(self)
        params = self._params()

        def of(block: Block) -> np.ndarray:
            return like(block, averaged(scores(params, block), self._spread(block, self.sigma_)))

        return self._apply(X, of)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log probability of each class."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X: Any) -> np.ndarray:
        """Log of averaged chances, (n_samples, n_classes), or log odds of the second of two classes, (n_samples,)."""
        log_chance = self.predict_log_proba(X)
        return log_chance[:, 1] - log_chance[:, 0] if log_chance.shape[1] == 2 else log_chance

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _terms(self, block: Block) -> np.ndarray:
        """Standardised features of rows, and 1 for the intercept."""
        Z = (host(block.X).astype(np.float64) - self.mean_) / self.scale_
        return np.column_stack([Z, np.ones(len(Z))])[:, : self._n_terms]

    def _spread(self, block: Block, sigma: np.ndarray) -> np.ndarray:
        """Covariance of the scores of rows, (n, scores, scores)."""
        K, q, Z = self._n_scores(), self._n_terms, self._terms(block)
        sigma = sigma.reshape(K, q, K, q)
        made = np.empty((len(Z), K, K))
        for a in range(K):
            for b in range(a + 1):
                made[:, a, b] = made[:, b, a] = np.einsum("ni,ni->n", Z @ sigma[a, :, b], Z)
        return made


def _uncertainty(spread: np.ndarray) -> np.ndarray:
    """Variance of the only score of rows, or of the differences of scores, on average."""
    K = spread.shape[1]
    if K == 1:
        return spread[:, 0, 0]
    own, all_pairs = np.trace(spread, axis1=1, axis2=2), spread.sum(axis=(1, 2))
    return np.maximum(2.0 * (own - all_pairs / K) / (K - 1), 0.0)


def _inverse(H: np.ndarray) -> np.ndarray:
    """The inverse of a curvature, in directions in which there is any."""
    values, vectors = np.linalg.eigh(H)
    return (vectors / np.maximum(values, 1e-12 * values[-1])) @ vectors.T
