"""The library's notes as the command says them: settings as options that can be typed."""

import shlex
from typing import Any

from ..notes import Claim, Note, Option

__all__ = ["as_typed", "said", "spoken"]

ROLES = {"measurement": "number"}


def as_typed(option: Option) -> str:
    """A setting as it is typed."""
    name, value = option.name.replace("_", "-"), option.value
    if value is None:
        return {"roles": "--id or --as", "separator": "--sep", "families": "--family"}.get(name, f"--{name}")
    if name == "roles":
        column, role = value
        named = f"--as {shlex.quote(f'{column}={ROLES.get(role, role)}')}"
        return f"--id {shlex.quote(column)}" if role == "id" else named
    if name == "missing":
        return " ".join(f"--missing={shlex.quote(text)}" for text in ([value] if isinstance(value, str) else value))
    if name == "sql":
        return f"--sql 'select …' --from {value}"
    if isinstance(value, (list, tuple)):
        value = ",".join(value)
    return f"--{'sep' if name == 'separator' else name} {shlex.quote(str(value))}"


def said(text: Any) -> str:
    """A sentence of the library in the command's words."""
    return text.worded(as_typed) if isinstance(text, Note) else str(text)


def spoken(text: Any) -> str:
    """The same, with the check behind it."""
    if not isinstance(text, Claim):
        return said(text)
    return Claim.of(text.code, said(text), text.check.basis, text.check.figures, text.check.pandas)
