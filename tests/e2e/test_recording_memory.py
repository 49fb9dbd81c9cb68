# SPDX-License-Identifier: Apache-2.0
"""Recordings of what the kernel counts of memory: what the live daemon said of NUMA nodes and resctrl comes back."""

import contextlib
import json
import os
import re
import struct
import tempfile
import zlib

import e2e
import test_host_memory
from test_recording_boxes import replay, wait_end
from test_reload import Reloaded

BINARY, ROOT = e2e.arguments()
REPLAY = re.compile(r',?replay="true"')


def said(daemon):
    """What a daemon says of memory: its series and JSON, but for what tells a replay from a live host."""
    page, memory = daemon.of_one_snapshot("/metrics", "/api/v1/memory")
    series = {REPLAY.sub("", line).replace("{}", "") for line in page.splitlines() if line.startswith(test_host_memory.FAMILIES)}
    memory = json.loads(memory)
    groups = memory["resctrl"].pop("groups")
    assert (groups == []) == memory["replay"], memory  # these three are not recorded
    for domain in memory["resctrl"]["domains"]:
        del domain["gap"]
    del memory["resctrl"]["implausible_total"], memory["replay"]
    return series, memory


def read_of(path):
    """The records of a recording, each as a kind and where it begins and ends."""
    with open(path, "rb") as file:
        data = file.read()
    records, at = [], 0
    while at < len(data):
        end = at + 9 + struct.unpack_from("<I", data, at + 1)[0]
        records.append((chr(data[at]), at, end))
        at = end
    return data, records


def made_up(folder):
    host = test_host_memory.two_nodes(folder).node(2, "")
    host.resctrl()
    host.write({"devices/virtual/memory_tiering/memory_tier22/nodelist": "2",
                "devices/system/node/node2/access1/initiators/read_latency": "250"})
    return host


def record(folder, path):
    """Two readings of a host whose counts have grown in between; returns what was said last."""
    host = made_up(folder)
    with host.daemon("--record", path) as daemon:
        first = daemon.json("/api/v1/memory")
        assert first["interval_seconds"] is None, first
        host.vmstat(local=9300, other=1100)
        host.resctrl(total=5000, local=3700)
        host.node(1, "1", numa_hit=1800, other_node=350)
        e2e.wait_for(lambda: daemon.json("/api/v1/memory")["timestamp_seconds"] > first["timestamp_seconds"], "the next reading",
                     test_host_memory.READ_SECONDS)
        live = said(daemon)
        daemon.stop()
    return live


def test_what_was_said_of_memory_comes_back():
    test_host_memory.needs_events()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        series, memory = record(os.path.join(folder, "host"), path)
        assert len(series) == 9 and len(memory["nodes"]) == 3 and memory["resctrl"]["state"] == "counting", (series, memory)
        assert memory["resctrl"]["sockets"][0]["bytes_per_second"] > 0 and memory["values"]["numa_remote_allocation_ratio"] == 0.25, memory
        for speed in ("0", "25"):
            with replay(path, "--speed", speed) as daemon:
                wait_end(daemon)
                again = said(daemon)
                assert again == (series, memory), (again, (series, memory))
                assert "warning" not in daemon.log() and " error" not in daemon.log(), daemon.log()


def test_the_limit_of_series_counts_those_of_a_replay():
    """Without these counts there are fewer, by theirs."""
    test_host_memory.needs_events()
    numbers = []
    for counts in ("auto", "off"):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "recording")
            host = made_up(os.path.join(folder, "host"))
            with e2e.Daemon("--path.sysfs", host.folder, "--path.procfs", host.folder, "--record", path,
                            yaml=f"{e2e.LISTEN_ANYWHERE}interval: 1s\nuncore: {{numa: {counts}, resctrl: {counts}}}\n") as daemon:
                daemon.wait_round(1)
                assert len(test_host_memory.values(daemon)) == (9 if counts == "auto" else 0)
                daemon.stop()
            with replay(path, "--speed", "0", yaml=e2e.LISTEN_ANYWHERE + "max_series: 10\n") as daemon:
                wait_end(daemon)
                told = re.findall(r"/metrics has (\d+) series", daemon.log())
            assert len(told) == 1, told
            numbers.append(int(told[0]))
    assert numbers[0] - numbers[1] == 9, numbers


def test_readings_are_few_and_small():
    test_host_memory.needs_events()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        record(os.path.join(folder, "host"), path)
        kinds = read_of(path)[1]
        readings = [end - begin for kind, begin, end in kinds if kind == "m"]
        assert 2 <= len(readings) <= 4 and max(readings) < 350, readings
        assert [kind for kind, _, _ in kinds][:3] == ["R", "f", "P"], kinds


def test_a_damaged_reading_is_left_out():
    """With a right checksum: readings before and after it stay."""
    test_host_memory.needs_events()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        record(os.path.join(folder, "host"), path)
        data, records = read_of(path)
        _, begin, end = [each for each in records if each[0] == "m"][-1]
        content = data[begin + 5:end - 4 - 1]
        wrong = b"m" + struct.pack("<I", len(content)) + content
        with open(path, "wb") as file:
            file.write(data[:begin] + wrong + struct.pack("<I", zlib.crc32(wrong)) + data[end:])
        with replay(path, "--speed", "0") as daemon:
            wait_end(daemon)
            assert f"the record at byte {begin} makes no sense: it is left out" in daemon.log(), daemon.log()
            assert ("topdownd_numa_allocations_total", "local", "true") in test_host_memory.values(daemon), test_host_memory.values(daemon)
            assert daemon.json("/api/v1/memory")["totals"]["local_allocations_total"] == 9000


def test_a_file_that_begins_later_has_the_newest_reading():
    """Somebody removes the file, so that recording goes on in another one of the same recording."""
    test_host_memory.needs_events()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with made_up(os.path.join(folder, "host")).daemon("--record", path) as daemon:
            daemon.wait_round(1)
            os.remove(path)
            e2e.wait_for(lambda: os.path.exists(path), "a new file")
            series, memory = said(daemon)
            daemon.stop()
        with replay(path, "--speed", "0") as daemon:
            wait_end(daemon)
            assert said(daemon) == (series, memory), (said(daemon), (series, memory))


def test_a_reload_that_wants_none_ends_it_in_the_replay_too():
    test_host_memory.needs_events()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        path = os.path.join(folder, "recording")
        host = made_up(os.path.join(folder, "host"))
        daemon = stack.enter_context(Reloaded(stack, "--path.sysfs", host.folder, "--path.procfs", host.folder, "--record", path,
                                              yaml="listen: [HERE]\ninterval: 1s\n"))
        daemon.wait_round(1)
        assert len(test_host_memory.values(daemon)) == 9
        daemon.reloaded("listen: [HERE]\ninterval: 1s\nuncore: {numa: off, resctrl: off}\n")
        e2e.wait_for(lambda: not test_host_memory.values(daemon), "a page without them")
        daemon.stop()
        with replay(path, "--speed", "0") as again:
            wait_end(again)
            page = again.json("/api/v1/memory")
            assert test_host_memory.values(again) == {} and page["reason"] == "the recording does not hold it", page
        assert [end - begin for kind, begin, end in read_of(path)[1] if kind == "m"][-1] == 9, "a record without content"


if __name__ == "__main__":
    e2e.run_tests()
