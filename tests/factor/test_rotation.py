"""Rotations: what they keep, what they maximise, and known values."""

from functools import partial

import numpy as np
import pytest

from tacit.factor import FactorAnalysis, bifactor, geomin, oblimin, promax, quartimax, rotate, target, varimax
from tacit.factor.analysis.rotation import _bifactor, _geomin, _target

METHODS = [
    ("varimax", {}),
    ("quartimax", {}),
    ("promax", {}),
    ("promax", {"power": 3}),
    ("oblimin", {}),
    ("oblimin", {"gamma": -0.5}),
    ("geomin", {}),
    ("bifactor", {}),
    ("bifactor", {"oblique": True}),
]


def loadings(d=12, k=3, noise=0.05, seed=0):
    """Simple structure of correlated factors, turned at random."""
    rng = np.random.default_rng(seed)
    pattern = np.kron(np.eye(k), rng.uniform(0.5, 0.9, (d // k, 1)))
    correlated = np.linalg.cholesky(0.35 + 0.65 * np.eye(k))
    turn = np.linalg.qr(rng.normal(size=(k, k)))[0]
    return (pattern @ correlated + noise * rng.normal(size=(d, k))) @ turn


def matched(found, expected):
    """Columns of a matrix in the order and with the signs of another."""
    order = [int(np.abs(found.T @ column).argmax()) for column in expected.T]
    found = found[:, order]
    return found * np.sign((found * expected).sum(axis=0))


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize(("method", "options"), METHODS)
def test_the_covariance_stays_and_factors_have_unit_variance(method, options, normalize):
    A = loadings()
    found = rotate(A, method, normalize=normalize, **options)
    np.testing.assert_allclose(found.loadings @ found.correlation @ found.loadings.T, A @ A.T, atol=1e-12)
    np.testing.assert_allclose(np.diagonal(found.correlation), 1.0, atol=1e-12)
    np.testing.assert_allclose(found.loadings, A @ found.matrix, atol=1e-12)
    np.testing.assert_allclose(found.structure, found.loadings @ found.correlation)
    assert (found.loadings.sum(axis=0) >= 0.0).all()
    assert np.all(np.diff((found.loadings**2).sum(axis=0)) <= 1e-12)
    if method in ("varimax", "quartimax") or (method == "bifactor" and not options):
        np.testing.assert_allclose(found.correlation, np.eye(3), atol=1e-12)
    else:
        assert np.abs(found.correlation - np.eye(3)).max() > 0.05


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_it_does_not_matter_where_one_starts(method, options):
    A, turn = loadings(), np.linalg.qr(np.random.default_rng(9).normal(size=(3, 3)))[0]
    here, there = rotate(A, method, **options), rotate(A @ turn, method, **options)
    np.testing.assert_allclose(here.loadings, there.loadings, atol=1e-6)
    np.testing.assert_allclose(here.correlation, there.correlation, atol=1e-6)


def orthomax(A, gamma):
    return (A**4).sum() - gamma / len(A) * ((A**2).sum(axis=0) ** 2).sum()


@pytest.mark.parametrize(("rotation", "gamma"), [(varimax, 1.0), (quartimax, 0.0)])
def test_orthogonal_rotations_maximise_their_criterion(rotation, gamma):
    rng, A = np.random.default_rng(0), loadings(noise=0.3)
    best = orthomax(rotation(A).loadings, gamma)
    for scale in (1e-3, 0.1, 10.0):
        for _ in range(20):
            turn = np.linalg.qr(np.eye(3) + scale * rng.normal(size=(3, 3)))[0]
            assert orthomax(rotation(A).loadings @ turn, gamma) <= best + 1e-12


@pytest.mark.parametrize("gamma", [0.0, -0.5, 0.3])
def test_oblimin_minimises_its_criterion(gamma):
    def criterion(A):
        squares = A**2
        centred = squares - gamma * squares.mean(axis=0)
        return sum(centred[:, r] @ squares[:, s] for r in range(3) for s in range(r))

    rng, A = np.random.default_rng(0), loadings()
    found = oblimin(A, gamma=gamma)
    axes = np.linalg.inv(found.matrix).T
    best = criterion(found.loadings)
    for scale in (1e-4, 1e-2, 1.0):
        for _ in range(20):
            moved = axes + scale * rng.normal(size=axes.shape)
            moved /= np.linalg.norm(moved, axis=0)
            assert criterion(A @ np.linalg.inv(moved).T) >= best - 1e-12


def test_simple_structure_is_found_exactly():
    pattern = np.kron(np.eye(2), np.array([[0.9], [0.8], [0.6]]))
    correlation = np.array([[1.0, 0.5], [0.5, 1.0]])
    found = oblimin(pattern @ np.linalg.cholesky(correlation))
    np.testing.assert_allclose(matched(found.loadings, pattern), pattern, atol=1e-7)
    np.testing.assert_allclose(np.abs(found.correlation), correlation, atol=1e-7)


A = np.array(
    [[0.65, 0.50, -0.10], [0.60, 0.42, 0.05], [0.70, 0.35, 0.00], [0.55, -0.30, 0.45], [0.62, -0.25, 0.40],
     [0.50, -0.40, 0.30], [0.58, -0.20, -0.45], [0.45, -0.10, -0.50], [0.66, -0.05, -0.35]]
)  # fmt: skip


EXPECTED = {
    "kaiser": (
        [
            [-0.049219, 0.783696, -0.256706],
            [-0.155363, 0.703786, -0.139455],
            [-0.219709, 0.706699, -0.254568],
            [-0.756196, 0.147302, -0.038333],
            [-0.739327, 0.225184, -0.097914],
            [-0.687805, 0.024898, -0.162187],
            [-0.16489, 0.163159, -0.724631],
            [-0.00547, 0.156078, -0.661899],
            [-0.193221, 0.338656, -0.639201],
        ],
        None,
    ),
    "oblimin": (
        [
            [0.8216, 0.08387, -0.056319],
            [0.7432, -0.054103, 0.060635],
            [0.705088, -0.106917, -0.063692],
            [0.030693, -0.775953, 0.056704],
            [0.106976, -0.740183, 0.010993],
            [-0.130892, -0.703598, -0.124227],
            [-0.03332, -0.059327, -0.758176],
            [0.002191, 0.100328, -0.701372],
            [0.185682, -0.077357, -0.608074],
        ],
        [[1.0, -0.337032, -0.502038], [-0.337032, 1.0, 0.290538], [-0.502038, 0.290538, 1.0]],
    ),
    "promax": (
        [
            [0.117173, 0.835781, -0.052624],
            [-0.025001, 0.75955, 0.070298],
            [-0.080271, 0.71713, -0.05426],
            [-0.782746, 0.034366, 0.085918],
            [-0.743714, 0.110724, 0.038952],
            [-0.7166, -0.135824, -0.10173],
            [-0.063633, -0.056191, -0.767277],
            [0.099291, -0.018605, -0.715111],
            [-0.072699, 0.171527, -0.612343],
        ],
        [[1.0, -0.385626, 0.325966], [-0.385626, 1.0, -0.534543], [0.325966, -0.534543, 1.0]],
    ),
    "quartimax": (
        [
            [0.807383, -0.044326, -0.169317],
            [0.715662, -0.151318, -0.061892],
            [0.731533, -0.215204, -0.176201],
            [0.154679, -0.7553, -0.024422],
            [0.238536, -0.737814, -0.075041],
            [0.046237, -0.687042, -0.160734],
            [0.242562, -0.16128, -0.702889],
            [0.227784, -0.002141, -0.640788],
            [0.407775, -0.189066, -0.59881],
        ],
        None,
    ),
    "varimax": (
        [
            [0.793314, 0.054793, -0.223944],
            [0.707255, 0.161761, -0.11191],
            [0.714333, 0.224343, -0.227812],
            [0.140068, 0.757252, -0.044161],
            [0.22061, 0.740413, -0.100103],
            [0.023856, 0.685456, -0.17199],
            [0.19201, 0.155598, -0.719598],
            [0.184099, -0.002902, -0.654675],
            [0.363364, 0.187393, -0.627256],
        ],
        None,
    ),
}


def test_values_of_factor_analyzer():
    """Values that factor_analyzer 0.5.1 gives for `A` at a tolerance of 1e-12; it follows R's functions."""
    cases = {
        "varimax": varimax(A), "kaiser": varimax(A, normalize=True), "quartimax": quartimax(A),
        "promax": promax(A, normalize=True), "oblimin": oblimin(A),
    }  # fmt: skip
    for name, found in cases.items():
        known = np.array(EXPECTED[name][0])
        np.testing.assert_allclose(matched(found.loadings, known), known, atol=2e-5, err_msg=name)
        if EXPECTED[name][1] is not None:
            off = np.triu_indices(3, 1)
            ours, theirs = (np.sort(np.abs(np.array(phi)[off])) for phi in (found.correlation, EXPECTED[name][1]))
            np.testing.assert_allclose(ours, theirs, atol=2e-5, err_msg=name)


ABILITY = np.array(
    [[24.641, 5.991, 33.520, 6.023, 20.755, 29.701], [5.991, 6.700, 18.137, 1.782, 4.936, 7.204],
     [33.520, 18.137, 149.831, 19.424, 31.430, 50.753], [6.023, 1.782, 19.424, 12.711, 4.757, 9.075],
     [20.755, 4.936, 31.430, 4.757, 52.604, 66.762], [29.701, 7.204, 50.753, 9.075, 66.762, 135.292]]
)  # fmt: skip


def test_promax_of_factanal():
    """What R prints of ``factanal(factors = 2, covmat = ability.cov, rotation = "promax")``, loadings below 0.1 left out."""
    rows = np.random.default_rng(0).normal(size=(112, 6))
    rows = np.sqrt(112) * np.linalg.qr(rows - rows.mean(axis=0))[0] @ np.linalg.cholesky(ABILITY).T
    fitted = FactorAnalysis(2, scale=True, rotation="promax", rotation_params={"normalize": "varimax"}).fit(rows)
    known = [[0.364, 0.470], [0.0, 0.671], [0.0, 0.932], [0.0, 0.508], [1.023, 0.0], [0.811, 0.0]]
    found = fitted.components_.T
    np.testing.assert_allclose(np.where(np.abs(found) < 0.1, 0.0, found), known, atol=1.5e-3)
    assert fitted.factor_correlation_[0, 1] == pytest.approx(0.557, abs=1e-3)


def test_a_factor_without_loadings_and_a_single_factor_stay():
    empty = np.column_stack([loadings(k=2), np.zeros(12)])
    for method in ("varimax", "promax", "oblimin"):
        found = rotate(empty, method)
        assert not found.loadings[:, 2].any()
        np.testing.assert_array_equal(found.correlation[2], [0.0, 0.0, 1.0])
        one = rotate(-empty[:, :1], method)
        np.testing.assert_allclose(np.abs(one.loadings), np.abs(empty[:, :1]))
    assert rotate(np.zeros((4, 0)), "varimax").loadings.shape == (4, 0)


def test_a_column_that_no_factor_explains_can_be_normalised():
    nothing = np.vstack([loadings(), np.zeros(3)])
    assert np.isfinite(varimax(nothing, normalize=True).loadings).all()


def test_more_starts_find_no_worse_a_minimum():
    rng = np.random.default_rng(5)
    noise = rng.normal(size=(10, 4))

    def criterion(A):
        return ((A**2).sum(axis=1) ** 2 - (A**4).sum(axis=1)).sum()

    one, many = (criterion(oblimin(noise, n_starts=n).loadings) for n in (1, 4))
    assert many <= one + 1e-9


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("equamax", {}, "method='equamax' is unknown; use one of 'varimax', 'quartimax', 'promax', 'oblimin'"),
        ("varimax", {"gamma": 1.0}, "varimax has no option 'gamma'; there are normalize, max_iter, tol"),
        ("promax", {"power": 0.5}, "power=0.5 is not a number of at least 1"),
        ("promax", {"normalize": "kaiser"}, "normalize='kaiser' is unknown; use one of 'varimax'"),
        ("oblimin", {"gamma": 2.0}, "gamma=2.0 is not a number of at least -inf and at most 0.8"),
        ("oblimin", {"n_starts": 0}, "n_starts=0 is not a whole number of at least 1"),
        ("varimax", {"max_iter": 0}, "max_iter=0 is not a whole number of at least 1"),
    ],
)
def test_bad_settings_are_named(method, options, message):
    with pytest.raises(ValueError, match=message):
        rotate(loadings(), method, **options)


@pytest.mark.parametrize("method", ["promax", "oblimin"])
def test_loadings_of_too_low_a_rank_are_named(method):
    A = loadings(k=2)
    with pytest.raises(
        ValueError, match=f"loadings of 3 factors have rank 2, so {method} has no solution; use at most 2"
    ):
        rotate(np.column_stack([A, A.sum(axis=1)]), method)


def test_factors_that_coincide_are_named(monkeypatch):
    monkeypatch.setattr("tacit.factor.analysis.rotation.COLLAPSED", 1.0)  # any correlation counts
    with pytest.raises(ValueError, match=r"oblimin with gamma=0.8 makes factors coincide; use a gamma of 0 or below"):
        oblimin(loadings(), gamma=0.8)


@pytest.mark.parametrize(
    "criterion", [partial(_geomin, epsilon=0.01), _bifactor, partial(_target, target=np.eye(12, 3))]
)
def test_slopes_of_criteria(criterion):
    L = loadings()
    slope, step = criterion(L)[1], 1e-6
    for cell in ((0, 0), (3, 1), (11, 2)):
        up, down = L.copy(), L.copy()
        up[cell] += step
        down[cell] -= step
        assert slope[cell] == pytest.approx((criterion(up)[0] - criterion(down)[0]) / (2 * step), abs=1e-7)


def test_geomin_bifactor_and_target_find_what_was_turned_away():
    rng = np.random.default_rng(0)
    groups = np.kron(np.eye(3), rng.uniform(0.5, 0.8, (5, 1)))
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    general = np.column_stack([rng.uniform(0.4, 0.8, 15), groups])
    found = bifactor(general @ turn)
    np.testing.assert_allclose(found.loadings[:, 0], general[:, 0], atol=1e-4)
    np.testing.assert_allclose(np.sort(found.loadings[:, 1:].max(axis=1)), np.sort(groups.max(axis=1)), atol=1e-4)
    np.testing.assert_allclose(found.correlation, np.eye(4), atol=1e-10)
    correlated = groups @ np.linalg.cholesky(0.4 + 0.6 * np.eye(3))
    away = correlated @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    found = geomin(away, epsilon=1e-3)
    np.testing.assert_allclose(found.correlation[~np.eye(3, dtype=bool)], 0.4, atol=0.02)
    wanted = np.where(groups > 0, np.nan, 0.0)[:, [2, 0, 1]]
    found = target(away, target=wanted)
    np.testing.assert_allclose(np.abs(found.loadings), groups[:, [2, 0, 1]], atol=1e-5)
    signed = target(away, target=-groups[:, [2, 0, 1]])
    np.testing.assert_allclose(signed.loadings, -groups[:, [2, 0, 1]], atol=1e-5)
    with pytest.raises(ValueError, match="target has no loadings to aim at; give them as target="):
        rotate(np.eye(5, 2), "target")
    with pytest.raises(ValueError, match=r"target has shape \(2, 3\), but loadings have \(15, 3\)"):
        target(away, target=np.zeros((2, 3)))
    with pytest.raises(ValueError, match="bifactor of 2 factors is not determined"):
        bifactor(away[:, :2])
