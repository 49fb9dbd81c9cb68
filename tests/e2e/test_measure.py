# SPDX-License-Identifier: Apache-2.0
"""`topdownd measure`: on simulated hosts against their truth, and on this host."""

import contextlib
import csv
import fcntl
import http.server
import io
import json
import os
import pty
import re
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

import api_fields
import e2e
import uncore_hosts

try:
    import jsonschema
except ImportError:
    jsonschema = None

BINARY, ROOT = e2e.arguments()
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
FOLDER = tempfile.TemporaryDirectory()
# of the steady host, from the rates in its file
STEADY_TRUTH = {"frontend_bound_ratio": 0.24, "bad_speculation_ratio": 0.0775, "retiring_ratio": 0.3375, "backend_bound_ratio": 0.345,
                "ipc": 1.5, "l1d_cache_mpki": 10, "branch_mpki": 6}
STEADY_PATH = ["backend_bound_ratio", "backend_mem_stalled_ratio"]
SHARES = ("frontend_bound_ratio", "bad_speculation_ratio", "retiring_ratio", "backend_bound_ratio")


def measure(*words, locale="C.UTF-8", **more):
    environment = os.environ | {"LC_ALL": locale} | more
    return subprocess.run([BINARY, "measure", "--path.data", ROOT, *words], capture_output=True, text=True, timeout=e2e.TIMEOUT,
                          env=environment, check=False)


def measured(*words):
    done = measure(*words, "--json")
    assert (done.returncode, done.stderr) == (0, ""), done
    return by_schema(done.stdout)


def by_schema(said):
    """The document, which the schema that ships describes to the last member."""
    document = json.loads(said)
    if jsonschema:
        jsonschema.validate(document, api_fields.strict(api_fields.load(ROOT, "measure")))
    return document


def of_host(report):
    return {row["metric"]: row for row in report["metrics"] if row["scope"] == "host"}


def test_a_steady_hosts_values_are_the_truth():
    document = measured("--pmu", f"sim:{STEADY}", "--duration", "20s")
    whole, = document["whole"]
    rows = of_host(whole)
    for name, truth in STEADY_TRUTH.items():
        assert abs(rows[name]["value"] / truth - 1) < 1e-3, (name, rows[name])
    assert document["simulated"] and document["how"] == "measured" and document["command"] is None and not document["intervals"], document
    assert whole["path"] == STEADY_PATH and whole["exceeded"] and whole["sample_command"].startswith("perf record "), whole
    assert abs(sum(rows[name]["value"] for name in SHARES) - 1) < 1e-9
    return f"{len(rows)} metrics"


def swinging():
    """The steady host, whose CPUs do seven times as much in one third of a second as in the next ones, at other times each."""
    host = json.loads(e2e.read_text(STEADY))
    rates = host["loads"]["steady"]["keyframes"][0]["rates"]
    slow = {event: rate * (0.14 if event != "CPU_CYCLES" else 0.5) for event, rate in rates.items()}
    slow |= {event: rates[event] * 0.5 for event in ("STALL_SLOT", "STALL_SLOT_FRONTEND", "STALL_SLOT_BACKEND")}
    frames = [{"at_seconds": 0, "rates": rates}, {"at_seconds": 0.33, "rates": rates}, {"at_seconds": 0.34, "rates": slow},
              {"at_seconds": 0.99, "rates": slow}]
    host["loads"]["steady"] = {"period_seconds": 1, "keyframes": frames}
    host["assignments"] = [{"cpus": f"{cpu}", "load": "steady", "offset_seconds": 0.137 * cpu} for cpu in range(8)]
    mean = {event: (0.33 * rates[event] + 0.65 * slow[event] + 0.02 * (rates[event] + slow[event]) / 2) for event in rates}
    truth = {"ipc": mean["INST_RETIRED"] / mean["CPU_CYCLES"],
             "frontend_bound_ratio": None, "l1d_cache_mpki": 1000 * mean["L1D_CACHE_REFILL"] / mean["INST_RETIRED"]}
    del truth["frontend_bound_ratio"]
    return e2e.write_text(os.path.join(FOLDER.name, "swinging.json"), json.dumps(host)), truth


def test_the_truth_is_within_the_intervals_as_often_as_they_say():
    path, truth = swinging()
    inside = of = 0
    widths = {name: [] for name in truth}
    for _ in range(30):
        rows = of_host(measured("--pmu", f"sim:{path}", "--duration", "40s")["whole"][0])
        for name, value in truth.items():
            assert rows[name]["low"] is not None and rows[name]["high"] - rows[name]["low"] < 2 * value, rows[name]
            widths[name].append((rows[name]["high"] - rows[name]["low"]) / value)
            inside += rows[name]["low"] <= value <= rows[name]["high"]
            of += 1
    assert inside >= 0.85 * of, (inside, of)
    assert all(statistics.median(some) < 0.3 for some in widths.values()), widths  # a few windows may have missed much
    return f"{inside} of {of}"


def test_the_bottleneck_is_followed_into_its_groups():
    whole, machine = measured("--pmu", "sim:zen4", "--duration", "20s")["whole"]
    assert not whole["outside_cores"] and machine["outside_cores"], machine
    assert of_host(machine)["memory_read_bytes_per_second"]["value"] > 1e9, machine["metrics"]
    assert whole["path"] == ["backend_bound_ratio", "backend_bound_memory_ratio"], whole["path"]
    rows = of_host(whole)
    assert rows["backend_bound_memory_ratio"]["low"] > 0.3 and "l1_dcache" in whole["next"], rows
    assert "not measured" not in whole["next"] and "memory_controller" not in whole["next"], "what no CPU counts leads nowhere: " + whole["next"]
    chosen, *_ = measured("--pmu", "sim:zen4", "--duration", "20s", "--groups", "Topdown_L1")["whole"]
    assert "backend_bound_memory_ratio" not in of_host(chosen) and "not measured" in chosen["next"], chosen


