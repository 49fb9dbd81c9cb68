# SPDX-License-Identifier: Apache-2.0
"""Where boxes are opened: on each kind of host, on the CPUs that the kernel's files cpumask name and on no others, once each, from
start to reload, whatever CPUs go and come. The kernel is made up (fake_kernel.py): a box is the one of the CPU that its events are
opened on, so an event on another CPU counts another box, and nothing says so."""

import contextlib
import fnmatch
import json
import os
import tempfile

import e2e
import fake_kernel
import uncore_hosts

BINARY, ROOT = e2e.arguments()
YAML = e2e.LISTEN_ANYWHERE + "interval: 1s\n"
SOFTWARE = "cpus: 0-3\nprofiles: {default: {groups: [Software]}}\n"  # cheap: what cores count is not the subject
SOCKETS, CPUS = 2, 16

with open(os.path.join(ROOT, "specs/uncore/kinds.json"), encoding="utf-8") as FILE:
    KINDS = json.load(FILE)["kinds"]

# What the drivers' masks are made of: Intel's of dies, AMD's of last-level caches and of what the CPU calls a node, all others of
# one CPU for each PMU, near its device. Of each kind of kinds.json: the host's CPU, its PMUs with what they serve (a part of the
# host, or the first CPU of a socket), and the files that it needs.
INTEL, SECOND = {"dies": 2, "nodes": 4, "caches": 2}, str(CPUS)
EPYC_7001 = {"dies": 4, "nodes": 4, "caches": 8}
ROME = {"nodes": 4, "caches": 4}


def intel(cpu, *pmus, **more):
    return {"cpu": cpu, "shape": INTEL, "pmus": {pmu: "die" for pmu in pmus}} | more


def amd(cpu, shape, **pmus):
    return {"cpu": cpu, "shape": shape, "pmus": pmus}


def arm(cpu, first, second, **more):
    """Two PMUs, one for each socket."""
    return {"cpu": cpu, "shape": {"caches": 4}, "pmus": {first: "0", second: SECOND}} | more


