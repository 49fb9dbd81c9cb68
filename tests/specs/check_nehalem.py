# SPDX-License-Identifier: Apache-2.0
"""The specs of Nehalem-EP and Westmere-EP against the vendor's event files. The vendor has no metrics for them: formulas are
compared with those of Intel's presentation, worked out here from the counts.

usage: check_nehalem.py SOURCE_FOLDER
"""
import math
import os
import re
import sys

import perf_files

SEED = int(os.environ.get("TOPDOWND_SEED", "1"))
TSC_HZ = 2.93e9
SPECS = (("nehalem-ep", "nehalemep"), ("westmere-ep", "westmereep-dp"))

# The uncore has no vendor's file: codes as the kernel's driver shows them in sysfs.
UNCORE = {
    "UNC_QMC_NORMAL_READS.ANY": (0x2C, 0x0F),
    "UNC_QMC_WRITES.FULL.ANY": (0x2F, 0x0F),
    "UNC_QHL_REQUESTS.IOH_READS": (0x20, 0x01),
    "UNC_QHL_REQUESTS.REMOTE_READS": (0x20, 0x04),
    "UNC_QHL_REQUESTS.LOCAL_READS": (0x20, 0x10),
}

failures = []


def check(condition, message):
    if not condition:
        failures.append(message)


def check_events(name, ours, vendor):
    for event, entry in ours.events.items():
        terms = entry.get("topdownd", {})
        if event in UNCORE:
            code, umask = UNCORE[event]
            check(perf_files.our_encoding(entry) == ("uncore", code, (("umask", umask),)), f"{name}: {event} is encoded otherwise")
            continue
        if event.startswith("OFFCORE_RESPONSE.") and event not in vendor:
            continue  # check_pairs judges it
        if event not in vendor:
            failures.append(f"{name}: the vendor has no event {event}")
            continue
        want = perf_files.encoding(vendor[event])
        check(perf_files.our_encoding(entry) == want, f"{name}: {event} is {perf_files.our_encoding(entry)}, the vendor's {want}")
        check(terms.get("counters") == perf_files.vendor_counters(vendor[event]), f"{name}: {event} has other counters than the vendor's")
        fixed = "Fixed" in vendor[event].get("Counter", "")
        check(fixed == (event in ours.spec["topdownd"]["counters"]["fixed"]), f"{name}: {event} and the fixed counters")
        check(bool(terms.get("sampling_only")) == ("LATENCY_ABOVE" in event), f"{name}: {event} and sampling")


def check_pairs(name, ours, vendor):
    """Every published pair of request and response is there, and those that are not published have the bits of their two halves."""
    halves = ({}, {})
    published = [event for event in vendor if event.startswith("OFFCORE_RESPONSE.")]
    for event in published:
        value = int(vendor[event]["MSRValue"], 16)
        for half, part, bits in zip(halves, event.split(".")[1:], (value & 0xFF, value & 0xFF00)):
            half.setdefault(part, set()).add(bits)
    check(all(len(bits) == 1 for half in halves for bits in half.values()), f"{name}: a half of a pair has two meanings")
    pairs = {f"OFFCORE_RESPONSE.{a}.{b}": min(halves[0][a]) | min(halves[1][b]) for a in halves[0] for b in halves[1]}
    found = {event: dict(perf_files.our_encoding(entry)[2])["offcore_rsp"] for event, entry in ours.events.items() if event.startswith("OFFCORE_RESPONSE.")}
    check(found == pairs, f"{name}: other pairs than those of the vendor's requests and responses")
    check(set(published) <= set(found), f"{name}: a published pair is missing")
    return len(pairs), len(published)


def check_matrix(name, ours):
    """The group has a metric for each request bit with each source; the sources share no bit and leave none out."""
    cells = {}
    for metric in ours.groups["Offcore_Matrix"]["metrics"]:
        formula = re.fullmatch(r"1000 \* (OFFCORE_RESPONSE\.\w+\.\w+) / INST_RETIRED\.ANY", ours.metrics[metric]["formula"])
        value = dict(perf_files.our_encoding(ours.events[formula.group(1)])[2])["offcore_rsp"]
        cells.setdefault(value & 0xFF, []).append(value >> 8)
    check(sorted(cells) == [1 << bit for bit in range(8)], f"{name}: the matrix has not a row for each kind of request")
    for row in cells.values():
        check(sum(row) == 0xFF and len(row) == (7 if name == "westmere-ep" else 8), f"{name}: the sources of a row overlap or leave something out")


