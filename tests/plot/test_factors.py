"""Displays of linear models: variances, rows and columns in a plane, loadings, and scores with their uncertainty."""

import pickle

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text
from scipy.stats import chi2
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA, FactorAnalysis, KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tacit.factor as tacit
from tacit.plot import BiplotDisplay, LoadingsDisplay, ScoresDisplay, ScreeDisplay
from tacit.plot.labels import spread_labels


@pytest.fixture(scope="module")
def wine():
    return load_wine(as_frame=True, return_X_y=True)


@pytest.fixture(scope="module")
def scaled(wine):
    return make_pipeline(StandardScaler(), PCA()).fit(wine[0])


@pytest.mark.parametrize("model", [tacit.PCA(3, scale=True), tacit.ProbabilisticPCA(3, scale=True)])
def test_scaled_columns_are_drawn_in_their_standard_deviations(wine, scaled, model):
    X = wine[0]
    model.fit(X)
    biplot = BiplotDisplay.from_estimator(model, X)
    tips = np.array([arrow.xy for arrow in biplot.arrows_]) / biplot.stretch_
    scores = scaled.transform(X)[:, :2]
    expected = np.array([[np.corrcoef(X.iloc[:, j], scores[:, k])[0, 1] for k in (0, 1)] for j in range(13)])
    if isinstance(model, tacit.ProbabilisticPCA):  # its scores leave the noise out
        expected = expected * np.sqrt(1 - model.noise_variance_ / model.explained_variance_[:2])
    np.testing.assert_allclose(np.abs(tips), np.abs(expected), atol=0.01)
    loadings = LoadingsDisplay.from_estimator(model)
    shares = loadings.uniquenesses
    assert ((shares > 0) & (shares < 1)).all()
    if isinstance(model, tacit.ProbabilisticPCA):
        np.testing.assert_allclose(
            (loadings.loadings**2).sum(axis=1) + model.noise_variance_, model.noise_variance_ / shares
        )


def test_factors_of_scaled_columns(wine):
    model = tacit.FactorAnalysis(3, scale=True, rotation="varimax").fit(wine[0])
    display = LoadingsDisplay.from_estimator(model)
    np.testing.assert_allclose(display.uniquenesses, model.uniqueness_)
    np.testing.assert_allclose((display.loadings**2).sum(axis=1) + display.uniquenesses, 1.0)
    scores = ScoresDisplay.from_estimator(model, wine[0], groups=wine[1], components=(1, 2))
    assert scores.ax_.get_xlabel() == "factor 2"
    np.testing.assert_allclose(scores.covariances[0], model.transform(wine[0], return_cov=True)[1][0][1:, 1:])


def test_scores_of_rows_with_missing_cells_are_less_sure(wine):
    X = wine[0].to_numpy().copy()
    X[::7, :6] = np.nan
    model = tacit.ProbabilisticPCA(2, scale=True).fit(X)
    display = ScoresDisplay.from_estimator(model, X, max_ellipses=200)
    areas = np.array([ellipse.width * ellipse.height for ellipse in display.ellipses_])
    incomplete = np.isnan(X).any(axis=1)
    assert areas[incomplete].min() > areas[~incomplete].max()
    points = np.concatenate([scatter.get_offsets() for scatter in display.scatters_])
    np.testing.assert_allclose(np.sort(points[:, 0]), np.sort(model.transform(X)[:, 0]))


