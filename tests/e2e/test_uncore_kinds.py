# SPDX-License-Identifier: Apache-2.0
"""Hosts with more kinds of PMUs outside the cores than most: each is measured, shown, remembered, recorded and replayed."""

import json
import os
import tempfile

import e2e
import test_uncore
import uncore_hosts

BINARY, ROOT = e2e.arguments()
ALL = "groups: [memory, remote, llc, interconnect, io]"
# a Xeon with persistent and CXL memory: of each kind one event, what a count of it is in bytes, and the traffic that it is
XEON = {
    "imc": ("imc-sapphire-rapids", "UNC_M_CAS_COUNT.RD", 64, "memory_read"),
    "pmm": ("pmm-cascade-lake", "UNC_M_PMM_RPQ_INSERTS", 64, "persistent_read"),
    "hbm": ("hbm-sapphire-rapids", "UNC_MCHBM_CAS_COUNT.RD", 32, "hbm_read"),
    "cxlcm": ("cxlcm-sapphire-rapids", "UNC_CXLCM_RxC_PACK_BUF_INSERTS.MEM_DATA", 64, "cxl_read"),
    "cxldp": ("cxldp-sapphire-rapids", "UNC_CXLDP_TxC_AGF_INSERTS.M2S_DATA", 64, "cxl_write"),
    "home": ("cha-sapphire-rapids", "UNC_CHA_REQUESTS.READS_LOCAL", 64, "llc_miss_local"),
    "upi": ("upi-skylake", "UNC_UPI_TxL_FLITS.ALL_DATA", 64 / 9, "interconnect_out"),
    "iio": ("iio-ice-lake", "UNC_IIO_DATA_REQ_OF_CPU.MEM_WRITE.ALL_PARTS", 4, "io_in"),
}
VENDORS, CHOSEN = 20, 16  # the files of Linux have 17 for Sapphire Rapids; the configuration takes 16


def xeon(folder):
    with open(os.path.join(ROOT, "scenarios/sapphire-rapids.json"), encoding="utf-8") as file:
        host = json.load(file)
    host["uncore"] = [{"kind": kind, "spec": spec, "boxes_per_socket": 1, "loads": {"all": test_uncore.load({event: 1e6 * (i + 1)})},
                       "assignments": [{"cpus": "0-1", "load": "all"}]} for i, (kind, (spec, event, _, _)) in enumerate(XEON.items())]
    return "sim:" + e2e.write_text(os.path.join(folder, "xeon.json"), json.dumps(host))


def traffics(daemon):
    """{(kind, traffic): bytes a second} of the first socket."""
    return {(kind["pmu"], each["name"]): each["bytes_per_second"] for kind in daemon.json("/api/v1/uncore")["kinds"]
            for each in kind["sockets"][0]["traffic"]}


def test_a_xeon_with_every_kind_of_memory_measures_all_of_them():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        with e2e.Daemon("--pmu", xeon(folder), "--record", path, yaml=test_uncore.YAML + f"uncore: {{{ALL}}}\n") as daemon:
            daemon.wait_round(4)
            assert "no_room" not in daemon.get("/metrics")
            found = traffics(daemon)
            for i, (kind, (_, _, size, traffic)) in enumerate(XEON.items()):
                assert abs(found[kind, traffic] / (1e6 * (i + 1) * size) - 1) < 0.01, (kind, found)
            names = "memory_read_bytes_per_second,io_in_bytes_per_second"
            history = daemon.json(f"/api/v1/history?metric={names}&from=-600")
            assert len(history["series"]) == 2, history
            daemon.stop()
        with e2e.Daemon("--pmu", f"replay:{path}", "--speed", "0", yaml=test_uncore.YAML) as daemon:
            e2e.wait_for(lambda: "have been replayed" in daemon.log(), "the end of the replay")
            assert {kind["pmu"] for kind in daemon.json("/api/v1/uncore")["kinds"]} == XEON.keys()


