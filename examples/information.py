"""Information: what seeing a value tells, how much that is on average, and what it costs to believe in another distribution.

−log p(x) is the self-information of x, H(p) = −E log p(x) the entropy, −E log q(x) = H(p) + KL(p ‖ q) the cross-entropy.

Run: python examples/information.py
"""

import numpy as np

from tacit.families import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Dirichlet,
    Exponential,
    FullGaussian,
    Gamma,
    Geometric,
    NegativeBinomial,
    Normal,
    Poisson,
    StudentT,
)  # fmt: skip
from tacit.table import Table

fair, loaded = Categorical.of(probability=[1 / 6] * 6), Categorical.of(probability=[0.1] * 5 + [0.5])
bits = np.log(2)
six = [float(die.self_information([5])[0]) / bits for die in (fair, loaded)]
rolls = [die.entropy() / bits for die in (fair, loaded)]
print(f"a six tells {six[0]:.3f} bits of a fair die, {six[1]:.3f} of a loaded one")
print(f"a roll tells {rolls[0]:.3f} bits on average of the fair one, {rolls[1]:.3f} of the loaded one")
wrong, more = loaded.cross_entropy(fair) / bits, loaded.kl(fair) / bits
print(f"who takes the loaded die for fair needs {wrong:.3f} bits a roll: {more:.3f} more")
print(f"the other way around it is {fair.kl(loaded) / bits:.3f} more: divergence is no distance\n")

# The same for every family: moments, entropy, and the divergence from a neighbour.
pairs = [
    (Bernoulli.of(probability=0.3), Bernoulli.of(probability=0.5)),
    (Binomial(8).fit([[2], [3], [5]]), Binomial(8).fit([[4], [5], [6]])),
    (Geometric.of(probability=0.3), Geometric.of(probability=0.5)),
    (NegativeBinomial(3.0).fit([[2.0], [9.0]]), NegativeBinomial(3.0).fit([[1.0], [5.0]])),
    (Poisson.of(rate=3.0), Poisson.of(rate=4.0)),
    (Exponential.of(rate=1.0), Exponential.of(rate=2.0)),
    (Gamma.of(shape=2.0, rate=1.0), Gamma.of(shape=3.0, rate=1.0)),
    (Beta.of(a=2.0, b=5.0), Beta.of(a=1.0, b=1.0)),
    (loaded, fair),
    (Dirichlet.of(alpha=[2.0, 3.0, 4.0]), Dirichlet.of(alpha=[3.0, 3.0, 3.0])),
    (Normal.of(mean=[0.0], covariance=[[1.0]]), Normal.of(mean=[1.0], covariance=[[4.0]])),
    (FullGaussian.of(mean=[0, 0], covariance=[[1, 0.8], [0.8, 1]]), FullGaussian.of(mean=[0, 0], covariance=np.eye(2))),
    (StudentT.of(mean=[0.0], scale=[[1.0]], df=5), StudentT.of(mean=[1.0], scale=[[1.0]], df=5)),
]  # fmt: skip
rows = []
for p, q in pairs:
    drawn = p.sample(20_000, 0)
    apart = None if isinstance(p.family, StudentT) else p.kl(q)  # has no closed form
    rows.append(
        {"family": type(p.family).__name__, "mean": float(np.ravel(p.mean)[0]), "variance": float(np.ravel(p.variance)[0]),
         "entropy": p.entropy(), "of 20,000 draws": float(p.self_information(drawn).mean()), "KL": apart,
         "by draws": float((p.log_prob(drawn) - q.log_prob(drawn)).mean())}
    )  # fmt: skip
print(Table(rows, title="nats; the first column's moments; KL from a neighbour of the same family"))
