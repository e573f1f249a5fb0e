"""Belief networks drawn: every variable below its parents, its states with their probabilities, what is observed in colour."""

import numpy as np
import pandas as pd
import pytest

from tacit.graph import BeliefNetwork
from tacit.plot import NetworkDisplay
from tacit.plot.network import layered

pytest.importorskip("matplotlib").use("Agg")


@pytest.fixture
def parents():
    """A random graph of 30 variables without cycles."""
    rng = np.random.default_rng(0)
    return {n: sorted(rng.choice(n, min(n, rng.integers(3)), replace=False).tolist()) for n in range(30)}


def test_variables_lie_below_their_parents_and_apart(parents):
    at = layered(parents)
    assert all(at[each][1] < at[child][1] for child, above in parents.items() for each in above)
    for level in {level for _, level in at.values()}:
        x = np.sort([place for place, own in at.values() if own == level])
        assert (np.diff(x) > 0.999).all()


def test_what_is_drawn():
    rng = np.random.default_rng(0)
    rain = rng.random(400) < 0.3
    wet = np.where(rng.random(400) < 0.1, ~rain, rain)
    rows = pd.DataFrame({"rain": np.where(rain, "yes", "no"), "wet": np.where(wet, "yes", "no")})
    network = BeliefNetwork([("rain", "wet")]).fit(rows)
    display = NetworkDisplay.from_estimator(network, given={"wet": "yes"})
    assert list(display.boxes_) == ["rain", "wet"]
    assert list(display.arrows_) == [("rain", "wet")]
    drawn = [text.get_text() for text in display.ax_.texts]
    share = float(network.query("rain", {"wet": "yes"}).values[1])
    assert f"yes  {share:.0%}" in drawn
    assert "= yes" in drawn
    many = NetworkDisplay({"a": []}, {"a": {f"s{n}": n / 45 for n in range(10)}}, most=3).plot()
    assert [text.get_text() for text in many.ax_.texts] == ["a", "s9  20%", "s8  18%", "s7  16%"]
    number = NetworkDisplay({"a": []}, {"a": {"mean": 3.14159, "std": 0.5}}).plot()
    assert [text.get_text() for text in number.ax_.texts] == ["a", "3.14 ± 0.5"]
