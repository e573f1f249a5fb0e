"""Bayes classifiers: learn each species as a distribution, and a penguin with missing measurements is classified all the same.

Discriminative learning (logistic regression) needs every cell filled in first; generative learning integrates missing cells out.
With few cells missing they are equally good. With many, the difference is what the fill destroys.

Run: python examples/bayes_classifiers.py [FIGURE.png]
"""

import sys

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tacit.classification import GaussianBayes, NaiveBayes
from tacit.datasets import load_penguins, make_missing

X, species, _ = load_penguins()
folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, species))
models = {
    "one covariance (LDA)": GaussianBayes("tied"),
    "own covariances (QDA)": GaussianBayes("full", max_iter=2000),
    "naive Bayes": NaiveBayes(),
    "logistic, means filled in": make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()),
}

# Error on penguins left out, with more and more of the measurements lost.
shares = (0.0, 0.2, 0.4)
print(f"{'share lost':<27}" + "".join(f"{share:>8.0%}" for share in shares))
errors = {}
for name, model in models.items():
    errors[name] = []
    for share in shares:
        incomplete = make_missing(X, share, random_state=1)
        wrong = [np.mean(model.fit(incomplete[a], species[a]).predict(incomplete[b]) != species[b]) for a, b in folds]
        errors[name].append(np.mean(wrong))
    print(f"{name:<27}" + "".join(f"{error:>8.1%}" for error in errors[name]))

# A classifier that knows distributions also says how odd a row is, and how sure it is of one with a single measurement.
model = models["own covariances (QDA)"].fit(X, species)
lone = np.array([[np.nan, np.nan, 215.0, np.nan]])
told = dict(zip(model.classes_.tolist(), model.predict_proba(lone)[0].round(3).tolist()))
print(f"\na penguin of which only the flipper is known, 215 mm: {told}")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, ax = pyplot.subplots(figsize=(7, 4.4), layout="constrained")
    for (name, values), marker in zip(errors.items(), "os^D"):
        ax.plot(100 * np.array(shares), 100 * np.array(values), marker=marker, label=name)
    ax.set(xlabel="measurements lost (%)", ylabel="penguins classified wrongly (%)", ylim=(0, None))
    ax.legend(frameon=False)
    figure.savefig(sys.argv[1], dpi=110)
