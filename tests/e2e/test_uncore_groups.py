# SPDX-License-Identifier: Apache-2.0
"""Metric groups of PMUs outside the cores: chosen by name, exported as those of the cores are, and memory latency among them."""

import json
import os
import tempfile

import e2e
import test_uncore

BINARY, ROOT = e2e.arguments()
SECONDS = e2e.LISTEN_ANYWHERE + "interval: 1s\n"
OCCUPANCY, INSERTS, CYCLES = 3e8, 1e6, 2e9  # a second and box: 300 cycles of 2 GHz for each read
HOME = {"UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD": OCCUPANCY, "UNC_CHA_TOR_INSERTS.IA_MISS_DRD": INSERTS, "UNC_CHA_CLOCKTICKS": CYCLES,
        "UNC_CHA_REQUESTS.READS_LOCAL": 5e5}


def simulated(folder, kind, spec, rates, host="sapphire-rapids", boxes=4):
    with open(os.path.join(ROOT, f"scenarios/{host}.json"), encoding="utf-8") as file:
        scenario = json.load(file)
    scenario["uncore"] = [{"kind": kind, "spec": spec, "boxes_per_socket": boxes, "loads": {"all": test_uncore.load(rates)},
                           "assignments": [{"cpus": f"0-{2 * boxes - 1}", "load": "all"}]}]
    path = os.path.join(folder, "groups.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(scenario, file)
    return f"sim:{path}"


def near(value, truth, part=0.01):
    return abs(value / truth - 1) < part


def parts(page, metric, socket="0"):
    return tuple(e2e.value_of(page, f"topdownd_metric_{part}_total", metric=metric, socket=socket) for part in ("numerator", "denominator"))


def test_latency_is_occupancy_over_inserts_in_seconds():
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon(
            "--pmu", simulated(folder, "home", "cha-sapphire-rapids", HOME), yaml=SECONDS + "uncore: {groups: [Latency]}\n") as daemon:
        daemon.wait_round(3)
        page = daemon.get("/metrics")
        for socket in "01":
            assert near(e2e.value_of(page, "topdownd_memory_latency_seconds", socket=socket), OCCUPANCY / INSERTS / CYCLES), page
            reads, inserts = parts(page, "memory_latency_clocks", socket)
            assert near(reads / inserts, OCCUPANCY / INSERTS)
            cycles, seconds = parts(page, "mesh_frequency_hertz", socket)
            assert near(cycles / seconds, CYCLES)


def test_a_latency_that_is_stated_in_time_is_one_quotient():
    rates = {f"l3_xi_sampled_latency{what}.dram_{where}": rate for what, where, rate in
             (("", "near", 9e6), ("", "far", 4e6), ("_requests", "near", 1e6), ("_requests", "far", 2e5))}
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", simulated(folder, "l3", "l3-zen4", rates, host="zen4"),
                                                             yaml=SECONDS + "uncore: {groups: [Latency]}\n") as daemon:
        daemon.wait_round(3)
        page = daemon.get("/metrics")
        assert near(e2e.value_of(page, "topdownd_memory_latency_seconds", socket="0"), 1.3e7 / 1.2e6 * 10e-9), page
        assert near(e2e.value_of(page, "topdownd_memory_latency_far_seconds", socket="1"), 200e-9)
        taken, requests = parts(page, "memory_latency_seconds")
        assert near(taken / requests, 1.3e7 / 1.2e6)


def test_only_groups_that_are_named_are_measured_and_bytes_stay_families_of_their_own():
    with tempfile.TemporaryDirectory() as folder:
        host = simulated(folder, "home", "cha-sapphire-rapids", HOME)
        with e2e.Daemon("--pmu", host, yaml=SECONDS) as daemon:
            daemon.wait_round(2)
            page = daemon.get("/metrics")
        assert "topdownd_memory_latency_seconds" not in page, "nobody asked for it"
        assert e2e.value_of(page, "topdownd_llc_miss_bytes_total", socket="0", home="local") > 0
        assert "llc_miss_local_bytes_per_second" not in page, "bytes are told once"


def test_a_group_that_nobody_has_is_a_mistake_with_its_place():
    for name, said in (("Latencie", "did you mean 'Latency'?"), ("memry", "did you mean 'memory'?"), ("x", "topdownd list pmus")):
        status, words = e2e.run_daemon("check-config", "--pmu", "sim:sapphire-rapids",
                                       yaml=e2e.LISTEN_ANYWHERE + f"uncore: {{groups: [memory, {name}]}}\n")
        assert status != 0 and f"no group outside the cores named '{name}'" in words and said in words, words
        assert ":2:27: " in words, words


def test_a_group_of_another_cpu_is_no_mistake():
    status, words = e2e.run_daemon("check-config", "--pmu", "sim:zen4", yaml=e2e.LISTEN_ANYWHERE + "uncore: {groups: [Queue_Latency]}\n")
    assert status == 0, words


if __name__ == "__main__":
    e2e.run_tests()
