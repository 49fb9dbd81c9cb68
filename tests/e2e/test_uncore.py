# SPDX-License-Identifier: Apache-2.0
"""PMUs outside the cores: simulated boxes with a known truth, and made-up trees whose boxes are the kernel's own software events."""

import json
import os
import re
import signal
import subprocess
import tempfile

import e2e
import test_hosts

BINARY, ROOT = e2e.arguments()
READS, WRITES = 1e7, 4e6  # a second and box
SAPPHIRE_RAPIDS = "GenuineIntel-6-8F-8"
YAML = e2e.LISTEN_ANYWHERE + "interval: 1s\n"


def load(rates):
    return {"period_seconds": 10, "keyframes": [{"at_seconds": 0, "rates": rates}]}


def scenario(folder, boxes=4, rivals=()):
    """Sapphire Rapids on two sockets, with boxes that read on both and write on the first one alone."""
    with open(os.path.join(ROOT, "scenarios/sapphire-rapids.json"), encoding="utf-8") as file:
        host = json.load(file)
    read, both = {"UNC_M_CAS_COUNT.RD": READS}, {"UNC_M_CAS_COUNT.RD": READS, "UNC_M_CAS_COUNT.WR": WRITES}
    host["uncore"] = [{"kind": "imc", "spec": "imc-sapphire-rapids", "boxes_per_socket": boxes,
                       "loads": {"read": load(read), "both": load(both)}, "rivals": list(rivals),
                       "assignments": [{"cpus": f"0-{boxes - 1}", "load": "both"}, {"cpus": f"{boxes}-{2 * boxes - 1}", "load": "read"}]}]
    path = os.path.join(folder, "boxes.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(host, file)
    return f"sim:{path}"


def waiting(folder):
    """The same, and reads wait for 100 cycles in the queue of a controller with a clock of 1 GHz."""
    path = scenario(folder)[len("sim:"):]
    host = json.loads(e2e.read_text(path))
    queue = {"UNC_M_RPQ_INSERTS.PCH0": 1e7, "UNC_M_RPQ_INSERTS.PCH1": 1e7, "UNC_M_RPQ_OCCUPANCY_PCH0": 1.5e9,
             "UNC_M_RPQ_OCCUPANCY_PCH1": 5e8, "UNC_M_CLOCKTICKS": 1e9}
    for each in host["uncore"][0]["loads"].values():
        each["keyframes"][0]["rates"].update(queue)
    return "sim:" + e2e.write_text(path, json.dumps(host))


def memory(page):
    return {(labels["socket"], labels["direction"]): value for name, labels, value in e2e.samples(page)
            if name == "topdownd_memory_bytes_total" and labels["kind"] == "dram"}


def crowded(folder, rates, rivals=()):
    """Boxes of Zen 1's data fabric: the bytes of memory are a sum of eight events, in two groups, and a box has four counters."""
    path = scenario(folder, boxes=2)[len("sim:"):]
    with open(path, encoding="utf-8") as file:
        host = json.load(file)
    events = {f"dram_channel_data_controller_{channel}": rate for channel, rate in enumerate(rates)}
    host["uncore"] = [{"kind": "df", "spec": "df-zen1", "boxes_per_socket": 1, "loads": {"all": load(events)},
                       "assignments": [{"cpus": "0-1", "load": "all"}], "rivals": list(rivals)}]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(host, file)
    return f"sim:{path}"


def shares(daemon):
    """Of each box, the share of time in which its events were on the counters."""
    return [box["traffic"][0]["share_of_time"] for box in daemon.json("/api/v1/uncore")["kinds"][0]["boxes"]]


def bytes_and_time(daemon, socket):
    answer = daemon.json("/api/v1/uncore")
    return answer["kinds"][0]["sockets"][socket]["traffic"][0]["bytes_total"], answer["timestamp_seconds"]


def seconds_of(daemon, truth, socket=0, at_least=4):
    """For how many seconds of the truth the bytes of a socket have grown, and in how many seconds."""
    before = bytes_and_time(daemon, socket)
    after = e2e.wait_for(lambda: (new := bytes_and_time(daemon, socket))[1] > before[1] + at_least and new, "more snapshots")
    return (after[0] - before[0]) / truth, after[1] - before[1]


def assert_near_truth(daemon, truth, socket=0):
    """The bytes of a socket are within 3 % of the truth. On a busy machine the stamp of one snapshot may be late by more than that of
    four seconds; in a longer time it is a smaller share, and a count that is wrong stays as wrong as it is."""
    before, ratios = bytes_and_time(daemon, socket), []
    for seconds in range(4, 24, 4):
        after = e2e.wait_for(lambda least=before[1] + seconds: (new := bytes_and_time(daemon, socket))[1] > least and new, "more snapshots")
        ratios.append((after[0] - before[0]) / truth / (after[1] - before[1]))
        if abs(ratios[-1] - 1) < 0.03:
            return
    raise AssertionError(f"{ratios} of the truth, after 4 seconds each")


def made_up(folder, boxes, kind="1"):
    """A Sapphire Rapids whose memory controllers are PMUs of this perf type: with 1, event 5 counts minor faults there."""
    test_hosts.x86_host(folder, SAPPHIRE_RAPIDS, cpus=2, pmus=())
    files = {}
    for box, cpu in enumerate(boxes):
        of_box = f"bus/event_source/devices/uncore_imc_{box}"
        files |= {f"{of_box}/type": kind, f"{of_box}/cpumask": cpu, f"{of_box}/format/event": "config:0-7",
                  f"{of_box}/format/umask": "config1:0-7"}
    test_hosts.write_all(folder, files)


def sources_of_peaks(daemon):
    kind, = (kind for kind in daemon.json("/api/v1/uncore")["kinds"] if kind["pmu"] == "umc")
    return [socket["peak_source"] for socket in kind["sockets"]]


def test_the_peak_of_a_simulated_socket_is_shown():
    with e2e.Daemon("--pmu", "sim:zen4", yaml=YAML) as daemon:
        page = daemon.get("/metrics")
        assert [e2e.value_of(page, "topdownd_memory_peak_bytes_per_second", socket=socket) for socket in "01"] == [460.8e9] * 2
        assert sources_of_peaks(daemon) == ["host"] * 2, "its boxes count their clock as well"
    with e2e.Daemon("--pmu", "sim:zen4", yaml=YAML + "uncore: {peak: 300GB}\n") as daemon:
        assert sources_of_peaks(daemon) == ["configuration"] * 2
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", scenario(folder), yaml=YAML) as daemon:
        assert "topdownd_memory_peak_bytes_per_second" not in daemon.get("/metrics"), "an unknown peak is absent"


def of_kinds(folder, kinds, peak=None):
    """Sapphire Rapids on two sockets with boxes of these kinds: (kind, spec, boxes a socket, rates), which all state this peak."""
    path = scenario(folder)[len("sim:"):]
    with open(path, encoding="utf-8") as file:
        host = json.load(file)
    host["uncore"] = [{"kind": kind, "spec": spec, "boxes_per_socket": boxes, "loads": {"all": load(rates)},
                       "assignments": [{"cpus": f"0-{2 * boxes - 1}", "load": "all"}]} | ({"peak": peak} if peak else {}) for kind, spec, boxes, rates in kinds]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(host, file)
    return f"sim:{path}"


def test_boxes_of_a_simulated_host_can_be_left_out():
    """As those of a real host: sums are of the others, and the peak of all is no peak of theirs."""
    with tempfile.TemporaryDirectory() as folder:
        host = of_kinds(folder, [("imc", "imc-sapphire-rapids", 2, {"UNC_M_CAS_COUNT.RD": 1e6})], peak=1e11)
        with e2e.Daemon("--pmu", host, yaml=YAML + "uncore: {boxes: {exclude: [imc_1]}}\n") as daemon:
            daemon.wait_round(3)
            kind, page = daemon.json("/api/v1/uncore")["kinds"][0], daemon.get("/metrics")
            assert [(socket["boxes"], socket["boxes_left_out"]) for socket in kind["sockets"]] == [(1, 1), (2, 0)], kind
            assert [box["box"] for box in kind["boxes"]] == [0, 2, 3] and kind["boxes"][1]["name"] == "imc_2", kind
            rates = [socket["traffic"][0]["bytes_per_second"] for socket in kind["sockets"]]
            assert all(abs(rate / truth - 1) < 0.01 for rate, truth in zip(rates, (64e6, 128e6))), rates
            assert [socket["peak_bytes_per_second"] for socket in kind["sockets"]] == [None, 1e11], kind
            assert e2e.value_of(page, "topdownd_uncore_error", pmu="imc", reason="left_out") == 1
        with e2e.Daemon("--pmu", host, yaml=YAML + "uncore: {boxes: {include: [upi_*]}}\n") as daemon:
            answer, page = daemon.json("/api/v1/uncore"), daemon.get("/metrics")
            assert answer["kinds"] == [], "a kind without a box is not measured"
            assert answer["reason"] == "uncore.boxes leaves out all boxes, and nothing is measured, of: imc", answer
            assert e2e.value_of(page, "topdownd_uncore_error", pmu="uncore", reason="left_out") == 1 and answer["reason"] in daemon.log()
        with e2e.Daemon("--pmu", host, yaml=YAML + "uncore: {boxes: {exclude: [imc_*]}, groups: [io]}\n") as daemon:
            reason = daemon.json("/api/v1/uncore")["reason"]
            assert reason == "the configuration selects none that this host has" and "left_out" not in daemon.get("/metrics"), reason


def test_each_kind_says_when_its_values_were_taken():
    """The newest moment is that of all, and is as old as the snapshot of sockets says of the kind."""
    with tempfile.TemporaryDirectory() as folder:
        host = of_kinds(folder, [("imc", "imc-sapphire-rapids", 2, {"UNC_M_CAS_COUNT.RD": 1e6}), ("upi", "upi-skylake", 1, {})])
        with e2e.Daemon("--pmu", host, yaml=YAML + "uncore: {groups: [memory, interconnect]}\n") as daemon:
            daemon.wait_round(3)

            def moments():
                before, answer, after = (daemon.json(f"/api/v1/{name}") for name in ("snapshot?scope=socket", "uncore", "snapshot?scope=socket"))
                told = [kind["timestamp_seconds"] for kind in answer["kinds"]]
                assert len(told) == 2 and answer["timestamp_seconds"] == max(told), answer
                return before["uncore"] == after["uncore"] and (told, [kind["timestamp_seconds"] for kind in before["uncore"]])

            told, wanted = e2e.wait_for(moments, "pages of one moment")
            assert told == wanted, (told, wanted)


def test_a_simulated_host_measures_the_kinds_that_the_configuration_selects():
    """As a real host: its memory controllers alone by default, whatever kinds its scenario has."""
    for uncore, kinds in (("", ["imc"]), ("uncore: {groups: [memory, interconnect]}\n", ["imc", "upi"]),
                          ("uncore: {groups: [remote]}\n", ["home"]), ("uncore: {enabled: off}\n", [])):
        with e2e.Daemon("--pmu", "sim:sapphire-rapids", yaml=YAML + uncore) as daemon:
            assert [kind["pmu"] for kind in daemon.json("/api/v1/uncore")["kinds"]] == kinds, uncore
            page = daemon.get("/metrics")
            for kind in ("imc", "home", "upi"):
                assert (f'topdownd_uncore_up{{pmu="{kind}",' in page) == (kind in kinds), (uncore, kind)


def test_a_peak_for_a_socket_that_a_simulated_host_lacks_is_told():
    status, words = e2e.run_daemon("check-config", "--pmu", "sim:zen4", yaml=YAML + "uncore: {peak: {0: 300GB, 7: 300GB}}\n")
    assert status == 0 and "uncore.peak names socket 7, which this host lacks" in words, words


def test_the_clock_of_the_memory_tells_its_peak():
    """A channel of DDR5-4800 has a clock of 2.4 GHz and moves 38.4 GB/s: 16 bytes a cycle. A box that counts nothing has no peak."""
    with tempfile.TemporaryDirectory() as folder:
        host = of_kinds(folder, [("umc", "umc-zen4", 12, {"umc_cas_cmd.rd": 2e8, "umc_cas_cmd.wr": 1e8, "umc_mem_clk": 2.4e9})])
        with e2e.Daemon("--pmu", host, yaml=YAML) as daemon:
            daemon.wait_round(2)
            page = daemon.get("/metrics")
            for socket in "01":
                peak = e2e.value_of(page, "topdownd_memory_peak_bytes_per_second", socket=socket)
                assert abs(peak / 460.8e9 - 1) < 1e-3, peak
            kind = daemon.json("/api/v1/uncore")["kinds"][0]
            assert abs(kind["sockets"][1]["peak_bytes_per_second"] / 460.8e9 - 1) < 1e-3, kind["sockets"]
            assert [told["name"] for told in kind["sockets"][0]["traffic"]] == ["memory_read", "memory_write"], "a peak does not pass"


def test_memory_is_told_apart_by_kind_and_devices_by_direction():
    each = [("imc", "imc-sapphire-rapids", 2, {"UNC_M_CAS_COUNT.RD": 1e7, "UNC_M_CAS_COUNT.WR": 1e6}),
            ("hbm", "hbm-sapphire-rapids", 2, {"UNC_MCHBM_CAS_COUNT.RD": 2e7, "UNC_MCHBM_CAS_COUNT.WR": 2e6}),
            ("cxlcm", "cxlcm-sapphire-rapids", 1, {"UNC_CXLCM_RxC_PACK_BUF_INSERTS.MEM_DATA": 3e6}),
            ("cxldp", "cxldp-sapphire-rapids", 1, {"UNC_CXLDP_TxC_AGF_INSERTS.M2S_DATA": 3e5}),
            ("cxl", "cxl-device", 1, {"s2m_drs_memdata": 3e6, "m2s_rwd_memwr": 3e5}),
            ("iio", "iio-ice-lake", 3, {"UNC_IIO_DATA_REQ_OF_CPU.MEM_WRITE.ALL_PARTS": 4e7, "UNC_IIO_DATA_REQ_OF_CPU.MEM_READ.ALL_PARTS": 4e6}),
            ("c2c", "c2c-grace", 1, {"rd_bytes_loc": 5e8, "rd_bytes_rem": 1e8, "wr_bytes_loc": 5e7, "wr_bytes_rem": 1e7})]
    truth = {("memory", "dram", "read"): 2 * 64 * 1e7, ("memory", "dram", "write"): 2 * 64 * 1e6,
             ("memory", "hbm", "read"): 2 * 32 * 2e7, ("memory", "hbm", "write"): 2 * 32 * 2e6,
             ("memory", "cxl", "read"): 64 * 3e6, ("memory", "cxl", "write"): 64 * 3e5,
             ("io", "pcie", "in"): 3 * 4 * 4e7, ("io", "pcie", "out"): 3 * 4 * 4e6, ("io", "c2c", "out"): 6e8, ("io", "c2c", "in"): 6e7}

    def now(daemon):
        page = daemon.get("/metrics")
        return {(name.split("_")[1], labels["kind"], labels["direction"]): value for name, labels, value in e2e.samples(page)
                if name in ("topdownd_memory_bytes_total", "topdownd_io_bytes_total") and labels["socket"] == "1"}
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", of_kinds(folder, each, peak=3e11),
                                                             yaml=YAML + "uncore: {groups: [memory, io]}\n") as daemon:
        daemon.wait_round(2)
        before = now(daemon)
        assert set(before) == set(truth), before
        peaks = [labels for name, labels, _ in e2e.samples(daemon.get("/metrics")) if name == "topdownd_memory_peak_bytes_per_second"]
        assert [labels["socket"] for labels in peaks] == ["0", "1"], ("the peak is that of DRAM alone", peaks)
        seconds = lambda: {key: (value - before[key]) / truth[key] for key, value in now(daemon).items()}
        e2e.wait_for(lambda: min(seconds().values()) > 3, "three seconds")
        grown = seconds()
        assert max(grown.values()) - min(grown.values()) < 1.1, ("every traffic is its truth, whichever engine's snapshot is newer", grown)
        kinds = [kind["pmu"] for kind in daemon.json("/api/v1/uncore")["kinds"]]
        assert kinds == ["imc", "hbm", "cxlcm", "cxldp", "iio", "c2c"], "the ports tell what the CXL device would tell again"