NMEM = {"bus/nd/devices/nmem0/devtype": "nvdimm"}
CXL = {"bus/cxl/devices/mem0/numa_node": "0"}
HOSTS = {
    "imc-sandy-bridge": intel("GenuineIntel-6-2D-7", "uncore_imc_0", "uncore_imc_1"),
    "imc-ice-lake": intel("GenuineIntel-6-6A-6", "uncore_imc_0", "uncore_imc_1"),
    "imc-sapphire-rapids": intel("GenuineIntel-6-8F-8", "uncore_imc_0", "uncore_imc_1"),
    "imc-granite-rapids": intel("GenuineIntel-6-AD-1", "uncore_imc_0", "uncore_imc_1"),
    "imc-free-running": intel("GenuineIntel-6-BA-2", "uncore_imc_free_running_0", "uncore_imc_free_running_1", hybrid=True),
    "imc-client": intel("GenuineIntel-6-BA-2", "uncore_imc_0", "uncore_imc_1", hybrid=True),
    "pmm-cascade-lake": intel("GenuineIntel-6-55-7", "uncore_imc_0", host_files=NMEM, group="memory"),
    "hbm-sapphire-rapids": intel("GenuineIntel-6-8F-8", "uncore_hbm_0", "uncore_hbm_1"),
    "cxlcm-sapphire-rapids": intel("GenuineIntel-6-8F-8", "uncore_cxlcm_0", host_files=CXL),
    "cxldp-sapphire-rapids": intel("GenuineIntel-6-8F-8", "uncore_cxldp_0", host_files=CXL),
    "qmc-nehalem": intel("GenuineIntel-6-2C-2", "uncore"),
    "ha-ivy-bridge": intel("GenuineIntel-6-4F-1", "uncore_ha_0", "uncore_ha_1"),
    "cha-skylake": intel("GenuineIntel-6-55-4", "uncore_cha_0", "uncore_cha_1"),
    "cha-ice-lake": intel("GenuineIntel-6-6A-6", "uncore_cha_0", "uncore_cha_1"),
    "cha-sapphire-rapids": intel("GenuineIntel-6-8F-8", "uncore_cha_0", "uncore_cha_1"),
    "cha-sierra-forest": intel("GenuineIntel-6-AF-3", "uncore_cha_0", "uncore_cha_1"),
    "qhl-nehalem": intel("GenuineIntel-6-2C-2", "uncore"),
    "qpi-sandy-bridge": intel("GenuineIntel-6-3F-2", "uncore_qpi_0", "uncore_qpi_1"),
    "upi-skylake": intel("GenuineIntel-6-55-4", "uncore_upi_0", "uncore_upi_1"),
    "iio-skylake": intel("GenuineIntel-6-55-4", "uncore_iio_0", "uncore_iio_1"),
    "iio-ice-lake": intel("GenuineIntel-6-8F-8", "uncore_iio_0", "uncore_iio_1"),
    "umc-zen4": amd("AuthenticAMD-25-11-1", ROME, amd_umc_0="0", amd_umc_1="0", amd_umc_2=SECOND, amd_umc_3=SECOND),
    "df-zen1": amd("AuthenticAMD-23-1-2", EPYC_7001, amd_df="die"),
    "df-links-zen1": amd("AuthenticAMD-23-31-0", ROME, amd_df="package"),
    "df-zen4": amd("AuthenticAMD-25-11-1", ROME, amd_df="package"),
    "df-zen5": amd("AuthenticAMD-26-2-1", ROME, amd_df="package"),
    "df-links-zen4": amd("AuthenticAMD-25-11-1", ROME, amd_df="package"),
    "df-links-zen5": amd("AuthenticAMD-26-2-1", ROME, amd_df="package"),
    "df-io-zen4": amd("AuthenticAMD-25-11-1", ROME, amd_df="package"),
    "df-io-zen5": amd("AuthenticAMD-26-2-1", ROME, amd_df="package"),
    "l3-zen1": amd("AuthenticAMD-23-1-2", EPYC_7001, amd_l3="cache"),
    "l3-zen4": amd("AuthenticAMD-25-11-1", ROME, amd_l3="cache"),
    "dmc-620": arm("0x413fd0c1", "arm_dmc620_1008c000", "arm_dmc620_5008c000"),
    "drw-yitian": arm("0x410fd490", "ali_drw_21000", "ali_drw_40021000"),
    "ddrc-kunpeng": {"cpu": "0x481fd010", "shape": {"nodes": 2, "caches": 2},
                     "pmus": {f"hisi_sccl{2 * die + 1}_ddrc0": str(8 * die) for die in range(4)}},
    "mcu-ampereone": arm("0xc00fac30", "ampere_mcu_pmu_0", "ampere_mcu_pmu_8"),
    "mac-monaka": arm("0x460f0030", "mac_iod0_mac0_ch0", "mac_iod1_mac0_ch0"),
    "scf-grace": arm("0x410fd4f0", "nvidia_scf_pmu_0", "nvidia_scf_pmu_1"),
    "ucf-vera": arm("0x4e0f0100", "nvidia_ucf_pmu_0", "nvidia_ucf_pmu_1"),
    "scf-vera": arm("0x4e0f0100", "nvidia_uncore_pmu_1", "nvidia_uncore_pmu_3", files={"identifier": "2cf2036b"}),
    "mesh-memory-cmn-s3": arm("0x410fd840", "arm_cmn_0", "arm_cmn_1",
                              files={"identifier": "43e01", "events/hns_mc_reqs_local_all": "type=0x200,eventid=0xd"}),
    "mesh-memory-cmn-600": arm("0x410fd490", "arm_cmn_0", "arm_cmn_1", files={"identifier": "43402"}),
    "scf-remote-grace": arm("0x410fd4f0", "nvidia_scf_pmu_0", "nvidia_scf_pmu_1"),
    "mesh-home-cmn-s3": arm("0x410fd840", "arm_cmn_0", "arm_cmn_1", files={
        "identifier": "43e01", "events/hns_cache_miss_hbt": "type=0x200,eventid=0x1", "events/hns_cache_miss_all": "type=0x200,eventid=0x1"}),
    "mesh-cmn-s3": arm("0x410fd840", "arm_cmn_0", "arm_cmn_1", files={"identifier": "43e01"}),
    "mesh-cmn-700": arm("0x410fd400", "arm_cmn_0", "arm_cmn_1", files={"identifier": "43c03"}),
    "mesh-cmn-600": arm("0x413fd0c1", "arm_cmn_0", "arm_cmn_1", files={"identifier": "43402"}),
    "cxl-vera": arm("0x4e0f0100", "nvidia_ucf_pmu_0", "nvidia_ucf_pmu_1", host_files=CXL),
    "cxl-device": amd("AuthenticAMD-26-2-1", ROME) | {"pmus": {"cxl_pmu_mem0.0": "0", "cxl_pmu_mem1.0": SECOND}, "host_files": CXL,
                                                      "files": uncore_hosts.CXL_EVENTS},
    "pcie-grace": arm("0x410fd4f0", "nvidia_pcie_pmu_0", "nvidia_pcie_pmu_1"),
    "pcie-vera": arm("0x4e0f0100", "nvidia_pcie_pmu_0_rc_0", "nvidia_pcie_pmu_1_rc_0"),
    "dwc-pcie": arm("0x410fd490", "dwc_rootport_8", "dwc_rootport_10003"),
    "c2c-grace": arm("0x410fd4f0", "nvidia_nvlink_c2c0_pmu_0", "nvidia_nvlink_c2c0_pmu_1"),
    # a cluster of four CPUs has one
    "dsu": {"cpu": "0x410fd840", "shape": {"caches": 4}, "pmus": {"arm_dsu_0": "1", "arm_dsu_1": str(CPUS + 1)}},
}
WITHOUT_MASK = ("dmc-620",)  # older kernels' show none


