"""Networks over tables of every kind: columns known and unknown, classification, imputation, and scores."""

import numpy as np
import pytest

from tacit.graph import BeliefNetwork

from .networks import random_network

pd = pytest.importorskip("pandas")


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    smoker = rng.random(n) < 0.3
    cough = rng.random(n) < np.where(smoker, 0.7, 0.1)
    age = rng.normal(50 + 10 * smoker, 5)
    return pd.DataFrame(
        {"smoker": np.where(smoker, "yes", "no"), "cough": cough, "visits": rng.integers(0, 4, n) + cough, "age": age}
    )


EDGES = [("smoker", "cough"), ("cough", "visits"), ("smoker", "age")]


def made(kind, frame):
    if kind == "pandas":
        return frame
    if kind == "polars":
        return pytest.importorskip("polars").from_pandas(frame)
    if kind == "pyarrow":
        return pytest.importorskip("pyarrow").Table.from_pandas(frame, preserve_index=False)
    return frame.to_numpy(dtype=object)


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "numpy"])
def test_the_same_table_gives_the_same_network_in_any_container(kind):
    frame = people().astype({"cough": object}).mask(np.random.default_rng(1).random((400, 4)) < 0.1)
    edges = EDGES if kind != "numpy" else [(list(frame).index(a), list(frame).index(b)) for a, b in EDGES]
    one, two = BeliefNetwork(EDGES).fit(frame), BeliefNetwork(edges).fit(made(kind, frame))
    np.testing.assert_allclose(two.params_.theta, one.params_.theta, atol=1e-12)
    target = "smoker" if kind != "numpy" else 0
    np.testing.assert_array_equal(two.predict(made(kind, frame), target), one.predict(frame, "smoker"))
    filled = two.impute(made(kind, frame))
    assert type(filled) is type(made(kind, frame))
    back = filled.to_pandas() if hasattr(filled, "to_pandas") else pd.DataFrame(filled, columns=list(frame))
    expected = one.impute(frame)
    assert not expected.isna().any().any()
    assert back["smoker"].tolist() == expected["smoker"].tolist()
    np.testing.assert_allclose(back["age"].astype(float), expected["age"].astype(float))


def test_kinds_of_columns():
    network = BeliefNetwork(EDGES).fit(people())
    assert network.nodes_.states == (("no", "yes"), (False, True), (0, 1, 2, 3, 4), ())
    assert [column.kind for column in network.schema_.columns] == ["category", "category", "category", "continuous"]
    told = {"smoker": ["yes", "no", "once"]}
    forced = BeliefNetwork([], continuous=["age", "visits"], states=told).fit(people())
    assert forced.states_of("smoker") == ("yes", "no", "once")
    assert forced.states_of("visits") == ()


def test_any_column_is_predicted_from_those_that_are_there():
    frame = people(3000)
    network = BeliefNetwork(EDGES).fit(frame)
    np.testing.assert_allclose(network.predict_proba(frame[["cough"]], "smoker")[0],
                               network.query("smoker", {"cough": bool(frame["cough"][0])}).values, atol=1e-12)  # fmt: skip
    both = network.predict_proba(frame, "smoker")
    assert ((both.argmax(axis=1) == 1) == (frame["smoker"] == "yes")).mean() > 0.8
    np.testing.assert_array_equal(network.predict(frame, "smoker") == "yes", both[:, 1] > 0.5)
    assert network.predict(frame, "cough").dtype == bool
    ages = network.predict(frame[["smoker"]], "age")
    assert ages[frame["smoker"] == "yes"].mean() == pytest.approx(frame["age"][frame["smoker"] == "yes"].mean())
    default = BeliefNetwork(EDGES, target="cough").fit(frame)
    np.testing.assert_array_equal(default.predict(frame), network.predict(frame, "cough"))


def test_cells_are_filled_one_by_one_or_together():
    network = random_network(7)
    names = list(network.nodes_.names)
    rows = pd.DataFrame(network.sample(60, random_state=0), columns=names)
    holes = rows.mask(np.random.default_rng(0).random(rows.shape) < 0.4)
    single, joint = network.impute(holes), network.impute(holes, method="joint")
    for filled in (single, joint):
        assert filled.where(holes.notna()).equals(holes)
    for k in range(20):
        given = holes.iloc[k].dropna().to_dict()
        best = network.most_probable(given).states
        assert network.log_probability(joint.iloc[k].to_dict()) == pytest.approx(
            network.log_probability(given | best), abs=1e-10
        )
        for v in set(names) - set(given):
            p = network.query(v, given).values
            assert p[network.states_of(v).index(single.iloc[k][v])] == pytest.approx(p.max(), abs=1e-12)


