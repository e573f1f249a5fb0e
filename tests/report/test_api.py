"""Reports from Python."""

import re

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError

from tacit.datasets import load_penguins
from tacit.factor import FactorAnalysis, ProbabilisticPCA
from tacit.mixture import BayesianGaussianMixture, GaussianMixture, Mixture, StudentTMixture, select
from tacit.report import Report, write_report

X, _, COLUMNS = load_penguins()


@pytest.mark.parametrize("kind", [GaussianMixture, StudentTMixture])
def test_every_mixture_tells_its_own_groups(kind):
    model = kind(3, random_state=0).fit(X)
    report = Report(model, X, title="Penguins")
    order = np.argsort(-np.asarray(model.weights_), kind="stable")
    np.testing.assert_allclose(report.findings.memberships, model.predict_proba(X)[:, order], atol=1e-10)
    np.testing.assert_allclose(report.findings.sample.filled, model.impute(X), rtol=1e-9)
    assert report.findings.used == ["column_1", "column_2", "column_3", "column_4"]
    assert "<h1>Penguins</h1>" in report.html


def test_frames_keep_their_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=COLUMNS).assign(sex=["m", "f"] * 172, name=[f"p{i:03d}" for i in range(344)])
    used = frame.drop(columns="name")
    report = Report(Mixture(2, random_state=0).fit(used), frame, labels={"body_mass_g": "Mass"}, units={"body_mass_g": "g"},
                    group_names={1: "Large"})  # fmt: skip
    assert "<h3>Mass (g)</h3>" in report.html
    assert "Group 1: Large" in report.html
    assert report.findings.used == [*COLUMNS, "sex"]
    assert "p007" in report.html


def test_lists_with_levels_that_are_no_text():
    rows = [
        ["red", 1.0, True, 3],
        ["red", 1.2, None, 4],
        ["blue", 5.0, False, 3],
        [None, 5.1, False, 4],
        ["blue", 4.7, True, 3],
    ] * 4
    model = Mixture(2, random_state=0, by_column={3: "categorical"}).fit(rows)
    found = Report(model, rows).findings
    np.testing.assert_array_equal(found.sample.encoded, model._validate(rows, reset=False))


@pytest.mark.parametrize("kind", [ProbabilisticPCA, FactorAnalysis])
def test_axes(kind):
    report = Report(kind(1).fit(X), X)
    assert report.findings.kind == "axes"
    assert 'id="scores0"' in report.html


def test_a_selection_is_drawn():
    found = select(GaussianMixture(random_state=0), X, n_components=[1, 2, 3])
    page = Report(found.best, X, selection=found).html
    assert 'id="selection-curve-title"' in page
    assert f"Best: {found.best.n_components} groups" in page


def test_saving_writes_the_page_and_notebooks_show_it(tmp_path):
    report = write_report(GaussianMixture(2, random_state=0).fit(X), X, tmp_path / "r.html", title="<b>")
    assert (tmp_path / "r.html").read_bytes().decode() == report.html
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]
    shown = report._repr_html_()
    assert re.match(r'<iframe srcdoc="&lt;!DOCTYPE html&gt;', shown)
    assert shown.count("<") == 2
    assert "allow-same-origin" not in shown


def test_what_cannot_be_reported_on():
    whole = X[~np.isnan(X).any(axis=1)]
    with pytest.raises(TypeError, match=r"BayesianGaussianMixture cannot be reported on"):
        Report(BayesianGaussianMixture(2, random_state=0).fit(whole), X)
    with pytest.raises(TypeError, match=r"KMeans cannot be reported on; use Mixture, GaussianMixture"):
        Report(KMeans(2, n_init=1).fit(whole), X)
    with pytest.raises(NotFittedError):
        Report(GaussianMixture(2), X)
    model = GaussianMixture(2, random_state=0).fit(X)
    with pytest.raises(
        ValueError, match=r"X has 3 columns, but the model was fitted to 4; give the rows it was fitted to"
    ):
        Report(model, X[:, :3])
    with pytest.raises(ValueError, match="selection tells no n_components"):
        Report(model, X, selection=[{"bic": 1.0}])
