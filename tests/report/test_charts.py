"""Scales, planes, ellipses, curves and colours."""

import re

import numpy as np
import pytest

from tacit.report.charts.colours import DARK, GROUPS, LIGHT, SHAPES, colour, shape
from tacit.report.charts.curve import selection_curve, trace_curve
from tacit.report.charts.distribution import bins_of, distribution
from tacit.report.charts.ellipse import ellipse_of
from tacit.report.charts.scale import Scale, spanning
from tacit.report.charts.scatter import BOTTOM, LEFT, RIGHT, TOP, scatter
from tacit.report.projection import fisher_axes, principal_axes, views
from tacit.survey.column import ColumnInfo

from .factory import penguins


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [(0, 10, ["0", "2", "4", "6", "8", "10"]), (15, 20.5, ["16", "18", "20"]), (-0.5, 0.5, ["−0.4", "−0.2", "0", "0.2", "0.4"]),
     (12.4, 22.6, ["12.5", "15.0", "17.5", "20.0", "22.5"]), (0, 5e8, ["0", "1e8", "2e8", "3e8", "4e8", "5e8"])],
)  # fmt: skip
def test_ticks_are_round_and_told_apart(low, high, labels):
    assert [text for _, text in Scale(low, high, 0, 100).labels(5)] == labels


@pytest.mark.parametrize("values", [[], [np.nan], [3.0], [0.0, 0.0], [1e300, -1e300], [5e-324], [1e9, 1e9 + 1e-6]])
def test_scales_of_odd_values(values):
    scale = spanning(values, 0.0, 100.0)
    assert scale.high > scale.low
    assert all(0 <= scale(value) <= 100 for value in values if np.isfinite(value))
    assert len(scale.labels()) < 40


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return np.dot([0.2126, 0.7152, 0.0722], linear)


