"""Filled cells: intervals hold what they say, whatever the family, and do not depend on how rows are batched."""

import numpy as np
import pytest
from scipy import stats

from tacit.base import UnseenPairsWarning
from tacit.base.missing import impute_cells
from tacit.factor import FactorAnalysis, ProbabilisticPCA
from tacit.families import Categorical, Dirichlet, Family, Poisson
from tacit.impute import GaussianImputer
from tacit.mixture import GaussianMixture, Mixture, StudentTMixture


def mixed(n, seed=0):
    """Rows of three groups: three measurements that depend on each other, two counts and a category; all cells known."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    turn = np.random.default_rng(9).normal(size=(3, 3, 3))
    X = np.einsum("nij,nj->ni", turn[group], rng.normal(size=(n, 3))) + 4 * np.eye(3)[group]
    counts = rng.poisson(np.array([[1.0, 30.0], [6.0, 12.0], [15.0, 3.0]])[group])
    chances = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])[group]
    code = (rng.random((n, 1)) > np.cumsum(chances, axis=1)).sum(axis=1)
    return np.column_stack([X, counts, np.minimum(code, 2)])


def incomplete(X, share=0.1, seed=1):
    hidden = np.random.default_rng(seed).random(X.shape) < share
    return np.where(hidden, np.nan, X), hidden


@pytest.fixture(scope="module")
def study():
    """A mixture of mixed columns, complete rows, the same with missing values, and which cells are holes."""
    X = mixed(12_000)
    H, hidden = incomplete(X)
    families = {(0, 1, 2): "full", (3, 4): Poisson(), (5,): Categorical([3])}
    model = Mixture(3, by_column=families, random_state=0, tol=1e-5).fit(H)
    return model, X, H, hidden


def test_intervals_of_mixed_columns_hold_what_they_say(study):
    model, X, H, hidden = study
    filled, low, high, sure = model.impute(H, interval=0.9)
    covered = ((low <= X) & (high >= X))[:, :3][hidden[:, :3]].mean()
    assert 0.88 < covered < 0.92
    counts = hidden[:, 3:5]
    outside = (low > X)[:, 3:5][counts].mean(), (high < X)[:, 3:5][counts].mean()
    assert max(outside) < 0.06
    assert sum(outside) > 0.02
    assert (low[:, 3:5][counts] >= 0).all()
    assert (low[:, 3:5][counts] == np.floor(low[:, 3:5][counts])).all()
    right = (filled[:, 5] == X[:, 5])[hidden[:, 5]].mean()
    assert sure[hidden[:, 5], 5].mean() == pytest.approx(right, abs=0.03)
    np.testing.assert_array_equal(filled[~hidden], X[~hidden])
    assert np.isnan(low[~hidden]).all()
    assert np.isnan(sure[:, :5]).all()
    assert np.isnan(low[:, 5]).all()


def test_fills_are_the_expectations(study):
    model, _, H, _ = study
    np.testing.assert_allclose(model.impute(H[:500], interval=0.9)[0], model.impute(H[:500]), rtol=1e-12)


def test_batches_do_not_matter(study):
    model, _, H, _ = study
    whole = model.impute(H[:3000], interval=0.9)
    parts = [model.impute(part, interval=0.9) for part in np.array_split(H[:3000], [1, 700, 2999])]
    for one, *pieces in zip(whole, *parts):
        np.testing.assert_allclose(one, np.concatenate(pieces), rtol=1e-9, atol=1e-9)
    again = model.impute(H[:3000], interval=0.9)
    for one, other in zip(whole, again):
        np.testing.assert_array_equal(one, other)


def test_two_modes():
    """A cell that is in either of two groups: the interval reaches over both and its ends solve F = q."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(500, 2)), rng.normal(size=(500, 2)) + np.array([0.0, 30.0])])
    model = GaussianMixture(2, covariance_type="diag", random_state=0).fit(X)
    _, low, high, _ = model.impute(np.array([[0.0, np.nan]]), interval=0.8)
    weight = model.predict_proba([[0.0, np.nan]])[0]
    for q, y in ((0.1, low[0, 1]), (0.9, high[0, 1])):
        F = weight @ stats.norm.cdf(y, model.means_[:, 1], np.sqrt(model.covariances_[:, 1]))
        assert pytest.approx(q, abs=1e-9) == F
    assert low[0, 1] < 0
    assert high[0, 1] > 30


def test_quantiles_of_mixed_poissons():
    model = Mixture(2, by_column={(0, 1): "poisson"}, random_state=0)
    rng = np.random.default_rng(0)
    model.fit(np.concatenate([rng.poisson(2.0, (300, 2)), rng.poisson(40.0, (300, 2))]).astype(float))
    _, low, high, _ = model.impute(np.array([[np.nan, np.nan], [1.0, np.nan]]), interval=0.9)
    rate = model.params_.components.parts[0].rate
    for j in range(2):
        for q, y in ((0.05, low[0, j]), (0.95, high[0, j])):
            F = [model.weights_ @ stats.poisson.cdf(at, rate[:, j]) for at in (y - 1, y)]
            assert F[0] < q <= F[1]
    assert high[1, 1] < 10 < high[0, 1]


