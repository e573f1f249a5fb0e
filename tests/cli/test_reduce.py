"""`tacit reduce`: axes and factors, in numbers and in words, and how it refuses."""

import csv
import json
import shutil

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.datasets import load_penguins, penguins_path
from tacit.factor import FactorAnalysis, ProbabilisticPCA
from tacit.factor.analysis.correlation import variance_spectrum as spectrum_of
from tacit.persistence import notes
from tacit.source import ArraySource
from tacit.study.axes import study_axes, words_of
from tacit.tables import open_table


@pytest.fixture
def run(tmp_path, capsys):
    """Run `tacit reduce` on a file of the temporary folder: (exit code, output, errors)."""

    def run(name, content=None, *arguments):
        if content is not None:
            (tmp_path / name).write_text(content, encoding="utf-8")
        code = main(["reduce", str(tmp_path / name), "--no-report", *arguments])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def penguins(tmp_path):
    return shutil.copy(penguins_path(), tmp_path / "penguins.csv").name


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def two_factors(n=200, holes=True):
    """Six columns behind which two factors are, with an id and a category, as text."""
    rng = np.random.default_rng(0)
    loading = np.kron(np.eye(2), [[1.0, 0.9, -0.8]])
    X = 50 + 10 * (rng.normal(size=(n, 2)) @ loading + 0.4 * rng.normal(size=(n, 6)))
    lines = ["code,kind,verbs,nouns,errors,sums,shapes,slips"]
    for i, row in enumerate(X):
        texts = [f"{x:.3f}" for x in row]
        if holes and i % 9 == 0:
            texts[i % 6] = ""
        lines.append(",".join([f"s{i}", "ab"[i % 2], *texts]))
    return "\n".join(lines) + "\n"


# What it finds


def test_principal_axes_are_those_of_the_model(run, penguins, tmp_path):
    code, out, err = run(penguins, None, "--axes", "2")
    assert (code, err) == (0, "")
    X, _, columns = load_penguins()
    model = ProbabilisticPCA(2, scale=True, random_state=0).fit(X)
    scores, covariance = model.transform(X, return_cov=True)
    read = rows_of(tmp_path / "penguins.reduce.scores.csv")
    assert list(read[0]) == ["row", "axis_1", "axis_2", "se_axis_1", "se_axis_2"]
    np.testing.assert_allclose([[float(row["axis_1"]), float(row["axis_2"])] for row in read], scores, atol=1e-8)
    errors = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    np.testing.assert_allclose([float(row["se_axis_2"]) for row in read], errors[:, 1], rtol=1e-8)
    assert float(read[3]["se_axis_1"]) == pytest.approx(1.0)  # a row without any cell
    loadings = rows_of(tmp_path / "penguins.reduce.loadings.csv")
    assert [row["column"] for row in loadings] == columns
    correlation = [np.corrcoef(x[seen := ~np.isnan(x)], scores[seen, 0])[0, 1] for x in X.T]
    np.testing.assert_allclose([float(row["axis_1"]) for row in loadings], correlation, atol=0.12)
    assert "Axis 1 (69 %): flipper_length_mm, body_mass_g and bill_length_mm against bill_depth_mm." in out
    assert "species, island, sex, year (axes take numbers and levels in order only)" in out


def test_a_questionnaire_is_reduced_by_normal_scores(run, tmp_path):
    """Answers of five levels cut from one factor: its loadings are found, and a saved model places new answers alike."""
    rng = np.random.default_rng(0)
    strength = np.array([0.8, 0.75, 0.7, 0.65, -0.7, 0.6])
    latent = rng.normal(size=(1500, 1)) * strength + rng.normal(size=(1500, 6)) * np.sqrt(1 - strength**2)
    answers = 1 + (latent[:, :, None] > [-1.4, -0.3, 0.6, 1.6]).sum(axis=2)
    lines = [",".join(map(str, row)) for row in answers]
    code, _, err = run("q.csv", "A1,A2,A3,A4,A5,A6\n" + "\n".join(lines) + "\n", "--method", "factors", "--axes", "1")
    assert (code, err) == (0, "")
    found = np.array([float(row["factor_1"]) for row in rows_of(tmp_path / "q.reduce.loadings.csv")])
    np.testing.assert_allclose(found * np.sign(found[0]), strength, atol=0.09)
    assert abs(found).mean() > 0.9 * abs(strength).mean()
    scores = rows_of(tmp_path / "q.reduce.scores.csv")
    told = notes(tmp_path / "q.reduce.tacit")["table"]["columns"][0]
    assert (told["role"], [level for level, _ in told["scores"]]) == ("ordinal", list("12345"))
    share = np.bincount(answers[:, 0] - 1) / 1500
    assert np.average([score for _, score in told["scores"]], weights=share) == pytest.approx(0.0, abs=1e-12)
    table = open_table(dict(zip(["A1", "A2", "A3", "A4", "A5", "A6"], answers[:9].T)), like=notes(tmp_path / "q.reduce.tacit")
                       ["table"]["columns"])  # fmt: skip
    model = tacit.load(tmp_path / "q.reduce.tacit")
    np.testing.assert_allclose(
        model.transform(table.cells)[:, 0], [float(row["factor_1"]) for row in scores[:9]], atol=1e-8
    )


