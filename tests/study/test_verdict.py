"""What is claimed of groups: the verdict, budgets, shares and their denominators, descriptions, new rows, gross errors."""

import json
import re

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from tacit.cli.main import main
from tacit.factor import ProbabilisticPCA
from tacit.mixture import GaussianMixture, Mixture, find_groups, select
from tacit.mixture.finding import gross_cells
from tacit.mixture.verdict import Verdict
from tacit.notes import Claim
from tacit.report.page import render
from tacit.schema import Column
from tacit.study import groups
from tacit.study.axes import study_axes
from tacit.study.groups import study_groups
from tacit.study.phrases import alikeness, clauses, counted_share, distinct, phrase
from tacit.study.tallies import Tallies, defining, profile_of
from tacit.tables import open_table

pandas = pytest.importorskip("pandas")


def clear(n, rng):
    centres = np.array([[0.0, 0.0, 0.0], [7.0, 0.0, 0.0], [0.0, 0.0, 7.0]])
    return centres[np.arange(n) % 3] + rng.normal(size=(n, 3))


def overlapping(n, rng):
    return rng.normal(size=(n, 3)) + (np.arange(n) % 2)[:, None] * [3.2, 0.0, 0.0]


DATA = {
    "clear": clear,
    "overlapping": overlapping,
    "continuum": lambda n, rng: np.exp(0.6 * rng.normal(size=(n, 3))),
    "one": lambda n, rng: rng.normal(size=(n, 3)) @ (np.eye(3) + 0.5),
}


@pytest.mark.parametrize(("kind", "n"), [("clear", 90), ("overlapping", 1200), ("continuum", 300), ("one", 120)])
def test_the_verdict_tells_groups_from_a_continuum(kind, n):
    found = find_groups(DATA[kind](n, np.random.default_rng(1)))
    verdict = found.verdict
    assert verdict.kind == kind
    assert verdict.reached == ""
    sentence = found.study().summary[0]
    assert isinstance(sentence, Claim)
    assert sentence.check.figures["kind"] == kind
    told = {"clear": "3 clear groups", "overlapping": "2 overlapping groups", "one": "form one group: by BIC"}
    assert told.get(kind, "form a continuum rather than groups: no gap is shown") in sentence
    assert Verdict(**verdict.told()) == verdict


def test_missing_cells_do_not_fill_a_gap():
    """Rows that miss the one column that tells the groups apart lie between them, and must not hide the gap."""
    rng = np.random.default_rng(0)
    first = np.where(np.arange(400) < 200, 0.0, 8.0) + rng.normal(0, 1, 400)
    first[rng.random(400) < 0.35] = np.nan
    table = {"x": first, "y": rng.normal(size=400), "z": rng.normal(size=400)}
    verdict = find_groups(table, groups=2).verdict
    assert (verdict.kind, verdict.n_apart) == ("overlapping", 2)


@pytest.mark.parametrize(
    ("n", "told"), [(85, "the 85 rows learned from"), (2000, "2,000 rows drawn at random"), (5000, "the rows")]
)
def test_rows_are_called_drawn_only_where_they_were(n, told):
    verdict = Verdict("overlapping", 2, 2, unsure=0.1, stability=0.9, n_resamples=10, n_rows=n)
    assert f"10 % of {told} are less than 90 % sure" in verdict.note(86 if n < 2000 else 5000).text


def test_stability_is_the_agreement_of_refits():
    rng = np.random.default_rng(0)
    found = find_groups(clear(90, rng))
    assert found.verdict.stability == pytest.approx(1.0, abs=0.02)
    assert found.verdict.n_resamples == 10
    assert adjusted_rand_score(np.arange(90) % 3, found.model.predict(found.table.source())) == pytest.approx(1.0)
    # More groups than there are come back as other groups.
    five = find_groups(overlapping(150, rng), groups=[5], covariance=["tied"])
    assert five.verdict.stability < 0.8
    assert five.verdict.kind != "clear"


