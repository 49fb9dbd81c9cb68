# SPDX-License-Identifier: Apache-2.0
"""What the daemon writes on standard error: for the journal or for people, and always one line for one thing."""

import contextlib
import ctypes
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time

import e2e

BINARY, ROOT = e2e.arguments()


def said(scenario, stream=None):
    """What it says on standard error of a scenario that is not there; stream(fd) makes JOURNAL_STREAM."""
    with tempfile.TemporaryFile() as log:
        environment = {k: v for k, v in os.environ.items() if k != "JOURNAL_STREAM"}
        if stream:
            environment["JOURNAL_STREAM"] = stream(os.fstat(log.fileno()))
        command = [BINARY, "check-config", "--path.data", ROOT, "--config", os.devnull, "--pmu", f"sim:{scenario}"]
        status = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=log, env=environment, timeout=e2e.TIMEOUT,
                                check=False).returncode
        assert status == 2, status
        log.seek(0)
        return log.read().decode()


def test_lines_carry_a_priority_where_standard_error_is_the_journal_itself():
    line = said("/nonexistent", lambda s: f"{s.st_dev}:{s.st_ino}")
    assert re.fullmatch(r"<3>/nonexistent: .*\n", line), line


def test_an_inherited_name_of_a_journal_that_is_elsewhere_does_not_count():
    for stream in (lambda s: f"{s.st_dev}:{s.st_ino + 1}", lambda s: f"{s.st_dev + 1}:{s.st_ino}",
                   lambda s: f"{s.st_dev}:{s.st_ino}0", lambda s: str(s.st_dev), lambda s: "", lambda s: "x"):
        line = said("/nonexistent", stream)
        assert re.fullmatch(r"topdownd: error: /nonexistent: .*\n", line), line


def test_control_characters_cannot_make_a_line_of_their_own():
    line = said("/no\n<0>such\x1b[2J\x7f\tfile\u00e9")
    assert line.count("\n") == 1 and line.endswith("\n"), line
    assert r"/no\x0a<0>such\x1b[2J\x7f\x09file\u00e9".replace(r"\u00e9", "\u00e9") in line, line
    assert said("/" + "\n" * 3000).count("\n") == 1
    return line.strip()


# ---- the journal ----

CLONE_NEWNS = 0x20000
PRIVATE = "mount --make-rprivate / && mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/journal"
IDS = {"start": "bfb048cdfc364f56bc36945dd2d8967e", "reload": "0261b7a1987f4dd29576cd779b27e4f5",
       "lost": "63a77cbb8b764ddb89111b582a03d1e8", "back": "02d53947973544f19bb1c5433da7c03a",
       "budget": "2afcfc4d191d4aad8cf681e22151a67d", "bottleneck": "85a28f0c938545bbbf7b0a77560b7744"}


