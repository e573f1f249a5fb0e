import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tacit
from tacit.families import Categorical, Dirichlet, FullGaussian, Poisson, Product
from tacit.families.noise import with_noise
from tacit.mixture import GaussianMixture, Mixture, StudentTMixture, select, standard_errors
from tacit.source import Block
from tacit.study import study

from ..zoo import mixed_rows, with_missing


def clutter(n=400, m=200, seed=0):
    rng = np.random.default_rng(seed)
    classes = rng.integers(2, size=n)
    X = np.array([[0.0, 0.0], [5.0, 5.0]])[classes] + 0.5 * rng.normal(size=(n, 2))
    return np.vstack([X, rng.uniform(-10, 15, size=(m, 2))]), np.append(classes, np.full(m, -1))


def test_density_is_that_of_the_components_and_a_box():
    X = with_missing(clutter()[0], 0.1)
    mixture = GaussianMixture(2, noise=True, random_state=0).fit(X)
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    np.testing.assert_array_equal(mixture.noise_box_, [low, high])
    for i in (0, 1, 450, np.flatnonzero(np.isnan(X).any(axis=1))[0]):
        seen = np.flatnonzero(~np.isnan(X[i]))
        parts = [
            w * stats.multivariate_normal(m[seen], c[np.ix_(seen, seen)]).pdf(X[i, seen])
            for w, m, c in zip(mixture.weights_, mixture.means_, mixture.covariances_)
        ]
        parts.append(mixture.weights_[-1] / (high - low)[seen].prod())
        np.testing.assert_allclose(mixture.score_samples(X[[i]])[0], np.log(sum(parts)), rtol=1e-9)
        np.testing.assert_allclose(mixture.predict_proba(X[[i]])[0], np.array(parts) / sum(parts), atol=1e-9)
    # As mclust counts: the share of the noise and the volume of the box.
    assert mixture._n_parameters() == GaussianMixture(2, random_state=0).fit(X)._n_parameters() + 2


@pytest.mark.parametrize("share", [0.0, 0.15])
def test_noise_is_found_and_the_groups_are_kept(share):
    X, truth = clutter()
    X = with_missing(X, share)
    found = select(GaussianMixture(noise=True, random_state=0), X, n_components=range(1, 5))
    assert found.best_settings == {"n_components": 2}
    mixture = found.best
    noise = mixture.predict(X) == -1
    assert (noise == (truth == -1)).mean() > 0.93
    np.testing.assert_array_equal(mixture.outliers(X), noise)
    np.testing.assert_allclose(np.sort(mixture.means_[:, 0]), [0.0, 5.0], atol=0.15)
    assert mixture.bic(X) < select(GaussianMixture(random_state=0), X, n_components=range(1, 7)).best.bic(X)
    scores = mixture.outlier_scores(X)
    assert scores[noise].min() > np.median(scores[~noise])
    far = np.array([[1e3, -1e3]])
    assert mixture.predict(far) == -1
    assert mixture.outlier_scores(far) > 100


def test_draws_imputation_and_intervals():
    X, _ = clutter()
    mixture = GaussianMixture(2, noise=True, random_state=0, parameter_draws=0).fit(X)
    rows, classes = mixture.sample(20_000)
    shares = [(classes == k).mean() for k in (0, 1, -1)]
    np.testing.assert_allclose(shares, mixture.weights_, atol=0.02)
    noise = rows[classes == -1]
    np.testing.assert_allclose(noise.mean(axis=0), mixture.noise_box_.mean(axis=0), atol=0.3)
    np.testing.assert_allclose(noise.std(axis=0), np.ptp(mixture.noise_box_, axis=0) / np.sqrt(12), rtol=0.03)
    hidden = rows.copy()
    hidden[:, 1] = np.nan
    filled = mixture.impute(hidden, interval=0.9)
    inside = (rows[:, 1] >= filled.low[:, 1]) & (rows[:, 1] <= filled.high[:, 1])
    assert inside.mean() == pytest.approx(0.9, abs=0.01)
    drawn = mixture.draw_missing(hidden[::5], 5, random_state=0)[:, :, 1]
    np.testing.assert_allclose(drawn.mean(), rows[:, 1].mean(), atol=0.1)
    np.testing.assert_allclose(mixture.predict_given(hidden[:5], target=[1])[:, 0], filled.filled[:5, 1])
    uncertain = GaussianMixture(2, noise=True, random_state=0, parameter_draws=5).fit(with_missing(X[::4], 0.1))
    assert len(uncertain.draws_) == 5
    assert np.isfinite(uncertain.impute(hidden[:5], interval=0.9).low[:, 1]).all()
    with pytest.raises(NotImplementedError, match="no mixture of Gaussians; use predict_given"):
        mixture.condition(hidden[:5], target=[1])


