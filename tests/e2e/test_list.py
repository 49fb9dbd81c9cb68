# SPDX-License-Identifier: Apache-2.0
"""`topdownd list`, the catalog and the tree."""

import glob
import json
import lzma
import os
import re
import subprocess
import tempfile

import e2e
import spec_files

BINARY, ROOT = e2e.arguments()
SPECS = sorted(os.path.basename(path)[:-5] for path in glob.glob(os.path.join(ROOT, "specs/*.json"))
               if not path.endswith("cpus.json"))
NOBODY = 65534
COUNT_FOR_EACH_CPU = ("software", "msr", "hardware", "hw_cache")


def run(*words, **settings):
    return subprocess.run([BINARY, "list", *words, "--path.data", ROOT], capture_output=True, text=True,
                          timeout=e2e.TIMEOUT, **settings)


def listed(*words):
    done = run(*words, "--json")
    assert (done.returncode, done.stderr) == (0, ""), done
    return json.loads(done.stdout)


def refused(*words):
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, ""), done
    return done.stderr


def spec_file(spec):
    return spec_files.load(os.path.join(ROOT, "specs", spec + ".json"))


def test_every_spec_is_listed_with_what_identifies_its_cpus():
    cpus = {cpu["spec"]: cpu for cpu in listed("cpus")}
    assert sorted(cpus) == SPECS, set(cpus) ^ set(SPECS)
    for spec, cpu in cpus.items():
        rows = [row for row in spec_file("cpus")["cpus"] if row["spec"] == spec]
        for key in ("midr", "cpuid", "known_as", "shows"):
            assert cpu[key] == [text for row in rows for text in row.get(key, [])], (rows, cpu)
        assert cpu["generic"] == (", ".join(row["generic"] for row in rows if "generic" in row) or None), (rows, cpu)
    assert cpus["sapphire-rapids"]["vendor"] == "Intel" and cpus["zen4"]["vendor"] == "AMD"
    return f"{len(cpus)} specs"


def test_every_spec_lists_its_groups_metrics_and_events():
    for spec in SPECS:
        file = spec_file(spec)
        metrics = listed("metrics", "--cpu", spec)
        written = file["metrics"] | spec_file("software")["metrics"]
        alternatives = {f"{name}.{other['definition']}": (other["formula"], name) for name, metric in written.items()
                        for other in metric.get("topdownd", {}).get("alternatives", [])}
        assert {m["name"]: (m["formula"], m["alternative_of"]) for m in metrics} == alternatives | {
            n: (m["formula"], None) for n, m in written.items()}, spec
        groups = {g["name"]: g for g in listed("groups", "--cpu", spec)}
        by_name = {metric["name"]: metric for metric in metrics}
        for node in file["methodologies"]["topdown_methodology"].get("decision_tree", {}).get("metrics", []):  # software has no tree
            samples = by_name[node["name"]]["sample_events"]
            assert samples == node["sample_events"] if node.get("sample_events") else samples, (spec, node["name"])
        for name, group in file["groups"]["metrics"].items():
            assert groups[name]["metrics"] == len(group["metrics"]), (spec, name)
        events = {e["name"]: e for e in listed("events", "--cpu", spec)}
        assert set(file["events"]) <= set(events), (spec, set(file["events"]) - set(events))
        for name, event in events.items():
            assert event["config"].startswith("0x") and event["not_encoded"] is None, (spec, name)
    return f"{len(SPECS)} specs"


def test_the_spec_of_boxes_lists_its_groups_metrics_and_events():
    for spec in {row["spec"] for row in listed("pmus", "--cpu", "sapphire-rapids") if row["spec"]}:
        file = spec_files.load(os.path.join(ROOT, "specs/uncore", spec + ".json"))
        assert {row["name"] for row in listed("metrics", "--cpu", spec)} == set(file["metrics"]), spec
        assert {row["name"] for row in listed("groups", "--cpu", spec)} >= set(file["groups"]["metrics"]), spec  # stages too
        assert {row["name"] for row in listed("events", "--cpu", spec)} == set(file["events"]), spec
    assert "Queue_Latency" in {row["name"] for row in listed("groups", "--cpu", "imc-sapphire-rapids")}
    for name in ("kinds", "../neoverse-v2", "imc"):
        assert "there is no spec for the CPU" in refused("metrics", "--cpu", name)
    assert not any("uncore" in row["name"] for row in listed("cpus"))


