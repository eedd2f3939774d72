#!/usr/bin/env python3
"""Draws what perf/operations_bench wrote: GFLOP/s of the operations by format, backend and precision, or residuals by iteration.

    build/cpu/perf/operations_bench --csv operations.csv --residuals residuals.csv
    perf/plot_operations.py operations.csv > docs/operations.svg
    perf/plot_operations.py residuals.csv > docs/residuals.svg

Several files of one kind are drawn together, host and device apart.
"""
import csv
import math
import sys

sys.dont_write_bytecode = True

from plot_diagonal import Axis, text

COLORS = {"openmp": "#2b6cb0", "cuda": "#2f855a", "hip": "#b3412f", "kokkos": "#c98a1b",
          "reference": "#777777", "kokkos-kernels": "#8a5fb0", "cusparse": "#b3412f"}
SPARE = ("#4a9c9c", "#a05070", "#5f7d2b", "#99673f")
DASHES = ("none", "7 3", "2 3", "1 1")
GRID = "#d8dce2"


def read_rows(paths):
    rows = []
    for path in paths:
        with open(path, newline="") as file:
            rows += csv.DictReader(file)
    return rows


def in_order(values):
    return list(dict.fromkeys(values))


def color_of(name, names):
    return COLORS.get(name, SPARE[names.index(name) % len(SPARE)])


def page(width, height, title, body):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        'font-family="system-ui, sans-serif" font-size="11" fill="#333">',
        f"<title>{title}</title>", f'<rect width="{width}" height="{height}" fill="#fff"/>', *body,
        "</svg>", ""])


def legend(names, y, left, of_memory=""):
    out, x = [], left
    for name in names:
        out.append(f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{color_of(name, names)}"/>')
        out.append(text(x + 14, y, name, "start"))
        x += 30 + 7 * len(name)
    return out + ([text(x + 10, y, of_memory, "start")] if of_memory else [])


def round_up(value):
    """The next of 1, 2, 5 times a power of ten."""
    size = 10.0 ** math.floor(math.log10(value))
    return next(step * size for step in (1, 2, 5, 10) if step * size >= value)


# --- bars: a row of panels for each system, memory and precision --------------------------------------------------------

LEFT, TOP, ROW, BARS, GAP = 48, 40, 150, 96, 44


def places_of(row):
    """The panel and the label below the bars."""
    if row["format"]:
        return row["operation"], row["format"].replace("symmetric", "sym")
    return "vectors", row["operation"]


def bar_panel(rows, names, left, width, top):
    labels = in_order(places_of(row)[1] for row in rows)
    high = round_up(max(float(row["gflops"]) for row in rows))
    bottom = top + BARS
    out = [f'<g stroke="{GRID}">']
    out += [f'<path d="M{left} {bottom - BARS * k / 2:.1f}h{width}"/>' for k in range(3)]
    out.append("</g>")
    out += [text(left - 4, bottom - BARS * k / 2 + 4, f"{high * k / 2:g}", "end") for k in range(3)]
    share = width / len(labels)
    for number, label in enumerate(labels):
        bars = [row for row in rows if places_of(row)[1] == label]
        wide = min(12, (share - 6) / len(names))
        start = left + share * (number + 0.5) - wide * len(bars) / 2
        for place, row in enumerate(bars):
            tall = BARS * float(row["gflops"]) / high
            out.append(f'<rect x="{start + wide * place:.1f}" y="{bottom - tall:.1f}" width="{wide - 1:.1f}" '
                       f'height="{tall:.1f}" fill="{color_of(row["backend"], names)}">'
                       f'<title>{row["backend"]} {float(row["gflops"]):.3g} GFLOP/s</title></rect>')
        out.append(text(left + share * (number + 0.5), bottom + 13, label))
    return out


def draw_bars(rows):
    names = in_order(row["backend"] for row in rows)
    lines = in_order((row["system"], row["memory"], row["precision"]) for row in rows)
    columns = [("vectors", 150), ("spmv", 330), ("pcg", 330)]
    width = LEFT + sum(size + GAP for _, size in columns)
    body = legend(names, 16, LEFT, "GFLOP/s of useful operations")
    for number, line in enumerate(lines):
        top, left = TOP + 14 + ROW * number, LEFT
        body.append(text(LEFT, top - 8, ", ".join(line), "start"))
        for panel, size in columns:
            chosen = [row for row in rows if places_of(row)[0] == panel
                      and (row["system"], row["memory"], row["precision"]) == line]
            if chosen:
                body += bar_panel(chosen, names, left, size, top)
                if panel != "vectors":
                    body.append(text(left + size / 2, top - 8, panel))
            left += size + GAP
    return page(width, TOP + ROW * len(lines), "GFLOP/s of the operations", body)


# --- curves: a panel for each system and precision ------------------------------------------------------------------------

PANEL, TALL = 300, 200


def curve(points, color, dash):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.3" stroke-dasharray="{dash}"/>'


def thinned(points, most=160):
    """Some of the points, the last among them: a line of a few hundred pixels shows no more."""
    step = max(1, -(-len(points) // most))
    return points[::step] + (points[-1:] if (len(points) - 1) % step else [])


def curve_panel(rows, keys, left, top):
    lines = {}
    for row in rows:
        residual = float(row["residual"])
        if math.isfinite(residual) and residual > 0:
            lines.setdefault((row["backend"], row["memory"]), []).append((int(row["iteration"]), residual))
    up = Axis([r for line in lines.values() for _, r in line], top + TALL, top)
    last = max(k for line in lines.values() for k, _ in line) or 1
    wide = PANEL - GAP
    out = [f'<g stroke="{GRID}" fill="none">']
    out += [f'<path d="M{left} {up.place(v):.1f}h{wide}"/>' for v in up.decades()]
    out.append("</g>")
    out += [text(left - 4, up.place(v) + 4, f"{v:.0e}", "end") for v in up.decades()]
    out += [text(left + wide * k / 2, top + TALL + 14, last * k // 2) for k in range(3)]
    names = [name for name, _ in keys]
    for key, line in lines.items():
        places = [(left + wide * k / last, up.place(r)) for k, r in thinned(line)]
        out.append(curve(places, color_of(key[0], names), DASHES[keys.index(key) % len(DASHES)]))
    return out


def draw_curves(rows):
    keys = in_order((row["backend"], row["memory"]) for row in rows)
    panels = in_order((row["system"], row["precision"]) for row in rows)
    columns = min(2, len(panels))
    width = LEFT + PANEL * columns
    body, x = [], LEFT
    for number, (name, memory) in enumerate(keys):
        color = color_of(name, [key[0] for key in keys])
        body.append(curve([(x, 12), (x + 26, 12)], color, DASHES[number % len(DASHES)]))
        body.append(text(x + 30, 16, f"{name}, {memory}", "start"))
        x += 62 + 6 * len(name + memory)
    for number, panel in enumerate(panels):
        left = LEFT + PANEL * (number % columns)
        top = TOP + 14 + (TALL + 60) * (number // columns)
        chosen = [row for row in rows if (row["system"], row["precision"]) == panel]
        body.append(text(left, top - 8, "%s, %s: |r| / |b| by iteration" % panel, "start"))
        body += curve_panel(chosen, keys, left, top)
    height = TOP + (TALL + 60) * -(-len(panels) // columns)
    return page(max(width, x), height, "Residuals by iteration", body)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("plot_operations.py: CSV...")
    found = read_rows(sys.argv[1:])
    if not found:
        sys.exit("plot_operations.py: nothing in these files")
    sys.stdout.write(draw_curves(found) if "residual" in found[0] else draw_bars(found))