def formats(spec):
    with open(os.path.join(ROOT, f"specs/uncore/{spec}.json"), encoding="utf-8") as file:
        return json.load(file)["topdownd"]["format"]


def make(folder, spec, row):
    host = uncore_hosts.Host(folder, SOCKETS, CPUS, **row["shape"])
    if row["cpu"].startswith("0x"):
        host.arm(row["cpu"])
    elif row.get("hybrid"):
        host.hybrid(row["cpu"], range(0, SOCKETS * CPUS, 2))
    else:
        host.x86(row["cpu"])
    host.write(row.get("host_files", {}))
    for pmu, serves in row["pmus"].items():
        if serves in host.parts:
            host.pmu(pmu, formats(spec), serves=serves, files=row.get("files", {}))
        else:
            host.pmu(pmu, formats(spec), cpumask=serves, files=row.get("files", {}))
    return fake_kernel.Kernel(host)


def check(what, kernel, daemon):
    """Waits until that and only that is open which the masks say, each event once."""
    def right():
        opened = kernel.opened()
        return opened.keys() == kernel.masks() and all(n == 1 for counts in opened.values() for n in counts.values())
    try:
        e2e.wait_for(right, "the masks", timeout=60, pause=0.2)
    except AssertionError:
        opened = {key: sorted(counts.values()) for key, counts in kernel.opened().items()}
        raise AssertionError(f"{what}: open: {opened}, masks: {sorted(kernel.masks())}; {daemon.log()}") from None


def box_with_others(kernel):
    """(reader, other CPUs) of the last box that more than one CPU may read."""
    return next((reader, [cpu for cpu in cpus if cpu != reader]) for boxes in reversed(kernel.host.readers.values())
                for cpus, reader in reversed(boxes) if reader is not None and len(kernel.host.online.intersection(cpus)) > 1)


def moved(kernels):
    """The reader of a box goes offline, and comes back; the mask names another CPU ever after."""
    for kernel in kernels.values():
        kernel.unplug(box_with_others(kernel)[0])


def emptied(kernels):
    """All CPUs of a box go. What reads them goes with them, on the hosts where other CPUs are left."""
    for kernel in kernels.values():
        reader, others = box_with_others(kernel)
        kernel.unplug(reader, *kernel.host.online.intersection(others))


def taken_at(daemon):
    kinds = daemon.json("/api/v1/uncore")["kinds"]
    return kinds[0]["timestamp_seconds"] or 0 if kinds else 0


