# SPDX-License-Identifier: Apache-2.0
"""The platform's facts of other hosts: what is known of them, and nothing of this host. test_minute.py has those of this host."""

import os
import re
import tempfile

import e2e

_, ROOT = e2e.arguments()
KEYS = {"smt", "threads_per_core", "sockets", "numa_nodes", "numa_balancing", "transparent_hugepages", "reserved_hugepages_bytes",
        "frequency_governor", "frequency_driver", "frequency_minimum_hertz", "frequency_maximum_hertz", "frequency_boost",
        "virtual_machine", "prefetchers", "microcode", "kernel", "clock_source", "isolated_cpus"}


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


if __name__ == "__main__":
    e2e.run_tests()
