"""Patches: what scikit-learn extracts and reconstructs, and what it cannot."""

import numpy as np
import pytest
from sklearn.feature_extraction.image import extract_patches_2d, reconstruct_from_patches_2d

from tacit.factor import average_patches, extract_patches, patch_blocks

SHAPES = [(17, 23), (17, 23, 3), (8, 8), (9, 31, 1)]


@pytest.fixture
def image(rng):
    return rng.normal(size=(17, 23, 3))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
def test_patches_are_those_of_scikit_learn(rng, shape, dtype):
    image = (200 * rng.random(shape)).astype(dtype)
    expected = extract_patches_2d(image, (5, 8))
    rows = extract_patches(image, (5, 8))
    assert rows.dtype == dtype
    np.testing.assert_array_equal(rows, expected.reshape(len(expected), -1))
    np.testing.assert_array_equal(np.concatenate(list(patch_blocks(image, (5, 8), block_rows=40))), rows)


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape[-1] > 1])
def test_averages_are_those_of_scikit_learn(rng, shape):
    patches = rng.normal(size=(len(extract_patches(np.zeros(shape), (5, 8))), 5, 8, *shape[2:]))
    expected = reconstruct_from_patches_2d(patches, shape)
    np.testing.assert_allclose(average_patches(patches.reshape(len(patches), -1), shape, (5, 8)), expected, atol=1e-12)


