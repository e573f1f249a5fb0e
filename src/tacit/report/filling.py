"""Missing cells filled in, with how sure each is."""

import numpy as np
from scipy.special import ndtri

__all__ = ["fill_cells"]


def fill_cells(model, cells, level=0.9):
    """Fill the missing cells of rows that are numbers already.

    Parameters
    ----------
    model : fitted Mixture
    cells : (n, d) array
        Cells as the model's schema codes them, NaN where missing.
    level : float
        Probability that the interval of a number holds it.

    Returns
    -------
    filled : (n, d) array
        Expectations of numbers, codes of the most probable levels; observed cells as they are.
    low, high : (n, d) arrays
        Intervals of filled numbers, NaN elsewhere.
    sure : (n, d) array
        Probabilities of filled categories, NaN elsewhere.
    """
    filled, spread = model._expect(cells)
    missing = np.isnan(cells)
    is_category = np.array([column.kind == "category" for column in model.schema_.columns])
    margin = np.where(missing & ~is_category, ndtri(0.5 + 0.5 * level) * spread, np.nan)
    sure = np.where(missing & is_category, 1.0 - spread, np.nan)
    return filled, filled - margin, filled + margin, sure
