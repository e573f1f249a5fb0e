"""The page of a belief network in a real browser: its answers are those of Python, by mouse and keys, without a script, on a phone."""

import shutil

import numpy as np
import pytest

from tacit.graph import BeliefNetwork
from tacit.report.network_explorer import write_network

from ..graph.networks import published, random_network

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="the browser tests need playwright: pip install playwright"
)
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no Chromium here: install chromium or google-chrome"),
    pytest.mark.xdist_group("browser"),
]
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


def hostile():
    """Two variables whose names and states would be markup if they could; the second is decided by the first."""
    tables = {HOSTILE: [0.25, 0.75], "b": ([HOSTILE], [[1.0, 0.0], [0.0, 1.0]])}
    return BeliefNetwork.from_tables(tables, {HOSTILE: [f"{HOSTILE} {k}" for k in range(2)], "b": ["no", 'y"&<es>']})


def deterministic():
    """Bits, their sums, and whether these are even: no table but the first ones has anything besides 0 and 1."""
    rng = np.random.default_rng(3)
    states, tables = {}, {}
    for k in range(4):
        p = rng.uniform(0.05, 0.95)
        tables[f"bit{k}"], states[f"bit{k}"] = [1 - p, p], [0, 1]
    last = "bit0"
    for k in range(1, 4):
        n = len(states[last])
        table = np.zeros((n, 2, n + 1))
        for a in range(n):
            for b in range(2):
                table[a, b, a + b] = 1.0
        tables[f"sum{k}"], states[f"sum{k}"] = ([last, f"bit{k}"], table), list(range(n + 1))
        last = f"sum{k}"
    tables["even"], states["even"] = ([last], [[0, 1], [1, 0], [0, 1], [1, 0], [0, 1]]), ["no", "yes"]
    return BeliefNetwork.from_tables(tables, states)


def mixed():
    """A kind, what it looks like in two numbers that follow each other, and a sign of it."""
    regression = {"coefficients": [[1.0], [-2.0], [0.5]], "variance": [0.5, 1.0, 2.0]}
    later = {"coefficients": [[0.3, 2.0], [1.0, -1.0]], "variance": [0.1, 0.2]}
    tables = {"kind": [0.2, 0.3, 0.5], "sign": (["kind"], [[0.9, 0.1], [0.5, 0.5], [0.0, 1.0]]), "x": (["kind"], regression),
              "y": (["x", "sign"], later)}  # fmt: skip
    return BeliefNetwork.from_tables(tables, {"kind": ["a", "b", "c"], "sign": ["no", "yes"]})


def many_children():
    """A class that 900 features speak of, the first half strongly for one state and the other half for the other."""
    likely = [[0.999, 0.001], [0.001, 0.999]]
    tables = {"class": [0.4, 0.6]} | {f"f{k}": (["class"], likely if k < 450 else likely[::-1]) for k in range(900)}
    return BeliefNetwork.from_tables(tables)


NETWORKS = {"asia": lambda: published("asia"), "alarm": lambda: published("alarm"), "deterministic": deterministic,
            "mixed": mixed, "hostile": hostile, "random": lambda: random_network(1, 8), "other": lambda: random_network(6, 9)}  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Open the page of a network; afterwards nothing may have gone wrong, and nothing may have been asked for."""
    troubles, contexts = [], []

    def opened(network, size=(1100, 800), **options):
        viewport = dict(zip(("width", "height"), size))
        contexts.append(browser.new_context(viewport=viewport, reduced_motion="reduce", **options))
        page = contexts[-1].new_page()
        page.set_default_timeout(5000)
        page.on("console", lambda message: message.type in ("error", "warning") and troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append("a dialog opened"))
        page.on("request", lambda request: request.url.startswith(("file:", "data:")) or troubles.append(request.url))
        write_network(network, tmp_path / "network.html")
        page.goto((tmp_path / "network.html").as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


def button(page, network, variable, state):
    """The button of a state in the table."""
    return page.locator(f"{row(network, variable, state)} button")


def row(network, variable, state):
    v = network.nodes_.at(variable)
    return f'tr[data-variable="{v}"][data-state="{network.nodes_.states[v].index(state)}"]'


def drawn(network, variable, state):
    """The mark of a state in the drawing."""
    v = network.nodes_.at(variable)
    return f'.variable[data-variable="{v}"] .state[data-state="{network.nodes_.states[v].index(state)}"]'


def numbers(page):
    return page.locator(".network-table tbody tr").evaluate_all("rows => rows.map(row => ({...row.dataset}))")


def assert_answers(page, network, given):
    """Every number of the page is that of Python, and every bar as long as its number."""
    expected, nodes = network.marginals(given), network.nodes_
    for told in numbers(page):
        v, k = int(told["variable"]), int(told["state"])
        marginal = expected[nodes.names[v]]
        if nodes.continuous[v]:
            assert float(told["mean"]) == pytest.approx(marginal.mean, abs=1e-9)
            assert float(told["std"]) == pytest.approx(np.sqrt(marginal.variance), abs=1e-9)
        else:
            assert float(told["p"]) == pytest.approx(marginal.values[k], abs=1e-9)
    log = float(page.locator(".network-told").get_attribute("data-log"))
    assert log == pytest.approx(network.log_probability(given), abs=1e-9)
    rows = page.locator(".network-table tbody tr[data-p]").evaluate_all("rows => rows.map(r => +r.dataset.p)")
    bars = page.locator(".network-table .bar rect").evaluate_all("bars => bars.map(b => +b.getAttribute('width'))")
    np.testing.assert_allclose(bars, 100 * np.array(rows), atol=1e-9)
    for box in page.locator(".network-graph .variable").element_handles()[:5]:
        v, room = int(box.get_attribute("data-variable")), float(box.query_selector(".box").get_attribute("width")) - 4
        for mark in box.query_selector_all(".state:not(.number)"):
            p = expected[nodes.names[v]].values[int(mark.get_attribute("data-state"))]
            assert float(mark.query_selector(".bar-of").get_attribute("width")) == pytest.approx(room * p, abs=0.0051)


def evidence_that_is_possible(network, seed, n):
    """Some states of a draw."""
    rng, nodes = np.random.default_rng(seed), network.nodes_
    case = network.sample(1, random_state=seed)[0]
    asked = rng.permutation(np.flatnonzero(~nodes.continuous))[:n]
    return {nodes.names[v]: next(s for s in nodes.states[v] if s == case[v]) for v in asked.tolist()}


@pytest.mark.parametrize("name", NETWORKS)
def test_every_marginal_follows_evidence_that_comes_and_goes(open_page, name):
    network = NETWORKS[name]()
    page = open_page(network)
    assert_answers(page, network, {})
    for seed in range(3):
        given = {}
        for variable, state in evidence_that_is_possible(network, seed, 4).items():
            button(page, network, variable, state).click()
            given[variable] = state
            assert_answers(page, network, given)
        for variable, state in list(given.items())[:-1]:
            page.locator(drawn(network, variable, state)).click()
            del given[variable]
            assert_answers(page, network, given)
        page.locator(".network-clear").click()
    assert_answers(page, network, {})
