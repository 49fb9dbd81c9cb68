# SPDX-License-Identifier: Apache-2.0
"""The specs of AMD's cores against the vendor's files: encodings, formulas over random counts, completeness, own words.

usage: check_amd.py SOURCE_FOLDER
"""
import math
import os
import sys

import perf_files

SEED = int(os.environ.get("TOPDOWND_SEED", "1"))
ROUNDS = 50

# Events of ours that are a vendor's event with a counter mask. The vendor writes the mask in the formula.
WITH_MASK = {
    "de_no_dispatch_per_slot.no_ops_from_frontend.cmask6": ("de_no_dispatch_per_slot.no_ops_from_frontend", 6),
    "de_no_dispatch_per_slot.no_ops_from_frontend.cmask8": ("de_no_dispatch_per_slot.no_ops_from_frontend", 8),
}

# Deliberate differences. docs/specs.md gives them to users.
# 1. A number of events says nothing without a base: what the vendor gives as a bare count is per 1,000 instructions, under the
#    name that the vendor's newest files use for it (ending in _pti).
COUNTS_PER_1000 = {
    "all_l2_cache_accesses", "l2_cache_accesses_from_l1_ic_misses", "l2_cache_accesses_from_l1_dc_misses", "l2_cache_accesses_from_l2_hwpf",
    "all_l2_cache_misses", "l2_cache_misses_from_l1_ic_miss", "l2_cache_misses_from_l1_dc_miss", "l2_cache_misses_from_l2_hwpf",
    "all_l2_cache_hits", "l2_cache_hits_from_l1_ic_miss", "l2_cache_hits_from_l1_dc_miss", "l2_cache_hits_from_l2_hwpf",
    "l1_data_cache_fills_from_memory", "l1_data_cache_fills_from_remote_node", "l1_data_cache_fills_from_same_ccx",
    "l1_data_cache_fills_from_different_ccx", "all_l1_data_cache_fills", "l1_demand_data_cache_fills_from_local_l2",
    "l1_demand_data_cache_fills_from_same_ccx", "l1_demand_data_cache_fills_from_near_cache", "l1_demand_data_cache_fills_from_near_memory",
    "l1_demand_data_cache_fills_from_far_cache", "l1_demand_data_cache_fills_from_far_memory", "l1_itlb_misses", "l2_itlb_misses",
    "l1_dtlb_misses", "l2_dtlb_misses", "all_tlbs_flushed", "macro_ops_dispatched", "sse_avx_stalls", "macro_ops_retired",
}
# 2. Bytes, where the vendor has megabytes: exported units are base units.
MEGABYTES = {"umc_mem_bandwidth"}
# 3. Left out, with the reason.
LEFT_OUT = {
    "total_dispatch_slots": "is level1.per_thread.pipeline_slots of the spec",
    "l3_cache_accesses": "bare counts of another PMU: l3_miss_ratio has their ratio",
    "l3_misses": "bare counts of another PMU: l3_miss_ratio has their ratio",
    "l3_read_miss_latency.zen4": "needs terms of another PMU",
    "l3_read_miss_latency.zen5": "needs terms of another PMU",
    "l3_read_miss_latency.zen6": "needs terms of another PMU",
    "l3_read_miss_latency_for_local_dram": "needs terms of another PMU",
    "l3_read_miss_latency_for_remote_dram": "needs terms of another PMU",
    "umc_cas_cmd_read_ratio": "needs terms of another PMU",
    "umc_cas_cmd_write_ratio": "needs terms of another PMU",
    "umc_mem_read_bandwidth": "needs terms of another PMU",
    "umc_mem_write_bandwidth": "needs terms of another PMU",
}
LITERALS = {"#system_tsc_freq": 2e9}
LEFT_OUT_GROUPS = {"data_fabric"}  # sums over up to 16 links of another PMU, which differ from part to part

failures = []


def check(condition, message):
    if not condition:
        failures.append(message)


def close(a, b):
    return math.isfinite(a) and math.isfinite(b) and abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1e-9)


def check_events(name, ours, vendor):
    for event, entry in ours.events.items():
        want_name, mask = WITH_MASK.get(event, (event, 0))
        if entry.get("topdownd", {}).get("pmu") in ("msr", "ibs_op", "ibs_fetch"):
            continue  # the kernel's own
        if want_name not in vendor.events:
            failures.append(f"{name}: the vendor has no event {want_name}")
            continue
        pmu, code, terms = perf_files.encoding(vendor.events[want_name])
        if mask:
            terms = tuple(sorted(dict(terms, cmask=mask).items()))
        ours_is = perf_files.our_encoding(entry)
        check(ours_is == (pmu, code, terms), f"{name}: {event} is {ours_is}, the vendor's {(pmu, code, terms)}")


def expected(zen, name, vendor):
    """Our name and value for a vendor's metric; None where it is left out on purpose."""
    entry = vendor.metrics[name]
    if name in LEFT_OUT or f"{name}.{zen}" in LEFT_OUT or entry.get("MetricGroup") in LEFT_OUT_GROUPS:
        return None
    if name in COUNTS_PER_1000:
        return f"{name}_pti", 1000 * vendor.metric(name) / vendor.event("instructions")
    if name in MEGABYTES:
        return name, 1e6 * vendor.metric(name)
    if name.endswith("_pti"):
        return name, vendor.metric(name, scaled=True)
    return name, vendor.metric(name)


