"""`LatentDirichletAllocation`: every word of a document comes from one of its topics, p(word | d) = Σ_k θ_dk β_k(word)."""

import numbers
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...base import EMEstimator, Task
from ...base.settings import KW_ONLY, settings
from ...checks import check_choice, check_memory, check_n_jobs, check_number, check_positive
from ...declared import Either, Numbers, Whole
from ...engine import Fit, fit
from ...kernels import backend, host
from ...source import Block, Source, SparseSource, as_source
from ..documents import batches
from .answers import AllocationAnswers, word_count
from .model import POSITIVE, AllocationModel, CollapsedModel, TopicParams, VariationalModel, bound_of, perplexity_of
from .online import AllocationLines, online_fit, online_update
from .priors import PriorRule, seeded

__all__ = ["INFERENCES", "LatentDirichletAllocation"]

INFERENCES = ("cvb0", "vb", "scvb0")
PASSES = {"cvb0": 100}
TABLES, MEMORIES = (
    8,
    3,
)  # of words and of documents by topics that a fit holds at least; measured, of every kind of inference
STARTING_PASSES = 20
STARTING_DOCUMENTS, STARTING_SHARE = 1000, 8  # of a start by cvb0, and at most one in so many


@settings
class LatentDirichletAllocation(AllocationAnswers):
    """Topics of documents, given as counts of words.

    Drop-in for scikit-learn's ``LatentDirichletAllocation``, with other ways to learn. A document without words has the prior's
    proportions; a word that never occurs has the prior's share of every topic. Counts may be fractions.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    doc_topic_prior : float, array of shape (n_components,) or {"learn", "learn-symmetric", "learn-asymmetric"}, optional
        α, the prior of topics in documents: one number, one per topic, or learned (``"learn"`` is asymmetric, so that common
        topics may be common). Default 1 / n_components.
    topic_word_prior : float, array of shape (n_features,) or {"learn", "learn-symmetric", "learn-asymmetric"}, optional
        η, the prior of words in topics, likewise; ``"learn"`` is symmetric. Default 1 / n_components.
    learning_method : {"batch", "online"}, default="batch"
        ``online`` learns after every batch of documents: ``vb`` as Hoffman et al., otherwise ``scvb0``.
    learning_decay, learning_offset : float, default=0.7 and 10
        Step t of online learning weighs (offset + t)^−decay.
    max_iter : int, optional
        Passes over the documents at most; default 10 as in scikit-learn, and 100 for ``cvb0``, whose passes are cheap.
    batch_size : int, default=128
        Documents of a batch.
    evaluate_every : int, default=-1
        Passes between evaluations of perplexity; below 1 there is none.
    total_samples : float, default=1e6
        Documents there are in all, for `partial_fit`.
    perp_tol : float, default=0.1
        Where `evaluate_every` is at least 1, a fit ends when perplexity changes by less. Otherwise one by ``cvb0`` ends when
        perplexity changes by less than so many thousandths of it, and the others take all passes.
    mean_change_tol : float, default=1e-3
        Updates of a document end when its topics change by less on average.
    max_doc_update_iter : int, default=100
        Updates of a document at most.
    n_jobs : int, optional
        Threads; default all cores. Results do not depend on it.
    device : {"auto", "cpu", "cuda", "cuda:0", …}, optional
        Where to compute; by default where the rows are. "auto" is a GPU where there is one and the rows are many.
    verbose : int, default=0
        Print a line after every pass.
    random_state : int, RandomState instance or None, default=None
        Seed.
    inference : {"cvb0", "vb", "scvb0"}, default="cvb0"
        ``cvb0``: collapsed, zeroth order, which predicts best and is fastest in memory. ``vb``: variational Bayes, whose bound
        never falls. ``scvb0``: stochastic, for documents in a stream.
    seeds : dict of int to list, optional
        Words, or numbers of columns, that topics are guided by.
    seed_strength : float, default=100
        Counts that each seed word is worth in its topic's prior.
    callback : callable, optional
        Called with a `tacit.engine.Progress` after every pass.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Counts of words by topic, the prior's among them.
    exp_dirichlet_component_ : ndarray of shape (n_components, n_features)
        exp E log β.
    topic_word_, topic_share_, word_share_
        See `TopicModel`.
    doc_topic_prior_, topic_word_prior_ : float or ndarray
        α and η.
    bound_ : float
        Perplexity of the documents by the bound; see `perplexity`.
    n_iter_, n_batch_iter_ : int
        Passes, and batches plus 1.
    random_state_ : RandomState
        What starts were drawn with.
    fit_ : Fit
        The objective after every pass, and why the fit stopped.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Blei, Ng and Jordan (2003), Latent Dirichlet allocation. Asuncion et al. (2009), On smoothing and inference for topic models.
    Foulds et al. (2013), Stochastic collapsed variational Bayesian inference for latent Dirichlet allocation. Hoffman et al.
    (2010), Online learning for latent Dirichlet allocation. Minka (2000), Estimating a Dirichlet distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.topics import LatentDirichletAllocation
    >>> X = np.array([[4, 3, 0, 0], [0, 0, 5, 2], [3, 4, 0, 0], [0, 1, 3, 3]])
    >>> lda = LatentDirichletAllocation(2, random_state=0).fit(X)
    >>> lda.transform(X).argmax(axis=1) == lda.transform([[1, 1, 0, 0]]).argmax()
    array([ True, False,  True, False])
    """

    n_components: int = 10
    _: KW_ONLY
    doc_topic_prior: Any = None
    topic_word_prior: Any = None
    learning_method: str = "batch"
    learning_decay: float = 0.7
    learning_offset: float = 10.0
    max_iter: Any = None
    batch_size: int = 128
    evaluate_every: int = -1
    total_samples: float = 1e6
    perp_tol: float = 1e-1
    mean_change_tol: float = 1e-3
    max_doc_update_iter: int = 100
    n_jobs: int | None = None
    verbose: int = 0
    random_state: Any = None
    inference: str = "cvb0"
    seeds: Any = None
    seed_strength: float = 100.0
    callback: Callable | None = None

    _saved = EMEstimator._saved | {
        "components_": Numbers("K d", **POSITIVE),
        "exp_dirichlet_component_": Numbers("K d", low=0, high=1),
        "topic_word_": Numbers("K d", low=0, high=1, total=1.0),
        "topic_share_": Numbers("K", low=0, high=1, total=1.0),
        "word_share_": Numbers("d", low=0, high=1, total=1.0),
        "doc_topic_prior_": Either(Numbers(**POSITIVE), Numbers("K", **POSITIVE)),
        "topic_word_prior_": Either(Numbers(**POSITIVE), Numbers("d|K d", **POSITIVE)),
        "bound_": Numbers(low=0, beside=(np.inf, np.nan)),
        "n_batch_iter_": Whole(0),
    }
    _takes_missing = False
    _takes_sparse = True
    _min_rows = 1
    _missing_remedy = "and a document's count of a word is a number; use 0 where it does not occur"
    tol = 0.0

    def _sizes(self) -> dict[str, int]:
        return super()._sizes() | {"K": self.n_components}

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # Settings

    def _check_settings(self) -> None:
        check_n_jobs(self.n_jobs)
        check_number("n_components", self.n_components, numbers.Integral, 1)
        check_choice("inference", self.inference, INFERENCES)
        check_choice("learning_method", self.learning_method, ("batch", "online"))
        check_number("learning_decay", self.learning_decay, numbers.Real, 0, 1)
        check_number("learning_offset", self.learning_offset, numbers.Real, 1)
        check_number("max_iter", self.max_iter, numbers.Integral, 0, also=(None,))
        check_number("batch_size", self.batch_size, numbers.Integral, 1)
        check_positive("total_samples", self.total_samples)
        for name in ("perp_tol", "mean_change_tol", "max_doc_update_iter"):
            check_number(name, getattr(self, name), numbers.Real, 0)
        check_positive("seed_strength", self.seed_strength)
        if self.seeds and isinstance(self.topic_word_prior, str):
            raise ValueError(f"topic_word_prior={self.topic_word_prior!r} cannot be learned where seeds are given.")
        self._alpha_rule()
        if isinstance(self.topic_word_prior, str):
            PriorRule("topic_word_prior", self.topic_word_prior, 1, self.n_components, True)

    def _alpha_rule(self) -> PriorRule:
        return PriorRule("doc_topic_prior", self.doc_topic_prior, self.n_components, self.n_components, False)

    @property
    def _stochastic(self) -> bool:
        return self.learning_method == "online" or self.inference == "scvb0"

    @property
    def _most_steps(self) -> int:
        default = 10 if self._stochastic else PASSES.get(self.inference, 10)
        return default if self.max_iter is None else int(self.max_iter)

    def _model(self) -> AllocationModel:
        """The model that the settings describe."""
        V, K = self.n_features_in_, self.n_components
        eta, table = PriorRule("topic_word_prior", self.topic_word_prior, V, K, True), None
        if self.seeds:
            table = seeded(eta.start, self.seeds, self.seed_strength, K, self._known_names(), V)
        relative = self.inference == "cvb0" and not self._stochastic and self.evaluate_every < 1
        kind = VariationalModel if self.inference == "vb" else CollapsedModel
        stop = self.perp_tol if relative or self.evaluate_every > 0 else -1.0, relative
        model = kind(K, self._alpha_rule(), eta, table, int(self.max_doc_update_iter), self.mean_change_tol, *stop)
        model.monotone = (
            model.monotone and not self._stochastic
        )  # steps of batches may lower the bound of all documents
        return model

    # Opening documents

    def _validate(self, X: Any, *, reset: bool) -> Any:
        X = super()._validate(X, reset=reset)
        X = X if hasattr(X, "tocsr") else csr_matrix(X)
        self._check_counts(X)
        return X

    def _check_counts(self, X: Any) -> None:
        bad = np.flatnonzero(~((X.data >= 0) & np.isfinite(X.data)))
        if len(bad):
            row, column = int(np.searchsorted(X.indptr, bad[0], side="right")) - 1, int(X.indices[bad[0]])
            raise ValueError(
                f"Negative values in data passed to {type(self).__name__}: row {row}, column {self._told(column)} holds "
                f"{X.data[bad[0]]:g}; counts of words are finite and not negative."
            )

    def _check_source(self, source: Source, reset: bool) -> None:
        super()._check_source(source, reset)
        if isinstance(source, SparseSource):
            self._check_counts(source.X)

    # Learning

    def fit(self, X: Any, y: Any = None, *, checkpoint: Any = None, checkpoint_every: float = 60.0) -> Self:
        """Learn topics.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_documents, n_words), path, Arrow data, Dask collection or source
            Counts of words. Documents kept as rows [word, count] are opened by `DocumentSource`.
        y : None
            Ignored.
        checkpoint : path, optional
            A file that keeps the state of a batch fit. If it exists, the fit goes on from there; it is removed at the end.
        checkpoint_every : float, default=60
            Seconds between writes of the checkpoint.

        Returns
        -------
        self
        """
        self._check_settings()
        if checkpoint is not None and self._stochastic:
            raise ValueError(
                "checkpoint keeps fits in batches of all documents; online learning goes on by partial_fit."
            )
        source = self._open(X, reset=True)
        self._check_memory(source, source.n_units if source.in_memory else 0)
        self.random_state_ = check_random_state(self.random_state)
        self.n_batch_iter_, self._n_words = 1, float(source.sum(word_count))
        with warnings.catch_warnings():
            # As in scikit-learn: where a fit is stopped before it settles, `fit_.reason` says so.
            warnings.simplefilter("ignore", ConvergenceWarning)
            if self._stochastic:
                self._learn_online(source)
            else:
                self._learn(source, checkpoint=checkpoint, checkpoint_every=checkpoint_every)
                self.n_batch_iter_ = self.n_iter_ + 1
        self._online = None
        self.bound_ = self._final_bound(source)
        return self

    def _check_memory(self, source: Source, n_remembered: int) -> None:
        """Raise where so many topics of words, and of documents that are remembered, cannot fit into memory."""
        check_memory("n_components", self.n_components, 8.0 * (TABLES * source.n_features + MEMORIES * n_remembered))

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from more documents, batch by batch; `total_samples` is how many there will be in all.

        Parameters
        ----------
        X, y
            As in `fit`.

        Returns
        -------
        self
        """
        self._check_settings()
        first = not hasattr(self, "components_")
        source = self._open(X, reset=first)
        model = self._model()
        if first:
            self._check_memory(source, 0)
            self.random_state_, self.n_batch_iter_ = check_random_state(self.random_state), 1
            params = self._weak_start(model, source)
        else:
            params = self._params()
        for batch in batches(source, self.batch_size):
            params, _ = online_update(model, batch, params, self._step_size(), self.total_samples)
            self.n_batch_iter_ += 1
        self._publish(params, source.dtype)
        self.n_iter_ = getattr(self, "n_iter_", 0)
        return self

    def _step_size(self) -> float:
        return float((self.learning_offset + self.n_batch_iter_) ** -self.learning_decay)

    def _weak_start(self, model: AllocationModel, source: Source) -> TopicParams:
        """Random topics that count for one word each on average, so that the first batches outweigh them."""
        rng = self._rng()
        params = model.init(source.sample(self._sample_rows(), rng), rng, 100.0)
        mean = float((params.word - params.eta).mean())
        word = params.eta + (params.word - params.eta) / mean if mean > 0 else params.word
        return TopicParams(word, params.alpha, params.eta)

    def _learn_online(self, source: Source) -> None:
        """Passes over batches of documents."""
        model = self._model()
        start = self._weak_start(model, source)

        def update(params: TopicParams, batch: Source) -> tuple[TopicParams, Any]:
            found = online_update(model, batch, params, self._step_size(), source.n_rows)
            self.n_batch_iter_ += 1
            return found

        split = partial(batches, source, self.batch_size)
        done = online_fit(model, source, split, start, update, self._most_steps, self._callback())
        self._publish_fit(done, source.dtype)
        if done.interrupted:
            warnings.warn(f"{done.reason}; what was learned so far is kept.", UserWarning, stacklevel=3)

    def _start(self, model: Any, task: Task) -> TopicParams:
        """Random topics after collapsed passes over some documents, which merge fewer topics than variational ones."""
        start, sample = model.init(task.sample, task.rng), task.sample
        if self.inference != "vb":
            n_rows, n_units = task.source.n_rows, task.source.n_units
            n_started = min(STARTING_DOCUMENTS, n_units // STARTING_SHARE)
            if n_started < self.n_components:
                return start
            sample = task.source.sample(n_started * n_rows // n_units, task.rng)
        collapsed = CollapsedModel(self.n_components, model.alpha, model.eta, model.eta_table)
        few = as_source(sample, n_jobs=self.n_jobs)
        return fit(collapsed, few, start, max_iter=STARTING_PASSES, tol=0.0).params

    def _callback(self) -> Callable | None:
        if self.callback is None and self.verbose:
            return AllocationLines(self.evaluate_every, self._n_words)
        return self.callback

    def _publish_fit(self, fit: Fit, dtype: np.dtype) -> None:
        super()._publish_fit(fit, dtype)
        self.n_iter_ = len(fit.trace)

    def _publish(self, params: TopicParams, dtype: np.dtype) -> None:
        counts = params.word - params.eta
        total = float(counts.sum())
        if total <= 1e-9:
            warnings.warn(
                "X holds no word, so that topics are their prior; check the counts.", UserWarning, stacklevel=4
            )
            counts, total = params.word, float(params.word.sum())
        self.components_ = np.ascontiguousarray(params.word.T).astype(dtype)
        self.exp_dirichlet_component_ = np.ascontiguousarray(params.expected.T).astype(dtype)
        self.topic_word_ = np.ascontiguousarray(params.share.T)
        self.topic_share_ = np.maximum(counts.sum(axis=0), 0.0) / np.maximum(counts.sum(axis=0), 0.0).sum()
        self.word_share_ = np.maximum(counts.sum(axis=1), 0.0) / np.maximum(counts.sum(axis=1), 0.0).sum()
        self.doc_topic_prior_ = float(params.alpha[0]) if len(params.alpha) == 1 else params.alpha
        eta = params.eta
        self.topic_word_prior_ = float(eta[0, 0]) if eta.size == 1 else eta[:, 0] if eta.shape[1] == 1 else eta.T.copy()

    def _params(self) -> TopicParams:
        """Parameters, made from fitted attributes."""
        check_is_fitted(self, "components_")
        alpha, eta = np.atleast_1d(self.doc_topic_prior_), np.asarray(self.topic_word_prior_)
        eta = eta.T if eta.ndim == 2 else np.atleast_1d(eta)[:, None]
        word = np.ascontiguousarray(self.components_.T, dtype=np.float64)
        return TopicParams(word, alpha.astype(np.float64), np.ascontiguousarray(eta, dtype=np.float64))

    def _final_bound(self, source: Source) -> float:
        """Perplexity of the documents by the bound: at settled γ where it was to be evaluated, else as the last pass left it."""
        params, words = self.fit_.params, self._n_words
        if words <= 0.0:
            return float("nan")
        if self.evaluate_every > 0:
            return perplexity_of(bound_of(params, self._bound_model(), source), words)
        if self.inference == "vb" and not self._stochastic and self.fit_.trace.objectives:
            return perplexity_of(self.fit_.trace.objectives[-1], words)
        model, remembered = self._bound_model(quick=True), source.recall() is not None and not self._stochastic
        total = sum(source.map(partial(_bound_as_left, model, params, remembered))) + model.log_prior(params)
        return perplexity_of(total, words)


def _bound_as_left(model: VariationalModel, params: TopicParams, remembered: bool, block: Block) -> float:
    """What the documents of a block add to the bound at the counts that they remember, or after a few updates."""
    gamma = model.memory(block).topics
    if remembered and block.memory is not None:
        gamma = block.memory.topics + 0.0 * gamma  # type: ignore[attr-defined]
        gamma = gamma + (gamma.new_tensor(params.topic_prior) if backend(gamma) == "torch" else params.topic_prior)
    bound = model._settle(params, block, gamma, 0 if remembered else 5, np.zeros((0, model.n_topics)))
    return float(host(block.weight) @ bound)
