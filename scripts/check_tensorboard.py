#!/usr/bin/env python3
"""Compares runs' TensorBoard events, opened with Python's tensorboard package, with metrics.jsonl.

usage: scripts/check_tensorboard.py RUN...

Shows that the events are what TensorBoard reads: the package (pip install tensorboard; TensorFlow
is not needed) knows nothing of Verso. Exit status 1 when a curve has other steps or values (as
32-bit floats) than metrics.jsonl, is missing, or is one too many.
"""

import json
import os
import sys

import numpy
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

KINDS = ("train", "validation", "probe")
NOT_CURVES = ("update", "seconds", "elapsed", "left", "left_to_validation", "best_update",
              "patience")


def wanted_curves(run):
    """Points (step, value) by tag."""
    curves = {}
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if line["kind"] not in KINDS:
                continue
            for key, value in line.items():
                if type(value) not in (int, float) or key in NOT_CURVES:
                    continue
                with numpy.errstate(over="ignore"):
                    value = float(numpy.float32(value))
                if numpy.isfinite(value):
                    curves.setdefault(f"{line['kind']}/{key}", []).append((line["update"], value))
    return curves


def found_curves(run):
    """The same from the events, and the names of whatever else is there."""
    folder = os.path.join(run, "tensorboard")
    if not os.path.isdir(folder):
        return {}, []
    events = EventAccumulator(folder, size_guidance={"scalars": 0})
    events.Reload()
    tags = events.Tags()
    curves = {tag: [(point.step, point.value) for point in events.Scalars(tag)]
              for tag in tags.pop("scalars")}
    return curves, [name for name, present in tags.items() if present]


def check(run):
    wanted = wanted_curves(run)
    found, others = found_curves(run)
    wrong = [f"{tag}: the points differ; there are {len(found.get(tag, []))}, expected "
             f"{len(wanted.get(tag, []))}"
             for tag in sorted(wanted | found) if wanted.get(tag) != found.get(tag)]
    wrong += [f"{name}: expected none" for name in others]
    if not wanted:
        wrong.append("metrics.jsonl has no curve")
    for problem in wrong:
        print(f"{run}: {problem}", file=sys.stderr)
    if not wrong:
        points = sum(map(len, found.values()))
        print(f"{run}: {len(found)} curves, {points} points, as in metrics.jsonl")
    return not wrong


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return 0 if all([check(run) for run in sys.argv[1:]]) else 1


if __name__ == "__main__":
    sys.exit(main())
