"""Mathematics as MathML, which browsers draw by themselves: no script, no fonts, no network."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.errors import ExtensionError

APPLIED = re.compile(r"(<mi[^>]*>[a-z]{2,}</mi>\s*<mo>&ApplyFunction;</mo>)(\s*<mo[^>]*>\()?")
THIN = '<mspace width="0.17em"></mspace>'


def _drawn(node, source, as_block):
    try:
        # Browsers set no space between log and what it is the log of.
        return APPLIED.sub(lambda found: THIN + found[1] + (found[2] or THIN), tex2mathml(source, as_block=as_block))
    except MathError as error:
        raise ExtensionError(f"{node.document['source']}: {error} in {source!r}") from None


def _inline(writer, node):
    writer.body.append(_drawn(node, node.astext(), False))
    raise nodes.SkipNode


def _block(writer, node):
    source = node.astext().strip()
    aligned = rf"\begin{{aligned}}{source}\end{{aligned}}" if r"\\" in source and r"\begin" not in source else source
    writer.body.append(f'<div class="equation" tabindex="0">{_drawn(node, aligned, True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
