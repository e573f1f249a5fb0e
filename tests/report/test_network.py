"""The page of a belief network as text: what it carries, what it says where it cannot answer, and that names stay names."""

import json
import re

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from tacit.graph import BeliefNetwork
from tacit.report import Report, network_tree, write_network, write_report
from tacit.report.network_explorer import explorer_section, render_network
from tacit.report.network_tree import as_json, marginals_of, tree_of
from tacit.report.page import page_of

from ..graph.networks import joint, random_network
from .test_page import Reader

HOSTILE = "</script><img src=x onerror=alert(1)>"


def gaussian():
    """A kind, and two numbers of which the second follows the first and a sign."""
    tables = {
        "kind": [0.2, 0.3, 0.5], "sign": (["kind"], [[0.9, 0.1], [0.5, 0.5], [0.0, 1.0]]),
        "x": (["kind"], {"coefficients": [[1.0], [-2.0], [0.5]], "variance": [0.5, 1.0, 2.0]}),
        "y": (["x", "sign"], {"coefficients": [[0.3, 2.0], [1.0, -1.0]], "variance": [0.1, 0.2]}),
    }  # fmt: skip
    return BeliefNetwork.from_tables(tables, {"kind": ["a", "b", "c"], "sign": ["no", "yes"]})


def carried(page):
    return json.loads(re.search(r'<pre class="network-data" hidden>(.*?)</pre>', page).group(1).replace("&quot;", '"'))


def product(tree, case):
    """The product of all tables at the states of a case."""
    total = 1.0
    for _, axes, values in tree["tables"]:
        shape = [tree["cards"][v] for v in axes]
        total *= np.reshape(values, shape)[tuple(case[v] for v in axes)]
    return total


@pytest.mark.parametrize("seed", range(6))
def test_the_tree_is_one_and_its_tables_multiply_to_the_network(seed):
    network = random_network(seed, 7)
    tree, nodes = carried(render_network(network)), network.nodes_
    for case, p in joint(network):
        codes = [nodes.states[i].index(case[v]) for i, v in enumerate(nodes.names)]
        assert product(tree, codes) == pytest.approx(p, abs=1e-15)
    cliques, parents = tree["cliques"], tree["parents"]
    for c, (clique, up, n) in enumerate(zip(cliques, parents, tree["shared"])):
        assert up == -1 or up > c
        assert set(clique[:n]) == (set(clique) & set(cliques[up]) if up >= 0 else set())
    for v, home in enumerate(tree["homes"]):
        assert v in cliques[home]
        # The cliques that hold a variable hang together: all but one have a parent that holds it, too.
        own = [c for c, clique in enumerate(cliques) if v in clique]
        assert sum(parents[c] < 0 or v not in cliques[parents[c]] for c in own) == 1
    for home, axes, _ in tree["tables"]:
        assert set(axes) <= set(cliques[home])


def test_numbers_read_back_to_the_same_bits():
    values = [0.1 + 0.2, 1e-300, 5e-324, 1.0, 0.0, 1 / 3]
    text = as_json({"a": values, "b": [[1, [2, -1]]]})
    assert json.loads(text) == {"a": values, "b": [[1, [2, -1]]]}
    assert ",1,0," in text


def test_means_and_variances_given_discrete_states_are_those_of_the_regressions():
    network = gaussian()
    tree = tree_of(network)
    assert tree["cards"] == [3, 2, 0, 0]
    (x, _, scope_x, means_x, variances_x), (y, home, scope, means, variances) = tree["gaussian"]
    assert (x, y, scope_x, scope) == (2, 3, [0], [0, 1])
    assert set(scope) <= set(tree["cliques"][home])
    np.testing.assert_allclose(means_x, [1.0, -2.0, 0.5])
    np.testing.assert_allclose(variances_x, [0.5, 1.0, 2.0])
    a, b, s = np.array([0.3, 1.0]), np.array([2.0, -1.0]), np.array([0.1, 0.2])
    np.testing.assert_allclose(np.reshape(means, (3, 2)), a + b * np.array([[1.0], [-2.0], [0.5]]), atol=1e-12)
    np.testing.assert_allclose(np.reshape(variances, (3, 2)), s + b**2 * np.array([[0.5], [1.0], [2.0]]), atol=1e-12)
    page = render_network(network)
    assert "Evidence on them is set in Python: <code>network.marginals({…})</code>" in page


