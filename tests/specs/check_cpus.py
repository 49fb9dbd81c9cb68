# SPDX-License-Identifier: Apache-2.0
"""The specs of cores by other designers than Arm, and of Intel's client cores, against the files of Linux: encodings, formulas over
random counts, the sum of level 1, completeness, own words. Every metric that has the vendor's name must have the vendor's value.

usage: check_cpus.py SOURCE_FOLDER
"""
import glob
import json
import math
import os
import re
import sys

import perf_files

SEED = int(os.environ.get("TOPDOWND_SEED", "1"))
ROUNDS = 20

AMPERE = {"retiring": "retired_fraction", "bad_speculation": "slots_lost_misspeculation_fraction", "l1d_cache_read_miss": "Miss_Ratio;l1d_cache_read_miss"}
# spec: folder, pipeline slots a cycle (None: no level 1), our name to the vendor's
ARM = {
    "ampereone": ("ampere/ampereone", 4, AMPERE),
    "ampereonex": ("ampere/ampereonex", 4, AMPERE),
    "olympus": ("nvidia/t410", 10, {}),
    "kunpeng-920": ("hisilicon/hip08", 4, {}),
    "a64fx": ("fujitsu/a64fx", None, {}),
    "monaka": ("fujitsu/monaka", 6, {}),  # the host says how many: any number is as good here
}
# spec: folder, unit of its events and metrics, folder and unit of the metrics, pipeline slots a cycle. Linux has no metrics of Panther Lake
# and Clearwater Forest, so theirs are those of the cores before them.
INTEL = {
    "golden-cove": ("alderlake", "cpu_core", "alderlake", "cpu_core", 6),
    "redwood-cove": ("meteorlake", "cpu_core", "meteorlake", "cpu_core", 6),
    "lion-cove": ("lunarlake", "cpu_core", "lunarlake", "cpu_core", 8),
    "cougar-cove": ("pantherlake", "cpu_core", "lunarlake", "cpu_core", 8),
    "gracemont": ("alderlake", "cpu_atom", "alderlake", "cpu_atom", 5),
    "crestmont": ("meteorlake", "cpu_atom", "meteorlake", "cpu_atom", 6),
    "skymont": ("lunarlake", "cpu_atom", "lunarlake", "cpu_atom", 8),
    "darkmont": ("pantherlake", "cpu_atom", "lunarlake", "cpu_atom", 8),
    "clearwater-forest": ("clearwaterforest", None, "lunarlake", "cpu_atom", 8),
}
# Other folders whose events of the same names must be the same.
SAME_EVENTS = {"lion-cove": (("arrowlake", "cpu_core"),), "gracemont": (("alderlaken", None),), "skymont": (("arrowlake", "cpu_atom"),), "crestmont": (("arrowlake", "cpu_lowpower"),)}
FIXED = {"CPU_CLK_UNHALTED.CORE": (0x3C, 0), "CPU_CLK_UNHALTED.THREAD": (0x3C, 0), "CPU_CLK_UNHALTED.REF_TSC": (0, 3), "TOPDOWN.SLOTS": (0, 4)}
# The kernel's names of PERF_METRICS (arch/x86/events/intel/core.c).
KERNEL = {"slots": 0x04} | {f"topdown-{name}": umask for umask, name in enumerate(
    ("retiring", "bad-spec", "fe-bound", "be-bound", "heavy-ops", "br-mispredict", "fetch-lat", "mem-bound"), 0x80)}
# Events without a name of the vendor's: its formulas write their codes.
UNNAMED = {"FETCH_LATENCY_CYCLES": 0x201D, "OTHER_FLUSH": 0x2013, "STORE_STALL_CYCLES": 0x7005}
INTEL_LITERALS = {"#smt_on": 0.0, "#system_tsc_freq": 2e9, "#core_wide": 1.0, "#num_cpus_online": 8.0}
CATEGORIES = ("frontend_bound", "bad_speculation", "retiring", "backend_bound")

