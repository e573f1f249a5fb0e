"""Conjugate pairs: nine likelihoods with the priors that they keep: maximum likelihood, mode, posterior, what comes next.

A posterior is the prior's family again, so that learning is addition, and what comes next has a closed form as well.

Run: python examples/conjugate_pairs.py
"""

import numpy as np

from tacit.families import (
    Bernoulli,
    BetaPrior,
    Binomial,
    Categorical,
    DirichletPrior,
    Exponential,
    GammaPrior,
    Geometric,
    MultivariateNormal,
    NegativeBinomial,
    Normal,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
)  # fmt: skip
from tacit.table import Table

rng = np.random.default_rng(0)
pairs = {
    "Bernoulli, beta": (Bernoulli(), BetaPrior(2.0, 2.0), [1, 1, 0, 1]),
    "binomial of 10, beta": (Binomial(10), BetaPrior(2.0, 2.0), [7, 6, 9]),
    "geometric, beta": (Geometric(), BetaPrior(6.0, 3.0), [0, 2, 1]),
    "negative binomial of 3, beta": (NegativeBinomial(3.0), BetaPrior(6.0, 3.0), [4, 1, 2]),
    "Poisson, gamma": (Poisson(), GammaPrior(3.0, 1.0), [3, 1, 2]),
    "exponential, gamma": (Exponential(), GammaPrior(6.0, 2.0), [1.0, 2.5, 0.3]),
    "categorical, Dirichlet": (Categorical([3]), DirichletPrior([2.0, 2.0, 2.0]), [0, 2, 2, 1]),
    "normal, NIG": (Normal(), NormalInverseGamma(0.0, 1.0, 3.0, 2.0), [1.0, -0.3, 2.2]),
    "multivariate normal, NIW": (
        MultivariateNormal(), NormalInverseWishart([0.0, 0.0], 1.0, 5.0, np.eye(2)), rng.normal(1.0, 1.0, (6, 2)),
    ),
}  # fmt: skip
rows = []
for name, (family, prior, x) in pairs.items():
    posterior = family.posterior(x, prior)
    predictive = family.predictive(posterior)
    new = predictive.sample(20_000, 1)
    held = float(np.mean(predictive.log_prob(new)))
    plain = family.fit(x)
    with np.errstate(divide="ignore"):
        plug = float(np.mean(plain.log_prob(new)))
    rows.append(
        {"pair": name, "ML": float(np.ravel(plain.mean)[0]), "MAP": float(np.ravel(family.map(x, prior).mean)[0]),
         "next": float(np.ravel(predictive.mean)[0]), "log evidence": family.log_marginal(x, prior),
         "a new row": held, "by ML": plug}
    )  # fmt: skip
    print(f"{name:<30} {posterior}".replace("\n", " ")[:118])
print()
print(
    Table(rows, title="first moments, and the mean log density of 20,000 rows to come: a plug-in estimate is too sure")
)
