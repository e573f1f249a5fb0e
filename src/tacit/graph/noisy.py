"""`noisy_or`: a table of which every parent may cause the child by itself, p(x = 0 | y) = (1 − leak) Π_j (1 − p_j)^y_j."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["noisy_or"]

MOST_PARENTS = 24


def noisy_or(probabilities: Sequence[float], leak: float = 0.0) -> np.ndarray:
    """The table of a noisy-or.

    Parameters
    ----------
    probabilities : sequence of float
        p_j: how likely parent j causes the child when it alone is on.
    leak : float, default=0.0
        How likely the child is on while no parent is.

    Returns
    -------
    ndarray of shape (2, …, 2)
        One axis per parent and the last for the child; state 0 is off, 1 is on.

    References
    ----------
    Pearl (1988), Probabilistic Reasoning in Intelligent Systems, section 4.3.2.

    Examples
    --------
    >>> from tacit.graph import noisy_or
    >>> noisy_or([0.8, 0.5], leak=0.1)[..., 1].round(2).tolist()
    [[0.1, 0.55], [0.82, 0.91]]
    """
    each = [*probabilities, leak]
    bad = [p for p in each if not 0 <= p <= 1]
    if bad:
        raise ValueError(f"noisy_or was given the probability {bad[0]!r}; it must be from 0 to 1.")
    if len(each) > MOST_PARENTS + 1:
        raise ValueError(
            f"a noisy_or of {len(each) - 1} parents has {2.0 ** len(each):.3g} cells; use at most {MOST_PARENTS} parents."
        )
    off = np.array(1.0 - leak)
    for p in probabilities:
        off = np.multiply.outer(off, np.array([1.0, 1.0 - p]))
    return np.stack([off, 1.0 - off], axis=-1)
