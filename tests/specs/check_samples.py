# SPDX-License-Identifier: Apache-2.0
"""The events that find the code: every node of every spec's tree names events to sample, or a node above it does, and what the vendor's
files name for a node is what the spec names.

usage: check_samples.py SOURCE_FOLDER

The vendor's words are "Sample with" in Linux' metrics, LocateWith in intel/perfmon, and sample_events in Arm's files (unit/test_arm_tree).
"""
import glob
import json
import os
import re
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))

import spec_files

# spec: folder of Linux, unit of its metrics and events; the file of intel/perfmon
INTEL = {
    "sandy-bridge-ep": ("jaketown", None, None),
    "ivy-bridge-ep": ("ivytown", None, None),
    "haswell-ep": ("haswellx", None, None),
    "broadwell-ep": ("broadwellx", None, None),
    "skylake-sp": ("skylakex", None, None),
    "cascade-lake": ("cascadelakex", None, None),
    "ice-lake-sp": ("icelakex", None, None),
    "sapphire-rapids": ("sapphirerapids", None, "SPR/metrics/sapphirerapids_metrics.json"),
    "emerald-rapids": ("emeraldrapids", None, "SPR/metrics/sapphirerapids_metrics.json"),
    "granite-rapids": ("graniterapids", None, "GNR/metrics/graniterapids_metrics.json"),
    "golden-cove": ("alderlake", "cpu_core", "ADL/metrics/alderlake_metrics_goldencove_core.json"),
    "redwood-cove": ("meteorlake", "cpu_core", "MTL/metrics/meteorlake_metrics_redwoodcove_core.json"),
    "lion-cove": ("lunarlake", "cpu_core", "LNL/metrics/lunarlake_metrics_lioncove_core.json"),
}
# What the vendor names and the specs do not, with the reason.
DIFFERENT = {
    "tma_divider": "ARITH.DIVIDER_ACTIVE and ARITH.DIV_ACTIVE are two names of one event",
    "tma_port_6": "Linux' files name port 1, which is another port",
    "tma_memory_bound": "named for no core: perfmon has #NA",
    "tma_bad_speculation": "named for no core: perfmon has #NA",
}
MOST = 3  # events of one command: more would share the counters
failures = []


def check(condition, message):
    if not condition:
        failures.append(message)


def nodes_of(spec):
    tree = spec["methodologies"]["topdown_methodology"]["decision_tree"]
    return {node["name"]: node.get("sample_events", []) for node in tree["metrics"]}


def effective(spec, nodes, name):
    """The events of the node, or of the nearest one above it that has some."""
    while name and not nodes.get(name):
        name = spec["metrics"][name].get("topdownd", {}).get("parent")
    return nodes.get(name, [])


def check_spec(name, spec):
    nodes = nodes_of(spec)
    for node, own in nodes.items():
        check(effective(spec, nodes, node), f"{name}: nothing finds the code of {node}")
        check(len(own) <= MOST, f"{name}: {node} samples {len(own)} events at once")
        check(len(set(own)) == len(own), f"{name}: {node} names an event twice")
        for event in own:
            check(event in spec["events"], f"{name}: {node} samples {event}, which the spec does not have")
    return len(nodes)


def listed(text):
    """The events of "Sample with: A_PS, B. More" or of "A;B"."""
    return [re.sub(r"_PS$", "", event.strip()) for event in re.split(r"[,;]", text) if re.fullmatch(r"\s*[A-Z][A-Z0-9_.]*\.[A-Z0-9_]+(_PS)?\s*", event)]


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def vendors(telemetry, folder, unit, perfmon):
    """What the vendor names for each metric, as lists any of whose events is right, and its events."""
    named, events = {}, set()
    for path in glob.glob(f"{telemetry}/linux/arch/x86/{folder}/*.json"):
        for entry in read(path) if "metricgroups" not in path and "counter.json" not in path else []:
            if entry.get("Unit") != unit:
                continue
            events.add(entry.get("EventName"))
            for text in (entry.get("PublicDescription", ""), entry.get("BriefDescription", "")) if "MetricName" in entry else ():
                found = re.search(r"Sample with:\s*(.*)", text)
                if found:
                    named.setdefault(entry["MetricName"], set()).update(listed(re.split(r"\. |\.$", found.group(1))[0]))
    for entry in read(f"{telemetry}/intel/perfmon/{perfmon}")["Metrics"] if perfmon else []:
        named.setdefault("tma_" + entry["MetricName"].lower(), set()).update(listed(entry.get("LocateWith") or ""))
    return named, events


def check_vendors(name, spec, named, events):
    compared = 0
    for node, own in nodes_of(spec).items():
        theirs = {event for event in named.get(node, ()) if event in events}
        if node in DIFFERENT or not theirs:
            continue
        compared += 1
        check(set(own) & theirs, f"{name}: {node} samples {own}, the vendor {sorted(theirs)}")
    return compared


def main():
    source = os.path.abspath(sys.argv[1])
    n = compared = 0
    specs = {name: spec_files.load(path) for name, path in spec_files.shipped(source).items()}
    for name, spec in specs.items():
        n += check_spec(name, spec) if name != "software" else 0
    telemetry = os.path.join(source, "../shared/telemetry")
    if os.path.isdir(telemetry):
        for name, (folder, unit, perfmon) in INTEL.items():
            compared += check_vendors(name, specs[name], *vendors(telemetry, folder, unit, perfmon))
        check(compared > 350, f"only {compared} nodes compared with the vendor's files")
    else:
        print("the vendor's files are not beside the repository: only the specs themselves are checked")
    for text in failures[:60]:
        print(text)
    print(f"{n} nodes of {len(specs)} specs, {compared} compared with what the vendor names, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