def test_what_is_shown_are_the_marginals():
    network = gaussian()
    page, expected = render_network(network), network.marginals()
    told = [float(p) for p in re.findall(r'<tr data-variable="[01]" data-state="\d"[^>]* data-p="([^"]+)"', page)]
    np.testing.assert_allclose(told, [*expected["kind"].values, *expected["sign"].values], atol=1e-12)
    mean, std = re.search(r'data-mean="([^"]+)" data-std="([^"]+)"', page).groups()
    assert float(mean) == pytest.approx(expected["x"].mean, abs=1e-12)
    assert float(std) == pytest.approx(np.sqrt(expected["x"].variance), abs=1e-12)


@pytest.mark.parametrize("bound", ["MOST_CELLS", "MOST_TABLES"])
def test_networks_beyond_the_bounds_are_shown_without_a_tree(monkeypatch, bound):
    network = random_network(1, 7)
    expected = render_network(network)
    monkeypatch.setattr(network_tree, bound, 8)
    page = render_network(network)
    assert "network-data" not in re.sub(r"<style>.*?</style>|<script>.*?</script>", "", page, flags=re.S)
    assert "This network is too large to be asked in a page" in page
    assert "<code>network.marginals({…})</code> of all variables" in page
    assert "Click a state" not in page
    assert "Click a state" in expected
    shown = re.compile(r'data-p="([^"]+)"')
    assert shown.findall(page) == shown.findall(expected)


def test_marginals_that_are_too_much_work_are_left_out(monkeypatch):
    network = random_network(1, 7)
    monkeypatch.setattr(network_tree, "MOST_ASKED", 1.0)
    assert all(each is None for each in marginals_of(network))
    page = render_network(network)
    assert "Where there are none, that too is too large." in page
    assert "data-p=" not in page.replace('data-p="1.0"', "").partition("<script>")[0]


def test_a_network_of_numbers_alone_says_where_evidence_is_set():
    network = BeliefNetwork.from_tables(
        {"x": ([], {"coefficients": [1.0], "variance": 4.0}), "y": (["x"], {"coefficients": [0.0, 3.0], "variance": 1.0})}
    )  # fmt: skip
    page = render_network(network)
    assert "All variables are continuous" in page
    assert "3 ± 6.08" in page


def test_names_stay_names():
    network = BeliefNetwork.from_tables({HOSTILE: [0.5, 0.5]}, {HOSTILE: [HOSTILE + "1", "\u202e\x00b&'\""]})
    page = render_network(network, title=HOSTILE)
    read = Reader(page)
    assert (read.tags["script"], read.tags["img"]) == (1, 0)
    assert not any(key.startswith("on") for _, found in read.attributes for key in found)
    assert len(read.ids) == len(set(read.ids))
    assert "\u202e" not in page
    page.encode("utf-8")


def test_the_section_stands_among_others_under_its_own_name():
    section = explorer_section(random_network(2, 4), ident="asked", title="Ask it", nav="Ask")
    page = page_of("t", section.body, [section], "network")
    assert '<section id="asked"' in page
    assert 'id="asked-search"' in page
    assert (section.title, section.short) == ("Ask it", "Ask")


def test_the_page_is_written_whole_and_notebooks_show_it(tmp_path):
    network = random_network(1, 5)
    place = write_network(network, tmp_path / "n.html", title="A network")
    page = (tmp_path / "n.html").read_text(encoding="utf-8")
    assert place == str(tmp_path / "n.html")
    assert "<h1>A network</h1>" in page
    assert page == render_network(network, "A network")
    report = Report(network, title="A network")
    assert report.html == page
    assert report.findings is None
    assert "<iframe" in report._repr_html_()
    assert write_report(network, None, tmp_path / "m.html", title="A network").html == page
    assert (tmp_path / "m.html").read_text(encoding="utf-8") == page


def test_what_a_page_of_a_network_does_not_take():
    network = random_network(1, 5)
    with pytest.raises(
        ValueError, match="the page of a BeliefNetwork shows no rows and has no selection, but X was given"
    ):
        Report(network, [["a"] * 5])
    with pytest.raises(ValueError, match="but labels was given"):
        Report(network, labels={"a": "b"})
    with pytest.raises(NotFittedError):
        Report(BeliefNetwork()).html  # noqa: B018
    with pytest.raises(NotFittedError):
        explorer_section(BeliefNetwork())
