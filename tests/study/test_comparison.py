"""`compare`: tests that keep their level, effects that are what they say, and what it refuses."""

import json

import numpy as np
import pytest
from scipy import stats

from tacit.cli.main import main
from tacit.factor import ProbabilisticPCA
from tacit.mixture import GaussianMixture
from tacit.study import compare, compare_models
from tacit.study.comparison import _grown
from tacit.study.differences import correct, share_test

pandas = pytest.importorskip("pandas")


def table(n, seed, shift=0.0, new=0, red=0.3):
    """Two groups; `shift` moves x, `new` rows lie elsewhere."""
    rng = np.random.default_rng(seed)
    group = rng.random(n) < 0.5
    frame = pandas.DataFrame({
        "x": rng.normal(size=n) + shift, "y": rng.normal(size=n) + 5 * group, "z": rng.normal(size=n),
        "c": np.where(rng.random(n) < red, "red", "blue"),
    })  # fmt: skip
    frame.loc[rng.random(n) < 0.1, "z"] = np.nan
    frame.loc[: new - 1, ["x", "y"]] += 30
    return frame


def test_what_moved_is_found_with_its_effect():
    a, b = table(200, 0), table(180, 1, shift=1.0, red=0.7)
    found = compare(a, b, groups=[2])
    assert {(test["what"], test["column"]) for test in found.moved} == {("values", "x"), ("levels", "c")}
    by = {(test["what"], test["column"]): test for test in found.looked}
    x = by["values", "x"]
    wins = (b.x.to_numpy()[:, None] > a.x.to_numpy()).mean()
    assert x["effect"] == pytest.approx(wins)
    assert x["p"] == pytest.approx(stats.brunnermunzel(a.x, b.x).pvalue)
    assert x["low"] < stats.norm.cdf(1 / np.sqrt(2)) < x["high"]  # the truth
    assert (x["a"], x["b"]) == (a.x.median(), b.x.median())
    c = by["levels", "c"]
    counts = pandas.crosstab(np.repeat(["a", "b"], [200, 180]), pandas.concat([a.c, b.c]).to_numpy())
    assert c["p"] == pytest.approx(stats.chi2_contingency(counts, correction=False).pvalue)
    assert abs(c["effect"]) == pytest.approx(abs((b.c == "red").mean() - (a.c == "red").mean()))
    lost = by["missing", "z"]
    odds = [[a.z.isna().sum(), b.z.isna().sum()], [a.z.notna().sum(), b.z.notna().sum()]]
    assert lost["p"] == pytest.approx(stats.fisher_exact(odds).pvalue)
    assert len(found.looked) == 4 + 1 + 2
    assert found.summary[0].startswith("B differs from A in 2 of 7 things looked at (Holm, 5")
    assert f"a cell of B is higher than one of A with a probability of {wins:.2f}" in " ".join(found.summary)


def test_intervals_of_shares_are_those_of_newcombe():
    tests = [share_test(np.array([48, 56]), np.array([80, 70]))]  # his table II (a), the other way round: 56/70 - 48/80
    correct(tests, "holm", 0.95)
    assert (round(tests[0]["low"], 4), round(tests[0]["high"], 4)) == (0.0524, 0.3339)


def test_corrections_are_those_of_statsmodels():
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p = np.random.default_rng(0).random(12) ** 4
    for ours, theirs in (("holm", "holm"), ("bh", "fdr_bh")):
        tests = [share_test(np.array([3, 4]), np.array([10, 12])) | {"p": each} for each in p]
        correct(tests, ours, 0.95)
        np.testing.assert_allclose([test["adjusted"] for test in tests], multitest.multipletests(p, method=theirs)[1])


def test_a_new_group_and_new_rows():
    a, b = table(150, 2), table(160, 3, new=40)
    found = compare(a, b, groups=[3])
    new = [group for group in found.groups if group["new"]]
    assert len(new) == 1
    assert (new[0]["n_a"], new[0]["n_b"]) == (0, 40)
    assert [fact["column"] for fact in found.outside] == ["x", "y"]
    assert found.outside[0]["row"] == int(np.argmax(b.x)) + 1
    b = table(160, 3)
    b.loc[:39, ["x", "y"]] = np.random.default_rng(0).normal(0, 40, size=(40, 2))  # no group: scattered
    found = compare(a, b, groups=[2])
    assert found.n_new >= 30
    assert sum(row["row"] <= 40 for row in found.rows) >= 0.9 * found.n_new