failures = []


def check(condition, message):
    if not condition:
        failures.append(message)


def close(a, b):
    return math.isfinite(a) and math.isfinite(b) and abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1e-6)


def scale_of(entry, ours):
    """The factor between the vendor's expression and our formula: ours is in per cent where the vendor prints per cent."""
    factor = float(re.match(r"[-+0-9.]+", entry.get("ScaleUnit", "1")).group(0))
    return factor if ours["units"].startswith("percent") or factor == 1 else 1.0


class Arm:
    """A folder of arm64 with what it takes from the architecture's files."""

    def __init__(self, linux, folder, slots, counts):
        self.events, self.metrics, common, self.entries = {}, {}, {}, []
        for path in glob.glob(f"{linux}/arm64/*.json"):
            for entry in json.load(open(path, encoding="utf-8")):
                common[(entry.get("EventName") or entry.get("MetricName")).lower()] = entry
        for path in sorted(glob.glob(f"{linux}/arm64/{folder}/*.json")):
            for entry in json.load(open(path, encoding="utf-8")) if "uncore" not in path else []:
                entry = common.get(entry.get("ArchStdEvent", "").lower(), {}) | entry
                self.entries.append(entry)
                if entry.get("EventCode"):
                    self.events[entry["EventName"].lower()] = int(entry["EventCode"], 16)
                if entry.get("MetricExpr"):
                    self.metrics[entry["MetricName"]] = entry
        if not self.metrics:  # those that the architecture has for every core with their events
            self.metrics = {entry["MetricName"]: entry for entry in common.values() if "MetricExpr" in entry}
        for name, entry in common.items():  # HiSilicon's folder does not repeat the common events
            if entry.get("EventCode"):
                self.events.setdefault(name, int(entry["EventCode"], 16))
        self.counts, self.literals = counts, {"#slots": float(slots or 0)}

    def look_up(self, name):
        if name in self.metrics:
            return self.metric(name)
        raw = re.fullmatch(r"armv8_pmuv3_0@event=(0x\w+)@", name)
        code = int(raw.group(1), 16) if raw else self.events[name.lower()]
        return self.counts.of(("armv*", code, ()))

    def metric(self, name):
        return perf_files.Formula(self.metrics[name]["MetricExpr"], self.look_up, self.literals).value()


class NoDefault(ValueError):
    """A latency at completion, of which the vendor publishes no default for this core."""


