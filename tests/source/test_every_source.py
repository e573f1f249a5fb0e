"""The same rows from every kind of source give the same fit, for every model: proved once, here."""

import pytest

from tacit.testing import check_sources

from ..zoo import LEARNERS, with_missing


@pytest.mark.parametrize("holes", [False, True], ids=["complete", "holes"])
@pytest.mark.parametrize("name", LEARNERS)
def test_every_source_gives_the_same_fit(name, holes):
    pytest.importorskip("pyarrow")
    pytest.importorskip("dask.array")
    pytest.importorskip("torch")
    model, rows = LEARNERS[name]
    check_sources(model, with_missing(rows()) if holes else rows())
