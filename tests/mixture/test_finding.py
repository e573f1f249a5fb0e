"""`find_groups`: a model that takes the table it was found in, and errors that help."""

import numpy as np
import pytest

import tacit
from tacit.impute import choose_imputer
from tacit.mixture import find_groups
from tacit.study import study
from tacit.tables import open_table

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def table():
    """Two groups, told by columns of every kind, with missing values; an id, a constant and dates, which are left out."""
    rng, n = np.random.default_rng(0), 60
    group = np.arange(n) % 2
    frame = pandas.DataFrame({
        "id": [f"c{i}" for i in range(n)], "age": rng.normal(40 + 20 * group, 3), "visits": rng.poisson(3 + 5 * group),
        "member": pandas.array(group.astype(bool), dtype="boolean"), "vip": group.astype(bool),
        "city": np.where(group, "Rome", "Oslo"),
        "year": pandas.array(2007 + rng.integers(0, 3, n), dtype="Int64"), "same": 1,
        "joined": pandas.date_range("2024-01-01", periods=n),
    })  # fmt: skip
    for row, name in enumerate(["age", "member", "city", "year"]):
        frame.loc[row, name] = None
    return frame


@pytest.fixture(scope="module")
def found(table):
    with pytest.warns(
        UserWarning, match=r"left out: 'id' \(a different value in every row\); 'same' .*; 'joined' \(a date"
    ):
        return find_groups(table, groups=2, covariance="full")


def test_the_model_takes_the_table(table, found, tmp_path):
    model = found.model
    assert model.left_out_ == ("id", "same", "joined")
    assert (np.diff(model.weights_) <= 0).all()
    classes = model.predict(table)
    assert len(np.unique(classes[0::2])) == len(np.unique(classes[1::2])) == 1
    np.testing.assert_array_equal(classes, model.predict(table[list(model.feature_names_in_)]))
    tacit.save(model, tmp_path / "model.tacit")
    np.testing.assert_array_equal(tacit.load(tmp_path / "model.tacit").predict(table), classes)
    assert study(found, table).groups[0].n_rows == (classes == 0).sum()
    assert study(found, table).selection == found.selection


def test_cells_come_back_as_they_were_written(table, found):
    filled = found.model.impute(table)
    told = found.model.impute(table, interval=0.9)
    empty = filled.isna().to_numpy()
    assert (
        empty.any(axis=0).tolist() == (filled.columns == "year").tolist()
    )  # of three years none is likely in some rows
    assert np.isnan(told.probability[empty]).all()
    assert np.nanmin(told.probability) >= found.model.calibration_.sure == 0.5
    seen = table["member"].notna()
    assert (filled["member"][seen] == table["member"][seen]).all()
    assert filled["member"][1]
    kept = [name for name in filled if name != "year"]
    assert (filled[kept].dtypes == table[kept].dtypes).all()
    polars = pytest.importorskip("polars")
    given = polars.from_pandas(table)
    assert find_groups(given, groups=[2]).model.impute(given).schema["member"] == polars.Boolean


def test_reading_is_said_as_to_open_table(table):
    model = find_groups(table, groups=[1], roles={"year": "measurement"}).model
    assert {column.name: column.kind for column in model.schema_.columns}["year"] == "continuous"
    with pytest.raises(TypeError, match=r"the table is open already; give roles to tacit\.tables\.open_table instead"):
        find_groups(open_table(table), roles={"year": "measurement"})
    assert choose_imputer(table, groups=1, columns=["age", "visits"]).model.schema_.names == ["age", "visits"]


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"covariance": "foo"}, "covariance='foo' is unknown; use one of 'all', 'full'"),
        ({"covariance": ["full", "foo"]}, "covariance='foo' is unknown"),
        ({"groups": "1-3"}, r"groups='1-3' must be a whole number or some of them, such as range\(1, 5\)"),
        ({"groups": []}, r"groups=\[\] must be"),
        ({"groups": [0]}, "groups=0 is not a whole number of at least 1"),
        ({"groups": 99}, "groups starts at 99, but the table has 60 rows; use at most 60"),
    ],
)
def test_bad_settings_are_named(table, settings, fault):
    with pytest.raises(ValueError, match=fault):
        find_groups(table, **settings)


def test_bad_cells_are_named(table, found):
    with pytest.raises(ValueError, match="the table has 1 row; at least 2 are needed"):
        find_groups(table.head(1))
    text = table.astype({"age": object})
    text.loc[2, "age"] = "n/a?"
    with pytest.raises(ValueError, match=r"column 'age' holds 'n/a\?', but it held numbers at fit; write a number"):
        found.model.predict(text)


def test_what_was_found_prints_in_a_line(table, found):
    assert repr(study(found, table)).startswith(
        "Findings('groups', 'table': 60 rows fall into 2 clear groups; refitted to 10 "
    )
    chosen = choose_imputer(open_table(table), "mixture", groups=[1])
    assert repr(chosen).startswith("Choice(model=Mixture(")
    assert repr(chosen).endswith("method='mixture', why='what all rows have in common (one group), as asked for')")


def test_a_table_without_a_column_of_the_model(table, found):
    with pytest.raises(
        ValueError, match=r"the table has no column 'age', which the model uses; it has no other columns\."
    ):
        study(found.model, table[[name for name in found.model.schema_.names if name != "age"]])
