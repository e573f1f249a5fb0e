"""ColumnScaler: units of every method, weights, missing cells, constant columns, and back."""

import numpy as np
import pytest
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from tacit.cluster import ColumnScaler
from tacit.cluster.scaling import SCALINGS, dominant_column

from ..zoo import gaussian_rows, with_missing


@pytest.mark.parametrize(("method", "rival"), [("deviation", StandardScaler()), ("range", MinMaxScaler())])
def test_as_sklearn_with_missing_cells(method, rival):
    X = with_missing(gaussian_rows())
    np.testing.assert_allclose(ColumnScaler(method).fit_transform(X), rival.fit_transform(X), atol=1e-12)


def test_mad_is_not_moved_by_outliers(rng):
    X = rng.normal(3.0, 2.0, size=(2001, 1))
    clean = ColumnScaler("mad").fit(X)
    assert clean.center_[0] == np.median(X)
    assert clean.scale_[0] == pytest.approx(1.4826 * np.median(np.abs(X - np.median(X))), rel=1e-4)
    assert clean.scale_[0] == pytest.approx(2.0, rel=0.1)
    X[:100] = 1e9
    assert ColumnScaler("mad").fit(X).scale_[0] == pytest.approx(clean.scale_[0], rel=0.2)


def test_whitened_rows_are_uncorrelated():
    X = gaussian_rows()
    Z = ColumnScaler("whiten").fit_transform(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(np.cov(Z.T, ddof=0), np.eye(4), atol=1e-6)


def test_whitening_takes_missing_cells_at_their_expectation():
    X = with_missing(gaussian_rows(2000))
    scaler = ColumnScaler("whiten").fit(X)
    Z = scaler.transform(X)
    assert np.isfinite(Z).all()
    back, seen = scaler.inverse_transform(Z), ~np.isnan(X)
    np.testing.assert_allclose(back[seen], X[seen], atol=1e-8)
    complete = seen.all(axis=1)
    whole = ColumnScaler("whiten").fit_transform(gaussian_rows(2000))
    assert np.abs(Z[complete] - whole[complete]).max() < 0.3


@pytest.mark.parametrize("method", SCALINGS)
def test_there_and_back(method):
    X = gaussian_rows() * [1.0, 1e6, 1e-6, 3.0] + [1e3, 0.0, 0.0, -7.0]
    scaler = ColumnScaler(method).fit(X)
    np.testing.assert_allclose(scaler.inverse_transform(scaler.transform(X)), X, rtol=1e-9, atol=1e-12)
    holes = with_missing(gaussian_rows())
    if method != "whiten":
        np.testing.assert_array_equal(np.isnan(ColumnScaler(method).fit_transform(holes)), np.isnan(holes))


@pytest.mark.parametrize("method", SCALINGS)
def test_weight_two_is_the_row_twice(method, rng):
    X = with_missing(gaussian_rows())
    weight = rng.integers(0, 4, len(X))
    weighted, twice = (
        ColumnScaler(method).fit(X, sample_weight=weight),
        ColumnScaler(method).fit(np.repeat(X, weight, axis=0)),
    )
    np.testing.assert_allclose(weighted.transform(X), twice.transform(X), atol=1e-5 if method == "whiten" else 1e-12)


@pytest.mark.parametrize("method", SCALINGS)
def test_constant_columns_are_left_alone(method):
    X = np.column_stack([gaussian_rows(50, 1), np.full(50, 7.0)])
    with pytest.warns(UserWarning, match=r"constant columns are centred and not scaled: 1;"):
        scaler = ColumnScaler(method).fit(X)
    assert scaler.constant_.tolist() == [False, True]
    Z = scaler.transform(X)
    np.testing.assert_array_equal(Z[:, 1], 0.0)
    assert scaler.transform([[0.0, 9.0]])[0, 1] == 2.0
    np.testing.assert_allclose(scaler.inverse_transform(Z), X)
    with pytest.warns(UserWarning, match="constant"):
        assert (ColumnScaler(method).fit_transform(np.ones((4, 2))) == 0.0).all()


def test_half_of_the_cells_equal():
    X = np.array([[0.0], [0.0], [0.0], [0.0], [10.0], [20.0]])
    with pytest.warns(UserWarning, match="more than half of the cells of column 0 are equal"):
        scaler = ColumnScaler("mad").fit(X)
    assert scaler.scale_[0] == pytest.approx(np.sqrt((X**2).mean()))


def test_extreme_numbers():
    tiny = np.array([[1e-200], [2e-200], [4e-200]])
    np.testing.assert_allclose(ColumnScaler().fit_transform(tiny), StandardScaler().fit_transform(tiny * 1e200))
    huge = np.array([[-1.7e308], [1.7e308], [0.0]])
    for method in ("deviation", "range", "mad"):
        with pytest.raises(ValueError, match=r"column 0 ranges from -1.7e\+308 to 1.7e\+308, too far"):
            ColumnScaler(method).fit(huge)


def test_names_and_precision():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(gaussian_rows(), columns=list("abcd"))
    scaler = ColumnScaler().fit(table)
    assert scaler.get_feature_names_out().tolist() == list("abcd")
    assert list(scaler.set_output(transform="pandas").transform(table).columns) == list("abcd")
    single = gaussian_rows().astype(np.float32)
    for method in SCALINGS:
        scaled = ColumnScaler(method).fit(single)
        assert scaled.transform(single).dtype == scaled.inverse_transform(single).dtype == np.float32


def test_bad_input():
    with pytest.raises(ValueError, match="method='banana' is unknown; use one of 'deviation'"):
        ColumnScaler("banana").fit(np.ones((3, 2)))
    with pytest.raises(ValueError, match="column 1 has no observed value; drop it"):
        ColumnScaler().fit([[1.0, np.nan], [2.0, np.nan]])
    with pytest.raises(ValueError, match=r"X has shape \(3, 1\), but rows of 2 columns are needed"):
        ColumnScaler().fit(gaussian_rows(d=2)).inverse_transform(np.ones((3, 1)))
    with pytest.raises(ValueError, match=r"sample_weight has shape \(2,\)"):
        ColumnScaler().fit(gaussian_rows(), sample_weight=[1.0, 1.0])


def test_the_dominant_column():
    X = gaussian_rows() * [1.0, 1.0, 1000.0, 1.0]
    j, share = dominant_column(X, np.ones(len(X)))
    variance = X.var(axis=0)
    assert (j, share) == (2, pytest.approx(variance[2] / variance.sum()))
    assert dominant_column(gaussian_rows(), np.ones(240)) is None
    assert dominant_column(np.column_stack([X[:, 0], np.ones(240)]), np.ones(240)) is None
