# SPDX-License-Identifier: Apache-2.0
"""Scrapes while others flood the server with connections (tests/attack/connections.py, for some seconds), and the address of probes.

A busy machine answers late, so that a scrape has PATIENCE seconds here; what the server decides is whom it resets.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import e2e
import web_files

BINARY, ROOT = e2e.arguments()
PROGRAM = os.path.join(ROOT, "tests/attack/connections.py")
PATIENCE, SECONDS, PAUSE, KEPT_MIN = 10, 4, 0.1, 0.8
PLACES, OF_EACH = 128, 90  # exporters/http/http.h; three attackers and more
FILES = web_files.Files()
FILES.authority()
FILES.certificate("server")
TLS = FILES.tls()  # written once: cases run beside each other


def flood(daemon, *options, meanwhile=lambda: time.sleep(PAUSE)):
    """Floods it with twice as many connections as there are places, and more; most scrapes must be answered. What is to be done meanwhile is
    done again and again."""
    with subprocess.Popen([sys.executable, PROGRAM, "--port", str(daemon.port), "--seconds", str(SECONDS), "--pause", str(PAUSE), "--timeout",
                           str(PATIENCE), "--at-least", str(OF_EACH), *options], stdout=subprocess.PIPE, text=True) as program:
        while program.poll() is None:
            meanwhile()
        seen = json.loads(program.stdout.read())
    assert seen["scrapes"] > 0 and seen["connections"] > 2 * PLACES, seen
    kept = seen["answered"] + seen["late"]
    assert kept + 1 >= KEPT_MIN * seen["scrapes"], seen  # a slow machine has time for few
    assert daemon.stop() >= 0
    return f"{kept} of {seen['scrapes']} scrapes, {seen['connections']} connections meanwhile"


def test_slow_requests_over_tls_keep_out_no_scraper():
    with web_files.Served(TLS) as daemon:
        return flood(daemon, "--tls", "--rate", "100", "--holders", "3", "--dialers", "1")


def test_slow_requests_over_tls_of_the_scrapers_own_address_keep_it_out_as_little():
    with web_files.Served(TLS) as daemon:
        return flood(daemon, "--tls", "--rate", "100", "--holders", "3", "--dialers", "1", "--one-address")


def test_slow_requests_keep_out_no_scraper_and_no_probe():
    port, asked = e2e.free_port(), 0
    with e2e.Daemon("--pmu", "sim", yaml=e2e.LISTEN_ANYWHERE + f'probe: "127.0.0.1:{port}"\n') as daemon:
        def ask():
            nonlocal asked
            assert probe(port, "/-/healthy")[0] == 200
            asked += 1
            time.sleep(PAUSE)
        return f'{flood(daemon, "--rate", "1500", "--holders", "3", meanwhile=ask)}; {asked} probes'


def test_slow_requests_of_the_scrapers_own_address_keep_it_out_as_little():
    with e2e.Daemon("--pmu", "sim") as daemon:
        return flood(daemon, "--rate", "1500", "--holders", "3", "--one-address")


# ---- probes ----


def probe(where, path):
    """The status and the body of an answer of the listener for probes: a port, or the path of a Unix socket."""
    with socket.socket(socket.AF_UNIX if isinstance(where, str) else socket.AF_INET) as connection:
        connection.settimeout(e2e.TIMEOUT)
        connection.connect(where if isinstance(where, str) else ("127.0.0.1", where))
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: kubelet.example\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while more := connection.recv(1 << 16):
            answer += more
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body.decode()


def test_probes_have_an_address_of_their_own_without_tls_and_password():
    web = FILES.write(e2e.read_text(TLS) + web_files.users(), "both.yml")
    port = e2e.free_port()
    with web_files.Served(web, yaml=e2e.LISTEN_ANYWHERE + f'probe: "127.0.0.1:{port}"\n') as daemon:
        assert web_files.status(daemon.port, path="/-/healthy", tls=web_files.context(FILES)) == 401
        assert probe(port, "/-/healthy") == (200, "topdownd is healthy.\n")
        e2e.wait_for(lambda: probe(port, "/-/ready")[0] == 200, "it to be ready")
        for path in ("/metrics", "/", "/api/v1/status", "/-/", "/-/x"):
            assert probe(port, path)[0] == 404, path
        assert daemon.stop() >= 0


def test_a_unix_socket_for_probes_comes_changes_and_goes_with_a_reload():
    files = web_files.Files()
    first, second = files.path("first.sock"), files.path("second.sock")
    with e2e.Daemon("--pmu", "sim", yaml=e2e.LISTEN_ANYWHERE + f"probe: {first}\n") as daemon:
        assert probe(first, "/-/healthy")[0] == 200
        config = daemon.config
        for text, there, gone in ((f"probe: {second}\n", second, first), ("", None, second), (f"probe: {first}\n", first, second)):
            e2e.write_text(config, e2e.LISTEN_ANYWHERE + text)
            daemon.process.send_signal(signal.SIGHUP)
            e2e.wait_for(lambda gone=gone: not os.path.exists(gone), "the old socket to go")
            if there:
                e2e.wait_for(lambda there=there: os.path.exists(there), "the new socket")
                assert probe(there, "/-/healthy")[0] == 200
        daemon.process.kill()
        daemon.wait()
        assert os.path.exists(first)
    with e2e.Daemon("--pmu", "sim", yaml=e2e.LISTEN_ANYWHERE + f"probe: {first}\n") as daemon:
        assert probe(first, "/-/healthy")[0] == 200, "the socket of a daemon that was killed is in the way"
        assert daemon.stop() >= 0
    assert not os.path.exists(first)


if __name__ == "__main__":
    e2e.run_tests(at_once=3)  # floods need CPU time
