# SPDX-License-Identifier: Apache-2.0
"""Where the daemon listens, as Prometheus' exporters are told: --web.listen-address, and --web.systemd-socket."""

import os
import re
import socket
import subprocess
import sys
import tempfile

import e2e
import test_addresses

BINARY, ROOT = e2e.arguments()
ELSEWHERE = 'listen: ["127.0.0.1:1"]\n'  # not allowed to users, and never asked for here

# Runs a program with a listening socket of each address as systemd would pass it.
PASS_SOCKETS = """
import os, socket, sys
sockets = []
for address in sys.argv[1].split(","):
    kind = socket.AF_INET6 if address in ("::", "::1") else socket.AF_INET
    sockets.append(socket.socket(kind, socket.SOCK_DGRAM if address == "udp" else socket.SOCK_STREAM))
    if address == "::":
        sockets[-1].setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    sockets[-1].bind((address if address != "udp" else "127.0.0.1", 0))
    if address != "udp":
        sockets[-1].listen()
for i, s in enumerate(sockets):
    os.dup2(os.dup(s.fileno()), 100 + i)
for i in range(len(sockets)):
    os.dup2(100 + i, 3 + i)
    os.set_inheritable(3 + i, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(sockets)))
os.execv(sys.argv[2], sys.argv[2:])
"""


def start(*options, yaml=ELSEWHERE):
    return e2e.Daemon("--pmu", "sim", *options, yaml=yaml)


def ports_of(daemon, n):
    found = lambda: re.findall(r"look at http://(\S+):(\d+)/", daemon.log())
    e2e.wait_for(lambda: len(found()) >= n or daemon.ended(), "all addresses")
    return [(address, int(port)) for address, port in found()]


def test_addresses_of_the_command_line_replace_those_of_the_file():
    first, second = e2e.free_port(), e2e.free_port()
    with start("--web.listen-address", f"localhost:{first}", "--listen", f"127.0.0.2:{second}") as daemon:
        assert ports_of(daemon, 2) == [("127.0.0.1", first), ("127.0.0.2", second)], daemon.log()
        assert e2e.fetch(first, "/-/healthy").status == 200
        with socket.create_connection(("127.0.0.2", second), e2e.TIMEOUT):
            pass
        asked = subprocess.run([BINARY, "check-config", "--pmu", "sim", "--config", daemon.config, "--path.data", ROOT,
                                "--listen", "127.0.0.1:0"], capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
        assert asked.returncode == 0, asked


def test_a_reload_keeps_them():
    port = e2e.free_port()
    with tempfile.TemporaryDirectory() as folder, start("--web.listen-address", f"127.0.0.1:{port}", "--path.run", folder) as daemon:
        daemon.wait_round(1)
        e2e.write_text(daemon.config, 'listen: ["127.0.0.3:1"]\nslot: 100ms\n')
        done = subprocess.run([BINARY, "reload", "--path.run", folder], capture_output=True, text=True, timeout=e2e.TIMEOUT,
                              check=False)
        assert done.returncode == 0, (done, daemon.log())
        assert e2e.fetch(port, "/-/healthy").status == 200
        assert "127.0.0.3" not in daemon.log(), daemon.log()


def test_what_is_wrong_with_an_address_is_said_before_anything_starts():
    for words, says in ((["--listen", "example.org:1"], "is not an address: write a number"),
                        (["--web.listen-address", "127.0.0.1"], "needs an address and a port"),
                        (["--web.listen-address", ":http"], "has no valid port"),
                        (["--listen", "127.0.0.1:5", "--listen", "localhost:5"], "is there twice"),
                        (["--listen", ":5", "--listen", "127.0.0.1:5"], "stands for all addresses"),
                        (["--listen", "x" * 300 + ":5"], "needs an address and a port"),
                        (["--listen", "127.0.0.1:5", "--web.systemd-socket"], "the socket unit has the addresses"),
                        (["--web.systemd-socket"], "systemd has passed no socket: start topdownd.socket")):
        status, said = e2e.run_daemon("--pmu", "sim", *words)
        assert status == 2 and says in said, (words[1][:40] if len(words) > 1 else words, status, said[:600])
        if "systemd" not in says:
            assert "--web.listen-address: listen: " in said or "--web.systemd-socket does not go" in said, said[:600]


def line_with_sockets(addresses, *options):
    return [sys.executable, "-c", PASS_SOCKETS, addresses, BINARY, "--path.data", ROOT, "--pmu", "sim", *options]


def with_sockets(addresses, *options):
    """A daemon that is started as systemd would with these sockets."""
    return e2e.Program(line_with_sockets(addresses, *options))


def test_sockets_of_systemd_are_served_on_and_outlive_a_reload():
    with tempfile.TemporaryDirectory() as folder:
        config = e2e.write_text(os.path.join(folder, "topdownd.yaml"), ELSEWHERE)
        with with_sockets("127.0.0.1,127.0.0.2", "--config", config, "--web.systemd-socket", "--path.run", folder) as daemon:
            ports = ports_of(daemon, 2)
            assert [address for address, _ in ports] == ["127.0.0.1", "127.0.0.2"], daemon.log()
            port = ports[0][1]
            e2e.wait_for(lambda: e2e.fetch(port, "/-/ready").status == 200, "the first round")
            done = subprocess.run([BINARY, "reload", "--path.run", folder], capture_output=True, text=True,
                                  timeout=e2e.TIMEOUT, check=False)
            assert done.returncode == 0, (done, daemon.log())
            assert e2e.fetch(port, "/metrics").status == 200
            assert daemon.stop() >= 0


def test_a_socket_for_both_kinds_of_addresses_is_told_as_both():
    with tempfile.TemporaryDirectory() as folder:
        config = e2e.write_text(os.path.join(folder, "topdownd.yaml"), ELSEWHERE)
        line = test_addresses.in_a_network_of_its_own(*line_with_sockets("::,127.0.0.2", "--config", config, "--web.systemd-socket",
                                                                         "--path.run", folder))
        with e2e.Program(line) as daemon:
            (_, both), (_, one) = ports_of(daemon, 2)
            with socket.socket(socket.AF_UNIX) as asks:
                asks.settimeout(e2e.TIMEOUT)
                asks.connect(os.path.join(folder, "control.sock"))
                asks.sendall(b"status\n")
                said = asks.makefile().read()
    told = [line for line in said.splitlines() if line == "ok" or line.startswith("listens ")]
    assert told == ["ok", f"listens :: {both}", f"listens 0.0.0.0 {both}", f"listens 127.0.0.2 {one}"], said


def test_a_socket_that_is_no_listening_tcp_one_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        config = e2e.write_text(os.path.join(folder, "topdownd.yaml"), ELSEWHERE)
        with with_sockets("udp", "--config", config, "--web.systemd-socket") as daemon:
            assert daemon.wait() == 2, daemon.log()
            assert "file descriptor 3 is not a listening TCP socket: write ListenStream=" in daemon.log(), daemon.log()


def test_without_the_option_a_passed_socket_is_left_alone():
    with tempfile.TemporaryDirectory() as folder:
        config = e2e.write_text(os.path.join(folder, "topdownd.yaml"), e2e.LISTEN_ANYWHERE)
        with with_sockets("127.0.0.1", "--config", config) as daemon:
            assert len(ports_of(daemon, 1)) == 1 and daemon.stop() >= 0


if __name__ == "__main__":
    e2e.run_tests()