def test_where_nothing_stands_out_nothing_more_is_measured():
    def metrics(path, path_of, exceeded):
        done = measure("--pmu", f"sim:{path}", "--duration", "20s", "--json")
        whole, = by_schema(done.stdout)["whole"]
        assert done.returncode == 0 and (whole["exceeded"], whole["path"]) == (exceeded, path_of), done
        return of_host(whole)
    calm = os.path.join(ROOT, "tests/data/scenarios/bottleneck.json")  # for two minutes: the largest category leads to groups, and is not high
    assert "ll_cache_read_hit_ratio" in metrics(STEADY, STEADY_PATH, True), "LL_Cache_Effectiveness, to which the path leads"
    assert not {"ll_cache_read_hit_ratio", "load_ratio"} & set(metrics(calm, ["retiring_ratio"], False)), "Operation_Mix, to which the largest share leads"


def outside_host():
    """The steady host with what its memory, caches and links do: known bytes per second of each socket."""
    host = json.loads(e2e.read_text(STEADY))
    host["sockets"], host["cores_per_socket"] = 2, host["cores_per_socket"] * host["sockets"] // 2

    def kind(name, spec, boxes, events, **more):
        loads = {f"socket{s}": {"period_seconds": 10, "keyframes": [{"at_seconds": 0, "rates": {e: r * (1 + s) for e, r in events.items()}}]}
                 for s in range(2)}
        return {"kind": name, "spec": spec, "boxes_per_socket": boxes, "loads": loads, **more, "assignments": [
            {"cpus": f"{s * boxes}-{(s + 1) * boxes - 1}", "load": f"socket{s}"} for s in range(2)]}
    host["uncore"] = [kind("imc", "imc-sapphire-rapids", 4, {"UNC_M_CAS_COUNT.RD": 100e6, "UNC_M_CAS_COUNT.WR": 25e6}, peak=100e9)]
    return e2e.write_text(os.path.join(FOLDER.name, "outside.json"), json.dumps(host))


def test_what_passes_outside_the_cores_is_told_of_the_host_and_of_each_socket():
    path = outside_host()
    words = ("--pmu", f"sim:{path}", "--duration", "6s", "--by", "socket")
    machine = measured(*words)["whole"][-1]
    assert machine["outside_cores"] and machine["pmu"] == "imc", machine
    told = {(row["metric"], row["id"]): (row["value"], row["unit"]) for row in machine["metrics"]}
    for name, rate in (("memory_read_bytes_per_second", 100e6), ("memory_write_bytes_per_second", 25e6)):
        for id_, boxes in ((None, 12), (0, 4), (1, 8)):  # socket 1 does twice as much
            value, unit = told[name, id_]
            assert abs(value / (64 * rate * boxes) - 1) < 1e-3 and unit == "bytes per second", (name, id_, value)
    assert [told["memory_peak_bytes_per_second", id_][0] for id_ in (None, 0, 1)] == [200e9, 100e9, 100e9], told
    rows = list(csv.DictReader(io.StringIO(measure(*words, "--csv").stdout, newline="")))
    told_there = {(row["name"], int(row["id"]) if row["id"] else None): float(row["value"]) for row in rows if row["name"].startswith("memory_")}
    assert told_there == {key: value for key, (value, _) in told.items()}, told_there
    text = measure(*words).stdout
    assert "  Memory: 76.8 GB/s read, 19.2 GB/s written (48 % of the peak of 200 GB/s)\n" in text, text
    assert "  socket 0\n    Memory: 25.6 GB/s read, 6.40 GB/s written (32 % of the peak of 100 GB/s)\n" in text, text
    assert "socket" not in measure("--pmu", f"sim:{path}", "--duration", "6s").stdout.partition("outside the cores")[2]


def host_whose_sockets_differ():
    """Two sockets of two cores: the first waits for memory, the second computes."""
    host = json.loads(e2e.read_text(os.path.join(ROOT, "scenarios/zen4.json")))
    host["cores_per_socket"] = 2
    del host["uncore"]
    host["assignments"] = [{"cpus": "0-1,4-5", "load": "memory_bound"}, {"cpus": "2-3,6-7", "load": "compute"}]
    return e2e.write_text(os.path.join(FOLDER.name, "differ.json"), json.dumps(host))


def test_where_sockets_differ_the_answer_is_that_of_the_daemon_and_names_each():
    sockets = re.compile(r"The sockets differ: socket 0: (.+), [0-9.]+ % of pipeline slots; socket 1: (.+), [0-9.]+ % of pipeline slots\.")
    pmu = f"sim:{host_whose_sockets_differ()}"
    document = measured("--pmu", pmu, "--duration", "12s", "--interval", "2s")
    whole, = document["whole"]
    assert whole["sockets_differ"] and sockets.search(whole["answer"]).groups() == ("Waiting for memory", "Useful work"), whole["answer"]
    with e2e.Daemon("--pmu", pmu, yaml=e2e.LISTEN_ANYWHERE + "slot: 50ms\nprofiles: {default: {groups: [Topdown_L1, core_backend_bound_group]}}\n") as daemon:
        def says_the_same():  # of the sockets: what the host's misses come from is measured by more groups than these two
            bound = daemon.json("/api/v1/topdown")["bound"] or {"sockets_differ": None, "text": ""}
            said = sockets.search(bound["text"])
            return bound["sockets_differ"] and said and said.groups() == sockets.search(whole["answer"]).groups()
        e2e.wait_for(says_the_same, "the daemon's answer")
    last = document["intervals"][-1]
    assert last["sockets_differ"] and sockets.search(last["answer"]), last["answer"]
    said = measure("--pmu", pmu, "--duration", "12s", "--interval", "2s").stdout
    assert sockets.search(" ".join(said.split())) and "Next: for Waiting for memory, look at the metric groups" in said, said
    assert said.partition("\n\n")[0].endswith("  the sockets differ"), said


def test_where_sockets_are_alike_they_are_not_named():
    whole, _ = measured("--pmu", "sim:zen4", "--duration", "12s")["whole"]
    assert whole["sockets_differ"] is False and "sockets differ" not in whole["answer"], whole["answer"]
    said = measure("--pmu", "sim:zen4", "--duration", "12s").stdout
    assert "Next: look at the metric groups" in said and "sockets differ" not in said, said


