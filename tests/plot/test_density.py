import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tacit.mixture import GaussianMixture, Mixture
from tacit.plot import DensityDisplay

from ..zoo import gaussian_rows, with_missing


def test_density_of_a_column_is_that_of_its_margin():
    X = with_missing(gaussian_rows())
    mixture = GaussianMixture(2, random_state=0).fit(X)
    display = DensityDisplay.from_estimator(mixture, X, feature=2)
    x, y = display.lines_[-1].get_data()
    parts = [
        w * stats.norm(m[2], np.sqrt(c[2, 2])).pdf(x)
        for w, m, c in zip(mixture.weights_, mixture.means_, mixture.covariances_)
    ]
    np.testing.assert_allclose(y, sum(parts), rtol=1e-9)
    np.testing.assert_allclose(display.lines_[0].get_ydata(), parts[0], rtol=1e-9)
    assert sum(bar.get_height() * bar.get_width() for bar in display.bars_) == pytest.approx(1.0)
    assert len(display.cells) == (~np.isnan(X[:, 2])).sum()
    noisy = GaussianMixture(2, noise=True, random_state=0).fit(X)
    told = [text.get_text() for text in DensityDisplay.from_estimator(noisy, X).ax_.get_legend().get_texts()]
    assert told == ["mixture", "component 0", "component 1", "noise"]


def test_counts_have_probabilities_and_categories_no_density():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"n": rng.poisson(4, 200), "kind": rng.choice(["a", "b"], 200)})
    mixture = Mixture(2, random_state=0).fit(table)
    display = DensityDisplay.from_estimator(mixture, table, feature="n")
    x, y = display.lines_[-1].get_data()
    assert (x == np.arange(table["n"].min(), table["n"].max() + 1)).all()
    assert 0.98 < y.sum() <= 1.0
    with pytest.raises(ValueError, match="feature='kind' is a category, which has no density"):
        DensityDisplay.from_estimator(mixture, table, feature="kind")
