"""Topics from every kind of source, and bad input."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from tacit.source import ArraySource, DaskSource, ParquetSource, SparseSource
from tacit.testing import check_sources
from tacit.topics import DocumentSource, LatentDirichletAllocation

from ..zoo import allocation, document_rows
from .test_lda import corpus


def long_rows(X):
    """Documents as rows [word, count], and the document of each."""
    X = csr_matrix(X)
    return np.column_stack([X.indices, X.data]), np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))


def parquet(X, path):
    import pyarrow as pa
    import pyarrow.parquet

    rows, document = long_rows(X)
    table = pa.table({"document": document, "word": rows[:, 0].astype(np.int32), "count": rows[:, 1]})
    pa.parquet.write_table(table, path, row_group_size=1000)
    return ParquetSource(path, ["word", "count"], unit="document", block_rows=700)


def test_every_source_gives_the_same_bound():
    check_sources(allocation(), document_rows(), rtol=1e-8)


@pytest.mark.parametrize("inference", ["vb", "cvb0", "scvb0"])
def test_documents_in_a_parquet_file(inference, tmp_path):
    X, *_ = corpus(200)
    source = DocumentSource(parquet(X, tmp_path / "documents.parquet"), n_words=40)
    settings = {"inference": inference, "max_iter": 6, "random_state": 0, "perp_tol": 0.0, "batch_size": 1000}
    if inference == "scvb0":
        settings["max_iter"] = 1
    streamed = LatentDirichletAllocation(4, **settings).fit(source)
    held = LatentDirichletAllocation(4, **settings).fit(X)
    assert source.n_rows == 200
    if inference == "vb":
        np.testing.assert_allclose(streamed.components_, held.components_, rtol=1e-8)
        np.testing.assert_allclose(streamed.transform(source), held.transform(X), rtol=1e-8)
    gap = streamed.completion_perplexity(source) / held.completion_perplexity(X)
    assert gap == pytest.approx(1.0, abs=1e-8 if inference == "vb" else 0.25)


def test_documents_in_dask_partitions():
    dask_array = pytest.importorskip("dask.array")
    X, *_ = corpus(60)
    rows, document = long_rows(X)
    inner = DaskSource(dask_array.from_array(rows, chunks=(400, -1)), unit=document)
    settings = {"inference": "vb", "max_iter": 5, "random_state": 0}
    there = LatentDirichletAllocation(3, **settings).fit(DocumentSource(inner, 40))
    here = LatentDirichletAllocation(3, **settings).fit(X)
    np.testing.assert_allclose(there.components_, here.components_, rtol=1e-8)


@pytest.mark.parametrize("inference", ["vb", "cvb0"])
def test_tensors(inference):
    torch = pytest.importorskip("torch")
    X, *_ = corpus(150)
    settings = {"inference": inference, "max_iter": 40, "random_state": 0, "mean_change_tol": 1e-8}
    there = LatentDirichletAllocation(4, **settings).fit(torch.as_tensor(X.toarray()))
    here = LatentDirichletAllocation(4, **settings).fit(X)
    if inference == "vb":
        np.testing.assert_allclose(there.components_, here.components_, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(there.transform(torch.as_tensor(X.toarray())), here.transform(X), atol=1e-6)
    assert there.completion_perplexity(X) == pytest.approx(here.completion_perplexity(X), rel=0.03)
    told = there.assign(torch.as_tensor(X.toarray()[:3]))
    assert [len(each) for each in told] == np.diff(X.indptr)[:3].tolist()


def test_faults_of_documents_as_rows():
    source = ArraySource(np.array([[0.0, 1.0], [1.5, 1.0]]), unit=[0, 0])
    with pytest.raises(ValueError, match=r"word 1\.5 is none of the 2 words, numbered from 0"):
        next(iter(DocumentSource(source, 2)))
    with pytest.raises(ValueError, match="word 1 has the count -2; counts are finite and not negative"):
        next(iter(DocumentSource(ArraySource(np.array([[0.0, 1.0], [1.0, -2.0]]), unit=[0, 0]))))
    with pytest.raises(ValueError, match="the source has 3 columns; documents are rows of two: word and count"):
        DocumentSource(ArraySource(np.ones((2, 3))))


# Bad input


@pytest.mark.parametrize("form", [np.asarray, csr_matrix, lambda X: SparseSource(csr_matrix(X))])
def test_a_negative_count_is_named(form):
    X = np.ones((4, 3))
    X[2, 1] = -3.0
    with pytest.raises(
        ValueError, match=r"Negative values in data passed .* row 2, column 1 holds -3; counts of words"
    ):
        LatentDirichletAllocation(2).fit(form(X))


def test_counts_that_are_no_numbers():
    X = np.ones((4, 3))
    X[1, 2] = np.nan
    with pytest.raises(
        ValueError, match=r"contains NaN \(row 1, column 2\), and a document's count of a word is a number"
    ):
        LatentDirichletAllocation(2).fit(X)
    X[1, 2] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        LatentDirichletAllocation(2).fit(X)


@pytest.mark.parametrize("inference", ["cvb0", "vb", "scvb0"])
def test_an_empty_document_has_the_prior_proportions(inference):
    X, *_ = corpus(80)
    X = X.tolil()
    X[5] = 0.0
    alpha = [0.5, 0.3, 0.2, 1.0]
    model = LatentDirichletAllocation(4, doc_topic_prior=alpha, inference=inference, random_state=0).fit(X.tocsr())
    np.testing.assert_allclose(model.transform(X.tocsr())[5], np.array(alpha) / 2.0)
    assert len(model.assign(X.tocsr())[5]) == 0
    mean, std = model.transform(X.tocsr()[5:6], return_std=True)
    np.testing.assert_allclose(std[0], np.sqrt(mean[0] * (1 - mean[0]) / 3.0), rtol=0.15)


def test_a_word_that_never_occurs_has_the_prior_share():
    X, *_ = corpus(80)
    X = X.tolil()
    X[:, 7] = 0.0
    model = LatentDirichletAllocation(4, random_state=0).fit(X.tocsr())
    np.testing.assert_allclose(model.components_[:, 7], 0.25)
    assert model.word_share_[7] == 0.0


def test_documents_without_any_word():
    with pytest.warns(UserWarning, match="X holds no word, so that topics are their prior; check the counts"):
        model = LatentDirichletAllocation(3, random_state=0).fit(np.zeros((4, 5)))
    np.testing.assert_allclose(model.components_, 1 / 3)
    with pytest.raises(ValueError, match="no document has two words"):
        model.completion_perplexity(np.zeros((4, 5)))


def test_few_documents():
    one = LatentDirichletAllocation(5, random_state=0).fit(np.array([[3.0, 1.0, 0.0, 2.0]]))
    np.testing.assert_allclose(one.transform([[3.0, 1.0, 0.0, 2.0]]).sum(), 1.0)
    X, *_ = corpus(6)
    many = LatentDirichletAllocation(20, random_state=0).fit(X)
    assert np.isfinite(many.components_).all()


def test_another_vocabulary_is_refused():
    X, *_ = corpus(30)
    model = LatentDirichletAllocation(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match="X has 39 features, but LatentDirichletAllocation is expecting 40 features"):
        model.transform(X[:, :39])
    with pytest.raises(ValueError, match="X has 12 features, but LatentDirichletAllocation is expecting 40"):
        model.transform(SparseSource(csr_matrix(np.ones((3, 12)))))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"inference": "gibbs"}, "inference='gibbs' is unknown; use one of 'cvb0', 'vb', 'scvb0'"),
        ({"doc_topic_prior": -1.0}, "doc_topic_prior holds -1; numbers of a Dirichlet prior are finite and above 0"),
        ({"doc_topic_prior": [1.0, 2.0, 3.0]}, "doc_topic_prior has 3 numbers, but 2 are needed; give one number or 2"),
        ({"doc_topic_prior": "auto"}, "doc_topic_prior='auto' is unknown; give a number, an array, or one of learn"),
        ({"topic_word_prior": [[0.1]]}, "topic_word_prior=.* is neither a number, a list of 4 numbers, nor 'learn'"),
        ({"topic_word_prior": [0.1, 0.0, 1.0, 1.0]}, "topic_word_prior holds 0; numbers of a Dirichlet"),
        ({"topic_word_prior": "learn", "seeds": {0: [1]}}, "topic_word_prior='learn' cannot be learned where seeds"),
        ({"learning_method": "stream"}, "learning_method='stream' is unknown"),
        ({"learning_offset": 0.5}, r"learning_offset=0\.5 is not a number of at least 1"),
        ({"max_iter": -1}, "max_iter=-1 is not a whole number of at least 0"),
        ({"seed_strength": 0}, "seed_strength=0 is not a number above 0"),
    ],
)
def test_settings_that_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        LatentDirichletAllocation(2, **settings).fit(np.ones((5, 4)))


def test_a_level_that_is_none():
    model = LatentDirichletAllocation(2, random_state=0).fit(np.ones((5, 4)))
    with pytest.raises(ValueError, match="level=2 is not a number between 0 and 1"):
        model.interval(np.ones((5, 4)), level=2)
