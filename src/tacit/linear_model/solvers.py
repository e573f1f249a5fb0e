"""How logistic regressions are learned, by the names of this library and of scikit-learn."""

import numpy as np

from ..engine import Newton, Orthant
from .logistic_model import LogisticModel

__all__ = ["SOLVERS", "check_solver", "method_of", "takes_curvature"]

OURS = ("auto", "newton", "bfgs", "cg", "gradient")
THEIRS = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
SOLVERS = (*OURS, *THEIRS)
SMOOTH = ("bfgs", "cg", "gradient")

PASS = 3e-5  # seconds that a pass costs besides its products
STEPS = 7, 30  # that Newton's method and limited-memory BFGS usually take
LARGEST = 1500  # coefficients whose curvature is a matrix that is held


def check_solver(solver: str, penalty: str | None, dual: bool) -> None:
    """Raise where a solver does not learn such a penalty; scikit-learn's names stand for what they do there.

    Parameters
    ----------
    solver : str
    penalty : {"l1", "l2", "elasticnet"} or None
    dual : bool
    """
    if solver not in SOLVERS:
        raise ValueError(f"solver={solver!r} is unknown; use one of {', '.join(map(repr, SOLVERS))}.")
    remedy = "use solver='auto'"
    if solver in SMOOTH and penalty not in ("l2", None):
        raise ValueError(f"Solver {solver} needs a gradient, which a {penalty} penalty does not have; {remedy}.")
    if solver in THEIRS and solver not in ("liblinear", "saga") and penalty not in ("l2", None):
        raise ValueError(f"Solver {solver} supports only 'l2' or None penalties, got {penalty} penalty; {remedy}.")
    if solver != "liblinear" and dual:
        raise ValueError(f"Solver {solver} supports only dual=False, got dual={dual}; the maximum is the same.")
    if penalty == "elasticnet" and solver == "liblinear":
        raise ValueError(f"Only 'saga' solver supports elasticnet penalty, got solver={solver}.")
    if solver == "liblinear" and penalty is None:
        raise ValueError(f"penalty=None is not supported for the liblinear solver; {remedy}.")


def takes_curvature(solver: str, n_rows: int, n_terms: int, n_scores: int, penalised: bool) -> bool:
    """Whether steps are Newton's: where asked for, or where they are quicker as products go."""
    p = n_scores * n_terms
    if solver in SMOOTH or solver == "lbfgs" or (solver != "newton" and p > LARGEST):
        return False
    if solver in ("newton", "newton-cg", "newton-cholesky"):
        return True
    curvature = n_rows * n_terms**2 * n_scores * (n_scores + 1) / 4e10 + p**3 / 2e10
    gradient = 4.0 * n_rows * n_terms * n_scores / 2e10
    steps = STEPS[1] * (3 if penalised else 1)
    return STEPS[0] * (curvature + PASS * n_scores**2) < steps * (gradient + 3 * PASS)


def method_of(solver: str, model: LogisticModel, weight: float, tol: float, curvature: bool) -> str | Newton | Orthant:
    """The engine's method.

    Parameters
    ----------
    solver : str
    model : LogisticModel
    weight : float
        Of all rows.
    tol : float
        Largest entry of the gradient per unit of weight.
    curvature : bool
        As `takes_curvature` says.
    """
    lasso = np.tile(model.lasso[: model.n_terms], model.n_scores) / weight
    penalty = lasso if lasso.any() else 0.0
    if curvature:
        return Newton(penalty, tol)
    if lasso.any():
        scale = 1.0 if model.frame is None else np.tile(model.frame, model.n_scores)
        return Orthant(lasso / scale, memories=20, epsilon=tol * weight, period=0, max_search=40)
    return solver if solver in SMOOTH else "lbfgs"
