"""What goes into mixtures of tables and comes out of them: levels, kinds, types and names of columns."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from tacit import load, save
from tacit.classification import NaiveBayes
from tacit.families import Binomial
from tacit.mixture import GaussianMixture, Mixture, StudentTMixture, find_groups
from tacit.study import study
from tacit.tables import open_table

pd = pytest.importorskip("pandas")


def typed(n_rows=240, seed=0):
    """A table of every type, with missing cells, and the group of each row."""
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=n_rows)
    table = pd.DataFrame(
        {
            "height": rng.normal(10 + 5 * group),
            "visits": rng.poisson(2 + 9 * group).astype(float),
            "grams": pd.array(rng.normal(4000 + 900 * group, 100).round(), dtype="Int64"),
            "size": pd.Categorical(
                np.where(rng.random(n_rows) < 0.2 + 0.6 * group, "L", "S"), ["S", "M", "L"], ordered=True
            ),
            "member": rng.random(n_rows) < 0.2 + 0.6 * group,
            "ward": np.where(rng.random(n_rows) < 0.2 + 0.6 * group, "east", "west"),
        }
    )
    for j, name in enumerate(("visits", "grams", "size")):
        table.loc[j::9, name] = None
    return table, group


def test_types_of_columns_survive_imputation_samples_and_predictions():
    polars, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    table, _ = typed()
    mixture = Mixture(2, random_state=0).fit(table)
    filled, (drawn, _) = mixture.impute(table), mixture.sample(50)
    assert (filled.dtypes == table.dtypes).all()
    assert (drawn.dtypes.drop("grams") == table.dtypes.drop("grams")).all()
    assert drawn["grams"].dtype == np.int64
    np.testing.assert_array_equal(mixture.predict(filled).shape, len(table))  # a filled count is a count
    assert mixture.predict(drawn).shape == (50,)
    predicted = mixture.predict_given(
        table[["height"]].set_index(table.index + 7), given="height", target=["size", "grams"]
    )
    assert predicted["size"].dtype == table["size"].dtype
    assert list(predicted.index) == list(table.index + 7)
    assert predicted["grams"].dtype == np.float64  # an expectation
    for other in (polars.from_pandas(table), pa.Table.from_pandas(table, preserve_index=False)):
        again = Mixture(2, random_state=0).fit(other)
        assert again.impute(other).schema == other.schema
        rows = again.sample(5)[0]
        assert type(rows) is type(other)
        assert (
            rows.schema.field("member").type == pa.bool_()
            if isinstance(rows, pa.Table)
            else rows["member"].dtype == polars.Boolean
        )
        assert type(again.predict_given(other, target=["size"])) is type(other)
    assert isinstance(mixture.predict_given(np.array([[10.0]]), given="height", target=["size"]), np.ndarray)


def test_gaussian_mixtures_predict_tables_from_tables():
    table, _ = typed()
    numbers = table[["height", "visits"]].set_index(table.index + 7)
    for kind in (GaussianMixture, StudentTMixture):
        mixture = kind(2, random_state=0).fit(numbers)
        found = mixture.predict_given(numbers, target=["visits"])
        assert isinstance(found, pd.DataFrame)
        assert list(found.columns) == ["visits"]
        assert list(found.index) == list(numbers.index)
        np.testing.assert_array_equal(found["visits"], mixture.predict_given(numbers.to_numpy(), target=1))
        pd.testing.assert_series_equal(mixture.predict_given(numbers, target="visits"), found["visits"])


@pytest.mark.parametrize(
    "family",
    ["poisson", "negative_binomial", "geometric", "bernoulli", "multinomial", Binomial(60)],
    ids=lambda family: family if isinstance(family, str) else "binomial",
)
def test_filled_counts_are_counts(family):
    X = np.random.default_rng(0).poisson([[3.0, 8.0]], size=(90, 2)).astype(float)
    X = np.minimum(X, 1.0) if family == "bernoulli" else X
    X[::4, 0], X[2::4, 1] = np.nan, np.nan
    mixture = Mixture(1, family=family, max_iter=500).fit(X)
    assert mixture.score_samples(mixture.impute(X)).shape == (90,)
    low, high = mixture.impute(X, interval=0.9)[1:3]
    gone = np.isnan(X)
    assert (low[gone] <= mixture.impute(X)[gone]).all()
    assert (mixture.impute(X)[gone] <= high[gone]).all()


def test_only_levels_that_occur_are_parameters():
    table, _ = typed()
    plain = table.assign(size=table["size"].astype(object))
    more = Mixture(2, random_state=0).fit(table)
    assert more.schema_.columns[3].levels == ("S", "L")
    assert more.bic(table) == pytest.approx(Mixture(2, random_state=0).fit(plain).bic(plain), rel=1e-9)
    assert list(more.sample(5)[0]["size"].cat.categories) == ["S", "M", "L"]


def test_unknown_levels_are_refused_or_missing(tmp_path):
    table, group = typed()
    mixture = Mixture(2, random_state=0).fit(table)
    new, gone = table.copy(), table.copy()
    new["ward"] = new["ward"].astype(object)
    new.loc[3, "ward"], new.loc[5, "ward"], new.loc[7, "size"] = "south", "north", "M"
    gone.loc[[3, 5], "ward"], gone.loc[7, "size"] = None, None
    with pytest.raises(
        ValueError, match=r"column 'ward' holds 'south', 'north', which were not there at fit .*unknown='miss"
    ):
        mixture.predict(new[table.columns].assign(size=table["size"]))
    with pytest.raises(ValueError, match=r"column 'size' holds 'M', which was not there at fit"):
        mixture.predict(new.assign(ward=table["ward"]))
    with pytest.raises(ValueError, match=r"unknown='ignore' is unknown; use one of 'error', 'missing'"):
        Mixture(unknown="ignore").fit(table)
    lenient = Mixture(2, random_state=0, unknown="missing").fit(table)
    np.testing.assert_array_equal(lenient.predict_proba(new), mixture.predict_proba(gone))
    new.to_parquet(tmp_path / "new.parquet")
    np.testing.assert_array_equal(lenient.predict_proba(tmp_path / "new.parquet"), mixture.predict_proba(gone))
    filled = lenient.impute(new)
    assert filled.loc[[3, 5], "ward"].tolist() == ["south", "north"]  # unknown to the model, but not missing
    assert filled.loc[7, "size"] == "M"
    rare = table["ward"].astype(object)
    rare[17] = "south"  # in one fold only
    scores = cross_val_score(NaiveBayes(unknown="missing"), table.assign(ward=rare), group, cv=3, error_score="raise")
    assert (scores > 0.9).all()


def test_a_column_that_is_there_twice_is_named():
    table, _ = typed()
    twice = pd.concat([table, table[["height", "visits"]]], axis=1)
    for estimator in (Mixture(2), GaussianMixture(2)):
        with pytest.raises(
            ValueError, match=r"names the columns 'height', 'visits' more than once; rename one of each"
        ):
            estimator.fit(twice)


def test_rows_of_an_open_table():
    table, _ = typed()
    opened = open_table(table)
    mixture = Mixture(2, random_state=0).fit(opened)
    np.testing.assert_array_equal(mixture.predict(opened), mixture.predict(table))
    shuffled = table[["ward", "visits", "member", "grams", "size", "height"]].iloc[:40]
    np.testing.assert_array_equal(mixture.predict(open_table(shuffled)), mixture.predict(table.iloc[:40]))
    plain = GaussianMixture(2, random_state=0).fit(table[["height", "grams"]].dropna().astype(float))
    rows = table[["grams", "ward", "height"]].dropna()
    np.testing.assert_array_equal(
        plain.predict(open_table(rows)), plain.predict(rows[["height", "grams"]].astype(float))
    )


def test_dates_that_are_taken_as_numbers_are_filled_with_dates():
    table, group = typed()
    days = pd.Series(np.datetime64("2024-01-01") + 40 * group + np.arange(len(group)) % 9)
    when = days.where(np.arange(len(group)) % 7 > 0)
    roles = {"when": "measurement"}
    for column in (when.astype("datetime64[us]"), when.dt.tz_localize("UTC"), when.dt.strftime("%Y-%m-%d")):
        told = table[["height", "visits"]].assign(when=column)
        mixture = find_groups(told, groups=[2], covariance="diag", roles=roles).model
        filled = mixture.impute(told)["when"]
        assert filled.dtype == column.dtype
        assert not filled.isna().any()
        assert (filled[column.notna()] == column.dropna()).all()
        error = pd.to_datetime(filled).dt.tz_localize(None) - days
        assert np.abs(error.dt.days).max() < 12
        assert study(mixture, told).n_rows == len(told)


def test_names_of_classes_in_files_and_partitions_are_refused(tmp_path):
    table, group = typed()
    told = table[["height", "visits"]].assign(kind=np.where(group, "new", "old"))
    told.to_parquet(tmp_path / "told.parquet")
    for estimator in (Mixture(2), GaussianMixture(2)):
        with pytest.raises(
            ValueError, match=r"column 'kind' holds .*string, which is not a number; classes in files are numbers"
        ):
            estimator.fit(tmp_path / "told.parquet", y="kind")
    array = pytest.importorskip("dask.array").from_array(table[["height"]].to_numpy(), chunks=(60, 1))
    with pytest.raises(ValueError, match=r"labels hold '(new|old)' .partition \d., which is not a number"):
        GaussianMixture(2).fit(array, y=told["kind"].to_numpy())


def test_columns_that_are_all_missing_are_filled_with_their_levels():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pandas.DataFrame({"a": rng.normal(size=50), "city": rng.choice(["Oslo", "Rome"], 50)})
    mixture = Mixture(2, random_state=0).fit(table)
    for empty in (np.nan, None, pandas.Categorical([None] * 50, categories=["Rome"])):
        filled = mixture.impute(table.assign(city=empty))["city"]
        assert set(filled) <= {"Oslo", "Rome"}
        assert len(mixture.draw_missing(table.assign(city=empty))[0]) == 50
    assert mixture.impute(table.assign(a=np.nan))["a"].dtype == np.float64


# Ordered levels


def answers(n=240, seed=0):
    """Two groups that differ in answers from 1 to 5, ordered words, a count, codes, ages, yes/no, a name and a number."""
    rng = np.random.default_rng(seed)
    g = rng.integers(2, size=n)
    words = np.clip(np.round(1 + g + 0.8 * rng.normal(size=n)), 0, 3).astype(int)
    return pd.DataFrame({
        "item": np.clip(np.round(2.5 + 1.5 * g + rng.normal(size=n)), 1, 5).astype(int),
        "grade": pd.Categorical.from_codes(words, ["low", "mid", "high", "top"], ordered=True),
        "visits": rng.poisson(1 + 4 * g), "sex": rng.integers(1, 3, n), "age": rng.integers(20, 70, n),
        "ok": rng.random(n) < 0.3 + 0.4 * g, "city": pd.Categorical(rng.choice(["Rome", "Oslo", "Bern"], n)),
        "name": np.array(["x", "y"])[g], "w": rng.normal(size=n) + 3 * g,
    })  # fmt: skip


def types_of(table):
    if hasattr(table, "column_names"):
        return {field.name: str(field.type).replace("large_", "").replace("int8", "int32") for field in table.schema}
    return {name: str(table[name].dtype).lower() for name in table.columns}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_keep_their_types_and_may_be_given_back(library):
    pytest.importorskip(library)
    whole = {name: "Int64" for name in ("item", "visits", "sex", "age")} | {"ok": "boolean"}
    holes = np.random.default_rng(1).random((240, 9)) < 0.15
    table = answers().astype(whole).mask(holes)
    if library == "polars":
        table = pytest.importorskip("polars").from_pandas(table)
    elif library == "pyarrow":
        table = pytest.importorskip("pyarrow").Table.from_pandas(table, preserve_index=False)
    mixture = Mixture(2, smoothing=0.5, random_state=0).fit(table)
    kinds = {column.name: column.kind for column in mixture.schema_.columns}
    assert kinds["item"] == "ordinal"
    assert kinds["grade"] == (
        "category" if library == "polars" else "ordinal"
    )  # polars has no order that means something
    filled = mixture.impute(table)
    assert types_of(filled) == types_of(table)
    assert len(mixture.predict(filled)) == 240
    asked = ["item", "grade", "sex", "ok", "city"]
    for made in (mixture.sample(5)[0], mixture.predict_given(table, target=asked)):
        for name, kind in types_of(made).items():
            assert kind.replace("boolean", "bool") == types_of(table)[name].replace("boolean", "bool")


def test_ordinal_columns_are_filled_told_and_saved_as_levels_in_order(tmp_path):
    table = answers()
    mixture = Mixture(2, smoothing=0.5, random_state=0).fit(table)
    told = mixture.describe()
    assert list(told["grade"]["probability"]) == ["low", "mid", "high", "top"]
    assert told["item"]["family"] == "Ordinal"
    assert told["item"]["location"].sum() == pytest.approx(0.0, abs=1e-12)
    assert np.sign(np.diff(told["item"]["location"])) == np.sign(np.diff(told["w"]["mean"]))
    holes = table.copy()
    holes.loc[:9, ["item", "grade"]] = np.nan
    found = mixture.impute(holes, interval=0.9)
    shares = mixture.predict_level(holes.head(10), "item")
    np.testing.assert_allclose(found.probability[:10, 0], shares.max(axis=1), rtol=1e-12)
    assert (found.filled["item"][:10] == shares.argmax(axis=1) + 1).all()
    below, inside = np.cumsum(shares, axis=1), (found.low[:10, 0].astype(int), found.high[:10, 0].astype(int))
    for row, low, high in zip(below, *inside):
        assert np.r_[0, row][low - 1] < 0.05 <= row[low - 1]
        assert np.r_[0, row][high - 1] < 0.95 <= row[high - 1]
    save(mixture, tmp_path / "m.tacit")
    again = load(tmp_path / "m.tacit")
    np.testing.assert_array_equal(again.predict_proba(table), mixture.predict_proba(table))
    assert again.schema_ == mixture.schema_
    chosen = Mixture(2, by_column={"item": "categorical", "visits": "ordinal"}, random_state=0).fit(table)
    kinds = {column.name: column.kind for column in chosen.schema_.columns}
    assert (kinds["item"], kinds["visits"]) == ("category", "ordinal")
    families = None, {"item": "categorical"}
    fewer = [Mixture(2, by_column=family, random_state=0).fit(table[["item", "w"]]) for family in families]
    assert [each._model().n_parameters(each._params()) for each in fewer] == [1 + 4 + 5, 1 + 4 + 8]


def test_a_level_that_is_taken_as_missing_keeps_its_cell_and_nothing_is_said_of_it():
    mixture = Mixture(2, smoothing=0.5, unknown="missing", random_state=0).fit(answers())
    table = answers().head(4).astype({"city": object, "sex": float})
    table.loc[0, ["city", "sex"]] = ["Paris", 9]
    table.loc[1, ["city", "sex"]] = [None, np.nan]
    found = mixture.impute(table, interval=0.9)
    assert found.filled.loc[0, ["city", "sex"]].tolist() == ["Paris", 9]
    assert np.isnan(found.probability[0]).all()
    assert np.isfinite(found.probability[1, [3, 6]]).all()
    std = mixture.impute(table, return_std=True)[1]
    assert (std[0, [3, 6]] == 0).all()
    assert (std[1, [3, 6]] > 0).all()
    with pytest.raises(ValueError, match=r"column 'sex' holds 9.0, which was not there at fit \(known: 1, 2\)"):
        mixture.set_params(unknown="error").impute(table)


def test_fills_of_counts_are_whole_unless_asked_otherwise():
    mixture = Mixture(2, smoothing=0.5, random_state=0).fit(answers())
    table = answers().astype({"visits": float})
    table.loc[:50, "visits"] = np.nan
    filled, expected = mixture.impute(table)["visits"], mixture.impute(table, whole=False)["visits"]
    assert (filled == filled.round()).all()
    np.testing.assert_array_equal(filled, expected.round())
    assert (expected[:51] != expected[:51].round()).all()
    mixture.predict(table.assign(visits=filled))
    with pytest.raises(ValueError, match="Poisson columns hold whole numbers from 0"):
        mixture.predict(table.assign(visits=expected))
