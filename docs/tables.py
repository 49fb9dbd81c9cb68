#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/metrics.md that are made from the specs.

    docs/tables.py            writes them into docs/metrics.md
    docs/tables.py --check    ends with 1 if they are out of date

A table stands between two comments, <!-- begin NAME --> and <!-- end NAME -->. tests/e2e/test_definitions.py checks
them, and uses what this file knows of definitions.
"""

import ast
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs/metrics.md")
sys.path.append(os.path.join(ROOT, "tests/e2e"))

import spec_files


def load(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return json.load(file)


def specs():
    """The shipped specs by name: each metric under its exported name, with its own name as `name`."""
    found = {}
    for file in sorted(os.listdir(os.path.join(ROOT, "specs"))):
        spec = spec_files.load(os.path.join(ROOT, "specs", file)) if file.endswith(".json") else {}
        if "metrics" not in spec:
            continue
        found[file[:-5]] = {
            m.get("topdownd", {}).get("name", name.lower()): {"name": name, "own": m.get("topdownd", {}), **m}
            for name, m in spec["metrics"].items()
        }
    return found


def implementations(metrics, metric):
    """A spec's definitions of an exported name: its own and its alternatives, each with `own` and `formula`."""
    entry = metrics[metric]
    return [entry] + [{**entry, **other, "own": {**entry["own"], **other}} for other in entry["own"].get("alternatives", [])]


class Sum:
    """A sum of counted events, by what they count."""

    def __init__(self, terms):
        self.terms = frozenset(terms)

    def __add__(self, other):
        return Sum(self.terms | other.terms)

    def __sub__(self, other):
        return Sum(self.terms | {("minus", what) for _, what in other.terms})

    def __mul__(self, _number):
        return self

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self if isinstance(other, int) else Quotient(self, other)


class Quotient:
    def __init__(self, upper, lower):
        self.upper, self.lower = upper, lower

    def __mul__(self, _number):
        return self

    __rmul__ = __mul__


class Table:
    """specs/neutral/definitions.json."""

    def __init__(self):
        table = load("specs/neutral/definitions.json")
        self.metrics, self.sums, self.counts = table["metrics"], table["sums"], {}
        for what, events in table["counts"].items():
            for event in events:
                self.counts.setdefault(event, []).append(what)

    def names(self, kinds):
        words = {what if sign == "plus" else f"{sign} {what}" for sign, what in kinds.terms if what}
        for row in self.sums:
            if set(row["of"]) <= words:
                words = words - set(row["of"]) | {row["is"]}
        return " + ".join(sorted(words))

    def kind(self, spec, formula):
        """What a formula k A/B counts, in words; KeyError names an event that the table does not have."""
        events = {}

        def replace(match):
            event = match[0].replace("\\", "")
            whats = self.counts.get(f"{spec}:{event}") or self.counts[event]
            events[f"e{len(events)}"] = Sum({("plus", what) for what in whats})
            return f"e{len(events) - 1}"

        formula = re.sub(r"#\w+", "1", formula)  # literals
        text = re.sub(r"[A-Za-z_](?:[\w.]|\\.)*", replace, formula)
        value = eval(compile(ast.parse(text, mode="eval"), formula, "eval"), {}, events)  # a formula of ours
        return f"{self.names(value.upper)} / {self.names(value.lower)}"


def listed(names, of):
    """The names, or those of all that are missing if that is shorter."""
    if not names:
        return "vendors' files"
    missing = sorted(set(of) - set(names))
    if not missing:
        return "all" if len(of) > 1 else of[0]
    return f"all but {', '.join(missing)}" if len(missing) < len(names) / 2 else ", ".join(sorted(names))


