# SPDX-License-Identifier: Apache-2.0
"""The daemon on a real kernel's PMUs outside the cores: an emulated machine of two sockets with two dies each, whose memory controllers
are those of a module (module/boxes.c), as many as on a large host. All but the numbers is the kernel's own: how events are opened, take turns, are
read and moved, and what a CPU takes along when it goes.

The truth is the machine's clock: an event counts its umask once a microsecond on each box of the first die, twice on those of the second,
and so on, however slow the emulation is.
"""

import contextlib
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
# pylint: disable=wrong-import-position
import e2e
import image
import sysroot
from machine import CHANNEL_PORT, CONFIG, HTTP_PORT, Machine, wait_for

BINARY, ROOT = e2e.arguments()
TOOLS = ["qemu-system-x86_64", "gcc", "make", "apt-get", "dpkg-deb"]
MODULES = ["virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci", "failover", "net_failover", "virtio_net"]
CPUS, DIES, CHANNELS, SLICES = 8, 4, 4, 30  # CPUs and dies of the machine; boxes of a die
UMASKS = {"read": 0xcf, "write": 0xf0}  # of the events of specs/uncore/imc-sapphire-rapids.json
YAML = 'listen: ["0.0.0.0:10813"]\ninterval: 1s\n'
SIX = "usr/share/six"  # a data folder whose memory controllers count six events
PARTS = {"read": (0x10, 0x20, 0x40), "write": (0x01, 0x02, 0x04)}  # their umasks
TOLERANCE = 0.02
RATED = (204800, 102400)  # MB/s of each node's memory
SECONDS = 5


def release():
    """The newest kernel whose headers are installed; None where there are none."""
    found = sorted(glob.glob("/usr/src/linux-headers-*-cloud-amd64"))
    return os.path.basename(found[-1]).removeprefix("linux-headers-") if found else None


def kernel(version):
    """The kernel's file and its folder of modules, from Debian's package, which the user's cache keeps."""
    cache = sysroot.cache_folder()
    wanted = os.path.join(cache, f"kernel-{version}")
    with sysroot.locked(cache):
        if not os.path.isdir(wanted):
            with tempfile.TemporaryDirectory(dir=cache, prefix="new-") as folder:
                sysroot.run(["apt-get", "-q", "download", f"linux-image-{version}"], folder)
                os.mkdir(f"{folder}/tree")
                sysroot.run(["dpkg-deb", "-x", *glob.glob(f"{folder}/*.deb"), f"{folder}/tree"])
                os.rename(f"{folder}/tree", wanted)
    return f"{wanted}/boot/vmlinuz-{version}", f"{wanted}/lib/modules/{version}"


def build_module(folder, version):
    os.makedirs(folder, exist_ok=True)
    shutil.copy(os.path.join(ROOT, "tests/vm/module/boxes.c"), folder)
    e2e.write_text(f"{folder}/Makefile", "obj-m := boxes.o\n")
    sysroot.run(["make", "-s", "-C", f"/usr/src/linux-headers-{version}", f"M={folder}", "modules"])
    return f"{folder}/boxes.ko"


def libraries(binary):
    return re.findall(r"(/\S+) \(0x", sysroot.run(["ldd", binary]))


def six_events():
    """The spec of memory controllers whose reads and writes are three events each, of which four can be counted at once."""
    with open(f"{ROOT}/specs/uncore/imc-sapphire-rapids.json", encoding="utf-8") as file:
        spec = json.load(file)
    base = spec["events"].popitem()[1]
    spec["events"] = {f"{direction.upper()}_{i}": base | {"topdownd": {"umask": hex(umask)}}
                      for direction, umasks in PARTS.items() for i, umask in enumerate(umasks)}
    for direction in PARTS:
        names = [name for name in spec["events"] if name.startswith(direction.upper())]
        spec["metrics"][f"memory_{direction}_bytes_per_second"] |= {"formula": f"64 * ({' + '.join(names)}) / cpu_seconds", "events": names}
    traffic = spec["groups"]["metrics"]["Traffic"]
    spec["groups"]["metrics"] = {"Traffic": traffic}
    spec["metrics"] = {name: spec["metrics"][name] for name in traffic["metrics"]}
    return json.dumps(spec).encode()


