"""Reports from Python: a fitted model and its rows as one HTML page."""

import os
from dataclasses import replace
from functools import cached_property
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..archive import replacing
from ..graph import BeliefNetwork
from ..study.findings import Findings
from ..study.subject import study
from .markup import tag
from .network_explorer import render_network
from .page import render

__all__ = ["Report", "write_report"]

SELECTED = ("n_components", "covariance_type", "bic", "aic", "icl", "cv", "failed")


class Report:
    """A page about a fitted model and the rows it describes, or about a belief network.

    In a notebook it shows itself; `save` writes it to a file that opens in any browser, without a network.

    Parameters
    ----------
    model : estimator
        Fitted: Mixture, GaussianMixture, StudentTMixture, ProbabilisticPCA or FactorAnalysis; or a BeliefNetwork, on whose page
        evidence is set by clicking.
    X : DataFrame, Arrow table, array-like of shape (n_samples, n_features) or path
        Rows with the model's columns; other columns are shown beside, and those that say which row it is are kept. None for a
        BeliefNetwork, which alone goes without rows and takes nothing but a title.
    title : str, optional
        Heading of the page; default the name of the table.
    selection : tacit.mixture.selection.Selection or list of dict, optional
        Models that were tried, for the selection curve.
    seed : int, default=0
        Seeds the draw of the rows shown, where there are more than 2000.
    labels, units : dict of str to str, optional
        What columns are called in words, and what they are measured in, by name.
    group_names : dict of int to str, optional
        What groups are called, by number.

    Attributes
    ----------
    findings : Findings or None
        What the page tells, as numbers and words; None of a BeliefNetwork.
    html : str
        The page.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.mixture import GaussianMixture
    >>> from tacit.report import Report
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0.0], [6.0]], 30, axis=0)
    >>> report = Report(GaussianMixture(2, random_state=0).fit(X), X, title="Two clouds")
    >>> [group.n_rows for group in report.findings.groups]
    [30, 30]
    """

    def __init__(
        self, model: Any, X: Any = None, *, title: str | None = None, selection: Any = None, seed: int = 0,
        labels: dict[str, str] | None = None, units: dict[str, str] | None = None, group_names: dict[int, str] | None = None,
    ) -> None:  # fmt: skip
        said: dict[str, Any] = {"title": title, "labels": labels, "units": units, "group_names": group_names}
        said = {name: value for name, value in said.items() if value is not None}
        self.findings: Findings | None = None
        if isinstance(model, BeliefNetwork):
            self._network = _alone(model, {**said, "X": X, "selection": selection}), title
        else:
            self.findings = replace(study(model, X, selection=_selected(selection), seed=seed), **said)

    @cached_property
    def html(self) -> str:
        """The page."""
        return render_network(*self._network) if self.findings is None else render(self.findings)

    def save(self, path: str | os.PathLike) -> str:
        """Write the page, whole or not at all; returns the path."""
        with replacing(path) as place, open(place, "w", encoding="utf-8", newline="\n") as file:
            file.write(self.html)
        return os.fspath(path)

    def _repr_html_(self) -> str:
        # A frame of its own keeps the page's style and the notebook's apart.
        return tag(
            "iframe", srcdoc=self.html, title="Report", width="100%", height="720", style="border:1px solid #ccc",
            sandbox="allow-scripts allow-downloads allow-modals",
        )  # fmt: skip


def write_report(model: Any, X: Any, path: str | os.PathLike, **settings: Any) -> Report:
    """Write a page about a fitted model and the rows it describes, or about a belief network.

    Parameters
    ----------
    model, X, **settings
        As in `Report`.
    path : str or path-like
        The HTML file, which appears whole or not at all.

    Returns
    -------
    Report
    """
    report = Report(model, X, **settings)
    report.save(path)
    return report


def _alone(network: BeliefNetwork, given: dict[str, Any]) -> BeliefNetwork:
    """A network that nothing was given with which its page does not tell."""
    wrong = [name for name, value in given.items() if value is not None and name != "title"]
    if wrong:
        raise ValueError(
            f"the page of a BeliefNetwork shows no rows and has no selection, but {wrong[0]} was given; leave it out."
        )
    check_is_fitted(network)
    return network


def _selected(selection: Any) -> list[dict]:
    """Rows of a selection as `Findings` has them."""
    if selection is None:
        return []
    criterion = getattr(selection, "criterion", None)
    rows = [{key: row.get(key) for key in SELECTED if key in row} for row in getattr(selection, "table", selection)]
    for row in rows:
        if "n_components" not in row:
            raise ValueError(
                "selection tells no n_components; give what tacit.mixture.select returned for several of them."
            )
        row.setdefault("covariance_type", "one structure")
        if criterion is not None:
            row["criterion"] = criterion
    return rows
