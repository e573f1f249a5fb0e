"""Run the test files that ship inside another library's wheel against our classes."""

import inspect
import types
from importlib.util import find_spec
from pathlib import Path

import pytest


def borrow(module, replacements, differences):
    """Test functions and fixtures of `module` with parts of its source replaced; those that touch nothing of ours are left out.

    Parameters
    ----------
    module : str
        Dotted name of an installed test module.
    replacements : dict of str to str
        Text to replace in its source; each must occur.
    differences : dict of str to str
        Tests that must fail because we differ on purpose, each with the reason.
    """
    borrowed = _executed(module, replacements)
    tests = {name: value for name, value in vars(borrowed).items() if name.startswith("test_")}
    fixtures = {name: value for name, value in vars(borrowed).items() if "Fixture" in type(value).__name__}
    ours = {
        name for name, value in vars(borrowed).items() if str(getattr(value, "__module__", "")).startswith("tacit.")
    }
    tests = {name: test for name, test in tests.items() if _reaches(name, ours, vars(borrowed))}
    assert not set(differences) - set(tests), "a difference names a test that does not exist"
    for name, reason in differences.items():
        tests[name] = pytest.mark.xfail(reason=reason, strict=True)(tests[name])
    return tests | fixtures


def borrow_classes(module, replacements, differences):
    """As `borrow`, for test classes; `differences` are named Class.test, or test where all classes that have it differ.

    Where only some parameters of a test differ, or only some random starts, it may pass as well.
    """
    borrowed = _executed(module, replacements)
    classes = {
        name: value for name, value in vars(borrowed).items() if name.startswith("Test") and isinstance(value, type)
    }
    tests = {name: value for name, value in vars(borrowed).items() if name.startswith("test_")}
    for name, reason in differences.items():
        owner, _, test = name.rpartition(".")
        found = [vars(value) for value in vars(borrowed).values() if isinstance(value, type) and test in vars(value)]
        found = [vars(borrowed)] if test in tests else [vars(classes[owner])] if owner else found
        assert found, f"a difference names {name}, which does not exist"
        assert test in found[0], f"a difference names {name}, which does not exist"
        pytest.mark.xfail(reason=reason, strict=False)(found[0][test])
    return tests | classes


def _executed(module, replacements):
    """The module with parts of its source replaced."""
    path = Path(find_spec(module).origin)
    source = path.read_text(encoding="utf-8")
    for old, new in replacements.items():
        assert old in source, f"{module} no longer contains {old!r}"
        source = source.replace(old, new)
    borrowed = types.ModuleType(f"borrowed_{path.stem}")
    borrowed.__package__ = module.rpartition(".")[0]
    exec(compile(source, str(path), "exec"), borrowed.__dict__)
    return borrowed


def _reaches(name, ours, scope):
    """Whether a test, or a function or fixture of its module that it uses, names one of `ours`."""
    waiting, seen = [name], set()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        function = getattr(scope[name], "__wrapped__", scope[name])
        used = {*inspect.signature(function).parameters, *_named(function.__code__)}
        if used & ours:
            return True
        marks = repr([(mark.args, mark.kwargs) for mark in getattr(function, "pytestmark", [])])
        if any(own in marks for own in ours):
            return True
        waiting += [
            name
            for name in used - seen
            if hasattr(getattr(scope.get(name), "__wrapped__", scope.get(name)), "__code__")
        ]
    return False


def _named(code):
    """Names that a function uses, those of its inner functions too."""
    return set(code.co_names).union(*(_named(part) for part in code.co_consts if isinstance(part, types.CodeType)))
