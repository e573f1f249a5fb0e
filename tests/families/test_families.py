"""Families: what they refuse, their densities, what is missing, empty classes, floors and far-away data."""

import inspect
import itertools

import numpy as np
import pytest
from scipy import special, stats

from tacit.engine import SingularError
from tacit.families import (
    GAUSSIANS,
    Bernoulli,
    Categorical,
    ChowLiu,
    DiagonalGaussian,
    Dirichlet,
    Exponential,
    FactorGaussian,
    Family,
    FullGaussian,
    Gamma,
    LogNormal,
    Multinomial,
    Ordinal,
    Poisson,
    Product,
    StudentT,
    TiedGaussian,
    VonMises,
    responsibilities,
)
from tacit.families.counts import NegativeBinomialParams
from tacit.families.linear import CellStats, ProbabilityParams
from tacit.source import Block

from ..zoo import FAMILIES, STRUCTURED, gaussian_rows, with_missing

NAN = np.nan
UNKNOWN = ("product", "principal axes", "factors", "tree of categories")  # families without `of`
ALL_MISSING = 3  # a row of `holed_rows` without any observed cell


def soft(n_rows, n_classes=3, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(n_classes), n_rows)


def learned(name, X):
    """A family and parameters of three classes that differ, learned from soft assignments."""
    family = FAMILIES[name][0]
    block, resp = Block.of(X), soft(len(X)) ** 4
    start = family.start(block, resp)
    return family, family.m_step(family.stats(start, block, resp), start)


def holed_rows(name):
    X = with_missing(FAMILIES[name][1](80), 0.4)
    X[ALL_MISSING] = NAN
    return X


def scipys(family, params):
    """SciPy's distribution of each class and column, and its log density."""
    laws = {
        "Bernoulli": lambda p: stats.bernoulli(p.probability),
        "Binomial": lambda p: stats.binom(family.n_trials, p.probability),
        "Poisson": lambda p: stats.poisson(p.rate),
        "Geometric": lambda p: stats.geom(p.probability, loc=-1),
        "NegativeBinomial": lambda p: stats.nbinom(p.size, p.size / (p.size + p.mean)),
        "Exponential": lambda p: stats.expon(scale=1.0 / p.rate),
        "Gamma": lambda p: stats.gamma(p.shape, scale=1.0 / p.rate),
        "LogNormal": lambda p: stats.lognorm(np.sqrt(p.variance), scale=np.exp(p.mean)),
        "Beta": lambda p: stats.beta(p.a, p.b),
    }
    independent = isinstance(family, GAUSSIANS["diag"]) and not isinstance(family, LogNormal)
    law = stats.norm(params.mean, np.sqrt(params.variance)) if independent else laws[type(family).__name__](params)
    return law, law.logpmf if hasattr(law.dist, "logpmf") else law.logpdf


def cell_densities(family, params, X):
    """Log density of every cell where columns are independent, (rows, classes, columns); 0 where a cell is missing."""
    if isinstance(family, Categorical):
        levels = np.split(params.probability, np.cumsum(family.n_levels)[:-1], axis=1)
        codes = np.where(np.isnan(X), 0, X).astype(int)
        cells = np.stack([np.log(p[:, codes[:, j]]).T for j, p in enumerate(levels)], axis=2)
    elif isinstance(family, VonMises):
        turn, mu = 2 * np.pi * X / family.period, np.arctan2(params.sin, params.cos)
        kappa = np.hypot(params.cos, params.sin)
        whole = [np.exp(kappa[:, j, None] * np.cos(2 * np.pi * np.arange(n) / n - mu[:, j, None])).sum(axis=1)
                 for j, n in enumerate(family.steps.tolist())]  # fmt: skip
        total = np.where(family.steps > 0, np.transpose(whole), family.period * special.i0(kappa))
        cells = kappa * np.cos(turn[:, None] - mu) - np.log(total)
    else:
        cells = scipys(family, params)[1](X[:, None])
    return np.where(np.isnan(X)[:, None], 0.0, cells)


