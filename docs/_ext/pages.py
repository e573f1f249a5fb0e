"""Pages that are written by the build: only where they changed, so that a second build is quick."""


def write_page(path, text):
    """Write a page, unless it already says this."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return path


def clear(folder, kept):
    """Remove the pages of a folder that were not written this time."""
    for path in folder.iterdir():
        if path not in kept:
            path.unlink()
