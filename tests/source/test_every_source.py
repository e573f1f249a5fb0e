"""The same rows from every kind of source give the same fit, for every model: proved once, here."""

import pytest

from tacit.testing import check_sources

from ..zoo import LEARNERS, some, with_missing


@pytest.mark.parametrize("missing", some([False, True], [True]), ids=["complete", "missing"])
@pytest.mark.parametrize("name", LEARNERS)
def test_every_source_gives_the_same_fit(name, missing):
    pytest.importorskip("pyarrow")
    pytest.importorskip("dask.array")
    pytest.importorskip("torch")
    model, rows = LEARNERS[name]
    check_sources(model, with_missing(rows()) if missing else rows())
