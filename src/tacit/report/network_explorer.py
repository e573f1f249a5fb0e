"""`explorer_section`: a belief network that a reader asks in the page, p(x_i | e) = Σ Π_j p(x_j | x_pa(j)) / p(e), exactly."""

from __future__ import annotations

import os
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..archive import replacing
from .charts.belief_network import network_chart
from .charts.figure import figure, strip
from .markup import Markup, amount, clean, framed, number, percent, plural, tag
from .network_tree import MOST_CELLS, MOST_TABLES, as_json, marginals_of, tree_of
from .page import MADE, page_of
from .sections.common import Section
from .sections.summary import header

__all__ = ["explorer_section", "render_network", "write_network"]


def explorer_section(
    network: Any, *, ident: str = "network", title: str = "The network", nav: str = "Network"
) -> Section:
    """A section in which evidence is set by clicking and every marginal follows; its page is made with ``more="network"``.

    Parameters
    ----------
    network : BeliefNetwork
        Fitted, or made from tables or a file.
    ident : str
        Anchor of the section, and what identifiers in it begin with.
    title, nav : str
        Heading, and what the navigation calls it.
    """
    check_is_fitted(network)
    nodes = network.nodes_
    names, states = [clean(v) for v in nodes.names], [[clean(s) for s in own] for own in nodes.states]
    found = marginals_of(network)
    tree = None if any(each is None for each in found) else tree_of(network)
    drawn = tag("div", network_chart(ident, names, states, nodes.parents, found), class_="network-frame", tabindex="0",
                role="region", aria_label="Drawing of the network")  # fmt: skip
    body = tag(
        "div", _finder(ident), _evidence() if tree else None, _limits(network, tree, found), figure(drawn),
        tag("h3", "Every variable"), _table(names, states, found),
        tag("pre", as_json(tree), class_="network-data", hidden=True) if tree else None, class_="network-explorer",
    )  # fmt: skip
    lead = "Probabilities of the states of every variable; parents are above their children."
    if tree:
        lead += " Click a state, in the drawing or in the table, to set it as evidence, and once more to withdraw it."
    return Section(ident, title, nav, body, lead)


def render_network(network: Any, title: str | None = None) -> str:
    """The page of a belief network as HTML; the same network gives the same text.

    Parameters
    ----------
    network : BeliefNetwork
        Fitted, or made from tables or a file.
    title : str, optional
        Heading of the page; default "Belief network".
    """
    section, nodes = explorer_section(network), network.nodes_
    figures: list[tuple[str, str, str | None]] = [
        ("Variables", amount(len(nodes.names)), None),
        ("Edges", amount(len(nodes.edges)), None),
        ("States", amount(sum(map(len, nodes.states))), None),
        ("Most parents", amount(max(map(len, nodes.parents))), None),
    ]
    told = f"{plural(len(nodes.names), 'variable')} and {plural(len(nodes.edges), 'edge')}."
    heading = title or "Belief network"
    return page_of(heading, header("Belief network", heading, [told], figures), [section], "network", MADE)


def write_network(network: Any, path: str | os.PathLike, title: str | None = None) -> str:
    """Write a page on which evidence is set by clicking and every marginal follows, without a network; returns its path.

    Parameters
    ----------
    network : BeliefNetwork
        Fitted, or made from tables or a file.
    path : str or path-like
        The HTML file, which appears whole or not at all.
    title : str, optional
        Heading of the page; default "Belief network".
    """
    page = render_network(network, title)
    with replacing(path) as place, open(place, "w", encoding="utf-8", newline="\n") as file:
        file.write(page)
    return os.fspath(path)


def _finder(ident: str) -> Markup:
    box = tag(
        "input",
        type="search",
        id=f"{ident}-search",
        placeholder="name of a variable",
        autocomplete="off",
        spellcheck="false",
    )
    zoom = [
        tag("button", sign, type="button", data_zoom=factor, aria_label=words)
        for sign, factor, words in (("−", "0.8", "Smaller"), ("+", "1.25", "Larger"), ("Whole", "0", "Whole width"))
    ]
    return tag(
        "div", tag("label", "Search ", for_=f"{ident}-search"), box, tag("output", "", for_=f"{ident}-search"),
        tag("span", zoom, class_="zoom", role="group", aria_label="Size of the drawing"), tag("div", class_="matches"),
        class_="network-finder control", role="search",
    )  # fmt: skip


def _evidence() -> Markup:
    return tag(
        "div", tag("p", class_="network-told", role="status", aria_live="polite"),
        tag("div", class_="network-chips", role="group", aria_label="Evidence"),
        tag("button", "Clear all", type="button", class_="network-clear", disabled=True), class_="network-evidence control",
    )  # fmt: skip


def _limits(network: Any, tree: dict | None, found: list) -> Markup | None:
    """What the page cannot answer, and what can."""
    continuous = network.nodes_.continuous
    call = tag("code", "network.marginals({…})")
    if tree:
        if not continuous.any():
            return None
        said = [
            "Of continuous variables the page tells mean ± standard deviation. Evidence on them is set in Python: ",
            call,
            ".",
        ]
    elif continuous.all():
        said = [
            "All variables are continuous: the page tells mean ± standard deviation, and evidence is set in Python: ",
            call,
            ".",
        ]
    else:
        lost = " Where there are none, that too is too large." if any(each is None for each in found) else ""
        said = [
            f"This network is too large to be asked in a page, which carries at most {amount(MOST_TABLES)} numbers and works "
            f"with tables of at most {amount(MOST_CELLS)}. Shown are probabilities without evidence.{lost} "
            "With evidence, in Python: ", call, " of all variables, ", tag("code", "network.query(variable, {…})"), " of one.",
        ]  # fmt: skip
    return tag("p", said, class_="note network-limits")


def _table(names: list[str], states: list[list[str]], found: list) -> Markup:
    sides = {"Probability": "n"}
    heads = [tag("th", name, scope="col", class_=sides.get(name)) for name in ("Variable", "State", "Probability")]
    heads.append(tag("th", tag("span", "Bar", class_="hidden-text"), scope="col"))
    rows = [
        _row(v, k, name, own, found[v])
        for v, (name, own) in enumerate(zip(names, states))
        for k in range(len(own) or 1)
    ]
    return framed(
        heads, rows, "Probabilities of the states of every variable", "network-table", scroll="scroll network-list"
    )


def _row(v: int, k: int, name: str, states: list[str], marginal: Any) -> Markup:
    """A state, or a continuous variable; numbers stand in full beside what is read."""
    head = tag("th", name, scope="row", rowspan=len(states) if len(states) > 1 else None) if k == 0 else None
    bar, full = None, {}
    if marginal is None:
        told = "–"
    elif states:
        share = float(marginal[k])
        told, bar, full = percent(share), strip(share), {"data_p": repr(share)}
    else:
        told = f"{number(marginal[0], 4)} ± {number(marginal[1], 3)}"
        full = {"data_mean": repr(float(marginal[0])), "data_std": repr(float(marginal[1]))}
    return tag(
        "tr", head, tag("td", states[k] if states else "", class_="state-name"), tag("td", told, class_="n"), tag("td", bar),
        data_variable=v, data_state=k, class_="first" if k == 0 else None, **full,
    )  # fmt: skip
