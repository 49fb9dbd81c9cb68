# SPDX-License-Identifier: Apache-2.0
"""Metric groups of PMUs outside the cores: chosen by name, exported as those of the cores are, and memory latency among them."""

import json
import os
import sys
import tempfile

import e2e
import test_uncore
import uncore_hosts

BINARY, ROOT = e2e.arguments()
sys.path.insert(0, os.path.join(ROOT, "tests/unit"))
import evaluate_mesh  # noqa: E402

SECONDS = e2e.LISTEN_ANYWHERE + "interval: 1s\n"
OCCUPANCY, INSERTS, CYCLES = 3e8, 1e6, 2e9  # a second and box: 300 cycles of 2 GHz for each read
HOME = {"UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD": OCCUPANCY, "UNC_CHA_TOR_INSERTS.IA_MISS_DRD": INSERTS, "UNC_CHA_CLOCKTICKS": CYCLES,
        "UNC_CHA_REQUESTS.READS_LOCAL": 5e5}


def simulated(folder, kind, spec, rates, host="sapphire-rapids", boxes=4, sockets=2):
    with open(os.path.join(ROOT, f"scenarios/{host}.json"), encoding="utf-8") as file:
        scenario = json.load(file)
    scenario["uncore"] = [{"kind": kind, "spec": spec, "boxes_per_socket": boxes, "loads": {"all": test_uncore.load(rates)},
                           "assignments": [{"cpus": f"0-{sockets * boxes - 1}", "load": "all"}]}]
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


def test_the_shipped_sapphire_rapids_has_values_of_the_groups_that_its_kinds_have():
    """100 ns from a miss to the data, 16.7 ns of them in the queue of the memory controller."""
    with e2e.Daemon("--pmu", "sim:sapphire-rapids", yaml=SECONDS + "uncore: {groups: [memory, Latency, Queue_Latency]}\n") as daemon:
        daemon.wait_round(3)
        page = daemon.get("/metrics")
    for socket in "01":
        assert near(e2e.value_of(page, "topdownd_memory_latency_seconds", socket=socket), 100e-9), page
        assert near(e2e.value_of(page, "topdownd_memory_queue_latency_seconds", socket=socket), 40 / 2.4e9), page
    assert "topdownd_llc_miss_bytes_total" not in page, "nobody asked for remote"


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
        with e2e.Daemon("--pmu", host, yaml=SECONDS + "uncore: {groups: [remote]}\n") as daemon:
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


ARM = os.path.join(ROOT, "../shared/telemetry/arm/cmn/cmn_700_r0p0_pmu.json")
HERTZ = 2e9  # of the mesh


def mesh_metrics():
    if not os.path.exists(ARM):
        raise e2e.Skip("the vendors' files are not there")
    return evaluate_mesh.read(ARM)


def test_metrics_of_arms_mesh_are_worth_what_its_formulas_say():
    vendor = mesh_metrics()
    with open(os.path.join(ROOT, "specs/uncore/mesh-cmn-700.json"), encoding="utf-8") as file:
        spec = json.load(file)
    rates = {event: 1e6 * (1 + 0.37 * i) for i, event in enumerate(spec["events"])}
    # parts of a whole are less than it
    rates |= {"PMU_HNF_SLCSF_CACHE_ACCESS": 9e7, "PMU_HNF_POCQ_REQS_RECVD": 8e7, "PMU_HNF_MC_REQS": 7e7, "PMU_RNI_TXREQFLITV": 6e7, "SYS_CMN_CYCLES": HERTZ}
    # one event under two names
    rates |= {"hnf_cache_miss": rates["PMU_HNF_CACHE_MISS"], "hnf_slc_sf_cache_access": rates["PMU_HNF_SLCSF_CACHE_ACCESS"]}
    groups = [name for name in spec["groups"]["metrics"] if name != "Cache"]
    ours = {name: metric["topdownd"]["name"] for name, metric in spec["metrics"].items() if name in vendor}
    wanted = {name: evaluate_mesh.evaluate(vendor, name, rates) / (100 if spec["metrics"][name]["units"].startswith("percent") else 1) for name in ours}
    assert len(wanted) > 50, len(wanted)
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon(
            "--pmu", simulated(folder, "cmn", "mesh-cmn-700", rates, host="neoverse-v2", boxes=1, sockets=1),
            yaml=SECONDS + f"uncore: {{groups: [{', '.join(groups)}]}}\n") as daemon:
        def told():
            found = {labels["socket"] + name: value for name, labels, value in e2e.samples(daemon.get("/metrics")) if "socket" in labels}
            return found if all(f"0topdownd_{name}" in found for name in ours.values()) else None
        found = e2e.wait_for(told, "a value of each metric")
        wrong = {name: (found[f"0topdownd_{export}"], wanted[name]) for name, export in ours.items()
                 if not near(found[f"0topdownd_{export}"], wanted[name])}
        assert not wrong, wrong
        return f"{len(ours)} of the file's {len(vendor)} metrics"


