# SPDX-License-Identifier: Apache-2.0
"""Made-up hosts with PMUs outside the cores: the files that the kernel's drivers show, as its documentation and drivers
(arch/x86/events, drivers/perf) say."""

import os

import e2e

FIRST_TYPE = 20
WIDE = {"event": "config:0-7", "umask": "config:8-15,32-63", "edge": "config:18", "inv": "config:23", "thresh": "config:24-31"}
MIB = {"scale": "6.103515625e-05", "unit": "MiB"}


def named(**events):
    """Events that the kernel names, in bytes: each with its terms, its scale and its unit."""
    files = {}
    for name, terms in events.items():
        files[f"events/{name}"] = terms
        files.update({f"events/{name}.{file}": text for file, text in MIB.items()})
    return files


class Host:
    """The files of a host. CPUs are numbered socket by socket, and each socket has `nodes` NUMA nodes of neighbours."""

    def __init__(self, folder, sockets, cpus, nodes=1):
        self.folder, self.sockets, self.cpus, self.types = folder, sockets, cpus, {}
        every = f"0-{sockets * cpus - 1}"
        self.write({"devices/system/cpu/online": every, "devices/system/cpu/present": every, "sys/kernel/nmi_watchdog": "0",
                    "bus/event_source/devices/software/type": "1"})
        for cpu in range(sockets * cpus):
            socket = cpu // cpus
            topology = f"devices/system/cpu/cpu{cpu}/topology"
            self.write({f"{topology}/core_cpus_list": str(cpu), f"{topology}/physical_package_id": str(socket),
                        f"{topology}/package_cpus_list": f"{socket * cpus}-{socket * cpus + cpus - 1}"})
        share = cpus // nodes
        for node in range(sockets * nodes):
            self.write({f"devices/system/node/node{node}/cpulist": f"{node * share}-{node * share + share - 1}"})

    def write(self, files):
        for name, text in files.items():
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            e2e.write_text(path, text + "\n")

    def x86(self, cpuid):
        vendor, family, model, stepping = cpuid.split("-")
        self.write({"cpuinfo": f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {int(model, 16)}\n"
                               f"model name\t: made up\nstepping\t: {int(stepping, 16)}\n",
                    "bus/event_source/devices/cpu/type": "4", "bus/event_source/devices/cpu/format/event": "config:0-7",
                    "bus/event_source/devices/cpu/format/umask": "config:8-15"})

    def arm(self, midr):
        self.write({f"devices/system/cpu/cpu{cpu}/regs/identification/midr_el1": midr for cpu in range(self.sockets * self.cpus)})
        self.write({"bus/event_source/devices/armv8_pmuv3_0/type": "10",
                    "bus/event_source/devices/armv8_pmuv3_0/cpus": f"0-{self.sockets * self.cpus - 1}",
                    "bus/event_source/devices/armv8_pmuv3_0/format/event": "config:0-15"})

    def pmu(self, name, format_, cpumask=None, files=()):
        """A PMU. Without a mask, one CPU of each socket: the first."""
        mask = ",".join(str(socket * self.cpus) for socket in range(self.sockets)) if cpumask is None else cpumask
        self.types[name] = FIRST_TYPE + len(self.types)
        of_pmu = f"bus/event_source/devices/{name}"
        self.write({f"{of_pmu}/type": str(self.types[name])} | ({f"{of_pmu}/cpumask": mask} if mask != "" else {}))
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


def neoverse_v3(folder):
    """A CMN S3 in each of two sockets, and no other PMU that knows the memory."""
    host = Host(folder, sockets=2, cpus=64)
    host.arm("0x00000000410fd840")
    for socket in range(2):
        host.pmu(f"arm_cmn_{socket}", CMN, cpumask=str(socket * 64), files={
            "identifier": "43e01", "events/hns_mc_reqs_local_all": "type=0x200,eventid=0xd"})
        host.pmu(f"arm_dsu_{socket}", {"event": "config:0-31"}, cpumask=str(socket * 64 + 1))
    return host


def virtual_machine(folder):
    host = Host(folder, sockets=1, cpus=4)
    host.x86("GenuineIntel-6-8F-8")
    return host
