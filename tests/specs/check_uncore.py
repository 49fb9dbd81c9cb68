# SPDX-License-Identifier: Apache-2.0
"""specs/uncore against the vendors' files: every event has the vendor's code, and a count of it stands for as many bytes as the
vendor's own metrics say.

usage: check_uncore.py SOURCE_FOLDER
"""
import glob
import json
import os
import re
import sys

ROOT = sys.argv[1] if len(sys.argv) > 1 else "."
ARM = os.path.join(ROOT, "../shared/telemetry/arm/cmn/cmn_700_r0p0_pmu.json")
TREE = os.path.join(ROOT, "../shared/telemetry/linux/arch")

# specs/uncore/SPEC: the vendor's folders in which every event must be the same, by the CPUs of specs/uncore/kinds.json
FOLDERS = {
    "sandy-bridge-ep": "x86/jaketown", "ivy-bridge-ep": "x86/ivytown", "haswell-ep": "x86/haswellx", "broadwell-ep": "x86/broadwellx",
    "skylake-sp": "x86/skylakex", "cascade-lake": "x86/cascadelakex", "ice-lake-sp": "x86/icelakex",
    "sapphire-rapids": "x86/sapphirerapids", "emerald-rapids": "x86/emeraldrapids", "granite-rapids": "x86/graniterapids",
    "sierra-forest": "x86/sierraforest", "clearwater-forest": "x86/clearwaterforest", "grand-ridge": "x86/grandridge",
    "golden-cove": "x86/alderlake", "redwood-cove": "x86/meteorlake", "lion-cove": "x86/lunarlake", "cougar-cove": "x86/pantherlake",
    "zen1": "x86/amdzen1", "zen2": "x86/amdzen2", "zen3": "x86/amdzen3", "zen4": "x86/amdzen4", "zen5": "x86/amdzen5",
    "zen6": "x86/amdzen6", "kunpeng-920": "arm64/hisilicon/hip08", "neoverse-*": "arm64/arm/cmn/sys",
}
YITIAN = "arm64/thead/yitian710/sys"
TERMS = (("UMask", "umask"), ("RdWrMask", "rdwrmask"), ("EnAllCores", "enallcores"), ("EnAllSlices", "enallslices"),
         ("SliceId", "sliceid"), ("ThreadMask", "threadmask"), ("NodeType", "type"), ("PortMask", "ch_mask"), ("FCMask", "fc_mask"))
# in the vendor's files under other names: each controller has its own there, or the event is one of the kernel's
SYNONYMS = {"UNC_MC_RDCAS_COUNT_FREERUN": "UNC_MC0_RDCAS_COUNT_FREERUN", "UNC_MC_WRCAS_COUNT_FREERUN": "UNC_MC0_WRCAS_COUNT_FREERUN"}
# what no file of the vendors has: the drivers of the kernel say it (docs/specs.md)
OF_DRIVERS = {"dmc-620", "mcu-ampereone", "mac-monaka", "scf-grace", "scf-remote-grace", "scf-vera", "ucf-vera", "dsu", "qmc-nehalem",
              "qhl-nehalem", "mesh-memory-cmn-s3", "cxl-device", "cxl-vera", "pcie-grace", "pcie-vera", "c2c-grace", "dwc-pcie"}
# the metric of the vendor, its events, and the bytes that it takes a count for
MIB, MB = 1024 * 1024, 1000000
SCALES = {"MiB": MIB, "MB/s": MB}

failures = []


def check(condition, message):
    if not condition:
        failures.append(message)


def number(text):
    return int(str(text), 16) if str(text).lower().startswith("0x") else int(text)


def read(folder):
    """The events, {name: (code, terms)}, and the metrics of a vendor's folder."""
    events, metrics = {}, {}
    for path in sorted(glob.glob(os.path.join(TREE, folder, "*.json"))):
        with open(path, encoding="utf-8") as file:
            entries = json.load(file)
        for entry in entries if isinstance(entries, list) else []:
            code = next((entry[key] for key in ("EventCode", "ConfigCode", "EventidCode") if key in entry), "0")
            if "EventName" in entry and "," not in code and "MetricExpr" not in entry:
                terms = {term: number(entry[key]) for key, term in TERMS if key in entry and number(entry[key])}
                # The home agents' filter of opcodes is in the upper half of config1, as the kernel's format and perf have it.
                terms |= {term: number(value) << (32 if term == "config1" and number(value) < 1 << 32 else 0)
                          for term, value in re.findall(r"(\w+)=(\w+)", entry.get("Filter", ""))}
                events[entry["EventName"]] = (number(code), terms)
            elif "MetricName" in entry:
                metrics[entry["MetricName"]] = entry
    return events, metrics