def test_rows_of_many_patterns_are_scored_as_queries_are():
    network = random_network(8)
    rows = pd.DataFrame(network.sample(80, random_state=0), columns=list(network.nodes_.names))
    holes = rows.mask(np.random.default_rng(0).random(rows.shape) < 0.5)
    expected = [network.log_probability(row.dropna().to_dict()) for _, row in holes.iterrows()]
    np.testing.assert_allclose(network.score_samples(holes), expected, atol=1e-12)


def test_marginals_of_rows_are_those_of_queries():
    network = random_network(8)
    rows = pd.DataFrame(network.sample(30, random_state=0), columns=list(network.nodes_.names))
    holes = rows.mask(np.random.default_rng(0).random(rows.shape) < 0.5)
    found = network.predict_marginals(holes)
    for k, (_, row) in enumerate(holes.iterrows()):
        for v, told in network.marginals(row.dropna().to_dict()).items():
            np.testing.assert_allclose(found[v][k], told.values, atol=1e-12)


def test_scores_are_written_to_a_file(tmp_path):
    network = BeliefNetwork(EDGES).fit(people())
    network.score_samples(people(), out=tmp_path / "scores.parquet")
    np.testing.assert_array_equal(
        pd.read_parquet(tmp_path / "scores.parquet")["score"], network.score_samples(people())
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [(lambda n: n.predict(people(), "smokre"), r"target='smokre' is no variable of the network; did you mean 'smoker'\?"),
     (lambda n: n.score(people().assign(extra=1)), r"the table has the column 'extra', which the network has not"),
     (lambda n: n.score(people().assign(smoker="never")), r"column 'smoker' holds 'never', which was not there at fit"),
     (lambda n: n.impute(people(), method="x"), r"method='x' is unknown; use one of 'marginal', 'joint'"),
     (lambda n: n.fit(people().iloc[:1]), r"Found array with 1 sample"),
     (lambda n: BeliefNetwork([], unknown="x").fit(people()), r"unknown='x' is unknown; use one of 'error', 'missing'"),
     (lambda n: BeliefNetwork([], states=[1]).fit(people()), r"states=\[1\] is not a dictionary of columns and their states")],
)  # fmt: skip
def test_bad_input_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make(BeliefNetwork(EDGES).fit(people()))


def test_rows_in_files_are_refused_with_a_remedy(tmp_path):
    people().to_parquet(tmp_path / "rows.parquet")
    for ask in (BeliefNetwork(EDGES).fit, BeliefNetwork(EDGES).fit(people()).score_samples):
        with pytest.raises(ValueError, match="BeliefNetwork takes a table in memory; read the rows first"):
            ask(tmp_path / "rows.parquet")


def test_counting_by_column_is_counting_by_row():
    frame = people().drop(columns="age")
    weight = np.random.default_rng(0).random(len(frame))
    one = BeliefNetwork(EDGES[:2], prior=0.5).fit(frame, sample_weight=weight)
    two = BeliefNetwork(EDGES[:2], prior=0.5)
    two._check_settings()
    source = two._in_memory(two._validate(frame, reset=True), weight)
    assert two._closed_form(source)
    np.testing.assert_allclose(one.params_.theta, two.params_.theta, rtol=1e-12)
    assert one.lower_bound_ == pytest.approx(two.lower_bound_, rel=1e-12)


@pytest.mark.parametrize("method", ["hill-climbing", "chow-liu", "pc"])
def test_structures_are_found(method):
    pytest.importorskip("tacit.graph.structure", reason="structure learning is not in this version")
    frame = people(2000).drop(columns="age")
    network = BeliefNetwork(method, required=[("smoker", "cough")] if method == "hill-climbing" else ()).fit(frame)
    assert {frozenset(edge) for edge in network.nodes_.edges} == {frozenset(edge) for edge in EDGES[:2]}


def test_unknown_states_may_be_missing():
    network = BeliefNetwork(EDGES, unknown="missing").fit(people())
    odd, blank = people().assign(smoker="never"), people().assign(smoker=None)
    np.testing.assert_allclose(network.score_samples(odd), network.score_samples(blank))