def test_text_has_no_exponents_and_one_sign_for_intervals():
    for name in ("sapphire-rapids", "zen4", "demo"):
        said = measure("--pmu", f"sim:{name}", "--duration", "6s").stdout
        assert not re.search(r"[0-9]e[+-][0-9]", said) and "+-" not in said and "bytes per second and box" not in said, said
    assert "±" in said and "95 % INTERVAL" in said, said
    said = measure("--pmu", f"sim:{STEADY}", "--duration", "6s", "--groups", "General", "--by", "cpu", locale="C").stdout
    assert "+-" in said and said.isascii(), said


def rows_of_tree(said):
    return said.split("\n\n")[0].splitlines()[1:]


def test_a_share_of_something_else_than_the_tree_says_of_what_and_has_no_bar():
    said = measure("--pmu", "sim:hybrid", "--duration", "12s").stdout
    lines = rows_of_tree(said)
    assert lines[0] == "  Shares of pipeline slots", lines
    of_slots, others = [line for line in lines[1:] if not line.startswith("    ")], [line for line in lines if line.startswith("    ")]
    assert len(of_slots) == 4 and all(re.search("[0-9.]+ % ±[0-9.]+ +[█▏▎▍▌▋▊▉]+$", line) for line in of_slots), of_slots
    assert len(others) == 8 and all(re.search("[0-9.]+ % ±[0-9.]+ +of back-end stall cycles( for (memory|caches))?$", line) for line in others), others
    assert re.search("Back-end stalls on data caches +[0-9.]+ % ±[0-9.]+ +of back-end stall cycles for memory$", said, re.M), said
    tree = seen(on_terminal("--pmu", "sim:hybrid", "--duration", "12s"))
    at = tree.index("  Shares of pipeline slots")
    tree = tree[at:tree.index("", at)]
    assert max(len(line) for line in tree) <= 80 and sum(line.lstrip().startswith("of back-end stall cycles") for line in tree) == 8, tree
    # shares of cycles stand below those of slots, and beside some; where all are shares of cycles, they have the bars
    lines = rows_of_tree(measure("--pmu", "sim:sapphire-rapids", "--duration", "20s").stdout)
    fetch = next(line for line in lines if "Instruction-cache misses" in line)
    assert re.search("[0-9.]+ % ±[0-9.]+ +of clock cycles$", fetch) and re.search("Fetch bandwidth .*[█▏▎▍▌▋▊▉]$", "\n".join(lines), re.M), lines
    lines = rows_of_tree(measure("--pmu", "sim:neoverse-n1", "--duration", "6s").stdout)
    assert lines[0] == "  Shares of clock cycles" and all(re.search("[█▏▎▍▌▋▊▉]$", line) for line in lines[1:]) and len(lines) == 3, lines


def test_a_tables_percentages_say_of_what():
    said = measure("--pmu", "sim:neoverse-v2", "--duration", "6s", "--groups", "Topdown_L1,Operation_Mix,General,Cycle_Accounting").stdout
    assert re.search("^load_ratio +[0-9.]+ % +±[0-9.]+ +of operations$", said, re.M), said
    assert re.search("^backend_bound_ratio +[0-9.]+ % +±[0-9.]+ +of pipeline slots$", said, re.M), said
    assert re.search("^backend_stalled_clocks_ratio +[0-9.]+ % +±[0-9.]+ +of cycles$", said, re.M), said
    assert "percent" not in said and "share of" not in said and re.search("^ipc +[0-9.]+ +±[0-9.]+ +per cycle$", said, re.M), said


def test_what_many_parts_lack_is_said_once():
    host = json.loads(e2e.read_text(os.path.join(ROOT, "scenarios/sapphire-rapids.json")))
    for mix in host["mixes"].values():
        for event in [event for event in mix if event.startswith(("INT_MISC.CLEAR", "INT_MISC.UNKNOWN", "DSB2MITE", "DECODE", "ICACHE", "UOPS_RETIRED.MS"))]:
            del mix[event]
    host["filtered"] = ["BR_INST_RETIRED.ALL_BRANCHES"]  # by it the zeros of the others are in doubt
    path = e2e.write_text(os.path.join(FOLDER.name, "lacking.json"), json.dumps(host))
    said = measure("--pmu", f"sim:{path}", "--duration", "12s").stdout
    assert "6 parts are not known: an event that it needs has never counted, and something filters events here" in " ".join(said.split()), said
    assert said.count("never counted") == 1, said


def test_intervals_and_the_whole_are_of_one_piece():
    document = measured("--pmu", f"sim:{STEADY}", "--duration", "12s", "--interval", "2s")
    spans = [(each["from_seconds"], each["to_seconds"]) for each in document["intervals"]]
    assert len(spans) == 6 and 0 <= spans[0][0] < 0.1 and all(a[1] == b[0] for a, b in zip(spans, spans[1:])), spans
    assert all(1.5 < end - begin < 4.5 for begin, end in spans), spans
    for each in document["intervals"]:
        assert abs(of_host(each)["ipc"]["value"] - 1.5) < 0.01, each


def flipping():
    """The steady host, of which all CPUs do three times as much or as little every four seconds, and meanwhile ever a little more.
    Also instructions per cycle at the ends of both."""
    host = json.loads(e2e.read_text(STEADY))
    rates = host["loads"]["steady"]["keyframes"][0]["rates"]

    def scaled(factor):
        return {event: rate * (factor if "CYCLE" not in event else 1) for event, rate in rates.items()}
    frames = [(0.37, 0.36), (0.371, 1), (4.37, 1.2), (4.371, 0.3), (7.999, 0.35)]
    host["loads"]["steady"] = {"period_seconds": 8, "keyframes": [{"at_seconds": 0, "rates": scaled(0.35)}] +
                               [{"at_seconds": at, "rates": scaled(factor)} for at, factor in frames]}
    return e2e.write_text(os.path.join(FOLDER.name, "flipping.json"), json.dumps(host)), ((0.45, 0.54), (1.5, 1.8))


