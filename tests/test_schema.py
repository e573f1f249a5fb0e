"""Tables of every kind become numbers and come back."""

import os
from pathlib import Path

import numpy as np
import pytest

from tacit.frames import is_table
from tacit.impute import GaussianImputer
from tacit.mixture import GaussianMixture
from tacit.schema import Column, Schema

pd = pytest.importorskip("pandas")


def people():
    return pd.DataFrame(
        {
            "height": [1.61, np.nan, 1.83, 1.75],
            "visits": pd.array([3, 0, None, 12], dtype="Int64"),
            "colour": ["red", None, "blue", "red"],
            "size": pd.Categorical(["S", "L", None, "M"], ["S", "M", "L"]),
            "member": [True, False, True, True],
            "code": [0, 1, 1, 0],
            "grams": [4200, 3900, 5100, 4800],
        },
        index=[10, 20, 30, 40],
    )


def polars():
    return pytest.importorskip("polars").from_pandas(people())


def arrow():
    return pytest.importorskip("pyarrow").Table.from_pandas(people(), preserve_index=False)


KINDS = ["continuous", "count", "category", "category", "category", "category", "continuous"]
CODES = [
    [1.61, 3, 1, 0, 1, 0, 4200],
    [np.nan, 0, np.nan, 2, 0, 1, 3900],
    [1.83, np.nan, 0, np.nan, 1, 1, 5100],
    [1.75, 12, 1, 1, 1, 0, 4800],
]


def test_kinds_and_levels_of_a_data_frame():
    schema = Schema.of(people())
    assert [column.kind for column in schema.columns] == KINDS
    assert [column.levels for column in schema.columns[2:6]] == [
        ("blue", "red"), ("S", "M", "L"), (False, True), (0, 1),
    ]  # fmt: skip
    np.testing.assert_array_equal(schema.encode(people()), CODES)


@pytest.mark.parametrize("make", [people, polars, arrow])
def test_a_table_goes_there_and_back(make):
    table = make()
    schema = Schema.of(table)
    codes = schema.encode(table)
    filled = schema.decode(np.where(np.isnan(codes), 0.0, codes), table)
    assert type(filled) is type(table)
    again = schema.encode(filled)
    np.testing.assert_array_equal(again, np.where(np.isnan(codes), 0.0, codes))
    assert Schema.of(filled).names == schema.names


def test_columns_without_holes_keep_their_type():
    table = people()
    schema = Schema.of(table)
    filled = schema.decode(np.nan_to_num(schema.encode(table)), table)
    assert list(filled.index) == [10, 20, 30, 40]
    assert filled["grams"].dtype == np.int64
    assert filled["member"].dtype == bool
    assert filled["size"].dtype == table["size"].dtype
    assert filled["size"].tolist() == ["S", "L", "S", "M"]


def test_an_array_of_objects():
    X = np.array([["a", 1.5], [None, 2.5], ["b", None]], dtype=object)
    assert is_table(X)
    assert is_table(X.tolist())
    assert not is_table(np.eye(2))
    assert not is_table(np.eye(2).tolist())
    schema = Schema.of(X)
    assert schema.columns == (Column(0, "category", ("a", "b")), Column(1, "continuous"))
    filled = schema.decode(np.array([[0, 1.5], [1, 2.5], [1, 2.0]]), X)
    assert filled.tolist() == [["a", 1.5], ["b", 2.5], ["b", 2.0]]


def test_a_table_read_in_parts_has_the_schema_of_the_whole():
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_pandas(people().astype({"size": str}), preserve_index=False)
    whole = Schema.of(table)
    assert Schema.scan(table.to_batches(max_chunksize=1)) == whole
    assert Schema.scan(table.to_batches(max_chunksize=3)) == whole


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 51], "continuous"), ([0, 50], "continuous"), ([0, 9], "count"), ([-1, 3], "continuous"), ([0.0, 3.0], "count"),
        ([0.0, 3.0, np.nan], "count"), ([0.5, 3.0, np.nan], "continuous"), ([0, 1], "category"),
    ],
)  # fmt: skip
def test_how_kinds_of_numbers_are_told_apart(values, kind):
    assert Schema.of(pd.DataFrame({"a": values})).columns[0].kind == kind


def refuse(match, table, **settings):
    with pytest.raises(ValueError, match=match):
        Schema.of(table, **settings)