def composition_densities(params, X):
    """Of a Dirichlet with the missing parts added up; the rest of the row is theirs."""
    out = np.zeros((len(X), len(params.alpha)))
    for i, seen in enumerate(~np.isnan(X)):
        for k, alpha in enumerate(params.alpha if seen.any() else ()):
            if seen.all():
                out[i, k] = stats.dirichlet.logpdf(X[i] / X[i].sum(), alpha)
                continue
            parts = [*X[i, seen], 1.0 - X[i, seen].sum()]
            out[i, k] = stats.dirichlet.logpdf(parts, [*alpha[seen], alpha[~seen].sum()])
    return out


def tree_densities(family, params, X):
    """Of a tree of categories: the sum over all rows that agree with the observed cells."""
    every = np.array(list(itertools.product(*map(range, family.n_levels))))
    first = np.append(0, np.cumsum(family.n_levels))
    p = np.ones((len(params.table), len(every)))
    for k, j in itertools.product(range(len(p)), range(len(family.n_levels))):
        above = int(params.parent[k, j])
        p[k] *= params.table[k, first[j] + every[:, j], every[:, above] if above >= 0 else 0]
    agree = (np.isnan(X)[:, None] | (X[:, None] == every)).all(axis=2)
    return np.log(agree @ p.T)


def shared_counts(params, X):
    """Of a multinomial over the observed cells alone, given their total."""
    out = np.zeros((len(X), len(params.probability)))
    for i, seen in enumerate(~np.isnan(X)):
        for k, p in enumerate(params.probability if seen.any() else ()):
            out[i, k] = stats.multinomial.logpmf(X[i, seen], X[i, seen].sum(), p[seen] / p[seen].sum())
    return out


def expected_log_prob(family, params, X):
    if isinstance(family, Product):
        parts = zip(family.parts, params.parts)
        return sum(expected_log_prob(part, p, X[:, columns]) for (part, columns), p in parts)
    if isinstance(family, Dirichlet):
        return composition_densities(params, X)
    if isinstance(family, Multinomial):
        return shared_counts(params, X)
    if isinstance(family, ChowLiu):
        return tree_densities(family, params, X)
    if not isinstance(family, FullGaussian | TiedGaussian | FactorGaussian):
        return cell_densities(family, params, X).sum(axis=2)
    out = np.zeros((len(X), len(params.mean)))
    for i, seen in enumerate(~np.isnan(X)):
        for k in range(len(params.mean) if seen.any() else 0):
            covariance = params.dense[k][np.ix_(seen, seen)]
            rest = X[i, seen], params.mean[k, seen], covariance
            if isinstance(family, StudentT):
                out[i, k] = stats.multivariate_t.logpdf(*rest, df=params.df[k])
            else:
                out[i, k] = stats.multivariate_normal.logpdf(*rest)
    return out


