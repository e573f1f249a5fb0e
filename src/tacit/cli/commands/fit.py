"""`tacit fit FILE.csv`: find groups in a table with holes and fill the holes."""

import argparse
import os
import warnings

import numpy as np

from ..outcome import Outcome
from ._old_table import read_table, write_csv

__all__ = ["add_arguments", "run"]

COLLAPSED = " (a group collapsed onto few rows)"
DEFAULT = ("full", "tied", "diag", "spherical")
PHRASES = {
    "full": "each with its own covariance", "tied": "sharing one covariance", "diag": "with independent columns",
    "spherical": "round",
}  # fmt: skip
WORDS = (
    {"E": "equal volume", "V": "varying volume"},
    {"E": "equal shape", "V": "varying shape", "I": "round"},
    {"E": "equal orientation", "V": "varying orientation", "I": "independent columns"},
)


HELP = "find groups in a CSV table with missing cells, and fill the cells"
EXAMPLE = "tacit fit penguins.csv --groups 1-6"


def add_arguments(parser):
    """Declare the options."""
    parser.add_argument(
        "file", help="CSV table whose first line names the columns; empty cells, NA and NaN are missing"
    )
    parser.add_argument(
        "--groups", type=_whole_range, default=range(1, 10), metavar="A-B", help="numbers of groups (1-9)"
    )
    parser.add_argument(
        "--covariance",
        type=_structures,
        default=DEFAULT,
        metavar="A,B",
        help="full,tied,diag,spherical, or structures of three letters such as VEV; all stands for every one",
    )
    parser.add_argument("--columns", type=lambda text: text.split(","), metavar="A,B", help="numeric columns to use")
    parser.add_argument("--seed", type=int, default=0, help="random seed (0)")
    parser.add_argument("--out", metavar="FOLDER", help="where to write the results (beside the table)")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def _whole_range(text):
    first, _, last = text.partition("-")
    try:
        values = range(int(first), int(last or first) + 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a range such as 1-9") from None
    if not values or values[0] < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a range of numbers from 1")
    return values


def _structures(text):
    from ...families import GAUSSIANS, STRUCTURES

    names = list(STRUCTURES) if text == "all" else text.split(",")
    for name in names:
        if name not in GAUSSIANS:
            raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(GAUSSIANS)}")
    return names


def run(arguments):
    """Fit, report, write."""
    table = read_table(arguments.file, arguments.columns)
    X = np.column_stack(list(table.numbers.values()))
    folder = arguments.out or os.path.dirname(os.path.abspath(arguments.file))
    if not os.path.isdir(folder):
        raise ValueError(f"the folder {folder} does not exist; create it or choose another with --out.")
    ranking = _select(X, arguments)
    best = ranking[0][2]
    groups, order = _ordered_groups(best, X)
    stem = os.path.join(folder, os.path.splitext(os.path.basename(arguments.file))[0])
    text = _summary(table, X, ranking, groups, order)
    return Outcome(text + _write(stem, table, X, best, groups, order))


def _select(X, arguments):
    """Fitted mixtures as (rank, BIC, model, note), best first; collapsed fits come after sound ones, failed ones last."""
    from ...engine import ProgressBar
    from ...mixture import GaussianMixture

    if len(X) < 2:
        raise ValueError("the table has 1 row; at least 2 are needed.")
    jobs = [(kind, k) for k in arguments.groups if k <= len(X) for kind in arguments.covariance]
    if not jobs:
        raise ValueError(f"--groups starts at {arguments.groups[0]}, but the table has {len(X)} rows.")
    bar = ProgressBar(width=16)
    ranking: list[tuple] = []
    for number, (kind, k) in enumerate(jobs, 1):
        bar.label = f"[{number}/{len(jobs)}] {k} {kind}"
        model = GaussianMixture(
            k, covariance_type=kind, tol=1e-6, max_iter=1000, random_state=arguments.seed,
            callback=None if arguments.quiet else bar,
        )  # fmt: skip
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X)
        except ValueError as error:
            ranking.append((2, np.inf, None, f"{k} {kind}: {error}"))
            continue
        if model.fit_.interrupted:
            bar.close()
            raise KeyboardInterrupt
        collapsed = _collapsed(model, X)
        note = f"{k} {kind}" + (COLLAPSED if collapsed else "")
        ranking.append((int(collapsed), model.bic(X), model, note))
    bar.close()
    ranking.sort(key=lambda row: row[:2])
    if ranking[0][2] is None:
        raise ValueError(f"no model could be fitted; {ranking[0][3]}")
    return ranking