def through_all_that_happens(specs):
    with contextlib.ExitStack() as stack:
        kernels, daemons = {}, {}
        for spec in specs:
            row = HOSTS[spec]
            kind = next(each for each in KINDS if each["spec"] == spec)
            kernels[spec] = make(stack.enter_context(tempfile.TemporaryDirectory()), spec, row)
            assert any(fnmatch.fnmatch(pmu, pattern) for pmu in row["pmus"] for pattern in kind["pmu"]), spec
            daemons[spec] = stack.enter_context(kernels[spec].daemon(YAML + f"{SOFTWARE}uncore: {{groups: [{kind['group']}]}}\n"))

        def all_are_right(when):
            taken = {spec: taken_at(daemons[spec]) for spec in specs}
            for spec in specs:
                e2e.wait_for(lambda s=spec: taken_at(daemons[s]) > taken[s] + 1.5, "two more snapshots", pause=0.2)
                check(f"{spec}, {when}", kernels[spec], daemons[spec])

        all_are_right("at the start")
        moved(kernels)
        all_are_right("after the reader of a box has gone")
        for kernel in kernels.values():
            kernel.plug(*set(range(SOCKETS * CPUS)) - kernel.host.online)
        all_are_right("after it has come back")
        emptied(kernels)
        all_are_right("after all CPUs of a box have gone")
        for kernel in kernels.values():
            kernel.plug(*set(range(SOCKETS * CPUS)) - kernel.host.online)
        all_are_right("after they have come back")
        moved(kernels)
        texts = {spec: e2e.read_text(daemon.config) for spec, daemon in daemons.items()}
        reload(kernels, daemons, {spec: f"{YAML}{SOFTWARE}uncore: {{enabled: off}}\n" for spec in specs})
        assert not any(kernel.opened() for kernel in kernels.values())
        reload(kernels, daemons, texts)
        all_are_right("after a reload")
        return f"{len(specs)} kinds"


def reload(kernels, daemons, yamls):
    """Gives each daemon another configuration."""
    asked = {}
    for spec, yaml in yamls.items():
        e2e.write_text(daemons[spec].config, yaml)
        asked[spec] = e2e.Program([BINARY, "reload", "--path.run", os.path.join(kernels[spec].host.folder, "run")])
    for spec, program in asked.items():
        with program:
            assert program.wait() == 0, (spec, program.log(), daemons[spec].log())


def of_vendor(*vendors):
    return [spec for spec, row in HOSTS.items() if row["cpu"].startswith(vendors)]


def test_the_table_of_hosts_has_every_kind():
    assert HOSTS.keys() == {kind["spec"] for kind in KINDS}


def test_intels_memory_controllers():
    return through_all_that_happens([spec for spec in of_vendor("GenuineIntel") if spec.startswith(("imc", "pmm", "hbm", "qmc"))])


def test_intels_other_boxes():
    return through_all_that_happens([spec for spec in of_vendor("GenuineIntel") if not spec.startswith(("imc", "pmm", "hbm", "qmc"))])


def test_amds_boxes():
    return through_all_that_happens(of_vendor("AuthenticAMD"))


def test_arms_boxes():
    return through_all_that_happens(of_vendor("0x41"))


def test_boxes_of_others_with_arms_instructions():
    return through_all_that_happens(of_vendor("0x48", "0xc0", "0x46", "0x4e"))


def memory(daemon, socket):
    """The bytes so far that a host's first kind of boxes tells of a socket, and when."""
    answer = daemon.json("/api/v1/uncore")
    return sum(traffic["bytes_total"] for traffic in answer["kinds"][0]["sockets"][socket]["traffic"]), answer["timestamp_seconds"]


def rates(daemon, sockets=SOCKETS):
    """Bytes a second of each socket, over some seconds."""
    def taken(after):
        page = [memory(daemon, socket) for socket in range(sockets)]
        return page if (page[0][1] or 0) > after else None
    begin = e2e.wait_for(lambda: taken(0), "a snapshot")
    end = e2e.wait_for(lambda: taken(begin[0][1] + 2.5), "another one")
    return [(now[0] - before[0]) / (now[1] - before[1]) for before, now in zip(begin, end)]


