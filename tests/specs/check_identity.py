# SPDX-License-Identifier: Apache-2.0
"""specs/cpus.json against the vendors' own maps: every CPU that those have gets the spec of that name, and no other does.

Linux's mapfile.csv for x86, over all models and steppings; Arm's mapping.json and Linux's mapfile.csv for Arm, where each MIDR that
is for one of our cores leads to it. What the maps do not say, or say of another core, is in the tables here."""

import json
import os
import re
import sys

ROOT = os.path.abspath(sys.argv[1])
TELEMETRY = os.path.join(ROOT, "../shared/telemetry")
# Linux's folder to our spec, of a hybrid CPU that of its larger cores; all other folders have none of their own
X86 = {"nehalemep": "nehalem-ep", "westmereep-dp": "westmere-ep", "jaketown": "sandy-bridge-ep", "ivytown": "ivy-bridge-ep",
       "haswellx": "haswell-ep", "broadwellx": "broadwell-ep", "skylakex": "skylake-sp", "cascadelakex": "cascade-lake",
       "icelakex": "ice-lake-sp", "sapphirerapids": "sapphire-rapids", "emeraldrapids": "emerald-rapids",
       "graniterapids": "granite-rapids", "sierraforest": "sierra-forest", "clearwaterforest": "clearwater-forest",
       "grandridge": "grand-ridge", "alderlake": "golden-cove", "alderlaken": "gracemont", "meteorlake": "redwood-cove",
       "lunarlake": "lion-cove", "arrowlake": "lion-cove", "pantherlake": "cougar-cove", "amdzen1": "zen1", "amdzen2": "zen2",
       "amdzen3": "zen3", "amdzen4": "zen4", "amdzen5": "zen5", "amdzen6": "zen6"}
FAMILIES = [("GenuineIntel", 6), ("GenuineIntel", 15), ("GenuineIntel", 18), ("AuthenticAMD", 16), ("AuthenticAMD", 23),
            ("AuthenticAMD", 25), ("AuthenticAMD", 26)]
# Linux's folders for cores of other designers to our spec
OTHER_ARM = {"ampere/ampereone": "ampereone", "ampere/ampereonex": "ampereonex", "nvidia/t410": "olympus", "hisilicon/hip08": "kunpeng-920",
             "fujitsu/a64fx": "a64fx", "fujitsu/monaka": "monaka"}
# part number to our spec (Arm's implementer, 0x41); N2 and C1-Pro by revision below
ARM = {"d0c": "neoverse-n1", "d49": "neoverse-n2", "d8e": "neoverse-n3", "d40": "neoverse-v1", "d4f": "neoverse-v2", "d83": "neoverse-v3",
       "d84": "neoverse-v3", "d8a": "c1-nano", "d8b": "c1-pro", "d90": "c1-premium", "d8c": "c1-ultra"}
# MIDR_EL1 of parts that are sold, with their variant and revision
SOLD = {0x413fd0c1: "neoverse-n1",  # Graviton 2, Ampere Altra and Altra Max
        0x411fd401: "neoverse-v1",  # Graviton 3
        0x410fd4f0: "neoverse-v2",  # Grace, Axion
        0x410fd4f1: "neoverse-v2",  # Graviton 4
        0x410fd490: "neoverse-n2",  # Yitian 710
        0x6d0fd490: "neoverse-n2",  # Cobalt 100: an implementer's code of its own
        0x6d0fd493: "neoverse-n2-r0p3"}


def matches(pattern, cpu):
    """perf's rule: for the whole text, without the stepping unless the pattern has three '-'."""
    text = cpu if pattern.count("-") == 3 else cpu.rsplit("-", 1)[0]
    return re.fullmatch(pattern.replace("[:xdigit:]", "0-9A-Fa-f"), text) is not None


def first(rows, cpu):
    return next((value for pattern, value in rows if matches(pattern, cpu)), None)


def midr_spec(rows, midr):
    """The entry of the same implementer, architecture and part with the latest variant and revision that the CPU has reached."""
    reached = [(entry >> 16 & 0xf0 | entry & 0xf, spec) for entry, spec in rows
               if (entry ^ midr) & 0xff0ffff0 == 0 and entry >> 16 & 0xf0 | entry & 0xf <= midr >> 16 & 0xf0 | midr & 0xf]
    return max(reached, default=(0, None))[1]


