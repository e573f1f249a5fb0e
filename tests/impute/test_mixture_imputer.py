"""MixtureImputer: tables of any columns, inside pipelines, with the types they have."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import tacit
from tacit.datasets import penguins_path
from tacit.impute import MixtureImputer
from tacit.mixture import Mixture


def mixed(n=80, seed=0):
    """Two groups, told by columns of every type; a fifth of the cells is missing."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 2
    frame = pd.DataFrame({
        "id": [f"r{i}" for i in range(n)], "when": pd.date_range("2020", periods=n), "size": rng.normal(4.0 * group),
        "sort": pd.Categorical(np.where(group, "x", "y"), ["y", "x", "z"]), "member": pd.array(group == 1, "boolean"),
        "visits": pd.array(rng.poisson(2 + 8 * group), "Int64"), "empty": np.nan,
    })  # fmt: skip
    frame.index = frame.index + 100
    hidden = frame.copy()
    for j, name in enumerate(["size", "sort", "visits", "member"]):
        hidden.loc[hidden.index[j::5], name] = pd.NA if name != "size" else np.nan
    hidden.loc[hidden.index[3], "when"] = pd.NaT
    return frame, hidden


def test_types_are_kept():
    frame, hidden = mixed()
    imputer = MixtureImputer(2, random_state=0, add_indicator=True).fit(hidden)
    filled = imputer.transform(hidden)
    own = filled[frame.columns]
    assert (own.dtypes == frame.dtypes).all()
    assert (own.index == frame.index).all()
    used = ["size", "sort", "member", "visits"]
    assert own[used].notna().all(axis=None)
    pd.testing.assert_frame_equal(own[["id", "when", "empty"]], hidden[["id", "when", "empty"]])
    assert ((own == frame)[used].mean() > [0.75, 0.95, 0.95, 0.75]).all()
    assert list(filled.columns) == list(imputer.get_feature_names_out())
    np.testing.assert_array_equal(filled["missingindicator_size"], hidden["size"].isna())
    assert imputer.mixture_.predict(own[used]).shape == (80,)  # the filled table can be given back


def test_polars_and_arrow_are_pandas():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    hidden = mixed()[1].reset_index(drop=True)
    hidden["sort"] = hidden["sort"].cat.remove_unused_categories()
    imputer = MixtureImputer(2, random_state=0, add_indicator=True, parameter_draws=0)
    expected = imputer.fit_transform(hidden)
    for made, kind in ((pl.from_pandas(hidden), pl.DataFrame), (pa.Table.from_pandas(hidden), pa.Table)):
        filled = clone(imputer).fit_transform(made)
        assert isinstance(filled, kind)
        back = filled.to_pandas()
        np.testing.assert_allclose(back["size"], expected["size"])
        for name in ("sort", "visits", "member", "missingindicator_sort"):
            assert back[name].astype(str).str.lower().tolist() == expected[name].astype(str).str.lower().tolist()


def test_arrays():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1)) + 0.1 * rng.normal(size=(60, 4))
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 3] = np.nan
    for kind in (np.float64, np.float32):
        filled = MixtureImputer([1, 2], random_state=0).fit_transform(X.astype(kind))
        assert filled.dtype == kind
        assert np.isfinite(filled[:, :3]).all()
        assert np.isnan(filled[:, 3]).all()
    words = np.where(np.isnan(X[:, :2]), None, np.where(X[:, :2] > 0, "up", "down").astype(object))
    assert set(MixtureImputer(2, random_state=0).fit_transform(words).ravel()) == {"up", "down"}


def test_inside_a_pipeline():
    X = pd.read_csv(penguins_path())
    X = X[X["species"].notna()]
    y, X = X["species"], X.drop(columns=["species", "rowid"], errors="ignore")
    rng = np.random.default_rng(0)
    X = X.mask(rng.random(X.shape) < 0.3)
    words = X.columns[[not pd.api.types.is_numeric_dtype(X[name]) for name in X]]
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), list(words)), remainder=StandardScaler())
    ours = make_pipeline(
        MixtureImputer([3, 6], covariance_type="tied", random_state=0), encode, LogisticRegression(max_iter=1000)
    )
    rest = [name for name in X if name not in set(words)]
    theirs = make_pipeline(
        make_column_transformer(
            (
                make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")),
                list(words),
            ),
            (make_pipeline(IterativeImputer(random_state=0), StandardScaler()), rest),
        ),
        LogisticRegression(max_iter=1000),
    )
    assert cross_val_score(ours, X, y, cv=3).mean() > cross_val_score(theirs, X, y, cv=3).mean() - 0.01


def test_draws_differ_and_levels_that_are_new():
    _, hidden = mixed()
    one, two = (
        MixtureImputer(2, sample_posterior=True, random_state=seed).fit(hidden).transform(hidden)["size"]
        for seed in (0, 1)
    )
    observed = hidden["size"].notna()
    assert (one[~observed] != two[~observed]).all()
    assert (one[observed] == two[observed]).all()
    imputer = MixtureImputer(2, random_state=0).fit(hidden)
    other = hidden.assign(sort=np.where(np.arange(80) == 4, "new", hidden["sort"].astype(object)))
    assert imputer.transform(other)["sort"].iloc[4] == "new"
    with pytest.raises(ValueError, match="'new'"):
        MixtureImputer(2, unknown="error", random_state=0).fit(hidden).transform(other)


def test_collapsed_groups_and_groups_that_saw_nothing_do_not_fill(table):
    animals = table("missing/mammalsleep.csv")
    filled = MixtureImputer(random_state=0).fit_transform(animals)
    assert filled.notna().all(axis=None)
    # Of the 62 animals, the elephant sleeps 3.3 hours in all.
    assert filled.loc[0, "sws"] < 6
    assert filled.loc[0, "ps"] < 10


def test_numbers_that_are_written_as_text():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=40), "many": rng.integers(1, 400, 40).astype(str)})
    frame["few"] = np.where(frame["x"] > 0, "7", "12").astype(object)
    frame.loc[3, ["x", "few"]] = np.nan, None
    filled = MixtureImputer(2, random_state=0).fit_transform(frame)
    assert filled["few"].isin(["7", "12"]).all()
    assert filled["many"].tolist() == frame["many"].tolist()
    with pytest.raises(ValueError, match=r"column 'many' holds numbers as text, such as .* pandas.to_numeric"):
        Mixture(1).fit(frame)
    frame["x"] = frame["x"].replace(frame["x"].max(), np.inf)
    with pytest.raises(ValueError, match="infinity"):
        MixtureImputer(1).fit(frame)


def test_bad_input(tmp_path):
    _, hidden = mixed()
    for value in ("many", 0, 1.5, [1, 0]):
        with pytest.raises(ValueError, match=r"n_components|groups"):
            MixtureImputer(value).fit(hidden)
    with pytest.raises(ValueError, match="covariance_type"):
        MixtureImputer(covariance_type="round").fit(hidden)
    with pytest.raises(ValueError, match="no column to learn from"):
        MixtureImputer().fit(hidden[["id", "when"]])
    imputer = MixtureImputer(2, random_state=0).fit(hidden)
    with pytest.raises(ValueError, match="feature"):
        imputer.transform(hidden.drop(columns="size"))
    tacit.save(imputer, tmp_path / "m.tacit")
    pd.testing.assert_frame_equal(tacit.load(tmp_path / "m.tacit").transform(hidden), imputer.transform(hidden))