class Journal:
    """The journal's socket, in a mount namespace of this process. A case that makes one has no other use of /run."""

    def __init__(self):
        if os.geteuid() != 0 or ctypes.CDLL(None).unshare(CLONE_NEWNS) != 0:
            raise e2e.Skip("needs root and a mount namespace")
        subprocess.run(["sh", "-ec", PRIVATE], check=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("/run/systemd/journal/socket")
        self.socket.setblocking(False)
        self.entries = []

    def read(self):
        with contextlib.suppress(BlockingIOError):
            while True:
                self.entries.append(fields_of(self.socket.recv(1 << 16)))
        return self.entries

    def wait(self, event, seconds=e2e.TIMEOUT, **fields):
        """The first entry of that event with these fields."""
        def find():
            return next((e for e in self.read() if e["MESSAGE_ID"] == IDS[event] and fields.items() <= e.items()), None)
        return e2e.wait_for(find, f"{event} in {self.entries}", seconds)


def fields_of(datagram):
    """systemd's native protocol: lines NAME=VALUE, or NAME, eight bytes of length and a value with line breaks."""
    fields = {}
    while datagram:
        line, _, rest = datagram.partition(b"\n")
        name, equals, value = line.partition(b"=")
        if not equals:
            length = int.from_bytes(rest[:8], "little")
            value, rest = rest[8:8 + length], rest[9 + length:]
        fields[name.decode()] = value.decode()
        datagram = rest
    return fields


@contextlib.contextmanager
def under_the_journal(folder, scenario, yaml):
    """A daemon whose standard error is said to be the journal's, with its configuration and its log."""
    config = e2e.write_text(os.path.join(folder, "topdownd.yaml"), yaml)
    with open(os.path.join(folder, "log"), "w+", encoding="utf-8") as log:
        stream = os.fstat(log.fileno())
        process = subprocess.Popen([BINARY, "--path.data", ROOT, "--config", config, "--pmu", f"sim:{scenario}"], stdout=log, stderr=log,
                                   env=os.environ | {"JOURNAL_STREAM": f"{stream.st_dev}:{stream.st_ino}"})
        try:
            yield process, config, lambda: e2e.read_text(log.name)
        finally:
            process.kill()
            process.wait()


def scenario_of(folder, rivals=()):
    scenario = json.loads(e2e.read_text(os.path.join(ROOT, "tests/data/scenarios/steady.json")))
    return e2e.write_text(os.path.join(folder, "scenario.json"), json.dumps(scenario | {"rivals": list(rivals)}))


def lose(rival, reason):
    journal = Journal()
    with tempfile.TemporaryDirectory() as folder, \
            under_the_journal(folder, scenario_of(folder, [rival | {"cpus": "0-7", "until_seconds": 4}]), e2e.LISTEN_ANYWHERE):
        lost = journal.wait("lost")
        assert (lost["PRIORITY"], lost["TOPDOWND_REASON"]) == ("4", reason) and lost["TOPDOWND_PMU"], lost
        back = journal.wait("back", 120)
        assert back["PRIORITY"] == "6" and back["TOPDOWND_PMU"] == lost["TOPDOWND_PMU"] and "TOPDOWND_REASON" not in back, back


def test_counters_that_others_have_and_let_go_reach_the_journal():
    lose({"kind": "pinned", "counters": 6, "cycles": True}, "counters_taken")


def test_where_the_journal_has_no_socket_nothing_is_lost():
    journal = Journal()
    os.unlink("/run/systemd/journal/socket")
    with tempfile.TemporaryDirectory() as folder, \
            under_the_journal(folder, scenario_of(folder), e2e.LISTEN_ANYWHERE) as (_, _, log):
        e2e.wait_for(lambda: re.search(r"^<6>topdownd \S+ on .*8 CPUs", log(), re.M), "the line of the start")
    assert journal.read() == []


def test_the_catalog_explains_every_event_and_the_manual_names_it():
    catalog = e2e.read_text(os.path.join(ROOT, "packaging/journal/topdownd.catalog"))
    manual = e2e.read_text(os.path.join(ROOT, "docs/topdownd.8"))
    source = e2e.read_text(os.path.join(ROOT, "daemon/base/log.c"))
    assert re.findall(r"^-- (\w{32})$", catalog, re.M) == list(IDS.values()), catalog
    for event, identity in IDS.items():
        assert f".It Li {identity}\n" in manual and f'"{identity}"' in source, event
    for field in re.findall(r"@(TOPDOWND_\w+)@", catalog):
        assert f".Li {field}\n" in manual or f".Li {field} " in manual, field


def test_a_message_that_repeats_is_held_back_and_counted():
    with tempfile.TemporaryDirectory() as folder, e2e.Daemon("--pmu", f"sim:{scenario_of(folder)}") as daemon:
        for _ in range(12):
            daemon.process.send_signal(signal.SIGUSR2)
            time.sleep(0.1)
        daemon.stop()
        lines = [line for line in daemon.log().splitlines() if "User defined signal 2: ignored" in line]
    assert lines[:5] == ["topdownd: User defined signal 2: ignored"] * 5 and len(lines) == 6, lines
    assert re.fullmatch(r"topdownd: \d more such messages in the last minute: User defined signal 2: ignored", lines[5]), lines


if __name__ == "__main__":
    e2e.run_tests()
