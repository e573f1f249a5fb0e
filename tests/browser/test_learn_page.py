"""The page of a predictor in a real browser: offline, without a script, on a phone, in print, with hostile texts."""

import numpy as np
import pandas as pd
import pytest

from tacit.learning import choose_predictor
from tacit.report.learn import render_learned

pytestmark = pytest.mark.xdist_group("browser")
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    rng = np.random.default_rng(0)
    x, kind = rng.normal(size=90), rng.choice(["a", "b", HOSTILE], 90)
    y = x + 2.0 * (kind == HOSTILE) + rng.normal(0, 0.3, 90)
    table = pd.DataFrame({f"x{HOSTILE}": x, "kind": kind, "y": y})
    folder = tmp_path_factory.mktemp("pages")
    for target, models in (("y", ["linear", "support_vectors"]), ("kind", ["discriminant", "logistic"])):
        found = choose_predictor(table, target, models=models).study()
        (folder / f"{target}.html").write_text(render_learned(found), encoding="utf-8")
    return folder


@pytest.mark.parametrize("target", ["y", "kind"])
def test_all_is_there(visit, pages, target):
    page = visit(pages / f"{target}.html")
    for section in ("accuracy", "models", "weights", "effects", "missed", "model"):
        assert page.locator(f"#{section} h2").is_visible()
    assert page.locator("#effects figure .chart").count() == 2
    assert page.locator("#weights tbody tr").count() == 2
    assert HOSTILE[:20] in page.locator("body").inner_text()
    assert page.evaluate("document.scripts.length") == 1
    if target == "y":
        assert page.locator("#accuracy circle").count() == 90


@pytest.mark.parametrize("target", ["y", "kind"])
def test_narrow_dark_and_without_a_script(visit, pages, target):
    page = visit(pages / f"{target}.html", (360, 740), java_script_enabled=False, color_scheme="dark")
    assert page.locator("#models table").is_visible()
    page = visit(pages / f"{target}.html", (360, 740))
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
