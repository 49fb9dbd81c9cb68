# SPDX-License-Identifier: Apache-2.0
"""The specs of Intel's cores against the vendor's files in tools/perf/pmu-events: encodings and counters of events, formulas and
thresholds over random counts, domains, names that must resolve, and that no sentence of the vendor's is in them.

usage: check_intel.py SOURCE_FOLDER

Formulas are turned into Python here, on their own way, and not by the daemon. An event of ours and one of the vendor's get the same
random count where they have the same encoding, whatever they are called.
"""

import csv
import glob
import json
import math
import os
import random
import re
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))

import spec_files

SPECS = {
    "sandy-bridge-ep": "jaketown",
    "ivy-bridge-ep": "ivytown",
    "haswell-ep": "haswellx",
    "broadwell-ep": "broadwellx",
    "skylake-sp": "skylakex",
    "cascade-lake": "cascadelakex",
    "ice-lake-sp": "icelakex",
    "sapphire-rapids": "sapphirerapids",
    "emerald-rapids": "emeraldrapids",
    "granite-rapids": "graniterapids",
    "sierra-forest": "sierraforest",
    "grand-ridge": "grandridge",
}
ROUNDS = 20
NEUTRAL = ["ipc", "frequency_hertz", "utilization_ratio"] + [
    name + kind
    for kind, names in {
        "_mpki": ["branch", "l1i_cache", "l1d_cache", "l2_cache", "ll_cache", "itlb", "dtlb"],
        "_miss_ratio": ["branch", "l1d_cache", "l2_cache", "ll_cache", "dtlb"],
    }.items()
    for name in names
]
CATEGORIES = ["frontend_bound", "bad_speculation", "retiring", "backend_bound"]
# What is measured of CPUs that have no spec of their own: the events of the architecture, and the fields that the kernel shows.
COMMON = ["ipc", "frequency_hertz", "utilization_ratio", "branch_mpki", "ll_cache_mpki", "branch_miss_ratio", "ll_cache_miss_ratio"]
GENERIC = {"intel-generic": COMMON, "intel-topdown": COMMON + [c + "_ratio" for c in CATEGORIES], "intel-topdown-l1": COMMON + [c + "_ratio" for c in CATEGORIES]}

# Metrics of the vendor's tree that no spec has, with the reason. docs/specs.md gives both lists to users.
LEFT_OUT = {
    "tma_info_system_time": "the length of the measurement, which formulas have as duration_time",
    "tma_info_system_mux": "how well perf shared counters over time; the daemon has coverage families for that",
}
# Errors of the vendor's files: (folder, event) to the right unit mask. 8_FLOPS is 256-bit single (0x20) and 512-bit double (0x40).
ERRATA = {(f, "FP_ARITH_INST_RETIRED.8_FLOPS"): "0x60" for f in ("skylakex", "cascadelakex")}
# A share multiplied with a count of slots in the place of the share of useful work, as all newer files have it.
WRONG = {(f, "tma_x87_use"): ("UOPS_RETIRED.RETIRE_SLOTS *", "tma_retiring *") for f in ("jaketown", "ivytown")}
FITTED = ("NO_GROUP_EVENTS", "NO_GROUP_EVENTS_NMI")
for metric in ("tma_info_memory_tlb_load_stlb_miss_ret", "tma_info_memory_tlb_store_stlb_miss_ret"):
    LEFT_OUT[metric] = "needs a latency at completion of which the vendor publishes no default"
LEFT_OUT["tma_cxl_mem_bound"] = "is 0 without persistent memory, and persistent memory is in the share of main memory here"
# An operand of these kinds is not of the core's PMU, or cannot be counted.
FOREIGN = re.compile(r"^(UNC_|cbox|cha|imc_|pcu_|cstate|power@|uncore|msr@(aperf|smi))")

