"""`TopRows`: the rows of a table that stand out most, kept while all go by."""

import numpy as np

__all__ = ["TopRows"]


class TopRows:
    """The rows of a table that come first by a key, and how many there are in all.

    Parameters
    ----------
    most : int
        How many to keep.
    """

    def __init__(self, most):
        self.most, self.n_rows, self.kept = most, 0, []

    def add(self, key, chosen, describe):
        """Take in the rows that are `chosen`; `describe` of a row's place makes what is kept of it."""
        places = np.flatnonzero(chosen)
        self.n_rows += len(places)
        first = places[np.argsort(key[places], kind="stable")[: self.most]]
        # Ties go by the order of the table.
        self.kept = sorted(
            [*self.kept, *((float(key[place]), describe(place)) for place in first)], key=lambda each: each[0]
        )[: self.most]

    @property
    def rows(self):
        """What is kept, the first first."""
        return [told for _, told in self.kept]
