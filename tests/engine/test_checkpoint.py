"""Checkpoints: a fit that is killed goes on as if nothing had happened, and nothing that befalls the file stops a fit."""

import os
import re
import signal
import subprocess
import sys
import time
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

import tacit.engine.checkpoint
from tacit.engine import Checkpoint, SingularError, fit, fit_best
from tacit.mixture import GaussianMixture
from tacit.source import ArraySource
from tacit.topics import LatentDirichletAllocation

from ..test_estimators import ESTIMATORS
from ..zoo import KINDS, LEARNERS, MODELS, gaussian_rows, some, with_missing

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

PARAMETERS = ("weights_", "means_", "covariances_")
TAKING_CHECKPOINTS = {type(each): each for each in ESTIMATORS if has_fit_parameter(each, "checkpoint")} | {
    # Collapsed passes go on from what documents remember, not from every word: not bit for bit.
    LatentDirichletAllocation: LatentDirichletAllocation(3, inference="vb", doc_topic_prior="learn")
}


def rows(n=300):
    return gaussian_rows(n, 3, 4)


def mixture(**settings):
    return GaussianMixture(4, **{"n_init": 2, "tol": 0.0, "max_iter": 20, "random_state": 0, "n_jobs": 1, **settings})


def same(found, expected, rtol=1e-12):
    for name in PARAMETERS:
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=rtol, atol=rtol)
    np.testing.assert_allclose(found.lower_bounds_, expected.lower_bounds_, rtol=rtol)
    assert found.fit_.trace.passes == expected.fit_.trace.passes
    assert found.fit_.reason == expected.fit_.reason
    assert found.fit_.failures == expected.fit_.failures


class Killed(Exception):
    """What stands for the end of the process."""


def dying(at, run=1):
    """A callback that ends the fit at a step of a start."""

    def callback(progress):
        if (progress.run, progress.step) == (run, at) and not progress.done:
            raise Killed

    return callback


def kept(X, path, *, at, run=1, every=0.0, **settings):
    """Leave a checkpoint behind."""
    with pytest.raises(Killed):
        mixture(callback=dying(at, run), **settings).fit(X, checkpoint=path, checkpoint_every=every)
    return path


# Killed processes

SCRIPT = """
import os, sys, time, warnings
import numpy as np
from tacit.mixture import GaussianMixture

warnings.simplefilter("ignore")
folder, *methods = sys.argv[1:]
X = np.load(f"{folder}/rows.npy")
for method in methods:
    if os.path.exists(f"{folder}/{method}.npz"):
        continue
    steps = []

    def rest(progress):
        steps or print(method, flush=True)
        steps.append(progress.step)
        time.sleep(0.01)

    mixture = GaussianMixture(
        4, n_init=2, tol=0, max_iter=40, random_state=0, n_jobs=1, accelerate=method, callback=rest
    )
    mixture.fit(X, checkpoint=f"{folder}/{method}.state", checkpoint_every=0)
    found = {name: getattr(mixture, name) for name in ("weights_", "means_", "covariances_")}
    np.savez(f"{folder}/{method}", **found)
"""


