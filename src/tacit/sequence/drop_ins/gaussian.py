"""`GaussianHMM` and `GMMHMM`: states that are Gaussian, or mixtures of Gaussians, as in hmmlearn."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...checks import check_choice
from ...declared import SQUARES, Numbers
from ...families import Family
from ...source import Source
from .base import DropIn, keep
from .mixed import Mixed, MixedParams
from .penalised import PENALISED, Penalty

__all__ = ["GMMHMM", "GaussianHMM"]

SHAPES = {"spherical": "K", "diag": "K d", "full": "K d d", "tied": "d d"}


def _common(mean: np.ndarray, covariance: np.ndarray, family: Family) -> Any:
    """Parameters of Gaussians about their common mean, in units of their common variance."""
    origin = mean.mean(axis=0)
    made: Any = family
    dense = made.params(mean, covariance, origin, origin).dense
    scale = np.einsum("kjj->j", dense) / len(dense) + ((mean - origin) ** 2).mean(axis=0)
    return made.params(mean, covariance, origin, scale)


class GaussianHMM(DropIn):
    """Hidden Markov model with Gaussian emissions: a drop-in for hmmlearn's that takes missing values and known states.

    Parameters
    ----------
    n_components : int, default=1
        Number of states.
    covariance_type : {"spherical", "diag", "full", "tied"}, default="diag"
        Shape of the states.
    min_covar : float, default=1e-3
        Accepted for compatibility: the floor is 1e-10 of the data's variance.
    startprob_prior, transmat_prior : float or array, default=1.0
        α of Dirichlet priors.
    means_prior, means_weight : float or array, default=0
        A prior worth `means_weight` rows at `means_prior`.
    covars_prior, covars_weight : float or array, default=1e-2 and 1
        A prior of the covariances: scatter, and how many rows it is worth.
    algorithm : {"viterbi", "map"}, default="viterbi"
        What `predict` gives.
    random_state : int, RandomState instance or None, default=None
        Seeds the starts and `sample`.
    n_iter : int, default=10
        Most steps.
    tol : float, default=1e-2
        Stop when the log-likelihood of all rows gains less.
    verbose : bool, default=False
        Print steps to the standard error.
    params, init_params : str, default="stmc"
        What is learned, and what begins with values found in the rows instead of those that are set: "s" startprob_, "t"
        transmat_, "m" means_, "c" covars_.
    implementation : {"log", "scaling"}, default="log"
        Accepted for compatibility: both are exact and the same here.
    n_init : int, default=1
        Number of starts, each the best of several short runs.
    n_jobs : int, optional
        Threads; default all cores.
    callback : callable, optional
        Called with a :class:`tacit.engine.Progress` after every step.
    sequence, time : name of a column, optional
        Which sequence a row of a table belongs to, and when it was.

    Attributes
    ----------
    startprob_ : ndarray of shape (n_components,)
    transmat_ : ndarray of shape (n_components, n_components)
    means_ : ndarray of shape (n_components, n_features)
    covars_ : ndarray of shape (n_components, n_features, n_features)
        Full matrices; set in the shape of `covariance_type`.
    monitor_ : ConvergenceMonitor
    fit_ : tacit.engine.Fit

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.sequence import GaussianHMM
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal(6, 1, (40, 2))])
    >>> X[5, 0] = np.nan
    >>> model = GaussianHMM(2, random_state=0).fit(X, [30, 50])
    >>> int((np.diff(model.predict(X, [30, 50])) != 0).sum())
    1
    """

    _letters: ClassVar[dict[str, str]] = {"m": "means_", "c": "_covars_"}
    _saved = DropIn._saved | {
        "means_": Numbers("K d"),
        "_covars_": Numbers(lambda estimator: SHAPES[estimator.covariance_type], low=0, high=SQUARES),
    }
    means_: np.ndarray
    _covars_: np.ndarray

    def __init__(
        self, n_components: int = 1, covariance_type: str = "diag", min_covar: float = 1e-3, startprob_prior: Any = 1.0,
        transmat_prior: Any = 1.0, means_prior: Any = 0, means_weight: Any = 0, covars_prior: Any = 1e-2,
        covars_weight: Any = 1, algorithm: str = "viterbi", random_state: Any = None, n_iter: int = 10, tol: float = 1e-2,
        verbose: bool = False, params: str = "stmc", init_params: str = "stmc", implementation: str = "log", *,
        n_init: int = 1, n_jobs: int | None = None, callback: Any = None, sequence: Any = None, time: Any = None,
    ):  # fmt: skip
        keep(self, locals())

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("covariance_type", self.covariance_type, SHAPES)

    def _family(self) -> Any:
        return PENALISED[self.covariance_type](self._penalty(self.n_features_in_))

    def _penalty(self, d: int) -> Penalty:
        k, kind = self.n_components, self.covariance_type
        mean = np.broadcast_to(np.asarray(self.means_prior, float), (k, d))
        pull = np.broadcast_to(np.asarray(self.means_weight, float).ravel(), (k,))
        prior, worth = np.asarray(self.covars_prior, float), float(np.max(self.covars_weight))
        held = "".join(letter for letter in "mc" if letter not in self.params)
        if kind in ("diag", "spherical"):
            each = np.broadcast_to(prior[:, None] if prior.shape == (k,) else prior, (k, d))
            extra = np.full((k, d), max(worth - 1.0, 0.0))
            if kind == "spherical":
                each, extra = each.sum(axis=1), extra.sum(axis=1)
            return Penalty(mean, pull, each, extra, held)
        scatter = prior if prior.ndim >= 2 else np.eye(d) * (prior if prior.ndim == 0 else prior.mean())
        return Penalty(mean, pull, scatter, max(worth - d, 0.0), held)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        if "n_features_in_" not in self.__dict__ and "means_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no columns before fit.")
        return self.n_features_in_ if "n_features_in_" in self.__dict__ else np.asarray(self.means_).shape[1]

    @n_features.setter
    def n_features(self, n_features: int) -> None:
        self.n_features_in_ = int(n_features)

    @property
    def covars_(self) -> np.ndarray:
        """Covariances as full matrices, (n_components, n_features, n_features)."""
        found, k, d = np.asarray(self._covars_, dtype=float), self.n_components, self.n_features
        if self.covariance_type == "full":
            return found
        if self.covariance_type == "tied":
            return np.broadcast_to(found, (k, d, d)).copy()
        variances = np.broadcast_to(found.reshape(k, -1), (k, d))
        return variances[:, :, None] * np.eye(d)

    @covars_.setter
    def covars_(self, covars: Any) -> None:
        covars, k = np.array(covars, dtype=np.float64), self.n_components
        if self.covariance_type == "spherical":
            covars = covars.reshape(len(covars), -1).mean(axis=1) if covars.size else covars
        expected = {"spherical": 1, "diag": 2, "full": 3, "tied": 2}.get(self.covariance_type)
        if covars.ndim != expected or (self.covariance_type != "tied" and len(covars) != k):
            raise ValueError(
                f"covars_ has shape {covars.shape}, which is not that of {k} states with covariance_type="
                f"{self.covariance_type!r}."
            )
        if covars.ndim >= 2 and self.covariance_type in ("full", "tied"):
            if not np.allclose(covars, np.swapaxes(covars, -1, -2)) or (np.linalg.eigvalsh(covars) <= 0).any():
                raise ValueError("covars_ must be symmetric and positive definite.")
        elif (covars <= 0).any():
            raise ValueError(f"covars_ holds {covars.min():g}; variances must be greater than 0.")
        self._covars_ = covars

    def _check(self) -> None:
        check_choice("covariance_type", self.covariance_type, SHAPES)
        super()._check()
        self.means_ = np.asarray(self.means_, dtype=np.float64)
        if self.means_.ndim != 2 or len(self.means_) != self.n_components:
            raise ValueError(f"means_ has shape {self.means_.shape}, but there are {self.n_components} states.")
        self.n_features_in_ = self.means_.shape[1]

    def _components(self) -> Any:
        self.n_features_in_ = np.asarray(self.means_).shape[1]
        return _common(np.asarray(self.means_, float), np.asarray(self._covars_, float), self._family())

    def _replaced(self, components: Any, kept: dict[str, Any]) -> Any:
        mean = np.asarray(kept.get("means_", components.mean), dtype=np.float64)
        covariance = np.asarray(kept.get("_covars_", components.covariance), dtype=np.float64)
        return self._family().params(mean, covariance, components.origin, components.scale)

    def _publish_components(self, components: Any, dtype: np.dtype) -> None:
        self.means_, self._covars_ = components.mean.copy(), components.covariance.copy()

    def _get_n_fit_scalars_per_param(self) -> dict[str, int]:
        k, d = self.n_components, self.n_features
        triangle = d * (d + 1) // 2
        shape = {"spherical": k, "diag": k * d, "full": k * triangle, "tied": triangle}
        return super()._get_n_fit_scalars_per_param() | {"m": k * d, "c": shape[self.covariance_type]}


class GMMHMM(DropIn):
    """Hidden Markov model whose emissions are mixtures of Gaussians: a drop-in for hmmlearn's.

    Parameters
    ----------
    n_components : int, default=1
        Number of states.
    n_mix : int, default=1
        Gaussians of each state.
    min_covar, startprob_prior, transmat_prior, algorithm, random_state, n_iter, tol, verbose, implementation
        As in :class:`GaussianHMM`.
    weights_prior : float or array, default=1.0
        α of Dirichlet priors of the weights.
    means_prior, means_weight : float or array, default=0.0
        A prior worth `means_weight` rows at `means_prior`.
    covars_prior, covars_weight : float or array, optional
        Parameters of inverse gamma ("diag", "spherical") or inverse Wishart priors; default none.
    covariance_type : {"spherical", "diag", "full", "tied"}, default="diag"
        Shape of the Gaussians; "tied" is shared by those of a state.
    params, init_params : str, default="stmcw"
        As in :class:`GaussianHMM`, and "w" for the weights.
    n_init, n_jobs, callback, sequence, time
        As in :class:`GaussianHMM`.

    Attributes
    ----------
    startprob_ : ndarray of shape (n_components,)
    transmat_ : ndarray of shape (n_components, n_components)
    weights_ : ndarray of shape (n_components, n_mix)
    means_ : ndarray of shape (n_components, n_mix, n_features)
    covars_ : ndarray
        Of shape (n_components, n_mix), (n_components, n_mix, n_features), (n_components, n_mix, n_features, n_features) or
        (n_components, n_features, n_features) for spherical, diag, full and tied.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.sequence import GMMHMM
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> GMMHMM(2, 2, random_state=0).fit(X).means_.shape
    (2, 2, 2)
    """

    _letters: ClassVar[dict[str, str]] = {"w": "weights_", "m": "means_", "c": "covars_"}
    _short_runs, _short_steps = None, 10  # mixtures in every state have many maxima
    _saved = DropIn._saved | {
        "weights_": Numbers("K M", low=0, high=1, total=1),
        "means_": Numbers("K M d"),
        "covars_": Numbers(
            lambda estimator: {"spherical": "K M", "diag": "K M d", "full": "K M d d", "tied": "K d d"}[
                estimator.covariance_type
            ],
            high=SQUARES,
        ),
    }
    means_: np.ndarray
    covars_: np.ndarray

    def __init__(
        self, n_components: int = 1, n_mix: int = 1, min_covar: float = 1e-3, startprob_prior: Any = 1.0,
        transmat_prior: Any = 1.0, weights_prior: Any = 1.0, means_prior: Any = 0.0, means_weight: Any = 0.0,
        covars_prior: Any = None, covars_weight: Any = None, algorithm: str = "viterbi", covariance_type: str = "diag",
        random_state: Any = None, n_iter: int = 10, tol: float = 1e-2, verbose: bool = False, params: str = "stmcw",
        init_params: str = "stmcw", implementation: str = "log", *, n_init: int = 1, n_jobs: int | None = None,
        callback: Any = None, sequence: Any = None, time: Any = None,
    ):  # fmt: skip
        keep(self, locals())

    @property
    def _inner(self) -> str:
        return "full" if self.covariance_type == "tied" else self.covariance_type

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("covariance_type", self.covariance_type, SHAPES)

    def _family(self) -> Any:
        k, m = self.n_components, self.n_mix
        alpha = np.broadcast_to(np.asarray(self.weights_prior, float), (k, m))
        inner = PENALISED[self._inner](self._penalty(self.n_features_in_))
        return Mixed(inner, m, None if (alpha == 1.0).all() else alpha, held="w" not in self.params)

    def _penalty(self, d: int) -> Penalty:
        """Priors as hmmlearn writes them: inverse gammas of α and β, inverse Wisharts of Ψ and ν."""
        k, m, kind = self.n_components, self.n_mix, self.covariance_type
        mean = np.broadcast_to(np.asarray(self.means_prior, float), (k, m, d)).reshape(k * m, d)
        pull = np.broadcast_to(np.asarray(self.means_weight, float), (k, m)).ravel()
        held = "".join(letter for letter in "mc" if letter not in self.params)
        prior, worth = self.covars_prior, self.covars_weight
        if kind in ("diag", "spherical"):
            default = -1.5 if kind == "diag" else -(d + 2.0) / 2.0
            shape = (k, m, d) if kind == "diag" else (k, m)
            alpha, beta = (np.broadcast_to(default if v is None else np.asarray(v, float), shape).reshape(k * m, *shape[2:])
                           for v, default in ((prior, default), (worth, 0.0)))  # fmt: skip
            return Penalty(mean, pull, 2.0 * beta, (1.0 if kind == "diag" else d) + 2.0 * (alpha + 1.0), held)
        groups = np.repeat(np.arange(k), m) if kind == "tied" else None
        lead = (k,) if kind == "tied" else (k, m)
        default = -((m if kind == "tied" else 1.0) + d + 1.0)
        nu = np.broadcast_to(default if worth is None else np.asarray(worth, float), lead).ravel()
        psi = np.zeros((d, d)) if prior is None else np.asarray(prior, float)
        psi = np.broadcast_to(psi if psi.ndim >= 2 else np.eye(d) * psi, (*lead, d, d)).reshape(-1, d, d)
        return Penalty(mean, pull, psi, nu - default, held, groups)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.n_features_in_ if "n_features_in_" in self.__dict__ else np.asarray(self.means_).shape[2]

    @n_features.setter
    def n_features(self, n_features: int) -> None:
        self.n_features_in_ = int(n_features)

    def _check(self) -> None:
        check_choice("covariance_type", self.covariance_type, SHAPES)
        super()._check()
        k, m = self.n_components, self.n_mix
        self.weights_, self.means_, self.covars_ = (
            np.asarray(getattr(self, name), dtype=np.float64) for name in ("weights_", "means_", "covars_")
        )
        if self.weights_.shape != (k, m):
            raise ValueError(f"weights_ has shape {self.weights_.shape}, but must have ({k}, {m}).")
        self._check_sum_1("weights_")
        if self.means_.ndim != 3 or self.means_.shape[:2] != (k, m):
            raise ValueError(f"means_ has shape {self.means_.shape}, but must have ({k}, {m}, n_features).")
        d = self.n_features_in_ = self.means_.shape[2]
        shapes = {"spherical": (k, m), "diag": (k, m, d), "full": (k, m, d, d), "tied": (k, d, d)}
        if self.covars_.shape != shapes[self.covariance_type]:
            raise ValueError(f"covars_ has shape {self.covars_.shape}, but must have {shapes[self.covariance_type]}.")
        if self.covariance_type in ("spherical", "diag"):
            if (self.covars_ < 0).any():
                raise ValueError(f"covars_ holds {self.covars_.min():g}; variances must not be negative.")
        elif not np.allclose(self.covars_, np.swapaxes(self.covars_, -1, -2)):
            raise ValueError("covars_ must be symmetric.")
        elif (np.linalg.eigvalsh(self.covars_) < 0).any():
            raise ValueError("covars_ must be positive definite.")

    def _components(self) -> MixedParams:
        k, m = self.n_components, self.n_mix
        means, covars = np.asarray(self.means_, float), np.asarray(self.covars_, float)
        d = self.n_features_in_ = means.shape[2]
        covars = (
            np.repeat(covars, m, axis=0) if self.covariance_type == "tied" else covars.reshape(k * m, *covars.shape[2:])
        )
        return MixedParams(
            np.asarray(self.weights_, float), _common(means.reshape(k * m, d), covars, self._family().family)
        )

    def _shaped(self, components: Any) -> dict[str, np.ndarray]:
        k, m = self.n_components, self.n_mix
        inner = components.components
        covars = inner.covariance.reshape(k, m, *inner.covariance.shape[1:])
        return {
            "weights_": components.weight.copy(), "means_": inner.mean.reshape(k, m, -1).copy(),
            "covars_": covars[:, 0].copy() if self.covariance_type == "tied" else covars.copy(),
        }  # fmt: skip

    def _replaced(self, components: Any, kept: dict[str, Any]) -> Any:
        before = dict(self.__dict__)
        self.__dict__.update(self._shaped(components) | kept)
        made = self._components()
        for name in self._letters.values():
            self.__dict__.pop(name, None)
        self.__dict__.update({name: value for name, value in before.items() if name in self._letters.values()})
        return made

    def _publish(self, params: Any, dtype: np.dtype) -> None:
        super()._publish(params, dtype)
        self.__dict__.update(self._shaped(params.components))

    def _publish_components(self, components: Any, dtype: np.dtype) -> None:
        """With the rest, by `_publish`: weights are those of Gaussians here."""

    def _prepare(self, source: Source) -> Any:
        return None

    def _get_n_fit_scalars_per_param(self) -> dict[str, int]:
        k, m, d = self.n_components, self.n_mix, self.n_features
        triangle = d * (d + 1) // 2
        shape = {"spherical": k * m, "diag": k * m * d, "full": k * m * triangle, "tied": k * triangle}
        return super()._get_n_fit_scalars_per_param() | {
            "m": k * m * d,
            "c": shape[self.covariance_type],
            "w": k * (m - 1),
        }
