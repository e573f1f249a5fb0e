"""The page of a belief network in a real browser: it answers as Python does, by mouse and keys, without a script, on a phone."""

import numpy as np
import pandas as pd
import pytest

from tacit.graph import BeliefNetwork, find_network
from tacit.report.network import render_dependencies
from tacit.report.network_explorer import write_network

from ..graph.networks import published, random_network

pytestmark = pytest.mark.xdist_group("browser")
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


def opposing():
    """A class of which four features each say 1e-120 against one state, and four others against the other."""
    against = [[1.0, 1e-120], [0.0, 1.0]]
    tables = {"class": [0.4, 0.6]} | {f"f{k}": (["class"], against[:: 1 if k < 4 else -1]) for k in range(8)}
    return BeliefNetwork.from_tables(tables)


NETWORKS = {
    "asia": lambda: published("asia"), "alarm": lambda: published("alarm"), "deterministic": deterministic, "mixed": mixed,
    "hostile": hostile, "random": lambda: random_network(1, 8), "other": lambda: random_network(6, 9),
}  # fmt: skip


@pytest.fixture
def open_page(visit, tmp_path):
    """Open the page of a network."""

    def opened(network, size=(1100, 800), **options):
        write_network(network, tmp_path / "network.html")
        return visit(tmp_path / "network.html", size, **options)

    return opened


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
    for v, k, p, bar, of_drawing, room in page.evaluate(BARS):
        assert p == pytest.approx(expected[nodes.names[v]].values[k], abs=1e-9)
        assert bar == pytest.approx(100 * p, abs=1e-9)
        assert of_drawing is None or of_drawing == pytest.approx((room - 4) * p, abs=0.0051)


BARS = """[...document.querySelectorAll('.network-table tr[data-p]')].map(row => {
    const {variable, state, p} = row.dataset, box = document.querySelector(`.variable[data-variable="${variable}"]`);
    const bar = box.querySelector(`.state[data-state="${state}"] .bar-of`);
    return [+variable, +state, +p, +row.querySelector('.bar rect').getAttribute('width'),
        bar && +bar.getAttribute('width'), +box.querySelector('.box').getAttribute('width')];
})"""


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
    for seed in range(2):
        given = {}
        for variable, state in evidence_that_is_possible(network, seed, 3).items():
            button(page, network, variable, state).click()
            given[variable] = state
            assert_answers(page, network, given)
        first = next(iter(given))
        page.locator(drawn(network, first, given.pop(first))).click()
        assert_answers(page, network, given)
        page.locator(".network-clear").click()
    assert_answers(page, network, {})


def test_another_state_of_a_variable_takes_the_place_of_the_first(open_page):
    network = random_network(1, 5)
    page, variable = open_page(network), network.nodes_.names[-1]
    first, second = network.states_of(variable)[-2:]
    button(page, network, variable, first).click()
    button(page, network, variable, second).click()
    assert page.locator(".network-chips button").all_inner_texts() == [f"{variable} = {second} ×"]
    assert_answers(page, network, {variable: second})


def test_products_below_the_smallest_number_are_no_zeros(open_page):
    network = opposing()
    page = open_page(network)
    for k in range(8):
        button(page, network, f"f{k}", 1).click()
    told = page.locator(row(network, "class", 0)).get_attribute("data-p")
    assert float(told) == pytest.approx(0.4, abs=1e-9)
    log = float(page.locator(".network-told").get_attribute("data-log"))
    assert log == pytest.approx(-480 * np.log(10), abs=1e-9)
    assert "10 to the power of −480" in page.locator(".network-told").inner_text()


def test_impossible_evidence_is_named_and_can_be_withdrawn(open_page):
    network = deterministic()
    page = open_page(network)
    for variable, state in (("bit0", 1), ("bit1", 0), ("bit3", 1), ("sum1", 2)):
        button(page, network, variable, state).click()
    told = page.locator(".network-told").inner_text()
    assert told.startswith("This evidence is impossible: ")
    assert "bit1 = 0 and sum1 = 2 have" in told
    assert "bit3" not in told
    assert "bit0" not in told
    assert page.locator(".network-table tr[data-p]").count() == 0
    assert set(page.locator(".network-table td.n").all_inner_texts()) == {"–"}
    page.locator(".network-chips button", has_text="bit1").click()
    assert_answers(page, network, {"bit0": 1, "bit3": 1, "sum1": 2})
    assert page.locator(".network-told").inner_text().startswith("Probability of the evidence: ")


