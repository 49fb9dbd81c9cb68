# SPDX-License-Identifier: Apache-2.0
"""What `topdownd list events` would give to perf_event_open, against what perf itself gives.

In a mount namespace of its own, perf sees PMUs that this test has made up from files: their types, the formats of their terms and
the events that the kernel names. PERF_CPUID makes it take the names from its own tables for a CPU that is not there. The newest
perf that can be had knows most CPUs; the installed one does for the older ones.
"""

import json
import os
import random
import re
import shutil
import subprocess
import tempfile

import e2e
import newer_perf
import test_hosts

BINARY, ROOT = e2e.arguments()
TREE = os.path.join(ROOT, "../shared/telemetry/linux")
SEED = 20261121
SAMPLE = 40  # events of a CPU; each is a run of perf
FIRST_TYPE = 1000  # no PMU of this machine's

INTEL = {"event": "config:0-7", "umask": "config:8-15", "edge": "config:18", "pc": "config:19", "any": "config:21",
         "inv": "config:23", "cmask": "config:24-31", "offcore_rsp": "config1:0-63", "ldlat": "config1:0-15",
         "frontend": "config1:0-23"}
AMD = {"event": "config:0-7,32-35", "umask": "config:8-15", "edge": "config:18", "inv": "config:23",
       "cmask": "config:24-31"}
# Linux, arch/x86/events/intel/core.c: the names under /sys/bus/event_source/devices/cpu/events
KERNEL_EVENTS = {"slots": "event=0x00,umask=0x4"} | {
    f"topdown-{name}": f"event=0x00,umask=0x{umask:x}" for umask, name in enumerate(
        ("retiring", "bad-spec", "fe-bound", "be-bound", "heavy-ops", "br-mispredict", "fetch-lat", "mem-bound"), 0x80)}

# Linux, arch/x86/events/amd/uncore.c: as Family 17h has them, and from 19h on with PerfMonV2
AMD_17 = {"amd_l3": {"event": "config:0-7", "umask": "config:8-15", "slicemask": "config:48-51", "threadmask": "config:56-63"},
          "amd_df": {"event": "config:0-7,32-35,59-60", "umask": "config:8-15"}}
AMD_19 = {"amd_l3": {"event": "config:0-7", "umask": "config:8-15", "coreid": "config:42-44", "enallslices": "config:46",
                     "enallcores": "config:47", "sliceid": "config:48-50", "threadmask": "config:56-57"},
          "amd_df": AMD_17["amd_df"]}
AMD_V2 = AMD_19 | {"amd_df": {"event": "config:0-7,32-37", "umask": "config:8-15,24-27"},
                   "amd_umc": {"event": "config:0-7", "rdwrmask": "config:8-9"}}
# uncore_snb.c, with the kernel's own names for the events of the spec
NEHALEM_UNCORE = {"uncore": {"event": "config:0-7", "umask": "config:8-15", "edge": "config:18", "inv": "config:23",
                             "cmask": "config:24-31"}}
NEHALEM_NAMES = {"qmc_normal_reads_any": ("UNC_QMC_NORMAL_READS.ANY", "event=0x2c,umask=0x0f"),
                 "qmc_writes_full_any": ("UNC_QMC_WRITES.FULL.ANY", "event=0x2f,umask=0x0f"),
                 "qhl_request_ioh_reads": ("UNC_QHL_REQUESTS.IOH_READS", "event=0x20,umask=0x01"),
                 "qhl_request_remote_reads": ("UNC_QHL_REQUESTS.REMOTE_READS", "event=0x20,umask=0x04"),
                 "qhl_request_local_reads": ("UNC_QHL_REQUESTS.LOCAL_READS", "event=0x20,umask=0x10")}
# uncore_snbep.c, the boxes whose events need more than an event and a umask
BOX = {"event": "config:0-7", "umask": "config:8-15", "edge": "config:18", "inv": "config:23", "thresh": "config:24-31"}
HASWELL_BOXES = {"uncore_cbox": BOX | {"filter_state": "config1:17-23", "filter_opc": "config1:52-60", "filter_nid": "config1:32-47"},
                 "uncore_pcu": {"event": "config:0-7", "occ_sel": "config:14-15", "edge": "config:18"},
                 "uncore_qpi": BOX | {"event": "config:0-7,21"}, "uncore_ha": BOX, "uncore_imc": BOX}
