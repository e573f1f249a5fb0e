"""`Outcome`: what a command has to say, to people and to programs."""

from dataclasses import dataclass, field
from typing import Any

from ..notes import Note, claims_in
from .voice import said

__all__ = ["COMMON", "SCHEMA", "Outcome", "plain"]

SCHEMA = 1
"""Version of what ``--json`` prints: `outcome.schema.json` beside this file; raised where a key goes or changes its meaning."""
COMMON: dict = {"table": None, "rows": None, "summary": [], "limits": [], "notes": [], "claims": [], "files": []}
"""What every command tells programs, where it says nothing else."""


@dataclass(frozen=True)
class Outcome:
    """What came out.

    Attributes
    ----------
    text : str
        For people.
    data : dict
        The same for programs (``--json``), as `plain` makes it fit for JSON.
    """

    text: str
    data: dict = field(default_factory=dict)

    @property
    def told(self) -> dict:
        """What programs are told: `COMMON`, what the command adds, and the claims among all sentences, each once."""
        data = COMMON | self.data
        claims = {str(claim): claim for claim in claims_in([data["summary"], data["limits"], data])}
        return data | {"claims": [
            {"code": claim.code, "text": claim, "basis": claim.check.basis, "figures": claim.check.figures,
             "pandas": claim.check.pandas} for claim in claims.values()]}  # fmt: skip


def plain(value: Any) -> Any:
    """A value as JSON can hold it: sentences in the command's words, no arrays, and None for numbers that are not finite."""
    import numpy as np

    if isinstance(value, Note):
        return said(value)
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, np.ndarray)):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
