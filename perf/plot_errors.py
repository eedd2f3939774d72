#!/usr/bin/env python3
"""Draws what perf/diagonal_error_bench wrote: the relative error of x over the iterations, a panel for each method.

    build/cpu/perf/diagonal_error_bench --sizes 100000 --csv errors.csv
    perf/plot_errors.py errors.csv > docs/diagonal_errors.svg

The first matrix of the file, or the one named by a second argument. A line for each arithmetic and side.
"""
import csv
import math
import sys

sys.dont_write_bytecode = True

from plot_diagonal import Axis, text

PANEL, HEIGHT = 250, 340
LEFT, TOP, BOTTOM, GAP, LEGEND = 56, 34, 48, 14, 240
COLORS = {"fast": "#555555", "separate": "#b3412f", "fused": "#c98a1b",
          "compensated-separate": "#2b6cb0", "compensated-fused": "#2f855a"}
DASHES = {"host": "none", "device": "5 3"}


def read_lines(path, matrix):
    """{method: {(arithmetic, side): [(iteration, error), ...]}} of one matrix."""
    methods = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            matrix = matrix or row["matrix"]
            error = float(row["error"])
            if row["matrix"] == matrix and math.isfinite(error) and error > 0:
                line = methods.setdefault(row["method"], {})
                line = line.setdefault((row["arithmetic"], row["side"]), [])
                line.append((int(row["iteration"]), error))
    return matrix, methods


def curve(places, key):
    arithmetic, side = key
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return (f'<polyline points="{path}" fill="none" stroke-width="1.4" '
            f'stroke="{COLORS.get(arithmetic, "#000")}" stroke-dasharray="{DASHES.get(side, "1 2")}"/>')


def panel(method, lines, left, up, last):
    right = left + PANEL - GAP
    out = ['<g stroke="#d8dce2" fill="none">']
    out += [f'<path d="M{left} {up.place(v):.1f}H{right}"/>' for v in up.decades()]
    out.append(f'<rect x="{left}" y="{up.end}" width="{right - left}" height="{up.start - up.end}"/></g>')
    out.append(text((left + right) / 2, up.end - 10, method))

    def place(iteration):
        return left + (right - left) * iteration / last

    ticks = [last * k // 4 for k in range(1, 5)]
    out += [text(place(k), up.start + 18, k, "end" if k == last else "middle") for k in ticks]
    for key, line in lines.items():
        out.append(curve([(place(k), up.place(error)) for k, error in line], key))
    return out


def draw(matrix, methods):
    points = [point for lines in methods.values() for line in lines.values() for point in line]
    up = Axis([error for _, error in points], HEIGHT - BOTTOM, TOP)
    last = max(max(iteration for iteration, _ in points), 4)
    width = LEFT + PANEL * len(methods) + LEGEND
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" '
        'font-family="system-ui, sans-serif" font-size="12" fill="#333">',
        f"<title>Relative error of x over the iterations, {matrix}</title>",
        f'<rect width="{width}" height="{HEIGHT}" fill="#fff"/>',
    ]
    out += [text(LEFT - 8, up.place(v) + 4, f"{v:.0e}", "end") for v in up.decades()]
    keys = []
    for number, (method, lines) in enumerate(methods.items()):
        out += panel(method, lines, LEFT + PANEL * number, up, last)
        keys += [key for key in lines if key not in keys]
    out.append(text(LEFT + PANEL * len(methods) / 2, HEIGHT - 10, "iteration"))
    for number, key in enumerate(keys):
        x, y = LEFT + PANEL * len(methods) + 6, TOP + 10 + 20 * number
        out.append(curve([(x, y), (x + 28, y)], key))
        out.append(text(x + 36, y + 4, ", ".join(key), "start"))
    return "\n".join(out + ["</svg>", ""])


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("plot_errors.py: CSV [MATRIX]")
    name, found = read_lines(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else None)
    if not found:
        sys.exit("plot_errors.py: no errors in this file")
    sys.stdout.write(draw(name, found))
