# SPDX-License-Identifier: Apache-2.0
"""What a service bears while it is restarted (test_systemd.py runs this beside it): scrapers with passwords, and who floods it.

    restart_load.py PORT HOLDERS GUESSERS SCRAPERS

Each has an address of its own in 127.0.0.0/8. Holders begin requests and never end them (tests/attack/connections.py, which must lie beside
this file), guessers try passwords, scrapers ask for /metrics again and again. It prints each of them as a line of JSON: begin and end
(CLOCK_MONOTONIC), the status or what went wrong, and of a scrape what the page said. Ends when its standard input does."""

import base64
import http.client
import json
import multiprocessing
import random
import sys
import threading
import time
import types

import connections

PAUSE, PATIENCE, RATE, WANTED = 0.1, 30, 60, {
    "process_start_time_seconds": "began", "topdownd_last_snapshot_timestamp_seconds": "taken", "topdownd_covered_cpu_seconds_total": "counted",
    "topdownd_uncovered_cpu_seconds_total": "counted", "topdownd_bound_since_timestamp_seconds": "since",
    "topdownd_bound_since_unseen": "unseen", "topdownd_gauges_age_seconds": "age"}


def read(page):
    """What is wanted of a page; sums of what has labels, but the first of moments, which all sockets share or nearly so."""
    found = {}
    for line in page.splitlines():
        name, _, rest = line.partition("{") if "{" in line else line.partition(" ")
        key = WANTED.get(name)
        if key == "counted":
            found[key] = found.get(key, 0) + float(rest.rsplit(" ", 1)[-1])
        elif key:
            found.setdefault(key, float(rest.rsplit(" ", 1)[-1]))
    return found


def ask(port, address, name, password):
    """The status and the page."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE, source_address=(address, 0))
    try:
        words = base64.b64encode(f"{name}:{password}".encode()).decode()
        connection.request("GET", "/metrics", headers={"Authorization": f"Basic {words}"})
        response = connection.getresponse()
        return response.status, response.read().decode()
    except (OSError, http.client.HTTPException) as error:
        return type(error).__name__, ""
    finally:
        connection.close()


def work(port, number, kind, over):
    while not over.is_set():
        begun = time.monotonic()
        if kind == "scraper":
            status, page = ask(port, f"127.0.1.{1 + number}", f"scraper{number}", "secret")
        else:
            status, page = ask(port, f"127.0.2.{1 + number}", "scraper0", str(random.random()))
        told = {"kind": kind, "number": number, "begin": begun, "end": time.monotonic(), "status": status} | (read(page) if status == 200 else {})
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
        over.wait(PAUSE if kind == "scraper" else PAUSE / 10)


def main():
    port, holders, guessers, scrapers = map(int, sys.argv[1:])
    over, made = threading.Event(), multiprocessing.Value("q", 0)
    options = types.SimpleNamespace(port=port, tls=False, rate=RATE, holders=1, dialers=0, seconds=connections.MOST_SECONDS, at_least=0)
    attackers = [multiprocessing.Process(target=connections.attack, args=(options, f"127.0.3.{1 + i}", True, made), daemon=True)
                 for i in range(holders)]
    for attacker in attackers:
        attacker.start()
    threads = [threading.Thread(target=work, args=(port, i, kind, over), daemon=True)
               for kind, n in (("scraper", scrapers), ("guesser", guessers)) for i in range(n)]
    for thread in threads:
        thread.start()
    sys.stdin.read()
    over.set()
    for thread in threads:
        thread.join()
    for attacker in attackers:
        attacker.kill()


if __name__ == "__main__":
    main()
