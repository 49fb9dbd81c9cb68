# SPDX-License-Identifier: Apache-2.0
"""The kernel's software events beside the PMU: counted on a simulated host, replayed, and read from a log of perf.

A scenario gives them rates; what topdownd shows must be these. tests/unit/test_software_beside.c holds every spec against
the software host's.
"""

import json
import os
import subprocess
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()
# Per CPU and second. Eight CPUs have 1,600 major faults a second, above the threshold of 100.
RATES = {"CONTEXT_SWITCHES": 2000, "CPU_MIGRATIONS": 500, "MINOR_FAULTS": 400, "MAJOR_FAULTS": 200}
METRICS = {"context_switches": 2000, "task_migrations": 500, "minor_faults": 400, "major_faults": 200}


def scenario(name, rates):
    found = json.loads(e2e.read_text(os.path.join(ROOT, "tests/data/scenarios", name)))
    for of in found.get("core_types", [found]):
        for load in of["loads"].values():
            for keyframe in load["keyframes"]:
                keyframe["rates"].update(rates)
    return found


def check_values(snapshot, types=1):
    seen = {}
    for scope in [snapshot["scopes"][0]] if types == 1 else [core["scopes"][0] for core in snapshot["core_types"]]:
        for name, rate in METRICS.items():
            value = scope["metrics"][name + "_per_second"]
            assert abs(value["value"] / rate - 1) < 0.01, (name, value)
            seen[name] = value["value"]
    return seen


def test_they_are_counted_beside_the_pmu_and_major_faults_need_a_cause():
    with tempfile.TemporaryDirectory() as folder:
        path = e2e.write_text(os.path.join(folder, "s.json"), json.dumps(scenario("steady.json", RATES)))
        record = os.path.join(folder, "recording")
        with e2e.Daemon("--pmu", f"sim:{path}", "--record", record) as daemon:
            snapshot, page = daemon.wait_round(3), daemon.get("/metrics")
            check_values(snapshot)
            groups = daemon.json("/api/v1/plan")["event_groups"]
            names = {metric["metric"]: metric["name"] for metric in daemon.json("/api/v1/catalog")["metrics"]}
            e2e.wait_for(lambda: "Programs wait for their own pages" in daemon.log(), "the advice")
            advised = daemon.json("/api/v1/snapshot")["scopes"][0]["metrics"]["major_faults_per_second"]
        assert names["major_faults_per_second"] == "major_faults", names
        assert "\ntopdownd_event_not_live{" not in page, "one that stays 0 is not in doubt"
        standing = [group for group in groups if group["name"] == "software"]
        assert len(standing) == 1 and set(standing[0]["metrics"]) == {m + "_per_second" for m in METRICS}, groups
        with e2e.Daemon("--pmu", f"replay:{record}", "--speed", "0") as daemon:
            e2e.wait_for(lambda: "have been replayed" in daemon.log(), "the end")
            check_values(daemon.json("/api/v1/snapshot"))
            assert "another version of the spec" not in daemon.log(), daemon.log()
    return json.dumps(advised)[:100]


def test_counts_that_stay_0_are_0():
    with e2e.Daemon("--pmu", f"sim:{ROOT}/tests/data/scenarios/steady.json") as daemon:
        snapshot = daemon.wait_round(3)
        for name in METRICS:
            assert snapshot["scopes"][0]["metrics"][name + "_per_second"]["value"] == 0, name
        assert daemon.json("/api/v1/status")["events_not_live"] == []


def test_a_log_of_perf_brings_them():
    lines = []
    for second in range(1, 8):
        for count, event in ((2000000000, "cpu_cycles"), (3000000000, "inst_retired"), (800, "context-switches"),
                             (40, "minor-faults"), (0, "major-faults")):
            lines.append(f"{second}.000000,CPU0,{count},,{event},1000000000,100.00,,")
    with tempfile.TemporaryDirectory() as folder:
        path = e2e.write_text(os.path.join(folder, "log.csv"), "\n".join(lines) + "\n")
        with e2e.Daemon("--pmu", f"replay:{path}", "--spec", "neoverse-v2", "--speed", "0") as daemon:
            e2e.wait_for(lambda: "have been replayed" in daemon.log(), "the end")
            metrics = daemon.json("/api/v1/snapshot")["scopes"][0]["metrics"]
    assert abs(metrics["ipc"]["value"] - 1.5) < 1e-9, metrics["ipc"]
    assert abs(metrics["context_switches_per_second"]["value"] - 800) < 1e-6, metrics
    assert abs(metrics["minor_faults_per_second"]["value"] - 40) < 1e-6, metrics
    assert metrics["major_faults_per_second"]["value"] == 0, metrics
    return "5 events"


def test_they_are_listed_for_every_cpu():
    for cpu in ("zen4", "neoverse-v2", "sapphire-rapids", "kernel-events"):
        done = subprocess.run([BINARY, "list", "groups", "--json", "--cpu", cpu], capture_output=True, text=True,
                              timeout=e2e.TIMEOUT, check=True)
        assert "Software" in {group["name"] for group in json.loads(done.stdout)}, cpu


if __name__ == "__main__":
    e2e.run_tests()
