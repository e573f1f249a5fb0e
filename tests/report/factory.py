"""Findings made of real tables with little code: simple profiles, but a real mixture, real memberships and real filled cells."""

import io
from dataclasses import replace
from functools import cache

import numpy as np

from tacit.datasets import penguins_path
from tacit.factor import ProbabilisticPCA
from tacit.mixture import Mixture
from tacit.report import Axes, Findings, Group
from tacit.source import Block
from tacit.study.findings import Alternative
from tacit.study.sample import take_sample
from tacit.tables import open_table

HOSTILE = [
    "</script><script>window.ran = 1</script>", "<img src=x onerror='window.ran = 1'>", '" onmouseover="window.ran = 1',
    "a & b < c", "\u2028\u2029", "\u202egnp.exe", '=HYPERLINK("http://x")', "🐧 مرحبا שלום", "x" * 5000, "<!-- ", "]]>",
    "{{7*7}}", "\x01\x07",
]  # fmt: skip
"""What a table may hold that wants to be more than text."""


def findings_of(table, n_groups=3, title=None, most=2000, **settings):
    """Findings of kind "groups" of a `DataTable`."""
    settings = {"tol": 1e-6, "max_iter": 300, "covariance_type": "diag", "smoothing": 1.0, "random_state": 0} | settings
    model = Mixture(n_groups, **settings).fit(table.source())
    sample = take_sample(model, table, most=most)
    shares = model._model().posterior(model._params(), Block.of(sample.encoded))[0]
    order = np.argsort(-model.weights_, kind="stable")
    shares = shares[:, order]
    group = shares.argmax(axis=1) + 1
    groups = tuple(_group(table, sample, group, k + 1, float(model.weights_[order[k]])) for k in range(n_groups))
    sure = shares.max(axis=1)
    doubtful = [i for i in np.argsort(sure, kind="stable") if sure[i] < 0.9]
    tail = np.linspace(0.5, 1.0, len(group))
    tail[:2] = 1e-7
    listed = [_entry(table, sample, i) | {"group": int(group[i]), "probability": float(sure[i])} for i in doubtful[:50]]
    far = [
        _entry(table, sample, i) | {"group": int(group[i]), "outlier": float(tail[i])} for i in range(min(2, len(tail)))
    ]
    missing = np.isnan(sample.encoded).sum(axis=0)
    names = [column.name for column in table.used]
    return Findings(
        kind="groups", title=title or table.reader.name, n_rows=table.n_rows, columns=table.columns, used=names, sample=sample,
        summary=[
            f"The {table.n_rows} rows fall into {n_groups} groups.", "The largest holds most rows.",
            f"{missing.sum()} missing cells were filled in.",
        ],
        card={"Data": f"{table.n_rows} rows", "Model": "Mixture", "Version": "0.1.0", "Seed": "0"},
        limits=["Groups are a description of this table, not a law.", "Filled cells are guesses."],
        trace=np.asarray(model.fit_.trace.per_weight), selection=_selection(n_groups), groups=groups, memberships=shares,
        group=group, outlier=tail, uncertain=listed, outliers=far, n_uncertain=len(doubtful), n_outliers=len(far),
        n_filled=dict(zip(names, missing.tolist())),
    )  # fmt: skip


def _entry(table, sample, i):
    return {"row": int(sample.rows[i])} | {name: sample.cells[name][i] for name in table.ids}


def _group(table, sample, group, number, share):
    inside, profile = group == number, []
    for j, column in enumerate(table.used):
        cells = sample.filled[:, j]
        parts = (
            [(None, cells)]
            if not column.levels
            else [(level, 1.0 * (cells == c)) for c, level in enumerate(column.levels)]
        )
        for level, values in parts:
            value, rest = (float(values[rows].mean()) if rows.any() else float("nan") for rows in (inside, ~inside))
            difference = (value - rest) / (values.std() or 1.0)
            profile.append(
                {
                    "column": column.name,
                    "level": level,
                    "value": value,
                    "rest": rest,
                    "difference": difference,
                    "text": "",
                }
            )
    profile.sort(key=lambda entry: -abs(np.nan_to_num(entry["difference"])))
    words = ", ".join(
        f"{entry['column']} {'high' if entry['difference'] > 0 else 'low'}"
        for entry in profile
        if entry["level"] is None
    )
    return Group(number, int(inside.sum()), share, words[:120], profile)


