# SPDX-License-Identifier: Apache-2.0
"""Metric groups of PMUs outside the cores: chosen by name, exported as those of the cores are, and memory latency among them."""

import json
import os
import shutil
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


def test_a_sum_of_more_events_than_counters_is_that_of_its_groups():
    """As those of AMD's files: eight channels on four counters, of which each group is on half of the time."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("specs", "scenarios"):
            shutil.copytree(os.path.join(ROOT, name), os.path.join(folder, name))
        path = os.path.join(folder, "specs/uncore/df-zen1.json")
        spec = json.loads(e2e.read_text(path))
        events = list(spec["events"])
        spec["metrics"] = {"nodes_rate": {"title": "Channels", "description": "All.", "formula": f"({' + '.join(events)}) / cpu_seconds", "units": "1/s",
                                          "events": events}}
        spec["groups"]["metrics"] = {"Traffic": spec["groups"]["metrics"]["Traffic"] | {"metrics": ["nodes_rate"]}}
        e2e.write_text(path, json.dumps(spec))
        rates = {event: 1e6 * (1 + i) for i, event in enumerate(events)}
        with e2e.Daemon("--pmu", simulated(folder, "df", "df-zen1", rates, host="zen4", boxes=1), "--path.data", folder,
                        yaml=SECONDS + "uncore: {groups: [memory]}\n") as daemon:
            daemon.wait_round(4)
            counted, seconds = parts(daemon.get("/metrics"), "nodes_rate")
            assert near(counted / seconds, sum(rates.values())), (counted, seconds)
            assert "other users" not in daemon.log(), daemon.log()
            return f"{len(events)} events"


def test_a_group_that_nobody_has_is_a_mistake_with_its_place():
    for name, said in (("Latencie", "did you mean 'Latency'?"), ("memry", "did you mean 'memory'?"), ("x", "topdownd list pmus")):
        status, words = e2e.run_daemon("check-config", "--pmu", "sim:sapphire-rapids",
                                       yaml=e2e.LISTEN_ANYWHERE + f"uncore: {{groups: [memory, {name}]}}\n")
        assert status != 0 and f"no group outside the cores named '{name}'" in words and said in words, words
        assert ":2:27: " in words, words


def test_a_group_outside_the_cores_in_a_profile_is_a_mistake_that_says_where_it_belongs():
    status, words = e2e.run_daemon("check-config", "--pmu", "sim:zen4", yaml=e2e.LISTEN_ANYWHERE + "profiles: {default: {groups: [MPKI, Latency]}}\n")
    assert status != 0 and ":2:37: metric group 'Latency' is of PMUs outside the cores, which count for sockets: name it in uncore.groups" in words, words


def test_a_group_of_the_cores_outside_them_is_a_mistake_that_says_where_it_belongs():
    for name, cpu in (("l3_cache", "this one"), ("Topdown_L1", "Neoverse")):
        status, words = e2e.run_daemon("check-config", "--pmu", "sim:zen4", yaml=e2e.LISTEN_ANYWHERE + f"uncore: {{groups: [{name}]}}\n")
        assert status != 0 and f":2:19: metric group '{name}' is of the cores: name it in the groups of a profile" in words, (cpu, words)
        assert "did you mean" not in words, words


def test_a_group_of_another_cpu_is_no_mistake():
    status, words = e2e.run_daemon("check-config", "--pmu", "sim:zen4", yaml=e2e.LISTEN_ANYWHERE + "uncore: {groups: [Queue_Latency]}\n")
    assert status == 0, words


ARM = os.path.join(ROOT, "../shared/telemetry/arm/cmn/cmn_700_r0p0_pmu.json")
HERTZ = 2e9  # of the mesh


def mesh_metrics():
    if not os.path.exists(ARM):
        raise e2e.Skip("the vendors' files are not there")
    return evaluate_mesh.read(ARM)


def mesh_is_worth_what_formulas_say(name, node):
    """Of home nodes of this type."""
    vendor, small, other = mesh_metrics(), node.lower(), "_all" if node == "HNS" else ""
    with open(os.path.join(ROOT, f"specs/uncore/{name}.json"), encoding="utf-8") as file:
        spec = json.load(file)
    rates = {event: 1e6 * (1 + 0.37 * i) for i, event in enumerate(spec["events"])}
    # parts of a whole are less than it
    rates |= {f"PMU_{node}_SLCSF_CACHE_ACCESS": 9e7, f"PMU_{node}_POCQ_REQS_RECVD": 8e7, f"PMU_{node}_MC_REQS": 7e7, "PMU_RNI_TXREQFLITV": 6e7,
              "SYS_CMN_CYCLES": HERTZ}
    # one event under two names
    rates |= {f"{small}_cache_miss{other}": rates[f"PMU_{node}_CACHE_MISS"],
              f"{small}_slc_sf_cache_access{other}": rates[f"PMU_{node}_SLCSF_CACHE_ACCESS"]}
    groups = [name for name in spec["groups"]["metrics"] if name != "Cache"]
    ours = {name: metric["topdownd"]["name"] for name, metric in spec["metrics"].items() if name in vendor}
    wanted = {name: evaluate_mesh.evaluate(vendor, name, rates) / (100 if spec["metrics"][name]["units"].startswith("percent") else 1) for name in ours}
    assert len(wanted) > 50, len(wanted)
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon(
            "--pmu", simulated(folder, "cmn", name, rates, host="neoverse-v2", boxes=1, sockets=1),
            yaml=SECONDS + f"uncore: {{groups: [{', '.join(groups)}]}}\n") as daemon:
        def told():
            found = {labels["socket"] + name: value for name, labels, value in e2e.samples(daemon.get("/metrics")) if "socket" in labels}
            return found if all(f"0topdownd_{name}" in found for name in ours.values()) else None
        found = e2e.wait_for(told, "a value of each metric")
        wrong = {name: (found[f"0topdownd_{export}"], wanted[name]) for name, export in ours.items()
                 if not near(found[f"0topdownd_{export}"], wanted[name])}
        assert not wrong, wrong
        return f"{len(ours)} of the file's {len(vendor)} metrics"


def test_metrics_of_arms_mesh_are_worth_what_its_formulas_say():
    return mesh_is_worth_what_formulas_say("mesh-cmn-700", "HNF")


def test_metrics_of_a_mesh_with_later_home_nodes_are_worth_what_its_formulas_say():
    return mesh_is_worth_what_formulas_say("mesh-cmn-s3", "HNS")


def test_a_neoverse_v3_with_a_cmn_s3_tells_its_memory_and_the_misses_of_its_cache_by_home():
    rates = {"ddr": ("mesh-memory-cmn-s3", {"hns_mc_reqs_local_all": 3e6}), "home": ("mesh-home-cmn-s3", {"hns_cache_miss_hbt": 2e6, "hns_cache_miss_lbt": 5e5}),
             "cmn": ("mesh-cmn-s3", {"hns_cache_miss_all": 2.5e6, "hns_slc_sf_cache_access_all": 1e7})}
    with open(os.path.join(ROOT, "scenarios/neoverse-v2.json"), encoding="utf-8") as file:
        scenario = json.load(file) | {"spec": "neoverse-v3", "sockets": 2, "rivals": [], "assignments": [{"cpus": "0-3", "load": "all"}],
                                      "loads": {"all": test_uncore.load({"CPU_CYCLES": 2e9, "INST_RETIRED": 3e9})}}
    scenario["uncore"] = [{"kind": kind, "spec": spec, "boxes_per_socket": 1, "loads": {"all": test_uncore.load(of)},
                           "assignments": [{"cpus": "0-1", "load": "all"}]} for kind, (spec, of) in rates.items()]
    with tempfile.TemporaryDirectory() as folder:
        host = e2e.write_text(os.path.join(folder, "v3.json"), json.dumps(scenario))
        with e2e.Daemon("--pmu", f"sim:{host}", yaml=SECONDS + "uncore: {groups: [memory, remote, llc]}\n") as daemon:
            daemon.wait_round(4)
            page = daemon.get("/metrics")
            kinds = {kind["pmu"]: kind for kind in daemon.json("/api/v1/uncore")["kinds"]}
            for socket in "01":
                missed, looked = parts(page, "slc_miss_ratio", socket)
                assert near(missed / looked, 0.25), page
                assert e2e.value_of(page, "topdownd_memory_bytes_total", socket=socket, direction="all", kind="dram") > 0
                traffic = {each["name"]: each["bytes_per_second"] for kind in kinds.values() for each in kind["sockets"][int(socket)]["traffic"]}
                assert near(traffic["memory_all"], 192e6) and near(traffic["llc_miss_local"], 128e6) and near(traffic["llc_miss_remote"], 32e6), traffic
            assert "other users" not in daemon.log(), daemon.log()


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
             {"MetricName": "mem_boxes", "MetricExpr": "source_count(UNC_M_FAULTS) * #num_packages * has_event( CPU_CLK_UNHALTED.THREAD ) + has_event(NIX) * UNC_M_FAULTS"},
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
            assert "topdownd_mem_mixed" not in page, "it needs the cores, too"
            kinds = daemon.json("/api/v1/uncore")["kinds"]
            assert [(kind["pmu"], kind["spec"], len(kind["boxes"])) for kind in kinds] == [("uncore_imc", "newlake", 3)], kinds


# the same for two kinds of boxes, and for cores: their PMU is the kernel's of software as well, with the nanoseconds of two clocks
JOINED = FILES | {"arch/x86/newlake/more.json": json.dumps([
    {"EventName": "WORK.DONE", "EventCode": "0x01", "BriefDescription": "Nanoseconds of one clock"},
    {"EventName": "WORK.TIME", "EventCode": "0x00", "UMask": "0x00", "BriefDescription": "Nanoseconds of the other"},
    {"EventName": "UNC_CHA_SWITCHES", "EventCode": "0x03", "Unit": "CHA", "PerPkg": "1", "BriefDescription": "Switches"},
    {"MetricName": "work_rate", "MetricExpr": "WORK.DONE / WORK.TIME", "MetricGroup": "Work"},
    {"MetricName": "joined_switches", "MetricExpr": "UNC_M_SWITCHES / UNC_CHA_SWITCHES", "MetricGroup": "Mine"},
    {"MetricName": "joined_rate", "MetricExpr": "(UNC_M_SWITCHES + UNC_CHA_SWITCHES) / duration_time", "ScaleUnit": "1per second"},
    {"MetricName": "joined_boxes", "MetricExpr": "0 * UNC_M_FAULTS + source_count(UNC_M_FAULTS) + 10 * source_count(UNC_CHA_SWITCHES) * #num_packages"},
    {"MetricName": "faults_per_work", "MetricExpr": "UNC_M_FAULTS / WORK.DONE"}])}


def joined_host(folder):
    here, specs = vendors_host(folder)
    boxes = {f"bus/event_source/devices/uncore_cha_{box}/{file}": text for box in (0, 1)
             for file, text in {"type": "1", "cpumask": str(box), "format/event": "config:0-7"}.items()}
    cores = {f"bus/event_source/devices/cpu/{file}": text for file, text in {"type": "1", "format/event": "config:0-7"}.items()}
    test_uncore.test_hosts.write_all(folder, boxes | cores)
    test_uncore.test_hosts.write_all(os.path.join(folder, "files"), JOINED)
    return here, specs


def test_metrics_over_several_pmus_are_measured_by_kinds_of_their_own():
    """Memory controllers with home agents, and with what the cores' own event groups count: each sum is a socket's."""
    why = e2e.perf_events_allowed()
    if why:
        raise e2e.Skip(why)
    with tempfile.TemporaryDirectory() as folder:
        here, specs = joined_host(folder)
        specs += "profiles: {default: {groups: [Work]}}\nuncore: {groups: [uncore_imc, uncore_cha_imc, uncore_imc_cpu]}\n"
        with e2e.Daemon(*here, yaml=SECONDS + specs) as daemon:
            def shown():
                page = daemon.get("/metrics")
                told = all(f"topdownd_{name}{{" in page for name in ("joined_switches", "joined_rate", "joined_boxes", "faults_per_work", "work_rate"))
                # the cores had counted for a while, on a busy machine a long one, when the first news of them came
                return page if told and parts(page, "faults_per_work")[1] > max(1e10, 0.5 * parts(page, "work_rate")[0]) else None
            page = e2e.wait_for(shown, "metrics over several PMUs, and most of what the cores count in them")
            assert "PMUs uncore_cha_imc: all boxes on " in daemon.log() and "PMUs imc: all" not in daemon.log(), daemon.log()
            kinds = daemon.json("/api/v1/uncore")["kinds"]
            assert {kind["pmu"]: len(kind["boxes"]) for kind in kinds} == {"uncore_imc": 3, "uncore_cha_imc": 1, "uncore_imc_cpu": 1}, kinds
            assert abs(e2e.value_of(page, "topdownd_joined_boxes", socket="0") - 23) < 0.01, page
            memory, homes = parts(page, "joined_switches")
            assert homes < memory < 2 * homes, "CPU 0 reads two of three controllers and one of two home agents"
            work, _ = parts(page, "work_rate")
            faults, per_work = parts(page, "faults_per_work")
            all_faults, _ = parts(page, "mem_fault_part")
            assert per_work <= work, "what the cores count, since the first news of them"
            assert 0 < faults <= all_faults + 1e5, (faults, all_faults)
            told = {kind["pmu"]: kind for kind in daemon.json("/api/v1/snapshot?scope=socket")["uncore"]}
            values = told["uncore_imc_cpu"]["sockets"][0]["metrics"]["faults_per_work"]
            assert values["value"] > 0 and values["denominator_total"] >= per_work, values
            assert values["low"] is None, "how far off the cores' counts are is not known here"
            both = told["uncore_cha_imc"]["sockets"][0]["metrics"]["joined_switches"]
            assert both["low"] == both["value"] == both["high"] and both["share_of_time"] == 1, both
            plan = {kind["pmu"]: kind for kind in daemon.json("/api/v1/plan")["uncore"]}["uncore_imc_cpu"]
            assert plan["event_groups"][0]["metrics"] == ["faults_per_work"], plan


def test_a_replay_tells_metrics_over_several_pmus_as_they_were():
    why = e2e.perf_events_allowed()
    if why:
        raise e2e.Skip(why)
    with tempfile.TemporaryDirectory() as folder:
        here, specs = joined_host(folder)
        specs += "profiles: {default: {groups: [Work]}}\nuncore: {groups: [uncore_cha_imc, uncore_imc_cpu]}\n"
        path = os.path.join(folder, "recording")
        with e2e.Daemon(*here, "--record", path, yaml=SECONDS + specs) as daemon:
            e2e.wait_for(lambda: "topdownd_faults_per_work{" in daemon.get("/metrics"), "a value")
            daemon.wait_round(2)
            live = {metric: parts(daemon.get("/metrics"), metric) for metric in ("joined_switches", "faults_per_work")}
            daemon.stop()
        with e2e.Daemon("--pmu", f"replay:{path}", "--speed", "0", yaml=SECONDS) as daemon:
            e2e.wait_for(lambda: "have been replayed" in daemon.log(), "the end of the replay")
            page = daemon.get("/metrics")
            for metric, (numerator, denominator) in live.items():
                played = parts(page, metric)
                assert played[0] >= numerator > 0 and played[1] >= denominator > 0, (metric, live, played)


def test_check_config_counts_the_files_of_all_boxes_that_a_kind_over_several_pmus_opens():
    with tempfile.TemporaryDirectory() as folder:
        here, specs = joined_host(folder)
        specs += "profiles: {default: {groups: [Work]}}\nuncore: {groups: [uncore_cha_imc, uncore_imc_cpu]}\n"
        config = e2e.write_text(os.path.join(folder, "check.yaml"), specs)
        done = e2e.subprocess.run([BINARY, "check-config", "--json", config, "--path.data", ROOT, *here], capture_output=True,
                                  text=True, timeout=e2e.TIMEOUT, check=False)
        kinds = {kind["pmu"]: (kind["boxes"], kind["files"]) for kind in json.loads(done.stdout)["uncore"]}
        # two events on three controllers and one on two home agents; one event on three, and the cores' is not opened
        assert kinds == {"uncore_cha_imc": (1, 8), "uncore_imc_cpu": (1, 3)}, done.stdout + done.stderr


def test_a_socket_that_lacks_one_of_several_pmus_has_no_box_of_them():
    """Two sockets with memory controllers, of which one has no home agents: a quotient of both would be of nothing there."""
    with tempfile.TemporaryDirectory() as folder:
        here, specs = joined_host(folder)
        test_uncore.test_hosts.write_all(folder, {"devices/system/cpu/cpu1/topology/physical_package_id": "1",
                                                  "bus/event_source/devices/uncore_cha_1/cpumask": "0"})
        specs += "profiles: {default: {groups: [Work]}}\nuncore: {groups: [uncore_imc, uncore_cha_imc, uncore_imc_cpu]}\n"
        config = e2e.write_text(os.path.join(folder, "check.yaml"), specs)
        done = e2e.subprocess.run([BINARY, "check-config", "--json", config, "--path.data", ROOT, *here], capture_output=True,
                                  text=True, timeout=e2e.TIMEOUT, check=False)
        kinds = {kind["pmu"]: kind["boxes"] for kind in json.loads(done.stdout)["uncore"]}
        assert kinds == {"uncore_imc": 3, "uncore_cha_imc": 1, "uncore_imc_cpu": 2}, done.stdout + done.stderr


def test_a_metric_whose_cores_are_not_measured_says_so():
    with tempfile.TemporaryDirectory() as folder:
        here, specs = joined_host(folder)
        for profile, words in (("groups: [Software]", "needs WORK.DONE of the cores, which no selected metric group counts"),
                               ("groups: [Work], cpus: '0'", "needs WORK.DONE of all cores of a socket, and some CPUs are isolated or not selected")):
            yaml = specs + f"profiles: {{default: {{{profile}}}}}\nuncore: {{groups: [uncore_imc_cpu]}}\n"
            with e2e.Daemon(*here, yaml=SECONDS + yaml) as daemon:
                missing = {row["metric"]: row["reason"] for row in daemon.json("/api/v1/plan")["uncore"][0]["not_plannable"]}
                assert words in missing["faults_per_work"], missing


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