def test_factors_in_words_and_json(run, tmp_path):
    code, out, err = run("marks.csv", two_factors(), "--method", "factors", "--rotation", "varimax", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert len(told["axes"]) == 2
    assert told["method"] == "FactorAnalysis"
    words = sorted(axis["words"] for axis in told["axes"])
    assert words[0].count(" against ") == 1
    assert set(words[0].replace(" and ", " against ").split(" against ")) in (
        {"verbs", "nouns", "errors"},
        {"sums", "shapes", "slips"},
    )
    assert sum(told["spectrum"]) == pytest.approx(1.0)
    assert len(told["spectrum"]) == 6
    assert 0.7 < sum(axis["explained"] for axis in told["axes"]) < 0.95
    scores = rows_of(tmp_path / "marks.reduce.scores.csv")
    assert scores[0]["code"] == "s0"
    assert list(scores[0])[1:4] == ["row", "factor_1", "factor_2"]
    explained = [float(row["explained"]) for row in rows_of(tmp_path / "marks.reduce.loadings.csv")]
    np.testing.assert_allclose(explained, 1 - tacit.load(tmp_path / "marks.reduce.tacit").uniqueness_, rtol=1e-8)


@pytest.mark.parametrize("arguments", [("--axes", "2"), ("--method", "factors"), ("--axes", "1")])
@pytest.mark.parametrize("holes", [False, True])
def test_shares_of_columns_add_up_to_the_headline(run, tmp_path, arguments, holes):
    code, out, _ = run("marks.csv", two_factors(holes=holes), "--json", *arguments)
    assert code == 0
    told = json.loads(out)
    loadings = np.array(told["loadings"])
    explained = [float(row["explained"]) for row in rows_of(tmp_path / "marks.reduce.loadings.csv")]
    headline = sum(axis["explained"] for axis in told["axes"])
    assert np.mean(explained) == pytest.approx(headline, rel=1e-6)
    np.testing.assert_allclose((loadings**2).sum(axis=1), explained, rtol=1e-6)
    assert told["limits"][0].startswith("A loading is the correlation of a column with the ")


def test_loadings_of_axes_are_correlations(run, tmp_path):
    assert run("marks.csv", two_factors(holes=False), "--axes", "3")[0] == 0
    table = rows_of(tmp_path / "marks.csv")
    columns = ["verbs", "nouns", "errors", "sums", "shapes", "slips"]
    X = np.array([[float(row[name]) for name in columns] for row in table])
    scores = np.array(
        [[float(row[f"axis_{k}"]) for k in (1, 2, 3)] for row in rows_of(tmp_path / "marks.reduce.scores.csv")]
    )
    loadings = [[float(row[f"axis_{k}"]) for k in (1, 2, 3)] for row in rows_of(tmp_path / "marks.reduce.loadings.csv")]
    np.testing.assert_allclose(loadings, np.corrcoef(X.T, scores.T)[:6, 6:], atol=1e-6)


def test_the_model_remembers_the_table(run, tmp_path):
    run("marks.csv", two_factors(), "--axes", "bic")
    told = notes(tmp_path / "marks.reduce.tacit")
    assert told["command"] == "reduce"
    assert told["settings"] == {"method": "pca", "axes": "bic", "rotation": None}
    assert [column["name"] for column in told["table"]["columns"]] == [
        "verbs",
        "nouns",
        "errors",
        "sums",
        "shapes",
        "slips",
    ]


def test_same_seed_same_bytes(run, tmp_path):
    found = []
    for _ in range(2):
        assert run("marks.csv", two_factors(), "--force")[0] == 0
        found.append({path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix in (".csv", ".tacit")})
    assert found[0] == found[1]


def test_findings(tmp_path):
    path = tmp_path / "marks.csv"
    path.write_text(two_factors())
    table = open_table(str(path), ignore=["kind"])
    model = FactorAnalysis(2, scale=True, rotation="promax").fit(table.source())
    found = study_axes(model, table)
    assert found.kind == "axes"
    assert found.axes.loadings.shape == (6, 2)
    assert found.axes.scores.shape == found.axes.std.shape == (200, 2)
    assert (found.axes.std < 1).all()
    assert found.sample.rows[0] == 1
    assert found.summary[0].startswith("2 factors explain")
    assert "Seed" in found.card
    assert len(found.limits) >= 2


def test_words():
    loadings = np.array([[0.9, 0.1], [-0.7, 0.05], [0.2, -0.3]])
    assert words_of(loadings, ["a", "b", "c"]) == ["a against b", "c"]


def test_spectrum_with_holes_is_near_that_without():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2)) @ rng.normal(size=(2, 5)) + 0.5 * rng.normal(size=(2000, 5))
    whole = spectrum_of(ArraySource(X))
    np.testing.assert_allclose(whole, np.linalg.eigvalsh(np.corrcoef(X.T))[::-1] / 5, rtol=1e-8)
    incomplete = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    np.testing.assert_allclose(spectrum_of(ArraySource(incomplete)), whole, atol=0.03)