def measured(spec):
    """A daemon with the default configuration of boxes, on a host of the table."""
    stack = contextlib.ExitStack()
    kernel = make(stack.enter_context(tempfile.TemporaryDirectory()), spec, HOSTS[spec])
    return stack, kernel, stack.enter_context(kernel.daemon(YAML + SOFTWARE))


def truth_of(boxes, events, bytes_):
    """The first box of a PMU counts RATE a nanosecond, the second twice as much, and so on."""
    return sum(box + 1 for box in boxes) * events * bytes_ * fake_kernel.RATE * 1e9


def is_near(rate, truth):
    return abs(rate / truth - 1) < 0.05


def expect(rate, boxes, events, bytes_):
    truth = truth_of(boxes, events, bytes_)
    assert is_near(rate, truth), (rate, truth)


def test_epyc_7001_has_the_bytes_of_all_its_dies():
    """By default, memory is counted at amd_df: four dies a socket, eight channels each."""
    stack, _, daemon = measured("df-zen1")
    with stack:
        for socket, rate in enumerate(rates(daemon)):
            expect(rate, range(4 * socket, 4 * socket + 4), 8, 64)


def test_two_dies_a_socket_have_the_bytes_of_both_also_without_the_first_reader():
    """Two PMUs, two dies a socket; reads and writes."""
    stack, kernel, daemon = measured("imc-sapphire-rapids")
    with stack:
        for _ in range(2):
            for socket, rate in enumerate(rates(daemon)):
                expect(rate, 2 * list(range(2 * socket, 2 * socket + 2)), 2, 64)
            kernel.unplug(*(0, 8) if 0 in kernel.host.online else ())