def _collapsed(model, X):
    """Whether a component shrank to its floor: its likelihood is then an artefact, and so is its BIC."""
    scale = np.sqrt(np.nanvar(X, axis=0))
    dense = model._params().components.dense / (scale[:, None] * scale)
    return bool(np.linalg.eigvalsh(dense).min() < 10 * model.reg_covar)


def _ordered_groups(model, X):
    """Rows' groups numbered from 1 by size, and the component behind each number."""
    labels = model.predict(X)
    order = np.argsort(-np.bincount(labels, minlength=model.n_components), kind="stable")
    return np.argsort(order)[labels] + 1, order


def _format(value):
    return f"{value:.4g}"


def _grid(lines):
    """Columns lined up, the first to the left."""
    widths = [max(len(line[j]) for line in lines) for j in range(len(lines[0]))]
    return [
        "  " + "  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:]))])
        for line in lines
    ]


def _summary(table, X, ranking, groups, order):
    rank, bic, best, _ = ranking[0]
    names = list(table.numbers)
    lost = np.isnan(X).sum(axis=0)
    holes = ", ".join(f"{name} {n}" for name, n in zip(names, lost) if n) or "none"
    lines = [f"{len(X)} rows, {len(names)} columns used: {', '.join(names)}"]
    if table.left_out:
        lines.append("left out: " + "; ".join(f"{name} ({reason})" for name, reason in table.left_out.items()))
    lines.append(f"missing cells: {lost.sum()} of {X.size} ({holes})")
    lines += ["", f"best model: {_phrase(best)}, BIC {bic:.1f}" + (COLLAPSED if rank else "")]
    lines += [f"  {_behind(row, ranking[0])}" for row in ranking[1:4]]
    failed = [note for rank, _, _, note in ranking if rank == 2]
    if failed:
        lines.append(f"  {len(failed)} models could not be fitted; the first: {failed[0]}")
    lines += ["", "groups (means):"]
    counts = np.bincount(groups, minlength=len(order) + 1)[1:]
    grid = [["group", "rows", "share", *names]]
    for number, k in enumerate(order, 1):
        grid.append([str(number), str(counts[number - 1]), f"{best.weights_[k]:.0%}", *map(_format, best.means_[k])])
    sure = best.predict_proba(X).max(axis=1)
    lines += [*_grid(grid), "", f"{(sure < 0.9).sum()} rows are less than 90 % sure of their group."]
    return "\n".join(lines)


def _phrase(model):
    shape = PHRASES.get(model.covariance_type) or _spelled(model.covariance_type)
    return f"{model.n_components} group{'s' if model.n_components > 1 else ''}, {shape} ({model.covariance_type})"


def _spelled(letters):
    """A structure of three letters in words."""
    return ", ".join(words[letter] for words, letter in zip(WORDS, letters))


def _behind(row, best):
    rank, bic, _, note = row
    if rank > best[0]:
        return f"{note}: {'failed' if rank == 2 else 'set aside'}"
    return f"{note}: BIC worse by {bic - best[1]:.1f}"


def _write(stem, table, X, model, groups, order):
    """Assignments and the filled table, beside each other."""
    probability = model.predict_proba(X)[:, order]
    header = ["row", "group", *(f"probability_{k}" for k in range(1, len(order) + 1))]
    rows = [[i, g, *(f"{v:.6g}" for v in p)] for i, (g, p) in enumerate(zip(groups, probability), 1)]
    filled, names = model.impute(X), list(table.numbers)
    column = {name: table.header.index(name) for name in names}
    complete = [list(row) for row in table.rows]
    for i, j in zip(*np.nonzero(np.isnan(X))):
        complete[i][column[names[j]]] = f"{filled[i, j]:.6g}"
    write_csv(f"{stem}.groups.csv", header, rows)
    write_csv(f"{stem}.filled.csv", table.header, complete)
    return (
        f"\n\nwrote {stem}.groups.csv (each row's group and probabilities)\n"
        f"wrote {stem}.filled.csv (the table with {np.isnan(X).sum()} cells filled in)"
    )
