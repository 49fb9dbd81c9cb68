# SPDX-License-Identifier: Apache-2.0
"""The daemon on a real kernel's PMUs outside the cores: an emulated machine of two sockets whose memory controllers are those of a
module (module/boxes.c). All but the numbers is the kernel's own: how events are opened and moved, and what a CPU takes along when
it goes.

The truth is the machine's clock: an event counts its umask once a microsecond on each box, however slow the emulation is.
"""

import contextlib
import glob
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
# pylint: disable=wrong-import-position
import e2e
import image
import sysroot
from machine import CHANNEL_PORT, HTTP_PORT, Machine

BINARY, ROOT = e2e.arguments()
TOOLS = ["qemu-system-x86_64", "gcc", "make", "apt-get", "dpkg-deb"]
MODULES = ["virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci", "failover", "net_failover", "virtio_net"]
CPUS, BOXES_OF_SOCKET = 4, 2
UMASKS = {"read": 0xcf, "write": 0xf0}  # of the events of specs/uncore/imc-sapphire-rapids.json
YAML = 'listen: ["0.0.0.0:10813"]\ninterval: 1s\n'
TOLERANCE = 0.02
SECONDS = 6


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


def make_initramfs(path, build, version, modules):
    archive = image.Archive(path)
    archive.add_console()
    init = f"{build}/init"
    sysroot.run(["gcc", "-static", "-O2", "-std=c17", "-D_GNU_SOURCE", "-I", ROOT, "-o", init, *sorted(glob.glob(f"{ROOT}/tests/vm/guest/*.c"))])
    archive.add_file("init", init, 0o755)
    archive.add_file(image.PROGRAM, BINARY, 0o755)
    for library in libraries(BINARY):
        archive.add_file(library.lstrip("/"), os.path.realpath(library), 0o755)
    for source in glob.glob(f"{ROOT}/specs/**/*.json", recursive=True):
        archive.add_file(f"usr/share/topdownd/{os.path.relpath(source, ROOT)}", source)
    archive.add("usr/share/topdownd/scenarios/README", b"")
    for i, name in enumerate(MODULES):
        for module in glob.glob(f"{modules}/kernel/**/{name}.ko", recursive=True):
            archive.add_file(f"modules/{i:02}-{name}.ko", module)
    archive.add_file("modules/99-boxes.ko", build_module(f"{build}/module", version))
    archive.close()
    with open(path, "rb") as plain, gzip.open(f"{path}.gz", "wb", 1) as packed:
        shutil.copyfileobj(plain, packed)
    return f"{path}.gz"


class Host(Machine):
    """Two sockets of Sapphire Rapids, as far as /proc/cpuinfo says, without a PMU of their cores."""

    def __init__(self, vmlinuz, initramfs):  # pylint: disable=super-init-not-called
        self.port, self.channel = e2e.free_port(), e2e.free_port()
        forward = f",hostfwd=tcp:127.0.0.1:{self.port}-:{HTTP_PORT},hostfwd=tcp:127.0.0.1:{self.channel}-:{CHANNEL_PORT}"
        e2e.Program.__init__(self, [
            "qemu-system-x86_64", "-nodefaults", "-nographic", "-no-reboot", "-machine", "q35", "-accel", "tcg",
            "-cpu", "max,vendor=GenuineIntel,family=6,model=143,stepping=8", "-smp", f"{CPUS},sockets=2", "-m", "768",
            "-kernel", vmlinuz, "-initrd", initramfs, "-append", "console=ttyS0 loglevel=3 panic=-1",
            "-netdev", f"user,id=net,restrict=on{forward}", "-device", "virtio-net-pci,netdev=net", "-serial", "stdio"])


@contextlib.contextmanager
def running():
    with Host(*SETTING) as machine:
        try:
            machine.wait_boot()
            machine.start(YAML)
            yield machine
        except BaseException:
            print(f"the machine's console:\n{machine.log()}")
            with contextlib.suppress(OSError, AssertionError):
                print(f"the daemon:\n{machine.daemon_log()}")
            raise
        machine.stop()


def memory(machine):
    return {(labels["socket"], labels["direction"]): value for name, labels, value in e2e.samples(machine.get("/metrics"))
            if name == "topdownd_memory_bytes_total"}


def next_total(machine):
    """Totals that have just changed, and the machine's time then."""
    before = memory(machine)
    totals = e2e.wait_for(lambda: (now := memory(machine)) != before and now, "another snapshot")
    return totals, machine.clock()


def growth(machine, seconds=SECONDS):
    """How much each total grows for each microsecond of the machine, of the truth; by then no total may have fallen."""
    before, begin_ns = next_total(machine)
    e2e.wait_for(lambda: machine.clock() > begin_ns + seconds * 1e9, "time to pass")
    after, end_ns = next_total(machine)
    assert before.keys() == after.keys() and all(after[key] >= before[key] for key in before), (before, after)
    truth = {key: BOXES_OF_SOCKET * 64 * UMASKS[key[1]] * (end_ns - begin_ns) / 1000 for key in before}
    return {key: (after[key] - before[key]) / truth[key] for key in before}


def check_truth(machine):
    grown = growth(machine)
    assert grown.keys() == {(socket, direction) for socket in "01" for direction in UMASKS}, grown
    # both events of a box are read in one call; the boxes one after the other, for which an emulated machine may take a while,
    # and when the page was seen to change is known least
    assert all(abs(grown[socket, "read"] - grown[socket, "write"]) < 1e-4 for socket in "01"), grown
    assert abs(grown["0", "read"] - grown["1", "read"]) < TOLERANCE, grown
    assert all(abs(each - 1) < 5 * TOLERANCE for each in grown.values()), grown
    return max(abs(each - 1) for each in grown.values())


def cpumask(machine, box):
    return machine.read(f"/sys/bus/event_source/devices/uncore_imc_{box}/cpumask").strip()


def test_totals_are_the_modules_truth_also_while_the_cpus_that_read_it_go_and_come():
    with running() as machine:
        assert [cpumask(machine, box) for box in range(4)] == ["0", "0", "2", "2"]
        assert "PMUs imc: 4 boxes on 2 sockets, spec imc-sapphire-rapids" in machine.daemon_log(), machine.daemon_log()
        errors = [check_truth(machine)]
        machine.set_online(2, False)
        assert cpumask(machine, 2) != "2", "the kernel has moved it"
        errors.append(check_truth(machine))
        machine.set_online(2, True)
        errors.append(check_truth(machine))
        page = machine.get("/metrics")
        assert e2e.value_of(page, "topdownd_uncore_up", pmu="imc") == 1 and "topdownd_uncore_error" not in page
        return f"at most {max(errors):.1%} off, which is the time of asking"


if __name__ == "__main__":
    if MISSING := [tool for tool in TOOLS if not shutil.which(tool)]:
        print(f"skipped: {', '.join(MISSING)} cannot be found: install packages_vm of tests/install.sh")
        raise SystemExit(e2e.SKIPPED)
    if not (VERSION := release()):
        print("skipped: linux-headers-cloud-amd64 is not installed: install packages_vm of tests/install.sh")
        raise SystemExit(e2e.SKIPPED)
    with tempfile.TemporaryDirectory() as BUILD:
        VMLINUZ, KERNEL_MODULES = kernel(VERSION)
        SETTING = (VMLINUZ, make_initramfs(f"{BUILD}/initramfs", BUILD, VERSION, KERNEL_MODULES))
        e2e.run_tests(at_once=1)
