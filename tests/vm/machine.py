# SPDX-License-Identifier: Apache-2.0
"""An emulated Arm machine with a real kernel PMU driver, and what a test asks of it (tests/vm/guest/init.c).

With -icount the emulator counts instructions, and time is what they take: 2^shift ns each. So the truth is known to the
instruction: on every CPU cycles are the nanoseconds of CLOCK_MONOTONIC, and while any CPU is busy instructions are
cycles / 2^shift, on every CPU, for the emulator has one count of instructions for all of them. A busy machine runs as
fast as the host can; one whose CPUs all sleep waits for real time to pass.
"""

import socket

import e2e
import sysroot

SHIFT = 3
HTTP_PORT, CHANNEL_PORT = 10813, 1000  # in the guest
YAML = 'listen: ["0.0.0.0:10813"]\nslot: 50ms\n'
CONFIG = "/run/topdownd.yaml"
NEOVERSE_N1 = "neoverse-n1"
NEOVERSE_V2 = "neoverse-n1,midr=0x410fd4f0"
WITHOUT_PMU = "neoverse-n1,pmu=off"
BUSY_SECONDS = 100000  # of the guest: for ever
PAUSE_SECONDS = 0.2  # between two questions, each of which is work for an emulated machine


def wait_for(condition, what, timeout=e2e.TIMEOUT, pause=PAUSE_SECONDS):
    return e2e.wait_for(condition, what, timeout, pause)


def qemu_command(initramfs, root, cpu, cpus, ports):
    forward = "".join(f",hostfwd=tcp:127.0.0.1:{host}-:{guest}" for host, guest in ports.items())
    return ["qemu-system-aarch64", "-nodefaults", "-nographic", "-no-reboot", "-machine", "virt,gic-version=3",
            "-accel", "tcg,thread=single", "-icount", f"shift={SHIFT}", "-cpu", cpu, "-smp", str(cpus), "-m", "1024",
            "-kernel", sysroot.kernel(root)[0], "-initrd", initramfs,
            "-append", "console=ttyAMA0 earlycon loglevel=4 panic=-1",
            "-netdev", f"user,id=net,restrict=on{forward}", "-device", "virtio-net-device,netdev=net", "-serial", "stdio"]


class Request:
    """A question that the guest may take its time to answer."""

    def __init__(self, port, line, text="", timeout=e2e.TIMEOUT):
        self.line = line
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.socket.sendall(f"{line}\n{text}".encode())
        self.socket.shutdown(socket.SHUT_WR)

    def answer(self, timeout=e2e.TIMEOUT):
        """What follows "ok"; an AssertionError where that does not come."""
        self.socket.settimeout(timeout)
        with self.socket:
            parts = []
            while part := self.socket.recv(65536):
                parts.append(part)
        first, _, rest = b"".join(parts).decode("utf-8", "replace").partition("\n")
        assert first == "ok", f"{self.line}: {first or 'no answer'}"
        return rest


class Machine(e2e.Program):
    """A machine that boots. Ends with the `with` block."""

    def __init__(self, initramfs, root, cpu=NEOVERSE_N1, cpus=4):
        self.port, self.channel = e2e.free_port(), e2e.free_port()
        super().__init__(qemu_command(initramfs, root, cpu, cpus,
                                      {self.port: HTTP_PORT, self.channel: CHANNEL_PORT}))

    def wait_boot(self):
        e2e.wait_for(self._ready, "the machine to boot", 3 * e2e.TIMEOUT)
        return self

    def _ready(self):
        assert not self.ended(), f"the emulator ended; it said:\n{self.log()}"
        return "init: ready" in self.log()

    def begin(self, line, text=""):
        return Request(self.channel, line, text)

    def do(self, line, text=""):
        return self.begin(line, text).answer()

    def read(self, path):
        return self.do(f"read {path}")

    def write(self, path, text):
        self.do(f"write {path}", text)

    def clock(self):
        return int(self.do("clock"))

    def burn(self, cpu):
        """Keeps a CPU busy from now on."""
        self.begin(f"burn {BUSY_SECONDS} {cpu}").socket.close()

    def run(self, line):
        """Runs a program of the guest to its end; what it says. Its status must be 0."""
        *said, status = self.do(f"run {line}").splitlines()
        assert status == "exit 0", f"{line}: {status}; it said:\n" + "\n".join(said)
        return said

    def set_online(self, cpu, online):
        self.write(f"/sys/devices/system/cpu/cpu{cpu}/online", str(int(online)))

    def start(self, yaml=YAML, *options, how="start"):
        """Starts the daemon and waits until it serves. how="unit": with the rights that the systemd unit gives."""
        self.write(CONFIG, yaml)
        self.do(f"{how} --config {CONFIG} {' '.join(options)}")
        wait_for(lambda: "look at http" in self.daemon_log() or self._must_run(), "the daemon to serve")

    def _must_run(self):
        status = self.do("status").strip()
        assert status == "running", f"the daemon: {status}; it said:\n{self.daemon_log()}"

    def stop(self, number=15):
        """Asks the daemon to end; its status must be 0."""
        self.do(f"kill {number}")
        status = wait_for(lambda: (s := self.do("status").strip()) != "running" and s, "the daemon to end")
        assert status == "exit 0", f"{status}; the daemon said:\n{self.daemon_log()}"

    def daemon_log(self):
        return self.read("/log")

    def wait_round(self, sequence, pause=PAUSE_SECONDS):
        """Waits until so many rounds have ended; returns the snapshot."""
        return wait_for(lambda: (s := self.json("/api/v1/snapshot"))["sequence"] >= sequence and s, f"round {sequence}", pause=pause)

    get, json, sequence = e2e.Daemon.get, e2e.Daemon.json, e2e.Daemon.sequence