def test_the_peak_of_a_host_is_its_channels_times_the_saved_speed():
    """Two boxes on one socket, with two channels that have modules; the speed is what root has left in the runtime folder."""
    with tempfile.TemporaryDirectory() as folder:
        made_up(folder, ["0", "0"])
        edac = "devices/system/edac/mc/mc0/dimm"
        test_hosts.write_all(folder, {f"{edac}{i}/{file}": text for i in range(2) for file, text in (
            ("size", "32768"), ("dimm_location", f"channel {i} slot 0 "), ("dimm_label", f"CPU_SrcID#0_MC#0_Chan#{i}_DIMM#0"))})
        here = ("--path.sysfs", folder, "--path.procfs", folder, "--path.run", folder)
        with e2e.Daemon(*here, yaml=YAML) as daemon:
            assert "topdownd_memory_peak_bytes_per_second" not in daemon.get("/metrics")
        e2e.write_text(os.path.join(folder, "memory-channel-bytes-per-second"), "38400000000\n")
        with e2e.Daemon(*here, yaml=YAML) as daemon:
            assert e2e.value_of(daemon.get("/metrics"), "topdownd_memory_peak_bytes_per_second", socket="0") == 76.8e9


def test_the_history_has_what_each_socket_moved():
    names = {"memory_read_bytes_per_second": READS, "memory_write_bytes_per_second": WRITES}
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", scenario(folder), yaml=YAML) as daemon:
        ask = f"/api/v1/history?metric={','.join(names)}"
        both = e2e.wait_for(lambda: (new := daemon.json(ask + "&scope=socket"))["steps"] >= 2 and new, "a whole step")
        host = daemon.json(ask)
        assert "kinds" in daemon.json("/api/v1/uncore") and all("pmu" not in series for series in daemon.json("/api/v1/history")["series"])
    assert {(series["socket"], series["metric"], series["pmu"], series["unit"]) for series in both["series"]} == {
        (socket, name, "imc", "bytes per second") for socket in (0, 1) for name in names}, both["series"]
    for series in both["series"] + host["series"]:
        boxes = {None: 8, 0: 4, 1: 4}[series.get("socket")]
        writes = {None: 4, 0: 4, 1: 0}[series.get("socket")]  # boxes that write
        truth = 64 * (boxes * READS if "read" in series["metric"] else writes * WRITES)
        value = [value for value in series["values"] if value is not None][-1]
        assert abs(value - truth) <= 0.02 * truth, (series, truth)


