"""Latent class regression: p(y | x) = Σ_k g_k(x) Π_f p_f(y_f | θ_kf), classes whose probabilities depend on covariates.

A mixture of experts of which each is a distribution of the responses, whatever their kinds, that covariates move only through
the gate g = softmax(V·[1, x]).
"""

import numbers
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..arrays import Arrays, record
from ..base.settings import KW_ONLY, settings
from ..checks import as_numpy, check_choice, check_number, check_range, check_weight
from ..declared import Part
from ..families import GAUSSIANS, Family, Product
from ..families.product import Parts
from ..frames import is_table
from ..schema import UNKNOWN, Schema
from ..source import Block, Source
from .columns import check_columns, kinds_of, product_family
from .description import Description
from .expert_families import Experts
from .experts_estimator import ExpertsEstimator
from .generic import Mixture
from .model import MixtureParams

__all__ = ["LatentClassRegression"]


@record
class ResponseParams(Arrays):
    """The family's parameters; the coefficients (experts, 1, 1) that experts have are zero."""

    coef: np.ndarray
    components: Any

    def rescaled(self, coef: np.ndarray, factor: np.ndarray) -> "ResponseParams":
        """The same parameters; responses keep their units."""
        return ResponseParams(coef, self.components)


class ResponseExperts(Experts):
    """Distributions of the targets that do not depend on features, of any family; missing targets are integrated out."""

    def __init__(self, family: Family):
        self.family = family

    def rows(self, Y: np.ndarray, block: Block) -> Block:
        if "responses" not in block.local:
            block.local["responses"] = Block.of(block.targets)
        return block.local["responses"]

    def view(self, Y: np.ndarray) -> np.ndarray:
        """Responses as numbers, to look for starts in."""
        return self.family.embed(Block.of(Y), np.random.default_rng(0))

    def start(self, Z: np.ndarray, Y: np.ndarray, resp: np.ndarray, reach: np.ndarray) -> ResponseParams:
        """The family's own start from soft assignments, which hold the weights of the rows."""
        weight, n_classes = resp.sum(axis=1), resp.shape[1]
        share = np.where(weight[:, None] > 0, resp / np.where(weight > 0, weight, 1.0)[:, None], 1.0 / n_classes)
        return ResponseParams(np.zeros((n_classes, 1, 1)), self.family.start(Block.of(Y, weight), share))

    def log_prob(self, params: ResponseParams, Z: np.ndarray, Y: Block) -> np.ndarray:
        """Log density of the responses under each class, (rows, classes)."""
        return self.family.log_prob(params.components, Y)

    def stats(self, params: ResponseParams, Z: np.ndarray, Y: Block, resp: np.ndarray) -> Any:
        """What a block adds."""
        return self.family.stats(params.components, Y, resp)

    def m_step(self, stats: Any, params: ResponseParams, reach: np.ndarray) -> ResponseParams:
        """The family's."""
        return ResponseParams(params.coef, self.family.m_step(stats, params.components))

    def permute(self, params: ResponseParams, order: np.ndarray) -> ResponseParams:
        return ResponseParams(params.coef, self.family.permute(params.components, order))

    def log_prior(self, params: ResponseParams) -> float:
        return self.family.log_prior(params.components)

    def free(self, params: ResponseParams) -> np.ndarray:
        """The family's parameters as a vector without constraints."""
        return self.family.free(params.components)

    def bound(self, vector: np.ndarray, params: ResponseParams) -> ResponseParams:
        """Parameters from any vector."""
        return ResponseParams(params.coef, self.family.bound(vector, params.components))

    def n_parameters(self, params: ResponseParams) -> int:
        """Free parameters."""
        return self.family.n_parameters(params.components)