def test_what_no_host_can_measure_says_why():
    """By the events of each formula in the file: those of socket-wide PMUs, and those that can only be sampled."""
    said = 0
    for spec in ("zen4", "sapphire-rapids", "nehalem-ep", "neoverse-v2", "software"):
        file = spec_file(spec)
        why = {m["name"]: m["unmeasurable"] for m in listed("metrics", "--cpu", spec)}
        for name, metric in file["metrics"].items():
            ours = [file["events"][e].get("topdownd", {}) for e in metric.get("events", []) if e in file["events"]]
            if any(event.get("sampling_only") for event in ours):
                assert "can only be sampled, not counted" in why[name], (spec, name, why[name])
            elif any("pmu" in event for event in ours):
                assert "does not count for each CPU" in why[name], (spec, name, why[name])
            said += why[name] is not None
        assert spec not in ("neoverse-v2", "software") or set(why.values()) == {None}, why
    assert said > 10, said
    return f"{said} metrics"


def test_an_event_that_no_host_can_count_says_why():
    said = {}
    for spec in SPECS:
        file = spec_file(spec)["events"] | spec_file("software")["events"]
        for event in listed("events", "--cpu", spec):
            ours = file.get(event["name"], {}).get("topdownd", {})
            why = event["unmeasurable"]
            if ours.get("sampling_only"):
                assert "can only be sampled, not counted" in why, (spec, event)
            elif event["pmu"] not in COUNT_FOR_EACH_CPU and "pmu" in ours:
                assert f"belongs to the PMU {event['pmu']}, which does not count for each CPU" in why, (spec, event)
            else:
                assert why is None, (spec, event)
            said[spec] = said.get(spec, 0) + (why is not None)
    assert said["zen4"] > 2 and said["nehalem-ep"] > 2 and said["neoverse-n1"] == 0, said
    return f"{sum(said.values())} events"


def test_a_neutral_name_that_a_core_lacks_is_explained_with_its_group():
    parts = ("branch", "l1i_cache", "l1d_cache", "l2_cache", "ll_cache", "itlb", "dtlb")
    explained = {}
    for spec in SPECS:
        if spec == "software":
            continue
        metrics = {metric["metric"] for metric in listed("metrics", "--cpu", spec)}
        help_of = {group["name"]: group["help"] for group in listed("groups", "--cpu", spec)}
        for group, suffix in (("MPKI", "mpki"), ("Miss_Ratio", "miss_ratio")):
            for name in (f"{part}_{suffix}" for part in parts):
                assert (name in metrics) != (re.search(rf"\b{name}\b", help_of[group]) is not None), (spec, name, help_of[group])
                if name not in metrics:
                    explained.setdefault(spec, []).append(name)
    assert set(explained) == {"sapphire-rapids", "emerald-rapids", "granite-rapids", "zen1", "ampereone",
                              "ampereonex", "a64fx", "golden-cove", "redwood-cove", "lion-cove", "cougar-cove", "amd-generic", "intel-generic", "intel-topdown",
                              "intel-topdown-l1", "kernel-events"}, explained