def test_parts_of_one_table():
    old, new = table(60, 5), table(70, 6, shift=2)
    both = pandas.concat([old.assign(when="2024-01-05", part=1), new.assign(when="2024-02-05", part=2)])
    both = both.sample(frac=1, random_state=0)
    by = compare(both.drop(columns="when"), by="part", groups=[1])
    assert by.names == ("part = 1", "part = 2")
    time = compare(both.drop(columns="part"), time="when", at="2024-02-01", groups=[1])
    assert time.n_rows == by.n_rows == (60, 70)
    first, second = ({(test["what"], test["column"]): test["p"] for test in each.looked} for each in (by, time))
    assert first == second
    assert [test["column"] for test in by.moved] == ["x"]
    three = both.assign(part=[*"abc"] * 43 + ["a"]).drop(columns="when")
    assert compare(three, by="part", values=["a", "c"], groups=[1]).n_rows == (44, 43)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "compare two tables, or two parts of one"),
        ({"by": "nix"}, "has no column 'nix' to tell the parts by; it has x, y, z, c"),
        ({"by": "c", "values": ["red", "green"]}, "no row has 'green' in column 'c'; say two of 'blue', 'red'."),
        ({"by": "x"}, "column 'x' has 30 values"),
        ({"time": "c"}, "column 'c' holds neither dates nor numbers"),
        ({"time": "x", "at": "soon"}, "at='soon' is no time of column 'x'; give a number."),
        ({"time": "x", "at": 1e6}, "lie on one side of 1,000,000 in column 'x'; choose another time."),
        ({"by": "c", "correction": "none"}, "correction='none' is unknown; use one of 'holm', 'bh'."),
        ({"by": "c", "level": 95}, "level=95 is no probability between 0 and 1"),
    ],
)
def test_what_it_refuses(asked, message):
    with pytest.raises(ValueError, match=r"^[^\n]*$") as error:
        compare(table(30, 0), **asked)
    assert message in str(error.value)


def test_few_rows_go_by_permutations():
    a, b = {"x": np.array([1.5, 2, 3])}, {"x": np.array([11.5, 12, 13, 14])}
    (found,) = compare(a, b, groups=[1]).looked
    assert found["p"] == pytest.approx(2 / 35, abs=0.01)  # the most extreme splits of 7 into 3 and 4
    assert not found["moved"]
    assert (found["effect"], found["high"]) == (1.0, 1.0)
    assert found["low"] < 0.5
    with pytest.raises(ValueError, match="has 1 row; at least 2 of each are needed"):
        compare({"x": np.array([1.5])}, b)
    with pytest.raises(ValueError, match="have no column in common"):
        compare(a, {"u": np.arange(9.0)})


def rates(n_runs, n_rows):
    """Shares of halves of one table in which anything moved, any row is new, and any interval misses no difference."""
    counts = np.zeros(3)
    for seed in range(n_runs):
        frame = table(n_rows, seed)
        order = np.random.default_rng(seed).permutation(n_rows)
        cut = n_rows // (2 if seed % 2 else 3)
        found = compare(frame.iloc[order[:cut]], frame.iloc[order[cut:]], groups=[2], seed=seed)
        off = [not each["low"] <= (0.5 if each["what"] == "values" else 0) <= each["high"] for each in found.looked]
        counts += bool(found.moved), bool(found.n_new), any(off)
    return counts / n_runs


@pytest.mark.full
@pytest.mark.parametrize("n_rows", [24, 90])
def test_halves_of_one_table_differ_no_more_often_than_stated(n_rows):
    assert (rates(200, n_rows) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)).all()


def test_two_models():
    frame = table(200, 0)[["x", "y"]]
    first, second = (GaussianMixture(k, random_state=0).fit(frame) for k in (2, 3))
    found = compare_models(first, second, frame, names=("two", "three"))
    counts = pandas.crosstab(*(model.predict(frame) for model in (first, second))).to_numpy()
    best = max(counts[0, i] + counts[1, j] for i in range(3) for j in range(3) if i != j)
    assert sum(group["shared"] for group in found.groups) == best
    assert found.summary[0].startswith("two has 2 groups and three 3 groups; on 200 rows they agree")
    same = compare_models(first, first, frame)
    assert "adjusted Rand index of 1.00" in same.summary[0]
    assert "Neither describes the rows better" in same.summary[2]
    with pytest.raises(ValueError, match="a ProbabilisticPCA has no groups to compare"):
        compare_models(first, ProbabilisticPCA(1).fit(frame), frame)


def ended(*words):
    """The exit code of the command, whether its parser or its work ends it."""
    try:
        return main(words)
    except SystemExit as stop:
        return stop.code


