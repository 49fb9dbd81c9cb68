# SPDX-License-Identifier: Apache-2.0
"""CPUs without a spec of their own whose kernel shows their Topdown counters: on simulated hosts level 1 is the truth, in recordings and
in logs of perf it comes back."""

import json
import os
import subprocess
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()
# Counts for each clock cycle. The fields add up to the slots, as the kernel's do (arch/x86/events/intel/core.c).
FIELDS = {"slots": 6, "topdown-retiring": 1.8, "topdown-bad-spec": 0.3, "topdown-fe-bound": 0.6, "topdown-be-bound": 3.3}
LEVEL_2 = {"topdown-heavy-ops": 0.3, "topdown-br-mispredict": 0.24, "topdown-fetch-lat": 0.42, "topdown-mem-bound": 2.7}
COMMON = {"CPU_CLK_UNHALTED.THREAD": 1, "CPU_CLK_UNHALTED.REF_TSC": 0.8, "INST_RETIRED.ANY": 1.5, "LONGEST_LAT_CACHE.REFERENCE": 0.03,
          "LONGEST_LAT_CACHE.MISS": 0.006, "BR_INST_RETIRED.ALL_BRANCHES": 0.3, "BR_MISP_RETIRED.ALL_BRANCHES": 0.003, "L1-icache-loads": 0.5,
          "L1-icache-load-misses": 0.003, "L1-dcache-loads": 0.5, "L1-dcache-load-misses": 0.009, "iTLB-loads": 0.02,
          "iTLB-load-misses": 0.0003, "dTLB-loads": 0.5, "dTLB-load-misses": 0.0006}
CATEGORIES = {"retiring_ratio": 0.3, "bad_speculation_ratio": 0.05, "frontend_bound_ratio": 0.1, "backend_bound_ratio": 0.55}
HALVES = {"tma_heavy_operations_ratio": 0.05, "tma_light_operations_ratio": 0.25, "tma_branch_mispredicts_ratio": 0.04,
          "tma_machine_clears_ratio": 0.01, "tma_fetch_latency_ratio": 0.07, "tma_fetch_bandwidth_ratio": 0.03,
          "tma_memory_bound_ratio": 0.45, "tma_core_bound_ratio": 0.1}
# Walks of 60 cycles for each clock cycle; 9 misses of the L1 for each 1,000 cycles delay by 80 cycles each, 6 of the last level by 270 more.
BOUNDS = {"text_huge_pages": 0.0003 * 60, "data_huge_pages": 0.0006 * 60, "code_layout": 0.1}  # prefetchers: 2.34, so all that waits for memory
STEP = 1 / 255  # of the fields: 8 bits each, as the hardware has them (Intel's SDM, IA32_PERF_METRICS)
HOSTS = {"intel-topdown": (FIELDS | LEVEL_2, CATEGORIES | HALVES), "intel-topdown-l1": (FIELDS, CATEGORIES)}


def simulated(folder, spec):
    host = {"description": "A CPU that nobody knows.", "spec": spec, "sockets": 1, "cores_per_socket": 2, "threads_per_core": 2,
            "general_counters": 8, "maximum_frequency_hz": 4000000000, "frequency_hz": 3000000000, "clock_hz": 2400000000,
            "mixes": {"all": COMMON | HOSTS[spec][0]},
            "loads": {"steady": {"period_seconds": 10, "keyframes": [{"at_seconds": 0, "mix": "all", "utilisation": 0.5}]}},
            "assignments": [{"cpus": "0-3", "load": "steady"}]}
    return e2e.write_text(os.path.join(folder, spec + ".json"), json.dumps(host))


