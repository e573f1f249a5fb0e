"""PowerDisplay: both errors are shaded, of bars, curves and steps."""

import numpy as np
import pytest

from tacit.assess import binomial_test, ks_test, permutation_test, t_test


def test_bars_are_dark_where_they_are_errors():
    found = binomial_test(15, 40, alternative="less")
    display = found.plot(0.3)
    dark = sum(bar.get_height() for bar in display.null_ if bar.get_alpha() > 0.5)
    assert dark == pytest.approx(found.type_i_error, abs=1e-3)
    missed = sum(bar.get_height() for bar in display.alternative_ if bar.get_alpha() > 0.5)
    assert missed == pytest.approx(found.type_ii_error(0.3), abs=2e-3)
    assert (display.alpha_, display.beta_) == pytest.approx((found.type_i_error, found.type_ii_error(0.3)))
    assert display.ax_.get_xlabel() == "count"


@pytest.mark.parametrize("kind", ["t", "ks", "permutation"])
def test_what_is_shaded_has_the_area_of_the_errors(kind, rng):
    x, y = rng.normal(size=14), rng.normal(0.5, 1, 17)
    found, effect = {
        "t": (t_test(x, y), 0.9),
        "ks": (ks_test(x, y), 0.5),
        "permutation": (permutation_test(x, y, n_resamples=999), 1.0),
    }[kind]
    display = found.plot(effect)
    for part, error in zip(display.shaded_, (found.type_i_error, found.type_ii_error(effect))):
        if kind == "t":
            corners = [path.vertices for path in part.get_paths()]
            area = sum(abs(np.sum(np.diff(v[:, 0]) * (v[1:, 1] + v[:-1, 1]) / 2)) for v in corners)
        else:
            heights, edges, _ = part.get_data()
            area = np.sum(heights * np.diff(edges))
        assert area == pytest.approx(error, abs=0.02)
    assert f"found: {found.statistic:.4g}"[:10] in display.ax_.get_legend().get_texts()[-1].get_text()