# Sysfs names of the kernel.
PERF_METRICS = {"slots": 0x04}
METRIC_EVENTS = ("retiring", "bad-spec", "fe-bound", "be-bound", "heavy-ops", "br-mispredict", "fetch-lat", "mem-bound")
PERF_METRICS.update({"topdown-" + name: 0x80 + i for i, name in enumerate(METRIC_EVENTS)})
# Fixed counters, as the kernel encodes them. The _P events are the same on a general counter.
FIXED = {
    "INST_RETIRED.ANY": (0xC0, 0),
    "CPU_CLK_UNHALTED.THREAD": (0x3C, 0),
    "CPU_CLK_UNHALTED.THREAD_ANY": (0x3C, 0),
    "CPU_CLK_UNHALTED.CORE": (0x3C, 0),
    "CPU_CLK_UNHALTED.REF_TSC": (0x00, 3),
    "INST_RETIRED.PREC_DIST": (0x00, 1),
    "TOPDOWN.SLOTS": (0x00, 4),
}
NAME = re.compile(r"[A-Za-z_][0-9A-Za-z_\-]*@(?:[^@\\]|\\.)*@(?::\w+)?|(?:[0-9A-Za-z_.:?]|\\.)+(?:@(?:[^@\\]|\\.)*@)?|#\w+")
NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
WORDS = {"if", "else", "min", "max", "d_ratio", "has_event", "source_count"}
LATENCIES = {}  # by event: read by main
failures = []
fail = failures.append


# Numbers whose arithmetic is that of the language: a / 0 is NaN.
class Value(float):
    pass


for operator, work in {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "truediv": lambda a, b: a / b if b else math.nan,
}.items():
    setattr(Value, f"__{operator}__", lambda a, b, work=work: Value(work(float(a), float(b))))
    setattr(Value, f"__r{operator}__", lambda a, b, work=work: Value(work(float(b), float(a))))


LANGUAGE = {"smallest": lambda a, b: a if a < b else b, "largest": lambda a, b: a if a > b else b}


def names_of(expression):
    return {n for n in NAME.findall(expression) if n not in WORDS and not NUMBER.match(n)}


def evaluate(expression, value_of):
    """`value_of` gives the value of a name. Comparisons bind tighter than & and |, which Python spells `and` and `or`."""
    values = []

    def operand(match):
        text = match.group(0)
        if text in ("if", "else"):
            return text
        if text in ("min", "max"):
            return "smallest" if text == "min" else "largest"
        values.append(Value(float(text) if NUMBER.match(text) else value_of(text)))
        return f"v[{len(values) - 1}]"

    text = NAME.sub(operand, expression).replace("&", "and").replace("|", "or")
    return float(eval(text, {"v": values, **LANGUAGE}))