def test_a_line_is_of_its_own_second_and_repeats_none():
    path, levels = flipping()
    rows = list(csv.DictReader(io.StringIO(measure("--pmu", f"sim:{path}", "--duration", "60s", "--interval", "1s", "--csv").stdout)))
    ipc = [{key: float(row[key]) if row[key] else None for key in ("from_seconds", "to_seconds", "value", "low", "high")}
           for row in rows if row["name"] == "ipc"]
    assert len(ipc) >= 58 and all(0.9 < row["to_seconds"] - row["from_seconds"] < 1.1 for row in ipc), ipc
    assert not [row for row, before in zip(ipc[1:], ipc) if row["value"] == before["value"] or row["from_seconds"] < before["to_seconds"]], ipc
    # a line that holds a flip is between the levels: there are fifteen flips in a minute
    between = [row for row in ipc if not any(low * 0.999 <= row["value"] <= high * 1.001 for low, high in levels)]
    assert 10 <= len(between) <= 15, between
    # only the first line of a plan has no interval, and says why
    assert sum(row["low"] is None for row in ipc) <= 4, ipc
    assert all("fewer than two rounds" in row["reason"] for row in rows if row["kind"] == "metric" and row["value"] and not row["low"]), rows
    said = measure("--pmu", f"sim:{path}", "--duration", "20s", "--interval", "1s").stdout
    lines = said.split("\n\n")[0].splitlines()[1:]
    assert sum(bool(re.search("[0-9.]+±[0-9.]+%.* [0-9.]+±[0-9.]+  ", line)) for line in lines) >= len(lines) - 4, said
    assert "note: lines have no ± while fewer than two rounds tell" in said, said


def test_each_line_of_several_core_types_stands_under_its_own_names():
    """Neoverse N1 has no level 1, so its lines have other columns than those of Neoverse V2."""
    def type_of(name, cpus):
        host = json.loads(e2e.read_text(os.path.join(ROOT, f"scenarios/{name}.json")))
        kept = ("spec", "general_counters", "frequency_hz", "maximum_frequency_hz", "mixes")
        load = {"period_seconds": 10, "keyframes": [{"at_seconds": 0, "mix": "memory_bound", "utilisation": 0.9}]}
        return {key: host[key] for key in kept} | {"cpus": cpus, "loads": {"work": load}, "assignments": [{"cpus": cpus, "load": "work"}]}
    host = {"sockets": 1, "cores_per_socket": 4, "core_types": [type_of("neoverse-v2", "0-1"), type_of("neoverse-n1", "2-3")]}
    path = e2e.write_text(os.path.join(FOLDER.name, "two.json"), json.dumps(host))
    lines = measure("--pmu", f"sim:{path}", "--duration", "8s", "--interval", "2s").stdout.split("\n\n")[0].splitlines()
    heads = {"neoverse-v2": set(), "neoverse-n1": set()}
    for line in lines:
        words = line.split()
        if words[0] == "time":
            head = words[2:]
        elif words[2] in heads:
            heads[words[2]].add(" ".join(head))
            assert "-" not in words[3:], lines
    assert all(names.startswith("frontend bad_spec retiring backend ipc") for names in heads["neoverse-v2"]) and heads["neoverse-v2"], lines
    assert not any("frontend " in names or "retiring " in names for names in heads["neoverse-n1"]) and heads["neoverse-n1"], lines


def test_a_change_of_plan_leaves_a_gap_between_lines():
    """A line begins where its counts do: what lies between two plans belongs to none."""
    lines = measured("--pmu", "sim:zen4", "--duration", "20s", "--interval", "1s")["intervals"]
    spans = [(each["from_seconds"], each["to_seconds"]) for each in lines if not each["outside_cores"]]
    gaps = [after[0] - before[1] for before, after in zip(spans, spans[1:])]
    assert len(spans) > 15 and all(0.9 < end - begin < 1.1 for begin, end in spans), spans
    assert 1 <= sum(gap > 0.05 for gap in gaps) <= 3 and all(gap > -0.001 for gap in gaps), gaps


def test_a_time_without_any_value_is_no_line():
    """Others hold all counters for some seconds, and nothing else is measured."""
    host = json.loads(e2e.read_text(STEADY))
    cpus = host["sockets"] * host["cores_per_socket"] * host.get("threads_per_core", 1)
    host["rivals"] = [{"kind": "pinned", "cpus": f"0-{cpus - 1}", "counters": host["general_counters"], "cycles": True, "from_seconds": 6,
                       "until_seconds": 12}]
    path = e2e.write_text(os.path.join(FOLDER.name, "held.json"), json.dumps(host))
    done = measure("--pmu", f"sim:{path}", "--duration", "20s", "--interval", "1s", "--groups", "Topdown_L1", "--json")
    lines = by_schema(done.stdout)["intervals"]
    assert all(any(row["value"] is not None for row in each["metrics"]) for each in lines), lines
    longest = max(each["to_seconds"] - each["from_seconds"] for each in lines)
    assert 5 < longest < 9 and len(lines) > 8, [(each["from_seconds"], each["to_seconds"]) for each in lines]


def test_lines_are_of_a_round_where_that_takes_longer_than_asked_and_say_so():
    path, _ = flipping()
    words = ("--pmu", f"sim:{path}", "--duration", "4s", "--interval", "100ms")
    said = measure(*words).stdout
    longer = re.search(r"^Lines are of ([0-9.]+) s here: a round of all event groups takes no less\.$", said, re.M)
    assert longer and float(longer.group(1)) > 0.15, said
    spans = [each["to_seconds"] - each["from_seconds"] for each in measured(*words)["intervals"]]
    assert any(abs(span - float(longer.group(1))) < 0.02 for span in spans) and max(spans) < 0.5, (spans, said)