@pytest.mark.parametrize(
    ("family", "values"),
    [
        ("gamma", stats.gamma(3.0, scale=2.0)),
        ("lognormal", stats.lognorm(0.7, scale=5.0)),
        ("exponential", stats.expon(scale=3.0)),
        ("beta", stats.beta(2.0, 5.0)),
        ("negative_binomial", stats.nbinom(3, 0.2)),
        ("geometric", stats.geom(0.05, loc=-1)),
        ("student", stats.t(4.0)),
    ],
)
def test_every_family_of_one_column(family, values):
    x = values.rvs(4000, random_state=1).astype(float)
    model = Mixture(1, by_column={0: family, 1: "normal"}, random_state=0)
    model.fit(np.column_stack([x, np.random.default_rng(0).normal(size=4000)]))
    filled, low, high, _ = model.impute(np.array([[np.nan, 0.0]]), interval=0.9)
    assert filled[0, 0] == pytest.approx(x.mean(), rel=0.05, abs=0.1)
    assert [low[0, 0], high[0, 0]] == pytest.approx(values.ppf([0.05, 0.95]), rel=0.15, abs=0.15)


def test_binomial_and_yes_no():
    from tacit.families import Bernoulli, Binomial

    rng = np.random.default_rng(0)
    X = np.column_stack([rng.binomial(20, 0.3, 2000), rng.random(2000) < 0.02]).astype(float)
    model = Mixture(1, by_column={0: Binomial(20), 1: Bernoulli()}).fit(X)
    _, low, high, _ = model.impute(np.full((1, 2), np.nan), interval=0.9)
    assert low[0].tolist() == [stats.binom.ppf(0.05, 20, 0.3), 0.0]
    assert high[0].tolist() == [stats.binom.ppf(0.95, 20, 0.3), 0.0]


def test_student_rows():
    """Far out rows widen the intervals of their missing cells, and all together hold what they should."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(8000, 3)) @ rng.normal(size=(3, 3)) / np.sqrt(rng.chisquare(3, 8000) / 3)[:, None]
    H, hidden = incomplete(X, 0.2)
    model = StudentTMixture(1, random_state=0).fit(H)
    _, low, high, _ = model.impute(H, interval=0.9)
    assert 0.88 < ((low <= X) & (high >= X))[hidden].mean() < 0.92
    wide = model.impute(np.array([[0.0, 0.0, np.nan], [50.0, -50.0, np.nan]]), interval=0.9)
    assert wide[2][1, 2] - wide[1][1, 2] > 5 * (wide[2][0, 2] - wide[1][0, 2])


@pytest.mark.parametrize("model", [ProbabilisticPCA(2, scale=True), FactorAnalysis(2, scale=True)], ids=["ppca", "fa"])
def test_axes(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 2)) @ rng.normal(size=(2, 6)) + rng.normal(size=(6000, 6)) + 100.0
    H, hidden = incomplete(X, 0.15)
    filled, low, high, _ = model.fit(H).impute(H, interval=0.9)
    assert 0.88 < ((low <= X) & (high >= X))[hidden].mean() < 0.92
    mean, std = model.impute(H, return_std=True)
    np.testing.assert_allclose(filled, mean, rtol=1e-12)
    np.testing.assert_allclose((high - low)[hidden], 2 * stats.norm.ppf(0.95) * std[hidden], rtol=1e-9)


class Uniform(Family):
    """A family of a user's own that says no more than its mean and variance."""

    def log_prob(self, params, block):
        return np.zeros((len(block), 1))

    def stats(self, params, block, resp):
        return Poisson().stats(Poisson().start(block, resp), block, resp)

    def m_step(self, stats, params):
        return Poisson().m_step(stats, params)

    def start(self, block, resp):
        return Poisson().start(block, resp)

    def mean(self, params):
        return np.full(params.rate.shape, 0.5)

    def variance(self, params):
        return np.full(params.rate.shape, 1 / 12)

    def n_parameters(self, params):
        return 0


def test_what_is_not_known_falls_back_on_a_gaussian():
    X = np.column_stack([np.linspace(0.01, 1, 50), np.random.default_rng(0).normal(size=50)])
    model = Mixture(1, by_column={0: Uniform(), 1: "normal"}).fit(X)
    filled, low, high, _ = model.impute(np.array([[np.nan, 0.0]]), interval=0.9)
    assert filled[0, 0] == pytest.approx(0.5)
    assert high[0, 0] - low[0, 0] == pytest.approx(2 * 1.6449 / np.sqrt(12), abs=1e-3)
    # It cannot draw missing cells, so its estimates are taken as known where some are.
    X[::7, 0] = np.nan
    incomplete = Mixture(1, by_column={0: Uniform(), 1: "normal"}).fit(X)
    assert incomplete.draws_ == []
    assert incomplete.impute(X)[0, 0] == 0.5


