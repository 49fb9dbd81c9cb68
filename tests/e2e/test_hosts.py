# SPDX-License-Identifier: Apache-2.0
"""Hosts that this machine is not: the kernel's files of small made-up ones, on which the daemon says the right CPU and spec,
starts and answers, whether or not the counters can be opened here."""

import os
import re
import shutil
import tempfile

import e2e

INTEL = {"event": "config:0-7", "umask": "config:8-15", "edge": "config:18", "any": "config:21", "inv": "config:23",
         "cmask": "config:24-31", "offcore_rsp": "config1:0-63", "ldlat": "config1:0-15", "frontend": "config1:0-23"}
AMD = {"event": "config:0-7,32-35", "umask": "config:8-15", "edge": "config:18", "inv": "config:23", "cmask": "config:24-31"}
SLOTS = {"slots": "0x4", "topdown-retiring": "0x80", "topdown-bad-spec": "0x81", "topdown-fe-bound": "0x82",
         "topdown-be-bound": "0x83", "topdown-heavy-ops": "0x84", "topdown-br-mispredict": "0x85", "topdown-fetch-lat": "0x86",
         "topdown-mem-bound": "0x87"}

FOUR = dict(list(SLOTS.items())[:5])
# The efficient cores' events of these names are other ones, and they have no slots.
SMALL = {"topdown-retiring": "0x72", "topdown-bad-spec": "0x73", "topdown-fe-bound": "0x71", "topdown-be-bound": "0x74"}


def write_all(folder, files):
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        e2e.write_text(path, text + "\n")


def x86_host(folder, cpu, model_name="made up", form=INTEL, events=(), cpus=4, pmus=("cpu",), watchdog="0", small=None):
    """An x86 host of one socket without SMT, given as vendor-family-model-stepping; the CPUs are divided among the PMUs."""
    vendor, family, model, stepping = cpu.split("-")
    files = {"devices/system/cpu/online": f"0-{cpus - 1}", "devices/system/cpu/present": f"0-{cpus - 1}",
             "bus/event_source/devices/software/type": "1", "sys/kernel/nmi_watchdog": watchdog,
             "cpuinfo": f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {int(model, 16)}\n"
                        f"model name\t: {model_name}\nstepping\t: {int(stepping, 16)}\n"}
    for number in range(cpus):
        files[f"devices/system/cpu/cpu{number}/topology/core_cpus_list"] = str(number)
        files[f"devices/system/cpu/cpu{number}/topology/package_cpus_list"] = f"0-{cpus - 1}"
        files[f"devices/system/cpu/cpu{number}/topology/physical_package_id"] = "0"
    for i, pmu in enumerate(pmus):
        of_pmu = f"bus/event_source/devices/{pmu}"
        files[f"{of_pmu}/type"] = str(4 + 6 * i)
        share = cpus // len(pmus)
        if len(pmus) > 1:
            files[f"{of_pmu}/cpus"] = f"{i * share}-{(i + 1) * share - 1}"
        files.update({f"{of_pmu}/format/{term}": bits for term, bits in form.items()})
        shown = small if pmu == "cpu_atom" and small is not None else events
        files.update({f"{of_pmu}/events/{name}": f"event=0x00,umask={umask}" for name, umask in dict(shown).items()})
    write_all(folder, files)


def check_config(folder):
    status, log = e2e.run_daemon("check-config", "--path.sysfs", folder, "--path.procfs", folder)
    assert status == 0, log
    return log


def said(*words, **host):
    with tempfile.TemporaryDirectory() as folder:
        x86_host(folder, **host)
        log = check_config(folder)
    for word in words:
        assert re.search(word, log), f"{word!r} is not in:\n{log}"
    return log


