"""Belief networks against pyAgrum's LazyPropagation and pgmpy: the same tables, the same evidence, equal answers.

Networks are read from the folder ``bif`` of TACIT_DATA. "From nothing" is everything that a network in memory needs to answer,
the triangulation included, on both sides; "again" is other evidence on the same variables, for which both keep what they have
compiled. ``python -m benchmarks.belief_networks`` prints one table and the geometric mean of the first kind.
"""

import os
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np

from .harness import Job, measure, table

NETWORKS = ("water", "munin1", "pigs", "andes", "hailfinder", "win95pts", "hepar2")
N_ROWS, N_OBSERVED, FEW = 10_000, 10, 20


def read(name):
    """A network of the collection."""
    from tacit.graph import BeliefNetwork

    return BeliefNetwork.read(Path(os.environ["TACIT_DATA"]) / "bif" / f"{name}.bif")


def pyagrum_of(network):
    """The same network in pyAgrum, from the same tables: its readers keep single precision."""
    import pyagrum as gum

    nodes, other = network.nodes_, gum.BayesNet()
    for v, states in zip(nodes.names, nodes.states):
        other.add(gum.LabelizedVariable(v, "", list(states)))
    for parent, child in nodes.edges:
        other.addArc(parent, child)
    for v in nodes.names:
        values = network.table(v).values
        order = [network.table(v).variables.index(name) for name in reversed(other.cpt(v).names)]
        other.cpt(v)[:] = np.ascontiguousarray(values.transpose(order))
    return other


def pgmpy_of(network):
    """The same network in pgmpy."""
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    other = DiscreteBayesianNetwork(network.nodes_.edges)
    other.add_nodes_from(network.nodes_.names)
    for v in network.nodes_.names:
        table = network.table(v)
        parents = list(table.variables[:-1])
        states = {u: list(network.states_of(u)) for u in table.variables}
        values = table.values.reshape(-1, table.shape[-1]).T
        other.add_cpds(TabularCPD(v, table.shape[-1], values, parents, list(table.shape[:-1]), states) if parents
                       else TabularCPD(v, table.shape[-1], values, state_names=states))  # fmt: skip
    return other


# All marginals


def marginals_case(name):
    network = read(name)
    return network, pyagrum_of(network)


def ours_from_nothing(case):
    network = case[0]
    network.__dict__.pop("_engine", None)  # all that was compiled
    return np.concatenate([p.values for p in network.marginals().values()])


def pyagrum_from_nothing(case):
    import pyagrum as gum

    inference = gum.LazyPropagation(case[1])
    inference.makeInference()
    return np.concatenate([inference.posterior(v).toarray() for v in case[0].nodes_.names])


