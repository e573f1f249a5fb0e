"""Exact denoising of a black and white picture of 1,000 × 1,000 pixels by a graph cut, against PyMaxflow, from array to array."""

from functools import partial

import numpy as np

from .harness import Job

SIZE = 1000


def make(flip):
    """Smooth blobs with flipped pixels, and the cost of a pixel that is not as it was seen."""
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng(0)
    truth = gaussian_filter(rng.normal(size=(SIZE, SIZE)), SIZE / 100) > 0
    return truth ^ (rng.random(truth.shape) < flip)


def _wrong(flip):
    return float(np.log((1.0 - flip) / flip))


def _ours(flip, coupling, noisy):
    from tacit.graph import denoise

    found = denoise(noisy, "graph_cut", flip=flip, coupling=coupling)
    return found.energy, found.image


def _theirs(flip, coupling, noisy):
    import maxflow

    wrong, graph = _wrong(flip), maxflow.Graph[float]()
    nodes = graph.add_grid_nodes(noisy.shape)
    graph.add_grid_edges(nodes, coupling)
    graph.add_grid_tedges(nodes, np.where(noisy, wrong, 0.0), np.where(noisy, 0.0, wrong))
    energy = graph.maxflow()
    return energy, ~graph.get_grid_segments(nodes)


def _energy(flip, coupling, noisy, image):
    """The energy of a picture, by its formula."""
    borders = (image[1:] != image[:-1]).sum() + (image[:, 1:] != image[:, :-1]).sum()
    return _wrong(flip) * (image != noisy).sum() + coupling * borders


def _equal(flip, coupling, ours, theirs):
    noisy = make(flip)
    for energy, image in (ours, theirs):
        assert abs(energy / _energy(flip, coupling, noisy, image) - 1.0) < 1e-9, "energy is not that of the picture"
    assert abs(ours[0] / theirs[0] - 1.0) < 1e-9, f"{ours[0]} is not {theirs[0]}"
    return f"energy {ours[0]:.1f} both"


JOBS = [
    Job(
        name=f"graph cut 1,000 × 1,000 flip={flip} coupling={coupling}", rival="PyMaxflow", make=partial(make, flip),
        ours=partial(_ours, flip, coupling), theirs=partial(_theirs, flip, coupling), equal=partial(_equal, flip, coupling),
        target=1.0,
    )
    for flip, coupling in ((0.1, 1.0), (0.2, 0.8), (0.3, 0.6))
]  # fmt: skip