def test_bytes_of_each_socket_are_the_truth_and_only_grow():
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", scenario(folder), yaml=YAML) as daemon:
        daemon.wait_round(2)
        before = daemon.get("/metrics")
        counted, passed = seconds_of(daemon, 4 * 64 * READS)
        assert abs(counted - passed) < 0.1, (counted, passed)
        e2e.wait_for(lambda: memory(daemon.get("/metrics"))["0", "read"] > memory(before)["0", "read"] + 4.5 * 256 * READS, "more bytes")
        after = daemon.get("/metrics")
        assert e2e.value_of(after, "topdownd_uncore_up", pmu="imc") == 1
        assert "topdownd_uncore_error" not in after, "no error is known"
        first, last = memory(before), memory(after)
        grown = {key: last[key] - first[key] for key in last}
        assert len(grown) == 4 and grown["1", "write"] == 0, grown
        # all sums are over the same time
        assert abs(grown["0", "read"] / grown["1", "read"] - 1) < 1e-6, grown
        assert abs(grown["0", "write"] / grown["0", "read"] / (WRITES / READS) - 1) < 1e-6, grown
        kinds = daemon.json("/api/v1/uncore")["kinds"]
        assert [(kind["pmu"], kind["spec"], kind["up"]) for kind in kinds] == [("imc", "imc-sapphire-rapids", 1)], kinds
        assert [socket["boxes"] for socket in kinds[0]["sockets"]] == [4, 4] and len(kinds[0]["boxes"]) == 8
        for socket in kinds[0]["sockets"]:
            boxes = [box["traffic"] for box in kinds[0]["boxes"] if box["socket"] == socket["socket"]]
            for i, sum_of_all in enumerate(socket["traffic"]):
                assert abs(sum(box[i]["bytes_total"] for box in boxes) - sum_of_all["bytes_total"]) < 1, sum_of_all
        return f"{len(e2e.samples(after))} samples"


