"""Models that hide a state per step, per word and per user, each a page on the nouns that mixtures are made of."""

import numpy as np

from tacit.arrays import Arrays, record
from tacit.engine import Model
from tacit.kernels import host

# One class per step: a unit is a sequence, and the chain never crosses from one to the next.


@record
class ChainParams(Arrays):
    start: np.ndarray  # (states,)
    move: np.ndarray  # (states, states)
    mean: np.ndarray  # (states,)
    variance: np.ndarray  # (states,)


@record
class ChainStats(Arrays):
    loglik: float
    weight: float
    first: np.ndarray
    moves: np.ndarray
    count: np.ndarray
    total: np.ndarray
    square: np.ndarray


class HiddenMarkov(Model):
    """z_1 ~ π, z_t | z_{t−1} ~ A, x_t | z_t = k ~ N(μ_k, σ²_k); a missing step says nothing of its state."""

    def __init__(self, n_states):
        self.n_states = n_states

    def init(self, sample, rng):
        x = sample.X[~np.isnan(sample.X)]
        k = self.n_states
        mean = np.quantile(x, (np.arange(k) + 0.5) / k) + 0.01 * rng.normal(size=k)
        return ChainParams(np.full(k, 1 / k), 0.2 / k + 0.8 * np.eye(k), mean, np.full(k, x.var()))

    def _smooth(self, params, x):
        """Posterior of states (steps, k), of moves (k, k), and the log density of one sequence."""
        score = -0.5 * (np.log(2 * np.pi * params.variance) + (x - params.mean) ** 2 / params.variance)
        emit = np.exp(np.nan_to_num(score))
        n, loglik = len(x), 0.0
        forward, backward, moves = np.empty((n, self.n_states)), np.ones((n, self.n_states)), 0.0
        for t in range(n):
            forward[t] = emit[t] * (params.start if t == 0 else forward[t - 1] @ params.move)
            scale = forward[t].sum()
            forward[t] /= scale
            loglik += np.log(scale)
        for t in range(n - 2, -1, -1):
            ahead = emit[t + 1] * backward[t + 1]
            joint = forward[t][:, None] * params.move * ahead
            moves = moves + joint / joint.sum()
            backward[t] = params.move @ ahead
            backward[t] /= backward[t].sum()
        state = forward * backward
        return state / state.sum(axis=1, keepdims=True), moves, loglik

    def _units(self, params, block):
        X, weight = host(block.X), host(block.weight)
        for a, b in zip(block.offsets, block.offsets[1:]):
            yield X[a:b], weight[a], *self._smooth(params, X[a:b])

    def e_step(self, params, block):
        stats = ChainStats(
            0.0, 0.0, np.zeros(self.n_states), np.zeros((self.n_states,) * 2), *np.zeros((3, self.n_states))
        )
        for x, w, state, moves, loglik in self._units(params, block):
            seen = w * state * ~np.isnan(x)
            filled = np.nan_to_num(x)
            stats += ChainStats(
                w * loglik, w, w * state[0], w * moves + np.zeros_like(stats.moves), seen.sum(axis=0),
                (seen * filled).sum(axis=0), (seen * filled**2).sum(axis=0),
            )  # fmt: skip
        return stats

    def m_step(self, stats, params):
        mean = stats.total / stats.count
        variance = np.maximum(stats.square / stats.count - mean**2, 1e-3)
        move = stats.moves / np.maximum(stats.moves.sum(axis=1, keepdims=True), 1e-300)
        return ChainParams(stats.first / stats.first.sum(), move, mean, variance)

    def posterior(self, params, block):
        states, loglik = zip(*((state, loglik) for _, _, state, _, loglik in self._units(params, block)))
        return np.concatenate(states), np.array(loglik)


# One class per word: a document remembers its topics between passes.


@record
class TopicParams(Arrays):
    topic: np.ndarray  # (topics, words)


@record
class TopicStats(Arrays):
    loglik: float
    weight: float
    counts: np.ndarray


@record
class DocumentMemory(Arrays):
    gamma: np.ndarray  # (documents, topics)


