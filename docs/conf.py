"""How the site is built: Sphinx (the reference from docstrings), MyST (pages that read well as plain Markdown), numpydoc
(the docstrings' own style), furo (a theme that loads nothing from outside). All else is in ``_ext``, a file each.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]

from tacit import __version__  # noqa: E402

project, author, copyright = "tacit", "the authors of tacit", "the authors of tacit"
version = release = __version__
extensions = [
    "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser",
    "reference", "command", "gallery", "names", "mathml", "outside",
]  # fmt: skip
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_ext", "_static"]
nitpicky = True
# Types in signatures that no page of this site describes.
nitpick_ignore_regex = [
    ("py:.*", r"(numpy|np|scipy|sklearn|pandas|collections|typing)\..*"),
    ("py:class", r"[A-Z]|tacit\.families\..*Params"),
]

myst_enable_extensions = ["dollarmath"]
myst_dmath_double_inline = True
myst_heading_anchors = 3
myst_links_external_new_tab = False
suppress_warnings = ["myst.header"]  # parts of the README and of CONTRIBUTING start below the first level

autosummary_generate = False  # `reference` writes the pages
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
default_role = "literal"
smartquotes = False  # --option must stay --option
add_module_names = False
python_use_unqualified_type_names = True
highlight_language = "python"
pygments_style, pygments_dark_style = "friendly", "github-dark"

html_theme = "furo"
html_title = "tacit"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#00588c", "color-brand-content": "#00588c"},
    "dark_css_variables": {"color-brand-primary": "#6cb8ea", "color-brand-content": "#6cb8ea"},
}
