# SPDX-License-Identifier: Apache-2.0
"""The platform's facts: of this host from its files, of others what is known of them and nothing of this host."""

import os
import re
import tempfile

import e2e
import test_hosts

BINARY, ROOT = e2e.arguments()
KEYS = {"smt", "threads_per_core", "sockets", "numa_nodes", "numa_balancing", "transparent_hugepages", "reserved_hugepages_bytes",
        "frequency_governor", "frequency_driver", "frequency_minimum_hertz", "frequency_maximum_hertz", "frequency_boost",
        "virtual_machine", "prefetchers", "microcode", "kernel", "clock_source", "isolated_cpus"}
PASS_SECONDS = 60  # until the files are read again


def platform(daemon):
    return daemon.json("/api/v1/status")["platform"]


def known(facts):
    return {key: fact["value"] for key, fact in facts.items() if fact["reason"] is None}


def assert_of_another_host(facts, values, reason):
    assert set(facts) == KEYS and known(facts) == values, facts
    assert {fact["reason"] for key, fact in facts.items() if key not in values} == {reason}, facts


def test_a_simulated_host_and_its_replay_have_what_is_known_of_them():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with e2e.Daemon("--pmu", "sim", "--record", path, yaml=e2e.LISTEN_ANYWHERE + "slot: 50ms\n") as daemon:
            daemon.wait_round(2)
            assert_of_another_host(platform(daemon), {"smt": "off", "threads_per_core": 1, "sockets": 2}, "a scenario does not say")
            info = re.findall(r"^topdownd_platform_info\{(.*)\} 1$", daemon.get("/metrics"), re.M)
            assert info == ['smt="off",threads_per_core="1",simulated="true"'], info
        with e2e.Daemon("--pmu", f"replay:{path}", "--speed", "0") as daemon:
            assert_of_another_host(platform(daemon), {"smt": "off", "threads_per_core": 1, "sockets": 2}, "not known of a recording")


def test_of_a_log_of_perf_nothing_is_known():
    log = os.path.join(ROOT, "tests/data/perf")
    name = next(name for name in sorted(os.listdir(log)) if name.endswith(".csv"))
    with e2e.Daemon("--pmu", f"replay:{log}/{name}", "--spec", "neoverse-n1", "--speed", "0") as daemon:
        assert_of_another_host(platform(daemon), {}, "not known of a recording")


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
            facts = platform(daemon)
            assert set(facts) == KEYS, facts
            assert facts["kernel"]["value"] == os.uname().release, facts  # procfs is this host's
            for key, value in (("frequency_governor", "made-up"), ("frequency_maximum_hertz", 2.1e9), ("threads_per_core", 1),
                               ("transparent_hugepages", "never"), ("sockets", 1), ("isolated_cpus", "none")):
                assert facts[key] == {"value": value, "reason": None, "by_cpus": []}, (key, facts[key])
            assert facts["numa_nodes"]["value"] is None and facts["numa_nodes"]["reason"], facts
            assert facts["prefetchers"]["value"] is None and facts["prefetchers"]["reason"].startswith("not readable: "), facts
            assert "<h2>Platform</h2>" in daemon.get("/"), daemon.get("/")
            test_hosts.write_all(folder, {"devices/system/cpu/cpu0/cpufreq/scaling_governor": "changed"})
            e2e.wait_for(lambda: platform(daemon)["frequency_governor"]["value"] == "changed", "the change", 2 * PASS_SECONDS + e2e.TIMEOUT)
            e2e.wait_for(lambda: 'frequency_governor="changed"' in daemon.get("/metrics"), "the change in the page")


if __name__ == "__main__":
    e2e.run_tests()