def expected(count, westmere, smt):
    """The presentation's formulas, one by one."""
    cycles, reference = count("CPU_CLK_UNHALTED.THREAD"), count("CPU_CLK_UNHALTED.REF")
    awake_s = reference / TSC_HZ
    issue_stalls = count("UOPS_ISSUED.CORE_STALL_CYCLES" if smt else "UOPS_ISSUED.STALL_CYCLES")
    rsp = "OFFCORE_RESPONSE.DEMAND_DATA_RD."
    if westmere:
        clean, dirty = count(rsp + "LLC_HIT_OTHER_CORE_HIT"), count(rsp + "LLC_HIT_OTHER_CORE_HITM")
        remote_cache, remote = count(rsp + "REMOTE_CACHE_HITM"), count(rsp + "REMOTE_DRAM")
        local = count(rsp + "ALL_LOCAL_DRAM_AND_REMOTE_CACHE_HIT")
    else:
        dirty = count("MEM_UNCORE_RETIRED.OTHER_CORE_L2_HITM")
        clean = count("MEM_LOAD_RETIRED.OTHER_CORE_L2_HIT_HITM") - dirty
        remote_cache, remote = count("MEM_UNCORE_RETIRED.REMOTE_CACHE_LOCAL_HOME_HIT"), count("MEM_UNCORE_RETIRED.REMOTE_DRAM")
        local = count("MEM_UNCORE_RETIRED.LOCAL_DRAM")
    return {
        "frontend_starvation": (issue_stalls - count("RESOURCE_STALLS.ANY")) / cycles,
        "execution_stalls": count("UOPS_EXECUTED.CORE_STALL_CYCLES") / cycles,
        "dispatch_cycles": count("UOPS_EXECUTED.CORE_ACTIVE_CYCLES") / cycles,
        "stall_llc_unshared": count("MEM_LOAD_RETIRED.LLC_UNSHARED_HIT") * (35 + 40) / 2 / cycles,
        "stall_other_core_clean": clean * 65 / cycles,
        "stall_other_core_modified": dirty * 75 / cycles,
        "stall_remote_cache": remote_cache * 200 / cycles,
        "stall_local_dram": local * 60e-9 / awake_s,
        "stall_remote_dram": remote * 100e-9 / awake_s,
    }


def check_formulas(name, source):
    for turn in range(50):
        for smt in (0, 1):
            counts = perf_files.Counts(f"{SEED}/{turn}")
            ours = perf_files.SpecModel(f"{source}/specs/{name}.json", counts, {"#smt_on": smt, "#system_tsc_freq": TSC_HZ})
            for metric, want in expected(ours.look_up, name == "westmere-ep", smt).items():
                value = ours.metric(metric)
                check(math.isclose(value, want, rel_tol=1e-9), f"{name}: {metric} is {value}, not {want}")
            for metric in ours.metrics:
                check(math.isfinite(ours.metric(metric)), f"{name}: {metric} is not finite")


def main():
    source = sys.argv[1]
    linux = f"{source}/../shared/telemetry/linux/arch/x86"
    if not os.path.isdir(linux):
        print(f"skipped: {linux} is not there")
        return 77
    print(f"seed {SEED}")
    for name, folder in SPECS:
        vendor, _ = perf_files.read_folder(f"{linux}/{folder}")
        ours = perf_files.SpecModel(f"{source}/specs/{name}.json", perf_files.Counts(SEED))
        check_events(name, ours, vendor)
        check_matrix(name, ours)
        pairs, published = check_pairs(name, ours, vendor)
        check_formulas(name, source)
        for problem in ours.problems() + ours.neutral_problems() + perf_files.copied(ours.spec, vendor.values()):
            failures.append(f"{name}: {problem}")
        print(f"{name}: {len(ours.events)} events, {len(ours.metrics)} metrics, {len(ours.groups)} groups, {pairs} pairs of request and response, of which {published} are published")
    for failure in failures[:40]:
        print(f"FAILED {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
