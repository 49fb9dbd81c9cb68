# SPDX-License-Identifier: Apache-2.0
"""Made-up hosts with PMUs outside the cores: the files that the kernel's drivers show, as its documentation and drivers
(arch/x86/events, drivers/perf) say."""

import os
import shutil

import e2e

FIRST_TYPE = 20
WIDE = {"event": "config:0-7", "umask": "config:8-15,32-63", "edge": "config:18", "inv": "config:23", "thresh": "config:24-31"}
BOX = WIDE | {"umask": "config:8-15"}
NEHALEM_NAMES = {"qmc_normal_reads_any": ("memory_read", "event=0x2c,umask=0x0f"), "qmc_writes_full_any": ("memory_write", "event=0x2f,umask=0x0f"),
                 "qhl_request_remote_reads": ("llc_miss_remote", "event=0x20,umask=0x04"),
                 "qhl_request_remote_writes": ("llc_miss_remote", "event=0x20,umask=0x08"),
                 "qhl_request_local_reads": ("llc_miss_local", "event=0x20,umask=0x10"),
                 "qhl_request_local_writes": ("llc_miss_local", "event=0x20,umask=0x20")}
MIB = {"scale": "6.103515625e-05", "unit": "MiB"}


def named(**events):
    """Events that the kernel names, in bytes: each with its terms, its scale and its unit."""
    files = {}
    for name, terms in events.items():
        files[f"events/{name}"] = terms
        files.update({f"events/{name}.{file}": text for file, text in MIB.items()})
    return files


