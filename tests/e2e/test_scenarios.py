# SPDX-License-Identifier: Apache-2.0
"""The scenarios that ship: each is what its description says, measures all of the default profile, and is found by its name."""

import json
import os
import subprocess
import tempfile

import e2e
import spec_files

BINARY, ROOT = e2e.arguments()
FOLDER = os.path.join(ROOT, "scenarios")
NAMES = sorted(file[:-len(".json")] for file in os.listdir(FOLDER))
LOADS = {"service", "frontend_bound", "memory_bound", "compute", "idle"}

# vendor, where the answer's path begins, and whether something is above its threshold
STORIES = {"sapphire-rapids": ("Intel", ["frontend_bound_ratio", "tma_fetch_latency_ratio"], True),
           "granite-rapids": ("Intel", ["retiring_ratio"], True), "zen4": ("AMD", ["backend_bound_ratio"], True),
           "zen5": ("AMD", ["retiring_ratio"], False), "neoverse-v2": ("Arm", ["retiring_ratio"], True),
           "neoverse-n1": ("Arm", ["backend_stalled_clocks_ratio"], True)}
# whose parts are all of it
LEVEL_2 = {"frontend_bound_ratio": ("tma_fetch_latency_ratio", "tma_fetch_bandwidth_ratio"),
           "retiring_ratio": ("tma_light_operations_ratio", "tma_heavy_operations_ratio"),
           "backend_bound_ratio": ("backend_bound_memory_ratio", "backend_bound_cpu_ratio")}


def scenario(name):
    return json.loads(e2e.read_text(os.path.join(FOLDER, f"{name}.json")))


def measured(name):
    """Status, host's snapshot and answer after two rounds, so that every value has an interval."""
    with e2e.Daemon("--pmu", f"sim:{name}", yaml=e2e.LISTEN_ANYWHERE + "slot: 50ms\n") as daemon:
        daemon.wait_round(3)
        return daemon.json("/api/v1/status"), daemon.json("/api/v1/snapshot")["scopes"][0], daemon.json("/api/v1/topdown")


def check_story(name):
    vendor, path, exceeded = STORIES[name]
    status, host, answer = measured(name)
    assert status["cpu"]["vendor"] == vendor and status["cpu"]["spec"] == name, status["cpu"]
    assert status["simulated"] and not status["events_not_live"] and not status["pmu_errors"], status
    without = {metric: value["reason"] for metric, value in host["metrics"].items() if value["value"] is None}
    assert not without, without
    bound = answer["bound"]
    assert bound["path"][:len(path)] == path and bound["exceeded"] is exceeded, bound
    return bound["text"]


def test_a_sapphire_rapids_is_bound_by_its_front_end():
    return check_story("sapphire-rapids")


def test_a_zen_4_waits_for_memory():
    return check_story("zen4")


def test_a_neoverse_v2_makes_good_use_of_its_pipeline():
    return check_story("neoverse-v2")


def test_a_granite_rapids_makes_good_use_of_its_pipeline():
    return check_story("granite-rapids")


def test_a_zen_5_is_in_good_health():
    return check_story("zen5")


def test_a_neoverse_n1_waits_in_its_back_end():
    return check_story("neoverse-n1")


def test_every_cpu_of_a_vendors_host_has_a_load_and_siblings_have_the_same():
    for name in STORIES:
        host = scenario(name)
        cores, load_of = host["sockets"] * host["cores_per_socket"], {}
        for each in host["assignments"]:
            first, last = (int(cpu) for cpu in each["cpus"].split("-"))
            for cpu in range(first, last + 1):
                begin = each["offset_seconds"] + (cpu - first) * each["stagger_seconds"]
                assert load_of.setdefault(cpu, (each["load"], begin)) == (each["load"], begin), (name, cpu)
        assert sorted(load_of) == list(range(cores * host["threads_per_core"])), name
        for cpu, load in load_of.items():
            assert load == load_of[cpu % cores], (name, cpu)
        assert LOADS <= host["loads"].keys() and LOADS == host["mixes"].keys(), name


def test_level_1_of_every_mix_adds_up_and_stands_apart_from_the_others():
    """By the numbers of the files alone: Intel's fields, AMD's slots of a thread, and Arm's stalls and operations."""
    for name in STORIES:
        spec = spec_files.load(os.path.join(ROOT, "specs", f"{name}.json"))
        width = spec["topdownd"].get("level1", {}).get("width")
        for mix, counts in scenario(name)["mixes"].items():
            if "slots" in counts:
                parts = sum(counts[f"topdown-{part}"] for part in ("retiring", "bad-spec", "fe-bound", "be-bound"))
                assert abs(parts / counts["slots"] - 1) < 2e-3, (name, mix)
            elif "de_src_op_disp.all" in counts:
                parts = sum(counts[event] for event in counts if event.startswith("de_no_dispatch_per_slot.") and "cmask" not in event)
                assert abs((parts + counts["de_src_op_disp.all"]) / width - 1) < 2e-3, (name, mix)
            elif "STALL_SLOT" in counts:
                assert abs(counts["STALL_SLOT"] - counts["STALL_SLOT_FRONTEND"] - counts["STALL_SLOT_BACKEND"]) < 2e-3, (name, mix)
                assert abs((counts["STALL_SLOT"] + counts["OP_SPEC"]) / width - 1) < 2e-3, (name, mix)