def add_specs(archive):
    for source in glob.glob(f"{ROOT}/specs/**/*.json", recursive=True):
        name = os.path.relpath(source, ROOT)
        archive.add_file(f"usr/share/topdownd/{name}", source)
        if name == "specs/uncore/imc-sapphire-rapids.json":
            archive.add(f"{SIX}/{name}", six_events())
        else:
            archive.add_file(f"{SIX}/{name}", source)
    archive.add("usr/share/topdownd/scenarios/README", b"")


def make_initramfs(path, build, version, modules):
    archive = image.Archive(path)
    archive.add_console()
    init = f"{build}/init"
    sysroot.run(["gcc", "-static", "-O2", "-std=c17", "-D_GNU_SOURCE", "-I", ROOT, "-o", init, *sorted(glob.glob(f"{ROOT}/tests/vm/guest/*.c"))])
    archive.add_file("init", init, 0o755)
    archive.add_file(image.PROGRAM, BINARY, 0o755)
    for library in libraries(BINARY):
        archive.add_file(library.lstrip("/"), os.path.realpath(library), 0o755)
    add_specs(archive)
    for i, name in enumerate(MODULES):
        for module in glob.glob(f"{modules}/kernel/**/{name}.ko", recursive=True):
            archive.add_file(f"modules/{i:02}-{name}.ko", module)
    archive.add_file("modules/99-boxes.ko", build_module(f"{build}/module", version))
    archive.close()
    with open(path, "rb") as plain, gzip.open(f"{path}.gz", "wb", 1) as packed:
        shutil.copyfileobj(plain, packed)
    return f"{path}.gz"


def nodes():
    """A NUMA node for each socket, which the firmware's HMAT rates for each way."""
    words = []
    for node in (0, 1):
        words += ["-object", f"memory-backend-ram,size=384M,id=m{node}", "-numa", f"node,nodeid={node},memdev=m{node}",
                  "-numa", f"cpu,node-id={node},socket-id={node}"]
    for initiator in (0, 1):
        for target in (0, 1):
            way = f"hmat-lb,initiator={initiator},target={target},hierarchy=memory,data-type=access"
            near = initiator == target
            words += ["-numa", f"{way}-latency,latency={100 if near else 200}",
                      "-numa", f"{way}-bandwidth,bandwidth={RATED[target] if near else RATED[target] // 2}M"]
    return words


class Host(Machine):
    """Two sockets of Sapphire Rapids, as far as /proc/cpuinfo says, without a PMU of their cores.

    One thread emulates all CPUs. With a thread each, about one run in twenty hangs: the kernel patches its code where perf is
    switched on and off, and the emulator lets other CPUs go on with the breakpoint that stood there meanwhile, for ever.
    """

    def __init__(self, vmlinuz, initramfs):  # pylint: disable=super-init-not-called
        self.port, self.channel = e2e.free_port(), e2e.free_port()
        forward = f",hostfwd=tcp:127.0.0.1:{self.port}-:{HTTP_PORT},hostfwd=tcp:127.0.0.1:{self.channel}-:{CHANNEL_PORT}"
        e2e.Program.__init__(self, [
            "qemu-system-x86_64", "-nodefaults", "-nographic", "-no-reboot", "-machine", "q35,hmat=on", "-accel", "tcg,thread=single",
            "-cpu", "max,vendor=GenuineIntel,family=6,model=143,stepping=8", "-smp", f"{CPUS},sockets=2,dies={DIES // 2}", "-m", "768", *nodes(),
            "-kernel", vmlinuz, "-initrd", initramfs, "-append", "console=ttyS0 loglevel=4 panic=-1",
            "-netdev", f"user,id=net,restrict=on{forward}", "-device", "virtio-net-pci,netdev=net", "-serial", "stdio"])


