"""`sample_posterior`: how sure a fitted model is of its parameters, and of all that follows from them.

    p(θ | X) ∝ p(X | θ) p(θ)

EM and its kin find where this is greatest; here parameters are drawn from it, in coordinates without constraints (see
`PosteriorDensity`), by the no-U-turn sampler where the model has a gradient, and else by a random walk.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..checks import check_choice, check_number
from ..notes import Note
from ..source import Source
from .chains import Chains
from .draws import PosteriorSample, variables
from .posterior_density import PosteriorDensity
from .relabel import Relabel

__all__ = ["checked", "gathered", "opened", "posterior_density", "sample_posterior"]


def sample_posterior(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    n_draws: int = 1000,
    n_warmup: int = 500,
    n_chains: int = 4,
    prior: str | None = None,
    sampler: str = "auto",
    sample_weight: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    callback: Callable | None = None,
    checkpoint: Any = None,
) -> PosteriorSample:
    """Draw the parameters of a fitted estimator from their posterior.

    Parameters
    ----------
    estimator : EMEstimator
        Fitted to X: a mixture, a hidden Markov model, probabilistic PCA, factor analysis, a belief network,
        a logistic regression …
        Its own prior is the prior: `component_prior` and `weight_prior` of mixtures, `transition_prior`, the prior of a family.
    X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
        The rows it was fitted to; NaN is missing.
    y : array-like of shape (n_samples,), optional
        Known classes, or the classes of a classifier.
    n_draws : int, default=1000
        Draws of every chain.
    n_warmup : int, default=500
        Steps of every chain before that. Chains start about the maximum and in the units of the curvature there, so that few do.
    n_chains : int, default=4
    prior : {"weak"}, optional
        What to do about parameters on which the model has no prior: "weak" is N(0, 5²) on each of their
        coordinates, which are means and loadings in units of the columns' standard deviations about their means, and logs of
        variances, rates and Cholesky factors in those units. By default the model must have a prior on all.
    sampler : {"auto", "hamiltonian", "metropolis"}, default="auto"
        The no-U-turn sampler where there is a gradient, or a random walk with adapted covariance.
    sample_weight : array-like of shape (n_samples,), optional
        A row of weight 2 counts as two.
    random_state : int, Generator or None
        Seeds the chains.
    n_jobs : int, optional
        Threads for chains.
    callback, checkpoint
        As in :func:`tacit.sampling.hamiltonian`.

    Returns
    -------
    PosteriorSample

    Notes
    -----
    Without a setting of their own, shares and probabilities have flat priors, which are proper. Classes have no names, so that
    the posterior has a mode for every order of them: those of each draw are numbered as in the fit (``n_switched`` counts how many had
    to be).
    Modes that differ by more than names are only found by chains that go there.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.mixture import GaussianMixture
    >>> from tacit.sampling import sample_posterior
    >>> X = np.random.default_rng(0).normal(5.0, 2.0, size=(50, 1))
    >>> mixture = GaussianMixture(component_prior="default").fit(X)
    >>> posterior = sample_posterior(mixture, X, n_draws=200, n_warmup=200, random_state=0)
    >>> posterior.interval("means_").high.shape
    (1, 1)
    """
    check_number("n_warmup", n_warmup, numbers.Integral, 0)
    check_number("n_chains", n_chains, numbers.Integral, 1)
    check_choice("sampler", sampler, ("auto", "hamiltonian", "metropolis"))
    checked(estimator, n_draws=n_draws, prior=prior)
    model, params, source = opened(estimator, X, y, sample_weight)
    density = posterior_density(estimator, model, params, source, prior)
    density.centre()
    rng = np.random.default_rng(random_state)
    starts = np.array([density.start(rng) for _ in range(n_chains)])
    sampler = ("metropolis" if density.how == "none" else "hamiltonian") if sampler == "auto" else sampler
    how: dict[str, Any] = {
        "n_draws": n_draws, "n_warmup": n_warmup, "n_chains": n_chains, "random_state": rng, "n_jobs": n_jobs,
        "callback": callback, "checkpoint": checkpoint,
    }  # fmt: skip
    chains = _run(sampler, density, starts, how)
    return gathered(estimator, density, source, chains, _notes(density, sampler))


def checked(estimator: Any, *, n_draws: int, prior: Any) -> None:
    """Raise where an estimator has no posterior to draw from, or settings are not what they must be."""
    check_number("n_draws", n_draws, numbers.Integral, 1)
    check_choice("prior", prior, ("weak", None))
    if not hasattr(estimator, "_sampled"):
        name = estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__
        raise TypeError(
            f"sample_posterior takes estimators that are learned by likelihood, such as GaussianMixture(), but got {name}."
        )
    check_is_fitted(estimator)


def opened(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Source]:
    """The model, its fitted parameters and the rows."""
    model, params, source = estimator._sampled(X, y, sample_weight)
    lost = model.collapsed(params)
    if lost:
        raise ValueError(
            f"component {lost[0]} of the fit collapsed onto a few rows, where the likelihood has no maximum; set a prior "
            f"({estimator._prior_setting}), or use fewer components, and fit again."
        )
    return model, params, source


def posterior_density(estimator: Any, model: Any, params: Any, source: Source, prior: str | None) -> PosteriorDensity:
    """The density of the parameters, where they have a prior."""
    name = type(estimator).__name__
    try:
        density = PosteriorDensity(model, source, params, weak=prior == "weak")
    except NotImplementedError as error:
        raise TypeError(f"the posterior of {name} cannot be sampled: {error}") from None
    if not density.size:
        raise ValueError(f"{name} has no parameters that are not fixed; leave some to be learned.")
    if prior is None and density.vague.any():
        raise ValueError(
            f"{name} has no prior on {int(density.vague.sum())} of its {density.size} parameters, so that it has no "
            f"posterior; fit it with {estimator._prior_setting}, or use prior='weak'."
        )
    return density


def _run(sampler: str, density: PosteriorDensity, starts: np.ndarray, how: dict[str, Any]) -> Chains:
    if sampler == "hamiltonian":
        from .hamiltonian import hamiltonian

        return hamiltonian(density, starts, **how)
    from .metropolis import metropolis

    return metropolis(density, starts, **how)


def _notes(density: PosteriorDensity, sampler: str) -> list[Note]:
    """What is to be told of how the draws were made."""
    found = []
    if density.weak and density.vague.any():
        found.append(Note(
            "weak_prior", "{n} of {of} parameters have the weak prior N(0, {scale:g}²) on their coordinates",
            n=int(density.vague.sum()), of=density.size, scale=5.0,
        ))  # fmt: skip
    if sampler == "metropolis":
        found.append(
            Note(
                "random_walk",
                "draws are made by a random walk, as the model has no gradient: look at the effective sample sizes",
            )
        )
    elif density.how == "differences":
        found.append(
            Note(
                "differences",
                "gradients are taken by differences, as statistics do not give them: {n} passes each",
                n=2 * density.size,
            )
        )
    return found


def gathered(
    estimator: Any,
    density: PosteriorDensity,
    source: Source,
    chains: Chains,
    notes: list[Note],
    kind: Any = PosteriorSample,
) -> Any:
    """Draws of the fitted attributes, with classes numbered as in the fit."""
    model, view = density.model, density.view
    n_classes = int(getattr(estimator, "_n_classes", 1) or 1)
    relabel = Relabel(model, density.fitted, source, n_classes)
    vectors = density.vector(chains.draws["x"])
    found: dict[str, list] = {}
    for place in np.ndindex(vectors.shape[:2]):
        params = relabel(view.bound(vectors[place]))
        with np.errstate(divide="ignore"):
            vector = view.free(params)
        if np.isfinite(vector).all():  # not where the classes of the model cannot be in that order
            vectors[place] = vector
        for name, value in variables(estimator, view.bound(vectors[place])).items():
            found.setdefault(name, []).append(value)
    draws = {name: np.array(values).reshape(*vectors.shape[:2], *np.shape(values[0])) for name, values in found.items()}
    if relabel.n_switched:
        share = relabel.n_switched / np.prod(vectors.shape[:2])
        notes.append(
            Note(
                "switched",
                "{share:.1%} of the draws had their classes in another order than the fit, which was undone",
                share=share,
            )
        )
    more = [note for note in chains.notes if note.code != "gradient_told"]
    told = replace(chains, draws=draws, warmup={}, warmup_statistics={}, notes=(*notes, *more))
    return kind(estimator, told, view, vectors, relabel.n_switched)
