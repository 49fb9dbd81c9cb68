# SPDX-License-Identifier: Apache-2.0
"""/api/v1/history: what metrics were, and what happened meanwhile."""

import contextlib
import json
import os
import subprocess
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()
YAML = e2e.LISTEN_ANYWHERE + "slot: 50ms\n"
STEP = 10  # seconds
CHANGE = 34  # seconds after the start
LATE = 5  # seconds until a change is in a snapshot
LEVEL1 = {"frontend_bound_ratio", "backend_bound_ratio", "retiring_ratio", "bad_speculation_ratio"}


def ask(daemon, query="", status=200):
    answer = e2e.fetch(daemon.port, "/api/v1/history" + query)
    assert answer.status == status, (query, answer.status, answer.body)
    return json.loads(answer.body)


def values(answer, metric, **labels):
    found = [series for series in answer["series"] if series["metric"] == metric and all(series.get(k) == v for k, v in labels.items())]
    assert len(found) == 1, (metric, labels, len(found))
    assert len(found[0]["values"]) == answer["steps"]
    return found[0]["values"]


def scenario(folder):
    """A host whose work changes once."""
    path = os.path.join(folder, "once.json")
    both = {"CPU_CYCLES": 1, "BR_MIS_PRED": 0.001, "STALL_SLOT_FRONTEND": 0.2}
    busy = both | {"STALL_SLOT": 0.4, "STALL_SLOT_BACKEND": 0.2, "INST_RETIRED": 4, "OP_RETIRED": 7, "OP_SPEC": 7.2}
    waiting = both | {"STALL_SLOT": 6.4, "STALL_SLOT_BACKEND": 6.2, "INST_RETIRED": 1, "OP_RETIRED": 1, "OP_SPEC": 1.1}
    frames = [{"at_seconds": at, "mix": "busy", "utilisation": 1} for at in (0, CHANGE - 0.01)]
    frames += [{"at_seconds": CHANGE, "mix": "waiting", "utilisation": 1}]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"description": "once", "spec": "neoverse-v2", "sockets": 2, "cores_per_socket": 1, "threads_per_core": 1, "general_counters": 6,
                   "maximum_frequency_hz": 2e9, "frequency_hz": 2e9, "mixes": {"busy": busy, "waiting": waiting},
                   "loads": {"once": {"period_seconds": 100000, "keyframes": frames}}, "assignments": [{"cpus": "0-1", "load": "once"}]}, file)
    return path


def test_a_change_of_load_shows_at_its_time_and_is_marked():
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        daemon = stack.enter_context(e2e.Daemon("--pmu", f"sim:{scenario(folder)}", yaml=YAML))
        start = e2e.wait_for(lambda: ask(daemon)["marks"], "the first mark")[0]
        assert start["kind"] == "start", start
        answer = e2e.wait_for(lambda: (a := ask(daemon, "?metric=ipc,backend_bound_ratio"))["begin_timestamp_seconds"] + STEP * (a["steps"] - 1) >
                              start["timestamp_seconds"] + CHANGE + 2 * STEP and a, "two steps after the change")
        ipc, bound = values(answer, "ipc"), values(answer, "backend_bound_ratio")
        # the host began to run after the process, and before its first snapshot
        earliest, latest = (begun + CHANGE for begun in (daemon.json("/api/v1/status")["process"]["start_timestamp_seconds"], start["timestamp_seconds"]))
        assert answer["begin_timestamp_seconds"] + STEP < earliest, (answer["begin_timestamp_seconds"], earliest)
        for i in range(answer["steps"]):
            begin = answer["begin_timestamp_seconds"] + STEP * i
            if begin + STEP < earliest:
                assert abs(ipc[i] - 4) < 0.1 and bound[i] < 0.1, (i, ipc, bound)
            if begin > latest + LATE:
                assert abs(ipc[i] - 1) < 0.1 and bound[i] > 0.7, (i, ipc, bound)
        verdicts = [mark for mark in answer["marks"] if mark["kind"] == "verdict"]
        assert verdicts[-1]["text"] == "Back-end bound" and earliest < verdicts[-1]["timestamp_seconds"] < latest + 15, verdicts
        sockets = ask(daemon, "?scope=socket")
        assert {(series["socket"], series["metric"]) for series in sockets["series"]} == {(s, m) for s in (0, 1) for m in LEVEL1}
        for i in range(sockets["steps"]):
            assert abs(sum(values(sockets, metric, socket=0)[i] for metric in LEVEL1) - 1) < 1e-5
        return f"IPC {ipc}"


