# SPDX-License-Identifier: Apache-2.0
"""Five ways of being blind go through five gates: /-/ready, systemd's status line, `topdownd doctor`, the alert and the Ansible role
say the same of each, and let hosts through that count what they are configured to count. The hosts and their kernel are made up
(fake_kernel.py). All daemons run at once, and doctor runs with all rights on a host where nothing is wrong."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading

import e2e
import fake_kernel
import promtool
import uncore_hosts

BINARY, ROOT = e2e.arguments()
YAML = e2e.LISTEN_ANYWHERE + "interval: 1s\nslot: 50ms\nuncore: {enabled: off}\n"
ELSEWHERE = YAML + "profiles: {default: {groups: [L1D_Cache_Effectiveness]}}\n"  # of Arm's specs
ZEN4 = "AuthenticAMD-25-11-1"
EACCES, WATCHDOG_SECONDS = 13, 2
VERIFY = os.path.join(ROOT, "packaging/ansible/roles/topdownd/tasks/verify.yml")

DENIED, STARVED, FILTERED, NOT_PLANNABLE, STALE = "denied", "starved", "filtered", "not_plannable", "stale"
HARDWARE, SOFTWARE, NOTHING = "hardware", "software", "nothing"
WAYS = {DENIED: {"lines": [f"denies 4 {EACCES}", f"denies 1 {EACCES}"]}, STARVED: {"lines": ["starves 4"]},
        FILTERED: {"rates": ["rate 4 * 0"]}, NOT_PLANNABLE: {"yaml": ELSEWHERE}, STALE: {}}
WELL = {HARDWARE: {}, SOFTWARE: {"pmu": False}, NOTHING: {"yaml": YAML + "profiles: {default: {groups: []}}\n"}}
REASONS = {DENIED: "not_allowed", STARVED: "starved", FILTERED: "silent", NOT_PLANNABLE: "not_plannable", STALE: "stale"}


def made(stack, pmu=True, **kernel):
    host = uncore_hosts.Host(stack.enter_context(tempfile.TemporaryDirectory()), 1, 2)
    host.x86(ZEN4)
    if not pmu:
        shutil.rmtree(os.path.join(host.folder, "bus/event_source/devices/cpu"))
        host.cores = {}
    return fake_kernel.Kernel(host, **kernel)


class Notified(e2e.Notifications):
    """Reads all the time, as systemd does: sd_notify waits while nobody does."""

    def __init__(self, stack):
        super().__init__(stack)
        self.ended = threading.Event()
        self.socket.settimeout(0.1)
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()
        stack.callback(lambda: (self.ended.set(), self.thread.join()))

    def _read(self):
        while not self.ended.is_set():
            with contextlib.suppress(TimeoutError):
                self.received += self.socket.recv(65536).decode().splitlines()

    def newest_status(self):
        return ([""] + [line for line in self.received if line.startswith("STATUS=")])[-1]


class Watched:
    """A daemon with systemd's end of its notifications."""

    def __init__(self, stack, yaml=YAML, **settings):
        self.kernel = made(stack, **settings)
        self.notifications = Notified(stack)
        environment = self.kernel.environment() | {"NOTIFY_SOCKET": self.notifications.path, "WATCHDOG_USEC": str(WATCHDOG_SECONDS * 1000000)}
        self.run = os.path.join(self.kernel.host.folder, "run")
        os.makedirs(self.run)
        options = self.kernel.options()
        self.daemon = stack.enter_context(e2e.Daemon(*options, yaml=yaml, environment=environment))

    def answer(self):
        return e2e.fetch(self.daemon.port, "/-/ready")

    def blind(self):
        """What /-/ready says of a host that is not ready, once it has started."""
        answer = self.answer()
        return answer.status == 503 and "first round" not in answer.text() and answer.text()

    def ready(self):
        """It has counted, and has been asked for its health afterwards."""
        return self.answer().status == 200 and self.daemon.sequence() >= 4

    def series(self):
        return [line for line in self.daemon.get("/metrics").splitlines() if line.startswith("topdownd_not_ready{")]


class Doctor:
    """`topdownd doctor`, as root on a host without any trouble of its own."""

    def __init__(self, stack):
        self.kernel = made(stack)

    def words(self, watched):
        folder = self.kernel.host.folder
        return [BINARY, "doctor", "--config", watched.daemon.config, "--path.data", ROOT, "--path.sysfs", folder, "--path.procfs", folder,
                "--path.run", watched.run]

    def environment(self):
        return os.environ | self.kernel.environment()

    def ask(self, all_of_them):
        """{name: (exit status, what it printed)}"""
        programs = {name: subprocess.Popen(self.words(watched), env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                           text=True) for name, watched in all_of_them.items()}
        return {name: (said := program.communicate(timeout=e2e.TIMEOUT), (program.returncode, " ".join("".join(said).split())))[1]
                for name, program in programs.items()}


