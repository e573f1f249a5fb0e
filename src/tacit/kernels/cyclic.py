"""Von Mises's distribution on a grid: the concentration and direction that a mean place on the circle makes likeliest."""

import numpy as np

from .jit import jit

__all__ = ["likeliest"]

ONE_PLACE = 1.0 - 1e-14
"""Length of the mean of cells on a circle from which they are all at one place."""


@jit
def moments(a, b, circle, out):
    """Return log Σ_l exp(a cos θ_l + b sin θ_l); into `out` the mean (x, y) and covariance (xx, xy, yy) of the place."""
    n, top = len(circle), -np.inf
    for i in range(n):
        top = max(top, a * circle[i, 0] + b * circle[i, 1])
    total = x = y = xx = xy = yy = 0.0
    for i in range(n):
        p, c, s = np.exp(a * circle[i, 0] + b * circle[i, 1] - top), circle[i, 0], circle[i, 1]
        total += p
        x += p * c
        y += p * s
        xx += p * c * c
        xy += p * c * s
        yy += p * s * s
    x, y = x / total, y / total
    out[0], out[1] = x, y
    out[2], out[3], out[4] = xx / total - x * x, xy / total - x * y, yy / total - y * y
    return top + np.log(total)


@jit
def likeliest(mean, circle, largest, eta):
    """κ (cos μ, sin μ) of every class, (classes, 2), from `eta` on, which is overwritten: by Newton's method.

    Maximises η·mean − log Σ_l exp(η·circle_l), which is concave, with κ at most `largest`.
    """
    out = np.empty(5)
    for k in range(len(mean)):
        x, y = mean[k, 0], mean[k, 1]
        r = np.sqrt(x * x + y * y)
        if (
            r > ONE_PLACE
        ):  # at the largest κ directions near a step of the cycle are as likely as each other: that of the mean
            eta[k, 0], eta[k, 1] = largest * x / r, largest * y / r
            continue
        a, b = eta[k, 0], eta[k, 1]
        best = a * x + b * y - moments(a, b, circle, out)
        # What a continuous cycle has, nearly, is close where the parameters so far are not.
        length = min(r, 1.0 - 1e-9)
        scale = min((2.0 - length**2) / (1.0 - length**2), largest / max(length, 1e-300))
        value = scale * (x * x + y * y) - moments(scale * x, scale * y, circle, out)
        if value > best:
            a, b, best = scale * x, scale * y, value
        moments(a, b, circle, out)
        for _ in range(100):
            gx, gy = x - out[0], y - out[1]
            xx, xy, yy = out[2] + 1e-13, out[3], out[4] + 1e-13
            det = xx * yy - xy * xy
            da, db = (yy * gx - xy * gy) / det, (xx * gy - xy * gx) / det
            size, reach = np.sqrt(da * da + db * db), 1.0 + np.sqrt(a * a + b * b)
            shrink = min(1.0, reach / max(size, 1e-300))
            moved = False
            for _ in range(30):
                p, q = a + shrink * da, b + shrink * db
                kappa = np.sqrt(p * p + q * q)
                if kappa > largest:
                    p, q = p * largest / kappa, q * largest / kappa
                value = p * x + q * y - moments(p, q, circle, out)
                # Values near the maximum differ by rounding alone, long before the slope is 0 to rounding.
                flatter = (x - out[0]) ** 2 + (y - out[1]) ** 2 < 0.25 * (gx * gx + gy * gy)
                if value > best or (flatter and value > best - 1e-12 * (1.0 + abs(best))):
                    a, b, best, moved = p, q, value, True
                    break
                shrink *= 0.25
            if not moved or size < 1e-14 * reach:
                break
        eta[k, 0], eta[k, 1] = a, b