def test_each_host_gets_its_spec():
    for host, words in (
            (dict(cpu="GenuineIntel-6-8F-8", events=SLOTS), ("spec sapphire-rapids: 4 CPUs on 1 socket with 8 general and 4 fixed",)),
            (dict(cpu="GenuineIntel-6-6A-6"), ("spec ice-lake-sp",)),
            (dict(cpu="GenuineIntel-6-55-4", watchdog="1"), ("spec skylake-sp.* with 4 general and 2 fixed",)),
            (dict(cpu="GenuineIntel-6-55-4"), ("spec skylake-sp.* with 4 general and 3 fixed",)),
            (dict(cpu="AuthenticAMD-25-11-1", form=AMD), ("spec zen4",)),
            (dict(cpu="GenuineIntel-6-1A-5"), ("spec nehalem-ep",)),
            (dict(cpu="GenuineIntel-6-FE-1"), ("spec intel-generic", "the architecture's common events are measured, without level 1")),
            (dict(cpu="GenuineIntel-6-FE-1", events=SLOTS), ("spec intel-topdown: 4 CPUs on 1 socket with 8 general and 4 fixed",
                                                            "and level 1 by the Topdown events that the kernel shows")),
            (dict(cpu="GenuineIntel-6-8C-1", events=FOUR), ("spec intel-topdown-l1", "arch/x86/tigerlake")),
            (dict(cpu="AuthenticAMD-99-1-1", form=AMD), ("spec amd-generic",)),
            (dict(cpu="CentaurHauls-7-3B-0"), ("spec kernel-events", "the kernel's common events are measured")),
            (dict(cpu="GenuineIntel-6-8F-8", pmus=()), ("spec software",))):  # a virtual machine without a PMU
        said(*words, **host)
    return "12 hosts"


def answers_on(folder):
    """What a daemon on this host says at its start, and its status."""
    yaml = e2e.LISTEN_ANYWHERE + "slot: 20ms\n"
    with e2e.Daemon("--path.sysfs", folder, "--path.procfs", folder, yaml=yaml) as daemon:
        return daemon.log(), daemon.json("/api/v1/status")


def test_it_starts_and_names_the_cpu_also_where_counters_cannot_be_opened():
    with tempfile.TemporaryDirectory() as folder:
        x86_host(folder, "GenuineIntel-6-8F-8", model_name="Intel(R) Xeon(R) Platinum 8480+", events=SLOTS)
        log, status = answers_on(folder)
    assert "spec sapphire-rapids" in log, log
    cpu = status["cpu"]
    assert cpu["spec"] == cpu["microarchitecture"] == "sapphire-rapids", cpu
    assert cpu["vendor"] == "GenuineIntel" and cpu["model"] == "Intel(R) Xeon(R) Platinum 8480+", cpu


def test_a_virtual_machine_without_slots_is_told_of_and_measured_with_ordinary_events():
    with tempfile.TemporaryDirectory() as folder:
        x86_host(folder, "GenuineIntel-6-6A-6")
        log, status = answers_on(folder)
    assert "level 1 is measured with ordinary events instead" in log, log
    assert "no_slots" in {e["reason"] for e in status["pmu_errors"]}, status
    return "no_slots"


def test_an_unknown_cpu_is_told_of():
    with tempfile.TemporaryDirectory() as folder:
        x86_host(folder, "GenuineIntel-6-FE-1")
        log, status = answers_on(folder)
    assert "there is no spec for this CPU" in log, log
    assert status["cpu"]["microarchitecture"] == "unknown", status["cpu"]
    said(r"no spec for this CPU.*arch/x86/novalake.*'specs: \{path: FOLDER, format: perf\}'", cpu="GenuineIntel-18-1-0")


