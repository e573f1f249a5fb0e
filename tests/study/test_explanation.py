"""`explain`: evidence that adds up, whatever the families and the missing cells."""

import itertools
import math

import numpy as np
import pytest

from tacit.cli.main import main
from tacit.mixture import GaussianMixture, Mixture
from tacit.study import explain
from tacit.study import explanation as module

pandas = pytest.importorskip("pandas")


def mixed(n=200, seed=0):
    """Two groups that differ in every kind of column, with missing cells."""
    rng = np.random.default_rng(seed)
    group = rng.random(n) < 0.4
    a = rng.normal(size=n) + 2 * group
    frame = pandas.DataFrame({
        "key": [f"k{i}" for i in range(n)], "a": a, "b": 0.8 * a + rng.normal(size=n), "n": rng.poisson(2.0 + 5 * group),
        "c": np.where(rng.random(n) < 0.2 + 0.6 * group, "red", "blue"),
    })  # fmt: skip
    for name in ("a", "b", "n", "c"):
        frame.loc[rng.random(n) < 0.15, name] = None
    return frame


@pytest.fixture(scope="module")
def fitted():
    frame = mixed()
    return Mixture(2, random_state=0).fit(frame[["a", "b", "n", "c"]]), frame


def test_evidence_adds_up_and_is_that_of_the_cells_alone_where_columns_are_independent(fitted):
    model, frame = fitted
    for row in (1, 17, 60, 133):
        found = explain(model, frame, row)
        cells = frame.iloc[row - 1]
        log_p = np.log(model.predict_proba(frame[["a", "b", "n", "c"]].iloc[[row - 1]])[0])
        order = np.argsort(-model.weights_)
        gap = log_p[order[found.group - 1]] - log_p[order[found.other - 1]]
        assert found.evidence == pytest.approx(gap, abs=1e-9)
        assert sorted(found.missing) == sorted(name for name in ("a", "b", "n", "c") if pandas.isna(cells[name]))
        by_name = {cell["column"]: cell for cell in found.cells}
        for name in {"n", "c"} & set(by_name):
            alone = frame[["a", "b", "n", "c"]].iloc[[row - 1]].copy()
            for other in {*alone} - {name}:
                alone[other] = alone[other].where([False])
            log_p = np.log(model.predict_proba(alone)[0])
            gap = log_p[order[found.group - 1]] - log_p[order[found.other - 1]]
            assert by_name[name]["evidence"] == pytest.approx(gap - found.prior, abs=1e-9)
        if "c" in by_name:
            assert by_name["c"]["here"] / by_name["c"]["there"] == pytest.approx(math.exp(by_name["c"]["evidence"]))


@pytest.mark.parametrize("exact", [8, 1])
def test_dependent_columns_share_their_evidence_over_all_orders(exact, monkeypatch):
    rng = np.random.default_rng(1)
    X = (
        rng.normal(size=(300, 3)) @ np.array([[1, 0.9, 0], [0, 0.4, 0.5], [0, 0, 1]])
        + 1.5 * (np.arange(300) < 120)[:, None]
    )
    model = GaussianMixture(2, random_state=0).fit(X)
    monkeypatch.setattr(module, "EXACT", exact)
    monkeypatch.setattr(module, "ORDERS", 400)
    found = explain(model, X, 5)
    order = np.argsort(-model.weights_)
    a, b = order[found.group - 1], order[found.other - 1]

    def value(columns):
        from scipy.stats import multivariate_normal as normal

        own = list(columns)
        if not own:
            return 0.0
        logs = [normal.logpdf(X[4, own], model.means_[k][own], model.covariances_[k][np.ix_(own, own)]) for k in (a, b)]
        return logs[0] - logs[1]

    expected = np.zeros(3)
    for permutation in itertools.permutations(range(3)):
        for place, j in enumerate(permutation):
            expected[j] += (value(permutation[: place + 1]) - value(permutation[:place])) / 6
    evidence = {cell["column"]: cell["evidence"] for cell in found.cells}
    given = [evidence[f"column_{j + 1}"] for j in range(3)]
    np.testing.assert_allclose(given, expected, rtol=1e-9 if exact == 8 else 0.04)
    assert sum(given) == pytest.approx(value(range(3)), abs=1e-9)


