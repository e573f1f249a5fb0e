"""scikit-learn's checks of networks of binary units, whose rows are cut to units, and what such estimators must do besides."""

import pickle

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from tacit.base import RowsEstimator
from tacit.graph import BoltzmannMachine, IsingModel
from tacit.source import ArraySource


class CutIsing(IsingModel):
    """Takes any numbers, as scikit-learn's checks give them, and learns which are above a half."""

    def _validate(self, X, *, reset):
        X = RowsEstimator._validate(self, X, reset=reset)  # not that of the class, which refuses other cells
        return np.where(X > 0.5, self._values[1], self._values[0])


class CutBoltzmann(BoltzmannMachine):
    """The same of a machine."""

    _validate = CutIsing._validate


@parametrize_with_checks([CutIsing(), CutIsing(learning="pseudo"), CutBoltzmann(2, random_state=0)])
def test_sklearn_checks(estimator, check):
    check(estimator)


def rows(values, n=120, d=5, seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.integers(2, size=(n, 1))
    return np.where(rng.random((n, d)) < 0.2 + 0.6 * kind, *values[::-1])


MODELS = [
    (IsingModel(), (-1.0, 1.0)),
    (IsingModel(learning="pseudo"), (-1.0, 1.0)),
    (BoltzmannMachine(), (0.0, 1.0)),
    (BoltzmannMachine(2, random_state=0), (0.0, 1.0)),
    (BoltzmannMachine(2, learning="contrastive", n_epochs=3, random_state=0), (0.0, 1.0)),
]


@pytest.mark.parametrize(("model", "values"), MODELS, ids=[repr(model) for model, _ in MODELS])
def test_pickled_and_saved_models_say_the_same(model, values, tmp_path):
    X = rows(values)
    model.fit(X)
    tacit.save(model, tmp_path / "model.tacit")
    for again in (pickle.loads(pickle.dumps(model)), tacit.load(tmp_path / "model.tacit")):
        np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))


@pytest.mark.parametrize(("model", "values"), MODELS[:4], ids=[repr(model) for model, _ in MODELS[:4]])
def test_blocks_do_not_matter(model, values):
    X, rng = rows(values), np.random.default_rng(0)
    learned = model.fit(X)._model()
    point = learned.init(ArraySource(X).sample(len(X), rng), rng)
    few, whole = (ArraySource(X, block_rows=r).sum(lambda block: learned.slope(point, block)) for r in (7, len(X)))
    assert few.loglik == pytest.approx(whole.loglik, rel=1e-12)
    np.testing.assert_allclose(few.gradient, whole.gradient, atol=1e-10)


@pytest.mark.parametrize("stored", [False, True])
def test_rows_of_sources_and_files_are_looked_at(stored, tmp_path):
    X = rows((0.0, 1.0))
    X[0, 0] = 0.0  # the cell that is told of
    fitted = IsingModel().fit(rows((-1.0, 1.0)))
    given, name = ArraySource(X), "0"
    if stored:
        pandas = pytest.importorskip("pandas")
        given, name = tmp_path / "rows.parquet", r"0 \('a'\)"
        pandas.DataFrame(X, columns=list("abcde")).to_parquet(given)
    with pytest.raises(ValueError, match=rf"column {name} holds 0; units of IsingModel are -1 or 1"):
        IsingModel().fit(given)
    with pytest.raises(ValueError, match="column 0 holds 0; units of IsingModel are -1 or 1"):
        fitted.score_samples(ArraySource(X))
    assert BoltzmannMachine().fit(given).coupling_.shape == (5, 5)


def test_a_machine_makes_features_in_a_pipeline():
    X, y = rows((0.0, 1.0), 300), (rows((0.0, 1.0), 300).sum(axis=1) > 2).astype(int)
    machine = BoltzmannMachine(2, random_state=0)
    pipe = make_pipeline(machine, LogisticRegression()).fit(X, y)
    assert pipe.score(X, y) > 0.8
    assert machine.get_feature_names_out().tolist() == ["boltzmannmachine0", "boltzmannmachine1"]
    np.testing.assert_array_equal(BoltzmannMachine(2, random_state=0).fit_transform(X), machine.transform(X))