@contextlib.contextmanager
def measuring(yaml=YAML, *options):
    """The daemon on the machine, which all tests share."""
    try:
        MACHINE.start(yaml, *options)
        yield MACHINE
    except BaseException:
        print(f"the machine's console:\n{MACHINE.log()}")
        with contextlib.suppress(OSError, AssertionError):
            print(f"the daemon:\n{MACHINE.daemon_log()}")
            MACHINE.stop()
        raise
    MACHINE.stop()


def memory(machine):
    """The totals of the newest snapshot, and the machine's time when they were taken."""
    answer = machine.json("/api/v1/uncore")
    return {(str(socket["socket"]), traffic["name"].removeprefix("memory_")): traffic["bytes_total"]
            for socket in answer["kinds"][0]["sockets"] for traffic in socket["traffic"]}, answer["timestamp_seconds"]


def growth(machine, seconds=SECONDS, umasks=UMASKS):
    """How much each total grows for each microsecond of the machine, of the truth; no total may fall."""
    before, begin = wait_for(lambda: (now := memory(machine))[1] and now, "a snapshot")
    while (now := memory(machine))[1] < begin + seconds:
        assert all(now[0][key] >= before[key] for key in before), (before, now)
        time.sleep(0.5)
    after, end = now
    counts = {"0": 1 + 2, "1": 3 + 4}  # of a socket's two dies
    truth = {key: counts[key[0]] * CHANNELS * 64 * umasks[key[1]] * (end - begin) * 1e6 for key in before}
    return {key: (after[key] - before[key]) / truth[key] for key in before}


def check_truth(machine, seconds=SECONDS, umasks=UMASKS, exact=False):
    """A machine that waits for a CPU between two reads has more of the later one, so one window of five must do."""
    for last in (False, False, False, False, True):
        grown = growth(machine, seconds, umasks)
        assert grown.keys() == {(socket, direction) for socket in "01" for direction in UMASKS}, grown
        # both events of a box are read in one call; the boxes one after the other, for which an emulated machine may take a while
        same = all(abs(grown[socket, "read"] - grown[socket, "write"]) < 1e-4 for socket in "01")
        worst = max(abs(each - 1) for each in grown.values())
        if abs(grown["0", "read"] - grown["1", "read"]) < TOLERANCE and worst < 5 * TOLERANCE and (same or not exact):
            return worst
        assert not last, grown


def cpumask(machine):
    return machine.read("/sys/bus/event_source/devices/uncore_imc_0/cpumask").strip()


def test_totals_are_the_modules_truth_also_while_the_cpus_that_read_it_go_and_come():
    with measuring() as machine:
        assert cpumask(machine) == "0,2,4,6"
        assert "PMUs imc: 16 boxes on 2 sockets, spec imc-sapphire-rapids" in machine.daemon_log(), machine.daemon_log()
        errors = [check_truth(machine, exact=True)]
        machine.set_online(2, False)
        assert cpumask(machine) == "0,3-4,6", "the kernel has moved it"
        errors.append(check_truth(machine, exact=True))
        machine.set_online(2, True)
        errors.append(check_truth(machine, exact=True))
        assert cpumask(machine) == "0,3-4,6", "and it stays where it is"
        page = machine.get("/metrics")
        assert e2e.value_of(page, "topdownd_uncore_up", pmu="imc") == 1 and "topdownd_uncore_error" not in page
        assert "other users" not in machine.daemon_log(), machine.daemon_log()
        return f"at most {max(errors):.1%} off, which is the time of asking"


def rates(machine):
    """Bytes that the boxes of each socket read, as multiples of what one of the first die does, over some snapshots."""
    before, begin = wait_for(lambda: (now := memory(machine))[1] and now, "a snapshot")
    after, end = wait_for(lambda: (now := memory(machine))[1] > begin + SECONDS and now, "some more")
    return [(after[socket, "read"] - before[socket, "read"]) / (64 * UMASKS["read"] * (end - begin) * 1e6) for socket in "01"]


