# SPDX-License-Identifier: Apache-2.0
"""`topdownd measure`: on simulated hosts against their truth, and on this host."""

import csv
import io
import json
import os
import subprocess
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
FOLDER = tempfile.TemporaryDirectory()
# of the steady host, from the rates in its file
STEADY_TRUTH = {"frontend_bound_ratio": 0.24, "bad_speculation_ratio": 0.0775, "retiring_ratio": 0.3375, "backend_bound_ratio": 0.345,
                "ipc": 1.5, "l1d_cache_mpki": 10, "branch_mpki": 6}
SHARES = ("frontend_bound_ratio", "bad_speculation_ratio", "retiring_ratio", "backend_bound_ratio")


def measure(*words, locale="C.UTF-8", **more):
    environment = os.environ | {"LC_ALL": locale} | more
    return subprocess.run([BINARY, "measure", "--path.data", ROOT, *words], capture_output=True, text=True, timeout=e2e.TIMEOUT,
                          env=environment, check=False)


def measured(*words):
    done = measure(*words, "--json")
    assert (done.returncode, done.stderr) == (0, ""), done
    return json.loads(done.stdout)


def of_host(report):
    return {row["metric"]: row for row in report["metrics"] if row["scope"] == "host"}


def test_a_steady_hosts_values_are_the_truth():
    document = measured("--pmu", f"sim:{STEADY}", "--duration", "20s")
    whole, = document["whole"]
    rows = of_host(whole)
    for name, truth in STEADY_TRUTH.items():
        assert abs(rows[name]["value"] / truth - 1) < 1e-3, (name, rows[name])
    assert document["simulated"] and document["how"] == "measured" and document["command"] is None and not document["intervals"], document
    assert whole["path"] == ["backend_bound_ratio"] and whole["exceeded"] and whole["sample_command"].startswith("perf record "), whole
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
    for _ in range(30):
        rows = of_host(measured("--pmu", f"sim:{path}", "--duration", "40s")["whole"][0])
        for name, value in truth.items():
            assert rows[name]["low"] is not None and rows[name]["high"] - rows[name]["low"] < 0.6 * value, rows[name]
            inside += rows[name]["low"] <= value <= rows[name]["high"]
            of += 1
    assert inside >= 0.85 * of, (inside, of)
    return f"{inside} of {of}"


def test_the_bottleneck_is_followed_into_its_groups():
    whole, = measured("--pmu", "sim:zen4", "--duration", "20s")["whole"]
    assert whole["path"] == ["backend_bound_ratio", "backend_bound_memory_ratio"], whole["path"]
    rows = of_host(whole)
    assert rows["backend_bound_memory_ratio"]["low"] > 0.3 and "l1_dcache" in whole["next"], rows
    chosen, = measured("--pmu", "sim:zen4", "--duration", "20s", "--groups", "Topdown_L1")["whole"]
    assert "backend_bound_memory_ratio" not in of_host(chosen) and "not measured" in chosen["next"], chosen


def test_intervals_and_the_whole_are_of_one_piece():
    document = measured("--pmu", f"sim:{STEADY}", "--duration", "12s", "--interval", "2s")
    spans = [(each["from_seconds"], each["to_seconds"]) for each in document["intervals"]]
    assert 4 <= len(spans) <= 6 and spans[0][0] == 0 and all(a[1] == b[0] for a, b in zip(spans, spans[1:])), spans
    assert all(1.5 < end - begin < 4.5 for begin, end in spans), spans
    for each in document["intervals"]:
        assert abs(of_host(each)["ipc"]["value"] - 1.5) < 0.01, each


def test_csv_has_a_row_for_each_interval_scope_and_metric():
    done = measure("--pmu", f"sim:{STEADY}", "--duration", "8s", "--interval", "2s", "--csv", "--by", "socket")
    assert (done.returncode, done.stderr) == (0, ""), done
    rows = list(csv.DictReader(io.StringIO(done.stdout, newline="")))
    assert set(rows[0]) == {"from_seconds", "to_seconds", "core_type", "scope", "id", "kind", "name", "unit", "value", "low", "high"}, rows[0]
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
                                (("--groups", "a,,b"), 2, "--groups: takes the names"),
                                (("--cpus", "x"), 2, "not a list of CPUs"), (("--cpus", "8000"), 2, "none of the CPUs"),
                                (("--json", "--csv"), 2, "there is one output"), (("--by", "core"), 2, "--by takes host"),
                                (("--duration", "5"), 2, "such as 10s"), (("--duration", "1ms"), 2, "from 100ms"),
                                (("--duration", "1s", "--interval", "2s"), 2, "longer than"),
                                (("--pmu", "replay:x"), 2, "what happens now")):
        done = measure(*words)
        assert done.returncode == status and said in done.stderr and done.stdout == "", (words, done)


if __name__ == "__main__":
    e2e.run_tests()
