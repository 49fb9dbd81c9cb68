#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Floods an HTTP server on this host with connections, and counts the scrapes that are answered meanwhile.

It goes to 127.0.0.1 alone and from addresses of 127.0.0.0/8 alone, for at most MOST_SECONDS, and holds at most HELD_MAX connections an
address. It works with every exporter, to compare:

    connections.py --port 10813 --tls --rate 100 --holders 3 --dialers 1     slow requests from three addresses; one only connects
    connections.py --port 10813 --rate 2900 --holders 3                      without TLS
    connections.py --port 10813 --rate 2900 --holders 3 --one-address        all of them, and the scraper, are 127.0.0.1
    connections.py --port 10813 --rate 2900 --dialers 3

It prints a line of JSON: scrapes that were answered, that came too late (--timeout), and that were reset or refused; the longest answer;
and how many connections were made.
"""

import argparse
import collections
import json
import multiprocessing
import socket
import ssl
import time

HOST, MOST_SECONDS, MOST_RATE, HELD_MAX = "127.0.0.1", 120, 5000, 300
SCRAPER, FIRST_ATTACKER = "127.0.0.9", 21
BEGINNING = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Slow: "  # of a request that never ends


def unverified():
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def dial(address, port, timeout):
    """A connection from this address. Without a timeout it is under way when this returns."""
    connection = socket.socket()
    connection.settimeout(timeout)
    connection.bind((address, 0))
    if timeout:
        connection.connect((HOST, port))
    else:
        connection.connect_ex((HOST, port))
    return connection


def hold(connection, tls):
    """Begins a request; returns what has to stay open."""
    if tls:
        connection = tls.wrap_socket(connection)
    connection.send(BEGINNING)
    return connection


def attack(options, address, holds, made):
    """Opens connections as fast as it should, or as fast as it can, and keeps the newest."""
    held, begun, n = collections.deque(), time.monotonic(), 0
    tls = unverified() if options.tls else None
    rate = options.rate / (options.holders + options.dialers)
    while (now := time.monotonic()) < begun + (options.seconds if n >= options.at_least else MOST_SECONDS):
        if n >= (now - begun) * rate:
            time.sleep(min(1 / rate, 0.1))
            continue
        n += 1
        try:
            held.append(dial(address, options.port, 1 if tls else 0))
            if holds:
                held.append(hold(held.pop(), tls))
        except OSError:  # it was thrown out already
            pass
        if len(held) > HELD_MAX:
            held.popleft().close()
    made.value += n


def scrape(options, address, tls):
    """Seconds until a scrape on a connection of its own has been answered as a whole; None: it was not."""
    begun, answer = time.monotonic(), b""
    try:
        with socket.socket() as connection:
            connection.settimeout(options.timeout)
            connection.bind((address, 0))
            connection.connect((HOST, options.port))
            if tls:
                connection = tls.wrap_socket(connection)
            with connection:
                connection.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % options.path.encode())
                while more := connection.recv(1 << 16):
                    answer += more
    except TimeoutError:
        return options.timeout + 1
    except OSError:
        return None
    whole = answer.startswith(b"HTTP/1.1 200") and answer.partition(b"\r\n\r\n")[2]
    return time.monotonic() - begun if whole else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--path", default="/metrics")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=float, default=100, help="connections a second, of all attackers together")
    parser.add_argument("--at-least", type=int, default=0, help="connections of each attacker, however long it takes")
    parser.add_argument("--holders", type=int, default=0, help="attackers that begin requests and never end them")
    parser.add_argument("--dialers", type=int, default=0, help="attackers that only connect")
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--one-address", action="store_true", help="everybody comes from 127.0.0.1")
    parser.add_argument("--pause", type=float, default=1, help="seconds from one scrape to the next")
    parser.add_argument("--timeout", type=float, default=1, help="of a scrape, in seconds")
    options = parser.parse_args()
    options.seconds, options.rate = min(options.seconds, MOST_SECONDS), min(options.rate, MOST_RATE)
    attackers, made = [], []
    for i in range(options.holders + options.dialers):
        made.append(multiprocessing.Value("q", 0))
        address = HOST if options.one_address else f"127.0.0.{FIRST_ATTACKER + i}"
        attackers.append(multiprocessing.Process(target=attack, args=(options, address, i < options.holders, made[i]), daemon=True))
    tls, took, begun = unverified() if options.tls else None, [], time.monotonic()
    for attacker in attackers:
        attacker.start()
    time.sleep(1)  # until they hold all that they may
    while time.monotonic() < begun + options.seconds or any(attacker.is_alive() for attacker in attackers):
        next_one = time.monotonic() + options.pause
        took.append(scrape(options, HOST if options.one_address else SCRAPER, tls))
        time.sleep(max(0, next_one - time.monotonic()))
    for attacker in attackers:
        attacker.join()
    answered = [seconds for seconds in took if seconds is not None and seconds <= options.timeout]
    print(json.dumps({"scrapes": len(took), "answered": len(answered), "reset": took.count(None),
                      "late": len(took) - len(answered) - took.count(None), "longest_seconds": round(max(answered, default=0), 3),
                      "connections": sum(n.value for n in made)}))


if __name__ == "__main__":
    main()
