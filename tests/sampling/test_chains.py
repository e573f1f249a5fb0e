"""What chains return, whatever the sampler: diagnostics, notes, progress, checkpoints, interruption, threads."""

import sys

import arviz
import numpy as np
import pytest

from tacit.engine import ProgressBar
from tacit.notes import Note
from tacit.sampling import Chains, PosteriorSample, SamplingProgress, gibbs, gibbs_ising, hamiltonian, metropolis
from tacit.sampling.running import split_r_hat


def normal(x):
    return -0.5 * (x[0] ** 2 + (x[1] - 2.0 * x[0]) ** 2)


def slope(x):
    return np.array([-x[0] + 2.0 * (x[1] - 2.0 * x[0]), -(x[1] - 2.0 * x[0])])


def walk(**settings):
    return metropolis(normal, [0.0, 0.0], **settings)


def leap(**settings):
    return hamiltonian(normal, [0.0, 0.0], gradient=slope, **settings)


def propose(**settings):
    return metropolis(normal, [0.0, 0.0], proposal=lambda x, rng: (x + rng.normal(0.0, 2.0, 2), 0.0), **settings)


def independent(**settings):
    from scipy.stats import multivariate_normal

    return metropolis(normal, [0.0, 0.0], proposal=multivariate_normal([0, 0], [[2, 3], [3, 9]]), **settings)


def sweep(**settings):
    pair = [
        lambda x, rng: 0.4 * x[1] + rng.standard_normal() / np.sqrt(5.0),
        lambda x, rng: 2.0 * x[0] + rng.standard_normal(),
    ]
    return gibbs(pair, [0.0, 0.0], **settings)


def in_python(**settings):
    table = {"scale": 0.5}  # numba does not follow dicts
    return hamiltonian(lambda x: -table["scale"] * (x @ x), [0.0, 0.0], gradient=lambda x: -x, **settings)


def spins(**settings):
    from tacit.graph import PairwiseEnergy

    chains = gibbs_ising(PairwiseEnergy(np.zeros((3, 3, 2)), weight=0.3), **settings)
    return Chains(
        {"x": chains["energy"][..., None]}, chains.statistics, notes=chains.notes, interrupted=chains.interrupted
    )


SAMPLERS = [walk, leap, propose, independent, sweep, in_python, spins]


class StopAt:
    """Interrupts once so many draws are there."""

    def __init__(self, step):
        self.step, self.told = step, []

    def __call__(self, progress):
        self.told.append(progress)
        if progress.step >= self.step:
            raise KeyboardInterrupt


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_chains_do_not_depend_on_threads_or_blocks_and_go_on_to_the_last_bit(sampler, tmp_path, monkeypatch):
    settings = {"n_draws": 300, "n_warmup": 200, "n_chains": 3, "random_state": 5}
    whole = sampler(n_jobs=3, **settings)
    assert whole["x"].shape[:2] == (3, 300)
    assert len({row.tobytes() for row in whole["x"]}) == 3
    monkeypatch.setattr("tacit.sampling.running.BLOCK_SECONDS", 1e-9)  # blocks of one step
    np.testing.assert_array_equal(sampler(n_jobs=1, **settings)["x"], whole["x"])
    path = tmp_path / "chains"
    cut = sampler(checkpoint=path, callback=StopAt(321), **settings)
    assert cut.interrupted
    assert cut.notes[0].code == "interrupted"
    assert cut.notes[0].values["n"] == cut.n_draws < 300
    np.testing.assert_array_equal(cut["x"], whole["x"][:, : cut.n_draws])
    monkeypatch.undo()
    resumed = sampler(checkpoint=path, **settings)
    np.testing.assert_array_equal(resumed["x"], whole["x"])
    for name, value in whole.statistics.items():
        np.testing.assert_array_equal(resumed.statistics[name], value)
    assert not resumed.interrupted
    assert not path.exists()


def test_a_checkpoint_of_other_chains_or_a_damaged_one_is_refused(tmp_path):
    path = tmp_path / "chains"
    walk(checkpoint=path, callback=StopAt(1100), random_state=0, n_warmup=1000, n_draws=10_000)
    with pytest.raises(ValueError, match="cannot be continued: it belongs to other chains, settings or starts"):
        walk(checkpoint=path, random_state=1, n_warmup=1000, n_draws=10_000)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="cannot be continued"):
        walk(checkpoint=path, random_state=0, n_warmup=1000, n_draws=10_000)


def test_an_interrupt_during_warm_up_is_passed_on_and_the_checkpoint_kept(tmp_path):
    path = tmp_path / "chains"
    settings = {"n_warmup": 2000, "n_draws": 50, "random_state": 3}
    with pytest.raises(KeyboardInterrupt, match="during warm-up"):
        walk(checkpoint=path, callback=StopAt(100), **settings)
    np.testing.assert_array_equal(walk(checkpoint=path, **settings)["x"], walk(**settings)["x"])


