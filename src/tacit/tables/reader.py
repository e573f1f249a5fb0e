"""`Reader`: a table somewhere, read in batches of rows as often as wanted and never held whole."""

__all__ = ["BATCH_ROWS", "Reader"]

BATCH_ROWS = 50_000


class Reader:
    """Base of readers.

    A subclass sets the attributes and defines `batches`. Cells of text formats are text (``is_text``): what is a number, a date
    or a category is for the survey to say, by the same rules for all of them.

    Attributes
    ----------
    name : str
        What results are named after: the file's name without its ending.
    place : str
        What messages call the table: a path, or the database and the query, without any password.
    folder : str
        Where results are written unless said otherwise.
    names : list of str
        Names of the columns, each once.
    is_text : bool
        Whether all cells are text, as in a CSV file.
    """

    name: str
    place: str
    folder: str = "."
    names: list
    is_text: bool = False

    def batches(self):
        """Yield every row once, in the order of the table, as `tacit.frames.Batch` of at most `BATCH_ROWS` rows."""
        raise NotImplementedError
