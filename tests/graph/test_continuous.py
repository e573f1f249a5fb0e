"""Continuous variables: against dense Gaussians and numerical integration, learning with missing cells, and bad input."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import tacit
from tacit.graph import BeliefNetwork
from tacit.graph.model import NetworkModel
from tacit.testing import check_model

pd = pytest.importorskip("pandas")

TABLES = {
    "g": [0.3, 0.7],
    "h": (["g"], [[0.5, 0.2, 0.3], [0.1, 0.6, 0.3]]),
    "x": (["g"], {"coefficients": [0.0, 4.0], "variance": [1.0, 2.0]}),
    "y": (["x", "h"], {"coefficients": [[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]], "variance": [0.2, 0.5, 1.0]}),
    "z": (["x", "y"], {"coefficients": [0.5, 1.0, -0.3], "variance": 0.4}),
}


def network():
    return BeliefNetwork.from_tables(TABLES)


def gaussian(g, h):
    """Mean and covariance of x, y, z given g and h."""
    (a, b), s = TABLES["y"][1]["coefficients"][h], TABLES["y"][1]["variance"][h]
    own = np.array([TABLES["x"][1]["coefficients"][g], a, 0.5])
    slope = np.array([[0, 0, 0], [b, 0, 0], [1.0, -0.3, 0]])
    root = np.linalg.inv(np.eye(3) - slope)
    return root @ own, root @ np.diag([TABLES["x"][1]["variance"][g], s, 0.4]) @ root.T


def cases():
    for g in range(2):
        for h in range(3):
            yield g, h, TABLES["g"][g] * TABLES["h"][1][g][h], *gaussian(g, h)


@pytest.mark.parametrize("seen", [[], [0], [1], [2], [0, 2], [1, 2], [0, 1, 2]])
@pytest.mark.parametrize("given", [{}, {"h": 2}])
def test_posteriors_equal_those_of_dense_gaussians(seen, given):
    values = np.array([1.2, 2.5, 0.7])
    evidence = given | {"xyz"[j]: values[j] for j in seen}
    weight, mean, second = np.zeros((2, 3)), np.zeros((2, 3, 3)), np.zeros((2, 3, 3))
    hidden = [j for j in range(3) if j not in seen]
    for g, h, p, m, C in cases():
        if given and h != 2:
            continue
        o = np.ix_(seen, seen)
        weight[g, h] = p * (multivariate_normal(m[seen], C[o]).pdf(values[seen]) if seen else 1.0)
        gain = C[np.ix_(hidden, seen)] @ np.linalg.inv(C[o])
        mean[g, h, hidden] = m[hidden] + gain @ (values - m)[seen]
        second[g, h, hidden] = np.diag(C)[hidden] - np.diag(gain @ C[np.ix_(seen, hidden)]) + mean[g, h, hidden] ** 2
    ours = network()
    assert np.exp(ours.log_probability(evidence)) == pytest.approx(weight.sum(), rel=1e-10)
    weight /= weight.sum()
    np.testing.assert_allclose(ours.query("g", evidence).values, weight.sum(axis=1), atol=1e-12)
    if not given:
        np.testing.assert_allclose(ours.query(["h", "g"], evidence).values, weight.T, atol=1e-12)
    for j in hidden:
        told = ours.query("xyz"[j], evidence)
        expected = (weight * mean[:, :, j]).sum()
        assert told.mean == pytest.approx(expected, abs=1e-10)
        assert told.variance == pytest.approx((weight * second[:, :, j]).sum() - expected**2, abs=1e-10)
        assert (told.weights @ told.means) == pytest.approx(told.mean)
    for j in seen:
        assert ours.query("xyz"[j], evidence).mean == values[j]


def test_the_most_probable_explanation_is_a_maximum_of_the_joint_density():
    ours, given = network(), {"z": 1.0}
    best = ours.most_probable(given)
    whole = best.states | given
    assert ours.log_probability(whole) == pytest.approx(best.log_probability, abs=1e-10)
    for other in (
        {"g": 0},
        {"g": 1},
        {"h": 0},
        {"h": 1},
        {"h": 2},
        {"x": best.states["x"] + 0.01},
        {"y": best.states["y"] - 0.01},
    ):
        assert ours.log_probability(whole | other) <= best.log_probability + 1e-12


def test_draws_given_evidence():
    ours, given = network(), {"z": 3.0, "h": 1}
    rows = pd.DataFrame(ours.sample(40_000, given, random_state=0), columns=list(TABLES)).astype(float)
    for v in "xy":
        told = ours.query(v, given)
        assert rows[v].mean() == pytest.approx(told.mean, abs=5 * np.sqrt(told.variance / 40_000))
        assert rows[v].var() == pytest.approx(told.variance, rel=0.05)
    assert rows["g"].mean() == pytest.approx(ours.query("g", given).values[1], abs=0.015)
    assert (rows["z"] == 3.0).all()


def test_an_intervention_on_a_number():
    after = network().do({"x": 2.0})
    np.testing.assert_allclose(after.query("g").values, TABLES["g"], atol=1e-12)
    assert after.query("z", {"h": 0}).mean == pytest.approx(0.5 + 2.0 - 0.3 * (1.0 + 4.0), abs=1e-6)


def test_one_gaussian_is_a_multivariate_normal():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 3)) + 1e4
    learned = BeliefNetwork([(0, 1), (0, 2), (1, 2)]).fit(X)
    expected = multivariate_normal(X.mean(axis=0), np.cov(X.T, bias=True)).logpdf(X)
    np.testing.assert_allclose(learned.score_samples(X), expected, atol=1e-6)


def test_missing_cells_equal_one_gaussian():
    from tacit.mixture import GaussianMixture

    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 3)) @ rng.normal(size=(3, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    X = X[~np.isnan(X).all(axis=1)]
    learned = BeliefNetwork([(0, 1), (0, 2), (1, 2)], tol=1e-12, max_iter=5000).fit(X)
    mixture = GaussianMixture(1, tol=1e-12, max_iter=5000, reg_covar=1e-12, parameter_draws=0).fit(X)
    assert learned.score(X) == pytest.approx(mixture.score(X), abs=1e-7)
    np.testing.assert_allclose(learned.impute(X), mixture.impute(X), atol=1e-3)


def test_em_with_both_kinds_recovers_the_truth_and_never_falls():
    truth = network()
    rows = pd.DataFrame(truth.sample(4000, random_state=0), columns=list(TABLES)).astype({v: float for v in "xyz"})
    edges = truth.nodes_.edges
    holes = rows.mask(np.random.default_rng(0).random(rows.shape) < 0.15)
    learned = BeliefNetwork(edges, tol=1e-7).fit(holes)
    assert (np.diff(learned.lower_bounds_) > -1e-9).all()
    np.testing.assert_allclose(learned.table("g").values, TABLES["g"], atol=0.03)
    np.testing.assert_allclose(learned.regression("z")["coefficients"], [0.5, 1.0, -0.3], atol=0.1)
    np.testing.assert_allclose(learned.regression("y")["coefficients"], TABLES["y"][1]["coefficients"], atol=0.25)
    np.testing.assert_allclose(learned.regression("x")["variance"], [1.0, 2.0], rtol=0.15)
    dropped = BeliefNetwork(edges).fit(holes.dropna())
    assert learned.score(rows) > dropped.score(rows)


def test_the_model_has_the_properties_of_every_model():
    truth = network()
    rows = truth._mixed.draw_rows(truth.params_, 90, np.random.default_rng(0))
    check_model(NetworkModel(truth.nodes_, 5, None, rows.mean(axis=0), rows.std(axis=0)), rows)


def test_a_hidden_class_of_numbers_is_learned():
    rng = np.random.default_rng(0)
    k = rng.random(600) < 0.3
    X = pd.DataFrame(
        {"u": np.where(k, 3.0, -1.0) + rng.normal(size=600), "v": np.where(k, -2.0, 2.0) + rng.normal(size=600)}
    )
    learned = BeliefNetwork([("k", "u"), ("k", "v")], hidden={"k": 2}, random_state=0).fit(X)
    np.testing.assert_allclose(np.sort(learned.query("k").values), [0.3, 0.7], atol=0.05)
    found = learned.predict(X, "k")
    assert max((found == k).mean(), (found != k).mean()) > 0.97


def test_saved(tmp_path):
    ours = network()
    tacit.save(ours, tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    assert again.query("x", {"z": 2.0}).mean == ours.query("x", {"z": 2.0}).mean


@pytest.mark.parametrize(
    ("make", "message"),
    [(lambda: BeliefNetwork.from_tables({"x": {"coefficients": 0.0, "variance": 1.0}, "d": (["x"], [[0.5, 0.5]])}),
      r"the discrete variable 'd' has the continuous parent 'x', with which no exact inference is possible"),
     (lambda: BeliefNetwork.from_tables({"x": {"coefficients": 0.0, "variance": 0.0}}),
      r"the regression of 'x' has the variance 0"),
     (lambda: BeliefNetwork.from_tables({"x": {"mean": 0.0}}),
      r"the regression of 'x' has \['mean'\]; it must have 'coefficients' and"),
     (lambda: BeliefNetwork.from_tables({"x": {"coefficients": [0.0, 1.0], "variance": 1.0}}),
      r"the regression of 'x' has coefficients"),
     (lambda: network().query(["x", "g"]), r"'x' is continuous; ask for it alone"),
     (lambda: network().query("g", {"x": "high"}), r"'x' is continuous, but 'high' is not a finite number"),
     (lambda: network().query("g", likelihood={"x": [1, 2]}), r"likelihood tells of 'x', which is continuous"),
     (lambda: network().most_probable({}, ["x"]), r"'x' is continuous; marginal MAP takes discrete variables"),
     (lambda: network().table("x"), r"'x' is continuous; ask for its regression"),
     (lambda: network().regression("g"), r"'g' is discrete; ask for its table"),
     (lambda: network().predict_proba(pd.DataFrame({"z": [1.0]}), "x"),
      r"target='x' is continuous; predict tells its expectation")],
)  # fmt: skip
def test_bad_input_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_too_many_discrete_parents_of_hidden_numbers_are_told():
    tables = {f"d{k}": [0.5, 0.5] for k in range(28)} | {"x0": {"coefficients": 0.0, "variance": 1.0}}
    for k in range(28):
        tables[f"x{k + 1}"] = ([f"x{k}", f"d{k}"], {"coefficients": [[0.0, 1.0], [1.0, 1.0]], "variance": [1.0, 1.0]})
    ours = BeliefNetwork.from_tables(tables)
    with pytest.raises(ValueError, match=r"continuous variables have 28 discrete parents together .* 2.68e\+08 states"):
        ours.query("x28")
    seen = {f"x{k}": 0.5 for k in range(28)}  # what is observed keeps them apart
    assert ours.query("d3", seen | {"x28": 1.5}).values[1] == pytest.approx(1 / (1 + np.exp(0.5)), abs=1e-9)
