"""Trees of categories against sums over all combinations of levels."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tacit
from tacit.families import Categorical, ChowLiu
from tacit.mixture import Mixture, select
from tacit.source import Block

from ..zoo import with_missing

LEVELS = (2, 3, 2, 4)


def chained_rows(n=600, seed=0):
    """Columns along the chain 1 – 0 – 3 – 2."""
    rng = np.random.default_rng(seed)
    first = rng.integers(3, size=n)
    second = np.where(rng.random(n) < 0.85, first > 0, rng.integers(2, size=n))
    fourth = np.where(rng.random(n) < 0.8, 2 * second, rng.integers(4, size=n))
    third = np.where(rng.random(n) < 0.9, fourth > 1, rng.integers(2, size=n))
    return np.column_stack([second, first, third, fourth]).astype(float)


def every_row():
    return np.array(list(itertools.product(*map(range, LEVELS))), dtype=float)


def test_the_tree_is_found_and_missing_cells_are_summed_out():
    X = with_missing(chained_rows(), 0.1)
    law = ChowLiu(LEVELS).fit(X)
    edges = {frozenset((j, p)) for j, p in enumerate(law.params.above[0].tolist()) if p >= 0}
    assert edges == {frozenset(each) for each in [(0, 1), (0, 3), (2, 3)]}
    rows = every_row()
    p = np.exp(law.log_prob(rows))
    assert p.sum() == pytest.approx(1.0)
    for row in [[np.nan, 2, np.nan, 1], [1, np.nan, np.nan, np.nan], [np.nan] * 4]:
        match = (np.isnan(row) | (rows == row)).all(axis=1)
        assert np.exp(law.log_prob([row]))[0] == pytest.approx(p[match].sum())
    # Missing cells given the others: probabilities, draws, expected counts of pairs.
    row, family = np.array([[np.nan, 2, np.nan, 1]]), law.family
    match = (np.isnan(row) | (rows == row)).all(axis=1)
    expected = [p[match & (rows[:, 2] == level)].sum() / p[match].sum() for level in range(2)]
    block = Block.of(row)
    np.testing.assert_allclose(family.law(law.params, block).levels(2, np.ones((2, 1)))[0], expected)
    many = Block.of(np.repeat(row, 20_000, axis=0))
    drawn = family.draw(law.params, many, np.ones((20_000, 1)), 1, np.random.default_rng(0))[0]
    assert drawn[:, 2].mean() == pytest.approx(expected[1], abs=0.02)
    assert (drawn[:, 1] == 2).all()
    ones = np.hstack([rows[:, [j]] == np.arange(n) for j, n in enumerate(LEVELS)]).astype(float)
    pair = family.stats(law.params, block, np.ones((1, 1))).pair[0]
    np.testing.assert_allclose(pair, (ones[match].T * p[match]) @ ones[match] / p[match].sum(), atol=1e-12)
    np.testing.assert_allclose(law.mean, p @ ones)
    other = ChowLiu(LEVELS).fit(chained_rows(40, 1))
    assert law.entropy() == pytest.approx(-p @ np.log(p))
    assert law.kl(other) == pytest.approx(p @ (np.log(p) - other.log_prob(rows)))
    assert (law.sample(20_000, 0) == [1, 2, 1, 2]).all(axis=1).mean() == pytest.approx(
        np.exp(law.log_prob([[1, 2, 1, 2]]))[0], abs=0.01
    )


def test_two_columns_are_saturated_and_one_is_categorical():
    X = chained_rows()
    law, counts = ChowLiu((2, 3)).fit(X[:, :2]), stats.contingency.crosstab(X[:, 0], X[:, 1]).count
    pairs = list(itertools.product(range(2), range(3)))
    np.testing.assert_allclose(np.exp(law.log_prob(pairs)).reshape(2, 3), counts / 600, atol=1e-8)
    assert law.family.n_parameters(law.params) == 5
    alone = ChowLiu([3]).fit(X[:, 1])
    np.testing.assert_allclose(alone.log_prob(X[:, 1]), Categorical([3]).fit(X[:, 1]).log_prob(X[:, 1]), atol=1e-8)
    smooth = ChowLiu((2, 3), smoothing=60.0).fit(X[:, :2])
    np.testing.assert_allclose(np.exp(smooth.log_prob(pairs)).reshape(2, 3), (counts + 10) / 660, atol=1e-8)


def test_mixtures_of_tables_with_dependent_columns(tmp_path):
    X, rng = chained_rows(300), np.random.default_rng(0)
    names = np.array(list("uvwx"))[X.astype(int)]
    table = pd.DataFrame(names, columns=list("abcd")).assign(size=rng.normal(size=300))
    asked = {tuple("abcd"): "chow_liu"}
    table.loc[::5, "d"] = None
    mixture = Mixture(2, by_column=asked, smoothing=0.1, parameter_draws=2, random_state=0).fit(table)
    # One tree takes the place of several classes of independent columns.
    trees = select(Mixture(by_column=asked, parameter_draws=0, random_state=0), table, n_components=[1, 2])
    assert trees.best_settings == {"n_components": 1}
    assert trees.best.bic(table) < select(Mixture(random_state=0), table, n_components=[1, 2]).best.bic(table)
    truth, filled = names[::5, 3], trees.best.impute(table)["d"][::5]
    assert (filled == truth).mean() > 0.75 > (truth == pd.Series(truth).mode()[0]).mean() + 0.1
    found = trees.best.predict_level(table.assign(d=None), "d", given=["a", "b", "c"])
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    drawn = mixture.draw_missing(table, 2, random_state=0)
    assert not drawn[0].isna().any().any()
    assert set(mixture.sample(50)[0]["d"]) <= set("uvwx")
    tacit.save(mixture, tmp_path / "trees.tacit")
    np.testing.assert_array_equal(
        tacit.load(tmp_path / "trees.tacit").predict_proba(table), mixture.predict_proba(table)
    )
    noisy = Mixture(1, by_column=asked, noise=True, parameter_draws=0, random_state=0).fit(table)
    assert noisy.impute(table)["d"].notna().all()
    family = ChowLiu(LEVELS)
    params = family.fit(X).params
    with pytest.raises(ValueError, match=r"'parent' is \[1, 0, -1, 2\], which is no tree"):
        family.check_params(type(params)(np.array([[1.0, 0.0, -1.0, 2.0]]), params.table), 1, 4)
