# SPDX-License-Identifier: Apache-2.0
"""Evaluates every metric of a vendor's file in Python, to compare our formulas with.

Reads from standard input: the file's path, then one line for each event: its name and its counts, one for each trial.
Writes one line for each metric: its name and its values. Dividing by zero gives nan.
"""
import json
import re
import sys

ALLOWED = re.compile(r"[A-Za-z0-9_.+*/() -]*")


def evaluate(formula, counts):
    if not ALLOWED.fullmatch(formula) or "**" in formula or "//" in formula:
        sys.exit(f"not a formula of the schema: {formula}")
    try:
        return eval(formula, {"__builtins__": {}}, counts)
    except ZeroDivisionError:
        return float("nan")


path = sys.stdin.readline().rstrip("\n")
events = {}
for line in sys.stdin:
    name, *values = line.split()
    events[name] = [float(value) for value in values]
trials = [dict(zip(events, counts)) for counts in zip(*events.values())]
with open(path, encoding="utf-8") as file:
    metrics = json.load(file)["metrics"]
for name, metric in metrics.items():
    print(name, *(repr(float(evaluate(metric["formula"], counts))) for counts in trials))