def test_rows_without_any_cell(study):
    model = study[0]
    filled, low, high, _ = model.impute(np.full((2, 6), np.nan), interval=0.9)
    assert np.isfinite(filled).all()
    assert (low[:, :5] < high[:, :5]).all()
    assert impute_cells(model, np.empty((0, 6)), 0.9)[0].shape == (0, 6)


def test_no_fill_below_what_a_column_holds():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.abs(rng.normal(size=50)), rng.normal(size=50)])
    hidden = np.array([[np.nan, 0.0], [0.0, np.nan]])
    free = GaussianMixture(random_state=0).fit(X)
    assert free.impute(hidden, interval=0.9).low[0, 0] < 0
    for low in (
        Mixture(random_state=0).fit(X).impute(hidden, interval=0.9).low,
        free.impute(hidden, interval=0.9, lowest=[0.0, -np.inf]).low,
    ):
        assert low[0, 0] == 0.0
        assert low[1, 1] < 0
    drawn = Mixture(random_state=0).fit(X).draw_missing(hidden, 200, random_state=0)
    assert drawn[:, 0, 0].min() == 0.0
    assert drawn[:, 1, 1].min() < -1


def test_parts_of_a_composition():
    """Missing parts share what the observed ones leave; intervals hold what they say."""
    rng = np.random.default_rng(0)
    X = rng.dirichlet([2.0, 3.0, 5.0, 1.0], 4000)
    hidden = np.zeros(X.shape, bool)
    hidden[:, :2] = True
    H = np.where(hidden, np.nan, X)
    model = Mixture(1, family=Dirichlet()).fit(X)
    filled, low, high, _ = model.impute(H, interval=0.9)
    np.testing.assert_allclose(filled.sum(axis=1), 1.0, atol=1e-9)
    assert 0.88 < ((low <= X) & (high >= X))[hidden].mean() < 0.92
    drawn = model.draw_missing(H, 2, random_state=0)
    np.testing.assert_allclose(drawn.sum(axis=2), 1.0, atol=1e-9)
    assert drawn[0][:, 0].std() == pytest.approx(X[:, 0].std(), rel=0.05)


def test_frames_and_files(tmp_path):
    """What goes in as a frame comes out as one, and what is written is what is returned."""
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X, _ = incomplete(mixed(200)[:, :3])
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=range(5, 205))
    for model in (GaussianMixture(2, random_state=0), Mixture(2, random_state=0), ProbabilisticPCA(1)):
        model.fit(frame)
        found = model.impute(frame, interval=0.5)
        assert list(found.filled.columns) == ["a", "b", "c"]
        assert found.filled.index[0] == 5
        pd.testing.assert_frame_equal(found.filled, model.impute(frame))
        drawn = model.draw_missing(frame, 2, random_state=0)
        assert [list(table.columns) for table in drawn] == [["a", "b", "c"]] * 2
        frame.to_parquet(tmp_path / "rows.parquet")
        model.impute(tmp_path / "rows.parquet", out=tmp_path / "filled.parquet")
        written = pd.read_parquet(tmp_path / "filled.parquet").to_numpy()
        np.testing.assert_allclose(written, found.filled.to_numpy(), rtol=1e-12)


def test_bad_input(study):
    model, _, H, _ = study
    for interval in (1.5, 0.0, "wide"):
        with pytest.raises(ValueError, match=f"interval={interval!r} must be a probability between 0 and 1"):
            model.impute(H, interval=interval)
    with pytest.raises(ValueError, match=r"return_std=True and interval=0.9 exclude each other"):
        model.impute(H, True, interval=0.9)
    with pytest.raises(ValueError, match=r"interval=0.9 gives arrays, so it does not go with out"):
        model.impute(H, interval=0.9, out="filled.parquet")


@pytest.mark.parametrize(
    "model",
    [GaussianMixture(1), StudentTMixture(1), Mixture(1), ProbabilisticPCA(1), FactorAnalysis(1), GaussianImputer()],
    ids=lambda model: type(model).__name__,
)
def test_columns_never_observed_together_are_told(model, recwarn):
    X = np.random.default_rng(0).normal(size=(60, 4))
    X[:30, 0], X[30:, 3] = np.nan, np.nan
    with pytest.warns(UnseenPairsWarning, match="no row has both of column 0 and column 3: how they correlate"):
        model.fit(X)
    X[0, 0] = 1.0
    recwarn.clear()
    model.fit(X)
    assert not [each for each in recwarn if each.category is UnseenPairsWarning]


def test_independent_columns_need_not_be_observed_together(recwarn):
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[:30, 0], X[30:, 1] = np.nan, np.nan
    GaussianMixture(1, covariance_type="diag").fit(X)
    assert not [each for each in recwarn if each.category is UnseenPairsWarning]
