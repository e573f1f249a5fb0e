"""The loop, its stop rules, restarts, interruption and progress, on the smallest model there is.

Genetic linkage (Rao 1973; Dempster, Laird and Rubin 1977): counts of four kinds with probabilities
½ + θ/4, (1 − θ)/4, (1 − θ)/4, θ/4, where the first kind hides how many of it fell under θ/4.
"""

import io
from functools import partial

import numpy as np
import pytest

from tacit.arrays import Arrays, record
from tacit.engine import (
    Model,
    Progress,
    ProgressBar,
    ProgressLines,
    SingularError,
    Trace,
    fit,
    fit_best,
    objective,
    short_runs,
)
from tacit.source import ArraySource

COUNTS = np.array([[100.0, 10.0, 5.0, 30.0], [25.0, 8.0, 15.0, 4.0]])  # 125, 18, 20, 34
ITERATES = [0.608247423, 0.624321051, 0.626488879, 0.626777323, 0.626815632, 0.626820719, 0.626821395, 0.626821484]
MAXIMUM = (15.0 + np.sqrt(53809.0)) / 394.0
FELL_BELOW = "improvement fell below tol"
SINGULAR = "the objective became -inf; scale the data or, in a mixture, increase the covariance floor."


@record
class Theta(Arrays):
    theta: float


@record
class Sums(Arrays):
    loglik: float
    weight: float
    hidden: float
    against: float


class Linkage(Model):
    def e_step(self, params, block):
        t = params.theta
        n1, n2, n3, n4 = block.X.sum(axis=0)
        with np.errstate(divide="ignore"):
            loglik = n1 * np.log(0.5 + t / 4) + (n2 + n3) * np.log((1 - t) / 4) + n4 * np.log(t / 4)
        return Sums(loglik, block.X.sum(), n1 * t / (2 + t) + n4, n2 + n3)

    def m_step(self, stats, params):
        return Theta(stats.hidden / (stats.hidden + stats.against))


class Interrupting(Linkage):
    """Ctrl-C in the E-step of a given number."""

    def __init__(self, at):
        self.calls, self.at = 0, at

    def e_step(self, params, block):
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt
        return super().e_step(params, block)


def source():
    return ArraySource(COUNTS, n_jobs=1)


def starts(*thetas):
    return [partial(Theta, theta) for theta in thetas]


def loglik(theta):
    return Linkage().e_step(Theta(theta), next(iter(source()))).loglik