def test_the_snapshot_of_sockets_has_the_values_of_boxes():
    """Of all boxes of a socket, with what stands beside each value; the totals are those of the page of boxes."""
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", scenario(folder), yaml=YAML) as daemon:
        daemon.wait_round(3)
        kind, = daemon.json("/api/v1/snapshot?scope=socket")["uncore"]
        assert (kind["pmu"], kind["spec"], [socket["boxes"] for socket in kind["sockets"]]) == ("imc", "imc-sapphire-rapids", [4, 4]), kind
        wanted = {(0, "read"): READS, (0, "write"): WRITES, (1, "read"): READS, (1, "write"): 0}
        for (socket, direction), rate in wanted.items():
            each = kind["sockets"][socket]["metrics"][f"memory_{direction}_bytes_per_second"]
            assert abs(each["value"] - 4 * 64 * rate) <= 1e-3 * 4 * 64 * rate and each["unit"] == "bytes per second", each
            assert each["reason"] is None and each["share_of_time"] == 1 and each["quality"] == "good", each
            assert each["low"] <= each["value"] <= each["high"], each
        parts = daemon.of_one_snapshot("/api/v1/snapshot?scope=socket", "/api/v1/uncore")
        values, boxes = (json.loads(part) for part in parts)
        if values["uncore"][0]["timestamp_seconds"] == boxes["timestamp_seconds"]:
            each = values["uncore"][0]["sockets"][0]["metrics"]["memory_read_bytes_per_second"]
            assert abs(each["k"] * each["numerator_total"] - boxes["kinds"][0]["sockets"][0]["traffic"][0]["bytes_total"]) < 1, each
        for scope in ("host", "cpu"):
            assert "uncore" not in daemon.json(f"/api/v1/snapshot?scope={scope}")


def test_the_catalog_and_the_plan_have_the_kinds():
    """What could be measured outside the cores, what is, under which families, and with which events."""
    with tempfile.TemporaryDirectory() as folder:
        for groups, latency in (("memory", False), ("memory, Queue_Latency", True)):
            with e2e.Daemon("--pmu", waiting(folder), yaml=YAML + f"uncore: {{groups: [{groups}]}}\n") as daemon:
                daemon.wait_round(3)
                told, = daemon.json("/api/v1/catalog")["uncore"]
                plan, = daemon.json("/api/v1/plan")["uncore"]
                page = e2e.wait_for(lambda: (lambda page: "topdownd_memory_bytes_total{" in page and
                                             ("topdownd_memory_queue_latency_seconds{" in page or not latency) and page)(daemon.get("/metrics")), "values")
            assert (told["pmu"], told["spec"]) == (plan["pmu"], plan["spec"]) == ("imc", "imc-sapphire-rapids") and plan["boxes"] == 8, plan
            metrics = {each["metric"]: each for each in told["metrics"]}
            read, waits = metrics["memory_read_bytes_per_second"], metrics["memory_queue_latency_seconds"]
            assert (read["unit"], read["k"], read["families"]) == ("bytes per second", 64, ["topdownd_memory_bytes_total"]), read
            assert read["planned"] and read["selected"] and read["formula"] == "64 * UNC_M_CAS_COUNT.RD / cpu_seconds", read
            assert (waits["selected"], waits["planned"], waits["unit"]) == (latency, latency, "seconds per read"), waits
            assert waits["title"] and ("uncore.groups" in (waits["reason"] or "")) != latency, waits
            assert {each["name"] for each in told["groups"]} >= {"Traffic", "Queue_Latency"}, told["groups"]
            assert all(each["unmeasurable"] is None and each["terms"] for each in told["events"]), told["events"]
            families = {family for each in metrics.values() if each["planned"] for family in each["families"]}
            assert families and all(f"# TYPE {family} " in page for family in families), families
            events = {event["name"] for group in plan["event_groups"] for event in group["events"]}
            assert ("UNC_M_CLOCKTICKS" in events) == latency and events <= {each["name"] for each in told["events"]}, plan
            assert ("memory_queue_latency_seconds" in plan["combined"]["metrics"]) == latency, plan
            planned = {name for group in (*plan["event_groups"], plan["combined"]) for name in group["metrics"]}
            assert planned == {name for name, each in metrics.items() if each["planned"]} and plan["not_plannable"] == [], plan


def test_events_that_exceed_the_counters_take_turns_and_their_bytes_are_the_truth():
    """The kernel gives each of the two groups about half of the time; their counts are scaled by it."""
    rates = [1e7, 2e7, 3e7, 4e7, 5e6, 6e6, 7e6, 8e6]
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", crowded(folder, rates), yaml=YAML) as daemon:
        daemon.wait_round(2)
        assert_near_truth(daemon, 64 * sum(rates))
        assert all(0.4 < share < 0.6 for share in shares(daemon)), shares(daemon)
        assert "other users" not in daemon.log(), "what topdownd does itself is nobody else's doing"
        page = daemon.get("/metrics")
        assert e2e.value_of(page, "topdownd_uncore_up", pmu="df") == 1 and "topdownd_uncore_error" not in page
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", scenario(folder), yaml=YAML) as daemon:
        daemon.wait_round(2)
        assert shares(daemon) == [1] * 8, "what fits the counters is on all the time"


def test_a_rival_for_the_counters_of_a_box_costs_share_and_no_bytes():
    rates = [1e7] * 8
    rivals = [{"kind": "flexible", "cpus": "0", "counters": 4}]
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", crowded(folder, rates, rivals=rivals), yaml=YAML) as daemon:
        daemon.wait_round(2)
        assert_near_truth(daemon, 64 * sum(rates))
        here, there = shares(daemon)
        assert 0.2 < here < 0.4 < there < 0.6, (here, there)
        assert daemon.log().count("shares the counters of its PMUs with other users") == 2, "once for each event group: " + daemon.log()