def test_scree_by_parallel_analysis(wine):
    X = wine[0]
    choice = tacit.choose_rank(X, scale=True, random_state=0)
    expected = np.linalg.eigvalsh(np.corrcoef(X.T))[::-1]
    for display in (
        ScreeDisplay.from_data(X, scale=True),
        ScreeDisplay.from_estimator(tacit.PCA("parallel", scale=True, random_state=0).fit(X)),
        ScreeDisplay.from_estimator(tacit.PCA(2, scale=True).fit(X), X),
        ScreeDisplay.from_estimator(tacit.ProbabilisticPCA(2, scale=True).fit(X), X),
        ScreeDisplay.from_estimator(make_pipeline(StandardScaler(), tacit.PCA(2, scale=True)).fit(X), X),
    ):
        np.testing.assert_allclose(display.line_.get_ydata(), expected, rtol=1e-6)
        np.testing.assert_allclose(display.threshold_.get_ydata(), choice.threshold)
        assert display.chosen == choice.rank == 3


class Uncertain(BaseEstimator):
    """Two scores of a row: its first two cells, a missing one as 0 with a larger variance."""

    def fit(self, X, y=None):
        self.components_ = np.eye(2, np.shape(X)[1])
        return self

    def posterior(self, X):
        cells = np.asarray(X, dtype=float)[:, :2]
        covariances = np.where(np.isnan(cells), 4.0, 1.0)[:, :, None] * np.eye(2) + 0.5
        return np.nan_to_num(cells), covariances


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_scree_tells_variances_shares_and_what_is_kept(scaled):
    display = ScreeDisplay.from_estimator(scaled, threshold=1.3)
    model = scaled[-1]
    np.testing.assert_allclose(display.line_.get_ydata(), model.explained_variance_)
    np.testing.assert_allclose(display.share_.get_ydata(), np.cumsum(model.explained_variance_ratio_))
    assert display.chosen == (model.explained_variance_ > 1.3).sum() == 3
    np.testing.assert_allclose(display.points_.get_ydata(), model.explained_variance_[:3])
    share = model.explained_variance_ratio_[:3].sum()
    assert display.ax_.get_title() == f"3 components above the threshold explain {share:.1%} of the variance"
    np.testing.assert_allclose(display.threshold_.get_ydata(), np.full(13, 1.3))
    assert legend(display) == ["variance", "threshold"]


def test_scree_of_some_components_counts_the_others(wine):
    few = ScreeDisplay.from_estimator(PCA(2).fit(wine[0] / wine[0].std()))
    assert few.share_.get_ydata()[-1] == pytest.approx(0.5541, abs=1e-4)
    assert few.threshold_ is None
    assert few.chosen is None
    assert ScreeDisplay.from_estimator(KernelPCA(3, kernel="rbf").fit(wine[0])).line_.get_ydata().shape == (3,)


def test_scree_keeps_what_lies_before_the_first_below():
    display = ScreeDisplay([4.0, 1.0, 2.0, 0.5], [3.0, 1.5, 1.0]).plot()
    assert display.chosen == 1
    assert "1 component above the threshold explains 53.3%" in display.ax_.get_title()
    assert len(display.threshold_.get_xdata()) == 3
    assert (
        ScreeDisplay([2.0, 1.0], chosen=2, total=6.0).plot().ax_.get_title()
        == "2 components explain 50.0% of the variance"
    )
    none = ScreeDisplay([0.0, 0.0], threshold=1.0).plot()
    assert "0 components above the threshold explain 0.0%" in none.ax_.get_title()


def test_biplot_of_scaled_columns_shows_correlations(wine, scaled):
    X, y = wine
    display = BiplotDisplay.from_estimator(scaled, X, groups=y)
    points = np.concatenate([scatter.get_offsets() for scatter in display.scatters_])
    np.testing.assert_allclose(points.std(axis=0), 1.0)
    tips = np.array([arrow.xy for arrow in display.arrows_]) / display.stretch_
    scores = scaled.transform(X)[:, :2]
    expected = [[np.corrcoef(X.iloc[:, j], scores[:, k])[0, 1] for k in (0, 1)] for j in range(13)]
    np.testing.assert_allclose(tips, np.array(expected) * np.sqrt(178 / 177), atol=1e-9)  # divisors n and n − 1
    assert [label.get_text() for label in display.labels_] == list(X.columns)
    assert display.ax_.get_xlabel() == "component 1 (36.2%)"
    assert legend(display) == ["0", "1", "2"]
    assert [len(scatter.get_offsets()) for scatter in display.scatters_] == np.bincount(y).tolist()
    assert len({to_hex(scatter.get_facecolor()[0]) for scatter in display.scatters_}) == 3