def test_every_value_of_a_short_measurement_has_an_interval_or_says_why_not():
    few = "fewer than two rounds"
    for name in ("hybrid", "neoverse-v2", "neoverse-n1", "sapphire-rapids", "zen4"):
        for duration in ("3s", "5s"):
            for whole in measured("--pmu", f"sim:{name}", "--duration", duration)["whole"]:
                values = [row for row in whole["metrics"] if row["value"] is not None and row["metric"] != "memory_peak_bytes_per_second"]
                lacking = [row for row in values if row["low"] is None]
                assert values and not lacking, (name, duration, lacking)
                assert all(row["reason"] is None for row in values), (name, duration, values)
    whole, *_ = measured("--pmu", "sim:hybrid", "--duration", "100ms")["whole"]
    lacking = [row for row in whole["metrics"] if row["value"] is not None and row["low"] is None]
    assert lacking and all(few in row["reason"] for row in lacking), whole
    assert few in " ".join(measure("--pmu", "sim:hybrid", "--duration", "100ms").stdout.split())


def test_csv_has_a_row_for_each_interval_scope_and_metric():
    done = measure("--pmu", f"sim:{STEADY}", "--duration", "8s", "--interval", "2s", "--csv", "--by", "socket")
    assert (done.returncode, done.stderr) == (0, ""), done
    rows = list(csv.DictReader(io.StringIO(done.stdout, newline="")))
    assert set(rows[0]) == {"from_seconds", "to_seconds", "core_type", "scope", "id", "kind", "name", "unit", "value", "low", "high", "reason"}, rows[0]
    keys = [(row["from_seconds"], row["scope"], row["id"], row["kind"], row["name"]) for row in rows]
    assert len(keys) == len(set(keys)) and {row["scope"] for row in rows} == {"host", "socket"}, keys[:3]
    ipc = [row for row in rows if row["name"] == "ipc"]
    assert len(ipc) == 3 * len({row["from_seconds"] for row in rows}) and all(row["unit"] == "per cycle" for row in ipc), ipc
    assert all(abs(float(row["value"]) - 1.5) < 0.01 for row in ipc), ipc
    return f"{len(rows)} rows"


def test_text_is_ascii_without_a_locale_and_has_no_colour_without_a_terminal():
    plain = measure("--pmu", f"sim:{STEADY}", locale="C")
    assert plain.returncode == 0 and plain.stdout.isascii() and "####" in plain.stdout and "+-" in plain.stdout, plain.stdout
    drawn = measure("--pmu", f"sim:{STEADY}")
    assert "█" in drawn.stdout and "±" in drawn.stdout and "\033" not in drawn.stdout, drawn.stdout
    assert all(len(line) <= 80 for line in drawn.stdout.splitlines() if "perf record" not in line), drawn.stdout


def test_this_host_is_measured():
    document = measured("--duration", "2s")
    rows = of_host(document["whole"][0])
    faults = rows["minor_faults_per_second"]
    assert faults["value"] > 0 and faults["low"] is not None, faults
    assert not document["simulated"]


def test_exit_statuses_tell_what_went_wrong():
    for words, status, said in ((("--groups", "Nope"), 2, "no spec has a metric group 'Nope'"),
                                (("--groups", "Latency", "--", "true"), 2, "'Latency' is of PMUs outside the cores, which count for sockets"),
                                (("--groups", "a,,b"), 2, "--groups: takes the names"),
                                (("--cpus", "x"), 2, "not a list of CPUs"), (("--cpus", "8000"), 2, "none of the CPUs"),
                                (("--json", "--csv"), 2, "there is one output"), (("--by", "core"), 2, "--by takes host"),
                                (("--duration", "5"), 2, "such as 10s"), (("--duration", "1ms"), 2, "from 100ms"),
                                (("--duration", "1s", "--interval", "2s"), 2, "longer than"),
                                (("--pmu", "replay:x"), 2, "what happens now")):
        done = measure(*words)
        assert done.returncode == status and said in done.stderr and done.stdout == "", (words, done)


# ---- a command ----

# Touches pages, switches to a child and back, and moves between two CPUs, each a known number of times at least.
WORK = """
import mmap, os
for _ in range(20):
    with mmap.mmap(-1, 4096 * 2000) as pages:
        for page in range(2000):
            pages[4096 * page] = 1
a, b = os.pipe(), os.pipe()
if os.fork() == 0:
    while os.read(a[0], 1) == b"x":
        os.write(b[1], b"x")
    os._exit(0)
for _ in range(2000):
    os.write(a[1], b"x")
    os.read(b[0], 1)
os.write(a[1], b"q")
os.wait()
cpus = sorted(os.sched_getaffinity(0))
for i in range(400):
    os.sched_setaffinity(0, {cpus[i % len(cpus)]})
"""
TOUCHED, SWITCHED = 40000, 2000
PERF = shutil.which("perf")
# what perf calls them; and how far the two may be apart, beside the share of 1 %: what perf does between its start and its exec
COUNTS = {"page-faults": ("MINOR_FAULTS", "MAJOR_FAULTS"), "context-switches": ("CONTEXT_SWITCHES",), "cpu-migrations": ("CPU_MIGRATIONS",)}


def counts_of(document):
    whole, = document["whole"]
    assert all(event["exact"] for event in whole["events"]), whole["events"]
    return {event["event"]: event["count"] for event in whole["events"]}, whole["cpu_seconds"]


def beneath_perf(*command):
    """What measure and perf count of the same run; perf starts the command, so measure counts perf, too."""
    path = os.path.join(FOLDER.name, f"perf.{os.getpid()}.{len(command)}")
    events = ",".join((*COUNTS, "task-clock"))
    done = measure("--json", "--", PERF, "stat", "-x,", "-o", path, "-e", events, "--", *command)
    assert done.returncode == 0, done
    theirs = {fields[2]: float(fields[0]) for fields in csv.reader(open(path, encoding="utf-8")) if len(fields) > 3}
    mine, seconds = counts_of(json.loads(done.stdout))
    mine = {name: sum(mine[event] for event in events) for name, events in COUNTS.items()}
    return mine | {"task-clock": 1000 * seconds}, theirs