def test_a_box_whose_counters_others_hold_grows_by_nothing_until_it_counts_again():
    """No count is made up: the truth goes on growing, the total does not."""
    rivals = [{"kind": "pinned", "cpus": "0", "counters": 4}]
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", crowded(folder, [1e7] * 8, rivals=rivals), yaml=YAML) as daemon:
        daemon.wait_round(2)
        grown, _ = seconds_of(daemon, 64 * 8e7)
        assert grown == 0, grown
        assert shares(daemon)[0] is None and 0.4 < shares(daemon)[1] < 0.6, shares(daemon)
        assert_near_truth(daemon, 64 * 8e7, socket=1)


def test_a_box_that_vanishes_and_comes_back_is_an_error_meanwhile_and_the_others_go_on():
    rivals = [{"kind": "offline", "cpus": "0", "from_seconds": 3, "until_seconds": 10}]
    gone = 'topdownd_uncore_error{pmu="imc",reason="offline"'
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", scenario(folder, rivals=rivals), yaml=YAML) as daemon:
        seen = [memory(daemon.get("/metrics"))]

        def page_has(wanted):
            page = daemon.get("/metrics")
            seen.append(memory(page))
            return (gone in page) == wanted and page
        page = e2e.wait_for(lambda: page_has(True), "the box to be gone")
        assert e2e.value_of(page, "topdownd_uncore_up", pmu="imc") == 1, "the others are there"
        assert "the PMU is gone" in daemon.log(), daemon.log()
        grown, seconds = seconds_of(daemon, 4 * 64 * READS, socket=1, at_least=2)
        assert abs(grown - seconds) < 0.1, (grown, seconds)
        page = e2e.wait_for(lambda: page_has(False), "the box to be back")
        assert e2e.value_of(page, "topdownd_uncore_up", pmu="imc") == 1
        assert all(not after[key] < before[key] for before, after in zip(seen, seen[1:]) for key in before), "a total fell"
        daemon.wait_round(daemon.sequence() + 1)
        grown, seconds = seconds_of(daemon, 4 * 64 * READS, at_least=2)
        assert abs(grown - seconds) < 0.1, (grown, seconds)


def test_a_page_has_at_most_320_series_and_cores_pages_say_nothing_of_boxes():
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", scenario(folder), yaml=YAML) as daemon:
        daemon.wait_round(2)
        page = daemon.get("/metrics")
        assert len(e2e.samples(page)) <= 320, len(e2e.samples(page))
        assert not [labels for _, labels, _ in e2e.samples(page) if "core_type" in labels]
        assert "CAS_COUNT" not in daemon.get("/metrics/cpu") and "imc" not in daemon.get("/metrics/cpu")
        assert "core_types" not in daemon.json("/api/v1/snapshot")
        assert e2e.fetch(daemon.port, "/plain").status == 200 and e2e.fetch(daemon.port, "/-/ready").status == 200


def test_a_reload_goes_on_with_the_totals():
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", scenario(folder), yaml=YAML) as daemon:
        daemon.wait_round(2)
        before = memory(daemon.get("/metrics"))
        loaded = e2e.value_of(daemon.get("/metrics"), "topdownd_config_last_reload_success_timestamp_seconds")
        daemon.process.send_signal(signal.SIGHUP)
        e2e.wait_for(lambda: e2e.value_of(daemon.get("/metrics"), "topdownd_config_last_reload_success_timestamp_seconds") > loaded, "reload")
        e2e.wait_for(lambda: memory(daemon.get("/metrics"))["0", "read"] > before["0", "read"] + 2 * 256 * READS, "more bytes")
        assert memory(daemon.get("/metrics"))["1", "read"] > before["1", "read"]


def test_a_box_that_cannot_be_opened_is_an_error_of_its_kind():
    rivals = [{"kind": "refuse", "cpus": "0-7"}]
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", scenario(folder, rivals=rivals), yaml=YAML) as daemon:
        e2e.wait_for(lambda: 'topdownd_uncore_error{pmu="imc",reason="too_many_files"' in daemon.get("/metrics"), "the error")
        daemon.wait_round(2)
        page = daemon.get("/metrics")
        assert "PMUs imc: 8 event groups could not be opened" in daemon.log() and "imc: imc" not in daemon.log(), daemon.log()
        assert e2e.value_of(page, "topdownd_uncore_up", pmu="imc") == 0
        assert "topdownd_pmu_error" not in page, "the cores' PMU is well"
        assert e2e.fetch(daemon.port, "/-/ready").status == 200


def test_a_host_without_any_says_so_once():
    with tempfile.TemporaryDirectory() as folder:
        test_hosts.x86_host(folder, SAPPHIRE_RAPIDS, cpus=2, pmus=())
        with e2e.Daemon("--path.sysfs", folder, "--path.procfs", folder, yaml=YAML) as daemon:
            daemon.wait_round(2)
            page = daemon.get("/metrics")
            assert e2e.value_of(page, "topdownd_uncore_error", pmu="uncore", reason="not_present") == 1
            assert not memory(page) and "topdownd_uncore_up" not in page
            assert "outside its cores" not in json.dumps(daemon.json("/api/v1/status")) + daemon.get("/plain"), "nothing else changes"
            assert daemon.log().count("no PMU outside its cores") == 1
            none = daemon.json("/api/v1/uncore")
            assert none["kinds"] == [] and "no PMU outside its cores" in none["reason"], none


def test_the_configuration_chooses_what_is_opened():
    with tempfile.TemporaryDirectory() as folder:
        made_up(folder, ("0",))
        for uncore in ("{enabled: off}", "{groups: [llc, interconnect]}", "{groups: []}"):
            with e2e.Daemon("--path.sysfs", folder, "--path.procfs", folder, yaml=f"{YAML}uncore: {uncore}\n") as daemon:
                daemon.wait_round(2)
                page = daemon.get("/metrics")
                assert "topdownd_uncore" not in page and not memory(page), uncore
                assert "outside" not in daemon.log(), daemon.log()
    status, said = e2e.run_daemon("check-config", yaml="uncore: {groups: [memroy]}\n")
    assert status == 2 and "did you mean" in said and "memory" in said, said


def test_a_configured_peak_wins_and_says_so():
    with e2e.Daemon("--pmu", "sim:zen4", yaml=YAML + "uncore: {peak: {0: 300GB}}\n") as daemon:
        page = daemon.get("/metrics")
        assert [e2e.value_of(page, "topdownd_memory_peak_bytes_per_second", socket=socket) for socket in "01"] == [300e9, 460.8e9]
        told, = re.findall("^# HELP topdownd_memory_peak_bytes_per_second (.*)", page, re.M)
        assert told == "The most that the DRAM of a socket can move, as the configuration states it or the host tells it.", told
        sockets = daemon.json("/api/v1/uncore")["kinds"][0]["sockets"]
        assert [(socket["peak_bytes_per_second"], socket["peak_source"]) for socket in sockets] == [(300e9, "configuration"), (460.8e9, "host")]
        said = subprocess.run([BINARY, "explain", "--pmu", "sim:zen4", "--config", daemon.config], capture_output=True, text=True, check=True).stdout
        assert "socket 0 can move 300.0 GB/s (as configured).\n" in said and "socket 1 can move 460.8 GB/s.\n" in said, said
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", scenario(folder), yaml=YAML + "uncore: {peak: auto}\n") as daemon:
        sockets = daemon.json("/api/v1/uncore")["kinds"][0]["sockets"]
        assert [(socket["peak_bytes_per_second"], socket["peak_source"]) for socket in sockets] == [(None, None)] * 2


