"""Findings in words: counts with their nouns, numbers with as many digits as they deserve, models and groups as phrases."""

import numpy as np

__all__ = [
    "MODEL_SHAPES",
    "count",
    "group_words",
    "joined",
    "left_out_words",
    "model_words",
    "number",
    "probability",
    "shape_words",
    "share",
]  # fmt: skip

MODEL_SHAPES = {
    "full": "each group with its own spread and correlations", "tied": "all groups with the same spread and correlations",
    "diag": "columns independent inside a group", "spherical": "round",
}  # fmt: skip
LETTERS = (
    {"E": "equal volume", "V": "varying volume"},
    {"E": "equal shape", "V": "varying shape", "I": "round"},
    {"E": "equal orientation", "V": "varying orientation", "I": "columns independent inside a group"},
)
MOST_WORDS = 4
NARROWER = 1.5
"""A spread that differs by this factor is worth telling."""


def count(n, noun, plural=None):
    """A number of things: "1 row", "12,345 rows", "no rows"."""
    if n == 1:
        return f"1 {noun}"
    return f"{n:,} {plural or noun + 's'}" if n else f"no {plural or noun + 's'}"


def joined(parts, last="and"):
    """Parts of a list as people say them: "a, b and c"."""
    parts = [str(part) for part in parts]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}" if parts else ""


def left_out_words(columns, brief=False):
    """Columns that are left out, those for the same reason together: "species, island (axes take numbers only)".

    Parameters
    ----------
    columns : iterable of tacit.tables.ColumnInfo
    brief : bool
        Without what to do about it.
    """
    names: dict = {}
    for column in columns:
        names.setdefault(column.left_out.partition(";")[0] if brief else column.left_out, []).append(column.name)
    return [f"{', '.join(each)} ({reason})" for reason, each in names.items()]


def number(value, digits=4):
    """A number with so many digits that count, and no exponent where people would not write one."""
    value = float(value)
    if not np.isfinite(value):
        return "unknown"
    if value == 0:
        return "0"
    size = int(np.floor(np.log10(abs(value))))
    if not -4 <= size < 12:
        return f"{value:.{digits}g}"
    decimals = max(digits - 1 - size, 0)
    text = f"{value:,.{decimals}f}" if size >= 4 else f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def share(value):
    """A share in percent, with a decimal below 10 %; what is neither none nor all is never said to be."""
    percent = 100.0 * float(value)
    if 0 < percent < 0.1:
        return "< 0.1 %"
    if 99.5 <= percent < 100:
        return "> 99.9 %" if percent >= 99.95 else f"{percent:.1f} %"
    return f"{percent:.1f} %" if 0 < percent < 9.95 else f"{percent:.0f} %"


def probability(value):
    """A probability, however small."""
    value = float(value)
    if value >= 0.01:
        return f"{value:.2f}"
    return f"{value:.1g}" if value > 1e-12 else "below 1e-12"


def shape_words(covariance_type, n_measurements=2):
    """A covariance structure of so many measurements in words."""
    if covariance_type in MODEL_SHAPES:
        words = MODEL_SHAPES[covariance_type]
        return words if n_measurements > 1 else words.replace(" and correlations", "")
    return ", ".join(words[letter] for words, letter in zip(LETTERS, covariance_type))


def model_words(n_components, covariance_type=None, student=False, n_measurements=2):
    """A model as a phrase: "5 groups, round (spherical)"."""
    parts = [count(n_components, "group")]
    if covariance_type is not None and n_components == 1:
        parts[0] += f" ({covariance_type})"
    elif covariance_type is not None:
        parts.append(f"{shape_words(covariance_type, n_measurements)} ({covariance_type})")
    if student:
        parts.append("heavy tails")
    return ", ".join(parts)


def group_words(entries, spreads=()):
    """What sets a group apart, as a phrase.

    Parameters
    ----------
    entries : list of dict
        What sets the group apart, the strongest first, one for each column, with a `phrase`.
    spreads : list of (str, float)
        Columns and how many times more the group's values spread than those of other rows: told where nothing else is.
    """
    if entries:
        return ", ".join(entry["phrase"] for entry in entries[:MOST_WORDS])
    ranked = sorted(spreads, key=lambda each: -abs(np.log(each[1])))
    told = [(name, ratio) for name, ratio in ranked if not 1 / NARROWER < ratio < NARROWER][:MOST_WORDS]
    if told:
        return ", ".join(f"{name} {'more' if ratio > 1 else 'less'} spread out" for name, ratio in told)
    return "like the table as a whole"
