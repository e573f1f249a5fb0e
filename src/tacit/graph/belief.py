"""`BeliefNetwork`: p(x) = Π_i p(x_i | x_pa(i)), from tables, from files, or learned from rows with missing cells.

Discrete variables have tables θ_ijk, continuous ones regressions on their continuous parents for each state of the discrete ones.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np

from ..base.settings import KW_ONLY, LoopSettings, settings
from ..checks import check_number, check_weight
from ..declared import Numbers, Part
from ..engine import Fit, Trace
from ..frames import Batch, is_table
from ..kernels import host
from ..notes import Note
from ..source import Source
from ..source.threads import in_order, thread_count
from .answers import NetworkAnswers
from .continuous import regressors
from .counting import codes_of_column, complete_counts, count_families
from .exchange import to_networkx
from .formats import read_network, write_network
from .graphs import GraphQuestions
from .model import NetworkModel, NetworkParams, NetworkStats
from .nodes import Nodes
from .potential import Potential
from .reading import schema_of_nodes
from .structures import check_structure, found_edges
from .tables import read_tables

__all__ = ["BeliefNetwork"]

GIVEN = Note("given", "its tables were given")
CLOSED = Note("closed_form", "no cell was missing, so counting gave the maximum")


@settings
class BeliefNetwork(LoopSettings, GraphQuestions, NetworkAnswers):
    """Belief network (Bayesian network) over discrete and continuous variables, with exact inference.

    Learned from a table, it classifies any column, fills missing cells of all, and tells the probability of rows; variables
    that no row observes may be part of it. Made from tables or a file, it answers queries at once.

    Parameters
    ----------
    structure : list of (parent, child), mapping of child to parents, networkx.DiGraph, or str, default="hill-climbing"
        Edges between columns and hidden variables, or how to find those between columns: "hill-climbing", "chow-liu" or "pc".
        An empty list makes all columns independent.
    hidden : dict of name to int or list, optional
        Variables that no column observes: numbers of their states, or the states.
    states : dict of name to list, optional
        States of columns, where they are not those that occur.
    continuous : "auto" or list of names, default="auto"
        Columns that are numbers; "auto" takes columns of numbers other than at most 20 different whole ones. Where a structure is
        searched for, which is one of discrete variables, "auto" cuts these into levels.
    levels : int or "auto", optional
        How many levels columns of numbers are cut into, each with about as many rows; "auto" takes 3 to 5 by the number of rows.
        Default is "auto" where a structure is searched for, and not to cut where edges are given.
    prior : float, default=0.5
        Pseudo-count of every cell of every table: estimates are the mode under Dirichlet(1 + prior) priors, and the mean under
        Dirichlet(prior). 0 is maximum likelihood, by which what the rows do not hold is impossible.
    equivalent_sample_size : float, optional
        Pseudo-counts of this sum for every table instead, spread evenly over its cells (BDeu).
    structure_score, required, forbidden, max_parents
        Of the search for a structure ("bic", "bdeu" …); edges are pairs of names.
    unknown : {"error", "missing"}, default="error"
        What to do about states that did not occur at fit.
    target : name or number of a column, optional
        What `predict` predicts where it is not told; default is the last column.
    n_init : int, default=5
        Starts of EM, where variables are hidden; missing cells alone need one.
    tol, max_iter, random_state, verbose, verbose_interval, convergence, accelerate, n_jobs, device, callback
        As in :class:`tacit.mixture.Mixture`.

    Attributes
    ----------
    nodes_ : tacit.graph.nodes.Nodes
        Names, states and parents of the variables.
    params_ : tacit.graph.model.NetworkParams
        All parameters; `table` and `regression` tell those of a variable.
    schema_ : tacit.schema.Schema
        Names, kinds and states of the columns.
    converged_, n_iter_, lower_bound_, lower_bounds_, fit_
        As in :class:`tacit.mixture.Mixture`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Lauritzen and Spiegelhalter (1988), Local computations with probabilities on graphical structures. Lauritzen (1995), The EM
    algorithm for graphical association models with missing data. Barber (2012), Bayesian Reasoning and Machine Learning.

    Examples
    --------
    >>> from tacit.graph import BeliefNetwork
    >>> states = dict.fromkeys(["rain", "sprinkler", "wet"], ["no", "yes"])
    >>> network = BeliefNetwork.from_tables({
    ...     "rain": [0.8, 0.2], "sprinkler": [0.9, 0.1],
    ...     "wet": (["rain", "sprinkler"], [[[1, 0], [0.1, 0.9]], [[0, 1], [0, 1]]])}, states)
    >>> round(float(network.query("sprinkler", {"wet": "yes"}).values[1]), 3)
    0.338
    """

    structure: Any = "hill-climbing"
    _: KW_ONLY
    hidden: Any = None
    states: Any = None
    continuous: Any = "auto"
    levels: Any = None
    prior: float = 0.5
    equivalent_sample_size: Any = None
    structure_score: Any = None
    required: Any = ()
    forbidden: Any = ()
    max_parents: Any = None
    unknown: str = "error"
    target: Any = None
    n_init: int = 5
    tol: float = 1e-6
    max_iter: int = 500

    _saved = NetworkAnswers._saved | {
        "nodes_": Part(Nodes),
        "params_": Part(NetworkParams),
        "origin_": Numbers("v"),
        "scale_": Numbers("v", above=0),
    }
    n_components = 1
    _study = "network"

    # Made from tables

    @classmethod
    def from_tables(cls, tables: Mapping, states: Mapping | None = None) -> Self:
        """A network of given tables.

        Parameters
        ----------
        tables : mapping of variable to table
            A table is probabilities of the states, (parents, probabilities) with an axis per parent and the last for the
            variable, or a `Potential` whose last variable it is; a regression (parents, {"coefficients": …, "variance": …})
            makes it continuous.
        states : mapping of variable to list, optional
            Names of the states; default 0, 1, …

        Examples
        --------
        >>> from tacit.graph import BeliefNetwork
        >>> coin = BeliefNetwork.from_tables({"coin": [0.5, 0.5], "win": (["coin"], [[0.9, 0.1], [0.2, 0.8]])})
        >>> coin.query("win").values.round(2).tolist()
        [0.55, 0.45]
        """
        nodes, theta, coefficients, variance = read_tables(tables, states)
        return cls._of(nodes, theta, coefficients, variance)

    @classmethod
    def read(cls, path: Any) -> Self:
        """A network from a file in BIF (.bif), XMLBIF (.xml, .xmlbif, .bifxml) or UAI (.uai).

        Parameters
        ----------
        path : str or path-like
        """
        return cls._of(*read_network(path))

    def write(self, path: Any) -> None:
        """Write a network of discrete variables in the format that the file's name ends in; `tacit.save` keeps all of any
        network.

        Parameters
        ----------
        path : str or path-like
        """
        write_network(path, self._mixed.nodes, self.params_.theta)

    @classmethod
    def _of(cls, nodes: Nodes, theta: np.ndarray, coefficients: Any = (), variance: Any = ()) -> Self:
        """A network whose parameters are known; fitting it learns them anew."""
        states = {v: list(each) for v, each in zip(nodes.names, nodes.states) if each}
        network = cls(list(nodes.edges), states=states, continuous=[v for v in nodes.names if v not in states])
        network.nodes_, network.schema_ = nodes, schema_of_nodes(nodes)
        network.n_features_in_ = len(nodes.names)
        if all(isinstance(v, str) for v in nodes.names):
            network.feature_names_in_ = np.array(nodes.names, dtype=object)
        network.origin_, network.scale_ = np.zeros(len(nodes.names)), np.ones(len(nodes.names))
        params = network._mixed_of(nodes).joined(theta, list(coefficients), list(variance))
        network._publish_fit(Fit(params, Trace(), GIVEN, converged=True), np.dtype(np.float64))
        return network

    @staticmethod
    def _mixed_of(nodes: Nodes) -> Any:
        from .mixed import Mixed

        return Mixed(nodes)

    def do(self, intervention: Mapping) -> BeliefNetwork:
        """The network after an intervention: variables are set, whatever their parents are.

        Parameters
        ----------
        intervention : mapping of variable to state
            Discrete variables, or numbers of continuous ones, which are set up to a millionth of their scale.

        Returns
        -------
        BeliefNetwork
        """
        evidence, nodes = self._evidence(intervention), self.nodes_
        parents = tuple(() if i in evidence.observed else each for i, each in enumerate(nodes.parents))
        cut = Nodes(nodes.names, nodes.states, parents)
        tables = [
            np.eye(len(nodes.states[i]))[evidence.codes[0, i]] if i in evidence.observed else self._table(i).ravel()
            for i in np.flatnonzero(nodes.sizes).tolist()
        ]
        coefficients, variance = self._mixed.regressions(self.params_)
        for i in set(evidence.observed) & set(coefficients):
            coefficients[i] = np.array([[evidence.values[0, i]]])  # type: ignore[index]
            variance[i] = np.array([(1e-6 * self.scale_[i]) ** 2])
        return BeliefNetwork._of(
            cut, np.concatenate([np.empty(0), *tables]), list(coefficients.values()), list(variance.values())
        )

    # Parameters

    def _table(self, i: int) -> np.ndarray:
        nodes = self.nodes_
        return self.params_.theta[nodes.offsets[i] : nodes.offsets[i + 1]].reshape(nodes.shape(i))

    def table(self, variable: Any) -> Potential:
        """The conditional table of a discrete variable, an axis per parent and the last its own.

        Parameters
        ----------
        variable : object
        """
        self._mixed  # noqa: B018 (raises where nothing is fitted)
        i = self.nodes_.at(variable)
        if self.nodes_.continuous[i]:
            raise ValueError(f"{variable!r} is continuous; ask for its regression.")
        names = [self.nodes_.names[j] for j in self.nodes_.family(i)]
        return Potential(names, self._table(i), {v: self.states_of(v) for v in names})

    def regression(self, variable: Any) -> dict:
        """The regression of a continuous variable: its parents, and for each state of the discrete ones coefficients and
        variance.

        Parameters
        ----------
        variable : object
        """
        coefficients, variance = self._mixed.regressions(self.params_)
        i = self.nodes_.at(variable)
        if i not in coefficients:
            raise ValueError(f"{variable!r} is discrete; ask for its table.")
        names, shape = self.nodes_.names, self.nodes_.shape(i)
        return {
            "parents": [names[j] for j in self.nodes_.parents[i]],
            "regressors": [names[j] for j in regressors(self.nodes_, i)],
            "coefficients": coefficients[i].reshape(*shape, -1),
            "variance": variance[i].reshape(shape),
        }

    def to_networkx(self) -> Any:
        """The graph as a networkx.DiGraph."""
        return to_networkx(self._mixed.nodes.names, self.nodes_.edges)

    # Learning

    def _check_settings(self) -> None:
        self._check_engine()
        self._check_reading()
        check_number("n_init", self.n_init, numbers.Integral, 1)
        check_number("prior", self.prior, numbers.Real, 0)
        check_number("equivalent_sample_size", self.equivalent_sample_size, numbers.Real, 0, also=(None,))
        check_structure(self)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the parameters and, where it is not given, the structure.

        Parameters
        ----------
        X : DataFrame, Arrow table, array-like or source
            Rows; missing cells are None or NaN.
        y : None
            Ignored; the target is a column of X.
        sample_weight : array-like of shape (n_samples,), optional
            Whole numbers where a structure is searched for. Where columns are cut into levels does not depend on it.

        Returns
        -------
        self
        """
        self._check_settings()
        self.__dict__.pop("nodes_", None)
        if is_table(X):
            columns = self._opened(X, reset=True)
            if self._count_table(columns, sample_weight):
                return self
            source = self._in_memory(self._cells(columns), sample_weight)
        else:
            source = self._open(X, sample_weight, reset=True)
        if not self._closed_form(source):
            self._learn(source)
            self._online = None  # there are no batches to go on with
        return self

    def _count_table(self, columns: Batch, sample_weight: Any) -> bool:
        """Learn by counting, column by column, where every cell is a known state and edges are given; whether that was so."""
        known = all(column.levels for column in self.schema_.columns)
        if (
            self.hidden
            or not known
            or isinstance(self.structure, str)
            or any(c.missing.any() for c in columns.values())
        ):
            return False
        read = partial(codes_of_column, unknown=self.unknown)
        pairs = zip(self.schema_.columns, columns.values())
        codes = list(in_order(read, pairs, thread_count(self.n_jobs)))
        if any((each < 0).any() for each in codes):
            return False
        weight = check_weight(sample_weight, columns.n_rows)
        self._prepare(None)
        counts = count_families(self.nodes_, codes, weight, thread_count(self.n_jobs))
        total = float(columns.n_rows if weight is None else weight.sum())
        self._publish_counts(NetworkStats(0.0, total, counts), np.dtype(np.float64))
        return True

    def _closed_form(self, source: Source) -> bool:
        """Learn by counting, where no cell is missing and no variable hidden or continuous; whether that was so."""
        if self.hidden or not all(source.map(_complete)):
            return False
        self._prepare(source)
        if self.nodes_.continuous.any():
            return False
        self._publish_counts(source.sum(partial(complete_counts, self.nodes_)), source.dtype)
        return True

    def _publish_counts(self, stats: NetworkStats, dtype: np.dtype) -> None:
        """Keep what counts of complete rows tell."""
        model, trace = self._model(), Trace()
        params = model.m_step(stats, model.init(None, np.random.default_rng(0)))
        used = stats.counts > 0
        trace.record(float(stats.counts[used] @ np.log(params.theta[used])) + model.log_prior(params), stats.weight)
        self._publish_fit(Fit(params, trace, CLOSED, converged=True), dtype)
        self._online = None

    def _prepare(self, source: Any) -> None:
        """Find the structure, and the location and spread of continuous columns."""
        columns = self.schema_.columns
        hidden = self._hidden_states()
        twice = [v for v in hidden if v in self.schema_.names]
        if twice:
            raise ValueError(f"hidden names {twice[0]!r}, which is a column of the table; choose another name.")
        states = {c.name: tuple(c.levels) for c in columns} | hidden
        names = (*self.schema_.names, *hidden)
        if "nodes_" not in self.__dict__:
            self.nodes_ = Nodes.of_edges(found_edges(self, source, names, states), names, states)
        self.origin_, self.scale_ = _spread(source, self.nodes_)

    def _hidden_states(self) -> dict[Any, tuple]:
        """States of the hidden variables."""
        return {
            v: tuple(range(s)) if isinstance(s, numbers.Integral) else tuple(s) for v, s in (self.hidden or {}).items()
        }

    def _hidden_names(self) -> list:
        return list(self.hidden or {})

    def _model(self) -> NetworkModel:
        pseudo, sizes = None, self.nodes_.sizes
        if self.equivalent_sample_size:
            pseudo = np.repeat(self.equivalent_sample_size / np.maximum(sizes, 1), sizes)
        elif self.prior:
            pseudo = np.full(int(sizes.sum()), float(self.prior))
        return NetworkModel(self.nodes_, self.n_features_in_, pseudo, self.origin_, self.scale_, self._engine_of())

    def _engine_of(self) -> Any:
        found = self.__dict__.get("_engine")
        if found is None or found.nodes is not self.nodes_:
            found = self.__dict__["_engine"] = self._mixed_of(self.nodes_)
        return found

    def _publish(self, params: NetworkParams, dtype: np.dtype) -> None:
        self.params_ = params

    def _params(self) -> NetworkParams:
        return self.params_

    def _parameters(self, params: NetworkParams) -> dict[str, np.ndarray]:
        """The tables of discrete variables, by what they tell."""
        found, nodes = {}, self.nodes_
        for i in np.flatnonzero(nodes.sizes).tolist():
            given = ", ".join(str(nodes.names[j]) for j in nodes.parents[i])
            cells = params.theta[nodes.offsets[i] : nodes.offsets[i + 1]]
            found[f"P({nodes.names[i]}{' | ' if given else ''}{given})"] = cells.reshape(nodes.shape(i))
        return found

    def _check_loaded(self) -> None:
        if len(self.schema_.columns) != self.n_features_in_ or len(self.origin_) != len(self.nodes_.names):
            raise ValueError(f"it tells of {len(self.schema_.columns)} columns, not {self.n_features_in_}")
        for column, name, states in zip(self.schema_.columns, self.nodes_.names, self.nodes_.states):
            if column.name != name or tuple(column.levels) != states:
                raise ValueError(f"the column {column.name!r} is not the variable {name!r} of the network")


def _complete(block: Any) -> bool:
    """Whether no cell of a block is missing."""
    return bool(block.patterns.is_complete)


def _spread(source: Source, nodes: Nodes) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations of continuous columns, 0 and 1 of others."""
    origin, scale = np.zeros(len(nodes.names)), np.ones(len(nodes.names))
    for i in np.flatnonzero(nodes.continuous):
        cells = np.concatenate([host(block.X)[:, i] for block in source]).astype(np.float64)
        cells = cells[~np.isnan(cells)]
        origin[i] = cells.mean()
        spread = float(cells.std())
        if spread <= 1e-12 * max(1.0, abs(origin[i])):
            raise ValueError(
                f"the continuous column {nodes.names[i]!r} is {cells[0]:g} in every row; leave it out, or name states for it."
            )
        scale[i] = spread
    return origin, scale
