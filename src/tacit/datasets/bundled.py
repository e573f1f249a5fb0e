"""Tables that come with scikit-learn, in the form of all others."""

from .dataset import Dataset

__all__ = ["from_sklearn"]


def from_sklearn(name):
    """A table of scikit-learn's ``load_<name>``."""
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")()
    more = {"target_names": list(map(str, found.target_names))} if hasattr(found, "target_names") else {}
    return Dataset(name, found.data, [str(column) for column in found.feature_names], found.target, more=more)