def test_biplot_with_distances_of_rows(wine, scaled):
    display = BiplotDisplay.from_estimator(scaled, wine[0], components=(2, 0), alpha=1.0, max_arrows=4)
    np.testing.assert_allclose(display.scatters_[0].get_offsets(), scaled.transform(wine[0])[:, [2, 0]])
    tips = np.array([arrow.xy for arrow in display.arrows_]) / display.stretch_
    np.testing.assert_allclose(tips, scaled[-1].components_[[2, 0]].T[display.shown_] * np.sqrt(178 / 177))
    lengths = np.linalg.norm(scaled[-1].components_[[2, 0]], axis=0)
    assert set(display.shown_) == set(np.argsort(-lengths)[:4])
    assert len(display.arrows_) == len(display.labels_) == 4
    assert display.ax_.get_legend() is None


@pytest.mark.parametrize("n_labels", [1, 2, 12, 25])
def test_labels_do_not_overlap_and_stay_inside(pyplot, n_labels):
    _, ax = pyplot.subplots(figsize=(6, 6), layout="constrained")
    ax.set(xlim=(-1, 1), ylim=(-1, 1))
    tips = np.column_stack([np.full(n_labels, 0.9), np.linspace(-0.05, 0.05, n_labels)])
    tips[: n_labels // 2] = [0.3, 0.8]  # at one place
    texts = spread_labels(ax, tips, [f"a long name {i}" for i in range(n_labels)])
    ax.figure.canvas.draw()
    boxes = [Text.get_window_extent(text) for text in texts]
    frame = ax.get_window_extent()
    assert not any(boxes[i].overlaps(boxes[j]) for i in range(n_labels) for j in range(i))
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1 for box in boxes)
    assert any(text.arrow_patch.get_visible() for text in texts[: n_labels // 2]) == (n_labels > 2)


def test_figures_with_labels_pickle_and_labels_follow_the_size(wine, scaled):
    figure = pickle.loads(pickle.dumps(BiplotDisplay.from_estimator(scaled, wine[0]).figure_))
    figure.set_size_inches(4, 4)
    figure.canvas.draw()
    frame = figure.axes[0].get_window_extent()
    boxes = [Text.get_window_extent(text) for text in figure.axes[0].texts if text.get_text()]
    assert len(boxes) == 13
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes)


def test_other_figures_pickle(wine, scaled):
    for display in (ScreeDisplay.from_estimator(scaled), LoadingsDisplay.from_estimator(scaled)):
        pickle.loads(pickle.dumps(display.figure_)).canvas.draw()


def test_labels_of_no_points(pyplot):
    assert spread_labels(pyplot.subplots()[1], np.empty((0, 2)), []) == []


def test_loadings_are_sorted_and_the_rest_is_told(wine):
    X = wine[0]
    model = make_pipeline(StandardScaler(), FactorAnalysis(2, rotation="varimax")).fit(X)
    display = LoadingsDisplay.from_estimator(model)
    loadings = model[-1].components_.T
    np.testing.assert_allclose(display.image_.get_array(), loadings[display.order_])
    home = np.abs(loadings[display.order_]).argmax(axis=1)
    assert (np.diff(home) >= 0).all()
    for k in (0, 1):
        assert (np.diff(np.abs(loadings[display.order_][home == k]).max(axis=1)) <= 0).all()
    low, high = display.image_.get_clim()
    assert low == -high == -np.abs(loadings).max()
    expected = model[-1].noise_variance_ / np.diag(model[-1].get_covariance())
    np.testing.assert_allclose(display.uniqueness_.get_array()[:, 0], expected[display.order_])
    ticks = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert ticks == ["factor 1", "factor 2", "unexplained"]
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == [X.columns[j] for j in display.order_]
    assert len(display.texts_) == 13 * 3
    assert display.texts_[0].get_text() == f"{loadings[display.order_[0], 0]:.2f}".replace("-", "−")


def test_loadings_as_given_without_noise(wine):
    model = PCA().fit(wine[0])
    display = LoadingsDisplay.from_estimator(model, order="given")
    np.testing.assert_allclose(display.image_.get_array(), model.components_.T * np.sqrt(model.explained_variance_))
    assert display.uniqueness_ is None
    assert "−0.00" not in {text.get_text() for text in display.texts_}
    crowded = LoadingsDisplay(np.random.default_rng(0).normal(size=(130, 5)), [str(j) for j in range(130)]).plot()
    assert crowded.texts_ == []
    assert len(crowded.ax_.get_yticks()) <= 60
    assert LoadingsDisplay(np.zeros((3, 1)), "abc").plot().image_.get_clim()[1] > 0


def test_ellipses_hold_scores_with_their_probability(rng):
    X = rng.normal(size=(20, 3))
    X[3, 1] = X[7, 2] = np.nan
    display = ScoresDisplay.from_estimator(Uncertain().fit(X), X, level=0.8, groups=["a", "b"] * 10)
    assert len(display.ellipses_) == 20
    means, covariances = Uncertain().fit(X).posterior(X)
    for i in (3, 4):
        ellipse = display.ellipses_[i]
        radii = np.sqrt(chi2.ppf(0.8, 2) * np.linalg.eigvalsh(covariances[i]))[::-1]
        assert [ellipse.width / 2, ellipse.height / 2] == pytest.approx(radii)
        along = np.array([np.cos(np.radians(ellipse.angle)), np.sin(np.radians(ellipse.angle))])
        assert along @ covariances[i] @ along == pytest.approx(radii[0] ** 2 / chi2.ppf(0.8, 2))
        assert ellipse.center == pytest.approx(means[i])
    hollow = [scatter for scatter in display.scatters_ if not len(scatter.get_facecolor())]
    assert sum(len(scatter.get_offsets()) for scatter in hollow) == 2
    assert legend(display) == ["a", "b", "a cell missing", "80% ellipse"]


def test_many_rows_show_the_ellipses_of_some(rng):
    X = rng.normal(size=(500, 2))
    display = ScoresDisplay.from_estimator(make_pipeline(StandardScaler(), Uncertain()).fit(X), X)
    assert len(display.ellipses_) == len(display.shown_) == 30
    np.testing.assert_allclose(display.scatters_[0].get_offsets(), StandardScaler().fit_transform(X))
    assert legend(display) == ["95% ellipse of 30 rows"]
    none = ScoresDisplay(X, np.eye(2), max_ellipses=0).plot()
    assert none.ellipses_ == []
    assert none.ax_.get_legend() is None


def test_axes_that_are_given(wine, scaled, pyplot):
    figure, places = pyplot.subplots(1, 4)
    fitted = Uncertain().fit(wine[0])
    drawn = [
        ScreeDisplay.from_estimator(scaled, ax=places[0]),
        BiplotDisplay.from_estimator(scaled, wine[0], ax=places[1]),
        LoadingsDisplay.from_estimator(scaled, ax=places[2]),
        ScoresDisplay.from_estimator(fitted, wine[0], ax=places[3]),
    ]
    assert [display.ax_ for display in drawn] == list(places)
    assert {display.figure_ for display in drawn} == {figure}
    figure.canvas.draw()


def test_groups_of_any_kind_and_names_of_columns():
    X = load_iris().data
    model = PCA(2).fit(X)
    mixed = np.array(["x", 1, None] * 50, dtype=object)
    assert legend(BiplotDisplay.from_estimator(model, X, groups=mixed)) == ["1", "None", "x"]
    many = BiplotDisplay.from_estimator(model, X, groups=pd.Series(np.arange(150) % 11))
    assert legend(many) == [str(k) for k in range(11)]
    assert BiplotDisplay.from_estimator(model, X).names == [f"column {j}" for j in range(4)]
    assert BiplotDisplay.from_estimator(model, X, feature_names="abcd").names == list("abcd")


ROWS = np.random.default_rng(0).normal(size=(30, 4))
MODEL = PCA(3).fit(ROWS)


@pytest.mark.parametrize(
    ("draw", "kind", "message"),
    [
        (lambda: ScreeDisplay([]), ValueError, r"eigenvalues have shape \(0,\); give a list of at least one"),
        (lambda: ScreeDisplay([1.0], [1.0, 2.0]), ValueError, r"threshold has shape \(2,\), but there are 1 eigenvalues"),
        (lambda: ScreeDisplay([1.0], np.nan), ValueError, "threshold has shape"),
        (lambda: ScreeDisplay([1.0], chosen=2), ValueError, "chosen=2 is not a number of components between 0 and 1"),
        (lambda: ScreeDisplay.from_estimator(FactorAnalysis(1).fit(ROWS)), TypeError, "FactorAnalysis has no explained_var"),
        (lambda: ScreeDisplay.from_choice(tacit.choose_rank(ROWS, "bic")), ValueError, "the choice by 'bic' holds no variances"),
        (lambda: ScreeDisplay.from_estimator(PCA()), NotFittedError, "not fitted"),
        (lambda: BiplotDisplay.from_estimator(MODEL, ROWS, components=(0, 3)), ValueError, r"\(0, 3\) are not two of 0 to 2"),
        (lambda: BiplotDisplay.from_estimator(MODEL, ROWS, components=(0,)), ValueError, r"components=\(0,\) are not two"),
        (lambda: BiplotDisplay.from_estimator(MODEL, ROWS, groups=[1]), ValueError, r"shape \(1,\), but X has 30 rows"),
        (lambda: BiplotDisplay.from_estimator(MODEL, ROWS, alpha=2), ValueError, "alpha=2 is not a number of at least 0"),
        (lambda: BiplotDisplay.from_estimator(MODEL, ROWS, max_arrows=0), ValueError, "max_arrows=0 is not"),
        (lambda: BiplotDisplay.from_estimator(MODEL, ROWS, feature_names="ab"), ValueError, "holds 2 names, but there are 4"),
        (lambda: BiplotDisplay.from_estimator(MODEL, "rows.parquet"), ValueError, "plots show rows in memory"),
        (lambda: BiplotDisplay.from_estimator(KernelPCA(2).fit(ROWS), ROWS), TypeError, "KernelPCA has no components_; use"),
        (lambda: LoadingsDisplay(np.ones((2, 1)), "ab", order="size"), ValueError, "order='size' is unknown; use one of"),
        (lambda: LoadingsDisplay(np.ones((2, 1)), "ab", uniquenesses=[1]), ValueError, r"shape \(1,\), but there are 2 col"),
        (lambda: ScoresDisplay.from_estimator(MODEL, ROWS), TypeError, "PCA does not tell how unsure its scores are"),
        (lambda: ScoresDisplay(ROWS, np.eye(2)), ValueError, r"shapes \(30, 4\) and \(2, 2\); give those of two components"),
        (lambda: ScoresDisplay(ROWS[:, :2], np.eye(2), level=1.0), ValueError, "level=1.0 is not a probability between"),
        (lambda: ScoresDisplay.from_estimator(MODEL, "rows.parquet"), ValueError, "plots show rows in memory"),
    ],
)  # fmt: skip
def test_bad_input(draw, kind, message):
    with pytest.raises(kind, match=message):
        draw()
