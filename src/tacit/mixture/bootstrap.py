"""How many components? The likelihood ratio of K against K + 1, and its distribution under K by simulation.

    −2 log λ = 2 (log L_{K+1} − log L_K)        p = (1 + #{replicates ≥ observed}) / (1 + B)

The ratio has no known distribution, because K components lie on the edge of K + 1; replicates are drawn from the fit with K.
"""

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from ..checks import check_number
from ..source import ArraySource, Source, is_streamed
from ..table import Table
from .estimator import check_mixture
from .sweep import Sweep

__all__ = ["BootstrapTest", "SequentialTest", "bootstrap_lrt"]

# A ratio is a difference of two maxima, so both are found to more digits than a fit needs.
TOL, MAX_ITER = 1e-7, 1000


@dataclass(frozen=True)
class BootstrapTest:
    """A test of K components against K + 1.

    Attributes
    ----------
    n_components : int
        K, the hypothesis.
    statistic : float
        −2 log λ of the data.
    p_value : float
        Share of samples from K components, the data among them, with a ratio at least as large.
    replicates : ndarray of shape (n_bootstrap,)
        −2 log λ of the simulated samples.
    """

    n_components: int
    statistic: float
    p_value: float
    replicates: np.ndarray

    @property
    def row(self) -> dict[str, Any]:
        """The test as a row of a table."""
        names = {"components": self.n_components, "against": self.n_components + 1}
        return {**names, "statistic": self.statistic, "p_value": self.p_value, "n_bootstrap": len(self.replicates)}

    def __repr__(self) -> str:
        return str(Table([self.row]))


class SequentialTest:
    """Tests of 1 against 2 components, 2 against 3 and so on, up to the first that does not reject; made by `bootstrap_lrt`.

    Attributes
    ----------
    tests : list of BootstrapTest
    table : tacit.table.Table
        One row per test.
    statistic, p_value : ndarray of shape (n_tests,)
    replicates : ndarray of shape (n_tests, n_bootstrap)
    n_components : int
        The first number of components that was not rejected; one more than the last tested where all were.
    """

    def __init__(self, tests: list[BootstrapTest], level: float):
        self.tests, self.level = tests, level
        self.table = Table([test.row for test in tests])
        self.statistic, self.p_value = (np.array(self.table[name]) for name in ("statistic", "p_value"))
        self.replicates = np.array([test.replicates for test in tests])
        self.n_components = tests[-1].n_components + int(tests[-1].p_value <= level)

    def __repr__(self) -> str:
        return f"{self.table}\n{self.n_components} components at the level {self.level:g}"


def bootstrap_lrt(
    estimator: Any,
    X: Any,
    n_components: int | None = None,
    *,
    n_bootstrap: int = 99,
    max_components: int | None = None,
    level: float = 0.05,
    random_state: Any = None,
    callback: Callable[[int, int], Any] | None = None,
) -> BootstrapTest | SequentialTest:
    """Test K components against K + 1 by the parametric bootstrap of the likelihood ratio.

    Data and simulated samples go through the same search: random starts, and splits of the fit with K components.
    Simulated rows have missing cells where the rows of X have them.

    Parameters
    ----------
    estimator : LatentClassEstimator
        Its settings hold for both models, but fits are converged to at least 1e-7 per row. Not changed.
    X : array-like of shape (n_samples, n_features)
        Rows; NaN is missing.
    n_components : int, optional
        K; default the estimator's, or 1 with `max_components`.
    n_bootstrap : int, default=99
        Simulated samples.
    max_components : int, optional
        Go on to K + 1 against K + 2 after every rejection, and test no K above this.
    level : float, default=0.05
        Where a sequence of tests stops.
    random_state : int, RandomState instance or None, default=None
        Seeds the samples.
    callback : callable, optional
        Called with the number of samples done and the number wanted, after each.

    Returns
    -------
    BootstrapTest, or SequentialTest with `max_components`

    References
    ----------
    McLachlan (1987), On bootstrapping the likelihood ratio test statistic for the number of components in a normal mixture.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.mixture import GaussianMixture, bootstrap_lrt
    >>> X = np.concatenate([np.random.default_rng(0).normal(m, 1, (40, 1)) for m in (0, 8)])
    >>> bootstrap_lrt(GaussianMixture(covariance_type="tied"), X, 1, n_bootstrap=19, random_state=0).p_value
    0.05
    """
    check_mixture("bootstrap_lrt", estimator, by_likelihood=True)
    if is_streamed(X):
        raise ValueError("bootstrap_lrt takes rows in memory; read them, or a sample of them, first.")
    check_number("n_bootstrap", n_bootstrap, numbers.Integral, 1)
    check_number("level", level, numbers.Real, 0, 1)
    if n_components is None:
        n_components = 1 if max_components is not None else estimator.n_components
    check_number("n_components", n_components, numbers.Integral, 1)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    base = tightened(estimator, rng)
    source = clone(base).set_params(n_components=n_components)._open(X, reset=True)
    if max_components is None:
        return _test(base, source, n_components, n_bootstrap, rng, callback)
    check_number("max_components", max_components, numbers.Integral, n_components)
    tests: list[BootstrapTest] = []
    for k in range(n_components, max_components + 1):
        tests.append(_test(base, source, k, n_bootstrap, rng, callback))
        if tests[-1].p_value > level:
            break
    return SequentialTest(tests, level)


def tightened(estimator: Any, rng: np.random.Generator) -> Any:
    """An estimator that converges to more digits, with a seed of its own."""
    tight = {"tol": min(estimator.tol, TOL), "max_iter": max(estimator.max_iter, MAX_ITER)}
    return clone(estimator).set_params(**tight, random_state=int(rng.integers(2**31)))


def _test(
    estimator: Any, source: ArraySource, k: int, n_bootstrap: int, rng: np.random.Generator, callback: Callable | None
) -> BootstrapTest:
    """One test of k components against k + 1."""
    statistic, null, _ = ratio(estimator, source, k)
    replicates = np.empty(n_bootstrap)
    for b in range(n_bootstrap):
        replicates[b] = ratio(estimator, simulated(null, source, rng), k)[0]
        if callback is not None:
            callback(b + 1, n_bootstrap)
    p_value = (1 + int((replicates >= statistic).sum())) / (1 + n_bootstrap)
    return BootstrapTest(k, statistic, p_value, replicates)


def ratio(estimator: Any, source: Source, k: int) -> tuple[float, Any, Any]:
    """−2 log λ of rows, and the fits with k components and k + 1."""
    grid = [{"n_components": k}, {"n_components": k + 1}]
    fits = Sweep(estimator, grid, source, thorough=False).run()
    for outcome in fits:
        if outcome.estimator is None:
            raise ValueError(f"the fit with {outcome.settings['n_components']} components failed: {outcome.failed}")
    null, alternative = (outcome.estimator for outcome in fits)
    gain = alternative.score_samples(source).sum() - null.score_samples(source).sum()
    # A maximum with one component more is no lower: what search or tolerance leave below zero is zero.
    return max(2.0 * float(gain), 0.0), null, alternative


def simulated(fitted: Any, source: ArraySource, rng: np.random.Generator) -> ArraySource:
    """As many rows as there are, drawn from a fit, in any order, with the cells missing that are missing there."""
    X = source.X
    rows = fitted._model().sample(fitted._params(), len(X), rng)[0]
    rows = np.where(np.isnan(X), np.nan, rng.permutation(rows)).astype(X.dtype)
    return ArraySource(rows, n_jobs=source.n_jobs).described_as(source)
