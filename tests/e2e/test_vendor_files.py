# SPDX-License-Identifier: Apache-2.0
"""The vendors' files as they are in the place of our own specs (`specs:` of the configuration).

Small files made here show what is said and what is fallen back on; where the vendors' own lie beside the source, the simulated
host whose level 1 is known by hand is measured through them, too."""

import json
import os
import re
import shutil
import subprocess
import tempfile

import e2e
import spec_files
import test_hosts

BINARY, ROOT = e2e.arguments()
TELEMETRY = os.path.join(ROOT, "../shared/telemetry")
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
LEVEL1 = {"frontend_bound": 0.24, "bad_speculation": 0.0775, "retiring": 0.3375, "backend_bound": 0.345}  # of steady.json
# of a CPU that no spec of ours is for
TREE = {"arch/x86/mapfile.csv": "Family-model,Version,Filename,EventType\nGenuineIntel-6-FE,v1,newlake,core",
        "arch/x86/newlake/all.json": json.dumps([
            {"EventName": "INST_RETIRED.ANY", "EventCode": "0xc0", "BriefDescription": "Instructions"},
            {"EventName": "CPU_CLK_UNHALTED.THREAD", "EventCode": "0x3c", "BriefDescription": "Cycles"},
            {"EventName": "NEW.STALLS", "EventCode": "0xa3", "UMask": "0x4", "BriefDescription": "Stalls"},
            {"EventName": "UNUSED", "EventCode": "0xa4", "BriefDescription": "In no metric"},
            {"MetricName": "tma_info_thread_ipc", "MetricExpr": "INST_RETIRED.ANY / CPU_CLK_UNHALTED.THREAD"},
            {"MetricName": "new_stalls", "MetricExpr": "NEW.STALLS / CPU_CLK_UNHALTED.THREAD", "MetricGroup": "TopdownL1"},
            {"MetricName": "new_broken", "MetricExpr": "NEW.STALLS / (", "MetricGroup": "TopdownL1"}])}


def need_telemetry():
    if not os.path.isdir(TELEMETRY):
        raise e2e.Skip("the vendors' files are not there")