def test_events_have_the_attributes_that_their_vendor_states():
    """By hand from the vendors' files and the kernel's PMU formats."""
    expected = {
        "sapphire-rapids": {"topdown-retiring": ("0x8000", "0x0"), "slots": ("0x400", "0x0"),
                            "UOPS_RETIRED.SLOTS": ("0x2c2", "0x0"), "INST_RETIRED.ANY": ("0xc0", "0x0"),
                            "OCR.DEMAND_DATA_RD.L3_HIT.SNOOP_HITM": ("0x12a", "0x10003c0001")},
        "nehalem-ep": {"UOPS_ISSUED.STALL_CYCLES": ("0x180010e", "0x0")},
        "zen4": {"de_no_dispatch_per_slot.no_ops_from_frontend": ("0x1000001a0", "0x0"),
                 "ex_ret_ucode_ops": ("0x1000000c2", "0x0"), "ex_ret_instr": ("0xc0", "0x0")},
        "neoverse-v2": {"CPU_CYCLES": ("0x11", "0x0"), "INST_RETIRED": ("0x8", "0x0")},
    }
    for spec, names in expected.items():
        events = {e["name"]: e for e in listed("events", "--cpu", spec)}
        for name, (config, config1) in names.items():
            event = events[name]
            assert (event["config"], event["config1"], event["config2"]) == (config, config1, "0x0"), (spec, event)
    events = {e["name"]: e for e in listed("events", "--cpu", "sapphire-rapids")}
    assert (events["slots"]["fixed"], events["slots"]["fixed_counter"], events["slots"]["resident"]) == (True, 3, True)
    ocr = events["OCR.DEMAND_DATA_RD.L3_HIT.SNOOP_HITM"]
    assert (ocr["register"], ocr["register_value"], ocr["counters"]) == ("offcore_rsp", "0x10003c0001", [0, 1, 2, 3]), ocr
    l3 = {e["name"]: e for e in listed("events", "--cpu", "zen2")}["l3_misses"]
    assert (l3["pmu"], l3["config"], l3["terms"]) == ("amd_l3", "0x104", "event=0x4,umask=0x1"), l3


def test_a_cpu_is_found_by_any_of_its_names():
    spec = listed("events", "--cpu", "neoverse-v2")
    for name in ("Neoverse_V2", "graviton-4", "GRACE", "Arm Neoverse V2"):
        assert listed("events", "--cpu", name) == spec, name
    assert {cpu["spec"] for cpu in listed("cpus", "--cpu", "amd")} >= {"zen2", "zen3", "zen4", "zen5"}
    for name, spec in (("Milan", "zen3"), ("EPYC 9654", "zen4"), ("Xeon 8480", "sapphire-rapids"), ("Cobalt 200", "neoverse-v3"),
                       ("Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", "broadwell-ep")):
        assert [cpu["spec"] for cpu in listed("cpus", "--cpu", name)] == [spec], name


def test_a_list_is_a_table_unless_json_is_asked_for():
    lines = run("metrics", "--cpu", "neoverse-v2", "--group", "general").stdout.splitlines()
    assert lines[0].split() == ["METRIC", "NAME", "DEFINITION", "UNITS", "TITLE", "GROUPS"], lines
    assert lines[1].startswith("ipc ") and len(lines) == 2, lines
    assert run("groups", "--pmu", "sim").stdout == run("groups", "--cpu", "neoverse-v2").stdout
    for what in ("cpus", "groups", "metrics", "events"):
        assert len(run(what, "--cpu", "sapphire-rapids").stdout.splitlines()) == 1 + len(
            listed(what, "--cpu", "sapphire-rapids")), what


def test_a_host_or_cpu_without_pmus_outside_the_cores_is_told_in_a_sentence():
    with tempfile.TemporaryDirectory() as empty:
        os.makedirs(os.path.join(empty, "bus/event_source/devices/software"))
        e2e.write_text(os.path.join(empty, "bus/event_source/devices/software/type"), "1\n")
        for what in ("pmus", "boxes"):
            said = run(what, "--path.sysfs", empty)
            assert said.returncode == 0 and said.stdout.startswith("This host has no PMUs outside the cores"), said
            assert "topdownd list pmus --cpu sapphire-rapids\n" in said.stdout and "NAME" not in said.stdout, said
            assert json.loads(run(what, "--path.sysfs", empty, "--json").stdout) == []
    assert run("pmus", "--cpu", "a64fx").stdout.startswith("No spec has PMUs outside the cores of this CPU.")
    assert run("pmus", "--cpu", "sapphire-rapids").stdout.startswith("NAME")


def test_a_simulated_host_has_the_boxes_of_its_scenario_and_a_recording_points_to_its_replay():
    boxes = listed("boxes", "--pmu", "sim:sapphire-rapids")
    assert [sum(box["name"] == name for box in boxes) for name in ("imc", "home", "upi")] == [16, 64, 8], boxes
    assert boxes[8] == {"name": "imc", "group": "memory", "box": "imc_8", "type": None, "cpu": 32, "socket": 1,
                        "node": None, "reason": None}, boxes[8]
    pmus = listed("pmus", "--pmu", "sim:zen4")
    assert {(pmu["name"], pmu["boxes"], pmu["pmu"]) for pmu in pmus} == {("umc", 24, None)}, pmus
    assert [pmu["config"] for pmu in pmus] == ["0x10a", "0x20a", "0x0"], pmus
    for what in ("pmus", "boxes"):
        assert run(what, "--pmu", "sim:granite-rapids").stdout.startswith("This simulated host has no PMUs outside the cores")
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "boxes")
        with lzma.open(os.path.join(ROOT, "tests/data/recordings/boxes-of-version-5.xz")) as kept, open(recording, "wb") as file:
            file.write(kept.read())
        said = run("boxes", "--pmu", f"replay:{recording}")
        assert said.returncode == 0 and "its replay tells" in said.stdout, said