def test_each_step_has_an_interval_around_its_value():
    with e2e.Daemon("--pmu", "sim", yaml=YAML) as daemon:
        def known():
            series = ask(daemon, "?metric=ipc,retiring_ratio,context_switches_per_second&scope=socket")["series"]
            return series if all(any(low is not None for low in one["low"]) for one in series) else None
        for series in e2e.wait_for(known, "intervals"):
            for value, low, high in zip(series["values"], series["low"], series["high"], strict=True):
                assert (low is None) == (high is None) and (value is None or low is None or low <= value <= high), (series["metric"], value, low, high)
                if low is not None and series["metric"] == "context_switches_per_second":
                    assert low == value == high, "what is counted all the time is exact"
                elif low is not None:
                    assert 0 <= low < high < 1.5 * value, (series["metric"], value, low, high)


def test_handing_over_and_resuming_are_marked():
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        daemon = stack.enter_context(e2e.Daemon("--pmu", "sim", "--path.run", folder, yaml=YAML))
        e2e.wait_for(lambda: ask(daemon)["marks"], "the first mark")
        subprocess.run([BINARY, "yield", "--path.run", folder, "--for", "2s"], check=True, timeout=e2e.TIMEOUT)
        kinds = e2e.wait_for(lambda: (k := [mark["kind"] for mark in ask(daemon)["marks"]]).count("resume") and k, "the end of the yield")
        assert "yield" in kinds and kinds.index("yield") < kinds.index("resume"), kinds
        return kinds


def test_a_hybrid_host_has_the_series_of_all_types():
    with e2e.Daemon("--pmu", "sim:hybrid", yaml=YAML) as daemon:
        answer = e2e.wait_for(lambda: (a := ask(daemon, "?metric=ipc"))["steps"] and len(a["series"]) == 3 and a, "three types")
        assert len({series["core_type"] for series in answer["series"]}) == 3
        assert all("core_type" in mark for mark in answer["marks"])


def test_what_cannot_be_asked_is_refused_with_what_can():
    with e2e.Daemon("--pmu", "sim", yaml=YAML) as daemon:
        for query, expected in (("?scope=cpu", "choose host, socket or node"), ("?step=60", "choose 10"), ("?from=yesterday", "seconds since the epoch"),
                                ("?metric=ipc2", "no metric is measured under the name ipc2: /api/v1/snapshot?scope=socket lists the names"),
                                ("?scope=node&metric=ipc", "no history of scope node: /api/v1/memory says why"), ("?scope=node", "/api/v1/memory says why"), ("?from=nan", "seconds since"),
                                ("?metric=" + "x" * 5000, "more than 4000 characters")):
            error = ask(daemon, query, 400)["error"]
            assert expected in error, (query, error)
        e2e.wait_for(lambda: ask(daemon)["steps"], "the first step")
        for query in ("?from=-5", "?from=0", "?from=1e300", "?from=-1e300", "?step=300&from=-86400", "?metric=ipc,,nothing", "?scope=host&step=10"):
            ask(daemon, query)
        assert ask(daemon, "?from=1e300")["steps"] == 0
        assert ask(daemon, "?from=-1e300")["steps"] >= 1


if __name__ == "__main__":
    e2e.run_tests()
