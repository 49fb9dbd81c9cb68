# SPDX-License-Identifier: Apache-2.0
"""Addresses that another program has, that the host does not have yet, and that only a person can allow."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile

import e2e

BINARY, ROOT = e2e.arguments()
STEADY = os.path.join(ROOT, "tests/data/scenarios/steady.json")
HERE = "127.0.0.1:0"


def listen_at(*addresses):
    return "listen: [" + ", ".join(f'"{a}"' for a in addresses) + "]\nslot: 50ms\n"


def taken_port(stack):
    """A listener of this test, and its port."""
    listener = stack.enter_context(socket.socket())
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", e2e.free_port()))
    listener.listen()
    return listener, listener.getsockname()[1]


def statuses(stack):
    """systemd's end of NOTIFY_SOCKET: its path, and a function that waits for a line with these words."""
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    receiver = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    receiver.bind(os.path.join(folder, "notify"))
    receiver.settimeout(e2e.TIMEOUT)
    def wait(pattern, unlike="(?!)"):
        while True:
            lines = receiver.recv(65536).decode()
            if re.search(pattern, lines) and not re.search(unlike, lines):
                return lines
    return os.path.join(folder, "notify"), wait


def test_a_taken_port_is_awaited_while_all_else_works():
    with contextlib.ExitStack() as stack:
        listener, port = taken_port(stack)
        notify, wait = statuses(stack)
        daemon = stack.enter_context(e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=listen_at(HERE, f"127.0.0.1:{port}"),
                                                environment={"NOTIFY_SOCKET": notify}))
        assert f"waiting for 127.0.0.1:{port}" in wait("READY=1")
        wait(rf"STATUS=.*snapshot [2-9].*; waiting for 127\.0\.0\.1:{port}")
        assert daemon.log().count("the port is taken") == 1, daemon.log()  # tried again at least once meanwhile
        assert f"look at http://127.0.0.1:{port}/" not in daemon.log()
        listener.close()
        e2e.wait_for(lambda: f"look at http://127.0.0.1:{port}/" in daemon.log(), "the port")
        assert e2e.fetch(port, "/-/ready").status == 200 and e2e.fetch(daemon.port, "/-/ready").status == 200
        status = wait("STATUS=.*snapshot", unlike="waiting")
        assert daemon.log().count("the port is taken") == 1, daemon.log()
        assert daemon.stop() >= 0
    return status.strip()


def test_a_daemon_without_any_address_measures_and_ends_when_told():
    with contextlib.ExitStack() as stack:
        _, port = taken_port(stack)
        notify, wait = statuses(stack)
        daemon = stack.enter_context(e2e.Daemon("--pmu", f"sim:{STEADY}", yaml=listen_at(f"127.0.0.1:{port}"), ready=False,
                                                environment={"NOTIFY_SOCKET": notify}))
        wait("READY=1")
        status = wait(r"STATUS=.*snapshot [2-9]")
        assert daemon.stop() >= 0
        assert "look at" not in daemon.log() and "the port is taken" in daemon.log(), daemon.log()
    return status.strip()


def test_a_second_daemon_takes_over_the_port_of_the_first():
    with e2e.Daemon("--pmu", "sim", yaml=listen_at(HERE)) as first:
        with e2e.Daemon("--pmu", "sim", yaml=listen_at(f"127.0.0.1:{first.port}"), ready=False) as second:
            e2e.wait_for(lambda: re.search(rf"127\.0\.0\.1:{first.port}: the port is taken, perhaps by another topdownd", second.log()),
                         "its word on the port")
            first.wait_round(first.sequence() + 1)  # and the first one goes on
            assert first.stop() >= 0
            second.port = e2e.wait_for(second.find_port, "the port")
            assert second.port == first.port
            second.wait_round(1)
            assert second.stop() >= 0


def in_a_network_of_its_own(*command):
    """The command line that runs this in a new network namespace, in which only the loopback is up."""
    if os.getuid() != 0 or not shutil.which("unshare") or not shutil.which("nsenter") or not shutil.which("ip"):
        raise e2e.Skip("needs root, unshare, nsenter and ip")
    line = ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *command]
    if subprocess.run([*line[:6], "true"], capture_output=True, timeout=e2e.TIMEOUT, check=False).returncode != 0:
        raise e2e.Skip("network namespaces are not allowed here")
    return line


def daemon_in_its_network(stack, address, *before):
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    config = e2e.write_text(os.path.join(folder, "c.yaml"), listen_at(address))
    return stack.enter_context(e2e.Program(in_a_network_of_its_own(
        *before, BINARY, "--pmu", f"sim:{STEADY}", "--config", config, "--path.data", ROOT)))


def test_an_address_that_the_host_gets_later_is_served():
    with contextlib.ExitStack() as stack:
        daemon = daemon_in_its_network(stack, "192.0.2.7:10813")
        e2e.wait_for(lambda: "192.0.2.7:10813: this host does not have the address" in daemon.log(), "its word on the address")
        inside = ["nsenter", "-t", str(daemon.process.pid), "-n"]
        subprocess.run([*inside, "ip", "addr", "add", "192.0.2.7/32", "dev", "lo"], check=True, timeout=e2e.TIMEOUT)
        e2e.wait_for(lambda: "look at http://192.0.2.7:10813/" in daemon.log(), "the address")
        ask = "import urllib.request as u; print(u.urlopen('http://192.0.2.7:10813/-/healthy', timeout=60).read().decode())"
        answer = subprocess.run([*inside, sys.executable, "-c", ask], check=True, timeout=e2e.TIMEOUT, capture_output=True, text=True)
        assert "healthy" in answer.stdout, answer
        assert daemon.log().count("does not have the address") == 1, daemon.log()
        assert daemon.stop() >= 0


def test_a_port_that_only_a_person_can_allow_ends_it_with_status_2():
    with contextlib.ExitStack() as stack:
        if not shutil.which("setpriv"):
            raise e2e.Skip("needs setpriv")
        daemon = daemon_in_its_network(stack, "127.0.0.1:80", "setpriv", "--bounding-set=-net_bind_service")
        assert daemon.wait() == 2, daemon.log()
        assert re.search(r"127\.0\.0\.1:80: not allowed to use this port: .* CAP_NET_BIND_SERVICE", daemon.log()), daemon.log()
        return daemon.log().strip()


def test_addresses_that_exclude_one_another_are_refused_at_once():
    for addresses in (("0.0.0.0:10999", "127.0.0.1:10999"), ("[::1]:10999", "[::]:10999")):
        for command in ((), ("check-config",)):
            status, log = e2e.run_daemon(*command, "--pmu", "sim", yaml=listen_at(*addresses))
            assert status == 2 and "overlap: one of them stands for all addresses" in log, (status, log)
    status, log = e2e.run_daemon("check-config", "--pmu", "sim", yaml=listen_at("0.0.0.0:10999", "[::]:10999", "127.0.0.1:10998"))
    assert status == 0, log


if __name__ == "__main__":
    e2e.run_tests()