@pytest.mark.parametrize("name", FAMILIES)
def test_log_prob_is_scipys_on_complete_rows(name):
    X = FAMILIES[name][1](80)
    family, params = learned(name, X)
    log_prob = family.log_prob(params, Block.of(X))
    np.testing.assert_allclose(log_prob, expected_log_prob(family, params, X), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", FAMILIES)
def test_log_prob_is_the_marginal_of_the_observed_cells(name):
    X = holed_rows(name)
    family, params = learned(name, FAMILIES[name][1](80))
    log_prob = family.log_prob(params, Block.of(X))
    np.testing.assert_allclose(log_prob, expected_log_prob(family, params, X), rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(log_prob[ALL_MISSING], 0.0)


@pytest.mark.parametrize("name", FAMILIES)
def test_single_precision_rows_score_as_double_ones(name):
    X = holed_rows(name).astype(np.float32)
    family, params = learned(name, FAMILIES[name][1](80))
    expected = expected_log_prob(family, params, X.astype(np.float64))
    np.testing.assert_allclose(family.log_prob(params, Block.of(X)), expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("name", ["full", "tied"])
def test_moments_are_those_of_the_posterior_of_missing_cells(name):
    X, resp = holed_rows(name), soft(80)
    family, params = learned(name, gaussian_rows(80))
    block = Block.of(X)
    moments = family.stats(params, block, resp)
    seconds = []
    for k in range(3):
        filled, cov = family.complete(params, block, np.eye(3)[np.full(80, k)], return_cov=True)
        z = filled - params.origin
        np.testing.assert_allclose(moments.first[k], resp[:, k] @ z, rtol=1e-9, atol=1e-9)
        seconds.append(np.einsum("n,nij->ij", resp[:, k], z[:, :, None] * z[:, None, :] + cov))
    expected = sum(seconds) if name == "tied" else np.array(seconds)
    np.testing.assert_allclose(moments.second, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(moments.count, resp.sum(axis=0), rtol=1e-12)


SHARING = ("tied", "student shared", "student fixed")


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", FAMILIES)
def test_an_empty_class_keeps_its_parameters(name, missing):
    X = holed_rows(name) if missing else FAMILIES[name][1](80)
    family, params = learned(name, FAMILIES[name][1](80))
    resp = soft(len(X))
    resp[:, 1] = 0.0
    after = family.m_step(family.stats(params, Block.of(X), resp), params)
    for (path, old), new in zip(params.to_dict().items(), after.to_dict().values()):
        field = path.rpartition(".")[2]
        if field in ("origin", "scale") or (field in ("covariance", "df") and name in (*SHARING, *STRUCTURED)):
            continue
        if (field == "size" and family.exact) or field == "parent":  # a tree may be found at once
            continue
        if path.startswith("cuts"):  # which classes share
            continue
        np.testing.assert_allclose(new[1], old[1], rtol=1e-14, err_msg=field)
        assert not np.allclose(new[0], old[0]), f"{field} of an occupied class was not learned"
    assert all(np.isfinite(value).all() for value in after.to_dict().values())


def test_a_tied_covariance_is_learned_from_the_occupied_classes():
    X, resp = gaussian_rows(80), soft(80, 2)
    family, params = learned("tied", X)
    three = np.column_stack([resp[:, 0], np.zeros(80), resp[:, 1]])
    after = family.m_step(family.stats(params, Block.of(X), three), params)
    means = resp.T @ X / resp.sum(axis=0)[:, None]
    within = sum((r[:, None] * (X - m)).T @ (X - m) for r, m in zip(resp.T, means)) / resp.sum()
    np.testing.assert_allclose(after.covariance, within, rtol=1e-9, atol=1e-12)


JOINT = (
    "full",
    "tied",
    "spherical",
    "principal axes",
    "factors",
    "dirichlet",
    "multinomial",
    "ordinal",
    "product",
    "tree of categories",
    *SHARING,
    *STRUCTURED,
)


@pytest.mark.parametrize("name", [n for n in FAMILIES if n not in JOINT and not n.startswith("student")])
def test_a_column_without_a_cell_in_a_class_keeps_its_parameters(name):
    X = FAMILIES[name][1](80)
    family, params = learned(name, X)
    classes = np.arange(80) % 3
    X[classes == 2, 0] = NAN
    after = family.m_step(family.stats(params, Block.of(X), np.eye(3)[classes]), params)
    n_cells = family.n_levels[0] if name == "categorical" else 1
    for (field, old), (_, new) in zip(params.items(), after.items()):
        if field not in ("origin", "scale") and not (field == "size" and family.exact):
            np.testing.assert_allclose(new[2, :n_cells], old[2, :n_cells], rtol=1e-14, err_msg=field)
            assert not np.allclose(new[:, n_cells:], old[:, n_cells:])


@pytest.mark.parametrize(
    ("family", "X", "message"),
    [
        (Bernoulli(), [[0, NAN, 1], [1, 0.5, 2]], r"Bernoulli columns hold 0, 1 or NaN, but X holds 0\.5; recode the column\."),
        (Poisson(), [[0, NAN], [1, -3]], r"Poisson columns hold whole numbers from 0, but X holds -3\."),
        (Poisson(), [[0, 2.5], [1, 3]], r"Poisson columns hold whole numbers from 0, but X holds 2\.5\."),
        (Categorical([2, 3]), [[0, 2], [NAN, 3]], r"column 1 holds 3, but its codes run from 0 to 2\."),
        (Categorical([2, 3]), [[0, 2], [-1, 0]], r"column 0 holds -1, but its codes run from 0 to 1\."),
        (Categorical([2, 3]), [[0.25, 2], [1, 0]], r"column 0 holds 0\.25, but its codes run from 0 to 1\."),
        (Ordinal([2, 3]), [[0, 2], [1, 5]], r"column 1 holds 5, but its codes run from 0 to 2\."),
        (Categorical([2, 3]), [[0, 2, 1]], r"n_levels names 2 columns, but X has 3\."),
    ],
)  # fmt: skip
def test_rows_a_family_does_not_describe_are_refused_with_their_value(family, X, message):
    with pytest.raises(ValueError, match=message):
        family.check(np.array(X, dtype=float))


@pytest.mark.parametrize("name", FAMILIES)
def test_rows_a_family_describes_pass_its_check(name):
    family, rows = FAMILIES[name]
    family.check(with_missing(rows()))


@pytest.mark.parametrize("name", GAUSSIANS)
def test_a_column_without_a_value_is_refused(name):
    X = gaussian_rows(20)
    X[:, 2] = NAN
    with pytest.raises(ValueError, match=r"column 2 has no observed value; drop it before fitting\."):
        GAUSSIANS[name]().start(Block.of(X), np.ones((20, 1)))


@pytest.mark.parametrize("method", ["sample", "n_parameters"])
def test_a_family_without_a_method_says_so(method):
    class Plain(Family):
        pass

    arguments = [None] * (3 if method == "sample" else 1)
    with pytest.raises(NotImplementedError, match=rf"Plain does not define {method}\."):
        getattr(Plain(), method)(*arguments)


def scaled_eigenvalues(covariance, scale):
    return np.linalg.eigvalsh(covariance / np.sqrt(np.multiply.outer(scale, scale)))


def covariances(eigenvalues, scale, seed=0):
    """One covariance per row of eigenvalues, which they have in units of scale."""
    rng = np.random.default_rng(seed)
    turns = [np.linalg.qr(rng.normal(size=(len(scale), len(scale))))[0] for _ in eigenvalues]
    root = np.sqrt(np.multiply.outer(scale, scale))
    return np.array([(turn * value) @ turn.T * root for turn, value in zip(turns, eigenvalues)])


SCALE = np.array([1e-4, 1.0, 50.0])


def test_clip_raises_eigenvalues_to_the_floor_and_no_others():
    S = covariances([[1e-9, 0.5, 2.0], [0.2, 0.5, 1.0], [0.0, 1e-3, 3.0]], SCALE)
    clipped = FullGaussian(floor=0.01).clip(S, SCALE)
    expected = [[0.01, 0.5, 2.0], [0.2, 0.5, 1.0], [0.01, 0.01, 3.0]]
    np.testing.assert_allclose(scaled_eigenvalues(clipped, SCALE), expected, rtol=1e-10)
    np.testing.assert_allclose(clipped[1], S[1], rtol=1e-12)


def test_an_idle_floor_changes_nothing():
    S = covariances([[0.02, 0.5, 2.0], [0.2, 0.5, 1.0]], SCALE)
    np.testing.assert_array_equal(FullGaussian(floor=0.01).clip(S, SCALE), S)
    np.testing.assert_array_equal(TiedGaussian(floor=0.01).clip(S[0], SCALE), S[0])


def test_clip_is_the_likeliest_covariance_above_the_floor(rng):
    S = covariances([[1e-6, 0.3, 2.0]], SCALE)[0]
    family = FullGaussian(floor=0.05)

    def likelihood(covariance):
        return -np.linalg.slogdet(covariance)[1] - np.trace(np.linalg.solve(covariance, S))

    best = family.clip(S, SCALE)
    root = np.sqrt(SCALE)[:, None]
    for _ in range(50):
        noise = 0.05 * root * rng.normal(size=(3, 3)) * root.T
        near = family.clip(best + noise + noise.T, SCALE)
        assert likelihood(near) <= likelihood(best) + 1e-9


def collapse(name, family, d=4, seed=0):
    """A block whose first class is one row given twenty times (both classes, where they share a covariance), and an M-step."""
    X = gaussian_rows(60, d, seed=seed)
    X[:20] = X[0]
    if name == "tied" or name.startswith("E"):
        X[20:] = X[20]
    block, resp = Block.of(X), np.repeat(np.eye(2), [20, 40], axis=0)
    start = family.start(block, resp)
    return family.m_step(family.stats(start, block, resp), start)


ROUND = ("spherical", "EII", "VII")


@pytest.mark.parametrize("name", [name for name in GAUSSIANS if name == "EII" or name not in STRUCTURED])
def test_a_collapsed_class_stays_at_the_floor(name):
    params = collapse(name, GAUSSIANS[name](floor=0.01))
    least = 0.01 * (params.scale.mean() if name in ROUND else 1.0)
    values = scaled_eigenvalues(params.dense, np.ones(4) if name in ROUND else params.scale)
    np.testing.assert_allclose(values[0], least, rtol=1e-6)
    assert values.min() >= least * (1 - 1e-9)


@pytest.mark.parametrize("d", [1, 4])
@pytest.mark.parametrize("name", GAUSSIANS)
def test_a_collapsed_class_without_a_floor_is_singular(name, d):
    for seed in range(10):
        with pytest.raises(SingularError, match="some components have ill-defined empirical covariance"):
            collapse(name, GAUSSIANS[name](floor=0.0), d, seed)


@pytest.mark.parametrize("name", GAUSSIANS)
def test_no_floor_is_needed_by_a_healthy_class(name):
    X = gaussian_rows(60)
    block, resp = Block.of(X), soft(60)
    bare, floored = GAUSSIANS[name](floor=0.0), GAUSSIANS[name](floor=1e-6)
    start = bare.start(block, resp)
    moments = bare.stats(start, block, resp)
    np.testing.assert_array_equal(bare.m_step(moments, start).covariance, floored.m_step(moments, start).covariance)


@pytest.mark.parametrize(
    "counts", [[0.0, 5.0, 95.0], [0.0, 0.0, 1.0], [30.0, 30.0, 40.0], [0.0, 5.01, 94.99], [1e-300, 1.0, 1.0]]
)
def test_floored_probabilities_sum_to_one_and_none_is_below(counts):
    family = Categorical([3, 2], floor=0.05)
    total = np.array([[*counts, 1.0, 1.0]])
    p = family.m_step(CellStats(total, total), ProbabilityParams(np.full((1, 5), 0.5)))
    np.testing.assert_allclose(p.probability[0, :3].sum(), 1.0, rtol=1e-14)
    np.testing.assert_allclose(p.probability[0, 3:], 0.5, rtol=1e-14)
    assert p.probability.min() >= 0.05 * (1 - 1e-12)


def test_probabilities_and_rates_stay_off_their_bounds():
    X, resp = np.array([[0.0, 1.0], [0.0, 1.0]]), np.ones((2, 1))
    for family, least, most in ((Bernoulli(floor=0.01), 0.01, 0.99), (Poisson(floor=0.02), 0.02, 1.0)):
        start = family.start(Block.of(X), resp)
        after = family.m_step(family.stats(start, Block.of(X), resp), start)
        np.testing.assert_allclose(after.to_vector(), [least, most], rtol=1e-12)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", GAUSSIANS)
def test_far_from_zero_covariances_keep_their_digits(name, missing):
    family = GAUSSIANS[name](floor=0.0)
    far = gaussian_rows(200) + 1e6
    near = far - 1e6  # exactly the same rows, moved
    if missing:
        far, near = with_missing(far), with_missing(near)
    resp = soft(200)
    results = []
    for X in (far, near):
        block = Block.of(X)
        params = family.start(block, resp)
        for _ in range(3):
            params = family.m_step(family.stats(params, block, resp), params)
        results.append(params)
    np.testing.assert_allclose(results[0].covariance, results[1].covariance, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(results[0].mean - 1e6, results[1].mean, rtol=0.0, atol=1e-8)
    if name == "full" and not missing:
        expected = [np.cov(near.T, aweights=r, ddof=0) for r in resp.T]
        np.testing.assert_allclose(results[0].covariance, expected, rtol=1e-8, atol=1e-8)


def test_responsibilities_are_bayes_rule_times_the_weight(rng):
    log_prob, weight = 3.0 * rng.normal(size=(6, 2)), rng.uniform(0.5, 2.0, 6)
    prior = np.array([0.3, 0.7])
    labels = np.array([-1, -1, 0, 1, -1, -1])
    joint = prior * np.exp(log_prob)
    resp, evidence, loglik = responsibilities(log_prob, np.log(prior), weight, labels)
    expected = joint / joint.sum(axis=1, keepdims=True)
    expected[2], expected[3] = [1, 0], [0, 1]
    total = np.where(labels < 0, joint.sum(axis=1), joint[np.arange(6), labels])
    np.testing.assert_allclose(resp, expected * weight[:, None], rtol=1e-13)
    np.testing.assert_allclose(evidence, np.log(total), rtol=1e-12)
    assert loglik == pytest.approx(weight @ np.log(total), rel=1e-13)


def test_free_parameters_are_counted():
    X = gaussian_rows(60)
    kinds = ("full", "tied", "diag", "spherical")
    counts = {name: learned(name, X)[0].n_parameters(learned(name, X)[1]) for name in kinds}
    assert counts == {"full": 12 + 30, "tied": 12 + 10, "diag": 12 + 12, "spherical": 12 + 3}
    for name, expected in {"bernoulli": 18, "categorical": 3 * (1 + 2 + 3), "poisson": 12}.items():
        family, params = learned(name, FAMILIES[name][1](60))
        assert family.n_parameters(params) == expected


def test_a_column_of_great_variance_is_no_collapse_of_a_low_rank_gaussian():
    family, scale = FactorGaussian(1), np.append(np.ones(99), 1e8)
    for noise, collapsed in ((50.0, False), (0.0, True)):
        settled = np.zeros((1, 100)), np.zeros((1, 100, 1)), np.full((1, 100), noise), np.zeros(100), scale
        assert bool(family.collapsed(family.floored(*settled), np.ones(1))) == collapsed


def test_floors_are_given_by_name():
    with pytest.raises(
        TypeError, match=r"Exponential takes nothing by position, but got 2\.0; parameters are learned by fit"
    ):
        Exponential(2.0)
    for family, _ in FAMILIES.values():
        for name, each in inspect.signature(type(family).__init__).parameters.items():
            assert name not in ("floor", "prior") or each.kind is each.KEYWORD_ONLY, type(family).__name__


@pytest.mark.parametrize("name", ["full", "diag", "factors", "log-normal"])
def test_distances_are_those_of_mahalanobis(name):
    family, rows = FAMILIES[name]
    X = rows(60)
    params = family.start(Block.of(X), np.full((60, 1), 1.0))
    found, n_seen = family.distance(params, Block.of(with_missing(X)))
    cells = with_missing(np.log(X) if name == "log-normal" else X)
    for row, square in zip(cells, found[:, 0]):
        seen = ~np.isnan(row)
        apart = (row - params.mean[0])[seen]
        np.testing.assert_allclose(
            square, apart @ np.linalg.solve(params.dense[0][np.ix_(seen, seen)], apart), rtol=1e-6
        )
    np.testing.assert_array_equal(n_seen, (~np.isnan(cells)).sum(axis=1))


def test_a_product_within_a_product_is_its_parts():
    inner = Product([(Poisson(), (1,)), (DiagonalGaussian(), (0, 2))])
    product = Product([(Bernoulli(), (2,)), (inner, (0, 3, 1))])
    assert [(type(family), columns) for family, columns in product.parts] == [
        (Bernoulli, (2,)), (Poisson, (3,)), (DiagonalGaussian, (0, 1))
    ]  # fmt: skip


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in UNKNOWN])
def test_distributions_of_known_parameters(name):
    family, rows = FAMILIES[name]
    X = rows()
    fitted = family.fit(X)
    own = {"n_levels", "n_trials", "structure", "period", "origin", "steps"} & set(
        inspect.signature(type(family).__init__).parameters
    )
    known = type(family).of(**{each: getattr(family, each) for each in own}, **fitted.parameters)
    np.testing.assert_allclose(known.log_prob(X), fitted.log_prob(X))
    if not isinstance(
        family, (Categorical, Multinomial, VonMises)
    ):  # levels have no quantiles, words of a text those of a normal, places on a cycle those of ways from their mean
        q = known.quantile(0.3)
        below = known.sample(5000, random_state=0)
        assert ((below <= q).mean(axis=0) > 0.27).all()
        assert ((below < q).mean(axis=0) < 0.33).all()


def test_known_parameters_are_those_of_scipy():
    assert Poisson.of(rate=3.2).log_prob(2)[0] == pytest.approx(stats.poisson(3.2).logpmf(2))
    assert Gamma.of(shape=2.0, rate=[1.0, 3.0]).quantile(0.1)[1] == pytest.approx(stats.gamma(2, scale=1 / 3).ppf(0.1))
    student = StudentT.of(mean=[1.0], scale=[[4.0]], df=3)
    assert student.log_prob(2.0)[0] == pytest.approx(stats.t(3, 1, 2).logpdf(2.0))
    assert Categorical.of(probability=[0.2, 0.3, 0.5]).log_prob(2)[0] == pytest.approx(np.log(0.5))
    law = FullGaussian.of(mean=[0, 1], covariance=[[2, 0.5], [0.5, 1]])
    assert law.log_prob([[np.nan, 2.0]])[0] == pytest.approx(stats.norm(1, 1).logpdf(2.0))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Poisson.of(rate=-1), ValueError, r"Poisson.of: 'rate' holds -1, which must be greater than 0\."),
        (lambda: Poisson.of(mean=1), TypeError, r"Poisson.of takes rate, but got mean\."),
        (lambda: FullGaussian.of(mean=[0, 0], covariance=[[1, 2], [2, 1]]), ValueError, "must be symmetric and positive"),
        (lambda: FullGaussian.of(mean=[0, 0], covariance=np.eye(3)), ValueError, r"shape \(3, 3\), but mean has 2"),
        (lambda: DiagonalGaussian.of(mean=[0, 0], covariance=[[1, 0.5], [0.5, 1]]), ValueError, "columns are independent"),
        (lambda: StudentT.of(mean=0, scale=1), TypeError, "df is not given"),
        (lambda: Categorical.of(probability=[0.5, 0.6]), ValueError, "sums to 1.1, not to 1"),
        (lambda: Poisson.of(rate=1).quantile(1.0), ValueError, r"q=1\.0 must be a probability between 0 and 1"),
    ],
)  # fmt: skip
def test_known_parameters_that_are_none(make, error, message):
    with pytest.raises(error, match=message):
        make()


