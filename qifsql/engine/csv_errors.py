"""Errors of CSV and JSON files, with the line of the file that DuckDB names."""

import re

CP1252 = "add --encoding cp1252"


def wrong_text(where: str, words: str, message: str) -> str:
    """Return the message about a file that is no JSON or not in its encoding; empty for others."""
    if json := re.search(r'JSON.* in file ".*",.* in (line|record/value) (\d+)', words):
        place = f"{json[1].partition('/')[0]} {json[2]}"
        return (
            f"{where} is not valid JSON ({place}): it is cut off, is not UTF-8, or has a record "
            "with a name twice; correct the file"
        )
    if re.search(r"not utf-8|invalid unicode|byte sequence mismatch", message, re.I):
        return (
            f"{where} is not UTF-8{_in_line(words)}; {CP1252} if it comes from Excel on Windows, "
            "or name its encoding, such as latin-1"
        )
    if encoding := re.search(r"not (latin-1|utf-16) encoded", message, re.I):
        return (
            f"{where} is not {encoding[1].lower()}; name another --encoding, such as cp1252 (Excel "
            "on Windows)"
        )
    return ""


def wrong_table(where: str, words: str, message: str) -> str:
    """Return the message about CSV of unequal lines or of another encoding; empty for others."""
    if "sniff" in message or "CSV Error" in message:
        return (
            f"{where} is not a regular CSV table{_in_line(words)}: lines differ in their number of "
            "fields, or a quote is not closed; correct the file or name its --delimiter"
        )
    if "encoding" in message:
        hint = "name another --encoding, such as utf-8, cp1252 (Excel on Windows) or latin-1"
        return f"{where} cannot be read in that encoding; {hint}"
    return ""


def _in_line(words: str) -> str:
    """Return the line of a file that DuckDB names, in parentheses."""
    m = re.search(r"on Line: (\d+)", words)
    return f" (line {m[1]})" if m else ""
