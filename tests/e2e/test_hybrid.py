# SPDX-License-Identifier: Apache-2.0
"""Hosts with cores of several types: each type is measured by its own spec, and every series about its CPUs says which it is."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile

import e2e
import test_hosts

BINARY, ROOT = e2e.arguments()
HYBRID = os.path.join(ROOT, "scenarios/hybrid.json")
TYPES = {"c1-ultra": {"0", "1"}, "c1-pro": {"2", "3", "4", "5"}, "c1-nano": {"6", "7"}}
# of the daemon or the host, not of cores of a type
WITHOUT = ("topdownd_rotation_duration_seconds", "topdownd_collection_seconds", "topdownd_pmu_calls", "topdownd_interrupts",
           "topdownd_interrupt_seconds", "topdownd_budget_used_ratio", "topdownd_build_info",
           "topdownd_config_", "topdownd_platform_info", "process_")
SHORT = e2e.LISTEN_ANYWHERE + "slot: 50ms\nprofiles: {default: {groups: [Topdown_L1, General]}}\n"
DOCUMENTS = ("snapshot", "snapshot?scope=cpu", "topdown", "plan", "catalog", "status")
MIDRS = [0x410fd8c0] * 2 + [0x410fd8b0] * 4 + [0x410fd8a0] * 2
PMUS = {"armv8_pmuv3_0": (8, "0-1"), "armv8_pmuv3_1": (9, "2-5"), "armv8_pmuv3_2": (10, "6-7")}


def types_of(daemon, page):
    """The objects of a JSON page by their core type."""
    document = daemon.json(f"/api/v1/{page}")
    assert list(document) == (["bound_text", "core_types"] if page == "topdown" else ["core_types"]), document
    return {each["core_type"]: each for each in document["core_types"]}


def wait_rounds(daemon, rounds):
    e2e.wait_for(lambda: all(each["sequence"] >= rounds for each in types_of(daemon, "snapshot").values()), f"round {rounds}")


def promtool(page):
    if os.path.exists("/usr/bin/promtool"):
        done = subprocess.run(["/usr/bin/promtool", "check", "metrics"], input=page, capture_output=True, text=True, timeout=e2e.TIMEOUT,
                              check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def big_little(folder, midrs, pmus):
    """An Arm host of one socket, a CPU for each MIDR_EL1, and PMUs with their types and CPUs."""
    last = len(midrs) - 1
    files = {"devices/system/cpu/online": f"0-{last}", "devices/system/cpu/present": f"0-{last}", "cpuinfo": "processor\t: 0",
             "bus/event_source/devices/software/type": "1"}
    for name, (kind, cpus) in pmus.items():
        of_pmu = f"bus/event_source/devices/{name}"
        files |= {f"{of_pmu}/type": str(kind), f"{of_pmu}/cpus": cpus, f"{of_pmu}/format/event": "config:0-15"}
    for cpu, midr in enumerate(midrs):
        of_cpu = f"devices/system/cpu/cpu{cpu}"
        files |= {f"{of_cpu}/regs/identification/midr_el1": f"0x{midr:016x}", f"{of_cpu}/topology/core_cpus_list": str(cpu),
                  f"{of_cpu}/topology/package_cpus_list": f"0-{last}", f"{of_cpu}/topology/physical_package_id": "0"}
    test_hosts.write_all(folder, files)


def checked(midrs, pmus, yaml=e2e.LISTEN_ANYWHERE):
    """What check-config says on such a host, and its exit status."""
    with tempfile.TemporaryDirectory() as folder:
        big_little(folder, midrs, pmus)
        return e2e.run_daemon("check-config", "--path.sysfs", folder, "--path.procfs", folder, yaml=yaml)


def test_every_series_about_cores_says_of_which_type_and_no_other_does():
    with e2e.Daemon("--pmu", "sim:hybrid", yaml=SHORT + "mode: adaptive\nstandard_error: true\n") as daemon:
        wait_rounds(daemon, 2)
        assert e2e.fetch(daemon.port, "/-/ready").status == 200
        seen = 0
        for path in ("/metrics", "/metrics/cpu"):
            page = daemon.get(path)
            promtool(page)
            names = re.findall(r"^# TYPE (\S+)", page, re.M)
            assert len(names) == len(set(names)), names
            for name, labels, _ in e2e.samples(page):
                seen += 1
                assert (labels.get("core_type") in TYPES) != name.startswith(WITHOUT), (name, labels)
                if "cpu" in labels:
                    assert labels["cpu"] in TYPES[labels["core_type"]], (name, labels)
        page = daemon.get("/metrics")
        for kind, cpus in TYPES.items():
            assert e2e.value_of(page, "topdownd_cpus", core_type=kind, state="measured") == len(cpus)
            assert e2e.value_of(page, "topdownd_cpus", core_type=kind, state="excluded") == 0
            assert e2e.value_of(page, "topdownd_pmu_up", core_type=kind) == 1
            assert 0.05 < e2e.value_of(page, "topdownd_retiring_ratio", core_type=kind) < 0.6
            assert e2e.value_of(page, "topdownd_metric_standard_error", core_type=kind, metric="retiring_ratio") >= 0
            assert e2e.value_of(page, "topdownd_schedule_decisions_total", core_type=kind) >= 0
        assert e2e.value_of(page, "topdownd_pmu_counters", core_type="c1-ultra", state="total") == 7
        assert e2e.value_of(page, "topdownd_pmu_counters", core_type="c1-nano", state="total") == 6
        html = daemon.get("/plain")
        assert [html.count(f"<h2>Core type {kind}</h2>") for kind in TYPES] == [1, 1, 1] and html.count("</html>") == 1
        return f"{seen} series"


def test_json_has_an_object_for_each_type():
    with e2e.Daemon("--pmu", f"sim:{HYBRID}", yaml=SHORT) as daemon:
        wait_rounds(daemon, 1)
        for page in DOCUMENTS:
            assert set(types_of(daemon, page)) == set(TYPES), page
        for kind, snapshot in types_of(daemon, "snapshot?scope=cpu").items():
            assert {str(scope["cpu"]) for scope in snapshot["scopes"]} == TYPES[kind]
        for kind, status in types_of(daemon, "status").items():
            assert status["cpu"]["spec"] == kind


def test_an_ordinary_host_knows_nothing_of_core_types():
    with e2e.Daemon("--pmu", f"sim:{os.path.join(ROOT, 'tests/data/scenarios/steady.json')}", yaml=SHORT) as daemon:
        daemon.wait_round(1)
        for path in ("/plain", "/metrics", "/metrics/cpu", *(f"/api/v1/{page}" for page in DOCUMENTS)):
            assert "core_type" not in daemon.get(path) and "Core type" not in daemon.get(path), path


def test_counters_of_all_types_are_handed_over_together():
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", f"sim:{HYBRID}", "--path.run", folder, yaml=SHORT) as daemon:
        wait_rounds(daemon, 1)

        def yielded(*words):
            subprocess.run([BINARY, "yield", "--path.run", folder, *words], check=True, timeout=e2e.TIMEOUT, capture_output=True)
            return [each["scopes"][0]["metrics"]["ipc"]["reason"] for each in types_of(daemon, "snapshot").values()]

        assert all("handed over" in reason for reason in yielded("--for", "1h"))
        yielded("--end")
        e2e.wait_for(lambda: all(each["scopes"][0]["metrics"]["ipc"]["value"] for each in types_of(daemon, "snapshot").values()),
                     "values again")


def test_selected_cpus_may_leave_types_out():
    with e2e.Daemon("--pmu", f"sim:{HYBRID}", yaml=SHORT + "cpus: 1,6-7\n") as daemon:
        wait_rounds(daemon, 1)
        assert set(types_of(daemon, "snapshot")) == {"c1-ultra", "c1-nano"}
        page = daemon.get("/metrics")
        assert e2e.value_of(page, "topdownd_cpus", core_type="c1-ultra", state="excluded") == 1
    with e2e.Daemon("--pmu", f"sim:{HYBRID}", yaml=SHORT + "cpus: 6-7\n") as daemon:  # one is left, and still says which it is
        wait_rounds(daemon, 1)
        assert set(types_of(daemon, "snapshot")) == {"c1-nano"}
    status, said = e2e.run_daemon("--pmu", f"sim:{HYBRID}", yaml=SHORT + "cpus: 8-9\n")
    assert status == 2 and "none of the CPUs" in said and "topdownd.yaml:4:" in said, said


def test_a_group_of_one_type_is_no_mistake_and_one_of_none_is():
    groups = "profiles: {default: {groups: [Topdown_L1, %s]}}\n"
    status, said = e2e.run_daemon("check-config", "--pmu", f"sim:{HYBRID}", yaml=e2e.LISTEN_ANYWHERE + groups % "Rename_Effectiveness")
    assert status == 0, said
    assert re.findall(r"core type (\S+): warning: \S+:\d+: this host cannot measure Rename_Effectiveness", said) == ["c1-nano"], said
    status, said = e2e.run_daemon("check-config", "--pmu", f"sim:{HYBRID}", yaml=e2e.LISTEN_ANYWHERE + groups % "Rename_Efectiveness")
    assert status == 2 and "did you mean 'Rename_Effectiveness'" in said, said


def test_a_rule_for_any_type_gives_all_of_them_its_profile():
    yaml = e2e.LISTEN_ANYWHERE + "profiles: {small: {groups: [MPKI]}}\nhosts: [{match: {cpu: %s}, profile: small}]\n"
    for cpu, profile in (("c1-nano", "small"), ("c1-ultra", "small"), ("c1-premium", "default")):
        status, said = e2e.run_daemon("check-config", "--pmu", f"sim:{HYBRID}", yaml=yaml % cpu)
        assert status == 0 and set(re.findall(r"^core type (\S+): profile (\w+)", said, re.M)) == {(kind, profile) for kind in TYPES}, said


def test_all_types_are_held_against_one_budget():
    with e2e.Daemon("--pmu", f"sim:{HYBRID}", yaml=e2e.LISTEN_ANYWHERE + "slot: 10ms\n") as daemon:
        def judged():  # every type takes the longer slot after its own round
            said = re.findall(r"core type (\S+): measuring used (\d+) % of its budget: a slot is 15 ms from now on", daemon.log())
            first = list({kind: (kind, used) for kind, used in reversed(said)}.values())
            return first if len(first) == len(TYPES) else None

        said = e2e.wait_for(judged, "the end of the first 30 s")
        assert {kind for kind, _ in said} == set(TYPES) and len({used for _, used in said}) == 1, said
        e2e.wait_for(lambda: {plan["slot_seconds"] for plan in types_of(daemon, "plan").values()} == {0.015}, "the longer slots on the page")
        return f"{said[0][1]} % of it used"


def listed(*words):
    done = subprocess.run([BINARY, "list", *words, "--path.data", ROOT, "--json"], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
    return done.returncode, json.loads(done.stdout or "null")


def test_lists_of_this_host_have_a_column_for_the_type():
    for what in ("groups", "metrics", "events"):
        rows = listed(what, "--pmu", f"sim:{HYBRID}")[1]
        assert all(list(row)[0] == "core_type" for row in rows)
        for kind in TYPES:
            own = [{key: value for key, value in row.items() if key != "core_type"} for row in rows if row["core_type"] == kind]
            assert own == listed(what, "--cpu", kind)[1], (what, kind)
    rows = listed("metrics", "--group", "Rename_Effectiveness", "--pmu", f"sim:{HYBRID}")[1]  # two of the types have it
    assert {row["core_type"] for row in rows} == {"c1-ultra", "c1-pro"}
    assert listed("metrics", "--group", "Rename_Efectiveness", "--pmu", f"sim:{HYBRID}") == (2, None)


def test_a_recording_has_a_file_for_each_type():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with e2e.Daemon("--pmu", f"sim:{HYBRID}", "--record", path, yaml=SHORT) as daemon:
            wait_rounds(daemon, 2)
            live = types_of(daemon, "snapshot")
            daemon.stop()
        assert sorted(os.listdir(folder)) == sorted(f"recording.{kind}" for kind in TYPES)
        e2e.write_text(f"{path}.txt", "notes\n")
        shutil.copy(f"{path}.c1-pro", f"{path}.c1-pro.1")
        status, log = e2e.run_daemon("check-config", "--pmu", f"replay:{path}")
        assert status == 2 and "a file for each; name one of them: " in log, log
        assert all(f"{path}.{kind}" in log for kind in TYPES) and f"{path}.txt" not in log and "c1-pro.1" not in log, log
        for kind in TYPES:
            with e2e.Daemon("--pmu", f"replay:{path}.{kind}", "--speed", "0", yaml=SHORT) as daemon:
                e2e.wait_for(lambda: types_of(daemon, "snapshot")[kind]["sequence"] >= live[kind]["sequence"], "the recorded rounds")
                again = types_of(daemon, "snapshot")[kind]
                assert again["scopes"][0]["metrics"].keys() == live[kind]["scopes"][0]["metrics"].keys()
                assert types_of(daemon, "status")[kind]["cpu"]["spec"] == kind
                page = daemon.get("/metrics")
                assert {labels.get("core_type") for name, labels, _ in e2e.samples(page) if not name.startswith(WITHOUT)} == {kind}
                promtool(page)


def test_systemd_shows_all_types_in_one_line():
    # systemd shows the last status alone. The first ones come as each type has its first snapshot, and have those before.
    with contextlib.ExitStack() as stack:
        notifications = e2e.Notifications(stack)
        stack.enter_context(e2e.Daemon("--pmu", "sim:hybrid", yaml=SHORT, environment={"NOTIFY_SOCKET": notifications.path}))
        said = [re.findall(r"(c1-\w+): SIMULATED, snapshot (\d+) on (\d+) CPUs", notifications.wait("STATUS=c1-"))
                for _ in range(len(TYPES) + 2)]
    for n, parts in enumerate(said):
        assert len({part[0] for part in parts}) == len(parts) == min(n + 1, len(TYPES)), said
        assert all(int(part[2]) == len(TYPES[part[0]]) for part in parts), said
    whole = said[len(TYPES) - 1:]
    for before, after in zip(whole, whole[1:]):
        assert all(int(a[1]) < int(b[1]) for a, b in zip(before, after)), said
    return "; ".join(f"{name} snapshot {number}" for name, number, _ in said[-1])


def test_a_big_little_host_is_measured_type_by_type():
    status, said = checked(MIDRS, PMUS)
    assert status == 0, said
    for kind, cpus in TYPES.items():
        assert f"core type {kind}: host " in said and re.search(rf"spec {kind}: {len(cpus)} CPUs on 1 socket", said), said
    assert "another kind" not in said, said


def test_a_missing_pmu_costs_only_its_type():
    status, said = checked(MIDRS, {name: PMUS[name] for name in ("armv8_pmuv3_0", "armv8_pmuv3_2")})
    assert status == 0 and "spec c1-pro" not in said, said
    assert "core type c1-ultra: host" in said and "core type c1-nano: host" in said, said
    assert re.search(r"^warning: armv8_pmuv3_0: 4 CPUs have cores of another kind .*\(spec c1-ultra, c1-nano\)", said, re.M), said
    status, said = checked(MIDRS[:6], {"armv8_pmuv3_1": PMUS["armv8_pmuv3_1"]})  # one is left, and still says which it is
    assert status == 0 and "core type c1-pro: host" in said and "2 CPUs have cores of another kind" in said, said


def test_cores_that_no_spec_is_for_have_the_generic_one():
    status, said = checked([0x410feee0] * 2 + [0x410fd8a0] * 2, {"armv8_pmuv3_0": (8, "0-1"), "armv8_pmuv3_1": (9, "2-3")})
    assert status == 0 and "core type armv8_pmuv3_0: host" in said and "spec armv8-pmuv3: 2 CPUs" in said, said
    assert "core type c1-nano: host" in said, said


def test_a_daemon_on_a_hybrid_host_answers_also_where_counters_cannot_be_opened():
    with tempfile.TemporaryDirectory() as folder:
        test_hosts.x86_host(folder, "GenuineIntel-6-BF-2", pmus=("cpu_core", "cpu_atom"), cpus=4)
        with e2e.Daemon("--path.sysfs", folder, "--path.procfs", folder, yaml=e2e.LISTEN_ANYWHERE + "slot: 20ms\n") as daemon:
            statuses = types_of(daemon, "status")
            assert list(statuses) == ["golden-cove", "gracemont"], statuses
            for status, pmu in zip(statuses.values(), ("cpu_core", "cpu_atom")):
                assert status["pmu"]["name"] == pmu and status["sockets"][0]["cpus_measured"] == 2, status
            promtool(daemon.get("/metrics"))


if __name__ == "__main__":
    e2e.run_tests()
