"""Stop words: function words of some languages, which language texts are in, and what a word tells of those beside it.

share(language) = running words that are in the language's list / all running words; the language with the largest share is
that of the texts, where the share is at least 0.2 and three different words of the list occur.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

__all__ = ["LANGUAGES", "recognised", "stop_words_of", "told_by"]

LEAST_SHARE = 0.2
"""Of running words: prose has 0.35 to 0.5 of its own language's function words, and less than 0.2 of another's."""
LEAST_KINDS = 3
"""Different words of a list that must occur: one frequent word may be another in another language."""

LISTS = {
    "english": """
        the of and to in is it that was for on are as with his they he she be at this from have or by had not but what all were
        we when your can there an which their if do will each how about up out them then some so her would into has him could
        than been its who did may these my me you our us also such any no only other more most very just over both between
        because while where does being those through under until should must might same too off own here again once am
        nor why yours ours theirs himself herself itself themselves don't isn't doesn't didn't can't won't it's""",
    "german": """
        der die das und in den von zu mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie
        nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis mehr durch man sein
        wurde sei ich du wir ihr mich mir dich dir uns euch ihm ihn ihnen ihre seine seiner ihrer eines kein keine wenn dann
        schon hatte kann gegen vom können diese dieser dieses diesem diesen was wer wo da weil ob denn doch unter zwischen
        ohne waren wurden worden habe hier sehr nun damit jedoch beim""",
    "french": """
        de la le et les des en un du une que est pour qui dans par plus pas au sur ne se ce il elle sont avec ou son sa ses aux
        on mais nous vous ils elles je tu me te lui leur leurs cette ces cet mon ma mes ton ta tes notre nos votre vos été être
        avoir ont était étaient fait si tout tous toute toutes même comme sans sous entre où donc ni car dont quand aussi très
        bien peut y avait avaient ai as avons avez suis es sommes êtes après avant chez vers puis ainsi cela ça celui celle
        ceux quel quelle""",
    "spanish": """
        de la que el en los se del las un por con no una su para es al lo como más sus le ya este sí porque esta entre
        cuando muy sin sobre también me hasta hay donde quien desde todo nos durante todos uno les ni contra otros ese eso ante
        ellos esto mí antes algunos qué unos yo otro otras otra él tanto esa estos mucho nada muchos cual poco ella estar estas
        algunas algo nosotros mi mis tú te ti tu tus ellas son fue ha han ser era eran está están había pero si así
        he hemos tiene""",
    "italian": """
        di che la il un in una per non sono si del della con da dei le al ha lo ma come anche più nel nella gli alla delle se
        dal dalla questo questa questi queste essere ed ai io tu lui lei noi voi loro mi ti ci vi mio mia suo sua suoi sue
        nostro era erano stato stata hanno ho hai abbiamo degli dello alle allo agli sul sulla sui sulle nei negli nelle dai
        dalle tra fra su ogni quando dove chi cui quale quello quella quelli quelle perché ancora già molto tutto tutti tutte
        solo senza dopo prima poi così sia uno""",
    "portuguese": """
        de que do da em um para com não uma os no se na por mais as dos como mas ao ele das à seu sua ou quando muito nos já eu
        também só pelo pela até isso ela entre depois sem mesmo aos seus quem nas me esse eles você essa num nem suas meu às
        minha numa pelos elas qual nós lhe deles essas esses pelas este dele tu te vocês vos lhes meus minhas teu tua nosso
        nossa esta estes estas aquele aquela isto aquilo foi são ser está estão era eram tem têm ter há foram sobre onde
        porque""",
    "dutch": """
        de en van ik te dat die in een hij het niet zijn is was op aan met als voor had er maar om hem dan zou of wat mijn men
        dit zo door over ze zich bij ook tot je mij uit der daar haar naar heb hoe heeft hebben deze want nog zal me zij nu ge
        geen omdat iets worden toch al waren veel meer doen toen moet ben zonder kan hun dus alles onder ja werd wezen zelf
        tegen na kon niets uw iemand wordt geweest wij ons onze we jij hier wie waar welke tussen tijdens zoals deed""",
}
LANGUAGES = tuple(LISTS)


def stop_words_of(language: str) -> frozenset[str]:
    """The function words of a language, in small letters."""
    return frozenset(LISTS[language].split())


def recognised(words: Iterable[str], totals: np.ndarray) -> str | None:
    """The language of texts by how often they have each word; None where no list has enough of them.

    Parameters
    ----------
    words : iterable of str
        Different words.
    totals : (n_words,) array
        How often each occurs.
    """
    small = [word.lower() for word in words]
    held = dict.fromkeys(LANGUAGES, 0.0)
    for name in LANGUAGES:
        own = stop_words_of(name)
        inside = np.array([word in own for word in small], dtype=bool)
        held[name] = float(totals[inside].sum()) if inside.sum() >= LEAST_KINDS else 0.0
    best = max(held, key=held.__getitem__)
    return best if held[best] >= LEAST_SHARE * max(float(totals.sum()), 1.0) else None


def told_by(counts: Any, which: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """What some words tell of the words beside them, from 0 (nothing) to 1.

    KL(p(· | documents with the word) ‖ p(·)), less what chance gives, over the most it could be: −log of those
    documents' share of all words.
    """
    from scipy.sparse import csc_matrix

    having = csc_matrix(counts)[:, which]
    having.data = np.ones_like(having.data)
    inside = np.asarray((having.T @ counts[:, beside]).todense(), dtype=np.float64)
    total = np.tile(np.asarray(counts[:, beside].sum(axis=0), dtype=np.float64), (len(which), 1))
    own = which[:, None] == beside
    inside[own] = total[own] = 0.0
    n_inside, n_all = inside.sum(axis=1, keepdims=True), total.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(inside > 0, (inside / n_inside) / (total / n_all), 1.0)
        chance = 0.5 * len(beside) * (1.0 / n_inside - 1.0 / n_all)
        told = ((inside / n_inside * np.log(ratio)).sum(axis=1, keepdims=True) - chance) / -np.log(n_inside / n_all)
    return np.nan_to_num(told[:, 0], nan=0.0)