class Topics(Model):
    """x_d ~ words of topics z ~ θ_d, θ_d ~ Dirichlet(α): variational EM, one update of q(θ_d) = Dirichlet(γ_d) a pass."""

    remembers = True

    def __init__(self, n_topics, alpha=0.5):
        self.n_topics, self.alpha = n_topics, alpha

    def init(self, sample, rng):
        words = np.nan_to_num(sample.X).sum(axis=0) + 1.0
        return TopicParams(rng.dirichlet(50.0 * words / words.sum(), self.n_topics))

    def memory(self, block):
        return DocumentMemory(np.full((block.n_units, self.n_topics), self.alpha + 1.0))

    def e_step(self, params, block):
        gamma = self.memory(block).gamma if block.memory is None else host(block.memory.gamma).copy()
        X, weight = np.nan_to_num(host(block.X)), host(block.weight)
        counts, bound = self._update(params, X, gamma)
        if block.memory is not None:
            block.memory.gamma[:] = _like(block.memory.gamma, gamma)
        return TopicStats(
            float(weight @ bound), float(weight.sum()), params.topic * (counts * weight[:, None, None]).sum(0)
        )

    def _update(self, params, X, gamma):
        """Expected counts over θ (documents, topics, words) before the topics are multiplied in; γ is updated in place."""
        from scipy.special import digamma, gammaln

        expected = np.exp(digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True)))
        ratio = X / np.maximum(expected @ params.topic, 1e-300)
        gamma[:] = self.alpha + expected * (ratio @ params.topic.T)
        # The bound at the new γ, with the best q(z) for it.
        log_theta = digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))
        bound = (X * np.log(np.maximum(np.exp(log_theta) @ params.topic, 1e-300))).sum(axis=1)
        prior = gammaln(self.n_topics * self.alpha) - self.n_topics * gammaln(self.alpha)
        entropy = gammaln(gamma).sum(axis=1) - gammaln(gamma.sum(axis=1))
        bound += prior + entropy + ((self.alpha - gamma) * log_theta).sum(axis=1)
        expected = np.exp(log_theta)
        ratio = X / np.maximum(expected @ params.topic, 1e-300)
        return expected[:, :, None] * ratio[:, None, :], bound

    def m_step(self, stats, params):
        return TopicParams(stats.counts / stats.counts.sum(axis=1, keepdims=True))

    def posterior(self, params, block):
        gamma = self.memory(block).gamma
        for _ in range(50):
            _, bound = self._update(params, np.nan_to_num(host(block.X)), gamma)
        return gamma / gamma.sum(axis=1, keepdims=True), bound


def _like(own, values):
    return own.new_tensor(values) if hasattr(own, "new_tensor") else values


# A vector per user: a unit is a user's ratings, rows [item, rating].


@record
class TasteParams(Arrays):
    item: np.ndarray  # (items, factors)
    noise: float


@record
class TasteStats(Arrays):
    loglik: float
    weight: float
    gram: np.ndarray
    cross: np.ndarray
    square: float
    cells: float


@record
class UserMemory(Arrays):
    taste: np.ndarray  # (users, factors)


class MatrixFactors(Model):
    """r_ui = u_u · v_i + ε, u_u ~ N(0, I), ε ~ N(0, σ²): EM over users; each remembers its expected taste."""

    remembers = True

    def __init__(self, n_items, n_factors):
        self.n_items, self.n_factors = n_items, n_factors

    def init(self, sample, rng):
        return TasteParams(rng.normal(size=(self.n_items, self.n_factors)), 1.0)

    def memory(self, block):
        return UserMemory(np.zeros((block.n_units, self.n_factors)))

    def _users(self, params, block):
        X, weight = host(block.X), host(block.weight)
        for u, (a, b) in enumerate(zip(block.offsets, block.offsets[1:])):
            known = ~np.isnan(X[a:b]).any(axis=1)
            item, rating = X[a:b, 0][known].astype(int), X[a:b, 1][known]
            V = params.item[item]
            covariance = np.linalg.inv(np.eye(self.n_factors) + V.T @ V / params.noise)
            mean = covariance @ V.T @ rating / params.noise
            whole = V @ V.T + params.noise * np.eye(len(item))
            _, log_det = np.linalg.slogdet(whole)
            fit = rating @ np.linalg.solve(whole, rating) if len(item) else 0.0
            yield u, weight[a], item, rating, mean, covariance, -0.5 * (len(item) * np.log(2 * np.pi) + log_det + fit)

    def e_step(self, params, block):
        k = self.n_factors
        gram, cross, square = np.zeros((self.n_items, k, k)), np.zeros((self.n_items, k)), 0.0
        loglik = total = cells = 0.0
        for u, w, item, rating, mean, covariance, log_density in self._users(params, block):
            second = covariance + np.outer(mean, mean)
            np.add.at(gram, item, w * second)
            np.add.at(cross, item, w * np.outer(rating, mean))
            square, cells, loglik, total = (
                square + w * rating @ rating,
                cells + w * len(item),
                loglik + w * log_density,
                total + w,
            )
            if block.memory is not None:
                block.memory.taste[u] = _like(block.memory.taste, mean)
        return TasteStats(float(loglik), float(total), gram, cross, float(square), float(cells))

    def m_step(self, stats, params):
        item = np.linalg.solve(stats.gram + 1e-12 * np.eye(self.n_factors), stats.cross[..., None])[..., 0]
        left = stats.square - 2 * (item * stats.cross).sum() + np.einsum("ia,iab,ib->", item, stats.gram, item)
        return TasteParams(item, max(left / stats.cells, 1e-6))

    def posterior(self, params, block):
        found = list(self._users(params, block))
        return np.ones((len(block), 1)), np.array([each[-1] for each in found])
