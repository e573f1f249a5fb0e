"""The study of groups: numbers from sums over batches, outliers, words, and limits that say what holds."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import chi2

from tacit.cluster import cluster_report
from tacit.mixture import Mixture
from tacit.mixture.finding import _without_twins, default_groups, default_structures, find_groups
from tacit.schema import Column, Schema, level_text
from tacit.study.groups import study_groups
from tacit.study.phrases import group_phrase
from tacit.study.scores import Coder, Scorer
from tacit.study.sentences import _how_many
from tacit.study.tallies import Tallies, defining, profile_of
from tacit.tables import open_table, reader


def two_groups(n=300, seed=0):
    """A table of two groups as columns: a measurement, a category and a count that tell them apart, with missing values."""
    rng = np.random.default_rng(seed)
    second = np.arange(n) >= 0.7 * n
    age = np.where(second, rng.normal(60, 4, n), rng.normal(30, 4, n)).round(2)
    height = rng.normal(170, 8, n).round(2)
    colour = np.where(rng.random(n) < np.where(second, 0.9, 0.2), "red", "blue").astype(object)
    visits = rng.poisson(np.where(second, 8, 2)).astype(float)
    for column in (age, colour, visits):
        column[rng.random(n) < 0.1] = None if column.dtype == object else np.nan
    name = [f"p{i}" for i in range(n)]
    return {
        "name": name,
        "age": age.tolist(),
        "height": height.tolist(),
        "colour": colour.tolist(),
        "visits": visits.tolist(),
    }


def fitted(table, n_components=2, **settings):
    return Mixture(n_components, random_state=0, smoothing=0.5, **settings).fit(table.source())


@pytest.fixture(scope="module")
def found():
    table = open_table(two_groups(), roles={"name": "id"})
    model = fitted(table)
    return table, model, study_groups(model, table)


def test_groups_are_numbered_by_weight_and_count_their_likeliest_rows(found):
    table, model, findings = found
    order = np.argsort(-model.weights_)
    labels = np.argsort(order)[model.predict(table.source())] + 1
    assert [group.number for group in findings.groups] == [1, 2]
    assert [group.n_rows for group in findings.groups] == np.bincount(labels)[1:].tolist()
    assert [group.share for group in findings.groups] == model.weights_[order].tolist()
    np.testing.assert_array_equal(findings.group, labels)
    np.testing.assert_allclose(findings.memberships, model.predict_proba(table.source())[:, order], rtol=1e-12)


def test_profiles_are_those_of_the_rows(found):
    table, _, findings = found
    age = table.cells[:, table.schema.names.index("age")]
    for group in findings.groups:
        entry = next(entry for entry in group.profile if entry["column"] == "age" and entry["level"] is None)
        inside = findings.group == group.number
        assert entry["value"] == pytest.approx(np.nanmean(age[inside]))
        assert entry["rest"] == pytest.approx(np.nanmean(age[~inside]))
        assert entry["difference"] == pytest.approx((entry["value"] - np.nanmean(age)) / np.nanstd(age))
        assert entry["overall"] == pytest.approx(np.nanmean(age))
        strength = [abs(entry["difference"]) for entry in group.profile]
        assert strength == sorted(strength, reverse=True)


def test_words_say_what_sets_a_group_apart(found):
    *_, findings = found
    large, small = findings.groups
    assert small.words.startswith("age very high")
    assert "colour mostly red" in small.words
    assert "visits very high" in small.words
    assert "age low" in large.words  # it is most of the table
    assert "height" not in small.words + large.words


def test_profiles_agree_with_the_report_of_clusters(found):
    table, _, findings = found
    report = cluster_report(table.cells[:, :2], findings.group)
    for row in report.defining:
        name, gone = table.schema.names[int(row["column"].split()[-1])], row["level"] == "missing"
        profile = findings.groups[row["cluster"] - 1].profile
        entry = next(entry for entry in profile if (entry["column"], entry["is_missing"]) == (name, gone))
        assert (entry["value"], entry["rest"]) == pytest.approx((row["value"], row["rest"]))
        assert entry["difference"] == pytest.approx(row["difference"])


def test_rounding_left_of_a_mean_is_zero():
    tallies = Tallies((Column("x", "continuous"),), 2)
    x = np.array([0.1, 0.2, -0.3, 1.0, 1.1, 1.2])
    assert x[:3].mean() != 0
    tallies.add(x[:, None], np.array([0, 0, 0, 1, 1, 1]))
    assert profile_of(tallies.profiles(), 0)[0]["value"] == 0.0


def test_a_group_of_nearly_all_rows_is_not_called_extreme():
    tallies = Tallies((Column("x", "continuous"), Column("y", "continuous")), 2)
    rng = np.random.default_rng(0)
    tallies.add(np.column_stack([rng.normal(200, 30, 90), rng.normal(size=90)]), np.full(90, 0))
    tallies.add(np.column_stack([rng.normal(100, 30, 10), rng.normal(size=10)]), np.full(10, 1))
    found = tallies.profiles()
    assert group_phrase(defining(profile_of(found, 0))) == "x slightly high"
    assert group_phrase(defining(profile_of(found, 1))).startswith("x very low")


@pytest.mark.parametrize(
    ("chosen", "bic", "sentence"),
    [
        (2, {2: 100.0, 1: 102.4, 3: 130.0}, "2 groups describe 25 rows slightly better than one (BIC lead 2.4): weak"),
        (3, {3: 100.0, 2: 105.0, 1: 900.0}, "25 rows fall into 3 groups, but 2 groups describe them nearly as well (BIC lead 5)"),
        (1, {1: 100.0, 2: 104.0}, "25 rows form a single group, but 2 groups describe them nearly as well (BIC lead 4): weak"),
        (2, {2: 100.0, 1: 140.0, 3: 130.0}, "25 rows fall into 2 groups."),
    ],
)  # fmt: skip
def test_the_headline_carries_doubt(chosen, bic, sentence):
    selection = [{"n_components": size, "bic": value, "criterion": "bic"} for size, value in bic.items()]
    findings = SimpleNamespace(groups=[None] * chosen, selection=selection, n_rows=25, learned=None)
    assert _how_many(findings).startswith(sentence)


def test_small_batches_change_nothing(found, monkeypatch):
    _table, model, findings = found
    monkeypatch.setattr(reader, "BATCH_ROWS", 37)
    again = study_groups(model, open_table(two_groups(), roles={"name": "id"}))
    assert again.groups == findings.groups or _close(again.groups, findings.groups)
    assert again.uncertain == findings.uncertain
    assert again.n_filled == findings.n_filled


def _close(groups, others):
    for group, other in zip(groups, others):
        assert (group.n_rows, group.words) == (other.n_rows, other.words)
        for a, b in zip(group.profile, other.profile):
            assert a["difference"] == pytest.approx(b["difference"])
    return True


def test_summary_counts_and_ids(found):
    table, _, findings = found
    lost = int(np.isnan(table.cells).sum())
    assert findings.summary[0] == "300 rows fall into 2 groups."
    assert any(f"{lost} missing cells" in sentence for sentence in findings.summary)
    assert sum(findings.n_filled.values()) == lost
    unsure = int((findings.memberships.max(axis=1) < 0.9).sum())
    assert findings.n_uncertain == unsure == len(findings.uncertain)
    first = findings.uncertain[0]
    assert first["name"] == f"p{first['row'] - 1}"
    assert first["probability"] + first["other_probability"] == pytest.approx(1.0)
    assert first["probability"] == min(row["probability"] for row in findings.uncertain)


@pytest.mark.parametrize("student", [False, True])
def test_a_clean_table_has_about_no_outliers_and_planted_ones_are_found(student):
    rng = np.random.default_rng(1)
    X = rng.multivariate_normal([0, 10], [[1, 0.9], [0.9, 1]], 1500)
    by_column = {("a", "b"): "student"} if student else None
    clean = open_table({"a": X[:, 0], "b": X[:, 1]})
    assert study_groups(fitted(clean, 1, by_column=by_column), clean).n_outliers <= 2
    X[7], X[11] = [8.0, 10.0], [1.9, 8.1]  # far out, and near in each column but not in both
    planted = open_table({"a": X[:, 0], "b": X[:, 1]})
    findings = study_groups(fitted(planted, 1, by_column=by_column), planted)
    assert [row["row"] for row in findings.outliers[:2]] == [8, 12]
    assert findings.outliers[0]["reason"].startswith("a is 8; group 1 has ")
    assert re.fullmatch(r"[ab] is (1\.9|8\.1); its other measurements suggest .* ± .*", findings.outliers[1]["reason"])
    assert findings.outlier[[7, 11]].max() < 0.05 / 1500
    assert any("0.05 divided by the number of rows" in sentence for sentence in findings.limits)


def test_distances_are_of_observed_measurements():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 3))
    X[0], X[1, :2] = np.nan, np.nan
    model = Mixture(2, random_state=0).fit(X)
    scores = Scorer(model)(X)
    assert scores.outlier[0] == 1.0
    part, own = model.family_.parts[0][0], model._params().components.parts[0]
    z = (X[1, 2] - own.mean[:, 2]) / np.sqrt(own.dense[:, 2, 2])
    assert scores.outlier[1] == pytest.approx(model.predict_proba(X[1:2])[0] @ chi2.sf(z**2, 1))
    np.testing.assert_allclose(scores.outlier, np.exp(-model.outlier_scores(X)))
    np.testing.assert_array_equal(model.outliers(X), scores.outlier < 0.05 / len(X))
    assert part.mean(own).shape == (2, 3)


def test_a_table_of_categories_has_no_outliers_to_look_for():
    rng = np.random.default_rng(3)
    table = open_table({name: rng.choice(["x", "y", "z"], 80).tolist() for name in "ab"})
    findings = study_groups(fitted(table), table)
    assert findings.outlier is None
    assert findings.n_outliers == 0
    assert any("no column is a measurement" in sentence for sentence in findings.limits)


def test_one_group_has_no_rest(found):
    table, *_ = found
    findings = study_groups(fitted(table, 1), table)
    (group,) = findings.groups
    assert group.words == "all rows"
    assert all(entry["rest"] is None and entry["difference"] == 0 for entry in group.profile)
    assert findings.summary[0] == "300 rows are described as a single group."


def test_a_group_that_differs_by_its_spread_alone():
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.normal(0, 1, 600), rng.normal(0, 12, 400)])
    table = open_table({"x": x, "y": rng.permutation(x)})
    findings = study_groups(fitted(table), table)
    assert any("x more spread out" in group.words or "y more spread out" in group.words for group in findings.groups)


# Choosing


def test_the_choice_compares_with_one_group_and_says_so():
    table = open_table(two_groups(), roles={"name": "id"})
    grouping = find_groups(table, groups=range(1, 4), covariance=["full", "VVV", "diag"])
    assert grouping.model.n_components == 2
    assert {row["covariance_type"] for row in grouping.selection} == {"full", "diag"}
    assert next(row["n_components"] for row in grouping.selection) == 2
    assert all(row["bic"] is None or np.isfinite(row["bic"]) for row in grouping.selection)
    findings = study_groups(grouping.model, table, selection=grouping.selection)
    assert any("better than one by" in sentence for sentence in findings.limits)
    assert "best of 6 models with 1 to 3 groups by BIC" in findings.card["Chosen"]
    assert "Not used: name (" in " ".join(findings.limits)


def test_many_rows_are_chosen_on_a_sample_and_learned_from_all():
    table = open_table(two_groups(1500), roles={"name": "id"})
    grouping = find_groups(table, groups=[1, 2], covariance=["full"], sample=300)
    assert {row["n_rows"] for row in grouping.selection} == {300}
    whole = Mixture(2, random_state=0, smoothing=0.5, tol=1e-7, max_iter=500).fit(table.source())
    assert grouping.model.score(table.source()) == pytest.approx(whole.score(table.source()), abs=1e-3)
    assert grouping.model.warm_start is False
    findings = study_groups(grouping.model, table, selection=grouping.selection)
    assert any("chosen on 300 of 1,500 rows" in sentence for sentence in findings.limits)


def test_student_groups_keep_the_structure_beside_categories():
    table = open_table(two_groups(200), roles={"name": "id"})
    grouping = find_groups(table, groups=[2], covariance=["EEI"], student=True)
    kinds = {type(part).__name__: part for part, _ in grouping.model.family_.parts}
    assert set(kinds) == {"StudentT", "Categorical", "Poisson"}
    assert kinds["StudentT"].structure == "EEI"
    findings = study_groups(grouping.model, table, selection=grouping.selection)
    assert "heavy tails" in findings.card["Model"]


@pytest.mark.parametrize(
    ("n", "structures"),
    [(0, ["full"]), (1, ["full", "tied"]), (5, ["full", "tied", "diag", "spherical"]), (100, ["tied", "diag", "spherical"]),
     (1000, ["diag", "spherical"])],
)  # fmt: skip
def test_wide_tables_are_spared_large_matrices(n, structures):
    assert default_structures(n) == structures


@pytest.mark.parametrize(
    ("columns", "settings", "message"),
    [({"a": [1.5, 2.5, 9.5]}, {"groups": [4]}, "groups starts at 4, but the table has 3 rows."),
     ({"a": [1.5]}, {}, r"no column to find groups by: a \(the same value|has 1 row; at least 2"),
     ({"a": [1.5, 2.5, 4.5]}, {"seed": -1}, "seed=-1 is not a valid seed; use a whole number from 0 to 4294967295."),
     ({"a": [None, None], "b": [1, 1]}, {}, r"no column to find groups by: a \(.*b \(.*roles={'a': 'category'}")],
)  # fmt: skip
def test_tables_that_allow_no_groups(columns, settings, message):
    with pytest.raises(ValueError, match=message):
        find_groups(open_table(columns), **settings)


# Tables in other orders and with other levels


def test_a_coder_finds_columns_and_levels_by_name():
    schema = Schema((Column("b", "category", (1, 2)), Column("gone", "continuous"), Column("a", "continuous")))
    table = open_table({"a": [1.5, 2.5, None], "b": ["2", "1", "7"]}, roles={"b": "category"})
    coder = Coder(schema, table)
    assert coder.absent == ["gone"]
    cells = np.concatenate([coder.encode(batch) for batch in table.batches()])
    np.testing.assert_array_equal(cells, [[1, np.nan, 1.5], [0, np.nan, 2.5], [np.nan] * 3])
    assert [level_text(level) for level in (1.0, 2, True, "x")] == ["1", "2", "True", "x"]


def test_a_coder_refuses_kinds_that_differ():
    schema = Schema((Column("a", "category", ("x",)),))
    with pytest.raises(ValueError, match="column 'a' is continuous in the table, but category in the model"):
        Coder(schema, open_table({"a": [1.5, 2.5, 3.25]}))


def test_one_group_is_listed_once():
    rows = [
        dict(n_components=1, n_parameters=5, failed=None, log_likelihood=value, covariance_type=name)
        for name, value in (("full", -100.0), ("tied", -100.0 + 1e-12), ("diag", -104.0))
    ]
    assert [row["covariance_type"] for row in _without_twins(rows)] == ["full", "diag"]


@pytest.mark.parametrize(
    ("n_rows", "most", "last"), [(2, 9, 1), (4, 9, 2), (13, 9, 2), (25, 9, 5), (44, 9, 8), (500, 9, 9), (500, 6, 6)]
)
def test_few_rows_are_not_cut_into_many_groups(n_rows, most, last):
    assert list(default_groups(n_rows, most)) == list(range(1, last + 1))


def test_groups_asked_for_are_tried_however_few_the_rows():
    table = open_table({"x": np.random.default_rng(0).normal(size=12)})
    found = find_groups(table, covariance=["tied"])
    assert sorted(row["n_components"] for row in found.selection) == [1, 2]
    found = find_groups(table, groups=[4], covariance=["tied"])
    assert [row["n_components"] for row in found.selection] == [4]
