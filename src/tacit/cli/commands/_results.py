"""What commands that learn from a table share: progress, names of results, notes in model files, the page."""

import os

__all__ = ["Progress", "name_of", "notes_of", "write_page"]


class Progress:
    """A bar for the fit that runs, with the number of models tried before it; silent where it was asked to be."""

    def __init__(self, quiet, label=""):
        from ...engine import ProgressBar

        self.bar, self.quiet, self.label, self.tried = ProgressBar(label, width=16), quiet, label, 0

    def __call__(self, progress):
        if not self.quiet:
            self.bar(progress)

    def tell(self, row):
        """One more model was tried."""
        import sys

        self.tried += 1
        if not self.quiet and sys.stderr.isatty():
            text = f"{self.label} {self.tried} models tried"
            sys.stderr.write("\r" + text.ljust(self.bar.shown))
            self.bar.shown = len(text)
            sys.stderr.flush()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.bar.close()


def name_of(arguments, table, folder, what):
    """Path of a table of results: NAME.WHAT.csv, or .parquet where that was asked for or read."""
    read = str(getattr(table.reader, "path", "")).lower()
    ending = arguments.format or ("parquet" if read.endswith((".parquet", ".arrow", ".feather")) else "csv")
    return os.path.join(folder, f"{table.reader.name}.{what}.{ending}")


def notes_of(command, table, arguments, selection, settings):
    """What a model file says about the table it was learned from, so that another is read in the same way."""
    columns = [
        {"name": column.name, "role": column.role, "reading": column.reading, "levels": list(column.levels)}
        for column in table.used
    ]
    return {
        "command": command, "table": {"name": table.reader.name, "columns": columns}, "seed": arguments.seed,
        "selection": selection, "settings": settings,
    }  # fmt: skip


def write_page(outputs, path, findings):
    """Write the page of findings."""
    from ...report.page import render

    with open(outputs.file(path), "w", encoding="utf-8") as file:
        file.write(render(findings))
