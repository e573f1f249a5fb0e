"""Counting combinations of codes: the cell of a row is Σ_j step_j x_j, one column after the other."""

from .jit import jit

__all__ = ["tally"]


@jit
def tally(codes, step, cell, last, weight, counts):
    """Add a column to the cells of rows and, where it is the last, count them.

    Parameters
    ----------
    codes : (n,) integers
    step : int
        What a state more adds to the cell.
    cell : (n,) int32
        Is added to, unless the column is the last.
    last : bool
    weight : (n,) or (0,)
        Weights of the rows; 1 each where there are none.
    counts : (cells,)
        Is added to where the column is the last.
    """
    if not last:
        for r in range(codes.size):
            cell[r] += step * codes[r]
    elif weight.size:
        for r in range(codes.size):
            counts[cell[r] + step * codes[r]] += weight[r]
    else:
        for r in range(codes.size):
            counts[cell[r] + step * codes[r]] += 1.0