class Vendor:
    def __init__(self, folder):
        self.metrics, self.events = {}, {}
        for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
            items = json.load(open(path, encoding="utf-8"))
            for item in items if isinstance(items, list) else []:
                if "MetricName" in item:
                    wrong = WRONG.get((os.path.basename(folder), item["MetricName"]), ("", ""))
                    item["MetricExpr"] = item["MetricExpr"].replace(*wrong)
                    self.metrics[item["MetricName"]] = item
                if "EventName" in item and "Unit" not in item:
                    item["UMask"] = ERRATA.get((os.path.basename(folder), item["EventName"]), item.get("UMask", "0"))
                    self.events[item["EventName"].upper()] = item
        self.texts = [item.get(k, "") for item in list(self.metrics.values()) + list(self.events.values())
                      for k in ("BriefDescription", "PublicDescription")]
        self.usable = {}

    def encoding(self, name):
        """The terms of an event as a formula writes it; None where it is none of the core's."""
        modifier = ""
        if re.search(r":[ku]$", name):
            name, modifier = name[:-2], name[-1]
        name = name.replace("\\", "")
        if name in PERF_METRICS:
            return (("event", 0), ("umask", PERF_METRICS[name])), modifier
        extra = []
        if name.startswith("cpu@"):
            name, *extra = name[4:-1].split(",")
        elif "@" in name:
            name, rest, _ = name.split("@")
            extra = rest.split(",")
        event = self.events.get(name.upper())
        if not event:
            return None
        terms = self.terms(event)
        for term in extra:
            key, _, number = term.partition("=")
            terms[key] = int(number, 0) if number else 1
        return tuple(sorted((k, v) for k, v in terms.items() if v or k == "event")), modifier

    @staticmethod
    def terms(event):
        if "EventCode" in event:
            terms = {"event": int(event["EventCode"].split(",")[0], 16), "umask": int(event.get("UMask", "0"), 16)}
        else:
            terms = dict(zip(("event", "umask"), FIXED[event["EventName"]]))
        for key, term in (("CounterMask", "cmask"), ("Invert", "inv"), ("EdgeDetect", "edge"), ("AnyThread", "any")):
            terms[term] = int(event.get(key, "0"), 0)
        register = int(event.get("MSRIndex", "0").split(",")[0], 16)
        if register:
            terms[{0x3F6: "ldlat", 0x1A6: "offcore_rsp", 0x3F7: "frontend"}[register]] = int(event["MSRValue"], 0)
        return terms

    def foreign(self, metric):
        """The operand for which `metric` cannot be in a spec, or None."""
        if metric not in self.usable:
            self.usable[metric] = None
            for name in sorted(names_of(self.metrics[metric]["MetricExpr"])):
                if FOREIGN.search(name):
                    self.usable[metric] = name
                elif name in self.metrics and self.foreign(name):
                    self.usable[metric] = self.foreign(name)
        return self.usable[metric]


def our_encoding(spec, name):
    modifier = ""
    if re.search(r":[ku]$", name):
        name, modifier = name[:-2], name[-1]
    event = spec["events"][name.replace("\\", "")]
    terms = {"event": int(event["code"], 16)}
    terms.update({k: int(str(v), 0) for k, v in event.get("topdownd", {}).items() if k not in ("counters", "takes", "must_count", "dead_on")})
    return tuple(sorted(terms.items())), modifier


class World:
    """One set of random counts and facts of a host, seen through the vendor's names or through ours."""

    def __init__(self, seed, core_file):
        draw = random.Random(seed)
        self.counts, self.vendor_values = {}, {}
        self.seed = seed
        smt = draw.choice([0, 1])
        duration, frequency, cpus = draw.uniform(0.5, 5), draw.uniform(1e9, 4e9), draw.choice([4, 64])
        self.facts = {
            "duration_time": duration,
            "cpu_seconds": duration * cpus,
            "#num_cpus_online": cpus,
            "#system_tsc_freq": frequency,
            "#smt_on": smt,
            "#core_wide": 1 - smt,  # with SMT we take the vendor's form for single CPUs, which holds for sums, too
            "#has_pmem": 0,
            # The files of the P-cores mean one clock's ticks, those of the E-cores the sum over all CPUs.
            "msr@tsc@": frequency * duration * (1 if core_file else cpus),
        }

    def count(self, encoding):
        if encoding not in self.counts:
            self.counts[encoding] = random.Random(f"{self.seed} {encoding}").uniform(1, 1e9)
        return self.counts[encoding]

    def vendor_value(self, vendor, name):
        if name.endswith(":R"):  # the latency at completion: the default that the vendor publishes
            return LATENCIES[name[:-2]]["MEAN"]
        if name.lower() in self.facts:
            return self.facts[name.lower()]
        if name in vendor.metrics:
            if name not in self.vendor_values:
                expression = vendor.metrics[name]["MetricExpr"]
                self.vendor_values[name] = evaluate(expression, lambda n: self.vendor_value(vendor, n))
            return self.vendor_values[name]
        return self.count(vendor.encoding(name))

    def our_value(self, spec, name, names):
        if name in self.facts:
            return self.facts[name]
        if name in spec["metrics"]:
            if name not in names:
                names[name] = evaluate(spec["metrics"][name]["formula"], lambda n: self.our_value(spec, n, names))
            return names[name]
        return self.count(our_encoding(spec, name))


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= 1e-9 * max(abs(a), abs(b)) + 1e-12


