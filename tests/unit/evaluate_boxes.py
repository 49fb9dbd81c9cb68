# SPDX-License-Identifier: Apache-2.0
"""Evaluates metrics of the vendors' files over counts of PMUs outside the cores, as perf would for a host with these boxes.

Each line of the input is a JSON object: `folder`, `boxes` of a `pmu`, `packages`, `seconds`, `counts` of events over all boxes
by their names in formulas, `literals`, and `values`, what topdownd finds for each metric. Prints a line for each difference."""
import glob
import json
import math
import os
import re
import sys

import evaluate_perf

ONE_BOX = re.compile(r"(uncore_|)([a-z]+)_(\d+)@")


class Values(dict):
    """The value of each name in a formula, found when it is asked for."""

    def __init__(self, task, metrics):
        super().__init__()
        self.task, self.metrics = task, metrics

    def __missing__(self, name):
        task = self.task
        if name.startswith("source_count("):
            return task["boxes"] / task["packages"]
        if name.startswith("#"):
            return task["literals"][name[1:].lower()]
        if name == "duration_time":
            return task["seconds"]
        one = ONE_BOX.match(name)
        if one:  # perf counts it on one box of each package, whose counts are alike here
            return task["counts"][ONE_BOX.sub(r"\1\2@", name)] / (task["boxes"] / task["packages"])
        if name in task["counts"]:
            return task["counts"][name]
        formula = next((formula for metric, formula in self.metrics.items() if metric.lower() == name.lower()), None)
        if formula is None:
            return {event.lower(): count for event, count in task["counts"].items()}[name.lower()]
        return evaluate_perf.evaluate(formula, self)


def metrics_of(folder):
    metrics = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        with open(path, encoding="utf-8") as file:
            entries = json.load(file)
        metrics.update({entry["MetricName"]: entry["MetricExpr"] for entry in entries if "MetricExpr" in entry})
    return metrics


def main():
    for line in sys.stdin:
        task = json.loads(line)
        metrics = metrics_of(task["folder"])
        for name, value in task["values"].items():
            wanted = evaluate_perf.evaluate(metrics[name], Values(task, metrics))
            value = math.nan if value is None else value
            if not (math.isnan(wanted) and math.isnan(value)) and not math.isclose(wanted, value, rel_tol=1e-12, abs_tol=1e-300):
                print(f"{task['folder']}: {task['pmu']}: {name} = {metrics[name]} is {wanted!r}, topdownd finds {value!r}")


if __name__ == "__main__":
    main()
