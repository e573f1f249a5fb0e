"""Phrases in sentences: a conditional random field tags words, its F1 by type of phrase, and what speaks for each tag.

Run: python examples/chunking.py [FIGURE.png] [FOLDER]; the folder has train.txt and test.txt of CoNLL-2000
(https://www.clips.uantwerpen.be/conll2000/chunking), or TACIT_DATA names a folder that has conll2000. Where there is none,
made-up sentences take their place.
"""

import os
import sys
from pathlib import Path

import numpy as np

from tacit.plot import TransitionWeightsDisplay
from tacit.sequence import LinearChainCRF, scheme_pairs

given = [argument for argument in sys.argv[1:] if not argument.endswith(".png")]
folder = Path(given[0]) if given else Path(os.environ.get("TACIT_DATA", "")) / "conll2000"
N_SENTENCES = 1000


def read(path):
    """Sentences of a file: a word, its part of speech and its tag on a line, an empty line between sentences."""
    return [[line.split() for line in part.splitlines()] for part in path.read_text().strip().split("\n\n")]


def made_up(n, rng):
    """Sentences of a small grammar, some of whose words may be nouns or verbs."""
    words = {"D": ["the", "a", "every"], "J": ["old", "red", "small"], "N": ["dog", "cat", "runs", "walk", "bird"],
             "V": ["sees", "runs", "walk", "likes"], "P": ["in", "on", "by"]}  # fmt: skip
    shapes = [("D J N", "B-NP I-NP I-NP"), ("D N", "B-NP I-NP"), ("N", "B-NP"), ("V", "B-VP"), ("P", "B-PP")]
    found = []
    for _ in range(n):
        order = [
            int(rng.integers(3)),
            3,
            int(rng.integers(3)),
            *([4, int(rng.integers(3))] if rng.random() < 0.5 else []),
        ]
        pairs = [pair for k in order for pair in zip(shapes[k][0].split(), shapes[k][1].split())]
        found.append([[str(rng.choice(words[kind])), kind if rng.random() < 0.8 else "?", tag] for kind, tag in pairs])
    return found


def attributes(sentence):
    """What is known of every word: itself, its part of speech, and those of its neighbours."""
    found = []
    for t, (word, part, _) in enumerate(sentence):
        item = {"word": word.lower(), "ending": word[-3:], "capital": word[0].isupper(), "part": part, "bias": 1}
        for step in (-2, -1, 1, 2):
            if 0 <= t + step < len(sentence):
                item[f"part{step:+d}"] = sentence[t + step][1]
                item[f"word{step:+d}"] = sentence[t + step][0].lower()
        found.append(item)
    return found


def phrases(labels):
    """Phrases as (type, first word, word after the last)."""
    found, first = [], None
    for t, label in enumerate([*labels, "O"]):
        if first is not None and not label.startswith("I-"):
            found.append((labels[first][2:], first, t))
            first = None
        first = t if label.startswith("B-") else first
    return found


if folder.exists():
    train, test = read(folder / "train.txt")[:N_SENTENCES], read(folder / "test.txt")[:500]
else:
    print(f"CoNLL-2000 is not in {folder}: sentences are made up. Name its folder, or set TACIT_DATA.\n")
    drawn = made_up(600, np.random.default_rng(0))
    train, test = drawn[:400], drawn[400:]

X, y = [attributes(each) for each in train], [[tag for *_, tag in each] for each in train]
truth = [[tag for *_, tag in each] for each in test]
crf = LinearChainCRF(c1=0.1, c2=0.05, scheme="BIO", delta=1e-4).fit(X, y)
n_weights = len(crf.state_features_) + len(crf.transition_features_)
print(
    f"{len(X)} sentences, {sum(map(len, X)):,} words, {len(crf.classes_)} tags; {n_weights:,} weights in {crf.n_iter_} steps"
)
print(f"it ended since {crf.fit_.reason}\n")

found = crf.predict([attributes(each) for each in test])
print(
    f"{np.mean([a == b for x, z in zip(truth, found) for a, b in zip(x, z)]):.1%} of the tags of new sentences are right"
)
banned = set(scheme_pairs(crf.classes_))
assert not any(banned & set(zip([None, *tags], [*tags, None])) for tags in found)
pairs = [(set(phrases(a)), set(phrases(b))) for a, b in zip(truth, found)]
kinds = sorted({kind for a, _ in pairs for kind, *_ in a})
for kind in ["all", *kinds]:
    own = [([p for p in a if kind in ("all", p[0])], [p for p in b if kind in ("all", p[0])]) for a, b in pairs]
    right, n_true, n_found = (sum(map(len, each)) for each in zip(*((set(a) & set(b), a, b) for a, b in own)))
    if n_true >= 30:
        print(f"  {kind:5} F1 {2 * right / (n_true + n_found):.3f} of {n_true} phrases")

nouns = [row for row in crf.weights_table(4) if row["label"] in ("B-NP", "I-NP", "B-VP")]
print("\nwhat speaks for and against some tags:")
for row in nouns:
    print(f"  {row['label']}  {row['weight']:+.2f}  {row['kind']} {row['what']}")

figure = next((argument for argument in sys.argv[1:] if argument.endswith(".png")), None)
if figure:
    often = [k for k, name in enumerate(crf.classes_) if name[2:] in ("NP", "VP", "PP", "ADVP", "")]
    weights = crf.transition_weights_[np.ix_(often, often)]
    TransitionWeightsDisplay(weights, crf.classes_[often]).plot().figure_.savefig(figure, dpi=120)
