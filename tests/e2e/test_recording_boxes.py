# SPDX-License-Identifier: Apache-2.0
"""Recordings of hosts with PMUs outside the cores: what the live daemon said of them comes back, value by value."""

import glob
import json
import lzma
import os
import re
import signal
import struct
import subprocess
import tempfile
import zlib

import e2e
import test_hybrid
import test_uncore
import test_uncore_groups

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
    before, page, answer = (daemon.get(name) for name in ("/api/v1/uncore", "/metrics", "/api/v1/uncore"))
    if before != answer:
        return said(daemon)
    answer = json.loads(answer)
    return answer["timestamp_seconds"], answer["kinds"], series(page)


def history(daemon):
    """The moment, and what it had been so far."""
    moment = said(daemon)[0]
    found = daemon.json(HISTORY)["series"]
    return (moment, found) if said(daemon)[0] == moment else history(daemon)


def recorded(folder, name, yaml=ALL, rounds=5, **host):
    """A recording, and what its daemon said last."""
    path = os.path.join(folder, name)
    with e2e.Daemon("--pmu", scenario(folder, **host), "--record", path, yaml=yaml) as daemon:
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
        path, here = os.path.join(folder, "recording"), scenario(folder, kinds=["imc"])
        with e2e.Daemon("--pmu", here, "--record", path, "--record.size", "1M", yaml=YAML.replace("50ms", "10ms")) as daemon:
            e2e.wait_for(lambda: os.path.exists(path + ".1"), "a second part")
            daemon.wait_round(daemon.sequence() + 2)
            _, kinds, _ = said(daemon)
            daemon.stop()
        for former in glob.glob(path + ".?"):  # on a busy host the newest may have taken all the space
            os.remove(former)
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
            catalog, plan = (daemon.json(f"/api/v1/{name}")["uncore"] for name in ("catalog", "plan"))
            daemon.stop()
        assert catalog[0]["events"][0]["terms"] == "event=0x05" and plan[0]["event_groups"], (catalog, plan)
        assert kinds[0]["pmu"] == "uncore_foo" and any("event_total" in line for line in live) and any("not_present" in line for line in live), live
        with replay(path, "--speed", "0") as daemon:
            wait_end(daemon)
            again = said(daemon)
            assert again[0] != moment or again[1:] == (kinds, live), (again, kinds, live)
            assert len(again[2]) == len(live) and "another version" not in daemon.log(), (again, daemon.log())
            assert [daemon.json(f"/api/v1/{name}")["uncore"] for name in ("catalog", "plan")] == [catalog, plan]


FILES_OF_VENDORS = ("mem_fault_part", "mem_fault_rate", "mem_boxes")  # metrics of test_uncore_groups.FILES


def vendors_host(folder):
    why = e2e.perf_events_allowed()
    if why:
        raise e2e.Skip(why)
    here, specs = test_uncore_groups.vendors_host(folder)
    return here, YAML + specs


def moments(daemon):
    """What a host and its sockets have, and the moments that it is of: the cores', then each kind's own."""
    found = daemon.json("/api/v1/snapshot?scope=socket")
    return [part["timestamp_seconds"] for part in (found, *found["uncore"])], found


def of_vendors(daemon):
    """The moments, the same before and after, and all that is said then of metrics of the vendor's files."""
    begin, sockets = moments(daemon)
    page = [re.sub(r',?replay="true"', "", line) for line in daemon.get("/metrics").splitlines() if re.search(rf"({'|'.join(FILES_OF_VENDORS)})", line)]
    values = [scope["metrics"] for kind in sockets["uncore"] for scope in kind["sockets"]]
    catalog, plan = (daemon.json(f"/api/v1/{name}")["uncore"] for name in ("catalog", "plan"))
    past = daemon.json("/api/v1/history?scope=socket&metric=mem_fault_part")["series"]
    found = begin, (said(daemon)[1:], sorted(page), values, catalog, plan, past)
    return found if moments(daemon)[0] == begin else of_vendors(daemon)


