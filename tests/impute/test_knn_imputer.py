"""The imputer by neighbours: mixed tables, rows that share nothing, several threads."""

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import KNNImputer as Theirs

import tacit
from tacit.impute import KNNImputer

from ..zoo import gaussian_rows, with_missing


def table():
    return pd.DataFrame(
        {
            "size": [1.0, 1.2, None, 5.0, 5.1, 4.9, 5.2],
            "sort": ["a", "a", "a", "b", "b", None, "b"],
            "count": pd.array([3, 4, 3, 9, None, 9, 10], dtype="Int64"),
        }
    )


def test_tables_are_filled_from_rows_that_are_alike(tmp_path):
    X = table()
    imputer = KNNImputer(n_neighbors=2, metric="gower", add_indicator=True).fit(X)
    filled = imputer.transform(X)
    assert filled.loc[5, "sort"] == "b"
    assert filled.loc[2, "size"] == pytest.approx(1.1)
    assert filled.loc[4, "count"] in (9, 10)
    assert list(filled.columns) == list(imputer.get_feature_names_out())
    assert filled["missingindicator_sort"].tolist() == [False] * 5 + [True, False]
    tacit.save(imputer, tmp_path / "model.tacit")
    pd.testing.assert_frame_equal(tacit.load(tmp_path / "model.tacit").transform(X), filled)
    with pytest.warns(UserWarning, match="'z', which was not there at fit .* taken as missing"):
        assert (imputer.transform(X.assign(sort="z"))["sort"] == "z").all()  # a cell that is there stays
    alone = pd.DataFrame({"size": [None], "sort": [None], "count": pd.array([None], dtype="Int64")}, dtype=None).astype(
        X.dtypes
    )
    assert imputer.transform(alone).loc[0, "sort"] == "a"  # the most frequent level, of two the first


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: np.exp(-d)])
def test_fills_are_those_of_scikit_learn_for_any_number_of_threads(weights):
    X = with_missing(gaussian_rows(400))
    expected = Theirs(n_neighbors=4, weights=weights).fit_transform(X)
    for n_jobs in (1, 2):
        found = KNNImputer(n_neighbors=4, weights=weights, n_jobs=n_jobs).fit_transform(X)
        np.testing.assert_allclose(found, expected, rtol=1e-6)  # theirs cancels


def test_columns_without_any_value_do_not_count_by_gower():
    X = with_missing(gaussian_rows(30))
    empty = np.insert(X, 1, np.nan, axis=1)
    with pytest.warns(UserWarning, match="dropped: x1"):
        found = KNNImputer(metric="gower").fit_transform(empty)
    np.testing.assert_array_equal(found, KNNImputer(metric="gower").fit_transform(X))
    kept = KNNImputer(metric="gower", keep_empty_features=True).fit_transform(empty)
    np.testing.assert_array_equal(kept, np.insert(found, 1, 0.0, axis=1))


def test_bad_input():
    X = with_missing(gaussian_rows(20))
    with pytest.raises(ValueError, match="n_neighbors=0"):
        KNNImputer(n_neighbors=0).fit(X)
    with pytest.raises(ValueError, match="metric='euclidean' is unknown; use one of 'nan_euclidean', 'gower'"):
        KNNImputer(metric="euclidean").fit(X)
    with pytest.raises(ValueError, match="missing_values='x' is not a number"):
        KNNImputer(missing_values="x").fit(X)
    with pytest.warns(UserWarning, match="columns without any observed value are dropped: x1"):
        assert KNNImputer().fit_transform(np.column_stack([X[:, 0], np.full(20, np.nan)])).shape == (20, 1)
    with pytest.raises(ValueError, match="no observed value in any column"):
        KNNImputer().fit(np.full((3, 2), np.nan))
