# SPDX-License-Identifier: Apache-2.0
"""The vendors' perf JSON files and perf's expression language, read independently of the daemon's C code.

Counts are drawn for encodings, not for names: two names of the same event have the same count, and an event with other
bits has another. So a formula of ours agrees with the vendor's only if it uses the same events in the same way.
"""
import glob
import json
import math
import os
import random
import re
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))

import spec_files

TOKEN = re.compile(r"\s*(#\w+|(?:[0-9A-Za-z_.:@?]|\\.|(?<=@)=)+|[-+*/%()<>&|^,])")
NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$", re.IGNORECASE)
UNITS = {"L3PMC": "amd_l3", "DFPMC": "amd_df", "UMCPMC": "amd_umc"}
CACHES = ("branch", "l1i_cache", "l1d_cache", "l2_cache", "ll_cache", "itlb", "dtlb")
NEUTRAL = ["ipc"] + [f"{c}_mpki" for c in CACHES] + [f"{c}_miss_ratio" for c in CACHES]  # what dashboards rely on
GENERIC = {"instructions": 0xC0, "cycles": 0x76}  # what the kernel makes of them on AMD
FIXED = {"INST_RETIRED.ANY": (0xC0, 0), "CPU_CLK_UNHALTED.THREAD": (0x3C, 0), "CPU_CLK_UNHALTED.REF": (0, 3), "INST_RETIRED.PREC_DIST": (0, 1)}


def number(text):
    return int(str(text), 0) if str(text).lower().startswith("0x") else int(text)


def read_folder(folder):
    """All events and metrics of one folder: two dictionaries from name to object."""
    events, metrics = {}, {}
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        with open(path, encoding="utf-8") as file:
            entries = json.load(file)
        for entry in entries if isinstance(entries, list) else []:
            if "EventName" in entry:
                events[entry["EventName"]] = entry
            if "MetricName" in entry:
                metrics[entry["MetricName"]] = entry
    return events, metrics


def encoding(entry):
    """A vendor's event as (pmu, code, terms), terms a sorted tuple without zeros."""
    name = entry["EventName"]
    if "EventCode" in entry:
        code, umask = int(entry["EventCode"].split(",")[0], 16), int(entry.get("UMask") or "0", 16)
    else:
        code, umask = FIXED[name]
    terms = {"umask": umask}
    for key, term in (("CounterMask", "cmask"), ("Invert", "inv"), ("EdgeDetect", "edge"), ("AnyThread", "any")):
        terms[term] = int(entry.get(key) or 0)
    if "MSRIndex" in entry:
        term = {"0x3f6": "ldlat", "0x3f7": "frontend"}.get(entry["MSRIndex"].lower(), "offcore_rsp")
        terms[term] = int(entry.get("MSRValue", "0"), 16)
    return UNITS.get(entry.get("Unit"), "cpu"), code, tuple(sorted((k, v) for k, v in terms.items() if v))


def our_encoding(event, default_pmu="cpu"):
    """An event of a spec in the same form."""
    terms = {k: number(v) for k, v in event.get("topdownd", {}).items() if k not in ("counters", "takes", "pmu", "sampling_only", "must_count", "dead_on", "known_as")}
    pmu = event.get("topdownd", {}).get("pmu", default_pmu)
    return pmu, number(event["code"]), tuple(sorted((k, v) for k, v in terms.items() if v))


def composed_events(spec):
    """The events that a spec composes of two parts, written out."""
    out = {}
    for family, entry in spec["topdownd"].get("composed_events", {}).items():
        for first, a in entry["first"].items():
            for second, b in entry["second"].items():
                title = f"{a['title']} {b['title']}"
                own = entry["topdownd"] | {entry["term"]: number(a["bits"]) | number(b["bits"])}
                out[f"{family}.{first}.{second}"] = {"code": entry["code"], "title": title, "description": title, "topdownd": own}
    return out


def vendor_counters(entry):
    text = entry.get("Counter", "")
    return None if not text or "Fixed" in text or text == "0,1,2,3" else [int(c) for c in text.split(",")]


class Counts:
    """Random positive counts by encoding, the same for every name of an encoding."""

    def __init__(self, seed):
        self.seed = seed

    def of(self, what):
        if what == "cpu_seconds":  # of 8 CPUs
            return 8 * self.of("duration_time")
        return random.Random(f"{self.seed}/{what}").randint(1000, 10**9)


