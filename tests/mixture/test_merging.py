import itertools

import matplotlib as mpl
import numpy as np
import pytest
from scipy.cluster.hierarchy import is_valid_linkage
from scipy.special import xlogy
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from tacit.mixture import (
    GaussianMixture,
    Mixture,
    StudentTMixture,
    discriminant_directions,
    merge_components,
)

from ..zoo import gaussian_rows, with_missing

mpl.use("Agg")


def bar_and_ball(seed=0):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.uniform(0, [9, 1], size=(400, 2)), rng.normal([4, 8], size=(300, 2))])
    return X, np.repeat([0, 1], [400, 300])


def entropy(t, weight):
    return -weight @ xlogy(t, t).sum(axis=1)


def test_every_merge_lowers_the_entropy_most():
    X = with_missing(gaussian_rows(n_classes=2), 0.1)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    mixture = GaussianMixture(5, covariance_type="diag", random_state=0, max_iter=500).fit(X)
    tree = merge_components(mixture, X, weight)
    assert is_valid_linkage(tree.linkage)
    for k in range(5, 1, -1):
        before = tree.predict_proba(X, k)
        assert tree.entropy[k - 1] == pytest.approx(entropy(before, weight), abs=1e-8)
        merged = [
            np.column_stack([np.delete(before, pair, axis=1), before[:, pair].sum(axis=1)])
            for pair in map(list, itertools.combinations(range(k), 2))
        ]
        assert tree.entropy[k - 2] == pytest.approx(min(entropy(t, weight) for t in merged), abs=1e-8)
    assert tree.groups(1) == [(0, 1, 2, 3, 4)]
    assert tree.groups(5) == [(k,) for k in range(5)]
    np.testing.assert_allclose(tree.predict_proba(X).sum(axis=1), 1.0)


def test_a_shape_of_several_components_is_one_cluster():
    X, truth = bar_and_ball()
    tree = merge_components(GaussianMixture(5, covariance_type="diag", random_state=0).fit(X), X)
    assert tree.n_clusters == 2
    found = tree.predict(X)
    assert max((found == truth).mean(), (found != truth).mean()) > 0.99
    assert "2 clusters" in repr(tree)
    display = tree.plot()
    assert len(display.lines_) == 3
    assert display.elbow_.get_offsets()[0][0] == 2
    assert tree.plot("tree").ax_.get_xlabel() == "component"
    noisy = np.vstack([X, np.random.default_rng(1).uniform(-20, 30, size=(60, 2))])
    with_noise = merge_components(
        GaussianMixture(4, covariance_type="diag", noise=True, random_state=0).fit(noisy), noisy
    )
    assert with_noise.predict_proba(noisy, 2).shape == (760, 3)
    assert (with_noise.predict(noisy)[700:] == -1).mean() > 0.6


def test_means_alone_give_the_directions_of_linear_discriminant_analysis():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="gives every row"):
        mixture = GaussianMixture(3).fit(X, y)
    found = discriminant_directions(mixture, balance=1.0)
    expected = LinearDiscriminantAnalysis().fit(X, y).transform(X)
    scores = found.transform(X)
    assert scores.shape == (150, 2)
    for ours, theirs in zip(scores.T, expected.T):
        assert abs(np.corrcoef(ours, theirs)[0, 1]) == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(scores.var(axis=0), 1.0, atol=1e-9)


def test_directions_carry_the_clustering_and_nothing_else():
    rng = np.random.default_rng(0)
    classes = rng.integers(2, size=2000)
    hidden = rng.normal(size=(2000, 5))
    hidden[:, 0] += 4 * classes  # other means
    hidden[:, 1] *= np.where(classes == 1, 4.0, 1.0)  # other spreads
    turn = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    X = with_missing(hidden @ turn, 0.05)
    mixture = GaussianMixture(2, random_state=0).fit(X)
    found = discriminant_directions(mixture)
    assert found.eigenvalues[:2].sum() > 0.99 * found.eigenvalues.sum()
    space = turn.T[:, :2]
    kept = np.linalg.qr(found.vectors[:, :2])[0]
    assert np.linalg.svd(space.T @ kept)[1].min() > 0.99
    display = found.plot(X)
    assert display.ax_.get_xlabel().startswith("direction 1 (")
    assert len(display.ellipses_) == 4
    assert discriminant_directions(StudentTMixture(2, df=30.0, random_state=0).fit(X)).vectors.shape[0] == 5


def test_bad_input():
    X = gaussian_rows()
    with pytest.raises(TypeError, match="takes a mixture of Gaussians or Student t, such as GaussianMixture"):
        discriminant_directions(Mixture(2, random_state=0).fit(X))
    with pytest.raises(ValueError, match="n_components=1 is a single component"):
        discriminant_directions(GaussianMixture().fit(X))
    with pytest.raises(ValueError, match=r"balance=1\.5"):
        discriminant_directions(GaussianMixture(2, random_state=0).fit(X), 1.5)
    mixture = GaussianMixture(3, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"pair=\(0, 9\) are not two of the directions"):
        discriminant_directions(mixture).plot(X, (0, 9))
    with pytest.raises(ValueError, match="n_clusters=4"):
        merge_components(mixture, X).groups(4)