def on_host(cpu, specs, *command, files=None, **host):
    """What a command says on a made-up host: its status and its words. `specs` may name {files}, the folder of the tree."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as tree:
        test_hosts.x86_host(folder, cpu, **host)
        test_hosts.write_all(tree, TREE if files is None else files)
        config = e2e.write_text(os.path.join(folder, "made-up.yaml"), specs.replace("{files}", tree) + "\n")
        done = subprocess.run([BINARY, *command, "--config", config, "--path.data", ROOT, "--path.sysfs", folder, "--path.procfs",
                               folder], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
        return done.returncode, done.stdout + done.stderr


def test_a_cpu_that_no_spec_of_ours_is_for_is_measured_from_the_vendors_files():
    status, said = on_host("GenuineIntel-6-FE-1", "specs: {path: '{files}', format: perf}", "check-config")
    assert status == 0 and "spec newlake: 4 CPUs on 1 socket with 4 general" in said, said
    assert "this host cannot measure MPKI, Miss_Ratio" in said, said
    assert "topdownd_new_broken" not in said and re.search(r"all\.json.*new_broken", said), said


def test_kinds_outside_the_cores_go_by_our_spec_of_the_cpu_whatever_files_describe_its_cores():
    files = TREE | {"arch/x86/mapfile.csv": "Family-model,Version,Filename,EventType\nGenuineIntel-6-8F,v1,newlake,core"}
    for name in ("auto", "perf"):
        specs = "{}" if name == "auto" else "specs: {path: '{files}', format: perf}"
        status, said = on_host("GenuineIntel-6-8F-4", specs, "list", "pmus", files=files)
        assert status == 0 and "imc-sapphire-rapids" in said and "cha-sapphire-rapids" in said, (name, said)


def arm_host(folder, midrs):
    """An Arm host of one socket, a CPU for each MIDR_EL1, whose kernel has one PMU for all."""
    last = len(midrs) - 1
    files = {"devices/system/cpu/online": f"0-{last}", "devices/system/cpu/present": f"0-{last}",
             "bus/event_source/devices/software/type": "1", "bus/event_source/devices/armv8_pmuv3_0/type": "8",
             "bus/event_source/devices/armv8_pmuv3_0/cpus": f"0-{last}",
             "bus/event_source/devices/armv8_pmuv3_0/format/event": "config:0-15", "cpuinfo": "processor\t: 0\n"}
    for cpu, midr in enumerate(midrs):
        files[f"devices/system/cpu/cpu{cpu}/regs/identification/midr_el1"] = f"0x{midr:016x}"
        files[f"devices/system/cpu/cpu{cpu}/topology/core_cpus_list"] = str(cpu)
        files[f"devices/system/cpu/cpu{cpu}/topology/package_cpus_list"] = f"0-{last}"
        files[f"devices/system/cpu/cpu{cpu}/topology/physical_package_id"] = "0"
    test_hosts.write_all(folder, files)


def test_an_arm_core_that_no_spec_of_ours_is_for_is_measured_from_a_file_like_arms():
    metrics = {name: {"title": name, "units": "percent of slots", "formula": f"100 * {event} / (CPU_CYCLES * 12)"}
               for name, event in (("frontend_bound", "FE"), ("backend_bound", "BE"), ("retiring", "OP"), ("bad_speculation", "BAD"))}
    document = {"product_configuration": {"product_name": "New Core", "implementer": "0x41", "part_num": "0xeee", "num_slots": 12,
                                          "major_revision": "0", "minor_revision": "0"},
                "events": {"CPU_CYCLES": {"code": "0x11"}, "FE": {"code": "0x3e"}, "BE": {"code": "0x3d"}, "OP": {"code": "0x3a"},
                           "BAD": {"code": "0x10"}},
                "metrics": metrics, "groups": {"metrics": {"Topdown_L1": {"metrics": list(metrics)}}},
                "methodologies": {"topdown_methodology": {"metric_grouping": {"stage_1": ["Topdown_L1"]}}}}
    other = dict(document, product_configuration=dict(document["product_configuration"], part_num="0xeef"))
    with tempfile.TemporaryDirectory() as folder:
        arm_host(folder, [0x410feee0, 0x411feee2, 0x410feef0])  # a newer one of the same core, and one of another
        for name, text in (("new-core", document), ("small-core", other)):
            e2e.write_text(os.path.join(folder, f"files/cpu/{name}.json"), json.dumps(text))
        status, said = e2e.run_daemon("check-config", "--path.sysfs", folder, "--path.procfs", folder,
                                      yaml=e2e.LISTEN_ANYWHERE + f"specs: {{path: '{folder}/files'}}\n")
        assert status == 0 and "spec new-core: 2 CPUs on 1 socket with 6 general and 1 fixed" in said, said
        assert "spec small-core: 1 CPU on 1 socket" in said and "no spec for this CPU" not in said, said
        assert said.count("profile default: 8 metrics in 2 event groups, of which 1 is always on") == 2 and "another kind" not in said, said


def test_a_spec_of_ones_own_begins_as_a_printed_one():
    """A copy of the file is refused with the command that prints it whole, which is then read without a warning."""
    with tempfile.TemporaryDirectory() as folder:
        yaml = e2e.LISTEN_ANYWHERE + f"specs: {{path: '{folder}/mine.json'}}\n"
        for name in ("neoverse-v2", "sapphire-rapids", "zen5"):
            shutil.copy(os.path.join(ROOT, f"specs/{name}.json"), os.path.join(folder, "mine.json"))
            status, said = e2e.run_daemon("check-config", "--pmu", f"sim:{name}", yaml=yaml)
            assert status == 2 and "mine.json: family: " in said and "topdownd list spec --cpu" in said, said
            printed = subprocess.run([BINARY, "list", "spec", "--cpu", name, "--path.data", ROOT], capture_output=True, text=True,
                                     timeout=e2e.TIMEOUT, check=True).stdout
            e2e.write_text(os.path.join(folder, "mine.json"), printed)
            status, said = e2e.run_daemon("check-config", "--pmu", f"sim:{name}", yaml=yaml)
            assert status == 0 and "spec mine: " in said and "warning: " not in said, said


def test_a_spec_of_ones_own_loses_what_is_wrong_and_what_needs_it():
    """Every kind of mistake once, in a spec that is otherwise ours; each is told of where it stands."""
    document = spec_files.load(os.path.join(ROOT, "specs/neoverse-v2.json"))
    metrics = document["metrics"]
    del metrics["ipc"]["formula"]
    metrics["branch_mpki"]["formula"] = "CPU_CYCLES +"
    metrics["itlb_mpki"]["formula"] = "CPU_CYCLE / 2"
    metrics["own"] = {"title": "own", "units": "things", "formula": "branch_mpki * 2"}
    metrics["here"] = {"title": "here", "units": "things", "formula": "there + 1"}
    metrics["there"] = {"title": "there", "units": "things", "formula": "here + 1"}
    document["groups"]["metrics"]["Mine"] = {"metrics": ["own", "ipc", "retiring"]}
    text = json.dumps(document).replace('"own": {', '"own": {"title": "first", "units": "x", "formula": "1 * CPU_CYCLES"}, "own": {', 1)
    with tempfile.TemporaryDirectory() as folder:
        spec = e2e.write_text(os.path.join(folder, "mine.json"), text)
        yaml = e2e.LISTEN_ANYWHERE + f"specs: {{path: '{spec}'}}\n"
        status, said = e2e.run_daemon("check-config", "--pmu", "sim", yaml=yaml)
    assert status == 0 and "spec mine: " in said, said
    for where, what in (("metrics", 'the key "own" stands twice'), ("metrics.ipc.formula", "is missing"),
                        ("metrics.branch_mpki", "formula, column 13"),
                        ("metrics.itlb_mpki.formula", "needs the event CPU_CYCLE, .* did you mean CPU_CYCLES"),
                        ("metrics.(here|there)", "leads back to itself"),
                        ("groups.metrics.Mine", "names ipc, which is wrong or missing")):
        assert re.search(rf"warning: \S*mine\.json: {where}: .*{what}", said), (where, said)
    # what is right is measured: level 1, and of the group what is left
    assert "metric retiring is not" not in said and "there is no level 1" not in said, said


def test_what_ones_own_spec_concludes_from_what_is_missing_is_left_out():
    document = spec_files.load(os.path.join(ROOT, "specs/neoverse-v2.json"))
    del document["metrics"]["ipc"]["formula"]
    document["topdownd"]["computes_well"] = "nothing_known > 3"
    with tempfile.TemporaryDirectory() as folder:
        spec = e2e.write_text(os.path.join(folder, "mine.json"), json.dumps(document))
        status, said = e2e.run_daemon("check-config", "--pmu", "sim", yaml=e2e.LISTEN_ANYWHERE + f"specs: {{path: '{spec}'}}\n")
    assert status == 0 and "spec mine: " in said, said
    for where, name in (("computes_well", "nothing_known"), ("bottlenecks.data_tlbs", "ipc")):
        assert re.search(rf"warning: \S*mine\.json: topdownd\.{where}: .*unknown name '{name}'", said), (where, said)


def test_the_format_is_found_out():
    status, said = on_host("GenuineIntel-6-FE-1", "specs: {path: '{files}/arch/x86/newlake/all.json'}", "check-config")
    assert status == 0 and "spec all: 4 CPUs" in said, said


def test_the_lists_are_of_the_vendors_files_too():
    _, metrics = on_host("GenuineIntel-6-FE-1", "specs: {path: '{files}'}", "list", "metrics")
    assert re.search(r"^ipc +tma_info_thread_ipc", metrics, re.M) and "new_stalls" in metrics, metrics
    _, events = on_host("GenuineIntel-6-FE-1", "specs: {path: '{files}'}", "list", "events")
    assert re.search(r"^NEW.STALLS +cpu +0x4a3", events, re.M), events
    assert re.search(r"^UNUSED +cpu +0xa4", events, re.M), events  # all that there are, not only what a metric needs
    _, groups = on_host("GenuineIntel-6-FE-1", "specs: {path: '{files}'}", "list", "groups")
    assert re.search(r"^stage_1 +2 ", groups, re.M), groups


def test_an_event_whose_numbers_cannot_be_known_says_why():
    files = dict(TREE)
    files["arch/x86/newlake/uncore.json"] = json.dumps([
        {"EventName": "READS", "Unit": "iMC", "EventCode": "0x4", "UMask": "0x3"},
        {"EventName": "PORTS", "Unit": "iMC", "EventCode": "0x4", "PortMask": "0x1"},
        {"EventName": "STRANGE", "Unit": "tool", "EventCode": "0x4"}])
    _, said = on_host("GenuineIntel-6-FE-1", "specs: {path: '{files}'}", "list", "events", "--json", files=files)
    events = {event["name"]: event for event in json.JSONDecoder().raw_decode(said)[0]}  # warnings follow
    numbers = ("config", "config1", "config2", "not_encoded")
    assert [events["READS"][key] for key in numbers] == ["0x304", "0x0", "0x0", None], events["READS"]
    for name, why in (("PORTS", 'no term "ch_mask"'), ("STRANGE", "the format of the PMU tool is not known")):
        assert [events[name][key] for key in numbers[:3]] == [None] * 3 and why in events[name]["not_encoded"], events[name]


def test_a_cpu_that_the_files_do_not_have_keeps_our_own_spec_and_is_told_of():
    status, said = on_host("GenuineIntel-6-8F-8", "specs: {path: '{files}'}", "check-config", events=test_hosts.SLOTS)
    assert status == 0 and "spec sapphire-rapids" in said, said
    assert re.search(r"the vendor's files are not used: .*no row of mapfile.csv describes the CPU GenuineIntel-6-8F-8", said), said
    # the profile may then name groups that only the vendor's files have
    status, said = on_host("GenuineIntel-6-8F-8", "profiles: {default: {groups: [stage_1, Newest]}}\nspecs: {path: '{files}'}",
                           "check-config", events=test_hosts.SLOTS)
    assert status == 0 and "this host cannot measure Newest" in said, said
    # and where we have no spec either, the kernel's software events are measured
    status, said = on_host("CentaurHauls-7-3B-0", "specs: {path: '{files}'}", "check-config")
    assert status == 0 and "spec kernel-events" in said and "the vendor's files are not used" in said, said


def test_a_folder_that_the_map_names_and_that_is_missing_is_no_obstacle():
    files = {name: text for name, text in TREE.items() if name.endswith("csv")}
    status, said = on_host("GenuineIntel-6-FE-1", "specs: {path: '{files}', format: perf}", "check-config", files=files)
    assert status == 0 and "spec intel-generic" in said and "mapfile.csv names this folder" in said, said


def test_files_that_are_not_there_are_refused_where_the_configuration_names_them():
    status, said = on_host("GenuineIntel-6-FE-1", "slot: 1s\nspecs:\n  path: '{files}/gone'", "check-config")
    assert status == 2 and re.search(r"made-up\.yaml:3:9: specs\.path: .*/gone: cannot be read", said), said
    status, said = on_host("GenuineIntel-6-FE-1", "slot: 1x\nspecs:\n  path: '{files}/gone'", "check-config")
    assert "made-up.yaml:1:" in said and "made-up.yaml:3:9" in said, said  # all mistakes at once


def test_a_group_that_neither_the_vendors_files_nor_our_specs_have_is_refused():
    status, said = on_host("GenuineIntel-6-FE-1", "profiles: {default: {groups: [TopdwnL1]}}\nspecs: {path: '{files}'}",
                           "check-config")
    assert status == 2 and "did you mean 'TopdownL1'?" in said, said


def test_without_any_of_the_profiles_groups_the_first_stage_is_measured():
    specs = "profiles: {default: {groups: [SVE_Effectiveness]}}\nspecs: {path: '{files}'}"
    status, said = on_host("GenuineIntel-6-FE-1", specs, "check-config")
    assert status == 0 and "profile default: 1 metric in 1 event group" in said, said
    assert "this host cannot measure SVE_Effectiveness" in said, said


def steady_level1(specs, counters):
    """Level 1 of the steady host with so many counters, and its spec's name. On fewer than 6 it is made of parts."""
    with tempfile.TemporaryDirectory() as folder:
        host = json.loads(e2e.read_text(STEADY)) | {"general_counters": counters}
        scenario = e2e.write_text(os.path.join(folder, "steady.json"), json.dumps(host))
        with e2e.Daemon("--pmu", f"sim:{scenario}", yaml=e2e.LISTEN_ANYWHERE + "slot: 10ms\n" + specs) as daemon:
            level1 = daemon.wait_round(2)["scopes"][0]["level1"]
            spec = daemon.json("/api/v1/status")["cpu"]["spec"]
    assert level1["composite"] == (counters < 6), (specs, counters, level1)
    slots = level1["pipeline_slots_total"]
    return {name: category["pipeline_slots_total"] / slots for name, category in level1["categories"].items()}, spec