def definitions_table():
    shipped, rows = specs(), ["| metric | definition | what it counts | on |", "|---|---|---|---|"]
    for metric, entry in Table().metrics.items():
        having = [name for name, metrics in shipped.items() if metric in metrics]
        look = f" Worth a look above {entry['threshold']:g}." if "threshold" in entry else ""
        rows.append(f"| **`{metric}`** | | **{entry['meaning']}**{look} | {listed(having, list(shipped))} |")
        for key, text in entry["definitions"].items():
            on = [name for name in having if any(one["own"].get("definition") == key for one in implementations(shipped[name], metric))]
            rows.append(f"| | `{key}` | {text} | {listed(on, having)} |")
    return "\n".join(rows)


# The columns of the table of defaults: metrics of one subject, and how a cell says that all of them are there.
SUBJECTS = [("IPC", ["ipc"]), ("frequency", ["frequency_hertz"]), ("utilization", ["utilization_ratio"])] + [
    (title, [f"{name}_mpki", f"{name}_miss_ratio"]) for title, name in (
        ("branches", "branch"), ("L1I", "l1i_cache"), ("L1D", "l1d_cache"), ("L2", "l2_cache"), ("last level", "ll_cache"), ("ITLB", "itlb"), ("DTLB", "dtlb"))]
LEVEL2 = [["TopdownL2"], ["Topdown_L2"], ["Topdown_Bad_Speculation", "Topdown_Frontend", "Topdown_Backend"], ["Topdown_Frontend", "Topdown_Backend"], ["Topdown_Backend"]]


def names_of_cpus():
    """What people call the CPUs of each spec."""
    found = {}
    for row in load("specs/cpus.json")["cpus"]:
        others = [f"every other CPU of {row.get('vendor', row['generic'])}" + (f" whose kernel shows {row['shows'][-1]}" if "shows" in row else "")] if "generic" in row and row["spec"] != "kernel-events" else []
        found.setdefault(row["spec"], []).extend(row.get("known_as", []) + others)
    return found


def default_metrics(spec):
    """The exported names of the metrics that a spec measures by default."""
    groups, names = spec["groups"]["metrics"], []
    stages = spec.get("methodologies", {}).get("topdown_methodology", {}).get("metric_grouping", {})
    for default in spec["topdownd"]["defaults"]:
        for group in [default] if default in groups else stages[default]:
            names += groups[group]["metrics"]
    return {spec["metrics"][name].get("topdownd", {}).get("name", name.lower()) for name in names}


def default_cells(spec):
    groups, ours = spec["groups"]["metrics"], spec["topdownd"]
    stages = spec.get("methodologies", {}).get("topdown_methodology", {}).get("metric_grouping", {})
    below = next((names for names in LEVEL2 if all(name in groups for name in names)), []) if "level1" in ours else []
    first = [name for default in ours["defaults"][:1] for name in ([default] if default in groups else stages[default])]
    cells = ["yes" if "level1" in ours else ", ".join(name for name in first if name != "General") or "-",
             "yes" if below and below[0] in ours["defaults"] else ", ".join(f"in {name}" for name in below) or "-"]
    measured = default_metrics(spec)
    for _, names in SUBJECTS:
        there = [name for name in names if name in measured]
        kinds = " and ".join("ratio" if name.endswith("ratio") else "MPKI" for name in there)
        cells.append("-" if not there else "yes" if len(there) == len(names) else kinds)
    return cells


def defaults_table():
    titles = ["level 1", "level 2"] + [title for title, _ in SUBJECTS]
    rows, cpus = {}, names_of_cpus()
    for name in specs():
        if name not in cpus:
            continue
        spec = spec_files.load(os.path.join(ROOT, f"specs/{name}.json"))
        known = [cpu for cpu in dict.fromkeys(cpus[name])]
        rows.setdefault(tuple(default_cells(spec)), []).append(f"`{name}`" + (f" ({', '.join(known)})" if known else ""))
    lines = ["| CPU | " + " | ".join(titles) + " |", "|---" * (len(titles) + 1) + "|"]
    return "\n".join(lines + [f"| {', '.join(names)} | {' | '.join(cells)} |" for cells, names in rows.items()])