def test_kinds_of_a_vendors_files_come_back_without_the_files():
    """Each value, bit by bit, and the catalog, the plan and the history of these kinds."""
    with tempfile.TemporaryDirectory() as folder:
        here, yaml = vendors_host(folder)
        path, files = os.path.join(folder, "recording"), os.path.join(folder, "files")
        with e2e.Daemon(*here, "--record", path, yaml=yaml + "uncore: {groups: [uncore_imc]}\n") as daemon:
            daemon.wait_round(4)
            live = of_vendors(daemon)
            daemon.stop()
        os.rename(files, files + ".away")
        (kinds, series_of), page, values, catalog, _, past = live[1]
        assert [kind["spec"] for kind in kinds] == ["newlake"] and len(page) == 11 and len(past) == 1, live
        assert set(values[0]) == set(FILES_OF_VENDORS) and values[0]["mem_fault_part"]["value"] > 0, live
        assert [metric["name"] for metric in catalog[0]["metrics"]] == list(FILES_OF_VENDORS), live
        for speed in ("0", "25"):
            with replay(path, "--speed", speed) as daemon:
                wait_end(daemon)
                again = of_vendors(daemon)
                assert again[0] != live[0] or again == live, (again, live)
                assert len(again[1][1]) == len(page) and again[1][3] == catalog, again
                assert "warning" not in daemon.log() and " error" not in daemon.log(), daemon.log()


def test_files_that_change_over_a_reload_begin_another_recording():
    """A recording has one catalog of a kind. Here the kind goes, and comes back with another one."""
    with tempfile.TemporaryDirectory() as folder:
        here, yaml = vendors_host(folder)
        path, on = os.path.join(folder, "recording"), "uncore: {groups: [uncore_imc]}\n"
        csv = os.path.join(folder, "files/arch/x86/newlake/all.json")
        with e2e.Daemon(*here, "--record", path, yaml=yaml + on) as daemon:
            text = e2e.read_text(daemon.config)
            daemon.wait_round(2)
            for config, there in ((text.replace(on, "uncore: {enabled: off}\n"), False), (text, True)):
                e2e.write_text(csv, e2e.read_text(csv).replace("UNC_M_FAULTS / (", "2 * UNC_M_FAULTS / ("))
                e2e.write_text(daemon.config, config)
                daemon.process.send_signal(signal.SIGHUP)
                e2e.wait_for(lambda: bool(daemon.json("/api/v1/uncore")["kinds"]) == there, "the kinds")
                daemon.wait_round(daemon.sequence() + 2)
            live = of_vendors(daemon)
            daemon.stop()
        assert os.path.exists(path + ".1"), os.listdir(folder)
        formula = {metric["name"]: metric["formula"] for metric in live[1][3][0]["metrics"]}["mem_fault_part"]
        for part, wanted in ((path, formula), (path + ".1", formula.replace("2 * ", ""))):
            with replay(part, "--speed", "0") as daemon:
                wait_end(daemon)
                again = of_vendors(daemon)
                assert {metric["name"]: metric["formula"] for metric in again[1][3][0]["metrics"]}["mem_fault_part"] == wanted, again
                assert part != path or again[0] != live[0] or again[1][2] == live[1][2], (again, live)


def records(data):
    """The kind, the content and the place of each record."""
    at = 0
    while at + 9 <= len(data):
        length = struct.unpack_from("<I", data, at + 1)[0]
        yield data[at:at + 1], data[at + 5:at + 5 + length], at
        at += 9 + length


def record(kind, content):
    whole = kind + struct.pack("<I", len(content)) + content
    return whole + struct.pack("<I", zlib.crc32(whole))


def test_a_catalog_that_makes_no_sense_is_refused_with_a_reason():
    """Its checksum is right, so somebody made it so."""
    with tempfile.TemporaryDirectory() as folder:
        here, yaml = vendors_host(folder)
        path, wrong = os.path.join(folder, "recording"), b""
        with e2e.Daemon(*here, "--record", path, yaml=yaml + "uncore: {groups: [uncore_imc]}\n") as daemon:
            daemon.wait_round(1)
            daemon.stop()
        with open(path, "rb") as file:
            data = file.read()
        for kind, content, _ in records(data):
            name = content[1:1 + content[0]] if kind == b"b" else b""
            if kind == b"b" and content[1 + len(name):2 + len(name)] == b"C":
                catalog = next(records(content[1 + len(name):]))[1]
                assert b"UNC_M_FAULTS /" in catalog, catalog
                content = content[:1 + len(name)] + record(b"C", catalog.replace(b"UNC_M_FAULTS /", b"UNC_M_FAULTZ /"))
            wrong += record(kind, content)
        assert len(wrong) == len(data)
        with open(path, "wb") as file:
            file.write(wrong)
        status, words = e2e.run_daemon("check-config", "--pmu", f"replay:{path}", yaml=YAML)
        assert status != 0 and f"{path}: holds a catalog (newlake) that makes no sense, though its checksum is right" in words, words


