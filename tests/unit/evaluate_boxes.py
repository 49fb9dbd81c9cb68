# SPDX-License-Identifier: Apache-2.0
"""Evaluates metrics of the vendors' files over counts of PMUs outside the cores, as perf would for a host with these boxes.

Each line of the input is a JSON object: `folder`, `boxes` of a `pmu`, `packages`, `seconds`, `counts` of events over all boxes
by their names in formulas, `literals`, and `values`, what topdownd finds for each metric; `told` are the metrics of this kind,
and `identifier` that of its PMU. Prints a line for each difference, and for each metric of the files that no kind tells, or two."""
import glob
import json
import math
import os
import re
import sys

import evaluate_perf

CORES = (None, "core", "cpu_core", "cpu_atom", "cpu_lowpower")
NAME = re.compile(r"((?:[0-9A-Za-z_.:?]|\\.)+)(@[^@]*@)?")
UNTOLD = {"tma_info_system_mem_parallel_reads": ("x86/alderlake", "x86/meteorlake")}  # no kernel takes their term cmask
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


def of_boxes(folder, identifier):
    """The metrics that need an event of a PMU outside the cores, directly or through others."""
    units, formulas = {}, {}
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        with open(path, encoding="utf-8") as file:
            entries = json.load(file)
        for entry in entries if isinstance(entries, list) else ():
            if "Compat" in entry and not re.fullmatch(entry["Compat"], identifier):
                continue
            if "EventName" in entry:
                units.setdefault(entry["EventName"].lower(), entry.get("Unit"))
            if "MetricExpr" in entry:
                formulas.setdefault(entry["MetricName"].lower(), entry)
    pmus = {unit.lower() for unit in units.values() if unit not in CORES}

    def needs(formula, depth=0):
        for name, terms in NAME.findall(formula):
            name = name.lower()
            pmu = re.sub(r"_[0-9]+$", "", name.removeprefix("uncore_"))
            if (name in units and units[name] not in CORES) or (terms and pmu in pmus):
                return True
            if not terms and name not in units and name in formulas and depth < 12 and needs(formulas[name]["MetricExpr"], depth + 1):
                return True
        return False
    return {entry["MetricName"] for entry in formulas.values() if needs(entry["MetricExpr"])}


def check_told(told):
    for (folder, identifier), kinds in told.items():
        names = [name for of_kind in kinds.values() for name in of_kind]
        for name in of_boxes(folder, identifier).symmetric_difference(names):
            if not folder.endswith(UNTOLD.get(name, ("-",))):
                print(f"{folder}: {name}: {'not a metric of boxes' if name in names else 'no kind tells it'}")
        for name in {name for name in names if names.count(name) > 1}:
            print(f"{folder}: {name}: two kinds tell it")


def main():
    told = {}
    for line in sys.stdin:
        task = json.loads(line)
        metrics = metrics_of(task["folder"])
        told.setdefault((task["folder"], task["identifier"]), {})[json.dumps(task["told"])] = task["told"]
        for name, value in task["values"].items():
            wanted = evaluate_perf.evaluate(metrics[name], Values(task, metrics))
            value = math.nan if value is None else value
            if not (math.isnan(wanted) and math.isnan(value)) and not math.isclose(wanted, value, rel_tol=1e-12, abs_tol=1e-300):
                print(f"{task['folder']}: {task['pmu']}: {name} = {metrics[name]} is {wanted!r}, topdownd finds {value!r}")
    check_told(told)


if __name__ == "__main__":
    main()