class Formula:
    """Recursive descent over perf's grammar. `look_up` gives an identifier its number."""

    def __init__(self, text, look_up, literals=None):
        self.tokens, at = [], 0
        text = text.strip()
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                raise ValueError(f"cannot read '{text[at:]}'")
            self.tokens.append(match.group(1))
            at = match.end()
        self.at, self.look_up, self.literals = 0, look_up, {} if literals is None else literals

    def value(self):
        result = self.choice()
        if self.at != len(self.tokens):
            raise ValueError(f"'{self.tokens[self.at]}' is left over")
        return result

    def take(self, *wanted):
        if self.at < len(self.tokens) and self.tokens[self.at] in wanted:
            self.at += 1
            return self.tokens[self.at - 1]
        return None

    def expect(self, token):
        if not self.take(token):
            raise ValueError(f"'{token}' expected")

    def choice(self):
        result = self.level(0)
        if self.take("if"):
            condition = self.level(0)
            self.expect("else")
            other = self.choice()
            return result if condition else other
        return result

    LEVELS = (("|",), ("^",), ("&",), ("<", ">"), ("+", "-"), ("*", "/", "%"))

    def level(self, depth):
        if depth == len(self.LEVELS):
            return self.unary()
        left = self.level(depth + 1)
        while operator := self.take(*self.LEVELS[depth]):
            left = self.apply(operator, left, self.level(depth + 1))
        return left

    @staticmethod
    def apply(operator, a, b):
        if operator in "|&^":
            return float({"|": bool(a) or bool(b), "&": bool(a) and bool(b), "^": bool(a) != bool(b)}[operator])
        if operator in "<>":
            return float(a < b if operator == "<" else a > b)
        if operator in "/%" and b == 0:
            return math.nan
        return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b, "%": lambda: math.fmod(a, b)}[operator]()

    def unary(self):
        return -self.unary() if self.take("-") else self.primary()

    def primary(self):
        if self.take("("):
            result = self.choice()
            self.expect(")")
            return result
        token = self.tokens[self.at]
        self.at += 1
        if token in ("min", "max", "d_ratio"):
            self.expect("(")
            a = self.choice()
            self.expect(",")
            b = self.choice()
            self.expect(")")
            return {"min": min, "max": max, "d_ratio": lambda x, y: x / y if y else 0.0}[token](a, b)
        if token.startswith("#"):
            return self.literals[token.lower()]
        if NUMBER.match(token):
            return float(token)
        return self.look_up(re.sub(r"\\(.)", r"\1", token))


COUNTS = ("cycles", "slots", "instructions", "misses")
CORE_SLOTS = ("core_slots", "core_slots.frontend_bound", "core_slots.backend_bound")


class VendorModel:
    """Values of a folder's metrics over counts."""

    def __init__(self, folder, counts, literals=None):
        self.events, self.metrics = read_folder(folder)
        self.by_lower = {name.lower(): name for name in self.events}
        self.counts, self.literals = counts, literals

    def event(self, name):
        if name.lower() in GENERIC:
            return self.counts.of(("cpu", GENERIC[name.lower()], ()))
        if "@" in name:
            _, inside, _ = name.split("@")
            base, *extra = inside.split(",")
            pmu, code, terms = encoding(self.events[self.by_lower[base.lower()]])
            terms = dict(terms) | {k: number(v) for k, v in (e.split("=") for e in extra)}
            return self.counts.of((pmu, code, tuple(sorted(terms.items()))))
        return self.counts.of(encoding(self.events[self.by_lower[name.lower()]]))

    def metric(self, name, scaled=False):
        entry = self.metrics[name]
        value = Formula(entry["MetricExpr"], self.look_up, self.literals).value()
        if scaled and "ScaleUnit" in entry:
            value *= float(re.match(r"[-+0-9.]+(e[-+]?\d+)?", entry["ScaleUnit"]).group(0))
        return value

    def look_up(self, name):
        if name == "duration_time":
            return self.counts.of("duration_time")
        return self.metric(name) if name in self.metrics else self.event(name)


