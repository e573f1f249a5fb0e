"""Tests of a table's columns between groups: what is found, which test is taken and why, levels, words, page."""

import numpy as np
import pandas as pd
import pytest

from tacit.assess import compare_groups, kruskal, mann_whitney, t_test
from tacit.datasets import penguins_path
from tacit.report.page import render_tests


@pytest.fixture(scope="module")
def penguins():
    return compare_groups(str(penguins_path()), "species")


def by_column(found, what="values"):
    return {test["column"]: test for test in found.tests if test["what"] == what}


def test_penguins_differ_in_what_is_measured(penguins):
    assert {test["column"] for test in penguins.different} == {
        "flipper_length_mm", "bill_depth_mm", "bill_length_mm", "body_mass_g", "island"
    }  # fmt: skip
    table = pd.read_csv(penguins_path())
    means = table.groupby("species")["body_mass_g"].mean()
    test = by_column(penguins)["body_mass_g"]
    assert test["values"] == pytest.approx([means[group["name"]] for group in penguins.groups])
    assert test["missing"] == [1, 0, 1]
    assert test["low"] < test["effect"] < test["high"]
    assert "body_mass_g: the mean is 5076 in Gentoo, 3733 in Chinstrap and 3701 in Adelie" in str(penguins)
    assert str(penguins).startswith(
        "5 of 8 tests of 7 columns differ between Adelie, Chinstrap and Gentoo beyond chance"
    )
    for claim in penguins.summary:
        if claim.check.pandas and claim.code != "verdict":
            assert eval(claim.check.pandas, {"table": table}) == pytest.approx(claim.check.figures), claim


def test_the_test_suits_the_column(rng):
    n = 60
    group = np.repeat(["a", "b"], n // 2)
    table = pd.DataFrame({
        "group": group, "even": rng.normal(size=n), "skewed": rng.lognormal(sigma=2.0, size=n), "events": rng.poisson(3, n),
        "colour": rng.choice(["red", "blue"], n), "rare": np.where(np.arange(n) % 29 == 0, "yes", "no"), "same": 1.5,
        "hour": rng.uniform(0, 24, n).round(2), "number": np.arange(n),
    })  # fmt: skip
    found = compare_groups(table, "group", roles={"hour": "hour", "events": "count"})
    tests = {test["column"]: (test["test"], test["why"]) for test in found.tests}
    assert tests["even"] == ("Welch's t test", "values within groups are about as even as normal ones")
    assert tests["skewed"][0] == tests["events"][0] == "The Mann-Whitney test"
    assert tests["skewed"][1].startswith("values within groups are uneven (skewness ")
    assert tests["events"][1] == "counts are skewed, and have ranks"
    assert tests["colour"] == ("The χ² test of independence", "shares of levels, at least 5 expected in every cell")
    assert tests["rare"] == ("Fisher's exact test", "two groups and two levels, fewer than 5 expected in a cell")
    assert tests["hour"] == ("The permutation test", "values go round in a cycle, and are permuted")
    assert {each["column"] for each in found.skipped} == {"same", "number"}
    a, b = (table.loc[table.group == name] for name in "ab")
    p = {test["column"]: test["p"] for test in found.tests}
    assert p["even"] == pytest.approx(t_test(b.even, a.even).p_value)
    assert p["skewed"] == pytest.approx(mann_whitney(b.skewed, a.skewed).p_value)
    ranks = compare_groups(table, "group", method="ranks", columns=["even"])
    assert [test["test"] for test in ranks.tests] == ["The Mann-Whitney test"]
    assert [test["why"] for test in ranks.tests] == ["ranks were asked for"]


def test_three_groups_of_uneven_values_are_ranked(rng):
    x = rng.lognormal(sigma=1.5, size=45) + np.repeat([0, 0, 3], 15)
    found = compare_groups({"g": np.repeat(["a", "b", "c"], 15), "x": x}, "g")
    assert found.tests[0]["p"] == pytest.approx(kruskal(*x.reshape(3, 15)).p_value)
    assert found.tests[0]["measure"] == "median"
    assert found.different


def test_levels_hold_for_all_tests_together(rng):
    """Where groups are drawn at random, anything is found in about 5 % of tables at most."""
    wrong = 0
    for _ in range(60):
        table = pd.DataFrame({
            "g": rng.permutation(np.repeat(["a", "b"], 20)), "x": rng.normal(size=40), "y": rng.lognormal(sigma=1.5, size=40),
            "z": rng.poisson(2, 40), "w": rng.choice(["u", "v"], 40),
        })  # fmt: skip
        wrong += bool(compare_groups(table, "g").different)
    assert wrong <= 8  # 3 expected at most


def test_missing_cells_and_groups_are_counted(rng):
    n = 80
    table = pd.DataFrame({"g": np.repeat(["a", "b"], 40), "x": rng.normal(size=n), "y": rng.normal(size=n)})
    table.loc[:20, "x"] = np.nan
    table.loc[[3, 50], "g"] = None
    table.loc[[4], "y"] = np.nan
    found = compare_groups(table, "g")
    assert (found.n_rows, found.n_left_out) == (78, 2)
    lost = by_column(found, "missing")
    assert set(lost) == {"x"}
    assert lost["x"]["differs"]
    assert lost["x"]["missing"] == [20, 0]
    said = " ".join(found.limits)
    assert "2 rows without a value of g were left out." in said
    assert "x (20 cells) and y (1 cell)" in said
    assert "x is missing in 51 % in a and 0 % in b" in str(found)


def test_intervals_and_corrections_hold_together(penguins):
    from tacit.assess import adjust

    p = [test["p"] for test in penguins.tests]
    np.testing.assert_allclose([test["adjusted"] for test in penguins.tests], adjust(p))
    assert all(result.alpha == pytest.approx(0.05 / 8) for result in penguins.results)
    softer = compare_groups(str(penguins_path()), "species", correction="bh")
    assert all(a["adjusted"] <= b["adjusted"] + 1e-15 for a, b in zip(softer.tests, penguins.tests))


def test_some_groups_can_be_named(penguins):
    found = compare_groups(str(penguins_path()), "species", values=["Gentoo", "Adelie"])
    assert [group["name"] for group in found.groups] == ["Gentoo", "Adelie"]
    assert found.n_rows == 276
    assert by_column(found)["body_mass_g"]["effect"] < 0  # Adelie less Gentoo
    with pytest.raises(ValueError, match="column 'species' has no value 'Emperor'; it has Adelie, Chinstrap, Gentoo"):
        compare_groups(str(penguins_path()), "species", values=["Gentoo", "Emperor"])
    with pytest.raises(ValueError, match=r"'body_mass_g' has 94 values, more than 30 groups; name those to compare"):
        compare_groups(str(penguins_path()), "body_mass_g")


def test_the_page_shows_every_test_and_reason(penguins):
    page = render_tests(penguins, "penguins by species")
    for test in penguins.tests:
        assert test["why"] in page
    assert "Groups compared" in page
    assert page == render_tests(penguins, "penguins by species")