# two events of the kernel's own PMU of software, which takes the place of a memory controller here
FILES = {"arch/x86/mapfile.csv": "Family-model,Version,Filename,EventType\nGenuineIntel-6-8F,v1,newlake,core",
         "arch/x86/newlake/all.json": json.dumps([
             {"EventName": "INST_RETIRED.ANY", "EventCode": "0xc0", "BriefDescription": "Instructions"},
             {"EventName": "CPU_CLK_UNHALTED.THREAD", "EventCode": "0x3c", "BriefDescription": "Cycles"},
             {"EventName": "UNC_M_FAULTS", "EventCode": "0x05", "Unit": "iMC", "PerPkg": "1", "BriefDescription": "Faults"},
             {"EventName": "UNC_M_SWITCHES", "EventCode": "0x03", "Unit": "iMC", "PerPkg": "1", "BriefDescription": "Switches"},
             {"MetricName": "ipc", "MetricExpr": "INST_RETIRED.ANY / CPU_CLK_UNHALTED.THREAD", "MetricGroup": "TopdownL1"},
             {"MetricName": "mem_fault_part", "MetricExpr": "UNC_M_FAULTS / (UNC_M_FAULTS + UNC_M_SWITCHES)", "MetricGroup": "Mine"},
             {"MetricName": "mem_fault_rate", "MetricExpr": "UNC_M_FAULTS / duration_time", "ScaleUnit": "1per second"},
             {"MetricName": "mem_boxes", "MetricExpr": "source_count(UNC_M_FAULTS) * #num_packages + 0 * UNC_M_FAULTS"},
             {"MetricName": "mem_mixed", "MetricExpr": "UNC_M_FAULTS / INST_RETIRED.ANY", "MetricGroup": "Mine"}])}


def vendors_host(folder, boxes=("0", "0", "1")):
    test_uncore.made_up(folder, boxes)
    test_uncore.test_hosts.write_all(os.path.join(folder, "files"), FILES)
    return ("--path.sysfs", folder, "--path.procfs", folder), f"specs: {{path: '{folder}/files', format: perf}}\n"


def test_groups_of_the_vendors_files_are_measured_on_the_boxes_that_have_their_events():
    why = e2e.perf_events_allowed()
    if why:
        raise e2e.Skip(why)
    with tempfile.TemporaryDirectory() as folder:
        here, specs = vendors_host(folder)
        with e2e.Daemon(*here, yaml=SECONDS + specs + "uncore: {groups: [uncore_imc]}\n") as daemon:
            def shown():
                page = daemon.get("/metrics")
                return page if "topdownd_mem_fault_rate{" in page and e2e.value_of(page, "topdownd_mem_fault_rate", socket="0") > 0 else None
            page = e2e.wait_for(shown, "faults")
            faults, both = parts(page, "mem_fault_part")
            assert 0 < faults <= both and faults == int(faults), page
            assert abs(e2e.value_of(page, "topdownd_mem_boxes", socket="0") - 3) < 0.1, "one package has all three"
            assert "topdownd_mem_mixed" not in page, "its events have no window in common"
            kinds = daemon.json("/api/v1/uncore")["kinds"]
            assert [(kind["pmu"], kind["spec"], len(kind["boxes"])) for kind in kinds] == [("uncore_imc", "newlake", 3)], kinds


