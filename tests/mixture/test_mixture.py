"""Mixtures of tables: what they find, fill in and refuse."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import tacit
from tacit.arrays import Arrays, record
from tacit.families import Categorical, Family, FullGaussian, Poisson
from tacit.mixture import (
    BayesianGaussianMixture,
    GaussianMixture,
    Mixture,
    MixtureOfExperts,
    bootstrap_lrt,
    select,
    standard_errors,
)
from tacit.source import ArraySource, SparseSource
from tacit.testing import check_family, close

from ..zoo import count_rows

pd = pytest.importorskip("pandas")


def patients(n=600, holes=0.15, seed=0):
    """Three groups that differ in every column, and the group of each row."""
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=n)
    table = pd.DataFrame(
        {
            "age": rng.normal(0, 6, n) + np.array([25, 45, 70])[group],
            "pressure": rng.normal(0, 8, n) + np.array([110, 140, 125])[group],
            "visits": rng.poisson(np.array([1.0, 4.0, 12.0])[group]),
            "ward": np.array(["east", "north", "west"])[(group + (rng.random(n) < 0.15)) % 3],
            "smoker": rng.random(n) < np.array([0.1, 0.8, 0.3])[group],
        }
    )
    for name in table:
        table[name] = table[name].astype(object).mask(rng.random(n) < holes)
    return table.infer_objects(), group


def agreement(found, truth):
    """Share of rows in the right group, under the best naming of groups."""
    from itertools import permutations

    return max(np.mean(np.array(order)[found] == truth) for order in permutations(range(3)))


@pytest.fixture(scope="module")
def fitted():
    table, group = patients()
    return Mixture(3, random_state=0).fit(table), table, group


def test_groups_are_found(fitted):
    mixture, table, group = fitted
    assert agreement(mixture.predict(table), group) > 0.93
    assert [type(part).__name__ for part, _ in mixture.family_.parts] == ["FullGaussian", "Categorical", "Poisson"]
    proba = mixture.predict_proba(table)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert mixture.converged_


def test_description_tells_every_column(fitted):
    mixture, _, _ = fitted
    told = mixture.describe()
    assert list(told) == ["age", "pressure", "visits", "ward", "smoker"]
    order = np.argsort(told["age"]["mean"])
    np.testing.assert_allclose(told["age"]["mean"][order], [25, 45, 70], atol=2.0)
    np.testing.assert_allclose(told["visits"]["mean"][order], [1, 4, 12], atol=0.7)
    assert told["ward"]["probability"].keys() == {"east", "north", "west"}
    assert told["smoker"]["probability"][True][order][1] > 0.7
    np.testing.assert_allclose(sum(told["ward"]["probability"].values()), 1.0)
    lines = str(told).splitlines()
    assert lines[0].split() == ["column", "what", "group", "0", "group", "1", "group", "2"]
    assert len(lines) == 1 + 2 * 3 + 3 + 2
    assert any(line.startswith("ward") and "= east" in line for line in lines)


def test_holes_are_filled_with_values_of_their_kind(fitted):
    mixture, table, _ = fitted
    filled, std = mixture.impute(table, return_std=True)
    assert not filled.isna().any().any()
    assert set(filled["ward"]) == {"east", "north", "west"}
    assert set(filled["smoker"]) == {True, False}
    seen = table.notna()
    assert (filled["age"][seen["age"]] == table["age"][seen["age"]].astype(float)).all()
    assert (std[seen.to_numpy()] == 0.0).all()
    assert (std[~seen.to_numpy()] > 0.0).all()
    assert (std[:, 3] <= 2 / 3 + 1e-9).all()  # the probability of being wrong among three wards


def test_imputed_cells_are_close_to_the_truth():
    whole, _ = patients(2000, holes=0.0)
    rng = np.random.default_rng(1)
    table = whole.astype(object).mask(rng.random(whole.shape) < 0.15).infer_objects()
    filled, std = Mixture(3, random_state=0).fit(table).impute(table, return_std=True)
    gone = table["age"].isna()
    error = (filled["age"] - whole["age"].astype(float))[gone]
    assert np.sqrt((error**2).mean()) < 0.6 * whole["age"].astype(float).std()
    z = error / std[gone.to_numpy(), 0]
    assert 0.85 < (np.abs(z) < 1.645).mean() < 0.96
    gone = table["ward"].isna()
    wrong = (filled["ward"] != whole["ward"])[gone]
    assert abs(wrong.mean() - std[gone.to_numpy(), 3].mean()) < 0.06


def test_draws_are_whole_tables(fitted):
    mixture, table, _ = fitted
    draws = mixture.draw_missing(table, 3, random_state=0)
    assert len(draws) == 3
    assert all(type(draw) is type(table) and not draw.isna().any().any() for draw in draws)
    gone = table["visits"].isna()
    drawn = draws[0]["visits"][gone].astype(float)
    assert (drawn == np.floor(drawn)).all()
    assert drawn.var() > 1.0
    assert (draws[0]["age"][table["age"].isna()] != draws[1]["age"][table["age"].isna()]).any()


def test_columns_are_predicted_from_the_others(fitted):
    mixture, table, _ = fitted
    rest = table.drop(columns=["age", "ward"])
    predicted, std = mixture.predict_given(rest, target=["age", "ward"], return_std=True)
    assert list(predicted.columns) == ["age", "ward"]
    assert std.shape == (len(table), 2)
    np.testing.assert_array_equal(predicted["age"], mixture.predict_given(table, target=["age", "ward"])["age"])
    seen = table["age"].notna().to_numpy()
    actual = table["age"][seen].astype(float).to_numpy()
    assert np.corrcoef(predicted["age"].to_numpy()[seen], actual)[0, 1] > 0.8
    levels = mixture.predict_level(rest.assign(age=np.nan), "ward")
    np.testing.assert_allclose(levels.sum(axis=1), 1.0)
    best = np.array(["east", "north", "west"])[levels.argmax(axis=1)]
    np.testing.assert_array_equal(best, mixture.predict_given(rest.assign(age=np.nan), target="ward")["ward"])
    some = mixture.predict_given(table[["visits"]], given="visits", target="age")["age"]
    hidden = table.assign(pressure=np.nan, ward=None, smoker=None)
    np.testing.assert_allclose(some, mixture.predict_given(hidden, target="age")["age"], rtol=1e-12)
    with pytest.raises(ValueError, match="column 'age' is both given and target"):
        mixture.predict_given(table, given=["age", "visits"], target="age")
    with pytest.raises(ValueError, match="neither given nor target names a column"):
        mixture.predict_given(table)
    with pytest.raises(ValueError, match="column 'age' is continuous, not described by a family of levels"):
        mixture.predict_level(table, "age")
    with pytest.raises(ValueError, match=r"holds 'weight', which is no column; there are .* named age, pressure"):
        mixture.predict_given(table, target="weight")


def test_samples_are_tables(fitted):
    mixture, table, _ = fitted
    rows, group = mixture.sample(500)
    assert list(rows.columns) == list(table.columns)
    assert set(rows["ward"]) <= {"east", "north", "west"}
    assert len(group) == 500
    assert (mixture.predict(rows) == group).mean() > 0.9


def test_every_kind_of_table_gives_the_same_fit(fitted, tmp_path):
    polars, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    mixture, table, _ = fitted
    for other in (polars.from_pandas(table), pa.Table.from_pandas(table)):
        again = Mixture(3, random_state=0).fit(other)
        assert again.lower_bound_ == pytest.approx(mixture.lower_bound_, rel=1e-12)
        filled = again.impute(other)
        assert type(filled) is type(other)
        np.testing.assert_array_equal(filled["ward"].to_pandas(), mixture.impute(table)["ward"])
    path = tmp_path / "rows.parquet"
    polars.from_pandas(table).write_parquet(path)
    streamed = Mixture(3, random_state=0).fit(path)
    assert streamed.lower_bound_ == pytest.approx(mixture.lower_bound_, rel=1e-12)
    assert streamed.schema_.columns == mixture.schema_.columns
    np.testing.assert_array_equal(streamed.predict(path), mixture.predict(table))


def test_one_family_describes_every_column_of_a_file(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X, path = count_rows(), tmp_path / "rows.parquet"
    pq.write_table(pa.table(dict(zip("abcd", X.T))), path)
    here, there = (Mixture(2, family="poisson", random_state=0).fit(rows) for rows in (X, path))
    np.testing.assert_allclose(there.weights_, here.weights_, rtol=1e-12)


def test_save_and_load(fitted, tmp_path):
    mixture, table, _ = fitted
    tacit.save(mixture, tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    np.testing.assert_array_equal(again.predict_proba(table), mixture.predict_proba(table))
    pd.testing.assert_frame_equal(again.impute(table), mixture.impute(table))
    assert again.schema_ == mixture.schema_


def test_families_by_column():
    table, group = patients()
    asked = {("age", "pressure"): "tied", "visits": "poisson", "smoker": "bernoulli", "ward": Categorical([3])}
    mixture = Mixture(3, by_column=asked, random_state=0).fit(table)
    names = [(type(part).__name__, columns) for part, columns in mixture.family_.parts]
    assert names == [
        ("TiedGaussian", (0, 1)), ("Poisson", (2,)), ("Bernoulli", (4,)), ("Categorical", (3,)),
    ]  # fmt: skip
    assert agreement(mixture.predict(table), group) > 0.9
    tacit_order = mixture.describe()
    assert list(tacit_order) == list(table.columns)


def test_numbers_only_are_a_gaussian_mixture():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(80, 3)), rng.normal(size=(80, 3)) + 4])
    X[rng.random(X.shape) < 0.1] = np.nan
    settings = {"parameter_draws": 0, "random_state": 0}
    ours, plain = Mixture(2, **settings).fit(X), GaussianMixture(2, **settings).fit(X)
    assert ours.lower_bound_ == pytest.approx(plain.lower_bound_, rel=1e-10)
    np.testing.assert_allclose(ours.impute(X), plain.impute(X), rtol=1e-8)
    assert ours.bic(X) == pytest.approx(plain.bic(X), rel=1e-10)
    np.testing.assert_allclose(ours.predict_given(X, target=[0])[:, 0], plain.predict_given(X, target=0), rtol=1e-8)
    np.testing.assert_allclose(
        ours.predict_given(X[:, 1:], target=0)[:, 0], ours.predict_given(X, target=0)[:, 0], rtol=1e-12
    )


@record
class Rates(Arrays):
    rate: np.ndarray


@record
class Sums(Arrays):
    count: np.ndarray
    total: np.ndarray


class Waiting(Family):
    """A family of three methods."""

    def log_prob(self, params, block):
        return block.observed @ np.log(params.rate).T - np.nan_to_num(block.X) @ params.rate.T

    def stats(self, params, block, resp):
        return Sums(resp.T @ block.observed, resp.T @ np.nan_to_num(block.X))

    def m_step(self, stats, params):
        return Rates(np.maximum(stats.count, 1e-9) / np.maximum(stats.total, 1e-9))


def test_a_family_of_three_methods(tmp_path):
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=400)
    X = rng.exponential(np.array([[1.0, 20.0], [15.0, 1.0]])[group])
    X[rng.random(X.shape) < 0.1] = np.nan
    mixture = Mixture(2, family=Waiting(), random_state=0).fit(X)
    assert max((mixture.predict(X) == group).mean(), (mixture.predict(X) != group).mean()) > 0.9
    with pytest.raises(TypeError, match="Waiting is no class of this library, so it cannot be saved"):
        tacit.save(mixture, tmp_path / "model.tacit")
    assert not (tmp_path / "model.tacit").exists()


def test_labels_and_weights_and_prior(fitted):
    _, table, group = fitted
    labels = np.where(np.arange(len(group)) % 5 == 0, group, -1)
    mixture = Mixture(3, random_state=0).fit(table, labels)
    assert (mixture.predict(table) == group).mean() > 0.93
    twice = pd.concat([table, table], ignore_index=True)
    once, double = Mixture(2, random_state=0).fit(table, sample_weight=2.0), Mixture(2, random_state=0).fit(twice)
    assert once.lower_bound_ == pytest.approx(double.lower_bound_, rel=1e-9)
    even = Mixture(3, weight_prior=1e6, random_state=0).fit(table)
    np.testing.assert_allclose(even.weights_, 1 / 3, atol=1e-3)


# Bad input


def refuse(match, table, error=ValueError, **settings):
    with pytest.raises(error, match=match):
        Mixture(2, random_state=0, **settings).fit(table)


def test_bad_cells_are_named():
    table, _ = patients()
    refuse(
        "column 'visits': Poisson columns hold .* holds -1", table.assign(visits=-1), by_column={"visits": "poisson"}
    )
    refuse("'ward' has 3 levels, so it is not binary", table, by_column={"ward": "bernoulli"})
    refuse("'ward' is to be continuous but holds 'east'|'ward' is to be continuous but holds", table,
           by_column={"ward": "normal"})  # fmt: skip
    refuse("by_column names 'weight', but the columns are age, pressure", table, by_column={"weight": "normal"})
    refuse("by_column names 'age' more than once", table, by_column={"age": "normal", ("age", "visits"): "full"})
    refuse(
        "family='zipf' is unknown; use a Family, or one of 'gaussian'", table, family="zipf", by_column={"ward": "zipf"}
    )
    refuse("weight_prior=0.5 is not a number of at least 1", table, weight_prior=0.5)
    refuse("column 'id' has 600 levels", table.assign(id=[f"n{i}" for i in range(len(table))]))


def test_a_strange_cell_at_prediction_is_named(fitted):
    mixture, table, _ = fitted
    with pytest.raises(ValueError, match="column 'ward' holds 'south', which was not there at fit"):
        mixture.predict(table.assign(ward="south"))
    with pytest.raises(
        ValueError, match=r"column 'visits': Poisson columns hold whole numbers from 0, but X holds 2.5"
    ):
        mixture.predict(table.assign(visits=2.5))
    with pytest.raises(ValueError, match="feature names"):
        mixture.predict(table.drop(columns="age"))


def test_more_groups_than_rows():
    with pytest.raises(ValueError, match="n_components = 9, n_samples = 4; use at most 4"):
        Mixture(9).fit(patients(4, 0.0)[0])


def test_dull_columns_do_no_harm():
    table, group = patients(300)
    table = table.assign(ward="east", constant=3.5, rare=["odd"] + ["usual"] * 299)
    mixture = Mixture(3, random_state=0).fit(table)
    assert np.isfinite(mixture.lower_bound_)
    assert agreement(mixture.predict(table), group) > 0.85
    assert mixture.describe()["ward"]["probability"]["east"].tolist() == [1.0, 1.0, 1.0]
    assert np.isfinite(mixture.score_samples(table)).all()
    one = Mixture(1).fit(table)
    assert one.predict(table).max() == 0


def test_a_row_without_any_cell_follows_the_weights(fitted):
    mixture, table, _ = fitted
    nothing = table.head(1).astype(object).mask(np.ones((1, 5), bool))
    np.testing.assert_allclose(mixture.predict_proba(nothing)[0], mixture.weights_, rtol=1e-9)


def test_the_parts_of_a_product_name_each_column_once():
    from tacit.families import Product

    with pytest.raises(ValueError, match=r"name the columns \[0, 0\]; each column must be named once"):
        Product([(FullGaussian(), [0]), (Poisson(), [0])])


def test_three_methods_pass_the_checks_but_for_sampling():
    with pytest.raises(NotImplementedError, match="Waiting does not define sample"):
        check_family(Waiting(), np.random.default_rng(0).exponential(2.0, size=(60, 2)))


def test_standard_errors_name_what_they_are_of(fitted):
    mixture, table, _ = fitted
    found = standard_errors(mixture, table, method="information")
    names = set(found.table["parameter"])
    assert {"weights_[0]", "mean of age[1]", "covariance of age and pressure[2]", "rate of visits[0]"} <= names
    assert "probability of ward = east[0]" in names
    share = mixture.weights_ * len(table) * 0.85
    spread = found.standard_error["mean of age"]
    np.testing.assert_allclose(spread, np.array(mixture.describe()["age"]["std"]) / np.sqrt(share), rtol=0.25)


def test_number_of_groups_by_every_criterion(fitted):
    _, table, _ = fitted
    for criterion in ("bic", "icl", "cv"):
        chosen = select(Mixture(random_state=0), table, n_components=[1, 2, 3, 4], criterion=criterion, cv=3)
        assert chosen.best.n_components == 3, criterion
        assert chosen.best.predict(table).max() == 2
    test = bootstrap_lrt(Mixture(random_state=0), table.head(200), 2, n_bootstrap=9, random_state=0)
    assert test.p_value == pytest.approx(0.1)


def test_bad_cells_of_a_file_are_named(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"visits": [1, 2, -3, 4], "ward": ["a", "b", "a", None]}), path)
    refuse("column 'visits': Poisson columns hold whole numbers from 0, but X holds -3", path,
           by_column={"visits": "poisson"})  # fmt: skip
    mixture = Mixture(1).fit(path)
    pq.write_table(pa.table({"visits": [1, 2], "ward": ["a", "z"]}), path)
    with pytest.raises(ValueError, match="column 'ward' holds 'z', which was not there at fit"):
        mixture.predict(path)


# What a first user stumbled over


def test_every_kind_of_missing_cell_is_one():
    table, _ = patients(200)
    plain, typed = (Mixture(2, random_state=0).fit(each) for each in (table, table.convert_dtypes()))
    assert typed.lower_bound_ == pytest.approx(plain.lower_bound_, rel=1e-9)
    assert typed.impute(table.convert_dtypes())["ward"].tolist() == plain.impute(table)["ward"].tolist()


def test_an_empty_table_is_refused():
    refuse(r"Found array with 0 sample\(s\): the table has no rows", patients(10)[0].head(0))


def test_yes_and_no_with_holes_is_a_category():
    column = pd.DataFrame({"a": [0.0, 1.0, np.nan, 1.0], "b": [1.5, 2.5, 3.5, 4.0]})
    assert Mixture(1).fit(column).schema_.columns[0].levels == (0, 1)


def test_an_array_has_its_columns_in_order():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    mixture = Mixture(2, random_state=0).fit(table)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        found = mixture.predict_proba(table.to_numpy())
    np.testing.assert_array_equal(found, mixture.predict_proba(table))


def test_what_no_row_of_a_group_observes_is_infinitely_uncertain():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 60)
    table = pd.DataFrame({"x": rng.normal(10.0 * group, 1.0), "y": np.where(group == 1, np.nan, rng.normal(size=120))})
    mixture = Mixture(2, by_column={"x": "normal", "y": "normal"}, random_state=0).fit(table)
    spread = standard_errors(mixture, table, method="information").standard_error["mean of y"]
    low = np.argmin(mixture.describe()["x"]["mean"])
    assert np.isfinite(spread[low])
    assert np.isinf(spread[1 - low])


def test_selection_with_priors_and_by_bayes(fitted):
    _, table, _ = fitted
    numbers = table[["age", "pressure"]].astype(float)
    for estimator in (GaussianMixture(component_prior="default"), BayesianGaussianMixture()):
        chosen = select(estimator.set_params(random_state=0), numbers, n_components=[1, 3])
        assert all(row["failed"] is None for row in chosen.table)
        assert chosen.best.n_components == 3
        assert "the best n_components=3 is the largest tried; try more" in repr(chosen)
    with pytest.raises(TypeError, match="select takes a mixture, such as GaussianMixture"):
        select(3, numbers)
    with pytest.raises(ValueError, match="MixtureOfExperts requires y to be passed, but the target y is None"):
        select(MixtureOfExperts(), numbers)
    for function in (standard_errors, bootstrap_lrt):
        with pytest.raises(TypeError, match="but got BayesianGaussianMixture"):
            function(BayesianGaussianMixture(2, random_state=0).fit(numbers), numbers)


def test_a_table_with_text_is_sent_to_the_right_place():
    with pytest.raises(ValueError, match="GaussianMixture takes numbers; tables with text are for"):
        GaussianMixture(2).fit(patients(20)[0])


# Sparse rows


def sparse_documents(n=300, d=400, seed=0):
    """Documents of three groups, each with words of its own, and their groups."""
    import scipy.sparse

    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.full(d, 0.05), 3)
    group = rng.integers(3, size=n)
    X = np.array([rng.multinomial(length, share[k]) for length, k in zip(rng.integers(20, 60, size=n), group)])
    return scipy.sparse.csr_matrix(X.astype(float)), group


@pytest.mark.parametrize("family", ["multinomial", "poisson", "bernoulli"])
def test_sparse_rows_give_the_fit_of_the_array(family):
    X, group = sparse_documents()
    X = X.sign().tocsr() if family == "bernoulli" else X
    mixture = Mixture(3, family=family, random_state=0, n_init=3, tol=1e-6).fit(X)
    assert adjusted_rand_score(group, mixture.predict(X)) > 0.95
    dense = Mixture(3, family=family, tol=1e-6, random_state=0, warm_start=True)
    dense.fit(X.toarray())
    assert mixture.score(X) == pytest.approx(mixture.score(X.toarray()), rel=1e-10)
    np.testing.assert_allclose(mixture.predict_proba(X), mixture.predict_proba(X.toarray()), atol=1e-10)
    block, rows = next(iter(ArraySource(X.toarray()))), next(iter(SparseSource(X, n_blocks=1)))
    model, params = mixture._model(), mixture._params()
    close(model.e_step(params, rows), model.e_step(params, block), 1e-10, "statistics of sparse rows")


def test_sparse_rows_are_refused_where_a_family_cannot_take_them():
    X, _ = sparse_documents()
    with pytest.raises(TypeError, match="Sparse data was passed"):
        Mixture(2).fit(X)
    with pytest.raises(ValueError, match="Multinomial columns hold whole numbers from 0, but X holds -"):
        Mixture(2, family="multinomial").fit(-X)
