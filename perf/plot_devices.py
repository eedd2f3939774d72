#!/usr/bin/env python3
"""Draws what a model of conjugate gradients on several devices of one host promises: the speed-up over one, by rows and entries per row.

    perf/plot_devices.py > docs/devices.svg
    perf/plot_devices.py --table      # beside what two devices were measured to take, and weak scaling

An iteration takes what its bytes take, at the rate that is measured, and on several devices what launches, exchange and sums take
besides, which does not shrink with the rows. Entries of x for neighbours travel while the interior is multiplied. Where the matrix
fits on the processors, of one device or of all, it is one launch with one meeting instead.

Source   Verschoor & Jalba, Analysis and performance estimation of the conjugate gradient method on multiple GPUs, 2012 (the kind of
         map); constants and measurements: perf/records/nvidia_h100_two_devices.md.
"""
import math
import sys

sys.dont_write_bytecode = True

from plot_diagonal import Axis, text

VECTORS = 96  # bytes of a row in the vectors of an iteration
ENTRY = 12  # bytes of an entry in rows of CSR; a dictionary of rows has next to none
MEMORY = 2.9e12  # bytes a second of kernels that read vectors and matrix
ON_CHIP = 6.2e12  # of the resident form, whose data the second-level cache holds
CACHE = 100e6  # bytes that the resident form takes well
RESIDENT = 3.5e-6  # seconds of its meetings
GRAPH = 5e-6  # seconds that the launches of an iteration take on one device
APART = 15e-6  # and that launches, exchange and sums take on two
FURTHER = 0.7e-6  # a word is seen by another device after so long: assumed for each further one
LINK = 395e9  # bytes a second to a neighbour
# One meeting: seconds whatever the rows, for a row and for an entry of it; of several devices besides; bytes on chip, for a row and
# for an entry beside the diagonal.
MEETING, OF_ROW, OF_ENTRY, OF_SEVERAL = 2.3e-6, 0.4e-12, 1.1e-12, 1.5e-6
CHIP, ROW_ON_CHIP, ENTRY_ON_CHIP = 30e6, 17, 14

# rows of a Laplacian of 7 points, microseconds on one and on two
MEASURED = [(97336, 3.22, 4.07), (262144, 4.15, 4.52), (512000, 11.5, 6.30), (1000000, 19.1, 28.9), (2097152, 70.8, 47.6),
            (8000000, 265, 148), (16777216, 568, 284), (64000000, 2700, 1020)]


def meeting_once(rows, entries):
    """With so many rows on each device; infinite where they do not fit."""
    if rows * (ROW_ON_CHIP + ENTRY_ON_CHIP * (entries - 1)) > CHIP:
        return math.inf
    return MEETING + rows * (OF_ROW + OF_ENTRY * (entries - 1))


def on_one(rows, entries, repeats=False):
    """`repeats`: rows come from a dictionary, else from CSR."""
    size = rows * (VECTORS + (0 if repeats else ENTRY * entries))
    graph = GRAPH + size / MEMORY
    resident = RESIDENT + size / ON_CHIP if size <= CACHE else math.inf
    return min(graph, resident, meeting_once(rows, entries))


def on_several(devices, rows, entries, repeats=False):
    if devices == 1:
        return on_one(rows, entries, repeats)
    own = rows / devices * (VECTORS + (0 if repeats else ENTRY * entries)) / MEMORY
    # Segments of a grid in space: a face on each side.
    faces = 1 if devices == 2 else 2
    exchange = faces * rows ** (2 / 3) * 8 / LINK
    hidden = own / 3  # the product
    graph = APART + FURTHER * (devices - 2) + own + max(0, exchange - hidden)
    return min(graph, meeting_once(rows / devices, entries) + OF_SEVERAL)