def run_and_kill(command, method, delay):
    """Run until the fit by that method has been going for some time, and no longer."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if line.strip() == method:
                time.sleep(delay)
                process.kill()
        errors = process.stderr.read()
    assert process.returncode == -signal.SIGKILL, errors


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
@pytest.mark.parametrize("methods", some([("auto",), ("auto", "anderson", "squarem")], [("auto",)]), ids=len)
def test_fits_that_are_killed_at_random_moments_end_as_if_they_had_not_been(methods, tmp_path):
    X = gaussian_rows(3000, 3, 4)
    np.save(tmp_path / "rows.npy", X)
    script = tmp_path / "fit.py"
    script.write_text(SCRIPT)
    command = [sys.executable, script, tmp_path, *methods]
    for method, delay in zip(methods, np.random.default_rng(0).uniform(0.05, 0.4, 3)):
        run_and_kill(command, method, delay)
        assert (tmp_path / f"{method}.state").exists()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60)
    for method in methods:
        expected = mixture(accelerate=method, max_iter=40).fit(X)
        with np.load(tmp_path / f"{method}.npz") as found:
            for name in PARAMETERS:
                np.testing.assert_array_equal(found[name], getattr(expected, name))
        assert not (tmp_path / f"{method}.state").exists()


# The same within one process, at chosen moments


@pytest.mark.parametrize("method", ["auto", "squarem", None])
def test_a_fit_ended_at_any_step_goes_on_to_the_same_end(method, tmp_path):
    X, path = rows(), tmp_path / "state"
    expected = mixture(accelerate=method).fit(X)
    for run, at in [(1, 7), (1, 8), (2, 1), (2, 9)]:
        kept(X, path, at=at, run=run, accelerate=method)
        assert path.exists()
        seen = []
        found = mixture(accelerate=method, callback=seen.append).fit(X, checkpoint=path)
        same(found, expected, 0.0)
        assert not path.exists()
        # It went on; it did not begin again.
        assert (seen[0].run, seen[0].step) == ((run, at) if (run, at) != (2, 1) else (1, seen[0].step))
        assert seen[0].run < run or seen[0].step > 1


@pytest.mark.parametrize("name", some(LEARNERS, KINDS))
def test_a_fit_of_any_model_ended_at_a_random_step_goes_on_to_the_same_end(name, tmp_path):
    model, make = LEARNERS[name]
    X = with_missing(make())

    def run(callback=None):
        source, rng = ArraySource(X, n_jobs=1), np.random.default_rng(4)
        init = partial(model.init, source.sample(source.n_rows, np.random.default_rng(0)))
        memory = model.memory(source.sample(100, np.random.default_rng(0))) if model.remembers else None
        first = init(np.random.default_rng(0))
        checkpoint = Checkpoint(tmp_path / "state", first, name, every=0.0, rng=rng, memory=memory)
        return fit_best(model, source, [partial(init, rng)] * 2, checkpoint=checkpoint, tol=0.0, max_iter=9,
                        accelerate="auto", callback=callback)  # fmt: skip

    expected = run()
    seen = [(step.run, step.step) for step in told(run) if not step.done]
    at = seen[np.random.default_rng(list(name.encode())).integers(1, len(seen))]
    with pytest.raises(Killed):
        run(dying(at[1], at[0]))
    found = run()
    np.testing.assert_array_equal(found.params.to_vector(), expected.params.to_vector())
    assert found.trace.objectives == expected.trace.objectives
    assert found.reason == expected.reason


def told(run):
    """What a callback is told of a run."""
    seen = []
    run(seen.append)
    return seen


@pytest.mark.parametrize("estimator", TAKING_CHECKPOINTS.values(), ids=lambda each: type(each).__name__)
def test_a_fit_of_any_estimator_goes_on_to_the_same_end(estimator, tmp_path):
    X, path = gaussian_rows(), tmp_path / "state"
    X = np.abs(X) if get_tags(estimator).input_tags.positive_only else X
    X = with_missing(X, 0.3) if get_tags(estimator).input_tags.allow_nan else X

    def fitted(callback=None, **kept):
        return clone(estimator).set_params(random_state=0, callback=callback).fit(X, **kept)

    expected = fitted()
    seen = told(fitted)
    at = seen[len(seen) // 2]
    with pytest.raises(Killed):
        fitted(dying(at.step, at.run), checkpoint=path, checkpoint_every=0.0)
    assert path.exists()
    found = fitted(checkpoint=path)
    assert not path.exists()
    if not hasattr(expected, "fit_"):  # networks
        np.testing.assert_array_equal(found.training_.bounds, expected.training_.bounds)
        return np.testing.assert_equal(found.weights_, expected.weights_)
    np.testing.assert_array_equal(found.fit_.params.to_vector(), expected.fit_.params.to_vector())
    assert found.fit_.trace.objectives == expected.fit_.trace.objectives


def test_a_fit_may_be_ended_many_times(tmp_path):
    X, path = rows(), tmp_path / "state"
    expected = mixture(accelerate="anderson").fit(X)
    for at in range(3, 13, 3):
        kept(X, path, at=at, accelerate="anderson")
    for at in range(3, 12, 4):
        kept(X, path, at=at, run=2, accelerate="anderson")
    same(mixture(accelerate="anderson").fit(X, checkpoint=path), expected, 0.0)


def test_a_fit_to_a_table_on_disk_goes_on(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X, path = rows(), tmp_path / "state"
    table = pa.table({name: pa.array(X[:, j], from_pandas=True) for j, name in enumerate("abc")})
    pq.write_table(table, tmp_path / "rows.parquet")
    expected = mixture().fit(str(tmp_path / "rows.parquet"))
    kept(str(tmp_path / "rows.parquet"), path, at=8, run=2)
    same(mixture().fit(str(tmp_path / "rows.parquet"), checkpoint=path), expected, 0.0)


def test_starts_from_a_sample_of_the_rows_are_the_same_after_going_on(tmp_path, monkeypatch):
    import tacit.base.learning

    monkeypatch.setattr(tacit.base.learning, "SAMPLE_ROWS", 150)
    X, path = rows(), tmp_path / "state"
    expected = mixture(n_init=3).fit(X)
    kept(X, path, at=4, n_init=3)
    same(mixture(n_init=3).fit(X, checkpoint=path), expected, 0.0)


def test_a_fit_without_interruption_is_not_changed_by_its_checkpoint(tmp_path):
    X, path = rows(), tmp_path / "state"
    same(mixture().fit(X, checkpoint=path, checkpoint_every=0.0), mixture().fit(X), 0.0)
    assert os.listdir(tmp_path) == []


def test_the_file_is_written_no_more_often_than_asked(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(tacit.engine.checkpoint, "write_archive", lambda *a, **k: written.append(a))
    mixture(n_init=1).fit(rows(), checkpoint=tmp_path / "state", checkpoint_every=3600.0)
    assert not written
    mixture(n_init=1).fit(rows(), checkpoint=tmp_path / "state", checkpoint_every=0.0)
    assert len(written) > 15


def test_the_file_is_whole_at_every_step_and_no_other_is_left(tmp_path):
    X, path = rows(), tmp_path / "state"
    seen = []

    def look(progress):
        seen.append(sorted(os.listdir(tmp_path)))
        if progress.step > 2:
            copy = tacit.engine.checkpoint.read_archive(path)[0]
            assert copy["run"] == progress.run

    mixture(callback=look, n_init=1).fit(X, checkpoint=path, checkpoint_every=0.0)
    assert seen[0] == []
    assert {tuple(names) for names in seen[1:]} == {("state",)}
    assert os.listdir(tmp_path) == []


# Starts


def stub(name="mixture of diag"):
    model, make = MODELS[name]
    source = ArraySource(make(), n_jobs=1)
    return model, source, partial(model.init, source.sample(source.n_rows, np.random.default_rng(0)))


def test_failed_starts_and_the_best_so_far_survive(tmp_path):
    model, source, init = stub()

    def singular():
        raise SingularError("this start is singular")

    def run(callback=None, calls=None):
        rng = np.random.default_rng(4)

        def start():
            if calls is not None:
                calls.append(1)
            return init(rng)

        checkpoint = Checkpoint(tmp_path / "state", init(np.random.default_rng(0)), "fit", every=0.0, rng=rng)
        return fit_best(model, source, [start, singular, start, start], checkpoint=checkpoint, tol=0.0, max_iter=8,
                        callback=callback)  # fmt: skip

    expected = run()
    assert expected.failures == ("start 2: this start is singular",)
    with pytest.raises(Killed):
        run(dying(5, 3))
    state = tacit.engine.checkpoint.read_archive(tmp_path / "state")[0]
    told = {"start": 2, "error": "this start is singular"}
    assert (state["run"], state["failures"]) == (3, [["singular", "start 2: this start is singular", told]])
    calls = []
    found = run(calls=calls)
    assert calls == [1]  # only the fourth start is made anew
    assert found.failures == expected.failures
    np.testing.assert_array_equal(found.params.to_vector(), expected.params.to_vector())
    assert found.trace.objectives == expected.trace.objectives


def test_the_best_start_is_remembered_though_later_ones_are_worse(tmp_path):
    model, source, init = stub()
    good = fit(model, source, init(np.random.default_rng(0)), max_iter=200, tol=1e-10).params
    poor = model.bound(np.zeros_like(model.free(good)), good)

    def run(callback=None):
        checkpoint = Checkpoint(tmp_path / "state", good, every=0.0)
        starts = [lambda: good, lambda: poor]
        return fit_best(model, source, starts, checkpoint=checkpoint, tol=0.0, max_iter=5, callback=callback)

    with pytest.raises(Killed):
        run(dying(3, 2))
    found = run()
    np.testing.assert_array_equal(found.params.to_vector(), run().params.to_vector())
    assert found.trace.objectives[-1] == pytest.approx(
        fit(model, source, good, max_iter=1).trace.objectives[0], rel=1e-9
    )
    assert found.reason == "max_iter=5 steps were taken"


def test_a_converged_best_start_is_still_converged(tmp_path):
    X, path = gaussian_rows(300, 2, 2), tmp_path / "state"
    settings = {"tol": 1e-3, "max_iter": 100, "n_init": 3}
    expected = mixture(**settings).fit(X)
    kept(X, path, at=2, run=3, **settings)
    found = mixture(**settings).fit(X, checkpoint=path)
    same(found, expected, 0.0)
    assert found.converged_ == expected.converged_ is True


# Interruption by the user


@pytest.mark.parametrize("method", ["anderson", "squarem", None])
def test_an_interrupted_fit_leaves_its_checkpoint_to_go_on_from(method, tmp_path):
    X, path = rows(), tmp_path / "state"

    def stop(progress):
        if (progress.run, progress.step) == (2, 6):
            raise KeyboardInterrupt

    stopped = mixture(callback=stop, accelerate=method).fit(X, checkpoint=path, checkpoint_every=0.0)
    assert stopped.fit_.interrupted
    assert path.exists()
    same(mixture(accelerate=method).fit(X, checkpoint=path), mixture(accelerate=method).fit(X), 0.0)
    assert not path.exists()


def test_an_interrupted_fit_keeps_its_work_though_no_write_was_due(tmp_path):
    X, path = rows(), tmp_path / "state"

    def stop(progress):
        if progress.step == 6:
            raise KeyboardInterrupt

    mixture(callback=stop).fit(X, checkpoint=path, checkpoint_every=3600.0)
    assert path.exists()


# Other data, other settings


@pytest.mark.parametrize("change", ["row", "rows", "weight", "labels", "setting", "seed"])
def test_a_checkpoint_of_another_fit_is_refused_and_kept(change, tmp_path):
    X, path = rows(), tmp_path / "state"
    content = kept(X, path, at=6).read_bytes()
    other, settings, arguments = X.copy(), {}, {}
    if change == "row":
        other[0, 0] = 77.0
    if change == "rows":
        other = X[:-1]
    if change == "weight":
        arguments["sample_weight"] = np.full(len(X), 2.0)
    if change == "labels":
        arguments["y"] = np.r_[0, np.full(len(X) - 1, -1)]
    if change == "setting":
        settings["covariance_type"] = "tied"
    if change == "seed":
        settings["random_state"] = 1
    expected = (
        f"the checkpoint {str(path)!r} cannot be continued: it belongs to a fit of other data or settings; remove it"
    )
    with pytest.raises(ValueError, match=re.escape(expected)):
        mixture(**settings).fit(other, checkpoint=path, **arguments)
    assert path.read_bytes() == content


@pytest.mark.parametrize("at", [7, 250])
def test_a_change_in_any_row_is_noticed(at, tmp_path):
    X, path = rows(), tmp_path / "state"
    kept(X, path, at=6)
    other = X.copy()
    other[at, 0] += 1.0
    other[at, 1] = 5.0
    with pytest.raises(ValueError, match="it belongs to a fit of other data or settings"):
        mixture().fit(other, checkpoint=path)


def test_settings_that_do_not_matter_may_change(tmp_path):
    X, path = rows(), tmp_path / "state"
    kept(X, path, at=6)
    same(mixture(verbose=1, n_jobs=2).fit(X, checkpoint=path), mixture().fit(X), 1e-12)


def test_a_generator_for_random_state_does_not_prevent_going_on(tmp_path):
    X, path = rows(), tmp_path / "state"
    first, second, third = (np.random.RandomState(3) for _ in range(3))
    kept(X, path, at=6, random_state=first)
    found = mixture(random_state=second).fit(X, checkpoint=path)
    same(found, mixture(random_state=third).fit(X), 0.0)


def test_a_long_start_given_by_the_user_is_part_of_the_identity(tmp_path):
    """Arrays too long to print in full still tell one fit from another."""
    X, path = gaussian_rows(600, 40, 2), tmp_path / "state"
    means = np.linspace(-1.0, 1.0, 40 * 40).reshape(40, 40)
    moved = means.copy()
    moved[20, 20] += 3.0
    settings = {"max_iter": 4, "tol": 0.0, "covariance_type": "spherical", "n_jobs": 1}
    with pytest.raises(Killed):
        GaussianMixture(40, means_init=means, callback=dying(3), **settings).fit(
            X, checkpoint=path, checkpoint_every=0.0
        )
    with pytest.raises(ValueError, match="other data or settings"):
        GaussianMixture(40, means_init=moved, **settings).fit(X, checkpoint=path)


# Damaged files


def damage(content, how):
    if how == "empty":
        return b""
    if how == "cut":
        return content[: len(content) // 2]
    if how == "text":
        return b"not a checkpoint at all"
    return content.replace(b"objectives", b"0bjectives")


@pytest.mark.parametrize("how", ["empty", "cut", "text", "renamed"])
def test_a_damaged_checkpoint_is_an_error_that_names_it(how, tmp_path):
    X, path = rows(), tmp_path / "state"
    kept(X, path, at=6)
    path.write_bytes(damage(path.read_bytes(), how))
    with pytest.raises(ValueError, match=re.escape(f"the checkpoint {str(path)!r} cannot be continued: ")):
        mixture().fit(X, checkpoint=path)


def test_a_saved_model_is_no_checkpoint(tmp_path):
    X, path = rows(), tmp_path / "model.tacit"
    tacit.save(mixture().fit(X), path)
    content = path.read_bytes()
    with pytest.raises(ValueError, match=r"model\.tacit' cannot be continued"):
        mixture().fit(X, checkpoint=path)
    assert path.read_bytes() == content


def test_a_folder_is_no_checkpoint(tmp_path):
    with pytest.raises((ValueError, OSError), match=re.escape(str(tmp_path))):
        mixture().fit(rows(), checkpoint=tmp_path)


# Disks


def test_a_full_disk_is_a_warning_and_the_last_checkpoint_stays(tmp_path, monkeypatch):
    X, path = rows(), tmp_path / "state"
    content = kept(X, path, at=6).read_bytes()

    def full(*arguments, **settings):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(tacit.engine.checkpoint, "write_archive", full)
        expected = (
            f"the checkpoint {str(path)!r} could not be written ([Errno 28] No space left on device); the fit goes on."
        )
        with pytest.warns(UserWarning, match=re.escape(expected)), pytest.raises(Killed):
            mixture(callback=dying(12)).fit(X, checkpoint=path, checkpoint_every=0.0)
        assert path.read_bytes() == content
        with pytest.warns(UserWarning, match="could not be written"):
            found = mixture().fit(X, checkpoint=path, checkpoint_every=0.0)
    same(found, mixture().fit(X), 0.0)
    assert os.listdir(tmp_path) == []


def test_a_disk_that_fills_up_midway_leaves_the_last_checkpoint_whole(tmp_path, monkeypatch):
    X, path = rows(), tmp_path / "state"
    content = kept(X, path, at=6).read_bytes()
    original = np.lib.format.write_array

    def half(file, array, **settings):
        original(file, array, **settings)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np.lib.format, "write_array", half)
        with pytest.warns(UserWarning, match="No space left"), pytest.raises(Killed):
            mixture(callback=dying(9)).fit(X, checkpoint=path, checkpoint_every=0.0)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["state"]
    same(mixture().fit(X, checkpoint=path), mixture().fit(X), 0.0)


def test_a_folder_that_cannot_be_written_to_is_a_warning(tmp_path):
    X, path = rows(), tmp_path / "nowhere" / "state"
    with pytest.warns(UserWarning, match=re.escape(f"the checkpoint {str(path)!r} could not be written")):
        found = mixture().fit(X, checkpoint=path, checkpoint_every=0.0)
    same(found, mixture().fit(X), 0.0)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="every folder can be written to")
def test_a_folder_without_permission_is_a_warning(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.warns(UserWarning, match="could not be written .*Permission denied"):
            found = mixture().fit(rows(), checkpoint=tmp_path / "state", checkpoint_every=0.0)
    finally:
        tmp_path.chmod(0o700)
    same(found, mixture().fit(rows()), 0.0)


def test_a_file_that_vanishes_during_the_fit_is_no_error(tmp_path):
    path = tmp_path / "state"

    def remove(progress):
        path.unlink(missing_ok=True)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = mixture(callback=remove).fit(rows(), checkpoint=path, checkpoint_every=0.0)
    same(found, mixture().fit(rows()), 0.0)
