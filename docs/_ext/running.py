"""Run a script of the gallery and keep what it printed and drew.

The build of the site takes the record of a run where neither the script nor the library has changed since.
"""

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "docs" / "_build" / "examples"


@dataclass(frozen=True)
class Ran:
    """What a script did: its exit code, what it printed, and its figure, if it drew one."""

    code: int
    output: str
    errors: str
    figure: Path | None


def scripts():
    """All examples."""
    return sorted((ROOT / "examples").glob("*.py"))


def needs(script):
    """What a script cannot run without and is not here, in words; None where it can run."""
    code = script.read_text(encoding="utf-8")
    if "set TACIT_DATA" in code and not os.environ.get("TACIT_DATA"):  # others fall back on data that are everywhere
        return "the folder of published data sets, named by TACIT_DATA"
    if "needs scikit-image" in code and find_spec("skimage") is None:
        return "scikit-image"
    return None


@cache
def _library():
    """A digest of the library's code and of where the data are."""
    digest = hashlib.sha256(os.environ.get("TACIT_DATA", "").encode())
    for path in sorted((ROOT / "src" / "tacit").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _digest(script):
    return hashlib.sha256(_library().encode() + script.read_bytes()).hexdigest()


def run(script, timeout=300):
    """Run a script with a path for its figure, and record what it did."""
    folder = RECORDS / script.stem
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    figure = folder / "figure.png"
    done = subprocess.run(
        [sys.executable, script, figure], capture_output=True, text=True, encoding="utf-8", timeout=timeout,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    record = {"digest": _digest(script), "code": done.returncode, "output": done.stdout, "errors": done.stderr}
    (folder / "record.json").write_text(json.dumps(record), encoding="utf-8")
    return _ran(folder, record)


def recorded(script):
    """What a script did when it last ran as it is now, or None."""
    path = RECORDS / script.stem / "record.json"
    if not path.is_file():
        return None
    record = json.loads(path.read_text(encoding="utf-8"))
    return _ran(path.parent, record) if record["digest"] == _digest(script) else None


def _ran(folder, record):
    figure = folder / "figure.png"
    return Ran(record["code"], record["output"], record["errors"], figure if figure.is_file() else None)