def _selection(n_groups):
    rows = [
        {
            "n_components": k,
            "covariance_type": name,
            "bic": 5000.0 + 40 * abs(k - n_groups) ** 1.5 + 90 * j,
            "failed": None,
        }
        for k in range(1, n_groups + 4)
        for j, name in enumerate(("full", "tied", "diag"))
    ]
    rows[-1] |= {"bic": None, "failed": "a group collapsed onto few rows"}
    return sorted(rows, key=lambda row: (row["bic"] is None, row["bic"] or 0.0))


@cache
def penguins():
    """The penguins in three groups."""
    return findings_of(open_table(str(penguins_path()), ignore=["species", "year"]), title="Palmer penguins")


def with_alternatives():
    """The penguins with the groups of other numbers."""
    found, tried = penguins(), []
    table = open_table(str(penguins_path()), ignore=["species", "year"])
    for k in (1, 2, 3, 5):
        other = findings_of(table, k) if k != 3 else found
        tried.append(Alternative(k, "diag", 5000.0 + k, 0.0 if k == 3 else 40.0 * k, other.groups, other.group, k))
    card = found.card | {"Table": "penguins and more.csv"}
    return replace(found, alternatives=tuple(tried), card=card, title="penguins")


def left_empty():
    """The penguins, two of whose missing cells were left empty: one of a number, one of a category."""
    sample = penguins().sample
    parts = {name: getattr(sample, name).copy() for name in ("filled", "low", "high", "sure")}
    for j, which in ((1, 0), (penguins().used.index("sex"), -1)):
        i = np.flatnonzero(np.isnan(sample.encoded[:, j]))[which]
        for part in parts.values():
            part[i, j] = np.nan
    return replace(penguins(), sample=replace(sample, **parts))


def axes_findings(n_axes=2):
    """The penguins' measurements on axes."""
    found = penguins()
    table = open_table(
        str(penguins_path()), columns=["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    )
    cells = table.cells
    scaled = (cells - np.nanmean(cells, axis=0)) / np.nanstd(cells, axis=0)
    model = ProbabilisticPCA(n_axes).fit(scaled)
    scores = model.transform(scaled)
    columns = [j for j, name in enumerate(found.used) if name in table.schema.names]
    sample = replace(
        found.sample,
        **{name: getattr(found.sample, name)[:, columns] for name in ("encoded", "filled", "low", "high", "sure")},
    )
    spectrum = np.array([0.69, 0.19, 0.09, 0.03])
    axes = Axes(
        names=[f"Axis {k + 1}" for k in range(n_axes)], explained=spectrum[:n_axes], loadings=model.components_.T, scores=scores,
        std=np.full(scores.shape, 0.15), spectrum=spectrum, words=[f"opposes big and small, way {k + 1}" for k in range(n_axes)],
    )  # fmt: skip
    return Findings(
        kind="axes", title="Palmer penguins", n_rows=table.n_rows, columns=table.columns, used=table.schema.names, sample=sample,
        summary=["Two axes tell most of four columns.", "The first is size."], card={"Data": "344 rows"}, limits=[], axes=axes,
    )  # fmt: skip


def written(tmp_path, header, rows, name="table.csv", **options):
    """A `DataTable` of lists, by way of a CSV file."""
    import csv

    text = io.StringIO(newline="")
    csv.writer(text).writerows([header, *rows])
    path = tmp_path / name
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    return open_table(str(path), **options)


def hostile(folder):
    """Findings of a table whose names, cells, levels and title are hostile."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(65):
        number = "" if i % 7 == 0 else f"{rng.normal() + 5 * (i % 2):.3f}"
        rows.append([f"{HOSTILE[i % 13]}{i}", HOSTILE[i % 3], HOSTILE[3 + i % 2], HOSTILE[5 + i % 4], number])
    table = written(folder, ["id", *HOSTILE[:3], "m"], rows, roles={name: "category" for name in HOSTILE[:3]})
    return replace(
        findings_of(table, 2), title=HOSTILE[0], summary=HOSTILE, limits=HOSTILE, card=dict(zip(HOSTILE, HOSTILE))
    )
