#!/usr/bin/env python3
r"""Draws what a program printed as an SVG, in dots where it used Braille characters.

    cnc solve elasticity3d:20 | grep -v '^Time\|^Speed' | docs/terminal_to_svg.py "cnc solve elasticity3d:20" > docs/solve.svg
"""
import sys
from html import escape

WIDTH, HEIGHT, MARGIN = 7.8, 17.0, 14.0  # of a character; around the text
# The dots of a Braille character, by bit: column and row.
DOTS = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]


def is_braille(character):
    return 0x2800 <= ord(character) <= 0x28FF


def draw(lines):
    columns = max(len(line) for line in lines)
    width, height = columns * WIDTH + 2 * MARGIN, len(lines) * HEIGHT + 2 * MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13">',
        f'<rect width="{width:.0f}" height="{height:.0f}" rx="8" fill="#1b1f27"/>',
    ]
    for row, line in enumerate(lines):
        top = MARGIN + row * HEIGHT
        color = "#7fd1ae" if row == 0 else "#e6e6e6"
        # Word by word, each in its place: fonts differ in width.
        start = None
        for column in range(len(line) + 1):
            inside = column < len(line) and line[column] != " " and not is_braille(line[column])
            if inside and start is None:
                start = column
            if not inside and start is not None:
                word = line[start:column]
                out.append(
                    f'<text x="{MARGIN + start * WIDTH:.1f}" y="{top + 13:.1f}" fill="{color}" '
                    f'textLength="{len(word) * WIDTH:.1f}">{escape(word)}</text>')
                start = None
        for column, character in enumerate(line):
            if not is_braille(character):
                continue
            for bit, (across, down) in enumerate(DOTS):
                if (ord(character) - 0x2800) >> bit & 1:
                    x = MARGIN + (column + 0.25 + 0.5 * across) * WIDTH
                    y = top + (0.125 + 0.25 * down) * HEIGHT
                    out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.5" fill="#f2b84b"/>')
    return "\n".join(out + ["</svg>", ""])


if __name__ == "__main__":
    text = [line.rstrip() for line in sys.stdin.read().strip("\n").split("\n")]
    sys.stdout.write(draw(["$ " + sys.argv[1], ""] + text))
