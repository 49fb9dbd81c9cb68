# SPDX-License-Identifier: Apache-2.0
"""A daemon that runs and counts nothing: it says so, is not ready, and the recipe for hosts that stopped measuring finds it."""

import json
import os
import subprocess
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
YAML = e2e.LISTEN_ANYWHERE + "slot: 20ms\nprofiles: {default: {groups: [stage_1]}}\n"


def scenario_with(folder, **rival):
    scenario = json.loads(e2e.read_text(STEADY)) | {"rivals": [{"cpus": "0-7", **rival}]}
    return e2e.write_text(os.path.join(folder, "host.json"), json.dumps(scenario))


def not_ready(daemon):
    answer = e2e.fetch(daemon.port, "/-/ready")
    return answer.status == 503 and "first round" not in answer.text() and answer.text()


def last_counted(page):
    return e2e.value_of(page, "topdownd_last_snapshot_timestamp_seconds")


def test_a_host_that_counts_nothing_is_not_ready_and_its_last_snapshot_grows_old():
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon(
            "--pmu", f"sim:{scenario_with(folder, kind='refuse')}", yaml=YAML) as daemon:
        why = e2e.wait_for(lambda: not_ready(daemon), "the state of not being ready")
        assert "could not be opened" in why, why
        first = last_counted(daemon.get("/metrics"))
        daemon.wait_round(daemon.sequence() + 2)
        page, snapshot = daemon.of_one_snapshot("/metrics", "/api/v1/snapshot")
        assert last_counted(page) == first, "the time of the last snapshot advances while nothing is counted"
        assert json.loads(snapshot)["timestamp_seconds"] > first
        assert e2e.value_of(page, "topdownd_pmu_up") == 0
        assert e2e.fetch(daemon.port, "/-/healthy").status == 200
    return why.strip()


def test_it_is_ready_again_when_others_let_go_of_the_counters():
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon(
            "--pmu", f"sim:{scenario_with(folder, kind='pinned', counters=6, from_seconds=1.5, until_seconds=20)}", yaml=YAML) as daemon:
        daemon.wait_round(1)
        assert e2e.fetch(daemon.port, "/-/ready").status == 200
        why = e2e.wait_for(lambda: not_ready(daemon), "the state of not being ready")
        assert "others hold" in why, why
        before = last_counted(daemon.get("/metrics"))
        e2e.wait_for(lambda: e2e.fetch(daemon.port, "/-/ready").status == 200, "counts")
        assert last_counted(daemon.get("/metrics")) > before
    return why.strip()


def test_a_host_that_hands_its_counters_over_is_ready():
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", f"sim:{STEADY}", "--path.run", folder, yaml=YAML) as daemon:
        daemon.wait_round(1)
        said = subprocess.run([BINARY, "yield", "--for", "60s", "--path.run", folder], capture_output=True, text=True, check=False,
                                  timeout=e2e.TIMEOUT)
        assert said.returncode == 0, said
        begun = last_counted(daemon.get("/metrics"))
        e2e.wait_for(lambda: last_counted(daemon.get("/metrics")) > begun + 3, "snapshots of a yield")
        assert e2e.fetch(daemon.port, "/-/ready").status == 200


if __name__ == "__main__":
    e2e.run_tests()