def print_tables():
    print("| rows | one: measured, model | two: measured, model | model over measured |")
    print("|--:|--:|--:|--:|")
    for rows, one, two in MEASURED:
        first, second = on_one(rows, 7, True) * 1e6, on_several(2, rows, 7, True) * 1e6
        models = [f"{seconds:.0f}" if seconds >= 100 else f"{seconds:.3g}" for seconds in (first, second)]
        print(f"| {rows:,} | {one:g}, {models[0]} | {two:g}, {models[1]} | {first / one:.2f}, {second / two:.2f} |")
    print("\n| devices | 2 | 4 | 8 |")
    print("|---|--:|--:|--:|")
    for label, rows, entries, repeats, weak in (
            ("100 thousand rows of 7 points", 1e5, 7, True, False), ("500 thousand", 5e5, 7, True, False),
            ("2 million", 2097152, 7, True, False), ("64 million", 64e6, 7, True, False),
            ("1 million rows of 50 entries in CSR", 1e6, 50, False, False),
            ("weak scaling, 250 thousand rows each", 2.5e5, 7, True, True), ("weak scaling, 1 million", 1e6, 7, True, True),
            ("weak scaling, 8 million", 8e6, 7, True, True)):
        cells = []
        for devices in (2, 4, 8):
            all_rows = rows * devices if weak else rows
            ratio = on_one(rows, entries, repeats) / on_several(devices, all_rows, entries, repeats)
            cells.append(f"{ratio:.2f}")
        print(f"| {label} | " + " | ".join(cells) + " |")


def colour_of(speed_up, devices):
    """White where several are as fast as one, blue towards so many times, red below."""
    if speed_up >= 1:
        share = min(1, (speed_up - 1) / (devices - 1))
        low, high = (255, 255, 255), (32, 92, 160)
    else:
        share = min(1, -math.log2(speed_up) / 3)
        low, high = (255, 255, 255), (190, 70, 50)
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in zip(low, high))


def panel(left, devices):
    across, up = Axis((1e4, 1e8), left, left + 240), Axis((1, 100), 280, 40)
    out = [text(left + 120, 26, f"{devices} devices")]
    columns, rows = 30, 16
    for i in range(columns):
        for j in range(rows):
            n = 10 ** (4 + 4 * (i + 0.5) / columns)
            entries = 10 ** (2 * (j + 0.5) / rows)
            speed_up = on_one(n, entries) / on_several(devices, n, entries)
            x, y = left + 240 * i / columns, 280 - 240 * (j + 1) / rows
            out.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="8.1" height="15.1" '
                       f'fill="{colour_of(speed_up, devices)}"/>')
    # Where it becomes 1.
    points = []
    for j in range(2 * rows + 1):
        entries = 10 ** (2 * j / (2 * rows))
        reached = [n for n in (10 ** (4 + 4 * k / 400) for k in range(401))
                   if on_one(n, entries) / on_several(devices, n, entries) >= 1]
        points.append((across.place(reached[0]), up.place(entries)))
    out.append('<path fill="none" stroke="#333" d="M' + " L".join(f"{x:.1f} {y:.1f}" for x, y in points) + '"/>')
    out.append(f'<rect x="{left}" y="40" width="240" height="240" fill="none" stroke="#888"/>')
    out += [text(left, 298, "10 thousand", "start"), text(across.place(1e6), 298, "1 million"),
            text(left + 240, 298, "100 million", "end")]
    out += [text(left - 8, up.place(v) + 4, f"{v:.0f}", "end") for v in up.decades()]
    out.append(text(left + 120, 318, "rows"))
    return out


def draw():
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 930 330" width="930" '
           'font-family="system-ui, sans-serif" font-size="12" fill="#333">',
           "<title>Speed-up of conjugate gradients on several devices over one, by a model</title>",
           '<rect width="930" height="330" fill="#fff"/>', text(8, 20, "entries per row", "start")]
    for k, devices in enumerate((2, 4, 8)):
        out += panel(60 + 300 * k, devices)
    out.append("</svg>")
    print("\n".join(out))


if __name__ == "__main__":
    print_tables() if sys.argv[1:] == ["--table"] else draw()
