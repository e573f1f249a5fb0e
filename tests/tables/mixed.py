"""One mixed table with missing values, written in every format."""

import csv
import datetime
import gzip
import sqlite3

import numpy as np

N = 240


def mixed(n=N):
    """Columns of Python values, None where missing."""
    rng = np.random.default_rng(3)
    holes = rng.random((n, 6)) < 0.1

    def incomplete(values, j):
        return [None if gone else value for value, gone in zip(values, holes[:, j])]

    return {
        "customer": [int(v) for v in 100000 + rng.permutation(n) * 7],
        "height": incomplete([float(v) for v in rng.normal(170, 9, n).round(2)], 0),
        "visits": incomplete([int(v) for v in rng.poisson(3, n)], 1),
        "colour": incomplete([str(v) for v in rng.choice(["red", "green", "blue"], n)], 2),
        "grade": incomplete([int(v) for v in rng.integers(1, 5, n)], 3),
        "member": incomplete([str(v) for v in rng.choice(["yes", "no"], n)], 4),
        "joined": incomplete(
            [datetime.date(2020, 1, 1) + datetime.timedelta(days=int(v)) for v in rng.integers(0, 900, n)], 5
        ),
        "country": ["DE"] * n,
        "empty_one": [None] * n,
    }


def write_csv(path, columns, opener=open, separator=",", decimal="."):
    with opener(path, "wt", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(columns)
        for row in zip(*columns.values()):
            writer.writerow(["" if v is None else str(v).replace(".", decimal) for v in row])
    return path


def write_excel(path, columns):
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(list(columns))
    for row in zip(*columns.values()):
        book.active.append(list(row))
    book.save(path)
    return path


def write_sqlite(path, columns):
    kinds = {"height": "real", "visits": "integer", "grade": "integer", "customer": "integer"}
    with sqlite3.connect(path) as connection:
        types = ", ".join(f"{name} {kinds.get(name, 'text')}" for name in columns)
        connection.execute(f"create table people ({types})")
        rows = [[str(v) if isinstance(v, datetime.date) else v for v in row] for row in zip(*columns.values())]
        connection.executemany(f"insert into people values ({', '.join('?' * len(columns))})", rows)
    connection.close()
    return path


def write_all(folder):
    """Arguments of `open_table` for every format, by name."""
    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from pyarrow import feather, parquet

    columns = mixed()
    table = pa.table(columns)
    parquet.write_table(table, folder / "people.parquet", row_group_size=50)
    feather.write_feather(table, str(folder / "people.feather"))
    with pa.ipc.new_stream(str(folder / "people.arrow"), table.schema) as stream:
        stream.write_table(table, 64)
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        connection.execute(f"create table people as select * from '{folder}/people.parquet'")
    write_csv(folder / "people.csv", columns)
    write_csv(folder / "packed.csv.gz", columns, gzip.open)
    write_csv(folder / "comma.csv", columns, separator=";", decimal=",")
    write_csv(folder / "people.tsv", columns, separator="\t")
    write_excel(folder / "people.xlsx", columns)
    write_sqlite(folder / "people.db", columns)
    query = {"sql": "select * from people"}
    return {
        **{name: ((folder / name,), {}) for name in (
            "people.csv", "packed.csv.gz", "comma.csv", "people.tsv", "people.parquet", "people.feather", "people.arrow",
            "people.xlsx",
        )},
        "duckdb": ((f"duckdb://{folder}/people.duckdb",), query),
        "duckdb of a file": (("duckdb://",), {"sql": f"select * from '{folder}/people.parquet'"}),
        "sqlite": ((f"sqlite:///{folder}/people.db",), query),
        "pandas": ((pd.DataFrame(columns),), {}),
        "pandas of Arrow": ((table.to_pandas(),), {}),
        "polars": ((pl.DataFrame(columns),), {}),
        "pyarrow": ((table,), {}),
        "dictionary": ((columns,), {}),
    }  # fmt: skip
