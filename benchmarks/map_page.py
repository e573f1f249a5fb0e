"""The page of the map of speed, from the cells that `benchmarks.map` wrote: a table whose colours tell the ratios."""

__all__ = ["page"]

HEAD = """# Speed at every size

How many times as fast as its best-known rival each estimator is, from small tables to large ones, by default or from a given
start. `python -m benchmarks.map` measures on your machine, both sides in turn and with a seed each, and tells medians; `--page`
writes this page. Results are as good as the rival's or better but where † says otherwise.

Numbers are ratios of {by}, taken on {machine}. A cell below 1 is red, one from 1 to 2 pale, and the more the greener. Sizes
of which a run takes more than a few seconds are left out. Gaussian mixtures of few rows are searched for by many starts, where
the rival takes one: further rows compare with a rival that takes 20. Fits of well under a millisecond differ by what it costs to
check their rows.

"""
SHADES = ((1.0, "#d9534f", "#fff"), (2.0, "#f7f3d7", "#222"), (5.0, "#cdeac0", "#222"), (20.0, "#8fcf86", "#222"))
LAST = ("#3f9b57", "#fff")


def page(told, by="cpu_ratio"):
    """The page in Markdown.

    Parameters
    ----------
    told : dict
        What the JSON file holds: "machine" and "cells".
    by : {"cpu_ratio", "ratio"}
        What is shown.
    """
    cells = told["cells"]
    sizes = sorted({cell["rows"] for cell in cells})
    lines = {}
    for cell in cells:
        key = cell["estimator"], cell["columns"], cell["k"], cell["dtype"], cell["mode"]
        lines.setdefault(key, {})[cell["rows"]] = cell
    rows = [_row(key, found, sizes, by) for key, found in lines.items()]
    head = "".join(f"<th>{name}</th>" for name in ("estimator", "columns, K", "precision", "start"))
    head += "".join(f"<th>{size:,} rows</th>" for size in sizes)
    named = "processor time" if by == "cpu_ratio" else "wall time"
    text = HEAD.format(by=named, machine=told["machine"])
    return text + f"<table>\n<tr>{head}</tr>\n" + "\n".join(rows) + "\n</table>\n" + _summary(cells, by)


def _row(key, found, sizes, by):
    name, columns, k, dtype, mode = key
    parts = [name, f"{columns}, {k}", dtype, "default" if mode == "defaults" else mode]
    text = "".join(f"<td>{part}</td>" for part in parts)
    return f"<tr>{text}{''.join(_cell(found.get(size), by) for size in sizes)}</tr>"


def _cell(cell, by):
    if cell is None:
        return "<td></td>"
    value = cell[by]
    ground, ink = next(((ground, ink) for limit, ground, ink in SHADES if value < limit), LAST)
    shown = f"{value:.0f}" if value >= 20 else f"{value:.1f}" if value >= 2 else f"{value:.2f}"
    mark = "" if cell["as_good"] else "†"
    told = f"{1e3 * cell['ours_seconds']:.3g} ms, rival {1e3 * cell['theirs_seconds']:.3g} ms"
    return f'<td style="background:{ground};color:{ink}" title="{told}">{shown}{mark}</td>'


def _summary(cells, by):
    slow, less = [cell for cell in cells if cell[by] < 1.0], [cell for cell in cells if not cell["as_good"]]
    text = f"\n{len(cells)} cells, of which {len(slow)} are below 1"
    text += f" and {sum(cell[by] >= 2.0 for cell in cells)} at least 2."
    return text + f" † marks the {len(less)} where the median result is worse.\n"
