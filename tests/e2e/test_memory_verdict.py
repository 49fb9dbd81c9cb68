# SPDX-License-Identifier: Apache-2.0
"""Is this host short of memory bandwidth? One query in PromQL, the page and the verdict's sentence answer it, for three vendors.

Each host is bound by memory, and its memory moves a known share of its peak.
"""

import contextlib
import json
import os
import re
import subprocess
import tempfile

import e2e
import test_prometheus

BINARY, ROOT = e2e.arguments()
YAML = e2e.LISTEN_ANYWHERE + "interval: 1s\nslot: 50ms\n"
DEEPER = YAML + "profiles: {default: {groups: [Topdown_L1, Topdown_L2]}}\n"  # Zen 4's default profile has level 1 alone
HIGH, MIDDLE, LOW = 0.87, 0.55, 0.12  # of the peak
# kind, spec, boxes of a socket, bytes a second of a socket at most, an event that reads and the bytes that a count of it stands for
MEMORY = {"sapphire-rapids": ("imc", "imc-sapphire-rapids", 8, 307.2e9, "UNC_M_CAS_COUNT.RD", 64),
          "zen4": ("umc", "umc-zen4", 12, 460.8e9, "umc_cas_cmd.rd", 64),
          "neoverse-v2": ("ddr", "scf-grace", 1, 500e9, "cmem_rd_data", 32)}
BANDWIDTH = "near it: bandwidth."
LATENCY = "far from it: latency, of caches or memory."
QUERY = ("sum by (job, socket) (rate(topdownd_memory_bytes_total[5s])) / "
         "sum by (job, socket) (topdownd_memory_peak_bytes_per_second)")


def steady(rates):
    return {"period_seconds": 10, "keyframes": [{"at_seconds": 0, **rates}]}


def host(folder, name, shares, peak=True):
    """The shipped host, with four cores on each socket that wait for memory; the memory of each socket moves one of `shares` of its peak."""
    with open(os.path.join(ROOT, f"scenarios/{name}.json"), encoding="utf-8") as file:
        made = json.load(file)
    kind, spec, boxes, most, event, size = MEMORY[name]
    made |= {"sockets": len(shares), "cores_per_socket": 4, "loads": {"waits": steady({"mix": "memory_bound", "utilisation": 0.9})},
             "assignments": [{"cpus": f"0-{4 * len(shares) * made['threads_per_core'] - 1}", "load": "waits"}]}
    made["uncore"] = [{"kind": kind, "spec": spec, "boxes_per_socket": boxes,
                       "loads": {f"socket{i}": steady({"rates": {event: share * most / boxes / size}}) for i, share in enumerate(shares)},
                       "assignments": [{"cpus": f"{i * boxes}-{(i + 1) * boxes - 1}", "load": f"socket{i}"} for i in range(len(shares))]}]
    if peak:
        made["uncore"][0]["peak"] = most
    path = os.path.join(folder, f"{name}-{'-'.join(map(str, shares))}.json")
    e2e.write_text(path, json.dumps(made))
    return f"sim:{path}"


def bound(daemon, scope="host"):
    """Once the memory is known, the answer of the host or of each socket."""
    page = e2e.wait_for(lambda: (page := daemon.json(f"/api/v1/topdown?scope={scope}"))["bound"] and page["bound"]["memory"] and page,
                        "an answer about memory")
    return page["bound"] if scope == "host" else [each["bound"] for each in page["scopes"]]


def check_answers(daemon, name, share):
    said, words = bound(daemon), BANDWIDTH if share == HIGH else LATENCY if share == LOW else "its peak."
    assert f" {100 * share:.0f} % of its peak" in said["text"] and said["text"].endswith(words), (share, said["text"])
    lack = {HIGH: "bandwidth", LOW: "latency"}.get(share)
    most = MEMORY[name][3] * len(bound(daemon, "socket"))
    assert said["memory"]["lack"] == lack and abs(said["memory"]["share_of_peak"] - share) < 0.01, said["memory"]
    assert said["memory"]["peak_bytes_per_second"] == most and abs(said["memory"]["bytes_per_second"] / most - share) < 0.01
    for socket in bound(daemon, "socket"):
        assert socket["text"].endswith(words) and socket["memory"]["lack"] == lack, socket
    assert words in daemon.get("/plain"), "the short page says it"


def test_the_sentence_says_whether_bandwidth_or_latency_is_short():
    with tempfile.TemporaryDirectory() as folder:
        for name in MEMORY:
            for share in (HIGH, MIDDLE, LOW):
                with e2e.Daemon("--pmu", host(folder, name, [share]), yaml=DEEPER if name == "zen4" else YAML) as daemon:
                    check_answers(daemon, name, share)


