"""What a terminal shows of the bytes that were sent to it: enough of one for what we send."""

import re

SEQUENCE = re.compile(r"\x1b\[([\d;]*)([A-Za-z])")


def shown(data: bytes, columns: int = 80):
    """Its rows, without the spaces behind them."""
    rows, row, column, at = [[]], 0, 0, 0
    text = data.decode("utf-8", "replace")
    while at < len(text):
        sequence = SEQUENCE.match(text, at)
        if sequence:
            count, letter = sequence.groups()
            if letter == "A":
                row = max(row - int(count or 1), 0)
            elif letter in "JK" and not count:
                del rows[row][column:]
                if letter == "J":
                    del rows[row + 1 :]
            else:
                assert letter == "m", sequence.group()
            at = sequence.end()
            continue
        sign = text[at]
        at += 1
        if sign == "\r":
            column = 0
        elif sign == "\n" or column == columns:
            row += 1
            rows += [[]] * (row == len(rows))
        if sign not in "\r\n":
            column = 0 if column == columns else column
            rows[row] += [" "] * (column + 1 - len(rows[row]))
            rows[row][column] = sign
            column += 1
    return ["".join(signs).rstrip() for signs in rows]