def test_a_box_that_the_configuration_leaves_out_has_that_reason():
    with tempfile.TemporaryDirectory() as folder:
        for boxes, names in (("{exclude: [imc_3, \"upi_*\"]}", {"imc_3"} | {f"upi_{i}" for i in range(8)}),
                             ("{include: [\"imc_*\", \"home_*\", \"upi_*\"]}", set()), ("{}", set())):
            config = e2e.write_text(os.path.join(folder, "boxes.yaml"), f"uncore: {{boxes: {boxes}}}\n")
            rows = listed("boxes", "--pmu", "sim:sapphire-rapids", "--config", config)
            assert len(rows) == 88, len(rows)
            assert {row["box"]: row["reason"] for row in rows if row["reason"]} == dict.fromkeys(names, "uncore.boxes leaves it out"), boxes
        config = e2e.write_text(os.path.join(folder, "boxes.yaml"), "uncore: {boxes: {exclude: [imc_3]}}\n")
        line, = [line for line in run("boxes", "--pmu", "sim:sapphire-rapids", "--config", config).stdout.splitlines() if " imc_3 " in line]
        assert line.endswith("uncore.boxes leaves it out"), line
        assert {row["boxes"] for row in listed("pmus", "--pmu", "sim:sapphire-rapids", "--config", config) if row["name"] == "imc"} == {16}


def test_simulated_boxes_count_every_event_that_is_open_by_default():
    for name in ("sapphire-rapids", "zen4", "neoverse-v2"):
        kinds = json.loads(e2e.read_text(os.path.join(ROOT, "scenarios", f"{name}.json")))["uncore"]
        for kind in kinds:
            events = {pmu["event"] for pmu in listed("pmus", "--pmu", f"sim:{name}")
                      if pmu["name"] == kind["kind"] and "Traffic" in pmu["groups"]}
            for load in kind["loads"].values():
                for keyframe in load["keyframes"]:
                    assert events <= keyframe["rates"].keys(), (name, kind["kind"], events, keyframe)


def test_a_list_of_this_host_needs_no_privileges():
    def become_nobody():
        if os.geteuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
    for what in ("cpus", "groups", "metrics", "events"):
        done = run(what, preexec_fn=become_nobody)
        assert (done.returncode, done.stderr) == (0, "") and len(done.stdout.splitlines()) > 1, done


def test_a_wrong_word_is_an_error_with_a_suggestion():
    assert "did you mean 'events'?" in refused("event")
    assert "did you mean 'sapphire-rapids'?" in refused("events", "--cpu", "saphire-rapids")
    assert "did you mean 'Graviton 4'?" in refused("events", "--cpu", "Gravitn 4")
    assert "did you mean 'General'?" in refused("metrics", "--cpu", "zen4", "--group", "generl")
    assert "zen4" in refused("events", "--cpu", "AMD")
    said = refused("metrics", "--cpu", "Nova Lake")
    assert "pmu-events/arch/x86/novalake" in said and "specs: {path: FOLDER, format: perf}" in said, said
    assert "list what?" in refused()
    assert "one word too many: 'events'" in refused("cpus", "events")
    assert "--group" in refused("events", "--group", "General")
    assert refused("cpus", "--jsn")


