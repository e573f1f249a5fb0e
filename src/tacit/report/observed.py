"""What each group of a mixture was learned from: a group that has seen no cell of a column cannot say what one is.

n_kj = Σ_i P(group k | row i) [cell j of row i is observed],    group k knows column j where n_kj ≥ 2

Below two there is no spread to learn, and the group's parameters are where the fit's start or its regularisation left them. A
missing cell is left empty where such groups have more than a tenth of its row; below, the other groups share their part.
"""

import numpy as np

__all__ = [
    "Knowledge", "count_empty", "count_observed", "knowledge_of", "named_counts", "note_observed", "recall_observed",
    "tell_empty", "without",
]  # fmt: skip

FEWEST = 2.0
"""Observed cells from which a group knows a column: the least that have a spread."""
MOST_IGNORANT = 0.1
"""Probability of groups that do not know a column up to which a cell is filled: no more than a 90 % interval leaves out."""


def count_observed(model, source):
    """Observed cells of every column in every group, (K, d), rows counted by how probable the group is."""
    rule, params = model._model(), model._params()

    def count(block):
        seen = (~np.isnan(block.X)).astype(np.float64)
        resp = rule.posterior(params, block)[0] if rule.n_components > 1 else np.ones((len(block), 1))
        return resp.T @ seen

    return sum(source.map(count))


def note_observed(model, source):
    """Let a mixture remember as `observed_` what its groups were learned from; `fill_cells` goes by it."""
    model.observed_ = count_observed(model, source)
    return model


def recall_observed(model, noted):
    """The same from the notes of a model file, which may hold anything."""
    try:
        observed = np.asarray(noted.get("observed"), dtype=np.float64)
    except (TypeError, ValueError):
        return model
    if hasattr(model, "weights_") and observed.shape == (len(model.weights_), model.n_features_in_):
        model.observed_ = observed
    return model


class Knowledge:
    """Which groups know which columns.

    Parameters
    ----------
    observed : (K, d) array
        As `count_observed` gives it.
    """

    def __init__(self, observed):
        self.knows = np.asarray(observed) >= FEWEST

    @property
    def is_whole(self):
        """Whether every group knows every column."""
        return bool(self.knows.all())

    def empty(self, cells, resp):
        """Which missing cells are left empty, (rows, d) bool; `resp` are the probabilities of the groups, (rows, K)."""
        return np.isnan(cells) & (resp @ ~self.knows > MOST_IGNORANT)

    def shared(self, resp, column):
        """Probabilities of the groups for the cells of a column, without those that do not know it."""
        return _normalised(resp * self.knows[:, column].T, resp)

    def shared_rows(self, resp, cells, empty):
        """Probabilities of the groups for whole rows, without those that do not know a cell to be filled."""
        ignorant = (np.isnan(cells) & ~empty) @ ~self.knows.T
        return _normalised(np.where(ignorant, 0.0, resp), resp)


def _normalised(weight, resp):
    total = weight.sum(axis=1, keepdims=True)
    return np.where(total > 0, weight / np.where(total > 0, total, 1.0), resp)


def knowledge_of(model):
    """The `Knowledge` of a mixture that remembers what it was learned from; None where it does not or knows all."""
    observed = getattr(model, "observed_", None)
    if observed is None:
        return None
    known = Knowledge(observed)
    return None if known.is_whole else known


def count_empty(model, source, names):
    """How many missing cells are left empty, by column, where there are any."""
    known = knowledge_of(model)
    if known is None:
        return {}
    rule, params = model._model(), model._params()
    counts = sum(source.map(lambda block: known.empty(block.X, rule.posterior(params, block)[0]).sum(axis=0)))
    return named_counts(counts, names)


def named_counts(counts, names):
    """Counts that are not 0, by name."""
    return {str(name): int(n) for name, n in zip(names, counts) if n}


def without(missing, n_empty):
    """Missing cells by column, less those left empty."""
    return {name: n - n_empty.get(name, 0) for name, n in missing.items()}


def tell_empty(n_empty):
    """Sentences about cells that were left empty, by column."""
    return [
        f"{n:,} cell{'s' if n > 1 else ''} of {name} {'were' if n > 1 else 'was'} left empty: {'their' if n > 1 else 'its'} "
        f"group has no row, or hardly any, in which {name} is known."
        for name, n in n_empty.items()
        if n
    ]