def test_boxes_that_are_left_out_are_not_opened_and_are_told():
    """The peak of a memory is that of all its boxes: what some of them move is not compared with it."""
    with tempfile.TemporaryDirectory() as folder:
        made_up(folder, ("0", "0"))
        edac = "devices/system/edac/mc/mc0/dimm0"
        test_hosts.write_all(folder, {f"{edac}/size": "32768", f"{edac}/dimm_location": "channel 0 slot 0 ", f"{edac}/dimm_label": "CPU_SrcID#0_MC#0"})
        e2e.write_text(os.path.join(folder, "memory-channel-bytes-per-second"), "38400000000\n")
        here = ("--path.sysfs", folder, "--path.procfs", folder, "--path.run", folder)
        for boxes, measured, peak in (("{}", 2, 38.4e9), ("{exclude: [uncore_imc_1]}", 1, None), ("{include: [uncore_imc_1]}", 1, None)):
            with e2e.Daemon(*here, yaml=f"{YAML}uncore: {{boxes: {boxes}}}\n") as daemon:
                daemon.wait_round(1)
                kind = daemon.json("/api/v1/uncore")["kinds"][0]
                socket = kind["sockets"][0]
                assert (socket["boxes"], socket["boxes_left_out"], socket["peak_bytes_per_second"]) == (measured, 2 - measured, peak), kind
                assert [error["reason"] for error in kind["errors"]] == ["left_out"] * (2 - measured), kind
                assert ('topdownd_uncore_error{pmu="imc",reason="left_out"} 1' in daemon.get("/metrics")) == (measured < 2)
                assert [box["box"] for box in kind["boxes"]] == ([0, 1] if measured == 2 else [0] if "exclude" in boxes else [1]), kind
        path = e2e.write_text(os.path.join(folder, "left-out.yaml"), "uncore: {boxes: {exclude: [uncore_imc_1]}}\n")
        listed = json.loads(subprocess.run([BINARY, "list", "boxes", "--json", "--path.data", ROOT, *here[:4], "--config", path], stdout=subprocess.PIPE, check=True).stdout)
        assert {row["box"]: row["reason"] for row in listed} == {"uncore_imc_0": None, "uncore_imc_1": "uncore.boxes leaves it out"}, listed
        for boxes, differs in (("{}", True), ("{exclude: [uncore_imc_1]}", False)):
            _, said = e2e.run_daemon("check-config", *here, yaml=f"{YAML}uncore: {{peak: 20GB, boxes: {boxes}}}\n")
            assert ("uncore.peak of socket 0 is 20 GB/s, and its channels and their speed make 38.4 GB/s" in said) == differs, said
        with e2e.Daemon(*here, yaml=f"{YAML}uncore: {{boxes: {{exclude: [\"*\"]}}}}\n") as daemon:
            daemon.wait_round(1)
            told = [line for line in daemon.get("/metrics").splitlines() if line.startswith("topdownd_uncore")]
            assert told == ['topdownd_uncore_error{pmu="uncore",reason="left_out"} 1'] and daemon.json("/api/v1/uncore")["kinds"] == [], told


def foo(folder, boxes=("0",), **files):
    """PMUs that no spec knows, which are the kernel's software PMU: a count of `faults` is half a MiB."""
    made_up(folder, ())
    for box, cpu in enumerate(boxes):
        of_box = f"bus/event_source/devices/uncore_foo_{box}"
        test_hosts.write_all(folder, {f"{of_box}/type": "1", f"{of_box}/cpumask": cpu, f"{of_box}/format/event": "config:0-7",
                                      f"{of_box}/events/faults": "event=0x05", f"{of_box}/events/faults.scale": "0.5",
                                      f"{of_box}/events/faults.unit": "MiB", f"{of_box}/events/bare": "event=0x06"}
                             | {f"{of_box}/{name.replace('__', '/')}": text for name, text in files.items()})
    return "--path.sysfs", folder, "--path.procfs", folder


def test_pmus_that_no_spec_knows_are_measured_by_the_kernels_names_and_units():
    why = e2e.perf_events_allowed()
    if why:
        raise e2e.Skip(why)
    with tempfile.TemporaryDirectory() as folder:
        here = foo(folder, ("0", "1"))
        with e2e.Daemon(*here, yaml=YAML + "uncore: {pmus: [{name: \"uncore_foo_*\", events: [faults]}, {name: bar, events: [x]}]}\n") as daemon:
            def total():
                return e2e.value_of(daemon.get("/metrics"), "topdownd_uncore_event_total", socket="0", pmu="uncore_foo", event="faults", unit="bytes")
            first = e2e.wait_for(total, "the first faults")
            assert first % (1 << 19) == 0, "whole counts of half a MiB"
            os.listdir("/proc/self")
            e2e.wait_for(lambda: total() > first, "more faults")
            page, kind = daemon.get("/metrics"), daemon.json("/api/v1/uncore")["kinds"][0]
            assert e2e.value_of(page, "topdownd_uncore_up", pmu="uncore_foo") == 1
            assert e2e.value_of(page, "topdownd_uncore_error", pmu="bar", reason="not_present") == 1
            assert kind["pmu"] == "uncore_foo" and kind["spec"] is None and len(kind["boxes"]) == 2, kind
            assert [(event["name"], event["unit"]) for event in kind["sockets"][0]["events"]] == [("faults", "bytes")], kind
            boxes = sum(box["events"][0]["total"] for box in kind["boxes"])
            assert boxes == kind["sockets"][0]["events"][0]["total"], kind
            check_chosen_elsewhere(daemon)
            assert "topdownd.yaml:3: this host shows no PMU bar: 'topdownd list pmus'" in daemon.log(), daemon.log()


def check_chosen_elsewhere(daemon):
    """Every page says that no spec has it; beside its total stands how fast it grows, of all boxes of a socket."""
    name, unit = "event_faults", "bytes per second"
    pages = [daemon.json(f"/api/v1/{page}")["uncore"][0] for page in ("snapshot?scope=socket", "catalog", "plan")]
    assert [(kind["pmu"], kind["spec"]) for kind in pages] == [("uncore_foo", None)] * 3, pages
    values, catalog = pages[0], pages[1]
    assert values["metrics"][name]["unit"] == values["sockets"][0]["metrics"][name]["unit"] == catalog["metrics"][0]["unit"] == unit, (values, catalog)
    kind = daemon.json("/api/v1/uncore")["kinds"][0]
    whole, *parts = (part["metrics"][0] for part in (*kind["sockets"], *kind["boxes"]))
    assert whole["metric"] == name and whole["unit"] == unit and len(parts) == 2, kind
    assert abs(sum(part["value"] for part in parts) - whole["value"]) <= 1e-3 * whole["value"] + 1, kind


