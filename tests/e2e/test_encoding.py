# SPDX-License-Identifier: Apache-2.0
"""What `topdownd list events` would give to perf_event_open, against what perf itself gives.

In a mount namespace of its own, perf sees a PMU that this test has made up from files: its type, the format of its terms and
the events that the kernel names. PERF_CPUID makes it take the names from its own tables for a CPU that is not there.
"""

import json
import os
import random
import re
import shutil
import subprocess
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()
SEED = 20261121
SAMPLE = 40  # events of a CPU; each is a run of perf
PMU_TYPE = 4

INTEL = {"event": "config:0-7", "umask": "config:8-15", "edge": "config:18", "pc": "config:19", "any": "config:21",
         "inv": "config:23", "cmask": "config:24-31", "offcore_rsp": "config1:0-63", "ldlat": "config1:0-15",
         "frontend": "config1:0-23"}
AMD = {"event": "config:0-7,32-35", "umask": "config:8-15", "edge": "config:18", "inv": "config:23",
       "cmask": "config:24-31"}
# Linux, arch/x86/events/intel/core.c: the names under /sys/bus/event_source/devices/cpu/events
KERNEL_EVENTS = {"slots": "event=0x00,umask=0x4"} | {
    f"topdown-{name}": f"event=0x00,umask=0x{umask:x}" for umask, name in enumerate(
        ("retiring", "bad-spec", "fe-bound", "be-bound", "heavy-ops", "br-mispredict", "fetch-lat", "mem-bound"), 0x80)}

CPUS = {
    "nehalem-ep": ("GenuineIntel-6-1A-5", INTEL), "westmere-ep": ("GenuineIntel-6-2C-2", INTEL),
    "sandy-bridge-ep": ("GenuineIntel-6-2D-7", INTEL), "ivy-bridge-ep": ("GenuineIntel-6-3E-4", INTEL),
    "haswell-ep": ("GenuineIntel-6-3F-2", INTEL), "broadwell-ep": ("GenuineIntel-6-4F-1", INTEL),
    "skylake-sp": ("GenuineIntel-6-55-4", INTEL), "cascade-lake": ("GenuineIntel-6-55-7", INTEL),
    "ice-lake-sp": ("GenuineIntel-6-6A-6", INTEL), "sapphire-rapids": ("GenuineIntel-6-8F-4", INTEL),
    "zen2": ("AuthenticAMD-23-31-0", AMD), "zen3": ("AuthenticAMD-25-1-1", AMD),
}
# perf knows these only in later versions than the one of Debian 12
LATER_CPUS = {
    "emerald-rapids": ("GenuineIntel-6-CF-2", INTEL), "granite-rapids": ("GenuineIntel-6-AD-1", INTEL),
    "sierra-forest": ("GenuineIntel-6-AF-3", INTEL),
}  # not Zen 4 and 5: that version takes Zen 3's names for them

SCRIPT = """mount --bind "$1" /sys/bus/event_source/devices || exit 99
shift
for event in "$@"; do echo "== $event"; perf stat -vv -e "$event" true 2>&1; done
"""


def make_pmu(folder, format_):
    pmu = os.path.join(folder, "cpu")
    e2e.write_text(os.path.join(pmu, "type"), f"{PMU_TYPE}\n")
    for name, bits in format_.items():
        e2e.write_text(os.path.join(pmu, "format", name), bits + "\n")
    for name, terms in KERNEL_EVENTS.items() if format_ is INTEL else ():
        e2e.write_text(os.path.join(pmu, "events", name), terms + "\n")


def ask_perf(cpuid, format_, names):
    """{name: the attributes that perf would use}, without those that perf does not know."""
    with tempfile.TemporaryDirectory() as folder:
        make_pmu(folder, format_)
        done = subprocess.run(["unshare", "-m", "sh", "-c", SCRIPT, "sh", folder, *names], capture_output=True, text=True,
                              env=os.environ | {"PERF_CPUID": cpuid}, timeout=120)
    assert done.returncode != 99, done.stderr
    found = {}
    for part in re.split(r"^== ", done.stdout, flags=re.M)[1:]:
        name, _, rest = part.partition("\n")
        attr = re.search(r"^perf_event_attr:\n(.*?)^-----", rest, re.M | re.S)
        if attr:
            fields = dict(re.findall(r"^  ([\w{}, ]+?) +(\S+)$", attr.group(1), re.M))
            if fields["type"] == str(PMU_TYPE):
                found[name] = tuple(int(fields.get(key, fields.get(other, "0")), 0) for key, other in (
                    ("config", "-"), ("config1", "{ bp_addr, config1 }"), ("config2", "{ bp_len, config2 }")))
    return found


def need_perf():
    if not shutil.which("perf") or not shutil.which("unshare"):
        raise e2e.Skip("perf (Debian: linux-perf) or unshare is not installed")
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        raise e2e.Skip("a mount namespace needs root")
    if os.uname().machine != "x86_64":
        raise e2e.Skip("perf knows other vendors' events only on their own architecture")
    if not os.path.isdir("/sys/bus/event_source/devices"):
        raise e2e.Skip("there is no /sys/bus/event_source/devices")


def known_events(spec):
    done = subprocess.run([BINARY, "list", "events", "--cpu", spec, "--json", "--path.data", ROOT], capture_output=True,
                          text=True, timeout=e2e.TIMEOUT)
    assert done.returncode == 0, done.stderr
    return [event for event in json.loads(done.stdout) if event["pmu"] == "cpu"]


def test_events_are_encoded_as_perf_encodes_them():
    need_perf()
    print(f"seed {SEED}")
    compared, wrong = {}, []
    for spec, (cpuid, format_) in (CPUS | LATER_CPUS).items():
        events = known_events(spec)
        chosen = random.Random(f"{SEED} {spec}").sample(events, min(SAMPLE, len(events)))
        chosen += [event for event in events if event["name"] in KERNEL_EVENTS and event not in chosen]
        truth = ask_perf(cpuid, format_, [event["name"] for event in chosen])
        for event in chosen:
            ours = tuple(int(event[key], 16) for key in ("config", "config1", "config2"))
            if event["name"] in truth and ours != truth[event["name"]]:
                wrong.append(f"{spec} {event['name']}: {[hex(x) for x in ours]}, "
                             f"perf: {[hex(x) for x in truth[event['name']]]}")
        compared[spec] = len(truth)
    assert not wrong, "\n".join(wrong)
    assert all(compared[spec] >= 10 for spec in CPUS), f"perf knows too few of our names: {compared}"
    return f"{sum(compared.values())} events of {len(compared)} CPUs"


if __name__ == "__main__":
    e2e.run_tests()