def again_case(name):
    import pyagrum as gum

    network, other = marginals_case(name)
    rows = network.sample(6, random_state=0)
    some = np.random.default_rng(0).choice(len(network.nodes_.names), len(network.nodes_.names) // 10, replace=False)
    given = [{network.nodes_.names[j]: row[j] for j in some} for row in rows]
    inference = gum.LazyPropagation(other)
    inference.setEvidence(given[0])
    inference.makeInference()
    network.marginals(given[0])
    return network, inference, given


def ours_again(case):
    return np.concatenate([p.values for given in case[2] for p in case[0].marginals(given).values()])


def pyagrum_again(case):
    found = []
    for given in case[2]:
        for v, state in given.items():
            case[1].chgEvidence(v, state)
        case[1].makeInference()
        found += [case[1].posterior(v).toarray() for v in case[0].nodes_.names]
    return np.concatenate(found)


def same(ours, theirs):
    gap = float(np.abs(ours - theirs).max())
    assert gap < 1e-9, f"probabilities differ by {gap}"
    return f"probabilities equal to {gap:.0e}"


# Rows of evidence


def evidence_case(n, others):
    """Rows of alarm of which ten columns are observed: the same of all, or others of each."""
    import pandas as pd

    network = read("alarm")
    names = list(network.nodes_.names)
    rows = pd.DataFrame(network.sample(n, random_state=0), columns=names)
    rng = np.random.default_rng(0)
    seen = np.zeros(rows.shape, bool)
    for row in seen if others else [slice(None)]:
        chosen = rng.choice(len(names), N_OBSERVED, replace=False)
        if others:
            row[chosen] = True
        else:
            seen[:, chosen] = True
    return network, rows.where(seen), pyagrum_of(network)


def ours_rows(case):
    return np.hstack(list(case[0].predict_marginals(case[1]).values()))


def pyagrum_rows(case):
    import pyagrum as gum

    inference, found = gum.LazyPropagation(case[2]), []
    names = case[0].nodes_.names
    for row in case[1].to_dict("records"):
        inference.setEvidence({v: s for v, s in row.items() if isinstance(s, str)})
        inference.makeInference()
        found.append(np.concatenate([inference.posterior(v).toarray() for v in names]))
    return np.array(found)


def pgmpy_case(n):
    network, rows, _ = evidence_case(n, False)
    return network, rows, pgmpy_of(network)


def pgmpy_rows(case):
    """Belief propagation once, then every variable of every row, as pgmpy's own `predict_probability` does."""
    from pgmpy.inference import VariableElimination

    inference, found = VariableElimination(case[2]), []
    names = case[0].nodes_.names
    for row in case[1].to_dict("records"):
        given = {v: s for v, s in row.items() if isinstance(s, str)}
        own = []
        for v in names:
            states = list(case[0].states_of(v))
            if v in given:
                own.append(np.eye(len(states))[states.index(given[v])])
                continue
            factor = inference.query([v], given, show_progress=False)
            own.append(np.array([factor.values[factor.get_state_no(v, s)] for s in states], dtype=float))
        found.append(np.concatenate(own))
    return np.array(found)


# Parameters


def parameters_case(n):
    """Rows of alarm as codes, which neither library must read from texts."""
    import pandas as pd

    network = read("alarm")
    codes = network._mixed.draw_rows(network.params_, n, np.random.default_rng(0)).astype(np.int64)
    return network, pd.DataFrame(codes, columns=list(network.nodes_.names))


def ours_parameters(case):
    from tacit.graph import BeliefNetwork

    network = case[0]
    states = {v: list(range(len(s))) for v, s in zip(network.nodes_.names, network.nodes_.states)}
    return BeliefNetwork(network.nodes_.edges, states=states, prior=0.0).fit(case[1])


def pgmpy_parameters(case):
    from pgmpy.models import DiscreteBayesianNetwork

    other = DiscreteBayesianNetwork(case[0].nodes_.edges)
    states = {v: list(range(len(s))) for v, s in zip(case[0].nodes_.names, case[0].nodes_.states)}
    other.fit(case[1], state_names=states) if "state_names" in other.fit.__code__.co_varnames else other.fit(case[1])
    return other


def same_tables(ours, theirs):
    """Tables equal where both have the same states; pgmpy has uniform columns where parents' states do not occur."""
    worst, compared = 0.0, 0
    for v in ours.nodes_.names:
        cpd = theirs.get_cpds(v)
        mine = ours.table(v).aligned(cpd.variables).values
        if mine.shape == cpd.values.shape:
            uneven = np.ptp(cpd.values, axis=0) > 0
            worst, compared = max(worst, float((np.abs(mine - cpd.values) * uneven).max())), compared + 1
    assert compared > 30, f"{compared} tables of the same shape"
    assert worst < 1e-9, f"tables differ by {worst}"
    return f"{compared} tables equal to {worst:.0e}"


def _jobs():
    for name in NETWORKS:
        runs = 1 if name == "munin1" else 5
        yield Job(f"all marginals of {name}, from nothing", "pyAgrum LazyPropagation", partial(marginals_case, name),
                  ours_from_nothing, pyagrum_from_nothing, same, 3.0, runs)  # fmt: skip
    for name in NETWORKS:
        if name != "munin1":
            yield Job(f"all marginals of {name}, again 6 times", "pyAgrum LazyPropagation", partial(again_case, name), ours_again,
                      pyagrum_again, same, 3.0, 5)  # fmt: skip
    for others in (False, True):
        what = "others of each" if others else "the same of all"
        yield Job(f"all posteriors of {N_ROWS:,} rows of alarm, {N_OBSERVED} observed, {what}", "pyAgrum in a loop",
                  partial(evidence_case, N_ROWS, others), ours_rows, pyagrum_rows, same, 20.0, 1)  # fmt: skip
    yield Job(
        f"all posteriors of {FEW} rows of alarm",
        "pgmpy",
        partial(pgmpy_case, FEW),
        ours_rows,
        pgmpy_rows,
        same,
        20.0,
        1,
    )
    yield Job("tables of alarm from 1,000,000 rows", "pgmpy", partial(parameters_case, 1_000_000), ours_parameters,
              pgmpy_parameters, same_tables, 5.0, 5)  # fmt: skip


JOBS = list(_jobs())


def main(words):
    """Run the jobs whose name holds every word."""
    warnings.simplefilter("ignore")
    rows = []
    for job in JOBS:
        if all(word in job.name for word in words):
            rows.append(measure(job, memory=False))
            print(
                " | ".join(rows[-1][name] for name in ("job", "rival", "ours (s)", "rival (s)", "ratio", "results")),
                flush=True,
            )
    print(table([{k: v for k, v in row.items() if "memory" not in k} for row in rows]))
    ratios = [
        float(row["rival (s)"]) / max(float(row["ours (s)"]), 1e-3) for row in rows if "from nothing" in row["job"]
    ]
    if ratios:
        print(f"geometric mean, from nothing: {np.exp(np.mean(np.log(ratios))):.2f} ×")


if __name__ == "__main__":
    main(sys.argv[1:])