def test_noise_says_that_nothing_stands_out(run):
    rng = np.random.default_rng(0)
    text = "a,b,c\n" + "".join(",".join(f"{x:.4f}" for x in row) + "\n" for row in rng.normal(size=(60, 3)))
    code, out, _ = run("noise.csv", text)
    assert code == 0
    assert "though none stands out" in out


# What it refuses


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("a,b\n1.5,x\n2.5,y\n3.7,x\n", (), "axes need at least 2 columns of numbers, and the table has 1"),
        ("a,b\n1.5,4\n2.5,4\n3.7,4\n", (), "axes need at least 2 columns of numbers, and the table has 1"),
        (two_factors(), ("--axes", "6"), "--axes 6 is too many for 6 columns of numbers; ask for at most 5"),
        (two_factors(), ("--rotation", "varimax"), "--rotation varimax turns factors; add --method factors"),
        ("a,b\n1.5,2.5\n2.5,1.25\n", (), "the table has 2 row(s); at least 3 are needed"),
    ],
)
def test_bad_input(run, tmp_path, content, arguments, message):
    code, out, err = run("t.csv", content, *arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_bad_options(run, capsys):
    with pytest.raises(SystemExit):
        run("t.csv", two_factors(), "--axes", "many")
    assert "'many' is neither a number from 1 nor one of auto, parallel, bic" in capsys.readouterr().err


def test_the_page(run, tmp_path, capsys):
    (tmp_path / "m.csv").write_text(two_factors())
    assert main(["reduce", str(tmp_path / "m.csv")]) == 0
    assert "<html" in (tmp_path / "m.reduce.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "arguments", [["--axes", "parallel"], ["--axes", "bic"], ["--method", "factors", "--axes", "bic"]]
)
def test_a_budget_ends_the_fit_with_the_best_so_far(run, arguments, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3)) @ rng.normal(size=(3, 20)) + rng.normal(size=(150, 20))
    X[rng.random(X.shape) < 0.4] = np.nan
    lines = [",".join("" if np.isnan(v) else f"{v:.3f}" for v in row) for row in X]
    text = ",".join(f"c{j}" for j in range(20)) + "\n" + "\n".join(lines) + "\n"
    code, out, err = run("t.csv", text, *arguments, "--budget", "0.001s", "--quiet", "--json")  # a step takes longer
    assert (code, err) == (0, "")
    told = json.loads(out)
    found = next(claim for claim in told["claims"] if claim["code"] == "budget")
    assert found["text"].startswith("The fit was ended at its budget of 0.001 s before it had settled:")
    assert found["figures"]["steps"] <= 2
    assert tacit.load(tmp_path / "t.reduce.tacit").n_iter_ == found["figures"]["steps"]


def test_how_often_claims_are_checked(run):
    _, out, _ = run("t.csv", two_factors(holes=False), "--check", "2", "--quiet", "--json")
    basis = json.loads(out)["claims"][0]["basis"]
    assert "axes found in one half of the rows explain" in basis