def test_a_commands_counts_are_those_of_perf_stat_of_the_same_run():
    if not PERF:
        raise e2e.Skip("perf is not installed")
    own, none = beneath_perf("true")
    mine, theirs = beneath_perf(sys.executable, "-c", WORK)
    for name, count in theirs.items():
        of_perf = own[name] - none[name]  # perf's own part
        rest = mine[name] - count - of_perf
        allowed = 0.01 * count + max(0.5 * of_perf, 20 if name != "task-clock" else 30)
        assert abs(rest) <= allowed, (name, mine[name], count, of_perf)
    assert theirs["page-faults"] > TOUCHED and theirs["context-switches"] > SWITCHED, theirs
    return ", ".join(f"{name} {mine[name]:.0f} and {theirs[name]:.0f}" for name in theirs)


def test_only_the_command_is_counted_and_what_it_starts():
    whole, = json.loads(measure("--json", "--", sys.executable, "-c", WORK).stdout)["whole"]
    counts = {event["event"]: event["count"] for event in whole["events"]}
    assert TOUCHED < counts["MINOR_FAULTS"] + counts["MAJOR_FAULTS"] < TOUCHED + 8000, counts
    assert counts["CONTEXT_SWITCHES"] > SWITCHED, counts
    assert 0.005 < whole["cpu_seconds"] and whole["to_seconds"] > 0.01, whole
    sleeping, = json.loads(measure("--json", "--", "sleep", "1").stdout)["whole"]
    assert sleeping["to_seconds"] >= 1 and sleeping["cpu_seconds"] < 0.2, sleeping


def test_the_last_line_of_a_command_is_of_what_is_left():
    """It ends long before an interval does."""
    document = json.loads(measure("--json", "--interval", "60s", "--", sys.executable, "-c", WORK).stdout)
    last, (whole,) = document["intervals"], document["whole"]
    faults = [of_host(each)["minor_faults_per_second"]["value"] for each in (*last, whole)]
    assert len(faults) == 2 and faults[0] > 0 and abs(faults[0] / faults[1] - 1) < 1e-9, faults


def test_counters_are_let_go_when_the_time_is_up():
    def open_events(pid):
        try:
            links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
        except FileNotFoundError:  # one was closed between the two calls
            return None
        return sum("perf_event" in link for link in links)
    with subprocess.Popen([BINARY, "measure", "--path.data", ROOT, "--duration", "1s", "--", "sleep", "60"], stdout=subprocess.PIPE) as measure:
        try:
            most = e2e.wait_for(lambda: open_events(measure.pid), "counters")
            e2e.wait_for(lambda: open_events(measure.pid) == 0, "the end of the counters")
            assert measure.poll() is None, "it waits for the command"
        finally:
            measure.terminate()
    return f"{most} events"


def test_a_commands_exit_status_is_passed_on():
    for command, status in ((["true"], 0), (["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -9 $$"], 137),
                            ([os.path.join(FOLDER.name, "none")], 127), ([ROOT], 126)):
        done = measure("--", *command)
        assert done.returncode == status and done.stdout == "", (command, done)
        assert ("cannot be started" in done.stderr) == (status in (126, 127)), done
    done = measure("--", "sh", "-c", "echo said; exit 3")
    assert (done.returncode, done.stdout) == (3, "said\n") and "MINOR_FAULTS" in done.stderr, done
    for words, said in ((("ls",), "stands after '--'"), (("--pmu", "sim", "--", "true"), "runs no commands"),
                        (("--by", "cpu", "--", "true"), "a command's tasks move")):
        done = measure(*words)
        assert done.returncode == 2 and said in done.stderr, (words, done)