def test_columns_that_cannot_be_used_are_named():
    refuse(
        "column 'when' holds datetime64.*turn it into numbers", pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])})
    )
    refuse("column 'a' has no observed value", pd.DataFrame({"a": [None, None]}))
    refuse("column 'id' has 30 levels in 30 cells", pd.DataFrame({"id": [f"p{i}" for i in range(30)]}))
    refuse("column 'a' contains infinity", pd.DataFrame({"a": [1.0, np.inf]}))
    refuse("column 'a' is to be count but holds 'x'", pd.DataFrame({"a": ["x"]}), kinds={"a": "count"})
    refuse("said to be 'colour'; use one of", pd.DataFrame({"a": [1]}), kinds={"a": "colour"})
    refuse("names the column 'a' more than once", pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_an_unseen_level_is_named():
    schema = Schema.of(people())
    strange = people()
    strange.loc[10, "colour"] = "green"
    with pytest.raises(ValueError, match=r"'colour' holds 'green', which was not there at fit .known: 'blue', 'red'"):
        schema.encode(strange)
    with pytest.raises(ValueError, match="no column 'colour', which was there at fit"):
        schema.encode(people().drop(columns="colour"))
    words = people().astype({"height": object})
    words.loc[10, "height"] = "tall"
    with pytest.raises(ValueError, match="column 'height' holds 'tall', but it held numbers at fit"):
        schema.encode(words)


# Kinds by scores


LIKERT = np.repeat([1, 2, 3, 4, 5], [12, 30, 55, 70, 33])


def test_likert_items_are_ordinal_codes_are_not_and_the_reason_tells_the_scores():
    rng = np.random.default_rng(0)
    n, region = 200, rng.choice(9, size=200, p=[0.3, 0.02, 0.2, 0.05, 0.15, 0.02, 0.16, 0.02, 0.08])
    table = pd.DataFrame({
        "sex": rng.integers(1, 3, n), "region": region + 1, "region0": region, "ward": np.arange(n) % 9 + 1, "item": LIKERT,
        "grade": pd.Categorical.from_codes(LIKERT - 1, list("abcde"), ordered=True), "visits": rng.poisson(1.5, n),
        "claims": rng.negative_binomial(0.4, 0.1, n), "age": rng.integers(18, 80, n),
    })  # fmt: skip
    expected = ["category"] * 4 + ["ordinal"] * 2 + ["count"] * 2 + ["continuous"]
    assert [column.kind for column in Schema.of(table).columns] == expected
    told = {column.name: column for column in Schema.of(table).columns}
    assert told["item"].reason == "5 levels in order (nats a cell: ordinal 1.505, category 1.526)"
    assert told["ward"].reason == "only 9 distinct whole numbers, each about as often, as codes are"
    assert told["grade"].reason == "levels in the order of their type"
    assert told["grade"].levels == tuple("abcde")
    assert (told["visits"].law, told["claims"].law, told["item"].law) == ("poisson", "negative_binomial", "")
    assert Schema.of(table, {"item": "category"}).columns[4].reason == "as asked"
    holes = rng.random(table.shape) < 0.15
    with_holes = Schema.of(table.mask(holes))
    assert [column.kind for column in with_holes.columns] == expected
    assert [column.law for column in with_holes.columns] == [column.law for column in Schema.of(table).columns]


REAL = {  # table: what each of its whole-number columns is, as a person who knows the table would say
    "marketing": {
        "Income": "ordinal", "Sex": "category", "Marital": "category", "Age": "ordinal", "Edu": "ordinal",
        "Occupation": "category", "Lived": "ordinal", "Dual_Income": "category", "Householdu18": "count",
        "Home_Type": "category", "Ethnic": "category", "Language": "category",
    },
    "pima": {"pregnant": "count", "glucose": "continuous", "age": "continuous", "pressure": "continuous"},
    "ozone": {"Ne9": "ordinal", "Ne12": "ordinal", "Ne15": "ordinal", "maxO3": "continuous"},
    "mammalsleep": {"sei": "ordinal"},
    "airquality": {"Month": "cyclic", "Temp": "continuous", "Ozone": "continuous"},
}  # fmt: skip


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("share", [0.0, 0.1])
def test_kinds_of_real_columns(name, share):
    folder = os.environ.get("TACIT_DATA")
    if not folder or not (path := Path(folder) / "missing" / f"{name}.csv").exists():
        pytest.skip("TACIT_DATA does not hold the table")
    table = pd.read_csv(path)[list(REAL[name])]
    table = table.mask(np.random.default_rng(0).random(table.shape) < share)
    assert {column.name: column.kind for column in Schema.of(table).columns} == REAL[name]


def test_a_column_of_levels_has_some():
    with pytest.raises(ValueError, match="column 'a' is category but has no levels; it has at least one"):
        Column("a", "category")


@pytest.mark.parametrize(
    ("cells", "kind"), [([[1, 2], [3], [4]], "list"), ([{"a": 1}] * 3, "dict"), (np.full(3, 1 + 2j), "complex")]
)
def test_cells_that_are_neither_numbers_nor_names_are_refused(cells, kind):
    refuse(f"column 'a' holds {kind}, which is neither a number nor a category; turn it into numbers or leave it out",
           pd.DataFrame({"a": cells, "b": [1.0, 2.0, 3.0]}))  # fmt: skip


def test_models_of_numbers_refuse_dates_and_lists_by_name():
    dated = pd.DataFrame({"a": np.arange(6.0), "when": pd.date_range("2024-01-01", periods=6)})
    lists = pd.DataFrame({"a": np.arange(3.0), "b": [[1, 2], [3], [4]]})
    for model in (GaussianMixture(), GaussianImputer()):
        with pytest.raises(
            ValueError, match=r"column 'when' holds datetime64\[.*\], which is neither a number nor a category"
        ):
            model.fit(dated)
        with pytest.raises(
            ValueError, match=f"lists or arrays as cells; {type(model).__name__} takes a number in each"
        ):
            model.fit(lists)