def test_the_status_of_a_replay_names_the_program_that_recorded_it():
    with tempfile.TemporaryDirectory() as folder:
        path, _ = recorded(folder, "recording", kinds=[], rounds=1)
        with open(path, "rb") as file:
            data = file.read()
        kind, content, _ = next(records(data))
        assert content.count(b"0.1.0") == 1, content
        with open(path, "wb") as file:
            file.write(record(kind, content.replace(b"0.1.0", b"0.0.9")) + data[9 + len(content):])
        with replay(path, "--speed", "0") as daemon:
            wait_end(daemon)
            status = daemon.json("/api/v1/status")
            assert (status["version"], status["recorded_version"]) == ("0.1.0", "0.0.9"), status
    with e2e.Daemon("--pmu", "sim", yaml=YAML) as daemon:
        assert daemon.json("/api/v1/status")["recorded_version"] is None


def test_recordings_of_version_5_hold_what_they_held():
    """Chosen events came back; of kinds of a vendor's files the replay says that they are missing."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with lzma.open(os.path.join(ROOT, "tests/data/recordings/boxes-of-version-5.xz")) as kept, open(path, "wb") as file:
            file.write(kept.read())
        with replay(path, "--speed", "0") as daemon:
            wait_end(daemon)
            _, kinds, lines = said(daemon)
            assert [(kind["pmu"], [box["name"] for box in kind["boxes"]]) for kind in kinds] == [("uncore_foo", ["uncore_foo_0", "uncore_foo_1"])], kinds
            assert 'topdownd_uncore_event_total{socket="0",pmu="uncore_foo",event="faults",unit="bytes"} 82698043392' in lines, lines
            assert daemon.log().count("uncore_imc was measured then with the vendor's files, and recordings of version 5 do not hold that") == 1, daemon.log()


def hybrid(folder):
    """A host with three core types and one memory controller on its socket."""
    with open(os.path.join(ROOT, "scenarios/hybrid.json"), encoding="utf-8") as file:
        host = json.load(file)
    host["uncore"] = [{"kind": "dsu", "spec": "umc-zen4", "boxes_per_socket": 1, "peak": 1e11,
                       "loads": {"all": load({"umc_cas_cmd.rd": 1e7, "umc_cas_cmd.wr": 2e6}, {"umc_cas_cmd.rd": 3e7})},
                       "assignments": [{"cpus": "0", "load": "all"}]}]
    return f"sim:{e2e.write_text(os.path.join(folder, 'hybrid.json'), json.dumps(host))}"


def test_the_first_core_types_recording_has_the_boxes_and_the_others_say_so():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with e2e.Daemon("--pmu", hybrid(folder), "--record", path, yaml=YAML) as daemon:
            test_hybrid.wait_rounds(daemon, 4)
            moment, kinds, live = said(daemon)
            types = [item["core_type"] for item in daemon.json("/api/v1/plan")["core_types"]]
            daemon.stop()
        assert len(kinds) == 1 and len(types) == 3, (kinds, types)
        for core_type in types:
            first = core_type == types[0]
            with replay(f"{path}.{core_type}", "--speed", "0") as daemon:
                wait_end(daemon)
                again, answers = said(daemon), [daemon.json(f"/api/v1/{name}") for name in ("uncore", "memory")]
                if first:
                    assert again[0] != moment or again[1:] == (kinds, live), (again, kinds, live)
                    assert len(again[1]) == 1 and len(again[2]) == len(live), again
                else:
                    assert again[1:] == ([], set()), again
                    why = f"the recording of this host's core type {types[0]} holds what there was"
                    assert [answer["reason"] for answer in answers] == [why] * 2, answers
                told = f"is in the recording of its core type {types[0]}" in daemon.log()
                assert told != first and "warning" not in daemon.log(), daemon.log()


def test_kinds_that_a_reload_takes_away_and_brings_back_are_replayed():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")

        def total(found):
            return found[0]["sockets"][0]["traffic"][0]["bytes_total"]

        with e2e.Daemon("--pmu", scenario(folder), "--record", path, yaml=ALL) as daemon:
            config, on = daemon.config, e2e.read_text(daemon.config)
            daemon.wait_round(8)
            before = total(said(daemon)[1])
            for text, there in ((on + "", True), (on.replace(ALL[len(YAML):], "uncore: {enabled: off}\n"), False), (on, True)):
                e2e.write_text(config, text)
                daemon.process.send_signal(signal.SIGHUP)
                e2e.wait_for(lambda: bool(daemon.json("/api/v1/uncore")["kinds"]) == there, "the kinds")
                daemon.wait_round(daemon.sequence() + 2)
            moment, kinds, live = said(daemon)
            daemon.stop()
        assert os.path.exists(path + ".1"), "kinds that come begin a part"
        assert 0 < total(kinds) < before, "what came back begins at 0, which Prometheus knows as a reset"
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