def start(*words, **more):
    return subprocess.Popen([BINARY, "measure", "--path.data", ROOT, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def test_a_signal_ends_a_measurement_with_its_result():
    with start("--duration", "20s", "--interval", "2s", "--json") as process:
        time.sleep(6)
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=e2e.TIMEOUT)
    whole, = json.loads(said)["whole"]
    assert (process.returncode, errors) == (0, "") and whole["to_seconds"] > 1, (whole["to_seconds"], errors)
    with start("--json", "--", "sleep", "600") as process:
        time.sleep(1)
        process.send_signal(signal.SIGTERM)  # is passed on
        said, errors = process.communicate(timeout=e2e.TIMEOUT)
    assert process.returncode == 128 + signal.SIGTERM and json.loads(said)["exit_status"] == 143, (said, errors)


# ---- a terminal ----


def on_terminal(*words, rows=24, columns=80, **more):
    """What it writes to a terminal of this size."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm", "LC_ALL": "C.UTF-8"} | more
    with subprocess.Popen([BINARY, "measure", "--path.data", ROOT, *words], stdin=child, stdout=child, stderr=child, env=environment) as process:
        os.close(child)
        said = b""
        while select.select([parent], [], [], e2e.TIMEOUT)[0]:
            try:
                more_said = os.read(parent, 65536)
            except OSError:  # it has ended
                break
            said += more_said
    os.close(parent)
    assert process.returncode == 0, said
    return said.decode()


def seen(said):
    """The lines that stay on the screen, without colours."""
    lines = re.sub(r"\033\[[0-9]*m", "", said).replace("\r\n", "\n").split("\n")
    return [re.sub(r".*\r(\033\[K)?", "", line).replace("\033[K", "") for line in lines]


def test_it_fits_a_terminal_of_80_columns_and_24_lines():
    said = on_terminal("--pmu", f"sim:{STEADY}", "--duration", "6s", "--interval", "2s", "--groups", "Topdown_L1")
    lines = [line for line in seen(said) if line and "perf record" not in line]
    assert all(len(line) <= 80 for line in lines), [line for line in lines if len(line) > 80]
    assert len(lines) <= 24 and lines[0].split() == ["time", "frontend", "bad_spec", "retiring", "backend", "bound", "by"], lines
    assert "\033[31m" in said and "\033[1m" in said, said
    lines = seen(on_terminal("--pmu", "sim:hybrid", "--interval", "3s"))
    assert all(len(line) <= 80 for line in lines if re.match(r" *[0-9.]+ s ", line)), lines
    assert all(len(line) <= 60 for line in seen(on_terminal("--pmu", f"sim:{STEADY}", columns=60)) if "█" in line)


def verdicts(said):
    """What stands under "bound by": of each line of an interval, with what goes on below it."""
    lines = seen(said)
    head = next(i for i, line in enumerate(lines) if line.lstrip().startswith("time "))
    at, found = lines[head].find("bound by"), []
    for line in lines[head + 1:lines.index("", head)]:
        if re.match(r" *[0-9.]+ s ", line):
            found.append(line[at:] if at >= 0 else "")
        elif line.startswith(" "):  # else it says that from here on rounds are longer
            found[-1] = f"{found[-1]} {line.strip()}".strip()
    return found


def test_an_intervals_verdict_is_whole_on_a_terminal_and_elsewhere():
    for name, said in (("zen4", {"Back-end bound", "Waiting for memory"}), ("neoverse-n1", {"Cycles stalled in the back end"}),
                       ("hybrid", {"Back-end bound", "Back-end stalls on memory", "Waiting for an L1 data miss"})):
        words = ("--pmu", f"sim:{name}", "--interval", "2s", "--duration", "12s")
        piped = measure(*words).stdout
        assert set(verdicts(piped)) <= said and len(set(verdicts(piped)) & said) >= min(2, len(said)), (name, piped)
        assert name == "neoverse-n1" or " ipc " in piped.split("\n", 1)[0], piped
        for columns in (120, 80, 60, 45):
            drawn = on_terminal(*words, columns=columns)
            lines = seen(drawn)
            assert set(verdicts(drawn)) <= said and len(verdicts(drawn)) >= 4, (name, columns, drawn)
            ends = [len(line) for line in lines[:lines.index("")] if not line.startswith("topdownd: ")]
            assert ends and max(ends) <= columns, (name, columns, drawn)
    assert " ipc " in on_terminal("--pmu", "sim:zen4", "--interval", "2s", columns=120).split("bound by", 1)[0]


def test_no_color_means_no_colour():
    assert "\033[" in on_terminal("--pmu", f"sim:{STEADY}")
    assert "\033[" not in on_terminal("--pmu", f"sim:{STEADY}", NO_COLOR="1")
    assert "\033[" not in on_terminal("--pmu", f"sim:{STEADY}", TERM="dumb")


def test_a_terminal_shows_how_far_it_is_and_nothing_stays_of_that():
    said = on_terminal("--duration", "5s")
    assert re.search(r"\rmeasuring: [2-4] of 5 s", said), said
    assert not any("measuring:" in line for line in seen(said)), said


# ---- beside a daemon ----


@contextlib.contextmanager
def daemon_with_socket(scenario=STEADY):
    with tempfile.TemporaryDirectory() as folder:
        with e2e.Daemon("--pmu", f"sim:{scenario}", "--path.run", folder, yaml=e2e.LISTEN_ANYWHERE + "slot: 50ms\n") as daemon:
            daemon.wait_round(1)
            yield daemon, folder


def is_yielded(daemon):
    return daemon.json("/api/v1/snapshot")["round"]["end_ns"] == 0


def test_a_daemon_yields_for_the_time_and_measures_again():
    with daemon_with_socket() as (daemon, folder):
        assert not is_yielded(daemon)
        with start("--path.run", folder, "--duration", "20s", "--json") as process:
            e2e.wait_for(lambda: is_yielded(daemon), "the counters to be handed over")
            time.sleep(17)  # longer than the daemon yields at once
            assert is_yielded(daemon)
            said, errors = process.communicate(timeout=e2e.TIMEOUT)
        assert json.loads(said)["how"] == "yielded" and "yields its counters meanwhile" in errors, errors
        e2e.wait_for(lambda: not is_yielded(daemon), "the counters to be taken back")
        with start("--path.run", folder, "--json", "--", "sleep", "1") as process:
            e2e.wait_for(lambda: is_yielded(daemon), "the counters to be handed over to a command")
            assert json.loads(process.communicate(timeout=e2e.TIMEOUT)[0])["how"] == "yielded"
        e2e.wait_for(lambda: not is_yielded(daemon), "the counters to be taken back from a command")


def test_what_somebody_else_asked_for_outlasts_a_measurement_and_renewals_are_no_news():
    with daemon_with_socket() as (daemon, folder):
        done = subprocess.run([BINARY, "yield", "--path.run", folder, "--for", "1h"], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
        assert done.returncode == 0, done
        with start("--path.run", folder, "--duration", "13s", "--json") as process:  # longer than a renewal takes
            assert by_schema(process.communicate(timeout=e2e.TIMEOUT)[0])["how"] == "yielded"
        time.sleep(2)
        assert is_yielded(daemon)
        log = daemon.log()
        assert log.count("handed over to process") == 1 and log.count("handed over for 3600 s") == 1, log
        done = subprocess.run([BINARY, "yield", "--path.run", folder, "--end"], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
        assert done.returncode == 0, done
        e2e.wait_for(lambda: not is_yielded(daemon), "the counters to be taken back")


def test_a_daemon_takes_the_counters_back_from_a_measurement_that_was_killed():
    with daemon_with_socket() as (daemon, folder):
        with start("--path.run", folder, "--duration", "1h") as process:
            e2e.wait_for(lambda: is_yielded(daemon), "the counters to be handed over")
            process.kill()
        e2e.wait_for(lambda: not is_yielded(daemon), "the counters to be taken back")


def test_a_daemon_that_may_not_be_asked_is_read_instead():
    if os.geteuid() != 0:
        raise e2e.Skip("only root can become another user")
    with tempfile.TemporaryDirectory() as folder:
        with e2e.Daemon("--pmu", "auto", "--path.run", folder, yaml=e2e.LISTEN_ANYWHERE) as daemon:
            daemon.wait_round(1)
            config = e2e.write_text(os.path.join(FOLDER.name, "reader.yaml"), f"listen: [\"127.0.0.1:{daemon.port}\"]\n")
            os.chmod(FOLDER.name, 0o755)
            done = measure_as_nobody("--config", config, "--path.run", folder, "--duration", "4s", "--by", "socket", "--json")
        assert done.returncode == 0 and "these are its own values" in done.stderr, done
        document = by_schema(done.stdout)
        assert document["how"] == "read" and of_host(document["whole"][0])["minor_faults_per_second"]["value"] > 0, document
        of_sockets = [row for row in document["whole"][0]["metrics"] if (row["scope"], row["metric"]) == ("socket", "minor_faults_per_second")]
        assert of_sockets and sum(row["value"] for row in of_sockets) > 0, document


def test_what_is_read_from_a_daemon_is_told_once_and_of_its_own_time():
    if os.geteuid() != 0:
        raise e2e.Skip("only root can become another user")
    with tempfile.TemporaryDirectory() as folder:
        with e2e.Daemon("--pmu", "auto", "--path.run", folder, yaml=e2e.LISTEN_ANYWHERE + "interval: 2s\n") as daemon:
            daemon.wait_round(1)
            config = e2e.write_text(os.path.join(FOLDER.name, "reader.yaml"), f"listen: [\"127.0.0.1:{daemon.port}\"]\n")
            os.chmod(FOLDER.name, 0o755)
            done = measure_as_nobody("--config", config, "--path.run", folder, "--duration", "8s", "--interval", "500ms", "--json")
    document = by_schema(done.stdout)
    assert of_host(document["whole"][0])["minor_faults_per_second"]["exact"], document["whole"]  # the daemon counts it all the time
    spans = [(each["from_seconds"], each["to_seconds"]) for each in document["intervals"]]
    assert 2 <= len(spans) <= 4, spans  # a look a second finds every other snapshot as it was
    assert all(1.5 < end - begin < 4.5 for begin, end in spans) and all(a[1] <= b[0] + 1e-6 for a, b in zip(spans, spans[1:])), spans


@contextlib.contextmanager
def page_server(pages):
    """Answers like the daemon, with these pages."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):  # pylint: disable=invalid-name
            self.send_response(200)
            self.send_header("Content-Length", str(len(pages[self.path])))
            self.end_headers()
            self.wfile.write(pages[self.path])

        def log_message(self, *_):
            pass
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_what_a_daemon_that_is_read_does_not_know_has_a_reason():
    if os.geteuid() != 0:
        raise e2e.Skip("only root can become another user")
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", "auto", "--path.run", folder, yaml=e2e.LISTEN_ANYWHERE) as daemon:
        daemon.wait_round(1)
        pages = {}
        for path in ("/api/v1/snapshot", "/api/v1/snapshot?scope=socket"):
            page = daemon.json(path)
            for scope in page["scopes"]:
                scope["metrics"]["major_faults_per_second"].update(value=None, low=None, high=None)
            pages[path] = json.dumps(page).encode()
        with page_server(pages) as port:
            config = e2e.write_text(os.path.join(FOLDER.name, "page.yaml"), f"listen: [\"127.0.0.1:{port}\"]\n")
            os.chmod(FOLDER.name, 0o755)
            done = measure_as_nobody("--config", config, "--path.run", folder, "--duration", "3s", "--json")
    assert done.returncode == 0, done
    rows = of_host(by_schema(done.stdout)["whole"][0])
    assert rows["minor_faults_per_second"]["value"] is not None and rows["minor_faults_per_second"]["reason"] is None, rows
    assert rows["major_faults_per_second"]["value"] is None and rows["major_faults_per_second"]["reason"], rows


def test_what_a_daemon_that_is_read_counts_all_the_time_is_exact_and_nothing_else():
    """On a host whose PMU has to be shared; no kernel is asked."""
    if os.geteuid() != 0:
        raise e2e.Skip("only root can become another user")
    with tempfile.TemporaryDirectory() as files, daemon_with_socket(scenario="zen4") as (daemon, folder):
        uncore_hosts.Host(files, 1, 4).x86("AuthenticAMD-25-11-1")
        pages = {}
        for path in ("/api/v1/snapshot", "/api/v1/snapshot?scope=socket"):
            page = daemon.json(path)
            for scope in page["scopes"]:
                for name, share in (("ipc", 1), ("branch_mpki", 0.2)):
                    scope["metrics"][name].update(value=2, low=2, high=2, share_of_time=share)
            pages[path] = json.dumps(page).encode()
        with page_server(pages) as port:
            config = e2e.write_text(os.path.join(FOLDER.name, "share.yaml"), f"listen: [\"127.0.0.1:{port}\"]\n")
            for each in (FOLDER.name, files):
                os.chmod(each, 0o755)
            done = measure_as_nobody("--config", config, "--path.run", folder, "--path.sysfs", files, "--path.procfs", files, "--duration", "2s", "--json")
    document = by_schema(done.stdout)
    rows = of_host(document["whole"][0])
    assert document["how"] == "read" and rows["ipc"]["value"] == rows["branch_mpki"]["value"] == 2, done
    assert rows["ipc"]["exact"] and not rows["branch_mpki"]["exact"], rows


def measure_as_nobody(*words):
    return subprocess.run([BINARY, "measure", "--path.data", ROOT, *words], capture_output=True, text=True, timeout=e2e.TIMEOUT,
                          user=65534, group=65534, extra_groups=[], check=False)


def test_a_user_without_rights_measures_commands_without_the_kernels_work():
    if os.geteuid() != 0:
        raise e2e.Skip("only root can become another user")
    level = int(e2e.read_text("/proc/sys/kernel/perf_event_paranoid"))
    done = measure_as_nobody("--path.run", FOLDER.name, "--json", "--", "true")
    if level >= 3:
        assert done.returncode == 1 and "nothing can be counted" in done.stderr, done
    else:
        assert done.returncode == 0 and ("the kernel's work" in done.stderr) == (level == 2), done
        assert any(event["event"] == "MINOR_FAULTS" and event["count"] > 0 for event in json.loads(done.stdout)["whole"][0]["events"])


def test_without_a_daemon_nothing_is_said_of_one():
    done = measure("--path.run", FOLDER.name, "--duration", "1s", "--json")
    assert (done.returncode, done.stderr) == (0, "") and json.loads(done.stdout)["how"] == "measured", done


if __name__ == "__main__":
    e2e.run_tests()
