"""How rivals are compared: interleaved runs, medians, equal results checked, memory measured in fresh processes."""

import multiprocessing
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Job", "measure", "table"]


@dataclass(frozen=True)
class Job:
    """One comparison.

    Attributes
    ----------
    name : str
        What is done, with its sizes.
    rival : str
        Who else does it.
    make : callable
        Returns the data.
    ours, theirs : callable
        Take the data, do the work, return a result.
    equal : callable
        Takes both results and returns a sentence on their agreement; raises AssertionError where they disagree.
    target : float
        The ratio to reach.
    repeats : int
        Runs of each side.
    """

    name: str
    rival: str
    make: object = field(repr=False)
    ours: object = field(repr=False)
    theirs: object = field(repr=False)
    equal: object = field(repr=False)
    target: float = 1.0
    repeats: int = 5


def _timed(function, data):
    start = time.perf_counter()
    result = function(data)
    return time.perf_counter() - start, result


def _peak(function, make, pipe):
    data = make()
    function(data[:2000])  # imports and compiles
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = _memory_line("VmRSS")
    function(data)
    pipe.send((_memory_line("VmHWM") - before) / 1024)


def _memory_line(name):
    """Kilobytes under a name in this process's status."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1])


def _memory(function, make):
    """Megabytes a run needs beyond its input, in a process of its own."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_peak, args=(function, make, sender))
    process.start()
    process.join()
    return max(receiver.recv(), 0.1) if process.exitcode == 0 else float("nan")


def measure(job, *, memory=True):
    """Run a job: ratio of medians, memory of both sides and the sentence on agreement."""
    data = job.make()
    job.ours(data)  # compiles and warms up
    ours, theirs = [], []
    for _ in range(job.repeats):
        seconds, result = _timed(job.ours, data)
        ours.append(seconds)
        seconds, other = _timed(job.theirs, data)
        theirs.append(seconds)
    agreement = job.equal(result, other)
    a, b = statistics.median(ours), statistics.median(theirs)
    used = (_memory(job.ours, job.make), _memory(job.theirs, job.make)) if memory else (float("nan"),) * 2
    return {
        "job": job.name, "rival": job.rival, "ours (s)": f"{a:.3f}", "rival (s)": f"{b:.3f}", "ratio": f"{b / a:.1f} ×",
        "target": f"{job.target:g} ×", "memory (MB)": f"{used[0]:.0f} / {used[1]:.0f}",
        "memory ratio": f"{used[1] / used[0]:.1f} ×", "results": agreement,
    }  # fmt: skip


def table(rows):
    """Rows of results as a Markdown table."""
    names = list(rows[0])
    widths = [max(len(name), *(len(row[name]) for row in rows)) for name in names]
    lines = ["| " + " | ".join(name.ljust(w) for name, w in zip(names, widths)) + " |"]
    lines.append("|" + "|".join("-" * (w + 2) for w in widths) + "|")
    lines += ["| " + " | ".join(row[name].ljust(w) for name, w in zip(names, widths)) + " |" for row in rows]
    return "\n".join(lines)
