# SPDX-License-Identifier: Apache-2.0
"""Readers of large pages that take next to nothing of them, against a simulated host of 1,024 CPUs with a page a second.

    slow_readers.py DAEMON SOURCE_ROOT [SECONDS]

Each second some clients of one address ask for a per-CPU page, as text or as gzip, or for a history of their own, with a receive
buffer of 4 KiB, and read 512 bytes a second. Whoever is reset comes again. So each holds another publication's page. Beside them somebody scrapes /metrics
and /metrics/cpu once a second on a new connection. Printed: the largest PSS and resident set of the daemon, what the kernel
held for it in send queues, how many readers were reset, how many scrapes were answered in time, and the slowest of them.

Talks to 127.0.0.1 alone, has at most 120 connections, ends after SECONDS (40), and ends the daemon that it started."""

import collections
import contextlib
import http.client
import os
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
import e2e  # pylint: disable=wrong-import-position

SECONDS = float(sys.argv.pop()) if len(sys.argv) > 3 else 40.0
BINARY, ROOT = e2e.arguments()
READERS, EACH_SECOND, BYTES_EACH_SECOND = 120, 12, 512
LIMIT_MIB = 128  # MemoryHigh of the unit
PAGES = ("/metrics/cpu", "/api/v1/snapshot?scope=cpu", "/api/v1/topdown?scope=cpu", "/api/v1/history?scope=socket&from=-%d")
CODINGS = ("identity", "gzip")


def memory_mib(pid):
    """PSS and resident set."""
    lines = dict(line.split(":", 1) for line in e2e.read_text(f"/proc/{pid}/smaps_rollup").splitlines()[1:])
    return tuple(int(lines[name].split()[0]) / 1024 for name in ("Pss", "Rss"))


def queued_mib(port):
    """What the kernel holds in the send queues of the server's connections."""
    rows = (line.split() for line in e2e.read_text("/proc/net/tcp").splitlines()[1:])
    return sum(int(row[4].split(":")[0], 16) for row in rows if int(row[1].split(":")[1], 16) == port) / (1 << 20)


def ask(port, number):
    """Connects and asks; reads nothing yet."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(10)
    path = PAGES[number % len(PAGES)]
    path = path % (3600 + number) if "%" in path else path
    coding = CODINGS[number // len(PAGES) % len(CODINGS)]
    try:
        connection.connect(("127.0.0.1", port))
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: {coding}\r\n\r\n".encode())
    except OSError:
        connection.close()
        return None
    connection.setblocking(False)
    return connection


def is_open(connection):
    try:
        return connection.recv(BYTES_EACH_SECOND) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


class Scraper(threading.Thread):
    """Scrapes once a second until told to end."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.over, self.found, self.slowest = port, threading.Event(), collections.Counter(), 0.0

    def run(self):
        number = 0
        while not self.over.wait(1):
            number += 1
            begun, connection = time.monotonic(), http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
            try:
                connection.request("GET", ("/metrics", "/metrics/cpu")[number % 2])
                response = connection.getresponse()
                response.read()
                self.found[response.status] += 1
            except (OSError, http.client.HTTPException) as error:
                self.found[type(error).__name__] += 1
            finally:
                connection.close()
            self.slowest = max(self.slowest, time.monotonic() - begun)


def attack(daemon):
    readers, number, lost, most = [], 0, 0, [0.0, 0.0, 0.0, 0.0]
    scraper = Scraper(daemon.port)
    scraper.start()
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and not daemon.ended():
        for _ in range(min(EACH_SECOND, READERS - len(readers))):
            connection = ask(daemon.port, number)
            number += 1
            if connection:
                readers.append(connection)
        for _ in range(10):
            time.sleep(0.1)
            with contextlib.suppress(OSError):
                now = (*memory_mib(daemon.process.pid), queued_mib(daemon.port))
                most = [max(pair) for pair in zip(most, (*now, now[0] + now[2]))]
        still = [connection for connection in readers if is_open(connection)]
        lost += len(readers) - len(still)
        for connection in set(readers) - set(still):
            connection.close()
        readers = still
    for connection in readers:
        connection.close()
    scraper.over.set()
    scraper.join(30)
    return number, lost, most, scraper


def main():
    with e2e.Daemon("--pmu", "sim:" + os.path.join(ROOT, "tests/data/scenarios/large.json"),
                    yaml=e2e.LISTEN_ANYWHERE + "interval: 1s\n") as daemon:
        e2e.wait_for(lambda: e2e.fetch(daemon.port, "/-/ready").status == 200, "a first round")
        before = memory_mib(daemon.process.pid)[0]
        number, lost, (pss, resident, queued, both), scraper = attack(daemon)
        print(f"{number} slow readers in {SECONDS:.0f} s, {lost} of them reset; PSS before {before:.0f} MiB")
        print(f"at most: PSS {pss:.0f} MiB, resident {resident:.0f} MiB, send queues {queued:.0f} MiB, PSS with send queues {both:.0f} MiB "
              f"({both / LIMIT_MIB:.2f} of MemoryHigh)")
        print(f"scrapes: {dict(scraper.found)}, the slowest {scraper.slowest:.2f} s")
        ended = daemon.ended()
    return 1 if ended or both > LIMIT_MIB else 0


if __name__ == "__main__":
    sys.exit(main())