def test_one_query_tells_the_share_of_the_peak():
    if not os.path.exists(test_prometheus.PROMETHEUS):
        raise e2e.Skip("prometheus is not installed")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        daemons = {f"{name} {share}": stack.enter_context(e2e.Daemon("--pmu", host(folder, name, [share]), yaml=YAML))
                   for name in MEMORY for share in (HIGH, LOW)}
        server = stack.enter_context(test_prometheus.Prometheus(folder, [(job, daemon.port, "/metrics") for job, daemon in daemons.items()]))
        found = e2e.wait_for(lambda: len(answer := server.query(QUERY)) == len(daemons) and answer, "the rates")
        e2e.wait_for(lambda: all(abs(value - float(labels["job"].split()[1])) < 0.03 for labels, value in server.query(QUERY)), "steady rates")
        return str(sorted((labels["job"], round(value, 2)) for labels, value in found))


def test_sockets_of_which_one_alone_is_short_are_told_apart():
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", host(folder, "zen4", [HIGH, LOW]), yaml=DEEPER) as daemon:
        said = bound(daemon)
        assert "The memory of socket 0 moves" in said["text"] and "87 % of its peak and near it: bandwidth." in said["text"], said["text"]
        assert "The memory of socket 1 moves" in said["text"] and "12 % of its peak and far from it: latency" in said["text"], said["text"]
        assert said["memory"]["lack"] is None, said["memory"]
        assert [each["memory"]["lack"] for each in bound(daemon, "socket")] == ["bandwidth", "latency"]
        assert [each["memory"]["lack"] for each in bound(daemon, "cpu")] == (["bandwidth"] * 4 + ["latency"] * 4) * 2
        assert "The memory of socket 0 moves" in daemon.get("/plain"), "the short page says it"


def test_an_unknown_peak_leaves_it_open_and_without_boxes_nothing_is_said():
    with tempfile.TemporaryDirectory() as folder:
        with e2e.Daemon("--pmu", host(folder, "zen4", [HIGH], peak=False), yaml=YAML) as daemon:
            said = bound(daemon)
            assert said["text"].endswith("The memory moves 400.9 GB/s; its peak is not known."), said["text"]
            assert said["memory"]["lack"] is said["memory"]["peak_bytes_per_second"] is said["memory"]["share_of_peak"] is None
        path = host(folder, "zen4", [HIGH])[len("sim:"):]
        e2e.write_text(path, json.dumps({key: value for key, value in json.loads(e2e.read_text(path)).items() if key != "uncore"}))
        with e2e.Daemon("--pmu", f"sim:{path}", yaml=YAML) as daemon:
            daemon.wait_round(2)
            said = daemon.json("/api/v1/topdown")["bound"]
            assert said["memory"] is None and "The memory" not in said["text"], said


def test_a_peak_that_cannot_be_is_told_and_nothing_is_concluded_from_it():
    """JSON, `top` and `measure` say the same: more was moved than the stated peak, and what states it."""
    share, moved = HIGH, HIGH * MEMORY["sapphire-rapids"][3] / 1e9
    for peak, bytes_per_second, words in (("100GB", 1e11, "100.0 GB/s"), ("1MB", 1e6, "1.0 MB/s")):
        said = f" The memory moves {moved:.1f} GB/s, more than its stated peak of {words}, so that peak (uncore.peak) must be wrong."
        with tempfile.TemporaryDirectory() as folder:
            pmu, yaml = host(folder, "sapphire-rapids", [share]), YAML + f"uncore: {{peak: {peak}}}\n"
            with e2e.Daemon("--pmu", pmu, yaml=yaml) as daemon:
                answer = bound(daemon)
                memory = answer["memory"]
                assert answer["text"].endswith(said) and "bandwidth" not in answer["text"], answer["text"]
                assert memory["lack"] is None and memory["peak_exceeded"] is True and memory["peak_bytes_per_second"] == bytes_per_second, memory
                assert abs(memory["share_of_peak"] * bytes_per_second / 1e9 / moved - 1) < 0.01, memory
                assert all(each["memory"]["lack"] is None and each["memory"]["peak_exceeded"] for each in bound(daemon, "cpu")), "CPUs"
                top = subprocess.run([BINARY, "top", "--path.data", ROOT, "--url", f"http://127.0.0.1:{daemon.port}", "--once"], stdout=subprocess.PIPE, check=True,
                                     timeout=e2e.TIMEOUT, text=True, env=os.environ | {"LC_ALL": "C.UTF-8", "COLUMNS": "80"}).stdout
                line, = [line for line in top.splitlines() if line.startswith(" Memory  ")]
                assert f"stated peak {bytes_per_second / 1e9:.4g} GB/s must be wrong" in line and "%" not in line, line
            path = e2e.write_text(os.path.join(folder, "peak.yaml"), f"uncore: {{peak: {peak}}}\n")
            measure = [BINARY, "measure", "--pmu", pmu, "--path.data", ROOT, "--config", path]
            text, data = (subprocess.run([*measure, *more], stdout=subprocess.PIPE, check=True, timeout=e2e.TIMEOUT, text=True).stdout
                          for more in ((), ("--json",)))
            assert json.loads(data)["whole"][0]["answer"].endswith(said), data
            assert f"(more than its stated peak of {words}, so that peak (see uncore.peak) must be wrong)" in " ".join(text.split()), text