def plain(name):
    """The vendor writes '%' in some names of the E-cores; an exported name cannot."""
    return name.replace("%_", "")


def check_formulas(spec, vendor, file):
    compared, finite = 0, set()
    for seed in range(ROUNDS):
        world, names = World(f"{file} {seed}", vendor.events.get("TOPDOWN_RETIRING.ALL_P") is None), {}
        for name in vendor.metrics:
            ours = spec["metrics"].get(plain(name))
            if not ours:
                continue
            wanted, found = world.vendor_value(vendor, name), world.our_value(spec, plain(name), names)
            compared += 1
            if not same(wanted, found):
                fail(f"{file}: {name} is {found} and the vendor's {wanted} (counts {seed})")
                return compared
            if math.isfinite(found):
                finite.add(plain(name))
    # Counts at random make some parts of the tree 0 in some rounds, and what is divided by them NaN.
    for name in set(map(plain, vendor.metrics)) & set(spec["metrics"]) - finite:
        fail(f"{file}: {name} is never finite on positive counts")
    return compared


# The vendor's summary metric behind each heading of what would help how much, without tma_bottleneck_.
HEADINGS = {
    "mispredictions": "mispredictions",
    "big_code": "big_code",
    "instruction_supply": "instruction_fetch_bw",
    "data_bandwidth": "data_cache_memory_bandwidth",
    "data_latency": "data_cache_memory_latency",
    "data_tlbs": "memory_data_tlbs",
    "synchronization": "memory_synchronization",
    "compute": "compute_bound_est",
    "irregular_overhead": "irregular_overhead",
    "other": "other_bottlenecks",
    "branching_overhead": "branching_overhead",
    "useful_work": "useful_work",
}


def check_bottlenecks(spec, vendor, file):
    """Where the vendor has a summary metric, a heading has its value, as a share instead of per cent."""
    headings = spec["topdownd"].get("bottlenecks", {})
    for heading, suffix in HEADINGS.items():
        theirs = f"tma_bottleneck_{suffix}"
        if theirs not in vendor.metrics or vendor.foreign(theirs):
            continue
        if heading not in headings:
            fail(f"{file}: nothing stands under the heading {heading}, which the vendor has as {theirs}")
            continue
        for seed in range(ROUNDS):
            world, names = World(f"{file} {seed}", vendor.events.get("TOPDOWN_RETIRING.ALL_P") is None), {}
            wanted = world.vendor_value(vendor, theirs) / 100
            found = evaluate(headings[heading], lambda n: world.our_value(spec, n, names))
            if not same(wanted, found):
                fail(f"{file}: the heading {heading} is {found} and the vendor's {wanted} (counts {seed})")
                break


def check_thresholds(spec, vendor, file):
    for name, item in vendor.metrics.items():
        ours = spec["metrics"].get(plain(name))
        wanted = item.get("MetricThreshold")
        if not ours or not wanted:
            continue
        wanted = plain(wanted)
        found = ours.get("topdownd", {}).get("threshold")
        missing = {n for n in names_of(wanted) if n not in spec["metrics"]}
        if missing:
            if found and missing & names_of(found):
                fail(f"{file}: the threshold of {name} names a metric that is not there")
            continue
        if not found:
            fail(f"{file}: {name} has lost its threshold")
            continue
        for seed in range(ROUNDS):
            draw = random.Random(seed)
            values = {n: draw.choice([0, 0.12, 0.3, 0.9, 40]) for n in sorted(names_of(wanted))}
            if bool(evaluate(wanted, values.get)) != bool(evaluate(found, values.get)):
                fail(f"{file}: the threshold of {name} differs: {found}")
                break