def test_level_1_of_the_vendors_files_is_that_of_our_own_spec():
    need_telemetry()
    seen = []
    for specs, spec in (("", "neoverse-v2"),
                        (f"specs: {{path: '{TELEMETRY}/arm/cpu/neoverse-v2.json', format: arm}}\n", "neoverse-v2"),
                        (f"specs: {{path: '{TELEMETRY}/arm'}}\n", "neoverse-v2"),
                        (f"specs: {{path: '{TELEMETRY}/linux', format: perf}}\n", "neoverse-n2-v2")):
        for counters in (6, 3, 2):
            level1, name = steady_level1(specs, counters)
            assert name == spec, (specs, name)
            assert set(level1) == set(LEVEL1), (specs, level1)
            for category, share in LEVEL1.items():
                assert abs(level1[category] - share) < 1e-6, (specs, counters, category, level1[category])
        seen.append(name)
    return ", ".join(seen)


def test_intels_own_counters_are_used_through_linuxs_files():
    need_telemetry()
    specs = f"specs: {{path: '{TELEMETRY}/linux'}}"
    status, said = on_host("GenuineIntel-6-CF-1", specs, "check-config", events=test_hosts.SLOTS)
    assert status == 0 and "spec emeraldrapids" in said and "not plannable" not in said and "warning" not in said, said
    _, events = on_host("GenuineIntel-6-CF-1", specs, "list", "events", "--json", events=test_hosts.SLOTS)
    resident = {event["name"]: event for event in json.loads(events) if event["resident"]}
    assert "topdown-retiring" in resident and "TOPDOWN.SLOTS" in resident, resident
    assert [name for name, event in resident.items() if event["takes"] > 0] == ["TOPDOWN.SLOTS"], resident
    # a virtual machine that hides them
    status, said = on_host("GenuineIntel-6-CF-1", specs, "check-config")
    assert status == 0 and "there is no level 1" in said, said


