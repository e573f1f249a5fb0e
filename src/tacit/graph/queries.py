"""`NetworkQueries`: what a network says of single cases."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .evidence import Evidence, read_evidence
from .mixed import Mixed, Part
from .nodes import Nodes
from .potential import Potential
from .reading import NetworkTables

__all__ = ["Explanation", "GaussianMarginal", "NetworkQueries"]

FITTED = 1e-12
MOST_ROUNDS = 1000


class GaussianMarginal(NamedTuple):
    """The posterior of a continuous variable: a mixture of Gaussians.

    Attributes
    ----------
    mean, variance : float
    weights, means, variances : ndarray
        Its components, one for each state of discrete variables that it depends on.
    """

    mean: float
    variance: float
    weights: np.ndarray
    means: np.ndarray
    variances: np.ndarray


class Explanation(NamedTuple):
    """The most probable values of variables.

    Attributes
    ----------
    states : dict
    log_probability : float
        Log of the joint probability (or density) of these and the evidence.
    """

    states: dict
    log_probability: float


class NetworkQueries(NetworkTables):
    """Queries. A subclass has ``nodes_`` and ``params_``."""

    nodes_: Nodes
    params_: Any
    target: Any

    @property
    def _mixed(self) -> Mixed:
        """What answers, with all that was compiled; not saved."""
        check_is_fitted(self)
        found = self.__dict__.get("_engine")
        if found is None or found.nodes is not self.nodes_:
            found = self.__dict__["_engine"] = Mixed(self.nodes_)
        return found

    def __getstate__(self) -> Any:
        return {name: value for name, value in super().__getstate__().items() if name != "_engine"}

    # Single cases

    def _evidence(self, given: Any = None, likelihood: Any = None, belief: Any = None) -> Evidence:
        check_is_fitted(self)
        evidence = read_evidence(self.nodes_, self._placed(given), likelihood, belief)
        return self._fitted(evidence) if evidence.belief else evidence

    def _placed(self, given: Any) -> Any:
        """What is given, with numbers of columns that are cut into levels as these levels."""
        if not isinstance(given, Mapping):
            return given
        cut = {column.name: column for column in self.schema_.columns if column.cuts}
        return {
            v: cut[v].levels[int(cut[v].level_of(np.float64(value)))]
            if v in cut and isinstance(value, numbers.Real) and value == value
            else value
            for v, value in given.items()
        }

    def _fitted(self, evidence: Evidence) -> Evidence:
        """Evidence whose beliefs are likelihoods, found by proportional fitting until all marginals are as believed."""
        wanted, evidence.belief = evidence.belief, {}
        evidence.likelihood |= {i: np.ones(len(q)) for i, q in wanted.items()}
        for _ in range(MOST_ROUNDS):
            worst = 0.0
            for i, q in wanted.items():
                p = self._part(evidence, [(i,)]).marginals[0]
                bad = (q > 0) & (p <= 0)
                if bad.any():
                    state = self.nodes_.states[i][int(np.argmax(bad))]
                    raise ValueError(
                        f"belief in {self.nodes_.names[i]!r} = {state!r} is {q[bad][0]:g}, but it is impossible here."
                    )
                worst = max(worst, float(np.abs(p - q).max()))
                ratio = evidence.likelihood[i] * np.divide(q, p, out=np.zeros_like(q), where=p > 0)
                evidence.likelihood[i] = ratio / ratio.max()
            if worst < FITTED:
                return evidence
        raise ValueError(
            f"beliefs {wanted} cannot all hold: after {MOST_ROUNDS} rounds one is still off by {worst:.3g}."
        )

    def _part(self, evidence: Evidence, targets: Sequence[Sequence[int]], asked: Iterable[int] = ()) -> Part:
        """The answer for one case; an error where the evidence is impossible."""
        mixed = self._mixed
        (part,) = mixed.parts(self.params_, evidence.codes, evidence.values, targets, asked, evidence.soft)
        if np.isneginf(part.loglik[0]):
            raise ValueError(self._conflict(evidence))
        return part

    def _conflict(self, evidence: Evidence) -> str:
        """Which part of the evidence is impossible: what remains where nothing can be left out."""

        def impossible(codes: np.ndarray, soft: dict) -> bool:
            case = Evidence(codes, evidence.values, soft)
            (part,) = self._mixed.parts(self.params_, case.codes, case.values, [], (), case.soft)
            return bool(np.isneginf(part.loglik[0]))

        codes, soft = evidence.codes.copy(), dict(evidence.likelihood)
        for i in np.flatnonzero(codes[0] >= 0).tolist():
            less = codes.copy()
            less[0, i] = -1
            codes = less if impossible(less, soft) else codes
        for i in list(soft):
            less_soft = {j: each for j, each in soft.items() if j != i}
            soft = less_soft if impossible(codes, less_soft) else soft
        names, states = self.nodes_.names, self.nodes_.states
        told = [f"{names[i]} = {states[i][codes[0, i]]}" for i in np.flatnonzero(codes[0] >= 0)]
        told += [f"the likelihood of {names[i]}" for i in soft]
        return f"the evidence is impossible: {', '.join(told)} has probability 0; correct or leave out one of these."

    def query(self, variables: Any, given: Any = None, *, likelihood: Any = None, belief: Any = None) -> Any:
        """The posterior of variables given evidence.

        Parameters
        ----------
        variables : variable or list of variables
            One or several discrete variables, whose joint distribution is told, or one continuous variable.
        given : dict of variable to state, optional
            What is observed; a number of a continuous variable, or of a column that is cut into levels.
        likelihood : dict of variable to (dict of state to number, or sequence), optional
            Likelihood evidence: how much more probable what was seen is in one state than in another.
        belief : dict of variable to (dict of state to probability, or sequence), optional
            Jeffrey's rule: what the distributions of variables are to be, all else following.

        Returns
        -------
        Potential or GaussianMarginal
        """
        evidence = self._evidence(given, likelihood, belief)
        asked = [variables] if self._is_variable(variables) else list(variables)
        positions = [self.nodes_.at(v) for v in asked]
        gaussian = [i for i in positions if self.nodes_.continuous[i]]
        if gaussian and len(positions) > 1:
            raise ValueError(f"{self.nodes_.names[gaussian[0]]!r} is continuous; ask for it alone.")
        if not positions or len(set(positions)) < len(positions):
            raise ValueError(f"variables={variables!r} must name at least one variable, and each once.")
        if gaussian:
            return self._gaussian(evidence, gaussian[0])
        values = self._part(evidence, [tuple(positions)]).marginals[0]
        values = values.reshape([len(self.nodes_.states[i]) for i in positions])
        states = {self.nodes_.names[i]: self.nodes_.states[i] for i in positions}
        return Potential._of(tuple(states), states, values / values.sum())

    def _is_variable(self, variables: Any) -> bool:
        try:
            return isinstance(variables, str) or variables in self.nodes_.number
        except TypeError:
            return False

    def _gaussian(self, evidence: Evidence, i: int) -> GaussianMarginal:
        if i in evidence.observed:
            value = float(evidence.values[0, i])  # type: ignore[index]
            return GaussianMarginal(value, 0.0, np.ones(1), np.array([value]), np.zeros(1))
        part = self._part(evidence, [], [i])
        (mean,), (variance,) = part.moments(i)
        weights, means, variances = part.mixture(i)
        return GaussianMarginal(float(mean), float(variance), weights[0], means[0], variances)

    def marginals(self, given: Any = None, *, likelihood: Any = None, belief: Any = None) -> dict:
        """The posterior of every variable, by name: a Potential, or a GaussianMarginal of a continuous one.

        Parameters
        ----------
        given, likelihood, belief
            As in `query`.
        """
        evidence, nodes = self._evidence(given, likelihood, belief), self.nodes_
        discrete = np.flatnonzero(~nodes.continuous).tolist()
        part = self._part(evidence, [(i,) for i in discrete], self._mixed.gaussian)
        parts = np.split(part.marginals[0], np.cumsum(nodes.cards[discrete])[:-1])
        found = {
            nodes.names[i]: Potential._of((nodes.names[i],), {nodes.names[i]: nodes.states[i]}, p / p.sum())
            for i, p in zip(discrete, parts)
        }
        found |= {nodes.names[i]: self._gaussian(evidence, i) for i in self._mixed.gaussian}
        return {v: found[v] for v in nodes.names}

    def log_probability(self, given: Any = None, *, likelihood: Any = None) -> float:
        """The log probability of evidence, or log density where some of it is continuous; −∞ where it is impossible.

        Parameters
        ----------
        given, likelihood
            As in `query`; a likelihood counts in units of its largest number.
        """
        case = self._evidence(given, likelihood)
        (part,) = self._mixed.parts(self.params_, case.codes, case.values, [], (), case.soft)
        return float(part.loglik[0])

    def most_probable(
        self, given: Any = None, variables: Any = None, *, likelihood: Any = None, belief: Any = None
    ) -> Explanation:
        """The most probable values of variables together, given evidence.

        Parameters
        ----------
        given, likelihood, belief
            As in `query`.
        variables : list of discrete variables, optional
            Those that are maximised while the others are summed over (marginal MAP); default is all (the most probable
            explanation).

        Returns
        -------
        Explanation
        """
        evidence, nodes = self._evidence(given, likelihood, belief), self.nodes_
        everything = np.flatnonzero(~nodes.continuous).tolist()
        asked = (
            everything
            if variables is None
            else [nodes.at(v) for v in ([variables] if self._is_variable(variables) else variables)]
        )
        gaussian = [i for i in asked if nodes.continuous[i]]
        if gaussian:
            raise ValueError(f"{nodes.names[gaussian[0]]!r} is continuous; marginal MAP takes discrete variables.")
        logs, filled = self._mixed.most_probable(self.params_, evidence.codes, evidence.values, asked, evidence.soft)
        if np.isneginf(logs[0]):
            raise ValueError(self._conflict(evidence))
        told = range(len(nodes.names)) if variables is None else asked
        states = {nodes.names[i]: self._told_value(i, filled[0, i]) for i in told if i not in evidence.observed}
        return Explanation(states, float(logs[0]))

    def _told_value(self, i: int, value: float) -> Any:
        return float(value) if self.nodes_.continuous[i] else self.nodes_.states[i][int(value)]