SKYLAKE_BOXES = {"uncore_cha": BOX, "uncore_imc": BOX, "uncore_upi": BOX | {"umask": "config:8-15,32-43,45-55"},
                 "uncore_iio": BOX | {"ch_mask": "config:36-43", "fc_mask": "config:44-46"}}
ICE_LAKE_BOXES = {"uncore_cha": BOX | {"umask": "config:8-15,32-63"}, "uncore_upi": BOX | {"umask": "config:8-15,32-55"},
                  "uncore_m2m": BOX | {"umask": "config:8-15,32-55"}, "uncore_imc": BOX, "uncore_irp": BOX,
                  "uncore_iio": BOX | {"ch_mask": "config:36-47", "fc_mask": "config:48-50"}}

CPUS = {
    "nehalem-ep": ("GenuineIntel-6-1A-5", INTEL, {}), "westmere-ep": ("GenuineIntel-6-2C-2", INTEL, {}),
    "sandy-bridge-ep": ("GenuineIntel-6-2D-7", INTEL, {}), "ivy-bridge-ep": ("GenuineIntel-6-3E-4", INTEL, {}),
    "haswell-ep": ("GenuineIntel-6-3F-2", INTEL, HASWELL_BOXES), "broadwell-ep": ("GenuineIntel-6-4F-1", INTEL, HASWELL_BOXES),
    "skylake-sp": ("GenuineIntel-6-55-4", INTEL, SKYLAKE_BOXES), "cascade-lake": ("GenuineIntel-6-55-7", INTEL, SKYLAKE_BOXES),
    "ice-lake-sp": ("GenuineIntel-6-6A-6", INTEL, ICE_LAKE_BOXES), "sapphire-rapids": ("GenuineIntel-6-8F-4", INTEL, ICE_LAKE_BOXES),
    "zen1": ("AuthenticAMD-23-1-2", AMD, AMD_17), "zen2": ("AuthenticAMD-23-31-0", AMD, AMD_17), "zen3": ("AuthenticAMD-25-1-1", AMD, AMD_19),
}
# perf knows these only in later versions than the one of Debian 12, which takes Zen 3's names for Zen 4 and 5
LATER_CPUS = {
    "emerald-rapids": ("GenuineIntel-6-CF-2", INTEL, ICE_LAKE_BOXES), "granite-rapids": ("GenuineIntel-6-AD-1", INTEL, ICE_LAKE_BOXES),
    "sierra-forest": ("GenuineIntel-6-AF-3", INTEL, ICE_LAKE_BOXES), "grand-ridge": ("GenuineIntel-6-B6-0", INTEL, {}),
    "zen4": ("AuthenticAMD-25-11-1", AMD, AMD_V2), "zen5": ("AuthenticAMD-26-2-1", AMD, AMD_V2),
}

# from Lunar Lake on, the kernel's format has more bits for the unit mask
INTEL_WIDE = INTEL | {"umask": "config:8-15,40-47"}
HYBRID_CPUS = {
    "golden-cove": ("GenuineIntel-6-97-2", "cpu_core", INTEL), "gracemont": ("GenuineIntel-6-97-2", "cpu_atom", INTEL),
    "redwood-cove": ("GenuineIntel-6-AA-4", "cpu_core", INTEL), "crestmont": ("GenuineIntel-6-AA-4", "cpu_atom", INTEL),
    "lion-cove": ("GenuineIntel-6-BD-1", "cpu_core", INTEL_WIDE), "skymont": ("GenuineIntel-6-BD-1", "cpu_atom", INTEL_WIDE),
}
HYBRID_SAMPLE = 30
HYBRID_NEW = {"lion-cove", "skymont"}  # all of their events: this perf knows few of the vendor's names

