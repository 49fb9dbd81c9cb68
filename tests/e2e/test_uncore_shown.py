# SPDX-License-Identifier: Apache-2.0
"""What people see of PMUs outside the cores: measure's text, JSON, and check-config."""

import json
import os
import re
import subprocess
import tempfile

import e2e
import test_uncore
import test_uncore_groups

BINARY, ROOT = e2e.arguments()
HOME, NANOSECONDS = test_uncore_groups.HOME, 150  # 300 cycles of 2 GHz a read
SECONDS = e2e.LISTEN_ANYWHERE + "interval: 1s\n"
LATENCY = "uncore: {groups: [remote, Latency]}\n"


def measured(pmu, yaml, *words):
    """What the text of a measurement says of PMUs outside the cores."""
    with tempfile.TemporaryDirectory() as folder:
        path = e2e.write_text(os.path.join(folder, "topdownd.yaml"), yaml)
        done = subprocess.run([BINARY, "measure", "--path.data", ROOT, "--pmu", pmu, "--config", path, *words], capture_output=True, text=True,
                              timeout=e2e.TIMEOUT, env=os.environ | {"LC_ALL": "C"}, check=False)
    assert done.returncode == 0, done
    return done.stdout.partition("outside the cores")[2]


def test_measure_tells_latencies_in_lines_and_all_else_in_a_table():
    with tempfile.TemporaryDirectory() as folder:
        pmu = test_uncore_groups.simulated(folder, "home", "cha-sapphire-rapids", HOME)
        of_host, of_sockets = measured(pmu, LATENCY), measured(pmu, LATENCY, "--by", "socket")
        without = measured(pmu, "uncore: {groups: [remote]}\n")
    assert re.search(rf"^  Latency of memory: {NANOSECONDS}\.0 \+-[0-9.]+ ns$", of_host, re.M), of_host
    assert re.search(r"^METRIC +VALUE +95 % INTERVAL +UNIT$", of_host, re.M) and "socket 0" not in of_host, of_host
    assert re.search(r"^memory_latency_clocks +300\.0 +.* clock cycles per read$", of_host, re.M), of_host
    assert not re.search(r"^(memory_latency_seconds|llc_)", of_host, re.M), "they have lines"
    for socket in "01":
        lines = of_sockets.partition(f"  socket {socket}\n")[2]
        assert re.search(rf"\A(    .*\n)*    Latency of memory: {NANOSECONDS}\.0", lines), of_sockets
        assert re.search(rf"^socket {socket} +mesh_frequency_hertz +2000000000 ", of_sockets, re.M), of_sockets
    assert "Latency" not in without and "METRIC" not in without, without


def test_home_agents_tell_what_was_requested_of_a_socket_and_ports_of_caches_what_it_fetched():
    requests = {f"UNC_CHA_REQUESTS.{which}": rate for which, rate in (("READS_LOCAL", 6e5), ("READS_REMOTE", 2e5))}
    beats = {"local_socket_inf0_inbound_data_beats_ccm0": 6e5, "remote_socket_inf0_inbound_data_beats_ccm0": 2e5}
    for host, spec, rates, line in (
            ("sapphire-rapids", "cha-sapphire-rapids", requests,
             r"Requests for memory: 0\.154.* GB/s by its own socket, 0\.051.* GB/s by other sockets"),
            ("zen4", "df-zen4", beats,
             r"Last-level cache misses: 0\.077.* GB/s local, 0\.026.* GB/s remote")):
        kind = "home" if rates is requests else "df"
        with tempfile.TemporaryDirectory() as folder:
            pmu = test_uncore_groups.simulated(folder, kind, spec, rates, host)
            with e2e.Daemon("--pmu", pmu, yaml=SECONDS + "uncore: {groups: [remote]}\n") as daemon:
                daemon.wait_round(1)
                definitions = {each["definition"] for each in daemon.json("/api/v1/catalog")["uncore"][0]["metrics"]
                               if each["metric"].startswith("llc_miss")}
                assert definitions == {"requested_of_socket" if rates is requests else "fetched_by_socket"}, definitions
            told = measured(pmu, "uncore: {groups: [remote]}\n", "--by", "socket")
            assert len(re.findall(rf"^    {line}$", told, re.M)) == 2, told
            assert ("Requests for memory" in told, "Last-level cache misses" in told) == (rates is requests, rates is not requests), told