def test_a_state_of_no_probability_is_impossible_by_itself(open_page):
    network = BeliefNetwork.from_tables({"a": [0.0, 1.0], "b": (["a"], [[0.5, 0.5], [0.2, 0.8]])})
    page = open_page(network)
    button(page, network, "a", 0).click()
    assert "impossible: a = 0 has probability 0." in page.locator(".network-told").inner_text()
    page.locator(".network-clear").click()
    assert_answers(page, network, {})


def test_keys_are_enough(open_page):
    network = random_network(1, 8)
    page = open_page(network)
    page.locator("#network-search").focus()
    for _ in range(8):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('state')"):
            break
    start = page.evaluate("document.activeElement.getAttribute('aria-label')")
    seen = {start}
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown"):
        page.keyboard.press(key)
        seen.add(page.evaluate("document.activeElement.getAttribute('aria-label')"))
    assert len(seen) > 3
    page.keyboard.press("Enter")
    (told,) = page.locator(".network-chips button").all_inner_texts()
    variable, state = told.removesuffix(" ×").split(" = ")
    assert_answers(page, network, {variable: state})
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    page.keyboard.press(" ")
    assert_answers(page, network, {})
    assert page.locator('.network-graph .state[tabindex="0"]').count() == 1
    assert page.locator('.network-table button[tabindex="0"]').count() == 1
    page.locator('.network-table button[tabindex="0"]').focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    second = page.locator(".network-table button").nth(1)
    assert second.get_attribute("aria-pressed") == "true"
    page.keyboard.press("Space")
    assert second.get_attribute("aria-pressed") == "false"


def test_search_keeps_lights_up_and_goes_there(open_page):
    network = published("alarm")
    page = open_page(network, size=(700, 600))
    page.locator("#network-search").fill("vent")
    wanted = [v for v in network.nodes_.names if "VENT" in v]
    assert page.locator(".network-graph .match").count() == len(wanted) > 2
    assert page.locator(".matches button").all_inner_texts() == wanted
    assert page.locator(".network-table tbody tr").filter(visible=True).count() == sum(
        len(network.states_of(v)) for v in wanted
    )
    page.locator(".matches button").nth(2).click()
    box = page.locator(f'.variable[data-variable="{network.nodes_.at(wanted[2])}"]').bounding_box()
    frame = page.locator(".network-frame").bounding_box()
    assert frame["x"] <= box["x"]
    assert box["x"] + box["width"] <= frame["x"] + frame["width"]
    assert frame["y"] <= box["y"] <= frame["y"] + frame["height"]
    page.locator("#network-search").press("Escape")
    assert page.locator(".network-table tbody tr").filter(visible=True).count() == len(numbers(page))
    wide = page.locator(".network-graph").bounding_box()["width"]
    page.locator("[data-zoom='1.25']").click()
    assert page.locator(".network-graph").bounding_box()["width"] > wide
    page.locator("[data-zoom='0']").click()
    assert page.locator(".network-graph").bounding_box()["width"] <= frame["width"]


@pytest.mark.parametrize("size", [(360, 740), (800, 900), (1400, 900)])
@pytest.mark.parametrize("name", ["alarm", "hostile"])
def test_no_page_is_wider_than_its_window(open_page, name, size):
    network = NETWORKS[name]()
    page = open_page(network, size=size)
    for box in page.locator(".network-table button").all()[:6:2]:
        box.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_names_stay_names(open_page):
    page = open_page(hostile())
    assert page.evaluate("document.scripts.length") == 1
    assert page.locator("img").count() == 0
    assert page.locator(".network-table tbody th").first.inner_text() == HOSTILE
    page.locator(".network-table button").nth(1).click()
    assert page.locator(".network-chips button").inner_text() == f"{HOSTILE} = {HOSTILE} 1 ×"
    page.locator("#network-search").fill("<img")
    assert page.locator(".matches button").all_inner_texts() == [HOSTILE]