def test_a_peak_that_is_just_exceeded_is_near_and_right():
    """The limit is 105 %: clocks differ and ratings are rounded."""
    with tempfile.TemporaryDirectory() as folder:
        for share, exceeded in ((1.04, False), (1.06, True)):
            with e2e.Daemon("--pmu", host(folder, "sapphire-rapids", [share]), yaml=YAML) as daemon:
                said = bound(daemon)
                assert said["memory"]["peak_exceeded"] is exceeded and said["memory"]["lack"] == (None if exceeded else "bandwidth"), said
                assert said["text"].endswith("so that peak (the scenario's; uncore.peak can state another) must be wrong." if exceeded else
                                             "104 % of its peak and near it: bandwidth."), said["text"]


def test_a_measurement_by_hand_says_it():
    with tempfile.TemporaryDirectory() as folder:
        for name in MEMORY:
            for share in (HIGH, LOW):
                said = subprocess.run([BINARY, "measure", "--pmu", host(folder, name, [share]), "--path.data", ROOT, "--json"],
                                      stdout=subprocess.PIPE, check=True, timeout=e2e.TIMEOUT, text=True).stdout
                answer = json.loads(said)["whole"][0]["answer"]
                assert f"{100 * share:.0f} % of its peak" in answer, answer
                # it measures deeper than a daemon does: Sapphire Rapids waits for DRAM, not for caches
                end = LATENCY.replace(", of caches or memory", "" if name == "sapphire-rapids" else ", of caches or memory")
                assert answer.endswith(BANDWIDTH if share == HIGH else end), answer


def lines_of(said):
    """The lines of the intervals and their head; a busy host says before them that they are longer than asked."""
    lines = said.split("\n\n")[0].splitlines()
    return lines[1:] if lines[0].startswith("Lines are of ") else lines


def test_lines_of_intervals_have_a_column_for_the_memory_where_it_is_measured():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("zen4", "sapphire-rapids"):
            measure = [BINARY, "measure", "--path.data", ROOT, "--duration", "6s", "--interval", "2s", "--pmu"]
            said = subprocess.run([*measure, host(folder, name, [HIGH])], stdout=subprocess.PIPE, check=True, timeout=e2e.TIMEOUT, text=True).stdout
            head, *lines = lines_of(said)
            assert head.split()[-3:] == ["memory", "bound", "by"], head
            told = [line[head.index("memory") - 5:head.index("memory") + 6].strip() for line in lines]
            wanted = f"{HIGH * MEMORY[name][3] / 1e9:.1f} GB/s"
            assert len(told) >= 2 and all(text in (wanted, "-") for text in told[-1:]) and set(told[:-1]) == {wanted}, (told, wanted)
            without = json.loads(e2e.read_text(os.path.join(ROOT, f"scenarios/{name}.json")))
            del without["uncore"]
            path = e2e.write_text(os.path.join(folder, "without.json"), json.dumps(without))
            said = subprocess.run([*measure, f"sim:{path}"], stdout=subprocess.PIPE, check=True, timeout=e2e.TIMEOUT, text=True).stdout
            assert "memory" not in lines_of(said)[0], said


def test_top_shows_the_memory_beside_level_1_and_the_whole_command():
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", host(folder, "sapphire-rapids", [HIGH]), yaml=YAML) as daemon:
        command = bound(daemon)["sample_command"]
        said = subprocess.run([BINARY, "top", "--path.data", ROOT, "--url", f"http://127.0.0.1:{daemon.port}", "--once"], stdout=subprocess.PIPE, check=True, timeout=e2e.TIMEOUT, text=True,
                              env=os.environ | {"LC_ALL": "C.UTF-8", "COLUMNS": "80"}).stdout
        memory, = [line for line in said.splitlines() if line.startswith(" Memory  ")]
        assert "267.3 GB/s" in memory and "87 % of 307 GB/s" in memory, memory
        assert command in " ".join(said.split()), said


if __name__ == "__main__":
    e2e.run_tests()
