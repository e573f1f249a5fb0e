"""Trees as pictures: SVG without any other library. Leaves stand side by side, a split over the middle of its children."""

from __future__ import annotations

from html import escape

import numpy as np

from ..words import count
from .text import Teller

__all__ = ["drawn", "places"]

WIDTH, HEIGHT, GAP = 150, 46, 34


def places(teller: Teller, max_depth: int) -> dict[int, tuple[float, int]]:
    """Where each node that is drawn stands: its place from the left, in widths of a leaf, and its depth."""
    tree, found, leaves = teller.tree, {}, 0
    shown = np.flatnonzero(tree.depth <= max_depth)
    waiting, order = [0], []
    while waiting:
        node = waiting.pop()
        order.append(node)
        if tree.feature[node] >= 0 and tree.depth[node] < max_depth:
            waiting += [int(tree.right[node]), int(tree.left[node])]
    for node in order:
        if tree.feature[node] < 0 or tree.depth[node] == max_depth:
            found[node] = (float(leaves), int(tree.depth[node]))
            leaves += 1
    for node in reversed(order):
        if node not in found:
            middle = 0.5 * (found[int(tree.left[node])][0] + found[int(tree.right[node])][0])
            found[node] = (middle, int(tree.depth[node]))
    assert len(found) <= len(shown)
    return found


def drawn(teller: Teller, max_depth: int = 5, digits: int = 4) -> str:
    """The tree as an SVG picture."""
    at, tree = places(teller, max_depth), teller.tree
    across = (max(x for x, _ in at.values()) + 1) * (WIDTH + 12)
    down = (max(depth for _, depth in at.values()) + 1) * (HEIGHT + GAP) - GAP + 12
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across:.0f} {down:.0f}" width="{across:.0f}" '
        f'height="{down:.0f}" font-family="sans-serif" font-size="11" role="img">'
    ]

    def corner(node: int) -> tuple[float, float]:
        x, depth = at[node]
        return 6 + x * (WIDTH + 12), 6 + depth * (HEIGHT + GAP)

    for node in at:
        x, y = corner(node)
        for child, left in ((int(tree.left[node]), True), (int(tree.right[node]), False)):
            if child in at and child > 0:
                cx, cy = corner(child)
                middle = cx + WIDTH / 2
                lines.append(
                    f'<path d="M{x + WIDTH / 2:.1f} {y + HEIGHT:.1f} L{middle:.1f} {cy:.1f}" stroke="#999" fill="none"/>'
                    f'<text x="{middle:.1f}" y="{cy - 6:.1f}" text-anchor="middle" fill="#555">'
                    f"{escape(teller.condition(node, left, digits))}</text>"
                )
    for node in at:
        x, y = corner(node)
        split = tree.feature[node] >= 0
        lines.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{WIDTH}" height="{HEIGHT}" rx="5" stroke="#777" '
            f'fill="{"#fff" if split else "#e8f0f8"}"/>'
            f'<text x="{x + WIDTH / 2:.1f}" y="{y + 19:.1f}" text-anchor="middle">'
            f"{escape(teller.prediction(node, digits))}</text>"
            f'<text x="{x + WIDTH / 2:.1f}" y="{y + 35:.1f}" text-anchor="middle" fill="#555">'
            f"{count(int(tree.n_rows[node]), 'row')}{', split further' if split and tree.depth[node] == max_depth else ''}</text>"
        )
    return "\n".join([*lines, "</svg>"])