def check_structure(spec, vendor, file):
    constraints = {plain(n): m.get("MetricConstraint") for n, m in vendor.metrics.items()}
    parents = {}
    for name, item in vendor.metrics.items():
        for group in item.get("MetricGroup", "").split(";"):
            if group.startswith("tma_") and group.endswith("_group") and not re.match(r"tma_L\d_", group):
                parents[plain(name)] = "tma_" + group[4:-6]
    for name, metric in spec["metrics"].items():
        extra = metric.get("topdownd", {})
        # NO_GROUP_EVENTS and _NMI speak of formulas written out in full; ours consist of ratios that fit the counters.
        constraint = constraints.get(name)
        if name in constraints and extra.get("constraint") != (None if constraint in FITTED else constraint):
            fail(f"{file}: {name} has constraint {extra.get('constraint')}, the vendor's has {constraint}")
        parent = parents.get(name)
        while parent and parent not in spec["metrics"]:
            parent = parents.get(parent)
        if name in parents and extra.get("parent") != parent:
            fail(f"{file}: {name} has parent {extra.get('parent')} and not {parent}")
        if not metric.get("title") or not metric.get("description") or not metric.get("units"):
            fail(f"{file}: {name} has no title, description or units")
        if re.search(r"TopdownL\d", str(vendor.metrics.get(name, {}).get("MetricGroup"))) and not extra.get("meaning"):
            fail(f"{file}: {name} is in the tree and says nothing to a developer")
    for name in vendor.metrics:
        if name.startswith("tma_") and not vendor.foreign(name) and name not in LEFT_OUT and plain(name) not in spec["metrics"]:
            fail(f"{file}: {name} is not in the spec")
        if vendor.foreign(name) and plain(name) in spec["metrics"]:
            fail(f"{file}: {name} needs {vendor.foreign(name)}")


def check_events(spec, vendor, file):
    general = spec["topdownd"]["counters"]["general"]
    fixed = spec["topdownd"]["counters"]["fixed"]
    by_encoding = {}
    for event in vendor.events.values():
        by_encoding.setdefault(tuple(sorted((k, v) for k, v in Vendor.terms(event).items() if v or k == "event")), []).append(event)
    seen = {}
    for name, event in spec["events"].items():
        encoding, _ = our_encoding(spec, name)
        if encoding in seen:
            fail(f"{file}: {name} and {seen[encoding]} are the same event")
        seen[encoding] = name
        if name in PERF_METRICS:
            if encoding != (("event", 0), ("umask", PERF_METRICS[name])):
                fail(f"{file}: {name} is not encoded as the kernel does")
            continue
        for term in dict(encoding):
            if term not in spec["topdownd"]["format"]:
                fail(f"{file}: {name} has the term {term}, which the format has not")
        # A name of ours with a suffix is the vendor's event with terms of a formula; a few have a name of their own. Same code, same counters.
        theirs = vendor.events.get(name.upper()) or vendor.events.get(re.sub(r"(_c\d+)?(_i)?(_e)?$", "", name))
        if not theirs:
            theirs = next((e for e in vendor.events.values() if Vendor.terms(e)["event"] == dict(encoding)["event"]), None)
        if not theirs:
            fail(f"{file}: {name} is no event of the vendor's")
            continue
        if name.upper() in vendor.events and encoding not in by_encoding:
            fail(f"{file}: {name} has not the vendor's encoding")
        counters = theirs["Counter"]
        wanted = list(range(general)) if counters.startswith("Fixed") or name in fixed else [int(c) for c in counters.split(",")]
        if event.get("topdownd", {}).get("counters", list(range(general))) != wanted:
            fail(f"{file}: {name} has other counters than the vendor's {wanted}")


def check_fields(spec, known, file):
    """The shares of the fields are those of a core whose formulas are made of fields alone; check_cpus.py holds them against the vendor's."""
    compared = [name for name in spec["metrics"] if name.startswith("tma_")]
    for name in compared:
        if spec["metrics"][name]["formula"] != known["metrics"][name]["formula"]:
            fail(f"{file}: {name} is another formula than that of Lion Cove")
    levels = sum(field in spec["events"] for field in PERF_METRICS if field != "slots") // 4
    if len(compared) != {0: 0, 1: 4, 2: 12}[levels]:
        fail(f"{file}: {len(compared)} metrics of {levels} levels")
    for name in set(PERF_METRICS) & set(spec["events"]):
        if our_encoding(spec, name)[0] != (("event", 0), ("umask", PERF_METRICS[name])):
            fail(f"{file}: {name} is not encoded as the kernel does")