def test_a_replay_tells_which_kinds_are_not_recorded():
    why = e2e.perf_events_allowed()
    if why:
        raise e2e.Skip(why)
    with tempfile.TemporaryDirectory() as folder:
        here, specs = vendors_host(folder)
        path = os.path.join(folder, "recording")
        for groups, told in (("uncore_imc", True), ("memory", False)):
            with e2e.Daemon(*here, "--record", path, yaml=SECONDS + specs + f"uncore: {{groups: [{groups}]}}\n") as daemon:
                daemon.wait_round(1)
                daemon.stop()
            with e2e.Daemon("--pmu", f"replay:{path}", "--speed", "0", yaml=SECONDS) as daemon:
                e2e.wait_for(lambda: "have been replayed" in daemon.log(), "the end of the replay")
                warning = f"{path}: uncore_imc was measured then with the vendor's files, and recordings do not hold that: it is not replayed"
                assert daemon.log().count(warning) == told, daemon.log()


def test_a_metric_of_other_pmus_says_which_group_measures_it():
    with tempfile.TemporaryDirectory() as folder:
        here, specs = vendors_host(folder)
        status, words = e2e.run_daemon("check-config", *here, yaml=e2e.LISTEN_ANYWHERE + specs + "uncore: {groups: [memory, Mine, nix]}\n")
        assert status == 0 and "uncore.groups: group 'nix' is not measured" in words and "'Mine'" not in words, words
        test_uncore.test_hosts.x86_host(folder, test_uncore.SAPPHIRE_RAPIDS, cpus=2)
        config = e2e.write_text(os.path.join(folder, "list.yaml"), specs)
        done = e2e.subprocess.run([BINARY, "list", "metrics", "--json", "--config", config, "--path.data", ROOT, *here], capture_output=True,
                                  text=True, timeout=e2e.TIMEOUT, check=False)
        reasons = {row["name"]: row["unmeasurable"] for row in json.loads(done.stdout)}
        assert "'uncore: {groups: [uncore_imc]}' measures metrics of that PMU" in reasons.get("mem_fault_part", ""), done.stdout + done.stderr


def test_arms_own_file_is_read_for_a_mesh_and_each_metric_is_told_once():
    if not os.path.exists(ARM):
        raise e2e.Skip("the vendors' files are not there")
    with tempfile.TemporaryDirectory() as folder:
        host = uncore_hosts.altra(folder)
        mesh = "bus/event_source/devices/arm_cmn_0"
        host.write({f"{mesh}/identifier": "43c02", f"{mesh}/events/hnf_cache_miss": "type=0x5,eventid=0x1"})

        def kinds(groups):
            specs = f"specs: {{path: '{os.path.dirname(os.path.dirname(ARM))}'}}\nuncore: {{groups: [{groups}]}}\n"
            with e2e.Daemon("--path.sysfs", folder, "--path.procfs", folder, yaml=SECONDS + specs) as daemon:
                assert ("another kind measures its metrics" in daemon.log()) == ("," in groups), daemon.log()
                return [(kind["pmu"], kind["spec"]) for kind in daemon.json("/api/v1/uncore")["kinds"]]
        # only Arm's file has the group of its second stage; our own spec and the file have the other one
        assert kinds("CMN_Stage_Two_SLC_Effectiveness") == [("arm_cmn", "cmn_700_r0p0_pmu")]
        assert kinds("HNF_Analysis_Ratio") == [("cmn", "mesh-cmn-700")]
        assert kinds("HNF_Analysis_Ratio, CMN_Stage_Two_SLC_Effectiveness") == [("cmn", "mesh-cmn-700")]


if __name__ == "__main__":
    e2e.run_tests()
