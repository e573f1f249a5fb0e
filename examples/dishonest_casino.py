"""The dishonest casino: a die that is loaded now and then, found by a hidden Markov model from rolls alone.

The casino's die is fair or loaded, and is exchanged rarely. The model is told neither when nor how: it learns both dice and how
often they are exchanged, says for every roll which die it probably was, and how far that may be trusted. Rolls that nobody wrote
down are missing values.

Durbin, Eddy, Krogh and Mitchison (1998), Biological Sequence Analysis, section 3.2.

Run: python examples/dishonest_casino.py [FIGURE.png]
"""

import sys

import numpy as np

from tacit.sequence import CategoricalHMM

FAIR, LOADED = np.full(6, 1 / 6), np.array([0.1, 0.1, 0.1, 0.1, 0.1, 0.5])
MOVE = np.array([[0.95, 0.05], [0.1, 0.9]])

rng = np.random.default_rng(0)
die, dice = 0, []
for _ in range(5000):
    dice.append(die)
    die = int(rng.random() < MOVE[die, 1])
dice = np.array(dice)
rolls = np.array([rng.choice(6, p=[FAIR, LOADED][die]) for die in dice], dtype=float)[:, None]
rolls[rng.random(len(rolls)) < 0.05] = np.nan

model = CategoricalHMM(2, n_features=6, n_iter=500, tol=1e-6, n_init=5, random_state=0).fit(rolls)
order = np.argsort(model.emissionprob_[:, 5])  # the die with fewer sixes first
print("the dice, learned (true):")
for name, k, true in zip(("fair", "loaded"), order, (FAIR, LOADED)):
    print(f"  {name:7}", "  ".join(f"{p:.3f} ({q:.3f})" for p, q in zip(model.emissionprob_[k], true)))
found = model.transmat_[np.ix_(order, order)]
print(
    f"the fair die is exchanged with probability {found[0, 1]:.3f} (0.050), the loaded one with {found[1, 0]:.3f} (0.100)\n"
)

loaded = model.predict_proba(rolls)[:, order[1]]
path = np.argsort(order)[model.predict(rolls)]
print(f"the likeliest path names the die of {np.mean(path == dice):.1%} of the rolls, the likelier die of each roll "
      f"{np.mean((loaded > 0.5) == dice):.1%}; always saying fair {np.mean(dice == 0):.1%}")  # fmt: skip
print("of the rolls said to be of the loaded die with a probability of")
for low, high in ((0.0, 0.1), (0.1, 0.5), (0.5, 0.9), (0.9, 1.0)):
    among = (loaded >= low) & (loaded <= high)
    print(f"  {low:.0%} to {high:.0%}: {dice[among].mean():.0%} are ({among.sum():,} rolls)")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = slice(0, 400)
    figure, axes = pyplot.subplots(figsize=(9, 3), layout="constrained")
    axes.fill_between(np.arange(400), dice[shown], step="mid", color="#DDDDDD", label="loaded in truth")
    axes.plot(loaded[shown], color="#0072B2", label="probability of the loaded die")
    axes.set(xlabel="roll", ylim=(0, 1.02))
    axes.legend(frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, 1.15))
    figure.savefig(sys.argv[1], dpi=110)