def test_single_boxes_tell_what_is_no_traffic_too():
    rates = {f"l3_xi_sampled_latency{what}.dram_{where}": rate for what, where, rate in
             (("", "near", 8e6), ("_requests", "near", 1e6), ("", "far", 2e6), ("_requests", "far", 1e5))}
    rates |= {"l3_lookup_state.l3_miss": 1e6, "l3_lookup_state.all_coherent_accesses_to_l3": 4e6}
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon(
            "--pmu", test_uncore_groups.simulated(folder, "l3", "l3-zen4", rates, "zen4", 3), yaml=SECONDS + "uncore: {groups: [llc, Latency]}\n") as daemon:
        def known():
            kind, = daemon.json("/api/v1/uncore")["kinds"]
            metrics = [{each["metric"]: each for each in part["metrics"]} for part in (*kind["sockets"], *kind["boxes"])]
            return metrics if all(each["value"] is not None for one in metrics for name, each in one.items() if name.startswith("memory")) else None
        metrics = e2e.wait_for(known, "values")
        assert len(metrics) == 2 + 6, metrics
        for each in metrics:
            near, misses = each["memory_latency_near_seconds"], each["complex_l3_miss_ratio"]
            assert abs(near["value"] / 80e-9 - 1) < 0.01 and near["unit"] == "seconds per read" and near["share_of_time"] > 0, each
            assert abs(misses["value"] / 0.25 - 1) < 0.01 and misses["reason"] is None, each
            assert each["l3_miss_latency_seconds"]["value"] is None and "divides by zero" in each["l3_miss_latency_seconds"]["reason"], each
    return f"{len(metrics)} scopes"