# where the vendor's table is wrong and our specs are not (docs/specs.md)
DELIBERATE = {("skylake-sp", "FP_ARITH_INST_RETIRED.8_FLOPS"), ("cascade-lake", "FP_ARITH_INST_RETIRED.8_FLOPS")}

ARM = {"armv8_pmuv3_0": {"event": "config:0-15"}}  # Linux, drivers/perf/arm_pmuv3.c
ARM_CPUS = {"neoverse-n1": "0x00000000410fd0c0", "neoverse-n2": "0x00000000410fd490", "neoverse-v1": "0x00000000410fd400",
            "neoverse-v2": "0x00000000410fd4f0", "ampereone": "0x00000000c00fac30", "a64fx": "0x00000000460f0010"}
ARM_SAMPLE = 12  # in QEMU

SCRIPT = """mount --bind "$1" /sys/bus/event_source/devices || exit 99
perf=$2
shift 2
for event in "$@"; do echo "== $event"; sh "$perf" stat -vv -e "$event" true 2>&1; done
"""


class Perf:
    """The newest perf that can be had."""

    def __init__(self, arm=False):
        need_namespace()
        self.folder = None
        try:
            self.program = newer_perf.newer_perf(arm)
        except (AssertionError, OSError) as reason:
            if arm or not shutil.which("perf"):
                raise e2e.Skip(f"no perf: {reason}") from reason
            print(f"the installed perf: {reason}")
            self.folder = tempfile.TemporaryDirectory()
            self.program = e2e.write_text(os.path.join(self.folder.name, "perf"), 'exec perf "$@"\n')
        said = subprocess.run(["sh", self.program, "--version"], capture_output=True, text=True, check=True).stdout
        self.version = tuple(int(number) for number in re.findall(r"\d+", said)[:2])

    def cpus(self):
        return CPUS | (LATER_CPUS if self.is_new() else {})

    def is_new(self):
        return self.version >= (6, 11)

    def ask(self, cpuid, pmus, names):
        """{(name, PMU): the attributes that perf would use}, without those that perf does not know. `pmus`: {name: format}.
        Of an event that it does not know, some versions of perf print bytes that are no text."""
        with tempfile.TemporaryDirectory() as folder:
            types = make_pmus(folder, pmus)
            done = subprocess.run(["unshare", "-m", "sh", "-c", SCRIPT, "sh", folder, self.program, *names], capture_output=True,
                                  text=True, errors="replace", env=os.environ | {"PERF_CPUID": cpuid}, timeout=e2e.TIMEOUT)
        assert done.returncode != 99, done.stderr
        found = {}
        for part in re.split(r"^== ", done.stdout, flags=re.M)[1:]:
            name, _, rest = part.partition("\n")
            attr = re.search(r"^perf_event_attr:\n(.*?)^-----", rest, re.M | re.S)
            fields = dict(re.findall(r"^  ([\w{}, ]+?) +(\S+)(?: \(.*\))?$", attr.group(1), re.M)) if attr else {}
            if fields.get("type", "0") in types:  # without one it is a software event: 0x0 is left out
                found[name, types[fields["type"]]] = tuple(int(fields.get(key, fields.get(other, "0")), 0) for key, other in (
                    ("config", "-"), ("config1", "{ bp_addr, config1 }"), ("config2", "{ bp_len, config2 }")))
        return found


def make_pmus(folder, pmus):
    """The kernel's files of each PMU; {type: PMU}. All but cpu count for a socket, and have a number behind the name."""
    types = {}
    for number, (name, format_) in enumerate(pmus.items(), FIRST_TYPE):
        cores = ("cpu", "cpu_core", "cpu_atom", *ARM)
        pmu = os.path.join(folder, name if name in ("amd_l3", "amd_df", "uncore", *cores) else f"{name}_0")
        e2e.write_text(os.path.join(pmu, "type"), f"{number}\n")
        if name != "cpu":
            e2e.write_text(os.path.join(pmu, "cpus" if name in cores else "cpumask"), "0\n")
        events = KERNEL_EVENTS if format_ in (INTEL, INTEL_WIDE) and name != "cpu_atom" else {}
        if format_ is NEHALEM_UNCORE["uncore"]:
            events = {event: terms for event, (_, terms) in NEHALEM_NAMES.items()}
        for file, text in [(f"format/{term}", bits) for term, bits in format_.items()] + [
                (f"events/{event}", terms) for event, terms in events.items()]:
            e2e.write_text(os.path.join(pmu, file), text + "\n")
        types[str(number)] = name
    return types


