# SPDX-License-Identifier: Apache-2.0
"""`topdownd explain`: what it says beforehand is what the daemon then does."""

import json
import re
import subprocess
import tempfile

import e2e
import test_hosts
import uncore_hosts

BINARY, ROOT = e2e.arguments()
LATER = ["topdownd_budget_used_ratio"]  # known after the first half minute
OF_THE_RUN = ("seed", "counters", "adaptive")  # what only a running daemon knows
BEFOREHAND = ("expected_errors",)  # what only explain says


def explain(*words):
    done = subprocess.run([BINARY, "explain", *words, "--path.data", ROOT], capture_output=True, text=True, timeout=e2e.TIMEOUT)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


def explained_plans(scenario):
    plans = json.loads(explain("--pmu", f"sim:{scenario}", "--json"))
    return [{key: value for key, value in plan.items() if key not in OF_THE_RUN + BEFOREHAND} for plan in plans]


def plans_of(daemon):
    served = daemon.json("/api/v1/plan")
    return [{key: value for key, value in plan.items() if key not in OF_THE_RUN} for plan in served.get("core_types", [served])]


def series_and_plans(scenario):
    with e2e.Daemon("--pmu", f"sim:{scenario}") as daemon:
        daemon.wait_round(3)
        names = [name for name, _, _ in e2e.samples(daemon.get("/metrics")) if name != "topdownd_bound_since_unseen"]
        of_cpus = len(e2e.samples(daemon.get("/metrics/cpu")))
        return len(names) + sum(name not in names for name in LATER), of_cpus, plans_of(daemon)


def assert_as_served(scenario):
    n, of_cpus, served = series_and_plans(scenario)
    said = explain("--pmu", f"sim:{scenario}")
    assert explained_plans(scenario) == served, scenario
    assert f"\n{n} series on /metrics, {of_cpus} on /metrics/cpu" in said, (scenario, n, of_cpus, said)
    for plan in served:
        assert f"A round takes {plan['round_seconds']:.2f} s" in said, (scenario, said)
        for group in plan["event_groups"]:
            line, = [line for line in said.splitlines() if re.match(rf"{re.escape(group['name'])} .*%", line)][:1]
            assert f"{100 * group['share_of_time']:.1f} %" in line, (group, line)
    assert max(map(len, said.splitlines())) <= 120, said
    return f"{scenario}: {n} series"


def test_the_demo_is_measured_as_it_was_explained():
    return assert_as_served("demo")


def test_a_host_of_intel_is_measured_as_it_was_explained():
    return assert_as_served("sapphire-rapids")


def test_a_host_of_amd_is_measured_as_it_was_explained():
    return assert_as_served("zen4")


def test_each_type_of_a_hybrid_host_has_a_plan():
    plans = explained_plans("hybrid")
    assert [plan["core_type"] for plan in plans] == ["c1-ultra", "c1-pro", "c1-nano"], plans


def test_expected_errors_are_said_with_their_assumption():
    """The numbers themselves: unit/test_estimate_expected.c."""
    for scenario in ("demo", "sapphire-rapids", "hybrid"):
        said = explain("--pmu", f"sim:{scenario}")
        assert "for a load that varies by 20 % between slots" in said, said
        for plan in json.loads(explain("--pmu", f"sim:{scenario}", "--json")):
            errors = plan["expected_errors"]
            assert errors["deviation_between_slots"] == 0.2 and len(errors["units"]) == len(plan["units"]), errors
            for unit in errors["units"]:
                assert 0 <= unit["all_minute"] <= unit["all_round"] <= unit["cpu_round"] < 0.4, unit
                assert unit["all_minute"] <= unit["cpu_minute"] <= unit["cpu_round"], unit
                shown = f"{100 * unit['cpu_round']:.2g} %" if unit["cpu_round"] else "exact"
                assert re.search(rf"^{re.escape(unit['metrics_of'])} +{shown} ", said, re.M), (unit, said)


def test_what_cannot_be_measured_is_named_with_the_reason():
    with tempfile.TemporaryDirectory() as folder:
        test_hosts.x86_host(folder, "GenuineIntel-6-10-1")
        said = explain("--path.sysfs", folder, "--path.procfs", folder)
        config = e2e.write_text(folder + "/topdownd.yaml", "counters: {reserve: 5}\n")
        few = explain("--pmu", "sim:zen4", "--config", config)
    assert "there is no spec for this CPU" in said and "4 CPUs in 4 cores on 1 socket" in said, said
    assert re.search(r"^Not measurable here:\n  \w+: \w+", few, re.M), few


