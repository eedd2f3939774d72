#!/usr/bin/env python3
"""Compares two records: compare.py OLD.json NEW.json [--threshold 5] [--measure speedup|seconds]

Figures are matched by bench, subject, precision and contestant. `speedup` compares the ratio to the
best peer of the same run, which means the same on a faster or busier machine; `seconds` compares the
medians, which means something on the same quiet machine only. A change counts when it exceeds the
threshold and the spread of both measurements. Exit code: 0 no change for the worse, 1 some, 2 wrong
usage or input.
"""

import argparse
import json
import math
import sys


def load(path):
    """Figures of a record (one bench, or several under "benches") by their key."""
    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    figures = {}
    for bench in record.get("benches", [record]):
        for group in bench["groups"]:
            for entry in group.get("entries", []):
                if not entry["peer"]:
                    key = (bench["bench"], group["subject"], group["precision"], entry["contestant"])
                    figures[key] = entry
    return figures


def gain(old, new, measure):
    """New speed over old speed; None where it cannot be said."""
    if measure == "seconds":
        return old["seconds"]["median"] / new["seconds"]["median"]
    name = "speedup_over_best_peer"
    return new[name] / old[name] if name in old and name in new else None


def changes(old, new, measure, threshold):
    """Every figure present in both as (gain, noteworthy, key), worst first."""
    result = []
    for key in sorted(old.keys() & new.keys()):
        factor = gain(old[key], new[key], measure)
        if factor is None:
            continue
        noise = max(threshold, old[key]["seconds"]["spread"], new[key]["seconds"]["spread"])
        result.append((factor, abs(math.log(factor)) > math.log1p(noise), key))
    return sorted(result)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--threshold", type=float, default=5, help="percent (default 5)")
    parser.add_argument("--measure", choices=["speedup", "seconds"], default="speedup")
    arguments = parser.parse_args()
    try:
        old, new = load(arguments.old), load(arguments.new)
    except (OSError, ValueError, KeyError) as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2
    found = changes(old, new, arguments.measure, arguments.threshold / 100)
    if not found:
        print("compare.py: the records have no figure in common", file=sys.stderr)
        return 2
    for factor, noteworthy, key in found:
        if noteworthy:
            print(f"{'slower' if factor < 1 else 'faster'}  {factor:6.3f}x  {'  '.join(key)}")
    mean = math.exp(sum(math.log(factor) for factor, _, _ in found) / len(found))
    worse = sum(noteworthy and factor < 1 for factor, noteworthy, _ in found)
    better = sum(noteworthy and factor > 1 for factor, noteworthy, _ in found)
    print(f"{len(found)} figures, geometric mean {mean:.3f}x, {worse} slower, {better} faster, "
          f"{len(old.keys() - new.keys())} gone, {len(new.keys() - old.keys())} new")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