def need_namespace():
    if not shutil.which("unshare"):
        raise e2e.Skip("unshare is not installed")
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        raise e2e.Skip("a mount namespace needs root")
    if os.uname().machine != "x86_64":
        raise e2e.Skip("perf knows other vendors' events only on their own architecture")
    if not os.path.isdir("/sys/bus/event_source/devices"):
        raise e2e.Skip("there is no /sys/bus/event_source/devices")


def list_events(*options):
    done = subprocess.run([BINARY, "list", "events", *options, "--json", "--path.data", ROOT], capture_output=True, text=True,
                          timeout=e2e.TIMEOUT)
    assert done.returncode == 0, done.stderr
    return [event for event in json.loads(done.stdout) if event["pmu"] != "software"]  # those have no encoding of perf's tables


def list_vendors_events(cpuid, format_):
    """Those that the vendor's files have for a CPU, on a host which shows the format of the core's PMU alone."""
    with tempfile.TemporaryDirectory() as folder:
        test_hosts.x86_host(folder, cpuid, form=format_, events=test_hosts.SLOTS)
        config = e2e.write_text(os.path.join(folder, "made-up.yaml"), f"specs: {{path: '{TREE}', format: perf}}\n")
        return list_events("--config", config, "--path.sysfs", folder, "--path.procfs", folder)


def compare(title, events, truth, wrong):
    """How many of the events perf knows, by PMU. What differs is added to `wrong`."""
    known = {}
    for event in events:
        if (event["name"], event["pmu"]) not in truth:
            continue
        expected = truth[event["name"], event["pmu"]]
        known[event["pmu"]] = known.get(event["pmu"], 0) + 1
        ours = event["config"] and tuple(int(event[key], 16) for key in ("config", "config1", "config2"))
        if ours != expected:
            wrong.append(f"{title} {event['pmu']} {event['name']} ({event['terms']}): {ours and [hex(x) for x in ours]} "
                         f"{event['not_encoded'] or ''}, perf: {[hex(x) for x in expected]}")
    return known


def test_events_are_encoded_as_perf_encodes_them():
    perf = Perf()
    print(f"seed {SEED}")
    compared, wrong = {}, []
    for spec, (cpuid, format_, others) in perf.cpus().items():
        events = list_events("--cpu", spec)
        core = [event for event in events if event["pmu"] == "cpu" and (spec, event["name"]) not in DELIBERATE]
        chosen = random.Random(f"{SEED} {spec}").sample(core, min(SAMPLE, len(core)))
        chosen += [event for event in core if event["name"] in KERNEL_EVENTS and event not in chosen]
        chosen += [event for event in events if event["pmu"] in others]
        truth = perf.ask(cpuid, {"cpu": format_} | others, [event["name"] for event in chosen])
        compared[spec] = compare(spec, chosen, truth, wrong)
    assert not wrong, "\n".join(wrong)
    assert all(known.get("cpu", 0) >= 10 for known in compared.values()), f"perf knows too few of our names: {compared}"
    assert all(compared[spec].get("amd_l3", 0) >= 2 for spec in compared if spec.startswith("zen")), compared
    assert all(compared[spec].get("amd_umc", 0) >= 4 for spec in ("zen4", "zen5") if spec in compared), compared
    return (f"{sum(sum(known.values()) for known in compared.values())} events of {len(compared)} CPUs, "
            f"perf {'.'.join(map(str, perf.version))}")