# Ordered levels


def ordered_rows(n=600, seed=0):
    """Answers from 0 to 4 and from 0 to 2 of three classes, about locations a logit or two apart, and the classes."""
    rng, cuts = np.random.default_rng(seed), ([-1.5, -0.5, 0.5, 2.0], [-0.5, 1.0])
    classes = rng.integers(3, size=n)
    place = np.array([[-1.0, 1.0], [0.0, 0.0], [2.0, -1.0]])[classes]
    return np.column_stack(
        [np.searchsorted(c, x) for c, x in zip(cuts, (place + rng.logistic(size=(n, 2))).T)]
    ) + 0.0, classes


def test_ordinal_estimates_are_the_maximum_of_the_cumulative_logit():
    from scipy.optimize import minimize

    X, classes = ordered_rows()
    family, block, resp = Ordinal([5, 3]), Block.of(with_missing(X, 0.1)), np.eye(3)[classes]
    stats_ = family.stats(start := family.start(block, resp), block, resp)
    params = family.m_step(stats_, start)
    for j, levels in enumerate((slice(0, 5), slice(5, 8))):
        count, cuts = stats_.total[:, levels], len(params.cuts[j])

        def loss(theta, count=count, cuts=cuts):  # as proportional odds are written elsewhere: the first class at 0
            edges = np.concatenate([[-np.inf], np.sort(theta[:cuts]), [np.inf]])
            p = np.diff(stats.logistic.cdf(edges - np.append(0.0, theta[cuts:])[:, None]), axis=1)
            return -(count * np.log(np.maximum(p, 1e-300))).sum()

        found = minimize(loss, np.append(np.linspace(-1, 1, cuts), [0.0, 0.0]), method="BFGS", options={"gtol": 1e-7})
        ours = np.append(params.cuts[j], params.location[1:, j]) - params.location[0, j]
        np.testing.assert_allclose(ours, found.x, atol=2e-5)
        assert -(count * params.log_probability[:, levels]).sum() <= found.fun + 1e-9
    assert family.n_parameters(params) == (4 + 2) + (2 + 2)