def test_loop_reproduces_the_published_iterates():
    thetas = [fit(Linkage(), source(), Theta(0.5), max_iter=n, tol=0.0).params.theta for n in range(1, 9)]
    np.testing.assert_allclose(thetas, ITERATES, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(fit(Linkage(), source(), Theta(0.5), tol=0.0).params.theta, MAXIMUM, rtol=1e-12)


def test_trace_holds_the_objective_of_every_e_step():
    result = fit(Linkage(), ArraySource(COUNTS, block_rows=1), Theta(0.5), max_iter=4, tol=0.0)
    np.testing.assert_allclose(result.trace.objectives, [loglik(t) for t in (0.5, *ITERATES[:3])], rtol=1e-9)
    assert result.trace.weight == 197.0
    assert len(result.trace) == 4
    assert repr(result.trace) == f"Trace(4 objectives, last {result.trace.objectives[-1]:.6g})"


def test_a_log_prior_is_part_of_the_objective():
    class Penalised(Linkage):
        def log_prior(self, params):
            return -7.0

    plain, penalised = (fit(model(), source(), Theta(0.5), max_iter=3, tol=0.0) for model in (Linkage, Penalised))
    np.testing.assert_allclose(np.subtract(plain.trace.objectives, penalised.trace.objectives), 7.0, rtol=1e-12)
    stats = Sums(-3.0, 1.0, 1.0, 1.0)
    assert objective(Penalised(), stats, Theta(0.5)) == -10.0


@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_an_objective_that_is_no_number_is_an_error(value):
    with pytest.raises(SingularError, match=f"the objective became {value}; scale the data or, in a mixture, increase"):
        objective(Linkage(), Sums(value, 1.0, 1.0, 1.0), Theta(0.5))


def test_the_reason_says_that_it_settled():
    result = fit(Linkage(), source(), Theta(0.5), tol=1e-6)
    assert result.reason == FELL_BELOW
    assert result.converged
    assert not result.interrupted
    assert abs(result.trace.gain) < 1e-6 <= np.diff(result.trace.per_weight[:-1]).min()
    assert result.params.theta == pytest.approx(MAXIMUM, abs=1e-5)


def test_the_reason_says_that_steps_ran_out():
    result = fit(Linkage(), source(), Theta(0.5), max_iter=2)
    assert result.reason == "max_iter=2 steps were taken"
    assert not result.converged


def test_no_steps_leave_the_start_as_it_is():
    result = fit(Linkage(), source(), Theta(0.5), max_iter=0)
    assert result.params.theta == 0.5
    assert len(result.trace) == 0
    assert result.reason == "max_iter=0 steps were taken"


@pytest.mark.parametrize("criterion", ["relative", "aitken"])
def test_tol_zero_runs_to_max_iter(criterion):
    result = fit(Linkage(), source(), Theta(0.5), max_iter=300, tol=0.0, criterion=criterion)
    assert len(result.trace) == 300
    assert not result.converged


def test_an_earlier_run_is_taken_into_account():
    settled = fit(Linkage(), source(), Theta(0.5), tol=1e-8)
    again = fit(Linkage(), source(), settled.params, tol=1e-8, previous=settled.trace.per_weight[-1])
    assert again.converged
    assert len(again.trace) == 1


def record_all(trace, values, weight=1.0):
    for value in values:
        trace.record(value, weight)
    return trace


def first_settled(criterion, values, tol):
    return next(n for n in range(1, len(values) + 1) if record_all(Trace(criterion), values[:n]).settled(tol))


def test_relative_criterion_measures_the_gain_per_weight():
    values = [-1000.0, -990.0, -989.95]
    assert record_all(Trace(), values, 100.0).settled(1e-3)
    assert not record_all(Trace(), values, 10.0).settled(1e-3)
    assert record_all(Trace(), values, 100.0).gain == pytest.approx(5e-4)


def test_relative_criterion_waits_while_gains_grow():
    leaving_a_saddle = [-10.0, -9.9999, -9.9997]
    assert not record_all(Trace(), leaving_a_saddle).settled(1e-3)
    assert record_all(Trace(), [*leaving_a_saddle, -9.9996]).settled(1e-3)


def test_relative_criterion_is_not_kept_waiting_by_rounding():
    assert record_all(Trace(), [-1e3, -1e3, -1e3 + 1.2e-13]).settled(1e-3)


def test_relative_criterion_does_not_take_a_large_fall_for_rest():
    assert not record_all(Trace(), [-10.0, -9.0, -9.5]).settled(1e-3)


@pytest.mark.parametrize("rate", [0.3, 0.9, 0.99])
def test_aitken_criterion_measures_the_distance_to_the_limit(rate):
    values = -5.0 - rate ** np.arange(2000)
    tol = 3e-4
    assert first_settled("aitken", values, tol) == 1 + np.flatnonzero(-5.0 - values < tol)[0]


def test_aitken_criterion_needs_three_objectives():
    assert not record_all(Trace("aitken"), [-10.0]).settled(1e-3)
    assert not record_all(Trace("aitken"), [-10.0, -9.0]).settled(1e-3)
    assert not record_all(Trace("aitken", previous=-10.0), [-9.0]).settled(1e-3)


def test_aitken_criterion_is_settled_where_nothing_changes():
    assert record_all(Trace("aitken"), [-10.0, -9.0, -9.0]).settled(1e-3)
    assert record_all(Trace("aitken"), [-9.0, -9.0, -9.0]).settled(1e-3)
    assert not record_all(Trace("aitken"), [-10.0, -9.0, -7.0]).settled(1e-3)


def test_an_unknown_criterion_is_named():
    with pytest.raises(ValueError, match=r"criterion='absolute' is unknown; use one of relative, aitken\."):
        fit(Linkage(), source(), Theta(0.5), criterion="absolute")


def test_a_falling_objective_is_reported():
    class Wrong(Linkage):
        def m_step(self, stats, params):
            return Theta(0.9 if params.theta < 0.7 else 0.5)

    fall = (loglik(0.5) - loglik(0.9)) / 197.0
    with pytest.warns(RuntimeWarning, match=f"the objective of Wrong fell by {fall:.3g} per row at step 2; its M-step"):
        fit(Wrong(), source(), Theta(0.5), max_iter=2)


def test_the_best_of_several_starts_is_kept():
    result = fit_best(Linkage(), source(), starts(0.01, 0.5, 0.99), max_iter=1)
    assert result.params.theta == pytest.approx(ITERATES[0])
    assert result.failures == ()


def test_the_first_of_equal_starts_is_kept():
    result = fit_best(Linkage(), source(), starts(0.3, 0.5, 0.7), max_iter=60, tol=0.0)
    alone = fit(Linkage(), source(), Theta(0.3), max_iter=60, tol=0.0)
    assert result.trace.objectives == alone.trace.objectives


def test_a_singular_start_is_recorded_and_the_next_one_runs():
    def collapse():
        raise SingularError("nothing there")

    result = fit_best(Linkage(), source(), [*starts(0.0), collapse, *starts(0.5)], tol=1e-9)
    assert result.failures == (f"start 1: {SINGULAR}", "start 2: nothing there")
    assert result.params.theta == pytest.approx(MAXIMUM)
    assert result.reason == FELL_BELOW


def test_only_singular_starts_are_an_error():
    with pytest.raises(SingularError) as caught:
        fit_best(Linkage(), source(), starts(0.0, 0.0))
    assert str(caught.value) == SINGULAR


def test_other_errors_are_not_swallowed():
    def broken():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fit_best(Linkage(), source(), [broken, *starts(0.5)])


def stopped(function, *args, **settings):
    """What a function returns after an interruption; one that escapes would end the whole test run."""
    try:
        return function(*args, **settings)
    except KeyboardInterrupt:
        pytest.fail("the interruption reached the caller, and what was learned is lost")


def test_interrupted_e_step_returns_the_parameters_so_far():
    result = stopped(fit, Interrupting(at=4), source(), Theta(0.5), tol=0.0)
    assert result.params.theta == pytest.approx(ITERATES[2])
    assert result.interrupted
    assert result.stats.loglik == result.trace.objectives[-1]
    assert not result.converged
    assert result.reason == "interrupted by the user after 3 steps"


def test_interrupting_callback_returns_the_parameters_so_far():
    def stop(progress):
        if progress.step == 3:
            raise KeyboardInterrupt

    result = stopped(fit, Linkage(), source(), Theta(0.5), tol=0.0, callback=stop)
    assert result.interrupted
    assert result.params.theta == pytest.approx(ITERATES[1])
    assert result.reason == "interrupted by the user after 3 steps"


def test_interrupted_restart_leaves_the_best_start_so_far():
    result = stopped(fit_best, Interrupting(at=33), source(), starts(0.5, 0.01, 0.7), max_iter=30, tol=0.0)
    assert result.params.theta == pytest.approx(MAXIMUM, rel=1e-12)
    assert result.interrupted
    assert result.reason == "interrupted by the user after 2 steps"


def test_interrupted_choice_of_a_later_start_leaves_the_best_fit_so_far():
    def interrupt():
        raise KeyboardInterrupt

    result = stopped(fit_best, Linkage(), source(), [*starts(0.5), interrupt], max_iter=30, tol=0.0)
    assert result.interrupted
    assert result.params.theta == pytest.approx(MAXIMUM, rel=1e-12)
    assert result.reason == "interrupted by the user while choosing a start"


def sample():
    return source().sample(10, np.random.default_rng(0))


def queue(*thetas):
    """An init that takes its starts from a list, and the list of those left."""
    left = list(thetas)
    return (lambda: Theta(left.pop(0))), left


def test_short_runs_return_the_best_parameters_reached():
    init, left = queue(0.01, 0.5, 0.99)
    params = short_runs(Linkage(), sample(), init, n_starts=3, n_steps=1)
    assert params.theta == pytest.approx(ITERATES[0])
    assert left == []


def test_short_runs_pass_over_singular_starts():
    assert short_runs(Linkage(), sample(), queue(0.0, 0.5)[0], n_starts=2, n_steps=1).theta == pytest.approx(
        ITERATES[0]
    )
    with pytest.raises(SingularError, match="the objective became -inf"):
        short_runs(Linkage(), sample(), queue(0.0, 0.0)[0], n_starts=2)


def test_short_runs_start_a_model_with_one_start_once():
    class OneStart(Linkage):
        one_start = True

    init, left = queue(0.3, 0.5)
    assert short_runs(OneStart(), sample(), init).theta == 0.3
    assert left == [0.5]


def test_interrupted_short_runs_leave_the_best_start_so_far():
    model = Interrupting(at=5)
    start = partial(short_runs, model, sample(), queue(0.5, 0.99)[0], n_starts=2, n_steps=3)
    result = stopped(fit_best, model, source(), [start])
    assert result.interrupted
    assert result.reason == "interrupted by the user while choosing a start"
    assert result.params.theta == pytest.approx(ITERATES[2])
    assert len(result.trace) == 0


def test_interrupted_seeding_leaves_the_best_start_so_far():
    seeds = iter([0.5])

    def init():
        for theta in seeds:
            return Theta(theta)
        raise KeyboardInterrupt

    result = stopped(
        fit_best, Linkage(), source(), [partial(short_runs, Linkage(), sample(), init, n_starts=2, n_steps=3)]
    )
    assert result.interrupted
    assert result.params.theta == pytest.approx(ITERATES[2])


def test_interrupted_short_runs_of_a_later_start_leave_the_best_fit_so_far():
    model = Interrupting(at=35)
    later = partial(short_runs, model, sample(), queue(0.01)[0], n_starts=1)
    result = stopped(fit_best, model, source(), [*starts(0.5), later], max_iter=30, tol=0.0)
    assert result.interrupted
    assert result.params.theta == pytest.approx(MAXIMUM, rel=1e-12)
    assert len(result.trace) == 30


def test_a_callback_is_told_of_every_step_and_of_the_end():
    told = []
    result = fit(Linkage(), source(), Theta(0.5), max_iter=3, tol=0.0, callback=told.append, run=(2, 5))
    assert [(p.run, p.n_runs, p.max_iter) for p in told] == [(2, 5, 3)] * 4
    assert [p.step for p in told] == [1, 2, 3, 3]
    assert [p.objective for p in told[:3]] == result.trace.per_weight
    assert [p.gain for p in told[:3]] == [np.inf, *np.diff(result.trace.per_weight)]
    assert [p.done for p in told] == [False, False, False, True]
    assert told[-1].reason == result.reason


def test_fit_best_numbers_its_starts_for_the_callback():
    told = []
    fit_best(Linkage(), source(), starts(0.4, 0.5), max_iter=1, callback=told.append)
    assert [(p.run, p.n_runs, p.done) for p in told] == [(1, 2, False), (1, 2, True), (2, 2, False), (2, 2, True)]


class Terminal(io.StringIO):
    def isatty(self):
        return True


STEP = Progress(run=1, n_runs=1, step=5, max_iter=10, objective=-12.5, gain=0.1)


def test_progress_bar_writes_nothing_where_there_is_no_terminal():
    stream = io.StringIO()
    bar = ProgressBar("fit", stream=stream)
    fit(Linkage(), source(), Theta(0.5), callback=bar)
    bar.close()
    assert stream.getvalue() == ""


def test_progress_bar_shows_how_far_the_fit_is():
    stream = Terminal()
    ProgressBar("fit", width=4, stream=stream)(STEP)
    assert stream.getvalue() == "\rfit ██░░ step 5  -12.5 per row"


def test_progress_bar_is_full_at_the_end_and_cleared_on_closing():
    stream = Terminal()
    bar = ProgressBar("fit", width=4, stream=stream)
    bar(Progress(2, 3, 10, 10, -123.456, 0.1))
    bar(Progress(2, 3, 10, 10, -1.5, 0.0, done=True, reason="settled"))
    first, last = "fit start 2/3 ████ step 10  -123.456 per row", "fit start 2/3 ████ step 10  -1.5 per row"
    assert stream.getvalue() == f"\r{first}\r{last.ljust(len(first))}"
    bar.close()
    assert stream.getvalue().endswith("\r" + " " * len(last) + "\r")
    written = stream.getvalue()
    bar.close()
    assert stream.getvalue() == written


def test_progress_lines_are_printed_at_the_interval(capsys):
    fit(Linkage(), source(), Theta(0.5), tol=1e-8, callback=ProgressLines(1, 2))
    steps = ["  Iteration 2", "  Iteration 4", "  Iteration 6"]
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["Initialization 0", *steps, f"Initialization converged: {FELL_BELOW}"]


def test_progress_lines_do_not_call_running_out_of_steps_convergence(capsys):
    fit(Linkage(), source(), Theta(0.5), max_iter=2, callback=ProgressLines())
    end = capsys.readouterr().out.splitlines()[-1]
    assert "max_iter=2 steps were taken" in end
    assert "Initialization converged" not in end


def test_verbose_progress_lines_tell_time_and_gain(capsys):
    lines = ProgressLines(2, 5)
    lines(Progress(3, 4, 1, 10, -13.0, np.inf))
    lines(STEP)
    first, second = capsys.readouterr().out.splitlines()
    assert first == "Initialization 2"
    assert second.startswith("  Iteration 5\t time lapse ")
    assert second.endswith("s\t ll change 0.10000")