OUTSIDE = "profiles: {default: {groups: [stage_1, l3_cache, memory_controller]}}\n"


def test_a_simulated_zen_4_lacks_what_a_real_one_lacks():
    def plan_of(*words):
        plan, = json.loads(explain("--config", config, *words, "--json"))
        return plan
    with tempfile.TemporaryDirectory() as folder:
        config, host = e2e.write_text(folder + "/topdownd.yaml", OUTSIDE), folder + "/host"
        uncore_hosts.zen4(host)
        simulated, real = plan_of("--pmu", "sim:zen4"), plan_of("--path.sysfs", host, "--path.procfs", host)
    def lacking(plan):
        return [each for each in plan["not_plannable"] if re.search("amd_(l3|umc)", each["reason"])]
    assert len(lacking(simulated)) == 6 and lacking(simulated) == lacking(real) == simulated["not_plannable"], (simulated, real)
    assert [group["name"] for group in simulated["event_groups"]] == ["stage_1"], simulated["event_groups"]


def named(node):
    return [[each["name"] for each in node[key]] for key in ("next", "next_groups")] + [named(child) for child in node.get("children", [])]


def test_what_is_outside_the_cores_is_no_next_step_of_a_core():
    with e2e.Daemon("--pmu", "sim:zen4", yaml=e2e.LISTEN_ANYWHERE + "slot: 50ms\n" + OUTSIDE.replace("stage_1", "stage_1, Topdown_L2")) as daemon:
        daemon.wait_round(3)
        topdown = e2e.wait_for(lambda: (found := daemon.json("/api/v1/topdown"))["bound"] and len(found["bound"]["path"]) == 2 and found, "a verdict")
        catalog, page = daemon.json("/api/v1/catalog"), daemon.get("/plain")
        bounds = [labels for name, labels, _ in e2e.samples(daemon.get("/metrics")) if name == "topdownd_bound_info"]
    assert topdown["bound"]["path"] == ["backend_bound_ratio", "backend_bound_memory_ratio"], topdown["bound"]
    steps = json.dumps(named(topdown["bound"]) + [named(node) for scope in topdown["scopes"] for node in scope["tree"]])
    assert "l2_cache" in steps and "l3_cache" not in steps and "memory_controller" not in steps, steps
    assert any("l2_cache" in labels["next"] for labels in bounds), bounds
    assert not any(re.search("l3_cache|memory_controller", labels.get("next", "")) for labels in bounds), bounds
    told = re.findall("[Ll]ook at the metric groups?([^.;]*)", re.sub("<[^>]*>", "", page))
    assert any("l2_cache" in groups for groups in told) and not any(re.search("l3_cache|memory_controller", groups) for groups in told), told
    amd = [event for event in catalog["events"] if event["pmu"] in ("amd_l3", "amd_umc")]
    assert amd and all("does not count for each CPU" in event["unmeasurable"] for event in amd), amd
    assert [each["planned"] for each in catalog["metrics"] if each["name"] == "l3_miss_ratio"] == [False], catalog["metrics"]


def test_what_boxes_outside_the_cores_count_is_named():
    with tempfile.TemporaryDirectory() as folder:
        config = e2e.write_text(folder + "/topdownd.yaml", "uncore: {groups: [memory, Queue_Latency]}\n")
        said = explain("--pmu", "sim:sapphire-rapids", "--config", config).partition("PMUs imc outside the cores")[2]
    assert re.search(r"^traffic +UNC_M_CAS_COUNT.RD UNC_M_CAS_COUNT.WR", said, re.M) and "UNC_M_RPQ_INSERTS.PCH0" in said, said


def test_files_are_those_that_check_config_says():
    said = explain("--pmu", "sim:zen4")
    status, log = e2e.run_daemon("check-config", "--pmu", "sim:zen4")
    assert status == 0, log
    assert re.search(r"needs (\d+) file descriptors", log).group(1) == re.search(r"^(\d+) files", said, re.M).group(1), (said, log)


def test_a_recording_cannot_be_explained():
    done = subprocess.run([BINARY, "explain", "--pmu", "replay:x"], capture_output=True, text=True, timeout=e2e.TIMEOUT)
    assert done.returncode == 2 and "a recording has been" in done.stderr, done


if __name__ == "__main__":
    e2e.run_tests()
