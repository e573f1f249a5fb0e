"""MovieLens end to end: read, compare recommenders, choose one, recommend with reasons, and write the page.

Run: python examples/movielens.py [FIGURE.png] [FOLDER]; the folder is that of an edition of MovieLens
(https://grouplens.org/datasets/movielens), or TACIT_DATA names a folder that has movielens100k. Where there is none, the
script says so and ends.
"""

import os
import sys
from pathlib import Path

from tacit.datasets import load_movielens
from tacit.plot import CalibrationDisplay
from tacit.recommend import (
    MatrixFactorization,
    NeighbourhoodRecommender,
    Ratings,
    TwoSidedMixture,
    choose_recommender,
    evaluate,
    split_ratings,
)
from tacit.report.recommend import render_ratings
from tacit.study.recommend import study_ratings

given = [argument for argument in sys.argv[1:] if not argument.endswith(".png")]
folder = Path(given[0]) if given else Path(os.environ.get("TACIT_DATA", "")) / "movielens100k"
if not folder.exists():
    print(
        f"MovieLens is not in {folder}: name its folder, or set TACIT_DATA (https://grouplens.org/datasets/movielens)."
    )
    sys.exit(0)

data = load_movielens(folder)
table = {"user": data.X[:, 0], "item": data.X[:, 1], "rating": data.target}
if "time" in data.more:
    table["time"] = data.more["time"]
ratings, titles = Ratings.read(table), data.more.get("titles", {})
print(ratings)

# The published split where it is there, and one of its own.
if "fold" in data.more:
    inside = data.more["fold"] == 1
    train, test = (Ratings.read({name: column[part] for name, column in table.items()}) for part in (~inside, inside))
else:
    train, test = split_ratings(ratings, 0.2, random_state=0)
models = {
    "factorisation": MatrixFactorization(random_state=0),
    "factorisation, one variance": MatrixFactorization(noise="constant", random_state=0),
    "neighbours": NeighbourhoodRecommender(),
    "types": TwoSidedMixture(random_state=0),
}
for name, model in models.items():
    told = evaluate(model.fit(train), test)
    print(
        f"{name}: error {told.rmse:.3f}, log score {told.log_score:.3f}, {told.coverage:.0%} inside 90 % intervals, "
        f"NDCG at 10 {told.ndcg:.3f}"
    )

choice = choose_recommender(ratings, method="factorization")
findings = study_ratings(choice, ratings, names=titles, title="MovieLens")
print(f"\n{findings.summary[0]}")
for each in findings.examples[:1]:
    print(f"\nuser {each.user}, {each.n_ratings} ratings")
    for item in each.items:
        print(f"  {item.rating:.2f} ({item.low:.2f} to {item.high:.2f})  {item.name}")
film = ratings.items[int(findings.mapped[0].code)]
like = [str(titles.get(item, item)) for item in choice.model.similar_items(film, 3)[0]]
print(f"\nlike {titles.get(film, film)}: {'; '.join(like)}")

pictures = [argument for argument in sys.argv[1:] if argument.endswith(".png")]
if pictures:
    import matplotlib

    matplotlib.use("Agg")
    CalibrationDisplay(choice.check).plot().figure_.savefig(pictures[0], dpi=110)
    page = Path(pictures[0]).with_name("movielens.html")
    page.write_text(render_ratings(findings), encoding="utf-8")