class Intel:
    """The events of one unit and the metrics of one, which may be another folder's."""

    def __init__(self, linux, folder, unit, of_metrics, counts):
        self.events, self.metrics, self.entries = {}, {}, []
        for entry in self.read(linux, folder):
            if "EventName" in entry and entry.get("Unit") == unit:
                self.events[entry["EventName"]] = entry
        for entry in self.read(linux, of_metrics[0]):
            if "MetricName" in entry and entry.get("Unit") == of_metrics[1]:
                self.metrics[entry["MetricName"]] = entry
        self.counts, self.literals, self.atom = counts, INTEL_LITERALS, of_metrics[1] != "cpu_core"

    def read(self, linux, folder):
        for path in sorted(glob.glob(f"{linux}/x86/{folder}/*.json")):
            entries = json.load(open(path, encoding="utf-8"))
            for entry in entries if isinstance(entries, list) else []:
                self.entries.append(entry)
                yield entry

    def encoding(self, name):
        if name in KERNEL:
            return ("cpu", 0, (("umask", KERNEL[name]),))
        if name in FIXED:
            code, umask = FIXED[name]
            return ("cpu", code, (("umask", umask),) if umask else ())
        return perf_files.encoding(self.events[name])

    def encoding_with_terms(self, name):
        """Of an event, or of one with terms of a formula: NAME_c1_e counts how often cycles of 1 or more begin. None: there is none."""
        base, cmask, inv, edge = re.fullmatch(r"(.*?)(?:_c(\d+))?(_i)?(_e)?", name).groups()
        if name in self.events or name in KERNEL or base not in self.events:
            return self.encoding(name) if name in self.events or name in KERNEL else None
        pmu, code, own = self.encoding(base)
        terms = dict(own) | ({"cmask": int(cmask)} if cmask else {}) | ({"inv": 1} if inv else {}) | ({"edge": 1} if edge else {})
        return pmu, code, tuple(sorted(terms.items()))

    def look_up(self, name):
        core = re.fullmatch(r"cpu_\w+@(.*)@([Rku]?)", name)
        name, *terms = core.group(1).split(",") if core else [name]
        if core and core.group(2) == "R":
            raise NoDefault(name)
        mode = core.group(2) if core else ""
        if name == "TSC":
            # The files of the P-cores mean one clock's ticks, those of the E-cores the sum over all CPUs.
            return self.literals["#system_tsc_freq"] * self.counts.of("cpu_seconds" if self.atom else "duration_time")
        if name == "duration_time" or name.startswith("#"):
            return self.counts.of(name) if name == "duration_time" else self.literals[name.lower()]
        if name in self.metrics and not core:
            return self.metric(name)
        name = name if name in KERNEL else name.upper()
        # the same event, on a fixed counter and on a general one
        for plain in (f"{name}_P", name[:-2]):
            if name.startswith("TOPDOWN_") and plain in self.events and plain.endswith("_P"):
                name = plain
        pmu, code, own = self.encoding(name)
        own = dict(own) | {key: int(value or "1", 0) for key, _, value in (term.partition("=") for term in terms)}
        return self.counts.of((pmu, code, tuple(sorted(own.items())), *mode))

    def metric(self, name):
        expression = re.sub(r"msr@tsc[^@]*@", "TSC", self.metrics[name]["MetricExpr"])
        return perf_files.Formula(expression, self.look_up, self.literals).value()


def counters_of(entry, general):
    text = entry.get("Counter", "")
    return list(range(general)) if not text or "Fixed" in text else [int(c) for c in text.split(",")]


def check_intel_events(spec, ours, vendor, others):
    general, fixed = ours.spec["topdownd"]["counters"]["general"], ours.spec["topdownd"]["counters"]["fixed"]
    for event, entry in ours.events.items():
        want, found = vendor.encoding_with_terms(event), perf_files.our_encoding(entry)
        check(found == want, f"{spec}: {event} is {found}, the vendor's {want}")
        if event in vendor.events and event not in fixed:
            found = entry.get("topdownd", {}).get("counters", list(range(general)))
            want = counters_of(vendor.events[event], general)
            check(found == want, f"{spec}: {event} is on the counters {found}, the vendor's on {want}")
        for other in others:
            check(event not in vendor.events or event in other.events and other.encoding(event) == vendor.encoding(event),
                  f"{spec}: {event} differs between the CPUs of this core")


def check_intel(linux, source, spec, folder, unit, of_metrics, slots):
    compared = set()
    for turn in range(ROUNDS):
        counts = perf_files.Counts(f"{SEED}/{turn}")
        vendor = Intel(linux, folder, unit, of_metrics, counts)
        # PERF_METRICS of another core are the kernel's, whatever the folder; its other events are those of this core
        ours = perf_files.SpecModel(f"{source}/specs/{spec}.json", counts, INTEL_LITERALS)
        for name in ours.metrics:
            value = ours.metric(name)
            check(math.isfinite(value), f"{spec}: {name} is not finite")
            if name in vendor.metrics:
                want = vendor.metric(name)
                check(close(value, want), f"{spec}: {name} is {value}, the vendor's {want}")
                compared.add(name)
    parts = [ours.metric(f"load_miss_stalls_{level}") for level in ("l2", "l3", "other_core", "memory") if f"load_miss_stalls_{level}" in ours.metrics]
    check(close(sum(parts), 100) or not parts, f"{spec}: the stalls on load misses add up to {sum(parts)}")
    others = [Intel(linux, *other, of_metrics, counts) for other in SAME_EVENTS.get(spec, ())]
    check_intel_events(spec, ours, vendor, others)
    check_level1(spec, ours, slots)
    for problem in ours.problems(whole_texts=False) + perf_files.copied(ours.spec, vendor.entries):
        failures.append(f"{spec}: {problem}")
    print(f"{spec}: {len(ours.events)} events, {len(ours.metrics)} metrics, {len(compared)} compared with the vendor's over {ROUNDS} draws")