def test_the_search_goes_on_while_the_criterion_improves_and_keeps_every_size(monkeypatch):
    rng = np.random.default_rng(0)
    X = 10.0 * rng.permutation(12)[np.arange(360) % 12][:, None] + rng.normal(size=(360, 2)) * [1.0, 0.1]
    found = find_groups(X, covariance=["diag"])
    assert found.model.n_components == 12  # more than nine
    assert found.verdict.kind == "clear"
    assert list(found.by_size) == list(range(1, max(found.by_size) + 1))
    findings = found.study()
    assert [each.n_groups for each in findings.alternatives] == list(found.by_size)
    chosen = next(each for each in findings.alternatives if each.n_groups == 12)
    assert chosen.behind == 0.0
    assert min(each.value for each in findings.alternatives) == chosen.value
    eleven = found.at(11).study()
    other = next(each for each in findings.alternatives if each.n_groups == 11)
    assert [group.words for group in eleven.groups] == [group.words for group in other.groups]
    np.testing.assert_array_equal(eleven.group, other.group)
    # Of many rows some are drawn, and how many is told.
    monkeypatch.setattr(groups, "MOST_COUNTED", 200)
    drawn = next(each for each in found.study().alternatives if each.n_groups == 11)
    assert 150 < drawn.n_counted < 250
    assert other.n_counted is None
    assert sum(group.n_rows for group in drawn.groups) == drawn.n_counted
    shares = [[group.n_rows / n for group in each.groups] for each, n in ((drawn, drawn.n_counted), (other, 360))]
    np.testing.assert_allclose(*shares, atol=0.06)
    assert f"Counted on {drawn.n_counted} rows drawn at random." in render(found.study())
    with pytest.raises(ValueError, match=r"n_groups=99 was not tried; tried were 1, 2, 3"):
        found.at(99)


def test_another_seed_finds_nothing_better():
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.multivariate_normal(m, c, 60) for m, c in (
        ([0, 0, 0], np.diag([1.0, 4, 0.2])), ([3, 1, 0], np.eye(3)), ([1, 5, 2], np.diag([3.0, 0.3, 1])))])  # fmt: skip
    best = [found.selection[0] for found in (find_groups(X, seed=seed) for seed in (0, 1, 2))]
    assert len({(row["n_components"], row["covariance_type"]) for row in best}) == 1
    assert np.ptp([row["bic"] for row in best]) < 0.1


def test_a_budget_ends_the_search_with_the_best_so_far():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(317, 79)) + 2.0 * (np.arange(317) % 3 == 0)[:, None]
    X[rng.random(X.shape) < 0.75] = np.nan
    find_groups(X[:40, :5], groups=[2], covariance=["diag"])  # compiled before the clock runs
    found = find_groups(X, budget=0.01)  # less than one step of the second model takes on any machine
    assert found.verdict.reached == "budget"
    assert found.selection[0]["bic"] == min(row["bic"] for row in found.selection if row["bic"] is not None)
    if max(found.by_size) > 1:
        end = "the search ended at its budget of 0.01 s, and more time may find a better model."
    else:
        end = "within the budget of 0.01 s only one was tried; raise budget to try more."
    assert found.study().summary[0].endswith(end)
    with pytest.raises(ValueError, match=r"budget=0 is not a number above 0\."):
        find_groups(X, budget=0)


def test_one_group_is_no_finding_where_no_other_number_was_tried(tmp_path, capsys):
    X = clear(90, np.random.default_rng(0))
    short = Verdict("untried", 1, reached="budget", budget=0.5)
    told = short.note(90)
    assert told.startswith(
        "How many groups 90 rows form is not known: within the budget of 0.5 s only one was tried; raise"
    )
    assert told.worded(lambda option: f"--{option.name}").endswith("raise --budget to try more.")
    found = find_groups(X, groups=[1])
    assert found.verdict.kind == "untried"
    findings = found.study()
    assert not any("one group" in each or "single group" in each for each in findings.summary)
    (tmp_path / "t.csv").write_text("a,b,c\n" + "\n".join(",".join(f"{v:.3f}" for v in row) for row in X) + "\n")
    assert main(["fit", str(tmp_path / "t.csv"), "--groups", "1", "--quiet"]) == 0
    said = "How many groups 90 rows form was not looked for: only one was tried; --groups says which to try."
    assert said in " ".join(capsys.readouterr().out.split())
    page = (tmp_path / "t.fit.html").read_text("utf-8")
    assert "form was not looked for: only one was tried;" in page
    assert "form one group" not in page


def test_select_goes_on_by_itself_and_says_what_ended_it():
    X = clear(120, np.random.default_rng(0))
    found = select(GaussianMixture(random_state=0), X, n_components="auto", covariance_type=["full", "tied", "diag"])
    assert found.best.n_components == 3
    assert found.reached == ""
    assert {row["n_components"] for row in found.table} == {1, 2, 3, 4, 5}
    assert sum(row["n_components"] == 1 for row in found.table) == 2  # one full matrix is one model
    few = select(GaussianMixture(random_state=0), X[:10], n_components="auto")
    assert max(row["n_components"] for row in few.table) <= 2