def test_one_class_of_ordered_levels_has_their_shares_and_intervals_of_levels():
    X = np.repeat([0.0, 1.0, 2.0, 3.0], [10, 50, 30, 10])
    family = Ordinal([4])
    learned = family.fit(X)
    np.testing.assert_allclose(learned.mean, [0.1, 0.5, 0.3, 0.1], atol=1e-9)
    law = family.law(learned.params, Block.of(np.array([[NAN]])))
    assert [law.quantile(q, np.ones((1, 1)))[0] for q in (0.05, 0.1, 0.11, 0.6, 0.61, 0.95, 1.0)] == [
        0,
        0,
        1,
        1,
        2,
        3,
        3,
    ]
    assert law.mean(np.ones((1, 1)))[0] == 1
    assert law.probability(np.ones((1, 1)))[0] == pytest.approx(0.5)
    np.testing.assert_allclose(Ordinal.of(probability=[0.1, 0.5, 0.4]).mean, [0.1, 0.5, 0.4], atol=1e-12)


def test_ordered_levels_at_an_end_stay_finite():
    X = np.r_[np.zeros(30), np.arange(30) % 3][:, None]
    family, resp = Ordinal([3], floor=1e-6), np.eye(2)[np.repeat([0, 1], 30)]
    params = family.start(Block.of(X), resp)
    params = family.m_step(family.stats(params, Block.of(X), resp), params)
    assert np.isfinite(params.log_probability).all()
    assert params.probability[0, 0] == pytest.approx(1.0, abs=2e-6)
    np.testing.assert_allclose(params.probability[1], 1 / 3, atol=1e-4)


