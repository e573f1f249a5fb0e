"""The command line: one command each for groups, filled cells and axes, tried on the penguins in a folder of their own.

Every command prints what it found in words and writes tables beside the input; here they are called from Python, as ``main`` with
the words that one would type after ``tacit``.

Run: python examples/command_line.py
"""

import csv
import tempfile
from pathlib import Path

from tacit.cli.main import main


def tacit(*words):
    """Run a command and show it as it would be typed."""
    print(f"\n$ tacit {' '.join(words)}".replace(str(folder), "."))
    code = main(list(words))
    assert code == 0, f"it ended with {code}"


folder = Path(tempfile.mkdtemp())
table = str(folder / "penguins.csv")

# A table to begin with: 344 penguins, some of them not measured, some of unknown sex.
tacit("datasets", "penguins", "--out", str(folder))

# Which groups are there?
tacit("fit", table, "--groups", "2-4", "--quiet")

# What stood in the empty cells? Every fill comes with an interval or a probability.
tacit("impute", table, "--groups", "6", "--no-report", "--quiet")

# Which axes are behind the measurements?
tacit("reduce", table, "--axes", "2", "--no-report", "--quiet")

# What was written is plain text: here are the cells that were filled for the first penguin that nobody measured.
with (folder / "penguins.impute.cells.csv").open(newline="", encoding="utf-8") as file:
    cells = list(csv.DictReader(file))
print(f"\n{len(cells)} cells were filled; those of row {cells[0]['row']}:")
for cell in cells:
    if cell["row"] == cells[0]["row"]:
        sure = (
            f"{float(cell['low']):.0f} to {float(cell['high']):.0f}"
            if cell["low"]
            else f"{float(cell['probability']):.0%} sure"
        )
        print(f"  {cell['column']:<18} {cell['value']:<13} {sure}")