def check_domains(spec, tree, file):
    for name, metric in spec["metrics"].items():
        domain = tree.get(name)
        if not domain or file in ("sierra-forest", "grand-ridge") or name.endswith("_mispredicts"):
            continue
        if name == "tma_mixing_vectors" and "UOPS_ISSUED" in metric["formula"]:
            domain = "Uops"
        wanted = "slots" if domain.startswith("Slots") else "uops" if domain == "Uops" else "cycles"
        if not metric["units"].endswith(wanted):
            fail(f"{file}: {name} is in {metric['units']}, the vendor's tree says {domain}")


def check_names(spec, file):
    metrics, groups = spec["metrics"], spec["groups"]["metrics"]
    for name, metric in metrics.items():
        for operand in names_of(metric["formula"]) | names_of(metric.get("topdownd", {}).get("threshold", "0")):
            event = re.sub(r":[ku]$", "", operand).replace("\\", "")
            if operand[0] != "#" and event not in spec["events"] and operand not in metrics and operand not in ("duration_time", "cpu_seconds"):
                fail(f"{file}: {name} refers to {operand}, which is not there")
    exports = [m.get("topdownd", {}).get("name", n) for n, m in metrics.items()]
    for name in GENERIC.get(file, NEUTRAL + [c + "_ratio" for c in CATEGORIES]):
        if name not in exports:
            fail(f"{file}: nothing is exported as {name}")
    used = {m for g in groups.values() for m in g["metrics"]}
    for name in used ^ set(metrics):
        fail(f"{file}: {name} is in no group, or in a group and not there")
    method = spec["methodologies"]["topdown_methodology"]
    tree = {n["name"]: n for n in method["decision_tree"]["metrics"]}
    for name in method["decision_tree"]["root_nodes"]:
        if name not in tree or not any(n in groups for n in tree[name]["next_items"]):
            fail(f"{file}: the root {name} leads to no group")
    for node in tree.values():
        for name in node["next_items"] + [node["name"], node["group"]]:
            if name not in metrics and name not in groups:
                fail(f"{file}: the decision tree names {name}, which is not there")
    grouping = method["metric_grouping"]
    for name in grouping["stage_1"] + grouping["stage_2"]:
        if name not in groups:
            fail(f"{file}: a stage names the group {name}, which is not there")
    keys = [re.sub("[-_]", "", g).lower() for g in groups]
    if len(set(keys)) != len(keys):
        fail(f"{file}: two groups differ only by case, '_' or '-'")
    for name in spec["topdownd"].get("resident", []):
        if name not in spec["events"]:
            fail(f"{file}: the resident event {name} is not there")