def said(command, *options):
    done = subprocess.run([BINARY, command, "--path.data", ROOT, *options, "--json"], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_level_1_adds_up_and_is_the_truth():
    for spec, (_, truth) in HOSTS.items():
        with tempfile.TemporaryDirectory() as folder:
            whole, = said("measure", "--pmu", "sim:" + simulated(folder, spec), "--duration", "10s", "--groups", "Defaults")["whole"]
        rows = {row["metric"]: row["value"] for row in whole["metrics"] if row["scope"] == "host"}
        for name, value in truth.items():
            assert abs(rows[name] - value) < STEP, (spec, name, rows[name], value)
        assert abs(sum(rows[name] for name in CATEGORIES) - 1) < 1e-9, rows
        assert whole["path"][0] == "backend_bound_ratio", whole["path"]
        assert ("tma_memory_bound_ratio" in whole["path"]) == (spec == "intel-topdown"), whole["path"]


def test_pipeline_slots_are_counted_and_their_peak_is_not_known():
    """6 slots in each of 1.5e9 cycles a second and CPU."""
    for spec in HOSTS:
        with tempfile.TemporaryDirectory() as folder:
            with e2e.Daemon("--pmu", "sim:" + simulated(folder, spec), yaml=e2e.LISTEN_ANYWHERE + "slot: 20ms\n") as daemon:
                daemon.wait_round(3)
                page, plan = daemon.get("/metrics"), daemon.json("/api/v1/plan")
                daemon.stop()
        slots = e2e.value_of(page, "topdownd_pipeline_slots_total")
        seconds = e2e.value_of(page, "topdownd_covered_cpu_seconds_total")
        assert abs(slots / seconds / (6 * 1.5e9) - 1) < 0.05, (slots, seconds)
        back_end = e2e.value_of(page, "topdownd_pipeline_slots_total", category="backend_bound")
        assert abs(back_end / slots - 0.55) < 0.01, (back_end, slots)
        assert "topdownd_peak_pipeline_slots_per_second{" not in page
        rotating = [group for group in plan["event_groups"] if not group["always_on"]]
        assert rotating and all(group["events"][0]["name"] == "slots" for group in rotating), rotating


def test_bounds_of_actions_follow_from_level_1_and_misses():
    for spec in HOSTS:
        with tempfile.TemporaryDirectory() as folder:
            whole, = said("opportunities", "--pmu", "sim:" + simulated(folder, spec), "--duration", "5s")["whole"]
        actions = {each["action"]: each["value"] for each in whole["actions"]}
        assert len(actions) == 6 and all(value is not None for value in actions.values()), whole["actions"]
        waiting = 0.45 if spec == "intel-topdown" else 0.55
        for action, value in (BOUNDS | {"prefetchers": waiting, "working_set": waiting}).items():
            assert abs(actions[action] - value) < STEP, (spec, action, actions[action])


def test_a_recording_has_the_level_1_of_its_host():
    for spec in HOSTS:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "recording")
            with e2e.Daemon("--pmu", "sim:" + simulated(folder, spec), "--record", path, yaml=e2e.LISTEN_ANYWHERE + "slot: 20ms\n") as daemon:
                daemon.wait_round(3)
                daemon.stop()
            with e2e.Daemon("--pmu", f"replay:{path}", "--speed", "0") as daemon:
                e2e.wait_for(lambda: "have been replayed" in daemon.log(), "the end of the replay")
                page, status = daemon.get("/metrics"), daemon.json("/api/v1/status")
                daemon.stop()
        assert status["cpu"]["spec"] == spec, status["cpu"]
        assert abs(e2e.value_of(page, "topdownd_backend_bound_ratio", socket="0") - 0.55) < STEP


def test_a_log_of_perf_has_level_1_where_it_has_all_fields():
    def log(folder, events, prefix=""):
        name = f"{prefix}{{}}/" if prefix else "{}"
        lines = [f"1.0,{count * 1e9:.0f},,{name.format(event)},1000000000,100.00,,\n" for event, count in events.items()]
        return e2e.write_text(os.path.join(folder, "log"), "".join(lines))

    common = {"cycles": 1, "instructions": 1.5}
    for events, spec in ((FIELDS | LEVEL_2, "intel-topdown"), (FIELDS, "intel-topdown-l1"), (FIELDS | {"topdown-mem-bound": 1}, None)):
        for prefix in ("", "cpu_core/"):
            with tempfile.TemporaryDirectory() as folder:
                path = log(folder, common | events, prefix)
                status, text = e2e.run_daemon("check-config", "--pmu", f"replay:{path}")
                assert spec is None or (status == 0 and f"in the spec {spec}" in text), (prefix, text)
                assert spec or "intel-topdown," not in text.split("alike")[-1], text
                option = ["--spec", spec or "intel-topdown"]
                with e2e.Daemon("--pmu", f"replay:{path}", "--speed", "0", *option) as daemon:
                    e2e.wait_for(lambda: "have been replayed" in daemon.log(), "the end of the replay")
                    page = daemon.get("/metrics")
                    daemon.stop()
                assert abs(e2e.value_of(page, "topdownd_backend_bound_ratio", socket="0") - 0.55) < 1e-9


def test_the_list_of_cpus_says_what_a_kernel_must_show():
    cpus = {cpu["spec"]: cpu for cpu in said("list", "cpus")}
    assert cpus["intel-topdown-l1"]["shows"] == list(FIELDS), cpus["intel-topdown-l1"]
    assert cpus["intel-topdown"]["shows"] == list(FIELDS) + list(LEVEL_2), cpus["intel-topdown"]
    assert not cpus["intel-generic"]["shows"] and not cpus["sapphire-rapids"]["shows"], cpus["intel-generic"]


if __name__ == "__main__":
    e2e.run_tests()
