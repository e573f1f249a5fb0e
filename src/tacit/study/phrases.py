"""Models and columns left out, as phrases."""

from ..words import count

__all__ = ["CRITERIA", "left_out_words", "model_words", "shape_words"]

CRITERIA = {"bic": "BIC", "aic": "AIC", "icl": "ICL", "cv": "cross-validation"}

MODEL_SHAPES = {
    "full": "each group with its own spread and correlations", "tied": "all groups with the same spread and correlations",
    "diag": "columns independent inside a group", "spherical": "round",
}  # fmt: skip
LETTERS = (
    {"E": "equal volume", "V": "varying volume"},
    {"E": "equal shape", "V": "varying shape", "I": "round"},
    {"E": "equal orientation", "V": "varying orientation", "I": "columns independent inside a group"},
)


def left_out_words(columns, brief=False, said=str):
    """Columns that are left out, those for the same reason together: "species, island (axes take numbers only)".

    Parameters
    ----------
    columns : iterable of tacit.tables.ColumnInfo
    brief : bool
        Without what to do about it.
    said : callable
        Words a note.
    """
    names: dict = {}
    for column in columns:
        reason = said(column.left_out)
        names.setdefault(reason.partition(";")[0] if brief else reason, []).append(column.name)
    return [f"{', '.join(each)} ({reason})" for reason, each in names.items()]


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