@pytest.mark.parametrize("x", [3.0, 9e5, 1e9, 4e18])
def test_negative_binomials_of_large_counts_keep_their_digits(x):
    mean, rows, family = 0.7 * x, Block.of(np.array([[x]])), FAMILIES["negative binomial"][0]
    given = (NegativeBinomialParams(np.array([[mean]]), np.array([[size]])) for size in (1.0, 2.0))
    with_one, with_two = (float(family.log_prob(each, rows)[0, 0]) for each in given)
    assert with_one == pytest.approx(-x * np.log1p(1 / mean) - np.log1p(mean), abs=1e-8)
    assert with_two == pytest.approx(np.log1p(x) - x * np.log1p(2 / mean) - 2 * np.log1p(mean / 2), abs=1e-8)


def test_negative_binomials_of_large_size_keep_their_digits():
    """Γ(x + r) / Γ(r) of whole x is a product of x terms."""
    rows, family = Block.of(np.array([[7.0]])), FAMILIES["negative binomial"][0]
    for size in (999.0, 1001.0, 1e6):
        found = float(family.log_prob(NegativeBinomialParams(np.array([[5.0]]), np.array([[size]])), rows)[0, 0])
        rising = np.log(size + np.arange(7.0)).sum() - np.log(np.arange(1.0, 8.0)).sum()
        assert found == pytest.approx(rising - 7.0 * np.log(size / 5.0 + 1.0) - size * np.log1p(5.0 / size), abs=1e-12)