def check_formulas(zen, source, folder):
    compared = set()
    for turn in range(ROUNDS):
        counts = perf_files.Counts(f"{SEED}/{turn}")
        vendor = perf_files.VendorModel(folder, counts)
        ours = perf_files.SpecModel(f"{source}/specs/{zen}.json", counts, LITERALS)
        for name in vendor.metrics:
            want = expected(zen, name, vendor)
            if want is None:
                continue
            if want[0] not in ours.metrics:
                check(turn > 0, f"{zen}: the vendor's {name} is missing")
                continue
            value = ours.metric(want[0])
            check(close(value, want[1]), f"{zen}: {want[0]} is {value}, the vendor's {want[1]}")
            compared.add(want[0])
        for name in ours.metrics:
            check(math.isfinite(ours.metric(name)), f"{zen}: {name} is not finite")
    return len(compared)


def check_level1(zen, source):
    """The vendor's five categories are the measured part of all slots of a thread, and each part of the split has whole ones. Ours are all
    slots of the core."""
    counts = perf_files.Counts(SEED)
    ours = perf_files.SpecModel(f"{source}/specs/{zen}.json", counts, LITERALS)
    level1, vendors = ours.spec["topdownd"]["level1"], ours.groups["PipelineL1"]["metrics"]
    slots = perf_files.Formula(level1["per_thread"]["pipeline_slots"], ours.look_up).value()
    found = sum(ours.metric(metric) for metric in vendors) * slots
    want = sum(ours.look_up(f"de_no_dispatch_per_slot.{e}") for e in ("no_ops_from_frontend", "backend_stalls", "smt_contention"))
    check(close(found, want + ours.look_up("de_src_op_disp.all")), f"{zen}: the vendor's categories do not add up")
    core = [metric for category, metric in level1["categories"].items() if category != "smt_contention"]
    check(len(core) == 4 and close(sum(ours.metric(metric) for metric in core), 1), f"{zen}: the categories do not add up")
    cycles = ours.look_up("ls_not_halted_cyc")
    check(slots == level1["width"] * cycles, f"{zen}: pipeline slots are not {level1['width']} a cycle")
    for metric in vendors:
        leaves = ours.leaves(ours.metrics[metric]["formula"])
        check(any(leaves <= set(part) for part in level1["split"]), f"{zen}: no part of the split holds {metric}")


def check_common(source, linux):
    """The events of the specs for many families are the same on each of them."""
    for name, folders in (("amd-generic", range(1, 7)),):
        ours = perf_files.SpecModel(f"{source}/specs/{name}.json", perf_files.Counts(SEED), LITERALS)
        for number in folders:
            events, _ = perf_files.read_folder(f"{linux}/amdzen{number}")
            there = {perf_files.encoding(e) for e in events.values()}
            for event, entry in ours.events.items():
                pmu, code, terms = perf_files.our_encoding(entry)
                if pmu in ("hw_cache", "msr", "ibs_op"):  # the kernel's own
                    continue
                umask = dict(terms).get("umask", 0)
                bits = [(pmu, code, (("umask", 1 << b),)) for b in range(8) if umask >> b & 1]
                known = (pmu, code, terms) in there or (bits and there.issuperset(bits))
                check(known, f"{name}: Zen {number} has no event like {event}")
        yield name, ours


def main():
    source = sys.argv[1]
    linux = f"{source}/../shared/telemetry/linux/arch/x86"
    if not os.path.isdir(linux):
        print(f"skipped: {linux} is not there")
        return 77
    print(f"seed {SEED}")
    entries = []
    for number in range(1, 7):
        events, metrics = perf_files.read_folder(f"{linux}/amdzen{number}")
        entries += list(events.values()) + list(metrics.values())
    for number in range(1, 7):
        zen, folder = f"zen{number}", f"{linux}/amdzen{number}"
        counts = perf_files.Counts(SEED)
        ours, vendor = perf_files.SpecModel(f"{source}/specs/{zen}.json", counts, LITERALS), perf_files.VendorModel(folder, counts)
        check_events(zen, ours, vendor)
        compared = check_formulas(zen, source, folder)
        neutral = [] if number == 1 else ours.neutral_problems()  # no event tells fills from outside the core complex
        for problem in ours.problems() + neutral + perf_files.copied(ours.spec, entries):
            failures.append(f"{zen}: {problem}")
        if number >= 4:
            check_level1(zen, source)
        print(f"{zen}: {len(ours.events)} events, {len(ours.metrics)} metrics, {compared} compared with the vendor's over {ROUNDS} draws")
    for name, ours in check_common(source, linux):
        for problem in ours.problems() + perf_files.copied(ours.spec, entries):
            failures.append(f"{name}: {problem}")
    for failure in failures[:40]:
        print(f"FAILED {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