def check_level1(spec, ours, slots):
    level1 = ours.spec["topdownd"].get("level1")
    check((level1 is not None) == (slots is not None), f"{spec}: level 1 is there without pipeline slots, or missing")
    if not level1:
        return
    if spec in ARM and spec != "monaka":  # whose remainder is what STALL_SLOT leaves, another count than its parts
        whole = 100 if ours.metrics["retiring"]["units"].startswith("percent") else 1
        check(close(sum(ours.metric(level1["categories"][c]) for c in CATEGORIES), whole), f"{spec}: the categories do not add up to {whole}")
    check(level1["width"] in (slots, "#slots"), f"{spec}: {level1['width']} pipeline slots a cycle")
    needed = set().union(*(ours.leaves(ours.metrics[m]["formula"]) for m in level1["categories"].values()))
    needed |= ours.leaves(level1["pipeline_slots"])
    parts = [set(part) for part in level1.get("split", [])]
    check(not parts or (set().union(*parts) == needed and len(set.intersection(*parts)) == 1), f"{spec}: the split is not of level 1's events")


def check_arm(linux, source, spec, folder, slots, names):
    compared = set()
    for turn in range(ROUNDS):
        counts = perf_files.Counts(f"{SEED}/{turn}")
        vendor = Arm(linux, folder, slots, counts)
        ours = perf_files.SpecModel(f"{source}/specs/{spec}.json", counts, {"#slots": float(slots or 0), "#system_tsc_freq": 1e9}, pmu="armv*")
        for name, metric in ours.metrics.items():
            value, theirs = ours.metric(name), names.get(name, name)
            check(math.isfinite(value), f"{spec}: {name} is not finite")
            if theirs in vendor.metrics:
                entry = vendor.metrics[theirs]
                want = vendor.metric(theirs) * scale_of(entry, metric)
                check(close(value, want), f"{spec}: {name} is {value}, the vendor's {theirs} {want}")
                compared.add(name)
    for event, entry in ours.events.items():
        if entry.get("topdownd", {}).get("sampling_only"):
            continue  # of the kernel's PMU for the Statistical Profiling Extension
        want = UNNAMED[event] if event in UNNAMED else vendor.events.get(event.lower())
        check(int(entry["code"], 16) == want, f"{spec}: {event} is {entry['code']}, the vendor's {want}")
    check_level1(spec, ours, slots)
    for problem in ours.problems() + perf_files.copied(ours.spec, vendor.entries):
        failures.append(f"{spec}: {problem}")
    print(f"{spec}: {len(ours.events)} events, {len(ours.metrics)} metrics, {len(compared)} compared with the vendor's over {ROUNDS} draws")


def main():
    source = sys.argv[1]
    linux = f"{source}/../shared/telemetry/linux/arch"
    if not os.path.isdir(linux):
        print(f"skipped: {linux} is not there")
        return 77
    print(f"seed {SEED}")
    for spec, (folder, slots, names) in ARM.items():
        check_arm(linux, source, spec, folder, slots, names)
    for spec, (folder, unit, metrics_folder, metrics_unit, slots) in INTEL.items():
        check_intel(linux, source, spec, folder, unit, (metrics_folder, metrics_unit), slots)
    for failure in failures[:40]:
        print(f"FAILED {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
