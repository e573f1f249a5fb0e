"""`import tacit` is quick because it imports next to nothing."""

import json
import subprocess
import sys
from importlib.metadata import version

import pytest

import tacit

HEAVY = {"numba", "matplotlib", "torch", "dask", "sklearn", "scipy", "pandas", "numpy"}


def modules_after(statements):
    """Top-level packages loaded by a fresh interpreter after the statements."""
    code = f"{statements}\nimport sys, json; print(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(run.stdout))


def test_import_loads_nothing_heavy():
    loaded = modules_after("import tacit; tacit.__version__; dir(tacit)")
    assert "tacit" in loaded
    assert not loaded & HEAVY


def test_command_line_help_loads_nothing_slow():
    loaded = modules_after("import tacit.cli.main")
    assert not loaded & (HEAVY - {"numpy"})


def test_importing_an_estimator_loads_no_optional_library_and_compiles_nothing():
    loaded = modules_after(
        "from tacit.mixture import GaussianMixture; from tacit.impute import GaussianImputer; import tacit.cluster"
    )
    assert "sklearn" in loaded
    assert not loaded & {"matplotlib", "torch", "dask", "numba"}


def test_dir_lists_what_can_be_had():
    assert {"__version__", "mixture", "impute", "datasets", "engine", "families", "load", "save"} <= set(dir(tacit))
    for name in dir(tacit):
        assert getattr(tacit, name) is not None
    assert sorted(tacit.__all__) == sorted(set(dir(tacit)))


def test_names_come_from_where_they_live():
    from tacit.persistence import load, save

    assert tacit.load is load
    assert tacit.save is save
    assert tacit.mixture.GaussianMixture().n_components == 1


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="module 'tacit' has no attribute 'banana'"):
        _ = tacit.banana
    with pytest.raises(ImportError, match="banana"):
        from tacit import banana  # noqa: F401


def test_every_module_exports_what_it_promises():
    code = "import pkgutil, importlib, tacit\n" + (
        "for m in pkgutil.walk_packages(tacit.__path__, 'tacit.'):\n"
        "    if m.name.startswith('tacit.kernels.t') or m.name == 'tacit.source.torch': continue\n"
        "    if 'autoencoder.networks' in m.name: continue\n"
        "    module = importlib.import_module(m.name)\n"
        "    missing = [n for n in getattr(module, '__all__', ()) if not hasattr(module, n)]\n"
        "    assert not missing, (m.name, missing)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_packages_that_load_lazily_have_no_module_of_a_public_name():
    # Importing the module would put it in the place of what is public.
    code = "import pkgutil, tacit, importlib\n" + (
        "for m in pkgutil.iter_modules(tacit.__path__, 'tacit.'):\n"
        "    if not m.ispkg: continue\n"
        "    package = importlib.import_module(m.name)\n"
        "    if '__getattr__' not in vars(package): continue\n"
        "    modules = {each.name for each in pkgutil.iter_modules(package.__path__)}\n"
        "    assert not modules & set(package.__all__), (m.name, modules & set(package.__all__))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_version_is_that_of_the_installed_package():
    assert tacit.__version__ == version("tacit")