class SpecModel:
    """A spec of ours, its values over the same counts, and what must hold for every spec."""

    def __init__(self, path, counts, literals=None, pmu="cpu"):
        self.spec = spec_files.load(path)
        self.pmu = pmu
        self.events, self.metrics = composed_events(self.spec) | self.spec["events"], self.spec["metrics"]
        self.groups = self.spec["groups"]["metrics"]
        self.counts, self.literals = counts, literals

    def look_up(self, name):
        if name in ("duration_time", "cpu_seconds"):
            return self.counts.of(name)
        if name in self.metrics:
            return self.metric(name)
        if name in CORE_SLOTS:
            return self.core_slots()[name]
        mode = name[-1] if re.search(r":[uk]$", name) else ""
        return self.counts.of((*our_encoding(self.events[name[:-2] if mode else name], self.pmu), *mode))

    def metric(self, name):
        return Formula(self.metrics[name]["formula"], self.look_up, self.literals).value()

    def core_slots(self):
        """A core's pipeline slots, from the counts of one thread without a sibling."""
        level1 = self.spec["topdownd"]["level1"]
        every, used, front, back = (Formula(level1["per_thread"][key], self.look_up).value() for key in
                                    ("pipeline_slots", "used", "frontend_bound", "backend_bound"))
        lost = min(self.metric(level1["categories"]["smt_contention"]) * every, max(every - used, 0))
        unused = max(every - lost - used, 0)
        return dict(zip(CORE_SLOTS, (used + unused, unused * front / (front + back), unused * back / (front + back))))

    def leaves(self, formula, given=()):
        """The events that a formula needs, through the metrics that it uses, those aside whose values are given."""
        found = set()

        def note(name):
            if name in given:
                return 1.0
            if name in self.metrics:
                found.update(self.leaves(self.metrics[name]["formula"], given))
            elif re.sub(r":[uk]$", "", name) in self.events:
                found.add(re.sub(r":[uk]$", "", name))
            elif name in CORE_SLOTS:
                level1 = self.spec["topdownd"]["level1"]
                for text in list(level1["per_thread"].values()) + [level1["categories"]["smt_contention"]]:
                    found.update(self.leaves(text))
            elif name not in ("duration_time", "cpu_seconds"):
                raise ValueError(f"no event or metric '{name}'")
            return 1.0

        class AllLiterals(dict):
            def __missing__(self, key):
                return 1.0

        # Both sides of a conditional are parsed, so both are noted.
        Formula(formula, note, AllLiterals()).value()
        return found

    def made_of_metrics(self, formula):
        """True if it names metrics alone, beside the functions min and max: these list their events themselves."""
        return set(re.findall(r"[A-Za-z_][\w.]*", formula)) <= {"min", "max", *self.metrics}

    def problems(self, whole_texts=True):
        """What is incomplete: texts, groups, tree, formulas, counters. Intel's events have titles alone, and metrics name no events."""
        out = []
        own, general = self.spec["topdownd"], self.spec["topdownd"]["counters"]["general"]
        fixed, terms = set(own["counters"].get("fixed", [])), set(own.get("format", ())) | {"counters", "takes", "pmu", "sampling_only", "must_count", "dead_on", "known_as"}
        for other in own.get("pmu_formats", {}).values():
            terms |= set(other)
        seen = {}
        for name, event in self.events.items():
            out += [f"event {name} has no {key}" for key in ("code", "title", "description")[:3 if whole_texts else 2] if event.get(key) in (None, "")]
            out += [f"event {name}: term {t} is not in format" for t in event.get("topdownd", {}) if t not in terms]
            other = seen.setdefault(our_encoding(event), name)
            if other != name and not event.get("topdownd", {}).get("sampling_only"):
                out.append(f"events {name} and {other} are the same")
        grouped = {m for g in self.groups.values() for m in g["metrics"]}
        exports = {}
        for name, metric in self.metrics.items():
            out += [f"metric {name} has no {key}" for key in ("title", "description", "units", "formula") if not metric.get(key)]
            own_of = metric.get("topdownd", {})
            if whole_texts and not own_of.get("meaning"):
                out.append(f"metric {name} has no meaning")
            if name not in grouped:
                out.append(f"metric {name} is in no group")
            made_of_metrics = "events" not in metric and self.made_of_metrics(metric["formula"])
            if whole_texts and not made_of_metrics and self.leaves(metric["formula"]) != set(metric["events"]):
                out.append(f"metric {name}: its events are not those of its formula")
            parent = own_of.get("parent")
            if parent and parent not in self.metrics:
                out.append(f"metric {name}: no parent {parent}")
            if "threshold" in own_of:
                self.leaves(own_of["threshold"])
            other = exports.setdefault(own_of.get("name", name), name)
            if other != name:
                out.append(f"metrics {name} and {other} are exported under one name")
            out += self.misfits(name, general, fixed, own.get("shared_registers", {}))
        for name, group in self.groups.items():
            out += [f"group {name}: no metric {m}" for m in group["metrics"] if m not in self.metrics]
            out += [f"group {name} has no {key}" for key in ("title", "description") if not group.get(key)]
        return out + self.tree_problems()

    def neutral_problems(self):
        """What every vendor's full spec has: the vendor-neutral export names, each in the group where users look for it."""
        out = []
        for name in NEUTRAL:
            group = {"ipc": "General"}.get(name, "MPKI" if name.endswith("_mpki") else "Miss_Ratio")
            exports = [self.metrics[m]["topdownd"].get("name", m) for m in self.groups.get(group, {"metrics": []})["metrics"]]
            if name not in exports:
                out.append(f"group {group} exports no {name}")
        return out

    def misfits(self, name, general, fixed, shared):
        """A metric whose events cannot be counted together (sampling only and other PMUs aside)."""
        if name.startswith("opportunity_") and self.made_of_metrics(self.metrics[name]["formula"]):
            return []  # made of other metrics' values, whatever event groups count these
        level1 = self.spec["topdownd"].get("level1", {})
        given = set(level1["categories"].values()) if "per_thread" in level1 else set()  # from the event group of level 1
        # What is computed from ratios takes their values, from whatever event group; counts are counted with the rest.
        given |= {m for m, of in self.metrics.items() if m.startswith(("tma_", "part_")) and of["units"] not in COUNTS and m != name}
        events = {e: self.events[e].get("topdownd", {}) for e in self.leaves(self.metrics[name]["formula"], given)}
        core = [t for e, t in events.items() if e not in fixed and "pmu" not in t and t.get("takes") != 0]
        # An event that takes two counters takes an even one and the next; one such in a metric is all that there is.
        pairs = [t for t in core if t.get("takes", 1) > 1]
        needs = [t.get("counters", list(range(general))) for t in core if t not in pairs]
        needs += [[c] for t in pairs for c in range(t["takes"])]
        out = [] if place(needs) else [f"metric {name} does not fit {general} counters"]
        for term, limit in shared.items():
            if len({t[term] for t in events.values() if term in t}) > limit:
                out.append(f"metric {name} needs more than {limit} values of {term}")
        return out

    def tree_problems(self):
        out = []
        methodology = self.spec["methodologies"]["topdown_methodology"]
        nodes = {m["name"]: m for m in methodology["decision_tree"]["metrics"]}
        stages = methodology["metric_grouping"]
        for group in stages["stage_1"] + stages["stage_2"]:
            if group not in self.groups:
                out.append(f"no group {group} for a stage")
        for root in methodology["decision_tree"]["root_nodes"]:
            if root not in nodes:
                out.append(f"root {root} is no node")
            elif not reaches_group(root, nodes, self.groups, set()):
                out.append(f"root {root} reaches no group")
        for node in nodes.values():
            metric = self.metrics.get(node["name"])
            if not metric or node["name"] not in self.groups[node["group"]]["metrics"]:
                out.append(f"node {node['name']} is not in its group")
            out += [f"node {node['name']}: no {n}" for n in node["next_items"] if n not in self.metrics and n not in self.groups]
            if metric and node["name"] != "ipc" and "threshold" not in metric.get("topdownd", {}):
                out.append(f"node {node['name']} has no threshold")
        return out