def test_measuring_a_ready_host_finds_values_all_the_way_that_its_bottleneck_leads():
    count = 0
    for name in NAMES:
        done = subprocess.run([BINARY, "measure", "--path.data", ROOT, "--pmu", f"sim:{name}", "--duration", "20s", "--json"],
                              capture_output=True, text=True, timeout=e2e.TIMEOUT, check=True)
        for report in json.loads(done.stdout)["whole"]:
            lacking = {row["metric"]: row["reason"] for row in report["metrics"] if row["value"] is None}
            assert not lacking, (name, report["core_type"], lacking)
            values = {row["metric"]: row["value"] for row in report["metrics"]}
            for parent, children in LEVEL_2.items():
                if children[0] in values and parent in values:
                    assert abs(sum(values[child] for child in children) - values[parent]) < 2e-3, (name, parent)
            count += len(values)
    return f"{count} metrics"


def test_the_list_has_every_scenario_with_its_description():
    done = subprocess.run([BINARY, "list", "scenarios", "--json", "--path.data", ROOT], capture_output=True, text=True,
                          timeout=e2e.TIMEOUT, check=True)
    listed = {each["name"]: each for each in json.loads(done.stdout)}
    assert list(listed) == NAMES, listed
    page = e2e.read_text(os.path.join(ROOT, "docs/scenarios.md"))
    for name, each in listed.items():
        host = scenario(name)
        assert each["description"] == host["description"] and each["sockets"] == host["sockets"], each
        assert each["cpus"] == host["sockets"] * host["cores_per_socket"] * host["threads_per_core"], each
        assert each["specs"] == [part["spec"] for part in host.get("core_types", [host])], each
        assert f"| `{name}` |" in page, name


def refused(*words):
    done = subprocess.run([BINARY, *words, "--path.data", ROOT], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
    assert (done.returncode, done.stdout) == (2, ""), done
    return done.stderr


def test_a_wrong_name_is_answered_with_all_names():
    said = refused("check-config", "--config", os.devnull, "--pmu", "sim:sapphire-rapid")
    assert "did you mean 'sapphire-rapids'?" in said and ", ".join(NAMES) in said and "sim:./sapphire-rapid.json" in said, said
    assert ", ".join(NAMES) in refused("--config", os.devnull, "--pmu", "sim:xyzzy")
    assert "--cpu does not go" in refused("list", "scenarios", "--cpu", "zen4")
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "specs"))
        done = subprocess.run([BINARY, "list", "scenarios", "--path.data", folder], capture_output=True, text=True,
                              timeout=e2e.TIMEOUT, check=False)
        assert done.returncode == 2 and f"{folder}/scenarios" in done.stderr, done


def test_the_hosts_that_the_manual_derives_are_sick_and_blind():
    host = scenario("zen4") | {"sockets": 1, "cores_per_socket": 2, "assignments": [{"cpus": "0-3", "load": "memory_bound"}]}
    del host["uncore"]  # its assignments are those of two sockets
    blind = host | {"assignments": [{"cpus": "0-3", "load": "service"}], "rivals": [{"kind": "refuse", "cpus": "0-3"}]}
    with tempfile.TemporaryDirectory() as folder:
        for name, each in (("sick", host), ("blind", blind)):
            e2e.write_text(os.path.join(folder, f"{name}.json"), json.dumps(each))
        with e2e.Daemon("--pmu", f"sim:{folder}/sick.json") as daemon:
            daemon.wait_round(2)
            assert daemon.json("/api/v1/topdown")["bound"]["path"][0] == "backend_bound_ratio"
            share = daemon.json("/api/v1/snapshot")["scopes"][0]["metrics"]["backend_bound_ratio"]["value"]
            assert abs(share - 0.72) < 0.002, share
        with e2e.Daemon("--pmu", f"sim:{folder}/blind.json") as daemon:
            e2e.wait_for(lambda: 'topdownd_pmu_up{pmu="simulated",simulated="true"} 0\n' in daemon.get("/metrics"), "a blind host")


if __name__ == "__main__":
    e2e.run_tests()
