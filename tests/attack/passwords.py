#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The attack on passwords: clients that guess as fast as they can, while new scrapers come with right ones.

    tests/attack/passwords.py DAEMON SOURCE_ROOT [--addresses 2] [--threads 4] [--scrapers 20] [--hash-cost 10] [--same-address]
                              [--random-names] [--beside /usr/bin/prometheus-node-exporter]

It starts a daemon of its own on the loopback, guesses from 127.0.0.2 and those after it, and ends when all scrapers
have had their first try (after a minute and a half at most). Each scraper has a name of its own, so that its password
is new, and an address of its own, and gives up after 10 s, as Prometheus does unless told otherwise. It prints how
many were let in at the first try, how long that took, what the guessers got, and the CPU time of the daemon.

--beside does the same to another exporter afterwards, with the same web configuration file: any with exporter-toolkit.
"""

import argparse
import contextlib
import os
import random
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import e2e  # noqa: E402  pylint: disable=wrong-import-position
import web_files  # noqa: E402  pylint: disable=wrong-import-position

LIMIT_SECONDS, PAUSE_SECONDS, SCRAPE_TIMEOUT = 90, 2, 10


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("daemon")
    parser.add_argument("source_root")
    parser.add_argument("--addresses", type=int, default=2)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--scrapers", type=int, default=20)
    parser.add_argument("--hash-cost", type=int, default=10)
    parser.add_argument("--same-address", action="store_true", help="scrapers come from the first guesser's address")
    parser.add_argument("--random-names", action="store_true", help="each guess is for another name")
    parser.add_argument("--beside", metavar="EXPORTER", help="another exporter, which is attacked in the same way afterwards")
    options = parser.parse_args()
    if options.addresses * options.threads > 400 or options.addresses > 200 or options.scrapers > 60:
        parser.error("more than a machine bears that also runs the daemon")
    sys.argv = [sys.argv[0], options.daemon, options.source_root]  # what the end-to-end tests' helpers read
    return options


OPTIONS = arguments()


def cpu_seconds(daemon):
    user, system = e2e.read_text(f"/proc/{daemon.process.pid}/stat").rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


class Guessers:
    """Threads that ask again at once, each on one connection while it lasts."""

    def __init__(self, port):
        self.port, self.ending, self.statuses, self.lock = port, threading.Event(), {}, threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=(f"127.0.0.{2 + i % OPTIONS.addresses}",), daemon=True)
                        for i in range(OPTIONS.addresses * OPTIONS.threads)]
        for thread in self.threads:
            thread.start()

    def run(self, address):
        connection = web_files.connect(self.port, source=address, timeout=30)
        while not self.ending.is_set():
            name = f"name{random.random()}" if OPTIONS.random_names else "scraper0"
            try:
                connection.request("GET", "/metrics", headers=web_files.basic(name, f"{random.random()}"))
                status = e2e.Answer(connection.getresponse()).status
            except OSError:
                connection.close()
                status = None
            with self.lock:
                self.statuses[status] = self.statuses.get(status, 0) + 1

    def end(self):
        self.ending.set()
        for thread in self.threads:
            thread.join(35)


def scrape(port, i):
    """The status of a new scraper's first try, and how long it took."""
    begun = time.monotonic()
    connection = web_files.connect(port, source="127.0.0.2" if OPTIONS.same_address else f"127.0.1.{i}", timeout=SCRAPE_TIMEOUT)
    try:
        connection.request("GET", "/metrics", headers=web_files.basic(f"scraper{i}", "secret"))
        status = e2e.Answer(connection.getresponse()).status
    except OSError as error:
        status = type(error).__name__
    connection.close()
    return status, time.monotonic() - begun


class Exporter(e2e.Program):
    """Another exporter with exporter-toolkit."""

    def __init__(self, web):
        self.port = e2e.free_port()
        super().__init__([OPTIONS.beside, f"--web.listen-address=127.0.0.1:{self.port}", f"--web.config.file={web}"])
        e2e.wait_for(lambda: self.ended() or self.answers(), "the exporter to listen")
        if self.ended():
            sys.exit(f"{OPTIONS.beside} ended:\n{self.log()}")

    def answers(self):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
            return True
        return False


def attack(name, daemon):
    guessers = Guessers(daemon.port)
    time.sleep(PAUSE_SECONDS)
    begun, cpu, tries = time.monotonic(), cpu_seconds(daemon), []
    for i in range(1, OPTIONS.scrapers + 1):
        if time.monotonic() - begun < LIMIT_SECONDS:
            tries.append(scrape(daemon.port, i))
            time.sleep(PAUSE_SECONDS)
    seconds, cpu = time.monotonic() - begun, cpu_seconds(daemon) - cpu
    guessers.end()
    let_in = sorted(took for status, took in tries if status == 200)
    others = sorted(str(status) for status, _ in tries if status != 200)
    print(f"{name}: {len(let_in)} of {len(tries)} new scrapers let in at the first try"
          + (f", after {let_in[len(let_in) // 2]:.2f} s (median), {let_in[-1]:.2f} s (slowest)" if let_in else "")
          + (f"; others: {', '.join(others)}" if others else ""))
    print(f"guessers: {OPTIONS.addresses} addresses, {OPTIONS.threads} threads each, in {seconds:.0f} s:",
          ", ".join(f"{n} times {status}" for status, n in sorted(guessers.statuses.items(), key=str)))
    print(f"CPU time: {cpu:.1f} s, {cpu / seconds:.2f} of one CPU", flush=True)


def main():
    done = subprocess.run(["htpasswd", "-nbBC", str(OPTIONS.hash_cost), "x", "secret"], capture_output=True, text=True, check=True)
    hash_ = done.stdout.strip()[2:]
    files = web_files.Files()
    users = {f"scraper{i}": hash_ for i in range(OPTIONS.scrapers + 1)}
    web = files.write("basic_auth_users:\n" + "".join(f"  {k}: {v}\n" for k, v in users.items()))
    with web_files.Served(web) as daemon:
        attack("topdownd", daemon)
    if OPTIONS.beside:
        with Exporter(web) as exporter:
            attack(os.path.basename(OPTIONS.beside), exporter)


if __name__ == "__main__":
    main()
