"""The exact transition probabilities of a sampler that is run in Python: every branch that a uniform number can take
is followed.
"""

import types

from numba.core.dispatcher import Dispatcher


def in_python(kernel):
    """A compiled function and all that it calls in Python."""
    function = getattr(kernel, "py_func", kernel)
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        if isinstance(names.get(name), Dispatcher):
            names[name] = in_python(names[name])
    return types.FunctionType(function.__code__, names)


class Uniform:
    """a u + b, where u is uniform on what comparisons so far have left of it."""

    def __init__(self, path, cell=None, a=1.0, b=0.0):
        self.path, self.cell, self.a, self.b = path, cell or [0.0, 1.0], a, b

    def __mul__(self, c):
        return Uniform(self.path, self.cell, self.a * c, self.b * c)

    def __sub__(self, c):
        return Uniform(self.path, self.cell, self.a, self.b - c)

    def __lt__(self, c):
        low, high = self.cell
        at = (c - self.b) / self.a
        if at >= high or at <= low:
            return bool(at >= high)
        below = self.path.choose()
        self.path.probability *= (at - low if below else high - at) / (high - low)
        self.cell[:] = [low, at] if below else [at, high]
        return below

    def __ge__(self, c):
        return not self < c


class Path:
    """A generator of random numbers that follows a script of branches."""

    def __init__(self, script):
        self.script, self.taken, self.probability = script, [], 1.0

    def choose(self):
        self.taken.append(self.script[len(self.taken)] if len(self.taken) < len(self.script) else True)
        return self.taken[-1]

    def random(self):
        return Uniform(self)


def outcomes(step):
    """Probabilities of what step(rng) returns, which must be hashable."""
    found, waiting = {}, [[]]
    while waiting:
        script = waiting.pop()
        path = Path(script)
        result = step(path)
        found[result] = found.get(result, 0.0) + path.probability
        for i in range(len(script), len(path.taken)):
            waiting.append([*path.taken[:i], False])
    return found
