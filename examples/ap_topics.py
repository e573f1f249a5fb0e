"""What a newspaper is about: topics of articles, found twice, with a page to walk through them.

Run: python examples/ap_topics.py [FIGURE.png]; articles of the Associated Press where TACIT_DATA names a folder that has
them, otherwise articles drawn from four made-up subjects. The page topics.html is written beside the figure.
"""

import os
import sys
from pathlib import Path

import numpy as np

from tacit.datasets import load_ap
from tacit.plot import TopicMapDisplay, TopicWordsDisplay
from tacit.report.topics import render_topics
from tacit.study.topics import study_topics
from tacit.topics import AnchorTopics, Corpus, LatentDirichletAllocation

SUBJECTS = {
    "space": "moon star comet orbit rocket launch crew planet probe telescope",
    "court": "judge jury trial lawyer appeal verdict law sentence witness charge",
    "market": "stock share price dollar bank trade index profit rate investor",
    "storm": "rain wind flood storm snow coast river damage forecast warning",
}


def articles():
    """The corpus, how many topics to look for, and what it is."""
    folder = Path(os.environ.get("TACIT_DATA", "")) / "ap"
    if folder.is_dir():
        data = load_ap(folder)
        return Corpus.from_counts(data.X, data.columns, name="Associated Press"), 20, "articles of the Associated Press"
    rng = np.random.default_rng(0)
    words = [subject.split() for subject in SUBJECTS.values()]
    texts = []
    for _ in range(300):
        mix = rng.dirichlet(np.full(len(words), 0.15))
        texts.append(" ".join(rng.choice(words[k]) for k in rng.choice(len(words), 60, p=mix)))
    return (
        Corpus.from_texts(texts, name="Made-up articles"),
        4,
        "made-up articles, since those of the Associated Press are not here",
    )


corpus, n_topics, what = articles()
print(f"{len(corpus)} {what}: {len(corpus.words)} different words\n")

anchors = AnchorTopics(n_topics).fit(corpus)
model = LatentDirichletAllocation(n_topics, random_state=0).fit(corpus)
for name, fitted in (("anchor words", anchors), ("latent Dirichlet allocation", model)):
    npmi, told = fitted.coherence(corpus).mean(), fitted.completion(corpus)
    print(f"{name}: coherence {npmi:.2f}, diversity {fitted.diversity(10):.2f}, perplexity {told.perplexity:.0f}")
print(f"without topics: perplexity {told.baseline:.0f}\n")
for row in sorted(model.topic_table(8), key=lambda row: -row["share"])[:8]:
    print(f"{row['share']:>5.0%}  {row['words']}")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    largest = np.argsort(-model.topic_share_)[:8]
    TopicWordsDisplay.from_estimator(model, n=10, topics=largest).figure_.savefig(sys.argv[1], dpi=110)
    place = Path(sys.argv[1]).parent
    TopicMapDisplay.from_estimator(model).figure_.savefig(place / "topic_map.png", dpi=110)
    findings = study_topics(model, corpus, judged=LatentDirichletAllocation(n_topics, random_state=0))
    (place / "topics.html").write_text(render_topics(findings), encoding="utf-8")
    print("\n" + str(findings.summary[1]))
