#!/usr/bin/env python3
"""Writes the Unicode tables that scoring and alignment pictures need.

    scripts/make_unicode_tables.py        (needs the `regex` package)

src/metrics/unicode_tables.inc
    Punctuation, symbols and numbers as the `regex` package classes them, and lower case as Python's
    str.lower() makes it: the two that sacreBLEU relies on, so scores agree with it to the last bit.
src/align/width_tables.inc
    Characters that take two columns of a terminal and those that take none.

Both files are committed; run this again to move to a newer Unicode version.
"""

import pathlib
import sys
import unicodedata

import regex

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def ranges(belongs):
    """Sorted [first, last] pairs of the code points for which belongs(char) holds."""
    found = []
    for code in CODE_POINTS:
        if not belongs(chr(code)):
            continue
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def lower_runs():
    """[first, last, step, delta]: every step-th character of the run goes to itself + delta."""
    runs = []
    for code in CODE_POINTS:
        lower = chr(code).lower()
        # U+0130 alone becomes two characters; the code treats it by hand. U+03A3 depends on its
        # neighbours; the table has the usual form.
        if len(lower) != 1 or ord(lower) == code:
            continue
        delta = ord(lower) - code
        if runs and runs[-1][3] == delta:
            first, last, step, _ = runs[-1]
            if code - last in (1, 2) and (first == last or code - last == step):
                runs[-1] = [first, code, code - last, delta]
                continue
        runs.append([code, code, 1, delta])
    assert all(a[1] < b[0] for a, b in zip(runs, runs[1:])), "runs overlap: look-up would miss some"
    return runs


def ignorable(char):
    """Characters that the rule for the final sigma looks through."""
    return ("A" + char + "Σ").lower()[-1] == "ς" and (char + "Σ").lower()[-1] != "ς"


def cased(char):
    return (char + "Σ").lower()[-1] == "ς"


def zero_width(char):
    return unicodedata.category(char) in ("Mn", "Me", "Cf") or 0x1160 <= ord(char) <= 0x11FF


def array(kind, name, comment, rows):
    lines = [f"// {comment}", f"constexpr {kind} {name}[] = {{"]
    line = "   "
    for row in rows:
        item = " {" + ", ".join(hex(v) if i < 2 else str(v) for i, v in enumerate(row)) + "},"
        if len(line) + len(item) > 100:
            lines.append(line)
            line = "   "
        line += item
    lines += [line, "};"]
    return "\n".join(lines) + "\n"


def write(path, parts):
    header = (
        f"// Made by scripts/make_unicode_tables.py (Unicode {unicodedata.unidata_version} of Python "
        f"{sys.version_info.major}.{sys.version_info.minor}, regex {regex.__version__}).\n"
        "// Do not edit.\n"
    )
    (ROOT / path).write_text(header + "\n" + "\n".join(parts), encoding="utf-8")


def main():
    def classed(name):
        return regex.compile(r"\p{%s}" % name).match

    write("src/metrics/unicode_tables.inc", [
        array("CodeRange", "kPunctuation", "General category P.", ranges(classed("P"))),
        array("CodeRange", "kSymbols", "General category S.", ranges(classed("S"))),
        array("CodeRange", "kNumbers", "General category N.", ranges(classed("N"))),
        array("CodeRange", "kSpaces", "What str.split() splits at.", ranges(str.isspace)),
        array("LowerRun", "kLower", "Lower case by one character: first, last, step, delta.",
              lower_runs()),
        array("CodeRange", "kCased", "Cased letters, for the final sigma.", ranges(cased)),
        array("CodeRange", "kCaseIgnorable", "What the final sigma looks through.",
              ranges(ignorable)),
    ])
    write("src/align/width_tables.inc", [
        array("WidthRange", "kWide", "East Asian width W or F.",
              ranges(lambda c: unicodedata.east_asian_width(c) in "WF" and not zero_width(c))),
        array("WidthRange", "kZeroWidth", "Combining marks, format controls, Hangul vowels that join.",
              ranges(zero_width)),
    ])


if __name__ == "__main__":
    main()