def test_nehalems_uncore_is_encoded_as_perf_encodes_the_kernels_own_names():
    perf = Perf()
    truth = perf.ask("GenuineIntel-6-1A-5", {"cpu": INTEL} | NEHALEM_UNCORE, [f"uncore/{name}/" for name in NEHALEM_NAMES])
    truth = {(NEHALEM_NAMES[name[7:-1]][0], pmu): attributes for (name, pmu), attributes in truth.items()}
    for spec in ("nehalem-ep", "westmere-ep"):
        wrong = []
        assert compare(spec, list_events("--cpu", spec), truth, wrong) == {"uncore": 5} and not wrong, wrong


def test_events_of_hybrid_cpus_are_encoded_as_perf_encodes_them():
    perf = Perf()
    if not perf.is_new():
        raise e2e.Skip("this perf knows too few of these CPUs")
    print(f"seed {SEED}")
    compared, wrong = {}, []
    for spec, (cpuid, pmu, format_) in HYBRID_CPUS.items():
        events = list_events("--cpu", spec)
        chosen = events if spec in HYBRID_NEW else random.Random(f"{SEED} {spec}").sample(events, HYBRID_SAMPLE)
        both = {name: format_ for name in ("cpu_core", "cpu_atom")}
        asked = perf.ask(cpuid, both, [f"{pmu}/{event['name']}/" for event in chosen])
        truth = {(name[len(pmu) + 1:-1], "cpu"): attributes for (name, of), attributes in asked.items() if of == pmu}
        compared[spec] = compare(spec, chosen, truth, wrong)
    assert not wrong, "\n".join(wrong)
    assert all(known.get("cpu", 0) >= 10 for known in compared.values()), f"perf knows too few of our names: {compared}"
    return f"{sum(sum(known.values()) for known in compared.values())} events of {len(compared)} cores"


def test_events_of_arms_cores_are_encoded_as_perf_encodes_them():
    perf = Perf(arm=True)
    print(f"seed {SEED}")
    compared, wrong = {}, []
    for spec, cpuid in ARM_CPUS.items():
        chosen = random.Random(f"{SEED} {spec}").sample(list_events("--cpu", spec), ARM_SAMPLE)
        names = {event["name"].lower(): event["name"] for event in chosen}
        truth = {(names[name], "armv*"): attributes for (name, _), attributes in perf.ask(cpuid, ARM, list(names)).items()}
        compared[spec] = compare(spec, chosen, truth, wrong)
    assert not wrong, "\n".join(wrong)
    assert all(known.get("armv*", 0) >= ARM_SAMPLE - 3 for known in compared.values()), f"perf knows too few: {compared}"
    return f"{sum(sum(known.values()) for known in compared.values())} events of {len(compared)} cores"


def test_the_vendors_own_events_are_encoded_as_perf_encodes_them():
    perf = Perf()
    if not os.path.isdir(TREE):
        raise e2e.Skip("the vendors' files are not there")
    if not perf.is_new():
        raise e2e.Skip("this perf's tables are older than the files, and differ")
    print(f"seed {SEED}")
    compared, wrong = {}, []
    for spec, (cpuid, format_, others) in perf.cpus().items():
        events = [event for event in list_vendors_events(cpuid, format_) if "@" not in event["name"]]
        chosen = []
        for pmu in ("cpu", *others):
            of_pmu = [event for event in events if event["pmu"] == pmu]
            chosen += random.Random(f"{SEED} {spec} {pmu}").sample(of_pmu, min(SAMPLE // 4, len(of_pmu)))
        truth = perf.ask(cpuid, {"cpu": format_} | others, [event["name"] for event in chosen])
        compared[spec] = compare(spec, chosen, truth, wrong)
    assert not wrong, "\n".join(wrong)
    assert all(known.get("cpu", 0) >= 5 for known in compared.values()), f"perf knows too few: {compared}"
    pmus = {pmu for _, _, others in perf.cpus().values() for pmu in others}
    assert pmus == {pmu for known in compared.values() for pmu in known} - {"cpu"}, f"perf knows too few: {compared}"
    return f"{sum(sum(known.values()) for known in compared.values())} events of {len(compared)} CPUs"


if __name__ == "__main__":
    e2e.run_tests()
