"""NMF: what it finds, fills, weighs and refuses."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF as Rival
from sklearn.exceptions import ConvergenceWarning

import tacit
from tacit.source import ArraySource
from tacit.topics import NMF, MiniBatchNMF, NMFTopics, non_negative_factorization
from tacit.topics.factorisation.estimator import check_factor

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def parts(n=80, d=12, k=3, seed=0):
    """Sums of parts that overlap little, and the parts."""
    rng = np.random.default_rng(seed)
    H = rng.gamma(1.0, size=(k, d)) * (np.arange(d) % k == np.arange(k)[:, None]) + 0.02
    return rng.gamma(0.5, size=(n, k)) @ H, H


def poisson(n, d=15, k=2, level=4.0, seed=0):
    rng = np.random.default_rng(seed)
    return rng.poisson(level * rng.gamma(2.0, 0.5, (n, k)) @ rng.gamma(1.0, size=(k, d))).astype(float)


def with_holes(X, share, seed=1):
    holes = np.random.default_rng(seed).random(X.shape) < share
    holes[:, 0] = False
    holes[0] = False
    return np.where(holes, np.nan, X), holes


@pytest.mark.parametrize("solver", ["cd", "hals", "als"])
def test_a_known_truth_is_found(solver):
    X, H = parts()
    found = NMF(3, solver=solver, tol=1e-8, max_iter=2000).fit(X)
    assert found.reconstruction_err_ < 1e-3 * np.linalg.norm(X)
    unit = found.components_ / np.linalg.norm(found.components_, axis=1, keepdims=True)
    close = unit @ (H / np.linalg.norm(H, axis=1, keepdims=True)).T
    assert np.sort(close.max(axis=0))[0] > 0.99


@pytest.mark.parametrize("seed", range(3))
def test_no_worse_than_scikit_learn_after_as_many_passes(seed):
    X = parts(200, 30, 5, seed)[0] + 0.1 * np.random.default_rng(seed).random((200, 30))
    ours, theirs = (make(5, max_iter=50, tol=0.0).fit(X) for make in (NMF, Rival))
    assert ours.reconstruction_err_ <= 1.001 * theirs.reconstruction_err_


@pytest.mark.parametrize("settings", [{}, {"solver": "mu", "beta_loss": 1.0}, {"alpha_W": 0.01, "l1_ratio": 0.5}])
def test_sparse_and_dense_rows_give_the_same(settings):
    X, _ = parts()
    X = np.where(X < 0.1, 0.0, X)
    dense, thin = (NMF(3, tol=0.0, max_iter=30, **settings).fit(rows) for rows in (X, sparse.csr_matrix(X)))
    np.testing.assert_allclose(dense.components_, thin.components_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(dense.transform(X), thin.transform(sparse.csr_array(X)), rtol=1e-5, atol=1e-7)


def test_one_call_and_the_engine_agree():
    X, _ = parts()
    passes = []
    once = NMF(3, max_iter=40, alpha_W=0.01, l1_ratio=0.3).fit(X)
    engine = NMF(3, max_iter=40, alpha_W=0.01, l1_ratio=0.3, callback=passes.append).fit(X)
    assert len(passes) == engine.n_iter_ + 1
    assert once.n_iter_ == engine.n_iter_
    np.testing.assert_allclose(once.components_, engine.components_, rtol=1e-8)
    np.testing.assert_allclose(once.fit_.trace.objectives, engine.fit_.trace.objectives, rtol=1e-9)


def test_blocks_and_threads_do_not_matter():
    X, _ = with_holes(parts()[0], 0.2)
    found = [
        NMF(3, max_iter=30, callback=str).fit(ArraySource(X, block_rows=rows, n_jobs=jobs)).components_
        for rows, jobs in ((80, 1), (7, 1), (7, 3))
    ]
    np.testing.assert_array_equal(found[1], found[2])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-8)


@pytest.mark.parametrize("beta", [2.0, 1.0])
def test_weight_two_is_the_row_twice(beta):
    X, _ = parts()
    weight = np.where(np.arange(len(X)) % 3, 1.0, 2.0)
    settings = {"solver": "cd" if beta == 2 else "mu", "beta_loss": beta, "max_iter": 30, "alpha_H": 0.01}
    one = NMF(3, **settings).fit(X, sample_weight=weight)
    two = NMF(3, **settings).fit(np.repeat(X, weight.astype(int), axis=0))
    np.testing.assert_allclose(one.components_, two.components_, rtol=1e-6, atol=1e-9)
    assert one.reconstruction_err_ == pytest.approx(two.reconstruction_err_)


def test_column_weights():
    X = parts()[0] + 0.3 * np.random.default_rng(1).random((80, 12))
    heavy = np.where(np.arange(12) < 4, 100.0, 1.0)
    even, uneven = (NMF(2, column_weight=weight, max_iter=500).fit(X) for weight in (None, heavy))
    lost = [((X - each.inverse_transform(each.transform(X)))[:, :4] ** 2).sum() for each in (even, uneven)]
    assert lost[1] < 0.5 * lost[0]
    np.testing.assert_allclose(
        NMF(2, column_weight=np.ones(12)).fit(X).components_, NMF(2).fit(X).components_, rtol=1e-10
    )


@pytest.mark.parametrize("settings", [{}, {"solver": "als"}, {"solver": "mu"}, {"solver": "mu", "beta_loss": 1.0}])
def test_hidden_cells_are_filled(settings):
    X, _ = parts()
    rows, holes = with_holes(X, 0.2)
    model = NMF(3, max_iter=2000, tol=1e-7, **settings).fit(rows)
    filled = model.impute(rows)
    np.testing.assert_array_equal(filled[~holes], X[~holes])
    mean = np.broadcast_to(np.nanmean(rows, axis=0), X.shape)
    assert np.linalg.norm((filled - X)[holes]) < 0.2 * np.linalg.norm((mean - X)[holes])


def test_nothing_is_said_of_observed_cells():
    X = poisson(40)
    rows, holes = with_holes(X, 0.1)
    found = NMF(2, solver="mu", beta_loss="kullback-leibler").fit(rows).impute(rows, interval=0.8)
    assert np.isnan(found.low[~holes]).all()
    assert (found.low[holes] <= found.filled[holes]).mean() > 0.95
    assert (found.high[holes] >= np.floor(found.filled[holes])).all()


@pytest.mark.parametrize("n", [20, 50, 200])
@pytest.mark.parametrize("beta_loss", ["kullback-leibler", "frobenius"])
def test_intervals_hold_as_many_cells_as_they_say(n, beta_loss):
    inside, total = 0, 0
    for seed in range(12):
        if beta_loss == "frobenius":
            rng = np.random.default_rng(seed)
            X = np.abs(
                rng.gamma(2.0, size=(n, 2)) @ rng.gamma(2.0, size=(2, 15)) + 2.0 + 0.5 * rng.normal(size=(n, 15))
            )
        else:
            X = poisson(n, seed=seed)
        rows, holes = with_holes(X, 0.1, seed + 100)
        k = 3 if beta_loss == "frobenius" else 2
        model = NMF(k, solver="cd" if beta_loss == "frobenius" else "mu", beta_loss=beta_loss, max_iter=500).fit(rows)
        found = model.impute(rows, interval=0.9)
        inside += ((found.low <= X) & (found.high >= X))[holes].sum()
        total += holes.sum()
    assert (
        0.87 < inside / total < (0.94 if beta_loss == "frobenius" else 0.98)
    )  # counts are whole: intervals hold a little more


def test_the_likelihood_of_counts_is_poisson():
    from scipy.stats import poisson as law

    X = poisson(60)
    model = NMF(2, solver="mu", beta_loss="kullback-leibler", max_iter=1000).fit(X)
    mean = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(model.score_samples(X), law.logpmf(X, mean).sum(axis=1), rtol=1e-10)
    assert model.score(X) == pytest.approx(model.score_samples(sparse.csr_matrix(X)).mean())
    with pytest.raises(AttributeError, match="has no attribute 'score'"):
        NMF(2, solver="mu", beta_loss=0.5).fit(X).score(X)
    with pytest.raises(ValueError, match=r"beta_loss=0\.5 has no distribution of cells here"):
        NMF(2, solver="mu", beta_loss=0.5).fit(X).impute(with_holes(X, 0.1)[0], interval=0.9)


@pytest.mark.parametrize("settings", [{}, {"solver": "mu", "beta_loss": "kullback-leibler"}])
def test_hidden_cells_choose_the_number_of_parts(settings):
    X = poisson(150, 20, 3, level=30.0) if settings else parts(150, 20, 3)[0] + 0.02
    found = NMF("cells", random_state=0, **settings).fit(X)
    assert found.n_components_ == found.rank_choice_.rank == 3
    assert found.rank_choice_.values[list(found.rank_choice_.ranks).index(3)] < 0.5
    with pytest.raises(ValueError, match="X has 1 column; give a number"):
        NMF("cells").fit(X[:, :1])


def test_restarts_keep_the_best():
    X = parts(60, 15, 6)[0] + 0.2 * np.random.default_rng(0).random((60, 15))
    one = [NMF(6, init="random", random_state=seed, max_iter=100).fit(X).reconstruction_err_ for seed in range(3)]
    many = NMF(6, init="random", random_state=0, n_init=8, max_iter=100).fit(X)
    assert many.reconstruction_err_ <= max(one)
    assert many.reconstruction_err_ <= NMF(6, init="random", random_state=0, max_iter=100).fit(X).reconstruction_err_


def test_batches_lead_where_all_rows_lead():
    X, _ = parts(400)
    model = NMF(3, random_state=0)
    for _ in range(20):
        for start in range(0, 400, 50):
            model.partial_fit(X[start : start + 50])
    left = np.linalg.norm(X - model.inverse_transform(model.transform(X))) / np.linalg.norm(X)
    assert left < 0.05
    rows, holes = with_holes(X, 0.1)
    batched = MiniBatchNMF(3, batch_size=100, max_iter=500, random_state=0).fit(rows)
    mean = np.broadcast_to(np.nanmean(rows, axis=0), X.shape)
    assert np.linalg.norm((batched.impute(rows) - X)[holes]) < 0.5 * np.linalg.norm((mean - X)[holes])


def test_saved_models_say_the_same(tmp_path):
    rows, _ = with_holes(poisson(50), 0.1)
    for model in (
        NMF("cells", solver="mu", beta_loss="kullback-leibler"),
        NMF(2, n_init=2, init="random", random_state=0),
        MiniBatchNMF(2, random_state=0),
        NMFTopics(2),
    ):
        model.fit(rows)
        tacit.save(model, tmp_path / "model.tacit")
        again = tacit.load(tmp_path / "model.tacit")
        np.testing.assert_array_equal(again.transform(rows), model.transform(rows))
        np.testing.assert_array_equal(again.impute(rows, interval=0.9).high, model.impute(rows, interval=0.9).high)


def test_a_fit_goes_on_from_a_checkpoint(tmp_path):
    X, _ = parts()
    path, whole = tmp_path / "fit.checkpoint", NMF(3, max_iter=20, tol=0.0, callback=str).fit(X)

    def stop(progress):
        if progress.step == 8:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted by the user after 8 steps"):
        NMF(3, max_iter=20, tol=0.0, callback=stop).fit_transform(X, checkpoint=path, checkpoint_every=0)
    model = NMF(3, max_iter=20, tol=0.0, callback=str)
    model.fit_transform(X, checkpoint=path)
    np.testing.assert_allclose(model.components_, whole.components_, rtol=1e-10)


@pytest.mark.parametrize(
    "settings", [{}, {"solver": "mu", "beta_loss": 1.0}, {"solver": "mu", "beta_loss": 0.5}, {"solver": "mu"}]
)
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_tensors_give_the_same(settings, share):
    torch = pytest.importorskip("torch")
    X, _ = with_holes(parts()[0], share) if share else parts()
    settings = {"max_iter": 20, "tol": 0.0, **settings}
    here, there = NMF(3, callback=str, **settings).fit(X), NMF(3, **settings)
    W = there.fit_transform(torch.as_tensor(X))
    np.testing.assert_allclose(here.components_, there.components_, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(here.fit_transform(X), W, rtol=1e-6, atol=1e-9)
    assert here.reconstruction_err_ == pytest.approx(there.reconstruction_err_)


def test_streamed_rows_give_the_same(tmp_path):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(parts(300)[0], columns=[f"c{j}" for j in range(12)])
    X.to_parquet(tmp_path / "rows.parquet")
    here, there = NMF(3, max_iter=25).fit(X), NMF(3, max_iter=25).fit(str(tmp_path / "rows.parquet"))
    np.testing.assert_allclose(here.components_, there.components_, rtol=1e-7)
    np.testing.assert_allclose(here.transform(X), there.transform(str(tmp_path / "rows.parquet")), rtol=1e-6)


def test_zero_rows_and_columns_have_no_parts():
    X, _ = parts()
    X[3], X[:, 5] = 0.0, 0.0
    for settings in ({}, {"solver": "mu", "beta_loss": 1.0}):
        model = NMF(3, **settings)
        W = model.fit_transform(X)
        assert np.abs(W[3]).max() < 1e-8
        assert model.components_[:, 5].max() < 1e-8
        assert np.isfinite(W).all()


def test_more_parts_than_the_rank_are_harmless():
    X, _ = parts(k=2)
    model = NMF(6, max_iter=500).fit(X)
    assert np.isfinite(model.components_).all()
    assert model.reconstruction_err_ < 1e-2 * np.linalg.norm(X)
    assert NMF(20, random_state=0).fit(X).components_.shape == (20, 12)
    with pytest.raises(
        ValueError, match=r"n_components <= min\(n_samples, n_features\): there are 20, of 80 rows and 12"
    ):
        NMF(20, init="nndsvd").fit(X)


def test_bad_rows_are_refused_by_name():
    X, _ = parts()
    bad = X.copy()
    bad[7, 2] = -1.5
    for rows in (bad, sparse.csr_matrix(bad)):
        with pytest.raises(
            ValueError, match=r"Negative values in data passed to NMF \(input X\): row 7, column 2 holds -1.5"
        ):
            NMF(2).fit(rows)
        with pytest.raises(ValueError, match=r"row 7, column 2 holds -1\.5"):
            NMF(2).fit(X).transform(rows)
    with pytest.raises(ValueError, match="X is full of zeros, which have no parts"):
        NMF(2).fit(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="X has 11 features, but NMF is expecting 12"):
        NMF(2).fit(X).transform(X[:, :11])
    with pytest.raises(ValueError, match="X has 4 columns, but there are 2 parts"):
        NMF(2).fit(X).inverse_transform(np.ones((3, 4)))
    thin = sparse.csr_matrix(X)
    thin.data[4] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        NMF(2).fit(thin)


def test_bad_settings_are_refused_by_name():
    X, _ = parts()
    for settings, message in (
        ({"solver": "newton"}, "solver='newton' is unknown"),
        ({"beta_loss": "hellinger"}, "beta_loss='hellinger' is unknown"),
        ({"n_components": 0}, "n_components=0 is not a whole number"),
        ({"alpha_W": -1.0}, "alpha_W=-1.0"),
        ({"init": "zeros"}, "init='zeros' is unknown"),
        ({"column_weight": [1.0, 2.0]}, r"column_weight has shape \(2,\), but X has 12 columns"),
        ({"column_weight": np.zeros(12)}, "column_weight holds 0; weights of columns are finite and above 0"),
        ({"solver": "als", "beta_loss": 1.0}, "solver 'als' does not handle beta_loss = 1.0; use solver='mu'"),
    ):
        with pytest.raises(ValueError, match=message):
            NMF(**settings).fit(X)
    with pytest.raises(ValueError, match="W has 2 columns, but H has 3 rows"):
        NMF(init="custom").fit(X, W=np.ones((80, 2)), H=np.ones((3, 12)))
    with pytest.raises(ValueError, match="interval=2"):
        NMF(2).fit(X).impute(X, interval=2)
    with pytest.raises(ValueError, match="full of zeros"):
        check_factor("W", np.zeros((2, 2)), (2, 2))


def test_warning_of_too_few_passes_only_where_tol_asks():
    X, _ = parts()
    with pytest.warns(ConvergenceWarning, match="Maximum number of iterations 2 reached"):
        NMF(3, max_iter=2).fit(X)


def test_topics_are_distributions():
    rng = np.random.default_rng(0)
    topics, shares = rng.dirichlet(np.full(30, 0.1), 3), rng.dirichlet(np.full(3, 0.3), 200)
    counts = np.array([rng.multinomial(200, p) for p in shares @ topics]).astype(float)
    counts[5] = 0.0
    model = NMFTopics(3, max_iter=1000, random_state=0).fit(sparse.csr_matrix(counts))
    np.testing.assert_allclose(model.topic_word_.sum(axis=1), 1.0)
    assert model.topic_share_.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(model.word_share_, counts.sum(axis=0) / counts.sum())
    found = model.transform(counts)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_allclose(found[5], model.topic_share_)
    match = np.abs(model.topic_word_[:, None] - topics[None]).sum(axis=2)
    assert (match.min(axis=0) < 0.2).all()
    order = match.argmin(axis=0)
    assert np.abs(np.delete(found[:, order] - shares, 5, axis=0)).mean() < 0.05


def test_the_function_is_the_class():
    X, _ = parts()
    W, H, n_iter = non_negative_factorization(X, n_components=3)
    model = NMF(3)
    np.testing.assert_array_equal(W, model.fit_transform(X))
    np.testing.assert_array_equal(H, model.components_)
    assert n_iter == model.n_iter_
    again, held, _ = non_negative_factorization(X, H=H, update_H=False)
    np.testing.assert_array_equal(again, model.transform(X))
    assert held is H or (held == H).all()


def test_missing_cells_choose_the_number_of_parts_unless_it_is_given():
    X = np.random.default_rng(0).gamma(2.0, 1.0, (60, 4))
    assert NMF(max_iter=5, tol=0).fit(X, None).n_components_ == 4
    X[3, 2] = np.nan
    model = NMF().fit(X)
    assert model.n_components_ < 4
    assert model.rank_choice_ is not None
    assert model.impute(X)[3, 2] < np.nanmax(X)
    assert NMF(3).fit(X).n_components_ == 3


@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
def test_a_row_of_which_nothing_is_known_is_like_rows_in_general(beta_loss):
    digits = load_digits().data[:600]
    model = NMF(8, beta_loss=beta_loss, solver="mu").fit(digits)
    filled = model.impute(np.full((1, 64), np.nan), interval=0.9)
    np.testing.assert_allclose(filled.filled[0], digits.mean(axis=0), atol=1.0)
    assert 0.85 < ((filled.low <= digits) & (digits <= filled.high)).mean() < 0.99


def test_counts_that_spread_more_than_poissons_have_wider_intervals():
    digits = load_digits().data[:600]
    X, lost = digits.copy(), np.random.default_rng(0).random(digits.shape) < 0.2
    X[lost] = np.nan
    model = NMF(8, beta_loss="kullback-leibler", solver="mu").fit(X)
    assert model.noise_ > 1.2
    found = model.impute(X, interval=0.9)
    assert 0.86 < ((found.low <= digits) & (digits <= found.high))[lost].mean() < 0.95


@pytest.mark.parametrize("beta", [-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0])
def test_steps_go_down_under_heavy_penalties(beta):
    rng = np.random.default_rng(0)
    X = rng.gamma(0.3, 1e6, size=(30, 8)) + 1e-3
    for l1_ratio in (0.0, 0.5):
        given = dict(alpha_W=100.0, l1_ratio=l1_ratio, init="random", max_iter=60, tol=0.0, random_state=0)
        found = NMF(3, beta_loss=beta, solver="mu", **given).fit(X)
        objectives = np.array(found.fit_.trace.objectives)
        assert (np.diff(objectives) >= -1e-12 * np.abs(objectives[1:])).all()


@pytest.mark.parametrize(("solver", "beta"), [("cd", 2.0), ("mu", 2.0), ("mu", 1.0)])
def test_losses_of_rows_that_are_all_but_fitted_do_not_cancel(solver, beta):
    rng = np.random.default_rng(0)
    X = 1e9 * np.outer(rng.random(40), rng.random(6))
    X[0, 0] = np.nan
    found = NMF(1, beta_loss=beta, solver=solver, max_iter=60, tol=0.0).fit(X)
    objectives = np.array(found.fit_.trace.objectives)
    assert -objectives[-1] < 2e-13 * np.nansum(X**beta)
    assert (np.diff(objectives) >= -1e-9 * np.abs(objectives[1:])).all()


def test_cells_too_small_for_divergences_are_named():
    X = 3e-52 * np.ones((4, 3))
    with pytest.raises(ValueError, match=r"cells of X are 3e-52 on average, .* multiply X by 1e\+52"):
        NMFTopics(1).fit(X)
    assert NMF(1).fit(X).reconstruction_err_ <= 1e-60
