"""The map of systems: every name, example, test and comparison that it tells of exists, and no section is missing."""

import ast
import importlib
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "systems.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| system")
]


@cache
def functions_of(path):
    """Names of the functions that a file defines."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def found(name):
    """What a dotted name is; AttributeError where it is nothing."""
    parts = name.split(".")
    thing = importlib.import_module(".".join(parts[:2]))
    for part in parts[2:]:
        thing = getattr(thing, part)
    return thing


def test_all_sections_are_there():
    numbers = re.findall(r"^## (\d+) ", PAGE, flags=re.MULTILINE)
    assert numbers == [str(k) for k in range(1, 14)]
    assert len(ROWS) > 60
    systems = [row[0] for row in ROWS]
    assert len(set(systems)) == len(systems)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_what_a_row_names_exists(row):
    system, names, examples, tests, benchmarks = (re.findall(r"`([^`]+)`", cell) for cell in row)
    assert not system
    assert names
    assert examples
    assert tests
    for name in names:
        assert callable(found(name)), name
    for path in examples + benchmarks:
        assert (ROOT / path).is_file(), path
    for test in tests:
        path, _, function = test.partition("::")
        assert function in functions_of(path), test
    used = {part for name in names for part in name.split(".")[2:]}
    texts = "".join((ROOT / path).read_text(encoding="utf-8") for path in examples)
    assert any(name in texts for name in used), f"{examples} show none of {sorted(used)}"