@pytest.mark.parametrize("step", [1, 2, 3, 5, (4, 7), (5, 8)])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_step_covers_every_pixel(rng, shape, step):
    image = rng.normal(size=shape)
    image[rng.random(shape) < 0.2] = np.nan
    rows = extract_patches(image, (5, 8), step)
    found = average_patches(rows, shape, (5, 8), step)
    assert found.shape == shape
    np.testing.assert_allclose(found, image, atol=1e-12)
    assert len(rows) == np.prod([-(-(n - m) // s) + 1 for n, m, s in zip(shape, (5, 8), np.broadcast_to(step, 2))])


def test_lost_pixels_count_for_nothing_and_stay_lost_where_nobody_knows():
    rows = np.array([[1.0, np.nan], [4.0, np.nan], [np.nan, 7.0]])
    np.testing.assert_array_equal(average_patches(rows, (1, 4), (1, 2)), [[1.0, 4.0, np.nan, 7.0]])
    masked = np.ma.masked_equal(np.array([[1, 2, 3]]), 2)
    np.testing.assert_array_equal(extract_patches(masked, (1, 2)), [[1, np.nan], [np.nan, 3]])
    np.testing.assert_array_equal(average_patches(np.ma.masked_invalid(rows), (1, 4), (1, 2))[0, :2], [1.0, 4.0])


def test_weights_are_precisions(image, rng):
    rows = extract_patches(image, 4, 3)
    estimates, weight = rows + rng.normal(size=rows.shape), rng.random(rows.shape)
    expected = average_patches(estimates * weight, image.shape, 4, 3) / average_patches(weight, image.shape, 4, 3)
    np.testing.assert_allclose(average_patches(estimates, image.shape, 4, 3, weight), expected)
    # A weight per patch is that of all its cells, and equal weights are none.
    per_patch = np.broadcast_to(weight[:, :1], rows.shape)
    expected = average_patches(estimates, image.shape, 4, 3, per_patch)
    np.testing.assert_allclose(average_patches(estimates, image.shape, 4, 3, weight[:, 0]), expected)
    flat = average_patches(estimates, image.shape, 4, 3, np.full(len(rows), 0.3))
    np.testing.assert_allclose(flat, average_patches(estimates, image.shape, 4, 3))


def test_inverse_variances_average_best(rng):
    truth = rng.normal(size=(40, 40))
    rows = extract_patches(truth, 6)
    std = rng.uniform(0.1, 2.0, size=rows.shape)
    estimates = rows + std * rng.normal(size=rows.shape)
    plain, weighted = (average_patches(estimates, truth.shape, 6, weight=w) - truth for w in (None, std**-2))
    assert (weighted**2).mean() < 0.4 * (plain**2).mean()


def test_a_stream_of_blocks_is_the_whole(image, rng):
    rows = extract_patches(image, 5, 2)
    weight = rng.random(rows.shape)
    blocks = patch_blocks(image, 5, 2, block_rows=1)  # at least a line each
    np.testing.assert_allclose(average_patches(blocks, image.shape, 5, 2), image)
    pairs = ((2 * rows[i : i + 7], weight[i : i + 7]) for i in range(0, len(rows), 7))
    expected = average_patches(2 * rows, image.shape, 5, 2, weight)
    np.testing.assert_array_equal(average_patches(pairs, image.shape, 5, 2), expected)


def test_precision_and_frames(image):
    pandas = pytest.importorskip("pandas")
    single = image.astype(np.float32)
    rows = extract_patches(single, 3)
    assert average_patches(rows, image.shape, 3).dtype == np.float32
    assert average_patches(iter([rows[:20], rows[20:]]), image.shape, 3).dtype == np.float32
    assert average_patches(rows.astype(int), image.shape, 3).dtype == np.float64
    np.testing.assert_allclose(average_patches(pandas.DataFrame(rows), image.shape, 3), single, rtol=1e-6)


FLAT = np.zeros((6, 9))
ROWS = extract_patches(FLAT, 3)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: extract_patches(np.zeros(5)), ValueError, r"image has shape \(5,\); give \(height, width\) or"),
        (lambda: extract_patches(np.zeros((0, 5)), 2), ValueError, r"image has shape \(0, 5\)"),
        (lambda: extract_patches(np.zeros((5, 5), complex), 2), TypeError, "image holds complex128; give pixels as numbers"),
        (lambda: extract_patches(np.array([["a"]]), 1), TypeError, "image holds <U1"),
        (lambda: extract_patches(FLAT, 8), ValueError, r"size=8 exceeds the image of 6 × 9 pixels; use at most \(6, 9\)"),
        (lambda: extract_patches(FLAT, 2.5), ValueError, "size=2.5 is not a whole number of at least 1, nor a pair"),
        (lambda: extract_patches(FLAT, (2, 2, 2)), ValueError, r"size=\(2, 2, 2\) is not a whole number"),
        (lambda: extract_patches(FLAT, True), ValueError, "size=True is not a whole number"),
        (lambda: extract_patches(FLAT, 3, 0), ValueError, "step=0 is not a whole number"),
        (lambda: extract_patches(FLAT, 3, 4), ValueError, "step=4 exceeds size=3, so that pixels would lie in no patch"),
        (lambda: patch_blocks(FLAT, 3, block_rows=0), ValueError, "block_rows=0 is not a whole number of at least 1"),
        (lambda: average_patches(ROWS, (6,), 3), ValueError, r"shape=\(6,\) is not the shape of an image"),
        (lambda: average_patches(ROWS, 6, 3), ValueError, "shape=6 is not the shape of an image"),
        (lambda: average_patches(ROWS[1:], (6, 9), 3), ValueError, "there are 27 rows, but an image of .* has 28 patches"),
        (lambda: average_patches(iter([ROWS, ROWS]), (6, 9), 3), ValueError, "there are 56 rows, but"),
        (lambda: average_patches(iter([ROWS[:9]]), (6, 9), 3), ValueError, "there are 9 rows, but"),
        (lambda: average_patches(iter([]), (6, 9), 3), ValueError, "there are 0 rows, but"),
        (lambda: average_patches(ROWS[:, 1:], (6, 9), 3), ValueError, r"shape \(28, 8\), but a patch has 9 cells"),
        (lambda: average_patches(ROWS, (6, 9), 3, weight=[1.0]), ValueError, r"weight has shape \(1,\), but rows have"),
        (lambda: average_patches(ROWS, (6, 9), 3, weight=np.full(28, np.inf)), ValueError, "weight holds inf;"),
        (lambda: average_patches(ROWS, (6, 9), 3, weight=np.full(28, np.nan)), ValueError, "weight holds nan;"),
        (lambda: average_patches(ROWS, (6, 9), 3, weight=np.full(28, -1.0)), ValueError, "weight holds -1; weights must"),
        (lambda: average_patches(iter([ROWS]), (6, 9), 3, weight=np.ones(28)), ValueError, "beside an iterator of blocks"),
    ],
)  # fmt: skip
def test_bad_input(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