def alerts(series):
    """Which alerts fire of the hosts with these series, after ten minutes: {host: names}."""
    loaded = {}
    for name, lines in series.items():
        for line in lines:
            labels, value = line.removeprefix("topdownd_not_ready").rsplit(" ", 1)
            loaded[f'topdownd_not_ready{{job="topdownd",instance="{name}",{labels[1:]}'] = promtool.stays((float(value), 20))
        stale = any('"stale"' in line for line in lines)
        loaded[promtool.series("topdownd_last_snapshot_timestamp_seconds", job="topdownd", instance=name)] = "0x20" if stale else "0+60x20"
    found, = promtool.Rules(loaded, of=("topdownd.rules.yml", "topdownd.alerts.yml")).firing(10)
    return {name: {alert[0] for alert in found if alert[1] == name} for name in series}


def role(folder, doctor, watched):
    """The tasks with which the Ansible role ends, run by Ansible itself: whether they pass, and what it said."""
    words = " ".join(f"'{word}'" for word in doctor.words(watched))
    program = e2e.write_text(os.path.join(folder, "bin/topdownd"), f"#!/bin/sh\nLD_PRELOAD='{fake_kernel.LIBRARY}' exec {words}\n")
    os.chmod(program, 0o755)
    play = e2e.write_text(os.path.join(folder, "play.yml"), f"""
- hosts: localhost
  connection: local
  gather_facts: false
  vars: {{topdownd_url: "http://127.0.0.1:{watched.daemon.port}", topdownd_ready_tries: 1, ansible_python_interpreter: {sys.executable}}}
  tasks: [{{ansible.builtin.import_tasks: "{VERIFY}"}}]
""")
    environment = doctor.environment() | {"PATH": os.path.dirname(program) + ":" + os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8"}
    del environment["LD_PRELOAD"]
    done = subprocess.run(["ansible-playbook", "-i", "localhost,", play], env=environment, capture_output=True, text=True,
                          timeout=e2e.TIMEOUT, check=False)
    return done.returncode == 0, done.stdout + done.stderr


def status_of(watched, begin):
    """systemd's newest status line, once it begins so."""
    return e2e.wait_for(lambda: (line := watched.notifications.newest_status()).startswith("STATUS=" + begin) and line, f"status {begin}")


def check_doctor(name, watched, said, why):
    status, text = said
    assert status == 1 and "FAILURE" in text, (name, said)
    expected = "has not answered for" if name == STALE else " ".join(why.split())
    assert expected[:200] in text, (name, expected, text)
    assert ("runs without CAP_PERFMON" in text) == (name == DENIED), (name, text)


def test_five_ways_of_being_blind_are_told_by_five_gates():
    with contextlib.ExitStack() as stack:
        hosts = {name: Watched(stack, **settings) for name, settings in WAYS.items()}
        doctor = Doctor(stack)
        doctor.kernel.host.write({f"{hosts[DENIED].daemon.process.pid}/status": "Name:\ttopdownd\nCapEff:\t0000000000000000"})
        hung = hosts[STALE]
        e2e.wait_for(hung.ready, "counts of the daemon that will hang")
        hung.kernel.lines = ["hangs"]
        hung.kernel.write()
        stack.callback(lambda: (setattr(hung.kernel, "lines", []), hung.kernel.write()))  # or it would not end
        why = {name: e2e.wait_for(host.blind, f"{name}: the state of not being ready") for name, host in hosts.items()}
        lines = {name: status_of(host, "NOT READY: ") for name, host in hosts.items() if name != STALE}
        for name, line in lines.items():
            assert why[name].split("\n")[0] in line, (name, why[name], line)
        series = {name: host.series() for name, host in hosts.items()}
        for name, found in series.items():
            assert found == [f'topdownd_not_ready{{reason="{REASONS[name]}"}} 1'], (name, found, why[name])
        for name, said in doctor.ask(hosts).items():
            check_doctor(name, hosts[name], said, why[name])
        for name, found in alerts(series).items():
            assert found == {"TopdowndSnapshotStale" if name == STALE else "TopdowndBlind"}, (name, found)
        passes, said = role(stack.enter_context(tempfile.TemporaryDirectory()), doctor, hosts[DENIED])
        assert not passes and "Wait until it measures" in said and "CAP_PERFMON" in said, said
    return "; ".join(f"{name}: {text.strip()[:90]}" for name, text in why.items())


def test_who_counts_what_is_configured_passes_all_gates():
    with contextlib.ExitStack() as stack:
        hosts = {name: Watched(stack, **settings) for name, settings in WELL.items()}
        doctor = Doctor(stack)
        for name, host in hosts.items():
            e2e.wait_for(host.ready, f"{name}: counts")
            assert host.answer().text() == "topdownd is ready.\n", name
            assert not host.series(), (name, host.series())
            line = status_of(host, "snapshot ")
            assert "NOT READY" not in line and "not all" not in line, (name, line)
        for name, (status, text) in doctor.ask(hosts).items():
            assert status == 0 and "topdownd counts what it is configured to count" in text, (name, text)
        assert set().union(*alerts({name: host.series() for name, host in hosts.items()}).values()) == set()
        passes, said = role(stack.enter_context(tempfile.TemporaryDirectory()), doctor, hosts[HARDWARE])
        assert passes, said


if __name__ == "__main__":
    promtool.need()
    if not shutil.which("ansible-playbook"):
        print("skipped: ansible-playbook is not installed (Debian package ansible-core)")
        raise SystemExit(e2e.SKIPPED)
    fake_kernel.build()
    e2e.run_tests()
