"""Why cells are missing: rules are found where there are some, and nothing is found in noise."""

import numpy as np
import pytest
from scipy import stats

from tacit.impute import choose_imputer
from tacit.study import diagnose_missing
from tacit.study.missingness import _tail
from tacit.survey.scores import mean_ranks

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def loans():
    """Loans: a second income of joint applications only, an exam of adults, a column that began late."""
    rng = np.random.default_rng(0)
    n = 400
    kind = rng.choice(["single", "joint"], n, p=[0.7, 0.3])
    age = rng.integers(12, 70, n) + rng.random(n)
    income = rng.normal(30, 5, n) + 0.2 * age
    table = pd.DataFrame({
        "kind": kind, "age": age, "income": income, "second": np.where(kind == "joint", rng.normal(20, 4, n), np.nan),
        "exam": np.where(age > 18, rng.normal(5, 1, n), np.nan), "late": rng.normal(size=n), "pulse": rng.normal(70, 9, n),
        "shift": rng.choice(["day", "night"], n),
    })  # fmt: skip
    table.loc[:149, "late"] = np.nan
    table.loc[rng.random(n) < np.where(table["shift"] == "night", 0.4, 0.05), "pulse"] = np.nan
    table.loc[rng.random(n) < 0.1, "income"] = np.nan
    return table


def test_tails_are_those_of_scipy_without_loading_it():
    rng = np.random.default_rng(0)
    n = rng.integers(1, 3000, 4000)
    k, drawn = rng.integers(0, n + 1), rng.integers(0, n + 1)
    found = stats.hypergeom.rvs(n, k, drawn, random_state=rng) + rng.integers(-3, 4, len(n))
    np.testing.assert_allclose(
        _tail(found, n, k, drawn), stats.hypergeom.sf(found, n, k, drawn), rtol=1e-8, atol=1e-300
    )
    lower = _tail(drawn - found - 1, n, n - k, drawn)
    np.testing.assert_allclose(lower, stats.hypergeom.cdf(found, n, k, drawn), rtol=1e-8, atol=1e-300)
    far = _tail(np.array([60, 90]), 1000, 100, 100)
    np.testing.assert_allclose(far, stats.hypergeom.sf([60, 90], 1000, 100, 100), rtol=1e-8)
    np.testing.assert_array_equal(mean_ranks(np.array([2.0, 1.0, 2.0, 5.0, 2.0])), [3.0, 1.0, 3.0, 5.0, 3.0])


def test_each_kind_is_told(loans):
    found = {each.column: each for each in diagnose_missing(loans)}
    assert {name: each.kind for name, each in found.items()} == {
        "income": "unrelated", "second": "not applicable", "exam": "not applicable", "late": "dropout", "pulse": "related"
    }  # fmt: skip
    second, exam, pulse = (found[name] for name in ("second", "exam", "pulse"))
    n = int((loans["kind"] == "single").sum())
    assert (second.by, second.values, second.n_missing) == (("kind",), ("single",), n)
    assert second.text == (
        f"second has no value in any of the {n} rows where kind is single, and one in every other row: it is taken as not "
        "applicable there."
    )
    assert exam.by == ("age",)
    assert exam.below == loans["age"][loans["exam"].notna()].min()
    assert found["late"].text == "late has no value before row 151; fills there go beyond what was seen."
    assert pulse.by == ("shift",)
    assert 0.6 < pulse.score < 0.85


def test_a_column_that_began_late_and_one_that_is_hardly_ever_known(loans):
    years = np.repeat(np.arange(1990, 2000), 40)
    rng = np.random.default_rng(1)
    tail = np.where((years < 1994) | (rng.random(400) < 0.1), np.nan, rng.normal(size=400))
    rare = np.where((loans["kind"] == "joint") & (rng.random(400) < 0.25), rng.normal(size=400), np.nan)
    found = {
        each.column: each
        for each in diagnose_missing(loans.assign(year=years, tail=tail, rare=rare).sample(400, random_state=0))
    }
    tail, rare = found["tail"], found["rare"]
    assert (tail.kind, tail.by, tail.below, tail.values) == ("not applicable", ("year",), 1994.0, ())
    assert tail.text.startswith(
        "tail has no value in any of the 160 rows where year is below 1994, and it is missing in 1"
    )
    assert rare.kind == "related"  # three of four cells are missing where it may be known: no rule
    speed = np.where((loans["age"] < 18) & (rng.random(400) < 0.3), 1.0 + rng.random(400), np.nan)
    assert {each.column: each for each in diagnose_missing(loans.assign(speed=speed))}["speed"].kind != "not applicable"


def test_what_is_not_applicable_is_not_filled(loans, tmp_path):
    import tacit

    choice = choose_imputer(loans, groups=[1], budget=30)
    filled = choice.model.impute(loans[list(choice.model.feature_names_in_)])
    young, single = loans["age"] < loans["age"][loans["exam"].notna()].min(), loans["kind"] == "single"
    assert (filled["second"].isna() == single).all()
    assert (filled["exam"].isna() == young).all()
    assert filled[["income", "late", "pulse"]].notna().all().all()
    findings = choice.study()
    assert findings.n_empty == {"second": int(single.sum()), "exam": int(young.sum())}
    assert any(
        "rows where kind is single, and one in every other row: it is taken as not" in sentence
        for sentence in findings.summary
    )
    for table in choice.model.draw_missing(loans[list(choice.model.feature_names_in_)], 2, random_state=0):
        assert (table["second"].isna() == single).all()
    tacit.save(choice.model, tmp_path / "m.tacit")
    again = tacit.load(tmp_path / "m.tacit").impute(loans[list(choice.model.feature_names_in_)], interval=0.9)
    told = choice.model.impute(loans[list(choice.model.feature_names_in_)], interval=0.9)
    np.testing.assert_array_equal(again.low, told.low)


@pytest.mark.parametrize("n", [20, 60, 300])
def test_noise_shows_nothing(n):
    """Of 40 tables in which cells are missing by chance, at most 2 show any relation (the level is 1 in 100)."""
    alarms = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 6))
        X[:, 4] = rng.integers(0, 3, n)
        X[rng.random(X.shape) < rng.uniform(0.1, 0.6)] = np.nan
        table = pd.DataFrame(X, columns=list("abcdef")).assign(level=rng.choice(list("xyz"), n))
        found = diagnose_missing(table, roles={"e": "category"})
        alarms += any(each.kind not in ("unrelated", "few", "marked") for each in found)
    assert alarms <= 2


def test_detection_limits_and_marks(tmp_path):
    rng = np.random.default_rng(0)
    lead = [f"{x:.3f}" if x > 0.5 else "<0.5" for x in rng.gamma(2.0, 1.0, 200)]
    zinc = np.maximum(rng.gamma(2.0, 1.0, 200), 0.7).round(3)
    weight = np.where(rng.random(200) < 0.05, -999.0, rng.normal(70, 9, 200)).round(1)
    path = tmp_path / "t.csv"
    pd.DataFrame({"lead": lead, "zinc": zinc, "weight": weight}).to_csv(path, index=False)
    found = {each.column: each for each in diagnose_missing(path)}
    assert {name: each.kind for name, each in found.items()} == {
        "lead": "detection limit", "zinc": "detection limit", "weight": "marked"
    }  # fmt: skip
    assert found["weight"].values == (-999.0,)
    assert found["zinc"].values == (0.7,)