def read_mesh():
    """The events of Arm's own file as the kernel's driver has them: a node's type, and its number of a filter."""
    with open(ARM, encoding="utf-8") as file:
        nodes = json.load(file)["components"]
    hns = {"type": 0x200}
    events = {"SYS_CMN_CYCLES": (0, {"type": 3}), "hnf_cache_miss": (1, {"type": 5}), "hnf_slc_sf_cache_access": (2, {"type": 5}),
              "hns_cache_miss_all": (1, hns), "hns_slc_sf_cache_access_all": (2, hns), "hns_cache_miss_hbt": (1, hns | {"occupid": 1}),
              "hns_cache_miss_lbt": (1, hns | {"occupid": 2})}
    for node in nodes.values():
        kind = node["product_configuration"].get("device_id")
        of_node = node.get("filter_specification", {}).get("filters", {})
        filters = of_node.get("occupancy_filter", {}).get("encodings", {})
        for name, event in node["events"].items():
            if "code" not in event:
                continue
            events[name] = (number(event["code"]), {"type": kind})
            if name.endswith("POCQ_OCCUPANCY"):
                events |= {f"{name}.{word}": (number(event["code"]), {"type": kind, "occupid": entry["encoding"]}) for word, entry in filters.items()}
            if name == "PMU_HNS_CACHE_MISS":
                events |= {f"{name}.{word}": (1, {"type": kind, "occupid": entry["encoding"]})
                           for word, entry in of_node["hbt_lbt_filter"]["encodings"].items()}
    return events, {}


def ours(spec):
    with open(os.path.join(ROOT, f"specs/uncore/{spec}.json"), encoding="utf-8") as file:
        entry = json.load(file)
    events = {name: (number(event["code"]), {term: number(value) for term, value in event.get("topdownd", {}).items()
                                             if term not in ("takes", "counters", "must_count", "dead_on", "known_as") and number(value)})
              for name, event in entry["events"].items()}
    factors = {}
    for metric in entry["metrics"].values():
        if "traffic" in metric.get("topdownd", {}):
            factor = re.match(r"([\d./ ]+) \*", metric["formula"])
            factors.update({name: eval(factor.group(1)) if factor else 1 for name in metric["events"]})  # digits and / only
    return events, factors


def vendor_bytes(metrics):
    """{event: bytes} as far as metrics that are one factor times a sum of events say it."""
    found = {}
    for metric in metrics.values():
        names = re.findall(r"[A-Za-z_][\w.]+", metric["MetricExpr"])
        gigabytes = re.match(r"\(?(\d+) \* (UNC[\w.]+) / 1e9 / tma_info_system_time", metric["MetricExpr"])
        if gigabytes:
            found[gigabytes.group(2)] = float(gigabytes.group(1))
        unit = re.match(r"([\d.e-]+)(MiB|MB/s)$", metric.get("ScaleUnit", ""))
        if not unit or not re.fullmatch(r"[\s\w.()+*/]+", metric["MetricExpr"]):
            continue
        values = {name: 1.0 for name in names}
        try:
            total = eval(re.sub(r"[A-Za-z_][\w.]+", lambda match: f"values['{match.group()}']", metric["MetricExpr"]))
        except (SyntaxError, TypeError, ZeroDivisionError):
            continue
        events = [name for name in names if name != "duration_time"]
        scale = float(unit.group(1)) * SCALES[unit.group(2)]
        found.update({name: total / len(events) * scale for name in events})
    return found


def all_parts(name, events):
    """Of an event of single ports, the one that counts all of them: their masks together."""
    parts = [events[part] for part in events if re.fullmatch(re.escape(name).replace("ALL_PARTS", r"PART\d"), part)]
    if not name.endswith(".ALL_PARTS") or not parts:
        return None
    code, terms = parts[0]
    return code, terms | {"ch_mask": sum(of_part["ch_mask"] for _, of_part in parts)}


def compare(cpu, spec, folder):
    """How many events and factors of the spec the vendor's folder has. All of the events must be there."""
    events, metrics = read_mesh() if spec in ("mesh-cmn-700", "mesh-cmn-s3", "mesh-home-cmn-s3") else read(folder)
    mine, factors = ours(spec)
    theirs = vendor_bytes(metrics)
    compared = [0, 0]
    for name, code in mine.items():
        of_vendor = events.get(name) or events.get(SYNONYMS.get(name)) or all_parts(name, events)
        check(of_vendor is not None, f"{cpu}: {spec}: the vendor has no event {name}")
        check(of_vendor is None or of_vendor == code, f"{cpu}: {spec}: {name} is {code}, the vendor's {of_vendor}")
        compared[0] += of_vendor is not None
        if name in factors and name in theirs:
            # the vendor rounds 64 bytes to 6.1e-5 MiB, and 32 to 3e-5
            check(abs(theirs[name] / factors[name] - 1) < 0.02, f"{cpu}: {spec}: {name} is {factors[name]} bytes, the vendor's {theirs[name]}")
            compared[1] += 1
    return compared


def main():
    if not os.path.isdir(TREE):
        print("the vendors' files are not there")
        return 77
    with open(os.path.join(ROOT, "specs/uncore/kinds.json"), encoding="utf-8") as file:
        kinds = json.load(file)["kinds"]
    n, done = [0, 0], set()
    for kind in kinds:
        for cpu in kind["cpus"]:
            folder = YITIAN if kind["spec"] == "drw-yitian" else FOLDERS.get(cpu)
            if not folder or kind["spec"] in OF_DRIVERS or kind["spec"] == "imc-free-running" and folder.endswith(("lunarlake", "pantherlake")):
                continue
            n = [a + b for a, b in zip(n, compare(cpu, kind["spec"], folder))]
            done.add(kind["spec"])
    missing = {kind["spec"] for kind in kinds} - done - OF_DRIVERS
    check(not missing, f"compared with no file: {missing}")
    check(n[1] > 60, f"only {n[1]} factors were compared")
    for failure in failures:
        print(failure)
    print(f"{n[0]} events, {n[1]} of them with the vendor's own bytes")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
