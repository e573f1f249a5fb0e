"""Mathematics as MathML, which browsers draw by themselves: no script, no fonts, no network."""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def _inline(writer, node):
    writer.body.append(tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def _block(writer, node):
    source = node.astext().strip()
    aligned = rf"\begin{{aligned}}{source}\end{{aligned}}" if r"\\" in source and r"\begin" not in source else source
    writer.body.append(f'<div class="equation" tabindex="0">{tex2mathml(aligned, as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