def test_a_pmu_that_cannot_be_chosen_is_a_mistake_with_its_place():
    wrong = {"{name: uncore_foo_0, events: [bare]}": '2:47: event "bare" of uncore_foo_0 cannot be measured: the kernel states no unit for it',
             "{name: uncore_foo_0, events: [fault]}": '2:47: uncore_foo_0 has no event "fault", did you mean "faults"',
             "{name: uncore_foo_0, events: [now]}": "it is a present value",
             "{name: uncore_foo_0, events: [hot]}": "knows no base unit",
             "{name: uncore_foo_0, events: [odd]}": "cannot encode these events",
             "{name: uncore_foo_0, events: [open]}": "values that only a person can choose",
             "{name: cpu, events: [cycles]}": "2:24: name: cpu is the PMU of the cores: metric groups measure it (topdownd list groups)",
             "{name: software, events: [faults]}": "2:24: name: software has no file cpumask",
             "{name: uncore_foo_0, events: [faults]}, {name: \"uncore_foo_0*\", events: [faults]}": "uncore_foo_0 is measured already"}
    more = {"events__now": "event=0x05", "events__now.unit": "MiB", "events__now.snapshot": "1", "events__hot": "event=0x05", "events__hot.unit": "C",
            "events__odd": "cmask=0x05", "events__odd.unit": "MiB", "events__open": "event=?", "events__open.unit": "MiB"}
    with tempfile.TemporaryDirectory() as folder:
        here = foo(folder, **more)
        test_hosts.write_all(folder, {"bus/event_source/devices/cpu/type": "4", "bus/event_source/devices/software/type": "1"})
        for entry, message in wrong.items():
            status, said = e2e.run_daemon("check-config", *here, yaml=f"listen: none\nuncore: {{pmus: [{entry}]}}\n")
            assert status == 2 and message in said, (entry, said)


def more(folder, name, cpu="0"):
    """Another PMU, which the kernel shows while topdownd runs: in one step, as a link in sysfs is."""
    made = os.path.join(folder, f"made-{name}")
    for file, text in {"type": "1", "cpumask": cpu, "format/event": "config:0-7", "format/umask": "config1:0-7", "events/faults": "event=0x05",
                       "events/faults.unit": "KiB"}.items():
        test_hosts.write_all(made, {file: text})
    os.rename(made, os.path.join(folder, "bus/event_source/devices", name))


def boxes_of(daemon, pmu):
    kinds = [kind for kind in daemon.json("/api/v1/uncore")["kinds"] if kind["pmu"] == pmu]
    return {box["box"]: sum(each["bytes_total"] for each in box["traffic"]) for box in kinds[0]["boxes"]} if kinds else {}


def test_a_reload_adds_kinds_and_takes_them_away_and_the_others_go_on():
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as control:
        made_up(folder, ("0", "1"))
        more(folder, "uncore_upi_0")
        with e2e.Daemon("--path.sysfs", folder, "--path.procfs", folder, "--path.run", control, yaml=YAML + "uncore: {groups: [memory]}\n") as daemon:
            def reload(uncore):
                e2e.write_text(daemon.config, f"{YAML}uncore: {uncore}\n")
                done = subprocess.run([BINARY, "reload", "--path.run", control], capture_output=True, text=True, check=False, timeout=30)
                assert done.returncode == 0, done.stderr + daemon.log()
            daemon.wait_round(2)
            before = memory(daemon.get("/metrics"))["0", "read"]
            assert "upi" not in daemon.get("/metrics")
            for uncore, kinds in (("{groups: [memory, interconnect]}", ["imc", "upi"]), ("{groups: [interconnect]}", ["upi"]), ("{enabled: off}", []),
                                  ("{groups: [memory, interconnect], pmus: [{name: uncore_upi_0, events: [faults]}]}", ["imc", "upi", "uncore_upi_0"]),
                                  ("{groups: [memory, interconnect]}", ["imc", "upi"])):
                reload(uncore)
                page = daemon.get("/metrics")
                assert [kind["pmu"] for kind in daemon.json("/api/v1/uncore")["kinds"]] == kinds, uncore
                for kind in ("imc", "upi", "uncore_upi_0"):
                    assert (f'topdownd_uncore_up{{pmu="{kind}"}}' in page) == (kind in kinds), (uncore, kind)
                assert 'topdownd_covered_cpu_seconds_total{socket="0"}' in page, "the cores are shown as before"
                for path in ("/plain", "/metrics/cpu", "/api/v1/status", "/api/v1/snapshot", "/api/v1/topdown"):
                    assert e2e.fetch(daemon.port, path).status == 200, path
                if kinds == ["imc", "upi"] and before:
                    assert memory(page)["0", "read"] >= before, "what stays goes on"
                before = None  # a kind that was gone begins again
            assert "needs a restart" not in daemon.log(), daemon.log()


def test_pmus_that_come_while_topdownd_runs_are_found_and_totals_go_on():
    """A box before the present ones by name, and a kind: without a reload, as the configuration is the same."""
    with tempfile.TemporaryDirectory() as folder:
        made_up(folder, ("0", "1"))
        devices = os.path.join(folder, "bus/event_source/devices")
        os.rename(os.path.join(devices, "uncore_imc_0"), os.path.join(devices, "uncore_imc_2"))
        with e2e.Daemon("--path.sysfs", folder, "--path.procfs", folder, yaml=YAML + "uncore: {pmus: [{name: foo_0, events: [faults]}]}\n") as daemon:
            e2e.wait_for(lambda: len(boxes_of(daemon, "imc")) == 2 and min(boxes_of(daemon, "imc").values()) > 0, "both boxes count")
            before, total = boxes_of(daemon, "imc"), memory(daemon.get("/metrics"))["0", "read"]
            more(folder, "uncore_imc_0")
            more(folder, "foo_0")
            e2e.wait_for(lambda: len(boxes_of(daemon, "imc")) == 3, "the box", 20)
            e2e.wait_for(lambda: e2e.value_of(daemon.get("/metrics"), "topdownd_uncore_up", pmu="foo_0") == 1, "the kind counts", 20)
            after = boxes_of(daemon, "imc")
            assert all(after[box] >= before[box] for box in before), (before, after)
            assert memory(daemon.get("/metrics"))["0", "read"] >= total
            assert daemon.log().count("this host has other PMUs outside its cores than before\n") in (1, 2), daemon.log()
            assert "configuration was read again" not in daemon.log()
            # a box that goes keeps what it counted, and a configuration that nobody has asked for is not put into force
            total = memory(daemon.get("/metrics"))["0", "read"]
            e2e.write_text(daemon.config, YAML + "uncore: {enabled: off}\n")
            os.rename(os.path.join(devices, "uncore_imc_0"), os.path.join(folder, "gone"))
            e2e.wait_for(lambda: "reload topdownd to put both into force" in daemon.log(), "what the log says", 20)
            assert len(boxes_of(daemon, "imc")) == 3
            e2e.write_text(daemon.config, YAML + "uncore: {pmus: [{name: foo_0, events: [faults]}]}\n")
            daemon.process.send_signal(signal.SIGHUP)
            e2e.wait_for(lambda: len(boxes_of(daemon, "imc")) == 2, "the box is gone", 20)
            assert memory(daemon.get("/metrics"))["0", "read"] >= total, "its bytes stay in the socket's total"