def check_level1(spec, file):
    """Level 1 from ordinary events is level 1 from PERF_METRICS, where the counts are. A split holds what level 1 needs."""
    plain_level1 = spec["topdownd"].get("level1_without_resident")
    for level1 in filter(None, (spec["topdownd"].get("level1"), plain_level1)):
        needed, waiting = set(), list(level1["categories"].values()) + sorted(names_of(level1["pipeline_slots"]))
        for name in waiting:
            if name in spec["metrics"]:
                waiting += sorted(names_of(spec["metrics"][name]["formula"]))
            elif name[0] != "#":
                needed.add(name.replace("\\", ""))
        parts = [set(part) for part in level1.get("split", [])]
        if parts and (set().union(*parts) != needed or len(set.intersection(*parts)) != 1):
            fail(f"{file}: the split of level 1 is not of its events: {sorted(set().union(*parts) ^ needed)}")
    if not plain_level1:
        return
    counts = {"INT_MISC.CLEARS_COUNT": 2.0, "INT_MISC.UOP_DROPPING": 5.0, "slots": 1000.0, "TOPDOWN.SLOTS_P": 1000.0}
    for names, count in (
        (("topdown-fe-bound", "IDQ_BUBBLES.CORE", "IDQ_UOPS_NOT_DELIVERED.CORE"), 200.0),
        (("topdown-be-bound", "TOPDOWN.BACKEND_BOUND_SLOTS"), 300.0),
        (("topdown-retiring", "UOPS_RETIRED.SLOTS"), 400.0),
        (("topdown-bad-spec",), 100.0),
    ):
        counts.update(dict.fromkeys(names, count))

    def value(name):
        if name in spec["metrics"]:
            return evaluate(spec["metrics"][name]["formula"], value)
        return counts[name.replace("\\", "")]

    for category in CATEGORIES:
        a, b = value(spec["topdownd"]["level1"]["categories"][category]), value(plain_level1["categories"][category])
        if not same(a, b):
            fail(f"{file}: {category} is {a} from PERF_METRICS and {b} from ordinary events")


def phrases(text):
    words = re.findall(r"[a-z0-9]+", text.lower())
    return {tuple(words[i : i + 8]) for i in range(len(words) - 7)}


def texts_of(value, key=""):
    if isinstance(value, dict):
        for k, v in value.items():
            yield from texts_of(v, k)
    elif isinstance(value, list):
        for v in value:
            yield from texts_of(v, key)
    elif key in ("title", "description", "meaning", "rate_advice"):
        yield value


def check_words(spec, vendor_phrases, file):
    for text in texts_of(spec):
        for phrase in phrases(text) & vendor_phrases:
            fail(f"{file}: '{' '.join(phrase)}' stands in the vendor's files too")


def main():
    source = os.path.abspath(sys.argv[1])
    shared = os.path.join(source, "..", "shared", "telemetry")
    if not os.path.isdir(shared):
        print("skipped: the vendor's files are not beside the repository")
        return 77
    with open(os.path.join(shared, "intel", "TMA_Metrics-full.csv"), encoding="utf-8-sig") as file:
        rows = list(csv.reader(file))
    domain, description = rows[2].index("Count Domain"), rows[2].index("Metric Description")
    tree = {"tma_" + next(c for c in row[1:7] if c).lower(): row[domain] for row in rows[3:] if row[0][:2] in ("FE", "BA", "BE", "RE")}
    tree["tma_dram_bound"] = tree["tma_l3_miss_bound"]  # its name on older cores
    with open(os.path.join(shared, "intel", "perfmon", "GNR", "metrics", "graniterapids_retire_latency.json"), encoding="utf-8") as file:
        LATENCIES.update(json.load(file)["Data"])
    spoken, vendors = set(), {}
    for file, folder in SPECS.items():
        vendors[file] = Vendor(os.path.join(shared, "linux", "arch", "x86", folder))
        for text in vendors[file].texts:
            spoken |= phrases(text)
    for row in rows[3:]:
        spoken |= phrases(row[description]) if len(row) > description else set()
    compared = 0
    lion_cove = spec_files.load(os.path.join(source, "specs/lion-cove.json"))
    for file in list(SPECS) + list(GENERIC):
        spec = spec_files.load(os.path.join(source, "specs", file + ".json"))
        check_names(spec, file)
        check_level1(spec, file)
        check_words(spec, spoken, file)
        if file in GENERIC:
            check_fields(spec, lion_cove, file)
        if file in vendors:
            compared += check_formulas(spec, vendors[file], file)
            check_thresholds(spec, vendors[file], file)
            check_bottlenecks(spec, vendors[file], file)
            check_structure(spec, vendors[file], file)
            check_events(spec, vendors[file], file)
            check_domains(spec, tree, file)
    for text in failures[:60]:
        print(text)
    print(f"{compared} values of formulas compared, {len(failures)} differences")
    return 1 if failures or compared < 10000 else 0


if __name__ == "__main__":
    sys.exit(main())
