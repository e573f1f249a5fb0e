"""`explorer_section`: a belief network that a reader asks in the page, p(x_i | e) = Σ Π_j p(x_j | x_pa(j)) / p(e), exactly."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..archive import replacing
from .charts.belief_network import network_chart
from .charts.figure import figure
from .markup import Markup, clean, join, number, percent, table, tag
from .page import page_of
from .sections.common import Section
from .sections.summary import header

__all__ = ["explorer_section", "write_network"]


def explorer_section(
    network: Any, *, ident: str = "network", title: str = "The network", nav: str = "Network"
) -> Section:
    """A section in which evidence is set by clicking and every marginal follows.

    Parameters
    ----------
    network : BeliefNetwork
        Fitted, or made from tables or a file.
    ident : str
        Anchor of the section, and what identifiers in it begin with.
    title, nav : str
        Heading, and what the navigation calls it.
    """
    nodes = network.nodes_
    names, states = [clean(v) for v in nodes.names], [[clean(s) for s in own] for own in nodes.states]
    found = _marginals(network)
    chart = network_chart(ident, names, states, nodes.parents, found)
    body = figure(tag("div", chart, class_="network-frame"), data=_numbers(names, states, found))
    return Section(ident, title, nav, join([body]))


def _marginals(network: Any) -> list:
    """Of each variable the probabilities of its states, or mean and standard deviation."""
    found = network.marginals()
    return [
        (found[v].mean, float(np.sqrt(found[v].variance))) if gauss else found[v].values
        for v, gauss in zip(network.nodes_.names, network.nodes_.continuous)
    ]


def _numbers(names: list[str], states: list[list[str]], found: list) -> Markup:
    rows = []
    for name, own, marginal in zip(names, states, found):
        if own:
            rows += [[name, state, percent(float(p))] for state, p in zip(own, marginal)]
        else:
            rows.append([name, "", f"{number(marginal[0])} ± {number(marginal[1])}"])
    return table(["Variable", "State", "Probability"], rows, numeric=(2,), caption="Marginals without evidence")


def write_network(network: Any, path: str | os.PathLike, *, title: str | None = None) -> str:
    """Write a belief network as a page."""
    section = explorer_section(network)
    top = header("Belief network", title or "Network", [f"{len(network.nodes_.names)} variables."], [])
    with replacing(path) as place, open(place, "w", encoding="utf-8", newline="\n") as file:
        file.write(page_of(title or "Network", top, [section], "network"))
    return os.fspath(path)
