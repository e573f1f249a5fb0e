"""Text cut into cells and read as numbers: byte positions first, then values, without making a Python object of any cell.

A number m × 10^e with m < 10^19 and |e| ≤ 22 is hi + lo (two doubles, exactly m) times or over a power of ten that is exact, to
twice the digits of a double; where the last bit could go either way after that, the cell is left to Python.
"""

import numpy as np

from .jit import jit

__all__ = ["EMPTY", "HARD", "NUMBER", "TEXT", "cut_rows", "read_numbers"]

NUMBER, EMPTY, TEXT, HARD = 0, 1, 2, 3
"""What a cell is: a number, nothing, something else, or a number that takes more care than this."""
POWERS = 10.0 ** np.arange(23)
SPLITTER = 134217729.0
NEWLINE = 10


@jit
def cut_rows(buffer, separator, width, edges):
    """Find where cells begin and end.

    Parameters
    ----------
    buffer : (b,) uint8
        Whole lines, each with its end.
    separator : int
        The byte between cells.
    width : int
        Cells of a row.
    edges : (n, width + 1) int64
        Gets, for every row that is not blank, where it begins and the position after each cell (that of the separator).

    Returns
    -------
    int
        Rows found, or −1 if one has another number of cells.
    """
    row, column, start = 0, 0, 0
    for position in range(len(buffer)):
        byte = buffer[position]
        if byte == separator:
            if column + 1 >= width:
                return -1
            if column == 0:
                edges[row, 0] = start
            column += 1
            edges[row, column] = position
        elif byte == NEWLINE:
            end = position - 1 if position > start and buffer[position - 1] == 13 else position
            if end > start or column > 0:
                if column + 1 != width:
                    return -1
                if column == 0:
                    edges[row, 0] = start
                edges[row, width] = end
                row += 1
            column, start = 0, position + 1
    return row


@jit
def _blank(byte):
    return byte == 32 or (9 <= byte <= 13) or (28 <= byte <= 31)


@jit
def _ratio(mantissa, exponent):
    """The number mantissa × 10^exponent rounded to a double, and whether that is certain."""
    high = np.float64(mantissa)
    if high >= 18446744073709551615.0:
        return high, False
    back = np.uint64(high)
    low = np.float64(mantissa - back) if mantissa >= back else -np.float64(back - mantissa)
    if exponent == 0:
        return high, low == 0.0
    power = POWERS[abs(exponent)]
    if mantissa < 9007199254740992:
        return (high * power if exponent > 0 else high / power), True
    first = high * power if exponent > 0 else high / power
    factor = high if exponent > 0 else first
    # The product factor × power exactly, as product + error (Dekker 1971).
    product = factor * power
    t = SPLITTER * factor
    a = t - (t - factor)
    b = factor - a
    t = SPLITTER * power
    c = t - (t - power)
    d = power - c
    error = ((a * c - product) + a * d + b * c) + b * d
    if exponent > 0:
        second = (product - first) + error + low * power
    else:
        second = ((high - product) - error + low) / power
    total = first + second
    rest = second - (total - first)
    half = 0.5 * np.spacing(abs(total))  # below a power of two, steps are half as long
    certain = abs(abs(rest) - half) > 1e-6 * half and abs(abs(rest) - 0.5 * half) > 1e-6 * half
    return total, certain


@jit
def _power(buffer, position, end):
    """The whole number after an e, and whether there is one."""
    negative, power, found = False, 0, False
    if position < end and (buffer[position] == 45 or buffer[position] == 43):
        negative = buffer[position] == 45
        position += 1
    while position < end:
        byte = buffer[position]
        if byte < 48 or byte > 57:
            return 0, False
        found = True
        power = min(power * 10 + byte - 48, 100000)
        position += 1
    return (-power if negative else power), found


@jit
def _number(buffer, start, end):
    """The number in some bytes, and what they are."""
    position, negative = start, False
    if buffer[position] == 45 or buffer[position] == 43:
        negative = buffer[position] == 45
        position += 1
    mantissa, digits, exponent, seen, point = np.uint64(0), 0, 0, 0, False
    while position < end:
        byte = buffer[position]
        if 48 <= byte <= 57:
            seen += 1
            if digits > 0 or byte != 48:
                digits += 1
            if digits > 19:
                return 0.0, HARD
            mantissa = mantissa * np.uint64(10) + np.uint64(byte - 48)
            exponent -= 1 if point else 0
        elif byte == 46 and not point:
            point = True
        else:
            break
        position += 1
    if seen == 0:
        return 0.0, TEXT
    if position < end:
        if buffer[position] != 101 and buffer[position] != 69:
            return 0.0, TEXT
        power, found = _power(buffer, position + 1, end)
        if not found:
            return 0.0, TEXT
        exponent += power
    if exponent < -22 or exponent > 22:
        return 0.0, HARD
    value, certain = _ratio(mantissa, exponent)
    return (-value if negative else value), (NUMBER if certain else HARD)


@jit
def _is_code(buffer, start, end):
    """Whether a whole number is written as names are: 007, or with more digits than a double keeps."""
    if not (end - start > 15 or (end - start > 1 and buffer[start] == 48)):
        return False
    for position in range(start, end):  # noqa: SIM110
        if buffer[position] < 48 or buffer[position] > 57:
            return False
    return True


@jit
def read_numbers(buffer, starts, ends, values, kinds):
    """Read the cells of a column as numbers.

    Parameters
    ----------
    buffer : (b,) uint8
        The text.
    starts, ends : (n,) int64
        Where cells begin and end; moved in to where they are not blank.
    values : (n,) float64
        Gets the numbers, 0 for other cells.
    kinds : (n,) uint8
        Gets what cells are.

    Returns
    -------
    points, zeros, long : bool
        Whether numbers have decimal points, leading zeros, or more digits than a double keeps.
    """
    points, zeros, long = False, False, False
    for i in range(len(starts)):
        start, end = starts[i], ends[i]
        while start < end and _blank(buffer[start]):
            start += 1
        while end > start and _blank(buffer[end - 1]):
            end -= 1
        starts[i], ends[i] = start, end
        if start == end:
            values[i], kinds[i] = 0.0, EMPTY
        else:
            values[i], kinds[i] = _number(buffer, start, end)
            if kinds[i] != TEXT:
                if not points:
                    for position in range(start, end):
                        points = points or buffer[position] == 46
                if _is_code(buffer, start, end):
                    zeros = zeros or buffer[start] == 48
                    long = long or end - start > 15
    return points, zeros, long
