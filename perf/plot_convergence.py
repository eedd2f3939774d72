#!/usr/bin/env python3
"""Draws how the residual falls with each of several preconditioners, a panel for each problem.

    perf/plot_convergence.py build/cpu/src/cli/cnc poisson3d:64 convection3d:32:1 > docs/convergence.svg

Solves by `cnc solve PROBLEM --solver auto --precondition NAME --history FILE`. Iterations are on a logarithmic axis.
"""
import csv
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

from plot_diagonal import Axis, text

PANEL, HEIGHT = 250, 340
LEFT, TOP, BOTTOM, GAP, LEGEND = 56, 34, 48, 14, 130
COLORS = {"jacobi": "#777777", "chebyshev:4": "#c98a1b", "ssor:1": "#8a5fb0", "ic0": "#2b6cb0",
          "ilu0": "#4a9c9c", "amg": "#b3412f"}


def history(program, problem, preconditioner, folder):
    """[(iteration, relative residual), ...], or nothing where the preconditioner does not suit the matrix."""
    path = pathlib.Path(folder, "history.csv")
    path.unlink(missing_ok=True)
    subprocess.run([program, "solve", problem, "--solver", "auto", "--precondition", preconditioner,
                    "--max-iterations", "3000", "--history", path], capture_output=True)
    if not path.exists():
        return []
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    residuals = [(int(row["iteration"]), float(row["relative_residual"])) for row in rows]
    return [(k, norm) for k, norm in residuals if k > 0 and norm > 0]


def panel(problem, lines, left, up, across):
    right = left + PANEL - GAP
    across.start, across.end = left, right
    out = ['<g stroke="#d8dce2" fill="none">']
    out += [f'<path d="M{left} {up.place(v):.1f}H{right}"/>' for v in up.decades()]
    out += [f'<path d="M{across.place(v):.1f} {up.end}V{up.start}"/>' for v in across.decades()]
    out.append(f'<rect x="{left}" y="{up.end}" width="{right - left}" height="{up.start - up.end}"/></g>')
    out.append(text((left + right) / 2, up.end - 10, problem))
    out += [text(across.place(v), up.start + 18, f"{v:.0f}") for v in across.decades()[:-1]]
    for name, line in lines.items():
        path = " ".join(f"{across.place(k):.1f},{up.place(norm):.1f}" for k, norm in line)
        out.append(f'<polyline points="{path}" fill="none" stroke-width="1.6" stroke="{COLORS[name]}"/>')
    return out


def draw(problems):
    points = [point for lines in problems.values() for line in lines.values() for point in line]
    up = Axis([norm for _, norm in points], HEIGHT - BOTTOM, TOP)
    across = Axis([1] + [k for k, _ in points], 0, 1)
    width = LEFT + PANEL * len(problems) + LEGEND
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" '
        'font-family="system-ui, sans-serif" font-size="12" fill="#333">',
        "<title>Relative residual over the iterations with several preconditioners</title>",
        f'<rect width="{width}" height="{HEIGHT}" fill="#fff"/>',
    ]
    out += [text(LEFT - 8, up.place(v) + 4, f"{v:.0e}", "end") for v in up.decades()]
    for number, (problem, lines) in enumerate(problems.items()):
        out += panel(problem, lines, LEFT + PANEL * number, up, across)
    out.append(text(LEFT + PANEL * len(problems) / 2, HEIGHT - 10, "iteration"))
    for number, (name, color) in enumerate(COLORS.items()):
        x, y = LEFT + PANEL * len(problems) + 6, TOP + 10 + 20 * number
        out.append(f'<path d="M{x} {y}h28" stroke="{color}" stroke-width="1.6"/>')
        out.append(text(x + 36, y + 4, name, "start"))
    return "\n".join(out + ["</svg>", ""])


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("plot_convergence.py: CNC PROBLEM...")
    with tempfile.TemporaryDirectory() as place:
        found = {problem: {name: line for name in COLORS
                           if (line := history(sys.argv[1], problem, name, place))}
                 for problem in sys.argv[2:]}
    if not any(found.values()):
        sys.exit("plot_convergence.py: nothing was solved")
    sys.stdout.write(draw(found))
