"""The reference: a page for every package and for every public name, written from ``__all__``."""

import inspect
import re
from importlib import import_module
from pathlib import Path

from pages import clear, write_page

EXTENDING = ("arrays", "base", "recommend.metrics", "schema", "table")
"""Modules that have pages beside the public packages: what those meet who extend the library, and measures of recommenders."""
AT_HOME = {"tacit.report": "tacit.study"}
"""Packages that pass on names of another, where they have their pages: a name is described once."""
KINDS = {"class": "Classes", "function": "Functions", "exception": "Warnings and errors", "data": "Data"}
SPANS = re.compile(r"(``.*?``|`.*?`_*)")
FOREIGN = ("sklearn", "builtins", "abc", "enum")


def packages():
    """Full names of all modules of the reference."""
    import tacit

    return ["tacit", *(f"tacit.{name}" for name in sorted((*tacit._SUBMODULES, *EXTENDING)))]


def public_names(package):
    """Public names of a module, without its packages and what another one describes."""
    module = import_module(package)
    told = {"__version__", *import_module(AT_HOME[package]).__all__} if package in AT_HOME else {"__version__"}
    return [name for name in module.__all__ if not inspect.ismodule(getattr(module, name)) and name not in told]


def kind(value):
    if inspect.isclass(value):
        return "exception" if issubclass(value, BaseException) else "class"
    return "function" if callable(value) else "data"


def _title(text):
    return f"{text}\n{'=' * len(text)}\n\n"


def package_page(package):
    """The page of a package: what it is for, and what is in it."""
    module, text = import_module(package), _title(package) + f".. automodule:: {package}\n   :no-members:\n\n"
    names = public_names(package)
    for which, heading in KINDS.items():
        chosen = [name for name in names if kind(getattr(module, name)) == which]
        if chosen:
            listed = "".join(f"   {name}\n" for name in sorted(chosen, key=str.lower))
            text += f".. rubric:: {heading}\n\n.. autosummary::\n   :nosignatures:\n\n{listed}\n"
    return text


def name_page(package, name):
    """The page of a public name."""
    which = kind(getattr(import_module(package), name))
    members = "   :members:\n   :inherited-members: BaseException\n" if which in ("class", "exception") else ""
    # Left out of the tree of pages: two hundred entries would bury the others, and slow every page's sidebar down.
    return (
        ":orphan:\n\n" + _title(name) + f".. currentmodule:: {package}\n\n.. auto{which}:: {package}.{name}\n{members}"
    )


def write(app):
    folder = Path(app.srcdir) / "api"
    listed = packages()
    index = "# API\n\nEvery public name, by package.\n\n```{toctree}\n:maxdepth: 1\n\n" + "\n".join(listed) + "\n```\n"
    kept = {write_page(folder / "index.md", index)}
    for package in listed:
        kept.add(write_page(folder / f"{package}.rst", package_page(package)))
        for name in public_names(package):
            kept.add(write_page(folder / f"{package}.{name}.rst", name_page(package, name)))
    clear(folder, kept)


def skip(app, what, name, member, skipped, options):
    """Leave out what scikit-learn and Python give to every class: their own pages describe it."""
    home = getattr(getattr(member, "fget", member), "__module__", None) or ""
    foreign = home.partition(".")[0] in FOREIGN or re.fullmatch(r"set_\w+_request", name)
    return True if foreign else None


def plain(app, what, name, member, options, lines):
    """Docstrings are plain words and equations: underscores and bars in them are no markup."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...", "..", ":")):
            lines[i] = "".join(part if part.startswith("`") else _escaped(part) for part in SPANS.split(line))


def _escaped(text):
    return re.sub(r"(?<!\\)\|", r"\|", re.sub(r"(?<=\w)_(?=$|[^\w`])", r"\_", text))


def compile_template_once():
    """Numpydoc compiles its template anew for every docstring, a fifth of the build's time; once will do."""
    from numpydoc.docscrape_sphinx import SphinxDocString

    load_config, compiled = SphinxDocString.load_config, {}

    def load(self, config):
        load_config(self, {**compiled, **config})
        compiled["template"] = self.template

    SphinxDocString.load_config = load


def setup(app):
    compile_template_once()
    app.connect("builder-inited", write, priority=400)
    app.connect("autodoc-process-docstring", plain, priority=600)  # after numpydoc
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
