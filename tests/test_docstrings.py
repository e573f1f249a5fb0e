"""Docstrings of all public names: every parameter is described, and none that is not there."""

import inspect
from importlib import import_module

import pytest
from reference import kind, packages, public_names

docscrape = pytest.importorskip("numpydoc.docscrape")

UNUSUAL = {"args", "kwargs"}


def public_objects():
    for package in packages():
        module = import_module(package)
        for name in public_names(package):
            value = getattr(module, name)
            if kind(value) in ("class", "function"):
                yield pytest.param(value, id=f"{package}.{name}")


def described(value):
    """Names in the sections on parameters; fields of a record may be described as its attributes instead."""
    parse = docscrape.ClassDoc if inspect.isclass(value) else docscrape.FunctionDoc
    sections = parse(value)

    def names(*headings):
        fields = [field for heading in headings for field in sections[heading]]
        return {name.strip().lstrip("*") for field in fields for name in field.name.split(",")}

    return names("Parameters", "Other Parameters"), names("Attributes")


def faults(value):
    """What is wrong with a docstring, as sentences."""
    words = inspect.getdoc(value)
    if not words:
        return ["has no docstring"]
    if inspect.isclass(value) and "; made by " in words:  # a result: nobody calls its constructor
        return []
    try:
        taken = {name for name in inspect.signature(value).parameters if name != "self"}
    except ValueError:  # a built-in constructor says nothing
        return []
    parameters, attributes = described(value)
    missing = sorted(taken - parameters - attributes - UNUSUAL)
    unknown = sorted(parameters - taken)
    gone = [f"describes {name}, which it does not take" for name in unknown]
    return [f"does not describe {name}" for name in missing] + gone


@pytest.mark.parametrize("value", list(public_objects()))
def test_parameters_are_described(value):
    assert faults(value) == []


def test_faults_are_found():
    def bad(first, second):
        """Do it.

        Parameters
        ----------
        first : int
        third : int
        """

    assert faults(bad) == ["does not describe second", "describes third, which it does not take"]
    assert faults(lambda x: x) == ["has no docstring"]