def test_what_can_be_chosen_is_listed_and_what_cannot_says_why():
    with tempfile.TemporaryDirectory() as folder:
        here = foo(folder, ("0", "1"), events__odd="cmask=0x05")
        test_hosts.write_all(folder, {"bus/event_source/devices/uncore_foo_0/events/odd.unit": "MiB"})
        def listed(*words):
            return subprocess.run([BINARY, "list", "pmus", *here, *words], capture_output=True, text=True, check=True).stdout
        rows = {row["event"]: row for row in json.loads(listed("--json")) if row["name"] == "uncore_foo"}
        assert {event: (row["pmu"], row["boxes"], row["config"], row["bytes"]) for event, row in rows.items()} == {
            "faults": ("uncore_foo_*", 2, "0x5", 524288), "bare": ("uncore_foo_*", 2, None, None), "odd": ("uncore_foo_*", 2, None, None)}, rows
        assert "no unit" in rows["bare"]["not_encoded"] and "cannot encode" in rows["odd"]["not_encoded"] and rows["faults"]["not_encoded"] is None
        assert "bytes: uncore.pmus can choose it" in listed() and "software" not in listed()


def test_check_config_says_what_of_uncore_this_host_lacks():
    with tempfile.TemporaryDirectory() as folder:
        here = foo(folder)
        made_up(folder, ("0", "0"))
        edac = "devices/system/edac/mc/mc0/dimm0"
        test_hosts.write_all(folder, {f"{edac}/size": "32768", f"{edac}/dimm_location": "channel 0 slot 0 ", f"{edac}/dimm_label": "CPU_SrcID#0_MC#0"})
        e2e.write_text(os.path.join(folder, "memory-channel-bytes-per-second"), "38400000000\n")
        yaml = ("listen: none\nuncore:\n  groups: [memory, llc, interconnect]\n  peak: {0: 15GB, 3: 1GB}\n  boxes: {exclude: [uncore_imc_1, uncore_imc_9]}\n"
                "  pmus: [{name: \"bar_*\", events: [x]}]\n")
        path = e2e.write_text(os.path.join(folder, "check.yaml"), yaml)
        done = subprocess.run([BINARY, "check-config", path, *here, "--path.run", folder], capture_output=True, text=True, check=False)
        said = done.stdout
        for part in ("uncore.groups has llc: topdownd knows no PMU for it on this CPU", "uncore.groups has interconnect: this host",
                     "check.yaml:4: uncore.peak of socket 0 is 15 GB/s, and its channels and their speed make 38.4 GB/s",
                     "check.yaml:4: uncore.peak names socket 3, which this host lacks", "check.yaml:5: uncore.boxes.exclude has uncore_imc_9",
                     "uncore.boxes leaves out 1 of 2 boxes (uncore_imc_1)", "check.yaml:6: this host shows no PMU bar_*"):
            assert said.count(part) == 1, (part, said)
        assert done.returncode == 0 and "exclude has uncore_imc_1" not in said, done


def test_each_box_counts_on_its_own_cpu_and_adds_up():
    """The kernel's software events in the place of boxes: on one CPU and on both."""
    why = e2e.perf_events_allowed()
    if why:
        raise e2e.Skip(why)
    totals = {}

    def broken_event(boxes):
        with tempfile.TemporaryDirectory() as folder:
            made_up(folder, boxes)
            with e2e.Daemon("--path.sysfs", folder, "--path.procfs", folder, yaml=YAML) as daemon:
                daemon.wait_round(2)
                page = daemon.get("/metrics")
                assert e2e.value_of(page, "topdownd_uncore_up", pmu="imc") == 1, page
                assert e2e.value_of(page, "topdownd_pmu_kernel_memory_bytes") >= 0
                totals[boxes] = memory(page)["0", "read"]
                return totals[boxes] % 64
    for boxes in (("0",), ("0", "1"), ("0-1",)):  # what a busy machine misses of a window is estimated: then no event is whole
        e2e.shortest(lambda boxes=boxes: broken_event(boxes), 1e-9)
    return str(totals)


def test_bytes_that_the_kernel_states_otherwise_are_told_once():
    scales = {"right": ("6.103515625e-05", "MiB", 0), "also right": ("64", "Bytes", 0), "wrong": ("32", "Bytes", 1), "no bytes": ("1", "Joules", 0)}
    for scale, unit, n in scales.values():
        with tempfile.TemporaryDirectory() as folder:
            made_up(folder, ("0", "1"))
            for event in ("cas_count_read", "cas_count_write"):
                at = f"bus/event_source/devices/uncore_imc_0/events/{event}"
                test_hosts.write_all(folder, {at: "event=0x05,umask=0xcf", f"{at}.scale": scale, f"{at}.unit": unit})
            with e2e.Daemon("--path.sysfs", folder, "--path.procfs", folder, yaml=YAML) as daemon:
                daemon.wait_round(1)
                assert daemon.get("/metrics").count('topdownd_uncore_error{pmu="imc",reason="scale"}') == n, (scale, unit)
                assert daemon.log().count("the kernel says that a count of cas_count_") == n, daemon.log()
                assert "imc: imc:" not in daemon.log(), daemon.log()


def test_a_type_that_the_kernel_does_not_know_is_an_error():
    with tempfile.TemporaryDirectory() as folder:
        made_up(folder, ("0",), kind="4000")
        with e2e.Daemon("--path.sysfs", folder, "--path.procfs", folder, yaml=YAML) as daemon:
            e2e.wait_for(lambda: 'topdownd_uncore_error{pmu="imc",reason="absent"}' in daemon.get("/metrics"), "the error")


if __name__ == "__main__":
    e2e.run_tests()