def test_a_cpu_without_a_spec_has_the_levels_that_its_kernel_shows():
    """Tiger Lake and one to come: the topdown groups are in the plan, and nobody is told that a virtual machine hides counters."""
    for cpu, events, groups in (("GenuineIntel-6-8C-1", FOUR, {"TopdownL1"}), ("GenuineIntel-18-1-0", SLOTS, {"TopdownL1", "TopdownL2"})):
        with tempfile.TemporaryDirectory() as folder:
            x86_host(folder, cpu, events=events)
            yaml = e2e.LISTEN_ANYWHERE + "slot: 20ms\n"
            with e2e.Daemon("--path.sysfs", folder, "--path.procfs", folder, yaml=yaml) as daemon:
                status, catalog = daemon.json("/api/v1/status"), daemon.json("/api/v1/catalog")
        reasons = {e["reason"] for e in status["pmu_errors"]}
        assert "unknown_core" in reasons and "no_slots" not in reasons, status
        assert status["cpu"]["microarchitecture"] == "unknown", status["cpu"]
        found = {name for metric in catalog["metrics"] for name in metric["groups"] if name.startswith("Topdown")}
        assert found == groups, catalog
    with tempfile.TemporaryDirectory() as folder:  # a virtual machine hides them, and nothing is missing that was ever there
        x86_host(folder, "GenuineIntel-6-8C-1")
        log, status = answers_on(folder)
    assert "without level 1" in log and "no_slots" not in {e["reason"] for e in status["pmu_errors"]}, log


def test_cores_of_two_kinds_are_measured_by_their_own_pmus():
    for cpu, names in (("GenuineIntel-6-BF-2", (("golden-cove",) * 2, ("gracemont",) * 2)),
                       ("GenuineIntel-18-1-0", (("cpu_core", "intel-topdown"), ("cpu_atom", "intel-generic")))):
        words = [rf"core type {core_type}: host \S+, spec {spec}: 2 CPUs on 1 socket" for core_type, spec in names]
        log = said(*words, cpu=cpu, pmus=("cpu_core", "cpu_atom"), cpus=4, events=SLOTS, small=SMALL)
        assert "another kind" not in log, log


def data_folder(folder):
    root = e2e.arguments()[1]
    for name in ("specs", "scenarios"):
        shutil.copytree(os.path.join(root, name), os.path.join(folder, name))
    return folder


def test_a_broken_spec_of_another_cpu_costs_nothing():
    with tempfile.TemporaryDirectory() as data:
        e2e.write_text(os.path.join(data_folder(data), "specs/zen5.json"), "{")
        status, log = e2e.run_daemon("check-config", "--pmu", "sim", data=data)
        assert status == 0 and "spec neoverse-v2" in log, log
        yaml = e2e.LISTEN_ANYWHERE + "profiles:\n  p: {groups: [stage_1, PortsUtil]}\nprofile: p\n"
        status, log = e2e.run_daemon("check-config", "--pmu", "sim", yaml=yaml, data=data)
        assert status == 0 and "this host cannot measure PortsUtil" in log, log


def test_a_map_that_names_a_missing_spec_is_refused():
    with tempfile.TemporaryDirectory() as data:
        os.remove(os.path.join(data_folder(data), "specs/zen5.json"))
        status, log = e2e.run_daemon("check-config", "--pmu", "sim", data=data)
        assert status != 0 and re.search(r"cpus\.json: .*zen5, which is not beside it", log), log


def test_a_container_is_told_the_hosts_name():
    """Its own name, which the kernel says there, matches nothing."""
    yaml = e2e.LISTEN_ANYWHERE + """
profiles: {default: {groups: [Software]}, db: {groups: [Software]}}
hosts: [{match: {hostname: "db-*"}, profile: db}]
"""
    with tempfile.TemporaryDirectory() as folder:
        x86_host(folder, cpu="AuthenticAMD-25-11-1", form=AMD)
        roots = ("--path.sysfs", folder, "--path.procfs", folder)
        for options, profile in (((), "default"), (("--hostname", "db-17"), "db")):
            status, log = e2e.run_daemon("check-config", *roots, *options, yaml=yaml)
            assert status == 0 and f"profile {profile}" in log and (not options or "host db-17," in log), log
        with e2e.Daemon(*roots, "--hostname", "db-17", yaml=yaml) as daemon:
            assert (status := daemon.json("/api/v1/status"))["hostname"] == "db-17", status


if __name__ == "__main__":
    e2e.run_tests()