def test_boxes_whose_die_is_offline_are_told_of_and_counted_again_when_it_is_back():
    """Without a CPU of the second die of the second socket, Intel's drivers leave its events to themselves, and they stand still."""
    with measuring() as machine:
        machine.wait_round(2)
        for cpu in (6, 7):
            machine.set_online(cpu, False)
        assert cpumask(machine) == "0,3-4", "a CPU of each other die"
        gone = 'topdownd_uncore_error{pmu="imc",reason="offline"}'
        wait_for(lambda: gone in machine.get("/metrics"), "the boxes to be missed")
        truth = CHANNELS * 3  # of the first two dies, and of the third
        found = wait_for(lambda: (now := rates(machine)) and all(abs(rate / truth - 1) < 5 * TOLERANCE for rate in now) and now,
                         "the bytes of the others")
        machine.set_online(7, True)
        wait_for(lambda: cpumask(machine) == "0,3-4,7" and gone not in machine.get("/metrics"), "them to be back")
        errors = check_truth(machine)
        machine.set_online(6, True)
        return f"without a die {found}, with it at most {errors:.1%} off"


def shares(machine):
    return [traffic["share_of_time"] for box in machine.json("/api/v1/uncore")["kinds"][0]["boxes"] for traffic in box["traffic"]]


def test_six_events_on_four_counters_take_turns_and_add_up_to_the_truth():
    with measuring(YAML, "--path.data", f"/{SIX}") as machine:
        worst = check_truth(machine, umasks={direction: sum(umasks) for direction, umasks in PARTS.items()})
        mean = sum(shares(machine)) / len(shares(machine))
        assert 0.4 < mean < 0.6, shares(machine)
        assert "other users" not in machine.daemon_log(), "nobody else is there: " + machine.daemon_log()
        return f"at most {worst:.1%} off, {mean:.2f} of the time"


def test_somebody_elses_events_cost_share_and_no_bytes_and_are_told_of():
    """Another daemon of six events: of each box, one group of ours and two of its own take turns on four counters."""
    with measuring() as machine:
        wait_for(lambda: machine.sequence() >= 2 and min(shares(machine)) > 0.9, "the counters alone")
        assert "other users" not in machine.daemon_log(), machine.daemon_log()
        rival = machine.begin(f"run {image.PROGRAM} measure --duration 30s --path.run /run/rival --path.data /{SIX}")
        wait_for(lambda: "shares the counters of its PMUs with other users" in machine.daemon_log(), "the others to be seen", 60)
        machine.wait_round(machine.sequence() + 1)
        check_truth(machine, 4)
        shared = shares(machine)
        assert 0.2 < sum(shared) / len(shared) < 0.5, shared
        rival.answer()
        wait_for(lambda: "no longer contended" in machine.daemon_log(), "the others to be gone")
        return f"{sum(shared) / len(shared):.2f} of the time"


def refused():
    """How many events of tasks somebody has tried to open."""
    return int(MACHINE.read("/sys/module/boxes/parameters/refused"))


def test_the_kernel_refuses_events_of_tasks_and_measuring_a_command_opens_none():
    event = f"{MACHINE.read('/sys/bus/event_source/devices/uncore_imc_0/type').strip()} {UMASKS['read'] << 8 | 0x05:#x}"
    MACHINE.do(f"open {event} -1 0")
    for cpu in (-1, 0):  # a task, wherever it runs or on one CPU
        answer = "ok"
        try:
            MACHINE.do(f"open {event} 0 {cpu}")
        except AssertionError as error:
            answer = str(error)
        assert "Invalid argument" in answer, answer
    assert refused() == 2
    MACHINE.write(CONFIG, f"{YAML}uncore: {{groups: [memory, remote, llc, interconnect]}}\n")
    said = "\n".join(MACHINE.run(f"{image.PROGRAM} measure --config {CONFIG} --path.run /run/none -- {image.PROGRAM} --version"))
    assert "PMUs outside the cores count for sockets, not for the tasks of a command" in said and "CONTEXT_SWITCHES" in said, said
    assert refused() == 2, said