def test_parts_of_a_product_share_one_class_of_noise():
    X = with_missing(mixed_rows(60))
    family = Product([(FullGaussian(), (1, 3)), (Categorical((2, 3)), (2, 4)), (Poisson(), (0,))])
    box, block = np.array([np.nanmin(X, axis=0), np.nanmax(X, axis=0)]), Block.of(X)
    noisy = with_noise(family, box)
    params = noisy.start(block, np.full((60, 3), 1 / 3))
    sizes = np.array([np.ptp(box[:, 0]) + 1, np.ptp(box[:, 1]), 2, np.ptp(box[:, 3]), 3])
    expected = -np.where(np.isnan(X), 0.0, np.log(sizes)).sum(axis=1)
    np.testing.assert_allclose(noisy.log_prob(params, block)[:, -1], expected)
    np.testing.assert_allclose(noisy.log_prob(params, block)[:, :-1], family.log_prob(params, block))
    only = np.eye(3)[np.full(60, 2)]
    filled, std = noisy.expect(params, block, only)
    np.testing.assert_allclose(filled[np.isnan(X[:, 1]), 1], box[:, 1].mean())
    np.testing.assert_allclose(std[np.isnan(X[:, 0]), 0], np.sqrt((sizes[0] ** 2 - 1) / 12))
    drawn = noisy.draw(params, block, only, 200, np.random.default_rng(0))
    assert set(np.unique(drawn[:, np.isnan(X[:, 4]), 4])) == {0.0, 1.0, 2.0}


def test_tables_reports_and_files(tmp_path):
    X, _ = clutter(200, 50)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(X, columns=["a", "b"]).assign(kind=rng.choice(["u", "v"], 250), n=rng.poisson(3, 250))
    table.loc[::7, "kind"] = None
    table.loc[::9, "a"] = np.nan
    mixture = Mixture(2, noise=True, random_state=0).fit(table)
    findings = study(mixture, table)
    assert " and noise (" in findings.card["Model"]
    assert findings.n_outliers > 25
    assert mixture.predict_level(table, "kind").shape == (250, 2)
    assert mixture.describe()["a"]["mean"].shape == (2,)
    tacit.save(mixture, tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    pd.testing.assert_frame_equal(again.impute(table), mixture.impute(table))
    assert standard_errors(mixture, table, method="information").estimate["weights_"].shape == (3,)
    student = StudentTMixture(2, noise=True, df=5.0, random_state=0).fit(X)
    assert student.weights_.shape == (3,)
    assert student.row_weights(X)[student.predict(X) == -1].max() < 0.6


def test_bad_input():
    X, _ = clutter(30, 5)
    with pytest.raises(ValueError, match="noise='yes' is neither True nor False"):
        GaussianMixture(noise="yes").fit(X)
    shares = np.abs(X) / np.abs(X).sum(axis=1, keepdims=True)
    with pytest.raises(ValueError, match="noise=True spreads rows over a box, which Dirichlet columns do not fill"):
        Mixture(family=Dirichlet(), noise=True).fit(shares)