def test_nearest_rows_are_typical_rows_of_the_group(fitted):
    model, frame = fitted
    found = explain(model, frame, 17)
    used = frame[["a", "b", "n", "c"]]
    sure = model.predict_proba(used)
    group = np.argsort(-model.weights_)[found.group - 1]
    for near in found.nearest:
        assert near["row"] != 17
        assert sure[near["row"] - 1, group] >= 0.9
    assert [near["distance"] for near in found.nearest] == sorted(near["distance"] for near in found.nearest)
    # of a complete row and numbers only, brute force
    whole = used.dropna().index[0] + 1
    found, cells = explain(model, frame, whole), used.loc[whole - 1]
    at = used.iloc[found.nearest[0]["row"] - 1]
    parts = [(at[name] - cells[name]) / used[name].std(ddof=0) for name in ("a", "b", "n")] + [
        float(at["c"] != cells["c"])
    ]
    known = [part for part in parts if not np.isnan(part)]
    assert found.nearest[0]["distance"] == pytest.approx(np.sqrt(np.mean(np.square(known))), rel=0.02)


def test_one_group_and_a_class_of_noise():
    X = np.random.default_rng(0).normal(size=(80, 2))
    found = explain(GaussianMixture(1).fit(X), X, 3)
    assert (found.group, found.other, found.probability, found.cells) == (1, 0, 1.0, [])
    assert "the only one of the model" in found.words
    X[40:] += 5
    found = explain(
        Mixture(2, random_state=0, noise=True).fit(pandas.DataFrame(X, columns=["a", "b"])),
        {"a": X[:, 0], "b": X[:, 1]},
        3,
    )
    assert found.evidence == pytest.approx(np.log(found.probability / found.other_probability), abs=1e-6)


def test_the_command(tmp_path, capsys, fitted):
    frame = fitted[1]
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert main(["fit", str(tmp_path / "t.csv"), "--groups", "2", "--quiet", "--no-report"]) == 0
    model = str(tmp_path / "t.fit.tacit")
    capsys.readouterr()
    told = []
    for row in ("17", "key=k16", "k16"):
        assert main(["explain", model, row]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1] == told[2]
    assert told[0].startswith("Row 17 (key k16)\n  Row 17 is in group ")
    assert "sizes of the groups" in told[0]
    frame.iloc[:2].to_csv(tmp_path / "new.csv", index=False)
    assert main(["explain", model, str(tmp_path / "new.csv"), "--group", "1"]) == 0
    assert "Row 2 (key k1)" in capsys.readouterr().out
    cases = [
        (["0"], "there is no row 0; "), (["201"], f"there is no row 201; {tmp_path}/t.csv has rows 1 to 200."),
        (["k999"], "has no row 'k999' in 'key'; give a row by its number, or as NAME=VALUE."),
        (["kee=1"], "has no column 'kee', which 'kee=1' names; did you mean 'key'?"),
        (["c=red"], "rows have 'c=red', the first of them"),
        (["17", "--group", "3"], "there is no group 3 to compare with; the model has groups 1 to 2."),
    ]  # fmt: skip
    for asked, message in cases:
        assert main(["explain", model, *asked]) == 2
        err = capsys.readouterr().err
        assert message in err
        assert err.count("\n") == 1
    assert main(["reduce", str(tmp_path / "t.csv"), "--axes", "1", "--quiet", "--no-report"]) == 0
    capsys.readouterr()
    assert main(["explain", str(tmp_path / "t.reduce.tacit"), "1"]) == 2
    assert (
        "t.reduce.tacit has no groups to explain: it is a ProbabilisticPCA; use a model of tacit fit."
        in capsys.readouterr().err
    )
