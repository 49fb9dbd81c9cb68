# SPDX-License-Identifier: Apache-2.0
"""On a large host the first reader of single CPUs finds values, and the next ones find intervals, too."""

import json
import os
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
YAML = e2e.LISTEN_ANYWHERE + "profiles: {default: {groups: [stage_1]}}\nslot: 50ms\n"


def host_of(folder, cpus):
    scenario = json.loads(e2e.read_text(STEADY)) | {"sockets": 2, "cores_per_socket": cpus // 2}
    scenario["assignments"] = [{"cpus": f"0-{cpus - 1}", "load": "steady"}]
    return e2e.write_text(os.path.join(folder, f"{cpus}.json"), json.dumps(scenario))


def shares_of(daemon, page):
    return [scope["metrics"]["retiring_ratio"] for scope in daemon.json(page)["scopes"]]


def has_interval(metric):
    assert metric["value"] is not None and metric["windows"] > 0, metric
    assert (metric["low"] is None) == (metric["high"] is None) == (metric["quality"] == "none"), metric
    return metric["low"] is not None


def measured(daemon):
    """Once the host has intervals."""
    e2e.wait_for(lambda: daemon.sequence() > 2 and has_interval(shares_of(daemon, "/api/v1/snapshot")[0]), "intervals of the host")


def test_with_more_than_256_cpus_the_first_reader_finds_values_and_the_next_ones_intervals():
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", f"sim:{host_of(folder, 258)}", yaml=YAML) as daemon:
        measured(daemon)
        for page in ("/metrics", "/metrics/cpu", "/plain", "/api/v1/snapshot?scope=socket"):
            daemon.get(page)  # has no intervals of single CPUs
        assert all(has_interval(share) for share in shares_of(daemon, "/api/v1/snapshot?scope=socket"))
        daemon.wait_round(daemon.sequence() + 3)
        cpus = shares_of(daemon, "/api/v1/snapshot?scope=cpu")
        assert len(cpus) == 258 and not any(has_interval(share) for share in cpus)
        asked = daemon.sequence()
        e2e.wait_for(lambda: all(has_interval(share) for share in shares_of(daemon, "/api/v1/snapshot?scope=cpu")), "intervals of all CPUs")
        assert daemon.sequence() <= asked + 4, daemon.sequence() - asked


def test_with_256_cpus_they_are_always_there():
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", f"sim:{host_of(folder, 256)}", yaml=YAML) as daemon:
        measured(daemon)
        daemon.wait_round(daemon.sequence() + 1)
        assert all(has_interval(share) for share in shares_of(daemon, "/api/v1/snapshot?scope=cpu"))


if __name__ == "__main__":
    e2e.run_tests()