# Gross errors


def test_gross_errors_are_unusual_rows_and_not_groups():
    rng = np.random.default_rng(0)
    X = overlapping(200, rng)
    X[7, 1], X[20, 0] = 99999.0, -88888.0
    table = open_table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    assert gross_cells(table) == [
        {"row": 21, "column": "a", "value": -88888.0},
        {"row": 8, "column": "b", "value": 99999.0},
    ]
    findings = find_groups(table).study()
    assert min(group.n_rows for group in findings.groups) > 50
    assert {row["row"] for row in findings.outliers} == {8, 21}
    assert any(
        s.startswith("2 rows were not learned from, for a number far beyond all others: a") for s in findings.summary
    )
    assert gross_cells(open_table({"x": np.exp(2.0 * rng.normal(size=300))})) == []  # a long tail is none


def test_one_row_is_no_group():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    X[0] = [9.0, 9.0, 9.0]
    findings = find_groups(X, covariance=["full", "tied"]).study()
    assert min(group.n_rows for group in findings.groups) > 2
    assert [row["row"] for row in findings.outliers] == [1]


@pytest.mark.parametrize("far", [40.0, 500.0])
def test_far_numbers_make_no_groups_of_one_row(far):
    X = overlapping(200, np.random.default_rng(0))
    X[7, 1], X[20, 0] = far, -far
    findings = find_groups(X, budget=30).study()
    assert min(group.n_rows for group in findings.groups) > 50
    assert {row["row"] for row in findings.outliers} == {8, 21}


