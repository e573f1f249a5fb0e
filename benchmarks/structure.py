"""Structure learning on rows drawn from alarm, against pyAgrum and pgmpy: seconds, score and distance to the true network.

pyAgrum and pgmpy get their own kinds of tables, made before the clock starts; results are checked by one score, ours, which the
tests hold to the formulas. ``python -m benchmarks.structure`` prints the comparison of quality on the same rows.
"""

import os
from functools import cache, partial
from pathlib import Path

from .harness import Job
from .sampled import rows_of

ALARM = Path(os.environ.get("TACIT_DATA", "shared/data")) / "bif" / "alarm.bif"
ESS = 10.0


class Rows:
    """Rows of alarm in all forms; a learner of pyAgrum is made anew for each run, since it keeps its counts."""

    def __init__(self, n, seed=0):
        import pandas as pd

        self.names, self.sizes, self.codes, self.edges = rows_of(ALARM, n, seed)
        self.frame = pd.DataFrame(self.codes.astype(str), columns=self.names)
        self.categories = self.frame.astype("category")

    def __getitem__(self, part):
        return self  # compiles on all rows: they are few

    def numbers(self, arcs):
        """Pairs of names as pairs of numbers."""
        return [(self.names.index(a), self.names.index(b)) for a, b in arcs]


@cache
def rows(n, seed=0):
    """Drawn once a process."""
    return Rows(n, seed)


def ours(score, data, **settings):
    from tacit.graph import hill_climb

    return hill_climb(data.codes, data.sizes, score=score, equivalent_sample_size=ESS, **settings).edges


def agrum(score, algorithm, data):
    import pyagrum as gum

    learner = gum.BNLearner(data.frame)
    if algorithm == "tabu":
        learner.useLocalSearchWithTabuList()
    else:
        learner.useGreedyHillClimbing()
    if score == "bdeu":
        learner.useScoreBDeu()
        learner.useBDeuPrior(ESS)
    else:
        learner.useScoreBIC()
    learner.setNumberOfThreads(1)  # beside other work several threads wait for each other and take many times as long
    names = learner.names()
    return data.numbers((names[a], names[b]) for a, b in learner.learnDAG().arcs())


def pgmpy(score, data):
    from pgmpy.estimators import HillClimbSearch

    search = HillClimbSearch(data.categories)
    settings = {"scoring_method": "bic-d" if score == "bic" else "bdeu", "show_progress": False}
    return data.numbers(search.estimate(**settings).edges())


def told(data, score, edges):
    """Score and structural Hamming distance to the true network."""
    from tacit.graph import score_structure
    from tacit.graph.structure.codes import check_edges
    from tacit.graph.structure.orientation import structural_distance

    pair = [check_edges("edges", each, len(data.sizes)) for each in (edges, data.edges)]
    value = score_structure(data.codes, data.sizes, edges, score=score, equivalent_sample_size=ESS)
    return value, structural_distance(*pair)


def equal(score, n, found, other):
    data = rows(n)
    (a, far_a), (b, far_b) = told(data, score, found), told(data, score, other)
    assert a >= b - 1e-6 * abs(b), f"score {a} is below {b}"
    assert far_a <= far_b, f"distance {far_a} is above {far_b}"
    return f"{score} {a:.0f} against {b:.0f}, distance {far_a} against {far_b}"


def _job(rival, theirs, score, n, target, repeats=3):
    return Job(
        name=f"hill climbing alarm n={n:,} {score}", rival=rival, make=partial(rows, n), ours=partial(ours, score), theirs=theirs,
        equal=partial(equal, score, n), target=target, repeats=repeats,
    )  # fmt: skip


JOBS = [
    _job("pyAgrum, greedy", partial(agrum, "bic", "greedy"), "bic", 20_000, 1.0),
    _job("pyAgrum, tabu list", partial(agrum, "bic", "tabu"), "bic", 20_000, 1.0),
    _job("pyAgrum, greedy", partial(agrum, "bdeu", "greedy"), "bdeu", 20_000, 1.0),
    _job("pgmpy", partial(pgmpy, "bic"), "bic", 20_000, 20.0),
]


def main():
    """Quality on the same rows."""
    from tacit.graph import pc_stable

    for n in (10_000, 100_000):
        for seed in range(3):
            data = rows(n, seed)
            learners = {"tacit": ours, "tacit, from the empty network": partial(ours, start="empty")}
            learners |= {f"pyAgrum {name}": lambda s, d, name=name: agrum(s, name, d) for name in ("greedy", "tabu")}
            if n == 10_000 and seed == 0:
                learners["pgmpy"] = pgmpy
            for score in ("bic", "bdeu"):
                for name, learner in learners.items():
                    value, far = told(data, score, learner(score, data))
                    print(f"n={n:,} seed={seed} {score:5}{name:32}{value:14.1f}  distance {far}", flush=True)
            value, far = told(data, "bic", pc_stable(data.codes, data.sizes).edges)
            print(f"n={n:,} seed={seed} bic  {'tacit, pc_stable':32}{value:14.1f}  distance {far}", flush=True)


if __name__ == "__main__":
    main()