def test_a_spec_is_printed_whole():
    """As scripts read it from its own file and that of its family (spec_files.py), in the same order."""
    for spec in SPECS:
        done = run("spec", "--cpu", spec)
        assert (done.returncode, done.stderr) == (0, ""), done
        assert json.dumps(json.loads(done.stdout)) == json.dumps(spec_file(spec)), spec
    assert json.loads(run("spec", "--cpu", "imc-sapphire-rapids").stdout)["events"]
    assert json.loads(run("spec", "--pmu", "sim:zen5").stdout) == spec_file("zen5")
    assert "several core types" in refused("spec", "--pmu", "sim:hybrid")
    assert "there is no spec for the CPU 'zen44'" in refused("spec", "--cpu", "zen44")
    return f"{len(SPECS)} specs"


def test_a_mistake_of_a_list_is_called_an_error():
    for words in (("pmus", "--cpu", "nix"), ("pmus", "--path.sysfs", "/nonexistent"), ("boxes", "--path.sysfs", "/nonexistent"),
                  ("metrics", "--cpu", "saphire-rapids"), ("metrics", "--cpu", "zen4", "--group", "generl"), ("events", "--cpu", "AMD"),
                  ("metrics", "--cpu", "Nova Lake"), ("metrics", "--cpu", "imc"), ("boxes", "--config", "/nonexistent")):
        said = refused(*words)
        assert said.count("\n") == 1 and said.startswith("topdownd: error: "), (words, said)


def test_a_broken_spec_costs_only_itself():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("zen4.json", "cpus.json"):
            e2e.write_text(os.path.join(folder, "specs", name), json.dumps(spec_files.load(os.path.join(ROOT, "specs", name))))
        e2e.write_text(os.path.join(folder, "specs", "odd.json"), "{\n")
        command = [BINARY, "list", "cpus", "--json", "--path.data", folder]
        done = subprocess.run(command, capture_output=True, text=True, timeout=e2e.TIMEOUT)
        assert [cpu["spec"] for cpu in json.loads(done.stdout)] == ["zen4"] and "odd.json:1" in done.stderr, done
        command[2:] = ["events", "--cpu", "zen4", "--path.data", folder]
        done = subprocess.run(command, capture_output=True, text=True, timeout=e2e.TIMEOUT)
        assert (done.returncode, done.stderr) == (0, ""), done


def test_the_tree_and_the_catalog_of_a_simulated_host():
    with e2e.Daemon("--pmu", "sim") as daemon:
        snapshot = daemon.wait_round(1)
        tree = daemon.json("/api/v1/topdown")
        assert list(tree)[0] == "bound" and tree["bound_reason"] is None and tree["bound"]["text"], tree
        nodes = {node["metric"]: node for node in tree["scopes"][0]["tree"]}
        level1 = [category["metric"] for category in snapshot["scopes"][0]["level1"]["categories"].values()]
        assert set(level1) <= set(nodes) and list(nodes)[:4] == level1, (level1, nodes)
        assert abs(sum(nodes[name]["value"] for name in level1) - 1) < 0.05, nodes
        if tree["bound"]["exceeded"]:
            high = {name: nodes[name]["value"] for name in level1 if nodes[name]["exceeded"]}
            assert tree["bound"]["path"][0] == max(high, key=high.get), (tree["bound"], high)
        for scope, n in (("socket", 2), ("cpu", 64)):
            scopes = daemon.json(f"/api/v1/topdown?scope={scope}")["scopes"]
            assert len(scopes) == n and all("bound" in s and s["tree"] for s in scopes), scope
        assert e2e.fetch(daemon.port, "/api/v1/topdown?scope=core").status == 400
        catalog = daemon.json("/api/v1/catalog")
        file = spec_file(catalog["spec"])
        assert {m["name"]: m["formula"] for m in catalog["metrics"]} == {
            name: metric["formula"] for name, metric in (file["metrics"] | spec_file("software")["metrics"]).items()}
        planned = {m["metric"] for m in catalog["metrics"] if m["planned"] and m["selected"]}
        plan = {name for group in daemon.json("/api/v1/plan")["event_groups"] for name in group["metrics"]}
        assert planned == plan and all(m["reason"] for m in catalog["metrics"] if not m["planned"]), (planned, plan)
        page = daemon.get("/metrics")
        for metric in catalog["metrics"]:
            assert (f"\n# TYPE {metric['families'][0]} gauge\n" in page) == (metric["metric"] in planned), metric
        assert "What this host is bound by" in daemon.get("/plain")
        return tree["bound"]["text"][:60]


if __name__ == "__main__":
    e2e.run_tests()