def test_a_group_has_no_rows_that_are_all_unusual(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = np.concatenate([0.1 * rng.normal(size=(400, 2)), [20.0, 0.0] + 6.0 * rng.normal(size=(12, 2))])
    X[5] = 0.0, 6.0  # one row that is unusual indeed
    (tmp_path / "t.csv").write_text("a,b\n" + "\n".join(f"{x:.4f},{y:.4f}" for x, y in X) + "\n")
    asked = ["--groups", "2", "--covariance", "EII", "--quiet", "--json"]
    assert main(["fit", str(tmp_path / "t.csv"), *asked]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [group["n_rows"] for group in told["groups"]] == [400, 12]
    assert [row["row"] for row in told["outliers"]["rows"]] == [6]
    said = next(claim for claim in told["claims"] if claim["code"] == "loose")
    assert said["text"].startswith("Group 2 spreads wider than the model can say: most of its rows lie far out")
    for verb in ("fit", "predict"):
        if verb == "predict":
            assert main(["predict", str(tmp_path / "t.fit.tacit"), str(tmp_path / "t.csv"), "--quiet"]) == 0
        lines = (tmp_path / f"t.{verb}.groups.csv").read_text().splitlines()
        place = lines[0].split(",").index("outlier")
        assert [i for i, line in enumerate(lines) if line.split(",")[place] == "yes"] == [6]


# Shares and their denominators


def tallied(cells, columns, group):
    tallies = Tallies(columns, int(group.max()) + 1)
    tallies.add(cells, group)
    return tallies


def test_shares_name_their_denominator_and_need_twenty_known_cells():
    rng = np.random.default_rng(0)
    phase, group = np.full(600, np.nan), np.repeat([0, 1], 300)
    phase[:51], phase[300:340], phase[51:60] = 1.0, 0.0, 0.0  # 60 of 300 known, 85 % of them 1
    cells = np.column_stack([phase, rng.normal(size=600)])
    columns = Column("phase", "category", ("go", "stop")), Column("x", "continuous")
    found = tallied(cells, columns, group).profiles()
    entry = next(e for e in profile_of(found, 0) if e["level"] == "stop")
    assert (entry["known"], entry["n_rows"]) == (60, 300)
    assert entry["phrase"] == "phase mostly stop where known"
    assert entry["text"] == "phase mostly stop where known (85 % of 60 known cells vs 51 %)"
    phase[15:300] = np.nan  # 15 of 300 are known
    found = tallied(np.column_stack([phase, cells[:, 1]]), columns, group).profiles()
    entry = next(e for e in profile_of(found, 0) if e["level"] == "stop")
    assert entry["text"] == "phase: known in 15 of 300 rows only"
    assert counted_share(entry) == "15 of 15"  # what the tables of the page and the console show
    assert all(e["column"] != "phase" or e["is_missing"] for e in defining(profile_of(found, 0)))
    assert phrase("sex", "male", 11 / 12, 1.0, 12, 12) == "sex male in 11 of 12"  # a small group is counted
    assert phrase("sex", "male", 1 / 12, -1.0, 12, 12) == "sex male in only 1 of 12"


# Descriptions


def test_columns_that_say_the_same_are_told_once_and_no_two_groups_alike():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 100)
    size = np.array([0.0, 4.0, 4.6])[group] + 0.3 * rng.normal(size=300)
    cells = np.column_stack([size, 2 * size + 0.1 * rng.normal(size=300), -size, rng.normal(size=300)])
    columns = tuple(Column(name, "continuous") for name in ("length", "width", "lightness", "other"))
    tallies = tallied(cells, columns, group)
    alike = alikeness(cells, columns)
    assert alike(("length", False), ("lightness", False))
    assert not alike(("length", False), ("other", False))
    profiles = [profile_of(tallies.profiles(), k) for k in range(3)]
    described = [clauses(defining(profile), tallies.spreads(k), alike) for k, profile in enumerate(profiles)]
    words = distinct(described, profiles, [100, 100, 100])
    assert len(set(words)) == 3
    assert all(sum(name in told for name in ("length", "width", "lightness")) == 1 for told in words[:1])
    for told, name in zip(described, range(3)):  # each clause has the figures that it rests on
        for clause in told:
            j = [column.name for column in columns].index(clause["column"])
            assert clause["value"] == pytest.approx(cells[group == name, j].mean())
            assert clause["known"] == 100
    assert "than in group" in words[2] or words[1] != words[2]


def test_groups_described_alike_say_how_they_differ():
    entry = {
        "column": "x",
        "level": None,
        "is_missing": False,
        "known": 100,
        "n_rows": 100,
        "rest": 0.0,
        "overall": 2.0,
    }
    one = [entry | {"value": 5.0, "difference": 1.3, "phrase": "x very high", "text": ""}]
    two = [entry | {"value": 7.0, "difference": 1.9, "phrase": "x very high", "text": ""}]
    described = [clauses(one), clauses(two), clauses(two)]
    words = distinct(described, [one, two, two], [100, 90, 80])
    assert words == ["x very high", "x very high, x higher than in group 1",
                     "x very high, x higher than in group 1, with fewer rows than group 2"]  # fmt: skip
    assert described[1][1]["against"] == 1
    assert (described[1][1]["value"], described[1][1]["other"]) == (7.0, 5.0)


# Axes of cells that are hardly known


def test_axes_of_hardly_known_columns_do_not_explain_everything(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))  # independent columns
    X[rng.random(X.shape) < 0.75] = np.nan
    rare = np.full(200, np.nan)
    rare[:6] = X[:6, 0] = rng.normal(size=6)
    lines = [",".join("" if np.isnan(v) else f"{v:.3f}" for v in row) for row in np.column_stack([X, rare])]
    (tmp_path / "t.csv").write_text("a,b,c,d,e,f,g,h,rare\n" + "\n".join(lines) + "\n")
    assert main(["reduce", str(tmp_path / "t.csv"), "--no-report", "--axes", "3", "--quiet"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "rare (known in 6 of 200 rows only)" in out
    assert re.search(
        r"3 axes explain (< )?\d+ % of the variance of \d+ known cells, hidden on purpose and told by the others", out
    )
    table = open_table(dict(zip("abcdefgh", X.T)))
    figures = study_axes(ProbabilisticPCA(3, scale=True).fit(table.source()), table).summary[0].check.figures
    assert figures["in_the_fit"] > 0.5
    assert figures["explained"] < 0.2


# New rows under an old model


def test_a_report_on_new_rows_says_so_and_keeps_the_words(tmp_path, capsys):
    rng = np.random.default_rng(0)
    old = [f"{10 * k + v:.2f},{w:.2f}" for k, v, w in zip([0] * 60 + [1] * 30, *rng.normal(size=(2, 90)))]
    (tmp_path / "old.csv").write_text("a,b\n" + "\n".join(old) + "\n")
    (tmp_path / "new.csv").write_text("a,b\n10.1,0.2\n9.7,-0.4\n0.1,0.5\n")
    assert main(["fit", str(tmp_path / "old.csv"), "--quiet", "--groups", "2", "--covariance", "tied"]) == 0
    capsys.readouterr()
    model = str(tmp_path / "old.fit.tacit")
    assert main(["report", model, str(tmp_path / "new.csv"), "--out", str(tmp_path / "new.html")]) == 0
    said = capsys.readouterr().out
    assert said.startswith(
        "3 new rows were scored by a model that was learned from 90 other rows (old); groups are described as "
    )
    assert "The largest of the new rows is group 2 (2 rows, 67 %): a very high." in said
    assert "The smallest of the new rows is group 1 (1 row, 33 %): a " in said
    # A row is as unusual in the report as it is to predict: it is judged among all the rows learned from.
    (tmp_path / "far.csv").write_text("a,b\n10.1,0.2\n0.1,3.2\n0.1,9.5\n")
    assert main(["report", model, str(tmp_path / "far.csv"), "--json", "--out", str(tmp_path / "far.html")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "1 row is unusual for its group." in told["summary"]
    assert any("0.05 divided by the 90 rows learned from" in limit for limit in told["limits"])
    assert main(["predict", model, str(tmp_path / "far.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outliers"] == 1
    assert main(["report", model, str(tmp_path / "old.csv"), "--out", str(tmp_path / "again.html")]) == 0
    again = capsys.readouterr().out
    assert again.startswith("90 rows fall into 2 clear groups; refitted to 10 resamples")
    assert "The largest is group 1 (60 rows, 67 %)" in again


def test_the_largest_group_is_counted_and_not_assumed():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, 80), rng.normal(12, 1, 20)])
    table = open_table({"x": x, "y": rng.normal(size=100)})
    model = Mixture(2, random_state=0).fit(table.source())
    new = open_table({"x": [12.0, 12.5, 11.8, 0.2], "y": [0.0, 0.1, 0.2, 0.3]})
    summary = study_groups(model, new).summary
    assert summary[1].startswith("The largest is group 2 (3 rows, 75 %)")
    assert summary[1].check.figures == {"group 1": 1, "group 2": 3}
    even = open_table({"x": [12.0, 12.5, 0.1, 0.2], "y": [0.0, 0.1, 0.2, 0.3]})
    assert study_groups(model, even).summary[1] == "The largest are groups 1 and 2 (2 rows each)."


def test_new_rows_are_told_of_as_new(tmp_path, capsys):
    rng = np.random.default_rng(0)
    x = np.repeat([0, 12, 24], [180, 120, 90]) + rng.normal(size=390)
    old = {"x": x, "y": rng.normal(size=390), "z": np.where(rng.random(390) < 0.2, np.nan, x + rng.normal(size=390))}
    pandas.DataFrame(old).to_csv(tmp_path / "old.csv", index=False)
    new = pandas.DataFrame({"x": [0.1, 0.4, -0.3], "y": [0.0, 0.1, 0.2], "z": [np.nan, 0.0, 0.1]})
    new.to_csv(tmp_path / "new.csv", index=False)
    assert main(["fit", str(tmp_path / "old.csv"), "--quiet", "--no-report"]) == 0
    capsys.readouterr()
    model = str(tmp_path / "old.fit.tacit")
    assert main(["report", model, str(tmp_path / "new.csv"), "--json", "--out", str(tmp_path / "new.html")]) == 0
    told = json.loads(capsys.readouterr().out)["summary"]
    assert "3 rows fall into 1 of the 3 groups." in told
    assert "No new row is likeliest in group 2 or group 3." in told
    assert "1 missing cell (11 % of the cells used) was filled in, in z." in told
    assert any(" cells of the model's own table hidden on purpose" in sentence for sentence in told)


def test_one_group_of_new_rows_is_the_models(tmp_path, capsys):
    rng = np.random.default_rng(0)
    pandas.DataFrame(rng.normal(size=(80, 2)), columns=["x", "y"]).to_csv(tmp_path / "old.csv", index=False)
    (tmp_path / "new.csv").write_text("x,y\n0.1,0.2\n0.3,0.4\n")
    assert main(["fit", str(tmp_path / "old.csv"), "--quiet", "--no-report"]) == 0
    capsys.readouterr()
    model = str(tmp_path / "old.fit.tacit")
    assert main(["report", model, str(tmp_path / "new.csv"), "--json", "--out", str(tmp_path / "new.html")]) == 0
    told = json.loads(capsys.readouterr().out)["summary"]
    assert "2 rows are in the only group of the model." in told
    assert not any("BIC" in sentence for sentence in told)


def test_cells_missing_in_columns_that_are_not_used_are_not_denied():
    rng = np.random.default_rng(0)
    note = [f"a note on row {k}, of some length and with words" if k % 3 else None for k in range(60)]
    table = open_table({"x": rng.normal(size=60), "y": rng.normal(size=60), "note": note})
    model = Mixture(1, random_state=0).fit(table.source())
    assert "No cell of the columns used is missing." in study_groups(model, table).summary