def check_x86(cpus, linux):
    with open(os.path.join(TELEMETRY, "linux/arch/x86/mapfile.csv"), encoding="utf-8") as file:
        theirs = [tuple(line.split(",")[0:3:2]) for line in file.read().splitlines()[1:] if line]
    ours = [(pattern, row["spec"]) for row in cpus for pattern in row.get("cpuid", [])]
    folders = [(pattern, row["folder"]) for row in linux for pattern in row.get("cpuid", [])]
    wrong, n = [], 0
    for vendor, family in FAMILIES:
        for model in range(256):
            for stepping in range(16):
                cpu = f"{vendor}-{family}-{model:X}-{stepping:X}"
                expected, spec = X86.get(first(theirs, cpu)), first(ours, cpu)
                n += expected is not None
                folder = first(theirs, cpu)
                if not expected and first(folders, cpu) != (folder and f"x86/{folder}"):
                    wrong.append(f"{cpu}: {first(folders, cpu)} among the rows of linux, Linux has it as {folder}")
                if spec != expected:
                    wrong.append(f"{cpu}: {spec}, Linux has it as {first(theirs, cpu)}")
    missing = set(X86) - {folder for _, folder in theirs}
    assert not wrong and not missing, "\n".join([*wrong[:20], *missing])
    return n


def check_arm(cpus, others):
    rows = [(int(text, 16), row["spec"]) for row in cpus for text in row.get("midr", [])]
    with open(os.path.join(TELEMETRY, "arm/mapping.json"), encoding="utf-8") as file:
        theirs = {key: value["name"] for key, value in json.load(file).items()}
    with open(os.path.join(TELEMETRY, "linux/arch/arm64/mapfile.csv"), encoding="utf-8") as file:
        rows_of_linux = re.findall(r"^0x0*([0-9a-f]{8}),\w+,([\w/-]+),", file.read(), re.M)
    linux = [(midr, folder[4:]) for midr, folder in rows_of_linux if folder.startswith("arm/neoverse-")]
    without = {(f"0x{midr}", f"arm64/{folder}") for midr, folder in rows_of_linux if not folder.startswith("arm/neoverse-") and folder not in OTHER_ARM}
    assert without == {(midr, row["folder"]) for row in others for midr in row.get("midr", [])}, without
    for key, name in theirs.items():  # 0x41d49: any variant and revision; 0x410fd493: this one
        midr = int(key, 16) if len(key) == 10 else int(f"{key[2:4]}0f{key[4:]}0", 16)
        core = re.match(r"(?:arm_)?(\w+?)_r(\d)p(\d)_pmu", name)
        spec = midr_spec(rows, midr)
        assert spec and spec.replace("-r0p3", "") == core[1].replace("_", "-"), (key, name, spec)
        if core[1] == "neoverse_n2" and len(key) == 10:
            assert spec == "neoverse-n2-r0p3", (key, name, spec)
        assert spec.replace("-r0p3", "") == ARM[f"{midr >> 4 & 0xfff:x}"], (key, spec)
    for text, folder in linux:
        spec = midr_spec(rows, int(text, 16))
        assert spec in ("neoverse-n2", "neoverse-v2") if folder == "neoverse-n2-v2" else spec == folder, (text, folder, spec)
    for midr, expected in SOLD.items():
        assert midr_spec(rows, midr) == expected, (hex(midr), midr_spec(rows, midr))
    for text, folder in rows_of_linux:
        assert midr_spec(rows, int(text, 16)) == OTHER_ARM[folder] if folder in OTHER_ARM else True, (text, folder)
    known = {spec.replace("-r0p3", "") for _, spec in rows}
    assert known == set(ARM.values()) | set(OTHER_ARM.values()), known ^ set(ARM.values())
    return len(theirs) + len(linux) + len(SOLD)


def main():
    if not os.path.isdir(TELEMETRY):
        print("skipped: the vendors' files are not there")
        return 77
    with open(os.path.join(ROOT, "specs/cpus.json"), encoding="utf-8") as file:
        rows = json.load(file)
    print(f"{check_x86(rows['cpus'], rows['linux'])} x86 CPUs, {check_arm(rows['cpus'], rows['linux'])} Arm MIDRs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
