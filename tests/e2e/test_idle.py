# SPDX-License-Identifier: Apache-2.0
"""A host that hardly runs has nothing to fix, on every CPU: where no metric tells how much it is awake, the kernel does."""

import json
import os
import re
import subprocess
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()
YAML = e2e.LISTEN_ANYWHERE + "interval: 1s\nslot: 50ms\n"
# by whom it is told how much CPUs are awake, with the default profile
TOLD = {"neoverse-n1": "kernel", "neoverse-v2": "kernel", "sapphire-rapids": "pmu", "zen4": "pmu"}
CORES = 4


def host(folder, name, awake):
    """The shipped host with few cores, which wait for memory for as long as they are awake."""
    with open(os.path.join(ROOT, f"scenarios/{name}.json"), encoding="utf-8") as file:
        made = json.load(file)
    load = {"period_seconds": 10, "keyframes": [{"at_seconds": 0, "mix": "memory_bound", "utilisation": awake}]}
    made |= {"sockets": 1, "cores_per_socket": CORES, "loads": {"some": load},
             "assignments": [{"cpus": f"0-{CORES * made['threads_per_core'] - 1}", "load": "some"}]}
    for key in ("uncore", "rivals"):
        made.pop(key, None)
    return "sim:" + e2e.write_text(os.path.join(folder, f"{name}-{awake}.json"), json.dumps(made))


def judged(daemon):
    said = e2e.wait_for(lambda: (bound := daemon.json("/api/v1/topdown")["bound"]) and bound["circumstances"]["utilization_ratio"] and bound, "a verdict")
    return said["text"], said["circumstances"]


def test_a_host_that_hardly_runs_has_nothing_to_fix():
    with tempfile.TemporaryDirectory() as folder:
        for name, source in TOLD.items():
            with e2e.Daemon("--pmu", host(folder, name, 0.03), yaml=YAML) as daemon:
                daemon.wait_round(4)
                text, about = judged(daemon)
                assert re.match(r"(2\.9|3|3\.1) % busy: nothing to fix here\.", text), (name, text)
                assert about["idle"] and about["utilization_source"] == source, (name, about)
                assert abs(about["utilization_ratio"] - 0.03) < 0.002 and abs(about["utilization_ratio_of_busiest_cpu"] - 0.03) < 0.003, (name, about)


def test_the_same_host_that_runs_is_told_what_it_waits_for():
    with tempfile.TemporaryDirectory() as folder:
        for name, source in TOLD.items():
            with e2e.Daemon("--pmu", host(folder, name, 0.8), yaml=YAML) as daemon:
                daemon.wait_round(4)
                text, about = judged(daemon)
                assert "busy: nothing" not in text and "misses say what for" in text or "Memory" in text, (name, text)
                assert not about["idle"] and about["utilization_source"] == source and abs(about["utilization_ratio"] - 0.8) < 0.02, (name, about)


def test_prometheus_gets_the_time_where_no_metric_tells_it():
    with tempfile.TemporaryDirectory() as folder:
        for name, source in TOLD.items():
            with e2e.Daemon("--pmu", host(folder, name, 0.5), yaml=YAML) as daemon:
                daemon.wait_round(6)
                page, scopes = daemon.get("/metrics"), daemon.json("/api/v1/snapshot?scope=cpu")["scopes"]
                found = re.findall(r"^topdownd_busy_cpu_seconds_total\{.*\} (\S+)$", page, re.M)
                assert len(found) == (source == "kernel"), (name, found)
                assert ("\ntopdownd_utilization_ratio{" in page) == (source == "pmu"), name
                busy = {scope["busy_cpu_seconds"] for scope in scopes}
                assert max(busy) - min(busy) < 0.002 and min(busy) > 1, (name, busy)


def test_a_recording_has_it_and_a_measurement_by_hand_says_it():
    with tempfile.TemporaryDirectory() as folder:
        pmu, path = host(folder, "neoverse-v2", 0.03), os.path.join(folder, "recording")
        said = subprocess.run([BINARY, "measure", "--pmu", pmu, "--path.data", ROOT, "--json"], stdout=subprocess.PIPE, check=True,
                              timeout=e2e.TIMEOUT, text=True).stdout
        assert re.match(r"(2\.9|3|3\.1) % busy: nothing to fix here\.", json.loads(said)["whole"][0]["answer"]), said
        with e2e.Daemon("--pmu", pmu, "--record", path, yaml=YAML) as daemon:
            daemon.wait_round(6)
            live = judged(daemon)[1]
        with e2e.Daemon("--pmu", f"replay:{path}", "--speed", "0", yaml=e2e.LISTEN_ANYWHERE) as daemon:
            text, about = judged(daemon)
            assert "busy: nothing to fix here" in text and about["utilization_source"] == "kernel", text
            assert abs(about["utilization_ratio"] - live["utilization_ratio"]) < 0.002, (about, live)


if __name__ == "__main__":
    e2e.run_tests()