# The nodes of the first two levels, and which metrics tell them, by their own names: those of the first pattern that a spec has. A front end
# that waits for lines of code or for their translation waits for latency.
NODES = {
    "front end: latency": [r"(tma_)?i?fetch_latency(_bound)?|core_frontend_bound(_by)?_latency", r"frontend_mem_bound|stall_frontend_(cache|tlb)_rate|instruction_fetch_stalls"],
    "front end: bandwidth": [r"(tma_)?i?fetch_bandwidth(_bound)?|core_frontend_bound(_by)?_bandwidth", r"length_decode_stalls"],
    "mispredictions": [r"(tma_)?branch_mispredicts?|core_bad_speculation(_from)?_mispredicts"],
    "clears": [r"(tma_)?machine_clears|core_bad_speculation(_from)?_pipeline_restarts", r"other_miss_pred|stall_machine_clears"],
    "memory": [r"(tma_)?memory_bound|core_backend_bound(_by)?_memory|backend_mem_bound|backend_memory", r"backend_mem_stalled(_cycles)?|tma_mem_scheduler|(load|store)_queue_stalled_cycles|(load|l2|memory)_wait_cycles|stall_(local|remote)_dram"],
    "core": [r"(tma_)?core_bound|core_backend_bound(_by)?_cpu|backend_core_bound", r"stall_backend_resource_rate|(execution|fp)_wait_cycles|stall_divider"],
}
MISSES = ["ipc", "l1d_cache_mpki", "l2_cache_mpki", "ll_cache_mpki"]


def node_cell(spec, exported, node):
    """Which metrics tell a node, or why none does."""
    for pattern in NODES[node]:
        names = [f"`{name}`" for name in spec["metrics"] if re.fullmatch(pattern, name)]
        if names:
            return ", ".join(names)
    if node in ("memory", "core"):
        return "bounds, from misses" if set(MISSES) <= exported else "no event"
    if node == "mispredictions" and "branch_mpki" in exported:
        return "their number: `branch_mpki`"
    return "no event" if "level1" in spec["topdownd"] else "no slots are counted"


def other_parts(spec):
    """What lies directly below level 1 and is none of the nodes."""
    categories = set(spec["topdownd"].get("level1", {}).get("categories", {}).values())
    names = [name for name, m in spec["metrics"].items() if m.get("topdownd", {}).get("parent") in categories]
    return ", ".join(f"`{name}`" for name in names if not any(re.fullmatch(pattern, name) for patterns in NODES.values() for pattern in patterns)) or "-"


def nodes_table():
    rows = {}
    for name, metrics in specs().items():
        spec = spec_files.load(os.path.join(ROOT, f"specs/{name}.json"))
        if name == "software":
            continue
        cells = [node_cell(spec, set(metrics), node) for node in NODES] + [other_parts(spec)]
        rows.setdefault(tuple(cells), []).append(f"`{name}`")
    lines = ["| CPU | " + " | ".join([*NODES, "other parts of level 1"]) + " |", "|---" * (len(NODES) + 2) + "|"]
    return "\n".join(lines + [f"| {', '.join(names)} | {' | '.join(cells)} |" for cells, names in rows.items()])


TABLES = {"definitions": definitions_table, "defaults": defaults_table, "nodes": nodes_table}


def up_to_date(text):
    for name, make in TABLES.items():
        begin, end = f"<!-- begin {name} -->\n", f"\n<!-- end {name} -->"
        start, stop = text.index(begin) + len(begin), text.index(end)
        text = text[:start] + make() + text[stop:]
    return text


def main():
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    new = up_to_date(text)
    if "--check" in sys.argv[1:]:
        sys.exit(new != text and "docs/metrics.md is out of date: run docs/tables.py")
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(new)


if __name__ == "__main__":
    main()