def crowd(folder, vendors, chosen=CHOSEN):
    """A host with all kinds of a Xeon, PMUs that only a vendor's files know, and PMUs that only a person knows, all of which are the
    kernel's software PMU. Returns what the daemon needs for it."""
    host = uncore_hosts.every_kind(folder)
    devices = os.path.join(folder, "bus/event_source/devices")
    events = [{"EventName": "INST_RETIRED.ANY", "EventCode": "0xc0"}, {"EventName": "CPU_CLK_UNHALTED.THREAD", "EventCode": "0x3c"},
              {"MetricName": "ipc", "MetricExpr": "INST_RETIRED.ANY / CPU_CLK_UNHALTED.THREAD", "MetricGroup": "TopdownL1"}]
    for i in range(vendors):
        host.pmu(f"uncore_v{i:02}_0", {"event": "config:0-7"})
        events += [{"EventName": f"UNC_V{i:02}_FAULTS", "EventCode": "0x05", "Unit": f"V{i:02}", "PerPkg": "1", "BriefDescription": "Faults"},
                   {"MetricName": f"v{i:02}_rate", "MetricExpr": f"UNC_V{i:02}_FAULTS / duration_time", "MetricGroup": "Mine"}]
    for i in range(chosen):
        host.pmu(f"foo{i:02}", {"event": "config:0-7"}, files={"events/faults": "event=0x05", "events/faults.scale": "1", "events/faults.unit": "MiB"})
    for pmu in os.listdir(devices):
        if pmu.startswith(("uncore_", "foo")):
            e2e.write_text(os.path.join(devices, pmu, "type"), "1\n")
    files = os.path.join(folder, "files")
    test_uncore.test_hosts.write_all(files, {
        "arch/x86/mapfile.csv": "Family-model,Version,Filename,EventType\nGenuineIntel-6-8F,v1,newlake,core", "arch/x86/newlake/all.json": json.dumps(events)})
    pmus = ", ".join(f"{{name: foo{i:02}, events: [faults]}}" for i in range(chosen))
    yaml = f"specs: {{path: '{files}', format: perf}}\nuncore: {{{ALL.replace(']', ', Mine]')}, pmus: [{pmus}]}}\n"
    return ("--path.sysfs", folder, "--path.procfs", folder, "--path.run", folder), yaml


def test_as_many_kinds_as_specs_a_vendor_and_a_person_know_are_measured_at_once():
    with tempfile.TemporaryDirectory() as folder:
        here, yaml = crowd(folder, VENDORS)
        wanted = {f"uncore_v{i:02}" for i in range(VENDORS)} | {f"foo{i:02}" for i in range(CHOSEN)} | XEON.keys()
        with e2e.Daemon(*here, yaml=test_uncore.YAML + yaml) as daemon:
            daemon.wait_round(2)
            page, kinds = daemon.get("/metrics"), daemon.json("/api/v1/uncore")["kinds"]
            up = {labels["pmu"]: value for name, labels, value in e2e.samples(page) if name == "topdownd_uncore_up"}
            assert up.keys() == {kind["pmu"] for kind in kinds} == wanted, wanted ^ up.keys()
            assert 'reason="no_room"' not in page and "no room" not in daemon.log(), daemon.log()
            if not e2e.perf_events_allowed():
                assert all(up[name] == 1 for name in wanted if name.startswith(("uncore_", "foo"))), up
                e2e.wait_for(lambda: e2e.value_of(daemon.get("/metrics"), "topdownd_v19_rate", socket="0") is not None, "faults of the last one")
            return f"{len(wanted)} kinds"


def test_kinds_that_find_no_room_are_told():
    """Files that no vendor has: with sixty PMUs more."""
    with tempfile.TemporaryDirectory() as folder:
        here, yaml = crowd(folder, 60, chosen=0)
        status, words = e2e.run_daemon("check-config", *here, yaml=e2e.LISTEN_ANYWHERE + yaml)
        assert status == 0, words
        assert "room for 63 kinds of PMUs" in words and "Left out: uncore_v55, uncore_v56" in words, words


if __name__ == "__main__":
    e2e.run_tests()
