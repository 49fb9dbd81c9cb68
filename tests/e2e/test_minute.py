# SPDX-License-Identifier: Apache-2.0
"""What the daemon does once a minute. These cases wait for that minute, so they wait together."""

import os
import re
import signal
import subprocess
import tempfile

import e2e
import test_hosts
import test_log
import test_platform

PASS_SECONDS = 60  # until the files of the platform are read again

# perf_event_open is not allowed until the file REFUSED_UNTIL is there.
REFUSING = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
long syscall(long number, ...) {
    long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall"), a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_perf_event_open && access(getenv("REFUSED_UNTIL"), F_OK) != 0) {
        errno = EACCES;
        return -1;
    }
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
"""


# ---- the journal ----

def test_start_reload_and_bottleneck_reach_the_journal_with_their_fields():
    journal = test_log.Journal()
    yaml = e2e.LISTEN_ANYWHERE + "slot: 20ms\nidle: 0.0\n"
    with tempfile.TemporaryDirectory() as folder, \
            test_log.under_the_journal(folder, test_log.scenario_of(folder), yaml) as (process, config, log):
        start = journal.wait("start")
        assert start["PRIORITY"] == "6" and start["SYSLOG_IDENTIFIER"] == "topdownd", start
        assert (start["TOPDOWND_SPEC"], start["TOPDOWND_PROFILE"], start["TOPDOWND_CONFIG"]) == ("neoverse-v2", "default", config), start
        assert re.fullmatch(r"topdownd \S+ on .*: SIMULATED host, 8 CPUs.*", start["MESSAGE"]) and start["MESSAGE"] not in log(), start
        assert "<6>" in log(), "what has no fields is a plain line"
        e2e.write_text(config, yaml + "slots: 1ms\n")
        process.send_signal(signal.SIGHUP)
        refused = journal.wait("reload", TOPDOWND_RESULT="refused")
        assert refused["PRIORITY"] == "3" and "slots" in refused["TOPDOWND_REASON"] and refused["TOPDOWND_CONFIG"] == config, refused
        e2e.write_text(config, yaml)
        process.send_signal(signal.SIGHUP)
        in_force = journal.wait("reload", TOPDOWND_RESULT="in_force")
        assert in_force["PRIORITY"] == "6" and "TOPDOWND_REASON" not in in_force, in_force
        bound = journal.wait("bottleneck", 180)
        assert bound["TOPDOWND_BOUND"].startswith("topdownd_") and bound["TOPDOWND_SINCE"] in bound["MESSAGE"], bound
        assert [entry["MESSAGE_ID"] for entry in journal.read()].count(test_log.IDS["start"]) == 1
        return bound["TOPDOWND_BOUND"]


def test_event_groups_that_are_refused_and_can_be_opened_again_reach_the_journal():
    test_log.lose({"kind": "refuse"}, "too_many_files")


# ---- permissions ----

def pmu_errors(daemon):
    return {labels["pmu"]: labels["reason"] for name, labels, _ in e2e.samples(daemon.get("/metrics"))
            if name == "topdownd_pmu_error"}


def test_what_was_refused_at_the_start_is_looked_at_again_once_it_is_allowed():
    if reason := e2e.perf_events_allowed():
        raise e2e.Skip(reason)
    with tempfile.TemporaryDirectory() as folder:
        source = e2e.write_text(os.path.join(folder, "refusing.c"), REFUSING)
        library, allowed = os.path.join(folder, "refusing.so"), os.path.join(folder, "allowed")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True, timeout=e2e.TIMEOUT)
        with e2e.Daemon("--pmu", "auto", yaml=e2e.LISTEN_ANYWHERE) as daemon:
            told = pmu_errors(daemon)  # on this host, to whoever may count
        environment = {"LD_PRELOAD": library, "REFUSED_UNTIL": allowed, "ASAN_OPTIONS": "verify_asan_link_order=0"}
        with e2e.Daemon("--pmu", "auto", yaml=e2e.LISTEN_ANYWHERE, environment=environment) as daemon:
            e2e.wait_for(lambda: pmu_errors(daemon) == {"cpu": "not_allowed", "software": "not_allowed"}, "the refusals")
            e2e.write_text(allowed, "")
            e2e.wait_for(lambda: pmu_errors(daemon) == told, f"{told}, as on a start with permission", timeout=90)
            assert "event groups can be opened again" in daemon.log()
    return f"not_allowed, then {told['cpu']}"


# ---- the platform ----

def made_up_host(folder):
    test_hosts.write_all(folder, {
        "bus/event_source/devices/software/type": "1", "devices/system/cpu/online": "0",
        "devices/system/cpu/cpu0/topology/core_cpus_list": "0", "devices/system/cpu/cpu0/topology/package_cpus_list": "0",
        "devices/system/cpu/cpu0/topology/physical_package_id": "0", "devices/system/cpu/cpu0/cpufreq/scaling_governor": "made-up",
        "devices/system/cpu/cpu0/cpufreq/scaling_max_freq": "2100000", "kernel/mm/transparent_hugepage/enabled": "always madvise [never]"})


def test_this_hosts_facts_are_those_of_its_files_and_follow_them():
    if reason := e2e.perf_events_allowed():
        raise e2e.Skip(reason)
    with tempfile.TemporaryDirectory() as folder:
        made_up_host(folder)
        with e2e.Daemon("--path.sysfs", folder) as daemon:
            facts = test_platform.platform(daemon)
            assert set(facts) == test_platform.KEYS, facts
            assert facts["kernel"]["value"] == os.uname().release, facts  # procfs is this host's
            for key, value in (("frequency_governor", "made-up"), ("frequency_maximum_hertz", 2.1e9), ("threads_per_core", 1),
                               ("transparent_hugepages", "never"), ("sockets", 1), ("isolated_cpus", "none")):
                assert facts[key] == {"value": value, "reason": None, "by_cpus": []}, (key, facts[key])
            assert facts["numa_nodes"]["value"] is None and facts["numa_nodes"]["reason"], facts
            assert facts["prefetchers"]["value"] is None and facts["prefetchers"]["reason"].startswith("not readable: "), facts
            test_hosts.write_all(folder, {"devices/system/cpu/cpu0/cpufreq/scaling_governor": "changed"})
            e2e.wait_for(lambda: test_platform.platform(daemon)["frequency_governor"]["value"] == "changed", "the change", 2 * PASS_SECONDS + e2e.TIMEOUT)
            e2e.wait_for(lambda: 'frequency_governor="changed"' in daemon.get("/metrics"), "the change in the page")


if __name__ == "__main__":
    e2e.run_tests()