def test_the_summary_is_arviz_s_and_warnings_are_notes():
    rng = np.random.default_rng(0)
    apart = np.cumsum(rng.normal(size=(4, 200, 2)), axis=1)
    apart[..., 1] = rng.normal(size=(4, 200))
    chains = Chains({"x": apart, "s": rng.normal(size=(4, 200))})
    table = chains.summary()
    assert list(table.index) == ["x[0]", "x[1]", "s"]
    data = chains.to_arviz().posterior
    np.testing.assert_array_equal(table["r_hat"], [*arviz.rhat(data)["x"].values, arviz.rhat(data)["s"].values])
    np.testing.assert_array_equal(table["ess_tail"][:2], arviz.ess(data, method="tail")["x"].values)
    np.testing.assert_allclose(table["2.5%"]["s"], np.quantile(chains["s"], 0.025))
    assert list(chains.summary("s", 0.5).columns[2:4]) == ["25%", "75%"]
    told = {note.code: note.values for note in chains.warnings()}
    assert set(told) == {"r_hat", "ess"}
    assert told["r_hat"]["name"] == told["ess"]["name"] == "x[0]"
    assert (told["r_hat"]["n"], told["r_hat"]["of"]) == (1, 3)
    assert chains.warnings("s") == ()
    assert table.attrs["notes"] == chains.warnings()


def test_what_one_chain_and_few_draws_cannot_tell(caplog):
    chains = Chains(
        {"x": np.random.default_rng(0).normal(size=(1, 500))}, notes=(Note("compiled", "It was compiled."),)
    )
    assert np.isnan(chains.summary()["r_hat"]["x"])
    assert [note.code for note in chains.warnings()] == ["one_chain"]  # how draws were made is nothing against them
    assert [note.code for note in chains.notes] == ["compiled"]
    single = Chains({"x": np.ones((4, 1))})
    assert np.isnan(single.summary().loc["x", ["ess_bulk", "r_hat"]].astype(float)).all()
    assert [note.code for note in single.warnings()] == ["few_draws"]
    assert np.isnan(Chains({"x": np.ones((1, 1))}).summary()["sd"]["x"])
    assert not caplog.records


def test_notes_of_a_posterior_tell_what_r_hat_says():
    apart = np.random.default_rng(0).normal(size=(4, 500)) + np.array([[0.0], [0.0], [5.0], [5.0]])
    chains = Chains({"x": apart}, notes=(Note("weak_prior", "It is weak."),))
    assert [note.code for note in PosteriorSample(None, chains, None, apart[..., None]).notes] == [
        "weak_prior",
        "r_hat",
        "ess",
    ]


def test_warm_up_is_told_apart_and_chains_become_arviz_data():
    chains = leap(n_draws=100, n_warmup=80, keep_warmup=True, random_state=0)
    data = chains.to_arviz()
    assert data.posterior["x"].shape == (4, 100, 2)
    assert data.warmup_posterior["x"].shape == (4, 80, 2)
    assert {"lp", "diverging", "energy", "tree_depth"} <= set(data.sample_stats)
    assert arviz.bfmi(data).shape == (4,)
    np.testing.assert_allclose(chains.acceptance, chains.statistics["acceptance_rate"].mean(axis=1))
    np.testing.assert_allclose(chains.statistics["lp"][0, 7], normal(chains["x"][0, 7]))


def test_progress_tells_acceptance_and_r_hat(capsys):
    watch = StopAt(10**9)
    walk(callback=watch, n_warmup=500, n_draws=500, random_state=0)
    first, last = watch.told[0], watch.told[-1]
    assert isinstance(first, SamplingProgress)
    assert first.warmup
    assert np.isnan(first.r_hat)
    assert (last.step, last.max_iter, last.done) == (1000, 1000, True)
    assert 0.1 < last.acceptance < 0.6
    assert 0.99 < last.r_hat < 1.2
    line = ProgressBar("chains").line(last)
    assert "sampling" in line
    assert f"R-hat {last.r_hat:.3f}" in line


def test_the_running_r_hat_is_that_of_split_chains():
    values = np.random.default_rng(1).normal(size=(3, 101, 2)) + [[[0.0, 1.0]]] * np.arange(3)[:, None, None]
    expected = arviz.rhat(arviz.convert_to_dataset({"x": values}), method="split")["x"].values
    np.testing.assert_allclose(split_r_hat(values), expected, rtol=1e-10)


def test_without_arviz_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r"pip install 'tacit\[sampling\]'"):
        Chains({"x": np.zeros((2, 10))}).summary()


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (np.zeros((3, 2)), "start has 3 rows, but n_chains=4; give a row for each chain"),
        ([np.nan, 0.0], "start of chain 0 holds nan; give finite numbers"),
        ([], "start is empty"),
        (np.zeros((2, 2, 2)), "start has shape"),
        ([{"a": 1.0}, {"b": 1.0}, {"a": 1.0}, {"a": 1.0}], "start of chain 1 names b, but the variables are a"),
        ([{"a": [1.0]}, {"a": [1.0, 2.0]}] * 2, "start of chain 1: a has shape"),
    ],
)
def test_starts_that_do_not_fit(start, message):
    with pytest.raises(ValueError, match=message):
        metropolis(lambda x: 0.0, start)


def test_a_start_of_its_own_for_every_chain():
    rows = np.arange(8.0).reshape(4, 2)
    chains = metropolis(lambda x: -1e4 * (x * x).sum(), rows, n_warmup=0, n_draws=1, random_state=0)
    np.testing.assert_allclose(chains["x"][:, 0], rows, atol=5)
    from_function = metropolis(normal, lambda rng: rng.normal(size=2), n_warmup=0, n_draws=5, random_state=0)
    assert len(np.unique(from_function["x"][:, 0], axis=0)) == 4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_draws": 0}, "n_draws=0 is not a whole number of at least 1"),
        ({"n_warmup": -1}, "n_warmup=-1"),
        ({"n_chains": 1.5}, "n_chains=1.5"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"n_thin": 0}, "n_thin=0"),
    ],
)
def test_settings_out_of_range(settings, message):
    with pytest.raises(ValueError, match=message):
        walk(**settings)
