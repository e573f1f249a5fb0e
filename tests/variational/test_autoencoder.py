"""The variational autoencoder: linear ones are probabilistic PCA, heads agree with laws, and answers with exact ones."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.datasets import load_digits, load_iris

import tacit
from tacit.factor import ProbabilisticPCA
from tacit.variational import VariationalAutoencoder

torch = pytest.importorskip("torch", reason="the autoencoder needs torch")
pandas = pytest.importorskip("pandas")

QUICK = {"max_epochs": 3, "random_state": 0}
LINEAR = {"encoder_widths": (), "decoder_widths": (), "noise": "shared", "scale": False, "validation_fraction": 0.0}


def low_rank(n=400, d=8, k=2, seed=0):
    """Rows near a plane."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, k)) @ (rng.normal(size=(k, d)) * [[3.0], [1.5]]) + rng.normal(size=(n, d)) + 5.0


def mixed(n=400, seed=0):
    """A table of every kind of column, and which of its cells are then missing."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)

    def cut(sigma, cuts, names):
        return np.array(names)[np.digitize(z + sigma * rng.normal(size=n), cuts)]

    table = pandas.DataFrame({
        "size": 10 + 2 * z + 0.5 * rng.normal(size=n),
        "visits": rng.poisson(np.exp(1 + 0.5 * z)),
        "kind": cut(0.3, [-0.5, 0.5], ["a", "b", "c"]),
        "smokes": cut(0.8, [0.0], ["no", "yes"]),
        "grade": pandas.Categorical(
            cut(0.4, [-1, 0, 1], ["low", "mid", "high", "top"]), ["low", "mid", "high", "top"], ordered=True
        ),
        "price": np.exp(3 + z + 0.3 * rng.normal(size=n)),
        "wait": rng.gamma(3.0, np.exp(0.5 * z)),
        "hour": ((12 + 3 * z + rng.normal(size=n)) % 24).round().astype(int),
        "wild": 3 * z + rng.standard_t(3, size=n),
    })  # fmt: skip
    gone = rng.random(table.shape) < 0.2
    return table, gone


FAMILIES = {"hour": "vonmises", "wait": "gamma", "wild": "student", "visits": "poisson", "price": "lognormal"}


def hidden(table, gone):
    return table.where(~pandas.DataFrame(gone, columns=table.columns))


@pytest.fixture(scope="module")
def learned():
    """A table, which cells are missing, and what was learned of the rest."""
    table, gone = mixed()
    gone[0] = True  # a row without any cell
    model = VariationalAutoencoder(2, by_column=FAMILIES, patience=5, max_epochs=60, random_state=0)
    return table, gone, model.fit(hidden(table, gone))


# Linear decoders


@pytest.mark.parametrize("init", ["linear", "random"])
@pytest.mark.parametrize("holes", [0.0, 0.15])
def test_a_linear_decoder_is_probabilistic_pca(init, holes):
    X = low_rank()
    X[np.random.default_rng(1).random(X.shape) < holes] = np.nan
    ppca = ProbabilisticPCA(2, parameter_draws=0).fit(X)
    model = VariationalAutoencoder(2, **LINEAR, init=init, learning_rate=2e-2, random_state=0).fit(X)
    assert model.score(X) > ppca.score(X) - 0.005 * abs(ppca.score(X))
    W = np.linalg.qr(model.weights_["out.weight"].astype(float))[0]
    assert np.linalg.svd(W.T @ ppca.components_.T)[1].min() > 0.995  # cosines of the angles between the planes
    np.testing.assert_allclose(model.impute(X), ppca.impute(X), atol=0.5)


def test_answers_of_linear_decoders_are_exact():
    X = low_rank(60, 5)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    model = VariationalAutoencoder(2, encoder_widths=(), decoder_widths=(), n_draws=64, **QUICK).fit(X)
    frame, weights = model.frames_[0], {name: value.astype(float) for name, value in model.weights_.items()}
    W = frame["unit"][:, None] * weights["out.weight"]
    noise = np.diag((frame["unit"] * np.exp(weights["heads.0.log_noise"])) ** 2)
    mean, covariance = frame["unit"] * weights["out.bias"] + frame["centre"], W @ W.T + noise
    score, filled = model.score_samples(X), model.impute(X)
    for x, found, whole in zip(X, score, filled):
        o = ~np.isnan(x)
        if not o.any():
            continue
        exact = multivariate_normal(mean[o], covariance[np.ix_(o, o)]).logpdf(x[o])
        # Half of the draws come from the encoder, so the estimate is exact but for those.
        assert abs(found - exact) < 0.02
        expected = mean[~o] + covariance[np.ix_(~o, o)] @ np.linalg.solve(covariance[np.ix_(o, o)], x[o] - mean[o])
        np.testing.assert_allclose(whole[~o], expected, atol=0.15)


@pytest.mark.full
def test_digits_are_better_described_than_by_ppca():
    X = load_digits().data
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    train, test = X[order[:1400]], X[order[1400:]]
    model = VariationalAutoencoder(
        8,
        family="gaussian",
        noise="shared",
        scale=False,
        encoder_widths=(128,),
        decoder_widths=(128,),
        max_epochs=80,
        random_state=0,
    ).fit(train)
    assert model.score(test) > ProbabilisticPCA(8).fit(train).score(test) + 5.0


def test_digits_of_two_dimensions_are_better_described_than_by_ppca():
    X = load_digits().data
    order = np.random.default_rng(0).permutation(len(X))
    train, test = X[order[:1000]], X[order[1000:1300]]
    model = VariationalAutoencoder(
        2,
        family="gaussian",
        noise="shared",
        scale=False,
        decoder_widths=(64,),
        n_importance=1,
        max_epochs=25,
        random_state=0,
    ).fit(train)
    assert model.score(test) > ProbabilisticPCA(2).fit(train).score(test) + 2.0


# Families


def test_heads_agree_with_the_laws_of_their_cells(learned):
    table, _gone, model = learned
    network = model._network("cpu")
    X = model.schema_.encode(table)[:6]
    x = torch.as_tensor(network.code(X))
    eta = network.decode(torch.as_tensor(np.random.default_rng(0).normal(size=(6, 2))))
    for head, own, out in zip(network.heads, network.slices, network.outputs):
        told = head.cells(eta[:, out], x[:, own]).numpy() + head.jacobian(X[:, head.columns])
        rows, columns = (each.ravel() for each in np.indices((6, len(head.columns))))
        law = head.law(eta[None, :, out].numpy(), rows, columns)
        values, one = X[:, head.columns].ravel(), np.ones((len(rows), 1))
        if hasattr(law, "shape") or hasattr(law, "width") or hasattr(law, "log"):
            step = 1.0 if getattr(law, "discrete", False) else 1e-5 * np.maximum(np.abs(values), 1.0)
            below = values - step if np.all(step == 1.0) else values - 0.5 * step
            above = values if np.all(step == 1.0) else values + 0.5 * step
            density = (law.cdf(above, slice(None)) - law.cdf(below, slice(None)))[:, 0] / step
        else:
            density = np.empty(len(rows))
            for j in range(len(head.columns)):
                share = law.levels(j, one)
                code = values[columns == j]
                if type(head).__name__ == "CyclicHead":
                    code = (code - 0.0) * share.shape[1] / head.cycles[j][0]
                density[columns == j] = share[np.arange(6), code.astype(int)]
                if type(head).__name__ == "CyclicHead":
                    density[columns == j] *= share.shape[1] / head.cycles[j][0]
        np.testing.assert_allclose(np.exp(told.ravel()), density, rtol=2e-3, err_msg=type(head).__name__)


def test_slopes_are_the_derivatives_of_the_decoder(learned):
    network = learned[2]._network("cpu")
    z = torch.randn(4, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    found = network.slopes(z)
    for i in range(4):
        expected = torch.autograd.functional.jacobian(network.decode, z[i])
        torch.testing.assert_close(found[i], expected)


def test_information_is_the_expected_curvature(learned):
    """Of numbers the expectation is over the law; here it is taken over many draws."""
    from tacit.variational.autoencoder.answers import _drawn

    network, rng = learned[2]._network("cpu"), np.random.default_rng(0)
    for head in network.heads:
        if type(head).__name__ in ("CyclicHead", "LevelHead"):  # several outputs a column
            continue
        d, n = len(head.columns), 20_000
        eta = torch.full((n, head.n_out), 0.3, dtype=torch.float64, requires_grad=True)
        rows, columns = (each.ravel() for each in np.indices((n, d)))
        cells = _drawn(head.law(eta.detach()[None].numpy(), rows, columns), rng).reshape(n, d)
        (slope,) = torch.autograd.grad(head.cells(eta, torch.as_tensor(head.code(cells))).sum(), eta)
        told = head.information(eta.detach())[0].numpy()
        np.testing.assert_allclose(slope.numpy().var(axis=0), told, rtol=0.1, err_msg=type(head).__name__)


def test_missing_cells_of_mixed_tables(learned):
    table, gone, model = learned
    given = hidden(table, gone)
    found = model.impute(given, interval=0.9)
    assert found.filled.notna().all(axis=None)
    assert found.filled["grade"].dtype == given["grade"].dtype
    for j, name in enumerate(table.columns):
        lost = gone[:, j] & ~gone[:, 0] if j else gone[:, j]
        assert (found.filled[name][~gone[:, j]] == table[name][~gone[:, j]]).all()
        if name in ("kind", "smokes", "grade"):
            right = (found.filled[name].astype(str) == table[name].astype(str))[lost].mean()
            assert right > table[name].value_counts(normalize=True).max()
            assert np.isfinite(found.probability[gone[:, j], j]).all()
        else:
            error = found.filled[name] - table[name]
            assert (error[lost] ** 2).mean() < 0.9 * ((table[name] - table[name].mean())[lost] ** 2).mean()
            inside = (found.low[lost, j] <= table[name][lost]) & (table[name][lost] <= found.high[lost, j])
            assert inside.mean() > 0.8
    assert (found.filled["visits"] % 1 == 0).all()
    filled, std = model.impute(given, return_std=True)
    assert (std[~gone] == 0).all()
    assert (std[gone] > 0).all()
    drawn = model.draw_missing(given, 20, random_state=0)
    assert len(drawn) == 20
    assert all(one["size"][~gone[:, 0]].equals(table["size"][~gone[:, 0]]) for one in drawn)
    mean = np.mean([one["size"].to_numpy(float) for one in drawn], axis=0)
    assert np.abs(mean - filled["size"])[gone[:, 0]].max() < 3.0
    assert drawn[0].notna().all(axis=None)


def test_levels_are_no_direction_without_noise():
    """The features of a column of levels add up to a constant, for which neither start nor length of z may take a component."""
    rng = np.random.default_rng(5)
    z = rng.normal(size=(300, 2))

    def cut(x):
        return np.array(list("abcd"))[np.digitize(x + 0.4 * rng.normal(size=300), [-0.8, 0.0, 0.8])]

    measured = np.column_stack([z, z.sum(axis=1)]) + 0.4 * rng.normal(size=(300, 3))
    table = pandas.DataFrame(measured, columns=list("xyu")).assign(
        c=cut(z[:, 0]), d=cut(z[:, 1]), e=cut(z[:, 0] - z[:, 1])
    )
    gone = rng.random(table.shape) < 0.15
    model = VariationalAutoencoder(random_state=0).fit(table.mask(gone))
    assert model.n_components_ <= 4  # of 2 factors, and 15 features
    # Where training starts: about 1.4 for a measurement and for a column of levels.
    assert model.training_.held_out[0] > -12.0
    filled = model.impute(table.mask(gone))
    for j, name in enumerate("xyu"):
        lost = gone[:, j]
        assert ((filled[name] - table[name])[lost] ** 2).mean() < 0.5 * table[name].var()
    for j, name in enumerate("cde", 3):
        lost = gone[:, j]
        assert (filled[name] == table[name])[lost].mean() > 0.45  # four levels


def test_rows_drawn_are_like_those_learned(learned):
    table, _, model = learned
    drawn = model.sample(2000, random_state=0)
    assert list(drawn.columns) == list(table.columns)
    assert abs(drawn["size"].mean() - table["size"].mean()) < 0.5
    assert abs(drawn["visits"].mean() - table["visits"].mean()) < 0.8
    assert abs((drawn["smokes"] == "yes").mean() - (table["smokes"] == "yes").mean()) < 0.1
    assert abs(np.log(drawn["price"]).std() - np.log(table["price"]).std()) < 0.3
    assert drawn["hour"].between(0, 24).all()
    assert set(drawn["grade"].dropna()) <= set(table["grade"])
    expected = model.inverse_transform(np.zeros((1, 2)))
    assert list(expected.columns) == list(table.columns)


def test_a_row_without_cells_is_what_is_expected_of_any(learned):
    table, gone, model = learned
    scores, std = model.transform(hidden(table, gone), return_std=True)
    np.testing.assert_allclose(scores[0], 0.0, atol=1e-6)
    np.testing.assert_allclose(std[0], 1.0, atol=1e-6)
    assert (std[1:] < 1.0 + 1e-6).all()
    np.testing.assert_allclose(model.score_samples(hidden(table, gone))[0], 0.0, atol=0.05)


def test_noise_of_cells_and_levels_that_were_not_there():
    rng = np.random.default_rng(0)
    z = rng.normal(size=400)
    X = np.column_stack([z, 2 * z, z + np.exp(z - 1) * rng.normal(size=400)])
    own, column = (
        VariationalAutoencoder(1, noise=noise, random_state=0, max_epochs=60).fit(X) for noise in ("cell", "column")
    )
    assert own.score(X) > column.score(X)
    table = pandas.DataFrame({"a": z, "b": np.where(z > 0, "x", "y")})
    model = VariationalAutoencoder(1, **QUICK).fit(table)
    other = table.assign(b="w")
    with pytest.raises(ValueError, match=r"column 'b' holds 'w', which was not there at fit \(known: 'x', 'y'\)"):
        model.transform(other)
    lenient = VariationalAutoencoder(1, unknown="missing", **QUICK).fit(table)
    np.testing.assert_array_equal(lenient.transform(other), lenient.transform(table.assign(b=None)))


# Training


def test_the_same_seed_gives_the_same_network_and_checkpoints_go_on_to_it(tmp_path):
    X = low_rank(200, 4)
    path = tmp_path / "state"
    settings = {"patience": 3, "max_epochs": 12, "random_state": 3, "decoder_widths": (8,)}
    expected = VariationalAutoencoder(1, **settings).fit(X)
    again = VariationalAutoencoder(1, **settings).fit(X)

    def stop(progress):
        if progress.step == 7:
            raise KeyboardInterrupt

    cut = VariationalAutoencoder(1, **settings, callback=stop)
    with pytest.warns(UserWarning, match="training was interrupted after 7 epochs; what was learned so far is kept"):
        cut.fit(X, checkpoint=path, checkpoint_every=0)
    assert cut.training_.reason.code == "interrupted"
    assert path.exists()
    with pytest.raises(ValueError, match="belongs to a fit of other data or settings"):
        VariationalAutoencoder(1, **settings).fit(X + 1.0, checkpoint=path)
    resumed = VariationalAutoencoder(1, **settings).fit(X, checkpoint=path)
    assert not path.exists()
    for name, value in expected.weights_.items():
        np.testing.assert_array_equal(again.weights_[name], value)
        np.testing.assert_array_equal(resumed.weights_[name], value)
    np.testing.assert_array_equal(resumed.training_.held_out, expected.training_.held_out)


def test_training_that_runs_off_keeps_the_best():
    X = low_rank(100, 4)
    with pytest.warns(UserWarning, match="try a smaller learning_rate than 1e"):
        model = VariationalAutoencoder(1, learning_rate=1e25, random_state=0).fit(X)
    assert model.training_.reason.code == "not_finite"
    assert np.isfinite(model.score(X))
    assert model.score(X) > ProbabilisticPCA(1, scale=True).fit(X).score(X) - 0.5  # where it started


def test_weights_count():
    X = np.vstack([low_rank(150, 3), low_rank(150, 3, seed=1) + 50.0])
    weight = np.repeat([1.0, 1e-6], 150)
    model = VariationalAutoencoder(1, scale=False, random_state=0, max_epochs=40).fit(X, sample_weight=weight)
    even = VariationalAutoencoder(1, scale=False, random_state=0, max_epochs=40).fit(X)
    assert model.score(X[:150]) > even.score(X[:150])


@pytest.mark.parametrize("setting", [{"n_importance": 4}, {"beta": 0.5, "warm_up": 2}, {"mixed_precision": True}])
def test_settings_of_training(setting):
    X = low_rank(150, 4)
    model = VariationalAutoencoder(1, max_epochs=6, random_state=0, **setting).fit(X)
    assert np.isfinite(model.score(X))
    assert len(model.training_.bounds) == model.n_iter_ == 6


def test_rows_from_files_and_streams(tmp_path, monkeypatch):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X = low_rank(300, 4)
    path = tmp_path / "rows.parquet"
    parquet.write_table(arrow.table({f"x{j}": column for j, column in enumerate(X.T)}), path)
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(4)])
    expected, found = (VariationalAutoencoder(1, **QUICK).fit(rows) for rows in (frame, str(path)))
    np.testing.assert_array_equal(found.transform(str(path)), expected.transform(frame))
    from tacit.variational.autoencoder.networks import rows

    monkeypatch.setattr(rows, "SHARE", 0.0)  # as if they did not fit
    monkeypatch.setattr(rows, "BUFFER", 2000)
    streamed = VariationalAutoencoder(1, max_epochs=20, init="random", random_state=0).fit(str(path))
    assert streamed.score(frame) > ProbabilisticPCA(1, scale=True).fit(X).score(X) - 0.3


# Bad input


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": "many"}, "n_components='many'"),
        ({"decoder_widths": (0,)}, r"decoder_widths=\(0,\) must be 'auto' or a tuple of widths, such as \(64, 64\)"),
        ({"encoder_widths": 5}, "encoder_widths=5 must be"),
        ({"noise": "row"}, "noise='row'"),
        ({"init": "zero"}, "init='zero'"),
        ({"device": "tpu"}, "device='tpu'"),
        ({"learning_rate": -1.0}, r"learning_rate=-1\.0"),
        ({"validation_fraction": 1.0}, r"validation_fraction=1\.0"),
        (
            {"by_column": {0: "beta"}},
            "column 0 is to be Beta, which a decoder does not give; use one of bernoulli, exponential",
        ),
        ({"by_column": ["a"]}, r"by_column=\['a'\] is not a dictionary"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        VariationalAutoencoder(**{"max_epochs": 1} | settings).fit(low_rank(20, 3))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_no_gpu():
    with pytest.raises(ValueError, match="device='cuda' asks for a GPU, but torch finds none; use device='cpu'"):
        VariationalAutoencoder(1, device="cuda", **QUICK).fit(low_rank(20, 3))


def test_tables_of_next_to_nothing():
    with pytest.raises(ValueError, match="1 sample"):
        VariationalAutoencoder(1, **QUICK).fit([[1.0, 2.0]])
    with pytest.raises(ValueError, match="column 1 has no observed value"):
        VariationalAutoencoder(1, **QUICK).fit(np.column_stack([np.arange(9.0), np.full(9, np.nan)]))
    for X in (np.array([[1.0, 2.0], [3.0, 5.0]]), np.ones((30, 2)), np.arange(30.0)[:, None]):
        model = VariationalAutoencoder(1, **QUICK).fit(X)
        assert np.isfinite(model.score(X))
        assert np.isfinite(model.transform(X)).all()
    X = low_rank(60, 3)
    X[:, 1] = 7.0
    model = VariationalAutoencoder(1, **QUICK).fit(X)
    np.testing.assert_allclose(model.impute(np.where(np.arange(3) == 1, np.nan, X))[:, 1], 7.0, atol=1e-4)
    assert np.ptp(model.sample(50, random_state=0)[:, 1]) < 1e-3


def test_without_torch():
    code = (
        "import sys, numpy as np\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'torch': raise ImportError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from tacit.variational import VariationalAutoencoder\n"
        "try: VariationalAutoencoder(1).fit(np.eye(5))\n"
        "except ImportError as error: print(error)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "VariationalAutoencoder needs torch; install it with: pip install 'tacit[gpu]'" in told


def test_files(learned, tmp_path):
    table, gone, model = learned
    tacit.save(model, tmp_path / "model.tacit")
    given = hidden(table, gone)
    for again in (tacit.load(tmp_path / "model.tacit"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.score_samples(given), model.score_samples(given))
        assert again.training_.reason == model.training_.reason
        pandas.testing.assert_frame_equal(again.impute(given), model.impute(given))
    for name, value in (("out.weight", np.zeros((3, 3))), ("into.bias", np.full(4, np.nan))):
        broken = pickle.loads(pickle.dumps(model))
        broken.weights_ = {**model.weights_, name: value}
        tacit.save(broken, tmp_path / "broken.tacit")
        with pytest.raises(ValueError, match=f"'weights_' holds '{name}' that is not"):
            tacit.load(tmp_path / "broken.tacit")


def test_importance_weights_find_posteriors_that_the_encoder_misses():
    X = load_iris().data
    H = X.copy()
    H[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    model = VariationalAutoencoder(2, random_state=0, max_epochs=30).fit(X)  # of complete rows only
    many = model.set_params(n_draws=8192).score_samples(H)
    few = model.set_params(n_draws=256).score_samples(H)
    blind = model.set_params(refine=0).score_samples(H)
    assert np.abs(few - many).mean() < 0.03
    assert np.abs(blind - many).mean() > 2 * np.abs(few - many).mean()


@pytest.mark.full
@pytest.mark.parametrize("n", [20, 50, 200])
def test_intervals_hold_their_share(n):
    covered = []
    for seed in range(12):
        X = low_rank(n, 5, seed=seed)
        H = np.where(np.random.default_rng(seed).random(X.shape) < 0.2, np.nan, X)
        found = VariationalAutoencoder(random_state=seed).fit(H).impute(H, interval=0.9)
        covered += ((found.low <= X) & (found.high >= X))[np.isnan(H)].tolist()
    assert 0.86 < np.mean(covered) < 0.98
