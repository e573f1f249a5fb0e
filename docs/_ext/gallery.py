"""The gallery: every script of ``examples/`` as a page with its code, what it prints and its figure, thumbnails by task."""

import ast
import html
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import running
from pages import clear, write_page

TASKS = {
    "Groups in a table": (
        "penguins",
        "mixed_table",
        "iris_selection",
        "old_faithful",
        "digit_prototypes",
        "online_drift",
    ),
    "How many groups": ("surplus_components", "how_many_rates"),
    "Tests, power, intervals": ("fifteen_of_forty", "how_many_bursts", "sure_of_a_share"),
    "Missing values in a table": (
        "multiple_imputation",
        "two_maxima",
    ),
    "Odd rows": ("heavy_tails", "outliers"),
    "Clusters by distance": ("units", "soft_clusters", "similarity_graphs", "moons_and_rings", "nearest_words"),
    "Fewer columns": (
        "cars_biplot",
        "low_rank",
        "digit_threes",
        "eigenfaces",
        "factor_rotation",
        "ability_tests",
        "two_views",
        "kernel_pca_rings",
    ),
    "Pictures": ("denoising", "inpainting", "flipped_pixels", "face_manifold"),
    "A target, known classes, rates": (
        "temperature_experts",
        "gated_experts",
        "flexmix_regressions",
        "bayes_classifiers",
        "relevance_vectors",
        "support_vectors",
        "borders",
        "trees_and_forests",
        "boosting",
        "classes_of_groups",
        "conjugate_learning",
        "conjugate_pairs",
        "information",
        "learning_curves",
        "conformal_intervals",
        "how_sure",
        "conjugate_pairs",
        "information",
        "learning_curves",
        "conformal_intervals",
        "co2_forecast",
        "curves_with_bands",
    ),
    "Recommendations": ("movielens", "rating_types", "cold_start"),
    "Sequences": ("earthquake_regimes", "market_regimes", "dishonest_casino", "click_streams", "chunking"),
    "Networks of variables": (
        "burglar_alarm",
        "what_a_graph_says",
        "boltzmann_machine",
        "network_structure",
        "sum_product_by_hand",
    ),
    "Draws and averages": ("darts", "markov_chains"),
    "The command": ("command_line",),
}
OTHERS = {"tacit.mixture": 0, "tacit.cluster": 4, "tacit.factor": 5}
"""The task of a script that is not listed, by the first of these packages that it uses."""


def task(script):
    """The heading that a script goes under."""
    for heading, stems in TASKS.items():
        if script.stem in stems:
            return heading
    code = script.read_text(encoding="utf-8")
    used = [number for package, number in OTHERS.items() if package in code]
    return list(TASKS)[used[0]] if used else "More"


def words(script):
    """Title, description and how to run it, from the script's docstring, whose first line is ``Title: description.`` or
    ``Question? Answer.``
    """
    opening, *rest = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))).split("\n\n")
    found = re.fullmatch(r"(.+?(?=:)|.+?\?):? (.*)", " ".join(opening.split()))
    if found is None:
        raise ValueError(f"the docstring of {script.name} begins with {opening!r}; begin with 'Title: description.'")
    title, description = found.groups()
    return title, description[:1].upper() + description[1:], [" ".join(part.split()) for part in rest]


def result(script):
    """What the script did: from its record, or by running it; None where its data are absent."""
    if running.needs(script):
        return None
    ran = running.recorded(script) or running.run(script)
    if ran.code:
        raise RuntimeError(f"{script} failed:\n{ran.errors}")
    if not ran.output or bool(ran.figure) != ("[FIGURE.png]" in script.read_text(encoding="utf-8")):
        raise RuntimeError(f"{script} printed nothing, or did not draw what its docstring says")
    return ran


def script_page(script, ran):
    """The page of a script."""
    title, description, rest = words(script)
    parts = [f"# {title}", description, *rest]
    if ran is None:
        parts.append(f"**Not run here:** it needs {running.needs(script)}.")
    else:
        if ran.figure:
            parts.append(f"![{_alt(title, description)}]({script.stem}.png)")
        parts += ["## What it prints", f"```text\n{ran.output.rstrip()}\n```"]
    code = script.read_text(encoding="utf-8")
    return "\n\n".join([*parts, f"## The script, `examples/{script.name}`", f"````python\n{code}````", ""])


def _alt(title, description):
    return f"Figure of the example “{title}”: {description}".replace("[", "(").replace("]", ")")


def card(script, ran):
    """A thumbnail that leads to the script's page; a script without a figure shows the start of what it prints."""
    title, description, _ = words(script)
    if ran and ran.figure:
        shown = f'<img src="../_images/{script.stem}-small.png" alt="" loading="lazy">'
    else:
        lines = ran.output.splitlines()[:8] if ran else ["not run here: it needs", running.needs(script)]
        shown = f'<pre aria-hidden="true">{html.escape(chr(10).join(lines))}</pre>'
    return (
        f'<a class="card" href="{script.stem}.html">{shown}<strong>{html.escape(title)}</strong>'
        f"<span>{html.escape(description)}</span></a>"
    )


def index_page(ran):
    """All thumbnails, by task."""
    ran = dict(sorted(ran.items(), key=lambda item: _place(item[0])))
    text = "# Gallery\n\nScripts of `examples/`, each run as it stands, with what it prints and draws.\n\n"
    for heading in [*TASKS, "More"]:
        cards = [card(script, done) for script, done in ran.items() if task(script) == heading]
        if cards:
            text += f'## {heading}\n\n<div class="cards">\n{chr(10).join(cards)}\n</div>\n\n'
    return text + "```{toctree}\n:hidden:\n\n" + "\n".join(script.stem for script in ran) + "\n```\n"


def _place(script):
    """Scripts come in the order in which TASKS names them, others after them."""
    named = [stem for stems in TASKS.values() for stem in stems]
    return named.index(script.stem) if script.stem in named else len(named)


def write(app):
    folder = Path(app.srcdir) / "gallery"
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        ran = dict(zip(running.scripts(), pool.map(result, running.scripts())))
    kept = {write_page(folder / "index.md", index_page(ran))}
    for script, done in ran.items():
        kept.add(write_page(folder / f"{script.stem}.md", script_page(script, done)))
        if done and done.figure:
            kept.add(Path(shutil.copy(done.figure, folder / f"{script.stem}.png")))
    clear(folder, kept)
    app._thumbnails = {script.stem: done.figure for script, done in ran.items() if done and done.figure}


def draw_thumbnails(app, exception):
    """Small pictures beside the large ones that Sphinx copies."""
    if exception is None and app.builder.format == "html":
        from PIL import Image

        for stem, figure in app._thumbnails.items():
            picture = Image.open(figure).convert("RGB")
            picture.thumbnail((480, 360))
            picture.save(Path(app.outdir) / "_images" / f"{stem}-small.png", optimize=True)


def setup(app):
    app.connect("builder-inited", write, priority=400)
    app.connect("build-finished", draw_thumbnails)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