@settings
class LatentClassRegression(ExpertsEstimator):
    """Classes of responses of any kind, whose probabilities depend on covariates: p(y | x) = Σ_k g_k(x) Π_f p_f(y_f | θ_kf).

    Classes and their regression on covariates X are learned in one step from responses y, which tell what the classes are.
    Responses may be missing, and so may covariates, which are treated as those of :class:`MixtureOfExperts`.

    Parameters
    ----------
    n_components : int, default=2
        Number of classes.
    family, by_column, covariance_type, reg_covar, smoothing
        What describes the responses, as in :class:`Mixture`.
    gate, gate_columns, n_draws, alpha
        As in :class:`MixtureOfExperts`; the gate is the regression of class membership on the covariates.
    tol, max_iter, n_init, random_state, warm_start, verbose, verbose_interval, convergence, accelerate, n_jobs, device, callback
        As in :class:`MixtureOfExperts`.

    Attributes
    ----------
    gate_coef_ : ndarray of shape (n_components, n_terms)
        Coefficients of the covariates; differences between classes are log odds ratios.
    gate_intercept_ : ndarray of shape (n_components,)
    weights_ : ndarray of shape (n_components,)
        Average probability of each class.
    responses_ : tacit.schema.Schema
        Names, kinds and levels of the responses.
    family_ : tacit.families.Product
        The families of the responses.
    components_ : tacit.families.product.Parts
        The families' parameters; `describe` tells them by column.
    terms_, features_, schema_, converged_, n_iter_, lower_bound_, lower_bounds_, fit_, n_features_in_, feature_names_in_
        As in :class:`MixtureOfExperts`.

    References
    ----------
    Dayton and Macready (1988), Concomitant-variable latent-class models.
    Bandeen-Roche, Miglioretti, Zeger and Rathouz (1997), Latent variable regression for multiple discrete outcomes.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.mixture import LatentClassRegression
    >>> rng = np.random.default_rng(0)
    >>> age = rng.normal(size=(500, 1))
    >>> ill = rng.random(500) < 1 / (1 + np.exp(-2 * age[:, 0]))
    >>> answers = np.where(rng.random((500, 5)) < np.where(ill, 0.9, 0.2)[:, None], "yes", "no")
    >>> model = LatentClassRegression(2, random_state=0).fit(age, answers)
    >>> abs(np.diff(model.gate_coef_[:, 0])).round(1)
    array([2.5])
    """

    _: KW_ONLY
    family: Any = "auto"
    by_column: Any = None
    covariance_type: str = "full"
    reg_covar: float = 1e-6
    smoothing: float = 0.0
    expert_columns: ClassVar[Any] = ()  # type: ignore[misc]

    _saved = ExpertsEstimator._saved | {
        "responses_": Part(Schema),
        "family_": Part(Product),
        "components_": Part(Parts),
    }
    _n_targets = 1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = tags.target_tags.multi_output = True
        return tags

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("reg_covar", self.reg_covar, numbers.Real, 0, 1e6)
        check_number("smoothing", self.smoothing, numbers.Real, 0)
        check_choice("covariance_type", self.covariance_type, GAUSSIANS)
        kinds_of(self.family, self.by_column)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        self.family_.check_params(self.components_, self.n_components, len(self.responses_.columns))

    def _experts(self) -> ResponseExperts:
        return ResponseExperts(self.family_)

    def _open(self, *args: Any, reset: bool = False, **kwargs: Any) -> Source:
        source = super()._open(*args, reset=reset, **kwargs)
        if reset:
            self._settle()  # rows that were opened under other settings know the responses, not what describes them here
        return source

    def _settle(self) -> None:
        """Keep the families that describe the responses."""
        self.family_ = product_family(
            self.responses_, self.family, self.by_column, self.covariance_type, floor=self.reg_covar,
            smoothing=self.smoothing,
        )  # fmt: skip

    def _targets(self, y: Any, *, reset: bool = False) -> np.ndarray:
        given = _table_of(y)
        if reset:
            kinds, every = kinds_of(self.family, self.by_column)
            names = given.columns if hasattr(given, "columns") else range(given.shape[1])
            self.responses_ = Schema.of(given, (dict.fromkeys(names, every) | kinds) if every else kinds)
            self._settle()
        cells = self.responses_.encode(given, unknown=UNKNOWN[0])
        if np.isinf(cells).any():
            raise ValueError("y contains infinity; replace it, or set the cell to NaN if it is missing.")
        if reset:
            check_range(cells, told=lambda column: f"{column} of y")
        check_columns(self.family_, cells, self.responses_)
        return cells

    def _publish_experts(self, params: ResponseParams) -> None:
        self.components_ = params.components

    def _expert_params(self) -> ResponseParams:
        coef = np.zeros((self.n_components, 1, len(self.terms_) + 1))
        return ResponseParams(coef, self.components_)

    def _mixture(self) -> Mixture:
        """The classes of responses, of average probabilities, as a mixture."""
        mixture = Mixture(self.n_components)
        weights = getattr(self, "weights_", np.full(self.n_components, 1.0 / self.n_components))
        mixture.schema_, mixture.family_, mixture.weights_ = self.responses_, self.family_, weights
        mixture.params_ = MixtureParams(weights, self.components_)
        return mixture

    def _expert_parameters(self) -> dict[str, np.ndarray]:
        mixture = self._mixture()
        return {name: value for name, value in mixture._parameters(mixture.params_).items() if name != "weights_"}

    def describe(self) -> Description:
        """What the responses of each class look like, column by column; see `Mixture.describe`."""
        check_is_fitted(self)
        return self._mixture().describe()

    def predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Most probable class of each row, given its covariates and, where given, its responses."""
        return (self.predict_gate(X) if y is None else self.responsibilities(X, y)).argmax(axis=1)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:  # type: ignore[override]
        """Average log density of the responses of a row given its covariates."""
        values = self.log_density(X, y)
        return float(np.average(values, weights=check_weight(sample_weight, len(values))))


def _table_of(y: Any) -> Any:
    """Responses as a table, or an array of two dimensions."""
    if hasattr(y, "to_frame"):
        return y.to_frame()
    if is_table(y) and not isinstance(y, (np.ndarray, list, tuple)):
        return y
    given = np.array(y, dtype=object) if isinstance(y, (list, tuple)) else np.asarray(as_numpy(y))
    given = given[:, None] if given.ndim == 1 else given
    return given if given.dtype.kind != "O" or is_table(given) else given.astype(np.float64)