def contrast(one, other):
    light, dark = sorted([luminance(one), luminance(other)], reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_and_marks_stand_out_from_their_ground(theme):
    for name in ("ink", "soft", "accent", "mark", "low", "high"):
        assert contrast(theme[name], theme["paper"]) >= 4.5, name
    for name in ("ink", "soft", "accent"):
        assert contrast(theme[name], theme["panel"]) >= 4.5, name
    for name in GROUPS:
        assert contrast(theme[name], theme["paper"]) >= 3.0, name


def test_groups_differ_in_colour_or_shape():
    marks = {(colour(k), shape(k)) for k in range(1, 82)}
    assert len(marks) == 81
    assert len({shape(k) for k in range(1, 10)}) == len(SHAPES) == 9


def test_bins_of_whole_numbers_are_whole_and_long_tails_logarithmic(rng):
    years = bins_of(np.repeat(np.arange(1950.0, 2010), 3), True)
    assert not years.log
    assert np.all(years.edges == np.round(years.edges))
    assert [text for _, text in years.ticks()][:2] == ["1960", "1980"]
    answers = bins_of(np.array([1.0, 2, 5] * 10), True)
    np.testing.assert_array_equal(answers.edges, np.arange(1, 7) - 0.5)  # every answer in the middle of its own bin
    amounts = bins_of(np.append(np.round(np.exp(rng.normal(5, 2, 500))), np.zeros(40)), True)
    assert amounts.log
    assert amounts.zero
    np.testing.assert_array_equal(amounts.edges % 1, 0.5)
    assert amounts.ticks()[0][1] == "0"
    incomes = bins_of(np.exp(rng.normal(10, 1.5, 500)), False)
    assert (incomes.log, incomes.zero) == (True, False)
    assert not bins_of(rng.normal(size=200), False).log
    for bins, values in (
        (years, np.arange(1950.0, 2010)),
        (amounts, np.array([0.0, 3, 90])),
        (incomes, incomes.edges[:-1]),
    ):
        assert (bins.heights(values) * np.diff(bins.places)).sum() == pytest.approx(1)


def test_few_known_cells_are_shown_one_by_one():
    column = ColumnInfo("x", "measurement")
    cells, group = np.r_[np.linspace(0.0, 1.0, 30), 0.5, 0.7, np.nan], np.repeat([1, 2], [30, 3])
    drawn = distribution("x", column, "x", cells, group, {1: "Group 1", 2: "Group 2"})
    assert drawn.count("<circle") == 2
    assert "32 known of 33 rows" in drawn
    assert '<td>Group 2</td><td class="n">2</td><td class="n">–</td>' in drawn


def rows_in_groups(rng, means, n=40, noise=1.0):
    group = np.repeat(np.arange(len(means)), n)
    Z = np.asarray(means)[group] + noise * rng.normal(size=(len(group), np.shape(means)[1]))
    return (Z - Z.mean(axis=0)) / Z.std(axis=0), np.eye(len(means))[group], group


def overlap(places, group):
    """Largest share of a group that is nearer to another group's middle than to its own."""
    middles = np.array([places[group == k].mean(axis=0) for k in range(group.max() + 1)])
    return (np.linalg.norm(places[:, None] - middles, axis=2).argmin(axis=1) != group).mean()


def test_the_plane_separates_close_groups_beside_a_far_one(rng):
    # Fisher's own plane leaves the groups that differ in the last column on top of each other.
    means = np.zeros((5, 6))
    means[1, 0], means[2, 1], means[3, 2], means[4, 3] = 60, 60, 60, 4
    Z, shares, group = rows_in_groups(rng, means)
    assert overlap(fisher_axes(Z, shares), group) < 0.1
    assert overlap(principal_axes(Z), group) > 0.1


@pytest.mark.parametrize(
    "shape", [(30, 60), (40, 1), (40, 2)], ids=["more columns than rows", "one column", "two columns"]
)
def test_planes_of_odd_tables(rng, shape):
    Z, shares, group = rows_in_groups(rng, 6.0 * np.outer([0, 1], np.ones(shape[1])), shape[0] // 2)
    places = fisher_axes(Z, shares)
    assert places.shape == (shape[0], 2)
    assert np.isfinite(places).all()
    assert overlap(places, group) < 0.1
    doubled = fisher_axes(np.column_stack([Z, Z]), shares)
    assert np.isfinite(doubled).all()


def test_an_empty_group_does_no_harm(rng):
    Z, shares, _ = rows_in_groups(rng, 8.0 * rng.normal(size=(3, 4)))
    places = fisher_axes(Z, np.column_stack([shares, np.zeros(len(Z))]))
    np.testing.assert_allclose(places, fisher_axes(Z, shares))


def test_views_name_what_goes_along_with_an_axis():
    first, second = views(penguins())
    assert (first.name, second.name) == ("Best separation", "Most variation")
    assert "flipper_length_mm" in first.labels[0] + second.labels[0]
    assert first.places.shape == (344, 2)


def test_the_selection_curve_says_what_is_best_and_what_failed():
    rows = [
        {"n_components": k, "covariance_type": name, "bic": 100.0 + abs(k - 2) + 5 * j, "failed": None}
        for j, name in enumerate(("tied", "full"))
        for k in (2, 1, 3)
    ]
    rows.append({"n_components": 4, "covariance_type": "full", "bic": None, "failed": "a class collapsed"})
    made = selection_curve(rows)
    assert "Best: 2 groups, tied, BIC 100." in made
    assert made.count('class="failed"') == 1
    assert "a class collapsed" in made
    assert "No model could be fitted" in selection_curve([rows[-1], rows[-1]])


def test_the_selection_curve_by_cross_validation_points_up():
    rows = [
        {
            "n_components": k,
            "covariance_type": "full",
            "cv": -2.0 - abs(k - 2),
            "bic": 5.0,
            "failed": None,
            "criterion": "cv",
        }
        for k in (2, 1, 3)
    ]
    made = selection_curve(rows)
    assert "higher is better" in made
    assert "Best: 2 groups, full, Cross-validated density −2." in made


def curves(page):
    """Places of the dots that lie inside the frame, and where the name of the best stands."""
    dots = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.-]+)" r="3"', page)]
    best = re.search(r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="middle" class="best">', page)
    return np.array(dots), np.array([float(part) for part in best.groups()])


def test_lines_of_the_selection_curve_stay_below_its_title():
    rows = [
        {"n_components": k, "covariance_type": name, "bic": 12e3 + worse * abs(k - 6) ** 1.2 + 9e3 * (k == 1), "failed": None}
        for name, worse in (("tied", 20.0), ("full", 25.0), ("diag", 30.0))
        for k in range(1, 10)
    ]  # fmt: skip
    made = selection_curve(sorted(rows, key=lambda row: row["bic"]))
    title = float(re.search(r'y="([\d.]+)" text-anchor="start" class="label">BIC', made).group(1))
    window = float(re.search(r'<clipPath id="selection-window"><rect x="\d+" y="(\d+)"', made).group(1))
    assert window >= title + 6
    dots, best = curves(made)
    # Good models take most of the height: that of one group is cut off.
    assert np.ptp(dots[dots[:, 1] > window][:, 1]) > 100
    assert dots[:, 1].min() < window
    assert not ((np.abs(dots - best - [0, -6]) < [18, 9]).all(axis=1)).any()


def test_names_of_lines_do_not_overlap_on_narrow_screens():
    rows = [
        {"n_components": k, "covariance_type": name, "bic": 100.0 + k + j, "failed": None}
        for j, name in enumerate(("tied", "full", "diag", "spherical"))
        for k in (1, 2)
    ]
    ends = [float(y) for y in re.findall(r'y="([\d.]+)" text-anchor="start" class="end', selection_curve(rows))]
    assert np.diff(np.sort(ends)).min() >= 20


def test_few_steps_are_told_in_words():
    assert trace_curve([-3.0, -2.0]) == "<p>Settled after 2 steps at a log-likelihood of −2 per row, up from −3.</p>"
    assert "nothing was left to gain" in trace_curve([-2.0] * 9)
    assert "<svg" in trace_curve([-3.0, -2.5, -2.2, -2.0])


def holds(ellipse, places):
    gap = places - ellipse.centre
    return (gap @ np.linalg.inv(ellipse.shape) * gap).sum(axis=1) <= 1.0


def test_ellipses_hold_about_nine_rows_of_ten():
    found = penguins()
    for view in views(found):
        for number in range(1, 4):
            places = view.places[found.group == number]
            assert 0.8 <= holds(ellipse_of(places), places).mean() <= 0.98


def test_a_row_far_out_does_not_blow_up_an_ellipse(rng):
    places = rng.normal(size=(40, 2)) * [1.0, 0.2]
    tight = ellipse_of(places)
    wide = ellipse_of(np.vstack([places, [[0.0, 30.0], [1.0, 25.0]]]))
    np.testing.assert_allclose(wide.reach, tight.reach, rtol=0.35)
    assert tight.reach[0] > 3 * tight.reach[1]


@pytest.mark.parametrize(
    "places", [np.zeros((5, 2)), np.outer(np.arange(9.0), [1, 2]), 1e150 * np.eye(3, 2), [[0, 0]] * 2]
)
def test_ellipses_of_odd_rows(places):
    found = ellipse_of(np.asarray(places, dtype=float))
    assert (found is None) == (len(places) < 3)
    assert found is None or np.isfinite(found.reach).all()


def test_the_frame_holds_the_ellipses(rng):
    # Rows along a slanted band: its ellipse reaches beyond them on either side.
    along = np.linspace(-1, 1, 60)
    svg, beyond = scatter("m", np.column_stack([along, along + 0.05 * rng.normal(size=60)]), np.ones(60, dtype=int))
    rx, ry, x, y, turn = map(float, re.search(
        r'<ellipse rx="([\d.]+)" ry="([\d.]+)" transform="translate\(([\d.]+) ([\d.]+)\) rotate\(([\d.-]+)\)', svg
    ).groups())  # fmt: skip
    sine, cosine = np.sin(np.radians(turn)), np.cos(np.radians(turn))
    wide, high = np.hypot(rx * cosine, ry * sine), np.hypot(rx * sine, ry * cosine)
    assert (x - wide > LEFT, x + wide < RIGHT, y - high > TOP, y + high < BOTTOM, beyond) == (True,) * 4 + (0,)