def test_whole_without_a_script(open_page):
    network = published("asia")
    page = open_page(network, java_script_enabled=False)
    expected = network.marginals()
    for told in page.locator(".network-table tbody tr").all():
        variable = network.nodes_.names[int(told.get_attribute("data-variable"))]
        p = expected[variable].values[int(told.get_attribute("data-state"))]
        assert float(told.get_attribute("data-p")) == pytest.approx(p, abs=1e-12)
        assert told.is_visible()
    assert page.locator(".network-graph .value").filter(visible=True).count() == 16
    assert page.locator("button").filter(visible=True).count() == 0
    assert not page.locator(".network-data").is_visible()


def test_a_network_too_large_for_a_page_is_shown_and_searched(open_page):
    network = published("munin1")
    page = open_page(network)
    assert "too large" in page.locator(".network-limits").inner_text()
    assert "network.marginals(" in page.locator(".network-limits").inner_text()
    assert page.locator(".network-graph .variable").count() == len(network.nodes_.names)
    assert page.locator(".network-table button, .network-clear").count() == 0
    page.locator("#network-search").fill("DIFFN")
    assert page.locator(".network-graph .match").count() == len([v for v in network.nodes_.names if "DIFFN" in v])


def test_dark_colours_can_be_read_and_print_is_whole(open_page):
    page = open_page(random_network(1, 6), color_scheme="dark")
    light = "s => s.match(/[\\d.]+/g).slice(0, 3).reduce((sum, part) => sum + +part, 0) / 3"
    ink, paper = (
        page.evaluate(f"({light})(getComputedStyle(document.querySelector('.network-graph {part}')).fill)")
        for part in (".label", ".box")
    )
    assert ink - paper > 150
    page.emulate_media(media="print")
    assert not page.locator("#network-search").is_visible()
    assert page.locator(".network-frame").evaluate("frame => frame.scrollWidth <= frame.clientWidth + 1")


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """The network of a table of numbers and levels, some of which look like markup, with holes, and its page."""
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b", HOSTILE], 400)
    size = (kind == "b") * 5.0 + (kind == HOSTILE) * 11.0 + rng.normal(size=400)
    frame = pd.DataFrame(
        {"kind": kind, "size": size, f"n{HOSTILE}": rng.poisson(3 + size.clip(0)), "toss": rng.choice(["x", "y"], 400)}
    )
    found = find_network(frame.mask(rng.random(frame.shape) < 0.05), check=3).study()
    path = tmp_path_factory.mktemp("pages") / "learned.html"
    path.write_text(render_dependencies(found), encoding="utf-8")
    return found, path


def test_the_page_of_a_table_answers_and_lists_its_edges(learned, visit):
    found, path = learned
    network, page = found.model, visit(path)
    assert_answers(page, network, {})
    level = network.states_of("size")[-1]
    button(page, network, "size", level).click()
    assert_answers(page, network, {"size": 100.0})
    page.locator(drawn(network, "toss", "x")).click()
    assert_answers(page, network, {"size": level, "toss": "x"})
    assert page.evaluate("document.scripts.length") == 1
    assert page.locator("img").count() == 0
    rows = page.locator("#dependencies tbody tr")
    assert rows.count() == len(found.dependencies)
    assert rows.first.locator("td").last.inner_text() == found.dependencies[0].words
    claim = page.locator("details.claim", has_text=found.dependencies[0].words).first
    claim.locator("summary").click()
    assert "rows that know both columns" in claim.inner_text().lower()
    assert page.locator("#columns tbody tr").count() == 4
    page.locator("#network-search").fill("toss")
    assert page.locator("#columns tbody tr").filter(visible=True).count() == 4


@pytest.mark.parametrize("size", [(360, 740), (1400, 900)])
def test_the_page_of_a_table_fits_its_window_with_and_without_a_script(learned, visit, size):
    found, path = learned
    for script in (True, False):
        page = visit(path, size, java_script_enabled=script)
        if script:
            assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        assert page.locator("#dependencies tbody tr").filter(visible=True).count() == len(found.dependencies)
        assert page.locator(".network-graph .variable").filter(visible=True).count() == 4
