"""Code spans that name something public, such as ``GaussianMixture``, become links to its page of the reference."""

from docutils import nodes
from sphinx.util.nodes import make_refnode

OWN = ("class", "function", "data", "exception")


def _index(env):
    """Names as pages write them, and the entries they stand for; names that methods have too are left out."""
    objects = env.get_domain("py").objects
    methods = {name.rpartition(".")[2] for name, entry in objects.items() if entry.objtype not in (*OWN, "module")}
    found = dict(objects)
    for name, entry in objects.items():
        parts = name.split(".")
        if entry.objtype in OWN and parts[-1] not in methods:
            found.setdefault(parts[-1], entry)
        elif entry.objtype not in (*OWN, "module"):
            found.setdefault(".".join(parts[-2:]), entry)
    return found


def _link(app, doctree, docname):
    index = getattr(app, "_public_names", None)
    if index is None:
        index = app._public_names = _index(app.env)
    for literal in list(doctree.findall(nodes.literal)):
        entry = index.get(literal.astext().removesuffix("()"))
        inside = any(isinstance(parent, nodes.reference | nodes.title) for parent in _parents(literal))
        if entry is None or inside or entry.docname == docname:
            continue
        reference = make_refnode(app.builder, docname, entry.docname, entry.node_id, literal.deepcopy())
        literal.replace_self(reference)


def _parents(node):
    while node.parent is not None:
        node = node.parent
        yield node


def setup(app):
    app.connect("doctree-resolved", _link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