def test_the_command(tmp_path, capsys):
    table(40, 0).to_csv(tmp_path / "old.csv", index=False)
    table(50, 1, shift=2.0).to_csv(tmp_path / "new.csv", index=False)
    old, new = str(tmp_path / "old.csv"), str(tmp_path / "new.csv")
    assert main(["compare", old, new, "--groups", "1", "--quiet", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["n_rows"] == [40, 50]
    assert {test["column"] for test in told["looked"] if test["moved"]} == {"x"}
    names = {f"old.compare.{each}" for each in ("looked.csv", "groups.csv", "rows.csv", "html")}
    assert {path.name for path in tmp_path.glob("*.compare.*")} == names
    looked = pandas.read_csv(tmp_path / "old.compare.looked.csv")
    assert looked["p"].tolist() == pytest.approx([test["p"] for test in told["looked"]])
    cases = [
        ([old, new, new], "is one table too many"), ([old, "--at", "3"], "--at says where --time divides the rows"),
        ([old, f"{old}.tacit"], "a model is compared with a model"), ([old], "compare two tables, or two parts of one"),
        ([old, new, "--target", "x"], "tacit compare does not use --target (the column to predict)"),
    ]  # fmt: skip
    for asked, message in cases:
        assert ended("compare", *asked, "--force") == 2
        assert message in capsys.readouterr().err
    for k in ("1", "2"):
        assert main(["fit", old, "--groups", k, "--quiet", "--no-report", "--out", str(tmp_path / k)]) == 0
    capsys.readouterr()
    models = [str(tmp_path / k / "old.fit.tacit") for k in ("1", "2")]
    assert main(["compare", *models, old, "--force"]) == 0
    assert "A has 1 group and B 2 groups" in capsys.readouterr().out


def test_chance_is_measured_and_bounded():
    found = compare(table(150, 0), table(150, 1, shift=1.0), groups=[2], check=40)
    assert found.baseline["shuffles"] == 40
    assert found.baseline["mean"] < 0.2  # the chance of any is 5 %
    assert found.baseline["most"] < len(found.moved) or found.baseline["most"] <= 2
    told = next(each for each in found.summary if each.startswith("Where chance divides the rows,"))
    assert told.check.figures == found.baseline
    short = compare(table(150, 0), table(150, 1), groups=[2], budget=1e-3, check=10**6)
    assert 1 <= short.baseline["shuffles"] < 10**4


def test_the_page_opens_with_the_verdict(tmp_path, capsys):
    table(120, 0).to_csv(tmp_path / "a.csv", index=False)
    table(120, 1, shift=2.0).assign(c="<b>").to_csv(tmp_path / "b.csv", index=False)
    asked = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), "--groups", "2", "--check", "3", "--quiet", "--json"]
    assert main(["compare", *asked]) == 0
    told = json.loads(capsys.readouterr().out)
    page = (tmp_path / "a.compare.html").read_text("utf-8")
    shown = pandas.Series(page).str.replace(r"<[^>]*>", "", regex=True)[0].replace("\xa0", " ")
    assert page.index("Two tables compared") < page.index(told["summary"][0][:20]) < page.index("What was looked at")
    assert "Where chance divides the rows" in shown
    assert "(in 3 random divisions of the same rows)" in shown
    assert "What not to conclude" in shown
    assert page.count("✓") == sum(test["moved"] for test in told["looked"]) + 1  # and the legend
    assert "<b>" not in page
    assert (
        main(
            ["compare", *asked[:2], "--groups", "2", "--no-report", "--force", "--quiet", "--out", str(tmp_path / "o")]
        )
        == 0
    )
    assert sorted(path.name for path in (tmp_path / "o").iterdir()) == [
        "a.compare.groups.csv", "a.compare.looked.csv", "a.compare.rows.csv"]  # fmt: skip


def test_medians_of_levels_in_order_are_levels():
    rng = np.random.default_rng(0)
    a = pandas.DataFrame({"grade": rng.choice([2, 3, 4], 100, p=[0.2, 0.6, 0.2]), "x": rng.normal(size=100)})
    b = pandas.DataFrame({"grade": rng.choice([3, 4, 5], 100, p=[0.2, 0.6, 0.2]), "x": rng.normal(size=100)})
    found = compare(a, b, groups=[1], roles={"grade": "ordinal"})
    test = next(test for test in found.looked if test["column"] == "grade")
    assert (test["a"], test["b"]) == (a.grade.median(), b.grade.median()) == (3, 4)
    assert any("grade tends to be higher in B (median 4 against 3)" in sentence for sentence in found.summary)


def test_sides_that_nearly_lie_apart_are_no_surer_than_sides_that_do():
    x, y = np.arange(40.0), np.arange(40.0) + 38.5
    near = compare(pandas.DataFrame({"x": x, "z": x % 7}), pandas.DataFrame({"x": y, "z": x % 7}), groups=[1])
    far = compare(pandas.DataFrame({"x": x, "z": x % 7}), pandas.DataFrame({"x": y + 9, "z": x % 7}), groups=[1])
    near, far = (next(test for test in found.looked if test["column"] == "x") for found in (near, far))
    assert 0.99 < near["effect"] < far["effect"] == 1
    assert near["low"] <= far["low"] < 0.95


def test_a_group_that_both_have_is_not_new():
    group = {"number": 4, "words": "x high", "new": True, "n_a": 3, "share_a": 0.012, "share_b": 0.29}
    assert _grown(group, "A", "B") == "Group 4 (x high) is nearly new: 29 % of B, 1.2 % of A."
    assert "is new" in _grown(group | {"n_a": 0, "share_a": 0.0}, "A", "B")
