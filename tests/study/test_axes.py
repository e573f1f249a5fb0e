"""What is said of axes can be checked."""

import numpy as np
import pandas as pd
import pytest

from tacit.cli.main import main
from tacit.datasets import penguins_path
from tacit.factor import ProbabilisticPCA
from tacit.notes import Claim
from tacit.study import study

MEASURED = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


def test_lines_of_pandas_give_the_figures_of_every_claim(tmp_path):
    table = pd.read_csv(penguins_path())[MEASURED].dropna().reset_index(drop=True)
    table.to_csv(tmp_path / "p.csv", index=False)
    assert main(["reduce", str(tmp_path / "p.csv"), "--axes", "2", "--quiet"]) == 0
    rows = pd.read_csv(tmp_path / "p.reduce.scores.csv")
    found = study(ProbabilisticPCA(2, scale=True).fit(table), table)
    claims = [words for words in found.summary if isinstance(words, Claim)]
    assert [claim.code for claim in claims] == ["explained", "axis", "axis"]
    for claim in claims:
        assert eval(claim.check.pandas, {"table": table, "rows": rows}) == pytest.approx(claim.check.figures, abs=1e-6)
    assert sum(claims[0].check.figures.values()) == pytest.approx(found.axes.explained.sum())
    assert "axes found in one half of the rows explain 8" in claims[0].check.basis


def test_the_spectrum_tells_the_same_as_the_axes_where_cells_are_missing():
    table = pd.read_csv(penguins_path())[MEASURED].mask(np.random.default_rng(0).random((344, 4)) < 0.2)
    axes = study(ProbabilisticPCA(2, scale=True).fit(table), table).axes
    np.testing.assert_allclose(axes.spectrum[:2], axes.explained)
    assert axes.spectrum.sum() == pytest.approx(1)
    assert np.all(np.diff(axes.spectrum) <= 1e-9)


def test_noise_is_what_unrelated_columns_reach(rng):
    X = rng.normal(size=(300, 6))
    axes = study(ProbabilisticPCA(1, scale=True).fit(X), X).axes
    assert np.all(axes.spectrum < 1.15 * axes.noise)  # nothing stands out
    assert axes.noise[0] == pytest.approx(np.quantile([
        np.linalg.eigvalsh(np.corrcoef(rng.normal(size=(6, 300))))[-1] / 6 for _ in range(400)], 0.95), rel=0.03)  # fmt: skip
