# SPDX-License-Identifier: Apache-2.0
"""PMUs outside the cores on made-up hosts: which boxes are found, which socket and NUMA node they belong to, and how their events
are encoded, without a host and on one, and what perf makes of the same."""

import json
import os
import shutil
import subprocess
import tempfile

import e2e
import test_encoding
import uncore_hosts

BINARY, ROOT = e2e.arguments()


def ask(what, *options):
    done = subprocess.run([BINARY, "list", what, *options, "--json", "--path.data", ROOT], capture_output=True, text=True,
                          timeout=e2e.TIMEOUT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def lists(build):
    """(the host, its boxes, its PMUs' events)"""
    with tempfile.TemporaryDirectory() as folder:
        host = build(folder)
        at = ("--path.sysfs", folder, "--path.procfs", folder)
        return host, ask("boxes", *at), ask("pmus", *at)


def boxes_of(boxes, name):
    return [(box["box"], box["cpu"], box["socket"], box["node"]) for box in boxes if box["name"] == name]


def codes(pmus, name, group="Traffic"):
    """The encodings of the events that a metric group of a kind needs."""
    return {row["event"]: tuple(int(row[key], 16) for key in ("config", "config1", "config2")) for row in pmus
            if row["name"] == name and group in row["groups"]}


def traffic(pmus):
    """{traffic: {event: bytes}} of the kinds that have boxes, or could have any"""
    found = {}
    for row in pmus:
        if row["traffic"] and row["boxes"] != 0:
            found.setdefault(row["traffic"], {})[row["event"]] = row["bytes"]
    return found


def test_sapphire_rapids_has_each_box_once_a_socket():
    host, boxes, pmus = lists(uncore_hosts.sapphire_rapids)
    imc = boxes_of(boxes, "imc")
    assert imc == [(f"uncore_imc_{i}", cpu, socket, node) for socket, cpu, node in ((0, 0, 0), (1, 56, 4)) for i in range(8)], imc
    assert len(boxes_of(boxes, "home")) == 112 and len(boxes_of(boxes, "upi")) == 8
    assert boxes_of(boxes, "home")[10][0] == "uncore_cha_10", "in the order of their numbers"
    assert {box["type"] for box in boxes if box["box"] == "uncore_imc_3"} == {host.types["uncore_imc_3"]}
    assert codes(pmus, "imc") == {"UNC_M_CAS_COUNT.RD": (0xCF05, 0, 0), "UNC_M_CAS_COUNT.WR": (0xF005, 0, 0)}
    assert traffic(pmus)["memory_read"] == {"UNC_M_CAS_COUNT.RD": 64}
    assert traffic(pmus)["llc_miss_remote"] == {"UNC_CHA_REQUESTS.READS_REMOTE": 64, "UNC_CHA_REQUESTS.WRITES_REMOTE": 64}
    assert abs(traffic(pmus)["interconnect_out"]["UNC_UPI_TxL_FLITS.ALL_DATA"] - 64 / 9) < 1e-8
    assert {row["boxes"] for row in pmus if row["name"] == "imc"} == {16}
    assert codes(pmus, "home", "Latency") == {"UNC_CHA_TOR_INSERTS.IA_MISS_DRD": (0xC817FE00000135, 0, 0),
                                              "UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD": (0xC817FE00000136, 0, 0), "UNC_CHA_CLOCKTICKS": (1, 0, 0)}


def test_the_kernels_own_scale_says_the_same():
    for build, events in ((uncore_hosts.sapphire_rapids, 2), (uncore_hosts.granite_rapids, 4)):
        _, _, pmus = lists(build)
        told = [(row["bytes"], row["kernel_bytes"]) for row in pmus if row["kernel_bytes"] is not None]
        assert told == [(64, 64)] * events, pmus
    assert {row["kernel_bytes"] for row in ask("pmus", "--cpu", "sapphire-rapids")} == {None}, "without a host there is no kernel"


def test_granite_rapids_counts_both_halves_of_a_channel():
    _, boxes, pmus = lists(uncore_hosts.granite_rapids)
    assert len(boxes_of(boxes, "imc")) == 24
    assert codes(pmus, "imc") == {"UNC_M_CAS_COUNT_SCH0.RD": (0xCF05, 0, 0), "UNC_M_CAS_COUNT_SCH1.RD": (0xCF06, 0, 0),
                                  "UNC_M_CAS_COUNT_SCH0.WR": (0xF005, 0, 0), "UNC_M_CAS_COUNT_SCH1.WR": (0xF006, 0, 0)}
    assert traffic(pmus)["memory_write"] == {"UNC_M_CAS_COUNT_SCH0.WR": 64, "UNC_M_CAS_COUNT_SCH1.WR": 64}
    assert {row["boxes"] for row in pmus if row["name"] == "home"} == {0}, "a host without the driver's PMUs has no box"


def test_zen_4_has_twelve_memory_controllers_a_socket():
    _, boxes, pmus = lists(uncore_hosts.zen4)
    assert boxes_of(boxes, "umc") == [(f"amd_umc_{i}", i // 12 * 16, i // 12, i // 12) for i in range(24)], boxes
    assert boxes_of(boxes, "df") == [("amd_df", 0, 0, 0), ("amd_df", 16, 1, 1)]
    assert [cpu for _, cpu, _, _ in boxes_of(boxes, "l3")] == [0, 8, 16, 24], "one for each core complex"
    assert codes(pmus, "umc") == {"umc_cas_cmd.rd": (0x10A, 0, 0), "umc_cas_cmd.wr": (0x20A, 0, 0), "umc_mem_clk": (0, 0, 0)}
    assert traffic(pmus)["memory_read"] == {"umc_cas_cmd.rd": 64}
    assert traffic(pmus)["memory_peak"] == {"umc_mem_clk": 16}, "two transfers of 8 bytes a cycle"
    assert len(traffic(pmus)["io_in"]) == 8 and set(traffic(pmus)["io_in"].values()) == {64}
    assert codes(pmus, "df_io")["remote_socket_upstream_read_beats_iom3"] == (0x80B00FEDF, 0, 0)
    assert len(traffic(pmus)["llc_miss_remote"]) == 16 and set(traffic(pmus)["llc_miss_remote"].values()) == {32}
    assert codes(pmus, "df")["remote_socket_inf1_inbound_data_beats_ccm7"] == (0x50B00FEDF, 0, 0)


def test_zen_2_has_the_older_names():
    _, boxes, pmus = lists(uncore_hosts.zen2)
    assert boxes_of(boxes, "df") == boxes_of(boxes, "df_links") == [("amd_df", 0, 0, 0), ("amd_df", 16, 1, 1)]
    assert len(boxes_of(boxes, "l3")) == 8
    assert traffic(pmus)["memory_all"] == {f"dram_channel_data_controller_{i}": 64 for i in range(8)}
    assert codes(pmus, "df")["dram_channel_data_controller_7"] == (0x1000038C7, 0, 0)
    assert "memory_read" not in traffic(pmus), "reads and writes are not told apart"


def test_grace_counts_in_its_fabric():
    _, boxes, pmus = lists(uncore_hosts.grace)
    assert boxes_of(boxes, "ddr") == [("nvidia_scf_pmu_0", 0, 0, 0), ("nvidia_scf_pmu_1", 72, 1, 1)], boxes
    assert codes(pmus, "ddr") == {"cmem_rd_data": (0x1A5, 0, 0), "cmem_wr_total_bytes": (0x1DB, 0, 0)}
    assert traffic(pmus)["memory_read"] == {"cmem_rd_data": 32} and traffic(pmus)["memory_write"] == {"cmem_wr_total_bytes": 1}
    assert traffic(pmus)["interconnect_in"] == {"remote_socket_rd_data": 32}
    assert [name for name, *_ in boxes_of(boxes, "pcie")] == ["nvidia_pcie_pmu_0", "nvidia_pcie_pmu_1"]
    assert [name for name, *_ in boxes_of(boxes, "c2c")] == ["nvidia_nvlink_c2c0_pmu_0", "nvidia_nvlink_c2c0_pmu_1"]
    assert traffic(pmus)["io_out"] == traffic(pmus)["c2c_out"] == {"rd_bytes_loc": 1, "rd_bytes_rem": 1}
    assert codes(pmus, "c2c")["wr_bytes_rem"] == (3, 0, 0)


def test_xeon_max_tells_hbm_from_dram():
    _, boxes, pmus = lists(uncore_hosts.xeon_max)
    assert len(boxes_of(boxes, "imc")) == 16 and len(boxes_of(boxes, "hbm")) == 64
    assert boxes_of(boxes, "hbm")[10] == ("uncore_hbm_10", 0, 0, 0)
    assert codes(pmus, "hbm") == {"UNC_MCHBM_CAS_COUNT.RD": (0xCF05, 0, 0), "UNC_MCHBM_CAS_COUNT.WR": (0xF005, 0, 0)}
    assert traffic(pmus)["hbm_read"] == {"UNC_MCHBM_CAS_COUNT.RD": 32}, "a column access of HBM is half a line"
    assert traffic(pmus)["memory_read"] == {"UNC_M_CAS_COUNT.RD": 64} and "persistent_read" not in traffic(pmus)


def test_persistent_memory_is_counted_where_there_is_some():
    _, boxes, pmus = lists(uncore_hosts.persistent)
    assert boxes_of(boxes, "pmm") == boxes_of(boxes, "imc") and len(boxes_of(boxes, "pmm")) == 12, "the same boxes tell both"
    assert codes(pmus, "pmm") == {"UNC_M_PMM_RPQ_INSERTS": (0xE3, 0, 0), "UNC_M_PMM_WPQ_INSERTS": (0xE7, 0, 0)}
    assert traffic(pmus)["persistent_write"] == {"UNC_M_PMM_WPQ_INSERTS": 64}
    assert len(boxes_of(boxes, "iio")) == 6
    assert codes(pmus, "iio") == {"UNC_IIO_DATA_REQ_OF_CPU.MEM_WRITE.ALL_PARTS": (0x83 | 1 << 8 | 0xF << 36 | 7 << 44, 0, 0),
                                  "UNC_IIO_DATA_REQ_OF_CPU.MEM_READ.ALL_PARTS": (0x83 | 4 << 8 | 0xF << 36 | 7 << 44, 0, 0)}
    assert traffic(pmus)["io_out"] == {"UNC_IIO_DATA_REQ_OF_CPU.MEM_READ.ALL_PARTS": 4}
    _, boxes, _ = lists(uncore_hosts.sapphire_rapids)
    assert not boxes_of(boxes, "pmm"), "the host has none"


def test_cxl_memory_is_counted_at_the_ports_where_there_is_some():
    _, boxes, pmus = lists(uncore_hosts.cxl_ports)
    assert [len(boxes_of(boxes, name)) for name in ("cxlcm", "cxldp", "cxl", "iio")] == [4, 4, 1, 4]
    assert codes(pmus, "cxlcm") == {"UNC_CXLCM_RxC_PACK_BUF_INSERTS.MEM_DATA": (0x1041, 0, 0)}
    assert codes(pmus, "cxldp") == {"UNC_CXLDP_TxC_AGF_INSERTS.M2S_DATA": (0x2002, 0, 0)}
    assert codes(pmus, "iio")["UNC_IIO_DATA_REQ_OF_CPU.MEM_READ.ALL_PARTS"] == (0x83 | 4 << 8 | 0xFF << 36 | 7 << 48, 0, 0)
    _, boxes, _ = lists(lambda folder: uncore_hosts.cxl_ports(folder, devices=False))
    assert not boxes_of(boxes, "cxlcm") and not boxes_of(boxes, "cxldp"), "ports without a device have nothing to count"


def test_cxl_devices_count_themselves_on_every_vendor():
    _, boxes, pmus = lists(uncore_hosts.cxl_devices)
    assert boxes_of(boxes, "cxl") == [("cxl_pmu_mem0.0", 0, 0, 0), ("cxl_pmu_mem1.0", 16, 1, 1)], "of their own PMUs, those that know lines"
    assert codes(pmus, "cxl") == {"s2m_drs_memdata": (0x1E98002500000001, 0, 0), "m2s_rwd_memwr": (0x1E98002100000002, 0, 0)}
    assert (traffic(pmus)["cxl_read"], traffic(pmus)["cxl_write"]) == ({"s2m_drs_memdata": 64}, {"m2s_rwd_memwr": 64})
    assert len(traffic(pmus)["io_in"]) == 8


def test_westmere_counts_memory_and_requests_in_one_pmu():
    """The events are those that the kernel names."""
    _, boxes, pmus = lists(uncore_hosts.westmere)
    assert boxes_of(boxes, "imc") == boxes_of(boxes, "home") == [("uncore", 0, 0, 0), ("uncore", 12, 1, 1)], boxes
    expected = {}
    for told, terms in uncore_hosts.NEHALEM_NAMES.values():
        event, umask = (int(term.split("=")[1], 16) for term in terms.split(","))
        expected.setdefault(told, set()).add(umask << 8 | event)
    found = {told: {(codes(pmus, "imc") | codes(pmus, "home"))[event][0] for event in events} for told, events in traffic(pmus).items()}
    assert found == expected, (found, expected)
    assert {size for events in traffic(pmus).values() for size in events.values()} == {64}


def test_a_kernel_that_knows_vera_tells_memory_cxl_and_pcie():
    _, boxes, pmus = lists(uncore_hosts.vera_known)
    assert boxes_of(boxes, "ddr") == boxes_of(boxes, "cxl") == [("nvidia_ucf_pmu_0", 0, 0, 0), ("nvidia_ucf_pmu_1", 88, 1, 1)], boxes
    assert codes(pmus, "cxl") == {"mem_bytes_rd.cxl": (0x123, 0x400, 0), "mem_bytes_wr.cxl": (0x124, 0x400, 0)}
    assert codes(pmus, "ddr")["mem_bytes_rd.local"] == (0x123, 0x100, 0)
    assert len(boxes_of(boxes, "pcie")) == 12 and boxes_of(boxes, "pcie")[6][2] == 1, boxes
    assert (traffic(pmus)["io_in"], traffic(pmus)["io_out"]) == ({"wr_bytes": 1}, {"rd_bytes": 1})


def test_a_root_port_of_synopsys_is_a_box():
    _, boxes, pmus = lists(uncore_hosts.yitian)
    assert boxes_of(boxes, "pcie") == [("dwc_rootport_8", 0, 0, 0), ("dwc_rootport_10003", 0, 0, 0)], boxes
    assert codes(pmus, "pcie") == {"Rx_PCIe_TLP_Data_Payload": (0x21, 0, 0), "Tx_PCIe_TLP_Data_Payload": (0x20, 0, 0)}
    assert traffic(pmus)["io_in"] == {"Rx_PCIe_TLP_Data_Payload": 1}, "the driver multiplies by 16 itself"


def test_a_host_that_hides_its_cores_pmu_lists_its_boxes():
    """The CPU counts, as for what is measured."""
    def hidden(folder):
        host = uncore_hosts.sapphire_rapids(folder)
        shutil.rmtree(os.path.join(folder, "bus/event_source/devices/cpu"))
        return host
    (_, boxes, pmus), (_, same, events) = lists(uncore_hosts.sapphire_rapids), lists(hidden)
    assert len(boxes_of(boxes, "imc")) == 16 and same == boxes and events == pmus, (same, events)


def test_a_pmu_that_cannot_be_opened_is_listed_with_the_reason():
    def broken(folder):
        host = uncore_hosts.granite_rapids(folder)
        host.write({"bus/event_source/devices/uncore_imc_3/type": "none", "bus/event_source/devices/uncore_imc_5/cpumask": ""})
        return host
    _, boxes, _ = lists(broken)
    why = {row["box"]: row["reason"] for row in boxes if row["reason"]}
    assert why == {"uncore_imc_3": "its file type holds no number",
                   "uncore_imc_5": "its file cpumask is empty: all CPUs that could read it are offline"}, why
    assert len([row for row in boxes if row["name"] == "imc" and row["cpu"] is not None]) == 20, "the others are boxes"


def test_vera_is_found_by_the_identifier():
    _, boxes, pmus = lists(uncore_hosts.vera)
    assert boxes_of(boxes, "ddr") == [("nvidia_uncore_pmu_1", 0, 0, 0), ("nvidia_uncore_pmu_3", 88, 1, 1)], boxes
    assert codes(pmus, "ddr") == {"scf_cache_refill": (0xF1, 0, 0), "scf_cache_wb": (0xF3, 0, 0)}
    assert traffic(pmus) == {"memory_read": {"scf_cache_refill": 64}, "memory_write": {"scf_cache_wb": 64}}


def test_altra_counts_at_its_memory_controllers_and_not_twice():
    _, boxes, pmus = lists(uncore_hosts.altra)
    assert len(boxes_of(boxes, "ddr")) == 8 and {cpu for _, cpu, _, _ in boxes_of(boxes, "ddr")} == {0}, boxes
    assert all(name.startswith("arm_dmc620_") for name, *_ in boxes_of(boxes, "ddr")), "the mesh counts the same bytes"
    assert codes(pmus, "ddr") == {"clkdiv2_rdwr.read": (1, 0, 0x290), "clkdiv2_rdwr.write": (1, 1, 0x290)}
    assert boxes_of(boxes, "cmn") == [("arm_cmn_0", 0, 0, 0)]
    assert codes(pmus, "cmn", "Cache") == {"hnf_cache_miss": (0x10005, 0, 0), "hnf_slc_sf_cache_access": (0x20005, 0, 0)}


def test_kunpeng_has_four_channels_a_die():
    _, boxes, pmus = lists(uncore_hosts.kunpeng)
    assert boxes_of(boxes, "ddr") == [(f"hisi_sccl{2 * die + 1}_ddrc{channel}", die * 32, die // 2, die)
                                      for die in range(4) for channel in range(4)], boxes
    assert codes(pmus, "ddr") == {"flux_rd": (1, 0, 0), "flux_wr": (0, 0, 0)}
    assert traffic(pmus) == {"memory_read": {"flux_rd": 32}, "memory_write": {"flux_wr": 32}}


def explained(host):
    done = subprocess.run([BINARY, "explain", "--path.sysfs", host.folder, "--path.procfs", host.folder, "--path.data", ROOT],
                          capture_output=True, text=True, timeout=e2e.TIMEOUT)
    assert done.returncode == 0, done
    return [line.strip() for line in done.stdout.splitlines() if "The memory of socket" in line or "the memory of socket" in line]


def rate(host, nodes, megabytes):
    """What the firmware's HMAT says of these nodes, as the kernel shows it."""
    for node in nodes:
        at = f"devices/system/node/node{node}/access1/initiators"
        host.write({f"{at}/node{node}/uevent": "", f"{at}/read_bandwidth": str(megabytes), f"{at}/write_bandwidth": str(megabytes - 1000)})


def test_the_firmwares_rating_is_the_peak_where_nothing_else_tells_it():
    with tempfile.TemporaryDirectory() as folder:
        host = uncore_hosts.kunpeng(folder)  # without EDAC and the firmware's tables
        assert explained(host) == []
        rate(host, (0, 1, 2), 95000)
        assert explained(host) == ["The memory of socket 0 can move 190.0 GB/s (as the firmware rates it)."], "two dies; node 3 is not rated"
        done = subprocess.run([BINARY, "memory", "--json", "--path.sysfs", folder, "--path.run", folder], capture_output=True, text=True)
        assert json.loads(done.stdout) == [{"socket": 0, "channels": None, "channel_bytes_per_second": None,
                                            "peak_bytes_per_second": 190000000000, "peak_source": "firmware"}], done
        for controller in range(16):
            at = f"devices/system/edac/mc/mc{controller}/dimm0"
            host.write({f"{at}/size": "32768", f"{at}/dimm_location": "channel 0 slot 0"})
        host.write({"memory-channel-bytes-per-second": "23464000000"})
        rows = json.loads(subprocess.run([BINARY, "memory", "--json", "--path.sysfs", folder, "--path.run", folder], capture_output=True,
                                         text=True).stdout)
        assert [(row["peak_bytes_per_second"], row["peak_source"]) for row in rows] == [(8 * 23464000000, "host")] * 2, rows


def test_what_boxes_measure_goes_before_the_firmwares_rating():
    with tempfile.TemporaryDirectory() as folder:
        host = uncore_hosts.zen4(folder)
        rate(host, (0, 1), 460800)
        assert explained(host) == [f"What the memory of socket {socket} can move is measured: its boxes count the clock "
                                   f"(memory_clock_peak_bytes_per_second)." for socket in (0, 1)], explained(host)


def test_a_mesh_counts_memory_where_nothing_else_does():
    _, boxes, pmus = lists(uncore_hosts.neoverse_v3)
    assert boxes_of(boxes, "ddr") == boxes_of(boxes, "cmn") == [("arm_cmn_0", 0, 0, 0), ("arm_cmn_1", 64, 1, 1)], boxes
    assert boxes_of(boxes, "dsu") == [("arm_dsu_0", 1, 0, 0), ("arm_dsu_1", 65, 1, 1)]
    assert codes(pmus, "ddr") == {"hns_mc_reqs_local_all": (0xD0200, 0, 0)}
    assert traffic(pmus) == {"memory_all": {"hns_mc_reqs_local_all": 64}, "llc_miss_local": {"hns_cache_miss_hbt": 64},
                             "llc_miss_remote": {"hns_cache_miss_lbt": 64}}
    assert codes(pmus, "home") == {"hns_cache_miss_hbt": (1 << 27 | 0x10200, 0, 0), "hns_cache_miss_lbt": (2 << 27 | 0x10200, 0, 0)}
    assert codes(pmus, "cmn", "Cache") == {"hns_cache_miss_all": (0x10200, 0, 0), "hns_slc_sf_cache_access_all": (0x20200, 0, 0)}


def test_a_cmn_700_has_the_home_nodes_that_its_driver_names():
    _, boxes, pmus = lists(lambda folder: uncore_hosts.neoverse_v3(folder, identifier="43c03"))
    assert {row["spec"] for row in pmus if row["name"] in ("ddr", "home", "cmn")} == {"mesh-memory-cmn-s3", "mesh-home-cmn-s3", "mesh-cmn-s3"}, pmus
    assert len(boxes_of(boxes, "home")) == len(boxes_of(boxes, "cmn")) == 2, boxes


def test_a_virtual_machine_has_no_box():
    _, boxes, pmus = lists(uncore_hosts.virtual_machine)
    assert boxes == [] and {row["boxes"] for row in pmus} == {0}, "what the CPU could have is told"


def test_without_a_host_every_way_to_count_is_listed():
    pmus = ask("pmus", "--cpu", "neoverse-n1")
    assert [row["spec"] for row in pmus if row["traffic"] == "memory_all"] == ["mesh-memory-cmn-s3", "mesh-memory-cmn-600"]
    assert {row["boxes"] for row in pmus} == {None}
    refused = subprocess.run([BINARY, "list", "boxes", "--cpu", "zen4"], capture_output=True, text=True, timeout=e2e.TIMEOUT)
    assert refused.returncode == 2 and "only a host has boxes" in refused.stderr, refused


# what the kernel shows of these PMUs where test_encoding's hosts lack them, and which of perf's names the spec's events have
BOX = test_encoding.BOX
PERF_CPUS = {
    "sandy-bridge-ep": ("GenuineIntel-6-2D-7", {"uncore_imc": BOX, "uncore_qpi": BOX | {"event": "config:0-7,21"}}),
    "broadwell-ep": ("GenuineIntel-6-4F-1", {"uncore_imc": BOX, "uncore_ha": BOX, "uncore_qpi": BOX | {"event": "config:0-7,21"}}),
    "cascade-lake": ("GenuineIntel-6-55-7", test_encoding.SKYLAKE_BOXES),
    "sapphire-rapids": ("GenuineIntel-6-8F-4", test_encoding.ICE_LAKE_BOXES),
    "zen2": ("AuthenticAMD-23-31-0", test_encoding.AMD_17), "zen4": ("AuthenticAMD-25-11-1", test_encoding.AMD_V2),
}


def test_events_are_encoded_as_perf_encodes_them():
    perf = test_encoding.Perf()
    compared, wrong = {}, []
    for spec, (cpuid, formats) in PERF_CPUS.items():
        if spec == "zen4" and not perf.is_new():
            continue
        rows = ask("pmus", "--cpu", spec)
        truth = {name: code for (name, _), code in perf.ask(cpuid, formats, sorted({row["event"] for row in rows})).items()}
        for row in rows:
            ours = tuple(int(row[key], 16) for key in ("config", "config1", "config2"))
            if row["event"] in truth:
                compared[spec] = compared.get(spec, 0) + 1
                if ours != truth[row["event"]]:
                    wrong.append(f"{spec} {row['event']}: {[hex(x) for x in ours]}, perf: {[hex(x) for x in truth[row['event']]]}")
    assert not wrong, "\n".join(wrong)
    assert compared and all(compared.get(spec, 0) >= 2 for spec in ("cascade-lake", "sapphire-rapids", "zen2")), compared
    return f"{sum(compared.values())} events of {len(compared)} CPUs, perf {'.'.join(map(str, perf.version))}: {compared}"


if __name__ == "__main__":
    e2e.run_tests()