def test_each_kind_of_cores_of_a_host_with_two_is_measured_from_its_own_entries():
    need_telemetry()
    status, said = on_host("GenuineIntel-6-BF-2", f"specs: {{path: '{TELEMETRY}/linux'}}", "check-config",
                           pmus=("cpu_core", "cpu_atom"), events=test_hosts.SLOTS)
    assert status == 0, said
    for core in ("golden-cove", "gracemont"):
        assert re.search(rf"core type {core}: host \S+, spec alderlake: 2 CPUs on 1 socket", said), said
    assert "another kind" not in said, said


def test_intels_own_files_are_measured_like_linuxs():
    need_telemetry()
    specs = f"specs: {{path: '{TELEMETRY}/intel/perfmon'}}"
    for form in ("", ", format: perfmon"):
        status, said = on_host("GenuineIntel-6-8F-4", specs.replace("}", form + "}"), "check-config", events=test_hosts.SLOTS)
        assert status == 0 and "spec SPR" in said and "not plannable" not in said and "warning" not in said, said
    _, events = on_host("GenuineIntel-6-8F-4", specs, "list", "events", "--json", events=test_hosts.SLOTS)
    resident = {event["name"]: event for event in json.loads(events) if event["resident"]}
    assert [name for name, event in resident.items() if event["takes"] > 0] == ["TOPDOWN.SLOTS"], resident
    _, metrics = on_host("GenuineIntel-6-8F-4", specs, "list", "metrics", events=test_hosts.SLOTS)
    assert "topdownd_tma_dram_bound" in metrics or "tma_l3_miss_bound" in metrics, metrics
    status, said = on_host("GenuineIntel-6-97-2", specs, "check-config", pmus=("cpu_core", "cpu_atom"), events=test_hosts.SLOTS)
    assert status == 0 and re.search(r"core type golden-cove: host \S+, spec ADL", said), said
    status, said = on_host("GenuineIntel-6-6A-6", specs, "check-config", events=test_hosts.SLOTS)  # its files are not there
    assert status == 0 and "spec ice-lake-sp" in said and "no row of mapfile.csv" in said, said


if __name__ == "__main__":
    e2e.run_tests()