def test_a_box_that_no_cpu_can_read_is_offline_and_the_others_go_on():
    stack, kernel, daemon = measured("imc-sapphire-rapids")
    with stack:
        expect(rates(daemon)[1], 2 * [2, 3], 2, 64)
        kernel.unplug(*range(24, 32))
        e2e.wait_for(lambda: 'topdownd_uncore_error{pmu="imc",reason="offline"}' in daemon.get("/metrics"), "the missing boxes to be told of")
        check("without the last die", kernel, daemon)
        gone = rates(daemon)
        expect(gone[1], 2 * [2], 2, 64)
        expect(gone[0], 2 * [0, 1], 2, 64)
        boxes = [box for box in daemon.json("/api/v1/uncore")["kinds"][0]["boxes"] if box["socket"] == 1]
        # CPUs go one after the other: on a busy machine a box moves from one that went to another that is about to
        known = {(box["cpu"] // 8 * 8, box["traffic"][0]["bytes_per_second"] is None) for box in boxes}
        assert known == {(16, False), (24, True)}, boxes
        kernel.plug(30)
        check("after a CPU of it has come back", kernel, daemon)
        e2e.wait_for(lambda: "topdownd_uncore_error" not in daemon.get("/metrics"), "the trouble to be over")
        expect(rates(daemon)[1], 2 * [2, 3], 2, 64)


def test_more_than_any_memory_moves_is_left_out():
    """The counters of a box are reset, or jump by terabytes: its window has no data, and the others go on."""
    with tempfile.TemporaryDirectory() as folder:
        kernel = make(folder, "imc-sapphire-rapids", HOSTS["imc-sapphire-rapids"])
        with kernel.daemon(YAML + SOFTWARE) as daemon:
            expect(rates(daemon)[0], 2 * [0, 1], 2, 64)
            kernel.rates = [f"rate {kernel.host.types['uncore_imc_0']} * 500"]  # 32 TB/s and more, which no counter's width forbids
            kernel.write()
            e2e.wait_for(lambda: "more than the boxes can move" in daemon.log(), "the log to say so")
            expect(rates(daemon)[0], [0, 1], 2, 64)
            kernel.rates = []
            kernel.write()
            e2e.wait_for(lambda: "no longer" in daemon.log(), "the end of it")
            expect(rates(daemon)[0], 2 * [0, 1], 2, 64)


def test_a_socket_that_comes_online_later_is_found():
    """At the start, only CPUs of the first socket are online."""
    with tempfile.TemporaryDirectory() as folder:
        kernel = make(folder, "imc-sapphire-rapids", HOSTS["imc-sapphire-rapids"])
        kernel.unplug(*range(16, 32))
        with kernel.daemon(YAML + SOFTWARE) as daemon:
            expect(rates(daemon, 1)[0], 2 * [0, 1], 2, 64)
            kernel.plug(*range(16, 32))
            e2e.wait_for(lambda: len(kernel.opened()) == 8, "the boxes of the other socket")
            check("with both sockets", kernel, daemon)
            e2e.wait_for(lambda: len(daemon.json("/api/v1/uncore")["kinds"][0]["sockets"]) == 2, "the other socket")
            before = memory(daemon, 0)[0]
            assert before > 0, "totals go on"
            # on a busy machine, the first interval may have begun before the last of the boxes was opened
            e2e.wait_for(lambda: is_near(rates(daemon)[1], truth_of(2 * [2, 3], 2, 64)), "the rates of the other socket")


def test_where_a_reader_moved_is_told():
    stack, kernel, daemon = measured("imc-sapphire-rapids")
    with stack:
        kernel.unplug(16)
        e2e.wait_for(lambda: {box["cpu"] for box in daemon.json("/api/v1/uncore")["kinds"][0]["boxes"]} == {0, 8, 23, 24}, "the new reader")


def test_a_mesh_goes_on_when_the_cpus_around_it_are_offline():
    """CMN's driver then takes any CPU (drivers/perf/arm-cmn.c: arm_cmn_pmu_offline_cpu)."""
    with tempfile.TemporaryDirectory() as folder:
        host = uncore_hosts.Host(folder, SOCKETS, CPUS)
        host.arm("0x410fd840")
        for socket in range(SOCKETS):
            host.pmu(f"arm_cmn_{socket}", uncore_hosts.CMN, serves="host", files={"identifier": "43e01"})
        host.readers["arm_cmn_1"] = [(list(range(SOCKETS * CPUS)), CPUS)]
        host.write({"bus/event_source/devices/arm_cmn_1/cpumask": str(CPUS)})
        kernel = fake_kernel.Kernel(host)
        with kernel.daemon(YAML + SOFTWARE + "uncore: {groups: [llc]}\n") as daemon:
            check("at the start", kernel, daemon)
            kernel.unplug(*range(16, 32))
            check("without the second socket", kernel, daemon)
            e2e.wait_for(lambda: taken_at(daemon), "a snapshot")
            assert "topdownd_uncore_error" not in daemon.get("/metrics")


def test_what_the_configuration_names_is_opened_on_each_core():
    """power_core counts for a core, on one of its CPUs; AMD's power for a package or a die."""
    with tempfile.TemporaryDirectory() as folder:
        host = uncore_hosts.Host(folder, SOCKETS, CPUS, dies=2, threads=2)
        host.x86("AuthenticAMD-26-2-1")
        joules = {"scale": "2.3283064365386962890625e-10", "unit": "Joules"}
        for pmu, event, serves in (("power_core", "energy-core", "core"), ("power", "energy-pkg", "die")):
            files = {f"events/{event}": "event=0x01"} | {f"events/{event}.{name}": text for name, text in joules.items()}
            host.pmu(pmu, {"event": "config:0-7"}, serves=serves, files=files)
        kernel = fake_kernel.Kernel(host)
        pmus = "{name: power_core, events: [energy-core]}, {name: power, events: [energy-pkg]}"
        with kernel.daemon(f"{YAML}{SOFTWARE}uncore: {{pmus: [{pmus}]}}\n") as daemon:
            check("at the start", kernel, daemon)
            kernel.unplug(0, 2, 3, 31)
            check("without some CPUs and a core", kernel, daemon)
            kernel.plug(0, 2, 3, 31)
            check("with all", kernel, daemon)
            e2e.wait_for(lambda: taken_at(daemon), "a snapshot")
            return f"{len(kernel.masks())} boxes"


if __name__ == "__main__":
    fake_kernel.build()
    e2e.run_tests()