class Host:
    """The files of a host. CPUs are numbered socket by socket, and each socket has `dies` dies, `nodes` NUMA nodes and `caches`
    last-level caches of neighbours. `threads` CPUs are a core: siblings are neighbours, too."""

    def __init__(self, folder, sockets, cpus, nodes=1, dies=1, caches=1, threads=1):
        self.folder, self.sockets, self.cpus, self.types = folder, sockets, cpus, {}
        self.cores = {}  # type of each PMU of the cores: its counters, fixed ones among them
        self.parts = {"host": 1, "package": sockets, "die": sockets * dies, "node": sockets * nodes, "cache": sockets * caches,
                      "core": sockets * cpus // threads}
        self.online, self.readers = set(range(sockets * cpus)), {}  # of each box of a PMU, the CPUs that it serves and the one that reads it
        self.write({"devices/system/cpu/present": self.lists(self.online), "sys/kernel/nmi_watchdog": "0",
                    "bus/event_source/devices/software/type": "1"})
        for cpu in self.online:
            self._plug(cpu)
        self._write_online()

    @staticmethod
    def lists(cpus):
        """As the kernel prints it: 0-3,8."""
        runs = []
        for cpu in sorted(cpus):
            if runs and cpu == runs[-1][1] + 1:
                runs[-1][1] = cpu
            else:
                runs.append([cpu, cpu])
        return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)

    def domains(self, part):
        """The CPUs of each package, die, NUMA node, last-level cache or core, or of the host."""
        size = self.sockets * self.cpus // self.parts[part]
        return [list(range(first, first + size)) for first in range(0, self.sockets * self.cpus, size)]

    def _place(self, cpu, part):
        return cpu // (self.sockets * self.cpus // self.parts[part])

    def _plug(self, cpu):
        at, package = f"devices/system/cpu/cpu{cpu}", self._place(cpu, "package")
        first_die, first_core = (package * self.parts[part] // self.sockets for part in ("die", "core"))
        self.write({f"{at}/topology/core_cpus_list": self.lists(self.domains("core")[self._place(cpu, "core")]),
                    f"{at}/topology/core_id": str(self._place(cpu, "core") - first_core),
                    f"{at}/topology/die_id": str(self._place(cpu, "die") - first_die),
                    f"{at}/topology/physical_package_id": str(package),
                    f"{at}/topology/package_cpus_list": self.lists(self.domains("package")[package]),
                    f"{at}/cache/index0/level": "1", f"{at}/cache/index0/id": str(cpu),
                    f"{at}/cache/index3/level": "3", f"{at}/cache/index3/id": str(self._place(cpu, "cache"))})

    def _write_online(self):
        self.write({f"devices/system/node/node{node}/cpulist": self.lists(self.online.intersection(cpus))
                    for node, cpus in enumerate(self.domains("node"))})
        self.write({"devices/system/cpu/online": self.lists(self.online)})

    def write(self, files):
        """Each at once: who reads one never sees a part of it."""
        for name, text in files.items():
            path = os.path.join(self.folder, name)
            new = f"{path}~" if os.path.exists(path) else path
            if new == path:
                os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(new, "w", encoding="ascii") as file:
                file.write(text + "\n")
            if new != path:
                os.rename(new, path)

    def _write_masks(self):
        self.write({f"bus/event_source/devices/{name}/cpumask": self.lists(cpu for _, cpu in boxes if cpu is not None)
                    for name, boxes in self.readers.items() if os.path.exists(f"{self.folder}/bus/event_source/devices/{name}/cpumask")})

    def unplug(self, cpu):
        """A CPU goes offline: another one of each of its boxes' CPUs reads the box, the highest one."""
        self.online.remove(cpu)
        for boxes in self.readers.values():
            for i, (cpus, reader) in enumerate(boxes):
                if reader == cpu:
                    boxes[i] = (cpus, max(self.online.intersection(cpus), default=None))
        self._write_masks()
        self._write_online()
        for part in ("topology", "cache"):
            shutil.rmtree(f"{self.folder}/devices/system/cpu/cpu{cpu}/{part}")

    def plug(self, cpu):
        """It comes back, and reads what nobody could read meanwhile."""
        self.online.add(cpu)
        self._plug(cpu)
        for boxes in self.readers.values():
            for i, (cpus, reader) in enumerate(boxes):
                if reader is None and cpu in cpus:
                    boxes[i] = (cpus, cpu)
        self._write_online()
        self._write_masks()

    def x86(self, cpuid):
        vendor, family, model, stepping = cpuid.split("-")
        self.cores = {4: 8}
        self.write({"cpuinfo": f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {int(model, 16)}\n"
                               f"model name\t: made up\nstepping\t: {int(stepping, 16)}\n",
                    "bus/event_source/devices/cpu/type": "4", "bus/event_source/devices/cpu/format/event": "config:0-7",
                    "bus/event_source/devices/cpu/format/umask": "config:8-15"})

    def hybrid(self, cpuid, fast):
        """Performance cores, and efficient ones on all other CPUs."""
        self.x86(cpuid)
        shutil.rmtree(f"{self.folder}/bus/event_source/devices/cpu")
        self.cores = {4: 8, 11: 8}
        for name, type_, cpus in (("cpu_core", 4, set(fast)), ("cpu_atom", 11, self.online - set(fast))):
            at = f"bus/event_source/devices/{name}"
            self.write({f"{at}/type": str(type_), f"{at}/cpus": self.lists(cpus), f"{at}/format/event": "config:0-7",
                        f"{at}/format/umask": "config:8-15"})

    def arm(self, midr):
        self.cores = {10: 7}
        self.write({f"devices/system/cpu/cpu{cpu}/regs/identification/midr_el1": midr for cpu in range(self.sockets * self.cpus)})
        self.write({"bus/event_source/devices/armv8_pmuv3_0/type": "10",
                    "bus/event_source/devices/armv8_pmuv3_0/cpus": f"0-{self.sockets * self.cpus - 1}",
                    "bus/event_source/devices/armv8_pmuv3_0/format/event": "config:0-15"})

    def pmu(self, name, format_, cpumask=None, files=(), serves="package"):
        """A PMU with a box for each part of the host that `serves` names; the first CPU of a part reads it. A mask names the readers
        instead: a box serves the CPUs from its reader to the next one of that package. "": the PMU has no such file."""
        self.types[name] = FIRST_TYPE + len(self.types)
        self.readers[name] = [(cpus, min(cpus)) for cpus in self.domains(serves)]
        if cpumask:
            self.readers[name] = []
            for package in self.domains("package"):
                readers = sorted(int(cpu) for cpu in cpumask.split(",") if int(cpu) in package)
                ends = readers[1:] + [package[-1] + 1]
                self.readers[name] += [(list(range(package[0] if reader == readers[0] else reader, end)), reader)
                                       for reader, end in zip(readers, ends)]
        of_pmu = f"bus/event_source/devices/{name}"
        self.write({f"{of_pmu}/type": str(self.types[name])})
        if cpumask != "":
            self.write({f"{of_pmu}/cpumask": self.lists(reader for _, reader in self.readers[name])})
        self.write({f"{of_pmu}/format/{term}": bits for term, bits in format_.items()})
        self.write({f"{of_pmu}/{file}": text for file, text in dict(files).items()})


def sapphire_rapids(folder):
    """Two sockets of 56 cores, 8 channels each, in four clusters (sub-NUMA clustering)."""
    host = Host(folder, sockets=2, cpus=56, nodes=4)
    host.x86("GenuineIntel-6-8F-8")
    for channel in range(8):
        host.pmu(f"uncore_imc_{channel}", WIDE, files=named(cas_count_read="event=0x05,umask=0xcf",
                                                            cas_count_write="event=0x05,umask=0xf0"))
    for box in range(4):
        host.pmu(f"uncore_imc_free_running_{box}", {"event": "config:0-7", "umask": "config:8-15"})
    for slice_ in range(56):
        host.pmu(f"uncore_cha_{slice_}", WIDE)
    for link in range(4):
        host.pmu(f"uncore_upi_{link}", WIDE)
    return host


def xeon_max(folder):
    """Two sockets, each with 8 channels of DRAM and 32 of HBM; the kernel names no events of HBM."""
    host = Host(folder, sockets=2, cpus=32)
    host.x86("GenuineIntel-6-8F-8")
    for channel in range(8):
        host.pmu(f"uncore_imc_{channel}", WIDE)
    for channel in range(32):
        host.pmu(f"uncore_hbm_{channel}", WIDE)
    return host


IIO = {"event": "config:0-7", "umask": "config:8-15", "edge": "config:18", "inv": "config:23", "thresh": "config:24-35"}


def persistent(folder):
    """A Cascade Lake with persistent memory, and three PCIe stacks a socket."""
    host = Host(folder, sockets=2, cpus=24)
    host.x86("GenuineIntel-6-55-7")
    host.write({"bus/nd/devices/nmem0/devtype": "nvdimm"})
    for channel in range(6):
        host.pmu(f"uncore_imc_{channel}", BOX)
    for stack in range(3):
        host.pmu(f"uncore_iio_{stack}", IIO | {"ch_mask": "config:36-43", "fc_mask": "config:44-46"})
    return host


def every_kind(folder):
    """A Xeon with every kind at once."""
    host = xeon_max(folder)
    host.write({"bus/nd/devices/nmem0/devtype": "nvdimm", "bus/cxl/devices/mem0/numa_node": "0"})
    for kind in ("cxlcm", "cxldp", "cha", "upi"):
        host.pmu(f"uncore_{kind}_0", WIDE)
    host.pmu("uncore_iio_0", IIO | {"ch_mask": "config:36-47", "fc_mask": "config:48-50"})
    return host


CXL_DEVICE = {"mask": "config:0-31", "gid": "config:32-47", "vid": "config:48-63", "threshold": "config1:0-15", "invert": "config1:16",
              "edge": "config1:17"}
CXL_EVENTS = {"events/s2m_drs_memdata": "config=0x1e98002500000001", "events/m2s_rwd_memwr": "config=0x1e98002100000002"}


def cxl_ports(folder, devices=True):
    """A Granite Rapids with two CXL ports a socket and, behind them, a device that counts itself, too."""
    host = granite_rapids(folder)
    for port in range(2):
        host.pmu(f"uncore_cxlcm_{port}", WIDE)
        host.pmu(f"uncore_cxldp_{port}", WIDE)
        host.pmu(f"uncore_iio_{port}", IIO | {"ch_mask": "config:36-47", "fc_mask": "config:48-50"})
    if devices:
        host.write({"bus/cxl/devices/mem0/numa_node": "0"})
        host.pmu("cxl_pmu_mem0.0", CXL_DEVICE, cpumask="0", files=CXL_EVENTS)
    return host


def cxl_devices(folder):
    """A Zen 5 with two CXL devices, of which one also has a PMU that knows nothing of lines."""
    host = Host(folder, sockets=2, cpus=16)
    host.x86("AuthenticAMD-26-2-1")
    host.write({f"bus/cxl/devices/mem{device}/numa_node": str(device) for device in range(2)})
    for device in range(2):
        host.pmu(f"cxl_pmu_mem{device}.0", CXL_DEVICE, cpumask=str(device * 16), files=CXL_EVENTS)
    host.pmu("cxl_pmu_mem1.1", CXL_DEVICE, cpumask="16", files={"events/ddr_act": "config=0x1e98800000000001"})
    host.pmu("amd_df", {"event": "config:0-7,32-37", "umask": "config:8-15,24-27"})
    return host


def westmere(folder):
    """Two sockets with one PMU of the uncore each, which counts memory and requests of the home agent."""
    host = Host(folder, sockets=2, cpus=12)
    host.x86("GenuineIntel-6-2C-2")
    host.pmu("uncore", {"event": "config:0-7", "umask": "config:8-15", "edge": "config:18", "inv": "config:23", "cmask": "config:24-31"},
             files={f"events/{name}": terms for name, (_, terms) in NEHALEM_NAMES.items()})
    return host


def granite_rapids(folder):
    host = Host(folder, sockets=2, cpus=32)
    host.x86("GenuineIntel-6-AD-1")
    for channel in range(12):
        host.pmu(f"uncore_imc_{channel}", WIDE, files=named(
            cas_count_read_sch0="event=0x05,umask=0xcf", cas_count_read_sch1="event=0x06,umask=0xcf",
            cas_count_write_sch0="event=0x05,umask=0xf0", cas_count_write_sch1="event=0x06,umask=0xf0"))
    return host


def zen4(folder):
    """Two sockets with 12 memory controllers each, which are numbered through, and two core complexes each."""
    host = Host(folder, sockets=2, cpus=16)
    host.x86("AuthenticAMD-25-11-1")
    for umc in range(24):
        host.pmu(f"amd_umc_{umc}", {"event": "config:0-7", "rdwrmask": "config:8-9"}, cpumask=str(umc // 12 * 16))
    host.pmu("amd_df", {"event": "config:0-7,32-37", "umask": "config:8-15,24-27"})
    host.pmu("amd_l3", {"event": "config:0-7", "umask": "config:8-15", "coreid": "config:42-44", "enallslices": "config:46",
                        "enallcores": "config:47", "sliceid": "config:48-50", "threadmask": "config:56-57"}, cpumask="0,8,16,24")
    return host


def zen2(folder):
    host = Host(folder, sockets=2, cpus=16)
    host.x86("AuthenticAMD-23-31-0")
    host.pmu("amd_df", {"event": "config:0-7,32-35,59-60", "umask": "config:8-15"})
    host.pmu("amd_l3", {"event": "config:0-7", "umask": "config:8-15", "slicemask": "config:48-51", "threadmask": "config:56-63"},
             cpumask="0,4,8,12,16,20,24,28")
    return host


def grace(folder):
    """Two Grace chips: a fabric and links each. Its NUMA nodes are its sockets."""
    host = Host(folder, sockets=2, cpus=72)
    host.arm("0x00000000410fd4f0")
    for socket in range(2):
        for name in ("nvidia_scf_pmu", "nvidia_nvlink_c2c0_pmu", "nvidia_pcie_pmu"):
            host.pmu(f"{name}_{socket}", {"event": "config:0-32"}, cpumask=str(socket * 72), files={
                "identifier": "2cf0036b", "events/cmem_rd_data": "event=0x1a5", "events/cmem_wr_total_bytes": "event=0x1db"})
    return host


def vera_known(folder):
    """A kernel that knows Vera's fabric and root complexes, with CXL memory."""
    host = Host(folder, sockets=2, cpus=88)
    host.arm("0x000000004e0f0100")
    host.write({"bus/cxl/devices/mem0/numa_node": "2"})
    for socket in range(2):
        host.pmu(f"nvidia_ucf_pmu_{socket}", {
            "event": "config:0-31", "src_loc_noncpu": "config1:0", "src_loc_cpu": "config1:1", "src_rem": "config1:2", "dst_loc_cmem": "config1:8",
            "dst_loc_gmem": "config1:9", "dst_loc_other": "config1:10", "dst_rem": "config1:11"}, cpumask=str(socket * 88),
            files={"events/mem_bytes_rd": "event=0x123", "events/mem_bytes_wr": "event=0x124"})
        for complex_ in range(6):
            host.pmu(f"nvidia_pcie_pmu_{socket}_rc_{complex_}", {"event": "config:0-31", "src_rp_mask": "config1:0-7"}, cpumask=str(socket * 88),
                     files={"events/rd_bytes": "event=0x0", "events/wr_bytes": "event=0x1"})
            host.pmu(f"nvidia_pcie_tgt_pmu_{socket}_rc_{complex_}", {"event": "config:0-2"}, cpumask=str(socket * 88))
    return host


def vera(folder):
    """A kernel that knows neither the name nor the events of Vera's fabric; other PMUs have the same name."""
    host = Host(folder, sockets=2, cpus=88)
    host.arm("0x000000004e0f0100")
    for number, identifier in enumerate(("1030136b", "2cf2036b", "1030136b", "2cf2036b")):
        host.pmu(f"nvidia_uncore_pmu_{number}", {"event": "config:0-32", "filter": "config1:0-31"}, cpumask=str(number // 2 * 88),
                 files={"identifier": identifier})
    return host


CMN = {"type": "config:0-15", "eventid": "config:16-26", "occupid": "config:27-30", "bynodeid": "config:31",
       "nodeid": "config:32-47", "wp_dev_sel": "config:48-50"}
DMC = {"mask": "config:0-44", "match": "config1:0-44", "invert": "config2:0", "incr": "config2:1-2", "event": "config2:3-8",
       "clkdiv2": "config2:9"}


def altra(folder):
    """Ampere Altra: a CMN-600 and eight DMC-620, which have no cpumask: the driver moves their events itself."""
    host = Host(folder, sockets=1, cpus=80)
    host.arm("0x00000000413fd0c1")
    host.pmu("arm_cmn_0", CMN, files={"identifier": "43402"})
    for channel in range(8):
        host.pmu(f"arm_dmc620_1{channel:x}008c000", DMC, cpumask="", files={"events/clkdiv2_rdwr": "event=0x12,clkdiv2=0x1"})
    return host


def yitian(folder):
    """A Yitian 710 with two of its root ports."""
    host = Host(folder, sockets=1, cpus=64)
    host.arm("0x00000000410fd490")
    for port in ("8", "10003"):
        host.pmu(f"dwc_rootport_{port}", {"type": "config:16-19", "eventid": "config:0-15", "lane": "config:20-27"}, cpumask="0", files={
            "events/Rx_PCIe_TLP_Data_Payload": "eventid=0x21,type=0x0", "events/Tx_PCIe_TLP_Data_Payload": "eventid=0x20,type=0x0"})
    return host


def kunpeng(folder):
    """Two sockets of two dies each; the number of a die is odd."""
    host = Host(folder, sockets=2, cpus=64, nodes=2)
    host.arm("0x00000000481fd010")
    for die, sccl in enumerate((1, 3, 5, 7)):
        for channel in range(4):
            host.pmu(f"hisi_sccl{sccl}_ddrc{channel}", {"event": "config:0-4"}, cpumask=str(die * 32), files={
                "events/flux_rd": "config=0x1", "events/flux_wr": "config=0x0"})
        host.pmu(f"hisi_sccl{sccl}_hha2", {"event": "config:0-7"}, cpumask=str(die * 32))
        host.pmu(f"hisi_sccl{sccl}_l3c0", {"event": "config:0-7"}, cpumask=str(die * 32))
    return host


def neoverse_v3(folder, identifier="43e01"):
    """A CMN S3 in each of two sockets, and no other PMU that knows the memory."""
    host = Host(folder, sockets=2, cpus=64)
    host.arm("0x00000000410fd840")
    for socket in range(2):
        host.pmu(f"arm_cmn_{socket}", CMN, cpumask=str(socket * 64), files={
            "identifier": identifier, "events/hns_mc_reqs_local_all": "type=0x200,eventid=0xd,occupid=0x0",
            "events/hns_cache_miss_all": "type=0x200,eventid=0x1,occupid=0x0",
            "events/hns_cache_miss_hbt": "type=0x200,eventid=0x1,occupid=0x1",
            "events/hns_cache_miss_lbt": "type=0x200,eventid=0x1,occupid=0x2"})
        host.pmu(f"arm_dsu_{socket}", {"event": "config:0-31"}, cpumask=str(socket * 64 + 1))
    return host


def virtual_machine(folder):
    host = Host(folder, sockets=1, cpus=4)
    host.x86("GenuineIntel-6-8F-8")
    return host