def place(needs):
    """Whether each need (a list of counters) gets a counter of its own: bipartite matching."""
    owner = {}

    def give(need, tried):
        for counter in needs[need]:
            if counter not in tried:
                tried.add(counter)
                if counter not in owner or give(owner[counter], tried):
                    owner[counter] = need
                    return True
        return False

    return all(give(need, set()) for need in range(len(needs)))


def reaches_group(name, nodes, groups, seen):
    if name in groups:
        return True
    if name in seen or name not in nodes:
        return False
    seen.add(name)
    return any(reaches_group(item, nodes, groups, seen) for item in nodes[name]["next_items"])


def words(text):
    return re.findall(r"[a-z0-9]+", text.lower())


def copied(spec, entries, run=8):
    """Our texts that share `run` words in sequence with a text of the vendor's."""
    theirs = set()
    for entry in entries:
        for key in ("BriefDescription", "PublicDescription"):
            w = words(entry.get(key, ""))
            theirs.update(tuple(w[i:i + run]) for i in range(len(w) - run + 1))
    out = []
    for section in (spec["events"], spec["metrics"], spec["groups"]["metrics"]):
        for name, item in section.items():
            for text in (item["title"], item.get("description", ""), item.get("topdownd", {}).get("meaning", "")):
                w = words(text)
                if any(tuple(w[i:i + run]) in theirs for i in range(len(w) - run + 1)):
                    out.append(f"{name}: '{text}' is the vendor's")
    return out