def checked(*options, yaml=""):
    """What check-config says as text, and as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        path = e2e.write_text(os.path.join(folder, "topdownd.yaml"), yaml)
        command = [BINARY, "check-config", path, "--path.data", ROOT, *options]
        text, document = (subprocess.run([*command, *more], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=True).stdout
                          for more in ((), ("--json",)))
    return text, json.loads(document)


def test_check_config_says_which_kinds_are_measured_why_others_are_not_and_what_all_take():
    text, said = checked("--pmu", "sim:sapphire-rapids")
    kind, = said["uncore"]
    assert (kind["pmu"], kind["spec"], kind["boxes"], kind["groups"], kind["files"]) == ("imc", "imc-sapphire-rapids", 16, ["Traffic"], 32), kind
    others = {each["pmu"]: (each["boxes"], each["reason"]) for each in said["uncore_not_measured"]}
    assert others == {name: (n, f"uncore.groups names neither its group, {group}, nor one of its metric groups")
                      for name, n, group in (("home", 64, "remote"), ("upi", 8, "interconnect"))}, others
    assert "PMUs imc: 16 boxes on 2 sockets, spec imc-sapphire-rapids: 2 metrics in 1 event group that is always on" in text, text
    assert "PMUs imc: needs 32 file descriptors, one for each event and box, and about 64 KiB" in text, text
    assert "PMUs upi: 8 boxes, not measured: uncore.groups names neither" in text, text
    files = said["core_types"][0]["files"] + 32
    assert f"\nneeds {files} file descriptors in all, and about " in text, text
    told = subprocess.run([BINARY, "explain", "--path.data", ROOT, "--pmu", "sim:sapphire-rapids"], capture_output=True, text=True, check=True).stdout
    assert "PMUs imc outside the cores: 16 boxes, which always count.\n  32 files, one for each event and box, and about 64 KiB" in told, told
    assert "PMUs upi outside the cores: 8 boxes, not measured:\n  uncore.groups names neither its group, interconnect, nor" in told, told
    told = subprocess.run([BINARY, "explain", "--path.data", ROOT, "--pmu", "sim:neoverse-v2"], capture_output=True, text=True, check=True).stdout
    assert "PMUs ddr outside the cores: 1 box, which always counts.\n  2 files, one for each" in told, told
    _, said = checked("--pmu", "sim:sapphire-rapids", yaml="uncore: {groups: [memory, Latency]}\n")
    assert [(each["pmu"], each["groups"]) for each in said["uncore"]] == [("imc", ["Traffic"]), ("home", ["Latency"])], said
    assert [each["pmu"] for each in said["uncore_not_measured"]] == ["upi"], said
    text, _ = checked("--pmu", "sim:sapphire-rapids", yaml="uncore: {groups: [memory, Queue_Latency]}\n")
    assert "spec imc-sapphire-rapids: 5 metrics in 2 event groups that take turns, read every 2 s" in text, text
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
        config.write("uncore: {groups: [memory, Queue_Latency]}\n")
        config.flush()
        told = subprocess.run([BINARY, "explain", "--path.data", ROOT, "--pmu", "sim:sapphire-rapids", "--config", config.name],
                              capture_output=True, text=True, check=True).stdout
    assert "16 boxes, whose 2 event groups take turns: together they need more than a box's 4 counters.\n" in told, told
    text, said = checked("--pmu", "sim:sapphire-rapids", yaml="uncore: {enabled: off}\n")
    assert said["uncore"] == said["uncore_not_measured"] == [] and "nothing is measured: uncore.enabled is off\n" in text, text
    text, said = checked("--pmu", "sim:sapphire-rapids", "--cpu", "zen4")
    assert said["uncore"] == said["uncore_not_measured"] == [] and "PMUs" not in text, "that is about another host"


def test_check_config_says_what_a_real_host_has_and_does_not_measure():
    with tempfile.TemporaryDirectory() as folder:
        test_uncore.made_up(folder, ("0", "1"))
        test_uncore.more(folder, "uncore_upi_0")
        here = ("--path.sysfs", folder, "--path.procfs", folder)
        text, said = checked(*here)
        assert [(each["pmu"], each["boxes"]) for each in said["uncore"]] == [("imc", 2)], said
        assert [(each["pmu"], each["boxes"]) for each in said["uncore_not_measured"]] == [("upi", 1)], said
        text, said = checked(*here, yaml="uncore: {boxes: {exclude: [\"uncore_imc_*\"]}}\n")
        assert "PMUs imc: 2 boxes, not measured: uncore.boxes leaves out all of them\n" in text and said["uncore"] == [], text
        text, said = checked(*here, yaml="uncore: {groups: [], pmus: [{name: uncore_upi_0, events: [faults]}]}\n")
        assert [(each["pmu"], each["spec"]) for each in said["uncore"]] == [("uncore_upi_0", None)], said
        assert "PMUs uncore_upi_0: 1 box on 1 socket, events of uncore.pmus: 1 metric" in text, text
    with tempfile.TemporaryDirectory() as folder:
        test_uncore.made_up(folder, ())
        text, said = checked("--path.sysfs", folder, "--path.procfs", folder)
        assert "outside the cores nothing is measured: this host shows no PMU outside its cores" in text and said["uncore"] == [], text


def test_a_kind_that_is_named_as_a_cpu_leads_to_its_specs():
    for name, first in (("imc", "imc-sandy-bridge imc-ice-lake imc-sapphire-rapids "), ("cha", "cha-skylake cha-ice-lake "), ("upi-skylak", "upi-skylake")):
        done = subprocess.run([BINARY, "list", "events", "--cpu", name, "--path.data", ROOT], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
        assert done.returncode == 2 and f"no spec for the CPU '{name}'; PMUs outside the cores have these, name one: {first}" in done.stderr.replace("\n", " "), done
    done = subprocess.run([BINARY, "list", "events", "--cpu", "no such CPU", "--path.data", ROOT], capture_output=True, text=True, check=False)
    assert "'topdownd list cpus' tells what there is" in done.stderr, done


if __name__ == "__main__":
    e2e.run_tests()
