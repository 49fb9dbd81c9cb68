# SPDX-License-Identifier: Apache-2.0
"""Recordings of hosts with PMUs outside the cores: what the live daemon said of them comes back, value by value."""

import json
import os
import re
import signal
import subprocess
import tempfile

import e2e
import test_uncore

BINARY, ROOT = e2e.arguments()
YAML = e2e.LISTEN_ANYWHERE + "interval: 1s\nslot: 50ms\n"
ALL = YAML + "uncore: {groups: [memory, llc]}\n"
OF_BOXES = re.compile(r"topdownd_(memory|llc|interconnect|uncore)_")


def replay(path, *options, yaml=YAML):
    return e2e.Daemon("--pmu", f"replay:{path}", *options, yaml=yaml)


def wait_end(daemon):
    e2e.wait_for(lambda: "have been replayed" in daemon.log(), "the end of the replay")


HISTORY = "/api/v1/history?scope=socket&metric=memory_read_bytes_per_second,memory_write_bytes_per_second"


def load(*rates):
    """Rates that change every second, so that each snapshot has values of its own."""
    return {"period_seconds": len(rates), "keyframes": [{"at_seconds": i, "rates": rate} for i, rate in enumerate(rates)]}


def scenario(folder, kinds=("imc", "l3"), rivals=(), boxes=3):
    """Zen 4 on two sockets; memory controllers whose loads change, and caches with more events than counters."""
    with open(os.path.join(ROOT, "scenarios/zen4.json"), encoding="utf-8") as file:
        host = json.load(file)
    reads, writes = "umc_cas_cmd.rd", "umc_cas_cmd.wr"
    known = {"imc": {"kind": "umc", "spec": "umc-zen4", "boxes_per_socket": boxes, "peak": 460800000000,
                     "loads": {"all": load({reads: 1e7, writes: 2e6}, {reads: 3e7, writes: 7e6}, {reads: 5e6, writes: 9e6})},
                     "assignments": [{"cpus": f"0-{2 * boxes - 1}", "load": "all"}], "rivals": list(rivals)},
             "l3": {"kind": "l3", "spec": "l3-zen4", "boxes_per_socket": 2, "loads": {"all": load({})},
                    "assignments": [{"cpus": "0-3", "load": "all"}]}}
    host["uncore"] = [known[kind] for kind in kinds]
    path = os.path.join(folder, "boxes.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(host, file)
    return f"sim:{path}"


def series(page):
    """What a page says of boxes, without what tells a replay from a live host."""
    return {re.sub(r',?replay="true"', "", line) for line in page.splitlines() if OF_BOXES.match(line)}


def said(daemon):
    """The moment, and what is said of boxes in JSON and in series."""
    before, page, answer = daemon.of_one_snapshot("/api/v1/uncore", "/metrics", "/api/v1/uncore")
    if before != answer:
        return said(daemon)
    answer = json.loads(answer)
    return answer["timestamp_seconds"], answer["kinds"], series(page)


def history(daemon):
    """The moment, and what it had been so far."""
    moment = said(daemon)[0]
    found = daemon.json(HISTORY)["series"]
    return (moment, found) if said(daemon)[0] == moment else history(daemon)


def recorded(folder, name, *options, yaml=ALL, rounds=5, **host):
    """A recording, and what its daemon said last."""
    path = os.path.join(folder, name)
    with e2e.Daemon("--pmu", scenario(folder, **host), "--record", path, *options, yaml=yaml) as daemon:
        daemon.wait_round(rounds)
        last = said(daemon)
        daemon.stop()
    return path, last


def test_what_was_said_of_boxes_comes_back_value_by_value():
    """A rival takes counters of a box now and then: the share of time and what is estimated come back, too."""
    rivals = [{"kind": "flexible", "cpus": "1", "counters": 4}]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with e2e.Daemon("--pmu", scenario(folder, rivals=rivals), "--record", path, yaml=ALL) as daemon:
            daemon.wait_round(5)
            past, (moment, kinds, live) = history(daemon), said(daemon)
            daemon.stop()
        assert [kind["pmu"] for kind in kinds] == ["umc", "l3"] and len(kinds[0]["boxes"]) == 6, kinds
        assert any(line.startswith("topdownd_memory_peak") for line in live)
        assert kinds[0]["boxes"][1]["traffic"][0]["share_of_time"] < 1, kinds[0]["boxes"][1]
        for speed in ("0", "25"):
            with replay(path, "--speed", speed) as daemon:
                wait_end(daemon)
                again = said(daemon)
                if again[0] == moment:  # else a snapshot was made while the daemon ended
                    assert again[1] == kinds, (again[1], kinds)
                    assert again[2] == live, again[2] ^ live
                if again[0] == past[0]:
                    assert len(past[1]) == 4 and history(daemon) == past, (history(daemon), past)
                assert len(again[1]) == 2 and len(again[2]) == len(live)
                assert "warning" not in daemon.log() and " error" not in daemon.log(), daemon.log()


def test_boxes_that_are_refused_come_back_as_an_error():
    with tempfile.TemporaryDirectory() as folder:
        path, (moment, kinds, live) = recorded(folder, "recording", rivals=[{"kind": "refuse", "cpus": "0-5"}], rounds=3)
        assert kinds[0]["up"] == 0 and kinds[0]["errors"] and any("uncore_error" in line for line in live), (kinds, live)
        with replay(path, "--speed", "0") as daemon:
            wait_end(daemon)
            again = said(daemon)
            assert again[1][0]["errors"] == kinds[0]["errors"] and again[2] == live, (again, kinds, live)


def test_every_part_of_a_recording_has_the_boxes():
    """Of parts of a quarter of a mebibyte the newest is replayed alone: totals begin with it."""
    with tempfile.TemporaryDirectory() as folder:
        path, (_, kinds, _) = recorded(folder, "recording", "--record.size", "1M", kinds=["imc"], yaml=YAML.replace("50ms", "10ms"), rounds=8)
        assert os.path.exists(path + ".1"), os.listdir(folder)
        os.rename(path + ".1", path + ".other")
        with replay(path, "--speed", "0") as daemon:
            wait_end(daemon)
            again = said(daemon)[1]
            bytes_of = [kinds[0]["sockets"][0]["traffic"][0]["bytes_total"] for kinds in (again, kinds)]
            assert 0 <= bytes_of[0] < bytes_of[1], bytes_of
            assert again[0]["pmu"] == "umc" and len(again[0]["boxes"]) == 6, again


def test_a_recording_without_boxes_says_so():
    with tempfile.TemporaryDirectory() as folder:
        path, (_, kinds, live) = recorded(folder, "recording", kinds=[], rounds=1)
        assert not kinds and not live
        with replay(path, "--speed", "0") as daemon:
            wait_end(daemon)
            answer = daemon.json("/api/v1/uncore")
            assert (answer["replay"], answer["kinds"], answer["reason"]) == (True, [], "the recording holds none"), answer


def test_pmus_that_no_spec_knows_come_back_without_their_configuration():
    """And so does what the host lacks."""
    why = e2e.perf_events_allowed()
    if why:
        raise e2e.Skip(why)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        yaml = YAML + 'uncore: {pmus: [{name: "uncore_foo_*", events: [faults]}, {name: bar, events: [x]}]}\n'
        with e2e.Daemon(*test_uncore.foo(folder, ("0", "1")), "--record", path, yaml=yaml) as daemon:
            daemon.wait_round(3)
            moment, kinds, live = said(daemon)
            daemon.stop()
        assert kinds[0]["pmu"] == "uncore_foo" and any("event_total" in line for line in live) and any("not_present" in line for line in live), live
        with replay(path, "--speed", "0") as daemon:
            wait_end(daemon)
            again = said(daemon)
            assert again[0] != moment or again[1:] == (kinds, live), (again, kinds, live)
            assert len(again[2]) == len(live) and "another version" not in daemon.log(), (again, daemon.log())


def test_kinds_that_a_reload_takes_away_and_brings_back_are_replayed():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with e2e.Daemon("--pmu", scenario(folder), "--record", path, yaml=ALL) as daemon:
            config, on = daemon.config, e2e.read_text(daemon.config)
            for text, there in ((on + "", True), (on.replace(ALL[len(YAML):], "uncore: {enabled: off}\n"), False), (on, True)):
                e2e.write_text(config, text)
                daemon.process.send_signal(signal.SIGHUP)
                e2e.wait_for(lambda: bool(daemon.json("/api/v1/uncore")["kinds"]) == there, "the kinds")
                daemon.wait_round(daemon.sequence() + 2)
            moment, kinds, live = said(daemon)
            daemon.stop()
        assert os.path.exists(path + ".1"), "kinds that come begin a part"
        with replay(path, "--speed", "0") as daemon:
            wait_end(daemon)
            again = said(daemon)
            assert again[0] != moment or again[1:] == (kinds, live), (again, kinds, live)
            assert len(again[1]) == 2 and " error" not in daemon.log(), daemon.log()


def test_diff_compares_what_the_boxes_of_a_host_and_its_sockets_move():
    """Twice as many boxes move twice as much."""
    with tempfile.TemporaryDirectory() as folder:
        yaml = YAML + "profiles: {default: {groups: [Topdown_L1]}}\n"
        before, _ = recorded(folder, "before", kinds=["imc"], yaml=yaml, rounds=16)
        after, _ = recorded(folder, "after", kinds=["imc"], yaml=yaml, rounds=16, boxes=6)
        done = subprocess.run([BINARY, "diff", before, after, "--path.data", ROOT, "--json", "--by", "socket"], capture_output=True,
                              text=True, timeout=e2e.TIMEOUT)
        rows = {(row["scope"], row["metric"]): row for row in json.loads(done.stdout)}
        for scope, boxes in (("host", 6), ("socket 0", 3), ("socket 1", 3)):
            row = rows[scope, "memory_read_bytes_per_second"]
            assert row["units"] == "bytes per second", row
            assert abs(row["before"] / (boxes * 64 * 1.7e7) - 1) < 0.3, row
            assert 1.6 < row["after"] / row["before"] < 2.4, row


if __name__ == "__main__":
    e2e.run_tests()
