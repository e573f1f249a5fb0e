"""Missing cells filled in, with how sure each is.

ŷ = E[y | x_O],    an interval holds P(y < low | x_O) = P(y > high | x_O) = (1 − level) / 2,    x_O the row's observed cells

The law of y given x_O is a mixture over groups, of which the quantiles are taken exactly: the interval of a cell that may be
in either of two groups reaches over both. Fitted parameters are taken as known.
"""

import numpy as np

from ..families import Categorical, Product
from ..families.product import ProductParams
from ..mixture.model import MixtureParams
from ..source import ArraySource
from .laws import law_of
from .observed import knowledge_of

__all__ = ["Filler", "fill_cells"]

FEWEST = 20
"""Observed values, none negative, from which a column is taken never to be."""


def fill_cells(model, cells, level=0.9):
    """Fill the missing cells of rows that are numbers already.

    Parameters
    ----------
    model : fitted Mixture, GaussianMixture, StudentTMixture, ProbabilisticPCA or FactorAnalysis
    cells : (n, d) array
        Cells as the model's schema codes them, NaN where missing.
    level : float
        Probability that the interval of a number holds it: at least this of a count, whose quantiles are whole numbers.

    Returns
    -------
    filled : (n, d) array
        Expectations of numbers, codes of the most probable levels; observed cells as they are.
    low, high : (n, d) arrays
        Intervals of filled numbers, NaN elsewhere.
    sure : (n, d) array
        Probabilities of filled categories, NaN elsewhere.

    Notes
    -----
    A mixture that remembers what its groups were learned from (`tacit.report.observed.note_observed`) leaves cells empty, NaN,
    that are likely in groups which have not seen their column.

    Quantiles are exact where columns are Gaussian (of any structure or of low rank), Student t, log-normal, Poisson, geometric,
    negative binomial, Bernoulli, binomial, exponential, gamma or beta. Elsewhere (Dirichlet, families of your own) they are
    those of a Gaussian with the cell's expectation and standard deviation.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.mixture import GaussianMixture
    >>> from tacit.report.filling import fill_cells
    >>> x = np.random.default_rng(0).normal(size=500)
    >>> mixture = GaussianMixture().fit(np.column_stack([x, 2 * x + np.sin(500 * x)]))
    >>> filled, low, high, _ = fill_cells(mixture, np.array([[1.0, np.nan]]))
    >>> bool(low[0, 1] < 2.0 < high[0, 1])
    True
    """
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} is not a probability between 0 and 1, both excluded.")
    rule, params = model._model(), model._params()
    if not isinstance(params, MixtureParams):
        raise TypeError(f"a {type(model).__name__} does not say how missing cells are distributed; use a mixture.")
    cells = np.asarray(cells, dtype=np.float64)
    filled = cells.copy()
    low, high, sure = (np.full(cells.shape, np.nan) for _ in range(3))
    holed = np.flatnonzero(np.isnan(cells).any(axis=1))
    if len(holed):
        source = ArraySource(np.ascontiguousarray(cells[holed]), n_jobs=getattr(model, "n_jobs", None))
        known = knowledge_of(model)
        found = np.concatenate(list(source.map(lambda block: _fill(rule, params, block, level, known))))
        for out, values in zip((filled, low, high, sure), found.transpose(1, 0, 2)):
            out[holed] = values
    return filled, low, high, sure


def _fill(rule, params, block, level, known=None):
    """The four answers of a block, (rows, 4, d)."""
    found = np.full((len(block), 4, block.X.shape[1]), np.nan)
    found[:, 0] = block.X
    resp = rule.posterior(params, block)[0] if rule.n_components > 1 else np.ones((len(block), 1))
    family, own = rule.family, params.components
    if not isinstance(family, Product):
        family, own = Product([(family, range(block.X.shape[1]))]), ProductParams((own,))
    for (part, named), values in zip(family.parts, own.parts):
        columns = np.array(named)
        chosen = block.select(named)
        if chosen.patterns.is_complete:
            continue
        rows, places = np.nonzero(np.isnan(chosen.X))
        where = columns[places]
        if isinstance(part, Categorical):
            found[rows, 0, where], found[rows, 3, where] = _levels(part, values, resp, rows, places, columns, known)
            continue
        weight = resp[rows] if known is None else known.shared(resp[rows], where)
        law = law_of(part, values, chosen, resp, rows, places)
        found[rows, 0, where] = law.mean(weight)
        found[rows, 1, where] = law.quantile(0.5 * (1.0 - level), weight)
        found[rows, 2, where] = law.quantile(0.5 * (1.0 + level), weight)
    if known is not None:
        found.transpose(0, 2, 1)[known.empty(block.X, resp)] = np.nan
    return found


def _levels(part, params, resp, rows, places, columns, known):
    """The most probable level of every missing category, and its probability."""
    level, sure = np.empty(len(rows)), np.empty(len(rows))
    for j, probability in enumerate(part.level_probabilities(params, resp)):
        here = places == j
        if known is not None and here.any() and not known.knows[:, columns[j]].all():
            column = np.full(len(resp), columns[j])
            probability = part.level_probabilities(params, known.shared(resp, column))[j]
        level[here], sure[here] = probability[rows[here]].argmax(axis=1), probability[rows[here]].max(axis=1)
    return level, sure


class Filler:
    """`fill_cells` for the rows of a table, with what its columns are known to hold.

    A measurement of which no observed value is negative is not filled with a negative one: since the true value is not, the
    fill only comes nearer, and the interval holds it as often as before.

    Parameters
    ----------
    model : fitted model
        Whose columns are those that the table uses.
    table : DataTable
    level : float
        Of the intervals.
    columns : list of int, optional
        Positions of the table's columns among the model's; default all in order.
    """

    def __init__(self, model, table, level=0.9, columns=None):
        self.model, self.level, self.columns = model, level, slice(None) if columns is None else columns
        self.least = np.array([least_of(column) for column in table.used])

    def __call__(self, cells):
        """As `fill_cells` of rows with all the model's columns, for those of the table."""
        filled, low, high, sure = (part[:, self.columns] for part in fill_cells(self.model, cells, self.level))
        return (
            self.bounded(filled, cells[:, self.columns]),
            np.maximum(low, self.least),
            np.maximum(high, self.least),
            sure,
        )

    def bounded(self, filled, cells):
        """Filled rows with no missing cell below what its column may hold."""
        return np.where(np.isnan(cells), np.maximum(filled, self.least), filled)  # of NaN, NaN


def least_of(column):
    """The least value that a column may hold."""
    positive = column.role == "measurement" and column.low is not None and column.low >= 0
    return 0.0 if positive and column.n_rows - column.n_missing >= FEWEST else -np.inf
