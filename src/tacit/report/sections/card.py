"""How the model was fitted, what it is, and what not to conclude from it."""

import numpy as np

from ..charts.curve import trace_curve
from ..markup import cut, join, sentence, tag
from .common import Findings, Section, claim

__all__ = ["card", "convergence"]


def convergence(findings: Findings) -> Section | None:
    """The objective after each step of the fit."""
    trace = np.asarray(findings.trace, dtype=float)
    if np.isfinite(trace).sum() < 2:
        return None
    trace = trace[np.isfinite(trace)]
    made = trace_curve(trace)
    # Of most models it cannot fall; collapsed inference of topics has no such promise.
    falls = (np.diff(trace) < -1e-6 * (1.0 + np.abs(trace[1:]))).any()
    lead = (
        "What the fit makes as large as it can, after each of its steps. "
        f"{'' if falls else 'It never falls; '}{'Where' if falls else 'where'} it is level, nothing is left to gain."
    )
    return Section("convergence", "How the fit went", "Fit", made, lead if "<svg" in made else "")


def card(findings: Findings) -> Section | None:
    """The model card and its limits."""
    if not findings.card and not findings.limits:
        return None
    facts = [tag("div", tag("dt", cut(name)), tag("dd", sentence(value))) for name, value in findings.card.items()]
    limits = [tag("li", claim(words)) for words in findings.limits]
    body = [tag("dl", facts, class_="facts") if facts else None]
    if limits:
        body += [tag("h3", "What not to conclude"), tag("ul", limits, class_="words")]
    return Section("model", "The model", "Model", join(body))
