#!/usr/bin/env python3
"""Runs the benches and keeps what they find as perf/records/NAME.json and NAME.md.

    perf/take_record.py NAME [--build build/cpu] [--benches spmv,pcg] [-- OPTIONS OF THE BENCHES]

Benches "bicgstab" and "gmres" are pcg_bench with --solver, "device_bicgstab" and "device_gmres" device_pcg_bench.
Options after -- go to every bench: --threads 4, --turns 15, --set record,large,
--directory DIR --min-nonzeros 100000, --note "AMGCL 1.4.9", ...
Run it on a quiet machine. Both files appear only when all benches have succeeded.
"""

import argparse
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCHES = ["spmv", "blas1", "pcg", "read"]
WITHOUT_MATRICES = ["blas1", "read"]
SOLVERS = ["bicgstab", "gmres"]
MATRIX_OPTIONS = ["--set", "--directory", "--min-nonzeros"]


def commit():
    described = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=12"], cwd=ROOT,
                               capture_output=True, text=True, check=False)
    return described.stdout.strip() or "unknown"


def without_matrices(options):
    """Leaves out what a bench without matrices does not know."""
    kept = []
    skip = False
    for option in options:
        if skip:
            skip = False
        elif option in MATRIX_OPTIONS:
            skip = True
        else:
            kept.append(option)
    return kept


def program(bench):
    """The bench's program and the option that chooses its solver, if it has one."""
    for solver in SOLVERS:
        if bench.endswith(solver):
            return bench.replace(solver, "pcg") + "_bench", ["--solver", solver]
    return f"{bench}_bench", []


def run(bench, build, options, directory):
    """The bench's JSON record and its Markdown."""
    file = pathlib.Path(directory) / f"{bench}.json"
    if bench in WITHOUT_MATRICES:
        options = without_matrices(options)
    name, solver = program(bench)
    command = [str(build / "perf" / name), *solver, "--json", str(file), "--commit", commit(), *options]
    finished = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if finished.returncode != 0:
        sys.exit(f"take_record.py: {name} ended with {finished.returncode}; no record")
    return json.loads(file.read_text(encoding="utf-8")), finished.stdout


def main():
    arguments = sys.argv[1:]
    options = []
    if "--" in arguments:
        cut = arguments.index("--")
        arguments, options = arguments[:cut], arguments[cut + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--build", default=ROOT / "build" / "cpu", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--benches", default=",".join(BENCHES))
    parser.add_argument("--records", default=ROOT / "perf" / "records", type=pathlib.Path)
    given = parser.parse_args(arguments)

    date = datetime.date.today().isoformat()
    record = {"name": given.name, "date": date, "options": options, "benches": []}
    text = f"# {given.name}\n\nTaken {date}. How to read it: docs/performance_method.md.\n\n"
    with tempfile.TemporaryDirectory() as directory:
        for bench in given.benches.split(","):
            found, markdown = run(bench, given.build, options, directory)
            record["benches"].append(found)
            text += markdown
            print(markdown, flush=True)
    given.records.mkdir(parents=True, exist_ok=True)
    (given.records / f"{given.name}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (given.records / f"{given.name}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
