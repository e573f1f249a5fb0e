"""`MixtureEstimator`: what estimators of mixtures share, whatever describes the columns of their rows."""

import numbers
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..base import LatentClassEstimator
from ..checks import check_choice, check_columns, check_number
from ..declared import Numbers
from ..families import GAUSSIANS, Dirichlet, Multinomial
from ..source import Source, SparseSource
from .model import MixtureModel
from .noise import NoiseModel, box_of
from .seeds import INITS

__all__ = ["MixtureEstimator", "check_mixture", "opened"]


class MixtureEstimator(LatentClassEstimator):
    """Base of mixtures: a subclass defines ``_family()``."""

    weight_prior: Any = None
    noise_box_: Any

    _saved = LatentClassEstimator._saved | {
        "noise_box_": Numbers("2 d", needed=lambda estimator: bool(estimator.noise))
    }

    def _names(self) -> list | None:
        """Names of the columns, where they have any."""
        return self._known_names()

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("reg_covar", self.reg_covar, numbers.Real, 0, 1e6)
        check_choice("covariance_type", self.covariance_type, GAUSSIANS)
        check_choice("init_params", self.init_params, INITS)
        self._check_draws()
        if self.weight_prior is not None:
            check_number("weight_prior", self.weight_prior, numbers.Real, 1)
        if not isinstance(self.noise, (bool, np.bool_)):
            raise ValueError(f"noise={self.noise!r} is neither True nor False.")

    def _prepare(self, source: Source) -> Any:
        self.__dict__.pop("noise_box_", None)
        if self.noise:
            family: Any = self._family()
            for part, _ in getattr(family, "parts", [(family, ())]):
                if isinstance(part, (Dirichlet, Multinomial)) or isinstance(source, SparseSource):
                    told = "sparse rows" if isinstance(source, SparseSource) else f"{type(part).__name__} columns"
                    raise ValueError(f"noise=True spreads rows over a box, which {told} do not fill; use noise=False.")
            self.noise_box_ = box_of(source)
        return super()._prepare(source)

    def _model(self) -> MixtureModel:
        if not self.noise:
            return MixtureModel(self._family(), self.n_components, self.init_params, self.weight_prior)
        return NoiseModel(self._family(), self.n_components, self.noise_box_, self.init_params, self.weight_prior)

    def _given_and_target(self, given: Any, target: Any) -> tuple[np.ndarray, np.ndarray]:
        """Positions of the given and the target columns; one of the two may be left out, and is all other columns."""
        check_is_fitted(self)
        if given is None and target is None:
            raise ValueError("neither given nor target names a column; say what is known or what is asked for.")
        d, names = self.n_features_in_, self._names()
        given, target = (
            None if columns is None else check_columns(name, columns, d, names)
            for name, columns in (("given", given), ("target", target))
        )
        given = np.setdiff1d(np.arange(d), target) if given is None else given
        target = np.setdiff1d(np.arange(d), given) if target is None else target
        both = np.intersect1d(given, target)
        if both.size:
            column = (names or range(d))[both[0]]
            raise ValueError(f"column {column!r} is both given and target; name it in one of the two.")
        if not target.size:
            raise ValueError("every column is given, so that none is left to predict; leave the target out of given.")
        return given, target


def check_mixture(
    function: str, estimator: Any, what: str = "a mixture", *, by_likelihood: bool = False, experts: bool = False
) -> None:
    """Raise TypeError where a function that takes mixtures, or also mixtures of experts, is given something else."""
    suits = isinstance(estimator, LatentClassEstimator) or (experts and hasattr(estimator, "predict_gate"))
    if not suits or (by_likelihood and not estimator._by_likelihood):
        name = estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__
        raise TypeError(f"{function} takes {what}, such as GaussianMixture() or Mixture(), but got {name}.")


def opened(estimator: Any, X: Any, y: Any, weight: Any, unit: Any, *, reset: bool = False) -> Source:
    """The source of rows as `fit` opens them; only mixtures of experts know rows that belong together."""
    if unit is None:
        return estimator._open(X, weight, y, reset=reset)
    if not hasattr(estimator, "predict_gate"):
        raise ValueError(f"{type(estimator).__name__} takes no unit; every row is a unit of its own.")
    return estimator._open(X, weight, y, reset=reset, unit=unit)
