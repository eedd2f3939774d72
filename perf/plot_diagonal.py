#!/usr/bin/env python3
"""Draws what perf/diagonal_bench wrote: time of a solve over the rows of the artificial matrices, on logarithmic axes.

    build/cpu/perf/diagonal_bench --csv diagonal.csv
    perf/plot_diagonal.py diagonal.csv > docs/diagonal.svg

A line for each method, side and precision; solves that did not converge are left out.
"""
import csv
import math
import sys

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 64, 190, 20, 48  # around the axes; the legend is on the right
COLORS = {"gauss-seidel": "#b3412f", "jacobi": "#c98a1b", "bicg": "#2b6cb0", "bicgstab": "#2f855a"}
DASHES = {"f32": "5 3", "f64": "none"}


def read_lines(paths):
    """{(method, side, precision): [(rows, seconds), ...]}, in the order of the files."""
    lines = {}
    for path in paths:
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                if row["matrix"].startswith("n = ") and row["status"] == "converged":
                    key = (row["method"], row["side"], row["precision"])
                    lines.setdefault(key, []).append((int(row["rows"]), float(row["seconds"])))
    return {key: sorted(points) for key, points in lines.items()}


class Axis:
    """A logarithmic axis of whole decades, from `start` to `end` on the page."""

    def __init__(self, values, start, end):
        self.low = math.floor(math.log10(min(values)))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)
        self.start, self.end = start, end

    def place(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def decades(self):
        return [10.0 ** exponent for exponent in range(self.low, self.high + 1)]


def seconds_text(value):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= 0.999 * size:
            return f"{value / size:.0f} {unit}"
    return f"{value:.0e} s"


def text(x, y, words, anchor="middle"):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{words}</text>'


def grid(across, up):
    out = ['<g stroke="#d8dce2">']
    out += [f'<path d="M{across.place(v):.1f} {up.start}V{up.end}"/>' for v in across.decades()]
    out += [f'<path d="M{across.start} {up.place(v):.1f}H{across.end}"/>' for v in up.decades()]
    out.append("</g>")
    out += [text(across.place(v), up.start + 18, f"{v:,.0f}") for v in across.decades()]
    out += [text(across.start - 8, up.place(v) + 4, seconds_text(v), "end") for v in up.decades()]
    out.append(text((across.start + across.end) / 2, up.start + 38, "rows"))
    return out


def mark(x, y, side):
    """A dot for the host, an empty square for a device."""
    if side == "host":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="currentColor"/>'
    return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" fill="#fff"/>'


def curve(places, key):
    method, side, precision = key
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    color = COLORS.get(method, "#555")
    return [
        f'<g stroke="{color}" color="{color}" fill="none" stroke-width="1.5">',
        f'<polyline points="{path}" stroke-dasharray="{DASHES.get(precision, "1 2")}"/>',
        *[mark(x, y, side) for x, y in places],
        "</g>",
    ]


def draw(lines):
    points = [point for line in lines.values() for point in line]
    across = Axis([rows for rows, _ in points], LEFT, WIDTH - RIGHT)
    up = Axis([seconds for _, seconds in points], HEIGHT - BOTTOM, TOP)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        'font-family="system-ui, sans-serif" font-size="12" fill="#333">',
        "<title>Time of a solve over the rows of the matrix</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        *grid(across, up),
    ]
    for number, (key, line) in enumerate(lines.items()):
        out += curve([(across.place(rows), up.place(seconds)) for rows, seconds in line], key)
        x, y = across.end + 14, TOP + 10 + 20 * number
        out += curve([(x, y), (x + 30, y)], key)
        out.append(text(x + 38, y + 4, ", ".join(key), "start"))
    return "\n".join(out + ["</svg>", ""])


if __name__ == "__main__":
    found = read_lines(sys.argv[1:])
    if not found:
        sys.exit("plot_diagonal.py: no solve of an artificial matrix converged")
    sys.stdout.write(draw(found))