def interrupts(machine):
    """Calls of functions on other CPUs, which is what a read of an event there takes."""
    row, = (line for line in machine.read("/proc/interrupts").splitlines() if line.split()[:1] == ["CAL:"])
    return sum(int(word) for word in row.split()[1:] if word.isdigit())


def rate_of_interrupts(uncore):
    with measuring(f"{YAML}uncore: {uncore}\n") as machine:
        machine.wait_round(2)
        before, begin_ns = interrupts(machine), machine.clock()
        wait_for(lambda: machine.clock() > begin_ns + SECONDS * 1e9, "time to pass")
        rate = (interrupts(machine) - before) / (machine.clock() - begin_ns) * 1e9
        return rate, "topdownd_uncore_up" in machine.get("/metrics")


def test_the_firmware_rates_the_memory_of_each_socket_and_the_kernel_counts_on_its_node():
    with measuring() as machine:
        page = wait_for(lambda: (now := machine.json("/api/v1/memory"))["nodes"] and now, "a reading")
        assert [(node["node"], node["socket"], node["kind"]) for node in page["nodes"]] == [(0, 0, "cpus"), (1, 1, "cpus")], page
        for node, rated in zip(page["nodes"], RATED):
            assert node["access"]["read_bytes_per_second"] == rated * 1e6 and abs(node["access"]["read_seconds"] - 1e-7) < 1e-12, node
            assert node["numastat"]["numa_hit"] > 0 and node["bytes"] > 300e6, node
        assert page["totals"]["local_allocations_total"] > 0 and page["resctrl"]["state"] == "not_mounted", page
        assert "resctrl" not in machine.read("/proc/filesystems"), "if this machine ever has it, test more of it here"
        sockets = machine.json("/api/v1/uncore")["kinds"][0]["sockets"]
        assert [(socket["peak_bytes_per_second"], socket["peak_source"]) for socket in sockets] == [
            (rated * 1e6, "firmware") for rated in RATED], sockets
        past = "/api/v1/history?scope=node&metric=numa_remote_allocation_ratio"
        wait_for(lambda: e2e.fetch(machine.port, past).status == 200, "the history")
        history = machine.json(past)
        assert [series["node"] for series in history["series"]] == [0, 1], history


def test_reads_from_within_the_package_interrupt_nobody():
    """So a host with two sockets has those of one: eight a second of the sixteen memory controllers, which is all by default."""
    for last in (False, False, True):  # the machine has a hundred others a second, more or less
        (without, none), (memory_alone, some), (everything, _) = map(rate_of_interrupts, (
            "{enabled: off}", "{enabled: auto}", "{groups: [memory, remote, llc, interconnect]}"))
        assert some and not none
        if memory_alone - without <= 20 and everything - without <= 1.3 * 2 * (CHANNELS + SLICES):
            break
        assert not last, (without, memory_alone, everything)
    return f"{memory_alone - without:.1f} a second by default, {everything - without:.1f} for all {DIES * (CHANNELS + SLICES)} boxes, beside {without:.1f}"


if __name__ == "__main__":
    if MISSING := [tool for tool in TOOLS if not shutil.which(tool)]:
        print(f"skipped: {', '.join(MISSING)} cannot be found: install packages_vm of tests/install.sh")
        raise SystemExit(e2e.SKIPPED)
    if not (VERSION := release()):
        print("skipped: linux-headers-cloud-amd64 is not installed: install packages_vm of tests/install.sh")
        raise SystemExit(e2e.SKIPPED)
    with tempfile.TemporaryDirectory() as BUILD:
        VMLINUZ, KERNEL_MODULES = kernel(VERSION)
        with Host(VMLINUZ, make_initramfs(f"{BUILD}/initramfs", BUILD, VERSION, KERNEL_MODULES)) as MACHINE:
            MACHINE.wait_boot()
            e2e.run_tests(at_once=1)
