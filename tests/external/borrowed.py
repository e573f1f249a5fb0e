"""Run the test files that ship inside another library's wheel against our classes."""

import types
from importlib.util import find_spec
from pathlib import Path

import pytest


def borrow(module, replacements, differences):
    """Test functions and fixtures of `module` with parts of its source replaced.

    Parameters
    ----------
    module : str
        Dotted name of an installed test module.
    replacements : dict of str to str
        Text to replace in its source; each must occur.
    differences : dict of str to str
        Tests that must fail because we differ on purpose, each with the reason.
    """
    path = Path(find_spec(module).origin)
    source = path.read_text(encoding="utf-8")
    for old, new in replacements.items():
        assert old in source, f"{module} no longer contains {old!r}"
        source = source.replace(old, new)
    borrowed = types.ModuleType(f"borrowed_{path.stem}")
    exec(compile(source, str(path), "exec"), borrowed.__dict__)
    tests = {name: value for name, value in vars(borrowed).items() if name.startswith("test_")}
    fixtures = {name: value for name, value in vars(borrowed).items() if "Fixture" in type(value).__name__}
    assert not set(differences) - set(tests), "a difference names a test that does not exist"
    for name, reason in differences.items():
        tests[name] = pytest.mark.xfail(reason=reason, strict=True)(tests[name])
    return tests | fixtures
